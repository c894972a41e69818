"""What the judge knows of queues: what was sent, delivered, and said of it; and what waits after each death.

A message is acknowledged when its delivery's end is committed: from then on it is gone from its queue, and never comes
again. The log tells of a delivery after that.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from tests.crash.backlog import Waiting
from tests.crash.notes import Note
from tests.crash.witness import Find

DEAD: Final = "dead"
DEAD_LETTERS: Final = {"orders": DEAD}
RETRIES: Final = {"orders": 9, "side": 9, DEAD: 100, "kept": 0}
"""As `project/data.jsonc` has them."""


@dataclass
class Sent:
    bodies: list[str]
    is_acked: bool = False
    has_failed: bool = False


@dataclass
class Delivered:
    """One message in one queue.

    `life` and `pid` are of its last delivery, which its Worker has acknowledged (`is_acked`), and of which the log has
    told (`is_told`). `failed` are the attempts that its row counts. It `may_repeat` if a death, or a write that
    failed, has left it in two queues while it was redriven.
    """

    queue: str
    name: str
    body: str
    attempts: int = 0
    failed: int = 0
    life: int = 0
    pid: int = 0
    is_acked: bool = False
    is_told: bool = False
    is_gone: bool = False
    may_repeat: bool = False

    @property
    def has_no_attempt_left(self) -> bool:
        """Its last was delivered, or had begun when it was last looked at."""
        return max(self.attempts - 1, self.failed) >= RETRIES[self.queue]

    def __str__(self) -> str:
        return f"{self.body!r} ({self.name}) of {self.queue}, attempt {self.attempts}"


@dataclass
class Queues:
    find: Find
    counts: Counter[str] = field(default_factory=Counter)
    _sent: dict[int, Sent] = field(default_factory=dict)
    _due_ms: dict[str, float] = field(default_factory=dict)
    _messages: dict[tuple[str, str], Delivered] = field(default_factory=dict)
    _paused: set[str] = field(default_factory=set)
    _redriven: dict[str, str] = field(default_factory=dict)
    _half_redriven: set[str] = field(default_factory=set)
    _sent_to: dict[str, str] = field(default_factory=dict)
    _said: list[Note] = field(default_factory=list)
    _life: int = 0

    # What notes say

    def hear(self, note: Note) -> None:
        if note["life"] > self._life:
            self._life = note["life"]
            self._said = []
        match note:
            case {"is": "asks", "action": "send"}:
                self._sent[note["number"]] = Sent(note["bodies"])
                self._due_ms |= dict.fromkeys(note["bodies"], note["due_ms"])
                self._sent_to |= dict.fromkeys(note["bodies"], note["queue"])
            case {"is": "acked", "action": "send"}:
                self.counts["messages"] += len(note["bodies"])
                self._sent[note["number"]].is_acked = True
            case {"is": "failed", "action": "send"}:
                self._sent[note["number"]].has_failed = True
            case {"is": "acked", "action": "pause", "paused": True, "queue": queue}:
                self._paused.add(queue)
            case {"is": "asks", "action": "pause", "paused": False, "queue": queue}:
                self._paused.discard(queue)
            case {"is": "asks", "action": "redrive", "source": source, "target": target}:
                self._redriven[source] = target
            case {"is": "failed", "action": "redrive", "source": source}:
                self._half_redriven.add(source)
            case {"is": "got"}:
                self._hear_of_delivery(note)
            case {"is": "says"}:
                self._said.append(note)
                for name in note["acked"]:
                    self._messages[note["queue"], name].is_acked = True
            case {"is": "told"}:
                self._hear_of_end(note["text"])

    def _hear_of_delivery(self, note: Note) -> None:
        self.counts["deliveries"] += 1
        message = self._message(note["queue"], note["message"], note["body"])
        message.may_repeat |= self._sent_to[message.body] in self._half_redriven
        is_other = note["pid"] != message.pid
        is_over = message.is_gone or message.is_told or (message.is_acked and not is_other)
        if is_over and not message.may_repeat:
            self.find("duplicated", f"{message} was acknowledged, and comes again: {note}")
        elif message.is_acked or is_over:
            self.counts["repeated"] += 1
        if message.queue in self._paused:
            self.find("differing", f"{message} comes although its queue is paused: {note}")
        if note["now_ms"] < self._due_ms[message.body]:
            self.find("differing", f"{message} comes before its time: {note}")
        missed = max(note["life"] - message.life, is_other)  # may each have begun an attempt that nobody noted
        if not message.attempts < note["attempts"] <= message.attempts + 1 + missed and not message.may_repeat:
            self.find("differing", f"{message} comes as {note}")
        if note["attempts"] > RETRIES[message.queue] + 1:
            self.find("duplicated", f"{message} has no attempts left: {note}")
        message.attempts, message.life, message.pid = note["attempts"], note["life"], note["pid"]
        message.is_acked = False

    def _hear_of_end(self, text: str) -> None:
        """Of the delivery that is meant, where there is no doubt."""
        ended = [said for said in self._said if text.startswith(_told_of(said))]
        if len(ended) == 1:
            self._said.remove(ended[0])
            for name in ended[0]["acked"]:
                self._messages[ended[0]["queue"], name].is_told = True

    def _message(self, queue: str, name: str, body: str) -> Delivered:
        return self._messages.setdefault((queue, name), Delivered(queue, name, body, life=self._life))

    # What waits

    def look(self, waiting: dict[str, dict[str, Waiting]], *, in_good_order: bool) -> None:
        for queue, messages in waiting.items():
            for name, (body, attempts) in messages.items():
                message = self._message(queue, name, body)
                message.failed = attempts
                missed = self._life - message.life
                if not message.attempts - 1 <= attempts <= message.attempts + 1 + missed:
                    self.find("differing", f"{message} has {attempts} failed attempts")
        for source, target in self._redriven.items():
            for name in waiting[source].keys() & waiting[target].keys():
                self._messages[target, name].may_repeat = True
        for message in list(self._messages.values()):
            self._compare(message, waiting, in_good_order=in_good_order)
        self._compare_with_what_was_sent()

    def _compare(self, message: Delivered, waiting: dict[str, dict[str, Waiting]], *, in_good_order: bool) -> None:
        is_there = message.name in waiting.get(message.queue, {})
        if is_there and message.may_repeat:
            return
        if is_there and message.is_gone:
            self.find("duplicated", f"{message} was gone, and is there again")
        if is_there and message.is_told:
            self.find("lost", f"{message} was told of as acknowledged, but it is still there")
        if is_there and in_good_order and message.is_acked and message.life == self._life:
            self.find("lost", f"{message} was acknowledged before the end in good order, but it is still there")
        if is_there or message.is_gone:
            return
        if message.queue == DEAD and any(message.name in waiting[queue] for queue in DEAD_LETTERS):
            self.counts["repeated"] += 1  # acknowledged there before it has left the queue where it died
            del self._messages[DEAD, message.name]
            return
        message.is_gone = True
        if message.is_acked or (self._redriven.get(message.queue), message.name) in self._messages:
            return
        if not message.has_no_attempt_left:
            self.find("lost", f"{message} is gone, and nobody acknowledged it")
        elif message.queue in DEAD_LETTERS and (DEAD_LETTERS[message.queue], message.name) not in self._messages:
            self.find("lost", f"{message} did not come to the dead letter queue")

    def _compare_with_what_was_sent(self) -> None:
        known = {message.body for message in self._messages.values()}
        for sent in self._sent.values():
            there = [body for body in sent.bodies if body in known]
            if there not in ([], sent.bodies):
                self.find("broken", f"of the batch {sent.bodies} there is {there}")
            if sent.is_acked and not there:
                self.find("lost", f"{sent.bodies} was sent")
            if sent.has_failed and not sent.is_acked and there:
                self.find("differing", f"{sent.bodies} could not be sent, but it is there")


def _told_of(said: Note) -> str:
    """The beginning of the log's line."""
    acked = len(said["acked"])
    return f"QUEUE {said['queue']} {acked}/{acked + len(said['again'])} "
