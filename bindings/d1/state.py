"""Where D1 keeps its databases below the state folder, for the commands on the state as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from flarebed.bindings.d1.engine import path
from flarebed.bindings.d1.spec import D1DatabaseSpec
from flarebed.bindings.kind import StateFiles

_COUNT: Final = """
SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '_cf_*'
"""


def named(specs: Sequence[D1DatabaseSpec]) -> Iterator[tuple[str, Sequence[str]]]:
    for spec in specs:
        words = (spec.binding, spec.database_name, spec.database_id, spec.preview_database_id)
        yield path(Path(), spec).name, [word for word in words if word]


# Beside the databases lies wrangler's metadata.sqlite.
FILES: Final = StateFiles("v3/d1/miniflare-D1DatabaseObject", "table", _COUNT, named, "[0-9a-f]" * 64 + ".sqlite")
