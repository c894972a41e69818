"""Whether we bundle as `wrangler deploy --dry-run` does: the same modules, byte for byte, and nothing said that it does
not say.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from flarebed.bindings.errors import UserError
from flarebed.emulator.config.load import load
from flarebed.emulator.runtime.workerd.bundler import bundle
from flarebed.emulator.runtime.workerd.tools import find_esbuild
from tests.oracle.bundling.projects import PROJECTS, Sources
from tests.support import run

_COMMENT = re.compile(rb"\n//# source(MappingURL|URL)=.*")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_AROUND = re.compile(r"^\s*(. \[(ERROR|WARNING)\]\s*)*|(\s*\[plugin [\w-]+\])?\s*$")

Outcome = tuple[dict[str, bytes], set[str]]
"""The modules by name, and the lines that were said."""


def not_bundled_alike(wrangler: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        roots = [written(Path(folder, f"{number}"), sources) for number, sources in enumerate(PROJECTS.values())]
        found = pool.map(lambda root: theirs(root, wrangler), roots)
        for (name, sources), root, (modules, said) in zip(PROJECTS.items(), roots, found, strict=True):
            mine, mine_said = ours(root, wrangler)
            wanted = modules.keys() | mine.keys() if mine else ()  # wrangler writes what it then refuses, too
            for module in sorted(wanted):
                if modules.get(module) != mine.get(module):
                    yield f"bundles: {name}: {module} is not the same"
            if not mine and not any("Build failed" in line or "entry-point" in line for line in said):
                yield f"bundles: {name}: wrangler can bundle it"
            if sources.says:
                yield from (f"bundles: {name}: wrangler does not say {line!r}" for line in sorted(mine_said - said))


def written(root: Path, sources: Sources) -> Path:
    config = {"name": "bundled", "main": sources.main, "compatibility_date": "2026-11-01", **sources.config}
    for path, content in {**sources.files, "wrangler.json": json.dumps(config)}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def theirs(root: Path, wrangler: str) -> Outcome:
    command = [wrangler, "deploy", "--dry-run", "--outdir", "out"]
    environ = {**os.environ, "CI": "1", "WRANGLER_SEND_METRICS": "false"}
    done = subprocess.run(command, cwd=root, env=environ, capture_output=True, text=True, check=False)
    files = {path.relative_to(root / "out").as_posix(): path for path in (root / "out").rglob("*") if path.is_file()}
    modules = {name: path.read_bytes() for name, path in files.items() if not name.endswith((".map", "README.md"))}
    return {name: stripped(content) for name, content in modules.items()}, lines(done.stdout + done.stderr)


def ours(root: Path, wrangler: str) -> Outcome:
    before = Path.cwd()
    os.chdir(root)  # some texts name files as seen from there
    try:
        config = load(None, cwd=root, env=None, environ={})
        found = run(bundle(config, find_esbuild(Path(wrangler).resolve().parent, ""), {"NODE_ENV": "production"}))
    except UserError as error:
        return {}, lines(f"{error.message}\n{error.warnings}")
    finally:
        os.chdir(before)
    return {each.name: stripped(each.content) for each in found.modules}, lines("\n".join(found.warnings))


def stripped(content: bytes) -> bytes:
    return _COMMENT.sub(b"", b"\n" + content).strip()


def lines(text: str) -> set[str]:
    """Without colours, and without what is put around a text: marks, indents, the plugin that says it."""
    return {_AROUND.sub("", line) for line in _COLOURS.sub("", text).splitlines() if line.strip()}
