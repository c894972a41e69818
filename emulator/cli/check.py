"""`flarebed check workflow`: what it is given on the command line, and the report in words or in JSON."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from rich.console import Console
from rich.text import Text

from flarebed.bindings.errors import UserError
from flarebed.emulator.checking import recorded
from flarebed.emulator.checking.check import check, workflows
from flarebed.emulator.checking.outbound import Mode
from flarebed.emulator.checking.report import Finding, Report, WorkflowReport
from flarebed.emulator.config import Config, load

_COLOURS = {"error": "bold red", "warning": "bold yellow"}


@dataclass(frozen=True)
class Wanted:
    """The options of one call."""

    name: str | None
    params: str | None
    params_file: Path | None
    instance: str | None
    events: Sequence[str]
    answers: Sequence[str]
    outbound: str
    with_state: bool
    as_json: bool
    strict: bool
    may_fail: bool
    config: Path | None
    env: str | None
    persist_to: Path | None


def run(wanted: Wanted) -> int:
    """Check and print; the exit code."""
    config = load(wanted.config, cwd=Path.cwd(), env=wanted.env, environ=os.environ)
    state = wanted.persist_to.absolute() if wanted.persist_to else config.root / ".wrangler" / "state"
    params, events = _given(wanted, config, state)
    report = check(
        config,
        wanted.name,
        params,
        events,
        state=state if wanted.with_state else None,
        outbound=cast("Mode", wanted.outbound),
        answers=dict(_pair(answer, "--answer URL=JSON") for answer in wanted.answers),
    )
    if wanted.as_json:
        print(json.dumps(report.as_json(), indent=2, ensure_ascii=False))
    else:
        show(report, may_fail=wanted.may_fail)
    return 0 if report.is_clean(strict=wanted.strict, may_fail=wanted.may_fail) else 1


def _given(wanted: Wanted, config: Config, state: Path) -> tuple[Any, list[tuple[str, Any]]]:
    """Params and events: those of a recorded instance, unless others are said."""
    params, events = _params(wanted), [_pair(event, "--event TYPE=JSON") for event in wanted.events]
    if wanted.instance is None:
        return params, events
    specs = workflows(config, wanted.name)
    if len(specs) > 1:
        raise UserError("--instance needs the name of its workflow.", hint="For example: check workflow orders ...")
    recorded_params, recorded_events = recorded.of_instance(state, specs[0], wanted.instance)
    return recorded_params if params is None else params, events or recorded_events


def _params(wanted: Wanted) -> Any:
    if wanted.params is not None and wanted.params_file is not None:
        raise UserError("--params and --params-file can't be given both.")
    if wanted.params_file is not None:
        try:
            return _parsed(wanted.params_file.read_text("utf-8"), f"--params-file {wanted.params_file}")
        except OSError as error:
            raise UserError(f'Unable to read "{wanted.params_file}": {error.strerror}.') from None
    return None if wanted.params is None else _parsed(wanted.params, "--params")


def _pair(text: str, option: str) -> tuple[str, Any]:
    """`NAME=JSON`; a URL may have a `=` of its own, so what follows must be JSON."""
    for at, letter in enumerate(text):
        if letter == "=" and at:
            try:
                return text[:at], json.loads(text[at + 1 :])
            except ValueError:
                continue
    raise UserError(f'"{text}" is not {option.partition(" ")[2]}.', hint=f"Say {option}.")


def _parsed(text: str, option: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise UserError(f"{option} is not JSON: {error}.") from None


def show(report: Report, *, may_fail: bool = False) -> None:
    """For people; in colour on a terminal only."""
    console = Console(highlight=False, soft_wrap=True, no_color=not sys.stdout.isatty())
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
_HOW_TO_GO_ON = "Lead it there with --params, --event and --answer; if it is to end so, say --may-fail."


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
