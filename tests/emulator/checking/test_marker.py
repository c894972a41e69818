"""`@pytest.mark.flarebed_check(...)`: the command's report where a test fails, and what the marker can't be given."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.errors import UserError
from flarebed.emulator.checking.marker import Wanted, broken
from flarebed.emulator.testing.settings import Wishes, settle
from tests.emulator.checking.project import PARAMS, written
from tests.emulator.cli.test_check import BROKEN, REPORT, SOUND, WARNED

SUITE = """
import pytest

flow = pytest.mark.flarebed_check


@flow("flow", {"sku": "lamp"}, events={"go": 1})
def test_sound():
    assert False, "the body ran"


@flow("flow")
@flow("flow", {"write": True})
async def test_broken():
    pass


@flow("flow")
def test_beside_the_fixture(flarebed):
    pass


@flow("flow", colour="red")
def test_mistaken():
    pass
"""


def said(folder: Path, body: str, **wanted: Any) -> str | None:
    settings = settle(Wishes(), written(folder, body) / "src", folder / "state")
    return broken(Wanted("flow", **wanted), settings)


def test_in_a_run_of_pytest(tmp_path: Path) -> None:
    written(tmp_path, f'{SOUND[7:]}\nif params.get("write"):\n    {BROKEN}')
    (tmp_path / "test_flow.py").write_text(SUITE)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--strict-markers", "-W", "ignore"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    shown = ended.stdout
    assert "E       AssertionError: the body ran" in shown
    assert REPORT.splitlines()[2] in shown
    assert "\n✘ 1 error, 0 warnings\n" in shown
    assert "flarebed_check runs Workers of its own, so the test can't have the fixture `flarebed` as well." in shown
    assert "@pytest.mark.flarebed_check does not know colour." in shown
    assert "4 failed" in shown


def test_the_report_is_the_commands(tmp_path: Path) -> None:
    assert said(tmp_path, f"{BROKEN}\nawait do('a', lambda: 1)") == REPORT


def test_nothing_to_say(tmp_path: Path) -> None:
    assert said(tmp_path, SOUND, params=PARAMS) is None


def test_warnings_count_if_told(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    assert "0 errors, 1 warning" in (said(tmp_path / "one", WARNED, strict=True) or "")
    (tmp_path / "two").mkdir()
    assert said(tmp_path / "two", WARNED) is None


def test_a_run_that_fails_has_shown_nothing(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    assert said(tmp_path / "one", 'params["no"]') == (
        "flow (Flow): 0 steps, errored\n  It ended with KeyError: 'no'; what would come after that was not checked.\n\n"
        "✘ Not checked to the end: flow. Lead it there with params, events and answers; if it is to end so, say "
        "that it may fail.\n"
    )
    (tmp_path / "two").mkdir()
    assert said(tmp_path / "two", 'params["no"]', may_fail=True) is None


def test_state_to_begin_with_and_answers(tmp_path: Path) -> None:
    body = """
        async def rate():
            return await (await fetch("https://api.example.com/rate")).json()

        key = await do("key", lambda: self.env.KV.get("key"))
        left = await do("left", lambda: self.env.DB.prepare("SELECT available FROM stock").first("available"))
        found = [key, left, await do("rate", rate)]
        assert found == ["value", 3, {"rate": 2}], found
    """
    state = {"KV": {"key": "value"}, "DB": "UPDATE stock SET available = 3"}
    assert said(tmp_path, body, state=state, answers={"https://api.example.com/": {"rate": 2}}) is None


@pytest.mark.parametrize(
    ("arguments", "options", "text"),
    [
        ((), {"colour": 1}, "@pytest.mark.flarebed_check does not know colour."),
        (("flow",), {"workflow": "flow"}, "@pytest.mark.flarebed_check: multiple values for argument 'workflow'."),
        (tuple(range(9)), {}, "@pytest.mark.flarebed_check: too many positional arguments."),
        ((), {"outbound": "none"}, "outbound is stub, refuse, real or a function of the request, not 'none'."),
    ],
)
def test_what_it_can_not_be_given(arguments: tuple[Any, ...], options: dict[str, Any], text: str) -> None:
    with pytest.raises(UserError, match=rf"\A{re.escape(text)}\Z"):
        Wanted.of(arguments, options)
