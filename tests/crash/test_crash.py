"""A representative set of the long form: each scenario, at points over its whole life; and what the judge sees."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.crash.command import rounds
from tests.crash.sabotage import SABOTAGES
from tests.crash.scenarios import SCENARIOS

ROOT = Path(__file__).parents[2]


@functools.cache
def told(*options: str) -> dict[str, Any]:
    """The report of a process of its own: it forks, which one that has threads should not."""
    command = [sys.executable, "-m", "tests.crash", "--rounds", "0", "--json", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_nothing_is_lost(scenario: str) -> None:
    assert [found for found in told("--few", "3")["findings"] if found["scenario"] == scenario] == []


def test_processes_were_killed() -> None:
    figures = told("--few", "3")["figures"]
    assert figures["stories"] == 3 * len(SCENARIOS)
    assert figures["kills"] > figures["stories"]


SEEN_AS = {
    "answers_before_it_is_durable": {"lost", "differing"},
    "takes_an_event_before_its_wait_has_it": {"lost", "differing"},
    "keeps_an_event_that_was_delivered": {"duplicated", "differing"},
    "forgets_interrupted_attempts": {"duplicated", "lost"},
    "does_a_recorded_step_again": {"duplicated", "differing", "lost", "broken"},
    "leaves_what_was_running": {"differing"},
    "moves_a_wake_time": {"differing"},
}


@pytest.mark.parametrize("sabotage", SABOTAGES)
def test_the_judge_sees_what_is_broken(sabotage: str) -> None:
    found = {finding["kind"] for finding in told("--sabotage")["findings"] if finding["sabotage"] == sabotage}
    assert found
    assert found <= SEEN_AS[sabotage]


@pytest.mark.real
def test_the_real_command_under_load_in_a_reload_and_beside_another(tmp_path: Path) -> None:
    report = rounds(tmp_path, 3, seed=1)
    assert (report.findings, report.figures["kills"]) == ([], 4)
