"""KV: what can be put, and how it comes back."""

from __future__ import annotations

from typing import Any

from tests.oracle.bindings.questions.words import (
    FUNCTION,
    INFINITY,
    NAN,
    UNDEFINED,
    VALUES,
    Question,
    asked,
    kv,
    text_of,
)

AGAIN = [kv(["get", "k"]), kv(["get", "k", "arrayBuffer"])]

_STREAMS: dict[str, Any] = {
    "of a Response": {"$stream": {"chunks": ["ab", "", "cd"]}},
    "bytes": {"$stream": {"type": "bytes", "chunks": ["ab", 3]}},
    "empty": {"$stream": {}},
    "text chunks": {"$stream": {"chunks": [{"string": "ab"}]}},
    "number chunks": {"$stream": {"chunks": [{"value": 5}]}},
    "fails": {"$stream": {"chunks": ["ab", {"throw": "no more"}]}},
    "locked": {"$stream": {"chunks": ["ab"], "locked": True}},
    "Blob": {"$new": ["Blob", ["ab"]]},
    "Response": {"$new": ["Response", "ab"]},
    "URLSearchParams": {"$new": ["URLSearchParams", "a=1"]},
}
_METADATA: dict[str, Any] = {
    "1024 bytes": text_of("x", 1022),
    "1025 bytes": text_of("x", 1023),
    "1024 bytes of ü": text_of("ü", 511),
    "nested": {"b": [1, {"c": None}], "a": "ü😀"},
    "numeric keys": {"b": 1, "10": 2, "2": 3},
    "undefined inside": {"a": UNDEFINED, "b": [UNDEFINED]},
    "NaN inside": {"a": NAN},
    "BigInt inside": {"a": {"$bigint": "7"}},
    "Date inside": {"a": {"$date": 5}},
    "function inside": {"a": FUNCTION},
    "bytes inside": {"a": {"$view": ["Uint8Array", [1, 2]]}},
}
_TYPES: dict[str, Any] = {
    "text": "text",
    "json": "json",
    "arrayBuffer": "arrayBuffer",
    "stream": "stream",
    "Text": "Text",
    "empty": "",
    "number": 5,
    "null": None,
    "undefined": UNDEFINED,
    "object text": {"type": "text"},
    "object json": {"type": "json"},
    "object stream": {"type": "stream"},
    "object arrayBuffer": {"type": "arrayBuffer"},
    "object bogus": {"type": "bogus"},
    "object null": {"type": None},
    "object undefined": {"type": UNDEFINED},
    "empty object": {},
    "array": ["json"],
    "function": FUNCTION,
    "boolean": True,
}
_JSON_TEXTS = {
    "object": '{"b": 1, "a": [null, true, "ü"], "10": 2}',
    "number": "-1.5e3",
    "big number": "12345678901234567890",
    "text": '"ü\\u0000"',
    "null": "null",
    "empty": "",
    "word": "v1",
    "open": '{"a": ',
    "trailing comma": "[1,]",
    "byte order mark": "\ufeff{}",
    "two values": "1 2",
    "repeated key": '{"a": 1, "a": 2}',
    "constructor": '{"constructor": 1}',
    "NaN": "NaN",
    "single quotes": "{'a': 1}",
    "newline in text": '"a\nb"',
    "unfinished text": '"abc',
    "bad escape": '"\\x"',
    "lonely minus": "-",
    "leading zero": "01",
    "long": "[" * 3 + "x" * 60,
}

QUESTIONS: dict[str, Question] = {
    **{f"put: {name}": asked(kv(["put", "k", value]), *AGAIN) for name, value in VALUES.items()},
    **{f"put stream: {name}": asked(kv(["put", "k", value]), *AGAIN) for name, value in _STREAMS.items()},
    **{
        f"metadata: {name}": asked(
            kv(["put", "k", "v", {"metadata": value}]), kv(["getWithMetadata", "k"]), kv(["list"])
        )
        for name, value in {**VALUES, **_METADATA}.items()
    },
    **{
        f"get type: {name}": asked(
            kv(["put", "k", '{"a": 1}']), kv(["get", "k", type_]), kv(["get", "missing", type_]),
            kv(["getWithMetadata", "k", type_]), kv(["getWithMetadata", "missing", type_]),
        )
        for name, type_ in _TYPES.items()
    },
    **{
        f"bulk type: {name}": asked(
            kv(["put", "k", '{"a": 1}']), kv(["get", ["k", "no"], type_]), kv(["getWithMetadata", ["k", "no"], type_])
        )
        for name, type_ in _TYPES.items()
    },
    **{
        f"get json: {name}": asked(
            kv(["put", "k", text]), kv(["get", "k", "json"]), kv(["get", ["k"], "json"]), kv(["getWithMetadata", ["k"], "json"])
        )
        for name, text in _JSON_TEXTS.items()
    },
    "get text: bytes that are no UTF-8": asked(
        kv(["put", "k", {"$view": ["Uint8Array", [97, 255, 0xC3, 0x28, 0xED, 0xA0, 0x80, 98, 0xF0, 0x9F]]}]),
        *AGAIN, kv(["get", ["k"]]), kv(["get", "k", "stream"]),
    ),
    "get text: byte order mark": asked(
        kv(["put", "k", {"$view": ["Uint8Array", [0xEF, 0xBB, 0xBF, 97]]}]), *AGAIN, kv(["get", ["k"]])
    ),
    "value of 25 MiB": asked(
        kv(["put", "k", text_of("x", 26_214_400)]), kv(["get", "k"]), kv(["get", "k", "stream"]), kv(["get", ["k"]]),
    ),
    "value of 25 MiB and 1": asked(
        kv(["put", "k", text_of("x", 26_214_401)]), kv(["put", "k", {"$bytes": 26_214_401}]), kv(["get", "k"])
    ),
    "stream of 1 MiB": asked(
        kv(["put", "k", {"$stream": {"chunks": [65_536] * 16}}]), kv(["get", "k", "arrayBuffer"]), kv(["get", "k", "stream"])
    ),
    "stream of 25 MiB and 1": asked(
        kv(["put", "k", {"$stream": {"chunks": [*[1_048_576] * 25, 1]}}]), kv(["get", "k", "arrayBuffer"])
    ),
    "bulk: three values of 9 MiB": asked(
        *(kv(["put", key, text_of("x", 9_437_184)]) for key in "abc"),
        kv(["get", ["a", "b", "c"]]), kv(["get", ["a", "b"]]), kv(["get", "c"]),
    ),
    "overwrite: metadata and expiration go": asked(
        kv(["put", "k", "v", {"metadata": 1, "expirationTtl": 600}]), kv(["list"]), kv(["put", "k", "w"]),
        kv(["getWithMetadata", "k"]), kv(["list"]),
    ),
    "refused put: the old value stays": asked(
        kv(["put", "k", "v", {"metadata": 1}]), kv(["put", "k", "w", {"expirationTtl": 1}]), kv(["getWithMetadata", "k"])
    ),
    "empty value with metadata": asked(
        kv(["put", "e", "", {"metadata": {"a": 1}}]), kv(["getWithMetadata", "e"]), kv(["getWithMetadata", ["e", "no"]]),
        kv(["get", ["e", "no"]]), kv(["get", "e", "json"]),
    ),
    "put: Infinity metadata": asked(kv(["put", "k", "v", {"metadata": {"a": INFINITY}}]), kv(["getWithMetadata", "k"])),
}  # fmt: skip
