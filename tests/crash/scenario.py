"""What a scenario is: a script for a client, the Worker it asks, and the judge of what the kills have left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.crash.asking import Asking
from tests.crash.client import Client
from tests.crash.judge import Judge
from tests.crash.witness import Witness

Script = Callable[[Any], Awaitable[None]]


@dataclass(frozen=True)
class Scenario:
    """`may_differ`: the instances whose end depends on where the process was killed, as it would in production.

    `workflow`: what the workflow's spec has otherwise.
    """

    script: Script
    may_differ: frozenset[str] = frozenset()
    workflow: Mapping[str, Any] = field(default_factory=dict)
    client: type[Asking] = Client
    judge: type[Witness] = Judge

    @property
    def name(self) -> str:
        return f"{self.client.prefix}{self.script.__name__}"
