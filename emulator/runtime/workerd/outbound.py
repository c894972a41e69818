"""A JavaScript Worker's `fetch` to the world, where a test is to see it: through the same httpx client as a Python
Worker's.

It is what workerd asks as the Worker's `globalOutbound`. workerd itself follows redirects and decodes bodies.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Final

import httpx

from flarebed.emulator.runtime.services import Services
from flarebed.emulator.runtime.workerd.host import BINDING, Adapter, Answered, Asked, HangUp
from flarebed.emulator.runtime.workerd.wiring import Struct, Wiring

_SCHEME: Final = "flarebed-scheme"
"""The header by which workerd says what comes before "://"; the host is in the header of that name."""
_OF_THE_CONNECTION: Final = frozenset(
    ("connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade")
)
_NOT_THE_WORKERS: Final = _OF_THE_CONNECTION | {BINDING, _SCHEME}
_CLOSE: Final = ("connection", "close")
"""What fails on a connection that was used before, workerd sends again; here each request counts."""
_FOREVER: Final = dict.fromkeys(("connect", "read", "write", "pool"))


def catch(services: Services, wiring: Wiring) -> Struct:
    """What a Worker's config says so that its requests come here."""
    return {"globalOutbound": wiring.external("outbound", "", _adapter(services), forwardedProtoHeader=_SCHEME)}


def _adapter(services: Services) -> Adapter:
    async def answer(asked: Asked) -> Answered:
        request = _request(asked)
        if "upgrade" in asked.headers:
            services.log("error", f"Refused a WebSocket to {request.url}: WebSockets don't go out of a test.")
            raise HangUp
        try:
            response = await services.http().send(request, stream=True, follow_redirects=False)
        except httpx.HTTPError:
            raise HangUp from None
        return _answered(response)

    return answer


def _answered(response: httpx.Response) -> Answered:
    headers = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in response.headers.raw]
    kept = [_CLOSE, *((name, value) for name, value in headers if name not in _OF_THE_CONNECTION)]
    if not response.is_stream_consumed:
        return Answered(response.status_code, _chunks(response), tuple(kept))
    whole = tuple(pair for pair in kept if pair[0] != "content-length")  # a mock's: what has a body says how long it is
    return Answered(response.status_code, response.content, whole, response.reason_phrase)


def _request(asked: Asked) -> httpx.Request:
    headers = [(name, value) for name, value in asked.headers.items() if name not in _NOT_THE_WORKERS]
    has_body = "content-length" in asked.headers or "transfer-encoding" in asked.headers
    url = f"{asked.headers[_SCHEME]}://{asked.headers['host']}{asked.target.removesuffix('?')}"
    content = asked.chunks if has_body else None
    return httpx.Request(asked.method, url, headers=headers, content=content, extensions={"timeout": _FOREVER})


async def _chunks(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    try:
        async for chunk in response.aiter_raw():
            yield chunk
    except httpx.HTTPError:
        raise HangUp from None
    finally:
        await response.aclose()
