"""Brings a fixture's D1 databases to the state that its migrations describe, through the Worker's own binding."""

from __future__ import annotations

from pathlib import Path

from tests.served import Served


async def migrate(served: Served) -> None:
    """A file is one statement list: D1 runs what stands in one `prepare` together."""
    for spec in served.app.config.specs["d1"]:
        database = served.app.resources["d1"].bindings()[spec.binding]  # type: ignore[attr-defined]
        for path in migrations(served.app.config.root / spec.migrations_dir):  # type: ignore[attr-defined]
            await database.batch([database.prepare(path.read_text(encoding="utf-8"))])  # type: ignore[attr-defined]


def migrations(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.sql"))
