"""What became of a step, read from its record: the value it gave, or its error raised; and what others see of it."""

from __future__ import annotations

import json
from typing import Any, Final

from flarebed.bindings.codec import decode
from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED
from flarebed.bindings.workflows.history import History, Step
from flarebed.bindings.workflows.streams import value_of

REDACTED: Final = "[REDACTED]"


def outcome(history: History, key: int, step: Step) -> Any:
    """Of a step of instance `key` that is done or has failed."""
    if step.error is not None:
        recorded = json.loads(step.error)
        raise JsError(recorded["message"], recorded["name"], remote=True)
    return UNDEFINED if step.result is None else value_of(history, key, step.seq, step.result)


def shown_output(history: History, key: int, seq: int, result: bytes | None, config: bytes | None) -> Any:
    """UNDEFINED if there is none."""
    if config is not None and decode(config).get("sensitive") == "output":
        return REDACTED
    return UNDEFINED if result is None else value_of(history, key, seq, result)
