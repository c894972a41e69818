"""What is done to instances from outside: create, batches, pause, resume, restart, terminate, delete."""

from __future__ import annotations

from typing import Any

from tests.oracle.workflows.questions.words import (
    ALL_EVENTS,
    ENDS,
    ID,
    NAN,
    OTHER,
    UNDEFINED,
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
# What is stopped is not caught here: in the local engine run() could go on after it.
NAP = [do("a", calls({"note": "a", "return": 1})), must(["sleep", "s", 60_000]), must(do("b"))]
SHORT = [do("a", calls({"note": "a", "return": 1})), must(["sleep", "s", 900]), must(do("b"))]
WAITS = [must(["waitForEvent", "w", {"type": "t", "timeout": "1 hour"}])]
BUSY = [must(do("a", calls({"gate": "g", "return": 1}))), must(do("b"))]
THREE = [
    do(name, calls({"note": name, "return": name})) if name != "s" else ["sleep", "s", 1]
    for name in ("a", "s", "a", "c")
]
_CREATE: dict[str, Any] = {
    "null": None,
    "number": 5,
    "text": "a",
    "array": [],
    "unknown key": {"id": ID, "bogus": 1},
    "params function": {"id": ID, "params": gives(1)},
    "params symbol": {"id": ID, "params": {"$symbol": "s"}},
    "retention null": {"id": ID, "retention": None},
    "retention text": {"id": ID, "retention": "1 day"},
    "retention unknown key": {"id": ID, "retention": {"bogus": 1}},
    "retention of 0": {"id": ID, "retention": {"successRetention": 0}},
    "retention soon": {"id": ID, "retention": {"errorRetention": "soon"}},
    "retention of a day": {"id": ID, "retention": {"successRetention": "1 day", "errorRetention": 1_000_000}},
    "id undefined": {"id": UNDEFINED},
    "reserved id": {"id": "terminate"},
}
_BATCHES: dict[str, Any] = {
    "none": UNDEFINED,
    "null": None,
    "number": 5,
    "text": "ab",
    "empty object": {},
    "instances null": {"instances": None},
    "instances number": {"instances": 5},
    "both": {"instances": [{"id": ID}], "count": 2},
    "count 2": {"count": 2, "params": {"a": 1}},
    "count null": {"count": None},
    "count NaN": {"count": NAN},
    "count true": {"count": True},
    "array with null": [None],
    "array with a number": [5],
    "array with a bad id": [{"id": ID}, {"id": "a b"}],
    "array with a reserved id": [{"id": "batch"}],
    "instances with null": {"instances": [None]},
    "instances with a number": {"instances": [5]},
    "instances with a bad id": {"instances": [{"id": ID}, {"id": "a b"}]},
    "instances with a reserved id": {"instances": [{"id": ID}, {"id": "terminateAll"}]},
    "instances, one twice": {"instances": [{"id": ID}, {"id": ID}, {"id": OTHER}]},
    "instances without id": {"instances": [{}, {"params": 1}]},
    "instances, unknown key": {"instances": [{"id": ID, "bogus": 1}], "bogus": 2},
    "params function": [{"id": ID, "params": gives(1)}],
    "instances of 1.2 MiB": {
        "instances": [
            {"id": ID, "params": {"$repeat": ["x", 600_000]}},
            {"id": OTHER, "params": {"$repeat": ["x", 600_000]}},
        ]
    },
}
_DELETIONS: dict[str, Any] = {
    "none": UNDEFINED,
    "null": None,
    "text": "ab",
    "number": 5,
    "bad id": ["a\nb"],
    "number inside": [5],
    "null inside": [None],
    "one there, one not, one twice": [ID, "nope", ID],
}
_RESTARTS: dict[str, Any] = {
    "null": None,
    "empty": {},
    "from null": {"from": None},
    "from a text": {"from": "a"},
    "from empty": {"from": {}},
    "name": {"from": {"name": "a"}},
    "count 2": {"from": {"name": "a", "count": 2}},
    "count 3": {"from": {"name": "a", "count": 3}},
    "count 0": {"from": {"name": "a", "count": 0}},
    "count -1": {"from": {"name": "a", "count": -1}},
    "count 1.5": {"from": {"name": "a", "count": 1.5}},
    "count text": {"from": {"name": "a", "count": "2"}},
    "count null": {"from": {"name": "a", "count": None}},
    "type do": {"from": {"name": "c", "type": "do"}},
    "type sleep": {"from": {"name": "s", "type": "sleep"}},
    "sleep without a type": {"from": {"name": "s"}},
    "type unknown": {"from": {"name": "a", "type": "bogus"}},
    "type null": {"from": {"name": "a", "type": None}},
    "label instead of a name": {"from": {"name": "a-1"}},
    "unknown key": {"from": {"name": "c", "bogus": 1}, "bogus": 2},
}
_FINISHED = {
    "complete": ([do("a")], []),
    "errored": ([must(do("a", fails(), {"retries": {"limit": 0, "delay": 0}}))], []),
    "terminated": (NAP, [ASLEEP, ["terminate"]]),
}


def _finished(*ops: Any) -> dict[str, Question]:
    return {
        f"{ops[0][0]} after the end: {state}": asked(create(), *more, ENDS, *ops, ["status"], ALL_EVENTS, run=run)
        for state, (run, more) in _FINISHED.items()
    }


QUESTIONS: dict[str, Question] = {
    **{f"create: {case}": asked(["create", options], run=[]) for case, options in _CREATE.items()},
    **{f"createBatch: {case}": asked(["createBatch", batch]) for case, batch in _BATCHES.items()},
    **{
        f"deleteBatch: {case}": asked(create(), ENDS, ["deleteBatch", ids], ["status"])
        for case, ids in _DELETIONS.items()
    },
    **{
        f"restart: {case}": asked(
            create(), ENDS, ["restart", options], ["wait", 60], ENDS, ["status"], run=THREE, detail=True
        )
        for case, options in _RESTARTS.items()
    },
    **_finished(["pause"]),
    **_finished(["resume"]),
    **_finished(["terminate"]),
    **_finished(["sendEvent", {"type": "t", "payload": 1}]),
    "restart from a wait": asked(
        create(),
        ASLEEP,
        ["sendEvent", {"type": "t", "payload": 1}],
        ENDS,
        ["restart", {"from": {"name": "w", "type": "waitForEvent"}}],
        ASLEEP,
        ["notes"],
        ["sendEvent", {"type": "t", "payload": 2}],
        ENDS,
        ["status"],
        run=[do("a", calls({"note": "a"})), *WAITS],
        detail=True,
    ),
    "restart while it runs": asked(
        create(),
        ["wait", 100],
        ["restart"],
        ["wait", 60],
        ["open", "g"],
        ENDS,
        ["status"],
        ALL_EVENTS,
        run=BUSY,
        detail=True,
    ),
    "restart while it sleeps": asked(
        create(), ASLEEP, ["restart"], ASLEEP, ["notes"], ["terminate"], ["status"], run=NAP
    ),
    "restart from a step while it sleeps": asked(
        create(), ASLEEP, ["restart", {"from": {"name": "a"}}], ASLEEP, ["notes"], ["terminate"], ["status"], run=NAP
    ),
    "restart while paused": asked(
        create(),
        ASLEEP,
        ["pause"],
        ["until", "paused"],
        ["restart"],
        ASLEEP,
        ["notes"],
        ["terminate"],
        ["status"],
        run=NAP,
    ),
    "restart after terminate": asked(
        create(), ASLEEP, ["terminate"], ["restart"], ENDS, ["status"], ["notes"], run=SHORT, detail=True
    ),
    "restart drops events": asked(
        create(),
        ["sendEvent", {"type": "late", "payload": 1}],
        ["until", "complete"],
        ["restart"],
        ENDS,
        ["status"],
        run=[["waitForEvent", "w", {"type": "late", "timeout": 100}]],
    ),
    "pause in a sleep": asked(
        create(),
        ASLEEP,
        ["pause"],
        ["until", "paused"],
        ["status"],
        ["resume"],
        ENDS,
        ["status"],
        ALL_EVENTS,
        run=SHORT,
        detail=True,
    ),
    "pause in a wait": asked(
        create(),
        ASLEEP,
        ["pause"],
        ["until", "paused"],
        ["sendEvent", {"type": "t", "payload": 1}],
        ["wait", 100],
        ["status"],
        ["resume"],
        ENDS,
        ["status"],
        ALL_EVENTS,
        run=WAITS,
        detail=True,
    ),
    "pause in a step": asked(
        create(),
        ["wait", 100],
        ["pause"],
        ["until", "waitingForPause"],
        ["status"],
        ["open", "g"],
        ["until", "paused"],
        ["status"],
        ["resume"],
        ENDS,
        ["status"],
        ALL_EVENTS,
        run=BUSY,
        detail=True,
    ),
    "pause in a step, called off": asked(
        create(),
        ["wait", 100],
        ["pause"],
        ["resume"],
        ["open", "g"],
        ENDS,
        ["status"],
        ALL_EVENTS,
        run=BUSY,
        detail=True,
    ),
    "pause twice": asked(
        create(), ASLEEP, ["pause"], ["until", "paused"], ["pause"], ["status"], ["resume"], ENDS, ALL_EVENTS, run=SHORT
    ),
    "pause twice in a step": asked(
        create(),
        ["wait", 100],
        ["pause"],
        ["pause"],
        ["open", "g"],
        ["until", "paused"],
        ["resume"],
        ENDS,
        ALL_EVENTS,
        run=BUSY,
    ),
    "resume while it runs": asked(create(), ASLEEP, ["resume"], ["status"], ENDS, ALL_EVENTS, run=SHORT),
    "terminate while paused": asked(
        create(), ASLEEP, ["pause"], ["until", "paused"], ["terminate"], ["status"], ALL_EVENTS, run=NAP, detail=True
    ),
    "terminate while waiting for a pause": asked(
        create(), ["wait", 100], ["pause"], ["terminate"], ["status"], ALL_EVENTS, run=BUSY, detail=True
    ),
    "terminate in a step": asked(create(), ["wait", 100], ["terminate"], ["status"], ALL_EVENTS, run=BUSY, detail=True),
    "terminate in a wait": asked(create(), ASLEEP, ["terminate"], ["status"], ALL_EVENTS, run=WAITS, detail=True),
    "pause in the delay of a retry": asked(
        create(),
        ASLEEP,
        ["pause"],
        ["until", "paused"],
        ["resume"],
        ENDS,
        ["status"],
        ALL_EVENTS,
        run=[must(do("f", calls({"throw": ["Error", "x"]}, {"return": 1}), {"retries": {"limit": 1, "delay": 900}}))],
        detail=True,
    ),
    "delete while it sleeps": asked(
        create(),
        ASLEEP,
        ["hold"],
        ["delete"],
        ["status"],
        ["held", "status"],
        ["held", "delete"],
        ["held", "pause"],
        run=NAP,
    ),
    "delete after the end": asked(create(), ENDS, ["delete"], ["status"], create(), ENDS, ["status"], run=[do("a")]),
    "held over a deletion": asked(
        create(),
        ENDS,
        ["hold"],
        ["delete"],
        ["held", "resume"],
        ["held", "terminate"],
        ["held", "restart"],
        ["held", "sendEvent", {"type": "t"}],
        ["held", "subscribe"],
        run=[do("a")],
    ),
    "get: odd ids": asked(
        ["get", ""], ["get", "a b"], ["get", UNDEFINED], ["get", None], ["get", 5], ["get", {"$repeat": ["x", 101]}]
    ),
    "create twice": asked(create(params=1), ENDS, create(params=2), ["status"], run=[["event"]]),
    "an output and its status": played(do("a"), ["return", {"a": 1}], detail=True),
}
