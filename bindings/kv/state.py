"""Where KV keeps its namespaces below the state folder, for the commands on the state as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from flarebed.bindings.kind import StateFiles
from flarebed.bindings.kv.spec import KvNamespaceSpec
from flarebed.bindings.store import file_name


def named(specs: Sequence[KvNamespaceSpec]) -> Iterator[tuple[str, Sequence[str]]]:
    for spec in specs:
        yield f"{file_name(spec.namespace_id)}.sqlite", (spec.binding, spec.namespace_id)


FILES: Final = StateFiles("flarebed/kv", "key", "SELECT count(*) FROM entries", named)
