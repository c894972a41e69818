"""All tests of this folder hold the Worker of `project/`."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.parent == here:
            item.add_marker(pytest.mark.flarebed(config=here / "project" / "wrangler.jsonc"), append=False)
