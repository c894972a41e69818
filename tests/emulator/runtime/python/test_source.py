"""Edits that Python's own cache of compiled modules does not notice."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from flarebed.emulator.runtime.python.loader import Loader

SECOND_NS = 1_767_225_600 * 10**9


@pytest.fixture(autouse=True)
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)


def write(path: Path, text: str, time_ns: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, ns=(time_ns, time_ns))


def values(root: Path) -> tuple[str, str]:
    loader = Loader(root / "src" / "edited.py", root)
    module = loader.load()
    loader.unload()
    return module.VALUE, module.PART


def test_two_edits_of_one_size_in_one_second(tmp_path: Path) -> None:
    entry, part = tmp_path / "src" / "edited.py", tmp_path / "src" / "parts" / "one.py"
    write(entry, "from parts.one import PART\nVALUE = 'v0'\n", SECOND_NS)
    write(part, "PART = 'p0'\n", SECOND_NS)
    assert values(tmp_path) == ("v0", "p0")
    write(entry, "from parts.one import PART\nVALUE = 'v1'\n", SECOND_NS + 1)
    assert values(tmp_path) == ("v1", "p0")
    write(part, "PART = 'p1'\n", SECOND_NS + 2)
    assert values(tmp_path) == ("v1", "p1")
    assert not list(tmp_path.rglob("*.pyc"))


def test_installed_packages_keep_their_cache(tmp_path: Path) -> None:
    write(tmp_path / "src" / "edited.py", "import vendored\nVALUE = PART = vendored.VALUE\n", SECOND_NS)
    write(tmp_path / "python_modules" / "vendored.py", "VALUE = 1\n", SECOND_NS)
    assert values(tmp_path) == (1, 1)
    del sys.modules["vendored"]
    [compiled] = tmp_path.rglob("*.pyc")
    assert compiled.parent == tmp_path / "python_modules" / "__pycache__"


def test_nothing_of_it_is_left_after_the_worker(tmp_path: Path) -> None:
    write(tmp_path / "src" / "edited.py", "VALUE = PART = 'v'\n", SECOND_NS)
    before = list(sys.path), list(sys.path_hooks)
    values(tmp_path)
    assert (sys.path, sys.path_hooks) == before
    assert not [folder for folder in sys.path_importer_cache if folder.startswith(str(tmp_path))]
