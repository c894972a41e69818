"""One object of a config section, with wrangler's words for what is wrong with it.

The `spec.py` files read their bindings through it, so that all kinds complain alike. Wrangler's validators speak of
JavaScript's types and print values as JSON: so does this.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from flarebed.bindings.kind import Complaints, Section


def as_json(value: Any, indent: int | None = None) -> str:
    """JSON.stringify(value), for a value that came out of a config file (TOML's dates and infinities included)."""
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(_plain(value), ensure_ascii=False, separators=separators, indent=indent)
    return re.sub("[\ud800-\udfff]", lambda lone: f"\\u{ord(lone[0]):04x}", text)


def type_of(value: Any) -> str:
    """JavaScript's `typeof`."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "string" if isinstance(value, str) else "object"


def fields_of(value: Any) -> Mapping[str, Any] | None:
    """The own properties of what JavaScript calls an object (an array's are its indices); None for anything else."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list):
        return {str(index): item for index, item in enumerate(value)}
    return {} if isinstance(value, datetime.date | datetime.time) else None


def is_positive_integer(value: Any) -> bool:
    return type_of(value) == "number" and value >= 1 and float(value).is_integer()


def complain_of_unknown(complaints: Complaints, path: str, names: Mapping[str, Any], known: tuple[str, ...]) -> bool:
    """Warn about fields that wrangler does not know; whether there were any."""
    unknown = [f'"{name}"' for name in names if name not in known]
    if unknown:
        complaints.warn(f"Unexpected fields found in {path} field: {','.join(unknown)}")
    return bool(unknown)


@dataclass(frozen=True)
class Entry:
    """An object at `path` ("kv_namespaces[0]"), whose fields are asked for one by one."""

    path: str
    value: Any
    fields: Mapping[str, Any]
    complaints: Complaints

    def error(self, text: str) -> None:
        self.complaints.error(text)

    def required(self, name: str, owner: str = " bindings") -> str:
        """A string that must be there; "" after a complaint."""
        value = self.fields.get(name)
        if isinstance(value, str):
            return value
        self.error(f'"{self.path}"{owner} should have a string "{name}" field but got {as_json(self.value)}.')
        return ""

    def optional(self, name: str, kind: str = "string", owner: str = " bindings") -> Any:
        """A value of JavaScript type `kind`, or None if it is absent or after a complaint."""
        value = self.fields.get(name)
        if name not in self.fields or type_of(value) == kind:
            return value
        self.error(
            f'"{self.path}"{owner} should, optionally, have a {kind} "{name}" field but got {as_json(self.value)}.'
        )
        return None

    def nested(
        self, name: str, known: tuple[str, ...], check: Callable[[Mapping[str, Any]], None]
    ) -> Mapping[str, Any]:
        """An optional object; `check` looks at it before its unknown fields are warned about."""
        value = self.fields.get(name, {})
        if not isinstance(value, dict):
            whole = as_json(self.value)
            self.error(f'"{self.path}" bindings should, optionally, have an object "{name}" field but got {whole}.')
            return {}
        check(value)
        complain_of_unknown(self.complaints, f"{self.path}.{name}", value, known)
        return value

    def only(self, *known: str) -> bool:
        """Warn about other fields than these; whether there were none."""
        return not complain_of_unknown(self.complaints, self.path, self.fields, known)


def entries(section: Section, kind: str) -> Iterator[Entry]:
    """The objects of a list of bindings; `kind` names them to the user ("kv_namespaces")."""
    if not isinstance(section.value, list):
        section.complaints.error(f'The field "{section.field}" should be an array but got {as_json(section.value)}.')
        return
    for index, value in enumerate(section.value):
        fields = fields_of(value)
        if fields is None:
            section.complaints.error(f'"{kind}" bindings should be objects, but got {as_json(value)}')
        else:
            yield Entry(f"{section.field}[{index}]", value, fields, section.complaints)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return value


def _number(value: float) -> float | int | None:
    """JSON.stringify writes no ".0" and knows no infinities."""
    if not math.isfinite(value):
        return None
    return int(value) if value.is_integer() and abs(value) < 1e21 else value
