"""`flarebed kv` against what wrangler 4.164 said and did in the same project, command by command.

`data/kv.json` has wrangler's output without its banner, "Resource location: ...", help pages, empty lines and advice to
report bugs. Where flarebed answers otherwise on purpose, `ours` has its answer and `because` the reason.
"""

from __future__ import annotations

import io
import json
import os
import re
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import click
import pytest

from flarebed.emulator.cli.commands import app

DATA: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "kv.json").read_text(encoding="utf-8"))
CONTENTS = {"file.bin": b"\x00\xffA\n", "empty.bin": b"", "big.bin": b"x" * (25 * 2**20 + 1)}


def ran(arguments: list[str], folder: Path) -> tuple[int, str, str]:
    """Exit code, output and errors, without what is different each time and without empty lines."""
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", "surrogateescape", write_through=True) for _ in range(2)]
    code = 0
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        try:
            app(["kv", *arguments], standalone_mode=False)
        except SystemExit as ended:
            code = int(ended.code or 0)
        except click.UsageError as error:
            code = error.exit_code
            print(error.format_message(), file=streams[1])
    texts = [stream.buffer.getvalue().decode("utf-8", "surrogateescape") for stream in streams]  # type: ignore[attr-defined]
    out, err = (_comparable(text.replace(str(folder), "{folder}")) for text in texts)
    return code, out, err


def _comparable(text: str) -> str:
    text = re.sub(r'"expiration": \d+', '"expiration": N', text)
    text = re.sub(r'"[0-9a-f]{32}"', '"ID"', text)
    return "\n".join(line.rstrip() for line in text.split("\n") if line.strip())


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[int, str, str]]:
    """Of all commands, one after the other: they build on each other."""
    folder = tmp_path_factory.mktemp("kv")
    (folder / "wrangler.jsonc").write_text(json.dumps(DATA["config"]))
    for name, content in {**CONTENTS, **{name: text.encode() for name, text in DATA["files"].items()}}.items():
        (folder / name).write_bytes(content)
    before = Path.cwd()
    os.chdir(folder)
    try:
        return [ran(row["arguments"], folder) for row in DATA["rows"]]
    finally:
        os.chdir(before)


def name_of(number: int) -> str:
    arguments = DATA["rows"][number]["arguments"]
    return f"{number} " + " ".join(argument[:30] for argument in arguments)


@pytest.mark.parametrize("number", range(len(DATA["rows"])), ids=name_of)
def test_answers_as_wrangler(answers: list[tuple[int, str, str]], number: int) -> None:
    row = DATA["rows"][number]
    expected = row.get("ours", row)
    assert answers[number] == (expected["code"], expected["out"], expected["err"])


def test_each_difference_has_its_reason() -> None:
    differing = [row for row in DATA["rows"] if "ours" in row]
    assert all(row["ours"] != {key: row[key] for key in ("code", "out", "err")} for row in differing)
    assert {row["because"] for row in differing} == set(DATA["reasons"])
