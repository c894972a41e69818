"""`flarebed workflows`: what is done to workflows and instances, beside a running `flarebed dev` or without one.

Options, texts and exit codes are those of `wrangler workflows --local` (4.164, packages/wrangler/src/workflows). Here
the state folder is enough: of what is written there the process that runs the instances hears at once, or it finds it
when it starts.
"""

from __future__ import annotations

import json
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from flarebed.bindings.ecma import json_parse
from flarebed.bindings.ecma_date import date_to_iso
from flarebed.bindings.errors import JsError, UserError
from flarebed.bindings.values import UNDEFINED
from flarebed.bindings.workflows.api import STATUSES, WorkflowApi, is_not_found
from flarebed.bindings.workflows.listing import Wanted
from flarebed.bindings.workflows.spec import WorkflowSpec
from flarebed.emulator.cli.instance import LABELS, UNKNOWN, show_instance
from flarebed.emulator.cli.opening import OpenedProject, Place, opened_project
from flarebed.emulator.cli.output import warn
from flarebed.emulator.cli.tables import labelled, show_table
from flarebed.emulator.cli.times import local_text, parse_day_or_time, parse_time
from flarebed.emulator.config import Config

T = TypeVar("T")

_DONE: Final = {"pause": ("⏸️", "paused"), "resume": ("🔄", "resumed"), "restart": ("🥷", "restarted"),
                "terminate": ("🥷", "terminated")}  # fmt: skip
_TAKEN_UP: Final = {"resume": "goes on", "restart": "starts", "terminate": "is rolled back"}
_LATER: Final = "It {} when `flarebed dev` runs."
_MOST_DELETED: Final = 100


class Opened:
    """A workflow of the project."""

    def __init__(self, api: WorkflowApi, project: OpenedProject) -> None:
        self.api = api
        self.name = api.spec.name
        self.clock = project.around.clock
        self._project = project

    def do(self, work: Coroutine[Any, Any, T], instance_id: str = "") -> T:
        try:
            return self._project.do(work)
        except JsError as error:
            raise refused(error, instance_id) from None

    def resolved(self, instance_id: str, quiet: bool) -> str:
        """`latest` is the instance that was created last."""
        if instance_id != "latest":
            return instance_id
        latest = self.api.latest()
        if latest is None:
            raise UserError(f'There are no instances in workflow "{self.name}"')
        if not quiet:
            print(f'Latest instance is "{latest}"')
        return latest

    def say_when(self, what: str) -> None:
        if not self._project.served:
            print(_LATER.format(what))


def refused(error: JsError, instance_id: str) -> UserError:
    text = f"Workflow instance '{instance_id}' not found." if is_not_found(error) else error.message
    return UserError(f"Local API error: {text}")


@contextmanager
def opened(name: str, config: Path | None, env: str | None, persist_to: Path | None) -> Iterator[Opened]:
    """The workflow of this name."""
    with opened_project(config, env, persist_to) as project:
        spec = _find(_specs(project.config), name)
        yield Opened(WorkflowApi(spec, project.around), project)


def list_all(as_json: bool, config: Path | None, env: str | None, persist_to: Path | None) -> None:
    loaded = Place.of(config, env, persist_to).config
    specs = _specs(loaded)
    rows = [(spec.name, spec.script_name or loaded.name, spec.class_name) for spec in specs]
    if as_json:
        print_json([{"name": name, "class_name": of, "script_name": script} for name, script, of in rows])
    elif not rows:
        warn("There are no Workflows in the local dev session")
    else:
        print(f"Showing {len(rows)} workflow{'s' if len(rows) > 1 else ''} from local dev session:")
        show_table(["Name", "Script name", "Class name"], rows)


def describe(workflow: Opened, as_json: bool) -> None:
    summary, counts = workflow.api.summary(), workflow.api.status_counts()
    if as_json:
        print_json({key: summary[key] for key in ("name", "script_name", "class_name")} | {"instances": counts})
        return
    print(
        labelled({
            "Name": summary["name"], "Script Name": summary["script_name"], "Class Name": summary["class_name"],
        })
    )  # fmt: skip
    print("Instance Status Counts:")
    print(labelled({status: str(count) for status, count in counts.items()}, indent=2))


def delete_all(workflow: Opened, as_json: bool) -> None:
    result = workflow.do(workflow.api.delete_all())
    if as_json:
        print_json(result)
    else:
        print(f'✅ Workflow "{workflow.name}" instances removed successfully from local dev session.')


def trigger(workflow: Opened, params: str, instance_id: str | None, as_json: bool) -> None:
    parsed = _parsed(params, "instance parameters") if params else UNDEFINED
    created = workflow.do(workflow.api.create(UNDEFINED if instance_id is None else instance_id, parsed))
    if as_json:
        print_json({"id": created})
        return
    print(f'🚀 Workflow instance "{created}" has been triggered successfully')
    workflow.say_when("starts")


def wanted_instances(status: str | None, date_start: str | None, date_end: str | None) -> Wanted:
    """What the filters of `instances list` mean."""
    if status is not None and status not in STATUSES:
        raise UserError(
            f'Looks like you have provided a invalid status "{status}". Valid statuses are: queued, running, paused, '
            "errored, terminated, complete, waiting, waitingForPause"
        )
    wanted = Wanted(status)
    since_ms = wanted.since_ms if date_start is None else parse_day_or_time(date_start, "--date-start")
    until_ms = wanted.until_ms if date_end is None else parse_day_or_time(date_end, "--date-end", is_end=True)
    if since_ms > until_ms:
        raise UserError(
            f"--date-start ({date_to_iso(since_ms)}) must not be after --date-end ({date_to_iso(until_ms)}). "
            "Update --date-start or --date-end so --date-start is before or equal to --date-end."
        )
    return Wanted(status, since_ms, until_ms)


def list_instances(workflow: Opened, wanted: Wanted, page: int, per_page: int, reverse: bool, as_json: bool) -> None:
    rows = workflow.api.instances(wanted, page=page, per_page=per_page)
    if reverse:
        rows.reverse()
    if as_json:
        print_json(rows)
    elif not rows and page > 1:
        warn(f"No instances found on page {page}. Please try a smaller page number.")
    elif not rows and wanted != Wanted():
        warn(f'No instances in workflow "{workflow.name}" matched the provided filters.')
    elif not rows:
        name = workflow.name
        warn(
            f'There are no instances in workflow "{name}". You can trigger it with "flarebed workflows trigger {name}"'
        )
    else:
        print(f"Showing {len(rows)} instance{'s' if len(rows) > 1 else ''} from page {page}:")
        created = [local_text(parse_time(row["created_on"], "created_on")) for row in rows]
        show_table(
            ["Instance ID", "Created", "Status"],
            [(row["id"], when, LABELS.get(row["status"], UNKNOWN)) for row, when in zip(rows, created, strict=True)],
        )


def describe_instance(workflow: Opened, instance_id: str, output_limit: int | None, as_json: bool) -> None:
    """`output_limit`: how many characters of what steps returned are shown; None for nothing of it."""
    instance_id = workflow.resolved(instance_id, as_json)
    try:
        detail = workflow.api.detail(instance_id)
        stages, buffered = workflow.api.stages(instance_id), workflow.api.buffered(instance_id)
    except JsError as error:
        raise refused(error, instance_id) from None
    if as_json:
        print_json({"id": instance_id, **detail})
    else:
        show_instance(workflow.name, instance_id, detail, stages, buffered, workflow.clock.now_ms(), output_limit)


def change(workflow: Opened, instance_id: str, to: str, options: Any, as_json: bool) -> None:
    instance_id = workflow.resolved(instance_id, as_json)
    given = UNDEFINED if options is None else options
    result = workflow.do(workflow.api.change(instance_id, to, given), instance_id)
    if as_json:
        print_json(result)
        return
    sign, done = _DONE[to]
    print(f'{sign} The instance "{instance_id}" from {workflow.name} was {done} successfully')
    if to in _TAKEN_UP and (to != "terminate" or options):
        workflow.say_when(_TAKEN_UP[to])


def restart_options(name: str | None, count: int | None, kind: str | None) -> dict[str, Any] | None:
    if not name:
        if count is not None or kind is not None:
            raise UserError("--from-step-name is required when using --from-step-count or --from-step-type")
        return None
    if count is not None and count < 1:
        raise UserError("--from-step-count must be a positive integer")
    chosen = {"name": name, "count": count, "type": kind}
    return {"from": {key: value for key, value in chosen.items() if value is not None}}


def send_event(workflow: Opened, instance_id: str, event_type: str, payload: str, as_json: bool) -> None:
    parsed = _parsed(payload, "event payload")
    instance_id = workflow.resolved(instance_id, as_json)
    result = workflow.do(workflow.api.send_event(instance_id, event_type, parsed), instance_id)
    if as_json:
        print_json(result)
        return
    told = f' and payload "{payload}"' if isinstance(parsed, dict | list | str) and parsed else ""
    print(f'📤 The event with type "{event_type}"{told} was sent to the instance "{instance_id}" from {workflow.name}')
    workflow.say_when("goes on")


def requested_ids(ids: Sequence[str], filename: Path | None) -> list[str]:
    requested = [*ids, *([] if filename is None else _ids_of(filename))]
    if not requested:
        raise UserError("Provide at least one workflow instance ID")
    if len(requested) > _MOST_DELETED:
        raise UserError("You can delete at most 100 workflow instances at a time")
    return requested


def delete(workflow: Opened, ids: list[str], as_json: bool) -> None:
    if "latest" in ids:
        latest = workflow.resolved("latest", as_json)
        ids = [latest if one == "latest" else one for one in ids]
    result = workflow.do(workflow.api.delete(ids))
    if as_json:
        print_json(result)
    elif result["deleted"]:
        gone = ", ".join(f'"{one["id"]}"' for one in result["deleted"])
        print(f'🗑️  Deleted workflow instances from "{workflow.name}": {gone}')
    if result["errors"]:
        listed = [f"- {error['id']}: {error['message']}" for error in result["errors"]]
        raise UserError("\n    ".join([f"Failed to delete {len(listed)} workflow instance(s):", *listed]))


def print_json(answer: Any) -> None:
    """What is no character (a lone surrogate) can't be written as it is."""
    print(json.dumps(answer, indent=4, ensure_ascii=False).encode("utf-8", "replace").decode())


def _specs(config: Config) -> Sequence[WorkflowSpec]:
    return cast("Sequence[WorkflowSpec]", config.specs.get("workflows", ()))


def _find(specs: Sequence[WorkflowSpec], name: str) -> WorkflowSpec:
    for spec in specs:
        if spec.name == name:
            return spec
    known = ", ".join(spec.name for spec in specs)
    raise UserError(
        f"Local API error: Workflow '{name}' not found.",
        hint=f"The config has: {known}" if specs else "The config has no workflows.",
    )


def _parsed(text: str, what: str) -> Any:
    try:
        return json_parse(text)
    except JsError as error:
        raise UserError(f'Error while parsing {what}: "{text}" with {error}\' ') from None


def _ids_of(file: Path) -> list[str]:
    try:
        ids = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise UserError(f"Could not read file: {file}", hint=str(error.strerror)) from None
    except ValueError as error:
        raise UserError(f"{file} is not JSON: {error}") from None
    if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
        raise UserError(f'Unexpected JSON input from "{file}". Expected an array of strings.')
    return ids
