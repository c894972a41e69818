"""workerd runs what the bundler made: one process for all that the other tests only look at."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from tests.emulator.runtime.workerd.bundles import NODE, JavaScriptProject
from tests.emulator.runtime.workerd.test_modules import WASM

from flarebed.emulator.runtime.workerd.bundled import Bundled, Module
from flarebed.emulator.runtime.workerd.source_map import StackMapper
from flarebed.emulator.runtime.workerd.tools import find_workerd

DATE = "2026-11-01"

MODULES = """\
import add from "./add.wasm?module";
import text from "./text.txt";
import data from "pkg/data.bin";
import cjs from "cjs";
import { AsyncLocalStorage } from "async_hooks";

export default {
  async test() {
    const { exports } = await WebAssembly.instantiate(add);
    const lazy = await import("./lazy");
    const found = [
      (exports.add as Function)(2, 3), text, new Uint8Array(data).join(), cjs.path.join("a", "b"),
      cjs.events === (await import("node:events")).default, lazy.value, new AsyncLocalStorage() instanceof Object,
      process.env.NODE_ENV,
    ];
    const expected = [5, "text", "1,2", "a/b", true, "lazy", true, "development"];
    if (JSON.stringify(found) !== JSON.stringify(expected)) throw new Error(JSON.stringify(found));
  },
};
"""
ADDITIONAL = """\
import note from "./note.txt";
export default {
  async test() {
    const language = ["e", "n"].join("");
    const found = [(await import(`./lang/${language}.js`)).default, note];
    if (found.join() !== "hello,note") throw new Error(found.join());
  },
};
"""
SCRIPT = """\
import text from "./text.txt";
addEventListener("fetch", (event) => event.respondWith(new Response(text)));
"""
FAILING = """\
type Unused = { a: 1 };
class Thing { async later(kind: string): Promise<never> { await 1; throw new TypeError(kind); } }
export default {
  async test(_: unknown, env: { SCRIPT: Fetcher }) {
    console.log(await (await env.SCRIPT.fetch("http://x/")).text());
    await [1].map((one) => new Thing().later(`boom ${one}`))[0];
  },
};
"""


def test_what_workerd_makes_of_it(tmp_path: Path) -> None:
    modules, additional, script, failing = (JavaScriptProject(tmp_path / name) for name in ("m", "a", "s", "f"))
    bundles = {
        "modules": made_of_modules(modules),
        "additional": with_additional_modules(additional),
        "script": a_script(script),
        "failing": a_failing_one(failing),
    }
    config = tmp_path / "config.capnp"
    config.write_text(capnp(bundles, tmp_path))
    command = [find_workerd(NODE, ""), "test", "--experimental", config]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert re.findall(r"\[ (PASS|FAIL) \] (\w+)", done.stderr) == [
        ("PASS", "modules"), ("PASS", "additional"), ("FAIL", "failing"),
    ], done.stderr  # fmt: skip
    assert done.stdout.splitlines()[0] == "text of the script"
    stack = done.stderr[done.stderr.index("TypeError: boom 1") :]
    where = f"{failing.root.as_uri()}/src/index.ts"
    assert StackMapper(bundles["failing"]).mapped(stack).splitlines()[:3] == [
        "TypeError: boom 1",
        f"    at Thing.later ({where}:2:74)",
        f"    at async Object.test ({where}:6:5)",
    ]


def made_of_modules(project: JavaScriptProject) -> Bundled:
    project.write("src/index.ts", MODULES)
    project.write("src/lazy.ts", 'export const value = "lazy";')
    project.write("src/add.wasm", WASM)
    project.write("src/text.txt", "text")
    project.write("node_modules/pkg/data.bin", b"\1\2")
    project.write("node_modules/cjs/index.js", 'exports.path = require("path"); exports.events = require("events");')
    return project.bundled(compatibility_date=DATE)


def with_additional_modules(project: JavaScriptProject) -> Bundled:
    project.write("src/index.ts", ADDITIONAL)
    project.write("src/lang/en.js", 'export default "hello";')
    project.write("src/note.txt", "note")
    rules = [{"type": "ESModule", "globs": ["**/*.js"]}]
    return project.bundled(find_additional_modules=True, rules=rules, preserve_file_names=True)


def a_script(project: JavaScriptProject) -> Bundled:
    project.write("src/index.js", SCRIPT)
    project.write("src/text.txt", "text of the script")
    return project.bundled("src/index.js")


def a_failing_one(project: JavaScriptProject) -> Bundled:
    project.write("src/index.ts", FAILING)
    return project.bundled()


def capnp(bundles: dict[str, Bundled], folder: Path) -> str:
    services = [f"(name = {quoted(name)}, worker = ({worker(found, folder)}))" for name, found in bundles.items()]
    return (
        'using Workerd = import "/workerd/workerd.capnp";\n'
        f"const config :Workerd.Config = (services = [{', '.join(services)}]);\n"
    )


def worker(bundled: Bundled, folder: Path) -> str:
    if bundled.format == "modules":
        code = f'modules = [{content(bundled.modules, folder)}], bindings = [(name = "SCRIPT", service = "script")]'
    else:
        bindings = content(bundled.globals, folder)
        code = f"serviceWorkerScript = {embedded(bundled.modules[0], folder)}, bindings = [{bindings}]"
    return f"{code}, compatibilityDate = {quoted(DATE)}"


def content(modules: tuple[Module, ...], folder: Path) -> str:
    return ", ".join(f"(name = {quoted(found.name)}, {found.kind} = {embedded(found, folder)})" for found in modules)


def embedded(module: Module, folder: Path) -> str:
    path = folder / f"{len(list(folder.iterdir()))}"
    path.write_bytes(module.content)
    return f"embed {quoted(path.name)}"


def quoted(text: str) -> str:
    return json.dumps(text)
