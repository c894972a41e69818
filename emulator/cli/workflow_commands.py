"""The options of `flarebed workflows`, named as wrangler names them; what the commands do is in `workflows.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from flarebed.emulator.cli.options import PATH, Command, json_option, of_the_project
from flarebed.emulator.cli.output import told


@click.group()
def workflows() -> None:
    """The local Workflows and their instances."""


@workflows.group()
def instances() -> None:
    """The instances of a workflow. An ID may be `latest`."""


def of_the_workflows(command: Command) -> Command:
    port_option = click.option("--port", type=int, expose_value=False, help="Not needed: the state folder is enough.")
    return of_the_project(port_option(json_option(command)))


def of_a_workflow(command: Command) -> Command:
    return click.argument("name")(of_the_workflows(command))


def of_an_instance(command: Command) -> Command:
    return click.argument("name")(click.argument("id")(of_the_workflows(command)))


@workflows.command("list")
@of_the_workflows
def list_workflows(as_json: bool, **project: Any) -> None:
    """List the workflows of the config."""
    with told():
        from flarebed.emulator.cli.workflows import list_all

        list_all(as_json, **project)


@workflows.command()
@of_a_workflow
def describe(name: str, as_json: bool, **project: Any) -> None:
    """Show a workflow, and how many instances it has in which status."""
    with told():
        from flarebed.emulator.cli.workflows import describe, opened

        with opened(name, **project) as workflow:
            describe(workflow, as_json)


@workflows.command("delete")
@of_a_workflow
def delete_workflow(name: str, as_json: bool, **project: Any) -> None:
    """Delete all instances of a workflow."""
    with told():
        from flarebed.emulator.cli.workflows import delete_all, opened

        with opened(name, **project) as workflow:
            delete_all(workflow, as_json)


@workflows.command()
@click.argument("name")
@click.argument("params", default="")
@click.option("--id", "instance_id", metavar="ID", help="The instance's id; a random UUID without it.")
@of_the_workflows
def trigger(name: str, params: str, instance_id: str | None, as_json: bool, **project: Any) -> None:
    """Create an instance; PARAMS is JSON."""
    with told():
        from flarebed.emulator.cli.workflows import opened, trigger

        with opened(name, **project) as workflow:
            trigger(workflow, params, instance_id, as_json)


@instances.command("list")
@click.option("--status", help="Only those in this status.")
@click.option("--date-start", metavar="DATE", help="Only those created then or later (ISO 8601, UTC).")
@click.option("--date-end", metavar="DATE", help="Only those created then or earlier; a date is the whole day.")
@click.option("--page", type=click.IntRange(1), default=1, show_default=True, help="Which page.")
@click.option("--per-page", type=click.IntRange(1), default=25, show_default=True, help="Instances on a page.")
@click.option("--reverse", is_flag=True, help="The oldest of the page first.")
@of_a_workflow
def list_instances(
    name: str,
    status: str | None,
    date_start: str | None,
    date_end: str | None,
    page: int,
    per_page: int,
    reverse: bool,
    as_json: bool,
    **project: Any,
) -> None:
    """List instances, the newest first."""
    with told():
        from flarebed.emulator.cli.workflows import list_instances, opened, wanted_instances

        wanted = wanted_instances(status, date_start, date_end)
        with opened(name, **project) as workflow:
            list_instances(workflow, wanted, page, per_page, reverse, as_json)


@instances.command("describe")
@click.argument("name")
@click.argument("id", default="latest")
@click.option("--step-output/--no-step-output", default=True, help="Show what steps returned.")
@click.option("--truncate-output-limit", type=int, default=5000, show_default=True, help="Characters of an output.")
@of_the_workflows
def describe_instance(
    name: str, id: str, step_output: bool, truncate_output_limit: int, as_json: bool, **project: Any
) -> None:
    """Show an instance: its steps with attempts and errors, and when all that was."""
    with told():
        from flarebed.emulator.cli.workflows import describe_instance, opened

        with opened(name, **project) as workflow:
            describe_instance(workflow, id, truncate_output_limit if step_output else None, as_json)


@instances.command("send-event")
@of_an_instance
@click.option("--type", "event_type", required=True, metavar="TYPE", help="The event's type.")
@click.option("--payload", default="{}", metavar="JSON", help="The event's payload.")
def send_event(name: str, id: str, event_type: str, payload: str, as_json: bool, **project: Any) -> None:
    """Send an event to an instance."""
    with told():
        from flarebed.emulator.cli.workflows import opened, send_event

        with opened(name, **project) as workflow:
            send_event(workflow, id, event_type, payload, as_json)


@instances.command()
@of_an_instance
def pause(name: str, id: str, as_json: bool, **project: Any) -> None:
    """Pause an instance, once the attempts in progress are over."""
    _change("pause", name, id, as_json, **project)


@instances.command()
@of_an_instance
def resume(name: str, id: str, as_json: bool, **project: Any) -> None:
    """Let a paused instance go on."""
    _change("resume", name, id, as_json, **project)


@instances.command()
@of_an_instance
@click.option("--rollback", is_flag=True, help="Run the rollback handlers of its steps before.")
def terminate(name: str, id: str, rollback: bool, as_json: bool, **project: Any) -> None:
    """End an instance."""
    _change("terminate", name, id, as_json, options={"rollback": True} if rollback else None, **project)


@instances.command()
@of_an_instance
@click.option("--from-step-name", metavar="NAME", help="Keep what was recorded before this step.")
@click.option("--from-step-count", type=int, metavar="N", help="Which of the steps of this name (the first).")
@click.option("--from-step-type", type=click.Choice(["do", "sleep", "waitForEvent"]), help="Its kind (do).")
def restart(
    name: str, id: str, from_step_name: str | None, from_step_count: int | None, from_step_type: str | None,
    as_json: bool, **project: Any,
) -> None:  # fmt: skip
    """Run an instance anew, from its beginning or from a step on."""
    with told():
        from flarebed.emulator.cli.workflows import restart_options

        options = restart_options(from_step_name, from_step_count, from_step_type)
    _change("restart", name, id, as_json, options=options, **project)


@instances.command("delete")
@click.argument("name")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--filename", type=PATH, metavar="FILE", help="A JSON file with an array of ids.")
@of_the_workflows
def delete(name: str, ids: tuple[str, ...], filename: Path | None, as_json: bool, **project: Any) -> None:
    """Delete instances."""
    with told():
        from flarebed.emulator.cli.workflows import delete, opened, requested_ids

        requested = requested_ids(ids, filename)
        with opened(name, **project) as workflow:
            delete(workflow, requested, as_json)


def _change(to: str, name: str, id: str, as_json: bool, options: Any = None, **project: Any) -> None:
    with told():
        from flarebed.emulator.cli.workflows import change, opened

        with opened(name, **project) as workflow:
            change(workflow, id, to, options, as_json)
