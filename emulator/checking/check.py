"""The check of workflows: for the command line, and for a test suite, where `check` is a plain function.

report = check(config, "orders", {"sku": "lamp"}, events=[("approval", {"approved": True})])
assert report.is_clean()
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from flarebed.bindings.errors import UserError
from flarebed.bindings.workflows.spec import WorkflowSpec
from flarebed.emulator.checking import places
from flarebed.emulator.checking.evidence import Evidence
from flarebed.emulator.checking.outbound import Handler, Mode, Outbound
from flarebed.emulator.checking.places import Sources
from flarebed.emulator.checking.report import Finding, Report, WorkflowReport
from flarebed.emulator.checking.rules import (
    Detector,
    branch,
    carried_state,
    event,
    granularity,
    idempotency,
    output_size,
    side_effect,
    step_name,
)
from flarebed.emulator.checking.trial import Seen, Subject
from flarebed.emulator.config.model import Config

DETECTORS: tuple[Detector, ...] = (
    side_effect.detect,
    step_name.detect,
    idempotency.detect,
    carried_state.detect,
    event.detect,
    output_size.detect,
    granularity.detect,
    branch.detect,
)


def check(
    config: Config,
    name: str | None = None,
    params: Any = None,
    events: Sequence[tuple[str, Any]] = (),
    *,
    state: Path | None = None,
    outbound: Mode | Handler = "stub",
    answers: Mapping[str, Any] | None = None,
) -> Report:
    """Check the workflow `name`, or all of the config's, with `params` (`{}`) and `events` (type and payload).

    `state` is a state folder whose D1 and KV the trials begin with, each on a copy; without one they begin empty, with
    the migrations applied. `outbound` says what answers requests: a stub with 200 and `{}`, nobody (refuse), the
    network (real), or a function from httpx.Request to httpx.Response. `answers` are JSON bodies by the beginning of
    the URL and come first. Raises UserError.
    """
    if not config.is_python():
        raise UserError(
            f'The rules are checked in workflows that are written in Python, and "{config.name}" is not.',
            place=config.path.name,
            hint="In a test, `flarebed.faults` repeats and fails the steps of any Worker: docs/testing.md.",
        )
    places.forget()
    mode, handler = (outbound, None) if isinstance(outbound, str) else ("stub", outbound)
    sources = Sources(config.entry_point().parent)
    given = {} if params is None else params
    reports = []
    for spec in workflows(config, name):
        subject = Subject(config, spec, given, tuple(events), Outbound(cast("Mode", mode), answers, handler), sources)
        with tempfile.TemporaryDirectory(prefix="flarebed-check-", ignore_cleanup_errors=True) as folder:
            reports.append(_checked(Evidence(subject, Path(folder), state)))
    return Report(config.root, tuple(reports))


def workflows(config: Config, name: str | None) -> list[WorkflowSpec]:
    """Those of the config whose class is the Worker's own; `name` may be the name, the binding or the class."""
    specs = cast("Sequence[WorkflowSpec]", config.specs.get("workflows", ()))
    own = [spec for spec in specs if spec.script_name in (None, config.name)]
    found = [spec for spec in own if name is None or name in (spec.name, spec.binding, spec.class_name)]
    if not found:
        has = ", ".join(spec.name for spec in own)
        raise UserError(
            "There is no workflow to check." if name is None else f'There is no workflow "{name}".',
            place=config.path.name,
            hint=f"It has: {has}" if has else "Its `workflows` are empty.",
        )
    return found


def _checked(evidence: Evidence) -> WorkflowReport:
    plain, spec = evidence.plain, evidence.subject.spec
    return WorkflowReport(
        name=spec.name,
        class_name=spec.class_name,
        status=plain.ended,
        error=plain.error,
        steps=tuple(f"{command.name}-{command.key[2]}" for command in plain.script.commands),
        notes=_notes(plain),
        findings=tuple(_sifted(finding for detect in DETECTORS for finding in detect(evidence))),
    )


def _notes(plain: Seen) -> tuple[str, ...]:
    if plain.ended != "stopped":
        return ()
    return ("It would not come to its end (it retries or waits for ever), and was given up there.",)


def _sifted(findings: Iterator[Finding]) -> list[Finding]:
    """One finding for a rule and a place, in the order of the files, without those that the code says to ignore."""
    known: dict[tuple[Any, ...], Finding] = {}
    for finding in findings:
        if finding.place.ignores(finding.rule):
            continue
        key = (finding.place.file, finding.place.line, finding.rule)
        first = known.setdefault(key, finding)
        if first.step != finding.step:  # the same line, in another step: who called it there is worth knowing
            known[key] = replace(first, notes=tuple(dict.fromkeys((*first.notes, *finding.notes))))
    return [known[key] for key in sorted(known)]
