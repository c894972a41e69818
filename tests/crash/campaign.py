"""Many stories: a scenario is lived through again and again, and its process killed at another commit each time.

A story ends when a life of it is not killed any more; then its end is compared with that of a life without kills.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Final

from tests.crash import notes
from tests.crash.faults import (
    AFTER,
    BEFORE,
    BEREFT_AFTER,
    BEREFT_BEFORE,
    BEREFT_NOTED,
    CLOSED,
    FULL,
    NOTED,
    REFUSED,
    WRITING,
    Fault,
    Side,
)
from tests.crash.life import Place, live, warm
from tests.crash.scenario import Scenario
from tests.crash.scenarios import SCENARIOS
from tests.crash.witness import Finding, Witness
from tests.real.command import until

IN_MEMORY: Final = Path("/dev/shm")
"""To SIGKILL a file system in memory is as any other, and its fsync costs nothing."""

SOME_WRITES: Final = 40
"""Between so many of them it is killed; all would take hours."""

MADE: Final = 4
"""So many commits of a story's first opening are not made again by later ones: there is a state then."""

Faults = Sequence[Fault]
"""Where the lives of a story are killed, one after another; the life after the last is not."""


@dataclass(frozen=True)
class Story:
    scenario: str
    faults: Faults
    synchronous: str = "NORMAL"
    sabotage: str = ""

    def __str__(self) -> str:
        full = " with synchronous=FULL" if self.synchronous == "FULL" else ""
        return f"{self.scenario}{full}, {', then '.join(map(str, self.faults)) or 'never killed'}"


@dataclass
class Report:
    """Figures: stories, kills, instances, attempts, results ...; and what was found, with the story to play again."""

    figures: Counter[str] = field(default_factory=Counter)
    findings: list[tuple[Story, Finding]] = field(default_factory=list)

    def add(self, other: Report) -> None:
        self.figures += other.figures
        self.findings += other.findings


@dataclass(frozen=True)
class Oracle:
    """What a life without kills leaves, in how many commits, writes (`opening`, `opening_writes`: before its script)
    and notes of the Worker."""

    end: Any
    opening: int
    opening_writes: int
    commits: int
    writes: int
    notes: int
    is_javascript: bool

    def soon(self, index: int) -> Fault:
        """Some commits after the next start."""
        return Fault(self.opening - MADE + 1 + index, AFTER)

    def faults(self, *, opening: bool = True, writes: int | None = None) -> list[Fault]:
        """All there are, from the beginning of a life, or of its script, to its end; or not all writes, but so many."""
        first = 1 if opening else self.opening + 1
        first_write = 1 if opening else self.opening_writes + 1
        bereft = [
            *_faults(range(self.opening + 1, self.commits + 1), BEREFT_BEFORE, BEREFT_AFTER),
            *_faults(range(1, self.notes + 1), BEREFT_NOTED),
        ]
        return [
            *(bereft if self.is_javascript else []),
            *_faults(range(first, self.commits + 1), BEFORE, AFTER, REFUSED),
            *_faults(_some(range(first_write, self.writes + 1), writes), WRITING, FULL),
            *_faults(range(1, self.notes + 1), NOTED, CLOSED),
        ]


def _faults(numbers: Iterable[int], *sides: Side) -> list[Fault]:
    return [Fault(number, side) for number in numbers for side in sides]


def _some(numbers: range, count: int | None) -> Iterable[int]:
    """Spread evenly."""
    if count is None or len(numbers) <= count:
        return numbers
    return (numbers[index * len(numbers) // count] for index in range(count))


class Stage:
    """Tells stories in a folder, each in a fresh one below it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._told = 0
        self.kills = 0
        self.has_found = False
        self._oracles: dict[str, Oracle] = {}

    def oracle(self, name: str) -> Oracle:
        if name not in self._oracles:
            place, scenario = self._place(), SCENARIOS[name]
            ended = live(scenario, place, 1, None)
            if ended.failure:
                raise AssertionError(f"{name}: {ended.failure}")
            judge = self._judge(scenario, place)
            judge.look(in_good_order=True)
            judge.compare_ends(judge.end, frozenset())
            if judge.findings:
                raise AssertionError(f"{name}, never killed: {judge.findings}")
            made = sum(note["is"] in notes.BY_THE_WORKER for note in notes.read(place.notes))
            self._oracles[name] = Oracle(
                judge.end, ended.opening, ended.opening_writes, ended.commits, ended.writes, made,
                scenario.client.is_javascript,
            )  # fmt: skip
            shutil.rmtree(place.folder)
        return self._oracles[name]

    def tell(self, story: Story) -> Report:
        scenario, oracle, place = SCENARIOS[story.scenario], self.oracle(story.scenario), self._place()
        judge, report = self._judge(scenario, place), Report()

        def bereft() -> None:
            judge.look(in_good_order=False)
            report.figures["bereft"] += 1

        for number, fault in enumerate([*story.faults, None], 1):
            ended = live(scenario, place, number, fault, story.synchronous, bereft)
            judge.look(in_good_order=not ended.killed)
            report.figures["lives"] += 1
            report.figures.update(kills=int(ended.killed), closings=int(ended.closed), refusals=int(ended.refused))
            if ended.failure:
                judge.findings.append(Finding("broken", ended.failure))
            if not (ended.killed or ended.closed or ended.refused):
                break
        judge.findings += left_behind(place)
        self.kills += report.figures["kills"]
        judge.compare_ends(oracle.end, scenario.may_differ)
        report.figures += judge.counts
        report.figures["stories"] += 1
        report.findings = [(story, finding) for finding in judge.findings]
        self.has_found |= bool(judge.findings)
        shutil.rmtree(place.folder)
        return report

    def _judge(self, scenario: Scenario, place: Place) -> Witness:
        return scenario.judge(place.state, place.notes, place.folder / "copy")

    def _place(self) -> Place:
        self._told += 1
        folder = self._folder / str(self._told)
        folder.mkdir()
        return Place(folder)


def left_behind(place: Place) -> Iterator[Finding]:
    """Each workerd is gone, and its folder with it, soon after the process that had it."""
    for note in notes.read(place.notes):
        if note["is"] == "hosted":
            try:
                until(lambda folder=Path(note["folder"]): not folder.exists())
            except AssertionError:
                yield Finding("broken", f"workerd has outlived life {note['life']}, in {note['folder']}")


def every_point(stage: Stage, scenario: Scenario, *, opening: bool = True) -> Iterator[Story]:
    """Killed once: on both sides of each commit, at each note, between some writes; or closed there, or one fails."""
    for fault in stage.oracle(scenario.name).faults(opening=opening, writes=SOME_WRITES):
        yield Story(scenario.name, [fault])


def spread(stage: Stage, scenario: Scenario, count: int) -> Iterator[Story]:
    """A few of these, evenly over the whole life and of all sorts; every other one is killed again soon after the next
    start."""
    oracle = stage.oracle(scenario.name)
    by_side: dict[Side, list[Fault]] = {}
    for fault in oracle.faults(opening=False, writes=SOME_WRITES):
        by_side.setdefault(fault.side, []).append(fault)
    sides = sorted(by_side)
    first = sum(scenario.name.encode())  # another one in each scenario
    for index in range(count):
        of_a_side = by_side[sides[(first + index) % len(sides)]]
        fault = of_a_side[(2 * index + 1) * len(of_a_side) // (2 * count)]
        yield Story(scenario.name, [fault, *([oracle.soon(index)] if index % 2 else [])])


def again_and_again(stage: Stage, scenario: Scenario, dice: random.Random) -> Story:
    """Killed up to six times, more often than not soon after a start."""
    oracle = stage.oracle(scenario.name)
    faults = oracle.faults(writes=SOME_WRITES)
    early = [fault for fault in oracle.faults() if fault.is_early(oracle.opening - MADE, oracle.opening_writes)]
    return Story(
        scenario.name,
        [dice.choice(faults if dice.random() < 0.4 else early) for _ in range(dice.randint(2, 6))],
        dice.choice(("NORMAL", "NORMAL", "FULL")),
    )


Job = Callable[[Stage], Iterable[Story]]


def told_side_by_side(jobs: Sequence[Job], on_report: Callable[[Report], None]) -> None:
    """Tell the stories of each job in a process of its own; `on_report` hears of each story.

    To be called in a process without threads, for it forks.
    """
    where = IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=where) as folder:
        warm(Path(folder))
        begun = [_begun(job, Path(folder) / f"job{index}") for index, job in enumerate(jobs)]
        left = [receiver for receiver, _ in begun]
        while left:
            for receiver in wait(left):
                try:
                    on_report(receiver.recv())
                except EOFError:
                    left.remove(receiver)
                    receiver.close()
        if max(os.waitpid(pid, 0)[1] for _, pid in begun):
            raise AssertionError("a process that tells stories has failed")


def _begun(job: Job, folder: Path) -> tuple[Connection, int]:
    receiver, sender = Pipe(duplex=False)
    pid = os.fork()
    if pid == 0:
        receiver.close()
        folder.mkdir()
        code = 1
        try:
            stage = Stage(folder)
            for story in job(stage):
                sender.send(stage.tell(story))
            sender.close()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    sender.close()
    return receiver, pid
