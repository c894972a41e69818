"""The rules hold here, and each of them finds what it is there for in a made-up tree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.shape import rules

ROOT = Path(__file__).parents[2]
LONG = "\n".join(["x = 1"] * 401)
LONG_FUNCTION = "def f():\n" + "    x = 1\n" * 50

BROKEN: list[tuple[Callable[[Path], list[str]], dict[str, str], list[str]]] = [
    (
        rules.packages_are_installed,
        {
            "pyproject.toml": '[tool.setuptools]\npackages = ["flarebed.bindings"]',
            "bindings/__init__.py": "",
            "bindings/kv/__init__.py": "",
        },
        ["flarebed.bindings.kv: not installed"],
    ),
    (
        rules.imports_go_down,
        {
            "bindings/store.py": "from flarebed.bindings.kv.engine import open",
            "bindings/kv/engine.py": "import flarebed.bindings.registry\nfrom flarebed.bindings.d1 import engine",
            "bindings/d1/engine.py": "def f():\n    from flarebed.bindings import store, registry",
            "bindings/registry.py": "",
            "emulator/server/asgi.py": "from flarebed.emulator import app\nfrom flarebed.emulator.config import load",
            "emulator/app.py": "from flarebed.emulator.server.asgi import App",
            "emulator/log.py": "",
        },
        [
            "emulator/log.py: in no room",
            "bindings/d1/engine.py:2: imports bindings.registry, which stands above",
            "bindings/kv/engine.py:1: imports bindings.registry, which stands above",
            "bindings/kv/engine.py:2: imports bindings.d1.engine, another kind",
            "bindings/store.py:1: imports bindings.kv.engine, which stands above",
            "emulator/server/asgi.py:1: imports emulator.app, which stands above",
        ],
    ),
    (
        rules.imports_have_no_cycle,
        {
            "bindings/a.py": "from flarebed.bindings.b import B",
            "bindings/b.py": "from flarebed.bindings import a",
            "bindings/c.py": "from flarebed.bindings import a",
            "bindings/d.py": "from flarebed.bindings import c",
            "bindings/e.py": "if TYPE_CHECKING:\n    from flarebed.bindings import f",
            "bindings/f.py": "from flarebed.bindings import e",
        },
        ["bindings.a: in an import cycle", "bindings.b: in an import cycle"],
    ),
    (
        rules.imports_stand_at_the_top,
        {
            "bindings/values.py": "def f():\n    import struct",
            "emulator/app.py": "def f():\n    import httpx",
        },
        ["bindings/values.py:2: import within f()"],
    ),
    (
        rules.kinds_use_the_same_file_names,
        {
            "bindings/kv/__init__.py": "",
            "bindings/kv/spec.py": "",
            "bindings/kv/journal.py": "",
            "bindings/workflows/__init__.py": "",
            "bindings/workflows/spec.py": "",
            "bindings/workflows/engine.py": "",
            "bindings/workflows/journal.py": "",
        },
        ["bindings/kv/engine.py: missing", "bindings/kv/journal.py: not a file of a kind"],
    ),
    (rules.names_say_something, {"emulator/cli/utils.py": ""}, ["emulator/cli/utils.py: a vague name"]),
    (
        rules.files_are_short,
        {"bindings/a.py": LONG, "tests/test_a.py": LONG, "bench/b.py": LONG[6:]},
        ["bindings/a.py: 401 lines, more than 400", "tests/test_a.py: 401 lines, more than 400"],
    ),
    (
        rules.functions_are_short,
        {"bindings/a.py": LONG_FUNCTION, "bindings/b.py": LONG_FUNCTION[:-10]},
        ["bindings/a.py:1: f() has 51 lines, more than 50"],
    ),
    (
        rules.modules_say_where_they_stand,
        {"bindings/a.py": "import os", "bindings/b.py": '"""Here."""', "bindings/__init__.py": ""},
        ["bindings/a.py: no docstring"],
    ),
    (
        rules.time_is_handed_down,
        {
            "bindings/clock.py": "import time\ntime.time()\ntime.sleep(1)",
            "bindings/a.py": "from time import time as now\nimport asyncio\nnow()\nasyncio.sleep(1)",
            "emulator/b.py": "from datetime import datetime\nimport time\ndatetime.now()\ntime.gmtime(0)",
        },
        [
            "bindings/a.py:3: time.time",
            "bindings/a.py:4: asyncio.sleep",
            "bindings/clock.py:3: time.sleep",
            "emulator/b.py:3: datetime.datetime.now",
        ],
    ),
    (
        rules.the_project_speaks_of_itself,
        {
            "docs/a.md": "see /home/me/x\nlater: a TODO",
            "emulator/a.py": "# FIXME",
            "build/a.py": "# TODO",
            ".venv/a.py": "# TODO",
        },
        ["docs/a.md:1: /home/", "docs/a.md:2: TODO", "emulator/a.py:1: FIXME"],
    ),
]


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
def test_the_rule_holds(rule: Callable[[Path], list[str]]) -> None:
    assert rule(ROOT) == []


@pytest.mark.parametrize(("rule", "files", "expected"), BROKEN, ids=lambda value: getattr(value, "__name__", ""))
def test_the_rule_can_fail(
    rule: Callable[[Path], list[str]], files: dict[str, str], expected: list[str], tmp_path: Path
) -> None:
    for folder in ("bindings", "emulator", "bench", "scripts", "tests"):
        (tmp_path / folder).mkdir()
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    assert rule(tmp_path) == expected


def test_every_rule_is_shown_to_fail() -> None:
    assert {rule for rule, _, _ in BROKEN} == set(rules.RULES)
