"""Queues: what a consumer gets, when, and what it says."""

from __future__ import annotations

from typing import Any

from tests.oracle.bindings.questions.words import UNDEFINED, VALUES, Op, Question, asked, quietly

_FOUR: Op = ["Q", ["sendBatch", [{"body": letter} for letter in "abcd"]]]
_ACK_0, _RETRY_0, _ACK_ALL, _RETRY_ALL, _THROW = ["ack", 0], ["retry", 0], ["ackAll"], ["retryAll"], ["throw", "boom"]
_VERDICTS: dict[str, list[Op]] = {
    "nothing": [],
    "ack": [_ACK_0],
    "retry": [_RETRY_0],
    "ackAll": [_ACK_ALL],
    "retryAll": [_RETRY_ALL],
    "throw": [_THROW],
    "ack, retry": [_ACK_0, _RETRY_0],
    "retry, ack": [_RETRY_0, _ACK_0],
    "ack, ack": [_ACK_0, _ACK_0],
    "retry, retry": [_RETRY_0, _RETRY_0],
    "ack, ackAll": [_ACK_0, _ACK_ALL],
    "retry, ackAll": [_RETRY_0, _ACK_ALL],
    "ack, retryAll": [_ACK_0, _RETRY_ALL],
    "retry, retryAll": [_RETRY_0, _RETRY_ALL],
    "ackAll, ack": [_ACK_ALL, _ACK_0],
    "ackAll, retry": [_ACK_ALL, _RETRY_0],
    "retryAll, ack": [_RETRY_ALL, _ACK_0],
    "retryAll, retry": [_RETRY_ALL, _RETRY_0],
    "ackAll, retryAll": [_ACK_ALL, _RETRY_ALL],
    "retryAll, ackAll": [_RETRY_ALL, _ACK_ALL],
    "ack, throw": [_ACK_0, _THROW],
    "retry, throw": [_RETRY_0, _THROW],
    "ackAll, throw": [_ACK_ALL, _THROW],
    "retryAll, throw": [_RETRY_ALL, _THROW],
    "ack, retry others, throw": [_ACK_0, ["retry", 1], _THROW],
    "waitUntil fails": [["fail later", "later"]],
    "ackAll, waitUntil fails": [_ACK_ALL, ["fail later", "later"]],
    "ack, waitUntil fails": [_ACK_0, ["fail later", "later"]],
}
_QUICK = {"max_batch_size": 4, "max_batch_timeout": 1, "max_retries": 1}
_RETRY_OPTIONS: dict[str, Any] = {
    "undefined": UNDEFINED, "null": None, "empty object": {}, "text": "a", "number": 5, "true": True, "array": [], "bogus key": {"bogus": 1},
    "delay 0": {"delaySeconds": 0}, "delay text": {"delaySeconds": "x"}, "delay undefined": {"delaySeconds": UNDEFINED}, "delay null": {"delaySeconds": None},
    "delay BigInt": {"delaySeconds": {"$bigint": "0"}}, "delay 2^31": {"delaySeconds": 2_147_483_648}, "delay 0.5": {"delaySeconds": 0.5},
}  # fmt: skip


_TIMED = ("delays", "batches: by time", "attempts: 3")


def consumed(*ask: Op, handler: list[list[Op]], **consumer: Any) -> Question:
    return asked(*ask, consumer={**_QUICK, **consumer}, handler=handler)


def send(*bodies: Any) -> Op:
    return ["Q", ["sendBatch", [{"body": body} for body in bodies]]]


QUESTIONS: dict[str, Question] = {
    **{f"verdict: {name}": consumed(_FOUR, ["wait", 2.5], handler=[does, []]) for name, does in _VERDICTS.items()},
    **{f"verdict always: {name}": consumed(_FOUR, ["wait", 3.5], handler=[does], dead_letter_queue=True, max_batch_timeout=1)
       for name, does in _VERDICTS.items() if name in ("retry", "retryAll", "throw", "ack, throw", "retry, ack", "ack, retryAll")},
    **{f"retry options: {name}": consumed(send("a"), ["wait", 2.5], handler=[[["retry", 0, given]], []], max_batch_size=1)
       for name, given in _RETRY_OPTIONS.items()},
    **{f"retryAll options: {name}": consumed(send("a"), ["wait", 2.5], handler=[[["retryAll", given]], []], max_batch_size=1)
       for name, given in _RETRY_OPTIONS.items()},
    **{f"said: {name}": consumed(send("a"), ["wait", 0.5], handler=[[[verb, *([0] if verb in ("ack", "retry") else []), VALUES[name]]]], max_batch_size=1, max_retries=0)
       for verb in ("ack", "ackAll") for name in ("text", "null")},
    "batches: by size": consumed(send(*range(10)), ["until", 3], ["wait", 1.5], handler=[[]], max_batch_size=4),
    "batches: by time": consumed(send("a"), send("b"), ["wait", 2], handler=[[]], max_batch_size=10),
    "batches: size 1": consumed(send("a", "b", "c"), ["until", 3], handler=[[]], max_batch_size=1),
    "batches: 100": consumed(send(*range(100)), quietly(send(*range(50))), ["wait", 2], handler=[[]], max_batch_size=100),
    "batches: time 0": consumed(send("a", "b"), ["wait", 0.5], handler=[[]], max_batch_size=10, max_batch_timeout=0),
    "batches: order of sends": consumed(*(quietly(["Q", ["send", number]]) for number in range(12)), ["wait", 2.5], handler=[[]], max_batch_size=5),
    "batches: a batch more while one is full": consumed(send(*range(9)), ["wait", 1.5], send("x"), ["wait", 2], handler=[[]], max_batch_size=4),
    "delays: send": consumed(["Q", ["send", "late", {"delaySeconds": 2}]], ["Q", ["send", "soon"]], ["wait", 4.5], handler=[[]], max_batch_size=1),
    "delays: batch and items": consumed(
        ["Q", ["sendBatch", [{"body": "own", "delaySeconds": 1}, {"body": "none", "delaySeconds": 0}, {"body": "batch's"}], {"delaySeconds": 3}]],
        ["wait", 5.5], handler=[[]], max_batch_size=1,
    ),
    "delays: retry": consumed(send("a"), ["wait", 5.5], handler=[[["retry", 0, {"delaySeconds": 3}]], []], max_batch_size=1),
    "delays: retryAll": consumed(send("a", "b"), ["wait", 5.5], handler=[[["retryAll", {"delaySeconds": 3}]], []], max_batch_size=2),
    "delays: retry_delay": consumed(send("a"), ["wait", 5.5], handler=[[_RETRY_0], []], max_batch_size=1, retry_delay=3),
    "delays: retry_delay and a throw": consumed(send("a"), ["wait", 5.5], handler=[[_THROW], []], max_batch_size=1, retry_delay=3),
    "delays: message before batch": consumed(
        send("a", "b"), ["wait", 5.5], handler=[[["retry", 0, {"delaySeconds": 1}], ["retryAll", {"delaySeconds": 3}]], []], max_batch_size=2, retry_delay=2,
    ),
    "delays: retry 0 before retry_delay": consumed(send("a"), ["wait", 3.5], handler=[[["retry", 0, {"delaySeconds": 0}]], []], max_batch_size=1, retry_delay=2),
    "delays: the later retry": consumed(
        send("a"), ["wait", 5.5], handler=[[["retry", 0, {"delaySeconds": 1}], ["retry", 0, {"delaySeconds": 3}]], []], max_batch_size=1,
    ),
    "delays: a retry without after one with": consumed(
        send("a"), ["wait", 5.5], handler=[[["retry", 0, {"delaySeconds": 3}], _RETRY_0], []], max_batch_size=1,
    ),
    "attempts: 3 retries": consumed(send("a"), ["wait", 5], handler=[[_RETRY_0]], max_batch_size=1, max_batch_timeout=0, max_retries=3, retry_delay=1),
    "attempts: 0 retries": consumed(send("a"), ["wait", 1.5], handler=[[_RETRY_0]], max_batch_size=1, max_retries=0, dead_letter_queue=True),
    "attempts: of each message": consumed(send("a", "b", "c"), ["wait", 5], handler=[[["retry", 1]], [["retry", 0]]], max_batch_size=3, max_retries=2),
    "retries join new messages": consumed(send("a", "b"), ["until", 1], ["wait", 0.3], quietly(send("c", "d")), ["wait", 3], handler=[[_RETRY_0], []], max_batch_size=3),
    "dead letters: content type and time": consumed(
        ["Q", ["sendBatch", [{"body": "a", "contentType": "text"}, {"body": {"$date": 5}, "contentType": "v8"}, {"body": {"$view": ["Uint8Array", [1]]}, "contentType": "bytes"}]]],
        ["wait", 2], handler=[[_RETRY_ALL]], max_retries=0, dead_letter_queue=True,
    ),
    "dead letters: sent to directly": consumed(["DEAD", ["send", "x"]], ["wait", 0.5], send("y"), ["wait", 1.5], handler=[[]], dead_letter_queue=True),
    "metrics: of batches": {**consumed(send(*range(10)), ["wait", 2], handler=[[]], max_batch_size=4), "metrics": True},
    "metrics: of what waits": asked(
        ["Q", ["metrics"]], ["Q", ["send", "abc"]], ["Q", ["send", "d"]], ["Q", ["metrics"]], ["Q", ["send", "e", {"delaySeconds": 100}]], ["Q", ["metrics"]],
        ["Q", ["sendBatch", [{"body": "f"}, {"body": "g", "delaySeconds": 100}]]], ["Q", ["metrics"]], consumer={"max_batch_size": 100, "max_batch_timeout": 60},
    ),
}  # fmt: skip
for _name, _question in QUESTIONS.items():
    _question["timed"] = _name.startswith(_TIMED)
