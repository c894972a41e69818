"""The folder in which Workers find each other."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from flarebed.bindings.errors import UserError
from flarebed.emulator.runtime.registry import Registry, default_folder


@pytest.fixture
def registry() -> Iterator[Registry]:
    made = Registry.temporary()
    yield made
    made.close()
    assert not made.folder.exists()


def listening(path: Path) -> socket.socket:
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()
    return server


def test_who_runs(registry: Registry) -> None:
    assert (registry.generation("api"), registry.is_running("api")) == (None, False)
    draft = registry.draft("api")
    with listening(draft):
        assert not registry.is_running("api")
        registry.publish("api", draft)
        assert registry.is_running("api")
        assert registry.generation("api") == draft.stat().st_ino
    assert not registry.is_running("api")  # the socket is there, but nobody listens
    registry.withdraw("api", draft)
    assert not registry.socket("api").is_symlink()


def test_the_last_one_is_called(registry: Registry) -> None:
    first, second = registry.folder / "first", registry.folder / "second"
    with listening(first), listening(second):
        registry.publish("api", first)
        before = registry.generation("api")
        registry.publish("api", second)
        assert registry.generation("api") not in (None, before)
        registry.withdraw("api", first)
        assert registry.is_running("api")
        registry.withdraw("api", second)
        assert not registry.is_running("api")
        registry.withdraw("api", second)


@pytest.mark.parametrize("name", ["a" * 200, "a/b", "", "..", "ü", "\ud800"])
def test_any_name_has_a_short_place_of_its_own(registry: Registry, name: str) -> None:
    place = registry.socket(name)
    assert (place.parent, len(place.name)) == (registry.folder, 43)
    assert len({registry.socket(other) for other in (name, name + "b", "plain")}) == 3


def test_what_a_killed_process_left_is_taken_away(registry: Registry) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for process in (ended.pid, os.getpid()):
        (registry.folder / f"api.{process}").touch()
    Registry(registry.folder)
    assert [path.name for path in registry.folder.iterdir()] == [f"api.{os.getpid()}"]


def test_the_folder_is_its_owners_alone() -> None:
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "a" / "b"
        Registry(folder)
        assert folder.stat().st_mode & 0o777 == 0o700
        (Path(root) / "file").touch()
        with pytest.raises(UserError) as raised:
            Registry(Path(root) / "file")
    assert (raised.value.message, raised.value.hint) == (
        f"The folder {root}/file, in which Workers find each other, can't be used: File exists.",
        "Set FLAREBED_REGISTRY_PATH to another one with a short path.",
    )


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({}, f"/tmp/flarebed-{os.getuid()}"),
        ({"XDG_RUNTIME_DIR": "/run/user/7"}, "/run/user/7/flarebed"),
        ({"XDG_RUNTIME_DIR": "/run/user/7", "FLAREBED_REGISTRY_PATH": "/r"}, "/r"),
    ],
)
def test_where_it_is(environ: dict[str, str], folder: str) -> None:
    assert default_folder(environ) == Path(folder)
