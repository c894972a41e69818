"""A file of SQL, read piece by piece, with a progress bar where somebody watches."""

from __future__ import annotations

import codecs
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

from flarebed.bindings.errors import UserError

_PIECE_BYTES: Final = 65_536
_LARGE_BYTES: Final = 1_000_000
"""From here on there is a bar."""
_UTF_16: Final = {codecs.BOM_UTF16_LE: "UTF-16 LE", codecs.BOM_UTF16_BE: "UTF-16 BE"}
_UNREADABLE: Final = 'Unable to read SQL text file "{}". Please check the file path and try again.'
_BINARY: Final = (
    "Provided file is a binary SQLite database file instead of an SQL text file. The execute command can only process "
    "SQL text files. Please export an SQL file from your SQLite database and try again."
)
_ENCODED: Final = 'The file "{}" appears to be encoded as {}. Please save the file as UTF-8 without BOM.'


@contextmanager
def pieces(path: Path) -> Iterator[Iterator[str]]:
    """The file's text. UserError if it is none; the refusals are wrangler's (packages/wrangler/src/d1/execute.ts)."""
    try:
        file = path.open("rb")
        start = file.peek(16)[:16]
    except OSError:
        raise UserError(_UNREADABLE.format(path)) from None
    with file:
        if start.startswith(b"SQLite format 3"):
            raise UserError(_BINARY)
        if start[:2] in _UTF_16:
            raise UserError(_ENCODED.format(path, _UTF_16[start[:2]]))
        bar = _bar(path)
        try:
            yield _read(file, bar)
        finally:
            bar.stop()


def _read(file: io.BufferedReader, bar: Progress) -> Iterator[str]:
    bar.start()
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    at_end = False
    while not at_end:
        piece = file.read(_PIECE_BYTES)
        at_end = not piece
        if text := decoder.decode(piece, at_end):
            yield text
        bar.advance(bar.task_ids[0], len(piece))


def _bar(path: Path) -> Progress:
    size_bytes = path.stat().st_size
    shown = sys.stderr.isatty() and size_bytes >= _LARGE_BYTES
    columns = (BarColumn(), DownloadColumn(), TimeRemainingColumn())
    bar = Progress(
        *columns,
        console=Console(stderr=True),
        transient=True,
        disable=not shown,
        redirect_stdout=False,  # to stderr, it would be
        redirect_stderr=False,
    )
    bar.add_task("", total=size_bytes)
    return bar
