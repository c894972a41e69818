"""`flarebed kv`: what recorded commands of wrangler (`test_kv_recorded.py`) do not show."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import apsw
import click
import pytest

from flarebed.bindings.clock import RealClock
from flarebed.bindings.kind import Surroundings
from flarebed.bindings.kv import engine
from flarebed.bindings.kv.binding import KvNamespace
from flarebed.bindings.kv.large import MAX_ROW_BYTES
from flarebed.bindings.store import Store
from flarebed.emulator.cli.commands import app
from tests.emulator.cli.project import Commands

CONFIG = """\
{
  // What the Worker has.
  "name": "worker", "main": "entry.py", "compatibility_date": "2026-11-01", "compatibility_flags": ["python_workers"],
  "kv_namespaces": [
    { "binding": "KV", "id": "ns1" } // the cache
  ],
  "env": { "test": { "name": "worker-test" } }
}
"""


class Kv(Commands):
    """`flarebed kv` in a folder with a config, beside processes that serve it."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        super().__init__(capture, "kv")
        self.state = folder / ".wrangler" / "state"

    def refused(self, *arguments: str) -> str:
        code, _, err = self(*arguments)
        assert code == 1
        return err.removeprefix("✘ [ERROR] ")

    def beside(self, work: Callable[[KvNamespace], Awaitable[Any]]) -> Any:
        """What a process that serves sees and does, on a state that it opened by itself."""

        async def process() -> Any:
            loop = asyncio.get_running_loop()
            store = Store(self.state, loop)
            none: Any = None
            around = Surroundings(RealClock(loop), store, none, "worker", frozenset(), lambda *_: None)
            try:
                return await work(engine.namespace("ns1", around))
            finally:
                store.close()

        return asyncio.run(process())


@pytest.fixture
def kv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Kv:
    (tmp_path / "wrangler.jsonc").write_text(CONFIG)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    return Kv(tmp_path, capsys)


def test_commands_and_a_running_worker_share_their_data(kv: Kv) -> None:
    async def serve(namespace: KvNamespace) -> tuple[Any, ...]:
        seen = [await namespace.getWithMetadata("k")]
        await asyncio.to_thread(kv.said, "key", "put", "k", "again", "--binding", "KV")
        seen.append(await namespace.get("k"))
        await namespace.put("answer", "from the Worker")
        seen.append(await asyncio.to_thread(kv.said, "key", "get", "answer", "--binding", "KV"))
        return tuple(seen)

    kv.said("key", "put", "k", "v", "--binding", "KV", "--metadata", '{"a":1}')
    stored = {"value": "v", "metadata": {"a": 1}, "cacheStatus": None}
    assert kv.beside(serve) == (stored, "again", "from the Worker")
    assert kv.said("key", "get", "k", "--namespace-id", "ns1") == "again"


def test_a_large_value_comes_out_byte_by_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    (tmp_path / "wrangler.jsonc").write_text(CONFIG)
    monkeypatch.chdir(tmp_path)
    value = bytes(range(256)) * (3 * MAX_ROW_BYTES // 256)
    (tmp_path / "value").write_bytes(value)
    app(["kv", "key", "put", "k", "--binding", "KV", "--path", str(tmp_path / "value")], standalone_mode=False)
    capsysbinary.readouterr()
    app(["kv", "key", "get", "k", "--binding", "KV"], standalone_mode=False)
    assert capsysbinary.readouterr() == (value, b"")


def test_ten_thousand_pairs(kv: Kv, tmp_path: Path) -> None:
    pairs = [{"key": f"k{number:05}", "value": str(number)} for number in range(10_000)]
    (tmp_path / "pairs.json").write_text(json.dumps(pairs))
    (tmp_path / "keys.json").write_text(json.dumps([pair["key"] for pair in pairs]))
    where = ("--binding", "KV")
    assert kv.said("bulk", "put", str(tmp_path / "pairs.json"), *where) == "Success!\n"
    assert json.loads(kv.said("key", "list", *where)) == [{"name": pair["key"]} for pair in pairs]
    got = json.loads(kv.said("bulk", "get", str(tmp_path / "keys.json"), *where))
    assert got == {pair["key"]: {"value": pair["value"]} for pair in pairs}
    assert kv.said("bulk", "delete", str(tmp_path / "keys.json"), "--force", *where) == "Success!\n"
    assert kv.said("key", "list", *where) == "[]\n"


def test_comments_and_trailing_commas_in_a_file(kv: Kv, tmp_path: Path) -> None:
    (tmp_path / "pairs.json").write_text('\ufeff[ // one\n {"key": "k", "value": "v",},\n]')
    assert kv.said("bulk", "put", str(tmp_path / "pairs.json"), "--binding", "KV") == "Success!\n"
    assert kv.said("key", "get", "k", "--binding", "KV") == "v"


@pytest.mark.parametrize(("answer", "left"), [("y", []), ("", []), ("n", [{"name": "k"}])])
def test_a_terminal_is_asked_before_keys_are_deleted(
    kv: Kv, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, left: list[Any]
) -> None:
    (tmp_path / "keys.json").write_text('["k"]')
    kv.said("key", "put", "k", "v", "--binding", "KV")
    monkeypatch.delenv("CI", raising=False)
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(click.termui, "visible_prompt_func", lambda _prompt: answer)
    kv("bulk", "delete", str(tmp_path / "keys.json"), "--binding", "KV")
    assert json.loads(kv.said("key", "list", "--binding", "KV")) == left


def titles(kv: Kv) -> list[str]:
    return [one["title"] for one in json.loads(kv.said("namespace", "list"))]


def test_a_namespace_from_its_creation_to_its_end(kv: Kv, tmp_path: Path) -> None:
    said = kv.said("namespace", "create", "my cache", "--update-config")
    [made] = [one for one in json.loads(kv.said("namespace", "list")) if one["title"] == "my cache"]
    assert said == (
        '🌀 Creating namespace with title "my cache"\n✨ Success!\n'
        "To access your new KV Namespace in your Worker, add the following snippet to your configuration file:\n"
        '{\n  "kv_namespaces": [\n    {\n'
        f'      "binding": "my_cache",\n      "id": "{made["id"]}"\n    }}\n  ]\n}}\n'
    )
    assert (tmp_path / "wrangler.jsonc").read_text() == CONFIG.replace(
        '"id": "ns1" }', f'"id": "ns1" }},\n    {{ "binding": "my_cache", "id": "{made["id"]}" }}'
    )
    kv.said("key", "put", "k", "v", "--binding", "my_cache")
    assert kv.refused("namespace", "create", "my cache") == (
        'A KV namespace with the title "my cache" already exists.\n'
        "  You can list existing namespaces with their IDs by running:\n    flarebed kv namespace list\n"
        "  Or choose a different namespace name.\n"
    )
    assert kv.said("namespace", "rename", "my cache", "--new-name", "cache") == (
        f'Renaming KV namespace {made["id"]} to "cache".\n✨ Successfully renamed namespace to "cache"\n'
    )
    assert kv.refused("namespace", "rename", "cache", "--new-name", "KV").startswith("A KV namespace with the title")
    assert kv.said("key", "get", "k", "--binding", "my_cache") == "v"
    shown = f'name: "cache" (id: "{made["id"]}")'
    assert kv.said("namespace", "delete", "cache", "-y") == (
        f"About to delete local KV namespace {shown}.\n"
        "This action is irreversible and will permanently delete all data in the KV namespace.\n\n"
        f"Deleting KV namespace {shown}.\nDeleted KV namespace {shown}.\n"
    )
    assert kv.said("key", "list", "--binding", "my_cache") == "[]\n"
    assert titles(kv) == ["KV", "my_cache"]


@pytest.mark.parametrize(
    ("arguments", "title", "snippet"),
    [
        (["--preview"], "x_preview", {"binding": "x", "preview_id": "ID"}),
        (["--env", "test"], "test-x", {"binding": "x", "id": "ID"}),
        (["--binding", "OTHER"], "x", {"binding": "OTHER", "id": "ID"}),
    ],
)
def test_what_a_new_namespace_is_called(kv: Kv, arguments: list[str], title: str, snippet: dict[str, str]) -> None:
    code, said, _warnings = kv("namespace", "create", "x", *arguments)
    assert code == 0
    [made] = [one["id"] for one in json.loads(kv.said("namespace", "list")) if one["title"] == title]
    assert json.loads(said.partition(":\n")[2].replace(made, "ID")) == {"kv_namespaces": [snippet]}


def test_namespaces_with_keys_are_listed_by_their_ids(kv: Kv) -> None:
    kv.said("key", "put", "k", "v", "--namespace-id", "Not A File's Name")
    kv.said("key", "list", "--namespace-id", "looked at")
    assert json.loads(kv.said("namespace", "list")) == [
        {"id": "ns1", "title": "KV", "supports_url_encoding": True},
        {"id": "Not A File's Name", "title": "Not A File's Name", "supports_url_encoding": True},
    ]
    assert kv.refused("namespace", "delete", "--namespace-id", "looked at") == (
        'Not able to delete namespace.\n  No KV namespace with the id "looked at" was found. '
        "Run `flarebed kv namespace list` to see all available namespaces.\n"
    )


def test_no_namespaces_are_configured(kv: Kv, tmp_path: Path) -> None:
    config = CONFIG.replace('    { "binding": "KV", "id": "ns1" } // the cache\n', "")
    (tmp_path / "wrangler.jsonc").write_text(config)
    assert kv.refused("key", "get", "k", "--binding", "KV") == (
        "No KV namespaces are configured in your wrangler config file. Use `--namespace-id` to specify the namespace "
        'directly, or add a "kv_namespaces" entry to your config.\n'
    )


def test_a_folder_is_no_value(kv: Kv) -> None:
    assert kv.refused("key", "put", "k", "--binding", "KV", "--path", ".") == (
        f"Could not read file: .\n  EISDIR: is a directory, open '{Path.cwd()}'\n"
    )


def test_what_is_no_utf_8_in_an_argument_is_replaced(kv: Kv) -> None:
    said = kv.said("key", "put", "k\udcff", "v\udcff", "--binding", "KV")
    assert said == 'Writing the value "v\ufffd" to key "k\ufffd" on namespace binding: "KV" (id: "ns1").\n'
    assert kv.said("key", "get", "k\ufffd", "--binding", "KV") == "v\ufffd"
    assert kv.said("key", "delete", "k\udcff", "--binding", "KV").startswith('Deleting the key "k\ufffd"')


def test_a_file_of_the_state_that_is_damaged(kv: Kv) -> None:
    kv.said("key", "put", "k", "v", "--binding", "KV")
    damaged = kv.state / "flarebed" / "kv" / "damaged.sqlite"
    damaged.write_bytes(b"not a database" * 100)
    assert kv.refused("namespace", "list") == (
        f"The state in {damaged} can't be used: file is not a database\n"
        "  Mend or remove it, or keep state elsewhere with --persist-to.\n"
    )


def test_a_file_that_does_not_know_its_id_is_listed_by_its_name(kv: Kv) -> None:
    kv.said("key", "put", "k", "v", "--namespace-id", "earlier")
    apsw.Connection(str(kv.state / "flarebed" / "kv" / "earlier.sqlite")).execute("DROP TABLE namespace")
    assert titles(kv) == ["KV", "earlier"]


def test_what_can_not_be_read_or_written_is_told(kv: Kv) -> None:
    code, _, err = kv("namespace", "create", "\udcff")
    assert (code, err) == (1, "✘ [ERROR] '\\udcff' is not text in UTF-8.\n")
    file = kv.state / "flarebed" / "kv" / "broken.sqlite"
    file.mkdir(parents=True)
    assert kv.refused("namespace", "list").startswith(f"The state in {file} can't be used: ")
