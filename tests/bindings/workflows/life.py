"""What the tests of Workflows share: a process's life with a Worker whose run() is a Python function over `step`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from flarebed.bindings.errors import JsError
from flarebed.bindings.workflows.engine import open as open_workflows
from flarebed.bindings.workflows.spec import WorkflowSpec
from tests.support import Bench

START_MS = 1_767_225_600_000.0  # 2026-01-01T00:00:00Z

Body = Callable[[Any, Any], Awaitable[Any]]


class FakeWorker:
    """`outside`: how much a run has under way besides its steps."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.outside = 0
        self.class_names: list[str] = []
        self.exported = frozenset({"Flow"})

    def workflow_classes(self) -> frozenset[str]:
        return self.exported

    async def run_workflow(self, class_name: str, event: Any, step: Any) -> Any:
        self.class_names.append(class_name)
        step.outstanding = lambda: step._run._idling + self.outside
        return await self.body(event, step)


class Life:
    """A process that has the state folder `root` open; make it inside a running loop."""

    def __init__(
        self, root: Path, body: Body, *, start_ms: float = START_MS, flags: frozenset[str] = frozenset(), **spec: Any
    ) -> None:
        self.worker = FakeWorker(body)
        self.bench = Bench(root, dispatch=self.worker, flags=flags, start_ms=start_ms)
        self.resources = open_workflows((WorkflowSpec("FLOW", "flow", "Flow", **spec),), self.bench.around)
        self.flow: Any = self.resources.bindings()["FLOW"]
        self.clock = self.bench.clock

    @classmethod
    async def owning(cls, root: Path, body: Body, **options: Any) -> Life:
        life = cls(root, body, **options)
        await life.resources.own()
        return life

    async def settle(self) -> None:
        await self.clock.settle(400)

    async def advance(self, delta_ms: float) -> None:
        await self.clock.advance(delta_ms)
        await self.settle()

    def in_memory(self) -> set[str]:
        """The instances that have a run here."""
        return set(self.resources._own[0]._runs)

    async def status(self, instance_id: str) -> dict[str, Any]:
        shown: dict[str, Any] = await (await self.flow.get(instance_id)).status()
        return shown

    async def outcome(self, instance_id: str = "i") -> tuple[str, Any]:
        """The status, and the output or the error."""
        shown = await self.status(instance_id)
        return shown["status"], shown["output"] if not shown["error"] else shown["error"]

    async def end(self) -> None:
        """In good order."""
        await self.resources.disown()
        self.bench.store.close()

    def kill(self) -> None:
        """As kill -9 does: what is not committed is gone, and nobody cleans up. The loop is to end right after it."""
        for workflow in self.resources._own:
            workflow._owned = False
        for database in self.bench.store._open.values():
            if database.connection.in_transaction:
                database.connection.execute("ROLLBACK")
            database._in_tick = False
            database._waiters.clear()
            database.connection.close()
        self.bench.store._open.clear()


async def run_one(root: Path, body: Body, params: Any = None, after_ms: float = 0, **options: Any) -> dict[str, Any]:
    """The status of instance "i" of a new folder, `after_ms` after it was created."""
    life = await Life.owning(root, body, **options)
    await life.flow.create({"id": "i", "params": params})
    await life.advance(after_ms)
    shown = await life.status("i")
    await life.end()
    return shown


async def thrown(call: Awaitable[Any]) -> tuple[str, str]:
    """Name and message of what `call` throws."""
    try:
        result = await call
    except JsError as error:
        return error.name, error.message
    raise AssertionError(f"nothing was thrown, but {result!r} returned")


def returning(value: Any) -> Callable[..., Awaitable[Any]]:
    """A step's callback."""

    async def callback(*_: Any) -> Any:
        return value

    return callback


def raising(error: BaseException) -> Callable[..., Awaitable[Any]]:
    async def callback(*_: Any) -> Any:
        raise error

    return callback


class Story:
    """Callbacks that count how often each ran, and take `duration_ms`."""

    def __init__(self) -> None:
        self.ran: Counter[str] = Counter()
        self.life: Life | None = None

    def step(self, name: str, value: Any = None, duration_ms: float = 0) -> Callable[..., Awaitable[Any]]:
        async def callback(context: Any) -> Any:
            self.ran[name] += 1
            if duration_ms:
                assert self.life is not None
                await self.life.clock.sleep(duration_ms)
            return value

        return callback


class Attempts:
    """A callback that notes when it is called with what, and fails with `errors` one after another."""

    def __init__(self, *errors: JsError, value: Any = "done") -> None:
        self.life: Life | None = None
        self.errors = list(errors)
        self.value = value
        self.times_ms: list[float] = []
        self.contexts: list[Any] = []

    async def __call__(self, context: Any) -> Any:
        assert self.life is not None
        self.times_ms.append(self.life.clock.now_ms() - self.life.bench.start_ms)
        self.contexts.append(context)
        if self.errors:
            raise self.errors.pop(0)
        return self.value


async def attempt(root: Path, config: Any, attempts: Attempts, advance_ms: float = 0) -> Life:
    """A life in which one step "f" is made and its error caught and returned."""

    async def body(event: Any, step: Any) -> Any:
        try:
            return await step.do("f", config, attempts)
        except JsError as error:
            return [error.name, error.message]

    attempts.life = life = await Life.owning(root, body)
    await life.flow.create({"id": "i"})
    await life.advance(advance_ms)
    return life
