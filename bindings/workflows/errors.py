"""What Workflows throw, in the words of Cloudflare's engine.

The engine is a service of its own: what it throws crosses RPC, and so does what a step's callback throws. Built-in
error classes survive that; of any other error the name goes into the message of a plain Error (`crossed`).

Texts: workers-sdk packages/workflows-shared/src/{binding,context,engine}.ts and observations on wrangler 4.164.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flarebed.bindings.ecma import number_to_string, typeof
from flarebed.bindings.errors import JsError, type_error

_TUNNELED = frozenset({
    # workerd src/workerd/jsg/util.h, JS_ERROR_TYPES
    "Error", "RangeError", "TypeError", "SyntaxError", "ReferenceError", "CompileError", "LinkError", "RuntimeError",
    "SuspendError", "AggregateError", "SuppressedError", "URIError", "EvalError",
    # DOMException keeps its name too
    "DataCloneError", "AbortError", "TimeoutError", "NotSupportedError", "InvalidStateError", "InvalidAccessError",
    "OperationError", "NetworkError", "QuotaExceededError", "NotFoundError", "InvalidCharacterError",
    "ConstraintError", "DataError", "EncodingError", "HierarchyRequestError", "InUseAttributeError", "IndexSizeError",
    "InvalidModificationError", "InvalidNodeTypeError", "NamespaceError", "NoModificationAllowedError",
    "NotAllowedError", "NotReadableError", "ReadOnlyError", "SecurityError", "TransactionInactiveError",
    "TypeMismatchError", "URLMismatchError", "UnknownError", "VersionError", "WrongDocumentError",
})  # fmt: skip

STORAGE_LIMIT = "The instance has exceeded the 1GiB storage limit"
BROKEN_STREAM = (
    "Failed to read from step ReadableStream output. ReadableStream received over RPC disconnected prematurely."
)
OVERSIZED_CHUNK = (
    "Step returned a ReadableStream chunk larger than the maximum allowed size of 16777216 bytes. "
    "Return smaller chunks from step.do()."
)
_INVALID_FORMAT = "is in a invalid format. See https://developers.cloudflare.com/workflows/build/sleeping-and-retrying/"

ALREADY_EXISTS = (10405, "workflows.api.error.instance.already_exists")
DUPLICATE_IN_BATCH = (10415, "workflows.api.error.instance.duplicate_in_batch")
NOT_FOUND = (10400, "workflows.api.error.instance.not_found")


def crossed(error: JsError) -> JsError:
    """`error` as it arrives on the other side of an RPC call."""
    if error.name in _TUNNELED:
        return JsError(error.message, error.name, remote=True)
    return _remote(f"{error.name}: {error.message}" if error.message else error.name)


def is_non_retryable(error: JsError) -> bool:
    return error.name == "NonRetryableError" or error.message.startswith("NonRetryableError")


def is_subclass_of_non_retryable(error: JsError) -> bool:
    """Cloudflare compares the exact type, so such a Python exception is retried."""
    return any(base.__name__ == "NonRetryableError" for base in type(error.thrown).__mro__[1:])


def _remote(message: str) -> JsError:
    return JsError(message, remote=True)


def workflow_error(message: str) -> JsError:
    return _remote(f"WorkflowError: {message}")


def fatal_error(message: str) -> JsError:
    return JsError(message, "WorkflowFatalError")


# What the binding throws


def invalid_id() -> JsError:
    return workflow_error("Workflow instance has invalid id")


def reserved_id() -> JsError:
    return workflow_error("(instance.invalid_id) Instance ID is invalid")


def not_an_object(value: Any) -> JsError:
    kind = "null" if value is None else typeof(value)
    return workflow_error(f"(body) Invalid input: expected object, received {kind}")


def already_exists(instance_id: str) -> JsError:
    return workflow_error(f'(instance.already_exists) Workflow instance with id "{instance_id}" already exists')


def not_found() -> JsError:
    return _remote("instance.not_found")


def invalid_duration() -> JsError:
    return workflow_error(
        "(body) Duration must be a number or a string in format '{{number}} {{unit}}' "
        "where unit is second(s), minute(s), etc."
    )


def nothing_to_delete() -> JsError:
    return workflow_error("(instance.not_found) Instance does not exist")


def cannot_terminate() -> JsError:
    return workflow_error("(instance.cannot_terminate) Cannot terminate instance since its on a finite state")


def cannot_restart(step_name: str) -> JsError:
    return workflow_error(f'(instance.cannot_restart) Step "{step_name}" not found in execution history')


def payload_too_large(what: str) -> JsError:
    """Production's limit, in our words: its own are not published, and the local engine of wrangler has no limit."""
    return workflow_error(f"{what} is too large. Maximum allowed size is 1MiB.")


def invalid_event_type(event_type: str) -> JsError:
    """Production's rule, in our words: the local engine of wrangler takes any type."""
    return workflow_error(
        f'Event type "{event_type}" is invalid: it must have 1-100 characters, start with a letter, number, or '
        "underscore, and may only contain letters, numbers, underscores, or hyphens"
    )


def invalid_subscription() -> JsError:
    return _remote("Invalid Workflow subscription options")


def aborted(by: str) -> JsError:
    """What was asked of an instance can't be answered any more."""
    return _remote(f"Aborting engine: User called {by}")


def unreadable(holder: Any, key: str) -> JsError:
    """Reading `key` of null or undefined."""
    text = "null" if holder is None else "undefined"
    return type_error(f"Cannot read properties of {text} (reading '{key}')")


# What a step throws


def no_callback(name: str) -> JsError:
    return crossed(fatal_error(f'Step "{name}" requires a callback function'))


def step_limit(limit: int) -> JsError:
    return crossed(
        fatal_error(
            f"The limit of {limit} steps has been reached. This limit can be changed in your worker configuration."
        )
    )


def invalid_step_name(name: str) -> JsError:
    return crossed(fatal_error(f'Step name "{name}" exceeds max length (256 chars) or invalid characters found'))


def invalid_step_config(name: str) -> JsError:
    return crossed(fatal_error(f'Step config for "{name}" {_INVALID_FORMAT}'))


def rollback_no_object(name: str) -> JsError:
    return crossed(fatal_error(f'Rollback options for "{name}" must be an object'))


def rollback_no_function(name: str) -> JsError:
    return crossed(fatal_error(f'Rollback for "{name}" must be a function'))


def invalid_rollback_config(name: str) -> JsError:
    return crossed(fatal_error(f'Rollback config for "{name}" {_INVALID_FORMAT}'))


def rolling_back() -> JsError:
    return crossed(fatal_error("Cannot execute steps during rollback phase"))


def rollback_missing() -> JsError:
    """After a restart, a step that has to be rolled back was not made again."""
    return JsError("Rollback function not available in registry", "RollbackMissing")


def terminated() -> JsError:
    """What a rollback is told when the instance did not fail. The engine's own name for it is lost on the way."""
    return JsError("Instance terminated during rollback")


def bad_delay(label: str, reason: str) -> JsError:
    return JsError(f'The delay function for step "{label}" {reason}', "NonRetryableDelayError")


def as_recorded(error: JsError) -> JsError:
    """What is told of an attempt that ended with `error`."""
    if isinstance(error, TimedOutError):
        return error
    seen = crossed(error)
    if not is_non_retryable(seen):
        return seen
    return fatal_error(f'Step threw a NonRetryableError with message "{seen.message}"')


class TimedOutError(JsError):
    """The engine's own: it has not crossed."""


def timed_out(timeout_ms: float) -> JsError:
    return TimedOutError(f"Execution timed out after {number_to_string(timeout_ms)}ms", "WorkflowTimeoutError")


def interrupted() -> JsError:
    """The process ended during an attempt."""
    return JsError("Attempt failed due to internal workflows error", "WorkflowInternalError")


def too_large(label: str) -> JsError:
    return JsError(f"Step {label} output is too large. Maximum allowed size is 1MiB.", "WorkflowInternalError")


def time_traveler() -> JsError:
    return _remote("You can't sleep until a time in the past, time-traveler")


def no_wake_time() -> JsError:
    """A duration in which nothing is a number; the text is that of the real engine's table."""
    return _remote(
        "NOT NULL constraint failed: priority_queue.target_timestamp: "
        "SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_NOTNULL)"
    )


def locked_stream() -> JsError:
    """Before it reaches the engine, so it is a failed attempt like another (observed on wrangler 4.164)."""
    return type_error("The ReadableStream has been locked to a reader.")


# How an instance ends: the `error` of its status. WorkflowFatalError has the keys in the other order.


def not_serialisable(step_name: str) -> Mapping[str, str]:
    return {
        "name": "WorkflowFatalError",
        "message": "The execution of the Workflow instance was terminated, as the step "
        f'"{step_name}" returned a value which is not serialisable',
    }


def invalid_stream(step_name: str, why: str) -> Mapping[str, str]:
    if why == STORAGE_LIMIT:
        return {"name": "WorkflowFatalError", "message": STORAGE_LIMIT}
    return {
        "name": "WorkflowFatalError",
        "message": "The execution of the Workflow instance was terminated, as the step "
        f'"{step_name}" returned an invalid ReadableStream output. {why}',
    }


def ended_by(error: JsError, *, preserve_non_retryable: bool) -> Mapping[str, str]:
    """For an `error` that run() did not catch.

    `preserve_non_retryable` is the compatibility flag workflows_preserve_non_retryable_error_message.
    """
    error = crossed(error)
    if not is_non_retryable(error):
        return {"message": error.message, "name": error.name}
    if preserve_non_retryable:
        return {
            "name": "NonRetryableError",
            "message": error.message.removeprefix("NonRetryableError").removeprefix(":").lstrip(),
        }
    return {
        "name": "WorkflowFatalError",
        "message": "The execution of the Workflow instance was terminated, as a step threw an NonRetryableError "
        "and it was not handled",
    }
