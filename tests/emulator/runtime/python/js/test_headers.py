from __future__ import annotations

from typing import Any

import pytest
from tests.emulator.runtime.python.js.worker import raised

from flarebed.emulator.runtime.python.js.headers import Headers
from flarebed.emulator.runtime.python.proxy import Constructor, jsnull, to_python


def shown(headers: Headers) -> list[tuple[str, str]]:
    return [(name, value) for name, value in headers]


@pytest.mark.parametrize(
    "init",
    [
        [("X-B", "2"), ("x-a", "1"), ("X-A", " 3\t")],
        {"X-B": 2, "x-a": "1, 3"}.items(),
        to_python({"X-B": "2", "x-a": "1, 3"}),
        Headers([["x-b", "2"], ["x-a", "1, 3"]]),
    ],
    ids=["pairs", "dict items", "object", "headers"],
)
def test_every_way_to_make_them_shows_sorted_lower_case_names_and_joined_values(init: Any) -> None:
    assert shown(Headers(init)) == [("x-a", "1, 3"), ("x-b", "2")]


def test_only_set_cookie_is_not_joined() -> None:
    headers = Headers([("Set-Cookie", "a=1"), ("set-cookie", "b=2"), ("A", "1")])
    assert shown(headers) == [("a", "1"), ("set-cookie", "a=1"), ("set-cookie", "b=2")]
    assert list(headers.getSetCookie()) == list(headers.getAll("SET-COOKIE")) == ["a=1", "b=2"]
    assert headers.get("set-cookie") == "a=1, b=2"


def test_names_go_out_as_they_were_given_first() -> None:
    headers = Headers()
    headers.append("X-One", "1")
    headers.append("x-one", "2")
    headers.set("X-TWO", "3")
    headers.set("x-two", "4")
    assert headers.raw() == [("X-One", "1"), ("X-One", "2"), ("X-TWO", "4")]


def test_get_has_and_delete() -> None:
    headers = Headers({"A": "1"}.items())
    assert (headers.get("a"), headers.get("b"), headers.has("A"), headers.has("b")) == ("1", jsnull, True, False)
    headers.delete("a")
    assert not headers.has("A")


def test_the_operators_that_pyodide_gives() -> None:
    headers = Headers({"A": "1"}.items())
    headers["b"] = 2
    assert (headers["a"], headers["B"], headers["no"], "a" in headers, "no" in headers) == (
        "1",
        "2",
        jsnull,
        True,
        False,
    )
    with pytest.raises(KeyError):
        del headers["a"]
    assert "a" not in headers


def test_iterators_and_for_each() -> None:
    headers = Headers({"b": "2", "a": "1"}.items())
    assert (list(headers.keys()), list(headers.values())) == (["a", "b"], ["1", "2"])
    assert headers.entries().next().value[0] == "a"
    seen: list[Any] = []
    headers.forEach(lambda *arguments: seen.append(arguments))
    assert seen == [("1", "a", headers), ("2", "b", headers)]


def test_a_copy_is_its_own() -> None:
    first = Headers({"a": "1"}.items())
    second = Headers(first)
    second.append("a", "2")
    assert (first.get("a"), second.get("a")) == ("1", "1, 2")


NOT_HEADERS = (
    "TypeError: Failed to construct 'Headers': constructor parameter 1 is not of type 'Headers or Sequence or object'."
)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: Headers({"bad header": "v"}.items()), "TypeError: Invalid header name."),
        (lambda: Headers("x"), NOT_HEADERS),
        (lambda: Headers(5), NOT_HEADERS),
        (lambda: Headers({"a": "x\ny"}.items()), "TypeError: Invalid header value."),
        (lambda: Headers().get("bad header"), "TypeError: Invalid header name."),
        (
            lambda: Headers([("a", "b", "c")]),
            "TypeError: To initialize a Headers object from a sequence, each inner sequence must have exactly two "
            "elements.",
        ),
        (lambda: Headers.of_raw([]).set("a", "b"), "TypeError: Can't modify immutable headers."),
        (lambda: Headers().getAll("a"), 'TypeError: getAll() can only be used with the header name "Set-Cookie".'),
        (Constructor.of(Headers), "TypeError: Class constructor Headers cannot be invoked without 'new'"),
    ],
)
def test_complaints(call: Any, complaint: str) -> None:
    assert raised(call) == complaint


def test_values_may_hold_any_other_character() -> None:
    assert Headers({"x": "snow☃"}.items()).get("x") == "snow☃"


def test_how_it_looks() -> None:
    headers = Constructor.of(Headers).new()
    assert (str(headers), headers.constructor.name) == ("[object Headers]", "Headers")
