"""Where what is to come is laid out: what fails on the way changes nothing."""

from __future__ import annotations

import errno
from pathlib import Path

import apsw
import pytest

from flarebed.bindings import replacement
from flarebed.bindings.errors import UserError
from flarebed.emulator.state.staging import put_in_place, staging

KV = "flarebed/kv/a.sqlite"


def lay(root: Path, text: str) -> None:
    (root / KV).parent.mkdir(parents=True, exist_ok=True)
    (root / KV).write_text(text)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (OSError(errno.ENOSPC, "No space"), "The disk is full. Nothing was changed."),
        (apsw.FullError("not an error"), "The disk is full. Nothing was changed."),
        (PermissionError(errno.EACCES, "Denied", "x"), "[Errno 13] Denied: 'x'. Nothing was changed."),
    ],
)
def test_a_failure_on_the_way(tmp_path: Path, error: Exception, text: str) -> None:
    lay(tmp_path, "old")

    def work() -> None:
        with staging(tmp_path) as folder:
            lay(folder, "new")
            raise error

    with pytest.raises(UserError) as failed:
        work()
    assert failed.value.message == text
    assert not (tmp_path / "flarebed" / "staging").exists()
    assert (tmp_path / KV).read_text() == "old"


def test_a_failure_after_the_new_state_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(tmp_path, "old")

    def fail(file: Path) -> None:
        raise OSError(errno.EIO, "Input/output error")

    def work() -> None:
        with staging(tmp_path) as folder, monkeypatch.context() as patched:
            lay(folder, "new")
            patched.setattr(replacement, "_remove", fail)
            put_in_place(tmp_path, folder)

    with pytest.raises(UserError) as failed:
        work()
    assert failed.value.message == "[Errno 5] Input/output error. The next command finishes it."
    with staging(tmp_path):
        assert (tmp_path / KV).read_text() == "new"


def test_what_a_killed_command_has_left_is_not_taken(tmp_path: Path) -> None:
    lay(tmp_path / "flarebed" / "staging", "left")
    with staging(tmp_path) as folder:
        assert list(folder.iterdir()) == []
