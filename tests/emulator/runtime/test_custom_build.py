"""A command that makes the Worker before it is loaded."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from tests.support import run

from flarebed.bindings.errors import UserError
from flarebed.emulator.config.model import BuildCommand
from flarebed.emulator.runtime.custom_build import run_custom_build


def build(command: str, folder: Path, environ: dict[str, str] | None = None) -> list[tuple[str, str]]:
    logged: list[tuple[str, str]] = []
    work = run_custom_build(
        BuildCommand(command, folder), environ or {}, lambda level, text: logged.append((level, text))
    )
    run(work)
    return logged


def test_no_command(tmp_path: Path) -> None:
    assert build("", tmp_path) == []


def test_a_shell_runs_the_command_in_its_folder(tmp_path: Path) -> None:
    command = 'echo "$GREETING from $WRANGLER_COMMAND" > made.js && cat made.js && printf "no line end"'
    assert build(command, tmp_path, {"GREETING": "hello", "PATH": "/usr/bin:/bin"}) == [
        ("log", f"[custom build] Running: {command}"),
        ("log", "[custom build] hello from dev"),
        ("log", "[custom build] no line end"),
    ]
    assert (tmp_path / "made.js").read_text() == "hello from dev\n"


def test_what_it_complains_about(tmp_path: Path) -> None:
    assert build("echo oh >&2", tmp_path)[1:] == [("log", "[custom build] oh")]


def test_a_failure(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        build("exit 3", tmp_path)
    assert (caught.value.message, caught.value.hint) == (
        "Running custom build `exit 3` failed. There are likely more logs from your build command above.",
        "It exited with the status 3.",
    )


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        build("true", tmp_path / "gone")
    assert (caught.value.message, caught.value.place) == (
        "Running custom build `true` failed: No such file or directory.",
        f"{tmp_path}/gone",
    )


def test_nobody_waits_for_it_any_more(tmp_path: Path) -> None:
    """What the shell started ends too."""

    async def play() -> None:
        command = BuildCommand("sh -c 'echo $$; exec sleep 60'; true", tmp_path)
        pid = asyncio.get_running_loop().create_future()

        def log(_: str, text: str) -> None:
            if found := re.fullmatch(r"\[custom build\] (\d+)", text):
                pid.set_result(int(found[1]))

        work = asyncio.ensure_future(run_custom_build(command, {"PATH": "/usr/bin:/bin"}, log))
        await pid
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        while is_alive(pid.result()):
            await asyncio.to_thread(lambda: None)

    run(play())


def is_alive(pid: int) -> bool:
    """Not a zombie that waits for its parent either."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return state.rpartition(")")[2].split()[0] != "Z"
