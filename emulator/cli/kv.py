"""`flarebed kv key`: single keys of a local namespace, beside a running `flarebed dev` or without one.

Options and texts are those of wrangler 4.164 (packages/wrangler/src/kv). There is nothing remote here, so nothing is
said of that.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, cast

from flarebed.bindings.ecma import json_stringify
from flarebed.bindings.errors import JsError, UserError
from flarebed.bindings.kv import engine
from flarebed.bindings.kv.binding import KvNamespace
from flarebed.bindings.kv.spec import KvNamespaceSpec
from flarebed.bindings.webidl import string
from flarebed.emulator.cli.opening import OpenedProject, opened_project
from flarebed.emulator.config import Config

_CHUNK_BYTES: Final = 64 * 1024


@dataclass(frozen=True)
class Options:
    """What names a namespace on the command line; `preview` is None where nothing was said of it."""

    config: Path | None
    env: str | None
    persist_to: Path | None
    binding: str | None = None
    namespace_id: str | None = None
    preview: bool | None = None

    def exactly_one(self) -> Options:
        exactly_one({"--binding": self.binding, "--namespace-id": self.namespace_id})
        return self

    def not_preview(self) -> Options:
        """Commands that read use the production namespace where nothing else is said."""
        return self if self.preview else replace(self, preview=False)


@dataclass(frozen=True)
class Opened:
    """A namespace, and how the user is told of it."""

    kv: KvNamespace
    shown: str
    project: OpenedProject


@contextmanager
def opened(where: Options) -> Iterator[Opened]:
    """What the namespace refuses becomes the user's mistake."""
    with opened_project(where.config, where.env, where.persist_to) as project:
        namespace_id, shown = chosen(where, project.config)
        try:
            yield Opened(engine.namespace(namespace_id, project.around), shown, project)
        except JsError as error:
            raise UserError(error.message) from None


def put(where: Options, key: str, value: str, path: Path | None, options: Mapping[str, Any]) -> None:
    key, value = string(key), string(value)
    with opened(where) as namespace:
        metadata = options["metadata"]
        with_metadata = "" if metadata is None else f' with metadata "{json_stringify(metadata)}"'
        given = {name: option for name, option in options.items() if option is not None}
        if path is None:
            print(f'Writing the value "{value}" to key "{key}" on namespace {namespace.shown}{with_metadata}.')
            namespace.project.do(namespace.kv.put(key, value, given))
            return
        with _opened_file(path) as content:
            print(f'Writing the contents of {path} to the key "{key}" on namespace {namespace.shown}{with_metadata}.')
            namespace.project.do(namespace.kv.put(key, Content(content), given))


def get(where: Options, key: str, text: bool) -> None:
    async def show(kv: KvNamespace) -> None:
        stream = await kv.get(key, "stream")
        if stream is None:
            print("Value not found")
            return
        if text:
            print(b"".join([chunk async for chunk in stream]).decode(errors="replace"))
            return
        sys.stdout.flush()
        async for chunk in stream:
            sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()

    with opened(where) as namespace:
        namespace.project.do(show(namespace.kv))


def list_keys(where: Options, prefix: str) -> None:
    async def all_keys(kv: KvNamespace) -> list[Any]:
        page = await kv.list({"prefix": prefix})
        keys = list(page["keys"])
        while not page["list_complete"]:
            page = await kv.list({"prefix": prefix, "cursor": page["cursor"]})
            keys += page["keys"]
        return keys

    with opened(where) as namespace:
        print(json.dumps(namespace.project.do(all_keys(namespace.kv)), indent=2, ensure_ascii=False))


def delete(where: Options, key: str) -> None:
    key = string(key)
    with opened(where) as namespace:
        print(f'Deleting the key "{key}" on namespace {namespace.shown}.')
        namespace.project.do(namespace.kv.delete(key))


class Content:
    """A file as the stream that a namespace takes."""

    def __init__(self, file: Any) -> None:
        self._file = file

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while chunk := self._file.read(_CHUNK_BYTES):
            yield chunk


@contextmanager
def _opened_file(path: Path) -> Iterator[Any]:
    try:
        file = path.open("rb")
        file.peek(1)  # a folder can be opened, but not read
    except OSError as error:
        raise unreadable(path, error) from None
    with file:
        yield file


def unreadable(path: Path, error: OSError) -> UserError:
    code, reason = errno.errorcode.get(error.errno or 0, ""), os.strerror(error.errno or 0).lower()
    return UserError(f"Could not read file: {path}", hint=f"{code}: {reason}, open '{path.absolute()}'")


def metadata_of(text: str | None) -> Any:
    if text is None:
        return None
    try:
        metadata = json.loads(text)
    except ValueError:
        raise UserError(f"--metadata must be valid JSON. Received: {text}") from None
    if not isinstance(metadata, dict):
        raise UserError(f"--metadata must be a JSON object. Received: {text}")
    return metadata


def exactly_one(options: Mapping[str, object]) -> None:
    """What is empty is not given, as for wrangler."""
    given = [name for name, value in options.items() if value]
    if not given:
        raise UserError(f"Missing required option: exactly one of {' and '.join(options)} must be provided")
    if len(given) > 1:
        raise UserError(f"Conflicting options: {' and '.join(given)} cannot be used together. Please provide only one.")


def chosen(where: Options, config: Config) -> tuple[str, str]:
    """The id on this machine, and how the user is told of it."""
    if where.namespace_id:
        return where.namespace_id, f'id: "{where.namespace_id}"'
    namespace_id = _id_of(_bound(where, config), where.preview)
    return namespace_id, f'binding: "{where.binding}" (id: "{namespace_id}")'


def _bound(where: Options, config: Config) -> KvNamespaceSpec:
    specs = cast("Sequence[KvNamespaceSpec]", config.specs.get("kv", ()))
    if not specs:
        raise UserError(
            "No KV namespaces are configured in your wrangler config file. Use `--namespace-id` to specify the "
            'namespace directly, or add a "kv_namespaces" entry to your config.'
        )
    for spec in specs:
        if spec.binding == where.binding:
            return spec
    binding = "undefined" if where.binding is None else where.binding
    raise UserError(
        f'No KV namespace with binding "{binding}" was found in the "kv_namespaces" section of your wrangler config. '
        "Check the binding name is correct, or use `--namespace-id` instead."
    )


def _id_of(spec: KvNamespaceSpec, preview: bool | None) -> str:
    """Without an id it is the binding, as for `wrangler dev`."""
    if preview and not spec.preview_id:
        raise UserError(
            f'No preview namespace ID is configured for binding "{spec.binding}". Add a "preview_id" to the '
            f'"{spec.binding}" entry in your config\'s "kv_namespaces" section, or use `--namespace-id` to specify a '
            "preview namespace directly."
        )
    if preview is None and spec.id and spec.preview_id:
        raise UserError(
            f'The binding "{spec.binding}" has both an "id" and a "preview_id" configured. Pass `--preview` to target '
            "the preview namespace, or `--preview false` to target the production namespace."
        )
    if preview is None:
        return spec.namespace_id
    return spec.preview_id if preview and spec.preview_id else spec.id or spec.binding
