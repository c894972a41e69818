"""What Workers among several print."""

from __future__ import annotations

import io

from flarebed.emulator.supervisor.named_output import NamedOutput, named


def test_each_line_begins_with_the_name() -> None:
    written = io.BytesIO()
    output = NamedOutput(io.TextIOWrapper(written, "utf-8"), ["jobs"])
    for text in ("one\ntwo", " more\n", "\n", "ü", ""):
        output.write(text)
    output.flush()
    assert written.getvalue().decode() == "[jobs] one\n[jobs] two more\n[jobs] \n[jobs] ü"


def test_names_are_for_workers_among_others() -> None:
    assert (named([], "text"), named(["a", "b"], "text")) == ("text", "[a, b] text")
