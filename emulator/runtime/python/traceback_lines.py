"""The source lines of a traceback as Python 3.13 and later print them, for the older Pythons that flarebed runs on.

Worker code may look at the text of a traceback, and production's is printed by Python 3.13 or 3.14: an instruction over
several lines shows its first and last ones, and no carets where it is the whole line. Carets do not tell the operator
from its operands here. Source: Lib/traceback.py of CPython 3.13, StackSummary.format_frame_summary.
"""

from __future__ import annotations

import ast
import linecache
import sys
import textwrap
import traceback
from typing import Any


class LaterStackSummary(traceback.StackSummary):
    """A stack that formats its frames like a later Python's."""

    def format_frame_summary(self, frame_summary: traceback.FrameSummary, **options: Any) -> str:
        if sys.version_info >= (3, 13):
            return super().format_frame_summary(frame_summary, **options)
        row = f'  File "{frame_summary.filename}", line {frame_summary.lineno}, in {frame_summary.name}\n'
        if not (frame_summary.line or "").strip():
            return row
        return row + textwrap.indent("".join(_shown(frame_summary)), "    ", lambda _line: True)


def _shown(frame: traceback.FrameSummary) -> list[str]:
    """The lines of the frame's instruction, with carets below where these say something."""
    if frame.lineno is None or frame.end_lineno is None or frame.colno is None or frame.end_colno is None:
        return [f"{frame.line}\n"]
    original = [linecache.getline(frame.filename, number) for number in range(frame.lineno, frame.end_lineno + 1)]
    lines = textwrap.dedent("".join(original)).splitlines()
    if len(lines) != len(original):  # the file is not what was run
        return [f"{frame.line}\n"]
    dedented = len(original[0].rstrip("\n")) - len(lines[0])
    start = max(0, _characters(original[0], frame.colno) - dedented)
    end = max(0, _characters(original[-1], frame.end_colno) - dedented)
    around = _lines_of_operator(lines, start, end)
    carets = _say_something(lines, start, end, bool(around))
    wanted = sorted({0, len(lines) - 1, *(line for line in around if 0 <= line < len(lines))})
    return _with_gaps(lines, wanted, (start, end) if carets else None)


def _characters(line: str, offset: int) -> int:
    """The column of a byte offset."""
    return len(line.encode()[:offset].decode(errors="replace"))


def _lines_of_operator(lines: list[str], start: int, end: int) -> set[int]:
    """The lines next to both ends of a call's parentheses, a subscript's brackets, or an operator."""
    segment = "\n".join([*lines[:-1], lines[-1][:end]])[start:]
    try:
        statement = ast.parse(f"(\n{segment}\n)").body[0]
    except SyntaxError:
        return set()
    value = getattr(statement, "value", None)
    if isinstance(value, ast.Call):
        first, last = value.func.end_lineno, len(lines) + 1
    elif isinstance(value, ast.Subscript):
        first, last = value.value.end_lineno, len(lines) + 1
    elif isinstance(value, ast.BinOp):
        first = last = value.left.end_lineno or 0
    else:
        return set()
    return {line + near - 2 for line in (first or 0, last) for near in (-1, 0, 1)}


def _say_something(lines: list[str], start: int, end: int, has_operator: bool) -> bool:
    """No carets below an instruction that is the whole of its lines."""
    try:
        statement = ast.parse("\n".join(lines)).body[0]
    except (SyntaxError, IndexError):
        statement = None
    value = getattr(statement, "value", None)
    if isinstance(value, ast.Call) and _hands_on(statement, value):
        spans = value.lineno == 1 and value.end_lineno == len(lines)
        if spans and value.col_offset == start and value.end_col_offset == end:
            return False
    return has_operator or bool(lines[0][:start].lstrip() or lines[-1][end:].rstrip())


def _hands_on(statement: ast.stmt | None, call: ast.Call) -> bool:
    """`return function(...)` and `name = ...(...)`."""
    if isinstance(statement, ast.Return):
        return isinstance(call.func, ast.Name)
    return isinstance(statement, ast.Assign) and [type(target) for target in statement.targets] == [ast.Name]


def _with_gaps(lines: list[str], wanted: list[int], carets: tuple[int, int] | None) -> list[str]:
    shown: list[str] = []
    before = -1
    for index in wanted:
        if index - before == 2:
            shown += _line(lines, index - 1, carets)
        elif index - before > 2:
            shown.append(f"...<{index - before - 1} lines>...\n")
        shown += _line(lines, index, carets)
        before = index
    return shown


def _line(lines: list[str], index: int, carets: tuple[int, int] | None) -> list[str]:
    line = lines[index]
    if carets is None:
        return [f"{line}\n"]
    start = carets[0] if index == 0 else len(line) - len(line.lstrip())
    end = carets[1] if index == len(lines) - 1 else len(line)
    return [f"{line}\n", f"{' ' * start}{'^' * (end - start)}\n"]
