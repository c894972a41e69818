"""The wrangler config of the Workers that are asked: on both sides the same bindings.

A question about KV or D1 finds its namespace or database emptied; each lane, in which one question follows the other,
has its own.
A question about queues has a queue to itself, with the consumer that it wants, and that queue's dead letter queue.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.oracle.suite import Question

DATE = "2026-11-01"


def config(main: str, questions: Mapping[str, Question], lanes: int, flags: tuple[str, ...]) -> dict[str, Any]:
    producers: list[dict[str, Any]] = []
    consumers: list[dict[str, Any]] = []
    for number, question in enumerate(questions.values()):
        if is_about("Q", question):
            queue = names(number, 0, question)["Q"]
            producers += [{"binding": queue, "queue": queue}, {"binding": f"{queue}-dead", "queue": f"{queue}-dead"}]
            consumers += _consumers(queue, question.get("consumer"))
    return {
        "name": "oracle",
        "main": main,
        "compatibility_date": DATE,
        "compatibility_flags": list(flags),
        "kv_namespaces": [{"binding": f"KV{lane}", "id": f"kv{lane}"} for lane in range(lanes)],
        "d1_databases": [
            {"binding": f"DB{lane}", "database_name": f"db{lane}", "database_id": f"db{lane}"} for lane in range(lanes)
        ],
        "queues": {"producers": producers, "consumers": consumers},
    }


def names(number: int, lane: int, question: Question) -> dict[str, str]:
    """By what a question calls them, the bindings that it gets; `number` is its own."""
    all_ = {"KV": f"KV{lane}", "DB": f"DB{lane}", "Q": f"q{number}", "DEAD": f"q{number}-dead"}
    return {name: binding for name, binding in all_.items() if is_about(name, question) or name == "DEAD"}


def is_about(name: str, question: Question) -> bool:
    return f'"{name}"' in repr(question).replace("'", '"')


def _consumers(queue: str, wanted: dict[str, Any] | None) -> list[dict[str, Any]]:
    """`wanted` has the keys of the config; with `dead_letter_queue: true` this Worker consumes that too."""
    if wanted is None:
        return []
    dead = f"{queue}-dead"
    settings = {key: dead if key == "dead_letter_queue" else value for key, value in wanted.items()}
    of_the_dead = [{"queue": dead, "max_batch_timeout": 0}] if "dead_letter_queue" in wanted else []
    return [{"queue": queue, **settings}, *of_the_dead]
