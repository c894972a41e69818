"""The source tree as the shape rules see it: parsed modules with their dotted names and what they import."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "flarebed"
ROOMS = ("bindings", "emulator")


@dataclass(frozen=True)
class Module:
    """A source file; `path` is relative to the tree's root, `name` is what others import, without the package."""

    path: str
    name: str
    text: str
    tree: ast.Module


def modules(root: Path, folders: tuple[str, ...] = ROOMS) -> tuple[Module, ...]:
    return tuple(module for folder in folders for module in _modules(root, folder))


@functools.cache
def _modules(root: Path, folder: str) -> tuple[Module, ...]:
    """Parsed once: all rules together would take half a minute otherwise."""
    return tuple(read(root, path) for path in files(root, folder))


def files(root: Path, folder: str) -> list[Path]:
    return sorted((root / folder).rglob("*.py"))


def read(root: Path, path: Path) -> Module:
    relative = path.relative_to(root)
    parts = relative.with_suffix("").parts
    text = path.read_text(encoding="utf-8")
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return Module(relative.as_posix(), name, text, ast.parse(text, filename=str(path)))


def imports(module: Module, known: frozenset[str], *, for_types: bool = True) -> Iterator[tuple[str, ast.stmt]]:
    """Each module of ours that `module` imports, at any depth of the file; `for_types`: under TYPE_CHECKING too."""
    unwanted = set() if for_types else set(type_checking_only(module.tree))
    for node in ast.walk(module.tree):
        if node in unwanted:
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith(f"{PACKAGE}."):
                yield known_part(name.removeprefix(f"{PACKAGE}."), known), node


def type_checking_only(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            yield from (below for statement in node.body for below in ast.walk(statement))


def known_part(name: str, known: frozenset[str]) -> str:
    """`a.b.Class` is the module `a.b`, unless there is a module `a.b.Class`."""
    return name if name in known else name.rpartition(".")[0]


def functions(module: Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def dotted_names(module: Module) -> Iterator[tuple[str, int]]:
    """Every name in use, as its import spells it out (after `from time import time as t`, `t` is time.time)."""
    origin: dict[str, str] = {}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            origin |= {alias.asname or alias.name.partition(".")[0]: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            origin |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute | ast.Name) and (name := dotted(node)) is not None:
            first, _, rest = name.partition(".")
            if first in origin:
                yield origin[first] + (f".{rest}" if rest else ""), node.lineno


def dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (base := dotted(node.value)) is not None:
        return f"{base}.{node.attr}"
    return None
