"""KV, D1 and queues under the real command: clients put, insert and send, and read what there is after each start."""

from __future__ import annotations

import json

from tests.crash import backlog
from tests.crash.data_judge import DataJudge, End
from tests.crash.rounds import Rounds
from tests.real.command import Running, edit, until


class DataRounds(Rounds):
    config = "data.jsonc"
    entry = "keeper.py"
    sign = b'"is": "says"'
    judged_by = DataJudge

    def copied(self) -> None:
        """On real time it is to be quick."""
        edit(self.folder / "src" / self.entry, "SECONDS = 0.5", "SECONDS = 0.01")
        edit(self.folder / "src" / self.entry, "delaySeconds=2", "delaySeconds=1")
        edit(self.folder / self.config, '"max_batch_timeout": 1', '"max_batch_timeout": 0')

    def prepare(self, running: Running) -> None:
        """And note what there is."""
        super().prepare(running)
        self.notebook.note("seen", 0, first=True, **json.loads(running.get("/look")))

    def work(self, running: Running) -> None:
        number = self._number
        name = f"key-{number % 7}"
        self.ask(running, f"/put/{name}/{number}", action="put", name=name, value=str(number), expires_s=None)
        rows = [f"row-{number}", f"other-{number}"]
        self.ask(running, f"/insert/{rows[0]}/{rows[1]}", action="write", groups=[rows])
        bodies = [f"{word}-{number}" for word in ("plain", "acked", "again", "thrown")]
        self.ask(running, f"/send/{'/'.join(bodies)}", action="send", queue="orders", bodies=bodies, due_ms=0)

    def finish(self, running: Running) -> None:
        until(lambda: not any(backlog.read(self.state).values()))

    def expected(self) -> End:
        """As many rows as there are, but nothing of any message."""
        files, rows, waiting = self.judge.end
        left = {name: 0 for name in rows if name.endswith((".messages", ".delayed", ".deliveries"))}
        return End(files, rows | left, {queue: [] for queue in waiting})
