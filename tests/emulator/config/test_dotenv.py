"""The dotenv format; expected values are those of Node's dotenv 16.3.1 and dotenv-expand 12.0.2."""

from __future__ import annotations

import pytest

from flarebed.emulator.config.dotenv import expand, parse


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("A=1\nB = two words \nC=", {"A": "1", "B": "two words", "C": ""}),
        ("A=1\r\nB=2\rC=3", {"A": "1", "B": "2", "C": "3"}),
        ("\ufeffA=1", {"A": "1"}),
        ("export A=1\n  B=2\n\tC=3", {"A": "1", "B": "2", "C": "3"}),
        ("# c\nA=1 # c\nB=a#b\nC='a#b'\nD=\"a # b\" # c", {"A": "1", "B": "a", "C": "a#b", "D": "a # b"}),
        ("A=\"a\\nb\\r\"\nB='a\\nb'\nC=a\\nb\nD=`a\\nb`", {"A": "a\nb\r", "B": "a\\nb", "C": "a\\nb", "D": "a\\nb"}),
        ("A=\"two\nlines\"\nB=`it's \"x\"`\nC='it\\'s'", {"A": "two\nlines", "B": 'it\'s "x"', "C": "it\\'s"}),
        ("A=a=b\nB: 2\nC:3\nD.e-f=4", {"A": "a=b", "B": "2", "D.e-f": "4"}),
        ("A='a' b\nB=\"open\nC='\nD=\"'\"", {"A": "'a' b", "B": '"open', "C": "'", "D": "'"}),
        ("no assignment\n=x\nA=1\nA=2", {"A": "2"}),
        ("A=$B ${C}", {"A": "$B ${C}"}),
    ],
)
def test_parse(text: str, values: dict[str, str]) -> None:
    assert parse(text) == values


@pytest.mark.parametrize(
    ("parsed", "surrounding", "values"),
    [
        ({"A": "1", "B": "$A-${A}"}, {}, {"A": "1", "B": "1-1"}),
        ({"A": "$B", "B": "1"}, {}, {"A": "", "B": "1"}),
        ({"A": "${X:-d}${X-e}${H:+set}${X:+unset}"}, {"H": "1"}, {"H": "1", "A": "deset"}),
        ({"A": "\\$B $B"}, {"B": "x"}, {"B": "x", "A": "$B x"}),
        ({"A": "file"}, {"A": "outer"}, {"A": "outer"}),
        ({"A": "file"}, {"A": ""}, {"A": "file"}),
        ({"A": "$A"}, {}, {"A": ""}),
        ({"A": "${A:-d}"}, {"A": "${A:-d}"}, {"A": "d"}),
    ],
)
def test_expand(parsed: dict[str, str], surrounding: dict[str, str], values: dict[str, str]) -> None:
    assert expand(parsed, surrounding) == values


def test_expand_ends() -> None:
    assert len(expand({"A": "$P"}, {"P": "x$P$P"})["A"]) > 0
