"""What wrangler's own engine answered to the questions of tests/oracle, and what ours answers.

Where the two differ, on purpose, the reason is in tests/oracle/differences.py, and our exact answer beside it.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from tests.oracle import data, ours
from tests.oracle.differences import REASONS, reasons
from tests.oracle.production import comparable
from tests.oracle.questions import QUESTIONS

ANSWERS = data.read(data.ANSWERS)
DIFFERENCES = data.read(data.DIFFERENCES)


@pytest.mark.parametrize("name", QUESTIONS)
def test_answer(name: str, tmp_path: Path) -> None:
    expected = DIFFERENCES.get(name, ANSWERS[name])
    assert data.text(comparable(ours.answer(tmp_path, QUESTIONS[name]))) == data.text(expected)


def test_every_question_was_answered() -> None:
    assert sorted(ANSWERS) == sorted(QUESTIONS)


def test_every_difference_has_one_reason() -> None:
    assert [name for name in DIFFERENCES if len(reasons(name)) != 1] == []


def test_every_difference_is_one() -> None:
    assert [name for name, answer in DIFFERENCES.items() if data.text(answer) == data.text(ANSWERS[name])] == []


def test_every_reason_is_of_use() -> None:
    patterns = [pattern for names in REASONS.values() for pattern in names]
    assert [pattern for pattern in patterns if not any(fnmatchcase(name, pattern) for name in DIFFERENCES)] == []
