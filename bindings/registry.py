"""The kinds of binding, one line each. Adding a kind is a folder and a line here."""

from __future__ import annotations

from flarebed.bindings.kind import Kind

KINDS: tuple[Kind, ...] = (
    Kind("kv", "kv_namespaces"),
    Kind("d1", "d1_databases"),
    Kind("r2", "r2_buckets"),
    Kind("queues", "queues"),
    Kind("workflows", "workflows"),
    Kind("services", "services", keeps_state=False),
)
