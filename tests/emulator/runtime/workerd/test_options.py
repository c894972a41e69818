"""The config's keys for esbuild. Results were compared with `wrangler deploy --dry-run` of wrangler 4.164."""

from __future__ import annotations

import pytest
from tests.emulator.runtime.workerd.bundles import JavaScriptProject

from flarebed.bindings.errors import UserError
from flarebed.emulator.runtime.workerd.bundled import Bundled
from flarebed.emulator.runtime.workerd.bundling.options import syntax_flags


def code(bundled: Bundled) -> str:
    """The main module up to its exports."""
    return bundled.modules[0].content.decode().partition("export {")[0]


def bundled_code(project: JavaScriptProject, source: str, **config: object) -> str:
    main = str(config.pop("main", "src/index.ts"))
    project.write(main, source)
    return code(project.bundled(main, keep_names=False, **config))


def test_values_that_are_defined(project: JavaScriptProject) -> None:
    source = (
        "export default [A, B.c, process.env.NODE_ENV, global.process.env.NODE_ENV, globalThis.process.env.NODE_ENV,"
        " navigator.userAgent];"
    )
    define = {"A": '"a"', "B.c": "5"}
    assert bundled_code(project, source, define=define) == (
        "// src/index.ts\n"
        'var index_default = ["a", 5, "development", "development", "development", "Cloudflare-Workers"];\n'
    )
    assert '"test"' in code(project.bundled(environ={"NODE_ENV": "test"}, define=define))
    assert "navigator.userAgent" in code(project.bundled(compatibility_date="2022-03-20", define=define))


def test_aliases(project: JavaScriptProject) -> None:
    project.write("mine.ts", "export default 1;")
    project.write("node_modules/real/index.js", "export default 2;")
    source = (
        'import a from "thing";\nimport b from "fs";\nimport c from "other";\nimport d from "os";\n'
        'import e from "thing/else";\nexport default [a, b, c, d, e];'
    )
    project.write("node_modules/thing/else.js", "export default 3;")
    alias = {"thing": "./mine.ts", "fs": "./mine.ts", "other": "real", "os": "node:path"}
    assert bundled_code(project, source, alias=alias) == (
        "// mine.ts\n"
        "var mine_default = 1;\n"
        "\n"
        "// node_modules/real/index.js\n"
        "var real_default = 2;\n"
        "\n"
        "// src/index.ts\n"
        'import d from "node:path";\n'
        "\n"
        "// node_modules/thing/else.js\n"
        "var else_default = 3;\n"
        "\n"
        "// src/index.ts\n"
        "var index_default = [mine_default, mine_default, real_default, d, else_default];\n"
    )


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, "React.createElement(React.Fragment, null, /* @__PURE__ */ React.createElement(A, null))"),
        ({"jsx_factory": "h", "jsx_fragment": "F"}, "h(F, null, /* @__PURE__ */ h(A, null))"),
    ],
)
def test_jsx_in_plain_javascript(project: JavaScriptProject, config: dict[str, str], expected: str) -> None:
    found = bundled_code(project, "export default <><A/></>;", main="src/index.js", **config)
    assert found == f"// src/index.js\nvar index_default = /* @__PURE__ */ {expected};\n"


def test_the_tsconfig_beside(project: JavaScriptProject) -> None:
    project.write("tsconfig.json", {"compilerOptions": {"jsx": "react-jsx", "jsxImportSource": "pre"}})
    project.write("node_modules/pre/jsx-runtime.js", "export const jsx = 1;")
    found = bundled_code(project, "export default <a/>;", main="src/index.tsx")
    assert found.endswith('// src/index.tsx\nvar index_default = /* @__PURE__ */ jsx("a", {});\n')


def test_another_tsconfig(project: JavaScriptProject) -> None:
    project.write("tsconfig.json", {"compilerOptions": {"paths": {"@/*": ["./nowhere/*"]}}})
    project.write("other.json", {"extends": "./base.json", "compilerOptions": {"paths": {"@/*": ["./lib/*"]}}})
    project.write("base.json", {})
    project.write("lib/a.ts", "export default 1;")
    project.write("src/index.ts", 'export { default } from "@/a";')
    bundled = project.bundled(tsconfig="other.json")
    assert code(bundled) == "// lib/a.ts\nvar a_default = 1;\n"
    assert sorted(project.shown(bundled)) == ["base.json", "lib/a.ts", "other.json", "src/index.ts"]


def test_minified(project: JavaScriptProject) -> None:
    source = "function long(first: string) { return first + 1; }\nexport default long;\n"
    assert bundled_code(project, source, minify=True) == ("function t(n){return n+1}var r=t;export{r as default};\n")


def test_packages(project: JavaScriptProject) -> None:
    project.write(
        "node_modules/by-condition/package.json",
        {"name": "by-condition", "exports": {"workerd": "./w.js", "browser": "./b.js", "default": "./d.js"}},
    )
    project.write("node_modules/by-condition/w.js", "export default 'workerd';")
    fields = {"name": "by-field", "main": "./main.js", "module": "./module.js", "browser": "./browser.js"}
    project.write("node_modules/by-field/package.json", fields)
    project.write("node_modules/by-field/browser.js", "export default 'browser';")
    source = 'import a from "by-condition";\nimport b from "by-field";\nexport default [a, b];'
    found = bundled_code(project, source)
    assert ('w_default = "workerd"' in found, 'browser_default = "browser"' in found) == (True, True)
    project.write("node_modules/by-condition/d.js", "export default 'default';")
    project.write("node_modules/by-field/main.js", "export default 'main';")
    environ = {"WRANGLER_BUILD_CONDITIONS": "", "WRANGLER_BUILD_PLATFORM": "node"}
    found = code(project.bundled(environ=environ))
    assert ('d_default = "default"' in found, 'main_default = "main"' in found) == (True, True)


def test_syntax_that_workerd_has(project: JavaScriptProject) -> None:
    source = "using file = { [Symbol.dispose]() {} };\nexport default class A { static { this.a ??= file; } }\n"
    assert bundled_code(project, source) == (
        "// src/index.ts\n"
        "using file = { [Symbol.dispose]() {\n"
        "} };\n"
        "var A = class {\n"
        "  static {\n"
        "    this.a ??= file;\n"
        "  }\n"
        "};\n"
    )


def test_what_an_older_esbuild_does_not_know() -> None:
    loaders = ["--loader:.js=jsx", "--loader:.mjs=jsx", "--loader:.cjs=jsx"]
    assert syntax_flags("0.25.4") == ["--target=es2024", "--supported:using=true", *loaders]
    assert syntax_flags("0.28.2") == [
        "--target=es2024", "--supported:using=true", "--supported:import-source=true", *loaders,
    ]  # fmt: skip


def test_an_esbuild_that_is_too_old() -> None:
    with pytest.raises(UserError) as caught:
        syntax_flags("0.21.5")
    assert (caught.value.message, caught.value.hint) == (
        "The esbuild of this project, version 0.21.5, is too old to bundle for workerd.",
        "Install a newer one with `npm install --save-dev esbuild@latest`.",
    )


def test_only_classes_are_a_module(project: JavaScriptProject) -> None:
    source = 'import { RpcTarget } from "cloudflare:workers";\nexport class A extends RpcTarget {}\n'
    project.write("src/index.ts", source)
    bundled = project.bundled()
    assert (bundled.format, bundled.exports, bundled.warnings) == ("modules", ("A",), ())


def test_a_script_that_exports(project: JavaScriptProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.root)
    project.write("src/index.ts", 'export class A {}\naddEventListener("fetch", () => {});')
    bundled = project.bundled()
    assert (bundled.format, bundled.warnings) == (
        "service-worker",
        (
            "The entrypoint src/index.ts has exports like an ES Module, but hasn't defined a default export like a "
            'module worker normally would. Building the worker using "service-worker" format...',
        ),
    )


def test_the_extension_may_be_left_out(project: JavaScriptProject) -> None:
    project.write("src/index.ts", "export default 1;")
    assert project.bundled("src/index").modules[0].name == "index.js"
