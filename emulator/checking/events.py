"""The event that `run` gets, in a form that tells when it is changed. Copies of it are plain.

The SDK turns the engine's event into Python objects (`workers.entrypoints`); what it makes is replaced by the like.
"""

from __future__ import annotations

import copy
import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from flarebed.emulator.checking.places import Site, Sources
from flarebed.emulator.checking.steps import Key
from flarebed.emulator.checking.witness import IN_RUN, INSIDE
from flarebed.emulator.runtime.python.data import JsObject

_DICT_METHODS = ("__setitem__", "__delitem__", "__ior__", "update", "pop", "popitem", "setdefault", "clear")
_LIST_METHODS = (
    "__setitem__", "__delitem__", "__iadd__", "__imul__", "append", "extend", "insert", "pop", "remove", "clear",
    "sort", "reverse",
)  # fmt: skip


@dataclass(frozen=True)
class Mutation:
    """`step` is None outside of steps. `path` is what was changed, from `event` on."""

    path: str
    trail: tuple[Site, ...]
    step: Key | None

    @property
    def site(self) -> Site:
        return self.trail[0]


class MarkedEvent(JsObject, js="Object"):
    """The subject's event on its way to the Worker."""

    __slots__ = ()


def marked(event: Mapping[str, Any]) -> MarkedEvent:
    return MarkedEvent(dict(event))


@contextmanager
def watched(mutations: list[Mutation], sources: Sources) -> Iterator[None]:
    """While the block runs, changes of a marked event are written down."""
    sdk = importlib.import_module("workers.entrypoints")
    convert = sdk.python_from_rpc

    def changed(path: str) -> None:
        trail = tuple(sources.callers())
        attempt = INSIDE.get()
        if trail:
            mutations.append(Mutation(path, trail, None if attempt is None else attempt.step))

    def python_from_rpc(value: Any) -> Any:
        converted = convert(value)
        if not isinstance(value, MarkedEvent):
            return converted
        IN_RUN.set(True)  # for the task that `run` is about to run in
        return _like(converted, "event", changed)

    with mock.patch.object(sdk, "python_from_rpc", python_from_rpc):
        yield


def _like(value: Any, path: str, changed: Callable[[str], None]) -> Any:
    if isinstance(value, dict):
        members = {key: _like(member, f"{path}[{key!r}]", changed) for key, member in value.items()}
        return _telling(type(value), _DICT_METHODS, path, changed)(members)
    if isinstance(value, list):
        items = [_like(item, f"{path}[{index}]", changed) for index, item in enumerate(value)]
        return _telling(type(value), _LIST_METHODS, path, changed)(items)
    return value


def _telling(of: type, names: tuple[str, ...], path: str, changed: Callable[[str], None]) -> type:
    """A subclass of `of` whose methods `names` tell that they were called; it copies and pickles as `of`."""

    def method(name: str) -> Callable[..., Any]:
        original = getattr(of, name)

        def call(self: Any, *arguments: Any, **options: Any) -> Any:
            changed(path)
            return original(self, *arguments, **options)

        return call

    members: dict[str, Any] = {name: method(name) for name in names}
    members["_flarebed_of"] = of
    members["copy"] = members["__copy__"] = lambda self: of([*self] if isinstance(self, list) else {**self})
    members["__deepcopy__"] = lambda self, memo: copy.deepcopy(_plain(self), memo)
    members["__reduce_ex__"] = lambda self, protocol: _plain(self).__reduce_ex__(protocol)
    return type(of.__name__, (of,), members)


def _plain(value: Any) -> Any:
    of = vars(type(value)).get("_flarebed_of")
    if of is None:
        return value
    if isinstance(value, dict):
        return of({key: _plain(member) for key, member in value.items()})
    return of([_plain(item) for item in value])


def asked_by_worker() -> bool:
    """Whether the clock is asked on behalf of Worker code: through what stands in for `time` and `datetime`."""
    return sys._getframe(2).f_code.co_filename.endswith(("virtual_time.py", "date.py"))
