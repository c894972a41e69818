"""`flarebed workflows instances describe`: wrangler's layout (4.164), then the timeline."""

from __future__ import annotations

from typing import Any

from flarebed.bindings.errors import JsError
from tests.bindings.workflows.life import START_MS, Life, returning
from tests.emulator.cli.project import Project

HOUR_MS = 3_600_000

ON_ITS_WAY = """\
Describing latest instance:
Workflow Name:         flow
Instance Id:           i
Status:                ⏰ Waiting
Queued:                1/1/2026, 12:00:00 AM
Start:                 1/1/2026, 12:00:00 AM
Duration:              6 hours
Last Successful Step:  nap-1
Steps:

  Name:      flaky-1
  Type:      🎯 Step
  Start:     1/1/2026, 12:00:00 AM
  End:       1/1/2026, 2:00:00 AM
  Duration:  2 hours
  Success:   ✅ Yes
  Output:    {"ok":true}
┌───────────────────────┬───────────────────────┬───────────┬────────────┬──────────────────┐
│ Start                 │ End                   │ Duration  │ State      │ Error            │
├───────────────────────┼───────────────────────┼───────────┼────────────┼──────────────────┤
│ 1/1/2026, 12:00:00 AM │ 1/1/2026, 12:00:00 AM │ 0 seconds │ ❌ Error   │ RangeError: nope │
├───────────────────────┼───────────────────────┼───────────┼────────────┼──────────────────┤
│ 1/1/2026, 1:00:00 AM  │ 1/1/2026, 2:00:00 AM  │ 1 hour    │ ✅ Success │                  │
└───────────────────────┴───────────────────────┴───────────┴────────────┴──────────────────┘

  Name:      nap-1
  Type:      💤 Sleeping
  Start:     1/1/2026, 2:00:00 AM
  End:       1/1/2026, 5:00:00 AM
  Duration:  3 hours

  Name:          approval-1
  Type:          👀 Waiting for event
  Start:         1/1/2026, 5:00:00 AM
  Duration:      1 hour
  Event Type:    approve
  Times Out At:  1/1/2026, 10:00:00 AM (in 4 hours from now)
  Output:        null

Timeline:
               1/1/2026, 12:00:00 AM        1/1/2026, 10:00:00 AM
  ✔ flaky-1    │▒····█████                                        │ 2 hours, 2 attempts
  ✔ nap-1      │          ░░░░░░░░░░░░░░░                         │ 3 hours
  … approval-1 │                         ░░░░░┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄│ "approve", until 1/1/2026, 10:00:00 AM
  █ attempt   ▒ failed attempt   · between attempts   ░ sleep or wait   ┄ ahead
  Event "other" of 1/1/2026, 6:00:00 AM: no step has got it yet.
"""

ENDED = """\
Success:               ✅ Yes
Start:                 1/1/2026, 12:00:00 AM
End:                   1/1/2026, 7:00:00 AM
Duration:              7 hours
Last Successful Step:  nap-1
Output:                ["ann"[...output truncated]
"""


async def way(event: Any, step: Any) -> Any:
    failures = [JsError("nope", "RangeError")]

    async def flaky(context: Any) -> Any:
        if context["attempt"] == 1:
            raise failures.pop()
        await life_of[0].clock.sleep(HOUR_MS)
        return {"ok": True}

    config = {"retries": {"limit": 3, "delay": "1 hour", "backoff": "constant"}, "timeout": "2 hours"}
    await step.do("flaky", config, flaky)
    await step.sleep("nap", "3 hours")
    got = await step.waitForEvent("approval", {"type": "approve", "timeout": "5 hours"})
    return [got["payload"], 2]


life_of: list[Life] = []


def on_its_way(project: Project) -> None:
    async def story(life: Life) -> None:
        life_of[:] = [life]
        instance = await life.flow.create({"id": "i"})
        await life.advance(6 * HOUR_MS)
        await instance.sendEvent({"type": "other", "payload": 1})

    project.live(way, story)


def test_an_instance_on_its_way(project: Project) -> None:
    on_its_way(project)
    assert project.said("workflows", "instances", "describe", "flow", "i") == ON_ITS_WAY
    latest = project.said("workflows", "instances", "describe", "flow")
    assert latest == 'Latest instance is "i"\n' + ON_ITS_WAY


def test_an_instance_at_its_end(project: Project) -> None:
    on_its_way(project)

    async def story(life: Life) -> None:
        await life.advance(7 * HOUR_MS)
        await (await life.flow.get("i")).sendEvent({"type": "approve", "payload": "ann"})
        await life.settle()

    project.live(way, story)
    describe = ("workflows", "instances", "describe", "flow", "i")
    out = project.said(*describe, "--truncate-output-limit", "6")
    assert ENDED in out
    assert '  Output:    {"ok":[...output truncated]\n' in out
    assert "  ✔ approval-1 │" in out
    assert "┄" not in out
    assert "Output" not in project.said(*describe, "--no-step-output")
    assert project.json(*describe)["output"] == ["ann", 2]
    assert list(project.json(*describe))[:3] == ["id", "status", "params"]


def test_an_instance_that_never_began(project: Project) -> None:
    project.said("workflows", "trigger", "flow", "--id", "i")
    assert project.said("workflows", "instances", "describe", "flow", "i") == (
        "Describing latest instance:\n"
        "Workflow Name:  flow\n"
        "Instance Id:    i\n"
        "Status:         ⌛ Queued\n"
        "Queued:         1/1/2026, 12:00:00 AM\n"
        "Steps:\n"
    )


def test_an_instance_that_failed(project: Project) -> None:
    async def body(event: Any, step: Any) -> Any:
        await step.do("fine", returning(1))
        raise JsError("first line\nsecond line", "TypeError")

    async def story(life: Life) -> None:
        await life.flow.create({"id": "i"})
        await life.settle()

    project.live(body, story)
    out = project.said("workflows", "instances", "describe", "flow", "i")
    assert "Status:                ❌ Errored\n" in out
    assert "Success:               ❌ No\n" in out
    assert "Error:                 TypeError: first line\n                       second line\nSteps:\n" in out


def test_what_is_missing(project: Project) -> None:
    missing = "✘ [ERROR] Local API error: Workflow instance 'nope' not found.\n"
    assert project.refused("workflows", "instances", "describe", "flow", "nope") == missing
    assert project.refused("workflows", "instances", "describe", "flow", "nope", "--json") == missing
    none = '✘ [ERROR] There are no instances in workflow "flow"\n'
    assert project.refused("workflows", "instances", "describe", "flow") == none


def test_the_time_that_passes_is_that_of_the_virtual_clock(project: Project) -> None:
    on_its_way(project)
    project.time_is(START_MS + 8 * HOUR_MS)
    out = project.said("workflows", "instances", "describe", "flow", "i")
    assert "Times Out At:  1/1/2026, 10:00:00 AM (in 2 hours from now)" in out
