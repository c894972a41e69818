"""Faults of bindings in a JavaScript Worker: laid around what workerd asks of us (`runtime/workerd/host.py`).

The answer to a call that fails is one of which workerd makes production's error: a status whose reason is in the text,
D1's own error, or no answer at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextvars import ContextVar
from dataclasses import replace
from typing import Final

from flarebed.bindings.errors import JsError
from flarebed.emulator.runtime.workerd import wire
from flarebed.emulator.runtime.workerd.host import Adapter, Answered, Asked, HangUp, Host

CONNECTION_LOST: Final = "Network connection lost."
"""What production says when a binding's service could not be reached."""
IN_HAND: Final[ContextVar[bool]] = ContextVar("flarebed_faults_in_hand", default=False)
"""A call of workerd's, whose faults are decided here and not again where the engine's object is called."""
_STATUS: Final = re.compile(r"KV \w+ failed: (\d{3}) (.*)", re.DOTALL)
_CODE: Final = re.compile(r"(?:Queue \w+ failed: )?(.*) \((\d+)\)", re.DOTALL)
_R2_ERROR: Final = re.compile(r"(?:\w+: )?(.*) \((\d+)\)", re.DOTALL)
_R2_REQUEST: Final = "cf-r2-request"
_BEGUN: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {"kv": (), "r2": (("cf-r2-metadata-size", "1"),)}
"""The headers of an answer that does not come to its end."""
_KINDS: Final = frozenset(("d1", "kv", "queue", "r2"))
_STATEMENT: Final = frozenset(("all", "first", "raw", "run"))

Due = Callable[[str, frozenset[str], bool], JsError | None]
"""Of a binding, the names that a call may have in the Worker, and whether it has taken effect: how it fails, if so."""


def lay_around(host: Host, due: Due) -> None:
    """Once, before the Worker asks."""
    for service, adapter in host.adapters.items():
        kind, binding = service.partition(":")[0], service.rpartition(":")[2]
        if kind in _KINDS:
            host.adapters[service] = _faulty(kind, binding, adapter, due)


def _faulty(kind: str, binding: str, adapter: Adapter, due: Due) -> Adapter:
    async def answer(asked: Asked) -> Answered:
        IN_HAND.set(True)
        asked = await _opened(asked) if kind == "r2" else asked
        names = _names(kind, asked)
        if (error := due(binding, names, False)) is not None:
            await asked.body()  # the connection goes on after it
            return _failure(kind, asked, error)
        answered = await adapter(asked)
        if (error := due(binding, names, True)) is None:
            return answered
        if not isinstance(answered.body, bytes):
            await answered.body.aclose()
        return _failure(kind, asked, error)

    return answer


async def _opened(asked: Asked) -> Asked:
    """With what R2 is asked for where it stands for a read, also if it comes before the bytes to write."""
    if _R2_REQUEST in asked.headers:
        return asked
    size, first = int(asked.headers["cf-r2-metadata-size"]), b""
    while len(first) < size:
        first += await anext(asked.chunks)
    headers = {**asked.headers, _R2_REQUEST: first[:size].decode()}
    return replace(asked, headers=headers, chunks=_after(first, asked.chunks))


async def _after(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for chunk in rest:
        yield chunk


def _names(kind: str, asked: Asked) -> frozenset[str]:
    """What the Worker may have called: workerd does not tell which of a statement's methods, or of those that read."""
    match kind, asked.method, asked.path:
        case "kv", "GET", "/":
            return frozenset(("list",))
        case "kv", "GET" | "POST", _:
            return frozenset(("get", "getWithMetadata"))
        case "kv", method, _:
            return frozenset((method.lower(),))
        case "queue", _, path:
            return frozenset(({"/message": "send", "/batch": "sendBatch"}.get(path, path[1:]),))
        case "r2", _, _:
            return frozenset((json.loads(asked.headers[_R2_REQUEST])["method"],))
        case "d1", _, "/execute":
            return frozenset(("exec",))
    return _STATEMENT | {"batch"}


def _failure(kind: str, asked: Asked, error: JsError) -> Answered:
    if error.message == CONNECTION_LOST:
        raise HangUp(_BEGUN.get(kind) if asked.method == "GET" else None)
    if kind == "d1" and asked.path not in ("/query", "/execute"):
        return Answered(body=json.dumps({"error": wire.error_to_wire(error, wire.no_function)}).encode())
    if kind == "d1":
        answer = {"success": False, "error": error.message.removeprefix("D1_ERROR: ")}
        return Answered(body=json.dumps(answer).encode(), headers=(("content-type", "application/json"),))
    if kind == "r2":
        text, code = said.groups() if (said := _R2_ERROR.fullmatch(error.message)) else (error.message, "10001")
        shown = json.dumps({"version": 1, "v4code": int(code), "message": text})
        return Answered(500, headers=(("cf-r2-error", shown),))
    if kind == "queue":
        cause, code = said.groups() if (said := _CODE.fullmatch(error.message)) else (error.message, "15000")
        return Answered(500, headers=(("cf-queues-error-cause", cause), ("cf-queues-error-code", code)), reason=cause)
    status, reason = said.groups() if (said := _STATUS.fullmatch(error.message)) else ("500", error.message)
    return Answered(int(status), reason=reason)
