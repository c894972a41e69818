"""Workflows under the real command: clients create instances and send each of them its word."""

from __future__ import annotations

from typing import Final

from flarebed.bindings.codec import encode
from tests.crash import journal
from tests.crash.journal import InstanceRow, Snapshot, StepRow
from tests.crash.judge import Judge
from tests.crash.rounds import Rounds
from tests.real.command import Running, until

SHAPE: Final = "hasty"
STEPS: Final = ("part 0", "part 1", "part 2", "flaky")


class WorkflowRounds(Rounds):
    config = "wrangler.jsonc"
    entry = "entry.py"
    sign = b'"is": "returns"'
    judged_by = Judge

    def prepare(self, running: Running) -> None:
        """Those that a death has kept from their word get it."""
        super().prepare(running)
        now = journal.read(self.state)
        for instance_id, row in now.instances.items():
            if not now.buffered(row.key) and not now.delivered(row.key) and row.status not in journal.ENDED:
                self._send(running, instance_id)

    def work(self, running: Running) -> None:
        instance_id = f"i{self._number}"
        self.ask(running, f"/create/{instance_id}/{SHAPE}", action="create", id=instance_id)
        self._send(running, instance_id)

    def finish(self, running: Running) -> None:
        until(lambda: all(row.status in journal.ENDED for row in journal.read(self.state).instances.values()))

    def expected(self) -> Snapshot:
        return expected(self.judge.now)

    def _send(self, running: Running, instance_id: str) -> None:
        word = f"word-{instance_id}"
        self.ask(running, f"/send/{instance_id}/word/{word}", action="sendEvent", id=instance_id, payload=word)


def expected(now: Snapshot) -> Snapshot:
    """What each instance's end is, whatever happened on the way."""
    wanted = Snapshot()
    for instance_id, row in now.instances.items():
        word = f"word-{instance_id}"
        made = [{"step": name} for name in STEPS]
        wanted.instances[instance_id] = InstanceRow(row.key, "complete", [{"step": "first"}, word, *made], None)
        event = encode({"payload": word, "type": "word", "timestamp": None})
        wanted.steps[row.key, "wait", "word", 1] = StepRow("done", 0, None, event, None)
    return wanted
