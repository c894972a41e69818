"""One KV namespace to test with."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from flarebed.bindings.errors import JsError
from flarebed.bindings.kind import Modes
from flarebed.bindings.kv import engine
from flarebed.bindings.kv.binding import KvNamespace
from flarebed.bindings.kv.spec import KvNamespaceSpec
from tests.support import Bench

NOW_S = 1_767_225_600


class KvBench(Bench):
    """`kv` is the binding KV of namespace "ns1"."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, start_ms=NOW_S * 1000.0)
        self.kv = self.open()

    def open(self, spec: KvNamespaceSpec | None = None, modes: Modes | None = None) -> KvNamespace:
        spec = spec or KvNamespaceSpec("KV", "ns1")
        around = replace(self.around, modes=modes or Modes())
        binding = engine.open((spec,), around).bindings()[spec.binding]
        assert isinstance(binding, KvNamespace)
        return binding


class Chunks:
    """A Worker's stream."""

    def __init__(self, *chunks: bytes) -> None:
        self._chunks = chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk


async def error_of(call: Any) -> str:
    """What `call` throws, as "Name: message"."""
    try:
        await call
    except JsError as error:
        return str(error)
    return "nothing"
