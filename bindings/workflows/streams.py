"""Byte streams as results of steps: kept in chunks beside the journal's steps, and read back as streams.

The column `result` of such a step holds where its chunks are. Sizes and texts are those of workers-sdk
packages/workflows-shared/src/lib/streams.ts.
"""

from __future__ import annotations

import struct
from collections.abc import AsyncIterator
from typing import Any, Final

from flarebed.bindings.codec import decode
from flarebed.bindings.errors import JsError
from flarebed.bindings.values import Stream
from flarebed.bindings.workflows import errors
from flarebed.bindings.workflows.history import History

CHUNK_BYTES: Final = 256 * 1024
MAX_INPUT_BYTES: Final = 16 * 1024 * 1024
PREVIEW_CHARACTERS: Final = 1_024

_MARK: Final = b"\x00"
"""No encoded value begins so."""
_PLACE: Final = struct.Struct(">cIIQ")  # the mark, the attempt, the number of chunks, of bytes


class StoredStream:
    """What a step gave, once more. It can be read once; ask the journal again for another."""

    js_tag = "ReadableStream"

    def __init__(self, history: History, key: int, seq: int, place: bytes) -> None:
        self._history = history
        self._key = key
        self._seq = seq
        _, self._attempt, self._chunks, self.total_bytes = _PLACE.unpack(place)
        self._next = 0

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if self._next == self._chunks:
            raise StopAsyncIteration
        self._next += 1
        return self._history.chunk(self._key, self._seq, self._attempt, self._next)

    def preview(self) -> str:
        """How it is shown: the beginning of a text, the size of anything else."""
        first = self._history.chunk(self._key, self._seq, self._attempt, 1) if self._chunks else b""
        start = first[: PREVIEW_CHARACTERS * 4]
        is_whole = len(start) == self.total_bytes
        try:
            text = start.decode("utf-8") if is_whole else _whole_characters(start)
        except UnicodeDecodeError:
            return f"[ReadableStream (binary): {self.total_bytes} bytes]"
        cut = text[:PREVIEW_CHARACTERS]
        return cut if is_whole and cut == text else f"{cut}[truncated output]"


class Storing:
    """Takes in a stream for one attempt of a step; `abandon` it if nobody waits for it any more."""

    def __init__(self, history: History, key: int, seq: int, attempt: int) -> None:
        self._history = history
        self._where = (key, seq, attempt)
        self._attempt = attempt
        self._chunks = self._bytes = 0
        self._abandoned = False

    def abandon(self) -> None:
        self._abandoned = True

    async def store(self, stream: Stream, room_bytes: int) -> bytes:
        """Where it is then. Raises InvalidStreamError."""
        self._history.drop_chunks(*self._where[:2])
        buffered = bytearray()
        async for data in _read(stream):
            if self._abandoned:
                break
            if len(data) > MAX_INPUT_BYTES:
                raise InvalidStreamError(errors.OVERSIZED_CHUNK)
            if self._bytes + len(buffered) + len(data) > room_bytes:
                raise InvalidStreamError(errors.STORAGE_LIMIT)
            buffered += data
            while len(buffered) >= CHUNK_BYTES:
                await self._add(bytes(buffered[:CHUNK_BYTES]))
                del buffered[:CHUNK_BYTES]
        if buffered:
            await self._add(bytes(buffered))
        return _PLACE.pack(_MARK, self._attempt, self._chunks, self._bytes)

    async def _add(self, chunk: bytes) -> None:
        self._chunks += 1
        self._bytes += len(chunk)
        self._history.add_chunk(*self._where, self._chunks, chunk)
        await self._history.durable()


class InvalidStreamError(Exception):
    """A stream that ends its instance; the message says why."""


def value_of(history: History, key: int, seq: int, result: bytes) -> Any:
    """What is recorded as the result of a step."""
    return StoredStream(history, key, seq, result) if result[:1] == _MARK else decode(result)


def size_of(result: bytes) -> int:
    """How much a result takes."""
    return int(_PLACE.unpack(result)[3]) if result[:1] == _MARK else len(result)


async def _read(stream: Stream) -> AsyncIterator[bytes]:
    try:
        chunks = aiter(stream)
    except JsError as error:
        raise errors.locked_stream() from error
    try:
        async for data in chunks:
            yield data
    except JsError as error:
        raise InvalidStreamError(errors.BROKEN_STREAM) from error
    finally:
        close = getattr(chunks, "aclose", None)
        if close is not None:
            await close()


def _whole_characters(data: bytes) -> str:
    """Text whose last character may be cut off."""
    for cut in range(4):
        try:
            return data[: len(data) - cut].decode("utf-8")
        except UnicodeDecodeError as error:
            if error.end < len(data) - cut:
                raise
    return data.decode("utf-8")
