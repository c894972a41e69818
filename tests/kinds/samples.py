"""One sample of each kind: a config section, the specs it stands for, and something to write and read back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from flarebed.bindings.errors import JsError


@dataclass(frozen=True)
class Sample:
    """`write` leaves a trace through the binding, `read` finds it: `written` after it, `empty` before; a kind that
    keeps no state has none of that.

    `class_name` is the constructor's name, by which the SDK knows what it wraps.
    """

    section: Any
    specs: list[dict[str, Any]]
    binding: str
    class_name: str
    write: Callable[[Any], Awaitable[Any]] | None = None
    read: Callable[[Any], Awaitable[Any]] | None = None
    written: Any = None
    empty: Any = None


async def d1_write(database: Any) -> None:
    await database.exec("CREATE TABLE kept (a)")


async def d1_read(database: Any) -> Any:
    return await database.prepare("SELECT count(*) AS n FROM sqlite_master WHERE name = 'kept'").first("n")


async def r2_read(bucket: Any) -> Any:
    found = await bucket.get("kept")
    return None if found is None else await found.text()


async def queue_read(queue: Any) -> Any:
    return (await queue.metrics())["backlogCount"]


async def workflow_read(workflow: Any) -> Any:
    try:
        return (await workflow.get("kept")).id
    except JsError as error:
        return error.message


SAMPLES: dict[str, Sample] = {
    "kv": Sample(
        [{"binding": "KV", "id": "kvid", "preview_id": "kvpreview"}],
        [{"binding": "KV", "id": "kvid", "preview_id": "kvpreview"}],
        "KV",
        "KvNamespace",
        lambda namespace: namespace.put("kept", "value"),
        lambda namespace: namespace.get("kept"),
        "value",
        None,
    ),
    "d1": Sample(
        [{"binding": "DB", "database_name": "d", "database_id": "dbid", "migrations_dir": "sql"}],
        [
            {
                "binding": "DB",
                "database_name": "d",
                "database_id": "dbid",
                "preview_database_id": None,
                "migrations_table": "d1_migrations",
                "migrations_dir": "sql",
                "migrations_pattern": None,
                "has_migrations_dir": True,
            }
        ],
        "DB",
        "D1Database",
        d1_write,
        d1_read,
        1,
        0,
    ),
    "r2": Sample(
        [{"binding": "BUCKET", "bucket_name": "files", "jurisdiction": "eu"}],
        [{"binding": "BUCKET", "bucket_name": "files"}],
        "BUCKET",
        "R2Bucket",
        lambda bucket: bucket.put("kept", "value"),
        r2_read,
        "value",
        None,
    ),
    "queues": Sample(
        {
            "producers": [{"binding": "JOBS", "queue": "jobs"}],
            "consumers": [{"queue": "jobs", "max_retries": 2, "dead_letter_queue": "failed"}],
        },
        [
            {"binding": "JOBS", "queue": "jobs", "delivery_delay": None},
            {
                "queue": "jobs",
                "max_batch_size": None,
                "max_batch_timeout": None,
                "max_retries": 2,
                "dead_letter_queue": "failed",
                "max_concurrency": None,
                "retry_delay": 0,
            },
        ],
        "JOBS",
        "WorkerQueue",
        lambda queue: queue.send({"kept": True}),
        queue_read,
        1,
        0,
    ),
    "workflows": Sample(
        [{"binding": "FLOW", "name": "flow", "class_name": "Flow", "limits": {"steps": 30}, "schedules": "0 * * * *"}],
        [
            {
                "binding": "FLOW",
                "name": "flow",
                "class_name": "Flow",
                "script_name": None,
                "limits_steps": 30,
                "schedules": ("0 * * * *",),
                "concurrency_limit": None,
                "success_retention_ms": None,
                "error_retention_ms": None,
            }
        ],
        "FLOW",
        "WorkflowImpl",
        lambda workflow: workflow.create({"id": "kept"}),
        workflow_read,
        "kept",
        "instance.not_found",
    ),
    "services": Sample(
        [{"binding": "API", "service": "api", "entrypoint": "Admin", "props": {"role": "admin"}}],
        [
            {
                "binding": "API",
                "service": "api",
                "entrypoint": "Admin",
                "props": {"role": "admin"},
                "environment": None,
            }
        ],
        "API",
        "Fetcher",
    ),
}
