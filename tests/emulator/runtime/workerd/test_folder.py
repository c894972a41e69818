"""Where workerd's sockets are."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from flarebed.bindings.errors import UserError
from flarebed.emulator.runtime.workerd.folder import made, removed


def test_private_and_gone_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/tmp")
    folder = made({})
    assert (folder.parent, folder.stat().st_mode & 0o777) == (Path("/tmp"), 0o700)
    (folder / "file").touch()
    removed(folder)
    assert not folder.exists()
    removed(folder)


def test_a_long_temporary_folder_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = tmp_path / ("x" * 60)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    folder = made({"XDG_RUNTIME_DIR": "/tmp"})
    assert folder.parent == Path("/tmp")
    removed(folder)


def test_no_place_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(prefix: str, dir: str) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "tempdir", "/" + "x" * 60)
    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    with pytest.raises(UserError) as refused:
        made({})
    assert refused.value.message == (
        "There is no temporary folder for the sockets between flarebed and workerd: "
        f"/{'x' * 60} has too long a path; /tmp: Permission denied; /var/tmp: Permission denied."
    )
    assert refused.value.hint == "Set TMPDIR to a folder that can be written to and whose path is short."
