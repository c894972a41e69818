"""The text of a Worker's exception: every expected one is what Python 3.13 prints, carets in one shape."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support import run

from flarebed.emulator.runtime.python.code import eval_code, eval_code_async
from flarebed.emulator.runtime.python.tracebacks import python_traceback

SOURCE = """
def fail(*arguments): raise ValueError("é")
def whole_return(): return fail(1)
def whole_assignment():
    x = fail(1)
def part_of_a_line(): y = [fail("é")]
def long_call():
    fail(
        1,
        2,
        3,
        4,
        5)
def long_sum():
    return (
        fail(1,
             2)
        + 1
    )
def chain():
    return str("a") \\
        .nosuch(1)
def subscript(): return {}["a"]
"""
CASES = {
    "whole_return": "    def whole_return(): return fail(1)\n                               ^\n",
    "whole_assignment": "    x = fail(1)\n",
    "part_of_a_line": '    def part_of_a_line(): y = [fail("é")]\n                               ^\n',
    "long_call": (
        "    fail(\n    ^\n        1,\n        ^\n    ...<2 lines>...\n        4,\n        ^\n        5)\n        ^\n"
    ),
    "long_sum": "    fail(1,\n    ^\n         2)\n         ^\n",
    "chain": "    .nosuch(1)\n     ^\n",
    "subscript": '    def subscript(): return {}["a"]\n                            ^\n',
}


def text_of(call: Callable[[], Any]) -> str:
    try:
        call()
    except Exception as error:
        return re.sub(r"[~^]+", "^", python_traceback(error))
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize("name", CASES)
def test_lines_of_an_instruction(name: str, tmp_path: Path) -> None:
    file = tmp_path / "worker.py"
    file.write_text(SOURCE, encoding="utf-8")
    scope: dict[str, Any] = {}
    exec(compile(SOURCE, file, "exec"), scope)
    frames = text_of(scope[name]).partition(f'  File "{file}", line ')[2]
    assert frames.partition(f", in {name}\n")[2].startswith(CASES[name])


def test_the_frames_of_evaluated_code_are_pyodides() -> None:
    text = text_of(lambda: eval_code("def f(): 1/0\nf()", {}))
    names = [line.rpartition(" in ")[2] for line in text.splitlines() if line.startswith("  File ")]
    assert names == ["text_of", "<lambda>", "eval_code", "run", "<module>", "f"]
    assert "    .run(globals, locals)\n" in text
    assert "    coroutine = eval(self.code, globals, locals)\n" in text


def test_the_frames_of_awaited_code() -> None:
    text = text_of(lambda: run(eval_code_async("async def f(): 1/0\nawait f()", {})))
    names = [line.rpartition(" in ")[2] for line in text.splitlines() if line.startswith("  File ")]
    assert names[-4:] == ["eval_code_async", "run_async", "<module>", "f"]
    assert "    await CodeRunner(\n    ...<9 lines>...\n    .run_async(globals, locals)\n" in text
    assert "    await coroutine\n" in text


def test_a_frame_without_its_source() -> None:
    scope: dict[str, Any] = {}
    exec(compile("def f(): raise KeyError('k')", "<exec>", "exec"), scope)
    assert text_of(scope["f"]).endswith("  File \"<exec>\", line 1, in f\nKeyError: 'k'\n")
