"""Values too large for one row. `namespace.py` keeps them as rows of pieces, so that neither a put from a stream nor a
get of type "stream" holds more than a piece.

A value that still arrives is not in the database, so no transaction waits for a slow stream, and nothing is left of it
when the process dies: it is in a file without a name. What is read is read on a connection of its own, which goes on
seeing the version that it began with, whoever writes or deletes the key meanwhile.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final

import apsw

from flarebed.bindings.store import BUSY_TIMEOUT_MS

PIECE_BYTES: Final = 64 * 1024
MAX_ROW_BYTES: Final = 1024 * 1024
"""Values up to here are one row; also how much of one that arrives is held in memory."""

_PIECES: Final = "SELECT piece FROM pieces WHERE key = ? ORDER BY position"


class Arriving:
    """A value that arrives in chunks; of one that is longer than `limit` only the length is kept."""

    def __init__(self, folder: Path, limit: int) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=MAX_ROW_BYTES, dir=str(folder))  # noqa: SIM115 (closed in __exit__)
        self._limit = limit
        self._length = 0

    def add(self, chunk: bytes) -> None:
        self._length += len(chunk)
        if self._length <= self._limit:
            self._file.write(chunk)

    def __len__(self) -> int:
        return self._length

    def __bytes__(self) -> bytes:
        return b"".join(self.pieces())

    def pieces(self) -> Iterator[bytes]:
        self._file.seek(0)
        while piece := self._file.read(PIECE_BYTES):
            yield piece

    def __enter__(self) -> Arriving:
        return self

    def __exit__(self, *_error: object) -> None:
        self._file.close()


class Kept:
    """A value that is kept in pieces, to be read once: whole (`bytes(kept)`) or as a stream."""

    def __init__(self, reader: apsw.Connection, key: str, length: int) -> None:
        """`reader` is in a transaction, and is closed when all is read."""
        self._reader = reader
        self._rows: Iterator[tuple[bytes]] = reader.execute(_PIECES, (key,))
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __bytes__(self) -> bytes:
        value = b"".join(piece for (piece,) in self._rows)
        self._close()
        return value

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        for (piece,) in self._rows:
            return piece
        self._close()
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Nobody reads the rest."""
        self._close()

    def _close(self) -> None:
        self._rows = iter(())
        self._reader.close(True)


def pieces(value: bytes | Arriving) -> Iterator[bytes | memoryview]:
    """Of bytes, views and not copies."""
    if isinstance(value, Arriving):
        return value.pieces()
    view = memoryview(value)
    return (view[start : start + PIECE_BYTES] for start in range(0, len(value), PIECE_BYTES))


def reader(path: Path) -> apsw.Connection:
    """A connection that goes on seeing what is in the database now."""
    connection = apsw.Connection(str(path), apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    connection.execute("BEGIN")
    return connection
