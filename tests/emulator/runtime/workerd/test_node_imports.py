"""Imports of Node.js's modules. Texts were compared with those of wrangler 4.164."""

from __future__ import annotations

import re

import pytest
from tests.emulator.runtime.workerd.bundles import JavaScriptProject

from flarebed.bindings.errors import UserError
from flarebed.emulator.runtime.workerd.bundled import Bundled

BEFORE_NODE = {"compatibility_date": "2024-01-01"}
V1 = {**BEFORE_NODE, "compatibility_flags": ["nodejs_compat"]}
V2_OLD = {"compatibility_date": "2024-10-01", "compatibility_flags": ["nodejs_compat"]}


def code(bundled: Bundled) -> str:
    return bundled.modules[0].content.decode()


def imports(bundled: Bundled) -> list[str]:
    return re.findall(r'^import (?:.* from )?"(.*)";$', code(bundled), re.MULTILINE)


def refused(project: JavaScriptProject, **config: object) -> UserError:
    with pytest.raises(UserError) as caught:
        project.bundled(**config)
    return caught.value


def substitutes(project: JavaScriptProject) -> None:
    """Where npm puts what wrangler brings along, if the project has another version of it."""
    nested = "node_modules/wrangler/node_modules"
    project.write(f"{nested}/unenv/dist/runtime/node/os.mjs", "export default 'unenv os';")
    project.write(f"{nested}/unenv/dist/runtime/npm/inherits.mjs", "export default 'unenv inherits';")
    project.write(f"{nested}/unenv/lib/mock.cjs", "module.exports = 'unenv mock';")
    preset = f"{nested}/@cloudflare/unenv-preset/dist/runtime"
    project.write(f"{preset}/node/process.mjs", "export default 'preset process';")
    project.write(f"{preset}/node/console.mjs", "export default 'preset console';")
    project.write(f"{preset}/polyfill/performance.mjs", "globalThis.performance = 'preset performance';")


def test_workerd_has_them(project: JavaScriptProject) -> None:
    project.write("src/index.ts", 'import fs from "fs";\nimport "node:sqlite";\nexport default fs;')
    bundled = project.bundled()
    assert (imports(bundled), bundled.warnings) == (["fs", "node:sqlite"], ())


def test_nobody_has_it(project: JavaScriptProject) -> None:
    project.write("src/index.ts", 'import "node:test";\nexport default 1;')
    assert refused(project).message == (
        "Build failed with 1 error:\n"
        '✘ [ERROR] Could not resolve "node:test"\n'
        "\n"
        "    src/index.ts:1:7:\n"
        '      1 │ import "node:test";\n'
        "        ╵        ~~~~~~~~~~~\n"
        "\n"
        '  The package "node:test" wasn\'t found on the file system but is built into node.'
    )


BUILT_IN = (
    'The package "{}" is built into node, but not into workerd at this compatibility date. wrangler brings along what '
    'stands in for it, the package "unenv", which was not found. Imported from:\n - src/index.ts'
)


def test_require_of_what_workerd_has(project: JavaScriptProject) -> None:
    project.write("src/index.ts", 'import cjs from "cjs";\nexport default cjs;')
    project.write("node_modules/cjs/index.js", 'module.exports = [require("crypto"), require("node:events")];')
    bundled = project.bundled(keep_names=False)
    assert imports(bundled) == ["crypto", "node:events"]
    assert "module.exports = libDefault;" in code(bundled)
    assert "Dynamic require" not in code(bundled)


def test_substitutes_for_what_workerd_lacks(project: JavaScriptProject) -> None:
    substitutes(project)
    project.write(
        "src/index.ts",
        'import os from "node:os";\nimport path from "path";\nimport agent from "_http_agent";\n'
        'import inherits from "inherits";\nimport cjs from "cjs";\nimport process from "process";\n'
        "export default [os, path, agent, inherits, cjs, process];",
    )
    project.write("node_modules/cjs/index.js", 'module.exports = [require("inherits"), require("os")];')
    bundled = project.bundled(**V2_OLD, keep_names=False)
    assert (imports(bundled), bundled.warnings) == (["path"], ())
    assert set(re.findall(r'"((?:unenv|preset) \w+)"', code(bundled))) == {
        "preset process", "preset console", "preset performance", "unenv mock", "unenv inherits", "unenv os",
    }  # fmt: skip
    assert set(re.findall(r"globalThis\.\w+ = \w+", code(bundled))) == {
        "globalThis.process = process_default", "globalThis.console = console_default",
    }  # fmt: skip


def test_no_substitutes(project: JavaScriptProject) -> None:
    project.write("src/index.ts", 'import os from "os";\nimport path from "path";\nexport default [os, path];')
    bundled = project.bundled(**V2_OLD)
    assert (imports(bundled), bundled.warnings) == (["os", "path"], (BUILT_IN.format("os"),))


def test_without_the_flag(project: JavaScriptProject) -> None:
    project.write("src/index.ts", 'import fs from "node:fs";\nimport "./other";\nexport default fs;')
    project.write("src/other.ts", 'import "node:fs";\nimport "node:path";')
    bundled = project.bundled(**BEFORE_NODE)
    advice = (
        'Your Worker may throw errors at runtime unless you enable the "nodejs_compat" compatibility flag. Refer to '
        "https://developers.cloudflare.com/workers/runtime-apis/nodejs/ for more details. Imported from:\n"
    )
    assert imports(bundled) == ["node:fs", "node:fs", "node:path"]
    assert bundled.warnings == (
        'The package "node:fs" wasn\'t found on the file system but is built into node.\n'
        f"{advice} - src/index.ts\n - src/other.ts",
        f'The package "node:path" wasn\'t found on the file system but is built into node.\n{advice} - src/other.ts',
    )


def test_with_the_flag_before_its_second_version(project: JavaScriptProject) -> None:
    project.write("src/index.ts", 'import fs from "node:fs";\nexport default fs;')
    bundled = project.bundled(**V1)
    assert (imports(bundled), bundled.warnings) == (["node:fs"], ())


def test_async_local_storage_only(project: JavaScriptProject) -> None:
    project.write("src/index.ts", 'import * as hooks from "node:async_hooks";\nexport default hooks;')
    bundled = project.bundled(**BEFORE_NODE, compatibility_flags=["nodejs_als"])
    assert (imports(bundled), bundled.warnings) == (["node:async_hooks"], ())


@pytest.mark.parametrize(
    ("config", "advice"),
    [
        (BEFORE_NODE, '  - Add the "nodejs_compat" compatibility flag to your project.'),
        (
            V1,
            '  - Make sure to prefix the module name with "node:" or update your compatibility_date to 2024-09-23 or '
            "later.",
        ),
    ],
)
def test_without_the_prefix(project: JavaScriptProject, config: dict[str, object], advice: str) -> None:
    project.write("src/index.ts", 'import fs from "fs";\nexport default fs;')
    assert refused(project, **config).message == (
        "Build failed with 1 error:\n"
        '✘ [ERROR] Could not resolve "fs"\n'
        "\n"
        "    src/index.ts:1:15:\n"
        '      1 │ import fs from "fs";\n'
        "        ╵                ~~~~\n"
        "\n"
        '  The package "fs" wasn\'t found on the file system but is built into node.\n'
        f"{advice}"
    )


@pytest.mark.parametrize(
    ("source", "config", "listed"),
    [
        ('import "cloudflare:workers";', {}, '"cloudflare:workers"'),
        (
            'import "cloudflare:workers"; import "cloudflare:email"; import "cloudflare:sockets";',
            {},
            '"cloudflare:email", "cloudflare:sockets", and "cloudflare:workers"',
        ),
        ('import "fs"; import "node:path";', {}, '"fs" and "node:path"'),
        ('import "node:fs";', V1, '"node:fs"'),
    ],
)
def test_a_script_imports_nothing(
    project: JavaScriptProject, source: str, config: dict[str, object], listed: str
) -> None:
    project.write("src/index.ts", f"{source} addEventListener('fetch', () => {{}});")
    assert refused(project, **config).message == (
        "Build failed with 1 error:\n"
        f"✘ [ERROR] Unexpected external import of {listed}.\n"
        "Your worker has no default export, which means it is assumed to be a Service Worker format Worker.\n"
        "Did you mean to create a ES Module format Worker?\n"
        "If so, try adding `export default { ... }` in your entry-point.\n"
        "See https://developers.cloudflare.com/workers/reference/migrate-to-module-workers/"
    )


def test_what_was_said_before_a_failure(project: JavaScriptProject) -> None:
    project.write("src/index.ts", 'import "node:fs";\nimport "./gone";\nexport default 1;')
    assert refused(project, **BEFORE_NODE).warnings.startswith('The package "node:fs" wasn\'t found on the file system')
