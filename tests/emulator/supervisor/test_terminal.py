"""What the supervisor writes. Forms seen on wrangler 4.164."""

from __future__ import annotations

from flarebed.emulator.server.log import line
from flarebed.emulator.supervisor.terminal import bindings_table, cron_notice, time_notice


def test_bindings_stand_in_a_table() -> None:
    rows = [
        ("KV (k)", "KV Namespace", "local"),
        ("Q (sq)", "Queue", "local"),
        ('V ("v")', "Environment Variable", "local"),
    ]
    assert bindings_table(rows) == (
        "Your Worker has access to the following bindings:\n"
        "Binding          Resource                  Mode\n"
        "env.KV (k)       KV Namespace              local\n"
        "env.Q (sq)       Queue                     local\n"
        'env.V ("v")      Environment Variable      local'
    )


def test_no_bindings() -> None:
    assert bindings_table([]) == "No bindings found."


def test_crons_run_by_hand() -> None:
    assert cron_notice("http://localhost:8787").splitlines()[:3] == [
        "Scheduled Workers are not automatically triggered during local development.",
        "  To manually trigger a scheduled event, run:",
        '    curl "http://localhost:8787/cdn-cgi/local/scheduled"',
    ]


def test_it_is_said_that_time_is_virtual() -> None:
    assert time_notice("2026-01-01T00:00:00.000Z") == (
        "Time is virtual and stands at 2026-01-01T00:00:00.000Z. In another terminal, `flarebed clock advance 1 hour` "
        "moves it."
    )


def test_levels_have_their_own_form() -> None:
    assert [line(level, "x") for level in ("debug", "info", "log", "warn", "error")] == [
        "[wrangler:debug] x\n",
        "[wrangler:info] x\n",
        "x\n",
        "[wrangler:warn] x\n",
        "✘ [ERROR] x\n",
    ]
