"""Where flarebed answers otherwise than what was recorded, on purpose, with the reason.

What is the same on every machine stands in data/ours.jsonl, word for word (masked like the recorded answers); what
depends on the machine or on the Python that runs flarebed is computed here.
"""

from __future__ import annotations

import ctypes
import errno
import importlib.util
import json
import os
import platform
import re
import sqlite3
import ssl
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.recorded.masks import mask

OURS = Path(__file__).parent / "data" / "ours.jsonl"
Expected = str | re.Pattern[str]


@dataclass(frozen=True)
class Difference:
    """`lines` are those of questions in a file, from 1; `computed` gives our answer of some of them, from the recorded
    one. `before`: only a Python older than this answers so."""

    file: str
    lines: tuple[int, ...]
    why: str
    computed: dict[int, Callable[[str], Expected]] = field(default_factory=dict)
    before: tuple[int, int] = (9, 0)


def show(value: object) -> Callable[[str], Expected]:
    return lambda _recorded: mask(f"{type(value).__name__}: {value!r}")


def pattern(text: str) -> Callable[[str], Expected]:
    return lambda _recorded: re.compile(text, re.DOTALL)


def without(*names: str) -> Callable[[str], Expected]:
    def shortened(recorded: str) -> str:
        for name in names:
            recorded = recorded.replace(f"'{name}', ", "")
        return recorded

    return shortened


def only_if_installed(module: str) -> Callable[[str], Expected]:
    return lambda recorded: "NoneType: None" if importlib.util.find_spec(module) else recorded


_SINCE_313 = ("__firstlineno__", "__static_attributes__")
_NOT_EMULATED = "A Python Worker hosts no Durable Objects; it goes without the binding and is told so."
_OWN_PYTHON = (
    "The Worker runs on the Python and the operating system of the developer: a faked version, platform, word size, "
    "hash seed or process id would break the native packages, debuggers and profilers there (docs/differences.md)."
)
_OWN_FILES = "The developer's own file system: tools and tests need the project's files where they are."

DIFFERENCES = (
    Difference(
        "env", (12,), "The environment of the command: packages and debuggers read it. No variable is in it, as there.",
        {12: lambda _recorded: mask(f"dict: {dict(os.environ)!r}")},
    ),
    Difference("env", (15,), "Names that Python 3.13 added to classes.", {15: without(*_SINCE_313)}, before=(3, 13)),
    Difference("env", (16, 17, 18), _NOT_EMULATED),
    Difference(
        "env", (20, 29),
        "There the text of workerd's own JavaScript (python-entrypoint-helper.ts); here the function is native.",
    ),
    Difference(
        "env", (30, 31, 32), _OWN_PYTHON,
        {
            30: show(sys.version), 31: show((sys.platform, os.name)),
            32: pattern(r"list: \[.*'[^']*/tests/recorded/probe/src'.*\]"),
        },
    ),
    Difference("env", (33,), _OWN_FILES),
    Difference("d1", (85, 106), "The rest of the text is the stack of miniflare's own JavaScript."),
    Difference(
        "queues", (26, 36, 37, 41),
        "Time stands still between questions in this test; the recorder's took so long that the messages before them "
        "had been delivered, or had been put in another batch.",
    ),
    Difference(
        "queues", (37, 39, 41, 43, 48),
        "A consumer without max_retries retries 3 times, as in production (https://developers.cloudflare.com/queues/"
        "configuration/configure-queues/); wrangler dev retries 2 times.",
    ),
    Difference("workflows", (1,), "It was recorded with workerd's development flag, which no deployed Worker has."),
    Difference(
        "workflows", (65, 75, 78, 84),
        "An instance that sleeps or waits for an event is `waiting` (https://developers.cloudflare.com/workflows/build/"
        "workers-api/#instancestatus); wrangler dev says `running`.",
    ),
    Difference(
        "workflows", (77, 78, 79, 80),
        "A pause during a sleep pauses, and the instance goes on after resume() (https://developers.cloudflare.com/"
        "workflows/build/trigger-workflows/#pause-a-workflow-instance); in wrangler dev it fails with "
        "`Aborting engine: User called pause`.",
    ),
    Difference("workflows", (87,), "Names that Python 3.13 added.", {87: without(*_SINCE_313)}, before=(3, 13)),
    Difference(
        "web", (12, 13, 15, 16, 18, 19),
        "The last line of the body, `at async Object.fetch`, is the stack of miniflare's own entry worker.",
    ),
    Difference("web", (24,), "Names that Python 3.13 added.", {24: without(*_SINCE_313)}, before=(3, 13)),
    Difference(
        "web", (25,), "Names that Python 3.13 and 3.14 added.",
        {25: without("__annotate_func__", *(() if sys.version_info >= (3, 13) else _SINCE_313))}, before=(3, 14),
    ),
    Difference("web", (55,), "Python 3.13 added the suggestion.", before=(3, 13)),
    Difference("web", (90,), "The recorder's Worker was itself at this address; nothing is there in this test."),
    Difference(
        "web", (95, 96, 97, 98),
        "The HTTP library writes Host first (RFC 9110, section 7.2: a client should); the headers are the same.",
    ),
    Difference("web", (138,), "Node.js's own modules are JavaScript of workerd; they are not emulated."),
    Difference(
        "python", (9, 11, 33, 37, 38, 41, 44, 55, 60, 62), _OWN_PYTHON,
        {
            9: pattern(r"socket\.socket: <socket\.socket fd=N, .* laddr=\('127\.0\.0\.1', \d+\), raddr=.*>"),
            11: lambda recorded: recorded.replace("14", str(int(errno.ECONNREFUSED))),
            33: show((hash("a"), hash("a"))),
            37: show((sqlite3.sqlite_version, [(1,)])),
            38: show(ssl.OPENSSL_VERSION),
            41: lambda recorded: recorded.replace("UTC-0000", time.tzname[0]),
            44: show(ctypes.sizeof(ctypes.c_long)),
            55: show((sys.maxsize, 1000, sys.byteorder, "cpython")),
            60: show((os.getpid(), os.cpu_count(), os.getuid())),
            62: show((platform.platform(), platform.machine(), platform.python_version())),
        },
    ),
    Difference("python", (10,), "There a fake address that only Emscripten's own sockets understand."),
    Difference(
        "python", (24, 25, 27, 28, 30), _OWN_FILES,
        {
            27: pattern(r"tuple: \(1, '.*/rel\.txt'\)"),
            30: pattern(r"pathlib(\._local)?\.PosixPath: PosixPath\('.*/tests/recorded/probe/src/entry\.py'\)"),
        },
    ),
    Difference("python", (40,), "The machine has a time zone database; production needs the package tzdata."),
    Difference(
        "python", (50, 52), "Packages of the environment that flarebed runs in (docs/differences.md).",
        {50: only_if_installed("httpx"), 52: only_if_installed("pip")},
    ),
)  # fmt: skip


def expected_answers(file: str) -> dict[int, Callable[[str], Expected]]:
    """What flarebed answers instead, by line."""
    rows = [json.loads(row) for row in OURS.read_text(encoding="utf-8").splitlines()]
    texts = {row["line"]: row["answer"] for row in rows if row["file"] == file}
    expected: dict[int, Callable[[str], Expected]] = {}
    for difference in DIFFERENCES:
        if difference.file == file and sys.version_info < difference.before:
            for line in difference.lines:
                expected[line] = difference.computed.get(line) or (lambda _recorded, line=line: texts[line])
    return expected
