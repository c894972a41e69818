"""What the marker asks for, made into settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.errors import UserError
from flarebed.bindings.kind import Modes
from flarebed.emulator.testing.settings import Wishes, settle

FLAG = "python_workers"


def modes(folder: Path, **wishes: Any) -> Modes:
    config = {"name": "w", "main": "entry.py", "compatibility_date": "2026-11-01", "compatibility_flags": [FLAG]}
    (folder / "wrangler.json").write_text(json.dumps(config), "utf-8")
    return settle(Wishes.of(wishes), folder, folder / "state").modes


def test_modes_are_as_usual(tmp_path: Path) -> None:
    assert modes(tmp_path) == Modes("strong", "production", 0, False)


def test_modes_are_what_is_asked_for(tmp_path: Path) -> None:
    asked = {"kv_consistency": "eventual", "queue_defaults": "wrangler", "queue_duplicates": 0.5, "queue_shuffle": True}
    assert modes(tmp_path, **asked) == Modes("eventual", "wrangler", 0.5, True)


@pytest.mark.parametrize(
    ("wish", "text"),
    [
        ({"kv_consistency": "weak"}, "kv_consistency is 'strong' or 'eventual', not 'weak'."),
        ({"queue_defaults": "mine"}, "queue_defaults is 'production' or 'wrangler', not 'mine'."),
        ({"queue_duplicates": 2}, "queue_duplicates is a share from 0 to 1, not 2."),
    ],
)
def test_a_mode_that_is_none(tmp_path: Path, wish: dict[str, Any], text: str) -> None:
    with pytest.raises(UserError) as refused:
        modes(tmp_path, **wish)
    assert refused.value.message == text
