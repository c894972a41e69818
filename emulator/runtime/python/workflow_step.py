"""What the SDK's `workflows.js` does, in Python: a NonRetryableError of a step reaches the engine under its name.

The SDK imports that file through `doAnImport`; without a JavaScript engine this takes its place.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from flarebed.bindings.errors import JsError
from flarebed.emulator.runtime.python.proxy import JsException, JsProxy

_NAME = "NonRetryableError"


class SdkWorkflows(JsProxy, js="Module"):
    """The module: `wrapWorkflowStep(step)`."""

    def wrapWorkflowStep(self, step: Any) -> Step:
        return Step(step)


class Step(JsProxy, js="WorkflowStep"):
    """The engine's step, with callbacks that translate NonRetryableError."""

    __slots__ = ("_step",)

    def __init__(self, step: Any) -> None:
        self._step = step

    def do(self, name: Any, *rest: Any) -> Any:
        return self._step.do(name, *[translated(part) if inspect.isfunction(part) else part for part in rest])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._step, name)


def translated(callback: Callable[..., Any]) -> Callable[..., Any]:
    """`callback`, raising a JavaScript NonRetryableError for Python's (the exact class name, as the SDK compares)."""

    async def call(*arguments: Any) -> Any:
        try:
            return await callback(*arguments)
        except JsException:
            raise
        except Exception as error:
            if type(error).__name__ != _NAME:
                raise
            raise JsError(last_line_message(error), _NAME) from error

    return call


def last_line_message(error: Exception) -> str:
    """What follows the class name in the last line of the traceback, which is where the SDK looks."""
    text = str(error)
    lines = [line for line in f"{_NAME}: {text}".split("\n") if line.strip()] if text else [_NAME]
    _, separator, message = lines[-1].partition(": ")
    return message if separator else ""
