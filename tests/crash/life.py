"""One life: a process of its own, forked from a warm one: it opens the state, plays its script, and is killed or ends.

The process has its own connections, loop, clock and Worker; only imported modules come from its parent. Its virtual
time goes on where the one before it was killed.
"""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import traceback
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

import apsw

import tests.conftest  # noqa: F401 - finds workerd
from flarebed.bindings.errors import JsError, UserError
from flarebed.emulator.config.load import load
from flarebed.emulator.config.model import Config
from flarebed.emulator.testing.session import START_MS, Session, StuckError
from tests.crash import notes
from tests.crash.faults import CLOSED, NOTED, Disk, Fault
from tests.crash.javascript_life import Workerd, noting
from tests.crash.notes import BY_THE_WORKER, Notebook
from tests.crash.scenario import Scenario
from tests.crash.scenarios import SCENARIOS

PROJECT: Final = Path(__file__).parent / "project"
_LONGEST_S: Final = 60


@dataclass(frozen=True)
class Place:
    """A folder for one story: the state, and beside it what the Worker and its client note."""

    folder: Path

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def notes(self) -> Path:
        return self.folder / "notes"

    @property
    def log(self) -> Path:
        return self.folder / "log"


@dataclass(frozen=True)
class Ended:
    """How a life ended: killed or closed at its fault, or in peace after so many commits and writes, of which some were
    refused.

    `opening`, `opening_writes`: how many of them came before its script.
    """

    killed: bool = False
    closed: bool = False
    refused: bool = False
    commits: int = 0
    writes: int = 0
    opening: int = 0
    opening_writes: int = 0
    failure: str = ""


def live(
    scenario: Scenario,
    place: Place,
    number: int,
    fault: Fault | None,
    synchronous: str = "NORMAL",
    on_bereft: Callable[[], None] = lambda: None,
) -> Ended:
    """Fork a life, and await its end. `on_bereft` is called while it stands still, because its workerd was killed."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _be(lambda: play(scenario, place, number, fault, synchronous), place, writer)
    os.close(writer)
    while os.WIFSTOPPED(status := os.waitpid(pid, os.WUNTRACED)[1]):
        on_bereft()
        os.kill(pid, signal.SIGCONT)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGKILL and fault is not None:
        return Ended(killed=True)
    if code == 0:
        return Ended(**json.loads(said))
    return Ended(failure=f"life {number} ended with {code}: {place.log.read_text() if place.log.exists() else ''}")


def _be(life: Callable[[], Ended], place: Place, writer: int) -> NoReturn:
    signal.alarm(_LONGEST_S)
    code = 1
    try:
        os.write(writer, json.dumps(dataclasses.asdict(life())).encode())
        code = 0
    except BaseException:
        with place.log.open("a") as log:
            traceback.print_exc(file=log)
    finally:
        os._exit(code)


def play(scenario: Scenario, place: Place, number: int, fault: Fault | None, synchronous: str) -> Ended:
    """Play the script to its end and run until nothing more can happen."""
    past = notes.read(place.notes)
    notebook = Notebook(place.notes, number)
    session: Session | None = None

    def now_ms() -> float:
        return session.clock.now_ms() if session else start_ms

    start_ms = max((note["now_ms"] for note in past), default=START_MS)

    def dies() -> None:
        notebook.note("dies", now_ms(), at=str(fault))

    def bereave() -> None:
        if session is not None:
            Workerd(session).kill()

    disk = Disk(fault, dies, bereave)
    disk.watch()
    with place.log.open("a") as log:

        def heard(level: str, text: str) -> None:
            print(level, text, file=log)
            if text.startswith("QUEUE "):
                notebook.note("told", now_ms(), text=text)

        try:
            session = Session(
                config(scenario, place, number, fault), place.state, heard, start_ms=start_ms, synchronous=synchronous,
                outbound=noting(notebook, lambda: session, disk.noted) if scenario.client.is_javascript else None,
            )  # fmt: skip
            if scenario.client.is_javascript:
                notebook.note("hosted", now_ms(), folder=Workerd(session).folder)
            session.run(scenario.client.prepare(session))
        except (UserError, JsError, apsw.Error):
            if not disk.refused:
                raise
            return Ended(refused=True)  # it could not start: the next one can
        opening, opening_writes = disk.commits, disk.writes
        client = scenario.client(session, notebook)
        is_closed = played(session, client.play(scenario.script), closing(fault, place, number))
        notebook.note("closes" if is_closed else "rests", session.clock.now_ms())
        disk.is_closing = True
        session.close()
    return Ended(False, is_closed, disk.refused, disk.commits, disk.writes, opening, opening_writes)


def played(session: Session, script: Coroutine[Any, Any, None], is_due: Callable[[], bool]) -> bool:
    """Until nothing is left to do, however far away; true if it is to be closed before."""
    task = session.loop.create_task(script)
    try:
        session.run_until(is_due)
    except StuckError:
        task.result()
        return False
    task.cancel()
    return True


def closing(fault: Fault | None, place: Place, number: int) -> Callable[[], bool]:
    if fault is None or fault.side != CLOSED:
        return lambda: False

    def is_due() -> bool:
        made = [note for note in notes.read(place.notes) if note["life"] == number and note["is"] in BY_THE_WORKER]
        return len(made) >= fault.number

    return is_due


def config(scenario: Scenario, place: Place, number: int, fault: Fault | None = None) -> Config:
    """The Worker ends itself at a note."""
    last_note = fault.number if fault and fault.side == NOTED else 0
    loaded = load(PROJECT / scenario.client.config, cwd=PROJECT, env="", environ={})
    values = {"NOTES": str(place.notes), "LIFE": str(number), "LAST_NOTE": str(last_note)}
    flows = tuple(dataclasses.replace(flow, **scenario.workflow) for flow in loaded.specs.get("workflows", ()))
    return dataclasses.replace(loaded, vars=values, specs={**loaded.specs, "workflows": flows})


def warm(folder: Path) -> None:
    """Import what a life needs, once, for all that are forked from this process."""
    for scenario in {scenario.client: scenario for scenario in SCENARIOS.values()}.values():
        session = Session(config(scenario, Place(folder), 0), folder / "warm", lambda level, text: None)
        session.close()
