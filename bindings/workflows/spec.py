"""`workflows` of the wrangler config.

https://developers.cloudflare.com/workers/wrangler/configuration/#workflows; the texts are those of wrangler 4.164.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flarebed.bindings.cron import Cron, CronError
from flarebed.bindings.entry import Entry, as_json, entries, is_positive_integer, type_of
from flarebed.bindings.kind import Section
from flarebed.bindings.workflows.duration import to_ms

MAX_STEPS = 25_000
_JURISDICTIONS = ("eu", "fedramp", "us")


@dataclass(frozen=True)
class WorkflowSpec:
    """A workflow `name`, run by the class `class_name` and started through `binding`. `schedules` are crons."""

    binding: str
    name: str
    class_name: str
    script_name: str | None = None
    limits_steps: int | None = None
    schedules: tuple[str, ...] = ()
    concurrency_limit: int | None = None
    success_retention_ms: float | None = None
    error_retention_ms: float | None = None

    def rows(self) -> Sequence[tuple[str, str]]:
        resource = f"{self.class_name} (defined in {self.script_name})" if self.script_name else self.class_name
        return [(f"{self.binding} ({resource})", "Workflow")]


def parse(section: Section) -> tuple[WorkflowSpec, ...]:
    specs = tuple(_workflow(entry) for entry in entries(section, "workflows"))
    repeated = [name for name, count in Counter(spec.name for spec in specs).items() if count > 1]
    if repeated:
        listed = '", "'.join(repeated)
        section.complaints.error(f'"workflows" bindings must have unique "name" values; duplicate(s) found: "{listed}"')
    return specs


def _workflow(entry: Entry) -> WorkflowSpec:
    binding = entry.required("binding")
    name = _name(entry)
    class_name = entry.required("class_name")
    script_name = entry.optional("script_name")
    schedules = _are_crons(entry, _schedules(entry))
    limits = entry.nested("limits", ("steps",), lambda limits: _check_steps(entry, limits))
    retention = entry.nested(
        "default_retention",
        ("success_retention", "error_retention"),
        lambda retention: _check_retention(entry, retention),
    )
    concurrency = entry.nested(
        "concurrency", ("limit",), lambda value: _check_count(entry, value, "concurrency", "limit")
    )
    _check_jurisdiction(entry)
    entry.only(
        "binding", "name", "class_name", "script_name", "limits", "concurrency", "schedules", "default_retention",
        "jurisdiction",
    )  # fmt: skip
    return WorkflowSpec(
        binding,
        name,
        class_name,
        script_name,
        limits.get("steps"),
        schedules,
        concurrency.get("limit"),
        _milliseconds(retention.get("success_retention")),
        _milliseconds(retention.get("error_retention")),
    )


def _name(entry: Entry) -> str:
    name = entry.required("name")
    if (
        "name" in entry.fields
        and entry.fields["name"] == name
        and not re.fullmatch(r"[a-zA-Z0-9_][a-zA-Z0-9_-]{0,63}", name)
    ):
        entry.error(
            f'"{entry.path}" binding "name" field is invalid. Workflow names must be 1-64 characters long, start with '
            "a letter, number, or underscore, and may only contain letters, numbers, underscores, or hyphens."
        )
    return name


def _schedules(entry: Entry) -> tuple[str, ...]:
    value = entry.fields.get("schedules", ())
    given = f'"{entry.path}" bindings "schedules" field must not'
    if value == "":
        entry.error(f"{given} be an empty string.")
    elif isinstance(value, str):
        return (value,)
    elif value == []:
        entry.error(f"{given} be an empty array.")
    elif not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        entry.error(
            f'"{entry.path}" bindings should, optionally, have a string or array of strings "schedules" field'
            f" but got {as_json(entry.value)}."
        )
    elif "" in value:
        entry.error(f"{given} contain empty strings.")
    else:
        return tuple(value)
    return ()


def _are_crons(entry: Entry, schedules: tuple[str, ...]) -> tuple[str, ...]:
    """Wrangler leaves this to Cloudflare, which refuses the deployment."""
    for text in schedules:
        try:
            Cron(text)
        except CronError as error:
            entry.error(f'"{entry.path}" bindings "schedules" field has the invalid cron expression "{text}": {error}.')
            return ()
    return schedules


def _check_steps(entry: Entry, limits: Mapping[str, Any]) -> None:
    _check_count(entry, limits, "limits", "steps")
    if is_positive_integer(limits.get("steps")) and limits["steps"] > MAX_STEPS:
        entry.complaints.warn(
            f'"{entry.path}" has a step limit of {as_json(limits["steps"])}, which exceeds the production maximum of '
            "25,000. This configuration may not work when deployed."
        )


def _check_count(entry: Entry, holder: Mapping[str, Any], name: str, field: str) -> None:
    if field in holder and not is_positive_integer(holder[field]):
        entry.error(
            f'"{entry.path}" bindings "{name}.{field}" field must be a positive integer'
            f" but got {as_json(holder[field])}."
        )


def _check_retention(entry: Entry, retention: Mapping[str, Any]) -> None:
    for key in ("success_retention", "error_retention"):
        value = retention.get(key)
        if key in retention and not is_positive_integer(value) and not (isinstance(value, str) and value):
            entry.error(
                f'"{entry.path}" bindings "default_retention.{key}" field must be a positive integer of milliseconds '
                f'or a duration string such as "3 days", but got {as_json(value)}.'
            )
        elif isinstance(value, str) and math.isnan(to_ms(value)):
            entry.complaints.warn(
                f'"{entry.path}" bindings "default_retention.{key}" is {as_json(value)}, which is no duration such as '
                '"3 days"; instances are kept for the default time.'
            )


def _check_jurisdiction(entry: Entry) -> None:
    value = entry.fields.get("jurisdiction")
    if "jurisdiction" in entry.fields and value not in _JURISDICTIONS:
        entry.error(
            f'"{entry.path}" bindings "jurisdiction" field must be one of "eu", "fedramp", or "us",'
            f" but got {as_json(value)}."
        )


def _milliseconds(retention: Any) -> float | None:
    """None if absent or not understood; the latter has been complained about, unless it is an odd text."""
    milliseconds = to_ms(retention) if type_of(retention) in ("number", "string") else math.nan
    return None if math.isnan(milliseconds) else milliseconds
