"""Archives: what goes in comes out, and what does not belong there is refused."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.errors import UserError
from flarebed.bindings.store import STATE_VERSION
from flarebed.emulator.state.archive import Manifest, lay_out, pack
from flarebed.emulator.state.contents import Resource

FILE = "flarebed/kv/a.sqlite"
MANIFEST: dict[str, Any] = {
    "format": 1, "flarebed": "9.9.9", "state_version": 1, "worker": "w", "now_ms": 5.0,
    "resources": [{"kind": "kv", "name": "KV", "path": FILE, "count": 1, "bytes": 4}],
}  # fmt: skip


def archive(folder: Path, members: dict[str, bytes], **manifest: Any) -> Path:
    """One that somebody made by hand."""
    path = folder / "made.tar.gz"
    texts = {"manifest.json": json.dumps(MANIFEST | manifest).encode(), FILE: b"data"} | members
    with tarfile.open(path, "w:gz") as made:
        for name, content in texts.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            made.addfile(member, io.BytesIO(content))
    return path


def refusal(source: Path, folder: Path) -> str:
    with pytest.raises(UserError) as refused:
        lay_out(source, folder / "out")
    return refused.value.message


def test_there_and_back(tmp_path: Path) -> None:
    laid_out = tmp_path / "in"
    (laid_out / FILE).parent.mkdir(parents=True)
    (laid_out / FILE).write_bytes(b"data")
    (laid_out / "plan.json").write_text("not the state's")
    manifest = Manifest("w", 5.0, (Resource("kv", "KV", FILE, 1, 4),))
    manifest.write(laid_out)
    pack(laid_out, tmp_path / "a.tar.gz")
    assert lay_out(tmp_path / "a.tar.gz", tmp_path / "out") == manifest
    assert (tmp_path / "out" / FILE).read_bytes() == b"data"
    assert not (tmp_path / "out" / "plan.json").exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("a.tar")] == ["a.tar.gz"]


@pytest.mark.parametrize(
    "name",
    [
        "../evil", "/etc/evil", "flarebed/kv/../../../evil.sqlite", "v3/r2/../blobs/evil", "flarebed/owners/x.lock",
        "entry.py", "flarebed/coming/plan.json", "v3/d1/miniflare-D1DatabaseObject/metadata.sqlite",
    ],
)  # fmt: skip
def test_what_does_not_belong_to_a_state(tmp_path: Path, name: str) -> None:
    source = archive(tmp_path, {name: b""})
    text = f'{source} holds "{name}", which does not belong to a state. Nothing was changed.'
    assert refusal(source, tmp_path) == text
    assert not list(tmp_path.rglob("*evil*"))


def test_a_link_is_no_file(tmp_path: Path) -> None:
    source = tmp_path / "made.tar"
    with tarfile.open(source, "w") as made:
        link = tarfile.TarInfo("flarebed/kv/link.sqlite")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        made.addfile(link)
    assert 'holds "flarebed/kv/link.sqlite"' in refusal(source, tmp_path)


def test_a_part_of_an_archive(tmp_path: Path) -> None:
    source = archive(tmp_path, {"flarebed/kv/b.sqlite": bytes(range(256)) * 4000})
    whole = source.read_bytes()
    for length in (5, len(whole) // 2, len(whole) - 9):
        source.write_bytes(whole[:length])
        assert refusal(source, tmp_path).startswith(f"{source} can't be read as an archive, or not to its end: ")
    source.write_bytes(whole[:300] + bytes(9) + whole[309:])
    assert refusal(source, tmp_path).startswith(f"{source} can't be read as an archive, or not to its end: ")
    for text in ("", "CREATE TABLE t (a);"):
        source.write_text(text)
        assert refusal(source, tmp_path) == f"{source} is not an archive that `flarebed state export` has made."


@pytest.mark.parametrize("version", [{"format": 2}, {"state_version": STATE_VERSION + 1}])
def test_of_a_newer_flarebed(tmp_path: Path, version: dict[str, int]) -> None:
    source = archive(tmp_path, {}, **version)
    assert refusal(source, tmp_path) == f"{source} was made by a newer flarebed (9.9.9; this is 0.1.0)."


def test_no_state_at_all(tmp_path: Path) -> None:
    assert refusal(tmp_path / "no", tmp_path) == f"There is no file or folder {tmp_path / 'no'}."
    other = tmp_path / "other.tar"
    tarfile.open(other, "w").close()
    assert refusal(other, tmp_path) == f"{other} is not a flarebed state: it has no manifest.json."
    source = archive(tmp_path, {"manifest.json": b"[]"})
    assert refusal(source, tmp_path).startswith(f"{source} is not a flarebed state: its manifest.json can't be read (")
    source = archive(tmp_path, {}, resources=[MANIFEST["resources"][0] | {"path": "flarebed/kv/lost.sqlite"}])
    text = f"{source} is not complete: it lacks flarebed/kv/lost.sqlite. Nothing was changed."
    assert refusal(source, tmp_path) == text
