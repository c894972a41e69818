"""A bundle is made again when something that is in it has changed, and only then."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from flarebed.emulator.config.load import load
from flarebed.emulator.config.model import Config
from flarebed.emulator.runtime.workerd import bundles
from flarebed.emulator.runtime.workerd.bundled import Bundled

ESBUILD = Path("esbuild")


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Bundled]:
    source = tmp_path / "index.ts"
    source.write_text("1")
    (tmp_path / "wrangler.toml").write_text('name = "w"\nmain = "index.ts"\ncompatibility_date = "2026-11-01"')
    made: list[Bundled] = []

    async def bundle(config: Config, esbuild: Path, environ: Mapping[str, str]) -> Bundled:
        made.append(Bundled("modules", (), (), (source,)))
        return made[-1]

    monkeypatch.setattr(bundles, "bundle", bundle)
    return made


def test_a_bundle_is_kept_until_it_would_be_another(made: list[Bundled], tmp_path: Path) -> None:
    config = load(None, cwd=tmp_path, env="", environ={})
    kept = bundles.Bundles()

    def asked(config: Config, **environ: str) -> int:
        """Which of those that were made is given."""
        given = asyncio.run(kept.of(config, ESBUILD, environ))
        return next(number for number, each in enumerate(made) if each is given)

    assert [asked(config), asked(config), asked(replace(config, vars={"A": "1"}, secrets={"B": "2"}))] == [0, 0, 0]
    source = tmp_path / "index.ts"
    os.utime(source, ns=(1, 1))
    assert [asked(config), asked(config)] == [1, 1]
    source.write_text("22")
    os.utime(source, ns=(1, 1))
    assert asked(config) == 2
    source.unlink()
    assert [asked(config), asked(config)] == [3, 3]
    assert asked(config, NODE_ENV="production") == 4
    assert asked(replace(config, compatibility_date="2026-10-01"), NODE_ENV="production") == 5
