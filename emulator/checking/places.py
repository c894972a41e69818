"""Where in the developer's code something happened: the nearest frame of the Worker's own files, and its statement."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType

Site = tuple[str, int]
"""A file and a line, as a frame tells them."""

_IGNORE = "flarebed: ignore"


@dataclass(frozen=True, order=True)
class Place:
    """A statement. Of one with a body (`if`, `def`) only what stands before the body, decorators included."""

    file: Path
    line: int
    end_line: int
    source: str

    def ignores(self, rule: str) -> bool:
        """Whether a comment `# flarebed: ignore` or `# flarebed: ignore[rule]` stands in it."""
        found = [line.partition(_IGNORE)[2] for line in self.source.splitlines() if _IGNORE in line]
        return any(not after.startswith("[") or rule in after[1 : after.find("]")] for after in found)


class Sources:
    """The Worker's own files: those below the folder of its main module."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._prefix = f"{root}{os.sep}"

    def own(self, file: str) -> bool:
        return file.startswith(self._prefix) and "site-packages" not in file

    def caller(self) -> Site | None:
        """The place in the Worker's files that the calling code was reached from."""
        return next(self.callers(), None)

    def callers(self) -> Iterator[Site]:
        """That place, the one that it was called from, and so on."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if self.own(frame.f_code.co_filename):
                yield frame.f_code.co_filename, frame.f_lineno
            frame = frame.f_back

    def place(self, site: Site) -> Place:
        file, line = site
        first, last = _statement(file, line)
        return Place(Path(file), first, last, "\n".join(_lines(file)[first - 1 : last]))

    def files(self) -> list[str]:
        return [str(path) for path in sorted(self.root.rglob("*.py")) if self.own(str(path))]


@cache
def tree(file: str) -> ast.Module:
    return ast.parse("\n".join(_lines(file)))


@cache
def _lines(file: str) -> list[str]:
    return Path(file).read_text("utf-8").splitlines()


def forget() -> None:
    """Files may have changed since the last check."""
    tree.cache_clear()
    _lines.cache_clear()


def statements(file: str) -> Iterator[tuple[ast.stmt, int, int]]:
    """Every statement with its first and last line."""
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.stmt):
            yield (node, *_extent(node))


def _statement(file: str, line: int) -> tuple[int, int]:
    """The extent of the smallest statement that has the line."""
    found = [(last - first, first, last) for _, first, last in statements(file) if first <= line <= last]
    return min(found)[1:] if found else (line, line)


def _extent(node: ast.stmt) -> tuple[int, int]:
    first = _start(node)
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    if not body:
        return first, node.end_lineno or node.lineno
    return first, max(node.lineno, _start(body[0]) - 1)


def _start(node: ast.stmt | ast.match_case) -> int:
    if isinstance(node, ast.match_case):
        return node.pattern.lineno
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])
