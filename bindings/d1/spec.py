"""`d1_databases` of the wrangler config.

https://developers.cloudflare.com/workers/wrangler/configuration/#d1-databases
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flarebed.bindings.entry import Entry, as_json, entries
from flarebed.bindings.kind import Section


@dataclass(frozen=True)
class D1DatabaseSpec:
    """A D1 database under the name `binding`; `migrations_dir` is relative to the config's folder."""

    binding: str
    database_name: str | None = None
    database_id: str | None = None
    preview_database_id: str | None = None
    migrations_table: str = "d1_migrations"
    migrations_dir: str = "./migrations"
    migrations_pattern: str | None = None
    has_migrations_dir: bool = False
    """Whether the config says it; otherwise it is the default."""

    @property
    def local_id(self) -> str:
        """What the file's name is made of: wrangler dev prefers the preview's id, and does without any."""
        return self.preview_database_id or self.database_id or self.binding

    def rows(self) -> Sequence[tuple[str, str]]:
        resource = self.preview_database_id or self.database_name or self.database_id
        return [(f"{self.binding} ({resource})" if resource else self.binding, "D1 Database")]


def parse(section: Section) -> tuple[D1DatabaseSpec, ...]:
    return tuple(_database(entry) for entry in entries(section, "d1_databases"))


def _database(entry: Entry) -> D1DatabaseSpec:
    binding = entry.required("binding")
    database_id = entry.fields.get("database_id")
    if "database_id" in entry.fields and not isinstance(database_id, str):
        entry.error(f'"{entry.path}" bindings must have a "database_id" field but got {as_json(entry.value)}.')
    preview_database_id = entry.optional("preview_database_id")
    entry.optional("remote", "boolean", owner="")
    pattern = entry.optional("migrations_pattern")
    name = entry.optional("database_name")
    entry.optional("jurisdiction")
    folder = entry.optional("migrations_dir")
    table = entry.optional("migrations_table")
    entry.optional("database_internal_env")
    entry.only(
        "binding", "database_id", "database_internal_env", "database_name", "jurisdiction", "migrations_dir",
        "migrations_pattern", "migrations_table", "preview_database_id", "remote",
    )  # fmt: skip
    return D1DatabaseSpec(
        binding,
        name,
        database_id,
        preview_database_id,
        table or D1DatabaseSpec.migrations_table,
        folder or D1DatabaseSpec.migrations_dir,
        pattern,
        folder is not None,
    )
