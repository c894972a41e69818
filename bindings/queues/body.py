"""Message bodies: from a Worker's value to the bytes that are stored, and back, by content type. A "v8" body is in the
form that the sender's language has for it: V8's own, or `codec.py`'s.

https://developers.cloudflare.com/queues/configuration/javascript-apis/#queuescontenttype
"""

from __future__ import annotations

from typing import Any, Final

from flarebed.bindings import codec, v8
from flarebed.bindings.ecma import json_parse, json_stringify, typeof
from flarebed.bindings.queues import errors
from flarebed.bindings.values import UNDEFINED, ArrayBuffer, View
from flarebed.bindings.webidl import string

JSON_MESSAGES: Final = "queues_json_messages"
"""The compatibility flag (default from 2024-03-18) that makes json the default content type; before it was v8."""

NO_JSON: Final = b"undefined"
"""What JSON.stringify of a function sends (observed on wrangler 4.164); the service refuses it."""

_CONTENT_TYPES: Final = frozenset({"text", "bytes", "json", "v8"})


def default_content_type(flags: frozenset[str]) -> str:
    return "json" if JSON_MESSAGES in flags else "v8"


def checked_content_type(content_type: str) -> str:
    """In any case of letters; TypeError if there is no such type."""
    if content_type.lower() not in _CONTENT_TYPES:
        raise errors.unknown_content_type(content_type)
    return content_type.lower()


def serialize(body: Any, content_type: str) -> bytes:
    """The bytes that count for the limits. TypeError or DataCloneError if the type cannot hold the value."""
    if content_type == "json":
        text = json_stringify(body)
        return NO_JSON if text is UNDEFINED else string(text).encode()
    if content_type == "text":
        if not isinstance(body, str):
            raise errors.wrong_body("text", "string", typeof(body))
        return string(body).encode()
    if content_type == "bytes":
        if not isinstance(body, View):
            raise errors.wrong_body("bytes", "ArrayBufferView", typeof(body))
        return bytes(body)
    if content_type == "v8":
        return codec.encode(body)
    raise errors.unknown_content_type(content_type)


def deserialize(body: bytes, content_type: str) -> Any:
    if content_type == "json":
        return json_parse(body.decode())
    if content_type == "text":
        return body.decode()
    if content_type == "bytes":
        return View(ArrayBuffer(bytearray(body)))
    return v8.decode(body) if v8.is_v8(body) else codec.decode(body)
