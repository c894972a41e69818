"""Edits while `flarebed dev` runs: the next request gets the new code, and nothing that is under way is lost."""

from __future__ import annotations

import http.client
import os
import threading
from pathlib import Path

import pytest

from tests.real.command import Running, dev, edit, pause, project, until

pytestmark = pytest.mark.real

ENTRY = """\
import asyncio
from pathlib import Path
from urllib.parse import urlparse

from workers import Response, WorkerEntrypoint, WorkflowEntrypoint

import helper

VERSION = "v0"


def note(env, text):
    with open(env.NOTES, "a") as notes:
        notes.write(f"{text} {VERSION} {helper.NAME} {env.GREETING}\\n")


class Flow(WorkflowEntrypoint):
    async def run(self, event, step):
        @step.do("before")
        async def before():
            note(self.env, "before")

        @step.do("after")
        async def after():
            note(self.env, "after")

        await before()
        while not Path(self.env.GO + " on").exists():
            await step.sleep("nap", "1 second")
        await after()


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        path = urlparse(request.url).path
        if path == "/create":
            await self.env.FLOW.create()
        if path.startswith("/send/"):
            await self.env.JOBS.send(path.removeprefix("/send/"))
        return Response(f"{VERSION} {helper.NAME} {self.env.GREETING}")

    async def queue(self, batch, env, ctx):
        note(self.env, "batch of " + " ".join(message.body for message in batch.messages) + ":")
        while not Path(self.env.GO).exists():
            await asyncio.sleep(0.01)
        note(self.env, "end:")
"""
BINDINGS = """\
"workflows": [{"name": "flow", "binding": "FLOW", "class_name": "Flow"}],
"queues": {
  "producers": [{"binding": "JOBS", "queue": "jobs"}],
  "consumers": [{"queue": "jobs", "max_batch_size": %d, "max_batch_timeout": %d}]
},
"vars": {"GREETING": "hello", "NOTES": "%s", "GO": "%s"}"""


class Place:
    def __init__(self, folder: Path, *, batch_size: int, batch_timeout_s: int) -> None:
        self.folder = project(folder, ENTRY)
        self.entry = folder / "src" / "entry.py"
        self.config = folder / "wrangler.jsonc"
        self.go = folder / "go"
        self._notes = folder / "notes"
        bindings = BINDINGS % (batch_size, batch_timeout_s, self._notes, self.go)
        edit(self.config, '"vars": {"GREETING": "hello"}', bindings)

    def notes(self) -> list[str]:
        return self._notes.read_text().splitlines() if self._notes.exists() else []


def test_while_an_instance_sleeps_and_three_messages_wait(tmp_path: Path) -> None:
    place = Place(tmp_path, batch_size=4, batch_timeout_s=60)
    place.go.touch()  # for the batch; the instance naps until "go on" is there
    with dev(place.folder) as running:
        for path in ("/create", "/send/1", "/send/2", "/send/3"):
            assert running.get(path) == "v0 h0 hello"
        until(lambda: place.notes() == ["before v0 h0 hello"])
        edit(place.entry, '"v0"', '"v1"')
        assert running.get() == "v1 h0 hello"
        edit(tmp_path / "src" / "helper.py", "h0", "h1")
        assert running.get() == "v1 h1 hello"
        edit(place.config, '"GREETING": "hello"', '"GREETING": "bonjour"')
        assert running.get() == "v1 h1 bonjour"
        (tmp_path / ".dev.vars").write_text("GREETING=hola\n")
        assert running.get() == "v1 h1 hola"
        edit(place.entry, '"v1"', '= "v2"')
        assert running.get() == "v1 h1 hola"
        edit(place.entry, '= "v2"', '"v2"')
        assert running.get() == "v2 h1 hola"
        (tmp_path / ".wrangler" / "state" / "noise.py").write_text("1 / 0\n")
        assert running.get("/send/4") == "v2 h1 hola"
        until(lambda: len(place.notes()) == 3)
        place.go.with_name("go on").touch()
        until(lambda: len(place.notes()) == 4)
        running.stop()
        assert "".join(running.output).count("Reloaded") == 5
    assert place.notes() == [
        "before v0 h0 hello",
        "batch of 1 2 3 4: v2 h1 hola",
        "end: v2 h1 hola",
        "after v2 h1 hola",
    ]


def test_a_batch_in_flight_ends_on_the_old_code_and_the_next_begins_on_the_new(tmp_path: Path) -> None:
    place = Place(tmp_path, batch_size=1, batch_timeout_s=0)
    with dev(place.folder) as running:
        running.get("/send/1")
        until(lambda: place.notes() == ["batch of 1: v0 h0 hello"])
        edit(place.entry, '"v0"', '"v1"')
        assert running.get("/send/2") == "v1 h0 hello"
        pause(0.3)
        assert place.notes() == ["batch of 1: v0 h0 hello"]
        place.go.touch()
        until(lambda: len(place.notes()) == 4)
        pause(0.2)
    assert place.notes()[1:] == ["end: v0 h0 hello", "batch of 2: v1 h0 hello", "end: v1 h0 hello"]


def test_every_edit_is_seen_by_the_next_request(tmp_path: Path) -> None:
    entry = project(tmp_path) / "src" / "entry.py"
    with dev(tmp_path) as running:
        for number in range(20):
            assert running.get() == f"v{number} h0 hello"
            edit(entry, f'"v{number}"', f'"v{number + 1}"')


def test_edits_in_quick_succession(tmp_path: Path) -> None:
    entry = project(tmp_path) / "src" / "entry.py"
    with dev(tmp_path) as running:
        for number in range(30):
            edit(entry, f'"v{number}"', f'"v{number + 1}"')
            pause(0.007)
        assert running.get() == "v30 h0 hello"


def test_no_request_fails_while_files_change(tmp_path: Path) -> None:
    entry = project(tmp_path) / "src" / "entry.py"
    with dev(tmp_path) as running:
        clients = [Client(running, kept_alive=kept_alive) for kept_alive in (True, True, False)]
        for number in range(10):
            edit(entry, f'"v{number}"', f'"v{number + 1}"')
            pause(0.1)
        for client in clients:
            client.stop()
    for client in clients:
        versions = [int(answer.removeprefix("v").removesuffix(" h0 hello")) for answer in client.answers]
        assert versions == sorted(versions)
        assert versions[-1] == 10


class Client:
    """Asks all the time."""

    def __init__(self, running: Running, *, kept_alive: bool) -> None:
        self.answers: list[str] = []
        self._port = running.port
        self._kept_alive = kept_alive
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=20)
        while not self._stop.wait(0.005):
            connection.request("GET", "/")
            self.answers.append(connection.getresponse().read().decode())
            if not self._kept_alive:
                connection.close()
        connection.close()


def test_how_editors_save(tmp_path: Path) -> None:
    entry = project(tmp_path) / "src" / "entry.py"
    text = entry.read_text()

    def replaced(version: str) -> None:
        beside = entry.with_name(".entry.py.tmp")
        beside.write_text(text.replace("v0", version))
        os.replace(beside, entry)

    def backed_up(version: str) -> None:
        os.rename(entry, entry.with_name("entry.py~"))
        entry.write_text(text.replace("v0", version))

    def truncated_first(version: str) -> None:
        with open(entry, "w") as file:
            file.flush()
            pause(0.01)
            file.write(text.replace("v0", version))

    with dev(tmp_path) as running:
        for number in range(3):
            for save in (replaced, backed_up, truncated_first):
                version = f"{save.__name__}{number}"
                save(version)
                assert running.get() == f"{version} h0 hello"


def test_a_deleted_entry_comes_back(tmp_path: Path) -> None:
    entry = project(tmp_path) / "src" / "entry.py"
    text = entry.read_text()
    with dev(tmp_path) as running:
        entry.unlink()
        running.wait_for("The last version that worked is still being served.")
        assert running.get() == "v0 h0 hello"
        entry.write_text(text.replace("v0", "v1"))
        assert running.get() == "v1 h0 hello"
        assert '✘ [ERROR] The entry-point file at "src/entry.py" was not found.\n' in running.output


def test_a_mistake_in_a_new_module(tmp_path: Path) -> None:
    entry = project(tmp_path) / "src" / "entry.py"
    with dev(tmp_path) as running:
        assert running.get() == "v0 h0 hello"
        new = tmp_path / "src" / "new.py"
        new.write_text('NEW = = "n1"\n')
        edit(entry, "import helper", "import helper\nimport new")
        edit(entry, '"v0"', "new.NEW")
        assert running.get() == "v0 h0 hello"
        new.write_text('NEW = "n1"\n')
        assert running.get() == "n1 h0 hello"


def test_a_module_that_comes_after_its_import(tmp_path: Path) -> None:
    entry = project(tmp_path) / "src" / "entry.py"
    with dev(tmp_path) as running:
        edit(entry, "import helper", "import helper\nfrom new import VERSION")
        edit(entry, 'VERSION = "v0"', "")
        assert running.get() == "v0 h0 hello"
        (tmp_path / "src" / "new.py").write_text('VERSION = "v1"\n')
        assert running.get() == "v1 h0 hello"


def test_a_module_that_is_only_imported_by_a_request(tmp_path: Path) -> None:
    entry = project(tmp_path) / "src" / "entry.py"
    edit(entry, "        return Response", "        from later import LATER\n        return Response")
    edit(entry, "{VERSION}", "{LATER}")
    with dev(tmp_path) as running:
        status, text = running.ask("GET")
        assert (status, "ModuleNotFoundError: No module named 'later'" in text) == (500, True)
        later = tmp_path / "src" / "later.py"
        later.write_text('LATER = "l0"\n')
        running.wait_for("Reloaded")
        for number in range(3):
            assert running.get() == f"l{number} h0 hello"
            edit(later, f"l{number}", f"l{number + 1}")


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
