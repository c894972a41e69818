"""`flarebed dev` as a user runs it."""

from __future__ import annotations

import signal
import socket
import subprocess
from pathlib import Path

import pytest

from tests.real.command import COMMAND, dev, edit, pause, project

pytestmark = pytest.mark.real


def test_it_starts_answers_and_ends(tmp_path: Path) -> None:
    with dev(project(tmp_path)) as running:
        assert running.get() == "v0 h0 hello"
        assert "Your Worker has access to the following bindings:\n" in running.output
        assert 'env.GREETING ("hello")      Environment Variable      local\n' in running.output
        running.wait_for(r"\[wrangler:info\] GET / 200 OK \(\d+ms\)")
        assert running.stop() == 0


def test_options_reach_the_worker(tmp_path: Path) -> None:
    folder = project(tmp_path)
    state = tmp_path / "elsewhere"
    with dev(
        folder / "src", "--var", "GREETING:good day", "--persist-to", str(state), "--log-level", "none"
    ) as running:
        assert running.get() == "v0 h0 good day"
        assert running.stop(signal.SIGTERM) == 0
    assert state.is_dir()
    assert not (folder / ".wrangler").exists()


def test_an_edit_is_seen_by_the_next_request_on_the_same_connection(tmp_path: Path) -> None:
    folder = project(tmp_path)
    with dev(folder) as running:
        assert running.get() == "v0 h0 hello"
        edit(folder / "src" / "entry.py", "v0", "v1")
        assert running.get() == "v1 h0 hello"
        edit(folder / "src" / "helper.py", "h0", "h1")
        assert running.get() == "v1 h1 hello"
        edit(folder / "wrangler.jsonc", "hello", "bonjour")
        assert running.get() == "v1 h1 bonjour"
        (folder / ".dev.vars").write_text("GREETING=hola\n")
        assert running.get() == "v1 h1 hola"
        (folder / ".dev.vars").unlink()
        assert running.get() == "v1 h1 bonjour"


def test_one_save_is_one_reload_and_state_is_none(tmp_path: Path) -> None:
    folder = project(tmp_path)
    with dev(folder) as running:
        running.get()
        (folder / ".wrangler" / "note.py").write_text("x = 1\n")
        edit(folder / "src" / "entry.py", "v0", "v1")
        running.wait_for("Reloaded")
        edit(folder / "src" / "entry.py", "v1", "v2")
        running.wait_for("Reloaded")
        assert running.get() == "v2 h0 hello"
        pause(0.2)
        running.stop()
        assert "".join(running.output).count("Reloaded") == 2


def test_a_mistake_is_shown_while_the_last_good_version_serves(tmp_path: Path) -> None:
    folder = project(tmp_path)
    with dev(folder) as running:
        edit(folder / "src" / "entry.py", 'VERSION = "v0"', 'VERSION = = "v1"')
        assert running.get() == "v0 h0 hello"
        running.wait_for(r'File ".*/src/entry.py", line 5')
        running.wait_for(r'VERSION = = "v1"')
        running.wait_for("SyntaxError: invalid syntax")
        assert running.get() == "v0 h0 hello"
        edit(folder / "src" / "entry.py", "= =", "=")
        assert running.get() == "v1 h0 hello"


def test_a_mistake_at_the_start_is_served_until_it_is_mended(tmp_path: Path) -> None:
    folder = project(tmp_path)
    edit(folder / "src" / "helper.py", '"h0"', "1 / 0")
    with dev(folder) as running:
        assert running.status() == 500
        assert running.get().rstrip().splitlines()[-1] == "ZeroDivisionError: division by zero"
        edit(folder / "src" / "helper.py", "1 / 0", '"h2"')
        assert running.get() == "v0 h2 hello"


def test_a_request_in_flight_ends_on_the_old_code(tmp_path: Path) -> None:
    entry = """\
import asyncio
from pathlib import Path
from workers import Response, WorkerEntrypoint

VERSION = "v0"


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        if request.url.endswith("/slow"):
            print("begun")
            for _ in range(500):
                if Path(self.env.GREETING).exists():
                    break
                await asyncio.sleep(0.01)
        return Response(VERSION)
"""
    folder = project(tmp_path, entry)
    go = tmp_path / "go"
    with dev(folder, "--var", f"GREETING:{go}") as running:
        slow = running.begin("/slow")
        running.wait_for("begun")
        edit(folder / "src" / "entry.py", "v0", "v1")
        assert running.get() == "v1"
        go.touch()
        assert slow.getresponse().read() == b"v0"
        slow.close()


def test_kill_9_leaves_no_process_and_the_next_start_works(tmp_path: Path) -> None:
    folder = project(tmp_path)  # that no process is left, `dev` itself checks
    with dev(folder) as running:
        running.get()
        assert running.stop(signal.SIGKILL) == -signal.SIGKILL
    with dev(folder) as running:
        assert running.get() == "v0 h0 hello"


def test_a_worker_that_ends_its_process_is_started_again(tmp_path: Path) -> None:
    entry = """\
import ctypes
from workers import Response, WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        if request.url.endswith("/exit"):
            raise SystemExit(3)
        if request.url.endswith("/crash"):
            ctypes.string_at(0)
        return Response("alive")
"""
    with dev(project(tmp_path, entry)) as running:
        assert running.get("/exit") == "Error: Network connection lost."
        running.wait_for("ended with exit code 3 and is being restarted")
        running.wait_for("Reloaded")
        lost = running.begin("/crash")
        with pytest.raises(ConnectionError):
            lost.getresponse()
        lost.close()
        running.wait_for(r'File ".*/src/entry.py", line 10 in fetch')
        running.wait_for("was ended by SIGSEGV and is being restarted")
        running.wait_for("Reloaded")
        alive = running.begin("/")
        assert alive.getresponse().read() == b"alive"
        alive.close()


def test_a_busy_port_ends_the_command(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = subprocess.run(
            [*COMMAND, "dev", "--port", str(port)], cwd=project(tmp_path), capture_output=True, text=True, check=False
        )
    assert ended.returncode == 1
    assert ended.stderr == (
        f"✘ [ERROR] Address already in use (localhost:{port}). Please check that you are not already running a server "
        "on this address or specify a different port with --port.\n"
    )
