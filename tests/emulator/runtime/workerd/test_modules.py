"""Modules beside the bundle. Names and texts were compared with `wrangler deploy --dry-run` of wrangler 4.164."""

from __future__ import annotations

import hashlib
import re

import pytest
from tests.emulator.runtime.workerd.bundles import JavaScriptProject

from flarebed.bindings.errors import UserError
from flarebed.emulator.runtime.workerd.bundled import Bundled

WASM = bytes.fromhex("0061736d0100000001070160027f7f017f030201000707010361646400000a09010700200020016a0b")


def named(content: bytes, name: str) -> str:
    return f"{hashlib.sha1(content).hexdigest()}-{name}"


def beside(bundled: Bundled) -> dict[str, tuple[str, bytes]]:
    """What is beside the main module."""
    return {module.name: (module.kind, module.content) for module in bundled.modules[1:]}


def imports(bundled: Bundled) -> list[str]:
    return re.findall(r'^import .* from "(.*)";$', bundled.modules[0].content.decode(), re.MULTILINE)


def importing(*specifiers: str) -> str:
    lines = [f'import m{index} from "{specifier}";\n' for index, specifier in enumerate(specifiers)]
    used = ", ".join(f"m{index}" for index in range(len(specifiers)))
    return f"{''.join(lines)}export default {{ fetch: () => new Response([{used}].join()) }};\n"


def test_the_default_rules(project: JavaScriptProject) -> None:
    project.write("src/index.ts", importing("./a.wasm", "./b.txt", "./c.html", "../d.sql", "./e.bin"))
    project.write("src/a.wasm", WASM)
    for name in ("src/b.txt", "src/c.html", "d.sql", "src/e.bin"):
        project.write(name, f"this is {name}")
    bundled = project.bundled()
    assert beside(bundled) == {
        named(WASM, "a.wasm"): ("wasm", WASM),
        named(b"this is src/b.txt", "b.txt"): ("text", b"this is src/b.txt"),
        named(b"this is src/c.html", "c.html"): ("text", b"this is src/c.html"),
        named(b"this is d.sql", "d.sql"): ("text", b"this is d.sql"),
        named(b"this is src/e.bin", "e.bin"): ("data", b"this is src/e.bin"),
    }
    assert imports(bundled) == [f"./{name}" for name in beside(bundled)]
    assert sorted(project.shown(bundled)) == [
        "d.sql", "src/a.wasm", "src/b.txt", "src/c.html", "src/e.bin", "src/index.ts",
    ]  # fmt: skip


def test_webassembly_of_a_package_and_with_a_query(project: JavaScriptProject) -> None:
    project.write("src/index.ts", importing("pkg/add.wasm", "pkg/add.wasm?module"))
    project.write("node_modules/pkg/package.json", {"name": "pkg", "exports": {"./add.wasm": "./lib/real.wasm"}})
    project.write("node_modules/pkg/lib/real.wasm", WASM)
    bundled = project.bundled()
    assert beside(bundled) == {named(WASM, "add.wasm"): ("wasm", WASM)}
    assert imports(bundled) == [f"./{named(WASM, 'add.wasm')}"] * 2


def test_rules_of_the_config(project: JavaScriptProject) -> None:
    project.write("src/index.ts", importing("./a.md", "./b.dat", "./c.txt"))
    for name in ("a.md", "b.dat", "c.txt"):
        project.write(f"src/{name}", name)
    rules = [
        {"type": "Text", "globs": ["**/*.md"], "fallthrough": True},
        {"type": "Data", "globs": ["**/*.dat"]},
    ]
    bundled = project.bundled(rules=rules)
    assert [kind for kind, _ in beside(bundled).values()] == ["text", "data", "text"]
    assert bundled.warnings == (
        'The module rule {"type":"Data","globs":["**/*.dat"]} does not have a fallback, the following rules will be '
        "ignored:\n"
        ' {"type":"Data","globs":["**/*.bin"]} (DEFAULT)\n'
        "\n"
        "Add `fallthrough = true` to rule to allow next rule to be used or `fallthrough = false` to silence this "
        "warning",
    )
    rules[1]["fallthrough"] = False
    assert project.bundled(rules=rules).warnings == ()


def test_a_rule_that_comes_too_late(project: JavaScriptProject) -> None:
    project.write("src/index.ts", importing("./c.txt"))
    project.write("src/c.txt", "text")
    with pytest.raises(UserError) as caught:
        project.bundled(rules=[{"type": "Text", "globs": ["**/*.md"], "fallthrough": False}])
    assert caught.value.message == (
        "Build failed with 1 error:\n"
        '✘ [ERROR] The file ./c.txt matched a module rule in your configuration ({"type":"Text","globs":["**/*.txt",'
        '"**/*.html","**/*.sql"]}), but was ignored because a previous rule with the same type was not marked as '
        "`fallthrough = true`.\n"
        "\n"
        "    src/index.ts:1:15:\n"
        '      1 │ import m0 from "./c.txt";\n'
        "        ╵                ~~~~~~~~~"
    )


def test_names_that_are_kept(project: JavaScriptProject) -> None:
    project.write("src/index.ts", importing("./a.wasm", "./deep/b.txt"))
    project.write("src/a.wasm", WASM)
    project.write("src/deep/b.txt", "text")
    bundled = project.bundled(preserve_file_names=True)
    assert beside(bundled) == {"a.wasm": ("wasm", WASM), "deep/b.txt": ("text", b"text")}
    assert imports(bundled) == ["./a.wasm", "./deep/b.txt"]


def test_imports_as_wrangler_1_had_them(project: JavaScriptProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.root)
    project.write("src/index.ts", importing("a.wasm"))
    project.write("src/a.wasm", WASM)
    bundled = project.bundled()
    assert beside(bundled) == {named(WASM, "a.wasm"): ("wasm", WASM)}
    assert bundled.warnings == (
        'Deprecation: detected a legacy module import in "./src/index.ts". This will stop working in the future. '
        'Replace references to "a.wasm" with "./a.wasm";',
    )


def test_a_file_that_is_not_there(project: JavaScriptProject) -> None:
    project.write("src/index.ts", importing("./gone.wasm"))
    with pytest.raises(UserError) as caught:
        project.bundled()
    assert caught.value.message == (
        "Build failed with 1 error:\n"
        '✘ [ERROR] Could not resolve "./gone.wasm"\n'
        "\n"
        "    src/index.ts:1:15:\n"
        '      1 │ import m0 from "./gone.wasm";\n'
        "        ╵                ~~~~~~~~~~~~~"
    )


def test_additional_modules(project: JavaScriptProject) -> None:
    project.write("src/index.ts", importing("./lib/a.mjs", "./lang/en.js").replace("m1]", "import(`./lang/${m1}.js`)]"))
    project.write("src/lib/a.mjs", "export default 1;")
    project.write("src/lang/en.js", "export default 'en';")
    project.write("src/lang/fr.js", "export default 'fr';")
    project.write("src/note.txt", "text")
    rules = [{"type": "ESModule", "globs": ["**/*.js"]}]
    bundled = project.bundled(find_additional_modules=True, rules=rules)
    assert beside(bundled) == {
        "lang/en.js": ("esModule", b"export default 'en';"),
        "lang/fr.js": ("esModule", b"export default 'fr';"),
        "note.txt": ("text", b"text"),
    }
    assert imports(bundled) == ["./lang/en.js"]


def test_additional_modules_below_another_folder(project: JavaScriptProject) -> None:
    project.write("src/deep/index.ts", importing("../lang/en.cjs"))
    project.write("src/lang/en.cjs", "module.exports = 'en';")
    rules = [{"type": "CommonJS", "globs": ["lang/*.cjs"]}]
    bundled = project.bundled("src/deep/index.ts", base_dir="src", find_additional_modules=True, rules=rules)
    assert beside(bundled) == {"lang/en.cjs": ("commonJsModule", b"module.exports = 'en';")}


def test_a_script_has_no_additional_modules(project: JavaScriptProject) -> None:
    project.write("src/index.ts", "addEventListener('fetch', () => {});")
    with pytest.raises(UserError) as caught:
        project.bundled(find_additional_modules=True)
    assert caught.value.message == (
        "`find_additional_modules` can only be used with an ES module entrypoint.\n"
        "Remove `find_additional_modules = true` from your configuration, or migrate to the ES module Worker format: "
        "https://developers.cloudflare.com/workers/learning/migrate-to-module-workers/"
    )


def test_modules_of_a_script_are_globals(project: JavaScriptProject) -> None:
    project.write(
        "src/index.js", 'import a from "./a.wasm";\naddEventListener("fetch", (event) => event.respondWith(f(a)));\n'
    )
    project.write("src/a.wasm", WASM)
    bundled = project.bundled("src/index.js")
    name = f"__{hashlib.sha1(WASM).hexdigest()}_a_wasm"
    assert [(module.name, module.kind, module.content) for module in bundled.globals] == [(name, "wasm", WASM)]
    assert (bundled.format, bundled.exports, len(bundled.modules)) == ("service-worker", (), 1)
    code = bundled.modules[0].content.decode()
    assert (f" = {name};\n" in code, code.endswith("})();\n//# sourceURL=index.js\n")) == (True, True)


def test_without_bundling(project: JavaScriptProject) -> None:
    source = importing("./lib/a.js")
    project.write("dist/index.js", source + "//# sourceMappingURL=maps/index.js.map\n//# debugId=1\n")
    project.write("dist/lib/a.js", "export default 1;\n//# sourceMappingURL=data:application/json;base64,e30=\n")
    project.write("dist/maps/index.js.map", "{}")
    project.write("dist/lib/b.js", "//# sourceMappingURL=gone.map\nexport default 2;\n")
    project.write("dist/note.txt", "text")
    rules = [{"type": "ESModule", "globs": ["**/*.js"]}]
    bundled = project.bundled("dist/index.js", no_bundle=True, rules=rules)
    modules = [(module.name, module.kind) for module in bundled.modules]
    assert modules == [
        ("index.js", "esModule"), ("lib/a.js", "esModule"), ("lib/b.js", "esModule"), ("note.txt", "text"),
    ]  # fmt: skip
    assert bundled.modules[0].content.decode().startswith(source)
    assert (bundled.exports, bundled.format) == (("default",), "modules")
    assert {name: (file.content, project.shown_path(file.folder)) for name, file in bundled.source_maps.items()} == {
        "index.js": (b"{}", "dist/maps"),
        "lib/a.js": (b"{}", "dist/lib"),
    }


def test_without_bundling_and_alone(project: JavaScriptProject) -> None:
    project.write("dist/index.js", importing())
    project.write("dist/note.txt", "text")
    bundled = project.bundled("dist/index.js", no_bundle=True, find_additional_modules=False)
    assert [module.name for module in bundled.modules] == ["index.js"]
