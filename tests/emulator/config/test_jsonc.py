"""JSONC as wrangler's parser reads it: expected errors and offsets are those of jsonc-parser 3.3.1."""

from __future__ import annotations

from typing import Any

import pytest

from flarebed.emulator.config.document import SyntaxProblem
from flarebed.emulator.config.jsonc import MAX_DEPTH, parse
from tests.emulator.config.project import Project


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("/* a */ // b\n{} // c", {}),
        ('{"a": [1, 2,], /* x */ "b": {"c": null,},}', {"a": [1, 2], "b": {"c": None}}),
        ('{"u": "https://a/b", "t": "{a:1,}", "q": "say \\"// no\\"", "s": "/* */"}',
         {"u": "https://a/b", "t": "{a:1,}", "q": 'say "// no"', "s": "/* */"}),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ("[1, -1.5, 1e3, 0, 9007199254740993, 1e999]", [1, -1.5, 1000.0, 0, 9007199254740992.0, float("inf")]),
        ('"\\u00e9\\n\\ud83d\\ude00"', "é\n\U0001f600"),
        ("\r\n[\ttrue,\r\nfalse ]\r\n", [True, False]),
    ],
)  # fmt: skip
def test_values(text: str, value: Any) -> None:
    assert parse(text)[0] == value


@pytest.mark.parametrize(
    ("text", "problem", "offset", "length"),
    [
        ("", "ValueExpected", 0, 0),
        ("// only", "ValueExpected", 7, 0),
        ("{,}", "ValueExpected", 1, 1),
        ("[1,,2]", "ValueExpected", 3, 1),
        ('{"a":}', "ValueExpected", 5, 1),
        ('{"a" 1}', "ColonExpected", 5, 1),
        ("{1: 2}", "PropertyNameExpected", 1, 1),
        ('{"a":1,', "PropertyNameExpected", 7, 0),
        ("{a: 2}", "InvalidSymbol", 1, 1),
        ("{'a': 2}", "InvalidSymbol", 1, 3),
        ("[1 2]", "CommaExpected", 3, 1),
        ('{"a":1', "CloseBraceExpected", 6, 0),
        ("[1", "CloseBracketExpected", 2, 0),
        ("{} x", "InvalidSymbol", 3, 1),
        ("{} {}", "EndOfFileExpected", 3, 1),
        ('["abc\n"]', "UnexpectedEndOfString", 1, 4),
        ("[1./* x */]", "UnexpectedEndOfNumber", 1, 2),
        ('["\t"]', "InvalidCharacter", 1, 3),
        ('["\\x"]', "InvalidEscapeCharacter", 1, 4),
        ('["\\u12"]', "InvalidUnicode", 1, 6),
        ("{} /* x", "UnexpectedEndOfComment", 3, 4),
        ("[\u00a0]", "InvalidSymbol", 1, 1),
    ],
)
def test_errors(text: str, problem: str, offset: int, length: int) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        parse(text)
    assert (caught.value.problem, caught.value.offset, caught.value.length) == (problem, offset, length)


def test_depth() -> None:
    assert parse("[" * MAX_DEPTH + "]" * MAX_DEPTH)[0] != []
    with pytest.raises(SyntaxProblem, match="The file is nested too deeply"):
        parse("[" * 5000)


def test_offsets() -> None:
    text = '{"a": [{"b": 1}, 2], /* "c" */ "d": {"e": 3}}'
    offsets = parse(text)[1]
    assert {path: text[offset : offset + 3] for path, offset in offsets.items()} == {
        "a": '"a"', "a[0]": '{"b', "a[0].b": '"b"', "a[1]": "2],", "d": '"d"', "d.e": '"e"',
    }  # fmt: skip


@pytest.mark.parametrize("name", ["wrangler.json", "wrangler.jsonc"])
@pytest.mark.parametrize("eol", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_comments_in_either_kind_of_file(project: Project, name: str, eol: str, bom: str) -> None:
    text = (
        bom + '// before\n{ // c\n "name":"x", "compatibility_date":"2026-11-01",\n'
        ' "vars":{"URL":"https://a/b","T":"{a:1,}","Q":"say \\"// no\\""}, /* z */ }'
    )
    project.write(name, text.replace("\n", eol))
    config = project.load()
    assert (config.name, config.warnings) == ("x", ())
    assert config.vars == {"URL": "https://a/b", "T": "{a:1,}", "Q": 'say "// no"'}
