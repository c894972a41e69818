"""R2: objects, conditions, ranges, checksums, lists, uploads in parts, and calls with the wrong arguments."""

from __future__ import annotations

from typing import Any

from tests.oracle.bindings.questions.words import (
    FUNCTION,
    NAN,
    UNDEFINED,
    VALUES,
    Op,
    Question,
    asked,
    quietly,
    text_of,
)

_MD5 = "b10a8db164e0754105b7a99be72e3fe5"  # of "Hello World"
_SHA1 = "0a4d55a8d778e5022fab701977c5d840bbc486d0"
_SHA256 = "a591a6d40bf420404a011733cfb7b190d62c65bf0bcda32b57b277d9ad9f146e"
_PART = {"$bytes": 5 * 1024 * 1024}


def r2(*links: Any) -> Op:
    return ["R2", *links]


def put(key: Any, value: Any = "Hello World", *options: Any) -> Op:
    return r2(["put", key, value, *options])


def let(name: str, *links: Any) -> Op:
    return ["let", name, "R2", *links]


def read(key: str) -> tuple[Op, Op]:
    return let("read", ["get", key]), ["read", ["text"]]


_HELLO = quietly(put("k"))
_MANY = [quietly(put(key, key)) for key in ("a", "a/1", "a/2", "a/b/3", "b", "b/", "c/d/e", "ü", "😀")]
_HTTP: dict[str, Any] = {
    "contentType": "text/plain", "contentLanguage": "de", "contentDisposition": "inline", "contentEncoding": "gzip",
    "cacheControl": "no-store", "cacheExpiry": {"$date": 86_400_000},
}  # fmt: skip
_RANGES: dict[str, Any] = {
    "offset": {"offset": 6},
    "offset 0": {"offset": 0},
    "offset at the end": {"offset": 11},
    "offset past the end": {"offset": 12},
    "offset negative": {"offset": -1},
    "offset of 1.5": {"offset": 1.5},
    "length": {"length": 5},
    "length 0": {"length": 0},
    "length too long": {"length": 100},
    "length negative": {"length": -1},
    "length of 1.5": {"length": 1.5},
    "offset and length": {"offset": 2, "length": 3},
    "suffix": {"suffix": 5},
    "suffix 0": {"suffix": 0},
    "suffix too long": {"suffix": 100},
    "suffix negative": {"suffix": -1},
    "suffix of 1.5": {"suffix": 1.5},
    "suffix and offset": {"suffix": 5, "offset": 1},
    "suffix and length": {"suffix": 5, "length": 1},
    "empty": {},
    "null": None,
    "text": "bytes=0-4",
    "number": 3,
}
_CONDITIONS: dict[str, Any] = {
    "etag matches": {"etagMatches": _MD5},
    "etag matches another": {"etagMatches": "x"},
    "etag matches any": {"etagMatches": "*"},
    "etag quoted": {"etagMatches": f'"{_MD5}"'},
    "etag does not match": {"etagDoesNotMatch": "x"},
    "etag does match": {"etagDoesNotMatch": _MD5},
    "etag does not match any": {"etagDoesNotMatch": "*"},
    "uploaded after 1970": {"uploadedAfter": {"$date": 0}},
    "uploaded after tomorrow": {"uploadedAfter": {"$ahead": 86_400_000}},
    "uploaded before 1970": {"uploadedBefore": {"$date": 0}},
    "uploaded before tomorrow": {"uploadedBefore": {"$date": 4_000_000_000_000}},
    "before 1970 but matches": {"uploadedBefore": {"$date": 0}, "etagMatches": _MD5},
    "after 2096 but differs": {"uploadedAfter": {"$date": 4_000_000_000_000}, "etagDoesNotMatch": "x"},
    "in seconds": {"uploadedAfter": {"$date": 0}, "secondsGranularity": True},
    "empty": {},
    "null": None,
    "text": "x",
}
_CONDITIONS.pop("uploaded after tomorrow")
_LISTS: dict[str, Any] = {
    "all": {},
    "no options": UNDEFINED,
    "null": None,
    "prefix": {"prefix": "a"},
    "prefix of a folder": {"prefix": "a/"},
    "prefix of none": {"prefix": "zz"},
    "delimiter": {"delimiter": "/"},
    "delimiter and prefix": {"delimiter": "/", "prefix": "a/"},
    "delimiter of two": {"delimiter": "/b"},
    "empty delimiter": {"delimiter": ""},
    "start after": {"startAfter": "a/2"},
    "start after what is not": {"startAfter": "a/zzz"},
    "start after with delimiter": {"startAfter": "a/1", "delimiter": "/"},
    "limit 2": {"limit": 2},
    "limit 2 with delimiter": {"limit": 2, "delimiter": "/"},
    "limit 0": {"limit": 0},
    "limit 1000": {"limit": 1000},
    "limit 1001": {"limit": 1001},
    "limit -1": {"limit": -1},
    "limit -2": {"limit": -2},
    "limit text": {"limit": "2"},
    "limit NaN": {"limit": NAN},
    "cursor of nobody": {"cursor": "Yi8="},
    "include http": {"include": ["httpMetadata"]},
    "include both": {"include": ["httpMetadata", "customMetadata"]},
    "include nothing": {"include": []},
    "include wrong": {"include": ["x"]},
}
_DIGESTS: dict[str, Any] = {
    "md5": {"md5": _MD5},
    "md5 upper case": {"md5": _MD5.upper()},
    "md5 wrong": {"md5": "0" * 32},
    "md5 short": {"md5": "00"},
    "md5 no hex": {"md5": "z" * 32},
    "md5 bytes": {"md5": {"$view": ["Uint8Array", [*bytes.fromhex(_MD5)]]}},
    "md5 short bytes": {"md5": {"$view": ["Uint8Array", [1, 2]]}},
    "sha1": {"sha1": _SHA1},
    "sha1 wrong": {"sha1": "0" * 40},
    "sha256": {"sha256": _SHA256},
    "sha256 wrong": {"sha256": "0" * 64},
    "two": {"md5": _MD5, "sha1": _SHA1},
    "number": {"md5": 5},
}
_METADATA: dict[str, Any] = {
    "custom": {"customMetadata": {"a": "1", "ü": "😀"}},
    "custom numbers": {"customMetadata": {"a": 1, "b": True, "c": None}},
    "custom of 8192": {"customMetadata": {"a": text_of("x", 8191)}},
    "custom of 8193": {"customMetadata": {"a": text_of("x", 8192)}},
    "custom wide of 8192": {"customMetadata": {"a": text_of("Ā", 4095)}},
    "custom wide of 8194": {"customMetadata": {"a": text_of("Ā", 4096)}},
    "custom text": {"customMetadata": "x"},
    "http": {"httpMetadata": _HTTP},
    "http unknown": {"httpMetadata": {"contentType": "a/b", "other": 1}},
    "http number": {"httpMetadata": {"contentType": 5}},
    "http text": {"httpMetadata": "x"},
    "storage class": {"storageClass": "InfrequentAccess"},
}
_KEYS: dict[str, Any] = {
    "empty": "",
    "1024 bytes": text_of("k", 1024),
    "1025 bytes": text_of("k", 1025),
    "1025 bytes of ü and k": "k" + "ü" * 512,
    "slashes": "/a//b/",
    "dots": "..",
    "number": 5,
    "null": None,
    "undefined": UNDEFINED,
    "object": {"a": 1},
    "array": ["a", "b"],
    "NUL": "a\0b",
}
_NO_VALUES = frozenset(
    {"lone surrogate", "BigInt64Array", "URL", "Headers", "function", "Set", "Map", "RegExp", "Error"}
)

QUESTIONS: dict[str, Question] = {
    "nothing there": asked(r2(["head", "k"]), r2(["get", "k"]), r2(["delete", "k"]), r2(["list"])),
    "put and get": asked(put("k"), r2(["head", "k"]), r2(["get", "k"]), *read("k")),
    "put twice": asked(_HELLO, quietly(put("k", "other")), *read("k")),
    "delete": asked(_HELLO, r2(["delete", "k"]), r2(["head", "k"])),
    "delete many": asked(*_MANY, r2(["delete", ["a", "b", "nosuch"]]), let("page", ["list"]), ["page", "objects", "length"]),
    "read as text": asked(_HELLO, *read("k")),
    "read as json": asked(quietly(put("k", '{"a": [1]}')), let("o", ["get", "k"]), ["o", ["json"]], ["o", "bodyUsed"]),
    "read as json that is none": asked(_HELLO, let("o", ["get", "k"]), ["o", ["json"]]),
    "read as buffer": asked(_HELLO, let("o", ["get", "k"]), ["o", ["arrayBuffer"]]),
    "read as bytes": asked(_HELLO, let("o", ["get", "k"]), ["o", ["bytes"]]),
    "read twice": asked(_HELLO, let("o", ["get", "k"]), ["o", ["text"]], ["o", ["text"]]),
    "checksums": asked(_HELLO, let("o", ["head", "k"]), ["o", "checksums"], ["o", "checksums", ["toJSON"]]),
    "no arguments": asked(*(r2([name]) for name in ("head", "get", "put", "delete", "createMultipartUpload"))),
    "no value": asked(r2(["put", "k"]), r2(["put", "k", UNDEFINED]), r2(["resumeMultipartUpload", "k"])),
    "delete nothing": asked(r2(["delete", []]), r2(["delete", UNDEFINED]), r2(["delete", None])),
    **{f"value: {name}": asked(put("k", VALUES[name]), r2(["get", "k"])) for name in VALUES if name not in _NO_VALUES},
    **{f"key: {name}": asked(put(key), r2(["head", key]), r2(["delete", key])) for name, key in _KEYS.items()},
    **{f"range: {name}": asked(_HELLO, r2(["get", "k", {"range": each}])) for name, each in _RANGES.items()},
    **{f"get if: {name}": asked(_HELLO, r2(["get", "k", {"onlyIf": each}])) for name, each in _CONDITIONS.items()},
    **{
        f"put if: {name}": asked(
            put("new", "x", {"onlyIf": each}), _HELLO, put("k", "x", {"onlyIf": each}), *read("k")
        )
        for name, each in _CONDITIONS.items()
    },
    **{f"digest: {name}": asked(put("k", "Hello World", each), r2(["head", "k"])) for name, each in _DIGESTS.items()},
    **{f"metadata: {name}": asked(put("k", "x", each), r2(["head", "k"])) for name, each in _METADATA.items()},
    **{f"list: {name}": asked(*_MANY, r2(["list", each])) for name, each in _LISTS.items()},
    "list metadata": asked(
        quietly(put("k", "x", {"httpMetadata": _HTTP, "customMetadata": {"a": "b"}})),
        let("page", ["list"]), ["page", "objects"],
        let("page", ["list", {"include": ["httpMetadata"]}]), ["page", "objects"],
        let("page", ["list", {"include": ["httpMetadata", "customMetadata"]}]), ["page", "objects"],
    ),
    "list pages": asked(
        *_MANY,
        let("one", ["list", {"limit": 4, "delimiter": "/"}]),
        ["one"],
        r2(["list", {"limit": 4, "delimiter": "/", "cursor": {"$chain": ["one", "cursor"]}}]),
    ),
    "options: text": asked(r2(["get", "k", "x"]), r2(["put", "k", "x", "y"]), r2(["list", "x"])),
    "options: number": asked(r2(["get", "k", 1]), r2(["put", "k", "x", 1]), r2(["list", 1])),
    "options: null": asked(r2(["get", "k", None]), r2(["put", "k", "x", None]), r2(["list", None])),
    "options: function": asked(r2(["get", "k", FUNCTION]), let("page", ["list", FUNCTION]), ["page", "truncated"]),
    "upload": asked(
        let("u", ["createMultipartUpload", "k", {"customMetadata": {"a": "b"}, "httpMetadata": {"contentType": "a/b"}}]),
        ["u", "key"],
        ["let", "p", "u", ["uploadPart", 1, "Hello"]],
        ["p", "partNumber"],
        r2(["head", "k"]),
        ["u", ["complete", [{"$chain": ["p"]}]]],
        r2(["get", "k"]),
        r2(["head", "k"]),
        ["u", ["uploadPart", 2, "x"]],
        ["u", ["complete", [{"$chain": ["p"]}]]],
        ["u", ["abort"]],
    ),
    "upload of two parts": asked(
        let("u", ["createMultipartUpload", "k"]),
        ["let", "q", "u", ["uploadPart", 2, "end"]],
        ["let", "p", "u", ["uploadPart", 1, _PART]],
        ["u", ["complete", [{"$chain": ["p"]}, {"$chain": ["q"]}]]],
        r2(["get", "k", {"range": {"offset": 5 * 1024 * 1024 - 2}}]),
    ),
    "upload with a small part": asked(
        let("u", ["createMultipartUpload", "k"]),
        ["let", "p", "u", ["uploadPart", 1, "small"]],
        ["let", "q", "u", ["uploadPart", 2, "end"]],
        ["u", ["complete", [{"$chain": ["p"]}, {"$chain": ["q"]}]]],
        ["u", ["complete", [{"$chain": ["q"]}, {"$chain": ["p"]}]]],
        ["u", ["complete", [{"$chain": ["p"]}, {"$chain": ["p"]}]]],
        ["u", ["complete", [{"partNumber": 1, "etag": "x"}]]],
        ["u", ["complete", [{"partNumber": 3, "etag": "x"}]]],
        ["u", ["complete", "x"]],
        ["u", ["complete", []]],
    ),
    "upload with a large last part": asked(
        let("u", ["createMultipartUpload", "k"]),
        ["let", "p", "u", ["uploadPart", 1, _PART]],
        ["let", "q", "u", ["uploadPart", 2, {"$bytes": 5 * 1024 * 1024 + 1}]],
        ["u", ["complete", [{"$chain": ["p"]}, {"$chain": ["q"]}]]],
    ),
    "upload aborted": asked(
        let("u", ["createMultipartUpload", "k"]),
        quietly(["u", ["uploadPart", 1, "x"]]),
        ["u", ["abort"]],
        ["u", ["abort"]],
        ["u", ["uploadPart", 1, "x"]],
        ["u", ["complete", []]],
    ),
    "upload resumed": asked(
        let("u", ["createMultipartUpload", "k"]),
        let("v", ["resumeMultipartUpload", "k", {"$chain": ["u", "uploadId"]}]),
        ["let", "p", "v", ["uploadPart", 1, "Hello"]],
        ["v", ["complete", [{"$chain": ["p"]}]]],
    ),
    "upload of nobody": asked(
        let("v", ["resumeMultipartUpload", "k", "nosuch"]),
        ["v", ["uploadPart", 1, "x"]],
        ["v", ["complete", []]],
        ["v", ["abort"]],
    ),
    "part numbers": asked(
        let("u", ["createMultipartUpload", "k"]),
        *(each for number in (1, 10_000) for each in (["let", "p", "u", ["uploadPart", number, "x"]], ["p", "partNumber"])),
        *(["u", ["uploadPart", number, "x"]] for number in (0, -1, 10_001)),
    ),
    "a part is replaced": asked(
        let("u", ["createMultipartUpload", "k"]),
        ["let", "p", "u", ["uploadPart", 1, "Hello"]],
        ["let", "q", "u", ["uploadPart", 1, "other"]],
        ["u", ["complete", [{"$chain": ["p"]}]]],
        ["u", ["complete", [{"$chain": ["q"]}]]],
        *read("k"),
    ),
    "put over an upload": asked(
        let("u", ["createMultipartUpload", "k"]),
        ["let", "p", "u", ["uploadPart", 1, "Hello"]],
        quietly(["u", ["complete", [{"$chain": ["p"]}]]]),
        quietly(put("k", "single")),
        *read("k"),
        r2(["delete", "k"]),
        let("page", ["list"]), ["page", "objects", "length"],
    ),
}  # fmt: skip
