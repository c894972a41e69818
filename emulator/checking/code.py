"""What the Worker's source says: the function of a step, its `return`s, and statements that keep state.

State is what outlives a function: attributes of `self`, variables of the module and of enclosing functions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from flarebed.emulator.checking.places import Site, tree

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_MUTATORS = frozenset(
    {
        "append", "appendleft", "extend", "extendleft", "add", "update", "insert", "pop", "popitem", "popleft",
        "remove", "discard", "clear", "setdefault", "sort", "reverse", "put_nowait", "push", "__setitem__",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Write:
    """A statement that changes `name`: "self.total", "CACHE", "seen"."""

    site: Site
    name: str

    def is_read_in(self, source: str) -> bool:
        return re.search(rf"(?<![\w.]){re.escape(self.name)}\b", source) is not None


def functions(file: str) -> Iterator[Function]:
    for node in ast.walk(tree(file)):
        if isinstance(node, Function):
            yield node


def returns(site: Site) -> list[ast.Return]:
    """The `return` statements of the function that is written at `site` (where its first decorator stands)."""
    file, line = site
    found = [function for function in functions(file) if _first_line(function) == line]
    return [node for node in _own(found[0]) if isinstance(node, ast.Return)] if found else []


def writes(file: str) -> Iterator[Write]:
    """In functions; a statement at the top level of a module runs once in each life."""
    for function in functions(file):
        local = _locals(function)
        for node in _own(function):
            for name in _written(node, local):
                if name != "event" and not name.startswith("event."):
                    yield Write((file, getattr(node, "lineno", 0)), name)


def _first_line(function: Function) -> int:
    decorators: list[ast.expr] = getattr(function, "decorator_list", [])
    return min([function.lineno, *(decorator.lineno for decorator in decorators)])


def _own(function: Function) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions in it."""
    waiting: list[ast.AST] = list(function.body) if isinstance(function.body, list) else [function.body]
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, Function | ast.ClassDef):
            waiting[:0] = ast.iter_child_nodes(node)


def _locals(function: Function) -> set[str]:
    """Names that end with the function. Through `self` and `cls` a caller's object is reached."""
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    names = {argument.arg for argument in every if argument is not None} - {"self", "cls"}
    shared: set[str] = set()
    for node in _own(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            shared |= {*node.names}
    return names - shared


def _written(node: ast.AST, local: set[str]) -> Iterator[str]:
    if isinstance(node, ast.Assign | ast.Delete):
        targets = list(node.targets)
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets = [node.target]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MUTATORS:
        name = _name(node.func.value)
        if name is not None and name.partition(".")[0] not in local:
            yield name
        return
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr" and node.args:
        targets = [ast.Attribute(node.args[0], "", ast.Store())]
    else:
        return
    for target in targets:
        for part in ast.walk(target) if isinstance(target, ast.Tuple | ast.List) else [target]:
            name = _name(part)
            if name is not None and name.partition(".")[0] not in local:
                yield name.rstrip(".")


def _name(node: ast.AST) -> str | None:
    """`self.total` of `self.total["x"]`: the name, or an attribute of it, that a change goes to."""
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Call):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return f"{node.value.id}.{node.attr}"
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None
