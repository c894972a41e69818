"""A report in words, for people: on the terminal, and where a test fails."""

from __future__ import annotations

import io

from rich.console import Console
from rich.text import Text

from flarebed.emulator.checking.report import Finding, Report, WorkflowReport

_COLOURS = {"error": "bold red", "warning": "bold yellow"}


def as_text(report: Report, *, may_fail: bool = False) -> str:
    """The report for who has no terminal."""
    file = io.StringIO()
    show(report, Console(file=file, highlight=False, soft_wrap=True, no_color=True), may_fail=may_fail)
    return file.getvalue()


def show(report: Report, console: Console, *, may_fail: bool = False) -> None:
    for workflow in report.workflows:
        console.print(_headline(workflow))
        for note in workflow.notes:
            console.print(Text(f"  note: {note}", "dim"))
        for finding in workflow.findings:
            console.print(_shown(report, finding))
    console.print(_summary(report, may_fail))


def _headline(workflow: WorkflowReport) -> Text:
    steps = f"{len(workflow.steps)} step{'' if len(workflow.steps) == 1 else 's'}"
    text = Text.assemble((workflow.name, "bold"), f" ({workflow.class_name}): {steps}, {workflow.status}")
    if workflow.error is not None:
        text.append(f"\n  It ended with {workflow.error}; what would come after that was not checked.", "yellow")
    return text


def _shown(report: Report, finding: Finding) -> Text:
    place = finding.place
    text = Text.assemble(
        "\n", (finding.severity, _COLOURS[finding.severity]), (f"[{finding.rule}] ", "bold"), finding.message, "\n"
    )
    text.append(f"  --> {report.shown(place)}:{place.line}\n", "cyan")
    text.append(_excerpt(place.line, place.source))
    for note in finding.notes:
        text.append(f"  {report.shown(note.place)}:{note.place.line}: {note.text}\n", "cyan")
        text.append(_excerpt(note.place.line, note.place.source))
    for detail in finding.details:
        text.append(f"  {detail}\n")
    text.append(f"  Fix: {finding.advice}", "green")
    return text


_MOST_LINES = 6
_HOW_TO_GO_ON = "Lead it there with params, events and answers; if it is to end so, say that it may fail."


def _excerpt(first: int, source: str) -> str:
    lines = source.splitlines()
    shown = [f"  {first + index:>4} | {line}\n" for index, line in enumerate(lines[:_MOST_LINES])]
    return "".join(shown) + ("       | ...\n" if len(lines) > _MOST_LINES else "")


def _summary(report: Report, may_fail: bool) -> str:
    errors, warnings = len(report.errors), len(report.findings) - len(report.errors)
    told = f"✘ {_counted(errors, 'error')}, {_counted(warnings, 'warning')}" if report.findings else ""
    if report.unfinished and not may_fail:
        names = ", ".join(workflow.name for workflow in report.unfinished)
        told += f"{told and chr(10)}✘ Not checked to the end: {names}. {_HOW_TO_GO_ON}"
    return "\n" + (told or "✅ No rule is broken.")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
