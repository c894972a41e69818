"""`queues` of the wrangler config: producers (bindings) and consumers (which queues call the Worker's `queue`).

https://developers.cloudflare.com/queues/configuration/configure-queues/. Defaults are production's; wrangler dev's own
would hide what a deployed consumer does, so they have to be asked for (`kind.Modes.queue_defaults`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from flarebed.bindings.entry import Entry, as_json, complain_of_unknown, entries, fields_of
from flarebed.bindings.kind import Section

_RANGES = {
    "max_batch_size": (1, 100),
    "max_batch_timeout": (0, 60),
    "max_retries": (0, 100),
    "max_concurrency": (1, 250),
    "retry_delay": (0, 86_400),
}
"""What production accepts when a consumer is deployed: https://developers.cloudflare.com/queues/platform/limits/."""
_CONSUMER_FIELDS = ("queue", "type", "dead_letter_queue", "visibility_timeout_ms", *_RANGES)


_NAME: Final = re.compile("[a-z0-9-]{1,63}")
"""https://developers.cloudflare.com/queues/configuration/configure-queues/: what the API takes as a queue's name."""


@dataclass(frozen=True)
class Batching:
    """How a consumer's batches are made, and how often a message is retried. `timeout_s`: the longest wait for one."""

    size: int
    timeout_s: float
    retries: int


DEFAULTS: Final = {"production": Batching(10, 5, 3), "wrangler": Batching(5, 1, 2)}
"""By `Modes.queue_defaults`. Wrangler's are those of miniflare (workers/queues/constants.ts)."""


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
    """The Worker consumes `queue`; None is what the config leaves open. `max_batch_timeout`, `retry_delay`: seconds."""

    queue: str
    max_batch_size: int | None = None
    max_batch_timeout: float | None = None
    max_retries: int | None = None
    dead_letter_queue: str | None = None
    max_concurrency: int | None = None
    retry_delay: float = 0

    def rows(self) -> Sequence[tuple[str, str]]:
        return []

    def batching(self, defaults: str) -> Batching:
        default = DEFAULTS[defaults]
        return Batching(
            default.size if self.max_batch_size is None else self.max_batch_size,
            default.timeout_s if self.max_batch_timeout is None else self.max_batch_timeout,
            default.retries if self.max_retries is None else self.max_retries,
        )


def parse(section: Section) -> tuple[QueueProducerSpec | QueueConsumerSpec, ...]:
    value = section.value
    if not isinstance(value, dict):
        section.complaints.error(f'The field "{section.field}" should be an object but got {as_json(value)}.')
        return ()
    complain_of_unknown(section.complaints, section.field, value, ("consumers", "producers"))
    consumers = tuple(_consumers(_part(section, "consumers"))) if "consumers" in value else ()
    producers = tuple(_producers(_part(section, "producers"))) if "producers" in value else ()
    _check_consumers(section, consumers)
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
    else:
        _check_name(entry, "queue", queue)
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
    _check_name(entry, "queue", queue)
    kind = entry.fields.get("type", "worker")
    if kind != "worker":
        entry.error(
            f'"{entry.path}.type" has an invalid value "{kind if isinstance(kind, str) else as_json(kind)}". '
            'Only "worker" consumers can be configured in your Wrangler configuration.'
        )
    entry.optional("type", owner="")
    settings: dict[str, Any] = {
        "max_batch_size": _number(entry, "max_batch_size"),
        "max_batch_timeout": _number(entry, "max_batch_timeout"),
        "max_retries": _number(entry, "max_retries"),
        "dead_letter_queue": entry.optional("dead_letter_queue", owner=""),
        "max_concurrency": _number(entry, "max_concurrency"),
    }
    _check_name(entry, "dead_letter_queue", settings["dead_letter_queue"])
    entry.optional("visibility_timeout_ms", "number", owner="")  # of pull consumers
    settings["retry_delay"] = _number(entry, "retry_delay")
    return QueueConsumerSpec(queue, **{name: value for name, value in settings.items() if value is not None})


def _check_consumers(section: Section, consumers: Sequence[QueueConsumerSpec]) -> None:
    """What miniflare says when it starts. Of two consumers of a queue wrangler hands it the last one alone."""
    for queue, count in Counter(consumer.queue for consumer in consumers).items():
        if count > 1:
            section.complaints.warn(f'Multiple consumers defined for queue "{queue}": the last one counts.')
    for consumer in consumers:
        if consumer.queue == consumer.dead_letter_queue:
            section.complaints.error(f'Dead letter queue for queue "{consumer.queue}" cannot be itself')


def _check_name(entry: Entry, field: str, name: str | None) -> None:
    """Wrangler takes any name; no such queue can be created."""
    if name and not _NAME.fullmatch(name):
        entry.complaints.warn(
            f'"{entry.path}.{field}" is {as_json(name)}, but production has no such queue: '
            "a name is 1 to 63 lower-case letters, digits and hyphens."
        )


def _number(entry: Entry, name: str) -> int | None:
    """Wrangler takes any number, production then refuses the deployment: warned about, and brought in range."""
    value = entry.optional(name, "number", owner="")
    if value is None:
        return None
    least, most = _RANGES[name]
    used = int(min(max(value, least), most))
    if used != value:
        entry.complaints.warn(
            f'"{entry.path}.{name}" is {as_json(value)}, but production takes whole numbers from {least} to {most}. '
            f"{used} is used here."
        )
    return used
