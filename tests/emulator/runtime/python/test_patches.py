"""The standard library in a Worker's hands, and in everybody else's."""

from __future__ import annotations

import asyncio
import builtins
import concurrent.futures
import io
import json
import multiprocessing
import os
import pdb
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.emulator.runtime.python.harness import Harness
from tests.support import run

from flarebed.emulator.runtime.python import patches
from flarebed.emulator.runtime.python.proxy import jsnull

patches.install()


def in_worker(call: Callable[[], Any]) -> Any:
    async def hosted() -> Any:
        async def code() -> Any:
            return call()

        return await Harness().run(code())

    return run(hosted())


def unopened() -> socket.socket:
    with socket.socket() as made:
        return made


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (threading.Thread(target=print).start, RuntimeError, "can't start new thread"),
    (lambda: subprocess.run(["ls"], check=False), OSError, "[Errno 138] emscripten does not support processes."),
    (os.fork, OSError, "[Errno 52] Function not implemented"),
    (lambda: os.execv("/bin/ls", ["ls"]), OSError, "[Errno 45] Exec format error"),
    (lambda: os.posix_spawn("/bin/ls", ["ls"], {}), AttributeError, "module 'os' has no attribute 'posix_spawn'"),
    (lambda: signal.alarm(1), AttributeError, "module 'signal' has no attribute 'alarm'"),
    (lambda: unopened().listen(), OSError, "[Errno 138] Not supported"),
    (lambda: input("?"), EOFError, ""),
    (lambda: multiprocessing.Process(target=print).start(), ModuleNotFoundError, "No module named '_multiprocessing'"),
    (lambda: multiprocessing.get_context("spawn").Lock(), ModuleNotFoundError, "No module named '_multiprocessing'"),
    (
        concurrent.futures.ProcessPoolExecutor, NotImplementedError,
        "This Python build lacks multiprocessing.synchronize, usually due to named semaphores being unavailable on "
        "this platform.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "text"), REFUSED)
def test_what_a_worker_is_refused(call: Callable[[], Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as thrown:
        in_worker(call)
    assert str(thrown.value) == text


def test_signal_handlers_of_a_worker_are_kept_apart() -> None:
    real = signal.getsignal(signal.SIGUSR1)

    def handle() -> tuple[Any, Any]:
        return signal.signal(signal.SIGUSR1, print), signal.getsignal(signal.SIGUSR1)

    assert in_worker(handle) == (signal.SIG_DFL, print)
    assert in_worker(lambda: signal.getsignal(signal.SIGINT)) is signal.default_int_handler
    assert signal.getsignal(signal.SIGUSR1) == real


def test_a_debugger_may_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    with pytest.raises(EOFError, match="EOF when reading a line"):
        in_worker(lambda: eval(compile("input()", pdb.__file__, "eval"), {"input": builtins.input}))


def test_sleep_waits_on_the_clock() -> None:
    async def hosted() -> float:
        worker = Harness()

        async def code() -> float:
            before = worker.loop.time()
            time.sleep(3600)
            return worker.loop.time() - before

        return await worker.run(code())

    assert run(hosted()) == 3600


def test_asyncio_run_in_a_handler() -> None:
    assert in_worker(lambda: asyncio.run(asyncio.sleep(0, 5))) == 5


def test_json_knows_null() -> None:
    assert json.dumps({"a": jsnull}) == '{"a": null}'
    assert json.dumps([jsnull, 1j], default=str) == '[null, "1j"]'


def test_others_are_let_through() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
    assert subprocess.run(["true"], check=False).returncode == 0
