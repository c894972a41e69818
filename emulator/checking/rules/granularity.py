"""`many-effects-in-one-step`: if a later effect fails, the earlier ones are done again with it.

A warning: a step of several effects is right as long as each of them may be repeated, which `step-not-idempotent` looks
at; but it is retried, timed and seen as one.
"""

from __future__ import annotations

from collections.abc import Iterator

from flarebed.emulator.checking.evidence import Evidence
from flarebed.emulator.checking.report import Finding, Note
from flarebed.emulator.checking.witness import Call

RULE = "many-effects-in-one-step"


def detect(evidence: Evidence) -> Iterator[Finding]:
    """A batch of statements is one effect, and so is the same call again with other values."""
    for command in evidence.plain.script.commands:
        for attempt in command.attempts:
            effects: dict[tuple[str, str, str], Call] = {}
            for call in attempt.calls:
                if call.is_effect:
                    effects.setdefault(call.effect, call)
            if len(effects) > 1 and command.site is not None:
                yield Finding(
                    RULE,
                    "warning",
                    evidence.place(command.site),
                    f"The step has {len(effects)} effects: if one fails, those before it are done again.",
                    "Give each a step of its own; statements on one database can go into one batch().",
                    step=command.name,
                    notes=tuple(note for call in effects.values() for note in _notes(evidence, call)),
                )
                break


def _notes(evidence: Evidence, call: Call) -> tuple[Note, ...]:
    """The effect, and where in the step it comes from."""
    here = () if call.site is None else (Note(evidence.place(call.site), str(call)[:100]),)
    return (*here, *evidence.came_from(call.trail))
