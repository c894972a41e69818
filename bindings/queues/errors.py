"""The errors of Queues: what a Worker's arguments get wrong, and what the service refuses.

TypeErrors     raised by the client; always the same
Refused        the service's answer. What a Worker sees of it depends on the compatibility flag queue_expose_error_codes
               (default from 2026-03-12), with which wrangler dev gives the same opaque text for everything. Of
               production's texts only the code at their end is known; the log tells it.

Texts: workerd `api/queue.c++`, miniflare `workers/queues/broker.worker.ts`; each observed on wrangler 4.164.
"""

from __future__ import annotations

from flarebed.bindings.errors import FlarebedError, JsError, type_error

EXPOSE_ERROR_CODES = "queue_expose_error_codes"


class Refused(FlarebedError):
    """`text` is the answer's reason; `cause`, for the log, says more where that is only "Internal Server Error".

    `code` is production's, where one is known: https://developers.cloudflare.com/queues/reference/error-codes/.
    """

    def __init__(self, text: str, cause: str = "", *, code: int | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.cause = (cause or text) + ("" if code is None else f" (production's error ends in {code})")


def failed(operation: str, refused: Refused, flags: frozenset[str]) -> JsError:
    """`operation` is send or sendBatch."""
    if EXPOSE_ERROR_CODES in flags:
        return JsError("Unknown Internal Error (15000)")
    return JsError(f"Queue {operation} failed: {refused.text}")


def undefined_body() -> JsError:
    return type_error("Message body cannot be undefined")


def unknown_content_type(content_type: str) -> JsError:
    return type_error(f"Unsupported queue message content type: {content_type}")


def wrong_body(content_type: str, expected: str, received: str) -> JsError:
    return type_error(f'Content Type "{content_type}" requires a value of type {expected}, but received: {received}')


def empty_batch() -> JsError:
    return type_error("sendBatch() requires at least one message")


def wrong_item() -> JsError:
    return type_error("Incorrect type: the provided value is not of type 'MessageSendRequest'.")


def no_item() -> JsError:
    name = "N7workerd3api11WorkerQueue18MessageSendRequestE"  # C++'s, as jsg/struct.h prints it
    return type_error(f"Cannot initialize {name} with required members from an undefined or null value.")


def not_json() -> Refused:
    return Refused("Internal Server Error", "the body has no JSON")


def not_stored() -> Refused:
    return Refused("Internal Server Error")


def wrong_delay(delay_s: int, most_s: int) -> Refused:
    return _wrong_delay(delay_s, most_s, code=10203)


def wrong_batch_delay(delay_s: int, most_s: int) -> Refused:
    return _wrong_delay(delay_s, most_s, code=10202)


def message_too_long(length: int, limit: int) -> Refused:
    return Refused(f"message length of {length} bytes exceeds limit of {limit}", code=10204)


def item_too_long(length: int, limit: int) -> Refused:
    text = f"message in batch has length {length} bytes which exceeds single message size limit of {limit}"
    return Refused(text, code=10204)


def batch_too_long(length: int, limit: int) -> Refused:
    return Refused(f"batch size of {length} bytes exceeds limit of {limit}", code=10205)


def too_many_messages(count: int, most: int) -> Refused:
    return Refused(f"batch message count of {count} exceeds limit of {most}", code=10206)


def _wrong_delay(delay_s: int, most_s: int, *, code: int) -> Refused:
    cause = f"message delay of {delay_s} seconds is not between 0 and {most_s}"
    return Refused("Internal Server Error", cause, code=code)
