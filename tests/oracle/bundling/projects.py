"""Projects that wrangler and we bundle: what is imported, which keys the config has, and what can't be built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

WASM = bytes.fromhex("0061736d0100000001070160027f7f017f030201000707010361646400000a09010700200020016a0b")
OLD = {"compatibility_date": "2024-01-01"}
V1 = {**OLD, "compatibility_flags": ["nodejs_compat"]}


@dataclass(frozen=True)
class Sources:
    """`files` by path; the config has `main` and `config`. `says` is whether the texts are compared too."""

    files: Mapping[str, str | bytes]
    config: Mapping[str, Any] = field(default_factory=dict)
    main: str = "src/index.ts"
    says: bool = True


def worker(imports: str, *values: str) -> dict[str, str]:
    """An entry point that uses what it imports."""
    listed = ", ".join(values)
    return {"src/index.ts": f"{imports}\nexport default {{ fetch: () => new Response(String([{listed}])) }};\n"}


def script(imports: str, body: str = "") -> dict[str, str]:
    return {"src/index.ts": f'{imports}\naddEventListener("fetch", (event) => {{ {body} }});\n'}


NODE: dict[str, str | bytes] = {
    **worker(
        'import fs, { readFileSync } from "fs";\nimport { createHash } from "node:crypto";\nimport cjs from "cjs";\n'
        'import debug from "debug";\nimport http from "node:http";\nimport * as os from "os";',
        "fs", "readFileSync", "createHash", "cjs", "debug", "http", "os",
    ),
    "node_modules/cjs/index.js": 'module.exports = [require("crypto"), require("node:events"), require("path")];',
    "node_modules/debug/index.js": "module.exports = 1;",
}  # fmt: skip
LANGUAGES: dict[str, str | bytes] = {
    "src/index.ts": 'import a from "./lib/a.mjs";\nconst load = (name: string) => import(`./lang/${name}.js`);\n'
    "export default { fetch: async () => new Response((await load(a)).default) };\n",
    "src/lib/a.mjs": "export default 'en';",
    "src/lang/en.js": "export default 'en';",
    "src/note.txt": "note",
}
SCRIPT_MODULES = [{"type": "ESModule", "globs": ["**/*.js"]}]

PROJECTS: dict[str, Sources] = {
    "modules": Sources(
        {
            **worker(
                'import a from "./a.wasm";\nimport b from "./a.wasm?module";\nimport c from "pkg/add.wasm";\n'
                'import d from "./b.txt";\nimport e from "./c.html";\nimport f from "../d.sql";\n'
                'import g from "./e.bin";',
                "a", "b", "c", "d", "e", "f", "g",
            ),
            "src/a.wasm": WASM, "src/b.txt": "text", "src/c.html": "<p>", "d.sql": "select", "src/e.bin": b"\1",
            "node_modules/pkg/package.json": '{"name": "pkg", "exports": {"./add.wasm": "./lib/real.wasm"}}',
            "node_modules/pkg/lib/real.wasm": WASM + b"\0",
        }
    ),
    "kept names": Sources(
        {**worker('import a from "./a.wasm";\nimport b from "./sub/b.txt";', "a", "b"),
         "src/a.wasm": WASM, "src/sub/b.txt": "text"},
        {"preserve_file_names": True},
    ),
    "names of wrangler 1": Sources({**worker('import a from "a.wasm";', "a"), "src/a.wasm": WASM}),
    "rules": Sources(
        {**worker('import a from "./a.md";\nimport b from "./b.dat";\nimport c from "./c.txt";', "a", "b", "c"),
         "src/a.md": "a", "src/b.dat": "b", "src/c.txt": "c"},
        {"rules": [{"type": "Text", "globs": ["**/*.md"], "fallthrough": True},
                   {"type": "Data", "globs": ["**/*.dat"]}]},
    ),
    "a rule too late": Sources(
        {**worker('import c from "./c.txt";', "c"), "src/c.txt": "c"},
        {"rules": [{"type": "Text", "globs": ["**/*.md"]}]},
        says=False,  # wrangler's own stack is in it
    ),
    "additional modules": Sources(LANGUAGES, {"find_additional_modules": True, "rules": SCRIPT_MODULES}),
    "no bundle": Sources(
        {"src/index.js": 'import a from "./lib/a.js";\nexport default a;\n', "src/lib/a.js": "export default {};"},
        {"no_bundle": True, "rules": SCRIPT_MODULES}, "src/index.js",
    ),
    "json and text attributes": Sources(
        {**worker('import a from "./a.json";\nimport b from "./b.html" with { type: "text" };', "a.x", "b"),
         "src/a.json": '{"x": 1}', "src/b.html": "<p>"}
    ),
    "dynamic imports": Sources(
        {"src/index.ts": 'export default { fetch: async () => [await import("./lazy"), await import("./a.wasm")] };',
         "src/lazy.ts": "export const x = 1;", "src/a.wasm": WASM}
    ),
    "packages": Sources(
        {
            **worker('import a from "cond";\nimport b from "fields";', "a", "b"),
            "node_modules/cond/package.json": '{"exports": {"workerd": "./w.js", "browser": "./b.js"}}',
            "node_modules/cond/w.js": "export default 'workerd';",
            "node_modules/fields/package.json": '{"main": "m.js", "module": "e.js", "browser": "b.js"}',
            "node_modules/fields/m.js": "module.exports = 1;", "node_modules/fields/e.js": "export default 2;",
            "node_modules/fields/b.js": "export default 3;",
        }
    ),
    "define": Sources(worker("", "A", "B.c", "process.env.NODE_ENV", "navigator.userAgent"),
                      {"define": {"A": '"a"', "B.c": "5"}}),
    "define nothing": Sources(worker("", "A"), {"define": {"A": "not a value"}}),
    "alias": Sources(
        {**worker('import a from "thing";\nimport fs from "fs";\nimport b from "other";', "a", "fs", "b"),
         "mine.ts": "export default 1;", "node_modules/real/index.js": "module.exports = 3;"},
        {"alias": {"thing": "./mine.ts", "fs": "./mine.ts", "other": "real"}},
    ),
    "jsx": Sources({"src/index.js": "export default <><A b='1'/></>;"}, {}, "src/index.js"),
    "jsx of another kind": Sources(
        {"src/index.js": "export default <><A/></>;"}, {"jsx_factory": "h", "jsx_fragment": "F"}, "src/index.js"
    ),
    "tsconfig": Sources(
        {"src/index.tsx": 'import a from "@/lib";\nclass A { @d x = a; }\nfunction d(..._: any[]) {}\n'
                          "export default <A/>;",
         "src/lib.ts": "export default 1;", "node_modules/pre/jsx-runtime.js": "export const jsx = 1;",
         "other.json": '{"compilerOptions": {"paths": {"@/*": ["./src/*"]}, "experimentalDecorators": true,'
                       ' "useDefineForClassFields": false, "jsx": "react-jsx", "jsxImportSource": "pre"}}'},
        {"tsconfig": "other.json"}, "src/index.tsx",
    ),
    "minify": Sources(worker("function long(name: string) { return name; }\nclass Thing {}", "long", "Thing"),
                      {"minify": True}),
    "names not kept": Sources(worker("function long() {}\nclass Thing {}", "long", "Thing"), {"keep_names": False}),
    "syntax": Sources(worker("using a = { [Symbol.dispose]() {} };\nclass A { @d m() {} accessor q = 1 }\n"
                             "function d(v: any) { return v; }", "a", "A")),
    "node": Sources(NODE),
    "node with a prefix": Sources(worker('import fs from "node:fs";', "fs"), V1),
    "node without its flag": Sources(worker('import fs from "node:fs";', "fs"), OLD),
    "node without a prefix": Sources(worker('import fs from "fs";', "fs"), V1),
    "node without either": Sources(worker('import fs from "fs";', "fs"), OLD),
    "node that nobody has": Sources(worker('import a from "node:test";', "a")),
    "async local storage": Sources(worker('import * as a from "node:async_hooks";', "a"),
                                   {**OLD, "compatibility_flags": ["nodejs_als"]}),
    "a script": Sources(script("function f() { return 1; }", "f();"), OLD),
    "a script that exports": Sources(script("export class A {}"), OLD),
    "a script that imports": Sources(script('import "cloudflare:workers";\nimport "cloudflare:email";'), OLD),
    "a script that imports from node": Sources(script('import "fs";\nimport "node:os";')),
    "only classes": Sources({"src/index.ts": 'import { RpcTarget } from "cloudflare:workers";\n'
                                             "export class A extends RpcTarget {}"}),
    "warnings": Sources(worker("const x = { a: 1, a: 2 };", "x"), says=False),  # wrangler has colours within words
    "nothing there": Sources(worker('import a from "nowhere";\nimport b from "./gone";', "a", "b")),
    "workerd's own": Sources(worker('import a from "workerd:unsafe";', "a")),
    "the manifest of a site": Sources(worker('import a from "__STATIC_CONTENT_MANIFEST";', "a")),
    "a syntax error": Sources({"src/index.ts": "export default {\n  fetch( { return 1 }\n}\n"}),
    "no entry point": Sources({"src/other.ts": ""}),
    "a folder": Sources({"src/index.ts": ""}, {}, "src"),
}  # fmt: skip
