"""When a request is over in workerd: not with its answer, but when its body and its `waitUntil` are done too.

On virtual time it has to be known, or the clock would move on while the Worker still works. workerd tells it to the
tail worker of the user's Worker, which is `js/tail.js`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from flarebed.bindings.clock import Clock
from flarebed.emulator.runtime.http import IncomingRequest
from flarebed.emulator.runtime.workerd.host import Adapter, Answered, Asked
from flarebed.emulator.runtime.workerd.wiring import CONTROL, Struct, Wiring


@dataclass(eq=False)
class _Request:
    name: str
    is_answered: bool = False


class Endings:
    """Of one Worker's requests: what is answered is an operation outside for the clock until it is over."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._going_on: defaultdict[str, list[_Request]] = defaultdict(list)

    def watch(self, wiring: Wiring) -> Struct:
        """What a Worker's config says so that this hears of it."""
        service = wiring.external("ended", "", self._adapter())
        wiring.control.append({"name": service, "service": service})
        tail = {"name": CONTROL, "entrypoint": "Tail", "props": {"json": json.dumps({"service": service})}}
        return {"tails": [tail]}

    @contextmanager
    def of(self, incoming: IncomingRequest) -> Iterator[None]:
        """While the block waits for the answer, that counts already."""
        if ("upgrade", "websocket") in incoming.headers:  # it is over when its client is gone
            yield
            return
        request = _Request(f"{incoming.method} {incoming.url}")
        self._going_on[request.name].append(request)
        self._clock.named[request.name] += 1
        try:
            yield
        finally:
            if request in self._going_on[request.name]:
                request.is_answered = True
                self._clock.outside += 1

    def all_ended(self) -> None:
        """workerd is gone."""
        for name, requests in self._going_on.items():
            while requests:
                self._ended(name)

    def _ended(self, name: str) -> None:
        going_on = self._going_on[name]
        if not going_on:
            return  # one that the Worker has sent to itself
        # Of several alike one that is answered: what is not may wait for time that has to move first.
        request = next((each for each in going_on if each.is_answered), going_on[0])
        going_on.remove(request)
        self._clock.named[name] -= 1
        self._clock.outside -= request.is_answered

    def _adapter(self) -> Adapter:
        async def answer(asked: Asked) -> Answered:
            for name in json.loads(await asked.body()):
                self._ended(name)
            return Answered()

        return answer
