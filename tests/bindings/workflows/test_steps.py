"""`step.do`: results, attempts, timeouts, and each error text by ==."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED, ArrayBuffer, BigInt, Date, Map, View
from tests.bindings.workflows.life import Attempts, Life, attempt, raising, returning, run_one, thrown
from tests.support import run

GUIDE = "https://developers.cloudflare.com/workflows/build/sleeping-and-retrying/"
NO_RETRY = {"retries": {"limit": 0, "delay": 0}}
FATAL = {
    "name": "WorkflowFatalError",
    "message": "The execution of the Workflow instance was terminated, as a step threw an NonRetryableError and it was "
    "not handled",
}


def test_results_come_back_as_they_were(tmp_path: Path) -> None:
    value = {"d": Date(5), "m": Map([(1, "x")]), "u": UNDEFINED, "b": BigInt(7), "v": View(ArrayBuffer(b"xy"))}
    seen: list[Any] = []

    async def body(event: Any, step: Any) -> None:
        seen.append(await step.do("s", returning(value)))

    run(run_one(tmp_path, body))
    (got,) = seen
    assert got is not value
    assert (got["d"], got["m"].items(), got["u"], got["b"]) == (Date(5), [(1, "x")], UNDEFINED, BigInt(7))
    assert bytes(got["v"]) == b"xy"


def test_a_name_is_counted_and_empty_names_are_fine(tmp_path: Path) -> None:
    contexts: list[Any] = []

    async def callback(context: Any) -> None:
        contexts.append(context["step"])

    async def body(event: Any, step: Any) -> None:
        for name in ("same", "", "same", "same"):
            await step.do(name, callback)
        await step.sleep("same", 0)

    assert run(run_one(tmp_path, body))["status"] == "complete"
    assert contexts == [
        {"name": "same", "count": 1},
        {"name": "", "count": 1},
        {"name": "same", "count": 2},
        {"name": "same", "count": 3},
    ]


def test_the_context_of_each_attempt(tmp_path: Path) -> None:
    async def check() -> None:
        attempts = Attempts(JsError("no"), JsError("no"))
        life = await attempt(tmp_path, {"retries": {"limit": 3, "delay": "100 ms"}}, attempts, 1_000)
        assert await life.outcome() == ("complete", "done")
        config = {"retries": {"limit": 3, "backoff": "exponential", "delay": "100 ms"}, "timeout": "10 minutes"}
        assert [repr(context) for context in attempts.contexts] == [
            repr({"step": {"name": "f", "count": 1}, "attempt": number, "config": config}) for number in (1, 2, 3)
        ]
        await life.end()

    run(check())


@pytest.mark.parametrize(
    ("retries", "times_ms"),
    [
        ({"limit": 2, "delay": "100 ms", "backoff": "constant"}, [0, 100, 200]),
        ({"limit": 3, "delay": 100, "backoff": "linear"}, [0, 100, 300, 600]),
        ({"limit": 3, "delay": 100}, [0, 100, 300, 700]),
        ({"limit": 0, "delay": 0}, [0]),
        (UNDEFINED, [0, 1_000, 3_000, 7_000, 15_000, 31_000]),
    ],
)
def test_a_step_is_tried_limit_plus_one_times(tmp_path: Path, retries: Any, times_ms: list[float]) -> None:
    async def check() -> None:
        attempts = Attempts(*[JsError(f"nope {number}", "RangeError") for number in range(1, 10)])
        life = await attempt(tmp_path, {"retries": retries}, attempts, 60_000)
        assert attempts.times_ms == times_ms
        assert await life.outcome() == ("complete", ["RangeError", f"nope {len(times_ms)}"])
        assert life.bench.logged == [
            ("error", f'Uncaught RangeError: nope {number}\n    in step "f-1" of instance "i", attempt {number}')
            for number in range(1, len(times_ms) + 1)
        ]
        await life.end()

    run(check())


def test_a_retrying_instance_is_running(tmp_path: Path) -> None:
    async def check() -> None:
        life = await attempt(tmp_path, UNDEFINED, Attempts(JsError("no")), 500)
        assert await life.outcome() == ("running", None)
        await life.end()

    run(check())


@pytest.mark.parametrize(
    ("error", "name", "message"),
    [
        (JsError("xx", "TypeError"), "TypeError", "xx"),
        (JsError("mm", "MyErr"), "Error", "MyErr: mm"),
        (JsError("", "MyErr"), "Error", "MyErr"),
        (JsError("Traceback...\nValueError: always\n", "PythonError"), "Error",
         "PythonError: Traceback...\nValueError: always\n"),
        (JsError("stop now", "NonRetryableError"), "Error", "NonRetryableError: stop now"),
        (JsError("", "NonRetryableError"), "Error", "NonRetryableError"),
        (JsError("cannot", "DataCloneError"), "DataCloneError", "cannot"),
    ],
)  # fmt: skip
def test_errors_cross_to_run(tmp_path: Path, error: JsError, name: str, message: str) -> None:
    async def body(event: Any, step: Any) -> Any:
        with pytest.raises(JsError) as caught:
            await step.do("f", NO_RETRY, raising(error))
        return [caught.value.name, caught.value.message, caught.value.properties]

    assert run(run_one(tmp_path, body))["output"] == [name, message, {"remote": True}]


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (JsError("nope", "RangeError"), {"message": "nope", "name": "RangeError"}),
        (JsError("boom", "MyErr"), {"message": "MyErr: boom", "name": "Error"}),
        (JsError("stop", "NonRetryableError"), FATAL),
        (JsError("NonRetryableError: stop"), FATAL),
    ],
)
def test_uncaught_errors_end_the_instance(tmp_path: Path, error: JsError, shown: dict[str, str]) -> None:
    async def body(event: Any, step: Any) -> None:
        await step.do("f", NO_RETRY, raising(error))

    status = run(run_one(tmp_path, body))
    assert (status["status"], status["output"]) == ("errored", None)
    assert [*status["error"].items()] == [*shown.items()]


@pytest.mark.parametrize(("message", "kept"), [("stop", "stop"), ("", "")])
def test_the_flag_that_preserves_a_non_retryable_error(tmp_path: Path, message: str, kept: str) -> None:
    async def body(event: Any, step: Any) -> None:
        await step.do("f", raising(JsError(message, "NonRetryableError")))

    flags = frozenset({"workflows_preserve_non_retryable_error_message"})
    assert run(run_one(tmp_path, body, flags=flags))["error"] == {"name": "NonRetryableError", "message": kept}


@pytest.mark.parametrize("error", [JsError("", "NonRetryableError"), JsError("m", "NonRetryableError")])
def test_a_non_retryable_error_is_not_retried(tmp_path: Path, error: JsError) -> None:
    async def check() -> None:
        attempts = Attempts(error)
        life = await attempt(tmp_path, UNDEFINED, attempts, 60_000)
        assert attempts.times_ms == [0]
        assert (await life.outcome())[0] == "complete"
        await life.end()

    run(check())


def test_a_subclass_of_non_retryable_error_is_retried_with_a_warning(tmp_path: Path) -> None:
    parent = type("NonRetryableError", (Exception,), {})
    child = type("Mine", (parent,), {})

    async def check() -> None:
        attempts = Attempts(JsError("Traceback", "PythonError", thrown=child()))
        life = await attempt(tmp_path, UNDEFINED, attempts, 1_000)
        assert attempts.times_ms == [0, 1_000]
        assert ("warn",
            'Step "f-1" raised a subclass of NonRetryableError. Cloudflare compares the exact class, so the step is '
            "retried; raise NonRetryableError itself.",
        ) in life.bench.logged  # fmt: skip
        await life.end()

    run(check())


@pytest.mark.parametrize(("timeout", "text"), [("200 ms", "200"), (1_000, "1000"), ("1.5 seconds", "1500")])
def test_a_timeout_is_a_failed_attempt(tmp_path: Path, timeout: Any, text: str) -> None:
    async def check() -> None:
        starts: list[float] = []

        async def slow(context: Any) -> None:
            starts.append(life.clock.now_ms() - life.bench.start_ms)
            await life.clock.sleep(60_000)
            raise JsError("too late for anyone")

        async def body(event: Any, step: Any) -> Any:
            config = {"retries": {"limit": 1, "delay": 50}, "timeout": timeout}
            return list(await thrown(step.do("f", config, slow)))

        life = await Life.owning(tmp_path, body)
        await life.flow.create({"id": "i"})
        await life.advance(10_000)
        assert starts == [0, float(text) + 50]
        message = f"WorkflowTimeoutError: Execution timed out after {text}ms"
        assert await life.outcome() == ("complete", ["Error", message])
        await life.advance(100_000)
        assert await life.outcome() == ("complete", ["Error", message])
        await life.end()

    run(check())


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("f",), ("Error", 'WorkflowFatalError: Step "f" requires a callback function')),
        (("f", {}), ("Error", 'WorkflowFatalError: Step "f" requires a callback function')),
        ((), ("Error", 'WorkflowFatalError: Step "undefined" requires a callback function')),
        ((UNDEFINED, returning(1)), ("TypeError", "Cannot read properties of undefined (reading 'length')")),
        (("x" * 257, returning(1)), ("Error", f'WorkflowFatalError: Step name "{"x" * 257}" exceeds max length (256 '
          "chars) or invalid characters found")),
        (("a\nb", returning(1)), ("Error", 'WorkflowFatalError: Step name "a\nb" exceeds max length (256 chars) or '
          "invalid characters found")),
        (("😀" * 129, returning(1)), ("Error", f'WorkflowFatalError: Step name "{"😀" * 129}" exceeds max length (256 '
          "chars) or invalid characters found")),
        (("f", {"bogus": 1}, returning(1)), ("Error", 'WorkflowFatalError: Step config for "f" is in a invalid format. '
          f"See {GUIDE}")),
        (("f", {"retries": {"limit": -1, "delay": 0}}, returning(1)), ("Error", 'WorkflowFatalError: Step config for '
          f'"f" is in a invalid format. See {GUIDE}')),
    ],
)  # fmt: skip
def test_bad_calls(tmp_path: Path, arguments: tuple[Any, ...], error: tuple[str, str]) -> None:
    async def body(event: Any, step: Any) -> Any:
        return list(await thrown(step.do(*arguments)))

    assert run(run_one(tmp_path, body))["output"] == list(error)


def test_the_longest_name(tmp_path: Path) -> None:
    async def body(event: Any, step: Any) -> Any:
        return await step.do("😀" * 128, returning("fine"))

    assert run(run_one(tmp_path, body))["output"] == "fine"


def test_the_step_limit_counts_do_only(tmp_path: Path) -> None:
    async def body(event: Any, step: Any) -> Any:
        await step.sleep("s", 0)
        await step.do("a", returning(1))
        await step.do("b", returning(1))
        return list(await thrown(step.do("c", returning(1))))

    assert run(run_one(tmp_path, body, limits_steps=2))["output"] == [
        "Error",
        "WorkflowFatalError: The limit of 2 steps has been reached. "
        "This limit can be changed in your worker configuration.",
    ]


def test_a_result_that_cannot_be_cloned_ends_the_instance(tmp_path: Path) -> None:
    caught: list[BaseException] = []

    async def body(event: Any, step: Any) -> None:
        try:
            await step.do("fn", returning(lambda: None))
        except Exception as error:
            caught.append(error)

    status = run(run_one(tmp_path, body))
    assert (status["status"], caught) == ("errored", [])
    assert [*status["error"].items()] == [
        ("name", "WorkflowFatalError"),
        ("message", "The execution of the Workflow instance was terminated, as the step "
         '"fn" returned a value which is not serialisable'),
    ]  # fmt: skip


def test_a_result_of_run_that_cannot_be_cloned(tmp_path: Path) -> None:
    async def body(event: Any, step: Any) -> Any:
        return object()

    assert run(run_one(tmp_path, body))["error"] == {
        "message": "Proxy could not be serialized because it is not a valid RPC receiver type. The Proxy must emulate "
        "either a plain object or an RpcTarget, as indicated by the Proxy's prototype chain.",
        "name": "DataCloneError",
    }


def test_a_result_of_more_than_a_mebibyte_is_a_failed_attempt(tmp_path: Path) -> None:
    async def body(event: Any, step: Any) -> Any:
        await step.do("fits", returning("x" * (2**20 - 100)))
        return list(await thrown(step.do("f", NO_RETRY, returning("x" * (2**20 + 1)))))

    text = "WorkflowInternalError: Step f-1 output is too large. Maximum allowed size is 1MiB."
    assert run(run_one(tmp_path, body))["output"] == ["Error", text]


def test_nested_and_concurrent_steps(tmp_path: Path) -> None:
    async def check() -> None:
        async def body(event: Any, step: Any) -> Any:
            async def outer(context: Any) -> Any:
                return [await step.do("inner", returning(1)), 2]

            async def slow(context: Any) -> Any:
                await life.clock.sleep(1_000)
                return "slow"

            tasks = [
                life.clock.spawn(step.do("slow", slow), "slow"),
                life.clock.spawn(step.do("outer", outer), "outer"),
            ]
            return [await task for task in tasks]

        life = await Life.owning(tmp_path, body)
        await life.flow.create({"id": "i"})
        await life.advance(1_000)
        shown = await life.status("i")
        assert shown["output"] == ["slow", [1, 2]]
        assert shown["__LOCAL_DEV_STEP_OUTPUTS"] == [1, [1, 2], "slow"]
        await life.end()

    run(check())
