"""Puts the workerd and esbuild that `make test` installs on the PATH, where projects of tests find them."""

from __future__ import annotations

import os
from pathlib import Path

PROGRAMS = Path(__file__).parents[1] / "build/workerd/node_modules/.bin"

os.environ["PATH"] = f"{PROGRAMS}{os.pathsep}{os.environ.get('PATH', '')}"
