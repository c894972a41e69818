"""Which namespaces there are on this machine, for the command line: those that have keys or were given a title.

A namespace's file knows its id, since the name of the file may be only a hash of it, and its title.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

import apsw

from flarebed.bindings.kv.large import reader
from flarebed.bindings.kv.namespace import database
from flarebed.bindings.store import Store, unusable

_TITLE: Final = "SELECT id, title, EXISTS (SELECT 1 FROM entries) FROM namespace"


@dataclass(frozen=True)
class Title:
    """A namespace and what it is called, if it was ever given a title."""

    id: str
    title: str | None


def titles(store: Store) -> list[Title]:
    """Namespaces without keys and without a title are as good as not there."""
    found = []
    for path in sorted(store.path("kv", "any").parent.glob("*.sqlite")):
        try:
            with closing(reader(path)) as connection:
                rows: list[Any] = connection.execute(_TITLE).fetchall()
            found += [Title(name, title) for name, title, has_keys in rows if title is not None or has_keys]
        except apsw.SQLError:  # written before a file knew its id
            found.append(Title(path.stem, None))
        except apsw.Error as error:
            raise unusable(path, error) from error
    return found


async def set_title(store: Store, namespace_id: str, title: str) -> None:
    file = database(store, namespace_id)
    file.execute("UPDATE namespace SET title = ?", (title,))
    await file.durable()


async def remove(store: Store, namespace_id: str) -> None:
    """All keys and the title; the file stays, since a running `dev` may have it open."""
    file = database(store, namespace_id)
    with file.write() as connection:
        connection.execute("DELETE FROM entries")
        connection.execute("UPDATE namespace SET title = NULL")
    await file.durable()
