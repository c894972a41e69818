"""A bare ASGI app with the same SQLite calls: what one Python process can do at most."""

from __future__ import annotations

import json
import os
import sqlite3
from typing import Any
from urllib.parse import parse_qs

KEYS = ("id", "name", "email", "score")
INSERT = "INSERT INTO inserts (name, val) VALUES (?, ?)"
TEXT = [(b"content-type", b"text/plain")]
JSON = [(b"content-type", b"application/json")]


def connect(path: str) -> sqlite3.Connection:
    database = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=256)
    database.executescript(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; DROP TABLE IF EXISTS users; DROP TABLE IF EXISTS inserts;"
        "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, score INTEGER NOT NULL);"
        "CREATE TABLE inserts (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, val INTEGER NOT NULL)"
    )
    rows = ((i, f"user name {i}", f"user{i}@example.com", i * 7919 % 1000) for i in range(1, 10001))
    database.execute("BEGIN")
    database.executemany("INSERT INTO users VALUES (?, ?, ?, ?)", rows)
    database.execute("COMMIT")
    return database


database = connect(os.environ["BARE_DATABASE"])


async def app(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        await lifespan(receive, send)
        return
    body = await read(receive) if scope["path"] == "/echo" else b""
    answer = respond(scope["path"], scope["query_string"], body)
    headers = TEXT if scope["path"] == "/hello" else JSON
    length = (b"content-length", b"%d" % len(answer))
    await send({"type": "http.response.start", "status": 200, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": answer})


def respond(path: str, query: bytes, body: bytes) -> bytes:
    match path:
        case "/hello":
            return b"hello world"
        case "/echo":
            return json.dumps(json.loads(body)).encode()
        case "/d1/get":
            row = database.execute("SELECT * FROM users WHERE id = ?", (int(parse_qs(query)[b"id"][0]),)).fetchone()
            return json.dumps(dict(zip(KEYS, row, strict=True))).encode()
        case "/d1/insert":
            database.execute(INSERT, ("single insert", 42))
            return b'{"ok":true}'
        case "/d1/batch":
            database.execute("BEGIN")
            for i in range(20):
                database.execute(INSERT, ("batch insert", i))
            database.execute("COMMIT")
            return b'{"ok":true,"n":20}'
        case "/d1/scan":
            rows = database.execute("SELECT id, name, email, score FROM users ORDER BY id LIMIT 1000").fetchall()
            found = [dict(zip(KEYS, row, strict=True)) for row in rows]
            return json.dumps({"count": len(found), "sum": sum(row["score"] for row in found)}).encode()
    return b"{}"


async def read(receive: Any) -> bytes:
    body = b""
    while True:
        message = await receive()
        body += bytes(message.get("body", b""))
        if not message.get("more_body"):
            return body


async def lifespan(receive: Any, send: Any) -> None:
    while True:
        message = await receive()
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return
