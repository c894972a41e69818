"""OutgoingResponse -> ASGI messages: framing, HEAD, statuses without a body, streams with backpressure."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from flarebed.emulator.runtime import whole
from flarebed.emulator.runtime.http import OutgoingResponse
from flarebed.emulator.server.request import Send

_FRAMING: Final = frozenset(("connection", "keep-alive", "transfer-encoding", "upgrade"))
_NULL_BODY: Final = frozenset((101, 204, 205, 304))
"""https://fetch.spec.whatwg.org/#null-body-status"""


def text(status: int, body: str, content_type: str = "text/plain;charset=UTF-8") -> OutgoingResponse:
    return OutgoingResponse(status, headers=[("content-type", content_type)], body=body.encode())


async def send_response(response: OutgoingResponse, method: str, send: Send) -> None:
    """Send it all. An exception of a streamed body goes up: the caller must cut the connection."""
    body = b"" if response.body is None else response.body
    has_body = method != "HEAD" and response.status not in _NULL_BODY
    if isinstance(body, bytes):
        await _send_bytes(response, body, method, has_body, send)
    else:
        await _send_stream(response, body, has_body, send)


async def _send_bytes(response: OutgoingResponse, body: bytes, method: str, has_body: bool, send: Send) -> None:
    headers = encode_headers(response.headers, keep_length=not has_body and not body)
    if has_body or (method == "HEAD" and body):
        headers.append((b"content-length", b"%d" % len(body)))
    cycle = whole.cycle_of(send)
    if cycle is not None:
        await whole.write(cycle, response.status, response.status_text, headers, body if has_body else b"")
        return
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": body if has_body else b""})


async def _send_stream(response: OutgoingResponse, body: AsyncIterator[bytes], has_body: bool, send: Send) -> None:
    headers = encode_headers(response.headers, keep_length=True)
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    try:
        if has_body:
            async for chunk in body:
                if chunk:
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
    finally:
        await _discard(body)
    await send({"type": "http.response.body", "body": b""})


async def _discard(body: AsyncIterator[bytes]) -> None:
    """Let go of a stream that nobody will read on: the client is gone, or asked for the headers only."""
    close = getattr(body, "aclose", None)
    if close is not None:
        await close()


def encode_headers(headers: list[tuple[str, str]], *, keep_length: bool) -> list[tuple[bytes, bytes]]:
    """Framing is the server's; values go out as UTF-8, as workerd sends them."""
    encoded = []
    for name, value in headers:
        lower = name.lower()
        if lower in _FRAMING or (lower == "content-length" and not keep_length):
            continue
        encoded.append((lower.encode("latin-1"), value.encode("utf-8", "surrogatepass")))
    return encoded
