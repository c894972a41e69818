"""The objects of the Fetch API as values that cross from one Worker to another.

A runtime's own objects become these by their `to_rpc`. `body` is None, a View, or a stream.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Pairs = list[tuple[str, str]]


@dataclass(eq=False, slots=True)
class WebHeaders:
    headers: Pairs


@dataclass(eq=False, slots=True)
class WebResponse:
    status: int
    status_text: str
    headers: Pairs
    body: Any = None


@dataclass(eq=False, slots=True)
class WebRequest:
    """`cf` is a value, or undefined."""

    method: str
    url: str
    headers: Pairs
    body: Any
    cf: Any
