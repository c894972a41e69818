"""Which files count, and when they have changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flarebed.emulator.supervisor import files as module
from flarebed.emulator.supervisor.files import Files, Signature, from_json, is_source, signature, signatures, sources
from flarebed.emulator.supervisor.watch import folders


@pytest.fixture(autouse=True)
def _every_check_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LEAST_INTERVAL_S", 0.0)
    monkeypatch.setattr(module, "thread_time", lambda: 0.0)


def watch(
    *paths: Path, known: dict[str, Signature] | None = None, born_ns: int = 2**63
) -> tuple[Files, list[dict[str, Signature]]]:
    told: list[dict[str, Signature]] = []
    return Files(lambda: list(paths), known or {}, born_ns, told.append), told


def test_a_save_of_any_kind_is_a_change(tmp_path: Path) -> None:
    entry = tmp_path / "entry.py"
    entry.write_text("a = 1\n")
    watched, told = watch(entry)
    assert told == [signatures([str(entry)])]
    assert not watched.changed()
    entry.write_text("a = 22\n")
    assert watched.changed()
    watched, _ = watch(entry)
    other = tmp_path / "other"
    other.write_text("a = 33\n")
    before = entry.stat()
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(entry)  # as many editors save; time and size are the same
    assert watched.changed()
    watched, _ = watch(entry)
    entry.unlink()
    assert watched.changed()


def test_a_file_that_appears_is_a_change(tmp_path: Path) -> None:
    secrets = tmp_path / ".dev.vars"
    watched, _ = watch(secrets)
    assert not watched.changed()
    secrets.write_text("A=1\n")
    assert watched.changed()


def test_what_was_saved_while_the_code_was_read_is_a_change(tmp_path: Path) -> None:
    entry = tmp_path / "entry.py"
    entry.write_text("a = 1\n")
    known = signatures([str(entry)])
    entry.write_text("a = 22\n")
    watched, _ = watch(entry, known=known)
    assert watched.changed()


def test_what_was_saved_since_the_process_began_may_have_been_read_before(tmp_path: Path) -> None:
    later = tmp_path / "later.py"
    later.write_text("a = 1\n")
    saved_ns = later.stat().st_mtime_ns
    watched, _ = watch(later, born_ns=saved_ns)
    assert not watched.changed()
    watched, told = watch(later, born_ns=saved_ns - 1)
    assert watched.changed()
    assert told == [{str(later): None}]
    watched, _ = watch(later, born_ns=saved_ns - 1, known=signatures([str(later)]))
    assert not watched.changed()


def test_code_that_can_not_run_is_not_asked_for_again(tmp_path: Path) -> None:
    entry = tmp_path / "entry.py"
    entry.write_text("a = 1\n")
    watched, _ = watch(entry)
    entry.write_text("a = \n")
    assert watched.changed()
    helper = tmp_path / "helper.py"
    helper.write_text("b = \n")
    watched.accept(signatures([str(entry), str(helper)]))
    assert not watched.changed()
    helper.write_text("b = 1\n")
    assert watched.changed()


def test_what_is_searched_for_is_a_change_when_it_appears(tmp_path: Path) -> None:
    entry = tmp_path / "entry.py"
    entry.write_text("a = 1\n")
    watched, _ = watch(entry, born_ns=entry.stat().st_mtime_ns)
    new = tmp_path / "new.py"
    new.write_text("b = 1\n")
    os.utime(new, ns=(2**62, 2**62))
    assert not watched.changed()
    watched.search([tmp_path])
    assert watched.changed()


def test_signatures_travel_as_json(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    found = signature(str(tmp_path / "a"))
    assert found is not None
    assert from_json({"a": list(found), "b": None}) == {"a": found, "b": None}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("m.py", True),
        ("m.ts", True),
        ("m.mjs", True),
        ("wrangler.toml", True),
        (".dev.vars.staging", True),
        (".env", True),
        ("data.sqlite", False),
    ],
)
def test_sources_are_modules_configs_and_secrets(name: str, expected: bool) -> None:
    assert is_source(f"/project/{name}") is expected


def test_packages_caches_and_state_are_not_searched(tmp_path: Path) -> None:
    for name in (
        "src/pkg",
        "node_modules/x",
        ".wrangler/state",
        "src/__pycache__",
        ".git",
        "env/lib",
        "python_modules",
    ):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "m.py").touch()
    (tmp_path / "env" / "pyvenv.cfg").touch()
    assert folders([tmp_path], []) == [tmp_path, tmp_path / "src", tmp_path / "src/pkg"]
    assert sources([tmp_path]) == [tmp_path / "src/pkg/m.py"]
    outside = tmp_path.parent
    assert folders([tmp_path / "src"], [str(outside / "x.toml")])[0] == outside
