"""What a config field must look like: small checks, which `keys.py` assigns to the keys of a config.

A check gets the field's name and value and complains in wrangler's words (workers-utils `validation-helpers.ts`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from flarebed.bindings.entry import as_json, complain_of_unknown, type_of
from flarebed.emulator.config.diagnostics import Diagnostics

_DATE = re.compile(r"\d{4}-(0?[1-9]|1[0-2])-(0?[1-9]|[12]\d|3[01])", re.ASCII)

Check = Callable[[Diagnostics, str, Any], None]


def anything(diagnostics: Diagnostics, field: str, value: Any) -> None:
    """For what only a deployment reads: wrangler checks it then."""


def of_type(kind: str) -> Check:
    """`kind` is what JavaScript's `typeof` would say."""

    def check(diagnostics: Diagnostics, field: str, value: Any) -> None:
        if type_of(value) != kind:
            diagnostics.error(f'Expected "{field}" to be of type {kind} but got {as_json(value)}.')

    return check


string, boolean, number, object_ = of_type("string"), of_type("boolean"), of_type("number"), of_type("object")


def port(diagnostics: Diagnostics, field: str, value: Any) -> None:
    number(diagnostics, field, value)
    if type_of(value) == "number" and not (isinstance(value, int) and 0 <= value <= 65535):
        diagnostics.error(f'Expected "{field}" to be a port between 0 and 65535 but got {as_json(value)}.')


def string_array(diagnostics: Diagnostics, field: str, value: Any) -> None:
    if not is_string_array(value):
        diagnostics.error(f'Expected "{field}" to be of type string array but got {as_json(value)}.')


def strings(diagnostics: Diagnostics, field: str, value: Any) -> None:
    """An array of strings whose items are complained about one by one."""
    if not isinstance(value, list):
        diagnostics.error(f'Expected "{field}" to be an array of strings but got {as_json(value)}')
        return
    for index, item in enumerate(value):
        string(diagnostics, f"{field}.[{index}]", item)


def one_of(*choices: str) -> Check:
    def check(diagnostics: Diagnostics, field: str, value: Any) -> None:
        if value not in choices:
            diagnostics.error(
                f'Expected "{field}" field to be one of {as_json(list(choices))} but got {as_json(value)}.'
            )

    return check


def string_of(*choices: str) -> Check:
    """A string, and one of `choices`."""

    def check(diagnostics: Diagnostics, field: str, value: Any) -> None:
        (one_of(*choices) if isinstance(value, str) else string)(diagnostics, field, value)

    return check


def worker_name(diagnostics: Diagnostics, field: str, value: Any) -> None:
    if not isinstance(value, str) or not re.fullmatch(r"|[a-z0-9_][a-z0-9_-]*", value):
        diagnostics.error(
            f'Expected "{field}" to be of type string, alphanumeric and lowercase with dashes only'
            f" but got {as_json(value)}."
        )


def is_string_array(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def is_date(value: Any) -> bool:
    return isinstance(value, str) and bool(_DATE.fullmatch(value))


def date(diagnostics: Diagnostics, field: str, value: Any) -> None:
    """What JavaScript's Date can read; workerd's stricter rule is in `flags.py`."""
    if not isinstance(value, str):
        string(diagnostics, field, value)
        return
    if re.search("[–—]", value):
        diagnostics.error(
            f'"{field}" field should use ISO-8601 accepted hyphens (-) rather than en-dashes (–) or em-dashes (—).'
        )
    if not is_date(re.sub("[–—]", "-", value)):
        diagnostics.error(f'"{field}" field should be a valid ISO-8601 date (YYYY-MM-DD), but got {as_json(value)}.')


def holds(fields: Mapping[str, Check]) -> Check:
    """An object with `fields`, each checked by its check; others are warned about."""

    def check(diagnostics: Diagnostics, field: str, value: Any) -> None:
        if not isinstance(value, dict):
            if value is not None:
                diagnostics.error(f'Expected "{field}" to be of type object but got {as_json(value)}.')
            return
        for name, inner in fields.items():
            if name in value:
                inner(diagnostics, f"{field}.{name}", value[name])
        complain_of_unknown(diagnostics, field, value, tuple(fields))

    return check


def mapping_to_strings(diagnostics: Diagnostics, field: str, value: Any) -> None:
    """A map from names to paths: wasm_modules, text_blobs, data_blobs."""
    if not isinstance(value, dict):
        diagnostics.error(f'Expected "{field}" to be of type object but got {as_json(value)}.')
        return
    for name, path in value.items():
        string(diagnostics, f"{field}['{name}']", path)
