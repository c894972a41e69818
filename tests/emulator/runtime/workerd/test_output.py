"""The lines of workerd, as it was heard to write them, in the terminal and as the errors of requests."""

from __future__ import annotations

import asyncio
import json

from flarebed.emulator.runtime.http import Frame
from flarebed.emulator.runtime.workerd.output import Output

BOOM = "TypeError: boom one\n    at deep (index.js:3:9)\n    at Object.fetch (index.js:10:9)"


class Mapping:
    def mapped(self, stack: str) -> str:
        return stack.replace("index.js", "src/index.ts")

    def frames(self, stack: str) -> list[Frame]:
        return [Frame("src/index.ts", 3, "deep")] if "deep" in stack else []


class Heard:
    def __init__(self) -> None:
        self.logged: list[tuple[str, str]] = []
        self.output = Output(asyncio.get_running_loop(), lambda level, text: self.logged.append((level, text)))
        self.output.mappers.add(Mapping())
        self.time_ms = 1_796_070_871_710

    def says(self, message: str, level: str = "info", source: str | None = "workerd/io/worker.c++:3042") -> None:
        entry = {"timestamp": str(self.time_ms), "level": level, "message": message}
        self.output.line(json.dumps(entry if source is None else entry | {"source": source, "context_depth": 0}))

    def stack(self, stack: str) -> None:
        self.says(f"uncaught exception; source = Uncaught (in promise); stack = {stack}")

    def value(self, value: str) -> None:
        self.says(f"uncaught exception; source = Uncaught (in promise); exception = {value}")

    def confirmed(self, description: str) -> None:
        self.says(
            f"uncaught exception; exception = workerd/jsg/value.h:1456: failed: jsg.{description}\nstack: w@3f68b70"
        )

    def failed(self, description: str) -> None:
        self.says(f"Uncaught exception: workerd/jsg/value.h:1456: failed: remote.jsg.{description}", "error")

    def request_fails(self, description: str, stack: str) -> None:
        self.stack(stack)
        self.confirmed(description)
        self.failed(description)

    async def failure(self) -> str:
        return (await self.output.failures.next()).text


async def turn() -> None:
    """Whatever is ready runs."""
    event = asyncio.Event()
    asyncio.get_running_loop().call_soon(event.set)
    await event.wait()


def pass_time() -> None:
    """All timers are due."""
    for handle in asyncio.get_running_loop()._scheduled:  # type: ignore[attr-defined]
        handle._run()


async def test_the_console() -> None:
    heard = Heard()
    for level in ("log", "debug", "info", "warn", "error"):
        heard.says(f"{level} of\nindex.js:1:2", level, source=None)
    assert heard.logged == [
        ("log", "log of\nsrc/index.ts:1:2"),
        ("log", "debug of\nsrc/index.ts:1:2"),
        ("log", "info of\nsrc/index.ts:1:2"),
        ("warn", "warn of\nsrc/index.ts:1:2"),
        ("error", "error of\nsrc/index.ts:1:2"),
    ]


async def test_an_exception_is_logged_once_and_is_the_requests() -> None:
    heard = Heard()
    heard.request_fails("TypeError: boom one", BOOM)
    shown = "TypeError: boom one\n    at deep (src/index.ts:3:9)\n    at Object.fetch (src/index.ts:10:9)"
    error = await heard.output.failures.next()
    assert (error.text, error.frames) == (shown, (Frame("src/index.ts", 3, "deep"),))
    assert heard.logged == [("error", f"Uncaught {shown}")]


async def test_an_error_class_of_the_workers() -> None:
    heard = Heard()
    heard.request_fails("Error: MyError: m", "MyError: m\n    at Object.fetch (index.js:24:15)")
    assert await heard.failure() == "MyError: m\n    at Object.fetch (src/index.ts:24:15)"


async def test_what_is_thrown_is_no_error() -> None:
    heard = Heard()
    heard.value("just a string")
    heard.confirmed("Error: just a string")
    heard.failed("Error: just a string")
    assert await heard.failure() == "Error: just a string"
    assert heard.logged == [("error", "Uncaught just a string")]


async def test_requests_that_fail_together_have_their_own_errors() -> None:
    heard = Heard()
    waiting = [asyncio.ensure_future(heard.failure()) for _ in range(3)]
    for name in ("one", "two", "three"):
        heard.stack(f"Error: {name}\n    at {name} (index.js:1:1)")
        heard.confirmed(f"Error: {name}")
    for name in ("two", "three", "one"):
        heard.failed(f"Error: {name}")
        await turn()
    assert [text.splitlines()[0] for text in await asyncio.gather(*waiting)] == [
        "Error: two", "Error: three", "Error: one",
    ]  # fmt: skip


async def test_the_same_error_twice_is_logged_twice() -> None:
    heard = Heard()
    for _ in range(2):
        heard.request_fails("TypeError: boom one", BOOM)
    assert len(heard.logged) == 2
    assert await heard.failure() == await heard.failure()


async def test_what_waits_after_the_answer_fails_no_request() -> None:
    heard = Heard()
    heard.stack("Error: in waitUntil\n    at index.js:57:17")
    heard.confirmed("Error: in waitUntil")
    heard.time_ms += 5000
    heard.request_fails("Error: in waitUntil", "Error: in waitUntil\n    at other (index.js:2:1)")
    assert await heard.failure() == "Error: in waitUntil\n    at other (src/index.ts:2:1)"
    assert len(heard.logged) == 2


async def test_an_exception_on_its_way_through_a_stream_is_one() -> None:
    heard = Heard()
    heard.stack(BOOM)
    heard.request_fails("TypeError: boom one", BOOM)
    assert len(heard.logged) == 1
    assert (await heard.failure()).startswith("TypeError: boom one")


async def test_a_failure_without_a_stack() -> None:
    heard = Heard()
    heard.says("Uncaught exception: workerd/server/server.c++:1: overloaded: too much of it", "error")
    assert await heard.failure() == "workerd/server/server.c++:1: overloaded: too much of it"
    assert heard.logged == [("error", "Uncaught workerd/server/server.c++:1: overloaded: too much of it")]


async def test_a_failure_that_is_never_told() -> None:
    heard = Heard()
    waiting = asyncio.ensure_future(heard.failure())
    await turn()
    pass_time()
    assert await waiting == "Internal Server Error"


async def test_a_failure_that_nobody_waits_for_is_not_the_nexts() -> None:
    heard = Heard()
    heard.request_fails("Error: old", "Error: old")
    pass_time()
    heard.request_fails("Error: new", "Error: new")
    assert await heard.failure() == "Error: new"


async def test_what_is_ours_and_what_is_workerds_own_is_for_debugging() -> None:
    heard = Heard()
    heard.stack("Error: x\n    at Orders.run (_flarebed/control.js:3:4)")
    heard.stack("Error: x\n    at async deliver (_flarebed/queues.js:3:4)")
    heard.says("config uses experimental features", "warning")
    assert [level for level, _ in heard.logged] == ["debug", "debug", "debug"]


async def test_a_module_of_the_workers_may_have_the_name_of_one_of_ours() -> None:
    heard = Heard()
    heard.stack("Error: x\n    at fetch (wire.js:3:4)")
    assert [level for level, _ in heard.logged] == ["error"]


async def test_warnings_for_the_worker() -> None:
    heard = Heard()
    heard.says("console warning; message = When using module syntax, index.js:1:1")
    assert heard.logged == [("warn", "When using module syntax, src/index.ts:1:1")]


async def test_last_words() -> None:
    heard = Heard()
    for text in ("", "<--- Last few GCs --->", "[1] Mark-Compact", "*** Received signal #6: Aborted", "stack: a@1"):
        heard.output.line(text)
    assert [pair for pair in heard.logged if pair[0] != "debug"] == [
        ("error", "The Worker has run out of memory."), ("error", "*** Received signal #6: Aborted"),
    ]  # fmt: skip
