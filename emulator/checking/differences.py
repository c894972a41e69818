"""Where two runs of one workflow part: in the name of a step, in how long it sleeps, or in which step comes next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from flarebed.emulator.checking.places import Site
from flarebed.emulator.checking.steps import Command
from flarebed.emulator.checking.tracing import parting
from flarebed.emulator.checking.trial import Seen

SLEEPS = ("sleep", "sleepUntil")


@dataclass(frozen=True)
class Difference:
    """`before` and `now` are what the runs asked for at the same place; None for nothing."""

    kind: Literal["name", "sleep", "branch"]
    before: Command | None
    now: Command | None
    site: Site | None


def differences(before: Seen, now: Seen) -> Iterator[Difference]:
    """Up to the first step that the runs don't both come to."""
    ways = [0, 0]
    for one, other in zip_longest(before.script.commands, now.script.commands):
        if one is None or other is None or (one.site, one.key[0]) != (other.site, other.key[0]):
            yield Difference("branch", one, other, _branch(before, now, one, other))
            return
        if one.key != other.key:
            went_elsewhere = _lines(before, ways[0], one) != _lines(now, ways[1], other)
            if went_elsewhere or _is_of_other_order(before, now, one, other):
                yield Difference("branch", one, other, _branch(before, now, one, other))
                return
            yield Difference("name", one, other, other.site)
        elif one.argument != other.argument and one.key[0] in SLEEPS:
            yield Difference("sleep", one, other, other.site)
        ways = [one.after_lines, other.after_lines]


def _lines(seen: Seen, start: int, command: Command) -> list[Site]:
    """What ran from the step before on."""
    return [line.site for line in seen.trace.outside[start : command.after_lines]]


def _is_of_other_order(before: Seen, now: Seen, one: Command, other: Command) -> bool:
    return before.script.find(other.key) is not None or now.script.find(one.key) is not None


def _branch(before: Seen, now: Seen, one: Command | None, other: Command | None) -> Site | None:
    """The line that decided; if both ran the same lines, the last one before the step."""
    found = parting(before.trace, now.trace)
    if found is not None:
        return found
    command, seen = (one, before) if other is None else (other, now)
    if command is None or not command.after_lines:
        return None if command is None else command.site
    return seen.trace.outside[command.after_lines - 1].site
