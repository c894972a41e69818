"""Who sees what Worker code does to the world: every call of a binding and every request, and whether in a step.

A binding's object is told to be of a subclass of its class whose methods write down their calls. The classes
themselves stay as they are, so that what is not checked pays nothing.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from random import Random
from typing import Any

from flarebed.bindings.errors import JsError
from flarebed.bindings.values import Date
from flarebed.emulator.checking.places import Site, Sources


@dataclass(eq=False)
class Call:
    """`kind` is a kind of binding, or fetch; `target` what a reader calls it; `what` the SQL, the key, the path."""

    kind: str
    target: str
    operation: str
    what: str
    arguments: Any
    is_effect: bool
    trail: tuple[Site, ...]
    attempt: Attempt | None
    result: Any = None
    error: JsError | None = None

    @property
    def site(self) -> Site | None:
        """Where in the Worker's files; `trail` goes on with where that was called from."""
        return self.trail[0] if self.trail else None

    @property
    def effect(self) -> tuple[str, str, str]:
        """Calls of which one does the same as the other, with other values perhaps."""
        by_value = self.kind in ("kv", "queues", "workflows")
        return (self.target, self.operation, "" if by_value else self.what)

    @property
    def content(self) -> str:
        return f"{self.target}.{self.operation}({self.arguments})"

    def __str__(self) -> str:
        if self.kind == "fetch":
            return f"{self.operation} {self.target}{self.what}"
        return f"{self.target}.{self.operation}({self.what})"


@dataclass(eq=False)
class Attempt:
    """One call of a step's function. `dice` is the randomness that it sees."""

    step: tuple[str, str, int]
    dice: Random
    calls: list[Call] = field(default_factory=list)


INSIDE: ContextVar[Attempt | None] = ContextVar("flarebed_inside_step", default=None)
"""The attempt that the running Worker code belongs to; None outside of steps."""

IN_RUN: ContextVar[bool] = ContextVar("flarebed_in_run", default=False)
"""Whether the running Worker code is the `run` of the checked instance."""


def is_outside() -> bool:
    """In `run`, and in none of its steps. What other instances, consumers and requests do is not looked at."""
    return IN_RUN.get() and INSIDE.get() is None


@dataclass(frozen=True)
class Answer:
    """What a call is answered with instead of being made."""

    value: Any = None
    error: JsError | None = None


_READS = frozenset({"get", "getWithMetadata", "list", "status", "metrics"})
_METHODS: Mapping[str, tuple[str, ...]] = {
    "KvNamespace": ("get", "getWithMetadata", "list", "put", "delete"),
    "D1Database": ("batch", "exec", "query"),
    "D1DatabaseSession": ("batch",),
    "D1PreparedStatement": ("all", "first", "raw"),  # run() asks all()
    "WorkerQueue": ("send", "sendBatch", "metrics"),
    "WorkflowImpl": ("create", "createBatch", "get", "deleteBatch"),
    "InstanceImpl": ("status", "pause", "resume", "terminate", "restart", "sendEvent", "delete"),
}
_MAKERS = frozenset({"prepare", "bind", "withSession"})
"""Methods without an effect, whose result is watched in turn."""
_WRITES = re.compile(r"\b(insert|update|delete|replace|create|drop|alter)\b", re.IGNORECASE)
_COMMENTS = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


class Witness:
    """`answer` may stand in for a call. `calls` are those that the Worker made, in order."""

    def __init__(self, sources: Sources, answer: Callable[[Call], Answer | None] | None = None) -> None:
        self.sources = sources
        self.calls: list[Call] = []
        self.answer = answer
        self.is_watching = True

    def outside(self) -> list[Call]:
        return [call for call in self.calls if call.attempt is None]

    def watch(self, kind: str, name: str, binding: Any) -> None:
        self._adopt(kind, f"env.{name}", binding)

    def request(self, method: str, url: str, headers: list[tuple[str, str]], body: Any) -> None:
        """A request that Worker code is about to make (`Services.on_fetch`)."""
        origin = re.match(r"[a-z]+://[^/?#]*", url)
        target = origin[0] if origin else url
        arguments = {"url": url, "headers": {name.lower(): value for name, value in headers}, "body": plain(body)}
        path = url[len(target) :]
        self._see("fetch", target, method, path, arguments, method not in ("GET", "HEAD", "OPTIONS"))

    def _adopt(self, kind: str, target: str, thing: Any) -> Any:
        of = type(thing)
        methods: dict[str, Any] = {}
        for name in _METHODS.get(of.__name__, ()):
            methods[name] = self._recording(kind, target, getattr(of, name))
        for name in _MAKERS & set(dir(of)):
            methods[name] = self._making(kind, target, getattr(of, name))
        thing.__class__ = type(of.__name__, (of,), methods)
        return thing

    def _making(self, kind: str, target: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def method(this: Any, *arguments: Any) -> Any:
            return self._adopt(kind, target, function(this, *arguments))

        return method

    def _recording(self, kind: str, target: str, function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__name__

        @functools.wraps(function)
        async def method(this: Any, *arguments: Any) -> Any:
            what, is_effect = _described(this, name, arguments)
            call = self._see(kind, target, name, what, _plain(this, arguments), is_effect)
            answer = self.answer(call) if self.answer is not None and is_outside() else None
            if answer is None:
                answer = await _outcome(function(this, *arguments))
            call.result, call.error = answer.value, answer.error
            if answer.error is not None:
                raise answer.error
            if type(answer.value).__name__ == "InstanceImpl":
                self._adopt(kind, target, answer.value)
            return answer.value

        return method

    def _see(self, kind: str, target: str, operation: str, what: str, arguments: Any, is_effect: bool) -> Call:
        attempt = INSIDE.get()
        call = Call(kind, target, operation, what, arguments, is_effect, tuple(self.sources.callers()), attempt)
        if self.is_watching and (attempt is not None or IN_RUN.get()):
            self.calls.append(call)
            if attempt is not None:
                attempt.calls.append(call)
        return call


async def _outcome(work: Any) -> Answer:
    try:
        return Answer(await work if inspect.isawaitable(work) else work)
    except JsError as error:
        return Answer(error=error)


def _described(this: Any, name: str, arguments: tuple[Any, ...]) -> tuple[str, bool]:
    """What a call is about, and whether it changes anything."""
    if hasattr(this, "statement"):
        return _sql(this.statement)
    first = arguments[0] if arguments else ""
    if name == "batch" and isinstance(first, list):
        parts = [_sql(getattr(statement, "statement", "")) for statement in first]
        return "; ".join(sql for sql, _ in parts), any(writes for _, writes in parts)
    if name in ("exec", "query"):
        return _sql(first)
    if hasattr(this, "id") and isinstance(this.id, str):
        return this.id, name not in _READS
    return (repr(first) if isinstance(first, str | int) else ""), name not in _READS


def _sql(sql: Any) -> tuple[str, bool]:
    text = " ".join(_COMMENTS.sub(" ", sql).split()) if isinstance(sql, str) else ""
    first = text[:7].upper()
    return text, bool(_WRITES.search(text)) and not first.startswith(("SELECT", "EXPLAIN", "VALUES"))


def _plain(this: Any, arguments: Any) -> Any:
    """Arguments in words that compare: statements are their SQL and parameters."""
    if hasattr(this, "statement"):
        return [this.statement, plain(this.params)]
    return plain(list(arguments))


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items()}
    if isinstance(value, list):
        return [plain(member) for member in value]
    if hasattr(value, "statement"):
        return [value.statement, plain(value.params)]
    if isinstance(value, Date):
        return f"Date({value.ms:.0f})"
    if value is None or isinstance(value, str | int | float | bytes):
        return value
    return bytes(value).hex() if hasattr(value, "byte_length") else type(value).__name__
