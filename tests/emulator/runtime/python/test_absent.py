"""Imports of what Pyodide's standard library lacks, in the Worker's own source and in packages."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from flarebed.emulator.runtime.python import absent
from flarebed.emulator.runtime.python.code import eval_code
from flarebed.emulator.runtime.python.loader import Loader

REFUSED = [
    ("import pwd", "pwd"),
    ("import json, pwd, grp", "pwd"),
    ("import tkinter.ttk as t", "tkinter"),
    ("from curses import panel", "curses"),
    ("from curses.ascii import isalpha", "curses"),
    ("def f():\n    import readline\nf()", "readline"),
]


@pytest.mark.parametrize(("source", "name"), REFUSED)
def test_evaluated_source(source: str, name: str) -> None:
    with pytest.raises(ModuleNotFoundError) as thrown:
        eval_code(source, {})
    assert (str(thrown.value), thrown.value.name) == (f"No module named '{name}'", name)


def test_a_program_can_do_without() -> None:
    assert eval_code("try:\n    import resource\nexcept ImportError:\n    resource = None\nresource", {}) is None


def test_what_comes_before_in_the_same_statement_is_imported() -> None:
    scope: dict[str, Any] = {}
    with pytest.raises(ModuleNotFoundError):
        eval_code("import json, pwd", scope)
    assert "json" in scope


def test_the_workers_own_modules_and_relative_imports_are_let_through() -> None:
    source = "import resource\nfrom . import pwd\nimport json"
    tree = absent.refused(ast.parse(source), {"resource"})
    assert ast.unparse(tree) == source


def loaded(root: Path) -> Any:
    loader = Loader(root / "src" / "entry.py", root)
    try:
        return loader.load()
    finally:
        loader.unload()


def test_the_files_of_a_worker(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "entry.py").write_text("import part\n")
    (tmp_path / "src" / "part.py").write_text("# é\nimport grp\n", encoding="utf-8")
    with pytest.raises(ModuleNotFoundError, match="No module named 'grp'") as thrown:
        loaded(tmp_path)
    assert thrown.traceback[-1].path == tmp_path / "src" / "part.py"
    assert thrown.traceback[-1].lineno == 1


def test_packages_import_what_the_machine_has(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "entry.py").write_text("import grouping\nNAME = grouping.grp.__name__\n")
    (tmp_path / "python_modules").mkdir()
    (tmp_path / "python_modules" / "grouping.py").write_text("import grp\n")
    assert loaded(tmp_path).NAME == "grp"
