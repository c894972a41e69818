"""What a state folder has: its resources, one SQLite file each, and the other files that belong to the state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

import apsw

from flarebed.bindings.errors import UserError
from flarebed.bindings.kind import StateFiles
from flarebed.bindings.r2.spec import R2BucketSpec
from flarebed.bindings.r2.state import FOLDER as BUCKETS
from flarebed.bindings.registry import KINDS
from flarebed.bindings.store import BUSY_TIMEOUT_MS, unusable
from flarebed.emulator.config import Config

CLOCK: Final = "flarebed/clock"
"""The virtual time that was reached (supervisor/virtual_clock.py)."""
BLOBS: Final = f"{BUCKETS}/*/blobs/*"
"""The bytes of objects in R2."""
FILES: Final[Mapping[str, StateFiles]] = {kind.name: kind.files() for kind in KINDS if kind.keeps_state}


@dataclass(frozen=True)
class Resource:
    """`path` is below the state folder; `name` is what the config calls it, or else the file's name. No count: it can't
    be read.
    """

    kind: str
    name: str
    path: str
    count: int | None
    bytes: int

    @property
    def holds(self) -> str:
        noun = FILES[self.kind].noun
        if self.count is None:
            return "damaged"
        return f"{self.count} {noun}" if self.count == 1 else f"{self.count} {noun}s"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Names:
    """What the user calls the files of the resources; `config` None: what the files themselves are called."""

    def __init__(self, root: Path, config: Config | None) -> None:
        specs = {**(config.specs if config is not None else {})}
        specs["r2"] = (*specs.get("r2", ()), *_buckets(root))
        self._words: dict[str, list[str]] = {}
        for kind, files in FILES.items():
            for name, words in files.named(specs.get(kind, ())):
                self._words.setdefault(f"{files.folder}/{name}", []).extend(words)

    def of(self, path: str) -> str:
        return self._words[path][0] if path in self._words else Path(path).stem

    def is_meant(self, path: str, word: str) -> bool:
        return word == Path(path).stem or word in self._words.get(path, ())


def _buckets(root: Path) -> list[R2BucketSpec]:
    """Those that hold something: the folder of their blobs says the name, which the file's own name does not."""
    return [R2BucketSpec(path.parent.name) for path in sorted((root / BUCKETS).glob("*/blobs"))]


def resources(root: Path, names: Names, *, damaged_too: bool = False) -> list[Resource]:
    """Those of which there is a file. UserError for one that can't be read, unless damaged ones are wanted too."""
    found = []
    for kind, path in databases(root):
        try:
            found.append(resource(root, kind, path, names))
        except UserError:
            if not damaged_too:
                raise
            found.append(Resource(kind, names.of(path), path, None, (root / path).stat().st_size))
    return found


def resource(root: Path, kind: str, path: str, names: Names) -> Resource:
    try:
        with closing(opened(root / path)) as connection:
            [(count,)] = connection.execute(FILES[kind].count)
            size = int(connection.pragma("page_count")) * int(connection.pragma("page_size"))
    except apsw.Error as error:
        raise unusable(root / path, error) from error
    return Resource(kind, names.of(path), path, count, size)


def databases(root: Path) -> Iterator[tuple[str, str]]:
    """Kind and path of each resource's file."""
    for kind, files in FILES.items():
        for path in sorted((root / files.folder).glob(files.pattern)):
            yield kind, path.relative_to(root).as_posix()


def others(root: Path) -> list[str]:
    """The files that are no databases."""
    blobs = sorted(path.relative_to(root).as_posix() for path in root.glob(BLOBS))
    return [CLOCK, *blobs] if (root / CLOCK).is_file() else blobs


def beside(root: Path, path: str) -> list[str]:
    """The other files of the resource at `path`: the bytes of a bucket's objects."""
    files = FILES["r2"]
    found = [
        blob
        for name, words in files.named(_buckets(root))
        if path == f"{files.folder}/{name}"
        for blob in (root / BUCKETS / words[0] / "blobs").iterdir()
    ]
    return sorted(blob.relative_to(root).as_posix() for blob in found)


def kind_of(path: str) -> str | None:
    """Whose database this path of a state would be."""
    for kind, files in FILES.items():
        folder, _, name = path.rpartition("/")
        if folder == files.folder and fnmatchcase(name, files.pattern):
            return kind
    return None


def is_other(path: str) -> bool:
    return path == CLOCK or (fnmatchcase(path, BLOBS) and path.count("/") == BLOBS.count("/"))


def opened(file: Path) -> apsw.Connection:
    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    return connection
