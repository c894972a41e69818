"""Which word about a message counts. The messages are "a" and "b"; the consumer's retry_delay is 9 seconds."""

from __future__ import annotations

from typing import Any

import pytest

from flarebed.bindings.queues.verdict import Verdict

DONE = None
Call = tuple[Any, ...]

CASES: dict[str, tuple[list[Call], float | None, float | None]] = {
    "nothing": ([], DONE, DONE),
    "ack": ([("ack", "a")], DONE, DONE),
    "retry": ([("retry", "a", None)], 9, DONE),
    "retry with a delay": ([("retry", "a", 3)], 3, DONE),
    "retry at once": ([("retry", "a", 0)], 0, DONE),
    "retry twice": ([("retry", "a", 3), ("retry", "a", None)], 9, DONE),
    "retry twice with delays": ([("retry", "a", 3), ("retry", "a", 4)], 4, DONE),
    "retryAll": ([("retry_all", None)], 9, 9),
    "retryAll with a delay": ([("retry_all", 5)], 5, 5),
    "retryAll twice": ([("retry_all", 5), ("retry_all", None)], 5, 5),
    "retry, then retryAll with a delay": ([("retry", "a", None), ("retry_all", 5)], 5, 5),
    "retry with a delay, then retryAll with one": ([("retry", "a", 3), ("retry_all", 5)], 3, 5),
    "ackAll": ([("ack_all",)], DONE, DONE),
    "ack, then retryAll": ([("ack", "a"), ("retry_all", 5)], DONE, 5),
    "retry, then ackAll": ([("retry", "a", 3), ("ack_all",)], 3, DONE),
    "ack after retry": ([("retry", "a", 3), ("ack", "a")], 3, DONE),
    "retry after ack": ([("ack", "a"), ("retry", "a", 3)], DONE, DONE),
    "ack after retryAll": ([("retry_all", 5), ("ack", "a")], 5, 5),
    "retry after ackAll": ([("ack_all",), ("retry", "a", 3)], DONE, DONE),
    "ackAll after retryAll": ([("retry_all", 5), ("ack_all",)], 5, 5),
    "retryAll after ackAll": ([("ack_all",), ("retry_all", 5)], DONE, DONE),
}
THROWN: dict[str, tuple[list[Call], float | None, float | None]] = {
    "nothing": ([], 9, 9),
    "ack": ([("ack", "a")], DONE, 9),
    "retry with a delay": ([("retry", "a", 3)], 3, 9),
    "retryAll with a delay": ([("retry_all", 5)], 5, 5),
    "ackAll": ([("ack_all",)], DONE, DONE),
    "retry, then ackAll": ([("retry", "a", 3), ("ack_all",)], 3, DONE),
}


def verdict(calls: list[Call]) -> tuple[Verdict, list[str]]:
    warned: list[str] = []
    made = Verdict(warned.append)
    for name, *arguments in calls:
        getattr(made, name)(*arguments)
    return made, warned


@pytest.mark.parametrize(("calls", "a", "b"), CASES.values(), ids=list(CASES))
def test_after_a_normal_return(calls: list[Call], a: float | None, b: float | None) -> None:
    made, _ = verdict(calls)
    assert [made.retry_delay_s(message, 9, threw=False) for message in ("a", "b")] == [a, b]


@pytest.mark.parametrize(("calls", "a", "b"), THROWN.values(), ids=list(THROWN))
def test_after_an_exception(calls: list[Call], a: float | None, b: float | None) -> None:
    made, _ = verdict(calls)
    assert [made.retry_delay_s(message, 9, threw=True) for message in ("a", "b")] == [a, b]


WARNINGS: dict[str, tuple[list[Call], str | None]] = {
    "ack after retry": (
        [("retry", "a", 3), ("ack", "a")],
        "Received a call to ack() on message a after retry() was already called. "
        "Calling ack() on a message after calling retry() has no effect.",
    ),
    "retry after ack": (
        [("ack", "a"), ("retry", "a", 3)],
        "Received a call to retry() on message a after ack() was already called. "
        "Calling retry() on a message after calling ack() has no effect.",
    ),
    "ack after retryAll": (
        [("retry_all", 5), ("ack", "a")],
        "Received a call to ack() on message a after retryAll() was already called. "
        "Calling ack() on a message after calling retryAll() has no effect.",
    ),
    "retry after ackAll": (
        [("ack_all",), ("retry", "a", None)],
        "Received a call to retry() on message a after ackAll() was already called. "
        "Calling retry() on a message after calling ackAll() has no effect.",
    ),
    "ackAll after retryAll": (
        [("retry_all", 5), ("ack_all",)],
        "Received a call to ackAll() after retryAll() was already called. "
        "Calling ackAll() after calling retryAll() has no effect.",
    ),
    "retryAll after ackAll": (
        [("ack_all",), ("retry_all", None)],
        "Received a call to retryAll() after ackAll() was already called. "
        "Calling retryAll() after calling ackAll() has no effect.",
    ),
    "ack after ackAll": ([("ack_all",), ("ack", "a")], None),
    "ack twice": ([("ack", "a"), ("ack", "a")], None),
    "retry after retryAll": ([("retry_all", None), ("retry", "a", 3)], None),
    "retryAll after ack": ([("ack", "a"), ("retry_all", None)], None),
}


@pytest.mark.parametrize(("calls", "warning"), WARNINGS.values(), ids=list(WARNINGS))
def test_contradictions_are_warned_about(calls: list[Call], warning: str | None) -> None:
    assert verdict(calls)[1] == ([] if warning is None else [warning])
