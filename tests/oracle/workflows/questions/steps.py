"""Names, configurations and contexts of steps; sleeps and waits."""

from __future__ import annotations

from typing import Any

from tests.oracle.workflows.questions.words import (
    INFINITY,
    NAN,
    ONCE,
    UNDEFINED,
    Question,
    calls,
    do,
    fails,
    gives,
    played,
)

_NAMES: dict[str, Any] = {
    "empty": "",
    "256 units": {"$repeat": ["x", 256]},
    "257 units": {"$repeat": ["x", 257]},
    "128 emoji": {"$repeat": ["😀", 128]},
    "129 emoji": {"$repeat": ["😀", 129]},
    "256 of two bytes": {"$repeat": ["é", 256]},
    "newline": "a\nb",
    "NUL": "a\x00b",
    "unit separator": "a\x1fb",
    "DEL": "a\x7fb",
    "C1 control": "a\x85b",
    "space": " a ",
    "slash and quotes": "a/b\"c'd",
    "number": 5,
    "null": None,
    "undefined": UNDEFINED,
    "object": {"a": 1},
    "boolean": True,
}
_CONFIGS: dict[str, Any] = {
    "empty": {},
    "null": None,
    "number": 5,
    "text": "5 seconds",
    "array": [],
    "unknown key": {"bogus": 1},
    "unknown key of retries": {"retries": {"limit": 1, "delay": 0, "bogus": 1}},
    "unknown key that is undefined": {"bogus": UNDEFINED},
    "retries null": {"retries": None},
    "retries undefined": {"retries": UNDEFINED},
    "retries empty": {"retries": {}},
    "retries without delay": {"retries": {"limit": 1}},
    "retries without limit": {"retries": {"delay": 1}},
    "limit text": {"retries": {"limit": "1", "delay": 0}},
    "limit negative": {"retries": {"limit": -1, "delay": 0}},
    "limit fraction": {"retries": {"limit": 1.5, "delay": 0}},
    "limit NaN": {"retries": {"limit": NAN, "delay": 0}},
    "limit Infinity": {"retries": {"limit": INFINITY, "delay": 0}},
    "limit 10,000": {"retries": {"limit": 10_000, "delay": 0}},
    "limit 10,001": {"retries": {"limit": 10_001, "delay": 0}},
    "limit null": {"retries": {"limit": None, "delay": 0}},
    "limit bigint": {"retries": {"limit": {"$bigint": "1"}, "delay": 0}},
    "limit true": {"retries": {"limit": True, "delay": 0}},
    "delay negative": {"retries": {"limit": 1, "delay": -1}},
    "delay NaN": {"retries": {"limit": 1, "delay": NAN}},
    "delay Infinity": {"retries": {"limit": 1, "delay": INFINITY}},
    "delay null": {"retries": {"limit": 1, "delay": None}},
    "delay empty": {"retries": {"limit": 1, "delay": ""}},
    "delay without unit": {"retries": {"limit": 1, "delay": "5"}},
    "delay of an unknown unit": {"retries": {"limit": 1, "delay": "5 bogus"}},
    "delay without a number": {"retries": {"limit": 1, "delay": "soon"}},
    "delay of a negative text": {"retries": {"limit": 1, "delay": "-5 seconds"}},
    "delay Date": {"retries": {"limit": 1, "delay": {"$date": 5}}},
    "delay function": {"retries": {"limit": 1, "delay": gives(0)}},
    "backoff unknown": {"retries": {"limit": 1, "delay": 0, "backoff": "cubic"}},
    "backoff null": {"retries": {"limit": 1, "delay": 0, "backoff": None}},
    "backoff undefined": {"retries": {"limit": 1, "delay": 0, "backoff": UNDEFINED}},
    "backoff linear": {"retries": {"backoff": "linear", "delay": "1 second", "limit": 2}},
    "timeout 0": {"timeout": 0},
    "timeout negative": {"timeout": -1},
    "timeout NaN": {"timeout": NAN},
    "timeout Infinity": {"timeout": INFINITY},
    "timeout null": {"timeout": None},
    "timeout undefined": {"timeout": UNDEFINED},
    "timeout 0 seconds": {"timeout": "0 seconds"},
    "timeout text 0": {"timeout": "0"},
    "timeout of an unknown unit": {"timeout": "5000 bogus"},
    "timeout plural": {"timeout": "1 hours"},
    "timeout compound": {"timeout": "1 hour 5 minutes"},
    "timeout in upper case": {"timeout": "1 HOUR"},
    "timeout without space": {"timeout": "1hour"},
    "timeout of a fraction": {"timeout": "1.5 hours"},
    "sensitive output": {"sensitive": "output"},
    "sensitive true": {"sensitive": True},
    "sensitive input": {"sensitive": "input"},
    "sensitive null": {"sensitive": None},
    "sensitive undefined": {"sensitive": UNDEFINED},
    "timeout, then retries": {"timeout": 5_000, "retries": {"delay": 7, "limit": 2}},
}
_SLEEPS: dict[str, Any] = {
    "0": 0,
    "-5": -5,
    "1.5": 1.5,
    "NaN": NAN,
    "text 5": "5",
    "1 bogus": "1 bogus",
    "0 seconds": "0 seconds",
    "-1 second": "-1 second",
    "0.01 seconds": "0.01 seconds",
    "empty": "",
    "soon": "soon",
    "null": None,
    "undefined": UNDEFINED,
    "true": True,
    "object": {"a": 1},
    "past Date": {"$date": 1_000},
}
_UNTILS: dict[str, Any] = {
    "past Date": {"$date": 1_000},
    "past number": 1_000,
    "0": 0,
    "Date ahead": {"$ahead": 20},
    "milliseconds ahead": {"$aheadMs": 20},
    "invalid Date": {"$date": None},
    "text": "2020-01-01T00:00:00Z",
    "NaN": NAN,
    "null": None,
    "undefined": UNDEFINED,
}
_TIMEOUTS: dict[str, Any] = {
    "0": 0,
    "20": 20,
    "1.5": 1.5,
    "-1": -1,
    "NaN": NAN,
    "text": "0.02 seconds",
    "0 seconds": "0 seconds",
    "of an unknown unit": "20 bogus",
    "soon": "soon",
    "empty": "",
}
NOTED = calls({"note": "context", "return": 1})
_QUICK = {"retries": {"limit": 2, "delay": 0, "backoff": "constant"}}

QUESTIONS: dict[str, Question] = {
    **{f"step name: {case}": played(["do", name, NOTED], detail=True) for case, name in _NAMES.items()},
    **{f"step config: {case}": played(["do", "f", config, NOTED]) for case, config in _CONFIGS.items()},
    **{f"sleep: {case}": played(["sleep", "s", length]) for case, length in _SLEEPS.items()},
    **{f"sleepUntil: {case}": played(["sleepUntil", "u", when]) for case, when in _UNTILS.items()},
    **{
        f"waitForEvent timeout: {case}": played(["waitForEvent", "w", {"type": "t", "timeout": timeout}])
        for case, timeout in _TIMEOUTS.items()
    },
    **{
        f"{method} name: {case}": played([method, _NAMES[case], *more], detail=True)
        for method, *more in (["sleep", 1], ["waitForEvent", {"type": "t", "timeout": 10}])
        for case in ("empty", "257 units", "newline", "number", "null", "undefined")
    },
    "waitForEvent options: none": played(["waitForEvent", "w"]),
    "waitForEvent options: null": played(["waitForEvent", "w", None]),
    "waitForEvent options: unknown key": played(["waitForEvent", "w", {"type": "t", "timeout": 10, "bogus": 1}]),
    "callback: none": played(["do", "f"], ["do", "f", {}], ["do", "f", {}, 5], ["do", "f", 5, None]),
    "callback: before the name is checked": played(["do", "a\nb"], ["do", "a\nb", {"bogus": 1}]),
    "name before config": played(["do", "a\nb", {"bogus": 1}, gives(1)]),
    "attempts: context": played(
        do("f", calls({"note": 1, "throw": ["Error", "a"]}, {"note": 2, "throw": ["Error", "b"]}, {"note": 3}), _QUICK),
        detail=True,
    ),
    "delay function: argument": played(
        do("f", fails("TypeError", "no"), {"retries": {"limit": 1, "delay": calls({"note": "delay", "return": 0})}}),
        detail=True,
    ),
    "delay function: custom error": played(
        do(
            "f",
            fails("MyErr", "no"),
            {"retries": {"limit": 1, "delay": calls({"note": "delay", "return": "0 seconds"})}},
        )
    ),
    "delay function: throws": played(do("f", fails(), {"retries": {"limit": 1, "delay": fails("MyErr", "bad")}})),
    "delay function: negative": played(do("f", fails(), {"retries": {"limit": 1, "delay": gives(-1)}})),
    "delay function: text": played(do("f", fails(), {"retries": {"limit": 1, "delay": gives("soon")}})),
    "delay function: undefined": played(do("f", fails(), {"retries": {"limit": 1, "delay": gives(UNDEFINED)}})),
    "counters: one name, three kinds": played(
        do("x"),
        ["sleep", "x", 1],
        ["waitForEvent", "x", {"type": "t", "timeout": 1}],
        do("x"),
        ["sleep", "x", 1],
        detail=True,
    ),
    "counters: sleep and sleepUntil": played(
        ["sleep", "x", 1], ["sleepUntil", "x", {"$ahead": 60}], ["sleep", "x", 2], detail=True
    ),
    "counters: a name like a label": played(do("x"), do("x-1"), do("x"), do("x-1-1"), detail=True),
    "nested": played(do("out", calls({"steps": [do("in"), ["sleep", "nap", 1]], "return": 1})), detail=True),
    "nested: same name": played(do("x", calls({"steps": [do("x"), do("x")], "return": 1})), detail=True),
    "concurrent": played(
        [
            "all",
            do("a", calls({"hang": 40, "return": 1})),
            do("b", calls({"hang": 10, "return": 2})),
            ["sleep", "s", 20],
        ],
        detail=True,
    ),
    "concurrent: same name": played(
        ["all", do("x", calls({"hang": 30, "return": 1})), do("x", calls({"hang": 5, "return": 2})), do("x")],
        detail=True,
    ),
    "concurrent: one fails": played(
        ["all", do("a", calls({"hang": 20, "return": 1})), do("b", fails(), ONCE)], do("c"), detail=True
    ),
    "timeout of an attempt": played(
        do("f", calls({"hang": 300, "return": 1}, {"return": 2}), {"timeout": 30, "retries": {"limit": 1, "delay": 0}}),
        detail=True,
    ),
    "timeout of all attempts": played(
        do("f", calls({"hang": 300, "return": 1}), {"timeout": 30, "retries": {"limit": 1, "delay": 0}}), detail=True
    ),
    "config kept apart from the given one": played(
        do("f", NOTED, {"retries": {"limit": 1, "delay": "1 second"}}), detail=True
    ),
    "event": played(["event"], params={"a": [1, UNDEFINED, {"$date": 5}]}),
    "event without params": played(["event"]),
    "event with null": played(["event"], params=None),
}
