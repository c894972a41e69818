"""What holds for every kind of binding, whatever it does."""

from __future__ import annotations

import asyncio
import dataclasses
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from flarebed.bindings.kind import Complaints, Kind, Resources, Section, Spec
from flarebed.bindings.registry import KINDS
from tests.kinds.samples import SAMPLES, Sample
from tests.support import Bench, run

each_kind = pytest.mark.parametrize(
    ("kind", "sample"), [pytest.param(kind, SAMPLES[kind.name], id=kind.name) for kind in KINDS]
)
each_kind_with_state = pytest.mark.parametrize(
    ("kind", "sample"), [pytest.param(kind, SAMPLES[kind.name], id=kind.name) for kind in KINDS if kind.keeps_state]
)


class NoWorker:
    """Nothing here runs a Worker; an engine may ask which workflow classes there are."""

    def workflow_classes(self) -> frozenset[str]:
        return frozenset({"Flow"})


def parsed(kind: Kind, value: Any) -> tuple[tuple[Spec, ...], Complaints]:
    complaints = Complaints()
    return kind.parse(Section(kind.key, value, complaints)), complaints


def opened(kind: Kind, sample: Sample, root: Path) -> tuple[Bench, Resources]:
    """Resources as a process of its own has them: another store and clock over the same folder."""
    bench = Bench(root, NoWorker())
    return bench, kind.open(parsed(kind, sample.section)[0], bench.around)


async def seen(kind: Kind, sample: Sample, root: Path) -> Any:
    """What a new process reads."""
    bench, resources = opened(kind, sample, root)
    try:
        return await sample.read(resources.bindings()[sample.binding])
    finally:
        bench.store.close()


def remove_the_only_folder(root: Path) -> None:
    (only,) = root.iterdir()
    shutil.rmtree(only)


def test_every_kind_has_a_sample_and_its_own_key() -> None:
    assert [kind.name for kind in KINDS] == list(SAMPLES)
    assert len({kind.key for kind in KINDS}) == len(KINDS)


@each_kind
def test_config_round_trip(kind: Kind, sample: Sample) -> None:
    specs, complaints = parsed(kind, sample.section)
    assert complaints == Complaints()
    assert [dataclasses.asdict(spec) for spec in specs] == sample.specs  # type: ignore[call-overload]


@each_kind
def test_specs_cannot_be_changed_and_say_what_they_are(kind: Kind, sample: Sample) -> None:
    specs, _ = parsed(kind, sample.section)
    assert all(type(spec).__dataclass_params__.frozen for spec in specs)  # type: ignore[attr-defined]
    names = [name.partition(" ")[0] for spec in specs for name, _ in spec.rows()]
    assert names == [sample.binding]


@each_kind
@pytest.mark.parametrize("nonsense", [5, "text", True, None, [5], {"producers": 5, "consumers": [5]}], ids=repr)
def test_nonsense_is_complained_about_with_its_place(kind: Kind, sample: Sample, nonsense: Any) -> None:
    _, complaints = parsed(kind, nonsense)
    assert complaints.errors
    assert all(kind.key.removesuffix("s") in text for text in complaints.errors[:1])


@each_kind
def test_a_worker_sees_javascript_names_only(kind: Kind, sample: Sample, tmp_path: Path) -> None:
    async def scenario() -> None:
        bench, resources = opened(kind, sample, tmp_path)
        assert list(resources.bindings()) == [sample.binding]
        binding = resources.bindings()[sample.binding]
        assert type(binding).__name__ == sample.class_name
        names = {name for name in dir(binding) if not name.startswith("_") and "_" in name}
        # what String(), JSON.stringify() and structuredClone() ask of a host object
        assert names <= {"js_tag", "own_properties", "clone_error"}
        bench.store.close()

    run(scenario())


@each_kind_with_state
def test_what_was_written_is_there_for_others_and_after_a_restart(kind: Kind, sample: Sample, tmp_path: Path) -> None:
    async def scenario() -> None:
        bench, resources = opened(kind, sample, tmp_path)
        assert await sample.read(resources.bindings()[sample.binding]) == sample.empty
        await sample.write(resources.bindings()[sample.binding])
        assert await sample.read(resources.bindings()[sample.binding]) == sample.written
        assert await seen(kind, sample, tmp_path) == sample.written
        bench.store.close()
        assert await seen(kind, sample, tmp_path) == sample.written

    run(scenario())


@each_kind_with_state
def test_state_is_the_folder_and_nothing_else(kind: Kind, sample: Sample, tmp_path: Path) -> None:
    async def scenario() -> None:
        bench, resources = opened(kind, sample, tmp_path / "state")
        await sample.write(resources.bindings()[sample.binding])
        bench.store.close()
        remove_the_only_folder(tmp_path)
        assert await seen(kind, sample, tmp_path / "state") == sample.empty

    run(scenario())


@each_kind
def test_owning_can_end_and_begin_again(kind: Kind, sample: Sample, tmp_path: Path) -> None:
    async def scenario() -> None:
        bench, resources = opened(kind, sample, tmp_path)
        for _ in range(2):
            await resources.own()
            await resources.disown()
            await bench.clock.settle(1)
            assert asyncio.all_tasks() == {asyncio.current_task()}
            assert bench.clock.next_ms() is None
        bench.store.close()

    run(scenario())


@each_kind_with_state
def test_commands_on_the_state_know_what_is_where(kind: Kind, sample: Sample, tmp_path: Path) -> None:
    async def scenario() -> None:
        bench, resources = opened(kind, sample, tmp_path)
        await sample.write(resources.bindings()[sample.binding])
        bench.store.close()

    run(scenario())
    files = kind.files()
    words: dict[str, list[str]] = {}
    for name, meant in files.named(parsed(kind, sample.section)[0]):
        words.setdefault(name, []).extend(meant)
    held = {}
    for file in (tmp_path / files.folder).glob(files.pattern):
        assert sample.binding in words[file.name] or file.name == "failed.sqlite"
        with closing(apsw.Connection(str(file))) as connection:
            held[file.name] = connection.execute(files.count).fetchone()
    assert sorted(held.values()) == [*([(0,)] * (len(held) - 1)), (1,)]
