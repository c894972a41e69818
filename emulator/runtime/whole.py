"""A response whose bytes are all there, written at once.

Through ASGI it takes two messages, which uvicorn checks again and gives to the socket one after the other: a third of
what a small request costs. Where the sender is uvicorn's own, this does the same in one write.
"""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle


def cycle_of(send: object) -> RequestResponseCycle | None:
    """uvicorn's side of the exchange, if it is uvicorn that sends."""
    cycle = getattr(send, "__self__", None)
    return cycle if isinstance(cycle, RequestResponseCycle) else None


async def write(
    cycle: RequestResponseCycle, status: int, reason: str, headers: list[tuple[bytes, bytes]], body: bytes
) -> None:
    """`headers` are lower-case and checked, content-length among them where there is to be one; `reason` may be ""."""
    if cycle.flow.write_paused and not cycle.disconnected:
        await cycle.flow.drain()
    if cycle.disconnected:
        return
    cycle.response_started = True
    cycle.waiting_for_100_continue = False
    parts = [b"HTTP/1.1 %d %s\r\n" % (status, reason.encode("latin-1", "replace")) if reason else STATUS_LINE[status]]
    for name, value in (*cycle.default_headers, *headers):
        parts += (name, b": ", value, b"\r\n")
    parts.append(b"\r\n" if cycle.keep_alive else b"connection: close\r\n\r\n")
    parts.append(body)
    cycle.transport.write(b"".join(parts))
    cycle.response_complete = True
    cycle.message_event.set()
    if not cycle.keep_alive:
        cycle.transport.close()
    cycle.on_response()
