"""The words of which questions are made; worker.js and ours.py say what each means.

A question is `{run, ask, detail?}`: what run() does, what is asked from outside, and whether the instance's details are
wanted too. Its answer has what each asking gave and what run() noted: what its steps returned or threw.
"""

from __future__ import annotations

from typing import Any

Question = dict[str, Any]
Op = list[Any]

UNDEFINED = {"$undefined": 0}
NAN, INFINITY = {"$number": "NaN"}, {"$number": "Infinity"}
ID = {"$id": ""}
OTHER = {"$id": "2"}
ONCE = {"retries": {"limit": 0, "delay": 0}}
TWICE = {"retries": {"limit": 1, "delay": 0}}
ENDS = ["until", "complete", "errored", "terminated"]
ALL_EVENTS = ["subscribe", None, 60]


def calls(*does: dict[str, Any]) -> dict[str, Any]:
    """A callback: the nth call does the nth of `does`, the last again and again."""
    return {"$calls": list(does)}


def gives(value: Any) -> dict[str, Any]:
    return calls({"return": value})


def fails(name: str = "TypeError", message: str = "no") -> dict[str, Any]:
    return calls({"throw": [name, message]})


def do(name: str, does: Any = None, config: Any = None, options: Any = None) -> Op:
    op = ["do", name, *([] if config is None else [config]), does or gives(name)]
    return op if options is None else [*op, options]


def must(op: Op) -> Op:
    """Its error is not caught: the instance fails of it."""
    return ["must", op]


def create(**options: Any) -> Op:
    return ["create", {"id": ID, **options}]


def played(*run: Op, more: list[Op] | None = None, detail: bool = False, **options: Any) -> Question:
    """An instance from its beginning to its end, then its status, then `more`."""
    ask = [create(**options), ENDS, ["status"], *(more or [])]
    return {"run": list(run), "ask": ask, **({"detail": True} if detail else {})}


def asked(*ask: Op, run: list[Op] | None = None, detail: bool = False) -> Question:
    return {"run": run or [], "ask": list(ask), **({"detail": True} if detail else {})}
