"""`flarebed queues`: what is done to local queues, beside a running `flarebed dev` or without one.

Where wrangler has a command, words and texts are its own (4.164, packages/wrangler/src/queues); its queues are
Cloudflare's, these are files of the state folder. A `dev` that delivers them hears of what is done at once.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, cast

import apsw
import click

from flarebed.bindings.ecma_date import date_to_iso
from flarebed.bindings.errors import JsError, UserError
from flarebed.bindings.queues.api import Counts, Peeked, QueueApi, State
from flarebed.bindings.queues.engine import QueueSpec
from flarebed.bindings.queues.spec import QueueConsumerSpec, QueueProducerSpec
from flarebed.bindings.store import file_name, unusable
from flarebed.emulator.cli import queue_messages
from flarebed.emulator.cli.opening import OpenedProject, opened_project
from flarebed.emulator.cli.tables import show_table

_UNSET: Final = {"Dead Letter Queue": "none", "Max Concurrency": "1 (in production as many as the backlog needs)"}
_STATES: Final[tuple[State, ...]] = ("ready", "delayed", "in flight")


class Desk:
    """The queues of a project: those of its config, and those that only the state folder knows."""

    def __init__(self, project: OpenedProject) -> None:
        self.project = project
        self.worker = project.config.name
        specs = cast("Sequence[QueueSpec]", project.config.specs.get("queues", ()))
        self.producers = [spec for spec in specs if isinstance(spec, QueueProducerSpec)]
        self.consumers = {spec.queue: spec for spec in specs if isinstance(spec, QueueConsumerSpec)}
        self._folder = project.around.store.path("queues", "q").parent

    def names(self) -> list[str]:
        dead = [spec.dead_letter_queue for spec in self.consumers.values() if spec.dead_letter_queue]
        stored = sorted(path.stem for path in self._folder.glob("*.sqlite") if file_name(path.stem) == path.stem)
        return list(dict.fromkeys([*(spec.queue for spec in self.producers), *self.consumers, *dead, *stored]))

    def queue(self, name: str) -> QueueApi:
        """By its name or its binding's."""
        by_binding = {spec.binding: spec.queue for spec in self.producers}
        known = self.names()
        found = name if name in known else by_binding.get(name)
        if found is None:
            hint = f"There are: {', '.join(known)}" if known else "This config has no queues."
            raise UserError(f'Queue "{name}" does not exist.', hint=hint)
        return QueueApi(found, self.project.around)

    def dead_letters_of(self, queue: QueueApi) -> QueueApi | None:
        consumer = self.consumers.get(queue.queue)
        if consumer is None or consumer.dead_letter_queue is None:
            return None
        return QueueApi(consumer.dead_letter_queue, self.project.around)

    def senders(self, queue: str) -> int:
        return sum(spec.queue == queue for spec in self.producers)


@contextmanager
def opened(config: Path | None, env: str | None, persist_to: Path | None) -> Iterator[Desk]:
    with opened_project(config, env, persist_to) as project:
        try:
            yield Desk(project)
        except apsw.Error as error:  # a full disk, say, or a lock that is held for long
            raise unusable(project.state, error) from error


def list_all(desk: Desk, as_json: bool) -> None:
    queues = [(name, desk.queue(name).counts()) for name in desk.names()]
    if as_json:
        _print_json([_as_json(desk, name, counts) for name, counts in queues])
    elif not queues:
        print("There are no queues.")
    else:
        show_table(
            ["name", "ready", "delayed", "in flight", "producers", "consumers", "paused"],
            [
                (
                    name, str(counts.ready), str(counts.delayed), str(counts.in_flight), str(desk.senders(name)),
                    str(int(name in desk.consumers)), "yes" if counts.paused else "no",
                )
                for name, counts in queues
            ],
        )  # fmt: skip


def show_info(desk: Desk, name: str, as_json: bool) -> None:
    queue = desk.queue(name)
    counts = queue.counts()
    consumer = desk.consumers.get(queue.queue)
    if as_json:
        _print_json(_as_json(desk, queue.queue, counts) | {"settings": _settings(consumer)})
        return
    senders, worker = desk.senders(queue.queue), f"worker:{desk.worker}"
    lines = {
        "Queue Name": queue.queue,
        "Number of Producers": senders,
        **({"Producers": worker} if senders else {}),
        "Number of Consumers": int(consumer is not None),
        **({"Consumers": worker} if consumer else {}),
        **{_label(setting): value for setting, value in _settings(consumer).items()},
        "Delivery Paused": "yes" if counts.paused else "no",
        "Ready": f"{counts.ready} ({counts.metrics.bytes} bytes)",
        "Delayed": counts.delayed,
        "In Flight": counts.in_flight,
    }
    if counts.metrics.oldest_ms is not None:
        lines["Oldest Message"] = date_to_iso(counts.metrics.oldest_ms)
    for label, value in lines.items():
        print(f"{label}: {_UNSET.get(label, value) if value is None else value}")


def show_messages(desk: Desk, name: str, most: int, as_json: bool) -> None:
    queue = desk.queue(name)
    dead_letters = desk.dead_letters_of(queue)
    found: list[tuple[str, Peeked]] = [(state, peeked) for state in _STATES for peeked in queue.peek(state, most)]
    if dead_letters is not None:
        dead = [peeked for state in _STATES for peeked in dead_letters.peek(state, most)]
        found += [("dead", peeked) for peeked in dead[:most]]
    if as_json:
        _print_json([queue_messages.as_json(state, peeked) for state, peeked in found])
        return
    print(_summary(queue, dead_letters))
    if found:
        show_table(queue_messages.COLUMNS, [queue_messages.row(state, peeked) for state, peeked in found])


def send(desk: Desk, name: str, content: bytes, content_type: str | None, delay_s: int, as_json: bool) -> None:
    queue = desk.queue(name)
    kind, body = queue_messages.value_of(content, content_type)
    try:
        desk.project.do(queue.send(body, kind, delay_s))
    except JsError as error:
        raise UserError(error.message) from None
    if as_json:
        _print_json({"queue": queue.queue, "content_type": kind, "delay_seconds": delay_s})
        return
    print(f"Sent a message ({kind}) to queue {queue.queue}.")
    if queue.counts().paused:
        print(f"Its delivery is paused: flarebed queues resume {queue.queue}")
    elif not desk.project.served:
        print("It is delivered when `flarebed dev` runs.")


def purge(desk: Desk, name: str, force: bool, as_json: bool) -> None:
    queue = desk.queue(name)
    if not force:
        _ask(queue.queue)
    before = queue.counts()
    desk.project.do(queue.purge())
    if as_json:
        _print_json({"queue": queue.queue, "deleted": before.ready + before.delayed, "in_flight": before.in_flight})
        return
    print(f"Purged Queue '{queue.queue}'")
    if before.in_flight:
        print(f"In flight, and as its consumer says: {_messages(before.in_flight)}.")


def set_paused(desk: Desk, name: str, paused: bool, as_json: bool) -> None:
    queue = desk.queue(name)
    if not as_json:
        print(f"{'Pausing' if paused else 'Resuming'} message delivery for queue {queue.queue}.")
    desk.project.do(queue.set_paused(paused))
    if as_json:
        _print_json({"queue": queue.queue, "paused": paused})
    else:
        print(f"{'Paused' if paused else 'Resumed'} message delivery for queue {queue.queue}.")


def redrive(desk: Desk, name: str, to: str | None, most: int | None, as_json: bool) -> None:
    """At most what is there now: a consumer that fails again at once would never let it end."""
    queue = desk.queue(name)
    target = desk.queue(_source_of(desk, queue.queue) if to is None else to)
    if target.queue == queue.queue:
        raise UserError(f"Queue {queue.queue} is where these messages are.", hint="Name another one with --to.")
    counts = queue.counts()
    there = counts.ready + counts.delayed
    moved = desk.project.do(queue.redrive(target, there if most is None else min(most, there)))
    if as_json:
        _print_json({"from": queue.queue, "to": target.queue, "moved": moved})
        return
    print(f"Moved {_messages(moved)} from queue {queue.queue} to queue {target.queue}.")
    if counts.in_flight:
        print(f"Not those in flight: {_messages(counts.in_flight)}.")


def _source_of(desk: Desk, dead_letter_queue: str) -> str:
    sources = [spec.queue for spec in desk.consumers.values() if spec.dead_letter_queue == dead_letter_queue]
    if len(sources) == 1:
        return sources[0]
    what = "is no dead letter queue of this config" if not sources else f"has dead letters of {', '.join(sources)}"
    raise UserError(f"Queue {dead_letter_queue} {what}.", hint="Say where its messages go with --to QUEUE.")


def _ask(queue: str) -> None:
    """The words are wrangler's."""
    if not sys.stdin.isatty():
        raise UserError("The --force flag is required to purge a Queue in non-interactive mode")
    question = f"This operation will permanently delete all the messages in Queue {queue}. Type {queue} to proceed."
    if click.prompt(question, prompt_suffix="\n", default="", show_default=False) != queue:
        raise UserError("Incorrect queue name provided. Skipping purge operation")


def _summary(queue: QueueApi, dead_letters: QueueApi | None) -> str:
    counts = queue.counts()
    parts = [f"{counts.ready} ready", f"{counts.delayed} delayed", f"{counts.in_flight} in flight"]
    if dead_letters is not None:
        dead = dead_letters.counts()
        parts.append(f"{dead.ready + dead.delayed + dead.in_flight} dead in {dead_letters.queue}")
    return f"Queue {queue.queue}: {', '.join(parts)}" + (" (delivery is paused)" if counts.paused else "")


def _as_json(desk: Desk, name: str, counts: Counts) -> dict[str, Any]:
    return {
        "name": name,
        "ready": counts.ready,
        "delayed": counts.delayed,
        "in_flight": counts.in_flight,
        "backlog_bytes": counts.metrics.bytes,
        "oldest_message_timestamp_ms": counts.metrics.oldest_ms,
        "producers": desk.senders(name),
        "consumers": int(name in desk.consumers),
        "paused": counts.paused,
    }


def _settings(consumer: QueueConsumerSpec | None) -> dict[str, Any]:
    """What the consumer's config comes to, with production's defaults."""
    if consumer is None:
        return {}
    batching = consumer.batching("production")
    return {
        "max_batch_size": batching.size,
        "max_batch_timeout": batching.timeout_s,
        "max_retries": batching.retries,
        "retry_delay": consumer.retry_delay,
        "max_concurrency": consumer.max_concurrency,
        "dead_letter_queue": consumer.dead_letter_queue,
    }


def _label(setting: str) -> str:
    return setting.replace("_", " ").title()


def _messages(count: int) -> str:
    return f"{count} message{'' if count == 1 else 's'}"


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))
