"""`event-mutated`: changes of the event are lost when the instance is resumed, or are made again."""

from __future__ import annotations

from collections.abc import Iterator

from flarebed.emulator.checking.evidence import Evidence
from flarebed.emulator.checking.report import Finding

RULE = "event-mutated"


_IN_A_STEP = (
    "in a step: a replay does not run the step, and has the event as it came.",
    "Return the value from the step and use the step's result.",
)
_OUTSIDE = (
    "in place: a replay begins with the event as it came, and changes it again.",
    "Make a new value of it, and leave the event as it came.",
)


def detect(evidence: Evidence) -> Iterator[Finding]:
    """Lost in a step, hence an error; outside of steps a replay makes it again, which is as long right as it can."""
    for mutation in evidence.plain.mutations:
        effect, advice = _OUTSIDE if mutation.step is None else _IN_A_STEP
        yield Finding(
            RULE,
            "warning" if mutation.step is None else "error",
            evidence.place(mutation.site),
            f"{mutation.path} is changed {effect}",
            advice,
            step=None if mutation.step is None else mutation.step[1],
            notes=evidence.came_from(mutation.trail),
        )
