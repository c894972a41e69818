"""Room 3: wrangler.jsonc, .json or .toml, read into frozen dataclasses. `load` is its door."""

from __future__ import annotations

from flarebed.emulator.config.diagnostics import ConfigErrors
from flarebed.emulator.config.load import load
from flarebed.emulator.config.model import Config, DevSettings, Rule

__all__ = ["Config", "ConfigErrors", "DevSettings", "Rule", "load"]
