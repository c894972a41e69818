"""What the composition root asks of a Worker, whatever language it is in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from flarebed.bindings.dispatch import Dispatch
from flarebed.emulator.runtime.http import IncomingRequest, OutgoingResponse, ScheduledOutcome
from flarebed.emulator.runtime.services import Services


class Worker(Dispatch, Protocol):
    """Made from a config, then loaded once, then handed one event after another."""

    services: Services

    async def load(self, env: Mapping[str, Any], flags: dict[str, bool]) -> None:
        """Raises UserError, or what the Worker's top level raises."""
        ...

    async def fetch(self, incoming: IncomingRequest) -> OutgoingResponse:
        """Raises WorkerError for an exception that the Worker did not catch."""
        ...

    async def scheduled(self, cron: str, time_ms: float) -> ScheduledOutcome: ...

    async def close(self) -> None: ...

    def files(self) -> list[Path]:
        """Those whose change means a reload."""
        ...

    def web_assembly_module(self, path: Path) -> Any:
        """What `env` has for a file of the config's `wasm_modules`."""
        ...
