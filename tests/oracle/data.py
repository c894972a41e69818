"""What was recorded: wrangler's answers to all questions, and ours where they differ (comparable ones)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ANSWERS = HERE / "answers.json"
DIFFERENCES = HERE / "differences.json"


def read(path: Path) -> dict[str, Any]:
    recorded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return recorded


def write(path: Path, answers: dict[str, Any]) -> None:
    """One answer a line."""
    lines = [f"{text(name)}: {text(answer)}" for name, answer in answers.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def text(answer: Any) -> str:
    """In which the order of keys counts."""
    return json.dumps(answer, ensure_ascii=False)
