"""From a Worker's `env` to the bindings of its workerd config: each value by its type, an engine's with its adapter.

An adapter's `bind(name, value, wiring)` gives the config's binding; through `wiring.external` it gets requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from flarebed.bindings.d1.binding import D1Database
from flarebed.bindings.kv.binding import KvNamespace
from flarebed.bindings.queues.binding import WorkerQueue
from flarebed.bindings.r2.binding import R2Bucket
from flarebed.bindings.services.binding import Fetcher
from flarebed.bindings.values import ArrayBuffer
from flarebed.bindings.workflows.binding import WorkflowImpl
from flarebed.emulator.runtime.workerd import d1, kv, queues, r2, wire, workflows
from flarebed.emulator.runtime.workerd.host import BINDING, Adapter, Host
from flarebed.emulator.runtime.workerd.peering import Peering

Struct = dict[str, Any]
CONTROL: Final = "control"
"""The name of our own Worker among workerd's services."""


class Wiring:
    """Of the bindings of `worker`, in one workerd with its `peers`, itself among them.

    `peers` has for each the service to which its requests go.

    `services` are those of workerd's config that the bindings need, `control` the bindings of our own Worker, `worker`
    what else the Worker's part of the config says.
    `numbers` tells the files in `folder` apart; `peering` is the way to Workers elsewhere.
    """

    def __init__(
        self,
        host: Host,
        folder: Path,
        worker: str,
        peers: Mapping[str, str],
        numbers: Iterator[int],
        peering: Peering,
    ) -> None:
        self.peers = peers
        self.peering = peering
        self.services: list[Struct] = []
        self.control: list[Struct] = []
        self.worker: Struct = {}
        self._worker = worker
        self._folder = folder
        self._numbers = numbers
        self._host = host

    def external(self, kind: str, name: str, adapter: Adapter, **options: str) -> str:
        """A service whose requests `adapter` answers; returns its name. `options` are workerd's HttpOptions."""
        service = f"{kind}:{self._worker}:{name}"
        self._host.adapters[service] = adapter
        http = {**options, "injectRequestHeaders": [{"name": BINDING, "value": service}]}
        self.services.append({"name": service, "external": {"address": f"unix:{self._host.path}", "http": http}})
        return service

    def entrypoint(self, name: str, service: str) -> Struct:
        """Our own Worker's, for what calls methods: it hands them on to `service`."""
        self.control.append({"name": service, "service": service})
        return {"name": CONTROL, "entrypoint": name, "props": {"json": wire.dumps({"service": service})}}

    def file(self, content: bytes) -> Path:
        """A file beside the config, for what is too long to stand in it."""
        path = Path(f"file-{next(self._numbers)}")
        (self._folder / path).write_bytes(content)
        return path

    def binding(self, name: str, value: Any) -> Struct:
        adapt = _ADAPTERS.get(type(value))
        if adapt is not None:
            return {"name": name, **adapt(name, value, self)}
        if isinstance(value, str):
            return {"name": name, "text": value}
        if isinstance(value, ArrayBuffer):
            return {"name": name, "data": bytes(value)}
        if isinstance(value, Path):
            return {"name": name, "wasmModule": self.file(value.read_bytes())}
        return {"name": name, "json": wire.dumps(value)}


def _kv(name: str, namespace: KvNamespace, wiring: Wiring) -> Struct:
    return {"kvNamespace": wiring.external("kv", name, kv.adapter(namespace))}


def _queue(name: str, queue: WorkerQueue, wiring: Wiring) -> Struct:
    return {"queue": wiring.external("queue", name, queues.adapter(queue))}


def _r2(name: str, bucket: R2Bucket, wiring: Wiring) -> Struct:
    return {"r2Bucket": wiring.external("r2", name, r2.adapter(bucket.engine()))}


def _d1(name: str, database: D1Database, wiring: Wiring) -> Struct:
    service = wiring.external("d1", name, d1.adapter(database))
    through = wiring.entrypoint("D1Binding", service) if d1.calls_its_service(database) else service
    return _wrapped("cloudflare-internal:d1-api", through)


def _workflow(name: str, workflow: WorkflowImpl, wiring: Wiring) -> Struct:
    service = wiring.external("workflow", name, workflows.adapter(workflow))
    return _wrapped("cloudflare-internal:workflows-api", wiring.entrypoint("WorkflowBinding", service))


def _wrapped(module: str, service: str | Struct) -> Struct:
    return {"wrapped": {"moduleName": module, "innerBindings": [{"name": "fetcher", "service": service}]}}


def _service(_: str, fetcher: Fetcher, wiring: Wiring) -> Struct:
    """workerd's own between Workers that it runs, else `js/peers.js`."""
    if fetcher.service not in wiring.peers:
        return {"service": wiring.peering.designator(fetcher)}
    designator = {"name": wiring.peers[fetcher.service]}
    if fetcher.entrypoint is not None:  # which static assets do not stand before
        designator = {"name": service_of(fetcher.service), "entrypoint": fetcher.entrypoint}
    return {"service": designator | ({} if fetcher.props is None else {"props": {"json": wire.dumps(fetcher.props)}})}


def service_of(worker: str) -> str:
    """The name of a Worker among workerd's services."""
    return f"worker:{worker}"


_ADAPTERS: Final[Mapping[type, Callable[[str, Any, Wiring], Struct]]] = {
    KvNamespace: _kv,
    WorkerQueue: _queue,
    R2Bucket: _r2,
    D1Database: _d1,
    WorkflowImpl: _workflow,
    Fetcher: _service,
}
