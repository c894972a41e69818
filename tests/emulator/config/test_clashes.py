"""What Workers that run together may not have in common."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.errors import UserError
from flarebed.emulator.config.clashes import complain_of_clashes
from flarebed.emulator.config.load import load
from flarebed.emulator.config.model import Config

CONSUMES = {"queues": {"consumers": [{"queue": "jobs"}]}}
DEFINES = {"workflows": [{"name": "flow", "binding": "FLOW", "class_name": "Flow"}]}


def config(folder: Path, name: str, /, **given: Any) -> Config:
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"name": name, "compatibility_date": "2026-11-01"} | given))
    return load(path, cwd=folder, env="", environ={})


def complaint(*configs: Config) -> str:
    with pytest.raises(UserError) as raised:
        complain_of_clashes(configs)
    return raised.value.message


def test_two_of_one_name(tmp_path: Path) -> None:
    configs = config(tmp_path, "a"), config(tmp_path, "b", name="a")
    assert complaint(*configs) == f'Two Workers are called "a": {tmp_path / "a.json"} and {tmp_path / "b.json"}.'


def test_two_consumers_of_one_queue(tmp_path: Path) -> None:
    a, b = (config(tmp_path, name, **CONSUMES) for name in ("a", "b"))
    assert complaint(a, config(tmp_path, "c"), b) == 'Multiple consumers defined for queue "jobs": "a" and "b"'


def test_two_classes_of_one_workflow(tmp_path: Path) -> None:
    a, b = (config(tmp_path, name, **DEFINES) for name in ("a", "b"))
    assert complaint(a, b) == 'Multiple Workers define the workflow "flow": "a" and "b"'


def test_what_workers_may_share(tmp_path: Path) -> None:
    sends = {"queues": {"producers": [{"queue": "jobs", "binding": "JOBS"}]}}
    bound = {"workflows": [DEFINES["workflows"][0] | {"script_name": "a"}], "kv_namespaces": [{"binding": "KV"}]}
    a = config(tmp_path, "a", **CONSUMES, **DEFINES, kv_namespaces=[{"binding": "KV"}])
    complain_of_clashes([a, config(tmp_path, "b", **sends, **bound), config(tmp_path, "c", **sends, **bound)])
