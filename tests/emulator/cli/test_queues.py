"""`flarebed queues`, to the letter; what dev makes of it is in tests/real."""

from __future__ import annotations

import asyncio
import io
import json
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.errors import JsError
from flarebed.bindings.queues import api
from flarebed.bindings.values import Date, Map
from tests.bindings.queues.bench import QueueBench, consumer
from tests.bindings.workflows.life import START_MS
from tests.emulator.cli.project import Project

CONFIG = {
    "name": "worker", "main": "entry.py", "compatibility_date": "2026-11-01",
    "compatibility_flags": ["python_workers"],
    "queues": {
        "producers": [{"binding": "JOBS", "queue": "q"}, {"binding": "MAIL", "queue": "mail"}],
        "consumers": [{"queue": "q", "max_retries": 0, "dead_letter_queue": "dead"}],
    },
}  # fmt: skip
Q = consumer(max_batch_size=1, max_batch_timeout=0, max_retries=0, dead_letter_queue="dead")
SENT = "2026-01-01T00:00:00.000Z"


@pytest.fixture
def queues(project: Project) -> Project:
    (project.folder / "wrangler.jsonc").write_text(json.dumps(CONFIG))
    return project


def lives(project: Project, story: Callable[[QueueBench], Awaitable[None]]) -> None:
    """A process in which a Worker sends and consumes; then it is killed."""

    async def life() -> None:
        bench = QueueBench(project.state, Q)
        await story(bench)
        await bench.die()

    asyncio.run(life())


def all_states(project: Project) -> None:
    async def story(bench: QueueBench) -> None:
        async def handler(batch: Any) -> None:
            if batch.messages[0].body == "slow":
                await bench.clock.sleep(60_000)
            raise JsError("boom")

        bench.worker.handler = handler
        await bench.q.send("late", {"delaySeconds": 90})
        await bench.resources.own()
        await bench.send("bad")
        await bench.send("slow")
        await bench.send({"n": 1})
        await bench.q.send("é", {"contentType": "text"})

    lives(project, story)


def masked(text: str) -> str:
    return re.sub(r"[0-9a-f]{32}", "ID", text)


def table(text: str) -> list[list[str]]:
    """The cells of its rows."""
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in text.splitlines() if line.startswith("│")]


def bodies(project: Project, name: str) -> list[Any]:
    return [(message["state"], message["body"]) for message in project.json("queues", "peek", name)]


def test_list(queues: Project) -> None:
    all_states(queues)
    assert queues.said("queues", "list") == (
        "┌──────┬───────┬─────────┬───────────┬───────────┬───────────┬────────┐\n"
        "│ name │ ready │ delayed │ in flight │ producers │ consumers │ paused │\n"
        "├──────┼───────┼─────────┼───────────┼───────────┼───────────┼────────┤\n"
        "│ q    │ 2     │ 1       │ 1         │ 1         │ 1         │ no     │\n"
        "├──────┼───────┼─────────┼───────────┼───────────┼───────────┼────────┤\n"
        "│ mail │ 0     │ 0       │ 0         │ 1         │ 0         │ no     │\n"
        "├──────┼───────┼─────────┼───────────┼───────────┼───────────┼────────┤\n"
        "│ dead │ 1     │ 0       │ 0         │ 0         │ 0         │ no     │\n"
        "└──────┴───────┴─────────┴───────────┴───────────┴───────────┴────────┘\n"
    )
    assert queues.json("queues", "list")[0] == {
        "name": "q", "ready": 2, "delayed": 1, "in_flight": 1, "backlog_bytes": 9,
        "oldest_message_timestamp_ms": START_MS, "producers": 1, "consumers": 1, "paused": False,
    }  # fmt: skip


def test_list_without_queues_and_with_those_of_others(project: Project) -> None:
    assert project.said("queues", "list") == "There are no queues.\n"
    assert project.refused("queues", "info", "q") == (
        '✘ [ERROR] Queue "q" does not exist.\n  This config has no queues.\n'
    )
    lives(project, lambda bench: bench.send("a"))
    assert table(project.said("queues", "list"))[2] == ["q", "1", "0", "0", "0", "0", "no"]


def test_info(queues: Project) -> None:
    all_states(queues)
    assert queues.said("queues", "info", "JOBS") == (
        "Queue Name: q\n"
        "Number of Producers: 1\n"
        "Producers: worker:worker\n"
        "Number of Consumers: 1\n"
        "Consumers: worker:worker\n"
        "Max Batch Size: 10\n"
        "Max Batch Timeout: 5\n"
        "Max Retries: 0\n"
        "Retry Delay: 0\n"
        "Max Concurrency: 1 (in production as many as the backlog needs)\n"
        "Dead Letter Queue: dead\n"
        "Delivery Paused: no\n"
        "Ready: 2 (9 bytes)\n"
        "Delayed: 1\n"
        "In Flight: 1\n"
        f"Oldest Message: {SENT}\n"
    )
    assert queues.said("queues", "info", "mail") == (
        "Queue Name: mail\nNumber of Producers: 1\nProducers: worker:worker\nNumber of Consumers: 0\n"
        "Delivery Paused: no\nReady: 0 (0 bytes)\nDelayed: 0\nIn Flight: 0\n"
    )
    assert queues.json("queues", "info", "q")["settings"] == {
        "max_batch_size": 10, "max_batch_timeout": 5, "max_retries": 0, "retry_delay": 0, "max_concurrency": None,
        "dead_letter_queue": "dead",
    }  # fmt: skip


def test_peek_shows_all_states_and_changes_nothing(queues: Project) -> None:
    all_states(queues)
    first = queues.said("queues", "peek", "q")
    assert masked(first).splitlines()[0] == "Queue q: 2 ready, 1 delayed, 1 in flight, 1 dead in dead"
    assert table(masked(first)) == [
        ["state", "id", "attempts", "sent", "type", "body"],
        ["ready", "ID", "0", SENT, "json", '{"n":1}'],
        ["ready", "ID", "0", SENT, "text", "é"],
        ["delayed until 2026-01-01T00:01:30.000Z", "ID", "0", SENT, "json", '"late"'],
        ["in flight", "ID", "1", SENT, "json", '"slow"'],
        ["dead", "ID", "0", SENT, "json", '"bad"'],
    ]
    assert queues.said("queues", "peek", "q") == first
    assert [row[0] for row in table(queues.said("queues", "peek", "q", "--count", "1"))[1:]] == [
        "ready", "delayed until 2026-01-01T00:01:30.000Z", "in flight", "dead",
    ]  # fmt: skip
    shown = queues.json("queues", "peek", "q")[2]
    assert len(bytes.fromhex(shown.pop("id"))) == 16
    assert shown == {
        "state": "delayed", "timestamp_ms": START_MS, "attempts": 0, "visible_ms": START_MS + 90_000,
        "expires_ms": START_MS + 4 * 86_400_000, "content_type": "json", "body": "late",
    }  # fmt: skip
    assert queues.said("queues", "peek", "mail") == "Queue mail: 0 ready, 0 delayed, 0 in flight\n"


def test_bodies_are_readable_and_a_terminal_obeys_none(queues: Project, tmp_path: Path) -> None:
    async def story(bench: QueueBench) -> None:
        await bench.q.send([1, "a"], {"contentType": "v8"})
        await bench.q.send(Date(0), {"contentType": "v8"})
        await bench.q.send(Map([(1, 2)]), {"contentType": "v8"})
        await bench.q.send("a\nb\x1b[2J", {"contentType": "text"})
        await bench.q.send("x" * 101, {"contentType": "text"})

    lives(queues, story)
    (tmp_path / "bytes").write_bytes(b"\xff\x00")
    queues.said("queues", "send", "q", "--content-type", "bytes", "--file", "bytes")
    queues.said("queues", "send", "q", "--content-type", "bytes", "plain")
    assert [row[5] for row in table(queues.said("queues", "peek", "q"))[1:]] == [
        '[1,"a"]', "1970-01-01T00:00:00.000Z", "{}", r"a\nb\x1b[2J", "x" * 100 + "… (101 bytes)", "/wA=", "plain",
    ]  # fmt: skip
    assert [body for _, body in bodies(queues, "q")] == [
        [1, "a"], "1970-01-01T00:00:00.000Z", {}, "a\nb\x1b[2J", "x" * 101, "/wA=", "plain",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "kind", "body"),
    [
        (['{"n": 1}'], "json", {"n": 1}),
        (["hello"], "text", "hello"),
        (["5"], "json", 5),
        (["5", "--content-type", "text"], "text", "5"),
        (["[1]", "--content-type", "v8"], "v8", [1]),
        (["", "--content-type", "bytes"], "bytes", ""),
        (["--", "-1"], "json", -1),
    ],
)
def test_send(queues: Project, arguments: list[str], kind: str, body: Any) -> None:
    said = queues.said("queues", "send", "JOBS", *arguments)
    assert said == f"Sent a message ({kind}) to queue q.\nIt is delivered when `flarebed dev` runs.\n"
    (message,) = queues.json("queues", "peek", "q")
    assert (message["content_type"], message["body"]) == (kind, body)


def test_send_beside_a_dev_with_a_delay_from_a_file_and_from_below(
    queues: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    dev = queues.dev()
    assert queues.said("queues", "send", "q", "a") == "Sent a message (text) to queue q.\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"from": "stdin"}')))
    answer = queues.json("queues", "send", "q", "--file", "-", "--delay", "9")
    assert answer == {"queue": "q", "content_type": "json", "delay_seconds": 9}
    dev.end()
    below = queues.folder / "src" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert bodies(queues, "q") == [("ready", "a"), ("delayed", {"from": "stdin"})]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["nope", "1"], 'Queue "nope" does not exist.\n  There are: q, mail, dead'),
        (["q"], "Give BODY, or --file.\n  For example: flarebed queues send jobs '{\"n\": 1}'"),
        (["q", "1", "--file", "wrangler.jsonc"], "Give BODY or --file, not both."),
        (["q", "x", "--content-type", "json"], """The body is not JSON: Unexpected token 'x', "x" is not valid JSON"""),
        (["q", "--file", "binary"], "The body is no UTF-8 text.\n  Send it with --content-type bytes."),
        (["q", "x" * 128_001], "Queue send failed: message length of 128001 bytes exceeds limit of 128000"),
    ],
    ids=["no such queue", "no body", "two bodies", "no json", "no text", "too long"],
)
def test_what_cannot_be_sent(queues: Project, arguments: list[str], text: str) -> None:
    (queues.folder / "binary").write_bytes(b"\xff")
    assert queues.refused("queues", "send", *arguments) == f"✘ [ERROR] {text}\n"
    assert table(queues.said("queues", "list"))[1][:4] == ["q", "0", "0", "0"]


def test_a_mistake_in_json(queues: Project) -> None:
    code, out, err = queues("queues", "info", "nope", "--json")
    assert (code, json.loads(out), err) == (1, {"error": {"text": 'Queue "nope" does not exist.'}}, "")


def test_purge(queues: Project) -> None:
    all_states(queues)
    refusal = "✘ [ERROR] The --force flag is required to purge a Queue in non-interactive mode\n"
    assert queues.refused("queues", "purge", "q") == refusal
    assert len(bodies(queues, "q")) == 5
    assert queues.said("queues", "purge", "q", "--force") == (
        "Purged Queue 'q'\nIn flight, and as its consumer says: 1 message.\n"
    )
    assert bodies(queues, "q") == [("in flight", "slow"), ("dead", "bad")]
    assert queues.json("queues", "purge", "dead", "--force") == {"queue": "dead", "deleted": 1, "in_flight": 0}
    assert bodies(queues, "q") == [("in flight", "slow")]


@pytest.mark.parametrize(("typed", "left"), [("q\n", 0), ("yes\n", 1)])
def test_purge_asks_at_a_terminal(queues: Project, monkeypatch: pytest.MonkeyPatch, typed: str, left: int) -> None:
    queues.said("queues", "send", "q", "a")
    terminal = io.StringIO(typed)
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", terminal)
    code, out, err = queues("queues", "purge", "JOBS")
    question = "This operation will permanently delete all the messages in Queue q. Type q to proceed.\n"
    if left:
        assert (code, out, err) == (
            1, question, "✘ [ERROR] Incorrect queue name provided. Skipping purge operation\n",
        )  # fmt: skip
    else:
        assert (code, out, err) == (0, f"{question}Purged Queue 'q'\n", "")
    assert len(bodies(queues, "q")) == left


@pytest.mark.parametrize(("pause", "resume"), [("pause", "resume"), ("pause-delivery", "resume-delivery")])
def test_pause_and_resume(queues: Project, pause: str, resume: str) -> None:
    assert queues.said("queues", pause, "q") == (
        "Pausing message delivery for queue q.\nPaused message delivery for queue q.\n"
    )
    assert queues.said("queues", "send", "q", "a") == (
        "Sent a message (text) to queue q.\nIts delivery is paused: flarebed queues resume q\n"
    )
    assert table(queues.said("queues", "list"))[1][-1] == "yes"
    assert queues.said("queues", "peek", "q").splitlines()[0].endswith("0 dead in dead (delivery is paused)")
    assert queues.said("queues", resume, "q") == (
        "Resuming message delivery for queue q.\nResumed message delivery for queue q.\n"
    )
    assert queues.json("queues", pause, "q") == {"queue": "q", "paused": True}
    assert queues.json("queues", resume, "q") == {"queue": "q", "paused": False}
    assert table(queues.said("queues", "list"))[1][-1] == "no"


def test_redrive(queues: Project) -> None:
    all_states(queues)
    assert queues.said("queues", "redrive", "dead") == "Moved 1 message from queue dead to queue q.\n"
    assert bodies(queues, "q")[2] == ("ready", "bad")
    assert queues.said("queues", "redrive", "q", "--to", "MAIL", "--count", "2") == (
        "Moved 2 messages from queue q to queue mail.\nNot those in flight: 1 message.\n"
    )
    assert bodies(queues, "mail") == [("ready", {"n": 1}), ("ready", "é")]
    assert queues.json("queues", "redrive", "q", "--to", "mail") == {"from": "q", "to": "mail", "moved": 2}
    assert bodies(queues, "q") == [("in flight", "slow")]


def test_a_redrive_has_to_know_where_to(queues: Project) -> None:
    assert queues.refused("queues", "redrive", "q") == (
        "✘ [ERROR] Queue q is no dead letter queue of this config.\n  Say where its messages go with --to QUEUE.\n"
    )
    assert queues.refused("queues", "redrive", "q", "--to", "JOBS") == (
        "✘ [ERROR] Queue q is where these messages are.\n  Name another one with --to.\n"
    )
    config = json.loads(json.dumps(CONFIG))
    config["queues"]["consumers"].append({"queue": "mail", "dead_letter_queue": "dead"})
    (queues.folder / "wrangler.jsonc").write_text(json.dumps(config))
    assert queues.refused("queues", "redrive", "dead") == (
        "✘ [ERROR] Queue dead has dead letters of q, mail.\n  Say where its messages go with --to QUEUE.\n"
    )


def test_a_disk_that_is_full_is_no_defect(queues: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    queues.said("queues", "send", "q", "a")
    with monkeypatch.context() as patched:
        patched.setattr(api, "_FORGET", "SELECT * FROM nowhere")
        code, out, err = queues("queues", "purge", "q", "--force")
    assert (code, out) == (1, "")
    assert err == (
        f"✘ [ERROR] The state in {queues.state} can't be used: no such table: nowhere\n"
        "  Mend or remove it, or keep state elsewhere with --persist-to.\n"
    )
    assert bodies(queues, "q") == [("ready", "a")]


def test_a_queue_whose_file_has_another_name_is_not_taken_for_two(queues: Project) -> None:
    config = json.loads(json.dumps(CONFIG))
    config["queues"]["producers"].append({"binding": "ODD", "queue": "Odd"})
    (queues.folder / "wrangler.jsonc").write_text(json.dumps(config))
    queues("queues", "send", "Odd", "a")
    code, out, _ = queues("queues", "list")
    assert code == 0
    assert [row[:2] for row in table(out)[1:]] == [["q", "0"], ["mail", "0"], ["Odd", "1"], ["dead", "0"]]
