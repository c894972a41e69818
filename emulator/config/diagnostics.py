"""What is wrong in a config, collected as a tree and shown at once, in wrangler's form.

Every check of this room complains to a `Diagnostics`. Wrangler's texts name the field that they speak of, so the place
in the file is found from the text itself; it is shown on a line of its own, below wrangler's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from flarebed.bindings.errors import UserError
from flarebed.bindings.kind import Complaints
from flarebed.emulator.config.document import Document

Severity = Literal["errors", "warnings"]


class ConfigErrors(UserError):
    """Everything that is wrong with a config. `errors` has the single texts, `render()` what a terminal shows."""

    def __init__(self, rendered: str, errors: tuple[str, ...], place: str = "", warnings: str = "") -> None:
        super().__init__(rendered, place=place, warnings=warnings)
        self.errors = errors

    def render(self) -> str:
        return self.message


class Diagnostics(Complaints):
    """Complaints about one environment of `document`; `env` is "" for the top level."""

    def __init__(self, description: str, document: Document, env: str = "") -> None:
        super().__init__()
        self.description = description
        self.document = document
        self.env = env
        self.prefix = f"env.{env}." if env else ""
        self.children: list[Diagnostics] = []
        self._places: dict[str, str] = {}

    def error(self, text: str, at: str = "") -> None:
        """`at` is the path of the field ("vars.A"), for texts that do not name it."""
        super().error(text)
        self._places[text] = self._place(text, at)

    def warn(self, text: str, at: str = "") -> None:
        super().warn(text)
        self._places[text] = self._place(text, at)

    def all(self, severity: Severity) -> tuple[str, ...]:
        """The plain texts of this node and its children."""
        own: list[str] = getattr(self, severity)
        return (*own, *(text for child in self.children for text in child.all(severity)))

    def render(self, severity: Severity) -> str:
        own: list[str] = getattr(self, severity)
        lines = [f"- {_indent(self._with_place(text))}" for text in own]
        lines += [f"- {child.render(severity)}" for child in self.children if child.all(severity)]
        return _indent("\n".join([self.description, *lines]))

    def raise_if_errors(self) -> None:
        if errors := self.all("errors"):
            warnings = self.render("warnings") if self.all("warnings") else ""
            raise ConfigErrors(self.render("errors"), errors, warnings=warnings)

    def _with_place(self, text: str) -> str:
        place = self._places[text]
        return f"{text.rstrip()}\nat {place}" if place else text

    def _place(self, text: str, at: str) -> str:
        paths = (at, *_paths(text))
        outer = (re.sub(r"\[\d+\].*", "", path) for path in paths)  # TOML's inline arrays have no places of their own
        for path in (*paths, *outer):
            if place := self.document.place(self.prefix + path) or self.document.place(path):
                return place
        return ""


def _paths(text: str) -> Iterator[str]:
    """The paths of config fields that a text may be about, likeliest first."""
    if unexpected := re.match(r'Unexpected fields found in (\S+) field: "([^"]+)"', text):
        holder, name = unexpected.groups()
        yield name if holder == "top-level" else f"{holder}.{name}"
    yield from re.findall(r'"([^"\s]+)"', text)


def _indent(text: str) -> str:
    """Indents all lines but the first; an empty line stays empty."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(f"  {line}" if line.strip() else "" for line in rest)])
