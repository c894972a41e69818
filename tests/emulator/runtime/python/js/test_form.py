"""FormData, Blob and File, and the two forms of a form as a body."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tests.emulator.runtime.python.harness import Harness
from tests.emulator.runtime.python.js.worker import in_worker, raised, thrown, view

from flarebed.emulator.runtime.python.ffi import to_js
from flarebed.emulator.runtime.python.js import form
from flarebed.emulator.runtime.python.js.globals import exports
from flarebed.emulator.runtime.python.proxy import jsnull

js = SimpleNamespace(**exports())
NOW_MS = 1_767_225_600_000


def test_form_data() -> None:
    async def code() -> Any:
        data = js.FormData.new()
        for name, value in (("a", "1"), ("b", 2), ("a", "3"), ("c", "4")):
            data.append(name, value)
        before = [(name, value) for name, value in data.entries()]
        data.set("a", "9")
        data.set("d", "8")
        data.delete("c")
        return before, [tuple(pair) for pair in data], data.get("no"), list(data.getAll("a")), data.has("c")

    assert in_worker(code) == (
        [("a", "1"), ("b", "2"), ("a", "3"), ("c", "4")],
        [("a", "9"), ("b", "2"), ("d", "8")],
        jsnull,
        ["9"],
        False,
    )


def test_a_blob_in_a_form_is_a_file() -> None:
    async def code() -> Any:
        data = js.FormData.new()
        blob, file = js.Blob.new(["abc"], type="text/x"), js.File.new(["def"], "f.txt", lastModified=5)
        data.append("blob", blob)
        data.append("named", blob, "n.txt")
        data.append("file", file)
        files = [data.get(name) for name in ("blob", "named", "file")]
        return [(each.name, each.type, each.lastModified, await each.text()) for each in files], files[2] is file

    assert in_worker(code) == (
        [("blob", "text/x", NOW_MS, "abc"), ("n.txt", "text/x", NOW_MS, "abc"), ("f.txt", "", 5, "def")],
        True,
    )


def test_the_bytes_of_a_multipart_body() -> None:
    async def code() -> bytes:
        data = js.FormData.new()
        data.append('a"\n', "é")
        data.append("f", js.File.new(["x"], "n.bin"))
        return data.encode("B")

    assert in_worker(code) == (
        b'--B\r\nContent-Disposition: form-data; name="a%22%0A"\r\n\r\n\xc3\xa9\r\n'
        b'--B\r\nContent-Disposition: form-data; name="f"; filename="n.bin"\r\n'
        b"Content-Type: application/octet-stream\r\n\r\nx\r\n--B--"
    )


def test_a_form_survives_its_way_as_a_body() -> None:
    async def code() -> Any:
        data = js.FormData.new()
        data.append("text", "line\r\n--line")
        data.append("file", js.File.new([view(b"\xff\0")], "n.bin", type="a/b"))
        back = await js.Response.new(data).formData()
        file = back.get("file")
        return back.get("text"), file.name, file.type, (await file.bytes()).to_bytes()

    assert in_worker(code) == ("line\r\n--line", "n.bin", "a/b", b"\xff\0")


def test_a_urlencoded_body() -> None:
    async def code() -> Any:
        body = js.URLSearchParams.new([["a", "1 2"], ["é", "&"]])
        return [tuple(pair) for pair in await js.Response.new(body).formData()]

    assert in_worker(code) == [("a", "1 2"), ("é", "&")]


MULTIPART = "multipart/form-data; boundary=B"
PART = b'--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n'


@pytest.mark.parametrize(
    ("body", "content_type", "complaint"),
    [
        (
            b"",
            "text/plain",
            "Unrecognized Content-Type header value. FormData can only parse the following MIME types: "
            "multipart/form-data, application/x-www-form-urlencoded",
        ),
        (
            b"",
            "multipart/form-data",
            "No boundary string in Content-Type header. The multipart/form-data MIME type requires a boundary "
            "parameter, e.g. 'Content-Type: multipart/form-data; boundary=\"abcd\"'. See RFC 7578, section 4.",
        ),
        (
            b"a=1",
            "application/x-www-form-urlencoded; charset=latin1",
            "Non-utf-8 application/x-www-form-urlencoded body.",
        ),
        (b"", MULTIPART, "No initial boundary string (or you have a truncated message)."),
        (b"--Bx", MULTIPART, "Boundary string was not succeeded by CRLF, LF, or '--'."),
        (b"--B\r\nContent-Dispo", MULTIPART, "No multipart message header termination found."),
        (b"--B\r\nnonsense\r\n\r\n\r\n--B--", MULTIPART, "FormData part had invalid headers."),
        (b"--B\r\nA: b\r\n\r\n\r\n--B--", MULTIPART, "No valid Content-Disposition header found in FormData part."),
        (
            b"--B\r\nContent-Disposition: file\r\n\r\n\r\n--B--",
            MULTIPART,
            'Content-Disposition header for FormData part must have the value "form-data", possibly followed by '
            'parameters. Got: "file"',
        ),
        (
            b"--B\r\nContent-Disposition: form-data\r\n\r\n\r\n--B--",
            MULTIPART,
            "Content-Disposition header in FormData part is missing a name.",
        ),
        (PART + b"cut", MULTIPART, "No subsequent boundary string after multipart message."),
    ],
)
def test_what_is_no_form(body: bytes, content_type: str, complaint: str) -> None:
    assert raised(form.decode, body, content_type) == f"TypeError: {complaint}"


def test_a_form_without_carriage_returns() -> None:
    parsed = form.decode(PART.replace(b"\r", b"") + b"1\n--B--", MULTIPART)
    assert list(parsed.values()) == ["1"]


def test_a_body_without_a_content_type_is_no_form() -> None:
    async def code(worker: Harness) -> Any:
        own = js.Response.new(js.FormData.new(), headers=to_js({"content-type": "multipart/form-data"}))
        return await thrown(js.Response.new(view(b"a=1")).formData()), worker.logged, own.status

    text, logged, _ = in_worker(code)
    assert text == "TypeError: Parsing a Body as FormData requires a Content-Type header."
    assert logged == [
        (
            "warn",
            "A FormData body was provided with a custom Content-Type header when constructing a Request or Response "
            "object. This will prevent the recipient of the Request or Response from being able to parse the body. "
            "Consider omitting the custom Content-Type header.",
        )
    ]


def test_blobs() -> None:
    async def code() -> Any:
        blob = js.Blob.new(to_js(["a☃", b"bc", js.Blob.new(["d"]), 5]), type="Text/X")
        part = blob.slice(-3, -1, "T/y")
        return [
            (blob.size, blob.type, await blob.text()),
            (part.type, await part.text()),
            (await js.Blob.new().arrayBuffer()).byteLength,
            js.Blob.new([], type="snow☃").type,
            raised(js.Blob.new, "text"),
            (js.File.new([], "n").lastModified, js.File.new([], "n").constructor.name),
        ]

    assert in_worker(code) == [
        (8, "text/x", "a☃bcd5"), ("t/y", "cd"), 0, "",
        "TypeError: Failed to construct 'Blob': constructor parameter 1 is not of type 'Array'.", (NOW_MS, "File"),
    ]  # fmt: skip
