"""What `wrangler dev` left in a state folder: its KV is read into files of ours, its D1 and R2 are used as they are."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

import apsw

from flarebed.bindings.clock import RealClock
from flarebed.bindings.kv import wrangler
from flarebed.bindings.kv.spec import KvNamespaceSpec
from flarebed.bindings.kv.wrangler import Copied
from flarebed.bindings.store import Store, file_name
from flarebed.emulator.config import Config
from flarebed.emulator.state.capture import capture
from flarebed.emulator.state.contents import FILES, Names, resource

_TAKEN: Final = frozenset({"kv", "d1", "r2"})
_UNKNOWN: Final = "its id is neither in the config nor the name of a folder beside it"
_OURS: Final = "flarebed's own namespace of this id is taken"


@dataclass
class Report:
    """Notes on what was taken, by its path, and what was skipped, with the reason."""

    notes: dict[str, str] = field(default_factory=dict)
    skipped: list[tuple[str, str]] = field(default_factory=list)


async def take_kv(source: Path, laid_out: Path, config: Config) -> Report:
    """Lay out a file of ours for each namespace of wrangler's, unless ours of `source` is there and holds something."""
    report = Report()
    loop = asyncio.get_running_loop()
    made = laid_out / "made"
    store, clock = Store(made, loop, "OFF"), RealClock(loop)
    try:
        for namespace in wrangler.namespaces(source, [spec.namespace_id for spec in _specs(config)]):
            if namespace.id is None:
                report.skipped.append((f"KV {namespace.file.name}", _UNKNOWN))
                continue
            path = store.path("kv", namespace.id).relative_to(made).as_posix()
            if (laid_out / path).exists() and resource(laid_out, "kv", path, Names(laid_out, None)).count:
                report.skipped.append((f"KV {namespace.id} of wrangler", _OURS))
                continue
            report.notes[path] = _note(await wrangler.copy(namespace, namespace.id, store, clock))
    finally:
        store.close()
    capture(made, laid_out)  # a log that is still being folded back would not come along by itself
    return report


def skipped_folders(source: Path) -> list[tuple[str, str]]:
    """Of what else wrangler keeps: where there is more than its list of alarms."""
    folders = sorted(path for path in (source / "v3").glob("*") if path.name not in _TAKEN)
    return [
        (f"v3/{folder.name}", "not emulated")
        for folder in folders
        if any(path.is_file() and not path.name.startswith("metadata.sqlite") for path in folder.rglob("*"))
    ]


def notice(root: Path, config: Config) -> str | None:
    """For the start of a `dev`: that wrangler has KV data here which we lack."""
    try:
        names = [
            spec.binding for spec in _specs(config) if wrangler.not_imported(root, spec.namespace_id, _ours(root, spec))
        ]
    except apsw.Error:
        return None  # in use, or no database: an import will say so
    if not names:
        return None
    return f"wrangler has kept KV data here ({', '.join(names)}), which `flarebed state import` takes over."


def _specs(config: Config) -> tuple[KvNamespaceSpec, ...]:
    return cast("tuple[KvNamespaceSpec, ...]", config.specs.get("kv", ()))


def _ours(root: Path, spec: KvNamespaceSpec) -> Path:
    return root / FILES["kv"].folder / f"{file_name(spec.namespace_id)}.sqlite"


def _note(copied: Copied) -> str:
    left_out = [
        f"{count} {what}"
        for count, what in ((copied.expired, "expired"), (copied.lost, "without a value's file"))
        if count
    ]
    return f"left out: {', '.join(left_out)}" if left_out else ""
