"""What no structured clone takes: a class of its own for each kind, as the runtime hands them over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class _Host:
    pass


UNCLONEABLE: dict[str, Callable[[], Any]] = {
    "$symbol": _Host,
    "$object": _Host,
    "$promise": lambda: {"p": _Host()},
    "$weakmap": _Host,
}
