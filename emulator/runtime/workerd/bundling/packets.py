"""The packets that esbuild and its host exchange: JSON's values and bytes, with lengths in front.

It is the protocol of esbuild's own JavaScript package (lib/shared/stdio_protocol.ts), little-endian.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

_NUMBER = struct.Struct("<I")
_NULL, _BOOLEAN, _INTEGER, _STRING, _BYTES, _ARRAY, _OBJECT = range(7)


@dataclass(frozen=True)
class Packet:
    """A request, or the response to the one with the same number."""

    number: int
    is_request: bool
    value: Any


def encode(packet: Packet) -> bytes:
    body = bytearray(_NUMBER.pack(packet.number << 1 | (not packet.is_request)))
    _write(body, packet.value)
    return _NUMBER.pack(len(body)) + body


def decode(body: bytes) -> Packet:
    """`body` is a packet without its length."""
    (head,) = _NUMBER.unpack_from(body)
    value, _ = _read(memoryview(body), _NUMBER.size)
    return Packet(head >> 1, head & 1 == 0, value)


def _write(body: bytearray, value: Any) -> None:
    match value:
        case None:
            body.append(_NULL)
        case bool():
            body += bytes((_BOOLEAN, value))
        case int():
            body.append(_INTEGER)
            body += _NUMBER.pack(value & 0xFFFFFFFF)
        case str():
            body.append(_STRING)
            _write_bytes(body, value.encode())
        case bytes():
            body.append(_BYTES)
            _write_bytes(body, value)
        case dict():
            body.append(_OBJECT)
            body += _NUMBER.pack(len(value))
            for name, item in value.items():
                _write_bytes(body, name.encode())
                _write(body, item)
        case _:
            body.append(_ARRAY)
            body += _NUMBER.pack(len(value))
            for item in value:
                _write(body, item)


def _write_bytes(body: bytearray, content: bytes) -> None:
    body += _NUMBER.pack(len(content))
    body += content


def _read(body: memoryview, at: int) -> tuple[Any, int]:
    """The value that begins at `at`, and where the next one begins."""
    kind, at = body[at], at + 1
    if kind == _NULL:
        return None, at
    if kind == _BOOLEAN:
        return bool(body[at]), at + 1
    if kind == _INTEGER:
        return _NUMBER.unpack_from(body, at)[0], at + _NUMBER.size
    if kind in (_STRING, _BYTES):
        content, at = _read_bytes(body, at)
        return content if kind == _BYTES else content.decode(), at
    (count,) = _NUMBER.unpack_from(body, at)
    at += _NUMBER.size
    if kind == _ARRAY:
        items = []
        for _ in range(count):
            item, at = _read(body, at)
            items.append(item)
        return items, at
    members = {}
    for _ in range(count):
        name, at = _read_bytes(body, at)
        members[name.decode()], at = _read(body, at)
    return members, at


def _read_bytes(body: memoryview, at: int) -> tuple[bytes, int]:
    (length,) = _NUMBER.unpack_from(body, at)
    start = at + _NUMBER.size
    return bytes(body[start : start + length]), start + length
