"""How a test wants its Worker: the marker, the options and the ini file, made into `Settings`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from flarebed.bindings.errors import UserError
from flarebed.bindings.kind import Modes
from flarebed.emulator.config import load
from flarebed.emulator.state.archive import lay_out
from flarebed.emulator.testing.clock import Moment, moment_ms
from flarebed.emulator.testing.session import PATIENCE_S, START_MS
from flarebed.emulator.testing.stage import Settings

OUTBOUND = ("allow", "refuse")


@dataclass(frozen=True)
class Wishes:
    """What `@pytest.mark.flarebed(...)` takes. `config`, `workers` and `state` are relative to the test file's folder.

    `workers` are the configs of Workers that the first can call. `state` is an archive of `flarebed state export`, or a
    snapshot's folder.
    """

    config: str | Path | None = None
    env: str | None = None
    vars: Mapping[str, Any] | None = None
    start: Moment | None = None
    seed: int | str | None = None
    outbound: str | None = None
    state: str | Path | None = None
    kv_consistency: Literal["strong", "eventual"] = "strong"
    queue_defaults: Literal["production", "wrangler"] = "production"
    queue_duplicates: float = 0
    queue_shuffle: bool = False
    patience_s: float = PATIENCE_S
    workers: Sequence[str | Path] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Wishes:
        known = [each.name for each in fields(cls)]
        if unknown := [name for name in given if name not in known]:
            raise UserError(
                f"@pytest.mark.flarebed does not know {', '.join(unknown)}.", hint=f"It takes {', '.join(known)}."
            )
        return cls(**given)


def settle(wishes: Wishes, folder: Path, state: Path) -> Settings:
    """The settings of a test in `folder`; without a named config, the nearest one from there up.

    The clock begins where it is told to, or else where that of a given state was.
    """
    if wishes.outbound not in (None, *OUTBOUND):
        raise UserError(f'outbound is "allow" or "refuse", not {wishes.outbound!r}.')
    path = None if wishes.config is None else Path(wishes.config)
    config = load(path, cwd=folder, env=wishes.env or "", environ={})
    begun_ms = START_MS if wishes.state is None else lay_out(folder / wishes.state, state).now_ms
    return Settings(
        config=replace(config, vars={**config.vars, **(wishes.vars or {})}),
        state=state,
        start_ms=begun_ms if wishes.start is None else moment_ms(wishes.start),
        seed=wishes.seed,
        refuse_outbound=wishes.outbound == "refuse",
        modes=_modes(wishes),
        patience_s=_patience_s(wishes.patience_s),
        beside=tuple(load(Path(each), cwd=folder, env=wishes.env or "", environ={}) for each in _paths(wishes.workers)),
    )


def _paths(given: object) -> Sequence[str | Path]:
    if isinstance(given, str | Path) or not isinstance(given, Sequence):
        raise UserError(f"workers is a list of configs, not {given!r}.")
    return given


def _patience_s(given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not given > 0:
        raise UserError(f"patience_s is a number of seconds, not {given!r}.")
    return given


def _modes(wishes: Wishes) -> Modes:
    modes = Modes(**{each.name: getattr(wishes, each.name) for each in fields(Modes)})
    for name, known in (("kv_consistency", ("strong", "eventual")), ("queue_defaults", ("production", "wrangler"))):
        if getattr(modes, name) not in known:
            raise UserError(f"{name} is {' or '.join(map(repr, known))}, not {getattr(modes, name)!r}.")
    if not (isinstance(modes.queue_duplicates, int | float) and 0 <= modes.queue_duplicates <= 1):
        raise UserError(f"queue_duplicates is a share from 0 to 1, not {modes.queue_duplicates!r}.")
    if not isinstance(modes.queue_shuffle, bool):
        raise UserError(f"queue_shuffle is True or False, not {modes.queue_shuffle!r}.")
    return modes
