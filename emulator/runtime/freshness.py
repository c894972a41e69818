"""For how long a shared cache may keep a response.

https://www.rfc-editor.org/rfc/rfc9111; a response without freshness is taken by the Cache API and not found again
(observed).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Final

_DIRECTIVE: Final = re.compile(r"([\w-]+)(?:=\"?([^\",]*)\"?)?")
_HEURISTIC_SHARE: Final = 0.1
"""Of the age since Last-Modified, when nothing else says how long a response stays fresh."""


def lifetime_ms(header: Callable[[str], str | None], now_ms: float) -> float:
    """0 if it may not be kept at all. `header` gives the value of a response's header."""
    control = {name.lower(): value for name, value in _DIRECTIVE.findall(header("cache-control") or "")}
    if {"no-store", "no-cache"} & control.keys():
        return 0
    if "private" in control and not control["private"]:
        return 0
    if header("set-cookie") is not None and control.get("private", "").lower() != "set-cookie":
        return 0
    for directive in ("s-maxage", "max-age"):
        if control.get(directive, "").isdigit():
            return int(control[directive]) * 1000
    expires_ms = date_ms(header("expires"))
    if expires_ms is not None:
        return expires_ms - now_ms
    modified_ms = date_ms(header("last-modified"))
    return 0 if modified_ms is None else (now_ms - modified_ms) * _HEURISTIC_SHARE


def date_ms(text: str | None) -> float | None:
    try:
        return None if text is None else parsedate_to_datetime(text).timestamp() * 1000
    except ValueError:
        return None
