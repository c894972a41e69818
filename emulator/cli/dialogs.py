"""What is asked before it is done, as wrangler asks: where nobody can answer, the answer is yes."""

from __future__ import annotations

import os
import sys

import click


def confirmed(text: str) -> bool:
    """Ctrl-C ends the command."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("CI"):
        print(f"? {text}\n🤖 Using fallback value in non-interactive context: yes")
        return True
    try:
        return click.confirm(f"? {text}", default=True)
    except click.Abort:
        raise KeyboardInterrupt from None
