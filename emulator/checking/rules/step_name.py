"""`step-name-not-deterministic`: a replay that gives a step another name does not find what is recorded of it.

And `sleep-recomputed`: a sleep that a replay would compute otherwise. What is recorded counts, so it is a warning.
"""

from __future__ import annotations

from collections.abc import Iterator

from flarebed.emulator.checking.evidence import Evidence, Varied
from flarebed.emulator.checking.report import Finding, Note
from flarebed.emulator.checking.variations import CLOCK

RULE = "step-name-not-deterministic"
SLEEP_RULE = "sleep-recomputed"


def detect(evidence: Evidence) -> Iterator[Finding]:
    for varied in evidence.varied:
        for difference in varied.differences:
            if difference.site is None or difference.before is None or difference.now is None:
                continue
            if difference.kind == "name":
                yield Finding(
                    RULE,
                    "error",
                    evidence.place(difference.site),
                    f"The step's name depends on {varied.variation.of}: a replay does not find its result and runs it "
                    "again.",
                    "Make the name of params, the instance's id and results of earlier steps only.",
                    step=difference.before.name,
                    details=(
                        f'first run: "{difference.before.name}"',
                        f'a replay: "{difference.now.name}"',
                    ),
                    notes=tuple(readings(evidence, varied)),
                )
            elif difference.kind == "sleep":
                yield Finding(
                    SLEEP_RULE,
                    "warning",
                    evidence.place(difference.site),
                    f"How long it sleeps depends on {varied.variation.of}. A replay keeps the time that was recorded "
                    "first.",
                    "Take the time from a step's result, so that the code says what happens.",
                    step=difference.before.name,
                    details=(f"first run: {difference.before.argument}", f"a replay: {difference.now.argument}"),
                    notes=tuple(readings(evidence, varied)),
                )


def readings(evidence: Evidence, varied: Varied) -> Iterator[Note]:
    """Where the replay read what varies."""
    variation = varied.variation
    if variation.reading is not None and variation.reading.site is not None:
        yield Note(evidence.place(variation.reading.site), "read here, outside of a step")
    what = "the time is read" if variation.of == CLOCK else "a random value is made"
    for reading in varied.seen.readings:
        if reading.of == variation.of:
            yield Note(evidence.place(reading.site), f"{what} here, outside of a step")
