"""The trials of one workflow, made when a detector first asks for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from flarebed.emulator.checking import variations
from flarebed.emulator.checking.again import Repetition, Twice
from flarebed.emulator.checking.copies import copy_state
from flarebed.emulator.checking.differences import Difference, differences
from flarebed.emulator.checking.places import Place, Site
from flarebed.emulator.checking.report import Note
from flarebed.emulator.checking.steps import Command, Conduct
from flarebed.emulator.checking.trial import Life, Seen, Subject
from flarebed.emulator.checking.variations import Variation
from flarebed.emulator.testing.session import START_MS


@dataclass(frozen=True)
class Varied:
    """A replay under a variation, and where it parts from the replay without one."""

    variation: Variation
    seen: Seen
    differences: list[Difference]


class Mortal(Conduct):
    """The run does not hear of a step, or a sleep, of this life: it ends there, when nothing else is being made."""

    def __init__(self) -> None:
        self.life: Life | None = None

    def over(self, command: Command) -> bool:
        return command.is_within or not command.is_new

    def is_due(self) -> bool:
        new = [made for made in self._commands() if made.is_new and not made.is_within]
        return bool(new) and all(command.is_over for command in new)

    def _commands(self) -> list[Command]:
        return self.life.seen.script.commands if self.life is not None else []


class Evidence:
    """`folder` is for the states of trials, each of which begins with what is in `seed`."""

    def __init__(self, subject: Subject, folder: Path, seed: Path | None) -> None:
        self.subject = subject
        self._folder = folder
        self._seed = seed

    def place(self, site: Site) -> Place:
        return self.subject.sources.place(site)

    def came_from(self, trail: Sequence[Site]) -> tuple[Note, ...]:
        """Who called what is reported at the trail's first place."""
        return tuple(Note(self.place(site), "called from here") for site in trail[1:])

    def state(self, trial: str) -> Path:
        """A new state folder."""
        folder = self._folder / trial
        if self._seed is not None:
            copy_state(self._seed, folder)
        return folder

    @cached_property
    def plain(self) -> Seen:
        """The workflow as it is, from its start to its end."""
        with Life(self.subject, self.state("plain")) as life:
            life.begin()
            life.run(traced=True)
        return life.seen

    @cached_property
    def control(self) -> Seen:
        """A replay at the time of the plain run, with its randomness and reads."""
        return self._replayed(Variation("nothing", seed="outside"))

    @cached_property
    def varied(self) -> list[Varied]:
        """A replay for each variation. Without a reading of the clock or of randomness there is nothing to vary."""
        return list(self._varied())

    def _varied(self) -> Iterator[Varied]:
        outside, files = self.plain.witness.outside(), self.subject.sources.files()
        read = {reading.of for reading in (*self.plain.readings, *self.control.readings)}
        for variation in (*variations.of_time(), *variations.of_randomness(), *variations.of_reads(outside, files)):
            if variation.reading is not None or variation.of in read:
                seen = self._replayed(variation)
                yield Varied(variation, seen, list(differences(self.control, seen)))

    def _replayed(self, variation: Variation) -> Seen:
        is_late = variation.of == variations.CLOCK and not variation.goes_along
        start_ms = self.ended_ms if is_late else START_MS
        tape = variation.answered(self.plain.witness.outside())
        with Life(self.subject, self._folder / "replays", start_ms=start_ms + variation.later_ms, answer=tape) as life:
            return life.replay(self.plain.script, goes_along=not is_late, seed=variation.seed)

    @property
    def ended_ms(self) -> float:
        return max((command.at_ms for command in self.plain.script.commands), default=START_MS)

    @cached_property
    def used(self) -> list[Difference]:
        """Differences of a replay in modules that have seen one already."""
        tapes = [Variation("nothing", seed="outside").answered(self.plain.witness.outside()) for _ in range(2)]
        with Life(self.subject, self._folder / "replays", answer=tapes[0]) as life:
            fresh = life.replay(self.plain.script)
            life.seen.witness.answer = tapes[1]
            again = life.replay(self.plain.script)
        return list(differences(fresh, again))

    @cached_property
    def lives(self) -> list[Seen]:
        """The workflow with a new life after each step, in fresh modules; the last one came to the end."""
        state, start_ms, lives = self.state("lives"), START_MS, []
        for number in range(2 * len(self.plain.script.commands) + 5):
            conduct = Mortal()
            with Life(self.subject, state, start_ms=start_ms, seed=f"life {number}", conduct=conduct) as life:
                conduct.life = life
                if number == 0:
                    life.begin()
                life.run(until=conduct.is_due)
                start_ms = life.session.clock.now_ms()
                ended = life.seen.ended
                lives.append(life.seen)
            if ended:
                return lives
        return lives

    @cached_property
    def repetitions(self) -> list[Repetition]:
        """Each step that has an effect, made again."""
        conduct = Twice()
        with Life(self.subject, self.state("again"), conduct=conduct) as life:
            conduct.life = life
            life.begin()
            life.run()
        return conduct.repetitions
