"""What the machine is doing: a server's processes, their memory and CPU, and how busy everything else is (Linux)."""

from __future__ import annotations

import os
import re
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
DISTURBED_CORES = 0.25
"""A measurement during which other processes used more than this is repeated."""

Result = dict[str, Any]


@dataclass(frozen=True)
class Process:
    command: str
    state: str
    parent: int
    session: int
    cpu_s: float


def process(pid: int) -> Process:
    """Raises OSError when it is gone."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        text = file.read()
    close = text.rindex(")")
    fields = text[close + 2 :].split()
    cpu_s = (int(fields[11]) + int(fields[12])) / TICKS_PER_S
    return Process(text[text.index("(") + 1 : close], fields[0], int(fields[1]), int(fields[3]), cpu_s)


def tree(root: int) -> dict[int, Process]:
    """The living processes of the root's session and below the root."""
    found: dict[int, Process] = {}
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                found[int(name)] = process(int(name))
            except OSError:
                continue
            children.setdefault(found[int(name)].parent, []).append(int(name))
    pids = {pid for pid, each in found.items() if each.session == root}
    todo = [root]
    while todo:
        pid = todo.pop()
        pids.add(pid)
        todo += children.get(pid, [])
    return {pid: found[pid] for pid in pids if pid in found and found[pid].state not in "ZX"}


def memory(root: int) -> Result:
    rss_kb = pss_kb = 0
    for pid in tree(root):
        try:
            with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as file:
                text = file.read()
        except OSError:
            continue
        rss_kb += kilobytes(text, "Rss")
        pss_kb += kilobytes(text, "Pss")
    return {"rss_mb": round(rss_kb / 1024, 1), "pss_mb": round(pss_kb / 1024, 1)}


def kilobytes(smaps: str, field: str) -> int:
    match = re.search(rf"^{field}:\s+(\d+)", smaps, re.M)
    return int(match[1]) if match else 0


def busy_s() -> float:
    with open("/proc/stat", encoding="utf-8") as file:
        fields = [int(field) for field in file.readline().split()[1:]]
    return (fields[0] + fields[1] + fields[2] + fields[5] + fields[6]) / TICKS_PER_S


def own_s() -> float:
    usages = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class Meter:
    """CPU over a window: of the server's processes, of this harness, and of everybody else."""

    def __init__(self, root: int) -> None:
        self.root = root
        self.start_s = time.monotonic()
        self.cpu_s = {pid: each.cpu_s for pid, each in tree(root).items()}
        self.busy_s, self.own_s = busy_s(), own_s()

    def end(self) -> Result:
        wall_s = time.monotonic() - self.start_s
        server_s = sum(each.cpu_s - self.cpu_s.get(pid, 0.0) for pid, each in tree(self.root).items())
        foreign_s = busy_s() - self.busy_s - server_s - (own_s() - self.own_s)
        return {"server_cpu_s": round(server_s, 3), "foreign_cores": round(max(0.0, foreign_s / wall_s), 3)}


def wait_quiet(root: int, limit_s: float) -> None:
    """Return when others use little for a while; these machines are shared."""
    start_s, quiet = time.monotonic(), 0
    while quiet < 3 and time.monotonic() - start_s < limit_s:
        meter = Meter(root)
        time.sleep(0.2)
        quiet = quiet + 1 if meter.end()["foreign_cores"] < DISTURBED_CORES else 0


def undisturbed(root: int, measure: Callable[[], Result], tries: int) -> Result:
    """The first measurement without foreign load, else the least disturbed one; its foreign_cores tells."""
    best: Result | None = None
    for _ in range(tries):
        wait_quiet(root, limit_s=20 if tries > 1 else 0)
        result = measure()
        if best is None or result["foreign_cores"] < best["foreign_cores"]:
            best = result
        if result["foreign_cores"] < DISTURBED_CORES:
            break
    assert best is not None
    return best


def poll(ask: Callable[[], Any], done: Callable[[Any], bool], limit_s: float, every_s: float = 0.05) -> Any:
    """Ask until the answer will do, or time is up; returns the last answer."""
    start_s = time.monotonic()
    while True:
        answer = ask()
        if done(answer) or time.monotonic() - start_s > limit_s:
            return answer
        time.sleep(every_s)
