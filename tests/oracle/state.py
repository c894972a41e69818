"""What wrangler's own commands leave in the state folder, taken over by `flarebed state import`.

Also holds the folder that the tests build themselves (tests/wrangler_state.py) against the real one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import apsw

from flarebed.bindings.ids import id_from_name
from tests.oracle.wrangler import environment
from tests.wrangler_state import WranglersState

CONFIG: Final = {
    "name": "w", "main": "entry.js", "compatibility_date": "2026-11-01",
    "kv_namespaces": [{"binding": "KV", "id": "kv-id"}, {"binding": "ODD", "id": "Odd id/2"}],
    "d1_databases": [{"binding": "DB", "database_name": "party", "database_id": "party-id"}],
    "r2_buckets": [{"binding": "PICS", "bucket_name": "pics"}],
}  # fmt: skip
COMMANDS: Final = (
    ("kv", "key", "put", "text", "é", "--binding", "KV", "--metadata", '{"x":1}', "--expiration", "2000000000"),
    ("kv", "key", "put", "binary", "--path", "binary", "--binding", "KV"),
    ("kv", "key", "put", "k", "odd", "--binding", "ODD"),
    ("d1", "execute", "DB", "--command", "CREATE TABLE t (a); INSERT INTO t VALUES (1)"),
    ("r2", "object", "put", "pics/a.bin", "--file", "binary"),
)
BINARY: Final = b"\0\xff\x10"
TAKEN: Final = {
    "kv-id": [("binary", BINARY, None, None), ("text", "é".encode(), 2_000_000_000_000, '{"x":1}')],
    "Odd_id_2-f016a6883fb83ae8": [("k", b"odd", None, None)],
}
FLAREBED: Final = (sys.executable, "-c", "from flarebed.emulator.cli.main import main; main()")


def run(folder: Path, *command: str) -> str:
    ended = subprocess.run(command, cwd=folder, env=environment(folder), capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def rows(file: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(apsw.Connection(str(file))) as connection:
        return connection.execute(sql).fetchall()


def made_by_wrangler(wrangler: str, folder: Path) -> Path:
    (folder / "wrangler.json").write_text(json.dumps(CONFIG))
    (folder / "entry.js").write_text("export default { fetch: () => new Response() }")
    (folder / "binary").write_bytes(BINARY)
    for command in COMMANDS:
        run(folder, wrangler, *command, "--local")
    return folder / ".wrangler" / "state"


def made_by_us(root: Path) -> Path:
    state = WranglersState(root)
    state.kv("kv-id", {"text": ("é".encode(), 2_000_000_000_000, '{"x":1}'), "binary": (BINARY, None, None)})
    state.kv("Odd id/2", {"k": (b"odd", None, None)}, folder="Odd id_2")
    state.d1("party-id", "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    state.r2("pics", {"a.bin": BINARY})
    return root


def laid_out(root: Path) -> list[str]:
    """The databases, with their tables' columns, and the folders of blobs with how many there are."""
    files = sorted(path for kind in ("kv", "d1", "r2") for path in (root / "v3" / kind).rglob("*.sqlite"))
    shown = []
    for file in files:
        columns = rows(file, "SELECT m.name, c.name, c.type FROM sqlite_schema m, pragma_table_info(m.name) c")
        known = [row for row in columns if row[0] in ("_mf_entries", "_mf_objects", "t")]
        shown.append(f"{file.relative_to(root)} {known}")
    return shown + [f"{path.relative_to(root)} {len(list(path.iterdir()))}" for path in sorted(root.rglob("blobs"))]


def imported(folder: Path, state: Path) -> Iterator[str]:
    """What is not taken over."""
    config = folder / "wrangler.json"
    config.write_text(json.dumps(CONFIG | {"main": "entry.py", "compatibility_flags": ["python_workers"]}))
    said = run(folder, *FLAREBED, "state", "import")
    for name, expected in TAKEN.items():
        found = rows(
            state / "flarebed" / "kv" / f"{name}.sqlite",
            "SELECT key, value, expiration_ms, metadata FROM entries ORDER BY key",
        )
        if found != expected:
            yield f"KV {name}: {found}"
    if "kept, not emulated yet" not in said:
        yield f"R2: {said}"
    answer = json.loads(run(folder, *FLAREBED, "d1", "execute", "DB", "--json", "--command", "SELECT a FROM t"))
    if answer[0]["results"] != [{"a": 1}]:
        yield f"D1: {answer}"


def not_taken_over(wrangler: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as name:
        theirs, ours = Path(name, "theirs"), Path(name, "ours")
        theirs.mkdir()
        state = made_by_wrangler(wrangler, theirs)
        made_by_us(ours)
        if laid_out(state) != laid_out(ours):
            yield f"wrangler left\n  {laid_out(state)}\nthe tests build\n  {laid_out(ours)}"
        bucket = id_from_name("miniflare-R2BucketObject", "pics")
        if not (state / "v3" / "r2" / "miniflare-R2BucketObject" / f"{bucket}.sqlite").exists():
            yield "wrangler names the database of an R2 bucket in another way"
        yield from imported(theirs, state)
