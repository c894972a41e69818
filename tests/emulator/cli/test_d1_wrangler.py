"""`flarebed d1` beside `wrangler d1`: what wrangler answered to the same, letter for letter (data/d1_wrangler.json).

What is never said here: nothing is remote. What is said more: where a statement stands, and what to do. Every other
difference is listed in data/d1_differences.json with its reason and our answer.
"""

from __future__ import annotations

import io
import json
import os
import re
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Final

import pytest

from flarebed.emulator.cli.commands import app
from tests.emulator.cli.d1_wrangler import DATA, masked, prepared, shown

SCENARIOS: Final[dict[str, Any]] = {one["name"]: one for one in json.loads(DATA.read_text("utf-8"))}
DIFFERENCES: Final[list[dict[str, Any]]] = json.loads((DATA.parent / "d1_differences.json").read_text("utf-8"))
STEPS: Final = [(name, at) for name, scenario in SCENARIOS.items() for at in range(len(scenario["steps"]))]

_REMOTE: Final = re.compile(
    r"Resource location: local \n\nUse --remote if you want to access the remote instance\.\n\n"
    r"|🌀 To \w+ (on )?your remote database, add a --remote flag to your wrangler command\.\n"
)
_CLOCK: Final = re.compile("🕒️ +│")
_BELOW: Final = re.compile(r"(?<=\n)  .*\n")
"""Place and hint below the message of an error."""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def asked(step: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Our answer."""
    out, err = Terminal() if step.get("tty") else io.StringIO(), io.StringIO()
    code: Any = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            app(["d1", *step["arguments"]], prog_name="flarebed", standalone_mode=True)
        except SystemExit as ended:
            code = ended.code or 0
    answer = {"code": code, "out": masked(out.getvalue(), folder), "err": masked(err.getvalue(), folder)}
    if "shows" in step:
        answer["shows"] = shown(step, folder)
    (folder / "out.sql").unlink(missing_ok=True)
    return answer


def plain(answer: dict[str, Any]) -> dict[str, Any]:
    """Without what is about remote databases. Wrangler breaks the lines of an error, puts an empty one before it, and
    takes a clock in a table for wider than it is."""
    out = _CLOCK.sub("🕒️ │", _REMOTE.sub("", answer["out"]))
    return {**answer, "out": out.strip("\n") if answer["code"] else out, "err": " ".join(answer["err"].split())}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """Of all steps of all scenarios, each run once."""
    found = {}
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CI", "1")
        for name, scenario in SCENARIOS.items():
            folder = tmp_path_factory.mktemp("d1").resolve()
            patched.chdir(prepared(scenario, folder))
            found[name] = [asked(step, folder) for step in scenario["steps"]]
            os.chdir(folder)
    return found


def difference(name: str, at: int) -> dict[str, Any] | None:
    listed = [one for one in DIFFERENCES if (one["scenario"], one["step"]) == (name, at)]
    return listed[0] if listed else None


@pytest.mark.parametrize(("name", "at"), STEPS, ids=[f"{name}: {at}" for name, at in STEPS])
def test_answers_as_wrangler(answers: dict[str, list[dict[str, Any]]], name: str, at: int) -> None:
    ours = answers[name][at]
    listed = difference(name, at)
    if listed is not None:
        assert ours == listed["ours"]
        return
    assert plain({**ours, "err": _BELOW.sub("", ours["err"])}) == plain(SCENARIOS[name]["steps"][at]["answer"])


def test_differences_are_differences() -> None:
    """Few, each with a reason, and none of them of the past."""
    assert len(DIFFERENCES) == len({(one["scenario"], one["step"]) for one in DIFFERENCES}) <= 40
    for one in DIFFERENCES:
        assert one["reason"]
        assert plain(one["ours"]) != plain(SCENARIOS[one["scenario"]]["steps"][one["step"]]["answer"])
