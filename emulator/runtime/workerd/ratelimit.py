"""Rate limits behind `js/ratelimit.js`: POST with a namespace, a key, a limit and a period, answered by whether it is
within the limit.

Windows are as long as the period and begin at its multiples; counts are shared by all bindings of a namespace.
https://developers.cloudflare.com/workers/runtime-apis/bindings/rate-limit/
"""

from __future__ import annotations

import json
from typing import Any

from flarebed.bindings.clock import Clock
from flarebed.emulator.runtime.workerd.host import Adapter, Answered, Asked


def adapter(clock: Clock) -> Adapter:
    counts: dict[tuple[str, str, float], tuple[float, int]] = {}

    async def answer(asked: Asked) -> Answered:
        wanted: Any = json.loads(await asked.body())
        window = clock.now_ms() // (wanted["period"] * 1000)
        which = (wanted["namespace"], wanted["key"], wanted["period"])
        counted, count = counts.get(which, (window, 0))
        if counted != window:
            count = 0
        allowed = count < wanted["limit"]
        if allowed:
            counts[which] = (window, count + 1)
        return Answered(body=json.dumps({"success": allowed}).encode())

    return answer
