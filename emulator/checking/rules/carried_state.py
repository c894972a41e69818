"""`state-between-steps`: what steps leave in memory is gone when the instance is resumed in a new life."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flarebed.emulator.checking import code
from flarebed.emulator.checking.evidence import Evidence
from flarebed.emulator.checking.places import Site
from flarebed.emulator.checking.report import Finding, Note
from flarebed.emulator.checking.steps import Command
from flarebed.emulator.checking.trial import Reading
from flarebed.emulator.checking.witness import plain

RULE = "state-between-steps"


@dataclass(frozen=True)
class Loss:
    """`command` went otherwise in a new life; None: the run's output, or its way. `sites` are the lines that ran."""

    command: Command | None
    details: tuple[str, ...]
    sites: tuple[Site, ...]


def detect(evidence: Evidence) -> Iterator[Finding]:
    mutated = {mutation.site for mutation in evidence.plain.mutations}
    kept = [write for write in _kept(evidence) if write.site not in mutated]
    for loss in _losses(evidence):
        causes = [write for write in kept if any(_reads(evidence, write, site) for site in loss.sites)]
        readings = [] if causes else _unexplained(evidence)
        yield from (_of_write(evidence, write, loss) for write in causes)
        yield from (_of_reading(evidence, reading, loss) for reading in readings)
        if not (causes or readings or mutated or _is_explained(evidence)):
            yield from [_of_write(evidence, write, loss) for write in kept] or _of_step(evidence, loss)
    if not _is_explained(evidence):
        yield from _of_used_modules(evidence)


def _is_explained(evidence: Evidence) -> bool:
    """The way of the run depends on something else, which is another rule's finding."""
    return any(varied.differences for varied in evidence.varied)


def _unexplained(evidence: Evidence) -> list[Reading]:
    """Readings of the time or of randomness outside of steps, unless names or branches hang on the same."""
    decisive = {varied.variation.of for varied in evidence.varied if varied.differences}
    return [reading for reading in evidence.plain.readings if reading.of not in decisive]


def _kept(evidence: Evidence) -> list[code.Write]:
    """Statements that ran in a step and changed what outlives its function."""
    ran = {site for sites in evidence.plain.trace.inside.values() for site in sites}
    return [write for file in evidence.subject.sources.files() for write in code.writes(file) if write.site in ran]


def _losses(evidence: Evidence) -> Iterator[Loss]:
    """Where the lives, each with one step, differ from the plain run."""
    first, lives = evidence.plain, evidence.lives
    made = {command.key: command for seen in lives for command in seen.script.commands if command.attempts}
    for before in first.script.commands:
        now = made.get(before.key)
        if before.attempts and now is not None and (details := _different(before, now)):
            yield Loss(before, details, _inside(evidence, before))
    last = lives[-1]
    keys = [[command.key for command in seen.script.commands] for seen in (first, last)]
    if sorted(keys[0]) != sorted(keys[1]):
        shown = [", ".join(name for _, name, _ in each) for each in keys]
        yield Loss(None, (f"in one life: {shown[0]}", f"in a life per step: {shown[1]}"), _outside(evidence))
    elif (first.ended, first.error, plain(first.output)) != (last.ended, last.error, plain(last.output)):
        shown = [seen.error or f"{plain(seen.output)}" for seen in (first, last)]
        yield Loss(None, (f"result in one life: {shown[0]}", f"in a life per step: {shown[1]}"), _outside(evidence))


def _different(before: Command, now: Command) -> tuple[str, ...]:
    one, other = _outcome(before), _outcome(now)
    if one != other:
        return f"its result in one life: {one}", f"in a life per step: {other}"
    calls = [[call.content for call in command.attempts[-1].calls] for command in (before, now)]
    if calls[0] != calls[1]:
        pairs = [pair for pair in zip(*calls, strict=False) if pair[0] != pair[1]]
        one, other = pairs[0] if pairs else (f"{len(calls[0])} calls", f"{len(calls[1])} calls")
        return f"in one life: {one}", f"in a life per step: {other}"
    return ()


def _outcome(command: Command) -> str:
    if command.outcome is None:
        return "none"
    state, value = command.outcome
    if state == "fulfilled":
        return f"{plain(value)}"
    lines = [line for line in str(value).splitlines() if line.strip()]
    return lines[-1] if lines else type(value).__name__


def _inside(evidence: Evidence, command: Command) -> tuple[Site, ...]:
    return tuple(evidence.plain.trace.inside.get(command.key, {}))


def _outside(evidence: Evidence) -> tuple[Site, ...]:
    return tuple(dict.fromkeys(line.site for line in evidence.plain.trace.outside))


def _reads(evidence: Evidence, write: code.Write, site: Site) -> bool:
    place = evidence.place(site)
    return place != evidence.place(write.site) and write.is_read_in(place.source)


def _of_write(evidence: Evidence, write: code.Write, loss: Loss) -> Finding:
    notes = [Note(evidence.place(site), "read here") for site in loss.sites if _reads(evidence, write, site)]
    if not notes and loss.command is not None and loss.command.site is not None:
        notes = [Note(evidence.place(loss.command.site), "this step went otherwise without it")]
    return Finding(
        RULE,
        "error",
        evidence.place(write.site),
        f"{write.name} is changed in a step and used later. A resumed instance does not run the step again, and has "
        "nothing of it.",
        "Return the value from the step, and use the step's result.",
        step=loss.command.name if loss.command is not None else None,
        details=loss.details,
        notes=tuple(dict.fromkeys(notes)),
    )


def _of_reading(evidence: Evidence, reading: Reading, loss: Loss) -> Finding:
    return Finding(
        RULE,
        "error",
        evidence.place(reading.site),
        f"A value of {reading.of} is made outside of steps and used in them: it is another one after each resume.",
        "Make it in a step.do, whose result is recorded.",
        step=loss.command.name if loss.command is not None else None,
        details=loss.details,
    )


def _of_step(evidence: Evidence, loss: Loss) -> list[Finding]:
    """Nothing is found that was kept."""
    if loss.command is None or loss.command.site is None:
        return []
    message = "The step goes otherwise in a resumed instance."
    advice = "Let it use params and results of earlier steps only."
    place = evidence.place(loss.command.site)
    return [Finding(RULE, "error", place, message, advice, loss.command.name, loss.details)]


def _of_used_modules(evidence: Evidence) -> Iterator[Finding]:
    """A second run in the same process goes another way: then the first left something in a module."""
    ran = {line.site for line in evidence.control.trace.outside}
    for difference in evidence.used:
        files = evidence.subject.sources.files()
        left = [write for file in files for write in code.writes(file) if write.site in ran]
        written: list[Site | None] = [write.site for write in left if not write.name.startswith("self.")]
        for site in written or [difference.site]:
            if site is not None:
                yield Finding(
                    RULE,
                    "error",
                    evidence.place(site),
                    "State of a module decides about steps: whether it is there depends on what else has run in the "
                    "process.",
                    "Use params and results of earlier steps only.",
                )
