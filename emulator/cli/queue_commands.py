"""The options of `flarebed queues`, named as wrangler names them; what the commands do is in `queues.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from flarebed.emulator.cli.options import json_option, of_the_project
from flarebed.emulator.cli.output import told

Command = Callable[..., Any]

CONTENT_TYPES = ("json", "text", "bytes", "v8")


@click.group()
def queues() -> None:
    """The local queues and their messages. A queue goes by its name, or by that of its binding."""


def of_a_queue(command: Command) -> Command:
    return click.argument("name")(json_option(of_the_project(command)))


@queues.command("list")
@json_option
@of_the_project
def list_queues(as_json: bool, **project: Any) -> None:
    """List the queues of the config, and others that have messages here."""
    with told(as_json=as_json):
        from flarebed.emulator.cli.queues import list_all, opened

        with opened(**project) as desk:
            list_all(desk, as_json)


@queues.command()
@of_a_queue
def info(name: str, as_json: bool, **project: Any) -> None:
    """Show who sends to a queue and who consumes it, its settings, and how many messages it has."""
    with told(as_json=as_json):
        from flarebed.emulator.cli.queues import opened, show_info

        with opened(**project) as desk:
            show_info(desk, name, as_json)


@queues.command()
@of_a_queue
@click.option("--count", type=click.IntRange(1), default=10, show_default=True, help="The most of each state.")
def peek(name: str, count: int, as_json: bool, **project: Any) -> None:
    """Show messages that are ready, delayed, in flight and dead. Nothing becomes of them."""
    with told(as_json=as_json):
        from flarebed.emulator.cli.queues import opened, show_messages

        with opened(**project) as desk:
            show_messages(desk, name, count, as_json)


@queues.command()
@of_a_queue
@click.argument("body", required=False)
@click.option("--file", type=click.File("rb"), metavar="FILE", help="A file with the body; - is the standard input.")
@click.option(
    "--content-type", type=click.Choice(CONTENT_TYPES), help="Without it: json if the body is JSON, else text."
)
@click.option(
    "--delay", "delay_s", type=click.IntRange(0, 86_400), default=0, metavar="SECONDS", help="How long it is kept back."
)
def send(
    name: str, body: str | None, file: Any, content_type: str | None, delay_s: int, as_json: bool, **project: Any
) -> None:
    """Send a message."""
    with told(as_json=as_json):
        from flarebed.emulator.cli.queue_messages import content_of
        from flarebed.emulator.cli.queues import opened, send

        content = content_of(body, None if file is None else file.read())
        with opened(**project) as desk:
            send(desk, name, content, content_type, delay_s, as_json)


@queues.command()
@of_a_queue
@click.option("--force", is_flag=True, help="Ask nothing.")
def purge(name: str, force: bool, as_json: bool, **project: Any) -> None:
    """Delete all messages of a queue."""
    with told(as_json=as_json):
        from flarebed.emulator.cli.queues import opened, purge

        with opened(**project) as desk:
            purge(desk, name, force, as_json)


def pause(name: str, as_json: bool, **project: Any) -> None:
    """Deliver nothing, and keep what is sent, until it is resumed."""
    _set_paused(name, True, as_json, project)


def resume(name: str, as_json: bool, **project: Any) -> None:
    """Deliver again."""
    _set_paused(name, False, as_json, project)


for words, function in (
    (("pause", "pause-delivery"), pause),
    (("resume", "resume-delivery"), resume),
):
    for word in words:
        queues.command(word, hidden=word != words[0])(of_a_queue(function))


def _set_paused(name: str, paused: bool, as_json: bool, project: dict[str, Any]) -> None:
    with told(as_json=as_json):
        from flarebed.emulator.cli.queues import opened, set_paused

        with opened(**project) as desk:
            set_paused(desk, name, paused, as_json)


@queues.command()
@of_a_queue
@click.option("--to", metavar="QUEUE", help="Where to; without it, the queue whose dead letters these are.")
@click.option("--count", type=click.IntRange(1), help="The most that are moved; without it, all.")
def redrive(name: str, to: str | None, count: int | None, as_json: bool, **project: Any) -> None:
    """Move messages of a dead letter queue back, to be delivered anew."""
    with told(as_json=as_json):
        from flarebed.emulator.cli.queues import opened, redrive

        with opened(**project) as desk:
            redrive(desk, name, to, count, as_json)
