"""What a kind of binding is: its folder, its share of the wrangler config, and the life of its resources.

A kind is a folder of `bindings/` whose files have the same names everywhere; `registry.py` lists them. Config asks a
kind's `spec.parse`, the composition root its `engine.open`, the runtime shows the Worker what `Resources.bindings`
gives.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Literal, Protocol

from flarebed.bindings.clock import Clock
from flarebed.bindings.dispatch import Dispatch
from flarebed.bindings.store import Store


class Spec(Protocol):
    """One configured resource, as a frozen dataclass of its kind's `spec.py`."""

    def rows(self) -> Sequence[tuple[str, str]]:
        """(binding, resource) for the table shown at start: ("KV (kvid)", "KV Namespace"); [] without a binding."""
        ...


@dataclass
class Complaints:
    """Errors and warnings found in a config, collected so that all are shown at once (wrangler does the same)."""

    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def error(self, text: str) -> None:
        self.errors.append(text)

    def warn(self, text: str) -> None:
        self.warnings.append(text)


@dataclass(frozen=True)
class Section:
    """The value of one config key, with the words to complain about it: `field` is its path, e.g. "kv_namespaces"."""

    field: str
    value: Any
    complaints: Complaints


@dataclass(frozen=True)
class Modes:
    """How engines are told to behave where the platform leaves it open: a test's or a developer's choice."""

    kv_consistency: Literal["strong", "eventual"] = "strong"
    """eventual: a read may be as stale as it may be in production."""
    queue_defaults: Literal["production", "wrangler"] = "production"
    """Whose defaults a consumer has for what its config does not say."""
    queue_duplicates: float = 0
    """The share of messages, from 0 to 1, that are delivered once more though they need not be."""
    queue_shuffle: bool = False
    """Whether messages are delivered in disorder."""


@dataclass(frozen=True)
class Surroundings:
    """What an engine is given; it constructs nothing of this itself."""

    clock: Clock
    store: Store
    dispatch: Dispatch
    worker: str
    flags: frozenset[str]
    log: Callable[[str, str], None]
    """`log(level, text)`, level one of debug, info, warn, error."""
    modes: Modes = field(default_factory=Modes)
    entropy: random.Random = field(default_factory=random.SystemRandom)
    """Where chance comes from: a test's seed, or the machine."""


class Resources(Protocol):
    """All resources of one kind that one Worker is bound to or consumes.

    Any process may use the bindings. `own` makes this process the one that runs timers, consumers and instances;
    `disown` ends that and returns when nothing more of it runs here (what is unfinished is in the store).
    """

    def bindings(self) -> Mapping[str, object]: ...

    def claims(self) -> Sequence[str]:
        """The resources that this Worker runs when it owns, and no other Worker may run then."""
        ...

    async def own(self) -> None: ...

    async def disown(self) -> None: ...

    def ring(self, resource: str) -> None:
        """Another process wrote work for `resource`."""
        ...


@dataclass(frozen=True)
class StateFiles:
    """Where a kind keeps its resources, for commands on the state as a whole: a kind's `state.py` has it as FILES.

    Each resource is one SQLite file in `folder` below the state folder, with a name that matches `pattern`, and holds
    as many of `noun` as the SQL `count` says. `named(specs)` gives names of files, each with the words by which the
    user may mean it.
    """

    folder: str
    noun: str
    count: str
    named: Callable[[Sequence[Any]], Iterable[tuple[str, Sequence[str]]]]
    pattern: str = "*.sqlite"


@dataclass(frozen=True)
class Kind:
    """A registry line: the folder's name and the config key that it owns. Its files load when first asked for.

    One that keeps no state has no `state.py`.
    """

    name: str
    key: str
    keeps_state: bool = True

    def module(self, file: str) -> ModuleType:
        return importlib.import_module(f"flarebed.bindings.{self.name}.{file}")

    def parse(self, section: Section) -> tuple[Spec, ...]:
        specs: tuple[Spec, ...] = self.module("spec").parse(section)
        return specs

    def open(self, specs: Sequence[Spec], around: Surroundings) -> Resources:
        resources: Resources = self.module("engine").open(specs, around)
        return resources

    def files(self) -> StateFiles:
        files: StateFiles = self.module("state").FILES
        return files
