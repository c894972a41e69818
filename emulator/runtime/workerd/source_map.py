"""From places in a bundle to places in the source: what V8 says of an error, for whom who wrote TypeScript.

Source maps are those of https://tc39.es/ecma426/ (revision 3). Places are shown as wrangler shows them, as file URLs.
"""

from __future__ import annotations

import bisect
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from flarebed.emulator.runtime.http import Frame
from flarebed.emulator.runtime.workerd.bundled import Bundled, SourceMapFile

_DIGITS: Final = {
    digit: value for value, digit in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
}
_FRAME: Final = re.compile(r"^\s+at (?:async )?(?:(?P<function>.+) \((?P<inside>.*)\)|(?P<bare>.*))$")


@dataclass(frozen=True)
class Place:
    """Lines and columns count from 1; `text` is the source line, if the map or the disk has it."""

    file: Path
    line: int
    column: int
    text: str = ""


class SourceMap:
    """One map, decoded when it is first asked."""

    def __init__(self, file: SourceMapFile) -> None:
        self._file = file

    def place(self, line: int, column: int) -> Place | None:
        """Where the code at a place of the generated module is from; None if nobody wrote it."""
        if line > len(self._lines):
            return None
        segments = self._lines[line - 1]
        # the last segment that does not begin behind the column, which the map counts from 0
        index = bisect.bisect_left(segments, (column,)) - 1
        if index < 0 or len(segments[index]) == 1:
            return None
        _, source, source_line, source_column = segments[index]
        return Place(self._sources[source], source_line + 1, source_column + 1, self._text(source, source_line))

    def _text(self, source: int, line: int) -> str:
        contents = self._map.get("sourcesContent") or []
        content = contents[source] if source < len(contents) else None
        if content is None:
            path = self._sources[source]
            content = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        lines = content.split("\n")
        return lines[line].rstrip("\r") if line < len(lines) else ""

    @cached_property
    def _map(self) -> Mapping[str, Any]:
        parsed: Mapping[str, Any] = json.loads(self._file.content)
        return parsed

    @cached_property
    def _sources(self) -> list[Path]:
        root = self._file.folder / (self._map.get("sourceRoot") or "")
        return [Path(os.path.normpath(root / (source or ""))) for source in self._map["sources"]]

    @cached_property
    def _lines(self) -> list[list[tuple[int, ...]]]:
        """For each generated line its segments: (column,) or (column, source, line, column)."""
        known: dict[str, tuple[int, ...]] = {}
        source = line = column = 0
        lines = []
        for row in self._map["mappings"].split(";"):
            segments: list[tuple[int, ...]] = []
            generated = 0
            for segment in filter(None, row.split(",")):
                steps = known.get(segment) or known.setdefault(segment, tuple(_numbers(segment)))
                generated += steps[0]
                if len(steps) == 1:
                    segments.append((generated,))
                    continue
                source, line, column = source + steps[1], line + steps[2], column + steps[3]
                segments.append((generated, source, line, column))
            lines.append(segments)
        return lines


class StackMapper:
    """Rewrites the stacks of one bundle's errors."""

    def __init__(self, bundled: Bundled) -> None:
        self._files = {module.name: module.file for module in bundled.modules}
        self._maps = {name: SourceMap(file) for name, file in bundled.source_maps.items()}
        names = "|".join(re.escape(name) for name in sorted(self._files, key=len, reverse=True))
        self._place = re.compile(rf"(?<![^\s(])({names}):(\d+):(\d+)")

    def mapped(self, stack: str) -> str:
        """The stack with the places that are in the bundle as places in the source; all else as it is."""
        return "\n".join(
            self._place.sub(self._shown, line) if _FRAME.match(line) else line for line in stack.split("\n")
        )

    def frames(self, stack: str) -> list[Frame]:
        """The frames of the stack that are in the source, outermost first."""
        return list(self._frames(stack))[::-1]

    def _frames(self, stack: str) -> Iterator[Frame]:
        for line in stack.split("\n"):
            match = _FRAME.match(line)
            found = match and self._place.search(match["inside"] or match["bare"] or "")
            place = found and self._origin(found)
            if match and place:
                yield Frame(str(place.file), place.line, match["function"] or "<anonymous>", place.text)

    def _shown(self, found: re.Match[str]) -> str:
        place = self._origin(found)
        return found[0] if place is None else f"{place.file.as_uri()}:{place.line}:{place.column}"

    def _origin(self, found: re.Match[str]) -> Place | None:
        name, line, column = found[1], int(found[2]), int(found[3])
        if name in self._maps:
            return self._maps[name].place(line, column)
        file = self._files[name]
        return None if file is None else Place(file, line, column)


def _numbers(segment: str) -> Iterator[int]:
    """Base64 VLQ: six bits a digit, the highest says that more follow, the lowest of all is the sign."""
    value = shift = 0
    for digit in segment:
        bits = _DIGITS[digit]
        value |= (bits & 31) << shift
        shift += 5
        if bits < 32:
            yield -(value >> 1) if value & 1 else value >> 1
            value = shift = 0
