"""The words of which questions are made; worker.js and worker.py say what each means.

A question is `{ask, consumer?, handler?, metrics?, timed?}`: the calls, one after another, and for queues what the consumer is like,
what the nth batch is answered with (the last again and again), and whether the metrics
of batches are wanted, or in which second each came.
"""

from __future__ import annotations

from typing import Any

Question = dict[str, Any]
Op = list[Any]

UNDEFINED = {"$undefined": 0}
FUNCTION = {"$global": "Object"}
NAN, INFINITY = {"$number": "NaN"}, {"$number": "Infinity"}

VALUES: dict[str, Any] = {
    "text": "text",
    "empty text": "",
    "ü😀": "ü😀",
    "lone surrogate": "a\ud800b",
    "NUL": "a\0b",
    "0": 0,
    "-0": {"$number": "-0"},
    "1": 1,
    "1.5": 1.5,
    "1e21": 1e21,
    "2^53": {"$number": "9007199254740992"},
    "NaN": NAN,
    "Infinity": INFINITY,
    "true": True,
    "false": False,
    "null": None,
    "undefined": UNDEFINED,
    "BigInt": {"$bigint": "7"},
    "Date": {"$date": 5},
    "Date invalid": {"$date": None},
    "array": [1, 2],
    "empty array": [],
    "nested array": [[1, [2]], "a"],
    "array of 256": [256],
    "array of text": ["a"],
    "object": {"a": 1},
    "empty object": {},
    "Map": {"$map": [["a", 1]]},
    "Set": {"$set": [1, 2]},
    "RegExp": {"$regexp": "a+"},
    "Error": {"$error": ["TypeError", "no"]},
    "function": FUNCTION,
    "Headers": {"$new": ["Headers"]},
    "URL": {"$new": ["URL", "https://a.b/c"]},
    "ArrayBuffer": {"$buffer": [1, 0, 255]},
    "empty ArrayBuffer": {"$buffer": 0},
    "Uint8Array": {"$view": ["Uint8Array", [1, 0, 255]]},
    "Int16Array": {"$view": ["Int16Array", [1, -1, 300]]},
    "Float64Array": {"$view": ["Float64Array", [1.5, 2]]},
    "BigInt64Array": {"$view": ["BigInt64Array", [1, 2]]},
    "DataView": {"$view": ["DataView", [1, 2]]},
}
"""One of each kind."""


def kv(*links: Any) -> Op:
    return ["KV", *links]


def db(sql: Any, *values: Any, how: Any = "all") -> Op:
    """One statement; `how` is a method, or a method with its arguments."""
    call = how if isinstance(how, list) else [how]
    return ["DB", ["prepare", sql], *([["bind", *values]] if values else []), call]


def statement(sql: Any, *values: Any) -> dict[str, Any]:
    """A prepared statement as an argument."""
    return {"$chain": ["DB", ["prepare", sql], *([["bind", *values]] if values else [])]}


def batch(*statements: Any) -> Op:
    made = [statement(each) if isinstance(each, str) else each for each in statements]
    return ["DB", ["batch", made]]


def quietly(op: Op) -> Op:
    """What it gives is not part of the answer."""
    return ["quietly", *op]


def asked(*ask: Op, **more: Any) -> Question:
    return {"ask": list(ask), **more}


def text_of(character: str, times: int) -> dict[str, Any]:
    return {"$repeat": [character, times]}
