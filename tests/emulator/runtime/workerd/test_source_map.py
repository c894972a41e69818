"""Stacks as V8 writes them, in places of the source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.emulator.runtime.workerd.bundles import JavaScriptProject

from flarebed.emulator.runtime.http import Frame
from flarebed.emulator.runtime.workerd.bundled import Bundled, Module, SourceMapFile
from flarebed.emulator.runtime.workerd.source_map import SourceMap, StackMapper

LIB = """\
interface Padding { a: string }

export class Thing {
  later(kind: string): never {
    throw new TypeError(kind);
  }
}
"""
WORKER = """\
import { Thing } from "./lib";
type Unused = { a: 1 };
export default {
  async fetch(): Promise<Response> { return new Thing().later("boom"); },
};
"""
BUNDLE = """\
var __defProp = Object.defineProperty;
var __name = (target, value) => __defProp(target, "name", { value, configurable: true });

// src/lib.ts
var Thing = class {
  static {
    __name(this, "Thing");
  }
  later(kind) {
    throw new TypeError(kind);
  }
};

// src/index.ts
var index_default = {
  async fetch() {
    return new Thing().later("boom");
  }
};
export {
  index_default as default
};
"""


@pytest.fixture
def mapper(project: JavaScriptProject) -> StackMapper:
    project.write("src/lib.ts", LIB)
    project.write("src/index.ts", WORKER)
    bundled = project.bundled()
    assert bundled.modules[0].content.decode() == BUNDLE  # what the places below are of
    return StackMapper(bundled)


def test_a_stack(project: JavaScriptProject, mapper: StackMapper) -> None:
    source = project.root.as_uri() + "/src"
    stack = (
        "TypeError: boom\n"
        "    at _Thing.later (index.js:10:11)\n"
        "    at async Object.fetch (index.js:17:24)\n"
        "    at new Thing (index.js:10:5)\n"
        "    at index.js:17:5\n"
        "    at async index.js:17:5\n"
        "    at Array.map (<anonymous>)\n"
        "    at async Promise.all (index 0)\n"
        "    at Buffer.alloc (node-internal:internal_buffer:208:5)\n"
        "    at __name (index.js:2:31)\n"
        "    at index.js:99:1\n"
        "    at other/index.js:10:11"
    )
    assert mapper.mapped(stack) == (
        "TypeError: boom\n"
        f"    at _Thing.later ({source}/lib.ts:5:11)\n"
        f"    at async Object.fetch ({source}/index.ts:4:57)\n"
        f"    at new Thing ({source}/lib.ts:5:5)\n"
        f"    at {source}/index.ts:4:38\n"
        f"    at async {source}/index.ts:4:38\n"
        "    at Array.map (<anonymous>)\n"
        "    at async Promise.all (index 0)\n"
        "    at Buffer.alloc (node-internal:internal_buffer:208:5)\n"
        "    at __name (index.js:2:31)\n"
        "    at index.js:99:1\n"
        "    at other/index.js:10:11"
    )


def test_code_made_by_eval(project: JavaScriptProject, mapper: StackMapper) -> None:
    stack = "    at eval (eval at later (index.js:10:11), <anonymous>:1:1)"
    where = f"{project.root.as_uri()}/src/lib.ts:5:11"
    assert mapper.mapped(stack) == f"    at eval (eval at later ({where}), <anonymous>:1:1)"


def test_only_frames_are_rewritten(mapper: StackMapper) -> None:
    text = "Error: at index.js:10:11\n  see index.js:10:11\n\n"
    assert mapper.mapped(text) == text


def test_frames_for_the_page(project: JavaScriptProject, mapper: StackMapper) -> None:
    stack = "E\n    at _Thing.later (index.js:10:11)\n    at async Object.fetch (index.js:17:24)\n    at index.js:17:5"
    assert mapper.frames(f"{stack}\n    at a (<anonymous>)") == [
        Frame(f"{project.root}/src/index.ts", 4, "<anonymous>", WORKER.split("\n")[3]),
        Frame(f"{project.root}/src/index.ts", 4, "Object.fetch", WORKER.split("\n")[3]),
        Frame(f"{project.root}/src/lib.ts", 5, "_Thing.later", "    throw new TypeError(kind);"),
    ]


def test_several_modules(tmp_path: Path) -> None:
    first = source_map({"sources": ["a.ts"], "mappings": "AAAA"})
    modules = (
        Module("index.js", "esModule", b""),
        Module("deep/index.js", "esModule", b""),
        Module("plain.mjs", "esModule", b"", tmp_path / "plain.mjs"),
        Module("unknown.js", "esModule", b""),
    )
    maps = {"index.js": SourceMapFile(first, tmp_path), "deep/index.js": SourceMapFile(first, tmp_path / "deep/ts")}
    mapper = StackMapper(Bundled("modules", modules, (), (), maps))
    stack = "".join(f"\n    at f ({module.name}:1:1)" for module in modules)
    root = tmp_path.as_uri()
    assert mapper.mapped(stack) == (
        f"\n    at f ({root}/a.ts:1:1)"
        f"\n    at f ({root}/deep/ts/a.ts:1:1)"
        f"\n    at f ({root}/plain.mjs:1:1)"
        "\n    at f (unknown.js:1:1)"
    )


def source_map(members: dict[str, Any]) -> bytes:
    return json.dumps({"version": 3, "names": [], **members}).encode()


def place(tmp_path: Path, line: int, column: int, **members: Any) -> tuple[str, int, int, str] | None:
    content = source_map({"sources": ["a.ts", "b.ts"], **members})
    found = SourceMap(SourceMapFile(content, tmp_path)).place(line, column)
    return found and (found.file.relative_to(tmp_path).as_posix(), found.line, found.column, found.text)


@pytest.mark.parametrize(
    ("line", "column", "expected"),
    [
        (1, 1, None),
        (3, 1, None),
        (3, 2, ("a.ts", 1, 1, "")),
        (3, 5, ("a.ts", 1, 1, "")),
        (4, 1, ("a.ts", 1, 1, "")),
        (5, 1, None),
    ],
)
def test_segments(tmp_path: Path, line: int, column: int, expected: object) -> None:
    assert place(tmp_path, line, column, mappings=";;A,CAAA;AAAA") == expected


def test_numbers_of_several_digits_and_signs(tmp_path: Path) -> None:
    # "AA2BA" is line 27, then "CCD2BC" one source on and 1 back
    assert place(tmp_path, 1, 1, mappings="AA2BA") == ("a.ts", 28, 1, "")
    assert place(tmp_path, 1, 2, mappings="AA2BA,CCDA") == ("b.ts", 27, 1, "")


def test_the_line_of_source(tmp_path: Path) -> None:
    (tmp_path / "a.ts").write_text("on disk\n")
    assert place(tmp_path, 1, 1, mappings="AAAA") == ("a.ts", 1, 1, "on disk")
    assert place(tmp_path, 1, 1, mappings="AAAA", sourcesContent=[None, "b"]) == ("a.ts", 1, 1, "on disk")
    assert place(tmp_path, 1, 1, mappings="AAAA", sourcesContent=["in the map\r\n"]) == ("a.ts", 1, 1, "in the map")
    assert place(tmp_path, 1, 1, mappings="AAQA", sourcesContent=["short"]) == ("a.ts", 9, 1, "")


def test_where_sources_are(tmp_path: Path) -> None:
    assert place(tmp_path, 1, 1, mappings="AAAA", sourceRoot="src/deep", sources=["../a.ts"]) == ("src/a.ts", 1, 1, "")
