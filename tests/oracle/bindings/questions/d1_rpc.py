"""D1 with the compatibility flag d1_binding_jsrpc: query(), and what it changes of the other calls."""

from __future__ import annotations

from typing import Any

from tests.oracle.bindings.questions import d1_calls, d1_values
from tests.oracle.bindings.questions.words import FUNCTION, NAN, UNDEFINED, Op, Question, asked, db

_CHANGED = (
    "bind: ",
    "prepare: ",
    "methods: ",
    "batch of one: ",
    "batch: ",
    "exec: ",
    "session: ",
    "constraint: unique",
)


def query(*queries: Any, **more: Any) -> Op:
    return ["DB", ["query", {"queries": list(queries), **more}]]


def _of(parameter: Any) -> Op:
    return query({"sql": "SELECT ? AS a", "params": [parameter]})


_PARAMETERS: dict[str, Any] = {
    "text": "x", "1": 1, "-0": {"$number": "-0"}, "NaN": NAN, "true": True, "null": None, "undefined": UNDEFINED,
    "BigInt": {"$bigint": "7"}, "Date": {"$date": 5}, "array": [1, 255, 256, -1, 1.5], "array of text": ["a"], "object": {},
    "function": FUNCTION, "Uint8Array": {"$view": ["Uint8Array", [1, 2]]}, "ArrayBuffer": {"$buffer": [1, 2]},
}  # fmt: skip
_REQUESTS: dict[str, Any] = {
    "undefined": UNDEFINED, "null": None, "text": "x", "empty object": {}, "queries null": {"queries": None},
    "queries of text": {"queries": ["SELECT 1"]}, "no sql": {"queries": [{}]}, "sql of 1": {"queries": [{"sql": 1}]},
    "params null": {"queries": [{"sql": "SELECT 1", "params": None}]},
    "params undefined": {"queries": [{"sql": "SELECT 1", "params": UNDEFINED}]},
    "params of text": {"queries": [{"sql": "SELECT 1", "params": "x"}]},
    "bookmark null": {"queries": [{"sql": "SELECT 1"}], "bookmark": None},
    "bookmark undefined": {"queries": [{"sql": "SELECT 1"}], "bookmark": UNDEFINED},
    "bookmark 1": {"queries": [{"sql": "SELECT 1"}], "bookmark": 1},
}  # fmt: skip

QUESTIONS: dict[str, Question] = {
    **{
        name: question
        for questions in (d1_values.QUESTIONS, d1_calls.QUESTIONS)
        for name, question in questions.items()
        if name.startswith(_CHANGED)
    },
    **{f"query of: {name}": asked(["DB", ["query", request]]) for name, request in _REQUESTS.items()},
    **{f"query parameter: {name}": asked(_of(parameter)) for name, parameter in _PARAMETERS.items()},
    "query: two": asked(query({"sql": "SELECT 1 AS a, 2 AS a"}, {"sql": "SELECT ? AS b", "params": ["x"]})),
    "query: none": asked(query()),
    "query: only a comment": asked(query({"sql": "-- a"})),
    "query: an error": asked(query({"sql": "SELECT 1"}, {"sql": "SELEC"})),
    "query: no rows": asked(
        db("CREATE TABLE t (a, b)"),
        query({"sql": "SELECT * FROM t"}, {"sql": "INSERT INTO t VALUES (1, x'01')"}, {"sql": "SELECT * FROM t"}),
        query({"sql": "CREATE TABLE u (a)"}), query({"sql": "INSERT INTO t VALUES (2, 3) RETURNING a"}),
    ),
    "query: bookmarks": asked(
        query({"sql": "SELECT 1"}, bookmark="first-primary"), query({"sql": "SELECT 1"}, bookmark=""),
        query({"sql": "SELEC"}, bookmark="first-unconstrained"),
    ),
    "dump": asked(["DB", ["dump"]]),
}  # fmt: skip
