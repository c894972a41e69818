"""`side-effect-outside-step`: what `run` does to the world outside of steps is done again in each replay."""

from __future__ import annotations

from collections.abc import Iterator

from flarebed.emulator.checking.evidence import Evidence
from flarebed.emulator.checking.report import Finding

RULE = "side-effect-outside-step"


def detect(evidence: Evidence) -> Iterator[Finding]:
    """Of the plain run. A request counts whatever its method; reads of a binding don't."""
    for call in evidence.plain.witness.outside():
        if call.site is not None and (call.is_effect or call.kind == "fetch"):
            yield Finding(
                RULE,
                "error",
                evidence.place(call.site),
                f"{call} is done outside of a step: it is done again whenever the instance is resumed.",
                "Do it in a step.do, whose result is recorded.",
                notes=evidence.came_from(call.trail),
            )
