"""The life of workerd's process, with a script in its place."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from flarebed.emulator.runtime.workerd.process import StartFailed, Workerd

LISTENS = """\
echo "said $PWD $*"
echo '{"event": "listen", "socket": "a"}' >/dev/fd/${4#--control-fd=}
echo '{"event": "listen", "socket": "b"}' >/dev/fd/${4#--control-fd=}
"""
STAYS = "echo $$; exec sleep 60\n"


@dataclass
class Heard:
    lines: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    exits: asyncio.Queue[str] = field(default_factory=asyncio.Queue)


@asynccontextmanager
async def workerd(folder: Path, script: str) -> AsyncIterator[tuple[Workerd, Heard]]:
    binary = folder / "workerd"
    binary.write_text("#!/bin/sh\n" + script)
    binary.chmod(0o700)
    heard = Heard()
    loop = asyncio.get_running_loop()
    process = Workerd(binary, loop, heard.lines.put_nowait, heard.exits.put_nowait)
    try:
        yield process, heard
    finally:
        process.close()
        assert not process.folder.exists()


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_started_with_its_config_and_ended(tmp_path: Path) -> None:
    async with workerd(tmp_path, LISTENS + STAYS) as (process, heard):
        await process.start("the config", {"a", "b"})
        assert process.listening.is_set()
        said = (await heard.lines.get()).split(" ", 2)
        assert said[1] == str(process.folder)
        assert said[2].startswith("serve --experimental --verbose --control-fd=")
        assert said[2].endswith(" workerd.capnp config")
        assert (process.folder / "workerd.capnp").read_text() == "the config"
        assert process.folder.stat().st_mode & 0o777 == 0o700
        pid = int(await heard.lines.get())
        assert is_alive(pid)
    assert not is_alive(pid)
    assert heard.exits.empty()


async def test_it_ends_before_it_listens(tmp_path: Path) -> None:
    async with workerd(tmp_path, "echo why; echo not >&2; exit 1\n") as (process, heard):
        with pytest.raises(StartFailed) as failed:
            await process.start("", {"a"})
        assert failed.value.lines == ["why", "not"]
        assert heard.lines.empty()
        assert not process.listening.is_set()


async def test_it_listens_when_all_its_sockets_do(tmp_path: Path) -> None:
    async with workerd(tmp_path, LISTENS + "exit 3\n") as (process, _):
        with pytest.raises(StartFailed):
            await process.start("", {"a", "b", "c"})


async def test_killed_it_is_started_again(tmp_path: Path) -> None:
    async with workerd(tmp_path, LISTENS + STAYS) as (process, heard):
        await process.start("the config", {"a", "b"})
        (process.folder / "a").touch()  # a socket that it leaves
        await heard.lines.get()
        first = int(await heard.lines.get())
        os.kill(first, signal.SIGKILL)
        assert await heard.exits.get() == "was ended by SIGKILL"
        assert not process.listening.is_set()
        await process.listening.wait()
        assert not (process.folder / "a").exists()
        assert (process.folder / "workerd.capnp").read_text() == "the config"
        await heard.lines.get()
        assert int(await heard.lines.get()) != first


async def test_its_last_words_and_its_exit_code(tmp_path: Path) -> None:
    async with workerd(tmp_path, LISTENS + "read -r line <$PWD/go; printf 'last words'; exit 7\n") as (process, heard):
        os.mkfifo(process.folder / "go")
        await process.start("", {"a", "b"})
        await heard.lines.get()
        (process.folder / "go").write_text("\n")
        assert await heard.lines.get() == "last words"
        assert await heard.exits.get() == "ended with exit code 7"


async def test_drained_it_ends_by_itself(tmp_path: Path) -> None:
    ends = "trap 'echo asked; exit 0' TERM; echo ready; while :; do sleep 0.01; done\n"
    async with workerd(tmp_path, LISTENS + ends) as (process, heard):
        await process.start("", {"a", "b"})
        await heard.lines.get()
        assert await heard.lines.get() == "ready"
        await process.drained()
        assert await heard.lines.get() == "asked"
        assert heard.exits.empty()
        assert process.folder.exists()


async def test_closed_while_it_starts(tmp_path: Path) -> None:
    async with workerd(tmp_path, STAYS) as (process, _):
        starting = asyncio.ensure_future(process.start("", {"a"}))
        event = asyncio.Event()
        asyncio.get_running_loop().call_later(0.02, event.set)
        await event.wait()
        process.close()
        with pytest.raises(StartFailed):
            await starting
