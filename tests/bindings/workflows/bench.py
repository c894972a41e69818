"""What many and large instances cost, with a real Worker in process on virtual time.

    python -m tests.bindings.workflows.bench [figure ...]

Each figure is taken in a process of its own, since memory is given back to the process and not to the machine.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flarebed.bindings.workflows import hibernation
from flarebed.emulator.config.load import load
from flarebed.emulator.testing.session import Session

ENTRY = """
from workers import Response, WorkerEntrypoint, WorkflowEntrypoint


class Flow(WorkflowEntrypoint):
    async def run(self, event, step):
        asked = event["payload"]
        for number in range(asked.get("steps", 3)):
            @step.do(f"step {number}")
            async def made():
                return number

            await made()
        if asked.get("sleep"):
            await step.sleep("long", "1 hour")
        return "done"


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response("ok")
"""
SETTINGS = {
    "name": "w",
    "main": "entry.py",
    "compatibility_date": "2026-06-01",
    "compatibility_flags": ["python_workers"],
    "workflows": [{"name": "flow", "binding": "FLOW", "class_name": "Flow"}],
}
HOUR_MS = 3_600_000


class Place:
    def __init__(self, folder: Path) -> None:
        (folder / "entry.py").write_text(ENTRY)
        (folder / "wrangler.jsonc").write_text(json.dumps(SETTINGS))
        self.session = Session(load(None, cwd=folder, env="", environ={}), folder / "state", lambda level, text: None)
        self.flow: Any = self.session.app.env()["FLOW"]
        self.workflow: Any = self.session.app.resources["workflows"]._own[0]  # type: ignore[attr-defined]

    def create(self, count: int, params: Callable[[int], dict[str, Any]]) -> None:
        for start in range(0, count, 100):
            batch = [{"id": f"i{number}", "params": params(number)} for number in range(start, start + 100)]
            self.session.run(self.flow.createBatch(batch[:count]))

    def count(self, status: str) -> int:
        [[count]] = self.workflow._journal._db.read("SELECT count(*) FROM instances WHERE status = ?", (status,))
        return int(count)

    def settle(self) -> float:
        """In seconds."""
        start_s = time.perf_counter()
        self.session.settle()
        return time.perf_counter() - start_s


def memory_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def sleepers(place: Place, count: int = 10_000) -> str:
    before_mb = memory_mb()
    place.create(count, lambda number: {"steps": 1, "sleep": True})
    asleep_s = place.settle()
    asleep_mb = memory_mb()
    resting, entries = len(place.workflow._runs), len(place.session.clock._heap)
    start_s = time.perf_counter()
    place.session.advance(HOUR_MS)
    place.session.settle()
    awake_s = time.perf_counter() - start_s
    assert place.count("complete") == count
    return (
        f"{count} asleep: {asleep_mb - before_mb:.0f} MB more, {resting} in memory, {entries} entries of the clock; "
        f"{asleep_s:.1f} s to fall asleep, {awake_s:.1f} s to wake and end"
    )


def sleepers_kept(place: Place) -> str:
    hibernation.MAX_RESTING = 1_000_000
    hibernation.GRACE_MS = 1_000 * HOUR_MS
    return f"(kept in memory) {sleepers(place)}"


def large_instance(place: Place, steps: int = 10_000) -> str:
    before_mb = memory_mb()
    place.create(1, lambda number: {"steps": steps, "sleep": True})
    first_s, first_mb = place.settle(), memory_mb() - before_mb
    place.session.advance(HOUR_MS - 1)
    start_s = time.perf_counter()
    shown = place.workflow.status("i0")
    status_s = time.perf_counter() - start_s
    assert (shown["status"], len(shown["__LOCAL_DEV_STEP_OUTPUTS"])) == ("waiting", steps)
    start_s = time.perf_counter()
    place.session.advance(1)
    replay_s = time.perf_counter() - start_s
    assert place.count("complete") == 1
    return (
        f"{steps} steps in one instance: {first_s:.1f} s, {first_mb:.0f} MB more; replayed in {replay_s:.2f} s; "
        f"status() in {status_s * 1000:.0f} ms"
    )


def half_the_steps(place: Place) -> str:
    return large_instance(place, 5_000)


def many_at_once(place: Place, count: int = 10_000) -> str:
    before_mb = memory_mb()
    place.create(count, lambda number: {"sleep": number % 10 == 0})
    drained_s = place.settle()
    assert place.count("complete") == count * 9 // 10
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return (
        f"{count} at once, {count // 10} of them sleep: drained in {drained_s:.1f} s, "
        f"{peak_mb - before_mb:.0f} MB more at most"
    )


def start_up(place: Place, finished: int = 0) -> str:
    journal = place.workflow._journal
    place.session.run(place.session.app.disown())
    now_ms = place.session.clock.now_ms()
    rows = ((f"f{number}", b"x" * 200, now_ms, now_ms, now_ms, now_ms + HOUR_MS) for number in range(finished))
    journal._db._begin()
    journal._db.connection.executemany(
        "INSERT INTO instances (id, status, params, created_ms, started_ms, ended_ms, expires_ms)"
        " VALUES (?, 'complete', ?, ?, ?, ?, ?)",
        rows,
    )
    journal._db.flush()
    times_s = []
    for _ in range(20):
        start_s = time.perf_counter()
        place.session.run(place.session.app.own())
        place.session.settle()
        times_s.append(time.perf_counter() - start_s)
        place.session.run(place.session.app.disown())
    place.session.run(place.session.app.own())
    return f"own() with {finished} finished instances: {min(times_s) * 1000:.2f} ms"


def start_up_full(place: Place) -> str:
    return start_up(place, 100_000)


def three_steps(place: Place, count: int = 3_000) -> str:
    start_s = time.perf_counter()
    place.create(count, lambda number: {})
    place.session.settle()
    assert place.count("complete") == count
    return f"three-step instances: {count / (time.perf_counter() - start_s):.0f} a second"


FIGURES: dict[str, Callable[[Place], str]] = {
    figure.__name__: figure
    for figure in (
        sleepers, sleepers_kept, large_instance, half_the_steps, many_at_once, start_up, start_up_full, three_steps,
    )
}  # fmt: skip


def main(*names: str) -> None:
    if len(names) == 1:
        with tempfile.TemporaryDirectory() as folder:
            place = Place(Path(folder))
            print(FIGURES[names[0]](place), flush=True)
            place.session.close()
        return
    for name in names or FIGURES:
        subprocess.run([sys.executable, "-m", "tests.bindings.workflows.bench", name], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
