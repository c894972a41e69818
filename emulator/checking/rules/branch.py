"""`branch-not-recorded`: which step comes next depends on something that is another in a replay."""

from __future__ import annotations

from collections.abc import Iterator

from flarebed.emulator.checking.evidence import Evidence, Varied
from flarebed.emulator.checking.report import Finding
from flarebed.emulator.checking.rules.step_name import readings
from flarebed.emulator.checking.steps import Command

RULE = "branch-not-recorded"

_MISUSED = ("TypeError", "KeyError", "AttributeError", "ValueError", "IndexError", "JSONDecodeError", "AssertionError")
"""What code raises that can't do with a made-up answer: then it shows nothing."""


def detect(evidence: Evidence) -> Iterator[Finding]:
    for varied in evidence.varied:
        if _is_misuse(evidence, varied):
            continue
        for difference in varied.differences:
            if difference.kind == "branch" and difference.site is not None:
                yield Finding(
                    RULE,
                    "error",
                    evidence.place(difference.site),
                    f"Which step comes next depends on {varied.variation.of}, which a replay may find changed.",
                    "Read it in a step.do and branch on the step's result.",
                    details=(f"first run: {_said(difference.before)}", f"a replay: {_said(difference.now)}"),
                    notes=tuple(readings(evidence, varied)),
                )


def _is_misuse(evidence: Evidence, varied: Varied) -> bool:
    error = varied.seen.error
    made_up = varied.variation.reading is not None
    return made_up and error is not None and error != evidence.plain.error and error.startswith(_MISUSED)


def _said(command: Command | None) -> str:
    return "no further step" if command is None else f'{command.key[0]} "{command.name}"'
