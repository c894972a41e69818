"""Queues: what can be sent, how it arrives, and what is refused."""

from __future__ import annotations

from typing import Any

from tests.oracle.bindings.questions.words import FUNCTION, NAN, UNDEFINED, VALUES, Op, Question, asked, text_of

_AT_ONCE = {"max_batch_size": 100, "max_batch_timeout": 0}
_TYPES = ("json", "text", "bytes", "v8")
_BODIES: dict[str, Any] = {
    **VALUES,
    "nested": {"b": [1, {"c": None, "d": UNDEFINED}], "a": "ü😀", "10": 1},
    "Date inside": {"a": {"$date": 5}},
    "BigInt inside": {"a": [{"$bigint": "7"}]},
    "Map in a Map": {"$map": [["a", {"$map": [[1, {"$set": ["b"]}]]}]]},
    "NaN inside": [NAN],
    "function inside": {"a": FUNCTION},
    "bytes inside": {"a": {"$view": ["Uint8Array", [1, 2]]}},
    "stream": {"$stream": {"chunks": ["ab"]}},
}
_SKIPPED = {"v8": ("Error", "Headers", "URL", "function", "function inside", "stream", "RegExp")}
"""What is an object of the Worker's language is not the same in both Workers."""
_NAMES: dict[str, Any] = {
    "text": "text", "JSON": "JSON", "Text": "Text", "bogus": "bogus", "empty": "", "null": None, "undefined": UNDEFINED, "number": 5,
    "object": {}, "array": ["text"],
}  # fmt: skip
_DELAYS: dict[str, Any] = {
    "0": 0, "0.9": 0.9, "-0.9": -0.9, "-1": -1, "86400": 86_400, "86401": 86_401, "text": "abc", "text number": "0", "null": None,
    "undefined": UNDEFINED, "NaN": NAN, "Infinity": {"$number": "Infinity"}, "2^31": 2_147_483_648, "BigInt": {"$bigint": "0"}, "object": {},
    "true": True, "array": [0], "Date": {"$date": 0},
}  # fmt: skip
_OPTIONS: dict[str, Any] = {
    name: VALUES[name]
    for name in ("text", "1", "true", "null", "undefined", "BigInt", "array", "empty object", "function", "Map", "Date")
}
_REFUSABLE = ("size", "delay", "batch delay", "item delay", "body alone")
_ITEMS: dict[str, Any] = {
    "none": [],
    "undefined": [UNDEFINED],
    "null": [None],
    "number": [5],
    "text": ["a"],
    "empty object": [{}],
    "array": [[1]],
    "undefined body": [{"body": UNDEFINED}],
    "null body": [{"body": None}],
    "one wrong of two": [{"body": 1}, {"body": UNDEFINED}],
    "one type wrong": [{"body": 1}, {"body": 1, "contentType": "text"}],
    "upper case type": [{"body": "a", "contentType": "TEXT"}],
    "types mixed": [
        {"body": {"a": 1}}, {"body": "b", "contentType": "text"}, {"body": {"$view": ["Uint8Array", [1]]}, "contentType": "bytes"},
        {"body": {"$date": 5}, "contentType": "v8"}, {"body": None, "contentType": "json"},
    ],
    "unknown key": [{"body": 1, "bogus": 2}],
}  # fmt: skip
_SIZES: dict[str, Op] = {
    "send of 127,998 letters": ["Q", ["send", text_of("x", 127_998)]],
    "send of 127,999 letters": ["Q", ["send", text_of("x", 127_999)]],
    "send of 128,000 bytes of text": ["Q", ["send", text_of("x", 128_000), {"contentType": "text"}]],
    "send of 128,001 bytes of text": ["Q", ["send", text_of("x", 128_001), {"contentType": "text"}]],
    "send of 128,002 bytes of ü": ["Q", ["send", text_of("ü", 64_001), {"contentType": "text"}]],
    "send of 128,000 bytes": ["Q", ["send", {"$bytes": 128_000}, {"contentType": "bytes"}]],
    "send of 128,001 bytes": ["Q", ["send", {"$bytes": 128_001}, {"contentType": "bytes"}]],
    "send of 130,000 letters in v8": ["Q", ["send", text_of("x", 130_000), {"contentType": "v8"}]],
    "batch of 100": ["Q", ["sendBatch", [{"body": number} for number in range(100)]]],
    "batch of 101": ["Q", ["sendBatch", [{"body": number} for number in range(101)]]],
    "batch with one too large": ["Q", ["sendBatch", [{"body": 1}, {"body": text_of("x", 128_001)}]]],
    "batch of 288,000 bytes": ["Q", ["sendBatch", [{"body": text_of("x", 96_000), "contentType": "text"}] * 3]],
    "batch of 288,003 bytes": ["Q", ["sendBatch", [{"body": text_of("x", 96_001), "contentType": "text"}] * 3]],
    "batch of 101 and too large": ["Q", ["sendBatch", [{"body": text_of("x", 10_000)}] * 101]],
}  # fmt: skip


def sent(body: Any, *options: Any) -> Op:
    return ["Q", ["send", body, *options]]


def arrives(*ask: Op, **more: Any) -> Question:
    """It is sent, and what was accepted is delivered at once."""
    return asked(*ask, ["wait", 0.5], consumer=_AT_ONCE, **more)


QUESTIONS: dict[str, Question] = {
    **{
        f"body {type_}: {name}": arrives(sent(body, {"contentType": type_}))
        for type_ in _TYPES for name, body in _BODIES.items() if name not in _SKIPPED.get(type_, ())
    },
    **{f"body alone: {name}": arrives(sent(body)) for name, body in _BODIES.items()},
    **{f"content type: {name}": arrives(sent("a", {"contentType": type_})) for name, type_ in _NAMES.items()},
    **{f"options: {name}": arrives(sent("a", given)) for name, given in _OPTIONS.items()},
    **{f"delay: {name}": arrives(sent("a", {"delaySeconds": delay})) for name, delay in _DELAYS.items()},
    **{f"batch options: {name}": arrives(["Q", ["sendBatch", [{"body": 1}], given]]) for name, given in _OPTIONS.items()},
    **{f"batch delay: {name}": arrives(["Q", ["sendBatch", [{"body": 1}], {"delaySeconds": delay}]]) for name, delay in _DELAYS.items()},
    **{f"item delay: {name}": arrives(["Q", ["sendBatch", [{"body": 1, "delaySeconds": delay}]]]) for name, delay in _DELAYS.items()},
    **{f"item: {name}": arrives(["Q", ["sendBatch", items]]) for name, items in _ITEMS.items()},
    **{f"batch of: {name}": arrives(["Q", ["sendBatch", value]]) for name, value in VALUES.items()},
    "batch: a Set": arrives(["Q", ["sendBatch", {"$set": [{"body": 1}, {"body": 2}]}]]),
    "send: no arguments": arrives(["Q", ["send"]], ["Q", ["sendBatch"]]),
    "send: surplus arguments": asked(
        ["Q", ["send", 1, {}, 2]], ["Q", ["sendBatch", [{"body": 2}], {}, 2]], ["Q", ["metrics", 1]], consumer={"max_batch_size": 100, "max_batch_timeout": 60}
    ),
    "metrics: of an empty queue": arrives(["Q", ["metrics"]]),
}  # fmt: skip
QUESTIONS.update({f"size: {name}": arrives(op) for name, op in _SIZES.items()})
REFUSED = {name: question for name, question in QUESTIONS.items() if name.split(":")[0] in _REFUSABLE}
"""What a service refuses: with the older flags in other words."""
