"""A suite: questions, who answers them on both sides, and why some answers may differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

Question = dict[str, Any]
Answering = Callable[[str, Question], Any]
"""The answer to the question of that name."""
Reasons = Mapping[str, tuple[str, ...]]
"""By reason, the patterns (of `fnmatch`) of the names of questions; each has to be of use."""


@dataclass(frozen=True, eq=False)
class Suite:
    """`theirs` wants the command of wrangler, and may be asked from `at_a_time` threads; `ours` a folder for state."""

    name: str
    questions: Mapping[str, Question]
    reasons: Reasons
    theirs: Callable[[str], AbstractContextManager[Answering]]
    ours: Callable[[Path], AbstractContextManager[Answering]]
    at_a_time: int

    def reasons_of(self, question: str) -> list[str]:
        """Why the answer to `question` may differ."""
        return [why for why, names in self.reasons.items() if any(fnmatchcase(question, name) for name in names)]
