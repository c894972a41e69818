"""`@pytest.mark.flarebed_check(...)`: a workflow is checked before the body of a test runs.

The plugin (`emulator/testing/plugin.py`) comes here with the marker's words and with the settings of the test's Worker.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from flarebed.bindings.errors import UserError
from flarebed.emulator.checking import words
from flarebed.emulator.checking.check import check
from flarebed.emulator.checking.outbound import Handler, Mode
from flarebed.emulator.checking.report import Report
from flarebed.emulator.testing.stage import Settings, Stage
from flarebed.emulator.testing.worker import Worker

_MODES = ("stub", "refuse", "real")


@dataclass(frozen=True)
class Wanted:
    """What the marker takes. `state` fills bindings, as `Worker.seed` does; the rest is as for the command."""

    workflow: str | None = None
    params: Any = None
    events: Mapping[str, Any] | Sequence[tuple[str, Any]] = ()
    state: Mapping[str, Any] | None = None
    outbound: Mode | Handler = "stub"
    answers: Mapping[str, Any] | None = None
    strict: bool = False
    may_fail: bool = False

    @classmethod
    def of(cls, arguments: Sequence[Any], options: Mapping[str, Any]) -> Wanted:
        known = [each.name for each in fields(cls)]
        if unknown := [name for name in options if name not in known]:
            raise UserError(
                f"@pytest.mark.flarebed_check does not know {', '.join(unknown)}.", hint=f"It takes {', '.join(known)}."
            )
        try:
            given = inspect.signature(cls).bind(*arguments, **options)
        except TypeError as error:
            raise UserError(f"@pytest.mark.flarebed_check: {error}.", hint=f"It takes {', '.join(known)}.") from None
        wanted = cls(**given.arguments)
        if not callable(wanted.outbound) and wanted.outbound not in _MODES:
            raise UserError(
                f"outbound is {', '.join(_MODES)} or a function of the request, not {wanted.outbound!r}.",
            )
        return wanted


def broken(wanted: Wanted, settings: Settings) -> str | None:
    """The report as `flarebed check` writes it, if a rule is broken. Raises UserError."""
    if wanted.state is not None:
        _fill(settings, wanted.state)
    events = list(wanted.events.items()) if isinstance(wanted.events, Mapping) else wanted.events
    report: Report = check(
        settings.config,
        wanted.workflow,
        wanted.params,
        events,
        state=settings.state if settings.state.exists() else None,
        outbound=wanted.outbound,
        answers=wanted.answers,
    )
    is_clean = report.is_clean(strict=wanted.strict, may_fail=wanted.may_fail)
    return None if is_clean else words.as_text(report, may_fail=wanted.may_fail)


def _fill(settings: Settings, data: Mapping[str, Any]) -> None:
    """A state folder for the trials to begin with."""
    stage = Stage(replace(settings, refuse_outbound=True))
    try:
        worker = Worker(stage).sync
        worker.apply_d1_migrations()
        worker.seed(**data)
    finally:
        stage.close()
