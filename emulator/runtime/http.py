"""The seam between the server and a running Worker: one request in, one response out.

The server (room 5) builds `IncomingRequest`, a `WorkerApp` answers it, the server sends the `OutgoingResponse`. Neither
side knows how the other is made: no ASGI here, no JavaScript values.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Target:
    """Whom in a Worker another one calls: the export `entrypoint` (None: the default), with `props` as `ctx.props`, or
    of a Durable Object's class the one with the `object_id`.
    """

    entrypoint: str | None = None
    props: Mapping[str, Any] | None = None
    object_id: str | None = None


@dataclass(slots=True)
class IncomingRequest:
    """A request as it came from the client, or from another Worker to `target`.

    `url` is absolute, with path and query exactly as sent; `headers` have lower-case names; `body` is None where
    JavaScript's `request.body` is null; `cf` is fresh for each request and the Worker's to keep.
    """

    method: str
    url: str
    headers: list[tuple[str, str]]
    body: AsyncIterator[bytes] | None = None
    cf: dict[str, Any] = field(default_factory=dict)
    target: Target = Target()


@dataclass(frozen=True, slots=True)
class Close:
    """The Worker's `ws.close(code, reason)`; code 1005 is a close without a code."""

    code: int = 1005
    reason: str = ""


class WebSocketPeer(Protocol):
    """The client's end of a WebSocketPair. The server pumps it: what one side receives, the other delivers."""

    async def receive(self) -> str | bytes | Close:
        """The next thing the Worker sent. After a Close nothing more comes."""
        ...

    def deliver(self, data: str | bytes) -> None:
        """The client sent a message."""
        ...

    def deliver_close(self, code: int, reason: str, was_clean: bool) -> None:
        """The client closed, or is gone (1006, not clean)."""
        ...


@dataclass(slots=True)
class OutgoingResponse:
    """A Worker's answer. `status_text` may be empty; a `websocket` goes with status 101."""

    status: int
    status_text: str = ""
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes | AsyncIterator[bytes] | None = None
    websocket: WebSocketPeer | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """A line of the Worker's own code in a traceback: file, 1-based line, function, and the source line."""

    file: str
    line: int
    function: str
    source: str = ""


class WorkerError(Exception):
    """An exception that the Worker did not catch.

    `text` is the body of production's plain text 500 ("PythonError: Traceback ..."); `exception` and `frames`
    (outermost first, the Worker's own code only) are for the page that a browser gets.
    """

    def __init__(self, text: str, exception: BaseException | None = None, frames: Sequence[Frame] = ()) -> None:
        super().__init__(text)
        self.text = text
        self.exception = exception
        self.frames = tuple(frames)


class AnswerCut(Exception):
    """A streamed answer ended before it was whole. Why is in the log already."""


@dataclass(frozen=True, slots=True)
class ScheduledOutcome:
    """How a `scheduled` handler ended: `outcome` is "ok" or "exception"; `error` is what it threw, if that is known."""

    outcome: str
    no_retry: bool = False
    error: BaseException | None = None


class WorkerApp(Protocol):
    """What is served: a Worker with its bindings, and perhaps others with it (`flarebed.emulator.group`)."""

    async def fetch(self, request: IncomingRequest) -> OutgoingResponse:
        """Raises WorkerError for an exception that the Worker did not catch. Cancelled when the client is gone."""
        ...

    async def scheduled(self, cron: str, time_ms: float) -> ScheduledOutcome: ...

    async def own(self) -> None:
        """Run timers, consumers and instances in this process."""
        ...

    async def disown(self) -> None:
        """Stop that; nothing more of it runs here on return."""
        ...

    async def drained(self) -> None:
        """Another process has taken over: returns when what other Workers have asked here is answered."""
        ...

    async def close(self) -> None: ...

    def bindings_tables(self) -> Mapping[str, Sequence[tuple[str, str, str]]]:
        """(binding, resource, mode) for each Worker by its name; secrets hidden."""
        ...

    def watched(self) -> list[Path]:
        """Files whose change means a reload: the Worker's loaded modules, the config, the secrets file."""
        ...
