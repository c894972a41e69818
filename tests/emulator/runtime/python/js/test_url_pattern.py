"""URLPattern: the examples of https://developer.mozilla.org/en-US/docs/Web/API/URL_Pattern_API."""

from __future__ import annotations

from typing import Any

import pytest

from flarebed.emulator.runtime.python.data import JsObject
from flarebed.emulator.runtime.python.js.url_pattern import URLPattern
from flarebed.emulator.runtime.python.proxy import JsException, jsnull


@pytest.mark.parametrize(
    ("pattern", "address", "matches"),
    [
        ({"pathname": "/books"}, "https://example.com/books", True),
        ({"pathname": "/books/:id"}, "https://example.com/books/123", True),
        ({"pathname": "/books/:id"}, "https://example.com/books/", False),
        ({"pathname": r"/books/(\d+)"}, "https://example.com/books/abc", False),
        ({"pathname": "/books/:id?"}, "https://example.com/books", True),
        ({"hostname": "{*.}?example.com"}, "https://cdn.example.com/foo", True),
        ("https://cdn-*.example.com/*.jpg", "https://cdn-1234.example.com/product/assets/hero.jpg", True),
        ({"pathname": "/A"}, "https://x/a", False),
        ({"pathname": "/a"}, "no address", False),
    ],
)
def test_what_matches(pattern: Any, address: str, matches: bool) -> None:
    given = JsObject(pattern) if isinstance(pattern, dict) else pattern
    assert URLPattern(given).test(address) is matches


def test_groups() -> None:
    found = URLPattern(pathname="/books/:id/*").exec("https://example.com/books/7/reviews?a=1")
    assert found.pathname.to_py() == {"input": "/books/7/reviews", "groups": {"id": "7", "0": "reviews"}}
    assert found.inputs.to_py() == ["https://example.com/books/7/reviews?a=1"]
    assert URLPattern(pathname="/books/:id?").exec("https://x/books").pathname.groups.to_py() == {"id": None}
    assert URLPattern(pathname="/books").exec("https://x/films") is jsnull


def test_a_base() -> None:
    pattern = URLPattern("/books/:id", "https://example.com")
    assert pattern.test("/books/1", "https://example.com")
    assert not pattern.test("/books/1", "https://example.org")
    assert (pattern.hostname, pattern.pathname, pattern.hasRegExpGroups) == ("example.com", "/books/:id", False)


def test_ignore_case_is_refused_rather_than_half_done() -> None:
    with pytest.raises(JsException, match=r"^NotSupportedError: flarebed's URLPattern does not know ignoreCase$"):
        URLPattern("/books", "https://example.com", ignoreCase=True)


@pytest.mark.parametrize("pattern", ["(", "relative"])
def test_a_bad_pattern(pattern: str) -> None:
    with pytest.raises(JsException, match=r"^TypeError: Invalid URL pattern: "):
        URLPattern(pattern)
