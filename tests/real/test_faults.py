"""Workers that fail in every way, and mistakes on the command line."""

from __future__ import annotations

import os
import re
import signal
import socket
from pathlib import Path

import pytest

from tests.real.command import dev, edit, flarebed, project

pytestmark = pytest.mark.real

IMPATIENT = """\
from flarebed.emulator.supervisor import line as supervisor
supervisor._PING_S, supervisor._HUNG_S = 0.1, 0.5
"""


def test_a_worker_that_hangs_is_shown_and_lives_on(tmp_path: Path) -> None:
    go = tmp_path / "go"
    entry = f"""\
import os
from workers import Response, WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        while not os.path.exists({str(go)!r}):
            pass
        return Response("at last")
"""
    with dev(project(tmp_path, entry), before=IMPATIENT) as running:
        hanging = running.begin("/")
        running.wait_for(r"\[wrangler:warn\] The Worker has not let go of its process for \d+ s.")
        running.wait_for(r'File ".*/src/entry.py", line 7 in fetch')
        go.touch()
        assert hanging.getresponse().read() == b"at last"
        hanging.close()
        assert running.get() == "at last"


def test_a_worker_that_hangs_for_good_is_replaced_by_an_edit(tmp_path: Path) -> None:
    folder = project(tmp_path)
    edit(folder / "src" / "entry.py", "        return", "        while VERSION == 'v0': pass\n        return")
    with dev(folder, before=IMPATIENT) as running:
        hanging = running.begin("/")
        running.wait_for("has not let go of its process")
        edit(folder / "src" / "entry.py", '"v0"', '"v1"')
        assert running.get() == "v1 h0 hello"
        hanging.close()


def test_a_worker_that_hangs_at_its_start_is_replaced_by_an_edit(tmp_path: Path) -> None:
    folder = project(tmp_path)
    with dev(folder) as running:
        edit(folder / "src" / "helper.py", "NAME", "while True: pass\nNAME")
        waiting = running.begin("/")
        edit(folder / "src" / "helper.py", "while True: pass\n", "")
        assert waiting.getresponse().read() == b"v0 h0 hello"
        waiting.close()


def test_a_worker_that_ends_its_process_is_started_again(tmp_path: Path) -> None:
    entry = """\
import ctypes
import os
from workers import Response, WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        if request.url.endswith("/exit"):
            raise SystemExit(3)
        if request.url.endswith("/crash"):
            ctypes.string_at(0)
        return Response(str(os.getpid()))
"""
    with dev(project(tmp_path, entry)) as running:
        assert running.get("/exit") == "Error: Network connection lost."
        running.wait_for("ended with exit code 3 and is being restarted")
        running.wait_for("Reloaded")
        lost = running.begin("/crash")
        with pytest.raises(ConnectionError):
            lost.getresponse()
        lost.close()
        running.wait_for(r'File ".*/src/entry.py", line 11 in fetch')
        running.wait_for("was ended by SIGSEGV and is being restarted")
        running.wait_for("Reloaded")
        os.kill(int(running.new_connection().get()), signal.SIGKILL)
        running.wait_for("was ended by SIGKILL and is being restarted")
        running.wait_for("Reloaded")
        assert running.new_connection().get().isdecimal()


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("1 / 0", r"ZeroDivisionError: division by zero"),
        ("raise SystemExit(4)", r"^SystemExit: 4$"),
        ("import os; os._exit(5)", r"The Worker's process ended with exit code 5 while it was starting."),
        ("import os; os.abort()", r"The Worker's process was ended by SIGABRT while it was starting."),
        (
            "import nosuchpackage",
            r"it is not installed in this environment; add it with: uv add nosuchpackage  "
            r"\(or: pip install nosuchpackage\)",
        ),
    ],
)
def test_a_worker_that_can_not_start_is_mended(tmp_path: Path, code: str, shown: str) -> None:
    folder = project(tmp_path)
    with dev(folder) as running:
        edit(folder / "src" / "helper.py", "NAME", f"{code}\nNAME")
        running.wait_for(shown)
        assert running.get() == "v0 h0 hello"
        edit(folder / "src" / "helper.py", f"{code}\n", "")
        edit(folder / "src" / "helper.py", "h0", "h1")
        assert running.get() == "v0 h1 hello"


@pytest.mark.parametrize("code", ["1 / 0", "raise SystemExit(4)", "import nosuchpackage", "import os; os.abort()"])
def test_a_worker_that_can_not_start_at_first(tmp_path: Path, code: str) -> None:
    folder = project(tmp_path)
    edit(folder / "src" / "helper.py", "NAME", f"{code}\nNAME")
    with dev(folder) as running:
        assert running.status() == 500
        edit(folder / "src" / "helper.py", f"{code}\n", "")
        assert running.get() == "v0 h0 hello"


def test_a_main_that_is_not_there_yet(tmp_path: Path) -> None:
    entry = project(tmp_path) / "src" / "entry.py"
    text = entry.read_text()
    entry.unlink()
    with dev(tmp_path) as running:
        assert running.output[0] == '✘ [ERROR] The entry-point file at "src/entry.py" was not found.\n'
        assert running.status() == 500
        entry.write_text(text)
        assert running.get() == "v0 h0 hello"


def test_a_config_that_breaks_and_is_mended(tmp_path: Path) -> None:
    config = project(tmp_path) / "wrangler.jsonc"
    with dev(tmp_path) as running:
        edit(config, '"name": "tiny"', '"name": 3')
        running.wait_for('Expected "name" to be of type string')
        assert running.get() == "v0 h0 hello"
        edit(config, '"name": 3', '"name": "tiny"')
        edit(config, "hello", "bonjour")
        assert running.get() == "v0 h0 bonjour"


def test_all_mistakes_of_a_config_are_told_at_once(tmp_path: Path) -> None:
    config = project(tmp_path) / "wrangler.jsonc"
    config.write_text('{"name": "tiny", "main": 3, "kv_namespaces": [{"id": "x"}], "queues": {"consumers": [{}]}}')
    ended = flarebed(tmp_path, "dev", "--port", "0")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == (
        "✘ [ERROR] Processing wrangler.jsonc configuration:\n"
        '  - Expected "main" to be of type string but got 3.\n'
        "    at wrangler.jsonc:1:18\n"
        '  - "kv_namespaces[0]" bindings should have a string "binding" field but got {"id":"x"}.\n'
        "    at wrangler.jsonc:1:47\n"
        '  - "queues.consumers[0]" should have a string "queue" field but got {}.\n'
        "    at wrangler.jsonc:1:86\n"
    )


def test_mistakes_on_the_command_line(tmp_path: Path) -> None:
    folder = project(tmp_path)
    edit(folder / "wrangler.jsonc", '"name"', '"env": {"staging": {}}, "name"')
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        busy = (
            f"✘ [ERROR] Address already in use (localhost:{port}). Please check that you are not already running a "
            "server on this address or specify a different port with --port.\n"
        )
        for arguments, code, error in (
            (["--port", port], 1, re.escape(busy)),
            (["--port", "99999"], 2, r"(?s)Usage: .*Invalid value for '--port': 99999 is not in the range .*"),
            (["--var", "nonsense"], 1, r'✘ \[ERROR\] "--var nonsense" is not KEY:VALUE.\n  For example: .*\n'),
            (["--env", "nope"], 1, r'(?s)✘ .*No environment found in configuration with name "nope"\..*:2:3\n'),
            (["--config", "nope.toml"], 1, r"✘ \[ERROR\] Could not read file: .*/nope.toml\n"),
        ):
            ended = flarebed(folder, "dev", *arguments)
            assert (ended.returncode, ended.stdout) == (code, "")
            assert re.fullmatch(error, ended.stderr), ended.stderr
