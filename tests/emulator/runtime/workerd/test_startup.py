"""What workerd 1.20261117 wrote when it did not start, and what the user is told."""

from __future__ import annotations

import json

from flarebed.bindings.errors import InternalError, UserError
from flarebed.emulator.runtime.http import Frame, WorkerError
from flarebed.emulator.runtime.workerd.startup import failure

FOLLOWS = (
    'Worker "control"\'s binding "e" refers to service "worker:u" with a named entrypoint "Wf", but "worker:u" has no '
    "such named entrypoint."
)


class Mapping:
    def mapped(self, stack: str) -> str:
        return stack.replace("index.js:2:7", "src/index.ts:9:1")

    def frames(self, stack: str) -> list[Frame]:
        return [Frame("src/index.ts", 9, "<anonymous>")]


def written(message: str, level: str = "error", **more: str) -> str:
    return json.dumps({"timestamp": "1", "level": level, "message": message} | more)


def of(*messages: str) -> Exception:
    return failure(
        [written(message, source="src/workerd/server/server/entry.rs:170") for message in messages], Mapping()
    )


def test_the_top_level_throws() -> None:
    error = of("service worker:u: Uncaught Error: top level\n  at index.js:2:7", FOLLOWS)
    assert isinstance(error, WorkerError)
    assert error.text == "Error: top level\n  at src/index.ts:9:1"
    assert error.frames == (Frame("src/index.ts", 9, "<anonymous>"),)


def test_an_import_that_does_not_exist() -> None:
    error = of('service worker:u: Uncaught Error: No such module "nope".\n  imported from "index.js"', FOLLOWS)
    assert isinstance(error, WorkerError)
    assert error.text == 'Error: No such module "nope".\n  imported from "index.js"'


def test_settings() -> None:
    error = of("service worker:u: No such compatibility flag: nope_flag", "service worker:u: And another.")
    assert isinstance(error, UserError)
    assert error.message == "No such compatibility flag: nope_flag\nAnd another."


def test_what_is_said_beside_it() -> None:
    lines = [
        written("at start", "log"),
        written("shouted", "error"),
        written("service worker:u: The compatibility flag became the default.", "warn", source="x"),
        written("service worker:u: Invalid compatibility date: nonsense", source="x"),
    ]
    error = failure(lines, Mapping())
    assert isinstance(error, UserError)
    assert error.message == "Invalid compatibility date: nonsense"


def test_all_else_is_ours() -> None:
    error = failure(["sh: 1: workerd: not found", written("Config wrong", source="x")], Mapping())
    assert isinstance(error, InternalError)
    assert str(error) == "workerd did not start:\nsh: 1: workerd: not found\nConfig wrong"
