"""The wrangler config of the Workers that are asked: on both sides the same bindings.

Each question has a namespace, a database and a queue to itself, as far as it asks for them; the queue with the consumer
that it wants, and its dead letter queue.
"""

from __future__ import annotations

from typing import Any

from tests.oracle.suite import Question, Questions

DATE = "2026-11-01"


def config(main: str, questions: Questions, flags: tuple[str, ...]) -> dict[str, Any]:
    namespaces: list[dict[str, Any]] = []
    databases: list[dict[str, Any]] = []
    producers: list[dict[str, Any]] = []
    consumers: list[dict[str, Any]] = []
    buckets: list[dict[str, Any]] = []
    for number, question in enumerate(questions.values()):
        named = names(number, question)
        if namespace := named.get("KV"):
            namespaces.append({"binding": namespace, "id": namespace})
        if database := named.get("DB"):
            databases.append({"binding": database, "database_name": database, "database_id": database})
        if bucket := named.get("R2"):
            buckets.append({"binding": bucket, "bucket_name": bucket})
        if queue := named.get("Q"):
            producers += [{"binding": each, "queue": each} for each in (queue, named.get("DEAD")) if each]
            consumers += _consumers(queue, question.get("consumer"))
    return {
        "name": "oracle",
        "main": main,
        "compatibility_date": DATE,
        "compatibility_flags": list(flags),
        "kv_namespaces": namespaces,
        "d1_databases": databases,
        "queues": {"producers": producers, "consumers": consumers},
        "r2_buckets": buckets,
    }


def names(number: int, question: Question) -> dict[str, str]:
    """By what a question calls them, the bindings that it gets; `number` is its own."""
    all_ = {
        "KV": f"kv{number}", "DB": f"db{number}", "R2": f"bucket-{number}",
        "Q": f"q{number}", "DEAD": f"q{number}-dead",
    }  # fmt: skip
    return {name: binding for name, binding in all_.items() if is_about(name, question)}


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
