"""A running esbuild that asks back: each import that a hook wants to see is put to Python code.

esbuild's command line has no plugins, which bundling for Workers needs (a wasm module beside the bundle, `require` of
Node's modules). Its service mode has; it is how esbuild's own JavaScript package drives the same executable
(lib/shared/common.ts).
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import json
import os
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flarebed.bindings.errors import FlarebedError, InternalError, UserError
from flarebed.emulator.runtime.workerd.bundling.packets import Packet, decode, encode

Answer = Mapping[str, Any]
"""What a hook answers, in esbuild's words: path, external, namespace, contents, loader, errors, warnings."""

Message = dict[str, Any]
"""An error or a warning: text, location, notes."""


@dataclass(frozen=True)
class Import:
    """A specifier in a source file, about to be resolved."""

    path: str
    importer: str
    kind: str
    folder: str


Resolve = Callable[[Import], Awaitable[Answer]]
"""How esbuild resolves an import if all hooks but the one that asks look at it."""


@dataclass(frozen=True)
class OnResolve:
    """`answer` is asked about imports that match `filter` (a Go regular expression) until a hook has an answer."""

    filter: str
    answer: Callable[[Import, Resolve], Awaitable[Answer | None]]


@dataclass(frozen=True)
class OnLoad:
    """`answer` has the contents of a module of a namespace, by its path."""

    namespace: str
    answer: Callable[[str], Answer]


Hook = OnResolve | OnLoad


@dataclass(frozen=True)
class Built:
    """The result of a build: `outputs` by path, as in the `metafile`."""

    outputs: Mapping[str, bytes]
    metafile: Mapping[str, Any]
    warnings: Sequence[Message]


class BuildFailed(Exception):
    """esbuild refused the source."""

    def __init__(self, errors: Sequence[Message], warnings: Sequence[Message]) -> None:
        super().__init__(f"{len(errors)} errors")
        self.errors = errors
        self.warnings = warnings


@dataclass
class _Build:
    hooks: Sequence[Hook]
    tasks: set[asyncio.Task[None]] = field(default_factory=set)


class Service:
    """Made by `running`."""

    def __init__(self, requests: asyncio.StreamWriter) -> None:
        self._requests = requests
        self._numbers = itertools.count()
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._builds: dict[int, _Build] = {}
        self._ended: FlarebedError | None = None

    async def build(self, entry: Path, flags: Sequence[str], folder: Path, hooks: Sequence[Hook] = ()) -> Built:
        """Bundle `entry`; paths are relative to `folder`. Raises BuildFailed."""
        key = next(self._numbers)
        self._builds[key] = _Build(hooks)
        request = {
            "command": "build",
            "key": key,
            "entries": [["", str(entry)]],
            "flags": ["--log-level=silent", "--log-limit=0", "--metafile", *flags],
            "write": False,
            "stdinContents": None,
            "stdinResolveDir": None,
            "absWorkingDir": str(folder),
            "nodePaths": [],
            "context": False,
        }
        if hooks:
            request["plugins"] = [_plugin(hooks)]
        response = await self._request(request)
        if response["errors"]:
            raise BuildFailed(response["errors"], response["warnings"])
        return Built(
            {file["path"]: file["contents"] for file in response["outputFiles"]},
            json.loads(response["metafile"]),
            response["warnings"],
        )

    async def formatted(self, messages: Sequence[Message], *, warnings: bool = False) -> list[str]:
        """The messages as esbuild prints them, without colours."""
        response = await self._request(
            {"command": "format-msgs", "messages": list(messages), "isWarning": warnings, "color": False}
        )
        return list(response["messages"])

    async def read(self, packets: asyncio.StreamReader) -> None:
        """Hand on what esbuild says until it ends. The first packet is its version."""
        with contextlib.suppress(asyncio.IncompleteReadError):
            await _body(packets)
            while True:
                self._receive(decode(await _body(packets)))

    def end(self, error: FlarebedError) -> None:
        """No more answers will come."""
        self._ended = error
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(error)

    async def _request(self, value: Answer) -> Any:
        if self._ended is not None:
            raise self._ended
        number = next(self._numbers)
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._send(Packet(number, True, value))
        response = await future
        if "error" in response:
            raise BuildFailed([message(response["error"])], [])
        return response

    def _send(self, packet: Packet) -> None:
        self._requests.write(encode(packet))

    def _receive(self, packet: Packet) -> None:
        if not packet.is_request:
            waiting = self._waiting.pop(packet.number)
            if not waiting.done():
                waiting.set_result(packet.value)
            return
        build = self._builds[packet.value["key"]]
        task = asyncio.ensure_future(self._answer(packet.number, packet.value, build))
        build.tasks.add(task)
        task.add_done_callback(build.tasks.discard)

    async def _answer(self, number: int, request: Mapping[str, Any], build: _Build) -> None:
        try:
            answer = await self._asked(request, build)
        except Exception as error:
            answer = {"errors": [message(str(error))]}
        self._send(Packet(number, False, answer))

    async def _asked(self, request: Mapping[str, Any], build: _Build) -> Answer:
        if request["command"] == "on-start":
            return {"errors": [], "warnings": []}
        for index in request["ids"]:
            hook = build.hooks[index]
            if isinstance(hook, OnLoad):
                return {"id": index, **hook.answer(request["path"])}
            if request["pluginData"] == index:
                continue  # it is this hook that asks
            wanted = Import(request["path"], request["importer"], request["kind"], request["resolveDir"])
            answer = await hook.answer(wanted, functools.partial(self._resolve, request["key"], index))
            if answer is not None:
                return {"id": index, **answer}
        return {}

    async def _resolve(self, key: int, asking: int, wanted: Import) -> Answer:
        response: Answer = await self._request(
            {
                "command": "resolve",
                "key": key,
                "path": wanted.path,
                "pluginName": _NAME,
                "importer": wanted.importer,
                "resolveDir": wanted.folder,
                "kind": wanted.kind,
                "pluginData": asking,
            }
        )
        return response


_NAME = "flarebed"


@contextlib.asynccontextmanager
async def running(esbuild: Path, version: str) -> AsyncIterator[Service]:
    """esbuild for the length of the block; it demands that its host names its `version`."""
    # It lives for one bundle and need not collect garbage, which is a fifth of its work; nor does its command line.
    env = {**os.environ, "GOGC": "off"}
    process = await asyncio.create_subprocess_exec(
        esbuild, f"--service={version}", stdin=PIPE, stdout=PIPE, stderr=PIPE, env=env
    )
    assert process.stdin is not None
    service = Service(process.stdin)
    serving = asyncio.ensure_future(_serve(service, process, esbuild))
    try:
        yield service
    finally:
        _kill(process)
        await serving


async def _serve(service: Service, process: asyncio.subprocess.Process, esbuild: Path) -> None:
    assert process.stdout is not None
    assert process.stderr is not None
    reading = asyncio.ensure_future(process.stderr.read())
    try:
        await service.read(process.stdout)
    except Exception as error:
        service.end(InternalError(f"{esbuild} said what was not understood: {error!r}"))
        _kill(process)
    said = (await reading).decode(errors="replace").strip()
    await process.wait()
    service.end(UserError(f"esbuild ended before it had bundled the Worker: {said}", place=str(esbuild)))


def _kill(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()


async def _body(packets: asyncio.StreamReader) -> bytes:
    length = int.from_bytes(await packets.readexactly(4), "little")
    return await packets.readexactly(length)


def message(text: str) -> Message:
    """An error of ours, as esbuild has them."""
    return {"id": "", "pluginName": "", "text": text, "location": None, "notes": [], "detail": -1}


def _plugin(hooks: Sequence[Hook]) -> dict[str, Any]:
    indexed = list(enumerate(hooks))
    return {
        "name": _NAME,
        "onStart": False,
        "onEnd": False,
        "onResolve": [
            {"id": index, "filter": hook.filter, "namespace": ""}
            for index, hook in indexed
            if isinstance(hook, OnResolve)
        ],
        "onLoad": [
            {"id": index, "filter": ".*", "namespace": hook.namespace}
            for index, hook in indexed
            if isinstance(hook, OnLoad)
        ],
    }
