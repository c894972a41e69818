"""Named snapshots, kept within the state folder: copies of it with their manifests."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flarebed.bindings.errors import UserError
from flarebed.emulator.state.archive import MANIFEST, Manifest

_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class Snapshot:
    name: str
    folder: Path
    manifest: Manifest

    @property
    def made_s(self) -> float:
        """On the clock of the files' own times."""
        return (self.folder / MANIFEST).stat().st_mtime

    @property
    def bytes(self) -> int:
        return sum(resource.bytes for resource in self.manifest.resources)


def folder_of(root: Path, name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise UserError(
            f'"{name}" is no name for a snapshot.', hint="Up to 100 letters, digits, dots, dashes and underscores."
        )
    return root / "flarebed" / "snapshots" / name


def snapshots(root: Path) -> list[Snapshot]:
    """The newest last."""
    folders = (path.parent for path in (root / "flarebed" / "snapshots").glob(f"*/{MANIFEST}"))
    found = [Snapshot(folder.name, folder, Manifest.read(folder, folder)) for folder in folders]
    return sorted(found, key=lambda snapshot: snapshot.made_s)


def snapshot(root: Path, name: str) -> Snapshot:
    folder = folder_of(root, name)
    if not (folder / MANIFEST).exists():
        names = ", ".join(each.name for each in snapshots(root)) or "none"
        raise UserError(f'There is no snapshot "{name}".', hint=f"There is: {names}")
    return Snapshot(name, folder, Manifest.read(folder, folder))


def keep(root: Path, name: str, laid_out: Path) -> None:
    """Under this name from now on, instead of what was kept under it before."""
    folder = folder_of(root, name)
    folder.parent.mkdir(exist_ok=True)
    former = folder.with_name(f".former-{name}")
    shutil.rmtree(former, ignore_errors=True)
    if folder.exists():
        folder.rename(former)
    laid_out.rename(folder)
    shutil.rmtree(former, ignore_errors=True)
