"""TOML through tomli, and where each field stands (which tomli does not tell) found by a scan of the lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import tomli

from flarebed.emulator.config.document import SyntaxProblem

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_FENCE = re.compile(r'"""|\'\'\'')


def parse(text: str) -> tuple[dict[str, Any], dict[str, int]]:
    """The value and the offsets of its fields by path; raises SyntaxProblem."""
    try:
        data = tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        problem = f"Invalid TOML document: {error.msg[:1].lower()}{error.msg[1:]}"
        raise SyntaxProblem(problem, _offset(text, error.lineno, error.colno)) from error
    except (RecursionError, ValueError) as error:  # nested too deeply, or a number of thousands of digits
        raise SyntaxProblem(f"Invalid TOML document: {error}", 0) from error
    return data, dict(_offsets(text))


def _offsets(text: str) -> Iterator[tuple[str, int]]:
    """Tables and keys that begin a line; good enough to point at, wrong at worst inside a multi-line array."""
    table, offset, fenced = "", 0, False
    tables: Counter[str] = Counter()
    for line in text.splitlines(keepends=True):
        if not fenced and (header := _HEADER.match(line)):
            table = _indexed(_path(header[2]), tables, is_array=header[1] == "[[")
            yield table, offset + header.start(1)
        elif not fenced and (key := _KEY.match(line)):
            yield f"{table}.{_path(key[1])}" if table else _path(key[1]), offset + key.start(1)
        fenced ^= len(_FENCE.findall(line)) % 2 == 1
        offset += len(line)


def _path(dotted: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in dotted.split("."))


def _indexed(path: str, tables: Counter[str], *, is_array: bool) -> str:
    """The path of a header with the indices of the arrays of tables it lies in: "queues.producers[1]"."""
    if is_array:
        tables[path] += 1
    found = ""
    for part in path.split("."):
        found = f"{found}.{part}" if found else part
        plain = re.sub(r"\[\d+\]", "", found)
        if tables[plain]:
            found += f"[{tables[plain] - 1}]"
    return found


def _offset(text: str, line: int, column: int) -> int:
    """tomli counts "\\r\\n" as one character."""
    return sum(len(content) for content in text.splitlines(keepends=True)[: line - 1]) + column - 1
