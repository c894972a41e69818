"""Request and Response: what they are made of, what they refuse, how their bodies are read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tests.emulator.runtime.python.harness import Harness
from tests.emulator.runtime.python.js.worker import in_worker, raised, read_all, thrown, view
from tests.support import run

from flarebed.emulator.runtime.http import IncomingRequest
from flarebed.emulator.runtime.python.context import IoContext
from flarebed.emulator.runtime.python.ffi import to_js
from flarebed.emulator.runtime.python.js.globals import exports
from flarebed.emulator.runtime.python.js.request import Request
from flarebed.emulator.runtime.python.promise import GLOBAL_SCOPE
from flarebed.emulator.runtime.python.proxy import jsnull

js = SimpleNamespace(**exports())
USED = "TypeError: Body has already been used. It can only be used once. Use tee() first if you need to read it twice."
NULL_BODY = "TypeError: Response with null body status (101, 204, 205, or 304) cannot have a body."
RANGE = "RangeError: Responses may only be constructed with status codes in the range 200 to 599, inclusive."


async def chunks(*parts: bytes) -> Any:
    for part in parts:
        yield part


def incoming(*parts: bytes, content_type: str = "text/plain") -> Any:
    return Request.incoming(IncomingRequest("POST", "http://h/p?q", [("content-type", content_type)], chunks(*parts)))


@pytest.mark.parametrize(
    ("body", "content_type", "data"),
    [
        (lambda: "é", "text/plain;charset=UTF-8", b"\xc3\xa9"),
        (lambda: 5, "text/plain;charset=UTF-8", b"5"),
        (lambda: to_js({"a": 1}), "text/plain;charset=UTF-8", b"[object Object]"),
        (lambda: view(b"bytes"), jsnull, b"bytes"),
        (lambda: js.Blob.new(["b"], type="X/y"), "x/y", b"b"),
        (lambda: js.Blob.new(["b"]), jsnull, b"b"),
        (lambda: js.URLSearchParams.new("a=1 2"), "application/x-www-form-urlencoded;charset=UTF-8", b"a=1+2"),
        (lambda: js.Blob.new(["s"]).stream(), jsnull, b"s"),
        (lambda: jsnull, jsnull, b""),
    ],
)
def test_what_a_body_may_be(body: Any, content_type: Any, data: bytes) -> None:
    async def code() -> Any:
        response = js.Response.new(body())
        return response.headers.get("content-type"), (await response.arrayBuffer()).to_bytes()

    assert in_worker(code) == (content_type, data)


def test_every_way_to_read_a_body() -> None:
    async def code() -> Any:
        new = js.Response.new
        blob = await new("abc", headers=js.Headers.new([("content-type", "Text/X; a=B")])).blob()
        parsed = await new('{"a":[1,null]}').json()
        return [
            await new("abc").text(),
            (await new("abc").bytes()).to_bytes(),
            (blob.size, blob.type),
            (parsed.a[0], parsed.a[1]),
            await new("\ufeffabc").text(),
            await thrown(new("nope").json()),
            await read_all(new("abc").body),
        ]

    assert in_worker(code) == [
        "abc", b"abc", (3, "text/x;a=B"), (1, jsnull), "abc",
        "SyntaxError: Unexpected token 'o', \"nope\" is not valid JSON", [b"abc"],
    ]  # fmt: skip


def test_a_body_is_read_once() -> None:
    async def code() -> Any:
        response, streamed = js.Response.new("abc"), incoming(b"a", b"b")
        before = (response.bodyUsed, streamed.bodyUsed)
        texts = [await response.text(), await streamed.text()]
        errors = [await thrown(response.text()), await thrown(streamed.json()), await thrown(response.formData())]
        return (
            before,
            texts,
            errors,
            (response.bodyUsed, streamed.bodyUsed),
            (await response.body.getReader().read()).done,
        )

    assert in_worker(code) == ((False, False), ["abc", "ab"], [USED] * 3, (True, True), True)


def test_an_empty_body_is_not_no_body() -> None:
    async def code() -> Any:
        nothing, empty = js.Response.new(None), js.Response.new("")
        return nothing.body, await nothing.text(), nothing.bodyUsed, str(empty.body), empty.headers.has("content-type")

    assert in_worker(code) == (jsnull, "", False, "[object ReadableStream]", True)


def test_a_disturbed_stream_is_no_body() -> None:
    async def code() -> str:
        stream = js.Response.new("abc").body
        await read_all(stream)
        return raised(js.Response.new, stream)

    assert in_worker(code) == (
        "TypeError: This ReadableStream is disturbed (has already been read from), and cannot be used as a body."
    )


@pytest.mark.parametrize(
    ("arguments", "options", "complaint"),
    [
        (
            ("x", 5),
            {},
            "TypeError: Failed to construct 'Response': constructor parameter 2 is not of type 'InitializerDict or "
            "Response'.",
        ),
        (("x",), {"status": 99}, RANGE),
        (("x",), {"status": 600}, RANGE),
        ((None,), {"status": 101}, RANGE),
        (("x",), {"status": 204}, NULL_BODY),
        (("x",), {"statusText": "a\nb"}, "TypeError: Invalid statusText"),
        (("x",), {"encodeBody": "no"}, "TypeError: encodeBody: unexpected value: no"),
        (("x",), {"headers": [("a b", "c")]}, "TypeError: Invalid header name."),
        (
            (None,),
            {"status": 101, "webSocket": 5},
            "TypeError: Incorrect type for the 'webSocket' field on 'ResponseInit': the provided value is not of type "
            "'WebSocket'.",
        ),
    ],
)
def test_what_a_response_refuses(arguments: Any, options: Any, complaint: str) -> None:
    async def code() -> str:
        return raised(js.Response.new, *arguments, **options)

    assert in_worker(code) == complaint


def test_what_a_response_takes() -> None:
    async def code() -> Any:
        response = js.Response.new("x", status="418", statusText="Teapot", headers=to_js({"X-N": 5}))
        again = js.Response.new("y", response)
        return [
            (each.status, each.statusText, each.headers.get("x-n"), each.ok, each.type, each.url, each.redirected)
            for each in (response, again)
        ], js.Response.new("", status=204).body

    assert in_worker(code) == ([(418, "Teapot", "5", False, "default", "", False)] * 2, jsnull)


def test_the_statics_of_response() -> None:
    async def code() -> Any:
        made = js.Response.json(to_js({"a": [1, None]}), status=201)
        redirect = js.Response.redirect("http://x/a b", 307)
        return [
            (made.status, made.headers.get("content-type"), await made.text()),
            js.Response.json("é", headers=to_js({"Content-Type": "a/b"})).headers.get("content-type"),
            (redirect.status, redirect.headers.get("location"), raised(redirect.headers.set, "a", "b")),
            raised(js.Response.redirect, "/rel"),
            raised(js.Response.redirect, "http://x", 200),
            (js.Response.error().type, js.Response.error().status),
            raised(js.Response.json, to_js([1]), status=204),
        ]

    assert in_worker(code) == [
        (201, "application/json", '{"a":[1,null]}'),
        "a/b",
        (307, "http://x/a%20b", "TypeError: Can't modify immutable headers."),
        "TypeError: Unable to parse URL: /rel",
        "RangeError: 200 is not a redirect status code. It must be one of: 301, 302, 303, 307, or 308.",
        ("error", 0),
        NULL_BODY,
    ]


TEED = "TypeError: This ReadableStream is currently locked to a reader,"


def test_clones_share_nothing_but_the_bytes() -> None:
    async def code() -> Any:
        response, request = js.Response.new("abc", status=201), incoming(b"a", b"b")
        copies = [response.clone(), request.clone()]
        copies[0].headers.set("x", "y")
        texts = [await each.text() for each in (*copies, response, request)]
        return texts, copies[0].status, response.headers.has("x"), copies[1].url, raised(response.clone)

    assert in_worker(code) == (["abc", "ab", "abc", "ab"], 201, False, "http://h/p?q", TEED)


@pytest.mark.parametrize(
    ("url", "options", "complaint"),
    [
        ("/rel", {}, "TypeError: Invalid URL: /rel"),
        ("http://x/", {"body": "a"}, "TypeError: Request with a GET or HEAD method cannot have a body."),
        ("http://x/", {"method": "bogus method"}, "TypeError: Invalid HTTP method string: bogus method"),
        ("http://x/", {"cache": "default"}, "TypeError: Unsupported cache mode: default"),
        (
            "http://x/",
            {"integrity": "sha256-x"},
            "TypeError: Subrequest integrity checking is not implemented. The integrity option must be either "
            "undefined or an empty string.",
        ),
        (
            "http://x/",
            {"redirect": "error"},
            'TypeError: Invalid redirect value, must be one of "follow" or "manual" ("error" won\'t be implemented '
            'since it does not make sense at the edge; use "manual" and check the response status code).',
        ),
    ],
)
def test_what_a_request_refuses(url: str, options: Any, complaint: str) -> None:
    async def code() -> str:
        return raised(js.Request.new, url, **options)

    assert in_worker(code) == complaint


def test_what_a_request_takes() -> None:
    async def code() -> Any:
        first = js.Request.new("http://x", to_js({"method": "post", "body": "abc", "headers": {"a": "b"}}))
        second = js.Request.new(first, headers=to_js({"c": "d"}), redirect="manual")
        return [
            (first.url, first.method, [tuple(pair) for pair in first.headers], first.redirect),
            (second.url, second.method, [tuple(pair) for pair in second.headers], second.redirect),
            (first.bodyUsed, await second.text(), raised(js.Request.new, first)),
            (first.cf, first.cache, first.fetcher, first.integrity, first.keepalive, first.signal.aborted),
            js.Request.new("http://x", cf=to_js({"a": 1})).cf.a,
        ]

    assert in_worker(code) == [
        ("http://x/", "POST", [("a", "b"), ("content-type", "text/plain;charset=UTF-8")], "follow"),
        ("http://x/", "POST", [("c", "d")], "manual"),
        (True, "abc", "TypeError: Cannot reconstruct a Request with a used body."),
        (None, None, jsnull, "", False, False),
        1,
    ]


def test_the_headers_of_a_request_that_came_in_cannot_be_changed() -> None:
    async def code() -> Any:
        request = incoming(b"x")
        return request.headers.get("content-type"), raised(request.headers.set, "a", "b"), request.cf

    text = "TypeError: Can't modify immutable headers."
    worker_code = in_worker(code)
    assert worker_code[:2] == ("text/plain", text)
    assert str(worker_code[2]) == "[object Object]"


def test_a_body_that_is_no_text_is_read_with_a_warning() -> None:
    async def code(worker: Harness) -> Any:
        await incoming(b"x", content_type="image/png").text()
        await incoming(b"x", content_type="application/json").text()
        return worker.logged

    assert in_worker(code) == [
        (
            "warn",
            'Called .text() on an HTTP body which does not appear to be text. The body\'s Content-Type is "image/png". '
            "The result will probably be corrupted. Consider checking the Content-Type header before interpreting "
            "entities as text.",
        )
    ]


def test_a_body_of_another_event_cannot_be_read() -> None:
    async def hosted() -> str:
        worker = Harness()
        kept: list[Any] = []

        async def first() -> None:
            kept.append(incoming(b"x"))

        async def second() -> str:
            return await thrown(kept[0].text())

        await worker.run(first())
        return await worker.run(second())

    assert run(hosted()).startswith("Error: Cannot perform I/O on behalf of a different request. I/O objects (such as")


def test_there_are_no_bodies_at_the_top_level_of_a_module() -> None:
    async def hosted() -> Any:
        worker = Harness()

        async def top_level() -> Any:
            return js.Response.new(None).status, raised(js.Response.new, "x")

        return await worker.run(top_level(), IoContext(worker.loop, worker.services, allows_io=False))

    assert run(hosted()) == (200, f"Error: {GLOBAL_SCOPE}")
