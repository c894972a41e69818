"""Randomness is refused while a Worker starts, and only then."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from flarebed.emulator.runtime.python import entropy

KEEPS = "from random import random\n\ndef throw():\n    return random()\n"


def test_a_function_that_the_worker_took_for_itself_works_after_its_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "keeps_random.py").write_text(KEEPS)
    monkeypatch.syspath_prepend(str(tmp_path))
    with entropy.refused_to(tmp_path):
        module = __import__("keeps_random")
        with pytest.raises(RuntimeError, match=r"Cannot use random\.random\(\) outside of request context"):
            module.throw()
    assert 0 <= module.throw() < 1
    del sys.modules["keeps_random"]
