"""All tests of this folder hold the Worker of `project/`, or, as `language` says, the same one in TypeScript."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
PROJECTS = {"python": HERE / "project", "typescript": HERE / "typescript"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        chosen = any("config" in marker.kwargs for marker in item.iter_markers("flarebed"))
        if item.path.parent == HERE and not chosen:
            callspec = getattr(item, "callspec", None)
            language = callspec.params.get("language", "python") if callspec else "python"
            item.add_marker(pytest.mark.flarebed(config=PROJECTS[language] / "wrangler.jsonc"), append=False)


@pytest.fixture
def language(request: pytest.FixtureRequest) -> str:
    """That of the Worker."""
    given: str = request.param
    return given
