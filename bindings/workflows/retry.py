"""A step's configuration: what is valid, what it becomes with the defaults, and when the next attempt is made. Pure.

https://developers.cloudflare.com/workflows/build/sleeping-and-retrying/ and workers-sdk
packages/workflows-shared/src/lib/{validators,retries}.ts.
"""

from __future__ import annotations

import math
from typing import Any, Final

from flarebed.bindings.codec import decode
from flarebed.bindings.ecma import to_number
from flarebed.bindings.values import UNDEFINED, BigInt
from flarebed.bindings.workflows.duration import to_ms

DEFAULT_DELAY_MS = 1_000
"""What a step's context showed on wrangler 4.164; the documentation says 10 seconds."""

DYNAMIC_DELAY = "[dynamic]"
"""Stands for a delay function in a recorded configuration."""

DEFAULTS: Final[dict[str, Any]] = {
    "retries": {"limit": 5, "delay": DEFAULT_DELAY_MS, "backoff": "exponential"},
    "timeout": "10 minutes",
}

_BACKOFFS = ("constant", "linear", "exponential")


def is_valid(config: Any) -> bool:
    if not isinstance(config, dict) or not _has_only(config, "retries", "timeout", "sensitive"):
        return False
    timeout = config.get("timeout", UNDEFINED)
    if timeout is not UNDEFINED and (not _is_duration(timeout) or to_number(timeout) == 0):
        return False
    if config.get("sensitive", UNDEFINED) not in (UNDEFINED, "output"):
        return False
    retries = config.get("retries", UNDEFINED)
    return retries is UNDEFINED or _are_valid_retries(retries)


def resolve(config: dict[str, Any]) -> dict[str, Any]:
    """The valid `config` with the defaults, as it is recorded; DEFAULTS itself if it says nothing."""
    given = {key: value for key, value in config.items() if value is not UNDEFINED}
    if not given:
        return DEFAULTS
    retries = DEFAULTS["retries"] | given.get("retries", {})
    if callable(retries["delay"]):
        retries["delay"] = DYNAMIC_DELAY
    return DEFAULTS | given | {"retries": retries}


def recorded(config: bytes | None) -> dict[str, Any]:
    """The configuration that was recorded for a step; nothing stands for the defaults."""
    if config is None:
        return {**DEFAULTS, "retries": dict(DEFAULTS["retries"])}
    decoded: dict[str, Any] = decode(config)
    return decoded


def shown(config: dict[str, Any]) -> dict[str, Any]:
    """The recorded `config` as a callback's context has it: `delay` comes last, and is absent if it is a function."""
    retries = {key: value for key, value in config["retries"].items() if key != "delay"}
    if config["retries"]["delay"] != DYNAMIC_DELAY:
        retries["delay"] = config["retries"]["delay"]
    return {**config, "retries": retries}


def context(name: str, count: int, attempt: int, config: dict[str, Any]) -> dict[str, Any]:
    """What a callback is told of its step."""
    return {"step": {"name": name, "count": count}, "attempt": attempt, "config": shown(config)}


def delay_ms(config: dict[str, Any], attempts: int, delay: Any) -> float:
    """How long to wait after `attempts` attempts; ValueError if `delay` is no duration."""
    base_ms = to_ms(delay)
    if not math.isfinite(base_ms) or base_ms < 0:
        raise ValueError(
            'returned an invalid delay value (expected a number of ms or a duration string like "30 seconds")'
        )
    backoff = config["retries"]["backoff"]
    if backoff == "exponential":
        return base_ms * 2.0 ** min(attempts - 1, 1_000)
    return base_ms * attempts if backoff == "linear" else base_ms


def _are_valid_retries(retries: Any) -> bool:
    if not isinstance(retries, dict) or not _has_only(retries, "delay", "limit", "backoff"):
        return False
    limit: Any = retries.get("limit")
    delay: Any = retries.get("delay")
    if limit != math.inf and (not _is_number(limit) or not limit >= 0):
        return False
    return (callable(delay) or _is_duration(delay)) and retries.get("backoff", UNDEFINED) in (UNDEFINED, *_BACKOFFS)


def _is_duration(value: Any) -> bool:
    """A text that has a number in it (even a negative one), or a number that is not negative."""
    return (isinstance(value, str) and not math.isnan(to_ms(value))) or (_is_number(value) and value >= 0)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool | BigInt) and math.isfinite(value)


def _has_only(record: dict[str, Any], *keys: str) -> bool:
    return all(key in keys for key in record)
