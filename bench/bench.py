#!/usr/bin/env python3
"""flarebed beside `wrangler dev`, the same routes under the same load, alternating; run by run.sh, which has the tools.

    bench.py [--quick] [--only LABEL ...] [--parts PART ...] [--routes ROUTE ...] [--rounds N] [--check]

In a round each route takes five seconds a server, the parts queue and inside half a minute more; while others use the
machine it waits for them, several times as long. Six routes, these parts, four servers and two rounds: eight minutes.
A figure of a shared machine means little, a ratio from one run more. Linux; needs wrk, Node and wrangler.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Container
from pathlib import Path

import sections
from check import check
from inside import inside
from load import ROUTES
from machine import Result
from sections import FULL, QUICK, Effort
from server import Server, Target
from table import table

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "bench"
BIN = Path(sys.executable).parent
WORKER = HERE / "worker"
SCRIPT = HERE / "js"
TUNED = (("X_LOCAL_OBSERVABILITY", "false"), ("CLOUDFLARE_CF_FETCH_ENABLED", "false"))
TOOLS = (("PATH", f"{BUILD}/node_modules/.bin:{os.environ.get('PATH', '')}"),)
"""workerd and esbuild, which wrangler brings along."""
QUIET = (("WRANGLER_SEND_METRICS", "false"), ("CI", "1"))


def wrangler(label: str, port: int, options: str, environment: tuple[tuple[str, str], ...]) -> Target:
    state = BUILD / label.replace(" ", "-")
    start = f"exec {BUILD}/node_modules/.bin/wrangler dev --port {port} --persist-to {state} {options}"
    return Target(label, start, SCRIPT, port, state, SCRIPT / "src" / "index.js", QUIET + environment)


def flarebed(label: str, port: int, options: str = "", folder: Path = WORKER, main: str = "src/entry.py") -> Target:
    state = BUILD / label.replace(" ", "-")
    start = f"exec {BIN}/flarebed dev --port {port} --persist-to {state} {options}"
    return Target(label, start, folder, port, state, folder / main, TOOLS)


def targets() -> tuple[Target, ...]:
    bare = f"mkdir -p {BUILD}/bare && exec {BIN}/uvicorn bare:app --port 8795 --no-access-log --log-level error"
    database = (("BARE_DATABASE", str(BUILD / "bare" / "bare.sqlite")),)
    return (
        wrangler("wrangler", 8791, "", ()),
        wrangler("wrangler tuned", 8792, "--log-level error", TUNED),
        flarebed("flarebed", 8793),
        flarebed("flarebed FULL", 8794, "--synchronous full"),
        flarebed("flarebed JS", 8796, "", SCRIPT, "src/index.js"),
        Target("bare uvicorn", bare, HERE, 8795, BUILD / "bare", None, database, bare=True),
    )


BINDINGS = (sections.queue, sections.workflows, sections.reload)
PARTS = ("cold", "routes", "inside", "queue", "workflows", "reload", "crash")
NAMES = tuple(route.name for route in ROUTES)


def measure(server: Server, effort: Effort, parts: Container[str], names: Container[str]) -> Result:
    """One run on fresh state."""
    server.clear()
    try:
        fresh_s = server.start()
        result: Result = {"fresh_s": round(fresh_s, 3), "memory_start_mb": sections.memory_mb(server)}
        refuse(server)
        server.stop()
        if "cold" in parts:
            result["cold"] = sections.cold_start(server, effort)
        server.start()
        if "routes" in parts:
            result["routes"] = sections.routes(server, effort, names)
            result["memory_load_mb"] = sections.memory_mb(server)
        if "inside" in parts and server.target.folder == WORKER:
            result["inside"] = inside(server, effort.calls)
        if not server.target.bare:
            result |= {part.__name__: part(server, effort) for part in BINDINGS if part.__name__ in parts}
            if "crash" in parts:
                result |= {how.name: sections.crash(server, how) for how in (signal.SIGKILL, signal.SIGINT)}
        return result
    finally:
        server.stop()


def refuse(server: Server) -> None:
    """Nothing is measured of a server that answers wrong."""
    wrong = check(server)
    if wrong:
        raise SystemExit("\n  ".join([f"{server.target.label} answers wrong:", *wrong]))


def only_check(servers: list[Server]) -> None:
    for server in servers:
        server.clear()
        try:
            server.start()
            refuse(server)
        finally:
            server.stop()
        print(f"{server.target.label}: every route answers right")


def main() -> None:
    parser = argparse.ArgumentParser(description="flarebed beside wrangler dev")
    parser.add_argument("--quick", action="store_true", help="about three minutes instead of half an hour")
    parser.add_argument("--only", nargs="*", help="these servers, by label")
    parser.add_argument("--parts", nargs="*", default=PARTS, choices=PARTS, help="measure only these")
    parser.add_argument("--routes", nargs="*", default=NAMES, choices=NAMES, help="of the part routes, only these")
    parser.add_argument("--rounds", type=int, help="how often each server is measured (3, with --quick 1)")
    parser.add_argument("--check", action="store_true", help="only see that every route answers right")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    chosen = [target for target in targets() if not arguments.only or target.label in arguments.only]
    servers = [Server(target, BUILD / "logs" / f"{target.label.replace(' ', '-')}.log") for target in chosen]
    if arguments.check:
        only_check(servers)
        return
    effort, rounds = (QUICK, arguments.rounds or 1) if arguments.quick else (FULL, arguments.rounds or 3)
    results: dict[str, list[Result]] = {target.label: [] for target in chosen}
    for number in range(rounds):
        for server in servers:
            print(f"round {number + 1} of {rounds}: {server.target.label}", file=sys.stderr, flush=True)
            left_out = {"crash"} if number or arguments.quick else set()
            parts = set(arguments.parts) - left_out
            results[server.target.label].append(measure(server, effort, parts, arguments.routes))
        (BUILD / "results.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    print(table(results))


if __name__ == "__main__":
    main()
