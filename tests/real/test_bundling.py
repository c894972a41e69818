"""`flarebed dev` bundles a TypeScript Worker anew after each edit, and runs the build command of a config."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.real.command import dev, edit, until

pytestmark = pytest.mark.real

WORKER = """\
import { version } from "./version";
import made from "../made/greeting.txt";
export default {
  fetch(request: Request): Response {
    return new Response(`${version} ${made}`);
  },
};
"""


def test_edits_of_what_went_into_the_bundle_and_of_what_a_build_reads(tmp_path: Path) -> None:
    build = {"command": "mkdir -p made && cat greetings/*.part > made/greeting.txt", "watch_dir": "greetings"}
    config = {"name": "built", "main": "src/index.ts", "compatibility_date": "2026-11-01", "build": build}
    for name in ("src", "greetings"):
        (tmp_path / name).mkdir()
    (tmp_path / "wrangler.jsonc").write_text(json.dumps(config))
    (tmp_path / "src" / "index.ts").write_text(WORKER)
    (tmp_path / "src" / "version.ts").write_text('export const version: string = "v0";\n')
    (tmp_path / "greetings" / "first.part").write_text("hello")
    with dev(tmp_path) as running:
        assert running.get() == "v0 hello"
        edit(tmp_path / "src" / "version.ts", '"v0"', '"v1"')
        assert running.get() == "v1 hello"
        edit(tmp_path / "src" / "version.ts", '"v1"', "")
        assert running.get() == "v1 hello"
        edit(tmp_path / "src" / "version.ts", "= ;", '= "v2";')
        assert running.get() == "v2 hello"
        (tmp_path / "greetings" / "second.part").write_text(" you")
        until(lambda: running.get() == "v2 hello you")
        running.stop()
    output = "".join(running.output)
    assert output.count("[custom build] Running: mkdir -p made") == 2
    assert (
        "✘ [ERROR] Build failed with 1 error:\n"
        '✘ [ERROR] Unexpected ";"\n'
        "\n"
        "    src/version.ts:1:31:\n"
        "      1 │ export const version: string = ;\n"
        "        ╵                                ^\n"
        "[wrangler:warn] The last version that worked is still being served.\n"
    ) in output
