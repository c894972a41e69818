"""What is thrown and what is returned: by steps, by run(), and as it is shown."""

from __future__ import annotations

from typing import Any

from tests.oracle.workflows.questions.words import (
    ALL_EVENTS,
    INFINITY,
    NAN,
    ONCE,
    TWICE,
    UNDEFINED,
    Question,
    calls,
    do,
    fails,
    gives,
    must,
    played,
)

_ERRORS = {
    "Error": ["Error", "m"],
    "without a message": ["Error", ""],
    "RangeError": ["RangeError", "m"],
    "EvalError": ["EvalError", "m"],
    "AggregateError": ["AggregateError", "m"],
    "DOMException AbortError": ["DOM:AbortError", "m"],
    "DOMException DataCloneError": ["DOM:DataCloneError", "m"],
    "DOMException TimeoutError": ["DOM:TimeoutError", "m"],
    "DOMException NotFoundError": ["DOM:NotFoundError", "m"],
    "DOMException ConstraintError": ["DOM:ConstraintError", "m"],
    "DOMException InvalidCharacterError": ["DOM:InvalidCharacterError", "m"],
    "custom": ["MyErr", "m"],
    "custom without a message": ["MyErr", ""],
    "named as the engine's": ["WorkflowTimeoutError", "m"],
    "colon in the message": ["Error", "TypeError: m"],
    "lines": ["Error", "a\nb"],
}
_NON_RETRYABLE = {
    "plain": ["NonRetryableError", "m"],
    "without a message": ["NonRetryableError", ""],
    "by its message": ["Error", "NonRetryableError: m"],
    "by the beginning of its message": ["TypeError", "NonRetryableErrors are fine"],
    "in the middle of a message": ["Error", "a NonRetryableError: m"],
}
_VALUES: dict[str, Any] = {
    "null": None,
    "undefined": UNDEFINED,
    "NaN": NAN,
    "Infinity": INFINITY,
    "-0": {"$number": "-0"},
    "large number": 1e21,
    "fraction": 0.1,
    "bigint": {"$bigint": "12345678901234567890"},
    "text": "ab\u2028\x00",
    "Date": {"$date": 1_577_836_800_000},
    "invalid Date": {"$date": None},
    "Map": {"$map": [["a", 1], [2, "b"]]},
    "Set": {"$set": [1, "a"]},
    "Uint8Array": {"$view": ["Uint8Array", [1, 2]]},
    "Float64Array": {"$view": ["Float64Array", [1.5, 2]]},
    "BigInt64Array": {"$view": ["BigInt64Array", [1, 2]]},
    "DataView": {"$view": ["DataView", [1, 2]]},
    "ArrayBuffer": {"$buffer": 3},
    "Error": {"$error": ["TypeError", "m"]},
    "Error with properties": {"$error": ["Error", "m", {"a": 1}]},
    "nested": {"a": [{"b": {"$date": 1_577_836_800_000}}, UNDEFINED, {"$bigint": "1"}, NAN], "c": UNDEFINED},
    "nested binary": {"a": {"$view": ["Uint8Array", [1]]}, "b": [{"$buffer": 1}], "m": {"$map": [["k", {"$date": 0}]]}},
    "number keys": {"b": 1, "2": 2, "a": 3, "1": 4},
    "empty": [{}, [], ""],
    "circular": {"$circular": 0},
    "one object twice": {"$twice": 0},
}
_UNCLONEABLE = {
    "function": gives(1),
    "function inside": {"a": gives(1)},
    "symbol": {"$symbol": "s"},
    "class instance": {"$object": 0},
    "promise inside": {"$promise": 0},
    "WeakMap": {"$weakmap": 0},
}
_KIB = 1 << 10
_STREAMS: dict[str, dict[str, Any]] = {
    "bytes": {"type": "bytes", "chunks": ["ab", "cd"]},
    "no bytes": {"type": "bytes", "chunks": []},
    "not of type bytes": {"chunks": ["ab", "cd"]},
    "locked": {"type": "bytes", "chunks": ["ab"], "locked": True},
    "cancelled": {"type": "bytes", "chunks": ["ab"], "cancelled": True},
    "3 MiB": {"type": "bytes", "chunks": [_KIB * _KIB] * 3},
    "preview of 1,024": {"type": "bytes", "chunks": [1_024]},
    "preview of 1,025": {"type": "bytes", "chunks": [1_025]},
    "text chunks": {"chunks": [{"string": "ab"}, {"string": "é"}]},
    "number chunks": {"chunks": [{"value": 5}]},
    "object chunks": {"chunks": [{"value": {"a": 1}}]},
    "fails": {"type": "bytes", "chunks": ["ab", {"throw": "broken"}]},
    "fails at once": {"type": "bytes", "chunks": [{"throw": "broken"}]},
    "not of type bytes, fails": {"chunks": ["ab", {"throw": "broken"}]},
}

QUESTIONS: dict[str, Question] = {
    **{f"caught: {case}": played(do("f", fails(*error), ONCE), detail=True) for case, error in _ERRORS.items()},
    **{f"uncaught in a step: {case}": played(must(do("f", fails(*error), ONCE))) for case, error in _ERRORS.items()},
    **{f"thrown by run(): {case}": played(["throw", error]) for case, error in _ERRORS.items()},
    **{
        f"non-retryable, caught: {case}": played(do("f", fails(*error), TWICE), detail=True)
        for case, error in _NON_RETRYABLE.items()
    },
    **{
        f"non-retryable, uncaught: {case}": played(must(do("f", fails(*error), TWICE)))
        for case, error in _NON_RETRYABLE.items()
    },
    **{f"non-retryable, thrown by run(): {case}": played(["throw", error]) for case, error in _NON_RETRYABLE.items()},
    **{
        f"value of a step: {case}": played(do("f", gives(value)), more=[ALL_EVENTS], detail=True)
        for case, value in _VALUES.items()
    },
    **{
        f"value of run(): {case}": played(
            ["return", value], more=[["subscribe", {"filter": ["workflow_completed"]}, 5]], detail=True
        )
        for case, value in _VALUES.items()
    },
    **{f"params: {case}": played(["event"], params=value, detail=True) for case, value in _VALUES.items()},
    **{
        f"not serialisable, of a step: {case}": played(do("f", gives(value), TWICE), do("g"), detail=True)
        for case, value in _UNCLONEABLE.items()
    },
    **{f"not serialisable, of run(): {case}": played(["return", value]) for case, value in _UNCLONEABLE.items()},
    **{
        f"stream: {case}": played(do("f", gives({"$stream": stream}), TWICE), detail=True)
        for case, stream in _STREAMS.items()
    },
    "stream: of run()": played(["return", {"$stream": {"type": "bytes", "chunks": ["ab"]}}]),
    "stream: inside an object": played(do("f", gives({"a": {"$stream": {"type": "bytes", "chunks": ["ab"]}}}), ONCE)),
    "stream: sensitive": played(
        do("f", gives({"$stream": {"type": "bytes", "chunks": ["ab"]}}), {"sensitive": "output"}), detail=True
    ),
    "stream: events": played(do("f", gives({"$stream": {"type": "bytes", "chunks": ["ab"]}})), more=[ALL_EVENTS]),
    "size of a result: 1 MiB less 100": played(do("f", gives({"$repeat": ["x", 1_048_476]}), ONCE)),
    "size of a result: 1.2 MiB": played(do("f", gives({"$repeat": ["x", 1_200_000]}), ONCE)),
    "size of a result: 6 MB": played(do("f", gives({"$repeat": ["x", 6_000_000]}), ONCE)),
    "size of params: 1 MiB less 100": played(["return", 1], params={"$repeat": ["x", 1_048_476]}),
    "size of params: 1.2 MiB": played(["return", 1], params={"$repeat": ["x", 1_200_000]}),
    "size of an output: 1.2 MiB": played(["return", {"$repeat": ["x", 1_200_000]}]),
    "sensitive": played(do("f", gives({"a": 1}), {"sensitive": "output"}), more=[ALL_EVENTS], detail=True),
    "sensitive, fails": played(do("f", fails(), {"sensitive": "output", **ONCE}), more=[ALL_EVENTS], detail=True),
    "sensitive, value": played(do("f", calls({"return": "secret"}), {"sensitive": "output"}), ["return", "open"]),
}
