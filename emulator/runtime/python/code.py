"""The module `pyodide.code`: evaluating Python source, also with a top-level await.

The frames between the caller and the source have Pyodide's names and lines, because Worker code may look at the text of
a traceback. Source: Pyodide's documentation of `pyodide.code`, and src/py/_pyodide/_base.py.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import io
import linecache
import textwrap
import tokenize
from collections.abc import Callable
from types import CodeType
from typing import Any

from flarebed.emulator.runtime.python import absent

_FILENAME = "<exec>"


class EvalCodeResultException(Exception):
    """How source hands out the value of its last expression: a code object run by `eval` could not return one."""

    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self.value = value


_NO_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
_HAND_OUT = "___EvalCodeResultException"
setattr(builtins, _HAND_OUT, [EvalCodeResultException])  # where any globals find it; Pyodide's place and name


class CodeRunner:
    """Source to run: parsed when it is made (`ast` may be changed then), then compiled, then run."""

    def __init__(
        self, source: str, *, return_mode: str = "last_expr", mode: str = "exec", quiet_trailing_semicolon: bool = True,
        filename: str = _FILENAME, flags: int = 0, dont_inherit: bool = False, optimize: int = -1,
    ) -> None:  # fmt: skip
        self._source = textwrap.dedent(source)
        self._filename = filename
        self._options = (mode, flags, dont_inherit, optimize)
        self._return_mode = return_mode
        self._quiet = quiet_trailing_semicolon
        self._compiled = False
        self.code: CodeType | None = None
        self.ast: Any = compile(self._source, filename, mode, flags | ast.PyCF_ONLY_AST, dont_inherit=True)

    def compile(self) -> CodeRunner:
        """Make `code` of `ast`; once only."""
        if self._compiled:
            raise RuntimeError("Already compiled")
        self._compiled = True
        body = self.ast.body
        wants_last = self._return_mode.startswith("last_expr") and not (self._quiet and should_quiet(self._source))
        if wants_last and self._return_mode == "last_expr_or_assign":
            _show_assigned(body)
        if wants_last and body and isinstance(body[-1], ast.Expr):
            found = ast.Subscript(ast.Name(_HAND_OUT, ast.Load()), ast.Constant(0), ast.Load())
            body[-1] = ast.copy_location(ast.Raise(ast.Call(found, [body[-1].value], [])), body[-1])
        tree = ast.fix_missing_locations(absent.refused(self.ast) if absent.is_named_in(self._source) else self.ast)
        mode, flags, _dont_inherit, optimize = self._options
        self.code = compile(tree, self._filename, mode, flags, dont_inherit=True, optimize=optimize)
        return self

    def run(self, globals: dict[str, Any] | None = None, locals: dict[str, Any] | None = None) -> Any:
        """The value of the last expression, by the return mode."""
        globals, locals = self._scopes(globals, locals)
        assert self.code is not None
        try:
            coroutine = eval(self.code, globals, locals)
            if coroutine:
                raise RuntimeError("Used eval_code with TOP_LEVEL_AWAIT. Use run_async for this instead.")
        except EvalCodeResultException as result:
            return result.value

    async def run_async(self, globals: dict[str, Any] | None = None, locals: dict[str, Any] | None = None) -> Any:
        """`run` for source that may await at its top level."""
        globals, locals = self._scopes(globals, locals)
        assert self.code is not None
        try:
            coroutine = eval(self.code, globals, locals)
            if coroutine:
                await coroutine
        except EvalCodeResultException as result:
            return result.value

    def _scopes(
        self, globals: dict[str, Any] | None, locals: dict[str, Any] | None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        if not self._compiled:
            raise RuntimeError("Not yet compiled")
        if not self._filename.startswith("<"):  # a traceback then shows the lines
            linecache.cache[self._filename] = (len(self._source), None, self._source.splitlines(True), self._filename)
        scope = {} if globals is None else globals
        return scope, scope if locals is None else locals


def _show_assigned(body: list[ast.stmt]) -> None:
    """Let source that ends with an assignment to a name end with that name."""
    last = body[-1] if body else None
    target = last.targets[0] if isinstance(last, ast.Assign) else getattr(last, "target", None)
    if isinstance(last, ast.Assign | ast.AugAssign | ast.AnnAssign) and isinstance(target, ast.Name):
        body.append(ast.copy_location(ast.Expr(ast.Name(target.id, ast.Load())), last))


def eval_code(
    source: str, globals: dict[str, Any] | None = None, locals: dict[str, Any] | None = None, *,
    return_mode: str = "last_expr", quiet_trailing_semicolon: bool = True, filename: str = _FILENAME, flags: int = 0,
    dont_inherit: bool = False, optimize: int = -1,
) -> Any:  # fmt: skip
    """Run the source; returns the value of a last expression, unless a semicolon ends it."""
    return (
        CodeRunner(
            source,
            return_mode=return_mode,
            quiet_trailing_semicolon=quiet_trailing_semicolon,
            filename=filename,
            flags=flags,
            dont_inherit=dont_inherit,
            optimize=optimize,
        )
        .compile()
        .run(globals, locals)
    )


async def eval_code_async(
    source: str, globals: dict[str, Any] | None = None, locals: dict[str, Any] | None = None, *,
    return_mode: str = "last_expr", quiet_trailing_semicolon: bool = True, filename: str = _FILENAME, flags: int = 0,
    dont_inherit: bool = False, optimize: int = -1,
) -> Any:  # fmt: skip
    """`eval_code` for source that may await at its top level."""
    flags = flags or ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    return (
        await CodeRunner(
            source,
            return_mode=return_mode,
            quiet_trailing_semicolon=quiet_trailing_semicolon,
            filename=filename,
            flags=flags,
            dont_inherit=dont_inherit,
            optimize=optimize,
        )
        .compile()
        .run_async(globals, locals)
    )


def find_imports(source: str) -> list[str]:
    """The modules that the source imports, each with the packages above it, sorted."""
    try:
        tree = ast.parse(textwrap.dedent(source))
    except SyntaxError:
        return []
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(*map(_with_packages, (alias.name for alias in node.names)))
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.update(_with_packages(node.module))
    return sorted(found)


def _with_packages(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[: index + 1]) for index in range(len(parts))]


def should_quiet(source: str) -> bool:
    """Does the source end with a semicolon (comments apart), so that its value is not wanted?"""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    code = [token for token in tokens if token.type not in _NO_CODE]
    return bool(code) and code[-1].string == ";"


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


_PUBLIC: tuple[Any, ...] = (CodeRunner, eval_code, eval_code_async, find_imports, should_quiet)
for _public in _PUBLIC:
    _public.__module__ = "_pyodide._base"
