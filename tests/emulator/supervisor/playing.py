"""Processes of a supervisor that are only played."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from flarebed.emulator.supervisor.files import Signature, signatures
from flarebed.emulator.supervisor.messages import Message
from flarebed.emulator.supervisor.runtimes import Maker, Runtime

Play = Callable[..., None]


class Played(Runtime):
    """A process that does what the test says; `told` has what it was told."""

    def __init__(self, stage: Stage, maker: Maker, known: dict[str, Signature], replaces: bool, failure: str) -> None:
        number = len(stage.made) + 1
        super().__init__(number, maker, known, 0)
        self.stage = stage
        self.failure = failure
        self.replaces = replaces
        self.told: list[str] = []
        self.killed = False
        self.pid = number

    def tell(self, fields: dict[str, Any], payload: bytes = b"", fds: tuple[int, ...] = ()) -> None:
        self.told.append(fields["do"] + payload.decode())

    def kill(self) -> None:
        self.killed = True

    def says(self, what: str, **fields: Any) -> None:
        self.maker.told(self, Message({"is": what} | fields))

    def is_ready(self, broken: bool = False) -> None:
        found = signatures([str(self.stage.entry)])
        self.says(
            "ready",
            known=found,
            roots=[str(self.stage.entry.parent)],
            broken=broken,
            bindings={},
            notices=[],
            warnings=[],
            crons=[],
        )

    def gives(self, data: bytes) -> None:
        self.maker.told(self, Message({"is": "connection"}, data, (-1,)))

    def exits(self, code: int) -> None:
        self.pid = 0
        self.maker.exited(self, code)


class Stage:
    """Stands for the launcher."""

    def __init__(self, entry: Path) -> None:
        self.entry = entry
        self.made: list[Played] = []

    def launcher(self, server: Any, loop: Any, on_lost: Any) -> Stage:
        return self

    def spawn(
        self, maker: Maker, launch: Any, listener: Any, known: Any, born_ns: int, *, replaces: bool = False,
        failure: str = "",
    ) -> Played:  # fmt: skip
        self.made.append(Played(self, maker, known, replaces, failure))
        return self.made[-1]
