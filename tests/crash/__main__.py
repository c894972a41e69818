"""The long form: `python -m tests.crash --kills 3000`. Prints figures; exit code 1 if anything was found."""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

from tests.crash.campaign import Report, Stage, Story, again_and_again, every_point, spread, told_side_by_side
from tests.crash.sabotage import SABOTAGES
from tests.crash.scenarios import SCENARIOS, Scenario


def main() -> int:
    options = arguments()
    if options.sabotage:
        SABOTAGES[options.sabotage]()
    scenarios = [SCENARIOS[name] for name in options.only or SCENARIOS]
    plan = few if options.few else long
    jobs = [partial(plan, options, scenarios, share) for share in range(options.jobs)]
    total = Report()
    told_side_by_side(jobs, partial(heard, total, quiet=options.json))
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
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--sabotage", choices=list(SABOTAGES), help="break the product, to see the judge find it")
    return parser.parse_args()


def few(options: Any, scenarios: list[Scenario], share: int, stage: Stage) -> Iterator[Story]:
    for scenario in scenarios[share :: options.jobs]:
        yield from spread(stage, scenario, options.few)


def long(options: Any, scenarios: list[Scenario], share: int, stage: Stage) -> Iterator[Story]:
    """Every point of every scenario, then repeated kills at random points."""
    for scenario in scenarios[share :: options.jobs]:
        yield from every_point(stage, scenario)
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
    shown = [f"{total.figures[name]} {name}" for name in ("kills", "stories", "instances", "steps", "attempts")]
    return ", ".join([*shown, *(f"{kind} {found[kind]}" for kind in ("lost", "duplicated", "differing", "broken"))])


def as_json(total: Report) -> dict[str, Any]:
    findings = [
        {"story": str(story), "scenario": story.scenario, "kind": finding.kind, "text": finding.text}
        for story, finding in total.findings
    ]
    return {"figures": dict(total.figures), "findings": findings}


if __name__ == "__main__":
    sys.exit(main())
