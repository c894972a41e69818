"""Events: sent to instances, and told by them."""

from __future__ import annotations

from typing import Any

from tests.oracle.workflows.questions.words import (
    ALL_EVENTS,
    ENDS,
    INFINITY,
    NAN,
    ONCE,
    UNDEFINED,
    Op,
    Question,
    asked,
    calls,
    create,
    do,
    fails,
    gives,
    must,
    played,
)

ASLEEP = ["wait", 120]


def send(type_: Any = "t", payload: Any = 1) -> Op:
    return ["sendEvent", {"type": type_, "payload": payload}]


def wait(name: str = "w", type_: Any = "t", timeout: Any = 5_000) -> Op:
    return ["waitForEvent", name, {"type": type_, "timeout": timeout}]


_EVENTS: dict[str, Any] = {
    "none": UNDEFINED,
    "null": None,
    "number": 5,
    "text": "t",
    "empty": {},
    "without payload": {"type": "t"},
    "unknown key": {"type": "t", "payload": 1, "bogus": 2},
    "payload null": {"type": "t", "payload": None},
    "payload function": {"type": "t", "payload": gives(1)},
    "payload Date": {"type": "t", "payload": {"$date": 5}},
    "payload Map": {"type": "t", "payload": {"$map": [["a", 1]]}},
    "payload binary": {"type": "t", "payload": {"$view": ["Uint8Array", [1, 2]]}},
    "payload of 1.2 MiB": {"type": "t", "payload": {"$repeat": ["x", 1_200_000]}},
}
_TYPES: dict[str, Any] = {
    "100 characters": {"$repeat": ["x", 100]},
    "101 characters": {"$repeat": ["x", 101]},
    "dot": "a.b",
    "space": "a b",
    "colon": "a:b",
    "leading hyphen": "-a",
    "digit": "1",
    "number": 5,
    "null": None,
    "unicode": "é",
}
_SUBSCRIPTIONS: dict[str, Any] = {
    "null": None,
    "empty": {},
    "cursor 0": {"cursor": 0},
    "cursor text": {"cursor": "1"},
    "cursor null": {"cursor": None},
    "cursor NaN": {"cursor": NAN},
    "cursor Infinity": {"cursor": INFINITY},
    "cursor 1e9": {"cursor": 1_000_000_000},
    "cursor undefined": {"cursor": UNDEFINED},
    "filter empty": {"filter": []},
    "filter null": {"filter": None},
    "filter undefined": {"filter": UNDEFINED},
    "filter with a number": {"filter": [5]},
    "filter of one twice": {"filter": ["step_started", "step_started"]},
    "filter of types": {"filter": ["workflow_queued", "attempt_completed"]},
    "unknown key undefined": {"bogus": UNDEFINED},
    "array": [],
    "text": "cursor",
}
_RUN = [do("a", gives({"b": 1}))]

QUESTIONS: dict[str, Question] = {
    **{
        f"sendEvent: {case}": asked(
            create(), ASLEEP, ["sendEvent", event], ENDS, ["status"], run=[wait(timeout=400)], detail=True
        )
        for case, event in _EVENTS.items()
    },
    **{
        f"event type, sent: {case}": asked(create(), ASLEEP, send(type_), ["terminate"], run=[["sleep", "s", 9_000]])
        for case, type_ in _TYPES.items()
    },
    **{
        f"event type, waited for: {case}": asked(create(), ENDS, ["status"], run=[wait("w", type_, 20)])
        for case, type_ in _TYPES.items()
    },
    "sendEvent: unknown instance": asked(["sendEvent", {"type": "t"}]),
    "sendEvent: before the wait": asked(
        create(), ["wait", 50], send(), ENDS, ["status"], run=[["sleep", "s", 200], wait()], detail=True
    ),
    "sendEvent: another type": asked(
        create(), ASLEEP, send("u"), send("t"), ENDS, ["status"], run=[wait()], detail=True
    ),
    "sendEvent: order": asked(
        create(),
        ASLEEP,
        send("t", 1),
        send("t", 2),
        send("t", 3),
        ENDS,
        ["status"],
        run=[wait("w"), wait("w"), wait("v")],
        detail=True,
    ),
    "sendEvent: two waiters": asked(
        create(), ASLEEP, send("t", 1), send("t", 2), ENDS, ["status"], run=[["all", wait("w"), wait("v")]], detail=True
    ),
    "sendEvent: two waiters, one event": asked(
        create(),
        ASLEEP,
        send("t", 1),
        ENDS,
        ["status"],
        run=[["all", wait("w", "t", 500), wait("v", "t", 500)]],
        detail=True,
    ),
    "sendEvent: after the time-out": asked(
        create(),
        ASLEEP,
        send("t", 1),
        ENDS,
        ["status"],
        run=[wait("w", "t", 30), ["sleep", "s", 200], wait("v", "t", 200)],
        detail=True,
    ),
    "wait: time-out uncaught": played(must(wait("w", "t", 20)), more=[ALL_EVENTS], detail=True),
    "wait: time-out caught": played(wait("w", "t", 20), do("a"), more=[ALL_EVENTS], detail=True),
    "wait: got": asked(create(), ASLEEP, send(), ENDS, ["status"], ALL_EVENTS, run=[wait(), do("a")], detail=True),
    "wait: concurrent with a step": asked(
        create(), ASLEEP, send(), ["open", "g"], ENDS, ALL_EVENTS, run=[["all", wait(), do("a", calls({"gate": "g"}))]]
    ),
    "wait: concurrent with a sleep": asked(
        create(), ASLEEP, send(), ENDS, ALL_EVENTS, run=[["all", wait(), ["sleep", "s", 300]]]
    ),
    **{
        f"subscribe: {case}": played(*_RUN, more=[["subscribe", options, 30]])
        for case, options in _SUBSCRIPTIONS.items()
        if options is not None
    },
    "subscribe: null": asked(create(), ENDS, ["hold"], ["held", "subscribe", None], run=_RUN),
    "subscribe: unknown instance": asked(ALL_EVENTS),
    "subscribe: a step": played(*_RUN, more=[ALL_EVENTS]),
    "subscribe: a step without output": played(do("a", gives(UNDEFINED)), more=[ALL_EVENTS]),
    "subscribe: retries": played(do("f", fails(), {"retries": {"limit": 2, "delay": 5}}), more=[ALL_EVENTS]),
    "subscribe: dynamic delay": played(
        do("f", fails(), {"retries": {"limit": 1, "delay": gives(7)}}), more=[ALL_EVENTS], detail=True
    ),
    "subscribe: time-out of a step": played(do("f", calls({"hang": 200}), {"timeout": 20, **ONCE}), more=[ALL_EVENTS]),
    "subscribe: a sleep": played(["sleep", "s", 50], do("a"), more=[ALL_EVENTS]),
    "subscribe: a sleep by text": played(["sleep", "s", "0.05 seconds"], more=[ALL_EVENTS]),
    "subscribe: a sleep of no time": played(["sleep", "s", 0], more=[ALL_EVENTS]),
    "subscribe: an end by an error": played(must(do("f", fails("MyErr", "m"), ONCE)), more=[ALL_EVENTS]),
    "subscribe: an end by run()": played(["throw", ["TypeError", "m"]], more=[ALL_EVENTS]),
    "subscribe: non-retryable": played(must(do("f", fails("NonRetryableError", "m"))), more=[ALL_EVENTS]),
    "subscribe: not serialisable": played(do("f", gives(gives(1))), more=[ALL_EVENTS], detail=True),
    "subscribe: restart": asked(create(), ENDS, ["restart"], ENDS, ALL_EVENTS, run=_RUN),
    "subscribe: restart from a step": asked(
        create(), ENDS, ["restart", {"from": {"name": "b"}}], ENDS, ALL_EVENTS, run=[*_RUN, do("b")]
    ),
    "subscribe: concurrent steps": played(
        ["all", do("a", calls({"hang": 60})), do("b", calls({"hang": 20}))], more=[ALL_EVENTS]
    ),
    "subscribe: params and output": played(
        ["return", {"a": {"$date": 1_577_836_800_000}, "b": {"$map": [["k", 1]]}}],
        more=[ALL_EVENTS],
        params={"m": {"$set": [1]}},
    ),
    "subscribe: after a cursor": played(
        *_RUN,
        more=[ALL_EVENTS, ["after", 4, {}, 30], ["after", 7, {}, 30], ["after", 2, {"filter": ["step_completed"]}, 30]],
    ),
    "subscribe: live": asked(create(), ASLEEP, ALL_EVENTS, run=[["sleep", "s", 400], do("a")]),
    "subscribe: nothing more": asked(
        create(),
        ASLEEP,
        ["subscribe", None, 30],
        ["terminate"],
        ALL_EVENTS,
        run=[do("a"), ["waitForEvent", "w", {"type": "t"}]],
    ),
    "subscribe: filter without the end": played(*_RUN, more=[["subscribe", {"filter": ["step_errored"]}, 5]]),
}
