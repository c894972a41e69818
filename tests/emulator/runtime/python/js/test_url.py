from __future__ import annotations

from typing import Any

import pytest
from tests.emulator.runtime.python.js.worker import raised

from flarebed.emulator.runtime.python.js.protocols import iterate
from flarebed.emulator.runtime.python.js.url import URL, URLSearchParams
from flarebed.emulator.runtime.python.proxy import Constructor, jsnull, to_python

js_url: Any = Constructor.of(URL)


def test_the_parts_of_a_url() -> None:
    url = URL("https://user:pa%20ss@Example.com:8443/a/../b c?x=1&y#frag")
    assert url.href == "https://user:pa%20ss@example.com:8443/b%20c?x=1&y#frag"
    assert (url.protocol, url.username, url.password, url.host) == ("https:", "user", "pa%20ss", "example.com:8443")
    assert (url.hostname, url.port, url.pathname) == ("example.com", "8443", "/b%20c")
    assert (url.search, url.hash, url.origin) == ("?x=1&y", "#frag", "https://example.com:8443")
    assert str(url) == url.toString() == url.toJSON() == url.href


@pytest.mark.parametrize(
    ("part", "value", "href"),
    [
        ("protocol", "http", "http://h:1/p?q#f"),
        ("host", "other:2", "https://other:2/p?q#f"),
        ("hostname", "other", "https://other:1/p?q#f"),
        ("port", 443, "https://h/p?q#f"),
        ("port", "nonsense", "https://h:1/p?q#f"),
        ("pathname", "x y", "https://h:1/x%20y?q#f"),
        ("search", "", "https://h:1/p#f"),
        ("hash", "z", "https://h:1/p?q#z"),
        ("username", "me", "https://me@h:1/p?q#f"),
        ("href", "ftp://new/", "ftp://new/"),
    ],
)
def test_each_part_can_be_written(part: str, value: Any, href: str) -> None:
    url = URL("https://h:1/p?q#f")
    setattr(url, part, value)
    assert url.href == href


def test_a_relative_url_needs_a_base() -> None:
    assert URL("../x", "https://h/a/b/c").href == "https://h/a/x"
    assert URL(URL("https://h/a")).href == "https://h/a"
    assert raised(URL, "/rel") == "TypeError: Invalid URL string."
    assert js_url.canParse("/rel", "https://h") is True
    assert js_url.canParse("/rel") is False
    assert js_url.parse("/rel") is jsnull
    assert js_url.parse("https://h").href == "https://h/"


def test_the_complaint_about_a_written_href() -> None:
    assert raised(setattr, URL("https://h"), "href", "nope") == (
        "TypeError: Failed to set the 'href' property on 'URL': the provided value is not of type 'valid URL string'."
    )


def test_search_params_and_url_follow_each_other() -> None:
    url = URL("https://h/?a=1&b=2&a=3")
    params = url.searchParams
    assert params is url.searchParams
    params.append("c", "x y")
    params.delete("b")
    assert url.href == "https://h/?a=1&a=3&c=x+y"
    url.search = "?z=9"
    assert list(params.keys()) == ["z"]


@pytest.mark.parametrize(
    "init",
    ["?a=1&b=2+3", [["a", "1"], ("b", "2 3")], to_python({"a": "1", "b": "2 3"}), {"a": 1, "b": "2 3"}.items()],
    ids=["text", "pairs", "object", "dict items"],
)
def test_every_way_to_make_search_params(init: Any) -> None:
    assert str(URLSearchParams(init)) == "a=1&b=2+3"


def test_search_params() -> None:
    params = URLSearchParams("b=2&a=1&a=0")
    assert (params.size, params.get("a"), list(params.getAll("a")), params.get("no")) == (3, "1", ["1", "0"], jsnull)
    assert (params.has("a"), params.has("a", "0"), params.has("a", "7")) == (True, True, False)
    params.delete("a", "0")
    params.set("b", "8")
    params.sort()
    assert [tuple(pair) for pair in params.entries()] == [("a", "1"), ("b", "8")]
    assert (list(params), len(params), list(params.items()), params["a"], "b" in params) == (
        ["a", "b"], 2, [("a", "1"), ("b", "8")], "1", True
    )  # fmt: skip
    assert str(URLSearchParams(params)) == "a=1&b=8"
    assert list(iterate(params)) == [["a", "1"], ["b", "8"]]
    assert list(params.values()) == ["1", "8"]
    seen: list[Any] = []
    params.forEach(lambda value, name, _params: seen.append((name, value)))
    assert seen == [("a", "1"), ("b", "8")]
    assert raised(URLSearchParams, [["a"]]) == "TypeError: Invalid URL search params sequence."
