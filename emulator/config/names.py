"""The names that a config gives to things in `env`, and the complaint about a name that is given twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from flarebed.bindings.entry import fields_of
from flarebed.emulator.config.diagnostics import Diagnostics

LABELS = {
    "data_blobs": "Data Blob",
    "durable_objects": "Durable Object",
    "kv_namespaces": "KV Namespace",
    "send_email": "Send Email",
    "queues": "Queue",
    "d1_databases": "D1 Database",
    "vectorize": "Vectorize Index",
    "ai_search_namespaces": "AI Search Namespace",
    "ai_search": "AI Search Instance",
    "agent_memory": "Agent Memory",
    "hyperdrive": "Hyperdrive Config",
    "r2_buckets": "R2 Bucket",
    "logfwdr": "logfwdr",
    "services": "Worker",
    "analytics_engine_datasets": "Analytics Engine Dataset",
    "text_blobs": "Text Blob",
    "browser": "Browser Run",
    "analytics": "Analytics SQL",
    "ai": "AI",
    "images": "Images",
    "stream": "Stream",
    "media": "Media",
    "websearch": "Web Search",
    "version_metadata": "Worker Version Metadata",
    "unsafe": "Unsafe Metadata",
    "vars": "Environment Variable",
    "wasm_modules": "Wasm Module",
    "dispatch_namespaces": "Dispatch Namespace",
    "mtls_certificates": "mTLS Certificate",
    "workflows": "Workflow",
    "pipelines": "Pipeline",
    "k2": "K2 Stream",
    "secrets_store_secrets": "Secrets Store Secret",
    "artifacts": "Artifacts",
    "ratelimits": "Rate Limit",
    "assets": "Assets",
    "unsafe_hello_world": "Hello World",
    "flagship": "Flagship",
    "worker_loaders": "Worker Loader",
    "vpc_services": "VPC Service",
    "vpc_networks": "VPC Network",
    "secrets": "Secret",
}
"""What wrangler calls the bindings of each config key, in its order."""

_NAMED_BY_KEYS = ("vars", "data_blobs", "text_blobs", "wasm_modules")


def binding_names(key: str, value: Any) -> list[str]:
    """The names that the section `key` puts into `env`; [] if it is malformed."""
    if key in _NAMED_BY_KEYS:
        return list(fields_of(value) or {})
    names: list[Any] = []
    if isinstance(value, list):
        names = [entry.get("binding", entry.get("name")) for entry in value if isinstance(entry, dict)]
    elif isinstance(value, dict) and key == "secrets":
        required = value.get("required")
        names = required if isinstance(required, list) else []
    elif isinstance(value, dict):
        held = value.get("producers" if key == "queues" else "bindings")
        names = binding_names("", held) if isinstance(held, list) else [value.get("binding")]
    return [name for name in names if isinstance(name, str)]


def complain_of_duplicates(settings: Mapping[str, Any], diagnostics: Diagnostics) -> None:
    """Every name in `env` may be given once."""
    labels: dict[str, list[str]] = {}
    for key, label in LABELS.items():
        for name in binding_names(key, settings.get(key)):
            labels.setdefault(name, []).append(label)
    repeated = {name: given for name, given in labels.items() if len(given) > 1}
    for name, given in repeated.items():
        counts = Counter(given)
        if len(counts) > 1:
            diagnostics.error(f"{name} assigned to {_listed(list(counts))} bindings.")
        for label, count in counts.items():
            if count > 1:
                diagnostics.error(f"{name} assigned to multiple {label} bindings.")
    if repeated:
        diagnostics.error(
            "Bindings must have unique names, so that they can all be referenced in the worker.\n"
            "Please change your bindings to have unique names."
        )


def _listed(labels: list[str]) -> str:
    """Intl.ListFormat("en-US"): "A and B", "A, B, and C"."""
    *first, last = labels
    return f"{first[0]} and {last}" if len(first) == 1 else f"{', '.join(first)}, and {last}"
