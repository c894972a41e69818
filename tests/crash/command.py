"""The real command on real time: killed under load, while it reloads, and with another on the same state folder; or
only the process of its Worker is killed.

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
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from flarebed.bindings.codec import encode
from tests.crash import journal
from tests.crash.campaign import Report, Story
from tests.crash.journal import InstanceRow, Snapshot, StepRow
from tests.crash.judge import Finding, Judge
from tests.crash.life import PROJECT, Place
from tests.crash.notes import Notebook
from tests.real.command import Running, dev, edit, pause, until

SHAPE: Final = "hasty"
STEPS: Final = ("part 0", "part 1", "part 2", "flaky")
MODES: Final = ("load", "reload", "two", "worker")


class Clients:
    """They create instances, and send each of them its word; `unsent` are those that may not have got it."""

    def __init__(self, notebook: Notebook) -> None:
        self._notebook = notebook
        self._number = 0
        self.unsent: list[str] = []
        self.refusals: list[str] = []

    @contextmanager
    def busy(self, running: Running) -> Iterator[None]:
        """While the block runs."""
        leave = threading.Event()
        thread = threading.Thread(target=self._work, args=(running, leave))
        thread.start()
        try:
            yield
        finally:
            leave.set()
            thread.join()

    def send_the_rest(self, running: Running) -> None:
        while self.unsent:
            self._send(running, self.unsent[-1])
            self.unsent.pop()

    def look_up(self, now: Snapshot) -> None:
        """After a death: who has not got a word."""
        self.unsent = [
            instance_id
            for instance_id, row in now.instances.items()
            if not now.buffered(row.key) and not now.delivered(row.key) and row.status not in journal.ENDED
        ]

    def _work(self, running: Running, leave: threading.Event) -> None:
        try:
            self.send_the_rest(running)
            while not leave.is_set():
                instance_id = f"i{self._number}"
                self._ask(running, f"/create/{instance_id}/{SHAPE}", "create", instance_id)
                self._send(running, instance_id)
        except (OSError, http.client.HTTPException):
            pass  # it was killed

    def _send(self, running: Running, instance_id: str) -> None:
        word = f"word-{instance_id}"
        self._ask(running, f"/send/{instance_id}/word/{word}", "sendEvent", instance_id, payload=word)

    def _ask(self, running: Running, path: str, action: str, instance_id: str, **said: str) -> None:
        self._number += 1
        said |= {"action": action, "id": instance_id}
        self._notebook.note("asks", 0, number=self._number, key=None, **said)
        status, text = running.ask("GET", path)
        if status != 200:
            self.refusals.append(f"{path}: {status} {text}")
        self._notebook.note("acked", 0, number=self._number, **said)


class Rounds:
    """One project and its state through many rounds: start, be busy, be killed."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = folder / "project"
        self._place = Place(folder)
        self._dice = random.Random(seed)
        shutil.copytree(PROJECT, self._folder, ignore=shutil.ignore_patterns(".wrangler", "__pycache__"))
        edit(self._folder / "wrangler.jsonc", '"NOTES": ""', f'"NOTES": "{self._place.notes}"')
        self._entry = self._folder / "src" / "entry.py"
        self._state = self._folder / ".wrangler" / "state"
        self._judge = Judge(self._state, self._place.notes, folder / "copy")
        self._notebook = Notebook(self._place.notes, 0)
        self._clients = Clients(self._notebook)
        self.report = Report()

    def play(self, mode: str) -> None:
        getattr(self, f"_{mode}")()
        self._look(in_good_order=False)
        self._clients.look_up(self._judge.now)

    def finish(self) -> Report:
        """Let all come to its end, and compare."""
        with dev(self._folder) as running:
            self._clients.send_the_rest(running)
            until(lambda: all(row.status in journal.ENDED for row in journal.read(self._state).instances.values()))
            running.stop()
        self._look(in_good_order=True)
        self._judge.compare_ends(expected(self._judge.now), frozenset())
        self.report.figures += self._judge.counts
        self.report.figures.update(
            stories=1, instances=len(self._judge.now.instances), steps=len(self._judge.now.steps)
        )
        refused = [Finding("broken", text) for text in self._clients.refusals]
        self.report.findings = [(Story("the command", []), finding) for finding in [*self._judge.findings, *refused]]
        return self.report

    # Rounds

    def _load(self) -> None:
        with dev(self._folder) as running, self._busy(running):
            self._pause(0.9)
            self._kill(running)

    def _reload(self) -> None:
        """Killed up to a third of a second after an edit, in which the new process takes over from the old."""
        with dev(self._folder) as running, self._busy(running):
            self._pause(0.4)
            self._notebook.note("reloads", 0)
            with self._entry.open("a") as entry:
                entry.write("# edited\n")
            self._pause(0.35)
            self._kill(running)

    def _two(self) -> None:
        """The owner is killed; the other, which was busy all along, takes over, and is killed too."""
        with dev(self._folder) as owner, dev(self._folder) as other, self._busy(other):
            self._pause(0.5)
            self._kill(owner)
            ran = self._ran()
            until(lambda: self._ran() > ran)
            self._pause(0.5)
            self._kill(other)

    def _worker(self) -> None:
        """Only the Worker's process is killed; its supervisor starts another, which goes on."""
        with dev(self._folder) as running:
            with self._busy(running):
                self._pause(0.9)
                self._end(running.processes()[-1])
            ran = self._ran()
            running.wait_for("is being restarted")
            with self._busy(running.new_connection()):
                until(lambda: self._ran() > ran)
                self._pause(0.5)
                self._kill(running)

    @contextmanager
    def _busy(self, running: Running) -> Iterator[None]:
        running.get("/prepare")
        with self._clients.busy(running):
            yield

    def _pause(self, longest_s: float) -> None:
        pause(self._dice.random() * longest_s)

    def _kill(self, running: Running) -> None:
        """All its processes, the Worker's first."""
        first, *others = running.processes()
        for pid in reversed(others):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._end(first)
        running.wait()

    def _end(self, pid: int) -> None:
        os.kill(pid, signal.SIGKILL)
        self.report.figures["kills"] += 1

    def _ran(self) -> int:
        return self._place.notes.read_bytes().count(b'"is": "returns"')

    def _look(self, *, in_good_order: bool) -> None:
        self._judge.look(in_good_order=in_good_order)


def expected(now: Snapshot) -> Snapshot:
    """What each instance's end is, whatever happened on the way."""
    wanted = Snapshot()
    for instance_id, row in now.instances.items():
        word = f"word-{instance_id}"
        made = [{"step": name} for name in STEPS]
        wanted.instances[instance_id] = InstanceRow(row.key, "complete", [{"step": "first"}, word, *made], None)
        event = encode({"payload": word, "type": "word", "timestamp": None})
        wanted.steps[row.key, "wait", "word", 1] = StepRow("done", 0, None, event, None)
    return wanted


def rounds(folder: Path, count: int, seed: int) -> Report:
    """So many rounds in a project below `folder`, the modes by turns."""
    played = Rounds(folder, seed)
    try:
        for number in range(count):
            played.play(MODES[number % len(MODES)])
        return played.finish()
    except AssertionError as error:
        played.report.findings.append((Story("the command", []), Finding("broken", str(error))))
        return played.report
