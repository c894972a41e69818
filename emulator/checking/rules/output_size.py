"""`large-output`: a step's result is kept for each step, and past 1 MiB it is refused.

https://developers.cloudflare.com/workflows/reference/limits/
"""

from __future__ import annotations

from collections.abc import Iterator

from flarebed.bindings.workflows.attempts import MAX_RESULT_BYTES
from flarebed.emulator.checking import code
from flarebed.emulator.checking.evidence import Evidence
from flarebed.emulator.checking.places import Site
from flarebed.emulator.checking.report import Finding, Note
from flarebed.emulator.checking.steps import Command

RULE = "large-output"
WARNED_FROM_BYTES = 128 * 1024


def detect(evidence: Evidence) -> Iterator[Finding]:
    for command in evidence.plain.script.commands:
        if command.site is not None and command.size >= WARNED_FROM_BYTES:
            is_refused = command.size > MAX_RESULT_BYTES
            yield Finding(
                RULE,
                "error" if is_refused else "warning",
                evidence.place(_return(evidence, command)),
                f"The step returns {_shown(command.size)}"
                + (", more than the limit of 1 MiB: it fails." if is_refused else ": near the limit of 1 MiB."),
                "Keep the data in R2, KV or D1 and return its key, or return it as a byte stream.",
                step=command.name,
                notes=(Note(evidence.place(command.site), "the step"),),
            )


def _return(evidence: Evidence, command: Command) -> Site:
    """The last `return` of the step's function that ran."""
    assert command.site is not None
    ran = evidence.plain.trace.inside.get(command.key, {})
    file = command.site[0]
    found = [(file, node.lineno) for node in code.returns(command.site)]
    return next((site for site in reversed(found) if site in ran), found[-1] if found else command.site)


def _shown(size: int) -> str:
    return f"{size / 1024:.0f} KiB" if size < 1 << 20 else f"{size / (1 << 20):.1f} MiB"
