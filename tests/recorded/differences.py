"""Where flarebed answers otherwise than what was recorded, on purpose: the question, why, and our answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """`line` is the question's in the file, from 1; `ours` is the whole answer, masked."""

    file: str
    line: int
    why: str
    ours: str


DIFFERENCES: tuple[Difference, ...] = ()
