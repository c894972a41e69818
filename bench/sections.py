"""What is measured of a running server: cold start, routes, queue, workflows, reload, and what survives a crash."""

from __future__ import annotations

import signal
import statistics
import time
from collections.abc import Container
from dataclasses import dataclass
from functools import partial

from load import ROUTES, load
from machine import Meter, Result, memory, poll, undisturbed
from server import Server


@dataclass(frozen=True)
class Effort:
    """How long to measure: `tries` repeats what other processes disturbed, up to that often."""

    seconds: int
    slices: int
    tries: int
    repeats: int
    messages: int
    instances: int
    calls: int


FULL = Effort(seconds=2, slices=1, tries=4, repeats=5, messages=5000, instances=500, calls=2000)
QUICK = Effort(seconds=1, slices=1, tries=1, repeats=2, messages=5000, instances=100, calls=500)


def unique() -> str:
    return format(time.time_ns(), "x")


def median(results: list[Result]) -> Result:
    keys = [key for key, value in results[0].items() if isinstance(value, int | float)]
    return {key: round(statistics.median(result[key] for result in results), 4) for key in keys}


def cold_start(server: Server, effort: Effort) -> Result:
    """With state from the start before; the server ends stopped."""
    starts, stops = [], []
    for _ in range(effort.repeats):
        starts.append(server.start())
        time.sleep(0.5)
        stops.append(server.stop())
    return {"start_s": round(statistics.median(starts), 3), "stop_s": round(statistics.median(stops), 3)}


def routes(server: Server, effort: Effort, names: Container[str]) -> dict[str, Result]:
    """Medians by "route@connections", of the routes of these names."""
    found: dict[str, Result] = {}
    for route in ROUTES:
        if route.name not in names or (server.target.bare and not route.bare):
            continue
        load(server, route, 4, 1)  # warm-up
        for connections in (1, 32):
            slices = []
            for number in range(effort.slices):
                seed = 11 + connections + number
                measure = partial(load, server, route, connections, effort.seconds, seed)
                slices.append(undisturbed(server.pid, measure, effort.tries))
            found[f"{route.name}@{connections}"] = median(slices)
            found[f"{route.name}@{connections}"]["failed"] = sum(each["failed"] for each in slices)
    return found


def queue(server: Server, effort: Effort) -> Result:
    result = undisturbed(server.pid, lambda: queue_many(server, effort.messages), effort.tries)
    delays_s = []
    for _ in range(effort.repeats):
        tag, start_s = "l" + unique(), time.monotonic()
        server.json("POST", f"/queue/send?n=1&tag={tag}")
        wait_consumed(server, tag, 1, every_s=0.005)
        delays_s.append(time.monotonic() - start_s)
    return {**result, "single_s": round(statistics.median(delays_s), 3)}


def queue_many(server: Server, count: int) -> Result:
    tag, meter, start_s = "q" + unique(), Meter(server.pid), time.monotonic()
    server.json("POST", f"/queue/send?n={count}&tag={tag}")
    consumed = wait_consumed(server, tag, count)
    total_s = time.monotonic() - start_s
    return {
        "messages_per_s": round(count / total_s),
        "lost": count - consumed["consumed"],
        "foreign_cores": meter.end()["foreign_cores"],
    }


def wait_consumed(server: Server, tag: str, count: int, every_s: float = 0.02) -> Result:
    answer: Result = poll(
        lambda: server.json("GET", f"/queue/consumed?tag={tag}"), lambda c: c["consumed"] >= count, 90, every_s
    )
    return answer


def workflows(server: Server, effort: Effort) -> Result:
    many = undisturbed(server.pid, lambda: workflows_many(server, effort.instances), effort.tries)
    times_s = []
    for _ in range(effort.repeats * 4):
        prefix, start_s = "x" + unique(), time.monotonic()
        server.json("POST", f"/wf/start?n=1&prefix={prefix}")
        poll(partial(server.json, "GET", f"/wf/status?id={prefix}-0"), lambda s: s["status"] == "complete", 15, 0.001)
        times_s.append(time.monotonic() - start_s)
    return {**many, "single_ms": round(statistics.median(times_s) * 1000, 1)}


def workflows_many(server: Server, count: int) -> Result:
    prefix, meter, start_s = "w" + unique(), Meter(server.pid), time.monotonic()
    server.json("POST", f"/wf/start?n={count}&prefix={prefix}")
    done = poll(lambda: server.json("GET", f"/wf/done?prefix={prefix}"), lambda d: d["done"] >= count, 180, 0.02)
    total_s = time.monotonic() - start_s
    return {
        "instances_per_s": round(count / total_s, 1),
        "lost": count - done["done"],
        "foreign_cores": meter.end()["foreign_cores"],
    }


def reload(server: Server, effort: Effort) -> Result:
    """From saving the file to the first answer of the new code."""
    before, times_s, failed = server.version(), [], 0
    try:
        for _ in range(effort.repeats):
            version = "v" + unique()
            server.edit(version)
            seconds, failures = server.wait_version(version)
            times_s.append(seconds)
            failed += failures
            time.sleep(1)
    finally:
        server.edit(before)
    server.wait_version(before)
    return {"median_ms": round(statistics.median(times_s) * 1000, 1), "failed": failed}


def crash(server: Server, how: signal.Signals) -> Result:
    """Write, end the server, start it again: what is still there, and does what slept go on by itself?"""
    tag = "c" + unique()
    server.json("POST", f"/kv/put?k={tag}")
    server.json("POST", f"/d1/insert?name={tag}")
    server.json("POST", f"/wf/start?n=1&prefix={tag}&sleep=4&trace=1")
    server.json("POST", f"/queue/send?n=500&tag={tag}&delay=4")
    poll(lambda: server.json("GET", f"/wf/steps?id={tag}-0"), lambda s: s["steps"].get("1") == 1, 5, 0.01)
    stop_s = server.stop(how)
    start_s = server.start()
    found = {
        "stop_s": round(stop_s, 3),
        "start_s": round(start_s, 3),
        "kv": server.ask("GET", f"/kv/get?k={tag}")[0] == 200,
        "d1": server.json("GET", f"/d1/count?name={tag}")["count"] == 1,
    }
    done = poll(lambda: server.json("GET", f"/wf/done?prefix={tag}"), lambda d: d["done"] == 1, 12)
    consumed = poll(lambda: server.json("GET", f"/queue/consumed?tag={tag}"), lambda c: c["consumed"] >= 500, 12)
    steps = server.json("GET", f"/wf/steps?id={tag}-0")["steps"]
    return {**found, "workflow": done["done"] == 1, "messages": consumed["consumed"], "steps": steps}


def memory_mb(server: Server) -> float:
    return float(memory(server.pid)["pss_mb"])
