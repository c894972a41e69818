"""What a client gets when the Worker did not answer: production's plain text, or a page for a person at a browser.

Production and wrangler answer an uncaught exception with a 500 of plain text, whatever the client accepts (observed on
wrangler 4.164). Only a navigation of a browser, which says so in `Sec-Fetch-Dest`, gets a page.
"""

from __future__ import annotations

import html
import linecache
from typing import Final

from flarebed.emulator.runtime.http import Frame, IncomingRequest, OutgoingResponse, WorkerError
from flarebed.emulator.server.response import text

CONNECTION_LOST: Final = "Error: Network connection lost."
"""What wrangler 4.164 answers when the Worker's process ended below the request."""

_LINES_AROUND: Final = 4
_STYLE: Final = """
:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}
h1{font-size:1.3rem;margin:0}h2{font:600 .95rem ui-monospace,monospace;margin:1.6rem 0 .3rem}
p{white-space:pre-wrap;margin:.4rem 0}pre{overflow:auto;padding:.7rem;border:1px solid #8885;border-radius:6px}
pre,h2{font-size:13px}b{background:#f6821f40;display:inline-block;min-width:100%}summary{margin-top:1.6rem}
"""


def error_response(error: WorkerError, request: IncomingRequest) -> OutgoingResponse:
    if ("sec-fetch-dest", "document") in request.headers:
        return text(500, page(error, request.method, request.url), "text/html;charset=UTF-8")
    return text(500, error.text)


def page(error: WorkerError, method: str, url: str) -> str:
    """A self-contained HTML page: the exception, the Worker's own lines with their surroundings, the whole text."""
    name, message = _headline(error)
    frames = "".join(_frame(frame) for frame in reversed(error.frames))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{_escape(name)}</title><style>{_STYLE}</style>'
        f"<h1>{_escape(name)}</h1><p>{_escape(message)}</p><p><small>{_escape(method)} {_escape(url)}</small></p>"
        f"{frames}<details{'' if error.frames else ' open'}><summary>Whole error</summary>"
        f"<pre>{_escape(error.text)}</pre></details></html>"
    )


def _headline(error: WorkerError) -> tuple[str, str]:
    if error.exception is not None:
        return type(error.exception).__name__, str(error.exception)
    name, _, message = error.text.partition(": ")
    return name, message.partition("\n")[0]


def _frame(frame: Frame) -> str:
    first = max(1, frame.line - _LINES_AROUND)
    rows = []
    for number in range(first, frame.line + _LINES_AROUND + 1):
        source = linecache.getline(frame.file, number) or (frame.source if number == frame.line else "")
        if source:
            row = _escape(f"{number:5}  {source.rstrip()}")
            rows.append(f"<b>{row}</b>" if number == frame.line else row)
    place = f"{frame.file}:{frame.line} in {frame.function}"
    return f"<h2>{_escape(place)}</h2><pre>{chr(10).join(rows)}</pre>"


def _escape(value: str) -> str:
    return html.escape(value, quote=True)
