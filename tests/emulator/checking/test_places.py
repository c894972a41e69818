"""Which lines a place has: a statement's, and of one with a body those before the body."""

from __future__ import annotations

from pathlib import Path

import pytest

from flarebed.emulator.checking.places import Sources

SOURCE = """\
@first
@second(
    1,
)
async def decorated(
    a,
):
    await (
        a.b()
        .c()
    )
    if (
        a
        and b
    ):
        return 1  # flarebed: ignore[one, two]
    match a:
        case 1:
            pass  # flarebed: ignore
    @inner
    def last(): ...
"""


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    (tmp_path / "entry.py").write_text(SOURCE)
    return Sources(tmp_path)


@pytest.mark.parametrize(("line", "first", "last"), [
    (1, 1, 7), (3, 1, 7), (5, 1, 7), (8, 8, 11), (10, 8, 11), (12, 12, 15), (14, 12, 15), (16, 16, 16), (19, 19, 19),
    (20, 20, 21), (21, 21, 21),
])  # fmt: skip
def test_the_lines_of_a_place(sources: Sources, line: int, first: int, last: int) -> None:
    place = sources.place((str(sources.root / "entry.py"), line))
    assert (place.line, place.end_line) == (first, last)
    assert place.source == "\n".join(SOURCE.splitlines()[first - 1 : last])


def test_a_comment_says_which_rules_to_ignore(sources: Sources) -> None:
    some = sources.place((str(sources.root / "entry.py"), 16))
    assert [some.ignores(rule) for rule in ("one", "two", "three")] == [True, True, False]
    assert sources.place((str(sources.root / "entry.py"), 19)).ignores("three")
    assert not sources.place((str(sources.root / "entry.py"), 12)).ignores("one")


def test_own_files_are_those_below_the_main_module(sources: Sources) -> None:
    inside = sources.root / "a" / "b.py"
    assert sources.own(str(inside))
    assert not sources.own(str(sources.root / "site-packages" / "b.py"))
    assert not sources.own(f"{sources.root}-other/b.py")
