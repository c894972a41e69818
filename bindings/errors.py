"""The errors that cross rooms.

FlarebedError
├── UserError       the user's mistake: what, where, what to do; shown without a traceback
└── InternalError   ours: shown whole, with where to report it

JsError             what a Worker sees: a JavaScript error with production's name and message. Engines and bindings
                    raise it; only a runtime knows how it looks inside a Worker.
"""

from __future__ import annotations

from typing import Any


class FlarebedError(Exception):
    """The root of what flarebed itself reports."""


class UserError(FlarebedError):
    """A mistake of the user's.

    `place` says where (a file, with line and column if known) and `hint` what to do about it; `warnings` is what else
    was found on the way there.
    """

    def __init__(self, message: str, *, place: str = "", hint: str = "", warnings: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        self.hint = hint
        self.warnings = warnings


class InternalError(FlarebedError):
    """A defect of flarebed."""


class JsError(Exception):
    """A JavaScript error: `name` ("Error", "TypeError", ...), `message`, and optionally `cause` and own properties.

    `thrown` keeps what was thrown, if the runtime wants the same object back (a Python exception that crossed
    JavaScript, a value that is not an Error).
    """

    def __init__(
        self, message: str, name: str = "Error", *, cause: Any = None, thrown: Any = None, **properties: Any
    ) -> None:
        super().__init__(message)
        self.name = name
        self.message = message
        self.cause = cause
        self.thrown = thrown
        self.properties = properties

    def __str__(self) -> str:
        return f"{self.name}: {self.message}" if self.message else self.name


def type_error(message: str) -> JsError:
    return JsError(message, "TypeError")


def range_error(message: str) -> JsError:
    return JsError(message, "RangeError")
