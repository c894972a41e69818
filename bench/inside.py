"""Binding calls per second of CPU without HTTP: by the Worker itself, and the same SQL by apsw alone."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import apsw

from machine import Result
from server import Server

SCHEMA = """
PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;
CREATE TABLE kv (key TEXT PRIMARY KEY, expiration_ms INTEGER, metadata TEXT, value BLOB);
CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, score INTEGER NOT NULL);
CREATE TABLE inserts (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, val INTEGER NOT NULL);
CREATE TABLE messages (place INTEGER PRIMARY KEY, id TEXT, body BLOB);
INSERT INTO users WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 10000)
SELECT i, 'user name ' || i, 'user' || i || '@example.com', (i * 7919) % 1000 FROM c
"""
INSERT = "INSERT INTO inserts (name, val) VALUES (?, ?)"
PUT = "INSERT OR REPLACE INTO kv VALUES (?, NULL, NULL, ?)"
SEND = "INSERT INTO messages (id, body) VALUES (?, ?)"
SLICES = 5


class Raw:
    """The SQL of each call, on a file of its own."""

    def __init__(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self._cursor = apsw.Connection(str(path)).cursor()
        self._cursor.execute(SCHEMA).fetchall()
        self._cursor.execute(PUT, ("bench:key", b"x" * 100))

    def kv_get(self) -> None:
        self._cursor.execute("SELECT value, metadata, expiration_ms FROM kv WHERE key = ?", ("bench:key",)).fetchall()

    def kv_put(self) -> None:
        self._cursor.execute(PUT, ("inside", b"x" * 100))

    def d1_first(self) -> None:
        self._cursor.execute("SELECT id, name, email, score FROM users WHERE id = ?", (77,)).fetchall()

    def d1_run(self) -> None:
        self._cursor.execute(INSERT, ("inside", 42))

    def d1_batch(self) -> None:
        self._cursor.execute("BEGIN IMMEDIATE")
        for i in range(20):
            self._cursor.execute(INSERT, ("batch insert", i))
        self._cursor.execute("COMMIT")

    def d1_scan(self) -> None:
        self._cursor.execute("SELECT id, name, email, score FROM users ORDER BY id LIMIT 1000").fetchall()

    def queue_send(self) -> None:
        self._cursor.execute(SEND, ("0" * 32, json.dumps({"tag": "inside", "i": 1}).encode()))


CALLS = ("kv_get", "kv_put", "d1_first", "d1_run", "d1_batch", "d1_scan", "queue_send")


def inside(server: Server, calls: int) -> Result:
    """For each call the best of several slices, in turn with those of apsw."""
    raw = Raw(server.target.state / "raw.sqlite")
    found: Result = {}
    for name in CALLS:
        count = max(10, calls // 20) if name in ("d1_batch", "d1_scan") else calls
        ours_us, raw_us = [], []
        for _ in range(SLICES):
            ours_us.append(server.json("GET", f"/inside?call={name}&n={count}")["us"])
            raw_us.append(cpu_us(getattr(raw, name), count))
        found[name] = {"per_s": round(1e6 / min(ours_us)), "raw_per_s": round(1e6 / min(raw_us))}
    return found


def cpu_us(call: Callable[[], None], count: int) -> float:
    started_s = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - started_s) / count * 1e6
