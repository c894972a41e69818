"""The module `pyodide.code`: evaluating Python source, also with a top-level await.

Source: Pyodide's documentation of `pyodide.code`.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable
from types import CodeType
from typing import Any

_FILENAME = "<exec>"


def _compile(source: str, return_mode: str, filename: str, flags: int = 0) -> tuple[CodeType | None, CodeType | None]:
    """The statements, and the last expression if its value is what the caller wants."""
    module = ast.parse(inspect.cleandoc(source) if source.startswith((" ", "\n")) else source, filename)
    last: ast.Expression | None = None
    quiet = source.rstrip().endswith(";")
    if return_mode == "last_expr" and not quiet and module.body and isinstance(module.body[-1], ast.Expr):
        last = ast.Expression(module.body.pop().value)  # type: ignore[attr-defined]
    body = compile(module, filename, "exec", flags, dont_inherit=True) if module.body else None
    return body, compile(last, filename, "eval", flags, dont_inherit=True) if last is not None else None


def eval_code(
    source: str, globals: dict[str, Any] | None = None, locals: dict[str, Any] | None = None, *,
    return_mode: str = "last_expr", filename: str = _FILENAME, **_options: Any,
) -> Any:  # fmt: skip
    """Run the source; returns the value of a last expression, unless a semicolon ends it."""
    scope = {} if globals is None else globals
    body, last = _compile(source, return_mode, filename)
    if body is not None:
        exec(body, scope, locals)
    return eval(last, scope, locals) if last is not None else None


async def eval_code_async(
    source: str, globals: dict[str, Any] | None = None, locals: dict[str, Any] | None = None, *,
    return_mode: str = "last_expr", filename: str = _FILENAME, **_options: Any,
) -> Any:  # fmt: skip
    """`eval_code` for source that may await at its top level."""
    scope = {} if globals is None else globals
    body, last = _compile(source, return_mode, filename, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    result = None
    for code in (body, last):
        if code is not None:
            result = eval(code, scope, locals)
            if code.co_flags & inspect.CO_COROUTINE:
                result = await result
    return result if last is not None else None


def find_imports(source: str) -> list[str]:
    """The top-level names that the source imports, sorted."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return []
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return sorted(found)


def should_quiet(source: str) -> bool:
    """Does the source end with a semicolon, so that its value is not wanted?"""
    return source.rstrip().endswith(";")


def relaxed_call(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Call with only as many of the arguments as the function takes."""
    if inspect.ismethod(function):
        positional, names = _accepts(function.__func__)
        positional = None if positional is None else positional - 1
    else:
        positional, names = _accepts(function)
    if options and names is not None:
        options = {name: value for name, value in options.items() if name in names}
    return function(*arguments[:positional], **options)


@functools.lru_cache(maxsize=256)
def _accepts(function: Callable[..., Any]) -> tuple[int | None, frozenset[str] | None]:
    """How many positional arguments and which names a function takes; None is any."""
    parameters = inspect.signature(function).parameters
    kinds = [parameter.kind for parameter in parameters.values()]
    positional = sum(
        kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD) for kind in kinds
    )
    return (
        None if inspect.Parameter.VAR_POSITIONAL in kinds else positional,
        None if inspect.Parameter.VAR_KEYWORD in kinds else frozenset(parameters),
    )


def relaxed_wrap(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that drops surplus arguments."""
    return lambda *arguments, **options: relaxed_call(function, *arguments, **options)


for _function in (eval_code, eval_code_async, find_imports, should_quiet, relaxed_call, relaxed_wrap):
    _function.__module__ = "pyodide.code"
