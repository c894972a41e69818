"""The fork server: a process with one thread that has everything heavy imported, and forks the Worker's processes.

It is itself forked before the command has any thread, and loads its modules while the command reads its options. A fork
of it is a clean interpreter as far as the Worker is concerned: no Worker code ever runs here.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import selectors
import signal
import socket
import sys
from dataclasses import dataclass
from typing import Final

from flarebed.emulator.supervisor.messages import Decoder, Message, receive, send

_CHILD: Final = "flarebed.emulator.supervisor.child"
_JAVASCRIPT: Final = "flarebed.emulator.runtime.workerd.worker"
"""Takes 150 ms, which no reload has to spend again."""
_AFTERWARDS: Final = ("uvicorn.lifespan.off", "uvicorn.protocols.websockets.websockets_sansio_impl", "httpx")


@dataclass(frozen=True)
class ForkServer:
    """The command's hold on its fork server. `lifeline` is a pipe's end whose closing ends all processes."""

    pid: int
    sock: socket.socket
    lifeline: int


def start(project: str) -> ForkServer:
    """Fork the server. To be called while the process has one thread and nothing open."""
    ours, theirs = socket.socketpair()
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        ours.close()
        os.close(write_end)
        _serve(theirs, read_end, project)
    theirs.close()
    os.close(read_end)
    return ForkServer(pid, ours, write_end)


def _serve(sock: socket.socket, lifeline: int, project: str) -> None:
    """Never returns."""
    status = 1
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: None)  # the terminal sends them to all of us; the supervisor acts
        importlib.import_module(_CHILD)
        importlib.import_module(project)
        _Server(sock, lifeline).run()
        status = 0
    except ConnectionError:
        status = 0  # the supervisor is gone, and has left something unread
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)


class _Server:
    def __init__(self, sock: socket.socket, lifeline: int) -> None:
        self._sock = sock
        self._lifeline = lifeline
        self._decoder = Decoder()
        self._children: dict[int, int] = {}
        self._complete = False
        self._woken, self._wake = socket.socketpair()

    def run(self) -> None:
        """Until the supervisor is gone."""
        self._wake.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake.fileno(), warn_on_full_buffer=False)
        selector = selectors.DefaultSelector()
        selector.register(self._sock, selectors.EVENT_READ)
        selector.register(self._woken, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if self._woken in ready:
                self._woken.recv(512)
                self._reap()
            if self._sock in ready:
                messages = receive(self._sock, self._decoder)
                if messages is None:
                    return
                for message in messages:
                    self._spawn(message, selector)

    def _spawn(self, message: Message, selector: selectors.BaseSelector) -> None:
        if message.fields["launch"]["javascript"]:
            importlib.import_module(_JAVASCRIPT)
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            selector.close()
            for sock in (self._sock, self._woken, self._wake):
                sock.close()
            _run_child(message, self._lifeline)
        for fd in message.fds:
            os.close(fd)
        self._children[pid] = message.fields["id"]
        send(self._sock, Message({"is": "spawned", "id": message.fields["id"], "pid": pid}))
        if not self._complete:
            self._complete = True
            _load_afterwards()

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = ended
                exited = {"is": "exited", "id": self._children.pop(pid), "code": os.waitstatus_to_exitcode(status)}
                send(self._sock, Message(exited))


def _load_afterwards() -> None:
    """What no first request needs, for the processes to come; while the first one starts."""
    for name in _AFTERWARDS:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # later forks' garbage collections then leave the shared pages alone


def _run_child(message: Message, lifeline: int) -> None:
    """Never returns, and never unwinds into the server's frames."""
    code = 1
    try:
        code = importlib.import_module(_CHILD).run(message.fields, message.fds, lifeline)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
