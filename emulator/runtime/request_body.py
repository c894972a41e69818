"""The body of a request that uvicorn has: a client's (`server/request.py`), or workerd's (`workerd/host.py`)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any


async def chunks_of(receive: Callable[[], Awaitable[MutableMapping[str, Any]]]) -> AsyncIterator[bytes]:
    """As fast as they are read: what nobody reads stays in the client's socket. ConnectionResetError if it is gone."""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionResetError("Network connection lost.")
        if message["body"]:
            yield message["body"]
        if not message.get("more_body"):
            return
