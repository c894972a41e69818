"""What the shapes are told with: steps, sleeps and waits that note, in a file outside of the state, what they see.

A line is on disk before the Worker goes on. `begins` and `returns` are a callback's, `saw` is what run() was given.
"""

import asyncio
import hashlib
import itertools
import json
import os
import signal
import time
from collections import Counter

from js import Object, ReadableStream
from pyodide.ffi import to_js

PATIENT = {"retries": {"limit": 40, "delay": "1 second", "backoff": "constant"}}
"""So many attempts that interrupted ones don't use them up."""


NOTES = itertools.count(1)


def note(env, what, **fields):
    """A line on disk; at the last one this process ends."""
    line = {"is": what, "life": int(env.LIFE), "now_ms": time.time() * 1000, **fields}
    file = os.open(env.NOTES, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, json.dumps(line).encode() + b"\n")
    os.fsync(file)
    os.close(file)
    if next(NOTES) == int(env.LAST_NOTE):
        os.kill(os.getpid(), signal.SIGKILL)


def to_object(**fields):
    return to_js(fields, dict_converter=Object.fromEntries)


class Teller:
    def __init__(self, env, event, step):
        self.env, self.event, self.step = env, event, step
        self.params = event["payload"]
        self._id = event["instanceId"]
        self._counts = Counter()

    def note(self, what, **fields):
        note(self.env, what, id=self._id, **fields)

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

    async def undoable(self, name, seconds=0, fail=None, fail_undoing=None):
        """A step with a rollback, which notes what it is given. The SDK's own `do` has none: this is JavaScript's."""
        count = self.count("do", name)

        async def callback(ctx):
            value = f"{name} {os.urandom(6).hex()}"
            self.note("begins", name=name, count=count, attempt=ctx.attempt, limit=PATIENT["retries"]["limit"])
            await asyncio.sleep(seconds)
            if fail:
                fail(ctx.attempt)
            self.note("returns", name=name, count=count, value=value, effect=None)
            return value

        async def undo(given):
            said = {"kind": "rollback", "name": given.stepName, "count": 1}
            output = given.output if isinstance(given.output, str) else None
            self.note("begins", attempt=None, limit=None, undoes=[name, count], output=output, **said)
            await asyncio.sleep(1)
            if fail_undoing:
                raise fail_undoing
            self.note("returns", value=None, effect=None, **said)

        config = {"retries": {"limit": 1, "delay": 1000}} if fail_undoing else PATIENT
        options = to_object(rollback=undo, rollbackConfig=config)
        outcome = self.step._js_step.do(name, to_object(**PATIENT), callback, options)
        return await self.seen("do", name, count, outcome)

    async def stream(self, name, blocks, seconds=0):
        """A step that gives a stream of bytes, a tenth of a megabyte every few seconds."""
        count = self.count("do", name)

        async def callback(ctx):
            block, left = os.urandom(50) * 2_000, iter(range(blocks))
            value = {"step": name, "nonce": hashlib.sha256(block * blocks).hexdigest()}

            async def pull(controller):
                await asyncio.sleep(seconds)
                if next(left, None) is not None:
                    controller.enqueue(to_js(block))
                else:
                    self.note("returns", name=name, count=count, value=value, effect=None)
                    controller.close()

            self.note("begins", name=name, count=count, attempt=ctx.attempt, limit=PATIENT["retries"]["limit"])
            return ReadableStream.new(to_object(pull=pull, type="bytes"))

        async def read():
            reader = (await self.step._js_step.do(name, to_object(**PATIENT), callback)).getReader()
            digest = hashlib.sha256()
            while not (part := await reader.read()).done:
                digest.update(part.value.to_bytes())
            return {"step": name, "nonce": digest.hexdigest()}

        return await self.seen("do", name, count, read())

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
