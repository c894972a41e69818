"""`queues` of the wrangler config: producers (bindings) and consumers (which queues call the Worker's `queue`).

https://developers.cloudflare.com/queues/configuration/configure-queues/. Defaults are production's; wrangler dev's own
(batches of 5, 1 second, 2 retries) would hide what a deployed consumer does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from flarebed.bindings.entry import Entry, as_json, complain_of_unknown, entries, fields_of
from flarebed.bindings.kind import Section

_NUMBERS = (
    "max_batch_size",
    "max_batch_timeout",
    "max_retries",
    "max_concurrency",
    "visibility_timeout_ms",
    "retry_delay",
)
_CONSUMER_FIELDS = ("queue", "type", "dead_letter_queue", *_NUMBERS)


@dataclass(frozen=True)
class QueueProducerSpec:
    """The Worker may send to `queue` through `binding`. Wrangler reads `delivery_delay` and does nothing with it."""

    binding: str
    queue: str
    delivery_delay: float | None = None

    def rows(self) -> Sequence[tuple[str, str]]:
        return [(f"{self.binding} ({self.queue})", "Queue")]


@dataclass(frozen=True)
class QueueConsumerSpec:
    """The Worker consumes `queue`. `max_batch_timeout` and `retry_delay` are seconds."""

    queue: str
    max_batch_size: int = 10
    max_batch_timeout: float = 5
    max_retries: int = 3
    dead_letter_queue: str | None = None
    max_concurrency: int | None = None
    retry_delay: float = 0

    def rows(self) -> Sequence[tuple[str, str]]:
        return []


def parse(section: Section) -> tuple[QueueProducerSpec | QueueConsumerSpec, ...]:
    value = section.value
    if not isinstance(value, dict):
        section.complaints.error(f'The field "{section.field}" should be an object but got {as_json(value)}.')
        return ()
    complain_of_unknown(section.complaints, section.field, value, ("consumers", "producers"))
    consumers = tuple(_consumers(_part(section, "consumers"))) if "consumers" in value else ()
    producers = tuple(_producers(_part(section, "producers"))) if "producers" in value else ()
    return (*producers, *consumers)


def _part(section: Section, name: str) -> Section:
    return Section(f"{section.field}.{name}", section.value[name], section.complaints)


def _producers(section: Section) -> Iterator[QueueProducerSpec]:
    for entry in entries(section, "queue"):
        # Wrangler looks no further at a producer that has a field it does not know.
        yield _producer(entry) if entry.only("binding", "queue", "delivery_delay", "remote") else _unchecked(entry)


def _producer(entry: Entry) -> QueueProducerSpec:
    binding = entry.required("binding")
    queue = entry.fields.get("queue")
    if "queue" in entry.fields and not (isinstance(queue, str) and queue):
        entry.error(
            f'"{entry.path}" bindings should optionally have a non-empty string "queue" field'
            f" but got {as_json(entry.value)}."
        )
    delay = entry.optional("delivery_delay", "number", owner="")
    if "delivery_delay" in entry.fields:
        entry.complaints.warn(
            f'The "delivery_delay" field in "{entry.path}" is deprecated and has no effect. '
            'Queue-level settings should be configured using "wrangler queues update" instead. '
            "This setting will be removed in a future version."
        )
    entry.optional("remote", "boolean", owner="")
    return QueueProducerSpec(binding, queue or binding, delay)


def _unchecked(entry: Entry) -> QueueProducerSpec:
    binding = str(entry.fields.get("binding", ""))
    return QueueProducerSpec(binding, str(entry.fields.get("queue", binding)))


def _consumers(section: Section) -> Iterator[QueueConsumerSpec]:
    if not isinstance(section.value, list):
        section.complaints.error(f'The field "{section.field}" should be an array but got {as_json(section.value)}.')
        return
    for index, value in enumerate(section.value):
        path = f"{section.field}[{index}]"
        fields = fields_of(value)
        if fields is None:
            section.complaints.error(f'"{path}" should be a objects, but got {as_json(value)}')
        else:
            yield _consumer(Entry(path, value, fields, section.complaints))


def _consumer(entry: Entry) -> QueueConsumerSpec:
    entry.only(*_CONSUMER_FIELDS)
    queue = entry.required("queue", owner="")
    kind = entry.fields.get("type", "worker")
    if kind != "worker":
        entry.error(
            f'"{entry.path}.type" has an invalid value "{kind if isinstance(kind, str) else as_json(kind)}". '
            'Only "worker" consumers can be configured in your Wrangler configuration.'
        )
    entry.optional("type", owner="")
    settings: dict[str, Any] = {name: entry.optional(name, "number", owner="") for name in _NUMBERS}
    settings["dead_letter_queue"] = entry.optional("dead_letter_queue", owner="")
    del settings["visibility_timeout_ms"]  # of pull consumers
    return QueueConsumerSpec(queue, **{name: value for name, value in settings.items() if value is not None})
