"""What wrangler's own engines answered to the questions of all suites, and what ours answer.

Where the two differ, on purpose, the reason is in the suite's differences.py, and our exact answer is recorded too.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.oracle import data
from tests.oracle.suite import Questions, Suite
from tests.oracle.suites import SUITES

PARTS = [
    pytest.param(suite, questions, id=f"{suite.name} {at}")
    for suite in SUITES
    for at, questions in enumerate(suite.parts())
]
each_suite = pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)


@cache
def answers(suite: Suite) -> dict[str, Any]:
    return data.read(data.answers_of(suite.recorded))


@cache
def differences(suite: Suite) -> dict[str, Any]:
    return data.read(data.differences_of(suite.name))


@pytest.mark.parametrize(("suite", "questions"), PARTS)
def test_answers(suite: Suite, questions: Questions, tmp_path: Path) -> None:
    """A session for a hundred questions: one for each would take most of the time."""
    with suite.ours(tmp_path, questions) as answer:
        given = {name: data.text(answer(name, question)) for name, question in questions.items()}
    expected = {name: data.text(differences(suite).get(name, answers(suite)[name])) for name in questions}
    assert {name: text for name, text in given.items() if text != expected[name]} == {}


@each_suite
def test_every_question_was_answered(suite: Suite) -> None:
    assert [name for name in suite.questions if name not in answers(suite)] == []


@each_suite
def test_every_answer_has_a_question(suite: Suite) -> None:
    if not suite.shares:
        assert [name for name in answers(suite) if name not in suite.questions] == []


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
