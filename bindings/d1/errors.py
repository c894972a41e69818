"""The errors that a Worker gets from D1: a prefix that says which method, and the bare text once more as the cause.

JsError "Error"
├── D1_ERROR              a query: what SQLite says, or the local service
├── D1_EXEC_ERROR         exec()
├── D1_TYPE_ERROR         bind()
├── D1_COLUMN_NOTFOUND    first(column)
├── D1_DUMP_ERROR         dump(), which no longer exists
└── internal error        a transaction that ended otherwise than by its commit
JsError "TypeError"       what JavaScript itself throws for a wrong argument

Texts: workerd src/cloudflare/internal/d1-api.ts and observed on wrangler 4.164.
https://developers.cloudflare.com/d1/observability/debug-d1/
"""

from __future__ import annotations

import secrets
from typing import Any, Final

from flarebed.bindings.ecma import to_string, typeof
from flarebed.bindings.errors import JsError
from flarebed.bindings.values import Error

NO_STATEMENTS: Final = "No SQL statements detected."
TIMED_OUT: Final = "D1 DB storage operation exceeded timeout which caused object to be reset."
LOCKED: Final = "database is locked: SQLITE_BUSY"
NOT_A_QUERY: Final = "Failed to parse body as JSON, got: ZodError"
NEEDS_JSRPC: Final = (
    "D1Database.query() requires the d1_binding_jsrpc compatibility flag. "
    "Enable d1_binding_jsrpc before calling query()."
)
_REFERENCE_DIGITS: Final = "0123456789abcdefghijklmnopqrstuv"


def query_error(text: str, *, with_cause: bool = True) -> JsError:
    return JsError(f"D1_ERROR: {text}", cause=Error(text) if with_cause else None)


def exec_error(text: str, *, with_cause: bool = True) -> JsError:
    return JsError(f"D1_EXEC_ERROR: {text}", cause=Error(text) if with_cause else None)


def unsupported_type(value: Any) -> JsError:
    text = f"Type '{typeof(value)}' not supported for value '{to_string(value)}'"
    return JsError(f"D1_TYPE_ERROR: {text}", cause=Error(text))


def column_not_found(column: str) -> JsError:
    return JsError(f"D1_COLUMN_NOTFOUND: Column not found ({column})", cause=Error("Column not found"))


def no_dump() -> JsError:
    return JsError("D1_DUMP_ERROR: Status + 404", cause=Error("Status 404"))


def internal_error() -> JsError:
    """What a Worker sees of a CommitError, which resets the object; the reference is for Cloudflare's staff."""
    reference = "".join(secrets.choice(_REFERENCE_DIGITS) for _ in range(24))
    return JsError(f"internal error; reference = {reference}", remote=True, durableObjectReset=True)
