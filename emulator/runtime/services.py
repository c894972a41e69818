"""What the runtime gives to Worker code beside its bindings: time, outbound requests, the log. One per Worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flarebed.bindings.clock import Clock

if TYPE_CHECKING:
    import httpx

    from flarebed.emulator.runtime.peers import Peers


@dataclass
class Services:
    """`log(level, text)` takes what the Worker writes to the console; `worker` is its name in the config.

    `outbound` makes the httpx client for `fetch`; a test may give one that refuses or answers by itself. With
    `catches_outbound` also a JavaScript Worker's requests go through that client. `peers` are the Workers that service
    bindings reach.
    `on_fetch(method, url, headers, body)` hears of a request while the Worker code that makes it is on the stack.
    """

    clock: Clock
    worker: str
    flags: frozenset[str]
    log: Callable[[str, str], None]
    outbound: Callable[[], httpx.AsyncClient]
    uncaught: Callable[[BaseException], None]
    catches_outbound: bool = False
    pyodide_version: str = "314.0.6"
    peers: Peers | None = None
    on_fetch: Callable[[str, str, list[tuple[str, str]], object], None] | None = None
    _client: httpx.AsyncClient | None = field(default=None, repr=False)

    def http(self) -> httpx.AsyncClient:
        """The client, made when first needed (httpx takes 90 ms to import)."""
        if self._client is None:
            self._client = self.outbound()
        return self._client

    async def close(self) -> None:
        if self.peers is not None:
            self.peers.close()
        if self._client is not None:
            await self._client.aclose()
            self._client = None
