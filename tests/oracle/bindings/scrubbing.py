"""Makes equal in an answer what differs from one run to the next, or from one machine to another."""

from __future__ import annotations

import json
import re
from typing import Any

MEASURED = frozenset({"duration", "sql_duration_ms", "size_after"})
NEAR_S = 5
DAYS_S = 10 * 86_400
_SECONDS = re.compile(r"\b1[789]\d{8}\b")
_RULES = (
    (re.compile(r'\{"\$date": 1[789]\d{11}\}'), '"<time>"'),
    (re.compile(r"\b20[23]\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+Z)?"), "<time>"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32}\b"), "<bookmark>"),
    (re.compile(r"reference = [0-9a-v]{24}"), "reference = <digits>"),
    (re.compile(r"(\\n    at [^\"]*)+"), ""),  # the stack of miniflare's own JavaScript
    (re.compile(r'"version": "[0-9a-f]{32}"'), '"version": "<version>"'),
    (re.compile(r'"(uploadId|etag)": "[\w-]{100,}"'), r'"\1": "<random>"'),
    (re.compile(r'"q\d+(-dead)?"'), r'"q\1"'),
)
_ID = re.compile(r'"id": "([0-9a-f]{32})"')


def scrubbed(answer: Any) -> Any:
    """Times are relative to the question's own, ids are counted, measurements are 0."""
    start_s = answer.pop("start_s")
    text = json.dumps(_unmeasured(answer), ensure_ascii=False)
    for pattern, instead in _RULES:
        text = pattern.sub(instead, text)
    ids: dict[str, int] = {}
    text = _ID.sub(lambda found: f'"id": {ids.setdefault(found[1], len(ids) + 1)}', text)
    return json.loads(
        _SECONDS.sub(lambda found: _relative(int(found[0]), start_s), text), parse_float=_number, parse_int=_integer
    )


def _relative(time_s: int, start_s: int) -> str:
    """A time of these days as seconds from the start, with a tolerance; in a text or for itself."""
    after_s = time_s - start_s
    return str(round(after_s / NEAR_S) * NEAR_S) if abs(after_s) < DAYS_S else str(time_s)


def _unmeasured(value: Any) -> Any:
    if isinstance(value, list):
        return [_unmeasured(part) for part in value]
    if not isinstance(value, dict):
        return value
    return {key: 0 if key in MEASURED and type(part) is not str else _unmeasured(part) for key, part in value.items()}


def _number(text: str) -> float:
    """As JavaScript writes it: 1.0 is 1."""
    number = float(text)
    return int(number) if number.is_integer() and abs(number) < 1e21 else number


def _integer(text: str) -> int:
    """As JavaScript reads it: above 2^53 with a double's precision."""
    return int(text) if len(text) < 16 else int(float(text))
