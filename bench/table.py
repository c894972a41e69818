"""The result as a table: every server's figure, and flarebed's ratio to the better form of wrangler."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Any

from load import ROUTES
from machine import Result

WRANGLERS = ("wrangler", "wrangler tuned")
OURS = "flarebed"


@dataclass(frozen=True)
class Row:
    """`path` leads to the figure in a server's result; smaller is better for times and memory."""

    name: str
    path: tuple[str, ...]
    smaller: bool = False


ROWS = (
    *(Row(f"{route.name} /s", ("routes", f"{route.name}@32", "per_s")) for route in ROUTES),
    *(Row(f"{route.name} p50 ms, alone", ("routes", f"{route.name}@1", "p50_ms"), True) for route in ROUTES),
    Row("queue messages /s", ("queue", "messages_per_s")),
    Row("queue, one message s", ("queue", "single_s"), True),
    Row("workflow instances /s", ("workflows", "instances_per_s")),
    Row("workflow, one ms", ("workflows", "single_ms"), True),
    Row("cold start s", ("cold", "start_s"), True),
    Row("reload ms", ("reload", "median_ms"), True),
    Row("memory at start MB", ("memory_start_mb",), True),
    Row("memory after load MB", ("memory_load_mb",), True),
)


def figure(runs: list[Result], path: tuple[str, ...]) -> float:
    """The median over the runs that have it, or NaN."""
    values = []
    for run in runs:
        value: Any = run
        for key in path:
            value = value.get(key, {}) if isinstance(value, dict) else {}
        if isinstance(value, int | float):
            values.append(value)
    return statistics.median(values) if values else math.nan


def table(results: dict[str, list[Result]]) -> str:
    labels = list(results)
    lines = ["| | " + " | ".join(labels) + " | ratio |", "|---|" + "--:|" * (len(labels) + 1)]
    for row in ROWS:
        figures = {label: figure(runs, row.path) for label, runs in results.items()}
        if all(map(math.isnan, figures.values())):
            continue
        cells = " | ".join(shown(figures[label]) for label in labels)
        lines.append(f"| {row.name} | {cells} | {ratio(figures, row.smaller)} |")
    return "\n".join([*lines, "", *crashes(results), *failures(results)])


def shown(value: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def ratio(figures: dict[str, float], smaller: bool) -> str:
    theirs = [figures[label] for label in WRANGLERS if not math.isnan(figures.get(label, math.nan))]
    ours = figures.get(OURS, math.nan)
    if not theirs or math.isnan(ours) or not ours:
        return "-"
    value = min(theirs) / ours if smaller else ours / max(theirs)
    return f"{value:.1f} x"


def crashes(results: dict[str, list[Result]]) -> list[str]:
    return [
        f"{label}, after {how}: {run[how]}"
        for label, runs in results.items()
        for run in runs
        for how in ("SIGKILL", "SIGINT")
        if how in run
    ]


def failures(results: dict[str, list[Result]]) -> list[str]:
    found = []
    for label, runs in results.items():
        failed = sum(route["failed"] for run in runs for route in run.get("routes", {}).values())
        disturbed = [route["foreign_cores"] for run in runs for route in run.get("routes", {}).values()]
        if failed:
            found.append(f"{label}: {failed:.0f} requests failed")
        if disturbed and max(disturbed) > 0.25:
            found.append(f"{label}: other processes used up to {max(disturbed):.2f} cores while it was measured")
    return found
