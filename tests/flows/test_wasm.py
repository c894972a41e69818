"""Files beside the code: WebAssembly, text and data, as modules, as files and in env."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flarebed.bindings.errors import UserError
from tests.served import ROOT, Served, served
from tests.support import run

FIXTURE = ROOT / "fixtures" / "wasm"
ENV = """
from workers import Response, WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        add = self.env.SUM.constructor.name
        return Response.json([add, self.env.GREETING, list(self.env.TABLE.to_bytes())])
"""


def test_a_wasm_module(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(FIXTURE, tmp_path) as worker:
            assert (await worker.get("/add")).json == {"sum": 5, "told": [5]}

    run(scenario())


@pytest.mark.parametrize(
    ("specifier", "answer"),
    [
        ("sum.wasm", ["Module", "[object WebAssembly.Module]"]),
        ("greeting.txt", ["str", "Hello from a file\n"]),
        ("./parts/notes.md", ["str", "# Notes\n"]),
        ("/parts/../parts/table.bin", ["ArrayBuffer", [0, 1, 255]]),
    ],
)
def test_files_as_modules(tmp_path: Path, specifier: str, answer: object) -> None:
    async def scenario() -> None:
        async with served(FIXTURE, tmp_path) as worker:
            assert (await worker.get(f"/import?{specifier}")).json == answer

    run(scenario())


def test_a_module_that_is_not_there(tmp_path: Path) -> None:
    async def scenario(worker: Served) -> None:
        answer = await worker.get("/import?./entry.py")
        assert answer.status == 500
        assert "ImportError: Failed to import './entry.py': Error: No such module \"entry.py\".\n" in answer.text

    async def serve() -> None:
        async with served(FIXTURE, tmp_path) as worker:
            await scenario(worker)

    run(serve())


def test_files_are_files_too(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(FIXTURE, tmp_path) as worker:
            assert (await worker.get("/")).text == "Hello from a file\n"
            assert (await worker.get("/file?parts/table.bin")).body == b"\0\1\xff"

    run(scenario())


def test_a_change_of_one_means_a_reload(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(FIXTURE, tmp_path) as worker:
            watched = {path.relative_to(FIXTURE / "src").as_posix() for path in worker.app.worker.files()}
            assert watched == {"entry.py", "greeting.txt", "parts/notes.md", "parts/table.bin", "sum.wasm"}

    run(scenario())


def _project(folder: Path, **keys: object) -> Path:
    folder.mkdir()
    (folder / "entry.py").write_text(ENV)
    for name in ("sum.wasm", "greeting.txt", "parts/table.bin"):
        (folder / Path(name).name).write_bytes((FIXTURE / "src" / name).read_bytes())
    config = {
        "name": "env", "main": "entry.py", "compatibility_date": "2026-11-01",
        "compatibility_flags": ["python_workers"], **keys,
    }  # fmt: skip
    (folder / "wrangler.json").write_text(json.dumps(config))
    return folder


def test_files_in_env(tmp_path: Path) -> None:
    folder = _project(
        tmp_path / "project",
        wasm_modules={"SUM": "sum.wasm"},
        text_blobs={"GREETING": "greeting.txt"},
        data_blobs={"TABLE": "table.bin"},
    )

    async def scenario() -> None:
        async with served(folder, tmp_path / "state") as worker:
            assert (await worker.get("/")).json == ["Module", "Hello from a file\n", [0, 1, 255]]

    run(scenario())


def test_a_file_of_env_that_is_not_there(tmp_path: Path) -> None:
    folder = _project(tmp_path / "project", text_blobs={"GREETING": "other.txt"})

    async def scenario() -> None:
        async with served(folder, tmp_path / "state"):
            pass

    with pytest.raises(UserError) as caught:
        run(scenario())
    assert caught.value.message == f"The file {folder / 'other.txt'} was not found."
    assert caught.value.place == "wrangler.json"
