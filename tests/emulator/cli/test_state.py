"""`flarebed state`: what each command does with the state, and what it says."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import click
import pytest

from flarebed.bindings.registry import KINDS
from flarebed.bindings.store import STATE_VERSION
from flarebed.emulator.cli import state_commands
from flarebed.emulator.cli.dev import tell_of_wrangler
from flarebed.emulator.config import load
from tests.emulator.cli.project import Commands
from tests.support import Bench
from tests.wrangler_state import WranglersState

CONFIG = {
    "name": "shop", "main": "entry.py", "compatibility_date": "2026-11-01", "compatibility_flags": ["python_workers"],
    "kv_namespaces": [{"binding": "KV", "id": "kv-id"}],
    "d1_databases": [{"binding": "DB", "database_name": "party", "database_id": "party-id"}],
    "queues": {"producers": [{"binding": "JOBS", "queue": "jobs"}]},
}  # fmt: skip
FORCE = "\n  Say --force to do it without being asked.\n"
Story = Callable[[dict[str, Any]], Awaitable[Any]]


class Project(Commands):
    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        super().__init__(capture, "state")
        self.folder = folder
        self.state = folder / ".wrangler" / "state"
        folder.mkdir(exist_ok=True)
        (folder / "wrangler.json").write_text(json.dumps(CONFIG))

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        return super().__call__(*arguments, "--config", str(self.folder / "wrangler.json"))

    def rows(self, *arguments: str) -> str:
        """What it says, without the lines of tables."""
        lines = [line for line in self.said(*arguments).splitlines() if not line.startswith(("┌", "├", "└"))]
        return "\n".join(" ".join(line.replace("│", " ").split()) for line in lines)

    def refused(self, *arguments: str) -> str:
        code, out, err = self(*arguments)
        assert (code, out) == (1, "")
        return err

    def run(self, story: Story) -> Any:
        """A process with the bindings."""

        async def process() -> Any:
            bench = Bench(self.state)
            config = load(self.folder / "wrangler.json", cwd=self.folder, env=None, environ={})
            opened = [kind.open(config.specs[kind.name], bench.around) for kind in KINDS if config.specs.get(kind.name)]
            try:
                return await story({name: bound for kind in opened for name, bound in kind.bindings().items()})
            finally:
                bench.store.close()

        return asyncio.run(process())

    def write(self, value: str) -> None:
        async def story(env: dict[str, Any]) -> None:
            await env["KV"].put("k", value)
            await env["DB"].exec(f"CREATE TABLE {value} (a)")
            await env["JOBS"].send(value)

        self.run(story)

    def holds(self) -> tuple[Any, Any, int]:
        """The value in KV, D1's tables, how many messages wait."""

        async def story(env: dict[str, Any]) -> tuple[Any, Any, int]:
            tables = await env["DB"].prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").raw()
            waiting = (await env["JOBS"].metrics())["backlogCount"]
            return await env["KV"].get("k"), [row[0] for row in tables], waiting

        found: tuple[Any, Any, int] = self.run(story)
        return found


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    made = Project(tmp_path / "shop", capsys)
    monkeypatch.chdir(made.folder)
    return made


@pytest.fixture
def theirs(tmp_path: Path) -> WranglersState:
    """A state that wrangler has left elsewhere."""
    state = WranglersState(tmp_path / "theirs" / ".wrangler" / "state")
    state.kv("kv-id", {"k": (b"wrangler", None, None), "old": (b"", 1, None)})
    state.kv("other", {"k": (b"1", None, None)})
    state.kv("odd/id", {"k": (b"1", None, None)}, folder="odd_id")
    state.d1("party-id", "CREATE TABLE theirs (a)")
    state.r2("pics", {"a.png": b"png"})
    (state.root / "v3" / "do" / "shop-Room").mkdir(parents=True)
    (state.root / "v3" / "do" / "shop-Room" / "x.sqlite").touch()
    return state


def test_all_kinds_can_be_named() -> None:
    assert tuple(kind.name for kind in KINDS if kind.keeps_state) == state_commands.KINDS


def elsewhere(project: Project) -> Project:
    return Project(project.folder.with_name("copy"), project._capture)


def test_an_archive_makes_another_state_the_same(project: Project) -> None:
    project.write("first")
    said = project.rows("export")
    assert said.startswith(
        "Kind Resource Holds Size\nkv KV 1 key 28.0 KiB\nd1 DB 1 table 8.0 KiB\nqueues jobs 1 message "
    )
    assert f"\nExported to {project.folder / 'shop-state.tar.gz'} (" in said
    other = elsewhere(project)
    said = other.rows("import", "shop-state.tar.gz")
    assert said.startswith("Kind Resource Holds Size\nkv KV 1 key 28.0 KiB\n")
    assert said.endswith('\nImported shop-state.tar.gz, the state of "shop"')
    assert other.holds() == project.holds() == ("first", ["first"], 1)


def test_an_import_replaces_all_and_asks_before(project: Project) -> None:
    project.write("first")
    project.rows("export", "a.tar.gz")
    project.write("second")
    assert project.refused("import", "a.tar.gz") == (
        "✘ [ERROR] This replaces or removes what the state holds: kv KV (1 key), d1 DB (2 tables), "
        f"queues jobs (2 messages). Nothing was changed.{FORCE}"
    )
    assert project.holds() == ("second", ["first", "second"], 2)
    project.rows("import", "a.tar.gz", "--force")
    assert project.holds() == ("first", ["first"], 1)


def test_a_question_is_answered(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("first")
    asked: list[str] = []
    answers: list[bool] = [False, True]
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(click, "confirm", lambda text: asked.append(text) or answers.pop(0))
    assert project("clear", "--kind", "kv") == (1, "Nothing was changed.\n", "")
    assert asked == ["This replaces or removes what the state holds: kv KV (1 key). Go on?"]
    assert project.holds()[0] == "first"
    assert project("clear", "--kind", "kv")[0] == 0
    assert project.holds()[0] is None


def test_an_archive_is_not_overwritten_unasked(project: Project) -> None:
    project.rows("export", "a.tar.gz")
    path = project.folder / "a.tar.gz"
    text = f"✘ [ERROR] {path} is there already and would be overwritten. Nothing was changed.{FORCE}"
    assert project.refused("export", "a.tar.gz") == text
    project.rows("export", "a.tar.gz", "-y")
    assert project.refused("export", "no/a.tar.gz") == f"✘ [ERROR] There is no folder {project.folder / 'no'}.\n"


def test_a_database_in_an_archive_that_is_none(project: Project) -> None:
    project.write("first")
    project.rows("snapshot", "broken")
    folder = project.state / "flarebed" / "snapshots" / "broken"
    (folder / "flarebed" / "kv" / "kv-id.sqlite").write_text("not a database, and longer than a header" * 9)
    error = project.refused("restore", "broken")
    assert error.startswith(f"✘ [ERROR] {folder} holds what can't be used. Nothing was changed.\n  The state in ")
    assert "kv-id.sqlite can't be used: file is not a database\n" in error
    assert project.holds() == ("first", ["first"], 1)


def test_snapshots(project: Project) -> None:
    assert project.rows("snapshots") == "There are no snapshots. `flarebed state snapshot NAME` takes one."
    assert project.refused("restore") == '✘ [ERROR] There is no snapshot "default".\n  There is: none\n'
    project.write("first")
    assert project.rows("snapshot").endswith('Snapshot "default" taken')
    project.write("second")
    project.rows("snapshot", "two")
    assert project.rows("restore").endswith('Snapshot "default" restored')
    assert project.holds() == ("first", ["first"], 1)
    project.rows("restore", "two")
    assert project.holds() == ("second", ["first", "second"], 2)
    assert [row["name"] for row in json.loads(project("snapshots", "--json")[1])] == ["default", "two"]
    assert project.refused("snapshot", "two") == (
        f'✘ [ERROR] There is a snapshot "two" already, which would be overwritten. Nothing was changed.{FORCE}'
    )
    project.rows("restore", "default")
    project.rows("snapshot", "two", "--force")
    project.rows("clear", "--force")
    project.rows("restore", "two")
    assert project.holds() == ("first", ["first"], 1)
    assert project.rows("snapshot", "default", "--delete") == 'Snapshot "default" deleted'
    assert project.refused("snapshot", "default", "--delete").endswith("There is: two\n")
    assert project.refused("snapshot", "../x") == (
        '✘ [ERROR] "../x" is no name for a snapshot.\n  Up to 100 letters, digits, dots, dashes and underscores.\n'
    )


def test_from_any_folder_below_the_config(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    (project.folder / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(project.folder / "a" / "b")
    Commands(project._capture, "state").said("snapshot", "here")
    assert project.rows("snapshots").splitlines()[1].startswith("here ")
    Commands(project._capture, "state").said("snapshot", "there", "--persist-to", "other")
    assert (project.folder / "a/b/other/flarebed/snapshots/there/manifest.json").exists()


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        ([], (None, [], 0)),
        (["--kind", "kv"], (None, ["first"], 1)),
        (["--kind", "d1", "--kind", "queues"], ("first", [], 0)),
        (["--binding", "JOBS"], ("first", ["first"], 0)),
        (["--name", "party", "--name", "kv-id"], (None, [], 1)),
    ],
)
def test_clear(project: Project, arguments: list[str], left: Any) -> None:
    project.write("first")
    assert project.rows("clear", *arguments, "--force").endswith("\nCleared")
    assert project.holds() == left


def test_clear_what_is_not_there(project: Project) -> None:
    assert project.rows("clear") == "There was nothing to clear"
    project.write("first")
    assert project.refused("clear", "--name", "jobz", "--kind", "queues") == (
        '✘ [ERROR] There is no state of "jobz".\n  There is: queues jobs\n'
    )


def test_virtual_time_is_a_part_of_the_state(project: Project) -> None:
    clock = project.state / "flarebed" / "clock"
    clock.parent.mkdir(parents=True)
    clock.write_text("5.0")
    project.rows("snapshot")
    clock.write_text("6.0")
    project.rows("restore")
    assert clock.read_text() == "5.0"
    project.rows("clear", "--kind", "kv")
    assert clock.exists()
    project.rows("clear")
    assert not clock.exists()


@pytest.mark.parametrize("below", ["", ".wrangler", ".wrangler/state"])
def test_import_what_wrangler_left_elsewhere(project: Project, theirs: WranglersState, below: str) -> None:
    project.write("ours")
    source = str(theirs.root.parents[1] / below)
    assert project.refused("import", source).startswith(
        "✘ [ERROR] This replaces or removes what the state holds: kv KV (1 key), d1 DB (1 table). Nothing"
    )
    lines = project.rows("import", source, "--force").splitlines()
    assert lines[0] == "Kind Resource Holds Size Note"
    assert sorted(lines[1:5]) == [
        "d1 DB 1 table 8.0 KiB",
        "kv KV 1 key 28.0 KiB left out: 1 expired",
        "kv other 1 key 28.0 KiB",
        "r2 pics 1 object 12.0 KiB",
    ]
    assert "Skipped v3/do: not emulated" in lines
    assert any(line.startswith("Skipped KV ") and line.endswith("the name of a folder beside it") for line in lines)
    assert project.holds() == ("wrangler", ["theirs"], 1)
    assert len(list(project.state.glob("v3/r2/pics/blobs/*"))) == 1


def test_import_what_wrangler_left_in_the_same_folder(project: Project) -> None:
    state = WranglersState(project.state)
    state.kv("kv-id", {"k": (b"wrangler", None, None)})
    state.d1("party-id", "CREATE TABLE theirs (a)")
    config = load(project.folder / "wrangler.json", cwd=project.folder, env=None, environ={})
    tell_of_wrangler(project.state, config)
    assert project._capture.readouterr().err == (
        "▲ [WARNING] wrangler has kept KV data here (KV), which `flarebed state import` takes over.\n"
    )
    said = project.rows("import")
    assert "d1 DB 1 table 8.0 KiB used where it is" in said
    assert said.endswith(f"\nImported {project.state}")
    tell_of_wrangler(project.state, config)
    assert project._capture.readouterr().err == ""
    assert project.holds() == ("wrangler", ["theirs"], 0)
    project.write("ours")
    assert "kv KV (1 key). Nothing was changed." in project.refused("import")


def test_import_a_folder_of_flarebeds(project: Project) -> None:
    project.write("first")
    other = elsewhere(project)
    WranglersState(project.state).kv("kv-id", {"k": (b"wrangler", None, None)})
    said = other.rows("import", str(project.folder))
    assert "Skipped KV kv-id of wrangler: flarebed's own namespace of this id is taken" in said
    assert other.holds() == ("first", ["first"], 1)


def test_import_nothing(project: Project) -> None:
    text = "is no state folder: there is neither v3/ nor flarebed/ in it.\n"
    assert project.refused("import", ".") == f"✘ [ERROR] . {text}"
    assert project.refused("import", "no") == "✘ [ERROR] There is no file or folder no.\n"
    project.rows("snapshot")
    assert project.rows("import") == f"There is nothing to import in {project.state}"


def test_an_archive_of_a_newer_flarebed(project: Project) -> None:
    project.rows("snapshot")
    manifest = project.state / "flarebed" / "snapshots" / "default" / "manifest.json"
    manifest.write_text(manifest.read_text().replace(f'"state_version": {STATE_VERSION}', '"state_version": 9'))
    assert "was made by a newer flarebed (0.1.0; this is 0.1.0).\n  Update flarebed." in project.refused("restore")


def test_what_is_no_archive_is_told_so(project: Project) -> None:
    other = project.folder / "bulk.json"
    other.write_text("[]")
    assert project.refused("import", str(other)) == (
        f"✘ [ERROR] {other} is not an archive that `flarebed state export` has made.\n"
    )


def test_a_damaged_file_is_named_and_can_be_cleared(project: Project) -> None:
    project.write("first")
    [file] = (project.state / "v3" / "d1").rglob("*.sqlite")
    file.write_bytes(b"no database at all" * 100)
    assert project.refused("export").startswith(f"✘ [ERROR] The state in {file} can't be used: ")
    assert "d1 DB (damaged)" in project.refused("clear")
    assert "d1 DB damaged" in project.rows("clear", "--force")
    assert not file.exists()
