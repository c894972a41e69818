"""Our engine's answer to a question: worker.js in Python, on virtual time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from flarebed.bindings.errors import JsError
from flarebed.bindings.workflows.api import WorkflowApi
from flarebed.bindings.workflows.spec import WorkflowSpec
from tests.bindings.workflows.life import Life
from tests.oracle.workflows.scrubbing import scrubbed
from tests.oracle.workflows.values import Reviver, shown

INSTANCE_ID = "zz1zz"
POLL_MS = 10
STEP_MS = 25
ROUNDS = 60
PATIENCE_MS = 4_000


def answer(root: Path, question: dict[str, Any]) -> dict[str, Any]:
    async def asked() -> dict[str, Any]:
        play = Play(question)
        play.life = life = await Life.owning(root, play.run)
        answers = []
        for op in question["ask"]:
            try:
                answers.append(await shown(await play.ask(op)))
            except JsError as error:
                answers.append({"throws": str(error) if error.message else f"{error.name}: "})
        given = {"asked": answers, "run": play.notes}
        if question.get("detail"):
            given["detail"] = WorkflowApi(WorkflowSpec("FLOW", "flow", "Flow"), life.bench.around).detail(INSTANCE_ID)
        given = scrubbed(json.loads(json.dumps(given)), INSTANCE_ID)
        await life.end()
        return given

    with asyncio.Runner() as runner:
        return runner.run(asked())


class Play:
    def __init__(self, question: dict[str, Any]) -> None:
        self.question = question
        self.notes: list[Any] = []
        self.life: Life
        self._opened: set[str] = set()
        self._held: Any = None
        self._step: Any = None
        self._event_ids: list[int] = []
        self.value = Reviver(INSTANCE_ID, self._callback, self._now_ms)

    def _now_ms(self) -> float:
        return self.life.clock.now_ms()

    async def _settle(self) -> None:
        await self.life.clock.settle(ROUNDS)

    async def _advance(self, delta_ms: float) -> None:
        await self.life.clock.advance(delta_ms)
        await self._settle()

    # What the Worker does

    async def run(self, event: Any, step: Any) -> Any:
        self._step = step
        for name, *args in self.question["run"]:
            if name == "event":
                self.notes.append(await shown(event))
            elif name == "throw":
                raise error_of(*args[0])
            elif name == "return":
                return self.value(args[0])
            elif name == "must":
                await self._act(step, [name, *args])
            else:
                await self._tried(step, [name, *args])
        return self.value({"$undefined": 0})

    async def _tried(self, step: Any, op: list[Any]) -> None:
        try:
            self.notes.append(await shown(await self._act(step, op)))
        except JsError as error:
            self.notes.append({"throws": f"{error.name}: {error.message}"})

    async def _act(self, step: Any, op: list[Any]) -> Any:
        name, *args = op
        if name == "must":
            self.notes.append(await shown(await self._act(step, args[0])))
        elif name == "all":
            await asyncio.gather(*(self._tried(step, each) for each in args))
        elif name == "gate":
            await self._gate(args[0])
        else:
            return await getattr(step, name)(*map(self.value, args))
        return self.value({"$undefined": 0})

    def _callback(self, behaviours: list[dict[str, Any]]) -> Callable[..., Awaitable[Any]]:
        left = list(behaviours)

        async def callback(argument: Any = None) -> Any:
            does = left.pop(0) if len(left) > 1 else left[0]
            if "note" in does:
                self.notes.append([does["note"], await shown(argument)])
            if "gate" in does:
                await self._gate(does["gate"])
            if "hang" in does:
                await self.life.clock.sleep(does["hang"])
            for op in does.get("steps", ()):
                await self._tried(self._step, op)
            if "throw" in does:
                raise error_of(*does["throw"])
            return self.value(does.get("return", {"$undefined": 0}))

        return callback

    async def _gate(self, name: str) -> None:
        while name not in self._opened:
            await self.life.clock.sleep(POLL_MS)

    # What is asked from outside

    async def ask(self, op: list[Any]) -> Any:
        name, *args = op
        own = getattr(self, f"_ask_{name}", None)
        given = await (own(*args) if own is not None else self._call(name, args))
        return handles(given)

    async def _call(self, name: str, args: list[Any]) -> Any:
        if name in ("create", "createBatch", "get", "deleteBatch"):
            given = await self._while_time_passes(getattr(self.life.flow, name)(*map(self.value, args)))
            await self._settle()
            return given
        return await self._ask_on("", name, *args)

    async def _ask_on(self, suffix: str, name: str, *args: Any) -> Any:
        handle = await self.life.flow.get(INSTANCE_ID + suffix)
        given = await self._while_time_passes(getattr(handle, name)(*map(self.value, args)))
        await self._settle()
        return given

    async def _while_time_passes(self, call: Awaitable[Any]) -> Any:
        """A rollback's retries may take a while."""
        task = asyncio.ensure_future(call)
        for _ in range(PATIENCE_MS // STEP_MS):
            await self._settle()
            if task.done():
                break
            await self._advance(STEP_MS)
        return await task

    async def _ask_open(self, gate: str) -> Any:
        self._opened.add(gate)
        return self.value({"$undefined": 0})

    async def _ask_wait(self, delay_ms: float) -> Any:
        await self._advance(delay_ms)
        return self.value({"$undefined": 0})

    async def _ask_notes(self) -> Any:
        return json.loads(json.dumps(self.notes))

    async def _ask_hold(self) -> Any:
        self._held = await self.life.flow.get(INSTANCE_ID)
        return self.value({"$undefined": 0})

    async def _ask_held(self, name: str, *args: Any) -> Any:
        given = await getattr(self._held, name)(*map(self.value, args))
        await self._settle()
        return given

    async def _ask_until(self, *wanted: str) -> str:
        seen = ""
        for _ in range(PATIENCE_MS // STEP_MS):
            seen = (await self.life.status(INSTANCE_ID))["status"]
            if seen in wanted:
                return seen
            await self._advance(STEP_MS)
        return f"still {seen}"

    async def _ask_after(self, place: int, options: Any, most: int) -> Any:
        _, events = await self._subscribed({**options, "cursor": self._event_ids[place]}, most)
        return events

    async def _ask_subscribe(self, options: Any, most: int) -> Any:
        self._event_ids, events = await self._subscribed(options, most)
        return events

    async def _subscribed(self, options: Any, most: int) -> tuple[list[int], list[Any]]:
        handle = await self.life.flow.get(INSTANCE_ID)
        given = [] if options is None else [self.value(options)]
        subscription = await handle.subscribe(*given)
        events: list[Any] = []
        ids: list[int] = []
        while len(events) < most:
            following = asyncio.ensure_future(subscription.next())
            for _ in range(3_000 // STEP_MS):
                await self._settle()
                if following.done():
                    break
                await self._advance(STEP_MS)
            if not following.done():
                following.cancel()
                return ids, [*events, "nothing more"]
            if following.result()["done"]:
                return ids, [*events, "end"]
            told = dict(following.result()["value"])
            ids.append(told["eventId"])
            events.append({key: told[key] for key in told if key not in ("instanceId", "eventId", "timestamp")})
        return ids, events


def error_of(name: str, message: str = "") -> JsError:
    return JsError(message, name.removeprefix("DOM:"))


def handles(given: Any) -> Any:
    """What create() and its like give, without the methods."""
    if isinstance(given, list):
        return [handles(each) for each in given]
    if isinstance(given, dict) and "created" in given:
        return {**given, "created": handles(given["created"])}
    return given.id if hasattr(given, "sendEvent") else given
