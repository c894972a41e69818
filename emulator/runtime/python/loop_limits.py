"""What an event loop of Pyodide refuses: sockets of its own, pipes, processes, signals. The texts are Pyodide's.

Source: src/py/pyodide/webloop.py of Pyodide 314. (Connections are not among it: see `WebLoop.create_connection`.)
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

_SOCKETS = "restricted raw socket access"
_DESCRIPTORS = "lack of POSIX file descriptors"
_PROCESSES = "absence of OS process APIs"
_UNIX_SOCKETS = "absence of Unix domain sockets"
_PIPES = "absence of OS pipes"
_SIGNALS = "lack of POSIX signals"
_ZERO_COPY = "missing OS file descriptors and zero-copy facilities"
_REFUSED = {
    **dict.fromkeys(("add_reader", "add_writer", "remove_reader", "remove_writer"), _DESCRIPTORS),
    **dict.fromkeys(("connect_read_pipe", "connect_write_pipe"), _PIPES),
    **dict.fromkeys(("sendfile", "sock_sendfile"), _ZERO_COPY),
    **dict.fromkeys(("create_unix_connection", "create_unix_server"), _UNIX_SOCKETS),
    **dict.fromkeys(("subprocess_exec", "subprocess_shell"), _PROCESSES),
    **dict.fromkeys(("add_signal_handler", "remove_signal_handler"), _SIGNALS),
    **dict.fromkeys(
        (
            "create_server", "connect_accepted_socket", "create_datagram_endpoint", "sock_accept", "sock_connect",
            "sock_recv", "sock_recv_into", "sock_recvfrom", "sock_recvfrom_into", "sock_sendall", "sock_sendto",
        ),
        _SOCKETS,
    ),
}  # fmt: skip


class LoopLimits(asyncio.AbstractEventLoop):
    """A loop whose methods of the table above raise NotImplementedError."""


def _refusal(name: str, why: str) -> Callable[..., Any]:
    text = f"{name}() is not available in browser environments due to {why}."

    def refuse(self: LoopLimits, *_arguments: Any, **_options: Any) -> Any:
        raise NotImplementedError(text)

    async def refuse_later(self: LoopLimits, *arguments: Any, **options: Any) -> Any:
        refuse(self, *arguments, **options)

    return refuse_later if inspect.iscoroutinefunction(getattr(asyncio.AbstractEventLoop, name)) else refuse


for _name, _why in _REFUSED.items():
    setattr(LoopLimits, _name, _refusal(_name, _why))
