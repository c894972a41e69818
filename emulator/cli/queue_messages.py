"""Messages on the command line: how one that is to be sent is read, and how those that wait are shown."""

from __future__ import annotations

import base64
import json
from typing import Any, Final, cast

from flarebed.bindings import codec
from flarebed.bindings.ecma import json_parse, json_stringify
from flarebed.bindings.ecma_date import date_to_iso
from flarebed.bindings.errors import JsError, UserError
from flarebed.bindings.queues.api import Peeked
from flarebed.bindings.values import ArrayBuffer, View

SHOWN_CHARACTERS: Final = 100
COLUMNS: Final = ("state", "id", "attempts", "sent", "type", "body")


def content_of(body: str | None, file: bytes | None) -> bytes:
    """BODY, or what `--file` has."""
    if body is not None and file is not None:
        raise UserError("Give BODY or --file, not both.")
    if body is None and file is None:
        raise UserError("Give BODY, or --file.", hint="For example: flarebed queues send jobs '{\"n\": 1}'")
    return (body or "").encode("utf-8", "surrogateescape") if file is None else file


def value_of(content: bytes, content_type: str | None) -> tuple[str, Any]:
    """The content type and the value that a Worker would send."""
    if content_type == "bytes":
        return content_type, View(ArrayBuffer(bytearray(content)))
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise UserError("The body is no UTF-8 text.", hint="Send it with --content-type bytes.") from None
    if content_type == "text":
        return content_type, text
    try:
        return content_type or "json", json_parse(text)
    except JsError as error:
        if content_type is None:
            return "text", text
        raise UserError(f"The body is not JSON: {error.message}") from None


def row(state: str, peeked: Peeked) -> tuple[str, ...]:
    """For COLUMNS."""
    message = peeked.message
    sent = date_to_iso(message.enqueued_ms)
    return _state_text(state, peeked), message.id, str(peeked.attempts), sent, message.content_type, _body_text(peeked)


def as_json(state: str, peeked: Peeked) -> dict[str, Any]:
    message = peeked.message
    return {
        "state": state,
        "id": message.id,
        "timestamp_ms": message.enqueued_ms,
        "attempts": peeked.attempts,
        "visible_ms": peeked.visible_ms,
        "expires_ms": message.expires_ms,
        "content_type": message.content_type,
        "body": _body(peeked),
    }


def _state_text(state: str, peeked: Peeked) -> str:
    if state == "delayed" and peeked.visible_ms is not None:
        return f"delayed until {date_to_iso(peeked.visible_ms)}"
    return state


def _body_text(peeked: Peeked) -> str:
    """On one line, and with nothing in it that a terminal would obey."""
    body = _body(peeked)
    text = body if isinstance(body, str) and peeked.message.content_type != "json" else _compact(body)
    text = "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}… ({len(peeked.message.body)} bytes)"


def _body(peeked: Peeked) -> Any:
    """As JSON can show it: text that bytes may be, base64 of other bytes and of what JSON has no word for."""
    body = peeked.message.body
    match peeked.message.content_type:
        case "json":
            return json.loads(body)
        case "v8":
            try:
                return json.loads(cast("str", json_stringify(codec.decode(body))))
            except (JsError, TypeError):
                return base64.b64encode(body).decode()
        case _:
            try:
                return body.decode()
            except UnicodeDecodeError:
                return base64.b64encode(body).decode()


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
