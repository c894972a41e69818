"""Requests as workerd makes them, to be given to an adapter."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qsl

from flarebed.emulator.runtime.workerd.host import Adapter, Answered, Asked


async def ask(adapter: Adapter, method: str, target: str, *chunks: bytes, **headers: str) -> tuple[int, str, bytes]:
    """The answer's status, reason and body."""
    answered = await answer(adapter, method, target, *chunks, **headers)
    return answered.status, answered.reason, await whole(answered)


async def answer(adapter: Adapter, method: str, target: str, *chunks: bytes, **headers: str) -> Answered:
    path, _, query = target.partition("?")
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await adapter(Asked(method, path, dict(parse_qsl(query)), named, _chunks(*chunks)))


async def whole(answered: Answered) -> bytes:
    body: Any = answered.body
    return body if isinstance(body, bytes) else b"".join([chunk async for chunk in body])


async def _chunks(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk
