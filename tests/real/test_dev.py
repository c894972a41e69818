"""`flarebed dev` as a user runs it."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.real.command import dev, project

pytestmark = pytest.mark.real


def test_it_starts_answers_and_ends(tmp_path: Path) -> None:
    with dev(project(tmp_path)) as running:
        assert running.get() == "v0 h0 hello"
        assert "Your Worker has access to the following bindings:\n" in running.output
        assert 'env.GREETING ("hello")      Environment Variable      local\n' in running.output
        running.wait_for(r"\[wrangler:info\] GET / 200 OK \(\d+ms\)")
        assert running.stop() == 0


def test_options_reach_the_worker(tmp_path: Path) -> None:
    folder = project(tmp_path)
    state = tmp_path / "elsewhere"
    with dev(
        folder / "src", "--var", "GREETING:good day", "--persist-to", str(state), "--log-level", "none"
    ) as running:
        assert running.get() == "v0 h0 good day"
        assert running.stop(signal.SIGTERM) == 0
    assert state.is_dir()
    assert not (folder / ".wrangler").exists()
