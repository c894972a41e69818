"""The house rules that a program can check. Each takes a tree's root and returns what breaks it, one line each."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

from tests.shape.tree import PACKAGE, ROOMS, Module, dotted_names, files, functions, imports, modules

FLOORS = {
    "emulator.cli": 9, "emulator.testing": 9, "emulator.checking": 9, "emulator.dashboard": 9,
    "emulator.supervisor": 8, "emulator.state": 7, "emulator.app": 6, "emulator.group": 6, "emulator.server": 5,
    "emulator.runtime": 4, "emulator.config": 3, "bindings.registry": 2,
}  # fmt: skip
"""Rooms from what people touch down to the words that every kind speaks; an import never goes up."""

KIND_FILES = frozenset({"__init__", "spec", "engine", "binding", "errors", "commands", "api", "view", "state"})
KIND_PARTS: dict[str, frozenset[str]] = {
    "kv": frozenset({"namespace", "service", "large", "eventual", "directory", "wrangler"}),
    "d1": frozenset({
        "database", "lane", "parameters", "migrations", "splitter", "neighbours", "script", "hints", "export",
    }),
    "r2": frozenset({"bucket", "objects", "blobs", "multipart"}),
    "queues": frozenset({"service", "backlog", "body", "consumer", "disorder", "verdict"}),
    "services": frozenset({"objects"}),
    "workflows": frozenset({
        "workflow", "run", "step", "attempts", "outcome", "rollback", "retry", "duration", "streams", "payload",
        "journal", "agenda", "history", "listing", "hibernation", "retention", "schedule", "subscription", "timeline",
    }),
}  # fmt: skip
"""What a kind splits its engine into, where one file would be too long."""

VAGUE_NAMES = frozenset({"utils", "util", "helpers", "helper", "common", "misc"})
FILE_LINES = 400
FUNCTION_LINES = 50

LAZY_IMPORTERS = (
    "emulator/app.py",
    "emulator/group.py",
    "emulator/cli/",
    "emulator/testing/plugin.py",
    "bindings/kind.py",
)
"""Where an import may stand in a function: what is heavy loads when first needed."""

WALL_CLOCKS = frozenset({
    "time.time", "time.time_ns", "time.monotonic", "time.monotonic_ns", "time.perf_counter", "time.sleep",
    "asyncio.sleep", "asyncio.wait_for", "asyncio.timeout", "asyncio.timeout_at",
    "datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today",
})  # fmt: skip
REAL_TIME: dict[str, frozenset[str]] = {
    "bindings/clock.py": frozenset({"time.time"}),
    # How long a request took, for its line in the log.
    "emulator/server/asgi.py": frozenset({"time.perf_counter"}),
    # Other processes and their files have no time but the machine's.
    "emulator/supervisor/": frozenset({"time.time_ns", "time.perf_counter", "asyncio.timeout"}),
    # On the Worker's loop, whose timers are entries of the clock.
    "emulator/runtime/python/patches.py": frozenset({"asyncio.sleep"}),
    # Where the Worker's monotonic clocks start from.
    "emulator/runtime/python/virtual_time.py": frozenset({"time.monotonic"}),
}
"""Where the machine's time is used, and why."""

FOREIGN_WORDS = re.compile(r"\bTODO\b|\bFIXME\b|/home/|/Users/")
"""Work left undone, and paths of somebody's machine."""
TEXT_FILES = frozenset({".py", ".md", ".toml", ".sh", ".jsonc", ".sql", ".js", ""})


def imports_go_down(root: Path) -> list[str]:
    """Also: kinds don't know each other, and every module has a room."""
    tree = modules(root)
    known = frozenset(module.name for module in tree)
    found = [f"{module.path}: in no room" for module in tree if floor(module.name) is None]
    for module in tree:
        for target, node in imports(module, known):
            if (floor(target) or 0) > (floor(module.name) or 0):
                found.append(f"{module.path}:{node.lineno}: imports {target}, which stands above")
            elif kind(target) and kind(module.name) and kind(target) != kind(module.name):
                found.append(f"{module.path}:{node.lineno}: imports {target}, another kind")
    return found


def floor(name: str) -> int | None:
    if name in ("emulator", "bindings"):
        return 0
    parts = name.split(".")
    room = ".".join(parts[:2])
    if parts[0] == "bindings":
        return FLOORS.get(room, 1 if kind(name) else 0)
    return FLOORS.get(room)


def kind(name: str) -> str | None:
    parts = name.split(".")
    return parts[1] if parts[0] == "bindings" and len(parts) > 2 else None


def imports_have_no_cycle(root: Path) -> list[str]:
    """Of imports that run: within a room, an annotation may name what stands above."""
    tree = modules(root)
    known = frozenset(module.name for module in tree)
    needs = {
        module.name: {target for target, _ in imports(module, known, for_types=False)} - {module.name}
        for module in tree
    }
    ends = set(needs)
    while ends:  # take away what imports nothing that is left, and what nothing left imports
        imported = set().union(*needs.values()) if needs else set()
        ends = {name for name, targets in needs.items() if not targets & needs.keys() or name not in imported}
        needs = {name: targets for name, targets in needs.items() if name not in ends}
    return [f"{name}: in an import cycle" for name in needs]


def imports_stand_at_the_top(root: Path) -> list[str]:
    return [
        f"{module.path}:{node.lineno}: import within {function.name}()"
        for module in modules(root)
        if not module.path.startswith(LAZY_IMPORTERS)
        for function in functions(module)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]


def kinds_use_the_same_file_names(root: Path) -> list[str]:
    found = []
    for folder in sorted(path for path in (root / "bindings").iterdir() if (path / "__init__.py").exists()):
        names = {path.stem for path in folder.glob("*.py")}
        allowed = KIND_FILES | KIND_PARTS.get(folder.name, frozenset())
        found += [f"bindings/{folder.name}/{name}.py: missing" for name in sorted({"spec", "engine"} - names)]
        found += [f"bindings/{folder.name}/{name}.py: not a file of a kind" for name in sorted(names - allowed)]
    return found


def packages_are_installed(root: Path) -> list[str]:
    """setuptools takes those that pyproject.toml lists, which an editable install does not show."""
    listed = set(tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"])
    there = {
        f"{PACKAGE}.{path.parent.relative_to(root).as_posix().replace('/', '.')}"
        for room in ROOMS
        for path in (root / room).rglob("__init__.py")
    }
    return [f"{name}: not installed" for name in sorted(there - listed)]


def names_say_something(root: Path) -> list[str]:
    return [f"{module.path}: a vague name" for module in modules(root) if Path(module.path).stem in VAGUE_NAMES]


def files_are_short(root: Path) -> list[str]:
    return [
        f"{path.relative_to(root).as_posix()}: {lines} lines, more than {FILE_LINES}"
        for folder in ("bindings", "emulator", "bench", "scripts", "tests")
        for path in files(root, folder)
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > FILE_LINES
    ]


def functions_are_short(root: Path) -> list[str]:
    return [
        f"{module.path}:{function.lineno}: {function.name}() has {lines} lines, more than {FUNCTION_LINES}"
        for module in modules(root, ("bindings", "emulator", "bench", "scripts"))
        for function in functions(module)
        if (lines := (function.end_lineno or 0) - function.lineno + 1) > FUNCTION_LINES
    ]


def modules_say_where_they_stand(root: Path) -> list[str]:
    return [f"{module.path}: no docstring" for module in modules(root) if module.tree.body and not doc(module)]


def doc(module: Module) -> str | None:
    return ast.get_docstring(module.tree)


def time_is_handed_down(root: Path) -> list[str]:
    return [
        f"{module.path}:{line}: {name}"
        for module in modules(root)
        for name, line in dotted_names(module)
        if name in WALL_CLOCKS - real_time(module.path)
    ]


def real_time(path: str) -> frozenset[str]:
    return frozenset().union(*(names for prefix, names in REAL_TIME.items() if path.startswith(prefix)))


def the_project_speaks_of_itself(root: Path) -> list[str]:
    """No paths of one machine, nothing left to do."""
    hidden = {"build", "node_modules", "shape"}
    found = []
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        if path.suffix not in TEXT_FILES or not path.is_file() or any(p in hidden or p.startswith(".") for p in parts):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if word := FOREIGN_WORDS.search(line):
                found.append(f"{path.relative_to(root).as_posix()}:{number}: {word[0]}")
    return found


RULES: tuple[Callable[[Path], list[str]], ...] = (
    imports_go_down,
    imports_have_no_cycle,
    imports_stand_at_the_top,
    kinds_use_the_same_file_names,
    packages_are_installed,
    names_say_something,
    files_are_short,
    functions_are_short,
    modules_say_where_they_stand,
    time_is_handed_down,
    the_project_speaks_of_itself,
)
