"""What our answers have since production has it and the local engine of wrangler does not: left out for the comparison.

Each rule is documented by Cloudflare, and tested on its own in tests/bindings/workflows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Answer = dict[str, Any]


def without_waiting(answer: Answer) -> Answer:
    """A running instance that only sleeps or waits is `waiting`, and tells so.

    https://developers.cloudflare.com/workflows/build/workers-api/#instancestatus and .../subscribe-to-instance-events/
    """
    asked = [_running(_untold(given)) for given in answer["asked"]]
    details = {"detail": _running(answer["detail"])} if "detail" in answer else {}
    return {**answer, "asked": asked, **details}


def without_rollback(answer: Answer) -> Answer:
    """What a rollback came to, in `status()` and in the details, which also have its steps.

    https://developers.cloudflare.com/workflows/build/workers-api/#instancestatus and the API's page of an instance
    """
    asked = [_without(given, "rollback") if _is_status(given) else given for given in answer["asked"]]
    if "detail" not in answer:
        return {**answer, "asked": asked}
    detail = _without(answer["detail"], "rollback")
    steps = [step for step in detail["steps"] if step["type"] != "rollback"]
    return {**answer, "asked": asked, "detail": {**detail, "steps": steps, "step_count": len(steps)}}


def without_success(answer: Answer) -> Answer:
    """The details say whether all went well: the API's page of an instance."""
    return {**answer, "detail": _without(answer["detail"], "success")} if "detail" in answer else answer


RULES: tuple[Callable[[Answer], Answer], ...] = (without_waiting, without_rollback, without_success)


def comparable(answer: Answer) -> Answer:
    """Our `answer` as the local engine would have given it."""
    for rule in RULES:
        answer = rule(answer)
    return answer


def _is_status(given: Any) -> bool:
    return isinstance(given, dict) and "__LOCAL_DEV_STEP_OUTPUTS" in given


def _running(given: Any) -> Any:
    if isinstance(given, dict) and given.get("status") == "waiting":
        return {**given, "status": "running"}
    return given.replace("still waiting", "still running") if isinstance(given, str) else given


def _untold(given: Any) -> Any:
    """Without `workflow_waiting` and the `workflow_running` that follows it."""
    if not isinstance(given, list):
        return given
    types = [event.get("type") if isinstance(event, dict) else None for event in [None, *given]]
    after = [(before, event) for before, event in zip(types, given, strict=False)]
    return [
        event
        for (before, event), type_ in zip(after, types[1:], strict=True)
        if type_ != "workflow_waiting" and (before, type_) != ("workflow_waiting", "workflow_running")
    ]


def _without(members: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in members.items() if name != key}
