from __future__ import annotations

from pathlib import Path

import pytest
from tests.emulator.runtime.workerd.bundles import JavaScriptProject


@pytest.fixture
def project(tmp_path: Path) -> JavaScriptProject:
    return JavaScriptProject(tmp_path)
