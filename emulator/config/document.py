"""A config file as it was read: its data, and where in the file each field stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Document:
    """`shown` is the file's name for the user (relative to the current folder); `offsets` maps paths like
    "kv_namespaces[1].binding" to offsets in `text`."""

    path: Path
    shown: str
    text: str
    data: dict[str, Any]
    offsets: Mapping[str, int]

    def place(self, path: str) -> str:
        """`file:line:column`, both counted from 1; "" if there is no such field."""
        offset = self.offsets.get(path)
        return "" if offset is None else f"{self.shown}:{':'.join(map(str, position(self.text, offset)))}"


class SyntaxProblem(Exception):
    """The text is not JSONC or TOML: `problem` in the words of wrangler's parser, found at `offset`."""

    def __init__(self, problem: str, offset: int, length: int = 1) -> None:
        super().__init__(problem)
        self.problem = problem
        self.offset = offset
        self.length = length


def position(text: str, offset: int) -> tuple[int, int]:
    """(line, column) of an offset, counted from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def excerpt(shown: str, text: str, problem: SyntaxProblem) -> str:
    """The place of a syntax error, its line and a mark below it, as esbuild (and so wrangler) draws them."""
    line, column = position(text, problem.offset)
    content = text.split("\n")[line - 1].rstrip("\r")
    before = content[: column - 1]
    gap = "".join("\t" if letter == "\t" else " " for letter in before)
    length = min(problem.length, len(content) - len(before))
    mark = "~" * length if length > 1 else "^"
    margin = " " * len(str(line))
    return f"    {shown}:{line}:{column}:\n      {line} │ {content}\n      {margin} ╵ {gap}{mark}"
