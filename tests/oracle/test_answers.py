"""What wrangler's own engines answered to the questions of all suites, and what ours answer.

Where the two differ, on purpose, the reason is in the suite's differences.py, and our exact answer is recorded too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import pytest

from tests.oracle import data
from tests.oracle.suite import Answering, Suite
from tests.oracle.suites import SUITES

ALL = [pytest.param(suite, name, id=f"{suite.name}: {name}") for suite in SUITES for name in suite.questions]
each_suite = pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)


@cache
def answers(suite: Suite) -> dict[str, Any]:
    return data.read(data.answers_of(suite.name))


@cache
def differences(suite: Suite) -> dict[str, Any]:
    return data.read(data.differences_of(suite.name))


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """By suite, what answers: opened when it is first asked."""
    opened: dict[str, Answering] = {}
    with ExitStack() as stack:

        def of(suite: Suite) -> Answering:
            if suite.name not in opened:
                folder = tmp_path_factory.mktemp(suite.name)
                opened[suite.name] = stack.enter_context(suite.ours(folder))
            return opened[suite.name]

        yield of


@pytest.mark.parametrize(("suite", "name"), ALL)
def test_answer(suite: Suite, name: str, ours: Any) -> None:
    expected = differences(suite).get(name, answers(suite)[name])
    assert data.text(ours(suite)(name, suite.questions[name])) == data.text(expected)


@each_suite
def test_every_question_was_answered(suite: Suite) -> None:
    assert sorted(answers(suite)) == sorted(suite.questions)


@each_suite
def test_every_difference_has_one_reason(suite: Suite) -> None:
    assert [name for name in differences(suite) if len(suite.reasons_of(name)) != 1] == []


@each_suite
def test_every_difference_is_one(suite: Suite) -> None:
    given = answers(suite)
    assert [name for name, own in differences(suite).items() if data.text(own) == data.text(given[name])] == []


def test_every_reason_is_of_use() -> None:
    for reasons in {id(suite.reasons): suite.reasons for suite in SUITES}.values():
        differing = [name for suite in SUITES if suite.reasons is reasons for name in differences(suite)]
        patterns = [pattern for names in reasons.values() for pattern in names]
        assert [pattern for pattern in patterns if not any(fnmatchcase(name, pattern) for name in differing)] == []
