"""R2 behind workerd's `r2Bucket` binding: a request is JSON in a header (GET), or before the bytes (PUT).

Source: workerd src/workerd/api/r2-api.capnp and r2-rpc.c++.
"""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Any, Final

from flarebed.bindings.r2 import errors, multipart
from flarebed.bindings.r2.bucket import MAX_LIST_KEYS, MAX_LIST_WITH_METADATA, Bucket, Upload
from flarebed.bindings.r2.objects import ALGORITHMS, Condition, Etag, Range, Span, StoredObject
from flarebed.emulator.runtime.workerd import wire
from flarebed.emulator.runtime.workerd.host import Adapter, Answered, Asked

_METADATA_SIZE: Final = "cf-r2-metadata-size"
_ERROR: Final = "cf-r2-error"
_HTTP, _CUSTOM = 0, 1
"""What a list is asked to `include` (R2ListRequest.IncludeField)."""


def adapter(bucket: Bucket) -> Adapter:
    async def answer(asked: Asked) -> Answered:
        try:
            with bucket.told():
                if asked.method == "GET":
                    return _read(bucket, json.loads(asked.headers["cf-r2-request"]))
                return await _write(bucket, asked)
        except errors.Refused as refused:
            return _refused(refused)

    return answer


def _read(bucket: Bucket, request: Mapping[str, Any]) -> Answered:
    match request["method"]:
        case "head":
            found = bucket.head(request["object"])
            return _json(_shown(found, Span(0, found.size)))
        case "get":
            found, span, value = bucket.get(request["object"], _range(request), _condition(request))
            head = wire.dumps(_shown(found, span)).encode()
            length = ("content-length", str(len(head) + span.length))
            return Answered(body=_after(head, value), headers=(_size(head), length))
        case "list":
            return _json(_listed(bucket, request))
    raise errors.internal_error()


async def _write(bucket: Bucket, asked: Asked) -> Answered:
    size = int(asked.headers[_METADATA_SIZE])
    head, value = await _split(asked.chunks, size)
    request = json.loads(head)
    key, upload_id = request.get("object", ""), request.get("uploadId", "")
    match request["method"]:
        case "put":
            stored = await bucket.put(key, value, _upload(request))
            return _json(_shown(stored))
        case "delete":
            await bucket.delete(request.get("objects", [key]))
            return Answered()
        case "createMultipartUpload":
            return _json({"uploadId": await multipart.begin(bucket, key, _upload(request))})
        case "uploadPart":
            return _json({"etag": await multipart.put_part(bucket, key, upload_id, request["partNumber"], value)})
        case "completeMultipartUpload":
            parts = [multipart.Part(each["part"], each["etag"]) for each in request.get("parts", ())]
            return _json(_shown(await multipart.complete(bucket, key, upload_id, parts)))
        case "abortMultipartUpload":
            await multipart.abort(bucket, key, upload_id)
            return Answered()
    raise errors.internal_error()


async def _split(chunks: AsyncIterator[bytes], size: int) -> tuple[bytes, AsyncIterator[bytes]]:
    """The first `size` bytes, and the rest as a stream."""
    head = b""
    while len(head) < size:
        head += await anext(chunks)
    return head[:size], _after(head[size:], chunks)


async def _after(head: bytes, rest: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    if head:
        yield head
    try:
        async for chunk in rest:
            yield chunk
    finally:
        close = getattr(rest, "aclose", None)
        if close is not None:
            await close()


def _listed(bucket: Bucket, request: Mapping[str, Any]) -> dict[str, Any]:
    include = request.get("include", ())
    limit = request.get("limit", MAX_LIST_KEYS)
    if include and 1 <= limit <= MAX_LIST_KEYS:
        limit = min(limit, MAX_LIST_WITH_METADATA)
    page = bucket.page(
        request.get("prefix", ""), limit, request.get("cursor"), request.get("delimiter"), request.get("startAfter")
    )
    shown = [_shown(each, http=_HTTP in include, custom=_CUSTOM in include) for each in page.objects]
    answer: dict[str, Any] = {
        "objects": shown,
        "truncated": page.cursor is not None,
        "delimitedPrefixes": page.prefixes,
    }
    return answer if page.cursor is None else {**answer, "cursor": page.cursor}


def _shown(stored: StoredObject, span: Span | None = None, *, http: bool = True, custom: bool = True) -> dict[str, Any]:
    """R2HeadResponse."""
    checksums = stored.all_checksums()
    shown = {
        "name": stored.key,
        "version": stored.version,
        "size": stored.size,
        "etag": stored.etag,
        "uploaded": stored.uploaded_ms,
        "httpFields": dict(stored.http) if http else {},
        "customFields": [{"k": key, "v": value} for key, value in stored.custom.items()] if custom else [],
        "checksums": {str(number): checksums[name] for number, name in enumerate(ALGORITHMS) if name in checksums},
    }
    return shown if span is None else {**shown, "range": {"offset": span.start, "length": span.length}}


def _upload(request: Mapping[str, Any]) -> Upload:
    checksums = {name: bytes.fromhex(request[name]) for name in ALGORITHMS if name in request and name != "md5"}
    if "md5" in request:
        checksums["md5"] = base64.b64decode(request["md5"])
    http = {key: int(value) if key == "cacheExpiry" else value for key, value in request.get("httpFields", {}).items()}
    custom = {pair["k"]: pair["v"] for pair in request.get("customFields", ())}
    return Upload(http, custom, checksums, _condition(request))


def _range(request: Mapping[str, Any]) -> Range:
    """64-bit numbers are texts in the JSON of Cap'n Proto."""
    return Range(
        **{name: int(value) for name, value in request.get("range", {}).items()}, header=request.get("rangeHeader")
    )


def _condition(request: Mapping[str, Any]) -> Condition | None:
    given = request.get("onlyIf")
    if given is None:
        return None
    before, after = (int(given[name]) if name in given else None for name in ("uploadedBefore", "uploadedAfter"))
    matches, differs = (_etags(given[name]) if name in given else None for name in ("etagMatches", "etagDoesNotMatch"))
    return Condition(matches, differs, before, after, given.get("secondsGranularity", False))


def _etags(given: list[Mapping[str, Any]]) -> list[Etag]:
    return [Etag(each["type"], each.get("value", "")) for each in given]


def _json(value: Any) -> Answered:
    body = wire.dumps(value).encode()
    return Answered(body=body, headers=(_size(body), ("content-type", "application/json")))


def _size(head: bytes) -> tuple[str, str]:
    return _METADATA_SIZE, str(len(head))


def _refused(refused: errors.Refused) -> Answered:
    error = (_ERROR, wire.dumps({"version": 1, "v4code": refused.code, "message": refused.message}))
    if isinstance(refused, errors.PreconditionFailed) and refused.found is not None:
        answer = _json(_shown(refused.found, Span(0, refused.found.size)))
        return Answered(refused.status, answer.body, (error, *answer.headers))
    return Answered(refused.status, headers=(error,))
