"""`flarebed d1 export`: a database as a file of SQL, which is there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from flarebed.bindings.d1 import export
from flarebed.bindings.errors import UserError
from flarebed.emulator.cli.d1 import Opened


def check(output: Path, schema: bool, data: bool, compatibility: str | None) -> None:
    """Wrangler's complaints, before anything is opened."""
    if not schema and not data:
        raise UserError(
            "Cannot use --no-schema and --no-data together. At least one of schema or data must be included in the "
            "export. Remove one of the flags."
        )
    if compatibility == "sqlite3_cli_only":
        raise UserError(
            "--compatibility sqlite3_cli_only is only supported for remote exports. Add the --remote flag.",
            hint="There is nothing remote here. The database is a file for sqlite3: `flarebed d1 info` names it.",
        )
    if output.is_dir():
        raise UserError("Please specify a file path for --output, not a directory.")


def export_database(one: Opened, output: Path, tables: Collection[str], schema: bool, data: bool) -> None:
    """One state of the database, whatever is written meanwhile."""
    one.say("Exporting")
    print(f"🌀 Exporting SQL to {output}...")
    with one.database.connected() as connection, connection.transaction(writes=False), _written(output) as file:
        separator = ""
        for line in export.lines(connection, tables, schema=schema, data=data):
            file.write(separator + line)
            separator = "\n"
    print("Done!")


@contextmanager
def _written(path: Path) -> Iterator[IO[str]]:
    """A file that takes its place when all is written. What is no file, such as /dev/stdout, is written to directly."""
    try:
        if path.exists() and not path.is_file():
            with path.open("w", encoding="utf-8", newline="") as file:
                yield file
            return
        target = path.resolve()
        descriptor, made = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with open(descriptor, "w", encoding="utf-8", newline="") as file:
                yield file
            os.chmod(made, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
            os.replace(made, target)
        except BaseException:
            os.unlink(made)
            raise
    except OSError as error:
        raise UserError(f"{path} can't be written: {error.strerror}") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
