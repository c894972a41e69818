"""The supervisor's decisions about several lines of processes, which are only played."""

from __future__ import annotations

from pathlib import Path

import pytest

from flarebed.emulator.supervisor.files import signatures
from flarebed.emulator.supervisor.main import Supervisor
from tests.emulator.supervisor.playing import Play, Stage


def test_several_lines_begin_together_and_reload_alone(played: Play, capsys: pytest.CaptureFixture[str]) -> None:
    async def check(supervisor: Supervisor, stage: Stage) -> None:
        a, b = stage.made
        a.is_ready()
        assert (a.told, "Ready on" in capsys.readouterr().out) == ([], False)
        b.is_ready()
        assert (a.told, b.told) == (["serve", "beside"], ["serve"])
        assert capsys.readouterr().out == "[wrangler:info] Ready on http://localhost:1\n"
        supervisor.lines[1].reload()
        [new] = stage.made[2:]
        new.is_ready()
        b.says("disowned")
        assert (a.told, b.told, new.told) == (["serve", "beside", "beside"], ["serve", "retire"], ["serve"])
        assert capsys.readouterr().out == "[wrangler:info] [b] Reloaded\n"

    played(check, served=False, names=["a", "b"])


def test_a_request_waits_for_an_edit_of_another_line(played: Play, tmp_path: Path) -> None:
    async def check(supervisor: Supervisor, stage: Stage) -> None:
        a, b = stage.made
        a.is_ready()
        b.is_ready()
        assert a.told == ["serve", "beside"]
        other = tmp_path / "other.py"
        other.write_text("b = 1\n")
        b.says("files", known=signatures([str(other)]))
        other.write_text("b = 22\n")
        a.gives(b"A")
        [new] = stage.made[2:]
        assert (new.maker, a.told) == (supervisor.lines[1], ["serve", "beside", "beside"])
        new.is_ready()
        b.says("disowned")
        assert a.told == ["serve", "beside", "beside", "beside", "connectionA"]
        a.gives(b"B")  # for a reason that is gone
        assert (len(stage.made), a.told[-2:]) == (3, ["beside", "connectionB"])

    played(check, served=False, names=["a", "b"])


def test_several_lines_end_together(played: Play) -> None:
    async def check(supervisor: Supervisor, stage: Stage) -> None:
        a, b = stage.made
        a.is_ready()
        b.is_ready()
        supervisor.stop()
        assert (a.told[-1], b.told[-1]) == ("stop", "stop")
        a.exits(0)
        assert not supervisor.ended.done()
        b.exits(0)
        assert await supervisor.ended == 0

    played(check, served=False, names=["a", "b"])


def test_all_lines_let_go_of_the_state(played: Play) -> None:
    async def check(supervisor: Supervisor, stage: Stage) -> None:
        for process in stage.made:
            process.is_ready()
        supervisor.release()
        a, b, *new = stage.made
        assert (a.told, b.told, len(new)) == (["serve", "beside", "retire"], ["serve", "retire"], 2)

    played(check, served=False, names=["a", "b"])
