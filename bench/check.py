"""The right answer of every route, asked before anything is measured: a fast wrong server is no result."""

from __future__ import annotations

import time
from typing import Any

from machine import poll
from server import Server


def check(server: Server) -> list[str]:
    """What differs, one line each."""
    wrong: list[str] = []

    def expect(what: str, got: Any, want: Any) -> None:
        if got != want:
            wrong.append(f"{what}: got {got!r}, want {want!r}")

    expect("hello", server.ask("GET", "/hello"), (200, b"hello world"))
    if not server.target.bare:
        seeded = server.json("POST", "/seed")
        expect("seed", (seeded["rows"], seeded["kv"]), (10000, 101))
        expect("version", list(server.json("GET", "/version")), ["version"])
        expect("echo", server.json("POST", "/echo", '{"a": [1, {"b": null}]}'), {"a": [1, {"b": None}]})
        check_kv(server, expect)
        check_d1(server, expect)
        tag = f"chk{time.time_ns()}"
        check_queue(server, expect, tag)
        check_workflows(server, expect, tag)
    return wrong


def check_kv(server: Server, expect: Any) -> None:
    expect("kv/get", server.json("GET", "/kv/get"), {"value": "x" * 100})
    expect("kv/get absent", server.ask("GET", "/kv/get?k=absent")[0], 404)
    expect("kv/put", server.json("POST", "/kv/put?k=chk"), {"ok": True})
    expect("kv/get chk", server.json("GET", "/kv/get?k=chk"), {"value": "value of chk"})
    expect("kv/list", server.json("GET", "/kv/list"), {"count": 100, "complete": True})


def check_d1(server: Server, expect: Any) -> None:
    row = {"id": 77, "name": "user name 77", "email": "user77@example.com", "score": 763}
    expect("d1/get", server.json("GET", "/d1/get?id=77"), row)
    expect("d1/get absent", server.ask("GET", "/d1/get?id=10001")[0], 404)
    expect("d1/insert", server.json("POST", "/d1/insert?name=chk"), {"ok": True})
    expect("d1/count", server.json("GET", "/d1/count?name=chk"), {"count": 1})
    expect("d1/batch", server.json("POST", "/d1/batch"), {"ok": True, "n": 20})
    expect("d1/count b", server.json("GET", "/d1/count?name=batch%20insert"), {"count": 20})
    expect("d1/scan", server.json("GET", "/d1/scan"), {"count": 1000, "sum": 499500})


def check_queue(server: Server, expect: Any, tag: str) -> None:
    expect("queue/send", server.json("POST", f"/queue/send?n=250&tag={tag}"), {"sent": 250})
    consumed = poll(lambda: server.json("GET", f"/queue/consumed?tag={tag}"), lambda c: c["consumed"] >= 250, 15)
    expect("queue/consumed", (consumed["consumed"], consumed["isum"]), (250, 250 * 249 // 2))
    expect("queue batches", consumed["maxbatch"] <= 100, True)


def check_workflows(server: Server, expect: Any, tag: str) -> None:
    expect("wf/start", server.json("POST", f"/wf/start?n=3&prefix={tag}&trace=1"), {"created": 3})
    done = poll(lambda: server.json("GET", f"/wf/done?prefix={tag}"), lambda d: d["done"] >= 3, 15)
    expect("wf/done", done, {"done": 3})
    status = poll(lambda: server.json("GET", f"/wf/status?id={tag}-0"), lambda s: s["status"] == "complete", 5)
    expect("wf/status", status, {"status": "complete", "output": {"ok": True, "c": 3}, "error": None})
    expect("wf/steps", server.json("GET", f"/wf/steps?id={tag}-1"), {"steps": {"1": 1, "2": 1, "3": 1}})
