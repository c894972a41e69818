"""A representative set of the long form: each scenario, at points over its whole life; and what the judge sees."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.crash.command import WorkflowRounds
from tests.crash.data_command import DataRounds
from tests.crash.data_scenarios import DATA
from tests.crash.rounds import Rounds, played
from tests.crash.sabotage import SABOTAGES
from tests.crash.scenarios import WORKFLOWS

ROOT = Path(__file__).parents[2]


def told(*options: str) -> dict[str, Any]:
    """The report of a process of its own: it forks, which one that has threads should not.

    To be asked for once: tests that run side by side would each tell all stories.
    """
    command = [sys.executable, "-m", "tests.crash", "--rounds", "0", "--json", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


JAVASCRIPT_STORIES = (
    ("javascript_rolled_back", "noted:37"),  # in the middle of a rollback
    ("javascript_effects", "bereft-noted:3"),  # between an effect and its record
    ("javascript_retries", "bereft-noted:4"),  # when a batch has been acknowledged by its handler
)
"""Of Workers whose process is killed, or workerd alone."""


def test_nothing_is_lost() -> None:
    stories = [word for story in JAVASCRIPT_STORIES for word in ("--story", *story)]
    report = told("--few", "1", "--only", *WORKFLOWS, *DATA, *stories)
    assert report["findings"] == []
    figures = report["figures"]
    assert (figures["stories"], figures["bereft"]) == (len(WORKFLOWS) + len(DATA) + len(JAVASCRIPT_STORIES), 2)
    assert figures["kills"] + figures["closings"] + figures["refusals"] > 0.9 * figures["stories"] - 2


SEEN_AS = {
    "answers_before_it_is_durable": {"lost", "differing"},
    "takes_an_event_before_its_wait_has_it": {"lost", "differing"},
    "keeps_an_event_that_was_delivered": {"duplicated", "differing"},
    "forgets_interrupted_attempts": {"duplicated", "lost"},
    "does_a_recorded_step_again": {"duplicated", "differing", "lost", "broken"},
    "leaves_what_was_running": {"differing"},
    "moves_a_wake_time": {"differing"},
    "goes_on_from_what_was_rolled_back": {"duplicated", "lost", "differing", "broken"},
    "undoes_again": {"duplicated", "differing", "broken"},
    "forgets_what_is_in_delivery": {"lost", "differing"},
    "tells_before_it_has_ended": {"lost", "duplicated"},
    "does_not_end_deliveries": {"lost", "differing"},
    "does_not_count_interrupted_deliveries": {"differing"},
    "buries_after_the_end": {"lost"},
    "delivers_what_is_not_leased": {"duplicated", "differing"},
    "stores_a_batch_in_parts": {"broken"},
    "replaces_a_value_in_two_steps": {"lost"},
    "reads_what_is_not_committed": {"lost"},
    "commits_each_statement": {"broken", "differing"},
}


def test_the_judge_sees_what_is_broken() -> None:
    found: dict[str, set[str]] = {sabotage.__name__: set() for sabotage in SABOTAGES}
    for finding in told("--sabotage")["findings"]:
        found[finding["sabotage"]].add(finding["kind"])
    unseen = {sabotage: kinds for sabotage, kinds in found.items() if not kinds or not kinds <= SEEN_AS[sabotage]}
    assert unseen == {}


@pytest.mark.real
@pytest.mark.parametrize("of", [WorkflowRounds, DataRounds])
def test_the_real_command_under_load_in_a_reload_beside_another_and_without_its_worker(
    tmp_path: Path, of: type[Rounds]
) -> None:
    report = played(of, tmp_path, 4, seed=1)
    assert (report.findings, report.figures["kills"]) == ([], 6)
