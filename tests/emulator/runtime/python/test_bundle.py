"""Which files are modules, and which one a specifier means."""

from __future__ import annotations

from pathlib import Path

import pytest

from flarebed.bindings.errors import JsError
from flarebed.bindings.values import ArrayBuffer
from flarebed.emulator.config.model import Rule
from flarebed.emulator.runtime.python.bundle import Bundle

FILES = (
    "app/main.py", "app/a.txt", "app/b.html", "app/deep/er/c.sql", "app/d.bin", "app/e.wasm", "app/f.md", "app/x.js",
    "top.txt", ".hidden/g.txt", "node_modules/h.txt", "python_modules/i.txt", "venv/pyvenv.cfg", "venv/j.txt",
)  # fmt: skip
DEEP = "app/deep/er/c.sql"
DEFAULT = ["app/a.txt", "app/b.html", "app/d.bin", DEEP, "app/e.wasm", "top.txt"]
IN_APP = ["app/a.txt", "app/b.html", "app/d.bin", DEEP, "app/e.wasm", "app/f.md", "app/x.js"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    return tmp_path


def bundle(root: Path, *rules: Rule) -> Bundle:
    return Bundle(root / "app" / "main.py", root, rules)


@pytest.mark.parametrize(
    ("rules", "names"),
    [
        ((), DEFAULT),
        ((Rule("Text", ("**/*.md",)),), ["app/d.bin", "app/e.wasm", "app/f.md"]),
        ((Rule("Text", ("**/*.md",), fallthrough=True),), sorted([*DEFAULT, "app/f.md"])),
        ((Rule("Data", ("app/*",)),), [*IN_APP, "top.txt"]),
        ((Rule("Text", ("app/**",)), Rule("Text", ("top.txt",))), IN_APP),
        ((Rule("Text", ("*.txt",)),), ["app/d.bin", "app/e.wasm", "top.txt"]),
        ((Rule("Text", ("**/deep/**/*.sql", "to?.txt")),), ["app/d.bin", DEEP, "app/e.wasm"]),
    ],
)
def test_rules(root: Path, rules: tuple[Rule, ...], names: list[str]) -> None:
    assert sorted(path.relative_to(root).as_posix() for path in bundle(root, *rules).files()) == names


@pytest.mark.parametrize(
    ("specifier", "name"),
    [
        ("./a.txt", "app/a.txt"),
        ("a.txt", "app/a.txt"),
        ("../top.txt", "top.txt"),
        ("/top.txt", "top.txt"),
        ("./deep//er/./c.sql", "app/deep/er/c.sql"),
    ],
)
def test_a_specifier_is_resolved_from_the_main_modules_folder(root: Path, specifier: str, name: str) -> None:
    assert bundle(root).resolve(specifier) == name


@pytest.mark.parametrize(
    ("specifier", "text"),
    [
        ("top.txt", 'Error: No such module "app/top.txt".'),
        ("./main.py", 'Error: No such module "app/main.py".'),
        ("../../out.txt", 'Error: No such module "../../out.txt"'),
    ],
)
def test_no_such_module(root: Path, specifier: str, text: str) -> None:
    with pytest.raises(JsError) as caught:
        bundle(root).resolve(specifier)
    assert str(caught.value) == text


def test_default_exports(root: Path) -> None:
    found = bundle(root, Rule("ESModule", ("**/*.js",)))
    assert found.default_export("app/a.txt") == "app/a.txt"
    data = found.default_export("app/d.bin")
    assert (type(data), bytes(data.data)) == (ArrayBuffer, b"app/d.bin")
    with pytest.raises(JsError) as caught:
        found.default_export("app/x.js")
    assert str(caught.value) == 'Error: "app/x.js" is JavaScript, which flarebed does not run in a Python Worker.'
