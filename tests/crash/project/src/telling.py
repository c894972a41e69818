"""What the shapes are told with: steps, sleeps and waits that note, in a file outside of the state, what they see.

A line is on disk before the Worker goes on. `begins` and `returns` are a callback's, `saw` is what run() was given.
"""

import asyncio
import itertools
import json
import os
import signal
import time
from collections import Counter

PATIENT = {"retries": {"limit": 40, "delay": "1 second", "backoff": "constant"}}
"""So many attempts that interrupted ones don't use them up."""


NOTES = itertools.count(1)


class Teller:
    def __init__(self, env, event, step):
        self.env, self.event, self.step = env, event, step
        self.params = event["payload"]
        self._id = event["instanceId"]
        self._counts = Counter()
        self._notes = os.open(env.NOTES, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def close(self):
        os.close(self._notes)

    def note(self, what, **fields):
        line = {"is": what, "life": int(self.env.LIFE), "id": self._id, "now_ms": time.time() * 1000, **fields}
        os.write(self._notes, json.dumps(line).encode() + b"\n")
        os.fsync(self._notes)
        if next(NOTES) == int(self.env.LAST_NOTE):
            os.kill(os.getpid(), signal.SIGKILL)

    def count(self, kind, name):
        self._counts[kind, name] += 1
        return self._counts[kind, name]

    async def do(self, name, seconds=0, fail=None, config=PATIENT, effect=None, before=None, inner=None):
        """A step whose result nobody could make again; `seconds` may depend on the attempt.

        `fail(attempt)` raises, `inner()` makes steps within this one, `before` is an effect that leaves no trace of its
        own, `effect` one that leaves the nonce.
        """
        count = self.count("do", name)

        @self.step.do(name, config=config)
        async def callback(ctx):
            value = {"step": name, "nonce": os.urandom(6).hex()}
            self.note("begins", name=name, count=count, attempt=ctx["attempt"], limit=config["retries"]["limit"])
            if duration_s := seconds(ctx["attempt"]) if callable(seconds) else seconds:
                await asyncio.sleep(duration_s)
            if before:
                await before(self.env, value["nonce"])
            if effect:
                await effect(self.env, value["nonce"])
            if inner:
                value["inner"] = await inner()
            if fail:
                fail(ctx["attempt"])
            self.note("returns", name=name, count=count, value=value, effect=effect and effect.__name__)
            return value

        return await self.seen("do", name, count, callback())

    async def seen(self, kind, name, count, outcome):
        """What run() gets, a result or an error."""
        try:
            value = await outcome
        except Exception as error:
            self.note("saw", kind=kind, name=name, count=count, error=str(error))
            raise
        self.note("saw", kind=kind, name=name, count=count, value=value)
        return value

    async def attempted(self, outcome):
        """The value, or the error's text."""
        try:
            return await outcome
        except Exception as error:
            return str(error)

    async def sleep(self, name, duration):
        self.count("sleep", name)
        await self.step.sleep(name, duration)

    async def wait(self, name, event_type, timeout="30 days"):
        """The payload of an event."""

        async def payload():
            return (await self.step.wait_for_event(name, event_type, timeout=timeout))["payload"]

        return await self.seen("wait", name, self.count("wait", name), payload())
