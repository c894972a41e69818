"""What became of a step, read from its record: the value it gave, or its error raised."""

from __future__ import annotations

import json
from typing import Any

from flarebed.bindings.codec import decode
from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED
from flarebed.bindings.workflows.history import Step


def outcome(step: Step) -> Any:
    """Of a step that is done or has failed."""
    if step.error is not None:
        recorded = json.loads(step.error)
        raise JsError(recorded["message"], recorded["name"], remote=True)
    return UNDEFINED if step.result is None else decode(step.result)
