"""`flarebed state`: the state as a whole, beside a running `flarebed dev` or without one.

What replaces files does so in `emulator/state`: a running `dev` leaves the state for that moment and starts anew on it.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from flarebed.bindings.errors import UserError
from flarebed.bindings.registry import KINDS
from flarebed.emulator.cli.opening import Place, clock_of
from flarebed.emulator.cli.tables import show_table
from flarebed.emulator.state import wrangler
from flarebed.emulator.state.archive import MANIFEST, Manifest, lay_out, pack
from flarebed.emulator.state.capture import capture
from flarebed.emulator.state.contents import CLOCK, Names, Resource, beside, resources
from flarebed.emulator.state.snapshots import folder_of, keep, snapshot, snapshots
from flarebed.emulator.state.staging import put_in_place, remove, staging
from flarebed.emulator.supervisor import running

_UNITS: Final = ("B", "KiB", "MiB", "GiB")


def export(place: Place, file: Path | None, force: bool) -> None:
    target = (file or Path(f"{place.config.name}-state.tar.gz")).absolute()
    if target.exists():
        agree(f"{target} is there already and would be overwritten.", force)
    if not target.parent.is_dir():
        raise UserError(f"There is no folder {target.parent}.")
    with staging(place.state) as folder:
        manifest = _captured(place, folder)
        pack(folder, target)
    show(manifest.resources)
    print(f"Exported to {target} ({_size(target.stat().st_size)})")


def import_archive(place: Place, file: Path, force: bool) -> None:
    """The state is then what the archive holds, and nothing else."""
    with staging(place.state) as folder:
        manifest, come = _laid_out(place, file, folder)
        _ask_for_what_is_lost(place, None, force)
        put_in_place(place.state, folder, whole=True)
    show(come)
    print(f'Imported {file}, the state of "{manifest.worker}"')


def import_folder(place: Place, source: Path, force: bool) -> None:
    """What the folder holds replaces what is called the same here; all else stays."""
    is_here = place.state.exists() and source.samefile(place.state)
    with staging(place.state) as folder:
        if not is_here:
            capture(source, folder)
            (folder / CLOCK).unlink(missing_ok=True)
        report = asyncio.run(wrangler.take_kv(source, folder, place.config))
        names = Names(source, place.config)
        come = resources(folder, names)
        kept = [each for each in resources(source, names) if each.kind in ("d1", "r2")] if is_here else []
        if come:
            _ask_for_what_is_lost(place, {each.path for each in come}, force)
            put_in_place(place.state, folder)
    notes = {each.path: "used where it is" for each in kept} | report.notes
    show([*come, *kept], notes)
    for what, why in (*report.skipped, *wrangler.skipped_folders(source)):
        print(f"Skipped {what}: {why}")
    print(f"Imported {source}" if come or kept else f"There is nothing to import in {source}")


def clear(place: Place, kinds: Sequence[str], words: Sequence[str], force: bool) -> None:
    names = Names(place.state, place.config)
    with staging(place.state) as folder:
        chosen = kinds or [kind.name for kind in KINDS if kind.keeps_state]
        there = [each for each in resources(place.state, names, damaged_too=True) if each.kind in chosen]
        meant = [each for each in there if not words or any(names.is_meant(each.path, word) for word in words)]
        for word in words:
            if not any(names.is_meant(each.path, word) for each in there):
                raise UserError(
                    f'There is no state of "{word}".',
                    hint=f"There is: {', '.join(f'{each.kind} {each.name}' for each in there) or 'none'}",
                )
        paths = [path for each in meant for path in (each.path, *beside(place.state, each.path))]
        if not kinds and not words and (place.state / CLOCK).exists():
            paths.append(CLOCK)
        _ask_for_what_is_lost(place, {*paths}, force)
        if paths:
            remove(place.state, folder, paths)
    show(meant)
    print("Cleared" if meant else "There was nothing to clear")


def take_snapshot(place: Place, name: str, force: bool) -> None:
    if folder_of(place.state, name).exists():
        agree(f'There is a snapshot "{name}" already, which would be overwritten.', force)
    with staging(place.state) as folder:
        manifest = _captured(place, folder)
        keep(place.state, name, folder)
    show(manifest.resources)
    print(f'Snapshot "{name}" taken')


def restore(place: Place, name: str) -> None:
    with staging(place.state) as folder:
        _, come = _laid_out(place, snapshot(place.state, name).folder, folder)
        put_in_place(place.state, folder, whole=True)
    show(come)
    print(f'Snapshot "{name}" restored')


def delete_snapshot(place: Place, name: str) -> None:
    with staging(place.state):
        folder = snapshot(place.state, name).folder
        (folder / MANIFEST).unlink()  # without it, what is left is no snapshot any more
        shutil.rmtree(folder)
    print(f'Snapshot "{name}" deleted')


def list_snapshots(place: Place, as_json: bool) -> None:
    found = snapshots(place.state)
    made = {each.name: datetime.fromtimestamp(each.made_s, UTC).isoformat(timespec="seconds") for each in found}
    if as_json:
        rows = [{"name": each.name, "made": made[each.name], "bytes": each.bytes} for each in found]
        print(json.dumps(rows, indent=2))
    elif found:
        show_table(["Name", "Made", "Size"], [[each.name, made[each.name], _size(each.bytes)] for each in found])
    else:
        print("There are no snapshots. `flarebed state snapshot NAME` takes one.")


def agree(what: str, force: bool) -> None:
    """Ask whether to go on, where somebody can answer."""
    if force:
        return
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UserError(f"{what} Nothing was changed.", hint="Say --force to do it without being asked.")
    try:
        if click.confirm(f"{what} Go on?"):
            return
    except click.Abort:
        print()
    print("Nothing was changed.")
    sys.exit(1)


def show(found: Iterable[Resource], notes: Mapping[str, str] | None = None) -> None:
    notes = notes or {}
    rows = [[each.kind, each.name, each.holds, _size(each.bytes), notes.get(each.path, "")] for each in found]
    if rows:
        width = 5 if any(row[-1] for row in rows) else 4
        show_table(["Kind", "Resource", "Holds", "Size", "Note"][:width], [row[:width] for row in rows])


def state_in(folder: Path) -> Path:
    """The state folder that is meant: itself, or that of a project."""
    for candidate in (folder, folder / "state", folder / ".wrangler" / "state"):
        if (candidate / "v3").is_dir() or (candidate / "flarebed").is_dir():
            return candidate
    raise UserError(f"{folder} is no state folder: there is neither v3/ nor flarebed/ in it.")


def _captured(place: Place, folder: Path) -> Manifest:
    capture(place.state, folder)
    found = resources(folder, Names(place.state, place.config))
    manifest = Manifest(place.config.name, _now_ms(place.state), tuple(found))
    manifest.write(folder)
    return manifest


def _laid_out(place: Place, source: Path, folder: Path) -> tuple[Manifest, list[Resource]]:
    """What is to come whole, if it can be read."""
    manifest = lay_out(source, folder)
    try:
        return manifest, resources(folder, Names(folder, place.config))
    except UserError as error:
        raise UserError(f"{source} holds what can't be used. Nothing was changed.", place=error.message) from None


def _now_ms(state: Path) -> float:
    """On the clock that the state's `dev` goes or went by."""
    with asyncio.Runner() as runner:
        return clock_of(runner.get_loop(), state, running.last(state)[0]).now_ms()


def _ask_for_what_is_lost(place: Place, paths: set[str] | None, force: bool) -> None:
    """`paths` None: all that is there."""
    there = resources(place.state, Names(place.state, place.config), damaged_too=True)
    lost = [each for each in there if each.count != 0 and (paths is None or each.path in paths)]
    if lost:
        listed = ", ".join(f"{each.kind} {each.name} ({each.holds})" for each in lost)
        agree(f"This replaces or removes what the state holds: {listed}.", force)


def _size(size: float) -> str:
    unit = 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:.0f} {_UNITS[unit]}" if unit == 0 or size >= 100 else f"{size:.1f} {_UNITS[unit]}"
