"""A JavaScript or TypeScript Worker: bundled by esbuild, run by the process's workerd, fed by our engines.

Implements what the server and the engines ask of a Worker (`runtime.http`, `dispatch`), as `PythonWorker` does.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from flarebed.bindings.clock import VirtualClock
from flarebed.bindings.errors import JsError
from flarebed.bindings.queues.binding import delivery_of
from flarebed.emulator.config.model import Config
from flarebed.emulator.runtime.http import IncomingRequest, OutgoingResponse, ScheduledOutcome
from flarebed.emulator.runtime.services import Services
from flarebed.emulator.runtime.workerd import assets, objects, outbound, runs
from flarebed.emulator.runtime.workerd.bundled import Bundled, Module
from flarebed.emulator.runtime.workerd.bundles import bundles
from flarebed.emulator.runtime.workerd.conversation import Conversation, over
from flarebed.emulator.runtime.workerd.endings import Endings
from flarebed.emulator.runtime.workerd.front import Front
from flarebed.emulator.runtime.workerd.host import Host
from flarebed.emulator.runtime.workerd.http_client import LOST, LostConnection, whole
from flarebed.emulator.runtime.workerd.queues import DELIVER, take, to_deliver
from flarebed.emulator.runtime.workerd.shared import SharedWorkerd
from flarebed.emulator.runtime.workerd.tools import find_esbuild
from flarebed.emulator.runtime.workerd.uncaught import UncaughtError
from flarebed.emulator.runtime.workerd.wiring import Struct, Wiring

_CONTROL: Final = (("host", "control"),)
_NO_CODE: Final = Bundled("modules", (Module("index.js", "esModule", b"export default {};"),), ("default",), ())
"""Of a Worker that is nothing but assets."""


class JavaScriptWorker:
    """One Worker. Make it, `load` it, start the `workerd`, then send events."""

    def __init__(self, config: Config, services: Services, workerd: SharedWorkerd) -> None:
        self.services = services
        self._config = config
        self._workerd = workerd
        self._path = f"/{quote(config.name)}"
        self._clock = services.clock
        self._loop = services.clock.loop
        self._front: Front | None = None
        self._bundled: Bundled | None = None
        self._endings = Endings(self._clock) if isinstance(self._clock, VirtualClock) else None

    # Life.

    async def load(self, env: Mapping[str, Any], flags: dict[str, bool]) -> None:
        """Bundle it. Raises UserError for what the user can mend."""
        self._bundled = await self._made()
        for warning in self._bundled.warnings:
            self.services.log("warn", warning)
        client = self._workerd.join(self._config, self._bundled, env, self.workflow_classes(), self._more)
        self._front = Front(client, self._workerd.output.failures, self._clock)

    async def _made(self) -> Bundled:
        if self._config.main is None and self._config.native.assets is not None:
            return _NO_CODE
        esbuild = find_esbuild(self._config.root, os.environ.get("PATH", ""))
        with self._clock.operation_outside():
            bundled = await bundles().of(self._config, esbuild, os.environ)
        objects.check_exports(self._config, bundled.exports)
        return bundled

    def _more(self, wiring: Wiring) -> Struct:
        caught = outbound.catch(self.services, wiring) if self.services.catches_outbound else {}
        watched = {} if self._endings is None else self._endings.watch(wiring)
        return caught | watched

    async def close(self) -> None:
        if self._endings is not None:
            self._endings.all_ended()
        await self.services.close()

    @property
    def host(self) -> Host:
        """What answers workerd."""
        return self._workerd.host

    def web_assembly_module(self, path: Path) -> Path:
        """workerd reads the file itself."""
        return path

    def files(self) -> list[Path]:
        bundled = [] if self._bundled is None else self._bundled.files
        return [*bundled, *assets.files(self._config)]

    # Events from outside.

    async def fetch(self, incoming: IncomingRequest) -> OutgoingResponse:
        assert self._front is not None
        with nullcontext() if self._endings is None else self._endings.of(incoming):
            return await self._front.fetch(incoming)

    async def scheduled(self, cron: str, time_ms: float) -> ScheduledOutcome:
        with self._clock.operation_outside():
            try:
                result = await self._order("scheduled", cron, time_ms)
            except JsError as lost:  # workerd has ended
                return ScheduledOutcome("exception", error=lost)
            error = None if result["outcome"] == "ok" else await self._thrown(result["outcome"])
        return ScheduledOutcome(result["outcome"], bool(result.get("noRetry")), error)

    # Dispatch.

    async def queue(self, batch: Any) -> None:
        """`batch` is a QueueController; what the handler said of its messages goes back to it."""
        delivery = delivery_of(batch)
        with self._clock.operation_outside():
            try:
                answer = await self._workerd.control.send("POST", self._path + DELIVER, _CONTROL, to_deliver(delivery))
                result = json.loads(await whole(answer))
            except LostConnection as error:
                raise JsError(LOST) from error
            take(result, delivery.verdict)
            if result["outcome"] != "ok":
                raise await self._thrown(result["outcome"])

    async def _thrown(self, outcome: str) -> JsError:
        """workerd tells what was thrown on its output only."""
        if outcome != "exception":
            return JsError(outcome)
        output = self._workerd.output
        return UncaughtError(output.mappers.mapped(await output.thrown()))

    async def run_workflow(self, class_name: str, event: Any, step: Any) -> Any:
        way = over(self._workerd.control, self._path, _CONTROL)
        return await runs.run(way, self._clock, class_name, event, step)

    def workflow_classes(self) -> frozenset[str]:
        """Those of the config that the main module exports; workerd knows whether they are WorkflowEntrypoints."""
        assert self._bundled is not None
        wanted: Any = self._config.specs.get("workflows", ())
        return frozenset(spec.class_name for spec in wanted if spec.class_name in self._bundled.exports)

    async def _order(self, method: str, *arguments: Any) -> Any:
        async with Conversation(over(self._workerd.control, self._path, _CONTROL), self._loop) as conversation:
            return await conversation.call(0, method, *arguments)
