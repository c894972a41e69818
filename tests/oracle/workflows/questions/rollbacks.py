"""Compensation: what is rolled back, in which order, with which argument, and what the instance comes to."""

from __future__ import annotations

from typing import Any

from tests.oracle.workflows.questions.words import (
    ALL_EVENTS,
    ENDS,
    ONCE,
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

STOP = must(do("stop", fails("RangeError", "nope"), ONCE))
FAST = {"retries": {"limit": 1, "delay": 0}}
ASLEEP = ["wait", 120]


def undo(name: str, *does: dict[str, Any], config: Any = None) -> dict[str, Any]:
    """Options of `step.do`: a rollback that notes its argument, then does `does`."""
    behaviours = [{"note": name, **each} for each in does or ({},)]
    return {"rollback": calls(*behaviours), **({} if config is None else {"rollbackConfig": config})}


def undone(name: str, *does: dict[str, Any], config: Any = None, given: Any = None, value: Any = None) -> list[Any]:
    return do(name, gives(name if value is None else value), given, undo(f"undo {name}", *does, config=config))


def _terminated(*ahead: Any, run: list[Any], options: Any = {"rollback": True}) -> Question:  # noqa: B006
    """Terminated after `ahead`; then status, events, details."""
    return asked(create(), *ahead, ["terminate", options], ENDS, ["status"], ALL_EVENTS, run=run, detail=True)


_OPTIONS: dict[str, Any] = {
    "number": 5,
    "null": None,
    "array": [],
    "undefined": UNDEFINED,
    "empty": {},
    "function": gives(1),
    "rollback null": {"rollback": None},
    "rollback undefined": {"rollback": UNDEFINED},
    "unknown key": {"rollback": gives(1), "bogus": 1},
    "rollbackConfig undefined": {"rollback": gives(1), "rollbackConfig": UNDEFINED},
    "rollbackConfig null": {"rollback": gives(1), "rollbackConfig": None},
    "rollbackConfig empty": {"rollback": gives(1), "rollbackConfig": {}},
    "rollbackConfig sensitive": {"rollback": gives(1), "rollbackConfig": {"sensitive": "output"}},
    "rollbackConfig unknown key": {"rollback": gives(1), "rollbackConfig": {"bogus": 1}},
    "rollbackConfig timeout 0": {"rollback": gives(1), "rollbackConfig": {"timeout": 0}},
    "rollbackConfig alone": {"rollbackConfig": {}},
}
_TERMINATE: dict[str, Any] = {
    "none": UNDEFINED,
    "null": None,
    "empty": {},
    "false": {"rollback": False},
    "1": {"rollback": 1},
    "text": {"rollback": "true"},
    "unknown key": {"bogus": 1},
    "a number": 5,
}
_STEPS_INSIDE = {
    "do": do("inside"),
    "sleep": ["sleep", "inside", 1],
    "waitForEvent": ["waitForEvent", "inside", {"type": "t", "timeout": 1}],
    "sleepUntil": ["sleepUntil", "inside", {"$ahead": 60}],
}

QUESTIONS: dict[str, Question] = {
    "rollback: argument": played(undone("a"), STOP, more=[ALL_EVENTS], detail=True),
    "rollback: order": played(undone("a"), undone("b"), do("c"), undone("a"), STOP, more=[ALL_EVENTS], detail=True),
    "rollback: order of concurrent steps": played(
        ["all", do("a", calls({"hang": 40, "return": 1}), None, undo("undo a")), undone("b")], STOP, detail=True
    ),
    "rollback: failed step too": played(
        undone("a"), must(do("b", fails("MyErr", "bad"), ONCE, undo("undo b"))), more=[ALL_EVENTS], detail=True
    ),
    "rollback: a caught failure": played(do("a", fails(), ONCE, undo("undo a")), undone("b"), STOP, detail=True),
    "rollback: none wanted": played(undone("a"), more=[ALL_EVENTS], detail=True),
    "rollback: no handlers": played(do("a"), STOP, more=[ALL_EVENTS], detail=True),
    "rollback: thrown by run()": played(undone("a"), ["throw", ["MyErr", "m"]], detail=True),
    "rollback: non-retryable": played(undone("a"), must(do("b", fails("NonRetryableError", "m"))), detail=True),
    "rollback: not serialisable": played(undone("a"), do("b", gives(gives(1))), detail=True),
    "rollback: output undefined": played(undone("a", value=UNDEFINED), STOP, detail=True),
    "rollback: output null": played(do("a", gives(None), None, undo("undo a")), STOP),
    "rollback: output Date": played(undone("a", value={"$date": 5}), STOP),
    "rollback: output stream": played(undone("a", value={"$stream": {"type": "bytes", "chunks": ["ab"]}}), STOP),
    "rollback: config of the step in the context": played(undone("a", given={"timeout": "1 minute", **ONCE}), STOP),
    "rollback: attempts of the step in the context": played(
        do("a", calls({"throw": ["Error", "x"]}, {"return": 1}), FAST, undo("undo a")), STOP
    ),
    "rollback: sensitive step": played(
        undone("a", given={"sensitive": "output"}), STOP, more=[ALL_EVENTS], detail=True
    ),
    "rollback: returns something": played(undone("a", {"return": {"b": 1}}), STOP, more=[ALL_EVENTS], detail=True),
    "rollback: returns a function": played(undone("a", {"return": gives(1)}), STOP, detail=True),
    "rollback: retried": played(
        undone("a", {"throw": ["MyErr", "x"]}, {"return": 1}, config=FAST), STOP, more=[ALL_EVENTS], detail=True
    ),
    "rollback: fails": played(
        undone("a"),
        undone("b", {"throw": ["MyErr", "x"]}, config=ONCE),
        undone("c"),
        STOP,
        more=[ALL_EVENTS],
        detail=True,
    ),
    "rollback: fails after retries": played(
        undone("a", {"throw": ["TypeError", "x"]}, config=FAST), STOP, more=[ALL_EVENTS], detail=True
    ),
    "rollback: fails for good": played(
        undone("a", {"throw": ["NonRetryableError", "x"]}, config=FAST), STOP, more=[ALL_EVENTS], detail=True
    ),
    "rollback: timeout": played(
        undone("a", {"hang": 300}, config={"timeout": 20, **ONCE}), STOP, more=[ALL_EVENTS], detail=True
    ),
    "rollback: delay function": played(
        undone(
            "a",
            {"throw": ["TypeError", "x"]},
            {"return": 1},
            config={"retries": {"limit": 1, "delay": calls({"note": "delay", "return": 0})}},
        ),
        STOP,
        more=[ALL_EVENTS],
        detail=True,
    ),
    "rollback: config alone has defaults": played(
        undone("a", config={"timeout": "1 minute"}), STOP, more=[ALL_EVENTS], detail=True
    ),
    "rollback: retries alone have defaults": played(
        undone("a", config={"retries": {"limit": 3, "delay": "2 seconds"}}), STOP, detail=True
    ),
    **{
        f"rollback options: {case}": played(["do", "f", ONCE, gives(1), options], STOP)
        for case, options in _OPTIONS.items()
    },
    "rollback options: before the name": played(["do", "a\nb", gives(1), 5]),
    "rollback options: before the config": played(["do", "f", {"bogus": 1}, gives(1), {}]),
    "rollback options: after the callback": played(["do", "f", {}, None, 5]),
    "rollback options: without config": played(["do", "f", gives(1), undo("undo f")], STOP),
    **{
        f"step in a rollback: {case}": played(undone("a", {"steps": [op]}, config=ONCE), STOP, detail=True)
        for case, op in _STEPS_INSIDE.items()
    },
    "terminate with rollback: in a step": _terminated(
        ASLEEP, run=[undone("a"), must(do("b", calls({"hang": 5_000}), None, undo("undo b")))]
    ),
    "terminate with rollback: in a sleep": _terminated(ASLEEP, run=[undone("a"), must(["sleep", "s", 60_000])]),
    "terminate with rollback: in a wait": _terminated(
        ASLEEP, run=[undone("a"), must(["waitForEvent", "w", {"type": "t"}])]
    ),
    "terminate with rollback: paused": _terminated(
        ASLEEP, ["pause"], ["until", "paused"], run=[undone("a"), must(["sleep", "s", 60_000])]
    ),
    "terminate with rollback: complete": _terminated(ENDS, run=[undone("a")]),
    "terminate with rollback: errored": _terminated(ENDS, run=[undone("a"), STOP]),
    "terminate with rollback: terminated": _terminated(
        ASLEEP, ["terminate"], run=[undone("a"), must(["sleep", "s", 60_000])]
    ),
    "terminate with rollback: twice": _terminated(
        ASLEEP, ["terminate", {"rollback": True}], run=[undone("a"), must(["sleep", "s", 60_000])]
    ),
    "terminate with rollback: no handlers": _terminated(ASLEEP, run=[do("a"), must(["sleep", "s", 60_000])]),
    "terminate with rollback: nothing begun": _terminated(ASLEEP, run=[must(["sleep", "s", 60_000])]),
    "terminate with rollback: fails": _terminated(
        ASLEEP, run=[undone("a"), undone("b", {"throw": ["MyErr", "x"]}, config=ONCE), must(["sleep", "s", 60_000])]
    ),
    "terminate with rollback: retried": _terminated(
        ASLEEP, run=[undone("b", {"throw": ["MyErr", "x"]}, {}, config=FAST), must(["sleep", "s", 60_000])]
    ),
    **{
        f"terminate options: {case}": _terminated(
            ASLEEP, run=[undone("a"), must(["sleep", "s", 60_000])], options=options
        )
        for case, options in _TERMINATE.items()
    },
    "restart after a rollback": asked(
        create(), ENDS, ["status"], ["restart"], ENDS, ["status"], ALL_EVENTS, run=[undone("a"), STOP], detail=True
    ),
    "restart from a step after a rollback": asked(
        create(), ENDS, ["restart", {"from": {"name": "stop"}}], ENDS, ["status"], run=[undone("a"), STOP], detail=True
    ),
}
