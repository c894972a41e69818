"""A Worker's sources become the modules that workerd gets."""

from __future__ import annotations

import json

from tests.emulator.runtime.workerd.bundles import JavaScriptProject

WORKER = """\
import { DurableObject } from "cloudflare:workers";
import { greeting } from "./greeting";

export class Room extends DurableObject<Env> {}
interface Env { NAME: string }
export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    return new Response(greeting(env.NAME));
  },
} satisfies ExportedHandler<Env>;
"""
GREETING = "export function greeting(name: string): string {\n  return `Hello ${name}`;\n}\n"


def test_typescript_becomes_one_module(project: JavaScriptProject) -> None:
    project.write("src/index.ts", WORKER)
    project.write("src/greeting.ts", GREETING)
    bundled = project.bundled()
    (main,) = bundled.modules
    assert (main.name, main.kind, bundled.format, bundled.warnings) == ("index.js", "esModule", "modules", ())
    assert main.content.decode() == (
        "var __defProp = Object.defineProperty;\n"
        'var __name = (target, value) => __defProp(target, "name", { value, configurable: true });\n'
        "\n"
        "// src/index.ts\n"
        'import { DurableObject } from "cloudflare:workers";\n'
        "\n"
        "// src/greeting.ts\n"
        "function greeting(name) {\n"
        "  return `Hello ${name}`;\n"
        "}\n"
        '__name(greeting, "greeting");\n'
        "\n"
        "// src/index.ts\n"
        "var Room = class extends DurableObject {\n"
        "  static {\n"
        '    __name(this, "Room");\n'
        "  }\n"
        "};\n"
        "var index_default = {\n"
        "  async fetch(request, env) {\n"
        "    return new Response(greeting(env.NAME));\n"
        "  }\n"
        "};\n"
        "export {\n"
        "  Room,\n"
        "  index_default as default\n"
        "};\n"
    )
    assert bundled.exports == ("Room", "default")
    source_map = json.loads(bundled.source_maps["index.js"].content)
    assert source_map["sources"] == ["src/index.ts", "src/greeting.ts"]
    assert "sourcesContent" not in source_map


def test_files_whose_change_means_a_new_bundle(project: JavaScriptProject) -> None:
    project.write("src/index.ts", 'import { greeting } from "./greeting";\nimport "shared";\nexport default greeting;')
    project.write("src/greeting.ts", GREETING)
    project.write("node_modules/shared/package.json", {"name": "shared", "main": "lib.js"})
    project.write("node_modules/shared/lib.js", "console.log(1);\n")
    project.write("package.json", {"name": "worker"})
    project.write("tsconfig.json", {"extends": ["./tsconfig.base", "settings/tsconfig.json"]})
    project.write("tsconfig.base.json", {"extends": "./nowhere.json"})
    project.write("node_modules/settings/tsconfig.json", {})
    assert sorted(project.shown(project.bundled())) == [
        "node_modules/settings/tsconfig.json",
        "node_modules/shared/lib.js",
        "node_modules/shared/package.json",
        "package.json",
        "src/greeting.ts",
        "src/index.ts",
        "tsconfig.base.json",
        "tsconfig.json",
    ]
