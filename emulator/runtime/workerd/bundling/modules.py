"""The modules that stay beside the bundle: WebAssembly, text, data, and scripts that are imported when they are needed.

Which ones they are, and the names that they get, is as in wrangler's deployment-bundle: module-collection.ts puts the
rules to what an import says and begins a module's name with the SHA-1 of its content, find-additional-modules.ts puts
them to the names of files.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from flarebed.bindings.errors import UserError
from flarebed.emulator.config.model import Config, Rule
from flarebed.emulator.runtime.module_rules import Rules, file_pattern, shown, specifier_pattern
from flarebed.emulator.runtime.workerd.bundled import Format, Module, ModuleKind
from flarebed.emulator.runtime.workerd.bundling.service import Answer, Hook, Import, OnLoad, OnResolve, Resolve

_KINDS: Final[Mapping[str, ModuleKind]] = {
    "ESModule": "esModule",
    "CommonJS": "commonJsModule",
    "CompiledWasm": "wasm",
    "Text": "text",
    "Data": "data",
}
_SCRIPTS: Final = ("ESModule", "CommonJS")


class ModuleImports:
    """The hooks that collect modules for one bundle; afterwards `files` and `modules` are what was collected.

    `found` are the modules that are there without being imported, by their files.
    """

    def __init__(self, config: Config, entry: Path, rules: Rules, script_format: Format) -> None:
        self.modules: dict[str, Module] = {}
        self.files: set[Path] = set()
        self.warnings: list[str] = []
        self._found = found_beside(config, entry, rules) if config.bundling.find_additional_modules else {}
        self._rules = [
            (specifier_pattern(glob), rule)
            for rule in rules.in_force
            for glob in rule.globs
            if self._found or rule.type not in _SCRIPTS
        ]
        self._too_late = [(specifier_pattern(glob), rule) for rule in rules.too_late for glob in rule.globs]
        self._keeps_names = config.bundling.preserve_file_names
        self._is_script = script_format == "service-worker"
        self._entry = entry
        self.hooks: Sequence[Hook] = list(self._make_hooks())
        for file, module in self._found.items():
            self._add(file, module)

    def _make_hooks(self) -> Iterator[Hook]:
        beside = [path.name for path in sorted(self._entry.parent.iterdir()) if path.is_file() and path != self._entry]
        if beside:
            yield OnResolve(f"^({'|'.join(map(re.escape, beside))})$", self._bare)
        for rules, answer in ((self._rules, self._module), (self._too_late, self._refuse)):
            if rules:
                yield OnResolve("|".join(pattern for pattern, _ in rules), answer)
        yield from (OnLoad(_namespace(kind), _global_value) for kind in _KINDS)

    async def _module(self, wanted: Import, resolve: Resolve) -> Answer | None:
        path = _without_query(wanted.path)
        file = _joined(wanted.folder, path)
        if file in self._found:
            return {"path": path, "external": True}
        rule = self._rule(wanted.path)
        if rule.type in _SCRIPTS:
            return None
        found = await resolve(Import(path, wanted.importer, wanted.kind, wanted.folder))
        if found["errors"]:
            return {"errors": found["errors"]}
        return self._beside(rule, path, Path(found["path"]))

    async def _bare(self, wanted: Import, resolve: Resolve) -> Answer | None:
        """wrangler 1 took "a.txt" for the file beside the entry point."""
        if wanted.kind not in ("import-statement", "require-call"):
            return None
        self.warnings.append(
            f'Deprecation: detected a legacy module import in "./{_shown(wanted.importer)}". '
            f'This will stop working in the future. Replace references to "{wanted.path}" with "./{wanted.path}";'
        )
        path = _without_query(wanted.path)
        relative = f"./{path}"
        rule = next((rule for pattern, rule in self._rules if re.search(pattern, relative)), None)
        return None if rule is None else self._beside(rule, path, self._entry.parent / path)

    async def _refuse(self, wanted: Import, resolve: Resolve) -> Answer:
        rule = next(rule for pattern, rule in self._too_late if re.search(pattern, wanted.path))
        raise UserError(
            f"The file {wanted.path} matched a module rule in your configuration ({shown(rule)}), but was ignored "
            "because a previous rule with the same type was not marked as `fallthrough = true`."
        )

    def _rule(self, path: str) -> Rule:
        return next(rule for pattern, rule in self._rules if re.search(pattern, path))

    def _beside(self, rule: Rule, path: str, file: Path) -> Answer:
        content = file.read_bytes()
        name = self._name(path, hashlib.sha1(content, usedforsecurity=False).hexdigest())
        registered = _identifier(name) if self._is_script else posixpath.normpath(name)
        self._add(file, Module(registered, _KINDS[rule.type], content))
        return {"path": name, "external": not self._is_script, "namespace": _namespace(rule.type)}

    def _name(self, path: str, digest: str) -> str:
        base = posixpath.basename(path)
        if not self._keeps_names:
            return f"./{digest}-{base}"
        return f"./{digest}/{base}" if path.startswith("/") else path

    def _add(self, file: Path, module: Module) -> None:
        self.files.add(file)
        self.modules[module.name] = module


def found_beside(config: Config, entry: Path, rules: Rules) -> dict[Path, Module]:
    """All files below the Worker's base folder that a rule makes a module, by path; named from that folder."""
    base = config.base_dir or entry.parent
    patterns = [(file_pattern(glob), _KINDS[rule.type]) for rule in rules.in_force for glob in rule.globs]
    found = {}
    for file in _files(base, {config.root / ".wrangler"}):
        name = file.relative_to(base).as_posix()
        kind = next((kind for pattern, kind in patterns if pattern.fullmatch(name)), None)
        if kind is not None and file not in (entry, config.path):
            found[file] = Module(name, kind, file.read_bytes(), file)
    return found


def _files(folder: Path, excluded: set[Path]) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path not in excluded:
            yield from _files(path, excluded)
        elif path.is_file():
            yield path


def _joined(folder: str, path: str) -> Path:
    return Path(os.path.normpath(Path(folder, path)))


def _shown(path: str) -> str:
    return os.path.relpath(path, Path.cwd())


def _without_query(path: str) -> str:
    """`?module` is how some bundlers want to be asked for a WebAssembly.Module."""
    return path.partition("?")[0]


def _namespace(rule_type: str) -> str:
    return f"wrangler-module-{rule_type}"


def _identifier(name: str) -> str:
    return re.sub("[^a-zA-Z0-9_$]", "_", name)


def _global_value(name: str) -> Answer:
    """In a Worker of the service-worker format a module is a global variable."""
    return {"contents": f"export default {_identifier(name)};".encode(), "loader": "js"}
