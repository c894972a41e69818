"""What a Worker sees of a bucket: workerd's classes R2Bucket, HeadResult, GetResult and R2MultipartUpload.

Coerces arguments as workerd does (`api/r2-bucket.c++`), asks the bucket, and words a refusal for the Worker.
"""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from flarebed.bindings.ecma import json_parse, to_string
from flarebed.bindings.errors import range_error, type_error
from flarebed.bindings.r2 import errors, multipart
from flarebed.bindings.r2.blobs import Bytes
from flarebed.bindings.r2.bucket import MAX_LIST_KEYS, MAX_LIST_WITH_METADATA, Bucket, Upload
from flarebed.bindings.r2.objects import ALGORITHMS, Condition, Etag, Range, Span, StoredObject
from flarebed.bindings.values import UNDEFINED, ArrayBuffer, Date, Stream, View
from flarebed.bindings.webidl import ABSENT, integer, members, string, wrong_parameter

T = TypeVar("T")

_VALUE: Final = "JsReadableStream or ArrayBuffer or ArrayBufferView or string or Blob"
_HTTP_FIELDS: Final = ("contentType", "contentLanguage", "contentDisposition", "contentEncoding", "cacheControl")
_DIGEST_BYTES: Final = {"md5": 16, "sha1": 20, "sha256": 32, "sha384": 48, "sha512": 64}


class R2Bucket:
    """https://developers.cloudflare.com/r2/api/workers/workers-api-reference/#bucket-method-definitions"""

    clone_error = "An R2 bucket binding cannot be serialized."

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    def engine(self) -> Bucket:
        """For a runtime that speaks to it in another way than by these methods."""
        return self._bucket

    async def head(self, key: Any = ABSENT) -> HeadResult | None:
        name = _key("head", key)
        with _worded(self._bucket, "head"):
            found = self._found(lambda: self._bucket.head(name))
        return None if found is None else HeadResult(found, Span(0, found.size))

    async def get(self, key: Any = ABSENT, options: Any = UNDEFINED) -> HeadResult | GetResult | None:
        """With a condition that does not hold, the object without its body."""
        name, fields = _key("get", key), _options("get", options, 2, "GetOptions")
        wanted, only_if = _range(fields), _condition(fields, "GetOptions")
        with _worded(self._bucket, "get"):
            try:
                found = self._found(lambda: self._bucket.get(name, wanted, only_if))
            except errors.PreconditionFailed as failed:
                return None if failed.found is None else HeadResult(failed.found, Span(0, failed.found.size))
        return None if found is None else GetResult(*found)

    async def put(self, key: Any = ABSENT, value: Any = ABSENT, options: Any = UNDEFINED) -> HeadResult | None:
        name, fields = _key("put", key), _options("put", options, 3, "PutOptions")
        body, upload = _body("put", value), _upload(fields)
        with _worded(self._bucket, "put"):
            try:
                return HeadResult(await self._bucket.put(name, body, upload))
            except errors.PreconditionFailed:
                return None

    async def delete(self, keys: Any = ABSENT) -> Any:
        if keys is ABSENT:
            raise wrong_parameter("R2Bucket", "delete", 1, "string or Array")
        names = [string(key) for key in (keys if isinstance(keys, list) else [keys])]
        with _worded(self._bucket, "delete"):
            await self._bucket.delete(names)
        return UNDEFINED

    async def list(self, options: Any = UNDEFINED) -> dict[str, Any]:
        fields = _options("list", options, 1, "ListOptions")
        given = fields.get("include", UNDEFINED)
        include = [_included(each) for each in given] if isinstance(given, list) else []
        limit = MAX_LIST_KEYS if _is_absent(fields.get("limit")) else integer(fields["limit"])
        if limit == -1:  # as 32 bits without a sign, what workerd has for no limit
            limit = MAX_LIST_KEYS
        if include and 1 <= limit <= MAX_LIST_KEYS:
            limit = min(limit, MAX_LIST_WITH_METADATA)
        texts = [_optional_text(fields.get(name)) for name in ("cursor", "delimiter", "startAfter")]
        with _worded(self._bucket, "list"):
            page = self._bucket.page(_optional_text(fields.get("prefix")) or "", limit, *texts)
        return {
            "objects": [HeadResult(each, include=include) for each in page.objects],
            "truncated": page.cursor is not None,
            "cursor": UNDEFINED if page.cursor is None else page.cursor,
            "delimitedPrefixes": page.prefixes,
        }

    async def createMultipartUpload(self, key: Any = ABSENT, options: Any = UNDEFINED) -> R2MultipartUpload:
        kind = "MultipartOptions"
        name, fields = _key("createMultipartUpload", key), _options("createMultipartUpload", options, 2, kind)
        with _worded(self._bucket, "createMultipartUpload"):
            upload_id = await multipart.begin(self._bucket, name, _upload(fields, kind))
        return R2MultipartUpload(self._bucket, name, upload_id)

    def resumeMultipartUpload(self, key: Any = ABSENT, uploadId: Any = ABSENT) -> R2MultipartUpload:
        """Nothing is asked: whether there is such an upload shows later."""
        name = _key("resumeMultipartUpload", key)
        if uploadId is ABSENT:
            raise wrong_parameter("R2Bucket", "resumeMultipartUpload", 2, "string")
        return R2MultipartUpload(self._bucket, name, string(uploadId))

    def _found(self, ask: Callable[[], T]) -> T | None:
        """None if there is no such key, which is no error to a Worker."""
        try:
            return ask()
        except errors.Refused as refused:
            if refused.status != 404:
                raise
            return None


class _Described:
    """What is known of an object, as both its classes show it."""

    def __init__(
        self, found: StoredObject, span: Span | None = None, include: Any = ("httpMetadata", "customMetadata")
    ) -> None:
        self.key = found.key
        self.version = found.version
        self.size = found.size
        self.etag = found.etag
        self.httpEtag = f'"{found.etag}"'
        self.checksums = Checksums(found.all_checksums())
        self.uploaded = Date(found.uploaded_ms)
        self.httpMetadata = _http_metadata(found.http if "httpMetadata" in include else {})
        self.customMetadata = dict(found.custom) if "customMetadata" in include else {}
        self.range = UNDEFINED if span is None else {"offset": span.start, "length": span.length, "suffix": UNDEFINED}
        self.storageClass = ""
        self.ssecKeyMd5 = UNDEFINED

    def own_properties(self) -> dict[str, Any]:
        """In workerd's order, the last first."""
        return {name: value for name, value in reversed(vars(self).items()) if not name.startswith("_")}


class HeadResult(_Described):
    """https://developers.cloudflare.com/r2/api/workers/workers-api-reference/#r2object-definition"""


class GetResult(_Described):
    """The object with its body, to be read once.

    https://developers.cloudflare.com/r2/api/workers/workers-api-reference/#r2objectbody-definition
    """

    def __init__(self, found: StoredObject, span: Span, value: Bytes) -> None:
        super().__init__(found, span)
        self._value = value
        self._used = False

    @property
    def body(self) -> Stream:
        return self._value

    @property
    def bodyUsed(self) -> bool:
        return self._used

    async def arrayBuffer(self) -> ArrayBuffer:
        return ArrayBuffer(bytearray(self._whole()))

    async def bytes(self) -> View:
        return View(ArrayBuffer(bytearray(self._whole())))

    async def text(self) -> str:
        return self._whole().decode("utf-8", "replace").removeprefix("\ufeff")

    async def json(self) -> Any:
        return json_parse(await self.text())

    def _whole(self) -> builtins.bytes:
        if self._used:
            raise type_error(
                "Body has already been used. It can only be used once. Use tee() first if you need to read it twice."
            )
        self._used = True
        return builtins.bytes(self._value)


class Checksums:
    """ArrayBuffers, those that are known."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self._known = known
        for name in ALGORITHMS:
            setattr(self, name, ArrayBuffer(bytes.fromhex(known[name])) if name in known else UNDEFINED)

    def own_properties(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in reversed(ALGORITHMS)}

    def toJSON(self) -> dict[str, Any]:
        return {name: self._known.get(name, UNDEFINED) for name in ALGORITHMS}


class R2MultipartUpload:
    """https://developers.cloudflare.com/r2/api/workers/workers-api-reference/#r2multipartupload-definition"""

    def __init__(self, bucket: Bucket, key: str, upload_id: str) -> None:
        self._bucket = bucket
        self.key = key
        self.uploadId = upload_id

    async def uploadPart(self, partNumber: Any = ABSENT, value: Any = ABSENT, options: Any = UNDEFINED) -> Any:
        number = integer(partNumber)
        if not 1 <= number <= 10_000:
            raise type_error(f"Part number must be between 1 and 10000 (inclusive). Actual value was: {number}")
        body = _body("uploadPart", value)
        with _worded(self._bucket, "uploadPart"):
            etag = await multipart.put_part(self._bucket, self.key, self.uploadId, number, body)
        return {"partNumber": number, "etag": etag}

    async def complete(self, uploadedParts: Any = ABSENT) -> HeadResult:
        if not isinstance(uploadedParts, list):
            raise wrong_parameter("R2MultipartUpload", "complete", 1, "Array")
        parts = [multipart.Part(integer(each["partNumber"]), string(each["etag"])) for each in uploadedParts]
        with _worded(self._bucket, "completeMultipartUpload"):
            return HeadResult(await multipart.complete(self._bucket, self.key, self.uploadId, parts))

    async def abort(self) -> Any:
        with _worded(self._bucket, "abortMultipartUpload"):
            await multipart.abort(self._bucket, self.key, self.uploadId)
        return UNDEFINED


@contextmanager
def _worded(bucket: Bucket, operation: str) -> Iterator[None]:
    try:
        with bucket.told():
            yield
    except errors.Refused as refused:
        raise refused.js_error(operation) from None


def _is_absent(value: Any) -> bool:
    return value is None or value is UNDEFINED


def _optional_text(value: Any) -> str | None:
    return None if _is_absent(value) else string(value)


def _key(method: str, key: Any) -> str:
    if key is ABSENT:
        raise wrong_parameter("R2Bucket", method, 1, "string")
    return string(key)


def _options(method: str, options: Any, position: int, kind: str) -> Mapping[str, Any]:
    fields = members(options)
    if fields is None:
        raise wrong_parameter("R2Bucket", method, position, kind)
    return fields


def _body(method: str, value: Any) -> AsyncIterator[bytes]:
    if value is None or value is UNDEFINED:
        return _chunks(b"")
    if isinstance(value, str):
        return _chunks(string(value).encode())
    if isinstance(value, ArrayBuffer | View):
        return _chunks(bytes(value))
    if isinstance(value, Stream):
        return aiter(value)
    raise wrong_parameter("R2Bucket", method, 2, _VALUE)


async def _chunks(value: bytes) -> AsyncIterator[bytes]:
    yield value


def _upload(fields: Mapping[str, Any], owner: str = "PutOptions") -> Upload:
    http = _member(fields, owner, "httpMetadata", "HttpMetadata or Headers")
    kept: dict[str, Any] = {name: string(http[name]) for name in _HTTP_FIELDS if not _is_absent(http.get(name))}
    expiry = http.get("cacheExpiry")
    if isinstance(expiry, Date):
        kept["cacheExpiry"] = int(expiry.ms)
    custom = _member(fields, owner, "customMetadata", "object")
    given = {name: _digest(name, fields[name]) for name in ALGORITHMS if not _is_absent(fields.get(name))}
    if len(given) > 1:
        raise type_error("You cannot specify multiple hashing algorithms.")
    return Upload(kept, {string(key): string(value) for key, value in custom.items()}, given, _condition(fields, owner))


def _digest(name: str, value: Any) -> bytes:
    shown, length = ALGORITHMS[name], _DIGEST_BYTES[name]
    if isinstance(value, ArrayBuffer | View):
        if len(bytes(value)) != length:
            raise type_error(f"{shown} is {length} bytes, not {len(bytes(value))}")
        return bytes(value)
    if not isinstance(value, str):
        raise type_error(
            f"Incorrect type for the '{name}' field on 'PutOptions': the provided value is not of type "
            "'BufferSource or string'."
        )
    if len(value) != 2 * length:
        raise type_error(f"{shown} is {2 * length} hex characters, not {len(value)}")
    try:
        return bytes.fromhex(value)
    except ValueError:
        raise type_error(f"Provided {shown} wasn't a valid hex string") from None


def _member(fields: Mapping[str, Any], owner: str, name: str, kind: str) -> Mapping[str, Any]:
    """An object among the options, or an empty one."""
    found = members(fields.get(name, UNDEFINED))
    if found is None:
        raise type_error(
            f"Incorrect type for the '{name}' field on '{owner}': the provided value is not of type '{kind}'."
        )
    return found


def _condition(fields: Mapping[str, Any], owner: str) -> Condition | None:
    given = _member(fields, owner, "onlyIf", "Conditional or Headers")
    if not given:
        return None
    matches, differs = (_etags(given.get(name)) for name in ("etagMatches", "etagDoesNotMatch"))
    before, after = (_time_ms(given.get(name)) for name in ("uploadedBefore", "uploadedAfter"))
    return Condition(matches, differs, before, after, given.get("secondsGranularity") is True)


def _etags(value: Any) -> list[Etag] | None:
    if _is_absent(value):
        return None
    text = string(value)
    if text == "*":
        return [Etag("wildcard")]
    if len(text) > 1 and text[0] == text[-1] == '"':
        raise type_error(f"Conditional ETag should not be wrapped in quotes ({text}).")
    return [Etag("strong", text)]


def _time_ms(value: Any) -> float | None:
    return value.ms if isinstance(value, Date) else None


def _range(fields: Mapping[str, Any]) -> Range:
    given = _member(fields, "GetOptions", "range", "Range or Headers")
    offset, length, suffix = (_whole_number(given.get(name), name) for name in ("offset", "length", "suffix"))
    if suffix is not None:
        for name, other in (("offset", offset), ("length", length)):
            if other is not None:
                raise type_error(f"Suffix is incompatible with {name}.")
    return Range(offset, length, suffix)


_RANGE_WORDS: Final = {
    "offset": ("Invalid range. Starting offset", "Invalid range. Starting offset"),
    "length": ("Invalid range. Length", "Invalid range. Length"),
    "suffix": ("Invalid suffix. Suffix", "Invalid range. Suffix"),
}


def _whole_number(value: Any, name: str) -> int | None:
    if _is_absent(value):
        return None
    number = float(value)
    negative, fractional = _RANGE_WORDS[name]
    if number < 0:
        raise range_error(f"{negative} ({number:g}) must be greater than or equal to 0.")
    if not number.is_integer():
        raise range_error(f"{fractional} ({number:g}) must be an integer, not floating point.")
    return int(number)


def _included(value: Any) -> str:
    if value not in ("httpMetadata", "customMetadata"):
        raise range_error(f"Unsupported include value {to_string(value)}")
    return str(value)


def _http_metadata(http: Mapping[str, Any]) -> dict[str, Any]:
    expiry = Date(http["cacheExpiry"]) if "cacheExpiry" in http else UNDEFINED
    return {**{name: http.get(name, UNDEFINED) for name in _HTTP_FIELDS}, "cacheExpiry": expiry}
