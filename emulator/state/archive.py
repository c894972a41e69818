"""A laid-out state and its manifest as one file: a .tar.gz whose members have their paths below the state folder.

So an archive that was unpacked by hand is a state folder. What is read was perhaps made by somebody else: nothing is
unpacked but what belongs to a state, at its place.
"""

from __future__ import annotations

import json
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import Any, Final

from flarebed.bindings.errors import UserError
from flarebed.bindings.store import STATE_VERSION
from flarebed.emulator.state.contents import Resource, is_other, kind_of

MANIFEST: Final = "manifest.json"
_FORMAT: Final = 1
_GZIP: Final = b"\x1f\x8b"
_READ_SIZE: Final = 1 << 20
_LEVEL: Final = 4
"""Of gzip's 9: twice as fast as the usual 6 for a few per cent more."""


@dataclass(frozen=True)
class Manifest:
    """What a copy holds. `worker` is whose state it is, at `now_ms` on its clock; `flarebed` and `state_version` are of
    who made it.
    """

    worker: str
    now_ms: float
    resources: tuple[Resource, ...]
    flarebed: str = version("flarebed")
    state_version: int = STATE_VERSION

    def write(self, folder: Path) -> None:
        fields = {
            "format": _FORMAT,
            "flarebed": self.flarebed,
            "state_version": self.state_version,
            "worker": self.worker,
            "now_ms": self.now_ms,
            "resources": [resource.to_json() for resource in self.resources],
        }
        (folder / MANIFEST).write_text(json.dumps(fields, indent=2, ensure_ascii=False) + "\n", "utf-8")

    @classmethod
    def read(cls, folder: Path, source: Path) -> Manifest:
        """Raises UserError, which speaks of `source`."""
        try:
            fields: dict[str, Any] = json.loads((folder / MANIFEST).read_text("utf-8"))
            newer = fields["format"] > _FORMAT or fields["state_version"] > STATE_VERSION
            if not newer:
                resources = tuple(Resource(**each) for each in fields["resources"])
                return cls(fields["worker"], fields["now_ms"], resources, fields["flarebed"], fields["state_version"])
        except FileNotFoundError:
            raise UserError(f"{source} is not a flarebed state: it has no {MANIFEST}.") from None
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{source} is not a flarebed state: its {MANIFEST} can't be read ({error!r}).") from None
        raise UserError(
            f"{source} was made by a newer flarebed ({fields['flarebed']}; this is {version('flarebed')}).",
            hint="Update flarebed.",
        )


def lay_out(source: Path, folder: Path) -> Manifest:
    """Make `folder` the state that an archive, or the folder of a snapshot, holds. Raises UserError."""
    if not source.exists():
        raise UserError(f"There is no file or folder {source}.")
    if source.is_dir():
        shutil.copytree(source, folder, copy_function=shutil.copyfile, dirs_exist_ok=True)
    else:
        unpack(source, folder)
    manifest = Manifest.read(folder, source)
    for each in manifest.resources:
        if not (folder / each.path).is_file():
            raise UserError(f"{source} is not complete: it lacks {each.path}. Nothing was changed.")
    return manifest


def pack(folder: Path, file: Path) -> None:
    """`file` is there when it is complete."""
    part = file.with_name(f"{file.name}.part")
    try:
        with tarfile.open(part, "w:gz", compresslevel=_LEVEL) as archive:
            archive.add(folder / MANIFEST, MANIFEST, filter=_nobodys)
            for path in sorted(folder.rglob("*")):
                name = path.relative_to(folder).as_posix()
                if kind_of(name) or is_other(name):
                    archive.add(path, name, filter=_nobodys)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


def unpack(file: Path, folder: Path) -> None:
    """Raises UserError for what is no archive of ours; `folder` is to be thrown away then."""
    with _readable(file):
        with file.open("rb") as start:
            is_packed = start.read(len(_GZIP)) == _GZIP
        if not is_packed and not tarfile.is_tarfile(file):
            raise UserError(f"{file} is not an archive that `flarebed state export` has made.")
    with _readable(file), tarfile.open(file, "r:*") as archive:
        for member in archive:
            name = member.name
            if member.isdir():
                continue
            belongs = name == MANIFEST or kind_of(name) is not None or is_other(name)
            content = archive.extractfile(member) if member.isfile() else None
            if not belongs or content is None or ".." in PurePosixPath(name).parts:
                raise UserError(f'{file} holds "{name}", which does not belong to a state. Nothing was changed.')
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            with content, (folder / name).open("wb") as target:
                shutil.copyfileobj(content, target)
        while archive.fileobj is not None and archive.fileobj.read(_READ_SIZE):
            pass  # to the end, where the checksum is


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    try:
        yield
    except (EOFError, tarfile.ReadError, zlib.error, OSError) as error:
        if isinstance(error, OSError) and not isinstance(error, tarfile.ReadError) and error.errno is not None:
            raise  # of the disk, not of what is read from it
        raise UserError(
            f"{file} can't be read as an archive, or not to its end: {error}. Nothing was changed.",
            hint="It may have been copied incompletely.",
        ) from None


def _nobodys(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Who made it on which machine is nobody's business."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o644
    return member
