"""What a check says: findings by workflow, and their JSON (the schema is in docs/check.md)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from flarebed.emulator.checking.places import Place

Severity = Literal["error", "warning"]

VERSION = 1
"""Of the JSON. Members may be added to it; a change of what is there is a new version."""


@dataclass(frozen=True)
class Note:
    """Another place that has to do with a finding."""

    place: Place
    text: str


@dataclass(frozen=True)
class Finding:
    """A rule that is broken: `message` says what happens, `advice` what to do, `details` shows the difference."""

    rule: str
    severity: Severity
    place: Place
    message: str
    advice: str
    step: str | None = None
    details: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class WorkflowReport:
    """One workflow. `status` is how its plain run ended; what comes after an error was not run, hence not checked."""

    name: str
    class_name: str
    status: str
    error: str | None
    steps: tuple[str, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """The checked workflows of one config."""

    root: Path
    workflows: tuple[WorkflowReport, ...] = field(default=())

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(finding for workflow in self.workflows for finding in workflow.findings)

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def unfinished(self) -> tuple[WorkflowReport, ...]:
        """Those whose plain run did not complete: there is code that was not checked."""
        return tuple(workflow for workflow in self.workflows if workflow.status != "complete")

    def is_clean(self, *, strict: bool = False, may_fail: bool = False) -> bool:
        """`strict`: warnings count too. `may_fail`: a plain run need not complete."""
        return not (self.findings if strict else self.errors) and (may_fail or not self.unfinished)

    def as_json(self) -> dict[str, Any]:
        return {"version": VERSION, "workflows": [_workflow(self, workflow) for workflow in self.workflows]}

    def shown(self, place: Place) -> str:
        """The file as seen from the config's folder."""
        inside = place.file.is_relative_to(self.root)
        return (place.file.relative_to(self.root) if inside else place.file).as_posix()


def _workflow(report: Report, workflow: WorkflowReport) -> dict[str, Any]:
    return {
        "name": workflow.name,
        "class_name": workflow.class_name,
        "status": workflow.status,
        "error": workflow.error,
        "steps": list(workflow.steps),
        "notes": list(workflow.notes),
        "findings": [_finding(report, finding) for finding in workflow.findings],
    }


def _finding(report: Report, finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        **_place(report, finding.place),
        "step": finding.step,
        "message": finding.message,
        "advice": finding.advice,
        "details": list(finding.details),
        "notes": [{**_place(report, note.place), "text": note.text} for note in finding.notes],
    }


def _place(report: Report, place: Place) -> dict[str, Any]:
    return {
        "file": report.shown(place), "line": place.line, "end_line": place.end_line, "source": place.source,
    }  # fmt: skip
