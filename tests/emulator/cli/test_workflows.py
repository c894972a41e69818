"""`flarebed workflows`: to the letter what `wrangler workflows --local` says (4.164), on the state folder."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.bindings.workflows.life import START_MS, Life
from tests.emulator.cli.project import Project

HOUR_MS = 3_600_000
MISSING = "✘ [ERROR] Local API error: Workflow instance 'nope' not found.\n"
COUNTS = ("complete", "errored", "paused", "queued", "running", "terminated", "waiting", "waitingForPause")


async def naps(event: Any, step: Any) -> Any:
    await step.sleep("nap", "1 hour")
    got = await step.waitForEvent("go", {"type": "go", "timeout": "1 hour"})
    return [event["payload"], got["payload"]]


def asleep(project: Project, *ids: str) -> None:
    """Instances that sleep, a minute after each other; then the process ends."""

    async def story(life: Life) -> None:
        for id in ids:
            await life.flow.create({"id": id, "params": {"id": id}})
            await life.advance(60_000)

    project.live(naps, story)


def test_list(project: Project) -> None:
    assert project.said("workflows", "list") == (
        "Showing 2 workflows from local dev session:\n"
        "┌───────┬─────────────┬────────────┐\n"
        "│ Name  │ Script name │ Class name │\n"
        "├───────┼─────────────┼────────────┤\n"
        "│ flow  │ worker      │ Flow       │\n"
        "├───────┼─────────────┼────────────┤\n"
        "│ other │ elsewhere   │ Theirs     │\n"
        "└───────┴─────────────┴────────────┘\n"
    )
    assert project("workflows", "list", "--json")[1].startswith(
        '[\n    {\n        "name": "flow",\n        "class_name": "Flow",\n        "script_name": "worker"\n    },\n'
    )


def test_a_project_without_workflows(project: Project) -> None:
    config = json.loads((project.folder / "wrangler.jsonc").read_text())
    del config["workflows"]
    (project.folder / "wrangler.jsonc").write_text(json.dumps(config))
    warning = "▲ [WARNING] There are no Workflows in the local dev session\n"
    assert project("workflows", "list") == (0, "", warning)
    assert project.json("workflows", "list") == []
    refusal = "✘ [ERROR] Local API error: Workflow 'flow' not found.\n  The config has no workflows.\n"
    assert project.refused("workflows", "describe", "flow") == refusal


def test_describe(project: Project) -> None:
    asleep(project, "a", "b")
    counts = "".join(f"  {status + ':':<18}{2 if status == 'waiting' else 0}\n" for status in COUNTS)
    assert project.said("workflows", "describe", "flow", "--local") == (
        f"Name:         flow\nScript Name:  worker\nClass Name:   Flow\nInstance Status Counts:\n{counts}"
    )
    assert project.json("workflows", "describe", "flow") == {
        "name": "flow", "script_name": "worker", "class_name": "Flow",
        "instances": dict.fromkeys(COUNTS, 0) | {"waiting": 2},
    }  # fmt: skip
    refusal = "✘ [ERROR] Local API error: Workflow 'nope' not found.\n  The config has: flow, other\n"
    assert project.refused("workflows", "describe", "nope") == refusal


def test_trigger(project: Project) -> None:
    triggered = '🚀 Workflow instance "a" has been triggered successfully\n'
    later = "It starts when `flarebed dev` runs.\n"
    assert project.said("workflows", "trigger", "flow", '{"n": 1}', "--id", "a") == triggered + later
    assert project.json("workflows", "instances", "describe", "flow", "a")["params"] == {"n": 1}
    running = project.dev()
    assert project.said("workflows", "trigger", "flow", "--id", "b") == triggered.replace('"a"', '"b"')
    running.end()
    assert project.json("workflows", "trigger", "flow", "--id", "c") == {"id": "c"}
    made = project.json("workflows", "trigger", "flow")["id"]
    assert len(made) == 36
    assert project.json("workflows", "instances", "describe", "flow", made)["params"] == {}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["flow", "--id", "a"],
            'Local API error: WorkflowError: (instance.already_exists) Workflow instance with id "a" already exists',
        ),
        (["flow", "--id", "a b"], "Local API error: WorkflowError: Workflow instance has invalid id"),
        (
            ["flow", "{bad"],
            "Error while parsing instance parameters: \"{bad\" with SyntaxError: Expected property name or '}' in JSON "
            "at position 1 (line 1 column 2)' ",
        ),
    ],
)
def test_what_can_not_be_triggered(project: Project, arguments: list[str], message: str) -> None:
    project.said("workflows", "trigger", "flow", "--id", "a")
    assert project.refused("workflows", "trigger", *arguments) == f"✘ [ERROR] {message}\n"


def test_what_is_no_character(project: Project) -> None:
    project.said("workflows", "trigger", "flow", '"\\ud800"', "--id", "a")
    assert project.json("workflows", "instances", "describe", "flow", "a")["params"] == "?"


def test_delete_all_instances(project: Project) -> None:
    asleep(project, "a", "b")
    deleted = '✅ Workflow "flow" instances removed successfully from local dev session.\n'
    assert project.said("workflows", "delete", "flow") == deleted
    assert project.json("workflows", "instances", "list", "flow") == []
    assert project.json("workflows", "delete", "flow") == {"status": "ok", "success": True}


def test_instances_list(project: Project) -> None:
    asleep(project, "a", "b")
    assert project.said("workflows", "instances", "list", "flow") == (
        "Showing 2 instances from page 1:\n"
        "┌─────────────┬───────────────────────┬────────────┐\n"
        "│ Instance ID │ Created               │ Status     │\n"
        "├─────────────┼───────────────────────┼────────────┤\n"
        "│ b           │ 1/1/2026, 12:01:00 AM │ ⏰ Waiting │\n"
        "├─────────────┼───────────────────────┼────────────┤\n"
        "│ a           │ 1/1/2026, 12:00:00 AM │ ⏰ Waiting │\n"
        "└─────────────┴───────────────────────┴────────────┘\n"
    )
    assert project.json("workflows", "instances", "list", "flow", "--reverse") == [
        {"id": "a", "status": "waiting", "created_on": "2026-01-01T00:00:00.000Z"},
        {"id": "b", "status": "waiting", "created_on": "2026-01-01T00:01:00.000Z"},
    ]


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (["--status", "waiting"], ["b", "a"]),
        (["--status", "complete"], []),
        (["--per-page", "1"], ["b"]),
        (["--per-page", "1", "--page", "2"], ["a"]),
        (["--date-start", "2026-01-01T00:01:00Z"], ["b"]),
        (["--date-end", "2026-01-01T00:00:59Z"], ["a"]),
        (["--date-start", "2026-01-01", "--date-end", "2026-01-01"], ["b", "a"]),
        (["--date-end", "2025-12-31"], []),
    ],
)
def test_instances_list_in_part(project: Project, options: list[str], ids: list[str]) -> None:
    asleep(project, "a", "b")
    assert [one["id"] for one in project.json("workflows", "instances", "list", "flow", *options)] == ids


@pytest.mark.parametrize(
    ("options", "warning"),
    [
        ([], 'There are no instances in workflow "flow". You can trigger it with "flarebed workflows trigger flow"'),
        (["--status", "paused"], 'No instances in workflow "flow" matched the provided filters.'),
        (["--page", "5"], "No instances found on page 5. Please try a smaller page number."),
    ],
)
def test_instances_list_of_none(project: Project, options: list[str], warning: str) -> None:
    assert project("workflows", "instances", "list", "flow", *options) == (0, "", f"▲ [WARNING] {warning}\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--status", "bogus"],
            'Looks like you have provided a invalid status "bogus". Valid statuses are: queued, running, paused, '
            "errored, terminated, complete, waiting, waitingForPause",
        ),
        (
            ["--date-start", "2026-02-31"],
            'The date "2026-02-31" provided for --date-start is not a real calendar date. Check the month and day.',
        ),
        *(
            (
                ["--date-end", text],
                f'Looks like you have provided an invalid date "{text}" for --date-end. Provide an ISO 8601 date or '
                "timestamp, for example 2026-01-01 or 2026-01-01T13:00:00Z.",
            )
            for text in ("yesterday", "2026-13-01", "2026-01-01Tx")
        ),
        (
            ["--date-start", "2026-01-02", "--date-end", "2026-01-01"],
            "--date-start (2026-01-02T00:00:00.000Z) must not be after --date-end (2026-01-01T23:59:59.999Z). Update "
            "--date-start or --date-end so --date-start is before or equal to --date-end.",
        ),
    ],
)
def test_odd_filters(project: Project, options: list[str], message: str) -> None:
    assert project.refused("workflows", "instances", "list", "flow", *options) == f"✘ [ERROR] {message}\n"


def test_pause_resume_restart_terminate(project: Project) -> None:
    asleep(project, "a")
    later = "It {} when `flarebed dev` runs.\n"

    def done(verb: str, *options: str) -> tuple[str, str]:
        out = project.said("workflows", "instances", verb, "flow", "a", *options)
        return out, project.json("workflows", "instances", "describe", "flow", "a")["status"]

    assert done("pause") == ('⏸️ The instance "a" from flow was paused successfully\n', "paused")
    resumed = '🔄 The instance "a" from flow was resumed successfully\n' + later.format("goes on")
    assert done("resume") == (resumed, "queued")
    restarted = '🥷 The instance "a" from flow was restarted successfully\n' + later.format("starts")
    assert done("restart", "--from-step-name", "nap", "--from-step-type", "sleep") == (restarted, "queued")
    assert done("terminate") == ('🥷 The instance "a" from flow was terminated successfully\n', "terminated")
    finite = "WorkflowError: (instance.cannot_terminate) Cannot terminate instance since its on a finite state"
    refusal = f"✘ [ERROR] Local API error: {finite}\n"
    assert project.refused("workflows", "instances", "terminate", "flow", "a") == refusal
    assert project.json("workflows", "instances", "restart", "flow", "a") == {
        "status": "queued", "timestamp": "2026-01-01T00:01:00.000Z",
    }  # fmt: skip
    for verb in ("pause", "resume", "restart", "terminate"):
        assert project.refused("workflows", "instances", verb, "flow", "nope") == MISSING


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--from-step-count", "2"],
            "--from-step-name is required when using --from-step-count or --from-step-type",
        ),
        (["--from-step-name", "nap", "--from-step-count", "0"], "--from-step-count must be a positive integer"),
        (
            ["--from-step-name", "nap"],
            'Local API error: WorkflowError: (instance.cannot_restart) Step "nap" not found in execution history',
        ),
    ],
)
def test_odd_restarts(project: Project, options: list[str], message: str) -> None:
    asleep(project, "a")
    assert project.refused("workflows", "instances", "restart", "flow", "a", *options) == f"✘ [ERROR] {message}\n"


def test_latest_is_the_one_that_was_created_last(project: Project) -> None:
    refusal = '✘ [ERROR] There are no instances in workflow "flow"\n'
    assert project.refused("workflows", "instances", "pause", "flow", "latest") == refusal
    asleep(project, "a", "b")
    out = project.said("workflows", "instances", "pause", "flow", "latest")
    assert out == 'Latest instance is "b"\n⏸️ The instance "b" from flow was paused successfully\n'
    assert project.json("workflows", "instances", "describe", "flow")["id"] == "b"


def test_send_event(project: Project) -> None:
    asleep(project, "a")
    later = "It goes on when `flarebed dev` runs.\n"
    send = ("workflows", "instances", "send-event", "flow", "a", "--type", "go")
    assert project.said(*send) == f'📤 The event with type "go" was sent to the instance "a" from flow\n{later}'
    assert project.said(*send, "--payload", '{"by": "ann"}') == (
        f'📤 The event with type "go" and payload "{{"by": "ann"}}" was sent to the instance "a" from flow\n{later}'
    )
    assert project.json(*send, "--payload", "null") == {"success": True}
    assert project.refused(*send, "--payload", "{bad") == (
        "✘ [ERROR] Error while parsing event payload: \"{bad\" with SyntaxError: Expected property name or '}' in JSON "
        "at position 1 (line 1 column 2)' \n"
    )
    assert project.refused("workflows", "instances", "send-event", "flow", "nope", "--type", "go") == MISSING


def test_events_and_pauses_hold_for_the_process_that_comes(project: Project) -> None:
    asleep(project, "a", "b")
    project.said("workflows", "instances", "send-event", "flow", "a", "--type", "go", "--payload", "1")
    project.said("workflows", "instances", "pause", "flow", "b")

    async def story(life: Life) -> None:
        await life.advance(2 * HOUR_MS)

    project.live(naps, story)
    done = project.json("workflows", "instances", "describe", "flow", "a")
    assert (done["status"], done["output"]) == ("complete", [{"id": "a"}, 1])
    assert project.json("workflows", "instances", "describe", "flow", "b")["status"] == "paused"


def test_an_event_has_the_time_of_the_virtual_clock(project: Project) -> None:
    asleep(project, "a")
    project.time_is(START_MS + 90 * 60_000)
    project.said("workflows", "instances", "send-event", "flow", "a", "--type", "go")
    out = project.said("workflows", "instances", "describe", "flow", "a")
    assert out.endswith('\n  Event "go" of 1/1/2026, 1:30:00 AM: no step has got it yet.\n')


def test_delete_instances(project: Project) -> None:
    asleep(project, "a", "b", "c", "d")
    delete = ("workflows", "instances", "delete", "flow")
    failed = "✘ [ERROR] Failed to delete 1 workflow instance(s):\n    - nope: workflows.api.error.instance.not_found\n"
    deleted = '🗑️  Deleted workflow instances from "flow": "a"\n'
    assert project(*delete, "a", "nope") == (1, deleted, failed)
    (project.folder / "ids.json").write_text('["b"]')
    assert project.json(*delete, "latest", "--filename", "ids.json") == {
        "deleted": [{"id": "d"}, {"id": "b"}], "errors": [],
    }  # fmt: skip
    code, out, err = project(*delete, "nope", "--json")
    assert (code, json.loads(out)["errors"][0]["code"], err) == (1, 10400, failed)
    assert [one["id"] for one in project.json("workflows", "instances", "list", "flow")] == ["c"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Provide at least one workflow instance ID"),
        (["a"] * 101, "You can delete at most 100 workflow instances at a time"),
        (["--filename", "odd.json"], 'Unexpected JSON input from "odd.json". Expected an array of strings.'),
        (["--filename", "no.json"], "Could not read file: no.json\n  No such file or directory"),
    ],
)
def test_odd_deletions(project: Project, arguments: list[str], message: str) -> None:
    (project.folder / "odd.json").write_text("[1]")
    refusal = project.refused("workflows", "instances", "delete", "flow", *arguments)
    assert refusal == f"✘ [ERROR] {message}\n"


def test_from_any_folder_and_on_any_state(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    below = project.folder / "src" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    project.said("workflows", "trigger", "flow", "--id", "a")
    assert (project.state / "flarebed" / "workflows" / "flow.sqlite").is_file()
    elsewhere = ("--persist-to", "elsewhere", "--config", "../../wrangler.jsonc")
    assert project.json("workflows", "instances", "list", "flow", *elsewhere) == []
    assert (below / "elsewhere" / "flarebed" / "workflows" / "flow.sqlite").is_file()
