"""Where Queues keep their messages below the state folder, for the commands on the state as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from flarebed.bindings.kind import StateFiles
from flarebed.bindings.queues.spec import QueueConsumerSpec, QueueProducerSpec
from flarebed.bindings.store import file_name

_COUNT: Final = "SELECT (SELECT count(*) FROM messages) + (SELECT count(*) FROM delayed)"


def named(specs: Sequence[QueueProducerSpec | QueueConsumerSpec]) -> Iterator[tuple[str, Sequence[str]]]:
    for spec in specs:
        yield f"{file_name(spec.queue)}.sqlite", (spec.queue,)
        if isinstance(spec, QueueProducerSpec):
            yield f"{file_name(spec.queue)}.sqlite", (spec.binding,)
        elif spec.dead_letter_queue is not None:
            yield f"{file_name(spec.dead_letter_queue)}.sqlite", (spec.dead_letter_queue,)


FILES: Final = StateFiles("flarebed/queues", "message", _COUNT, named)
