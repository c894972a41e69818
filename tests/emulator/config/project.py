"""A project in a temporary folder, whose config is loaded as the command would load it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from flarebed.emulator.config import Config, ConfigErrors, load

DATE = "2026-11-01"


class Project:
    """Files below `root`, written as they are."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, name: str, content: str | bytes | Mapping[str, Any]) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content
        if not isinstance(text, str | bytes):
            text = json.dumps(text, ensure_ascii=False).replace("Infinity", "1e999")
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def load(
        self,
        *,
        env: str | None = None,
        var: Mapping[str, str] | None = None,
        environ: Mapping[str, str] | None = None,
        cwd: str = ".",
        path: str | None = None,
        env_files: tuple[str, ...] = (),
    ) -> Config:
        return load(
            None if path is None else Path(path),
            cwd=self.root / cwd,
            env=env,
            var=var or {},
            environ=environ or {},
            env_files=env_files,
        )

    def with_config(self, config: Mapping[str, Any], **options: Any) -> Config:
        """Load `config`, which gets a date unless it has one."""
        self.write("wrangler.jsonc", {"compatibility_date": DATE, **config})
        return self.load(**options)

    def errors(self, config: Mapping[str, Any], **options: Any) -> tuple[str, ...]:
        """The texts of what is wrong with `config`."""
        with pytest.raises(ConfigErrors) as caught:
            self.with_config(config, **options)
        return caught.value.errors
