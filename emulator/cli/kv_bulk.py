"""`flarebed kv bulk`: many keys at once, from a JSON file. Files, texts and limits of complaints are wrangler's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from flarebed.bindings.ecma import json_stringify, to_string, typeof
from flarebed.bindings.errors import UserError
from flarebed.bindings.kv.binding import KvNamespace
from flarebed.bindings.kv.namespace import base64_bytes
from flarebed.bindings.values import UNDEFINED, ArrayBuffer
from flarebed.emulator.cli.dialogs import confirmed
from flarebed.emulator.cli.kv import Options, opened, unreadable
from flarebed.emulator.cli.output import warn
from flarebed.emulator.config import jsonc
from flarebed.emulator.config.document import SyntaxProblem, position

MAX_COMPLAINTS: Final = 12
BATCH_SIZE: Final = 1000

_REQUIRED: Final = {"key": "string", "value": "string"}
_OPTIONAL: Final = {"expiration": "number", "expiration_ttl": "number", "metadata": "object", "base64": "boolean"}
_KEY_VALUE: Final = (
    "Each item in the array should be an object that matches:",
    "",
    "interface KeyValue {",
    "  key: string;",
    "  value: string;",
    "  expiration?: number;",
    "  expiration_ttl?: number;",
    "  metadata?: object;",
    "  base64?: boolean;",
    "}",
    "",
)


def put(where: Options, path: Path) -> None:
    def write(pair: Mapping[str, Any]) -> Awaitable[Any]:
        value = ArrayBuffer(base64_bytes(pair["value"])) if pair.get("base64") else pair["value"]
        return namespace.kv.put(pair["key"], value, _put_options(pair))

    with opened(where) as namespace:
        namespace.project.do(_in_batches(write, _checked_pairs(path)))
        print("Success!")


def get(where: Options, path: Path) -> None:
    async def read(kv: KvNamespace) -> dict[str, Any]:
        return {name: {"value": await kv.get(name)} for name in names}

    with opened(where) as namespace:
        names = _checked_names(path)
        print(json.dumps(namespace.project.do(read(namespace.kv)), indent=2, ensure_ascii=False))


def delete(where: Options, path: Path, force: bool) -> None:
    with opened(where) as namespace:
        question = (
            f'Are you sure you want to delete all the keys read from "{path}" from kv-namespace {namespace.shown}?'
        )
        if not force and not confirmed(question):
            print(f'Not deleting keys read from "{path}".')
            return
        namespace.project.do(_in_batches(namespace.kv.delete, _checked_names(path)))
        print("Success!")


async def _in_batches(write: Callable[[Any], Awaitable[Any]], items: Sequence[Any]) -> None:
    """In order. Those of a batch share a commit; where one is refused, the following batches are not begun."""
    for start in range(0, len(items), BATCH_SIZE):
        batch = (write(item) for item in items[start : start + BATCH_SIZE])
        for answer in await asyncio.gather(*batch, return_exceptions=True):
            if isinstance(answer, BaseException):
                raise answer


def say_without_effect(**options: object) -> None:
    """wrangler takes these, and does nothing with them."""
    for name, value in options.items():
        if value is not None:
            warn(f"--{name} has no effect on `kv bulk put`, as in wrangler: it belongs to the pairs of the file.")


def _put_options(pair: Mapping[str, Any]) -> dict[str, Any]:
    names = {"expiration": "expiration", "expiration_ttl": "expirationTtl", "metadata": "metadata"}
    return {option: pair.get(name, UNDEFINED) for name, option in names.items()}


def _checked_pairs(path: Path) -> list[Any]:
    content = _read(path)
    if not isinstance(content, list):
        raise _unexpected(path, [f'Expected an array of key-value objects but got type "{typeof(content)}".'])
    errors, warnings = _Complaints(), _Complaints()
    for index, item in enumerate(content):
        if not _is_pair(item) and not errors.is_full:
            errors.add(f"The item at index {index} is {json_stringify(item)}")
        elif isinstance(item, dict) and (others := [name for name in item if name not in {**_REQUIRED, **_OPTIONAL}]):
            warnings.add(f"The item at index {index} contains unexpected properties: {json_stringify(others)}.")
    if warnings.texts:
        warn("\n  ".join([f'Unexpected key-value properties in "{path}".', *warnings.texts]))
    if errors.texts:
        raise _unexpected(path, [*_KEY_VALUE, *errors.texts])
    return content


class _Complaints:
    """The first few, and a mark that there are more."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    @property
    def is_full(self) -> bool:
        return len(self.texts) > MAX_COMPLAINTS

    def add(self, text: str) -> None:
        if not self.is_full:
            self.texts.append("..." if len(self.texts) == MAX_COMPLAINTS else text)


def _is_pair(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    kinds = {name: typeof(value) for name, value in item.items()}
    required = all(kinds.get(name) == kind for name, kind in _REQUIRED.items())
    return required and all(kinds.get(name, kind) == kind for name, kind in _OPTIONAL.items())


def _checked_names(path: Path) -> list[str]:
    content = _read(path)
    if not isinstance(content, list):
        raise _unexpected(path, ["Expected an array of strings but got:", to_string(content)])
    names, errors = [], []
    for index, item in enumerate(content):
        name = item.get("name") if isinstance(item, dict) else item
        if isinstance(name, str):
            names.append(name)
        else:
            errors.append(f'The item at index {index} is type: "{typeof(item)}" - {json_stringify(item)}')
    if errors:
        raise _unexpected(path, ['Expected an array of strings or objects with a "name" key.', *errors])
    return names


def _read(path: Path) -> Any:
    """JSON, or what wrangler's parser takes for it (comments, trailing commas)."""
    try:
        text = path.read_bytes().decode("utf-8", "replace").removeprefix("\ufeff")
    except OSError as error:
        raise unreadable(path, error) from None
    try:
        return json.loads(text, parse_constant=_no_constant)
    except ValueError:
        return _read_jsonc(path, text)


def _read_jsonc(path: Path, text: str) -> Any:
    try:
        return jsonc.parse(text)[0]
    except SyntaxProblem as problem:
        line, column = position(text, problem.offset)
        raise UserError(problem.problem, place=f"{path}:{line}:{column}") from None


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _unexpected(path: Path, lines: Sequence[str]) -> UserError:
    return UserError(f'Unexpected JSON input from "{path}".', hint="\n  ".join(lines))
