"""KV: keys, options, lists, expiry, and calls with the wrong arguments."""

from __future__ import annotations

from typing import Any

from tests.oracle.bindings.questions.words import FUNCTION, NAN, UNDEFINED, VALUES, Question, asked, kv, text_of

_KEYS: dict[str, Any] = {
    **VALUES,
    "dot": ".",
    "two dots": "..",
    "three dots": "...",
    "512 bytes": text_of("k", 512),
    "513 bytes": text_of("k", 513),
    "512 bytes of ü": text_of("ü", 256),
    "513 bytes of ü and k": "k" + "ü" * 256,
    "slash": "/a//b/",
    "dot segment": "a/../b",
    "question mark": "a?b=c&d#e",
    "percent": "100%25 %",
    "percent dot": "%2e",
    "space": " a b ",
    "plus": "a+b",
    "newline": "a\r\nb",
    "backslash": "a\\b",
    "control": "\x01\x7f",
    "high": "\uffff\U0010ffff",
    "index": "42",
    "__proto__": "__proto__",
    "constructor": "constructor",
}
_SECONDS: dict[str, Any] = {
    "59": 59,
    "60": 60,
    "59.9": 59.9,
    "60.9": 60.9,
    "0": 0,
    "-1": -1,
    "text": "abc",
    "text number": "600",
    "text hex": "0x100",
    "empty text": "",
    "true": True,
    "null": None,
    "undefined": UNDEFINED,
    "NaN": NAN,
    "Infinity": {"$number": "Infinity"},
    "2^31": 2_147_483_648,
    "-2^31-1": -2_147_483_649,
    "1e20": 1e20,
    "BigInt": {"$bigint": "600"},
    "Date": {"$date": 600},
    "object": {},
    "array": [600],
    "function": FUNCTION,
}
_EXPIRATIONS: dict[str, Any] = {
    **_SECONDS,
    "now": {"$ahead": 0},
    "in 50 seconds": {"$ahead": 50},
    "in 70 seconds": {"$ahead": 70},
    "a day ago": {"$ahead": -86_400},
    "in a day": {"$ahead": 86_400},
}
_OPTIONS: dict[str, Any] = {
    name: VALUES[name]
    for name in (
        "text", "1", "true", "null", "undefined", "BigInt", "array", "empty object", "function", "Map", "Date", "Uint8Array",
    )
}  # fmt: skip
ODD_KEYS = [
    "a", "B", "b", "ab", "a b", "a/b", "a!", "aa", "Z", "_", "~", "", "é", "e\u0301", "ü", "ß", "\uffff", "\ue000", "😀", "𝒳", "\U0010ffff",
    "10", "9", "1", "-", " ", "%", "A", "\x01", "日本",
]  # fmt: skip
_FILL = [kv(["put", key, "v"]) for key in ODD_KEYS if key]
_TEN = [kv(["put", f"k{number}", str(number)]) for number in range(10)]
_PREFIXES: dict[str, Any] = {
    "a": "a",
    "empty": "",
    "none such": "zzz",
    "percent": "%",
    "underscore": "_",
    "emoji": "😀",
    "half an emoji": "\ud83d",
    "high": "\uffff",
    "null": None,
    "undefined": UNDEFINED,
    "number": 1,
    "object": {},
    "512 bytes": text_of("k", 512),
    "513 bytes": text_of("k", 513),
}
_LIMITS: dict[str, Any] = {**_SECONDS, "3": 3, "10": 10, "11": 11, "1000": 1000, "1001": 1001}
_CURSORS: dict[str, Any] = {
    "of k2": "azI=",
    "of k2 without padding": "azI",
    "of k2x": "azJ4",
    "garbage": "%%%",
    "empty": "",
    "null": None,
    "undefined": UNDEFINED,
    "number": 5,
    "object": {},
    "not UTF-8": "//8=",
    "url-safe": "-_8=",
    "long": text_of("azI=", 300),
}

QUESTIONS: dict[str, Question] = {
    **{
        f"key: {name}": asked(
            kv(["put", key, "v", {"metadata": 1}]), kv(["get", key]), kv(["getWithMetadata", key]), kv(["list"]),
            kv(["delete", key]), kv(["list"]),
        )
        for name, key in _KEYS.items()
    },
    **{
        f"bulk key: {name}": asked(
            kv(["put", key, "v"]), kv(["get", [key]]), kv(["getWithMetadata", [key, "other"]]), kv(["get", ["other", key], "json"]),
        )
        for name, key in _KEYS.items()
    },
    **{
        f"expirationTtl: {name}": asked(kv(["put", "k", "v", {"expirationTtl": seconds}]), kv(["list"]))
        for name, seconds in _SECONDS.items()
    },
    **{
        f"expiration: {name}": asked(kv(["put", "k", "v", {"expiration": seconds}]), kv(["list"]))
        for name, seconds in _EXPIRATIONS.items()
    },
    **{
        f"cacheTtl: {name}": asked(
            kv(["put", "k", "v"]), kv(["get", "k", {"cacheTtl": seconds}]),
            kv(["getWithMetadata", ["k"], {"type": "text", "cacheTtl": seconds}]),
        )
        for name, seconds in {**_SECONDS, "29": 29, "30": 30}.items()
    },
    **{f"list limit: {name}": asked(*_TEN, kv(["list", {"limit": limit}])) for name, limit in _LIMITS.items()},
    **{f"list cursor: {name}": asked(*_TEN, kv(["list", {"cursor": cursor, "limit": 2}])) for name, cursor in _CURSORS.items()},
    **{f"list prefix: {name}": asked(*_FILL, kv(["list", {"prefix": prefix}])) for name, prefix in _PREFIXES.items()},
    **{f"put options: {name}": asked(kv(["put", "k", "v", given]), kv(["getWithMetadata", "k"])) for name, given in _OPTIONS.items()},
    **{f"list options: {name}": asked(*_TEN[:2], kv(["list", given])) for name, given in _OPTIONS.items()},
    **{f"get options: {name}": asked(kv(["put", "k", "v"]), kv(["get", "k", given]), kv(["get", ["k"], given]))
       for name, given in _OPTIONS.items()},
    "list: order of odd keys": asked(*_FILL, kv(["list"])),
    "list: pages": asked(
        *_TEN, kv(["list", {"limit": 4}]), kv(["list", {"limit": 4, "cursor": "azM="}]), kv(["list", {"limit": 4, "cursor": "azc="}]),
        kv(["list", {"prefix": "k", "limit": 10}]), kv(["list", {"prefix": "k1", "limit": 1}]),
    ),
    "list: nothing": asked(kv(["list"]), kv(["list", {"prefix": "a"}]), kv(["list", {"limit": 1}])),
    "list: cursor before the prefix": asked(*_TEN, kv(["list", {"prefix": "k5", "cursor": "azI="}])),
    "list: cursor beyond the prefix": asked(*_TEN, kv(["list", {"prefix": "k5", "cursor": "azk="}])),
    "list: unknown option": asked(*_TEN[:1], kv(["list", {"bogus": 1, "reverse": True}])),
    "list: what each key says": asked(
        kv(["put", "a", "v", {"metadata": {"b": 1}, "expirationTtl": 600}]), kv(["put", "b", "v", {"expirationTtl": 600}]),
        kv(["put", "c", "v", {"metadata": 0}]), kv(["put", "d", "v", {"metadata": ""}]), kv(["put", "e", "v"]), kv(["list"]),
    ),
    "bulk: no keys": asked(kv(["get", []]), kv(["getWithMetadata", []])),
    "bulk: 100 keys": asked(*_TEN[:1], kv(["get", [f"k{number}" for number in range(100)]])),
    "bulk: 101 keys": asked(kv(["get", ["k"] * 101]), kv(["getWithMetadata", ["k"] * 101])),
    "bulk: order": asked(*_TEN, kv(["get", ["k5", "no", "k1", "k3", "k1"]]), kv(["getWithMetadata", ["k5", "no", "k5"]])),
    "bulk: one wrong key": asked(*_TEN[:1], kv(["get", ["k0", ""]]), kv(["get", ["k0", "."]]), kv(["get", ["k0", text_of("k", 513)]])),
    "bulk: cacheTtl of 10": asked(*_TEN[:1], kv(["get", ["k0"], {"cacheTtl": 10}])),
    "the last second": asked(
        kv(["put", "k", "v", {"expirationTtl": 2_147_483_647}]), kv(["put", "j", "v", {"expiration": 2_147_483_647}]),
        kv(["list", {"prefix": "j"}]), kv(["get", "k", {"cacheTtl": 2_147_483_647}]),
    ),
    "both expirations": asked(
        kv(["put", "k", "v", {"expiration": {"$ahead": 1000}, "expirationTtl": 600}]), kv(["list"]),
        kv(["put", "k", "v", {"expiration": 1, "expirationTtl": 600}]), kv(["put", "k", "v", {"expiration": {"$ahead": 1000}, "expirationTtl": 1}]),
    ),
    "without arguments": asked(*(kv([method]) for method in ("get", "getWithMetadata", "put", "delete", "list"))),
    "put: key alone": asked(kv(["put", "k"])),
    "surplus arguments": asked(
        kv(["put", "k", "v", {}, 1]), kv(["get", "k", "text", 1]), kv(["delete", "k", 1]), kv(["list", {}, 1]),
    ),
    "get: options, then more": asked(kv(["put", "k", "[1]"]), kv(["get", "k", {"type": "json", "cacheTtl": 60, "bogus": 1}])),
    "delete: twice": asked(kv(["put", "k", "v"]), kv(["delete", "k"]), kv(["delete", "k"]), kv(["get", "k"])),
    "delete: a list": asked(*_TEN[:2], kv(["delete", ["k0", "k1"]]), kv(["list"])),
    "order of checks: put": asked(
        kv(["put", "", {}, {"expirationTtl": 1}]), kv(["put", "k", {}, {"expirationTtl": 1}]), kv(["put", "", "v", {"expirationTtl": 1}]),
        kv(["put", text_of("k", 513), "v", {"expirationTtl": 1, "metadata": text_of("x", 2000)}]),
        kv(["put", "k", "v", {"expirationTtl": 1, "metadata": text_of("x", 2000)}]),
        kv(["put", "k", {"$bytes": 26_214_401}, {"metadata": text_of("x", 2000)}]),
        kv(["put", "k", "v", {"expiration": "x", "expirationTtl": {}}]),
        kv(["put", "k", "v", {"expirationTtl": {"$bigint": "1"}, "metadata": {"$bigint": "1"}}]),
    ),
    "order of checks: get": asked(
        kv(["get", "", "bogus"]), kv(["get", "", {"cacheTtl": 1}]), kv(["get", text_of("k", 513), {"cacheTtl": 1}]),
        kv(["get", "k", {"cacheTtl": 1, "type": "bogus"}]), kv(["get", ["k"] * 101, "stream"]), kv(["get", [], "stream"]),
        kv(["get", ["", "k"], {"cacheTtl": 1}]), kv(["get", ["k", ""], {"cacheTtl": 1}]),
    ),
    "order of checks: list": asked(
        kv(["list", {"limit": 1001, "prefix": text_of("k", 513)}]), kv(["list", {"limit": {"$bigint": "1"}, "prefix": {"$symbol": "s"}}]),
    ),
}  # fmt: skip
