"""State that can't be used: what the user is told."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from flarebed.bindings.errors import UserError
from flarebed.bindings.store import Store
from tests.support import run

HINT = "Mend or remove it, or keep state elsewhere with --persist-to."


def refusal(root: Path) -> UserError:
    async def work() -> None:
        store = Store(root, asyncio.get_running_loop())
        try:
            store.database("kv", "x", "CREATE TABLE IF NOT EXISTS t (a)")
        finally:
            store.close()

    with pytest.raises(UserError) as caught:
        run(work())
    return caught.value


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "flarebed" / "kv" / "x.sqlite"
    path.parent.mkdir(parents=True)
    path.write_text("not a database, and long enough to be looked at " * 50)
    error = refusal(tmp_path)
    assert (error.message, error.hint) == (
        f"The state in {path} can't be used: file is not a database",
        HINT,
    )


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")
    error = refusal(tmp_path / "state")
    assert (
        error.message
        == f"The state in {tmp_path / 'state'} can't be used: [Errno 17] File exists: '{tmp_path / 'state'}'"
    )


def test_a_folder_that_is_not_writable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda _path, _mode: False)  # root may write anywhere
    assert refusal(tmp_path).message == f"The state in {tmp_path} can't be used: it is not writable"
