"""`flarebed --version`: the version and nothing else, as wrangler."""

from __future__ import annotations

from importlib.metadata import version

from click.testing import CliRunner

from flarebed.emulator.cli.commands import app


def test_version() -> None:
    assert CliRunner().invoke(app, ["--version"]).output == f"{version('flarebed')}\n"
