"""A suite: questions, who answers them on both sides, and why some answers may differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

Question = dict[str, Any]
Questions = Mapping[str, Question]
Answering = Callable[[str, Question], Any]
"""The answer to the question of that name."""
Theirs = Callable[[str, Questions], AbstractContextManager[Answering]]
Ours = Callable[[Path, Questions], AbstractContextManager[Answering]]
Reasons = Mapping[str, tuple[str, ...]]
"""By reason, the patterns (of `fnmatch`) of the names of questions; each has to be of use."""


@dataclass(frozen=True, eq=False)
class Suite:
    """Each side is opened for the questions that it gets, each of them once: nothing is left of another's.

    `theirs` wants the command of wrangler, and may be asked from `at_a_time` threads; without it, the answers are those
    of the suite `shares`. `ours` wants a folder for state.
    """

    name: str
    questions: Questions
    reasons: Reasons
    theirs: Theirs | None
    ours: Ours
    at_a_time: int = 1
    shares: str = ""
    part: int = 100

    @property
    def recorded(self) -> str:
        """The suite whose file has wrangler's answers."""
        return self.shares or self.name

    def parts(self) -> Sequence[Questions]:
        """All questions, in parts that are each a session of ours: a database of its own for every question of a part
        is not too many open files."""
        questions = list(self.questions.items())
        return [dict(questions[start : start + self.part]) for start in range(0, len(questions), self.part)]

    def reasons_of(self, question: str) -> list[str]:
        """Why the answer to `question` may differ."""
        return [why for why, names in self.reasons.items() if any(fnmatchcase(question, name) for name in names)]
