"""A state folder that outlives the processes which have it open."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tests.bindings.workflows.life import START_MS, Life


class Machine:
    """One state folder, and the processes that have it one after another. Time goes on between them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.now_ms = START_MS
        self.ran: Counter[str] = Counter()
        self.life: Life | None = None

    def live(
        self,
        body: Callable[..., Awaitable[Any]],
        story: Callable[[Life], Awaitable[None]],
        *,
        graceful: bool = False,
        **spec: Any,
    ) -> None:
        """A process that runs `body` for all instances, until `story` is over; then it is killed."""

        async def process() -> None:
            life = self.life = await Life.owning(self.root, body, start_ms=self.now_ms, **spec)
            await story(life)
            self.now_ms = life.clock.now_ms()
            if graceful:
                await life.end()
            else:
                life.kill()

        asyncio.run(process())

    def since_start_ms(self) -> float:
        assert self.life is not None
        return self.life.clock.now_ms() - START_MS

    def step(self, name: str, value: Any = None, duration_ms: float = 0) -> Callable[..., Awaitable[Any]]:
        async def callback(context: Any) -> Any:
            self.ran[name] += 1
            assert self.life is not None
            if duration_ms:
                await self.life.clock.sleep(duration_ms)
            return value

        return callback
