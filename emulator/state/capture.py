"""A copy of a state that may be in use: all of one instant, over all of its databases.

For a moment all databases are kept from being written, and in that moment a read transaction begins on each. What these
see, and they alone, is then copied while writers go on.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Final

import apsw

from flarebed.bindings.errors import UserError
from flarebed.bindings.store import unusable
from flarebed.emulator.state.contents import databases, opened, others

_BUSY_MS: Final = 100
_ATTEMPTS: Final = 100
"""With `_BUSY_MS`: a transaction that takes longer than 10 s, of a big import say, is not waited for."""


def capture(root: Path, folder: Path) -> None:
    """Copy the state `root` into `folder`, which becomes a state folder too."""
    paths = [path for _, path in databases(root)]
    with one_instant([root / path for path in paths]) as readers:
        for path, reader in zip(paths, readers, strict=True):
            _copy(reader, folder / path)
    for path in others(root):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / path, folder / path)


@contextmanager
def one_instant(files: Sequence[Path]) -> Iterator[list[apsw.Connection]]:
    """A connection to each file, all with what was there at the same instant."""
    with ExitStack() as ending:
        writers, readers = ([ending.enter_context(closing(opened(file))) for file in files] for _ in range(2))
        for _ in range(_ATTEMPTS):
            if _keep_writers_out(files, writers):
                break
        else:
            raise UserError("The state is being written by a transaction that does not end. Try again later.")
        for file, reader in zip(files, readers, strict=True):
            with _told_of(file):
                reader.execute("BEGIN; SELECT 1 FROM sqlite_schema").fetchall()
        _let_writers_in(writers)
        yield readers


@contextmanager
def _told_of(file: Path) -> Iterator[None]:
    """What is wrong with a file is the user's to mend."""
    try:
        yield
    except (apsw.NotADBError, apsw.CorruptError, apsw.IOError, apsw.CantOpenError) as error:
        raise unusable(file, error) from error


def _keep_writers_out(files: Sequence[Path], writers: Sequence[apsw.Connection]) -> bool:
    """Of all files or of none, since who writes two at once might hold the one while it waits for the other."""
    for file, writer in zip(files, writers, strict=True):
        writer.set_busy_timeout(_BUSY_MS)
        try:
            with _told_of(file):
                writer.execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            _let_writers_in(writers)
            return False
    return True


def _let_writers_in(writers: Sequence[apsw.Connection]) -> None:
    for writer in writers:
        if writer.in_transaction:
            writer.execute("ROLLBACK")


def copy_database(source: Path, target: Path) -> None:
    """As it stands, by SQLite's own backup: it may be in use."""
    with closing(opened(source)) as reader:
        _copy(reader, target)


def _copy(reader: apsw.Connection, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with closing(apsw.Connection(str(target))) as writer:
        writer.execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF").fetchall()  # nobody uses half a copy
        with writer.backup("main", reader, "main") as backup:
            backup.step(-1)
