"""Durations as Workflows understand them: milliseconds, or a text such as "10 minutes". Pure.

The rules are those of the npm package itty-time 2.0.2, which Cloudflare's engine uses
(workers-sdk packages/workflows-shared/src/lib/validators.ts).
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Any

from flarebed.bindings.ecma import to_number

_UNITS_MS = {
    "second": 1_000,
    "minute": 60_000,
    "hour": 3_600_000,
    "day": 86_400_000,
    "week": 604_800_000,
    "month": 2_592_000_000,
    "year": 31_557_600_000,
}


def to_ms(duration: Any) -> float:
    """Milliseconds; NaN if nothing in it is a number. An unknown unit counts as milliseconds ("1 bogus" is 1)."""
    return _text_to_ms(duration) if isinstance(duration, str) else to_number(duration)


@lru_cache(maxsize=256)
def _text_to_ms(text: str) -> float:
    number = to_number(text)
    found = re.fullmatch(r"([^ ]+) +(\w\w*?)s?", text, re.ASCII) if math.isnan(number) else None
    return to_number(found[1]) * _UNITS_MS.get(found[2], 1) if found else number
