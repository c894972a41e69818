"""How the command line ends badly: a user's mistake is told without a traceback, a defect of ours whole."""

from __future__ import annotations

import contextlib
import json
import sys
import traceback
from collections.abc import Iterator
from typing import NoReturn

from flarebed.bindings.errors import UserError


@contextlib.contextmanager
def told(*, as_json: bool = False) -> Iterator[None]:
    """Run a command: errors are written, and end it with exit code 1."""
    try:
        yield
    except UserError as error:
        if as_json:
            fail_in_json(error)
        else:
            fail(error)
    except BrokenPipeError:
        raise  # nobody reads any more, which click ends without a word
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        if error.filename is None:
            _fail_with_traceback(error)
        fail(UserError(f"{error.filename}: {error.strerror}"))
    except UnicodeEncodeError as error:
        if error.reason != "surrogates not allowed":
            _fail_with_traceback(error)
        fail(UserError(f"{error.object[error.start : error.end]!r} is not text in UTF-8."))
    except Exception as error:
        _fail_with_traceback(error)


def _fail_with_traceback(error: Exception) -> NoReturn:
    trace = "".join(traceback.format_exception(error))
    sys.stderr.write(f"✘ [ERROR] A defect of flarebed, please report it:\n{trace}")
    sys.exit(1)


def fail(error: UserError) -> None:
    """Message, place and hint, then exit code 1."""
    if error.warnings:
        warn(error.warnings)
    parts = [part for part in (error.message, error.place, error.hint) if part]
    sys.stderr.write("✘ [ERROR] " + "\n  ".join(parts) + "\n")
    sys.exit(1)


def fail_in_json(error: UserError) -> None:
    """Like wrangler's commands with `--json`: the message where the answer would be; and where in a file, if it is."""
    notes = [{"text": text} for text in (error.place, error.hint) if text and error.place]
    told = {"text": error.message} | ({"notes": notes} if notes else {})
    sys.stdout.write(json.dumps({"error": told}, indent=2, ensure_ascii=False) + "\n")
    sys.exit(1)


def warn(text: str) -> None:
    """As wrangler does outside of `dev`."""
    sys.stderr.write(f"▲ [WARNING] {text}\n")
