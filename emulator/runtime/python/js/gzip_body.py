"""Bodies with `content-encoding: gzip`, on the host's side: Worker code sees them plain.

Source: https://developers.cloudflare.com/workers/runtime-apis/response/ ("encodeBody").
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import AsyncIterator

_GZIP = 31
"""zlib's window bits for the gzip format."""


def compress(body: bytes | AsyncIterator[bytes]) -> bytes | AsyncIterator[bytes]:
    return gzip.compress(body, 6, mtime=0) if isinstance(body, bytes) else _compressed(body)


async def _compressed(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    compressor = zlib.compressobj(wbits=_GZIP)
    async for chunk in chunks:
        yield compressor.compress(chunk) + compressor.flush(zlib.Z_SYNC_FLUSH)
    yield compressor.flush()


async def decompressed(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    decompressor = zlib.decompressobj(wbits=_GZIP)
    async for chunk in chunks:
        plain = decompressor.decompress(chunk)
        if plain:
            yield plain
    yield decompressor.flush()
