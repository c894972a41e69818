"""Tables and lists of labelled values, as wrangler draws them."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Final

from rich.box import SQUARE
from rich.console import Console
from rich.table import Table

_UNLIMITED: Final = 100_000


def console() -> Console:
    """As wide as the terminal, or as it must be where no terminal sets a limit."""
    width = None if sys.stdout.isatty() else _UNLIMITED
    return Console(width=width, markup=False, emoji=False, highlight=False)


def show_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    console().print(_table(headings, rows))


def table_text(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """What `show_table` shows."""
    shown = console()
    with shown.capture() as captured:
        shown.print(_table(headings, rows))
    return captured.get()


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(*headings, box=SQUARE, show_lines=True, header_style="")
    for row in rows:
        table.add_row(*row)
    return table


def labelled(values: Mapping[str, str], indent: int = 0) -> str:
    """One line each, the values below each other; further lines of a value too."""
    column = max(len(label) for label in values) + 3
    lines = []
    for label, value in values.items():
        first, *others = value.split("\n")
        lines.append(" " * indent + f"{label}:".ljust(column) + first)
        lines += [" " * (indent + column) + other for other in others]
    return re.sub(r"(?m)^\s+$", "", "\n".join(lines))
