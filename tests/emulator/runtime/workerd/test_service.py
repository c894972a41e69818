"""What goes wrong between esbuild and its host; the rest is in the tests of the bundler."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from tests.support import run

from flarebed.bindings.errors import FlarebedError, InternalError, UserError
from flarebed.emulator.runtime.workerd.bundling.packets import Packet, decode, encode
from flarebed.emulator.runtime.workerd.bundling.service import running


@pytest.mark.parametrize(
    "value",
    [None, True, False, 0, 4_294_967_295, "", "naïve", b"\0\xff", [], [1, ["a"]], {}, {"a": {"b": None}, "c": [b""]}],
)
def test_packets(value: object) -> None:
    for packet in (Packet(5, True, value), Packet(6, False, value)):
        encoded = encode(packet)
        assert int.from_bytes(encoded[:4], "little") == len(encoded) - 4
        assert decode(encoded[4:]) == packet


def test_a_packet_as_esbuild_has_it() -> None:
    assert encode(Packet(1, True, {"a": [True, "x", -1]})).hex(" ") == (
        "20 00 00 00 02 00 00 00 06 01 00 00 00 01 00 00 00 61 05 03 00 00 00 01 01 03 01 00 00 00 78 02 ff ff ff ff"
    )


def asked(program: Path, script: str) -> FlarebedError:
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)

    async def ask() -> None:
        async with running(program, "0.28.2") as service:
            await service.formatted([])

    with pytest.raises(FlarebedError) as caught:
        run(ask())
    return caught.value


def test_a_program_that_ends(tmp_path: Path) -> None:
    error = asked(tmp_path / "esbuild", "echo 'Cannot start service' >&2; exit 1")
    assert isinstance(error, UserError)
    assert error.message == "esbuild ended before it had bundled the Worker: Cannot start service"


def test_a_program_that_says_something_else(tmp_path: Path) -> None:
    greeting, packet = r"printf '\001\000\000\0000'", r"printf '\005\000\000\000\000\000\000\000\011'"
    error = asked(tmp_path / "esbuild", f"{greeting}; {packet}; exec cat >/dev/null")
    assert isinstance(error, InternalError)
    assert str(error).startswith(f"{tmp_path}/esbuild said what was not understood: ")


def test_a_bundle_that_nobody_waits_for_ends_its_esbuild(tmp_path: Path) -> None:
    program = tmp_path / "esbuild"
    program.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 60\n")
    program.chmod(0o755)

    async def begin() -> None:
        async with running(program, "0.28.2") as service:
            await service.formatted([])

    async def cancel() -> None:
        task = asyncio.ensure_future(begin())
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().endswith("\n"):
            await asyncio.to_thread(lambda: None)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(cancel())
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
