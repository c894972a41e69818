"""Where Workflows keep their instances below the state folder, for the commands on the state as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from flarebed.bindings.kind import StateFiles
from flarebed.bindings.store import file_name
from flarebed.bindings.workflows.spec import WorkflowSpec


def named(specs: Sequence[WorkflowSpec]) -> Iterator[tuple[str, Sequence[str]]]:
    for spec in specs:
        yield f"{file_name(spec.name)}.sqlite", (spec.name, spec.binding)


FILES: Final = StateFiles("flarebed/workflows", "instance", "SELECT count(*) FROM instances", named)
