"""What became of a step, read from its record: the value it gave, or its error raised; and what others see of it."""

from __future__ import annotations

import json
from typing import Any, Final

from flarebed.bindings.codec import decode
from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED
from flarebed.bindings.workflows.history import Step

REDACTED: Final = "[REDACTED]"


def outcome(step: Step) -> Any:
    """Of a step that is done or has failed."""
    if step.error is not None:
        recorded = json.loads(step.error)
        raise JsError(recorded["message"], recorded["name"], remote=True)
    return UNDEFINED if step.result is None else decode(step.result)


def shown_output(result: bytes | None, config: bytes | None) -> Any:
    """UNDEFINED if there is none."""
    if config is not None and decode(config).get("sensitive") == "output":
        return REDACTED
    return UNDEFINED if result is None else decode(result)
