"""After each death, and at the end, for KV, D1 and queues: is what was acknowledged there, whole, and nothing else?

What is known comes from the notes: what the client asked, was granted and has read, and what the Worker was delivered.
Of the state it looks at what waits in the queues, and at the end at the number of rows, which shows what was left over.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

import apsw

from tests.crash import backlog
from tests.crash.backlog import Waiting
from tests.crash.notes import Note
from tests.crash.queue_judge import Queues
from tests.crash.witness import Find, Witness

_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"


class End(NamedTuple):
    """The files, how many rows each table has, and which bodies wait in each queue."""

    files: list[str]
    rows: dict[str, int]
    waiting: dict[str, list[str]]


class DataJudge(Witness):
    def __init__(self, state: Path, notes_path: Path, scratch: Path) -> None:
        super().__init__(state, notes_path, scratch)
        self._values: dict[str, Value] = {}
        self._contents = Contents(self._find)
        self._queues = Queues(self._find)
        self.end = End([], {}, {})

    def look(self, *, in_good_order: bool) -> None:
        copy = self._copied()
        waiting = backlog.read(copy)
        new = self._new_notes()
        for note in new:
            self._hear(note)
            self._queues.hear(note)
        has_lived = any(note["is"] in ("rests", "closes") for note in new)  # one that could not start has not
        self._queues.look(waiting, in_good_order=in_good_order and has_lived)
        self.end = End(_files(self._state), _rows(copy), _bodies(waiting))

    def compare_ends(self, oracle: End, may_differ: frozenset[str]) -> None:
        self.counts.update(self._queues.counts)
        for there, wanted in zip(self.end, oracle, strict=True):
            if there != wanted:
                self._find("differing", f"at the end there are {there}, not {wanted}")

    def _hear(self, note: Note) -> None:
        match note:
            case {"is": "asks" | "acked" | "failed" as what, "action": "put"}:
                self.counts["puts"] += what == "acked"
                getattr(self._value(note["name"]), what)(note)
            case {"is": "asks" | "acked" | "failed" as what, "action": "write"}:
                self.counts["writes"] += what == "acked"
                getattr(self._contents, what)(note)
            case {"is": "seen"}:
                self._hear_of_reading(note)
            case {"is": "streamed"}:
                self._value(note["name"]).streamed(note)

    def _hear_of_reading(self, note: Note) -> None:
        for name, value in note["values"].items():
            self._value(name).seen(value, note)
        if "listed" in note:
            there = [name for name, value in note["values"].items() if value is not None]
            if note["listed"] != there:
                self._find("differing", f"listed are {note['listed']}, but there are {there}")
            self._contents.seen(frozenset(note["contents"]), first=note["first"])

    def _value(self, name: str) -> Value:
        return self._values.setdefault(name, Value(name, self._find))


class Version(NamedTuple):
    """What a put leaves, until it expires; a delete leaves None."""

    value: str | None
    expires_s: int | None

    def at(self, now_ms: float) -> str | None:
        return None if self.expires_s is not None and self.expires_s * 1000 <= now_ms else self.value


NOTHING: Final = Version(None, None)


@dataclass
class Value:
    """One key of KV: `now` is what it has; what is asked and not yet granted it may have."""

    name: str
    find: Find
    now: Version = NOTHING
    asked: list[Version] = field(default_factory=list)
    ever: set[str | None] = field(default_factory=set)

    def asks(self, note: Note) -> None:
        self.asked.append(Version(note["value"], note["expires_s"]))
        self.ever.add(note["value"])

    def acked(self, note: Note) -> None:
        self.now = self.asked[-1]
        self.asked = []

    def failed(self, note: Note) -> None:
        self.asked = []

    def seen(self, value: str | None, note: Note) -> None:
        now_ms = note["now_ms"]
        if value == self.now.at(now_ms):
            pass
        elif granted := [version for version in self.asked if version.at(now_ms) == value]:
            self.now = granted[-1]
        else:
            self.find("lost", f"{self.name} is {value}, not {self.now} nor one of {self.asked}: {note}")
        if note["first"]:
            self.asked = []  # of a life that is over

    def streamed(self, note: Note) -> None:
        """Before or after what was written meanwhile, but no mixture."""
        if note["value"] not in self.ever:
            self.find("broken", f"{self.name} was never what a stream gave: {note}")


@dataclass
class Contents:
    """A database: the rows and tables that are in it; what is asked and not yet granted may be, each group whole."""

    find: Find
    now: frozenset[str] = frozenset()
    asked: dict[int, list[list[str]]] = field(default_factory=dict)

    def asks(self, note: Note) -> None:
        self.asked[note["number"]] = note["groups"]

    def acked(self, note: Note) -> None:
        for group in self.asked.pop(note["number"]):
            self.now = _changed(self.now, group)

    def failed(self, note: Note) -> None:
        if len(note["groups"]) == 1:  # else the first of them may have happened
            del self.asked[note["number"]]

    def seen(self, contents: frozenset[str], *, first: bool) -> None:
        wanted = self.now
        for group in (group for groups in self.asked.values() for group in groups):
            if _changed(contents, group) == contents:
                wanted = _changed(wanted, group)
        if lost := wanted - contents:
            self.find("lost", f"rows {sorted(lost)} of a database with {sorted(contents)}")
        if others := contents - wanted:
            self.find("broken", f"rows {sorted(others)} that nobody wrote as a whole, beside {sorted(wanted)}")
        self.now = contents
        if first:
            self.asked = {}  # of a life that is over


def _changed(contents: frozenset[str], group: list[str]) -> frozenset[str]:
    gone = {name[1:] for name in group if name.startswith("-")}
    return (contents | {name for name in group if not name.startswith("-")}) - gone


def _files(state: Path) -> list[str]:
    """Without what SQLite keeps beside a database that is open."""
    names = (path.name for path in state.rglob("*") if path.is_file())
    return sorted(name for name in names if not name.endswith(("-wal", "-shm")))


def _rows(state: Path) -> dict[str, int]:
    found: dict[str, int] = {}
    for path in sorted(state.rglob("*.sqlite")):
        connection = apsw.Connection(str(path))
        for (table,) in connection.execute(_TABLES).fetchall():
            found[f"{path.stem[:12]}.{table}"] = connection.execute(f'SELECT count(*) FROM "{table}"').get
        connection.close()
    return found


def _bodies(waiting: dict[str, dict[str, Waiting]]) -> dict[str, list[str]]:
    return {queue: sorted(message.body for message in messages.values()) for queue, messages in waiting.items()}
