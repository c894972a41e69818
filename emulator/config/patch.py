"""Adds a binding to a config in JSON; all else in it stays as it is written, comments and indentation too."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from flarebed.emulator.config import jsonc


def with_binding(text: str, key: str, env: str | None, item: Mapping[str, Any]) -> str:
    """`text` with `item` among the bindings of `key`, where one of the same name gets its fields."""
    data, offsets = jsonc.parse(text)
    scope = f"env.{env}" if env else ""
    bindings = (data["env"][env] if env else data).get(key)
    path = f"{scope}.{key}" if scope else key
    if bindings is None:
        return _with_member(text, data["env"][env] if env else data, scope, offsets, f'"{key}": [{_json(item)}]')
    if not bindings:
        return _replaced(text, offsets[path], f"[{_json(item)}]")
    for number, binding in enumerate(bindings):
        if binding["binding"] == item["binding"]:
            return _replaced(text, offsets[f"{path}[{number}]"], _json({**binding, **item}))
    return _after(text, offsets[f"{path}[{len(bindings) - 1}]"], _json(item))


def _with_member(text: str, owner: Mapping[str, Any], scope: str, offsets: Mapping[str, int], member: str) -> str:
    if not owner:
        return _replaced(text, offsets[scope], f"{{ {member} }}")
    last = list(owner)[-1]
    return _after(text, offsets[f"{scope}.{last}" if scope else last], member)


def _after(text: str, offset: int, added: str) -> str:
    """Behind the field at `offset`, on a line of its own if that has one."""
    _, end = jsonc.extent(text, offset)
    before = text[text.rfind("\n", 0, offset) + 1 : offset]
    gap = " " if before.strip() else f"\n{before}"
    return f"{text[:end]},{gap}{added}{text[end:]}"


def _replaced(text: str, offset: int, value: str) -> str:
    start, end = jsonc.extent(text, offset)
    return text[:start] + value + text[end:]


def _json(item: Mapping[str, Any]) -> str:
    return "{ " + json.dumps(item, ensure_ascii=False)[1:-1] + " }"
