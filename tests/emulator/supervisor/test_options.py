"""Which Workers of a command share a process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flarebed.bindings.errors import UserError
from flarebed.emulator.supervisor.launch import Launch
from flarebed.emulator.supervisor.options import divided, read_configs


def launched(folder: Path, *mains: str, virtual_start_ms: float | None = None) -> list[Launch]:
    """The lines of Workers called by the names of these files."""
    configs = []
    for main in mains:
        name, _, suffix = main.partition(".")
        flags = ["python_workers"] if suffix == "py" else []
        given = {"name": name, "main": main, "compatibility_date": "2026-11-01", "compatibility_flags": flags}
        path = folder / name / "wrangler.json"
        path.parent.mkdir()
        path.write_text(json.dumps(given))
        configs.append(str(path))
    launch = Launch(str(folder), configs, variables={"A": "1"}, virtual_start_ms=virtual_start_ms)
    return divided(launch, read_configs(launch))


def test_one_worker_is_as_the_options_say(tmp_path: Path) -> None:
    [line] = launched(tmp_path, "a.py")
    assert line == Launch(str(tmp_path), [str(tmp_path / "a/wrangler.json")], variables={"A": "1"})
    assert launched(tmp_path, "b.ts")[0].javascript


def test_workers_in_javascript_share_a_process(tmp_path: Path) -> None:
    lines = launched(tmp_path, "p.py", "a.ts", "q.py", "b.js")
    assert [line.names for line in lines] == [["p"], ["a", "b"], ["q"]]
    assert [line.javascript for line in lines] == [False, True, False]
    assert lines[1].configs == [str(tmp_path / name / "wrangler.json") for name in ("a", "b")]
    assert [line.variables for line in lines] == [{"A": "1"}, {}, {}]
    assert {line.persist_to for line in lines} == {str(tmp_path / "p/.wrangler/state")}


def test_variables_are_those_of_the_first(tmp_path: Path) -> None:
    [line] = launched(tmp_path, "a.js", "b.js")
    assert [dict(config.secrets) for config in read_configs(line)] == [{"A": "1"}, {}]


def test_virtual_time_is_of_one_process(tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    assert len(launched(tmp_path / "1", "a.js", "b.js", virtual_start_ms=0)) == 1
    with pytest.raises(UserError) as raised:
        launched(tmp_path, "a.js", "p.py", virtual_start_ms=0)
    assert raised.value.message == (
        "--virtual-time is for one process, and a Worker in Python has its own beside other Workers."
    )


def test_workers_that_can_not_run_together(tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    launched(tmp_path, "a.js")
    launched(tmp_path / "again", "a.js")
    launch = Launch(str(tmp_path), [str(folder / "a/wrangler.json") for folder in (tmp_path, tmp_path / "again")])
    with pytest.raises(UserError, match='Two Workers are called "a"'):
        divided(launch, read_configs(launch))


def test_a_config_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError) as raised:
        read_configs(Launch(str(tmp_path), [str(tmp_path / "wrangler.json")]))
    assert raised.value.message == f"Could not read file: {tmp_path}/wrangler.json"
