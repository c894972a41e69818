"""The bindings that wrangler knows and no kind of `bindings/` emulates: their shape is checked, and they are listed.

A kind that is added to the registry takes its key over from here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from flarebed.bindings.entry import Entry, as_json, complain_of_unknown, entries, fields_of, type_of
from flarebed.bindings.kind import Section
from flarebed.emulator.config.diagnostics import Diagnostics
from flarebed.emulator.config.names import LABELS, binding_names


@dataclass(frozen=True)
class Shape:
    """Fields of one binding: the `required` strings (the name first), the `resource` shown to the user, the others;
    () for others means that wrangler takes any."""

    required: tuple[str, ...]
    resource: str = ""
    others: tuple[str, ...] = ()
    strict: bool = True


LISTS = {
    "agent_memory": Shape(("binding", "namespace"), "namespace", ("remote",)),
    "ai_search": Shape(("binding", "instance_name"), "instance_name", ("remote",)),
    "ai_search_namespaces": Shape(("binding", "namespace"), "namespace", ("remote",)),
    "analytics_engine_datasets": Shape(("binding",), "dataset", ("remote",)),
    "artifacts": Shape(("binding", "namespace"), "namespace", ("remote",)),
    "dispatch_namespaces": Shape(("binding",), "namespace", strict=False),
    "flagship": Shape(("binding",), "app_id", ("remote",)),
    "hyperdrive": Shape(("binding", "id"), "id", ("localConnectionString", "remote")),
    "k2": Shape(("binding", "stream"), "stream", ("remote",)),
    "mtls_certificates": Shape(("binding", "certificate_id"), "certificate_id", ("remote",)),
    "pipelines": Shape(("binding",), "stream", ("pipeline", "remote")),
    "ratelimits": Shape((), "", ("name", "namespace_id", "simple")),
    "secrets_store_secrets": Shape(("binding", "store_id", "secret_name"), "secret_name"),
    "send_email": Shape(
        ("name",),
        "destination_address",
        ("allowed_sender_addresses", "allowed_destination_addresses", "binding", "remote"),
    ),
    "unsafe_hello_world": Shape(("binding",), "", ("enable_timer",)),
    "vectorize": Shape(("binding", "index_name"), "index_name", ("remote",)),
    "vpc_networks": Shape(("binding",), "network_id", ("tunnel_id", "remote")),
    "vpc_services": Shape(("binding", "service_id"), "service_id", ("remote",)),
    "worker_loaders": Shape(("binding",)),
}
SINGLES = ("ai", "analytics", "browser", "images", "media", "stream", "version_metadata", "websearch")
NAMED = {
    "durable_objects": ("bindings", "code_update_strategy"),
    "logfwdr": ("bindings", "schema"),
    "unsafe": ("bindings", "metadata", "capnp"),
}
"""Sections that hold a list `bindings` of objects with a `name`, and their fields."""


def check_list(diagnostics: Diagnostics, field: str, value: Any) -> None:
    shape = LISTS[field]
    for entry in entries(Section(diagnostics.prefix + field, value, diagnostics), field):
        for name in shape.required:
            entry.required(name)
        if shape.resource and shape.resource not in shape.required:
            entry.optional(shape.resource)
        entry.optional("remote", "boolean", owner="")
        if shape.strict:
            entry.only(*shape.required, shape.resource, *shape.others)
        if field == "ratelimits":
            _check_rate_limit(entry)


def check_single(diagnostics: Diagnostics, field: str, value: Any) -> None:
    if not isinstance(value, dict):
        path = diagnostics.prefix + field
        diagnostics.error(f'The field "{path}" should be an object but got {as_json(value)}.')
        return
    if not isinstance(value.get("binding"), str):
        diagnostics.error('binding should have a string "binding" field.', field)
    if field not in ("ai", "version_metadata"):
        complain_of_unknown(diagnostics, field, value, ("binding", "remote"))


def check_named(diagnostics: Diagnostics, field: str, value: Any) -> None:
    path = diagnostics.prefix + field
    if not isinstance(value, dict):
        diagnostics.error(f'The field "{path}" should be an object but got {as_json(value)}.')
        return
    complain_of_unknown(diagnostics, path, value, NAMED[field])
    held = value.get("bindings", [])
    if not isinstance(held, list):
        diagnostics.error(f'The field "{path}.bindings" should be an array but got {as_json(held)}.')
        return
    for index, item in enumerate(held):
        inner = Diagnostics(f'"{path}.bindings[{index}]": {as_json(item)}', diagnostics.document)
        diagnostics.children.append(inner)
        _check_name(inner, f"{path}.bindings[{index}]", item, field)


def rows(key: str, value: Any) -> Iterator[tuple[str, str]]:
    """(binding, resource) of each binding, for the table shown at start."""
    resource = LISTS[key].resource if key in LISTS else "class_name"
    held = value if isinstance(value, list) else value.get("bindings", [])
    shown = [_detail(key, entry, resource) for entry in held if isinstance(entry, dict)]
    for index, name in enumerate(binding_names(key, value)):
        detail = shown[index] if index < len(shown) else None
        yield (f"{name} ({detail})" if isinstance(detail, str) else name), LABELS[key]


def _detail(key: str, entry: Mapping[str, Any], resource: str) -> Any:
    simple = entry.get("simple")
    if key in ("ratelimits", "unsafe") and isinstance(simple, dict):
        return f"{as_json(simple.get('limit'))} requests/{as_json(simple.get('period'))}s"
    return entry.get(resource, entry.get("binding") if key == "analytics_engine_datasets" else None)


def _check_name(diagnostics: Diagnostics, path: str, item: Any, field: str) -> None:
    members = fields_of(item)
    if members is None:
        diagnostics.error(f'Expected "{path}" to be an object but got {as_json(item)}')
        return
    for name in ("name", "class_name") if field == "durable_objects" else ("name",):
        if not isinstance(members.get(name), str):
            diagnostics.error(f'binding should have a string "{name}" field.', path)
    if field == "durable_objects":
        _check_object(diagnostics, path, members)


def _check_object(diagnostics: Diagnostics, path: str, members: Mapping[str, Any]) -> None:
    for name in ("script_name", "environment"):
        if not isinstance(members.get(name, ""), str):
            diagnostics.error(f'the field "{name}", when present, should be a string.', path)
    if "environment" in members and "script_name" not in members:
        diagnostics.error('binding should have a "script_name" field if "environment" is present.', path)
    complain_of_unknown(diagnostics, path, members, ("class_name", "environment", "name", "script_name"))


def _check_rate_limit(entry: Entry) -> None:
    owner = f'"{entry.path}" bindings'
    for name in ("name", "namespace_id"):
        if not isinstance(entry.fields.get(name), str):
            entry.error(f'{owner} must have a string "{name}" field but got {as_json(entry.value)}.')
    simple = fields_of(entry.fields.get("simple"))
    if simple is None:
        entry.error(f'{owner} must have a "simple" configuration object but got {as_json(entry.value)}.')
        return
    if type_of(simple.get("limit")) != "number":
        entry.error(f'{owner} "simple.limit" must be a number but got {as_json(simple)}.')
    if type_of(simple.get("period")) != "number":
        entry.error(f'{owner} "simple.period" is required and must be a number but got {as_json(simple)}.')
    elif simple["period"] not in (10, 60):
        entry.error(f'{owner} "simple.period" must be either 10 or 60 but got {as_json(simple["period"])}.')
    complain_of_unknown(entry.complaints, f"{entry.path}.simple", simple, ("limit", "period"))
