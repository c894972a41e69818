"""What the marker asks for, made into settings."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.errors import UserError
from flarebed.bindings.kind import Modes
from flarebed.emulator.state.archive import Manifest, pack
from flarebed.emulator.state.capture import capture
from flarebed.emulator.testing.settings import Wishes, settle
from flarebed.emulator.testing.stage import Settings, Stage
from flarebed.emulator.testing.worker import Worker

FLAG = "python_workers"


def settled(folder: Path, **wishes: Any) -> Settings:
    config = {
        "name": "w", "main": "entry.py", "compatibility_date": "2026-11-01", "compatibility_flags": [FLAG],
        "kv_namespaces": [{"binding": "KV", "id": "kv"}],
    }  # fmt: skip
    (folder / "wrangler.json").write_text(json.dumps(config), "utf-8")
    return settle(Wishes.of(wishes), folder, folder / "state")


def modes(folder: Path, **wishes: Any) -> Modes:
    return settled(folder, **wishes).modes


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
        ({"queue_shuffle": "yes"}, "queue_shuffle is True or False, not 'yes'."),
    ],
)
def test_a_mode_that_is_none(tmp_path: Path, wish: dict[str, Any], text: str) -> None:
    with pytest.raises(UserError) as refused:
        modes(tmp_path, **wish)
    assert refused.value.message == text


def test_a_state_to_begin_with(tmp_path: Path) -> None:
    made, using = tmp_path / "made", tmp_path / "using"
    for folder in (made, using):
        folder.mkdir()
        (folder / "entry.py").touch()
    stage = Stage(settled(made))
    try:
        Worker(stage).sync.env.KV.put("k", "kept", expiration=1_900_000_000)
    finally:
        stage.close()
    capture(made / "state", made / "copy")
    Manifest("w", 1_800_000_000_000.0, ()).write(made / "copy")
    pack(made / "copy", using / "seed.tar.gz")

    settings = settled(using, state="seed.tar.gz")
    assert settings.start_ms == 1_800_000_000_000.0
    stage = Stage(settings)
    try:
        assert Worker(stage).sync.env.KV.get("k") == "kept"
    finally:
        stage.close()
    shutil.rmtree(settings.state)
    assert settled(using, state="seed.tar.gz", start="2026-03-01").start_ms == 1_772_323_200_000.0


def test_a_state_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(UserError) as refused:
        settled(tmp_path, state="seed.tar.gz")
    assert refused.value.message == f"There is no file or folder {tmp_path / 'seed.tar.gz'}."
