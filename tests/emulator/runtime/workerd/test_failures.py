"""Sources that can't be bundled. Texts were compared with those of wrangler 4.164."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.emulator.runtime.workerd.bundles import JavaScriptProject
from tests.support import run

from flarebed.bindings.errors import UserError
from flarebed.emulator.runtime.workerd.bundler import bundle


def refused(project: JavaScriptProject, source: str, **config: object) -> str:
    project.write("src/index.ts", source)
    with pytest.raises(UserError) as caught:
        project.bundled(**config)
    return caught.value.message


def test_a_syntax_error(project: JavaScriptProject) -> None:
    assert refused(project, "export default {\n  fetch( { return 1 }\n}\n") == (
        "Build failed with 1 error:\n"
        '✘ [ERROR] Expected "}" but found "1"\n'
        "\n"
        "    src/index.ts:2:18:\n"
        "      2 │   fetch( { return 1 }\n"
        "        │                   ^\n"
        "        ╵                   }"
    )


def test_an_error_of_typescript(project: JavaScriptProject) -> None:
    assert refused(project, "enum E { A = 1\nconst x: = 5;\n") == (
        "Build failed with 1 error:\n"
        '✘ [ERROR] Expected "," before "const" in enum\n'
        "\n"
        "    src/index.ts:2:0:\n"
        "      2 │ const x: = 5;\n"
        "        │ ^\n"
        "        ╵ ,"
    )


def test_what_is_not_installed_or_not_there(project: JavaScriptProject) -> None:
    source = 'import a from "nowhere";\nimport b from "./gone";\nexport default [a, b];\n'
    assert refused(project, source) == (
        "Build failed with 2 errors:\n"
        '✘ [ERROR] Could not resolve "nowhere"\n'
        "\n"
        "    src/index.ts:1:14:\n"
        '      1 │ import a from "nowhere";\n'
        "        ╵               ~~~~~~~~~\n"
        "\n"
        '  To fix this, you can add an entry to "alias" in your Wrangler configuration.\n'
        "  For more guidance see: https://developers.cloudflare.com/workers/wrangler/configuration/#bundling-issues\n"
        "  \n"
        "\n"
        "\n"
        '✘ [ERROR] Could not resolve "./gone"\n'
        "\n"
        "    src/index.ts:2:14:\n"
        '      2 │ import b from "./gone";\n'
        "        ╵               ~~~~~~~~"
    )


def test_a_module_that_only_tools_of_workerd_have(project: JavaScriptProject) -> None:
    assert '✘ [ERROR] Could not resolve "workerd:unsafe"\n' in refused(project, 'export * from "workerd:unsafe";')


def test_a_value_that_is_none(project: JavaScriptProject) -> None:
    assert refused(project, "export default A;", define={"A": "not a value"}) == (
        "Build failed with 1 error:\n✘ [ERROR] Invalid define value (must be an entity name or JS literal): not a value"
    )


def test_an_alias_of_nothing(project: JavaScriptProject) -> None:
    source = 'import a from "thing";\nexport default a;\n'
    assert refused(project, source, alias={"thing": "./src/gone.ts"}) == (
        "Build failed with 1 error:\n"
        '✘ [ERROR] Could not resolve "./src/gone.ts"\n'
        "\n"
        "    src/index.ts:1:14:\n"
        '      1 │ import a from "thing";\n'
        "        ╵               ~~~~~~~"
    )


def test_warnings_of_esbuild(project: JavaScriptProject) -> None:
    project.write("src/index.ts", "const x = { a: 1, a: 2 };\nexport default x;\n")
    assert project.bundled().warnings == (
        '▲ [WARNING] Duplicate key "a" in object literal [duplicate-object-key]\n'
        "\n"
        "    src/index.ts:1:18:\n"
        "      1 │ const x = { a: 1, a: 2 };\n"
        "        ╵                   ^\n"
        "\n"
        '  The original key "a" is here:\n'
        "\n"
        "    src/index.ts:1:12:\n"
        "      1 │ const x = { a: 1, a: 2 };\n"
        "        ╵             ^",
    )


def test_no_entry_point(project: JavaScriptProject) -> None:
    with pytest.raises(UserError) as caught:
        project.bundled("src/gone.ts")
    assert caught.value.message.startswith('The entry-point file at "src/gone.ts" was not found.\n')


def test_an_esbuild_that_ends_at_once(project: JavaScriptProject, tmp_path: Path) -> None:
    project.write("src/index.ts", "export default 1;")
    config = project.with_config({"main": "src/index.ts"})
    program = project.write("node_modules/esbuild/bin/esbuild", "#!/bin/sh\necho broken >&2; exit 1\n")
    project.write("node_modules/esbuild/package.json", {"name": "esbuild", "version": "0.28.2"})
    program.chmod(0o755)
    with pytest.raises(UserError) as caught:
        run(bundle(config, program))
    assert (caught.value.message, caught.value.place) == (
        "esbuild ended before it had bundled the Worker: broken",
        str(program),
    )
