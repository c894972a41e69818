"""How a test wants its Worker: the marker, the options and the ini file, made into `Settings`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from flarebed.bindings.errors import UserError
from flarebed.bindings.kind import Modes
from flarebed.emulator.config import load
from flarebed.emulator.state.archive import lay_out
from flarebed.emulator.testing.clock import Moment, moment_ms
from flarebed.emulator.testing.session import START_MS
from flarebed.emulator.testing.stage import Settings

OUTBOUND = ("allow", "refuse")


@dataclass(frozen=True)
class Wishes:
    """What `@pytest.mark.flarebed(...)` takes. `config` and `state` are relative to the test file's folder.

    `state` is an archive of `flarebed state export`, or a snapshot's folder.
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
    )


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
