"""The real command on real time, in many rounds on one state: killed under load, while it reloads, and with another on
the same state folder; or only the process of its Worker is killed.

Clients come over HTTP as fast as they are answered; what they were told is judged like all else.
"""

from __future__ import annotations

import http.client
import os
import random
import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, Final

from flarebed.emulator.server.errors_page import CONNECTION_LOST
from tests.crash.campaign import Report, Story
from tests.crash.life import PROJECT, Place
from tests.crash.notes import Notebook
from tests.crash.witness import Finding, Witness
from tests.real.command import Running, dev, edit, pause, until

MODES: Final = ("load", "reload", "two", "worker")


class Rounds:
    """One project and its state through many rounds: start, be busy, be killed. `sign` is what the Worker notes."""

    config: ClassVar[str]
    entry: ClassVar[str]
    sign: ClassVar[bytes]
    judged_by: ClassVar[type[Witness]]
    edited: ClassVar[str] = "# edited\n"

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder / "project"
        self.place = Place(folder)
        self.state = self.folder / ".wrangler" / "state"
        self.notebook = Notebook(self.place.notes, 0)
        self.report = Report()
        self.judge: Any = self.judged_by(self.state, self.place.notes, folder / "copy")
        self._dice = random.Random(seed)
        self._number = 0
        self._lives = 0
        self._refusals: list[str] = []
        shutil.copytree(PROJECT, self.folder, ignore=shutil.ignore_patterns(".wrangler", "__pycache__"))
        self.direct_notes()
        self.copied()

    def direct_notes(self) -> None:
        """Have the Worker write them to the file."""
        edit(self.folder / self.config, '"NOTES": ""', f'"NOTES": "{self.place.notes}"')

    def copied(self) -> None:
        """What else is to be changed in the project."""

    # What clients do

    def prepare(self, running: Running) -> None:
        """Before clients come, after each start."""
        running.get("/prepare")

    def work(self, running: Running) -> None:
        """One client's, once."""
        raise NotImplementedError

    def finish(self, running: Running) -> None:
        """Return when all has come to its end."""
        raise NotImplementedError

    def expected(self) -> Any:
        """What there is to be then."""
        raise NotImplementedError

    def ask(self, running: Running, path: str, **said: Any) -> str:
        """Noted before it is asked, and when it is granted."""
        self._number += 1
        self.notebook.note("asks", 0, number=self._number, key=None, **said)
        status, text = running.ask("GET", path)
        if CONNECTION_LOST in text:  # workerd was killed: nobody knows whether it was done
            raise ConnectionError(text)
        if status != 200:
            self._refusals.append(f"{path}: {status} {text}")
        self.notebook.note("acked", 0, number=self._number, **said)
        return text

    # Rounds

    def play(self, mode: str) -> None:
        getattr(self, f"_{mode}")()
        self.judge.look(in_good_order=False)

    def end(self) -> Report:
        """Let all come to its end, and compare."""
        with self._dev() as running:
            self.prepare(running)
            self.finish(running)
            running.stop()
        self.judge.look(in_good_order=True)
        self.judge.compare_ends(self.expected(), frozenset())
        self.report.figures += self.judge.counts
        self.report.figures["stories"] += 1
        found = [*self.judge.findings, *(Finding("broken", text) for text in self._refusals)]
        self.report.findings = [(Story(f"the command on {self.config}", []), finding) for finding in found]
        return self.report

    def _load(self) -> None:
        with self._dev() as running, self._busy(running):
            self._pause(0.9)
            self._kill(running)

    def _reload(self) -> None:
        """Killed up to a third of a second after an edit, in which the new process takes over from the old."""
        with self._dev() as running, self._busy(running):
            self._pause(0.4)
            self.notebook.note("reloads", 0)
            with (self.folder / "src" / self.entry).open("a") as entry:
                entry.write(self.edited)
            self._pause(0.35)
            self._kill(running)

    def _two(self) -> None:
        """The owner is killed; the other, which was busy all along, takes over, and is killed too."""
        with self._dev() as owner, self._dev() as other, self._busy(other):
            self._pause(0.5)
            self._kill(owner)
            ran = self._ran()
            until(lambda: self._ran() > ran)
            self._pause(0.5)
            self._kill(other)

    def _worker(self) -> None:
        """Only the Worker's process is killed; its supervisor starts another, which goes on."""
        with self._dev() as running:
            with self._busy(running):
                self._pause(0.9)
                self._end(running.processes()[-1])
            ran = self._ran()
            running.wait_for("is being restarted")
            with self._busy(running.new_connection()):
                until(lambda: self._ran() > ran)
                self._pause(0.5)
                self._kill(running)

    def _dev(self) -> AbstractContextManager[Running]:
        self._lives += 1
        return dev(self.folder, "--config", self.config, "--var", f"LIFE:{self._lives}")

    @contextmanager
    def _busy(self, running: Running) -> Iterator[None]:
        """A client at work while the block runs."""
        self.prepare(running)
        leave = threading.Event()
        thread = threading.Thread(target=self._work, args=(running, leave))
        thread.start()
        try:
            yield
        finally:
            leave.set()
            thread.join()

    def _work(self, running: Running, leave: threading.Event) -> None:
        with suppress(OSError, http.client.HTTPException):  # it was killed
            while not leave.is_set():
                self.work(running)

    def _pause(self, longest_s: float) -> None:
        pause(self._dice.random() * longest_s)

    def _kill(self, running: Running) -> None:
        """The Worker's processes first."""
        first, *others = self.victims(running)
        for pid in reversed(others):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._end(first)
        running.wait()

    def victims(self, running: Running) -> list[int]:
        """What gets SIGKILL: all its processes."""
        return running.processes()

    def _end(self, pid: int) -> None:
        os.kill(pid, signal.SIGKILL)
        self.report.figures["kills"] += 1

    def _ran(self) -> int:
        return self.place.notes.read_bytes().count(self.sign)


def played(of: type[Rounds], folder: Path, count: int, seed: int) -> Report:
    """So many rounds in a project below `folder`, the modes by turns."""
    folder.mkdir(exist_ok=True)
    rounds = of(folder, seed)
    try:
        for number in range(count):
            rounds.play(MODES[number % len(MODES)])
        return rounds.end()
    except AssertionError as error:
        story = Story(f"the command on {of.config}", [])
        rounds.report.findings.append((story, Finding("broken", str(error))))
        return rounds.report
