"""The long form: `python -m tests.crash --kills 3000`. Prints figures; exit code 1 if anything was found."""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from tests.crash.campaign import (
    Job,
    Report,
    Stage,
    Story,
    again_and_again,
    every_point,
    spread,
    told_side_by_side,
)
from tests.crash.command import WorkflowRounds
from tests.crash.data_command import DataRounds
from tests.crash.data_sabotage import Shown
from tests.crash.faults import fault_of
from tests.crash.javascript_command import JavaScriptRounds
from tests.crash.rounds import played
from tests.crash.sabotage import SABOTAGES
from tests.crash.scenarios import SCENARIOS, Scenario

COMMANDS = (WorkflowRounds, DataRounds, JavaScriptRounds)
SHOWN = (
    "kills", "bereft", "closings", "refusals", "stories", "instances", "steps", "attempts",
    "puts", "writes", "messages", "deliveries", "repeated",
)  # fmt: skip


def main() -> int:
    options = arguments()
    total = Report()
    if jobs := planned(options):
        told_side_by_side(jobs, partial(heard, total, quiet=options.json))
    if options.rounds:
        with tempfile.TemporaryDirectory() as folder:
            for of in COMMANDS:
                report = played(of, Path(folder) / of.__name__, options.rounds // len(COMMANDS), options.seed)
                heard(total, report, quiet=options.json)
    if options.json:
        json.dump(as_json(total), sys.stdout)
    else:
        print(figures(total))
    return 1 if total.findings else 0


def arguments() -> Any:
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description=__doc__)
    parser.add_argument("--kills", type=int, default=3_000, help="once all points have had theirs, go on up to so many")
    parser.add_argument("--few", type=int, metavar="POINTS", help="only so many points of each scenario")
    parser.add_argument("--only", nargs="*", choices=list(SCENARIOS), metavar="SCENARIO")
    parser.add_argument("--story", nargs="+", action="append", default=[], metavar=("SCENARIO", "SIDE:NUMBER"))
    parser.add_argument("--rounds", type=int, default=30, help="of the real command, killed once or twice in each")
    parser.add_argument("--only-command", action="store_true", help="no scenarios, only the real command")
    parser.add_argument("--only-repeated", action="store_true", help="no single points, only lives killed repeatedly")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--sabotage", action="store_true", help="break the product in all ways, one by one")
    return parser.parse_args()


def planned(options: Any) -> list[Job]:
    if options.only_command:
        return []
    if options.sabotage:
        return [partial(sabotaged, sabotage, shown) for sabotage, shown in SABOTAGES.items()]
    chosen = [Story(name, [*map(fault_of, faults)]) for name, *faults in options.story]
    if chosen and not options.only:
        return [lambda _: chosen]
    scenarios = [SCENARIOS[name] for name in options.only or SCENARIOS]
    play = few if options.few else long
    jobs: list[Job] = [partial(play, options, scenarios, share) for share in range(options.jobs)]
    return [*jobs, lambda _: chosen]


def few(options: Any, scenarios: list[Scenario], share: int, stage: Stage) -> Iterator[Story]:
    for scenario in scenarios[share :: options.jobs]:
        yield from spread(stage, scenario, options.few)


def sabotaged(sabotage: Callable[[], None], shown: Shown, stage: Stage) -> Iterator[Story]:
    """In this process only, and after it was seen how a life ends; until it is seen."""
    oracle = stage.oracle(shown.scenario)
    again = [oracle.soon(0)] if shown.is_killed_again else []
    sabotage()
    for fault in reversed(oracle.faults(opening=False)):
        if fault.side == shown.side and not stage.has_found:
            yield Story(shown.scenario, [fault, *again], sabotage=sabotage.__name__)


def long(options: Any, scenarios: list[Scenario], share: int, stage: Stage) -> Iterator[Story]:
    """Every point of every scenario, of its opening only in the first; then repeated kills at random points."""
    for scenario in [] if options.only_repeated else scenarios[share :: options.jobs]:
        yield from every_point(stage, scenario, opening=scenario is scenarios[0])
    dice = random.Random(f"{options.seed} {share}")
    while stage.kills < options.kills / options.jobs:
        yield again_and_again(stage, dice.choice(scenarios), dice)


def heard(total: Report, report: Report, *, quiet: bool) -> None:
    total.add(report)
    if quiet:
        return
    for story, finding in report.findings:
        print(f"\n{story}\n    {finding.kind}: {finding.text}", flush=True)
    if total.figures["stories"] % 100 == 0:
        print(figures(total), flush=True)


def figures(total: Report) -> str:
    found = Counter(finding.kind for _, finding in total.findings)
    shown = [f"{total.figures[name]} {name}" for name in SHOWN]
    return ", ".join([*shown, *(f"{kind} {found[kind]}" for kind in ("lost", "duplicated", "differing", "broken"))])


def as_json(total: Report) -> dict[str, Any]:
    findings = [
        {"told": str(story), "scenario": story.scenario, "sabotage": story.sabotage} | asdict(finding)
        for story, finding in total.findings
    ]
    return {"figures": dict(total.figures), "findings": findings}


if __name__ == "__main__":
    sys.exit(main())
