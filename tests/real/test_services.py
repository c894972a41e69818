"""A Worker in JavaScript and one in Python, each served by a command of its own, that call each other."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.command import ENVIRONMENT, ROOT, dev, edit, until

pytestmark = pytest.mark.real


@pytest.fixture
def registry() -> Iterator[Path]:
    """At a short path, for sockets."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


def test_workers_of_two_commands_find_each_other(tmp_path: Path, registry: Path) -> None:
    folder = shutil.copytree(ROOT / "fixtures" / "services", tmp_path / "services")
    environment = ENVIRONMENT | {"FLAREBED_REGISTRY_PATH": str(registry)}
    nobody = {"name": "Error", "message": 'Worker "py" not found. Make sure it is running locally.', "remote": True}
    with dev(folder / "js", environment=environment) as js:
        assert js.json("/PY/add") == nobody
        with dev(folder / "py", environment=environment) as py:
            assert (js.json("/PY/add"), py.json("/JS/add")) == (3, 3)
            edit(folder / "py" / "entry.py", "return a + b", "return [a, b]")
            until(lambda: js.json("/PY/add") == [1, 2])
            py.kill()
            assert js.json("/PY/add") == nobody
        with dev(folder / "py", environment=environment) as again:
            assert js.json("/PY/add") == [1, 2]
            again.stop()
            assert js.json("/PY/add") == nobody
            assert not (registry / "py.sock").is_symlink()
