"""Requests per second on one route, by wrk."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from dataclasses import dataclass

from machine import Meter, Result
from server import Server


@dataclass(frozen=True)
class Route:
    """`{N}` in the path is a random number from 1 to N."""

    name: str
    method: str
    path: str
    body: str | None = None
    bare: bool = False
    """The bare ASGI app has it too."""


ROUTES = (
    Route("hello", "GET", "/hello", bare=True),
    Route("echo", "POST", "/echo", '{"message":"hello","n":1,"list":[1,2,3]}', bare=True),
    Route("kv_get", "GET", "/kv/get"),
    Route("kv_put", "POST", "/kv/put?k=bench:{2000}"),
    Route("kv_list", "GET", "/kv/list"),
    Route("d1_get", "GET", "/d1/get?id={10000}", bare=True),
    Route("d1_insert", "POST", "/d1/insert", bare=True),
    Route("d1_batch", "POST", "/d1/batch", bare=True),
    Route("d1_scan", "GET", "/d1/scan", bare=True),
    Route("queue_send", "POST", "/queue/send?n=1&tag=route"),
)

SUMMARY = """
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format('JSON{"requests":%d,"us":%d,"failed":%d,"p50":%d,"p99":%d}\\n',
    summary.requests, summary.duration, e.connect + e.read + e.write + e.timeout + e.status,
    latency:percentile(50), latency:percentile(99)))
end
"""


def script(route: Route, seed: int) -> str:
    lines = [f'wrk.method = "{route.method}"']
    if route.body is not None:
        lines += [f"wrk.body = [[{route.body}]]", 'wrk.headers["Content-Type"] = "application/json"']
    if match := re.search(r"\{(\d+)\}", route.path):
        before, after = route.path[: match.start()], route.path[match.end() :]
        lines += [
            f"math.randomseed({seed})",
            f'request = function() return wrk.format(nil, "{before}" .. math.random({match[1]}) .. "{after}") end',
        ]
    return "\n".join(lines) + SUMMARY


def load(server: Server, route: Route, connections: int, seconds: int, seed: int = 1) -> Result:
    path = "/" if "{" in route.path else route.path
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        file.write(script(route, seed))
        file.flush()
        meter = Meter(server.pid)
        output = subprocess.run(
            ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s", "-s", file.name, server.url + path],
            capture_output=True, text=True, timeout=seconds + 60, check=False,
        )  # fmt: skip
        cpu = meter.end()
    match = re.search(r"^JSON(.*)$", output.stdout, re.M)
    if match is None:
        raise RuntimeError(output.stdout + output.stderr)
    seen = json.loads(match[1])
    return {
        "per_s": round(seen["requests"] / (seen["us"] / 1e6), 1),
        "p50_ms": seen["p50"] / 1000,
        "p99_ms": seen["p99"] / 1000,
        "failed": seen["failed"],
        "cpu_us": round(cpu["server_cpu_s"] * 1e6 / max(1, seen["requests"]), 1),
        "foreign_cores": cpu["foreign_cores"],
    }
