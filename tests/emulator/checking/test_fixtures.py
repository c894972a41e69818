"""The check against Workers that were written without knowledge of it: what breaks a rule, and what does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from flarebed.emulator.checking.check import check
from flarebed.emulator.checking.places import Place
from flarebed.emulator.checking.report import Report
from flarebed.emulator.config.load import load
from flarebed.emulator.testing.session import Session
from tests.fixtures import workers
from tests.served import ROOT

CSV = "customer,product,cents\n" + "".join(f"c{line % 3},p{line % 4},{line}\n" for line in range(50))
PREMIERE = "2026-06-01T00:00:00"


def checked(folder: Path, name: str) -> Report:
    case = workers.params(folder)[name]
    config = load(None, cwd=folder, env="", environ={})
    return check(config, name, case["params"], [*case.get("events", {}).items()])


def named(folder: Path) -> Any:
    return getattr(folder, "name", folder)


@pytest.mark.parametrize("folder", workers.folders(workers.UNSAFE), ids=named)
def test_every_marked_line_is_reported(folder: Path) -> None:
    """Each workflow breaks the rule of its folder and no other; all lines that have to do with it are marked."""
    marked = {(file, line) for file, line, _ in workers.markers(folder)}
    reported: set[tuple[Path, int]] = set()
    for name in workers.params(folder):
        report = checked(folder, name)
        assert {finding.rule for finding in report.findings} == {folder.name}
        for finding in report.findings:
            assert lines(finding.place) & marked
            reported |= lines(finding.place) | {line for note in finding.notes for line in lines(note.place)}
    assert marked <= reported


def lines(place: Place) -> set[tuple[Path, int]]:
    return {(place.file, line) for line in range(place.line, place.end_line + 1)}


@pytest.mark.parametrize(("folder", "name"), workers.cases(workers.SAFE), ids=named)
def test_nothing_is_found_in_sound_workflows(folder: Path, name: str) -> None:
    report = checked(folder, name)
    assert report.findings == ()
    assert report.is_clean(strict=True)


def services(request: httpx.Request) -> httpx.Response:
    if request.method == "GET":
        return httpx.Response(200, text="one\n\ntwo")
    return httpx.Response(200, json={"vectors": [[1], [2]]})


@pytest.mark.parametrize(("fixture", "params", "events", "seed"), [
    ("onboarding", {"tenantId": "acme", "requestedBy": "ada"}, [], None),
    ("orders", {"sku": "lamp", "quantity": 1, "total": 20}, [], None),
    ("orders", {"sku": "lamp", "quantity": 1, "total": 2000}, [("approval", {"approved": True})], None),
    ("orders", {"sku": "lamp", "quantity": 1, "total": 2000}, [("approval", {"approved": False, "reason": "-"})], None),
    ("orders", {"sku": "lamp", "quantity": 1, "total": 2000}, [], None),
    ("orders", {"sku": "lamp", "quantity": 99, "total": 20}, [], None),
    ("polling", {"film": "f", "publishAt": PREMIERE}, [], ("FARM", "f", '{"frames": 3}')),
    ("import", {"upload": "u"}, [], ("UPLOADS", "u", CSV)),
    ("pipeline", {"document": "d"}, [], None),
])  # fmt: skip
def test_nothing_is_found_in_the_applications(
    tmp_path: Path, fixture: str, params: Any, events: list[tuple[str, Any]], seed: tuple[str, str, str] | None
) -> None:
    config = load(None, cwd=ROOT / "fixtures" / fixture, env="", environ={})
    if seed is not None:
        session = Session(config, tmp_path, lambda level, text: None)
        namespace: Any = session.app.resources["kv"].bindings()[seed[0]]
        session.run(namespace.put(*seed[1:]))
        session.close()
    report = check(config, None, params, events, state=tmp_path, outbound=services)
    assert report.findings == ()
    assert report.is_clean(strict=True)
