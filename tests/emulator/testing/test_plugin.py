"""The plugin in whole runs of pytest: every way to write a test, processes, coverage, a debugger."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from flarebed.bindings.errors import UserError
from flarebed.emulator.testing.settings import Wishes, settle

ENTRY = """
from workers import Response, WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        await self.env.KV.put("seen", "yes")
        return Response("hello")
"""
CONFIG = """
name = "w"
main = "src/entry.py"
compatibility_date = "2026-11-01"
compatibility_flags = ["python_workers"]
kv_namespaces = [{ binding = "KV", id = "kv" }]
"""
WAYS = """
import pytest


def test_plain(flarebed):
    assert flarebed.sync.fetch("/").text == "hello"


@pytest.mark.asyncio
async def test_asyncio(flarebed):
    assert (await flarebed.fetch("/")).text == "hello"


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


@pytest.mark.anyio
async def test_anyio(flarebed):
    assert await flarebed.env.KV.get("seen") is None
    assert (await flarebed.fetch("/")).text == "hello"
    await flarebed.clock.advance("1 day")
    assert await flarebed.env.KV.get("seen") == "yes"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "src" / "entry.py").write_text(ENTRY, encoding="utf-8")
    (tmp_path / "wrangler.toml").write_text(CONFIG, encoding="utf-8")
    ini = "[pytest]\nfilterwarnings = error\nasyncio_default_fixture_loop_scope = function\n"
    (tmp_path / "pytest.ini").write_text(ini, encoding="utf-8")
    return tmp_path


def pytest_run(project: Path, source: str, *options: str, stdin: str = "") -> str:
    (project / "tests" / "test_it.py").write_text(source, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    ended = subprocess.run(command, cwd=project, input=stdin, capture_output=True, text=True, timeout=60, check=False)
    return ended.stdout + ended.stderr


def test_every_way_in_processes_and_with_coverage(project: Path) -> None:
    said = pytest_run(project, WAYS, "-n", "2", "--cov=src", "--cov-report=term-missing")
    assert "4 passed" in said
    assert "warning" not in said
    assert "src/entry.py       5      0   100%" in said


def test_asyncio_in_auto_mode(project: Path) -> None:
    source = "async def test_it(flarebed):\n    assert (await flarebed.fetch('/')).ok\n"
    assert "1 passed" in pytest_run(project, source, "-o", "asyncio_mode=auto")


def test_without_an_asyncio_plugin(project: Path) -> None:
    source = "def test_it(flarebed_sync):\n    assert flarebed_sync.fetch('/').ok\n"
    ini = "[pytest]\nfilterwarnings = error\n"
    (project / "pytest.ini").write_text(ini, encoding="utf-8")
    assert "1 passed" in pytest_run(project, source, "-p", "no:asyncio", "-p", "no:anyio")


def test_a_breakpoint_in_the_worker(project: Path) -> None:
    stopped = ENTRY.replace("        return", "        breakpoint()\n        return")
    (project / "src" / "entry.py").write_text(stopped, encoding="utf-8")
    source = "def test_it(flarebed_sync):\n    assert flarebed_sync.fetch('/').text == 'hello'\n"
    said = pytest_run(project, source, "-p", "no:asyncio", "-W", "default", stdin="p 'method ' + request.method\nc\n")
    assert "'method GET'" in said
    assert "1 passed" in said


def test_what_a_failing_test_shows(project: Path) -> None:
    (project / "src" / "entry.py").write_text(ENTRY.replace('return Response("hello")', "1 / 0"), encoding="utf-8")
    source = "def test_it(flarebed_sync):\n    flarebed_sync.fetch('/')\n"
    said = pytest_run(project, source, "--tb=short")
    assert "tests/test_it.py:2: in test_it" in said
    assert "src/entry.py:8: in fetch\n    1 / 0" in said
    assert "goal.py" not in said
    assert "error: Uncaught PythonError" in said


def test_a_worker_that_can_not_be_loaded(project: Path) -> None:
    (project / "src" / "entry.py").write_text("import json\n\njson.loads('{')\n", encoding="utf-8")
    source = "def test_it(flarebed_sync):\n    pass\n\n\ndef test_again(flarebed_sync):\n    pass\n"
    said = pytest_run(project, source)
    entry = project / "src" / "entry.py"
    assert f'loaded.\nTraceback (most recent call last):\n  File "{entry}", line 3, in <module>' in said
    assert "json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes" in said
    assert "goal.py" not in said
    assert "2 errors" in said


def test_a_config_that_can_not_be_read(project: Path) -> None:
    (project / "wrangler.toml").write_text("name = [", encoding="utf-8")
    said = pytest_run(project, "def test_it(flarebed_sync):\n    pass\n")
    assert "wrangler.toml:1:9:" in said
    assert "Traceback" not in said
    assert "During handling" not in said


def test_mistakes_are_the_users(project: Path) -> None:
    source = "import pytest\n\n@pytest.mark.flarebed(colour='red')\ndef test_it(flarebed):\n    pass\n"
    said = pytest_run(project, source)
    assert "@pytest.mark.flarebed does not know colour." in said
    assert "takes names only" in pytest_run(project, source.replace("colour='red'", "'wrangler.jsonc'"))
    assert "It takes config, env, vars, start, seed, outbound, state, kv_consistency, queue_defaults, " in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("wishes", "text"),
    [
        (Wishes(outbound="maybe"), 'outbound is "allow" or "refuse", not \'maybe\'.'),
        (Wishes(config="nowhere.toml"), "Could not read file: nowhere.toml"),
        (Wishes(start="noon"), "'noon' is no time."),
    ],
)
def test_wishes_that_cannot_be(project: Path, wishes: Wishes, text: str) -> None:
    with pytest.raises(UserError, match=re.escape(text)):
        settle(wishes, project / "tests", project / "state")


def test_the_nearest_config_counts(project: Path) -> None:
    settings = settle(Wishes(vars={"A": 1}, start=5.0), project / "tests", project / "state")
    assert settings.config.path == project / "wrangler.toml"
    assert (settings.config.vars, settings.start_ms, settings.refuse_outbound) == ({"A": 1}, 5.0, False)


def test_the_plugin_costs_next_to_nothing_to_load() -> None:
    script = (
        "import sys, pytest; before = set(sys.modules); import flarebed.emulator.testing.plugin; "
        "print(sorted(name for name in set(sys.modules) - before if not name.startswith('_')))"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert said.stdout.strip() == (
        "['flarebed', 'flarebed.emulator', 'flarebed.emulator.testing', 'flarebed.emulator.testing.plugin']"
    )
