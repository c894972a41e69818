"""Rollbacks that tests of Workflows give to steps."""

from __future__ import annotations

from typing import Any

from flarebed.bindings.errors import JsError


class Undone:
    """Rollbacks that note what they were called with."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def options(self, *errors: JsError, **config: Any) -> dict[str, Any]:
        """`errors` are thrown, one after another, before it succeeds."""
        left = list(errors)

        async def rollback(argument: Any) -> Any:
            self.calls.append(argument)
            if left:
                raise left.pop(0)
            return lambda: "no one looks at what a rollback returns"

        return {"rollback": rollback, **({"rollbackConfig": config} if config else {})}

    @property
    def names(self) -> list[str]:
        return [call["stepName"] for call in self.calls]
