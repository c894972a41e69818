"""The config's `build` section: a command of the user's that makes the entry point, run before a Worker is loaded.

wrangler's deployment-bundle/run-custom-build.ts; how it asks for a shell and what it says was observed on 4.164.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Mapping
from typing import Final

from flarebed.bindings.errors import UserError
from flarebed.emulator.config.model import BuildCommand

_LONGEST_LINE: Final = 16 * 1024 * 1024


async def run_custom_build(build: BuildCommand, environ: Mapping[str, str], log: Callable[[str, str], None]) -> None:
    """Run the command, if there is one, and log what it prints. Raises UserError if it fails."""
    if not build.command:
        return
    log("log", f"[custom build] Running: {build.command}")
    try:
        process = await asyncio.create_subprocess_shell(
            build.command,
            cwd=build.cwd,
            env={**environ, "WRANGLER_COMMAND": "dev"},
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            limit=_LONGEST_LINE,
            start_new_session=True,  # so that what the shell starts can be ended with it
        )
    except OSError as error:
        text = f"Running custom build `{build.command}` failed: {error.strerror}."
        raise UserError(text, place=f"{build.cwd}") from None
    try:
        await asyncio.gather(_log_lines(process.stdout, log), _log_lines(process.stderr, log))
        code = await process.wait()
    except asyncio.CancelledError:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        raise
    if code != 0:
        raise UserError(
            f"Running custom build `{build.command}` failed. There are likely more logs from your build command above.",
            hint=f"It exited with the status {code}.",
        )


async def _log_lines(stream: asyncio.StreamReader | None, log: Callable[[str, str], None]) -> None:
    assert stream is not None
    async for line in stream:
        log("log", f"[custom build] {line.decode(errors='replace').rstrip()}")
