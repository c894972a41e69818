"""After each death, and at the end: has anything been lost, made twice, or come out otherwise?

What is known comes from the notes (what the Worker and the client saw) and from the journal as it was after the death
before.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import apsw

from tests.crash import journal, notes
from tests.crash.journal import ENDED, OUTCOMES, Place, Snapshot, StepRow
from tests.crash.notes import Note
from tests.crash.witness import Witness

INTERRUPTED: Final = "WorkflowInternalError: Attempt failed due to internal workflows error"
StepName = tuple[str, str, int]


@dataclass
class Known:
    """What is known of one instance, until it is restarted or deleted: that begins a new one."""

    seen: dict[StepName, Any] = field(default_factory=dict)
    attempts: dict[StepName, int] = field(default_factory=dict)
    acked: list[Note] = field(default_factory=list)
    asked: list[Note] = field(default_factory=list)
    read: Note | None = None
    is_new: bool = False
    """Restarted or deleted in this life."""


class Judge(Witness):
    def __init__(self, state: Path, notes_path: Path, scratch: Path) -> None:
        super().__init__(state, notes_path, scratch)
        self._reloaded = False
        self._now_ms = 0.0
        self._uncounted = self._repeated = 0  # attempts that a life cut short itself are made again under their number
        self._known: dict[str, Known] = {}
        self._before = Snapshot()
        self.now = Snapshot()

    @property
    def end(self) -> Snapshot:
        return self.now

    def look(self, *, in_good_order: bool) -> None:
        copy = self._copied()
        self._before, self.now = self.now, journal.read(copy)
        new = self._new_notes()
        for known in self._known.values():
            known.is_new = False
        reloaded, self._reloaded = self._reloaded, any(note["is"] == "reloads" for note in new)
        self._uncounted = int(in_good_order or self._reloaded)
        self._repeated = int(reloaded or self._reloaded)
        for note in new:
            self._hear(note)
        self._compare_journals()
        for instance_id, known in self._known.items():
            self._compare_with_what_was_seen(instance_id, known)
            self._compare_with_what_was_acked(instance_id, known)
            if in_good_order:
                self._take_back_attempts(instance_id, known)

    def compare_ends(self, oracle: Snapshot, may_differ: frozenset[str]) -> None:
        self.counts.update(instances=len(self.now.instances), steps=len(self.now.steps))
        if self.now.instances.keys() != oracle.instances.keys():
            self._find("differing", f"instances {sorted(self.now.instances)}, not {sorted(oracle.instances)}")
        for instance_id, expected in oracle.instances.items():
            row = self.now.instances.get(instance_id)
            if row is None:
                continue
            got = (row.status, _plain(row.output), row.error, row.rolled_back)
            wanted = (expected.status, _plain(expected.output), expected.error, expected.rolled_back)
            if got != wanted and not (instance_id in may_differ and _may_be(got, wanted)):
                self._find("differing", f"{instance_id} ended as {got}, not {wanted}")
            events, wanted_events = (
                (now.buffered(key), sorted(now.delivered(key), key=repr))
                for now, key in ((self.now, row.key), (oracle, expected.key))
            )
            if events != wanted_events:
                self._find("differing", f"events of {instance_id}: {events}, not {wanted_events}")
        self._find_effects()

    def _take_back_attempts(self, instance_id: str, known: Known) -> None:
        """An attempt that was cut short in good order is made again under its number."""
        key = self.now.key(instance_id)
        for step, attempt in known.attempts.items():
            row = self.now.steps.get((key, *step)) if key is not None else None
            if row is not None and row.attempts == attempt - 1:
                known.attempts[step] = row.attempts

    # What notes say

    def _hear(self, note: Note) -> None:
        self._now_ms = max(self._now_ms, note["now_ms"])
        if "id" not in note:
            return
        known = self._known.setdefault(note["id"], Known())
        match note["is"]:
            case "asks":
                self._heard_asking(note, known)
            case "acked":
                for instance_id in note.get("ids", [note["id"]]):
                    self._known.setdefault(instance_id, Known()).acked.append(note)
            case "read" if note["status"] in ENDED:
                known.read = note
            case "begins":
                self._heard_beginning(note, known)
            case "saw":
                self._heard_seeing(note, known)
            case "returns" if note["effect"]:
                self.counts["effects"] += 1

    def _heard_asking(self, note: Note, known: Known) -> None:
        if note["action"] in ("restart", "delete") or (note["action"] == "create" and self._may_be_gone(known)):
            known = self._known[note["id"]] = Known(is_new=True)
        known.asked.append(note)

    def _heard_beginning(self, note: Note, known: Known) -> None:
        self.counts["attempts"] += 1
        step: StepName = (note.get("kind", "do"), note["name"], note["count"])
        key = self._before.key(note["id"])
        row = self._before.steps.get((key, *step)) if key is not None and not known.is_new else None
        if (row is not None and row.state in OUTCOMES) or step in known.seen:
            self._find("duplicated", f"{note['id']}: {step} was recorded, and is made again: {note}")
        if "undoes" in note:
            self._compare_with_what_is_undone(note)
        if note["attempt"] is None:
            return
        if note["attempt"] <= known.attempts.get(step, 0) - self._repeated:
            self._find("duplicated", f"{note['id']}: an attempt of {step} did not count: {note}")
        if note["attempt"] > note["limit"] + 1:
            self._find("duplicated", f"{note['id']}: too many attempts of {step}: {note}")
        known.attempts[step] = note["attempt"]

    def _compare_with_what_is_undone(self, note: Note) -> None:
        key = self.now.key(note["id"])
        row = self.now.steps.get((key, "do", *note["undoes"])) if key is not None else None
        if row is not None and note["output"] != (row.value if row.state == "done" else None):
            self._find("differing", f"{note['id']}: a rollback was given another result than {row}: {note}")

    def _heard_seeing(self, note: Note, known: Known) -> None:
        self.counts["results"] += 1
        step: StepName = (note["kind"], note["name"], note["count"])
        value = note["error"] if "error" in note else note["value"]
        if known.seen.setdefault(step, value) != value:
            self._find("differing", f"{note['id']}: {step} was {known.seen[step]}, now {value}")

    # What the journal says

    def _compare_journals(self) -> None:
        current = {row.key: instance_id for instance_id, row in self.now.instances.items()}
        for place, row in self._before.steps.items():
            if place[0] in current:
                self._compare_step(place, row, self.now.steps.get(place), self._known[current[place[0]]])
        self._compare_events(current)
        for key, instance_id in current.items():
            undoable, undone = self.now.rollbacks(key)
            if undone != undoable[::-1][: len(undone)]:
                self._find("differing", f"{instance_id}: rolled back in the order {undone}, of {undoable}")
        if orphans := [place for place in self.now.steps if place[0] not in current]:
            self._find("broken", f"steps of no instance: {orphans}")

    def _compare_step(self, place: Place, was: StepRow, now: StepRow | None, known: Known) -> None:
        resumed = any(note["action"] == "resume" for note in known.asked)
        taken_back = now is not None and now.wake_ms is None and self._uncounted  # an attempt that had begun by then
        if now is None:
            self._find("lost", f"step {place}")
        elif was.state in OUTCOMES:
            if (now.state, now.result, now.error) != (was.state, was.result, was.error):
                self._find("differing", f"step {place} was {was}, now {now}")
        elif now.attempts < was.attempts - self._uncounted:
            self._find("lost", f"attempts of {place}: {was.attempts}, now {now.attempts}")
        elif (now.state, now.attempts) != (was.state, was.attempts) or resumed or taken_back:
            return
        elif now.wake_ms != was.wake_ms:
            self._find("differing", f"the time of {place}: {was.wake_ms}, now {now.wake_ms}")

    def _compare_events(self, current: dict[int, str]) -> None:
        for key in current:
            have = Counter(map(repr, [*self.now.buffered(key), *(got for *_, got in self.now.delivered(key))]))
            had = {
                repr(payload)
                for payload in [*self._before.buffered(key), *(got for *_, got in self._before.delivered(key))]
            }
            for payload in had - have.keys():
                self._find("lost", f"event {payload} of {current[key]}")
            for payload, times in have.items():
                if times > 1:
                    self._find("duplicated", f"event {payload} of {current[key]}")

    def _compare_with_what_was_seen(self, instance_id: str, known: Known) -> None:
        """What run() was given, and what a user has read, was on disk."""
        key = self.now.key(instance_id)
        if key is None:
            return
        for step, value in known.seen.items():
            row = self.now.steps.get((key, *step))
            if row is None or row.state not in OUTCOMES:
                self._find("lost", f"{instance_id}: run() was given {value} by {step}, which is not on disk: {row}")
            elif row.state == "done" and _given(step, row.value) != value:
                self._find("differing", f"{instance_id}: run() was given {value} by {step}; on disk: {row.value}")
        if known.read is not None:
            now = self.now.instances[instance_id]
            if (now.status, now.output) != (known.read["status"], known.read["output"]):
                self._find("lost", f"{instance_id}: a user has read {known.read}, now it is {now}")

    def _compare_with_what_was_acked(self, instance_id: str, known: Known) -> None:
        last: dict[str, Note] = {}
        asked = {note["number"] for note in known.asked}
        row = self.now.instances.get(instance_id)
        for note in known.acked:
            last[note["action"]] = note
            if note["action"] == "create" and row is None and not known.is_new and not self._may_be_gone(known):
                self._find("lost", f"{instance_id} was created: {note}")
            if note["action"] == "sendEvent" and row is not None and note["number"] in asked:
                payloads = [*self.now.buffered(row.key), *(got for *_, got in self.now.delivered(row.key))]
                if note["payload"] not in payloads:
                    self._find("lost", f"{instance_id}: an event: {note}")
        if row is None:
            return
        later = max((note["number"] for note in known.asked), default=0)
        acked = max(known.acked, key=lambda note: note["number"], default=None)
        if acked is None or later > acked["number"]:
            return
        allowed = {
            "pause": ("paused", "waitingForPause", *ENDED), "terminate": ENDED,
        }.get(acked["action"])  # fmt: skip
        if allowed and row.status not in allowed:
            self._find("lost", f"{instance_id}: {acked}, but it is {row.status}")

    def _may_be_gone(self, known: Known) -> bool:
        """It was to be kept for a while only."""
        return any(
            note["action"] == "create" and note.get("kept_ms") and note["now_ms"] + note["kept_ms"] <= self._now_ms
            for note in known.acked
        )

    # Files and messages

    def _find_effects(self) -> None:
        """What a callback did before it returned, in D1 and KV, is there; a message has been delivered."""
        present: set[str] = set()
        for path in self._scratch.rglob("*.sqlite"):
            connection = apsw.Connection(str(path))
            for (sql,) in connection.execute("SELECT name FROM sqlite_schema WHERE name IN ('effects', 'entries')"):
                column = "nonce" if sql == "effects" else "key"
                present |= {name for (name,) in connection.execute(f"SELECT {column} FROM {sql}")}
            connection.close()
        noted = notes.read(self._notes)
        present |= {note["nonce"] for note in noted if note["is"] == "got"}
        for note in noted:
            if note["is"] == "returns" and note["effect"] and note["value"]["nonce"] not in present:
                self._find("lost", f"an effect: {note}")


def _given(step: StepName, recorded: Any) -> Any:
    """What run() gets of a recorded result."""
    return recorded["payload"] if step[0] == "wait" else recorded


def _plain(output: Any) -> Any:
    """Without what no two attempts have in common."""
    if isinstance(output, dict):
        return {key: _plain(value) for key, value in output.items() if key != "nonce"}
    return [_plain(item) for item in output] if isinstance(output, list) else output


def _may_be(got: tuple[Any, ...], wanted: tuple[Any, ...]) -> bool:
    """Where attempts are few, those that a kill has interrupted may have used them up."""
    return (got[0], *got[2:]) == (wanted[0], *wanted[2:]) and all(
        ours == theirs or (isinstance(ours, str) and INTERRUPTED in ours)
        for ours, theirs in zip(got[1], wanted[1], strict=True)
    )
