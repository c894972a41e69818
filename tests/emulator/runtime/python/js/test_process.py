"""`js.process`; the values are workerd's."""

from __future__ import annotations

import asyncio

from tests.emulator.runtime.python.js.worker import in_worker

from flarebed.emulator.runtime.python.js.process import Process


def test_where_code_runs() -> None:
    process = Process({})
    assert (process.version, process.versions.node, process.platform, process.arch) == (
        "v22.23.4", "22.23.4", "linux", "x64",
    )  # fmt: skip
    assert (process.pid, process.ppid, process.title, process.cwd(), process.argv.to_py()) == (
        1, 0, "workerd", "/bundle", ["workerd"],
    )  # fmt: skip
    assert str(process) == "[object process]"


def test_env_has_the_variables_as_text() -> None:
    env = {"STR": "hello", "NUM": 42, "FLT": 1.5, "BOOL": True, "OBJ": {"a": [1]}, "NUL": None, "KV": object()}
    assert Process(env).env.to_py() == {
        "STR": "hello", "NUM": "42", "FLT": "1.5", "BOOL": "true", "OBJ": '{"a":[1]}', "NUL": "null",
    }  # fmt: skip


def test_next_tick() -> None:
    async def code() -> list[str]:
        seen: list[str] = []
        Process({}).nextTick(seen.append, "tick")
        seen.append("first")
        await asyncio.sleep(0)
        return seen

    assert in_worker(code) == ["first", "tick"]
