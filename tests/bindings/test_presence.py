"""Who is inside a state folder, and what comes of a replacement of its files, wherever it is killed."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from flarebed.bindings import replacement
from flarebed.bindings.errors import UserError
from flarebed.bindings.presence import Bell, Presence, emptied
from tests.support import run

NOT_LONG_S = 0.03


class Killed(BaseException):
    pass


def refused(root: Path) -> str:
    with pytest.raises(UserError) as error, emptied(root, NOT_LONG_S):
        raise AssertionError
    return error.value.message


def test_nobody_is_inside(tmp_path: Path) -> None:
    Presence(tmp_path).leave()
    with emptied(tmp_path, NOT_LONG_S):
        pass


def test_who_does_not_leave(tmp_path: Path) -> None:
    presences = [Presence(tmp_path), Presence(tmp_path)]
    text = f"The state in {tmp_path} is still in use by another process after 0.03 s. Nothing was changed."
    assert refused(tmp_path) == text
    presences[0].leave()
    assert refused(tmp_path) == text
    presences[1].leave()
    presences[1].leave()
    with emptied(tmp_path, NOT_LONG_S):
        pass


def test_who_comes_waits_at_the_door(tmp_path: Path) -> None:
    story: list[str] = []

    def come() -> None:
        Presence(tmp_path).leave()
        story.append("in")

    with emptied(tmp_path, NOT_LONG_S):
        comer = threading.Thread(target=come)
        comer.start()
        comer.join(NOT_LONG_S)
        story.append("done")
    comer.join()
    assert story == ["done", "in"]


def test_a_dev_hears_the_bell_and_leaves(tmp_path: Path) -> None:
    async def work() -> None:
        presence = Presence(tmp_path)
        bell = Bell(tmp_path, asyncio.get_running_loop(), presence.leave)
        await asyncio.to_thread(enter_and_leave)
        bell.close()
        assert not list((tmp_path / "flarebed" / "presence").glob("*.bell"))

    def enter_and_leave() -> None:
        with emptied(tmp_path, 5):
            pass

    run(work())


def test_a_dev_that_does_not_leave_is_named(tmp_path: Path) -> None:
    async def work() -> None:
        presence = Presence(tmp_path)
        rung: list[None] = []
        bell = Bell(tmp_path, asyncio.get_running_loop(), lambda: rung.append(None))
        bell_path = next((tmp_path / "flarebed" / "presence").glob("*.bell"))
        assert f"`flarebed dev` (pid {bell_path.stem})" in await asyncio.to_thread(refused, tmp_path)
        assert rung == [None]
        bell.close()
        presence.leave()

    run(work())


def test_a_bell_that_nobody_hears_is_taken_down(tmp_path: Path) -> None:
    async def work() -> Path:
        bell = Bell(tmp_path, asyncio.get_running_loop(), print)
        [path] = (tmp_path / "flarebed" / "presence").glob("*.bell")
        path.rename(path.with_name("7.bell"))  # whoever ends in good order takes down what is his own
        bell.close()
        return path.with_name("7.bell")

    path = run(work())
    assert path.exists()
    with emptied(tmp_path, NOT_LONG_S):
        assert not path.exists()


OLD = {"flarebed/kv/a.sqlite": "old a", "flarebed/kv/a.sqlite-wal": "old wal", "v3/d1/b.sqlite": "old b", "kept": "k"}
NEW = {"flarebed/kv/a.sqlite": "new a", "flarebed/queues/c.sqlite": "new c"}
BECOMES = NEW | {"kept": "k"}


def files(root: Path) -> dict[str, str]:
    found = (path for path in root.rglob("*") if path.is_file() and "presence" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_text() for path in found}


def lay(root: Path, texts: dict[str, str]) -> Path:
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


class Killer:
    """Kills at the n-th change of the folder, before it or after it."""

    def __init__(self, patch: pytest.MonkeyPatch, at: int, after: bool) -> None:
        self.left = at
        self.after = after
        for owner, name in (
            (Path, "rename"), (Path, "unlink"), (Path, "write_text"), (shutil, "move"), (shutil, "rmtree"),
        ):  # fmt: skip
            patch.setattr(owner, name, self._around(getattr(owner, name)))

    def _around(self, change: Callable[..., object]) -> Callable[..., object]:
        def changed(*arguments: object, **options: object) -> object:
            self.left -= 1
            if self.left == 0 and not self.after:
                raise Killed
            result = change(*arguments, **options)
            if self.left == 0:
                raise Killed
            return result

        return changed


@pytest.mark.parametrize("after", [False, True])
def test_wherever_it_is_killed_the_state_is_the_old_or_the_new(tmp_path: Path, after: bool) -> None:
    outcomes = []
    for at in range(1, 99):
        root = lay(tmp_path / str(at), OLD)
        laid_out = lay(root / "flarebed" / "staging", NEW)
        with pytest.MonkeyPatch.context() as patch:
            killer = Killer(patch, at, after)
            try:
                with emptied(root, NOT_LONG_S):
                    replacement.commit(root, laid_out, NEW, ["v3/d1/b.sqlite"])
            except Killed:
                pass
            else:
                assert killer.left > 0
                break
        Presence(root).leave()
        left = {path: text for path, text in files(root).items() if "staging" not in path}
        assert left in (OLD, BECOMES)
        outcomes.append(left == BECOMES)
    assert outcomes == sorted(outcomes)
    assert len(outcomes) > 8
    assert files(root) == BECOMES
