"""The bytes of a bucket's objects: a file each, with a random name, as wrangler keeps them."""

from __future__ import annotations

import hashlib
import os
import secrets
import weakref
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from flarebed.bindings.r2.objects import Span

_CHUNK_BYTES: Final = 64 * 1024


class Blobs:
    """In `folder`, which is made when the first one comes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def arriving(self, algorithms: Collection[str]) -> Arriving:
        self._folder.mkdir(parents=True, exist_ok=True)
        return Arriving(self._folder / secrets.token_hex(40), algorithms)

    def size(self, name: str) -> int:
        return (self._folder / name).stat().st_size

    def read(self, parts: Sequence[tuple[str, int]], span: Span) -> Bytes:
        """Those bytes of what the files `parts` (name, size) make together. Open from now on, whoever deletes them."""
        pieces = []
        at = 0
        for name, size in parts:
            start, end = max(span.start - at, 0), min(span.start + span.length - at, size)
            if start < end:
                pieces.append((self._folder / name, start, end - start))
            at += size
        return Bytes(pieces)

    def delete(self, names: Collection[str]) -> None:
        for name in names:
            (self._folder / name).unlink(missing_ok=True)


class Arriving:
    """A file that is being written; unless it is `kept`, it is gone in the end. Use it with `with`."""

    def __init__(self, path: Path, algorithms: Collection[str]) -> None:
        self.name = path.name
        self.length = 0
        self._path = path
        self._file = path.open("xb")
        self._hashes = {name: hashlib.new(name, usedforsecurity=False) for name in algorithms}
        self._kept = False

    def add(self, chunk: bytes) -> None:
        self.length += len(chunk)
        self._file.write(chunk)
        for digest in self._hashes.values():
            digest.update(chunk)

    def keep(self) -> dict[str, bytes]:
        """It is complete; the digests by algorithm."""
        self._file.close()
        self._kept = True
        return {name: digest.digest() for name, digest in self._hashes.items()}

    def __enter__(self) -> Arriving:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        self._file.close()
        if error is not None or not self._kept:
            self._path.unlink(missing_ok=True)


class Bytes:
    """Parts of files, one after the other: whole (`bytes(...)`), or a stream that can be read once.

    What a Worker has got and never reads is closed when it forgets it.
    """

    def __init__(self, pieces: Sequence[tuple[Path, int, int]]) -> None:
        self._files = [(os.open(path, os.O_RDONLY), start, length) for path, start, length in pieces]
        self._close = weakref.finalize(self, _close, [file for file, *_ in self._files])
        self._chunks = self._read()

    def __bytes__(self) -> bytes:
        return b"".join(self._chunks)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        for chunk in self._chunks:
            return chunk
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Nobody reads the rest."""
        self._chunks = iter(())
        self._close()

    def _read(self) -> Iterator[bytes]:
        for file, start, length in self._files:
            at, end = start, start + length
            while at < end and (chunk := os.pread(file, min(end - at, _CHUNK_BYTES), at)):
                at += len(chunk)
                yield chunk
        self._close()


def _close(files: Sequence[int]) -> None:
    for file in files:
        os.close(file)
