"""A copy of a state that others write meanwhile."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw
import pytest

from flarebed.bindings.errors import UserError
from flarebed.emulator.state import capture as module
from flarebed.emulator.state.capture import capture
from flarebed.emulator.state.contents import CLOCK, opened

FIRST, SECOND = "flarebed/kv/a.sqlite", "flarebed/queues/b.sqlite"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path in (FIRST, SECOND):
        (tmp_path / path).parent.mkdir(parents=True)
        with closing(apsw.Connection(str(tmp_path / path))) as connection:
            connection.execute("PRAGMA journal_mode=WAL; CREATE TABLE t (n); INSERT INTO t VALUES (0)").fetchall()
    return tmp_path


def number(file: Path) -> int:
    with closing(apsw.Connection(str(file))) as connection:
        [(n,)] = connection.execute("SELECT n FROM t")
    assert isinstance(n, int)
    return n


def test_all_files_are_of_one_instant(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the first is looked at, none can be written; what is written while they are copied does not come along."""
    tried: list[str] = []

    def write() -> None:
        for path in (FIRST, SECOND):
            with closing(apsw.Connection(str(root / path))) as writer:
                try:
                    writer.execute("UPDATE t SET n = n + 1")
                    tried.append(f"written: {path}")
                except apsw.BusyError:
                    tried.append(f"busy: {path}")

    def watched(file: Path) -> apsw.Connection:
        def looked(cursor: apsw.Cursor, sql: str, bindings: object) -> bool:
            if "sqlite_schema" in sql:
                write()
            return True

        connection = opened(file)
        connection.exec_trace = looked
        return connection

    def copied(reader: apsw.Connection, target: Path) -> None:
        write()
        copy(reader, target)

    copy = module._copy
    monkeypatch.setattr(module, "opened", watched)
    monkeypatch.setattr(module, "_copy", copied)
    capture(root, root / "copy")
    assert tried == [f"busy: {FIRST}", f"busy: {SECOND}"] * 2 + [f"written: {FIRST}", f"written: {SECOND}"] * 2
    assert (number(root / "copy" / FIRST), number(root / "copy" / SECOND)) == (0, 0)
    assert (number(root / FIRST), number(root / SECOND)) == (2, 2)


def test_a_transaction_that_does_not_end(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BUSY_MS", 1)
    monkeypatch.setattr(module, "_ATTEMPTS", 2)
    with closing(apsw.Connection(str(root / SECOND))) as writer:
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(UserError, match="written by a transaction that does not end"):
            capture(root, root / "copy")
        with closing(apsw.Connection(str(root / FIRST))) as other:
            other.execute("BEGIN IMMEDIATE")  # was let in again
    capture(root, root / "copy")
    assert number(root / "copy" / SECOND) == 0


def test_what_is_no_database_comes_along_and_what_is_no_state_does_not(root: Path) -> None:
    for path in (CLOCK, "v3/r2/pics/blobs/00ff", "flarebed/owners/worker.w.lock", "v3/d1/miniflare-D1DatabaseObject/x"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)
    capture(root, root / "copy")
    copied = {path.relative_to(root / "copy").as_posix() for path in (root / "copy").rglob("*") if path.is_file()}
    assert copied == {FIRST, SECOND, CLOCK, "v3/r2/pics/blobs/00ff"}
