"""What R2 refuses: codes and texts of the service, seen on wrangler 4.164.

Refused                the service's answer: HTTP's status, its own code, the text; `js_error` words it for a Worker:
                       "put: Your metadata headers exceed the maximum allowed metadata size. (10012)"
└── PreconditionFailed with the object, which a conditional get gives without its body
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flarebed.bindings.errors import FlarebedError, JsError

if TYPE_CHECKING:
    from flarebed.bindings.r2.objects import StoredObject


class Refused(FlarebedError):
    def __init__(self, status: int, code: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message

    def js_error(self, operation: str) -> JsError:
        return JsError(f"{operation}: {self.message} ({self.code})")


class PreconditionFailed(Refused):
    def __init__(self, found: StoredObject | None = None) -> None:
        super().__init__(412, 10031, "At least one of the pre-conditions you specified did not hold.")
        self.found = found


def internal_error() -> Refused:
    return Refused(500, 10001, "We encountered an internal error. Please try again.")


def no_such_key() -> Refused:
    return Refused(404, 10007, "The specified key does not exist.")


def entity_too_small() -> Refused:
    return Refused(400, 10011, "Your proposed upload is smaller than the minimum allowed object size.")


def metadata_too_large() -> Refused:
    return Refused(400, 10012, "Your metadata headers exceed the maximum allowed metadata size.")


def invalid_name() -> Refused:
    return Refused(400, 10020, "The specified object name is not valid.")


def invalid_limit() -> Refused:
    return Refused(400, 10022, "MaxKeys params must be positive integer <= 1000.")


def no_such_upload() -> Refused:
    return Refused(400, 10024, "The specified multipart upload does not exist.")


def invalid_part() -> Refused:
    return Refused(400, 10025, "One or more of the specified parts could not be found.")


def bad_digest(algorithm: str, given: bytes, found: bytes) -> Refused:
    return Refused(
        400,
        10037,
        f"The {algorithm} checksum you specified did not match what we received.\n"
        f"You provided a {algorithm} checksum with value: {given.hex()}\nActual {algorithm} was: {found.hex()}",
    )


def invalid_range() -> Refused:
    return Refused(416, 10039, "The requested range is not satisfiable")


def bad_upload() -> Refused:
    return Refused(500, 10048, "There was a problem with the multipart upload.")


def entity_too_large() -> Refused:
    return Refused(400, 100100, "Your proposed upload exceeds the maximum allowed object size.")
