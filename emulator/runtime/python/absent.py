"""Modules of the standard library that Pyodide does not have: a Worker's own `import` of one fails here too.

Only the source of the Worker itself is treated so (its files, and what it gives to `pyodide.code`): an installed
package may import what this machine has. The import statement is compiled to the error that production raises, so it
costs nothing. Source: those of `sys.stdlib_module_names` that Pyodide 314 does not find, and its documentation,
https://pyodide.org/en/stable/usage/wasm-constraints.html#removed-modules.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import Any, Final

ABSENT: Final = frozenset(
    {"_curses", "_multiprocessing", "_posixshmem", "_tkinter", "curses", "dbm", "ensurepip", "grp", "idlelib", "pwd",
     "pydoc_data", "readline", "resource", "syslog", "tkinter", "turtle", "turtledemo", "venv"}
)  # fmt: skip


def refused(tree: Any, own: Collection[str] = ()) -> Any:
    """The parsed source with its imports of absent modules refused; `own` are modules that the Worker itself brings."""
    return _Refusal(ABSENT.difference(own)).visit(tree)


def is_named_in(source: str) -> bool:
    """A quick look: could the source import an absent module?"""
    return any(name in source for name in ABSENT)


class _Refusal(ast.NodeTransformer):
    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def visit_Import(self, node: ast.Import) -> ast.stmt | list[ast.stmt]:
        for index, alias in enumerate(node.names):
            name = alias.name.partition(".")[0]
            if name in self._names:
                before = [ast.copy_location(ast.Import(node.names[:index]), node)] if index else []
                return [*before, _not_found(name, node)]
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt:
        name = (node.module or "").partition(".")[0]
        return _not_found(name, node) if not node.level and name in self._names else node


def _not_found(name: str, instead_of: ast.stmt) -> ast.stmt:
    """raise ModuleNotFoundError("No module named 'NAME'", name='NAME')"""
    call = ast.Call(
        ast.Name("ModuleNotFoundError", ast.Load()),
        [ast.Constant(f"No module named {name!r}")],
        [ast.keyword("name", ast.Constant(name))],
    )
    return ast.fix_missing_locations(ast.copy_location(ast.Raise(call), instead_of))
