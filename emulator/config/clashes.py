"""What Workers that run together may not have in common: names, queues that they consume, workflows that they run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import cast

from flarebed.bindings.errors import UserError
from flarebed.bindings.queues.spec import QueueConsumerSpec
from flarebed.bindings.workflows.spec import WorkflowSpec
from flarebed.emulator.config.model import Config


def complain_of_clashes(configs: Sequence[Config]) -> None:
    """Raises UserError. The text about queues is that of wrangler 4.164, which does not find the others."""
    for name, first, second in _claimed_twice(configs, lambda config: (config.name,)):
        raise UserError(
            f'Two Workers are called "{name}": {first.path} and {second.path}.',
            hint="Workers that run together are told apart by their names.",
        )
    for name, first, second in _claimed_twice(configs, _consumed):
        raise UserError(f'Multiple consumers defined for queue "{name}": "{first.name}" and "{second.name}"')
    for name, first, second in _claimed_twice(configs, _run):
        raise UserError(
            f'Multiple Workers define the workflow "{name}": "{first.name}" and "{second.name}"',
            hint="Name the Worker that has the class as `script_name` in the other's binding, or rename one of them.",
        )


def _claimed_twice(
    configs: Sequence[Config], claims: Callable[[Config], Iterable[str]]
) -> Iterable[tuple[str, Config, Config]]:
    first: dict[str, Config] = {}
    for config in configs:
        for name in dict.fromkeys(claims(config)):
            if name in first:
                yield name, first[name], config
            first[name] = config


def _consumed(config: Config) -> list[str]:
    return [spec.queue for spec in config.specs.get("queues", ()) if isinstance(spec, QueueConsumerSpec)]


def _run(config: Config) -> list[str]:
    specs = cast("Sequence[WorkflowSpec]", config.specs.get("workflows", ()))
    return [spec.name for spec in specs if spec.script_name in (None, config.name)]
