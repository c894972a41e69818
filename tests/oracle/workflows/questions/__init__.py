"""All questions by name."""

from __future__ import annotations

from tests.oracle.workflows.questions import ends, events, instances, rollbacks, steps
from tests.oracle.workflows.questions.words import Question

_MODULES = (steps, ends, rollbacks, instances, events)
QUESTIONS: dict[str, Question] = {name: asked for module in _MODULES for name, asked in module.QUESTIONS.items()}
