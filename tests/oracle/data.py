"""What was recorded of a suite: wrangler's answers to all questions, and ours where they differ (comparable ones)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

_LONE = re.compile("[\ud800-\udfff]")  # surrogates, which no file can hold
_HERE = Path(__file__).parent / "recorded"


def answers_of(suite: str) -> Path:
    return _HERE / f"{suite}.answers.json"


def differences_of(suite: str) -> Path:
    return _HERE / f"{suite}.differences.json"


def read(path: Path) -> dict[str, Any]:
    recorded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return recorded


def write(path: Path, answers: dict[str, Any]) -> None:
    """One answer a line."""
    lines = [f"{text(name)}: {text(answer)}" for name, answer in answers.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def text(answer: Any) -> str:
    """In which the order of keys counts."""
    return _LONE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(answer, ensure_ascii=False))
