"""The supervisor's decisions, with processes that are only played."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from flarebed.emulator.supervisor import line as module
from flarebed.emulator.supervisor.files import signatures
from flarebed.emulator.supervisor.main import Supervisor
from tests.emulator.supervisor.playing import Play, Stage


def test_a_reload_lets_the_old_disown_before_the_new_serves(played: Play) -> None:
    async def check(supervisor: Supervisor, stage: Stage) -> None:
        old = stage.made[0]
        supervisor.lines[0].reload()
        new = stage.made[1]
        assert (new.replaces, new.known) == (True, signatures([str(stage.entry)]))
        new.is_ready()
        assert (old.told, new.told) == (["serve", "retire"], [])
        old.says("disowned")
        assert new.told == ["serve"]

    played(check)


def test_an_old_one_that_is_stuck_holds_nothing_up(played: Play) -> None:
    async def check(supervisor: Supervisor, stage: Stage) -> None:
        supervisor.lines[0].reload()
        new = stage.made[1]
        new.is_ready()
        await asyncio.wait([supervisor.ended], timeout=0.03)
        assert new.told == ["serve"]

    played(check)


def test_a_connection_with_old_code_waits_for_the_new(played: Play) -> None:
    async def check(supervisor: Supervisor, stage: Stage) -> None:
        old = stage.made[0]
        stage.entry.write_text("a = 22\n")
        old.gives(b"A")
        old.gives(b"B")
        [new] = stage.made[1:]
        new.is_ready()
        old.says("disowned")
        assert new.told == ["serve", "connectionA", "connectionB"]
        old.gives(b"C")
        assert new.told[-1] == "connectionC"

    played(check)


def test_code_that_fails_gives_the_old_one_its_connections_back(played: Play) -> None:
    async def check(supervisor: Supervisor, stage: Stage) -> None:
        old = stage.made[0]
        stage.entry.write_text("a = \n")
        old.gives(b"A")
        stage.made[1].says("failed")
        assert old.told == ["serve", "accept", "connectionA"]
        supervisor.lines[0].changed({str(stage.entry)})  # the watcher's word for the same save
        assert len(stage.made) == 2
        stage.entry.write_text("a = 333\n")
        supervisor.lines[0].changed({str(stage.entry)})
        assert len(stage.made) == 3

    played(check)


def test_a_change_during_a_reload_begins_it_anew(played: Play) -> None:
    async def check(supervisor: Supervisor, stage: Stage) -> None:
        supervisor.lines[0].reload()
        stage.entry.write_text("a = 22\n")
        supervisor.lines[0].changed({str(stage.entry)})
        first, second = stage.made[1:]
        assert first.killed
        first.exits(-9)
        second.is_ready()
        stage.made[0].says("disowned")
        assert second.told == ["serve"]

    played(check)


def test_a_change_while_the_old_one_disowns_replaces_the_new_one(played: Play) -> None:
    async def check(supervisor: Supervisor, stage: Stage) -> None:
        supervisor.lines[0].reload()
        stage.made[1].is_ready()
        supervisor.lines[0].reload()
        assert stage.made[1].told == ["serve"]
        stage.made[0].says("disowned")
        stage.made[2].is_ready()
        assert stage.made[1].told == ["serve", "retire"]
        assert stage.made[2].told == []

    played(check)


def test_an_empty_file_is_given_time_to_be_written(played: Play) -> None:
    async def check(supervisor: Supervisor, stage: Stage) -> None:
        stage.entry.write_text("")
        supervisor.lines[0].changed({str(stage.entry)})
        assert len(stage.made) == 1
        stage.entry.write_text("a = 22\n")
        supervisor.lines[0].changed({str(stage.entry)})
        assert len(stage.made) == 2
        await asyncio.wait([supervisor.ended], timeout=0.03)
        assert len(stage.made) == 2

    played(check)


def test_a_new_module_is_a_change_and_other_new_files_are_not(played: Play, tmp_path: Path) -> None:
    async def check(supervisor: Supervisor, stage: Stage) -> None:
        for name, made in (("notes.txt", 1), ("data.sqlite", 1), ("helper.py", 2)):
            (tmp_path / name).write_text("x")
            supervisor.lines[0].changed({str(tmp_path / name)})
            assert len(stage.made) == made

    played(check)


def test_a_crash_is_followed_by_a_start(played: Play) -> None:
    async def check(supervisor: Supervisor, stage: Stage) -> None:
        stage.made[0].exits(-11)
        await asyncio.wait([supervisor.ended], timeout=0.001)
        [new] = stage.made[1:]
        assert not new.replaces
        new.is_ready()
        assert new.told == ["serve"]

    played(check)


def test_a_crash_while_starting_is_served_as_an_error_until_a_file_changes(played: Play) -> None:
    async def check(supervisor: Supervisor, stage: Stage) -> None:
        first = stage.made[0]
        first.exits(-11)
        assert stage.made[1].failure == "The Worker's process was ended by SIGSEGV while it was starting."
        stage.made[1].is_ready(broken=True)
        assert stage.made[1].told == ["serve"]
        supervisor.lines[0].reload()
        assert (stage.made[2].replaces, stage.made[2].failure) == (False, "")
        stage.made[2].exits(3)
        assert stage.made[3].failure == "The Worker's process ended with exit code 3 while it was starting."
        stage.made[3].is_ready(broken=True)
        stage.made[1].says("disowned")
        assert stage.made[3].told == ["serve"]

    played(check, served=False)


def test_a_stand_in_that_crashes_is_followed_by_another_start_a_little_later(played: Play) -> None:
    async def check(supervisor: Supervisor, stage: Stage) -> None:
        stage.made[0].exits(-11)
        stage.made[1].stands_in = True
        stage.made[1].exits(-9)
        await asyncio.wait([supervisor.ended], timeout=0.001)
        assert len(stage.made) == 2

    played(check, served=False)


def test_a_crash_while_starting_leaves_what_serves(played: Play) -> None:
    async def check(supervisor: Supervisor, stage: Stage) -> None:
        supervisor.lines[0].reload()
        stage.made[1].exits(-11)
        assert len(stage.made) == 2
        assert stage.made[0].told == ["serve", "accept"]

    played(check)


def test_what_fails_at_the_start_is_replaced_even_if_it_fails_again(played: Play) -> None:
    async def check(supervisor: Supervisor, stage: Stage) -> None:
        stage.made[0].is_ready(broken=True)
        supervisor.lines[0].reload()
        assert not stage.made[1].replaces
        stage.made[1].is_ready(broken=True)
        stage.made[0].says("disowned")
        assert stage.made[1].told == ["serve"]

    played(check, served=False)


def test_stopping_asks_who_serves_and_kills_who_does_not(played: Play) -> None:
    async def check(supervisor: Supervisor, stage: Stage) -> None:
        supervisor.lines[0].reload()
        supervisor.stop()
        old, new = stage.made
        assert (old.told[-1], old.killed, new.killed) == ("stop", False, True)
        new.exits(-9)
        assert not supervisor.ended.done()
        old.exits(0)
        assert await supervisor.ended == 0

    played(check)


def test_the_state_is_let_go_of_before_the_new_one_starts(played: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_RELEASE_S", 0.01)

    async def check(supervisor: Supervisor, stage: Stage) -> None:
        [old] = stage.made
        supervisor.release()
        old, new = stage.made
        assert (old.told, new.replaces) == (["serve", "retire"], False)
        old.gives(b"GET /")
        old.says("disowned")
        assert new.told == []
        new.is_ready()
        assert new.told == ["serve", "connectionGET /"]
        await asyncio.wait([supervisor.ended], timeout=0.03)
        assert (old.killed, new.killed) == (True, False)

    played(check)


def test_the_state_is_let_go_of_by_what_is_coming_too(played: Play) -> None:
    async def check(supervisor: Supervisor, stage: Stage) -> None:
        supervisor.lines[0].reload()
        old, coming = stage.made
        coming.is_ready()
        supervisor.release()
        assert (old.told, coming.killed) == (["serve", "retire"], True)
        stage.made[2].is_ready()
        assert stage.made[2].told == ["serve"]

    played(check)


def test_a_debugger_keeps_the_state(played: Play) -> None:
    async def check(supervisor: Supervisor, stage: Stage) -> None:
        stage.made[0].debugging = True
        supervisor.release()
        assert (len(stage.made), stage.made[0].told) == (1, ["serve"])

    played(check)
