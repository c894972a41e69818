"""Where what is to come into a state folder is laid out, on the same disk; one command at a time does so."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from flarebed.bindings import presence, replacement
from flarebed.bindings.errors import UserError
from flarebed.bindings.store import enter
from flarebed.emulator.state.contents import databases, others


@contextmanager
def staging(root: Path) -> Iterator[Path]:
    """An empty folder, which is gone in the end with what is still in it. What fails on the way changes nothing."""
    enter(root).leave()
    folder = root / "flarebed" / "staging"
    lock = os.open(root / "flarebed" / "staging.lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(folder, ignore_errors=True)  # what a command that was killed has left
        folder.mkdir()
        yield folder
    except (apsw.Error, OSError) as error:
        is_full = isinstance(error, apsw.FullError) or (isinstance(error, OSError) and error.errno == errno.ENOSPC)
        end = "The next command finishes it." if replacement.is_unfinished(root) else "Nothing was changed."
        raise UserError(f"{'The disk is full' if is_full else error}. {end}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def put_in_place(root: Path, laid_out: Path, *, whole: bool = False) -> None:
    """The resources that are laid out replace those of the state; as a `whole`, nothing else of it stays."""
    come = [path for _, path in databases(laid_out)] + others(laid_out)
    with presence.emptied(root):
        go = {path for _, path in databases(root)} | {*others(root)} if whole else set()
        replacement.commit(root, laid_out, come, go - {*come})


def remove(root: Path, laid_out: Path, paths: list[str]) -> None:
    with presence.emptied(root):
        replacement.commit(root, laid_out, (), paths)
