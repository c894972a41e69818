"""`flarebed dev`: finds the configs and an address, then hands over to the supervisor."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from flarebed.bindings.errors import UserError
from flarebed.bindings.presence import Bell
from flarebed.emulator.cli.output import warn
from flarebed.emulator.config import Config
from flarebed.emulator.server.log import Log
from flarebed.emulator.supervisor.building import Building
from flarebed.emulator.supervisor.forkserver import ForkServer
from flarebed.emulator.supervisor.launch import Launch
from flarebed.emulator.supervisor.main import Supervisor
from flarebed.emulator.supervisor.options import divided, read_configs, state_folder
from flarebed.emulator.supervisor.running import Announcement, Running, last

DEFAULT_PORT: Final = 8787
_PORTS_TRIED: Final = 100
_BACKLOG: Final = 2048
_ANNOUNCE_S: Final = 5.0
_NAMED_LOCALHOST: Final = ("127.0.0.1", "::1", "0.0.0.0", "::", "localhost")


def run(launch: Launch, server: ForkServer, ip: str | None, port: int | None) -> int:
    """Serve until told to stop; returns the exit code."""
    configs = read_configs(launch)
    launches, config = divided(launch, configs), configs[0]
    shown_ip = ip or config.dev.ip
    listener = listen(shown_ip, port if port is not None else config.dev.port)
    host, bound_port = listener.getsockname()[:2]
    url = f"http://{_shown_host(shown_ip)}:{bound_port}"
    running = Running(url, host, bound_port, os.getpid(), virtual=launch.virtual_start_ms is not None)
    state = state_folder(launch.persist_to, config)
    tell_of_wrangler(state, config)
    tell_of_another(state)
    return asyncio.run(_supervise(launches, configs, server, listener, running, state))


def tell_of_wrangler(state: Path, config: Config) -> None:
    """One look at the folder, and more only if wrangler was ever here."""
    if not (state / "v3" / "kv").is_dir():
        return
    from flarebed.emulator.state.wrangler import notice

    if (text := notice(state, config)) is not None:
        warn(text)


def tell_of_another(state: Path) -> None:
    other, is_alive = last(state)
    if other is not None and is_alive:
        warn(
            f"The `flarebed dev` at {other.url} (pid {other.pid}) has this state open too. Timers, consumers and "
            "instances of one Worker run in the one that came first, and here when that has ended."
        )


async def _supervise(
    launches: Sequence[Launch],
    configs: Sequence[Config],
    server: ForkServer,
    listener: socket.socket,
    running: Running,
    state: Path,
) -> int:
    loop = asyncio.get_running_loop()
    _keep_announcing(Announcement(state, running), loop)
    supervisor = Supervisor(launches, server, listener, running.url, loop)
    with contextlib.ExitStack() as ending:
        with contextlib.suppress(OSError):  # a folder that can't be used says so itself
            ending.callback(Bell(state, loop, supervisor.release).close)
        building = Building(configs, loop, Log(loop, launches[0].log_level))
        ending.callback(building.close)
        await building.begin()
        supervisor.start()
        return await supervisor.ended


def _keep_announcing(announcement: Announcement, loop: asyncio.AbstractEventLoop) -> None:
    """Another `dev` on the same state may end one day."""
    announcement.make()
    loop.call_later(_ANNOUNCE_S, _keep_announcing, announcement, loop)


def listen(ip: str, port: int | None) -> socket.socket:
    """Bind `port`, or without one the first free from 8787 on. Raises UserError if a named port is taken."""
    ports = [port] if port is not None else [*range(DEFAULT_PORT, DEFAULT_PORT + _PORTS_TRIED), 0]
    for candidate in ports:
        with contextlib.suppress(_Taken):
            return _bind(ip, candidate)
    # The text of wrangler 4.164.
    raise UserError(
        f"Address already in use ({ip}:{port}). Please check that you are not already running a server on this address "
        "or specify a different port with --port."
    )


class _Taken(Exception):
    pass


def _bind(ip: str, port: int) -> socket.socket:
    host = "127.0.0.1" if ip == "localhost" else ip
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise UserError(f'Unknown address "{ip}": {error.strerror}.', hint="Give an address with --ip.") from None
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise _Taken from None
        raise UserError(f"Can't listen on {ip}:{port}: {error.strerror}.") from None
    listener.setblocking(False)
    return listener


def _shown_host(ip: str) -> str:
    if ip in _NAMED_LOCALHOST:
        return "localhost"
    return f"[{ip}]" if ":" in ip else ip
