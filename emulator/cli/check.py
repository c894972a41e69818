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

from flarebed.bindings.errors import UserError
from flarebed.emulator.checking import recorded, words
from flarebed.emulator.checking.check import check, workflows
from flarebed.emulator.checking.outbound import Mode
from flarebed.emulator.config import Config, load


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
        console = Console(highlight=False, soft_wrap=True, no_color=not sys.stdout.isatty())
        words.show(report, console, may_fail=wanted.may_fail)
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
