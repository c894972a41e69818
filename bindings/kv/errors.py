"""The errors of Workers KV: what the service refuses, and how a Worker sees it.

Refused        the service's answer, with its HTTP status; an `Operation` words it for a Worker:
               "KV PUT failed: 400 Invalid expiration_ttl of 5. ..."

Texts: workerd `api/kv.c++`, miniflare `workers/kv/validator.worker.ts`; each observed on wrangler 4.164.
"""

from __future__ import annotations

from typing import Final

from flarebed.bindings.errors import FlarebedError, JsError, type_error


class Refused(FlarebedError):
    """The service does not do it: `status` is HTTP's, `text` its reason phrase."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status} {text}")
        self.status = status
        self.text = text


class Operation:
    """`with Operation("PUT"):` a refusal leaves it as the error that a Worker sees."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, Refused):
            raise JsError(f"KV {self.name} failed: {error}") from None


GET: Final = Operation("GET")  # also of a list
GET_BULK: Final = Operation("GET_BULK")
PUT: Final = Operation("PUT")
DELETE: Final = Operation("DELETE")


def key_too_long(length: int, limit: int) -> Refused:
    return Refused(414, f"UTF-8 encoded length of {length} exceeds key length limit of {limit}.")


def not_decoded() -> Refused:
    return Refused(400, "Could not URL-decode key name")


def empty_key() -> JsError:
    return type_error("Key name cannot be empty.")


def forbidden_key(key: str) -> JsError:
    return type_error(f'"{key}" is not allowed as a key name.')


def unknown_type() -> JsError:
    return type_error('Unknown response type. Possible types are "text", "arrayBuffer", "json", and "stream".')


def wrong_value() -> JsError:
    return type_error("KV put() accepts only strings, ArrayBuffers, ArrayBufferViews, and ReadableStreams as values.")


def value_too_long(length: int, limit: int) -> Refused:
    return Refused(413, f"Value length of {length} exceeds limit of {limit}.")


def metadata_too_long(length: int, limit: int) -> Refused:
    return Refused(413, f"Metadata length of {length} exceeds limit of {limit}.")


def metadata_not_json() -> Refused:
    return Refused(500, "Internal Server Error")


def out_of_order() -> Refused:
    return Refused(500, "Internal Server Error")


def ttl_not_positive(ttl_s: int) -> Refused:
    return Refused(400, f"Invalid expiration_ttl of {ttl_s}. Please specify integer greater than 0.")


def ttl_too_short(ttl_s: int, limit_s: int) -> Refused:
    return Refused(400, f"Invalid expiration_ttl of {ttl_s}. Expiration TTL must be at least {limit_s}.")


def expiration_past(expiration_s: int) -> Refused:
    return Refused(
        400,
        f"Invalid expiration of {expiration_s}. "
        "Please specify integer greater than the current number of seconds since the UNIX epoch.",
    )


def expiration_too_soon(expiration_s: int, limit_s: int) -> Refused:
    return Refused(
        400,
        f"Invalid expiration of {expiration_s}. Expiration times must be at least {limit_s} seconds in the future.",
    )


def cache_ttl_too_short(ttl_s: int, limit_s: int) -> Refused:
    return Refused(400, f"Invalid cache_ttl of {ttl_s}. Cache TTL must be at least {limit_s}.")


def limit_too_large(limit: int, most: int) -> Refused:
    return Refused(400, f"Invalid key_count_limit of {limit}. Please specify an integer less than {most}.")


def no_keys() -> Refused:
    return Refused(400, "You must request a minimum of 1 key")


def too_many_keys(most: int) -> Refused:
    return Refused(400, f"You can request a maximum of {most} keys")


def bulk_empty_key() -> Refused:
    return Refused(400, "Key names must not be empty")


def bulk_forbidden_key(key: str) -> Refused:
    return Refused(400, f'Illegal key name "{key}". Please use a different name.')


def bulk_type(type_name: str) -> Refused:
    return Refused(400, f'"{type_name}" is not a valid type. Use "json" or "text"')


def bulk_not_json() -> Refused:
    return Refused(400, "At least one of the requested keys corresponds to a non-json value")


def bulk_too_large() -> Refused:
    return Refused(413, "Total size of request exceeds the limit of 25MB")
