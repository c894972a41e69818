"""What a JavaScript Worker threw and did not catch, as workerd tells of it: a stack, with name and message in it."""

from __future__ import annotations

import re
from typing import Final

from flarebed.bindings.errors import JsError

_FRAMES: Final = re.compile(r"(?:^|\n) {4}at ")
_NAME: Final = re.compile(r"[\w$.]+")


class UncaughtError(JsError):
    """`stack` names the Worker's own sources, as does what `str()` gives."""

    def __init__(self, stack: str) -> None:
        head = _FRAMES.split(stack, maxsplit=1)[0]
        name, separator, message = head.partition(": ")
        if not _NAME.fullmatch(name):  # it threw no Error, or one without a name
            name, separator, message = "Error", ": ", head
        super().__init__(message if separator else "", name)
        self.stack = stack

    def __str__(self) -> str:
        return self.stack

    def __reduce__(self) -> tuple[type[UncaughtError], tuple[str]]:
        return UncaughtError, (self.stack,)
