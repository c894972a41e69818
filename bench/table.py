"""The results as tables: every server's figure with flarebed's ratios to wrangler's two forms, and calls in process."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Any

from inside import CALLS
from load import ROUTES
from machine import Result

WRANGLERS = ("wrangler", "wrangler tuned")
OURS = "flarebed"
FULL = "flarebed FULL"
JAVASCRIPT = "flarebed JS"
"""The Worker that wrangler runs, on flarebed."""
RATIOS = tuple((ours, wrangler) for ours in (OURS, FULL, JAVASCRIPT) for wrangler in WRANGLERS)


@dataclass(frozen=True)
class Row:
    """`path` leads to the figure in a server's result; smaller is better for times and memory."""

    name: str
    path: tuple[str, ...]
    smaller: bool = False


ROWS = (
    *(
        Row(f"{route.name} /s, {connections}", ("routes", f"{route.name}@{connections}", "per_s"))
        for connections in (32, 1)
        for route in ROUTES
    ),
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
    compared = [pair for pair in RATIOS if set(pair) <= set(labels)]
    lines = heading("", *labels, *(f"{ours} x {wrangler}" for ours, wrangler in compared))
    for row in ROWS:
        figures = {label: figure(runs, row.path) for label, runs in results.items()}
        if not all(map(math.isnan, figures.values())):
            cells = [shown(figures[label]) for label in labels]
            lines.append(line(row.name, *cells, *(ratio(figures, *pair, row.smaller) for pair in compared)))
    return "\n".join([*lines, "", *in_process(results), *crashes(results), *failures(results)])


def in_process(results: dict[str, list[Result]]) -> list[str]:
    """Calls per second of CPU beside those of apsw."""
    runs = results.get(OURS, [])
    if not any("inside" in run for run in runs):
        return []
    lines = heading("calls per second of CPU, without HTTP", OURS, "apsw alone", "share")
    for call in CALLS:
        ours, raw = (figure(runs, ("inside", call, name)) for name in ("per_s", "raw_per_s"))
        lines.append(line(call, shown(ours), shown(raw), f"{ours / raw:.1%}"))
    return [*lines, ""]


def heading(*names: str) -> list[str]:
    return [line(*names), "|---|" + "--:|" * (len(names) - 1)]


def line(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def shown(value: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def ratio(figures: dict[str, float], of: str, to: str, smaller: bool) -> str:
    ours, theirs = figures[of], figures[to]
    if math.isnan(theirs) or math.isnan(ours) or not ours or not theirs:
        return "-"
    return f"{theirs / ours if smaller else ours / theirs:.2f}"


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
