"""Cap'n Proto's text format, in which workerd reads its config.

A struct is a dict, a list a list, a Path the content of that file, relative to the config's; the rest goes by its type.
https://capnproto.org/language.html#constants
"""

from __future__ import annotations

from pathlib import Path
from typing import Any


class Symbol(str):
    """A member of an enum."""

    __slots__ = ()


def text(value: Any) -> str:
    match value:
        case dict():
            return f"({', '.join(f'{name} = {text(member)}' for name, member in value.items())})"
        case list() | tuple():
            return f"[{', '.join(map(text, value))}]"
        case bool():
            return "true" if value else "false"
        case Symbol() | int():
            return str(value)
        case Path():
            return f"embed {quoted(str(value))}"
        case bytes():
            return f'0x"{value.hex()}"'
    return quoted(value)


def quoted(value: str) -> str:
    """A string literal: what is not plain ASCII goes as UTF-8 bytes, in C's escapes."""
    return '"' + "".join(map(_escaped, value.encode("utf-8", "surrogatepass"))) + '"'


def _escaped(byte: int) -> str:
    char = chr(byte)
    return char if char.isascii() and char.isprintable() and char not in '"\\' else f"\\x{byte:02x}"
