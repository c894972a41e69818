"""Every row of the tables about KV in Cloudflare's API: calls (1), errors (2), limits (3), order and expiry (4).
The rows are data: what is called, and exactly what comes of it. The command line (7) is in tests/emulator/cli.

Sources are workerd `api/kv.c++`, observations on wrangler 4.164, and https://developers.cloudflare.com/kv/platform/limits/.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.codec import encode
from flarebed.bindings.errors import JsError
from flarebed.bindings.kind import Modes
from flarebed.bindings.kv.binding import KvNamespace
from flarebed.bindings.values import UNDEFINED, ArrayBuffer, Map, Stream, View
from tests.bindings.kv.bench import Chunks, KvBench
from tests.support import run

ROWS: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "rows.json").read_text(encoding="utf-8"))

WRITTEN: dict[str, Callable[[Any], Any]] = {
    "$undefined": lambda _: UNDEFINED,
    "$repeat": lambda text_and_count: text_and_count[0] * text_and_count[1],
    "$buffer": lambda digits: ArrayBuffer(bytes.fromhex(digits)),
    "$view": lambda digits: View(ArrayBuffer(bytes.fromhex(digits))),
    "$stream": lambda chunks: Chunks(*[chunk.encode() for chunk in chunks]),
}


def value_of(given: Any) -> Any:
    """What stands for a value that JSON has no word for."""
    if isinstance(given, dict):
        [*names] = given
        if names and names[0] in WRITTEN:
            return WRITTEN[names[0]](given[names[0]])
        return {name: value_of(value) for name, value in given.items()}
    return given


async def shown(answer: Any) -> Any:
    if answer is UNDEFINED:
        return {"$undefined": True}
    if isinstance(answer, Map):
        return {"$map": [list(pair) for pair in answer.items()]}
    if isinstance(answer, ArrayBuffer):
        return {"$buffer": bytes(answer).hex()}
    if isinstance(answer, Stream):
        return {"$stream": b"".join([chunk async for chunk in answer]).decode()}
    return answer


async def outcome(bench: KvBench, kv: KvNamespace, call: list[Any]) -> Any:
    method, *arguments = call
    if method == "advance_s":
        await bench.clock.advance(arguments[0] * 1000)
        return {"$undefined": True}
    if method == "length":
        return len(await kv.get(*arguments))
    if method == "cacheStatus":
        return [(await kv.getWithMetadata(*arguments))["cacheStatus"], (await kv.list())["cacheStatus"]]
    try:
        return await shown(await getattr(kv, method)(*map(value_of, arguments)))
    except JsError as error:
        return str(error)


def with_calls(root: Path, given: list[list[Any]], modes: Modes) -> list[Any]:
    async def work() -> list[Any]:
        bench = KvBench(root)
        kv = bench.open(modes=modes)
        try:
            return [await outcome(bench, kv, call) for call in given]
        finally:
            bench.store.close()

    return run(work())


def calls(root: Path, given: list[list[Any]]) -> list[Any]:
    return with_calls(root, given, Modes())


def eventual(root: Path, given: list[list[Any]]) -> list[Any]:
    return with_calls(root, given, Modes(kv_consistency="eventual"))


def error_objects(root: Path, given: list[list[Any]]) -> list[Any]:
    async def work() -> list[Any]:
        bench = KvBench(root)
        found = []
        for method, *arguments in given:
            with pytest.raises(JsError) as caught:
                await getattr(bench.kv, method)(*arguments)
            error = caught.value
            found.append({"name": error.name, "cause": error.cause, "properties": error.properties})
        bench.store.close()
        return found

    return run(work())


def binding(root: Path, _given: list[list[Any]]) -> list[Any]:
    async def work() -> list[Any]:
        bench = KvBench(root)
        with pytest.raises(JsError) as caught:
            encode(bench.kv)
        bench.store.close()
        methods = [name for name in vars(KvNamespace) if callable(getattr(KvNamespace, name)) and name[0] != "_"]
        return [sorted(methods), str(caught.value)]

    return run(work())


SCENARIOS: dict[str, Callable[[Path, list[list[Any]]], list[Any]]] = {
    "calls": calls, "eventual": eventual, "error_objects": error_objects, "binding": binding,
}  # fmt: skip


def row_id(row: dict[str, Any]) -> str:
    return f"{row['section']} {row['row']}" + (f": {row['case']}" if "case" in row else "")


@pytest.mark.parametrize("row", ROWS["rows"], ids=row_id)
def test_row(row: dict[str, Any], tmp_path: Path) -> None:
    assert SCENARIOS[row["scenario"]](tmp_path, row["given"]) == row["expected"]


def covered() -> dict[str, set[str]]:
    """The rows of each section that are here, or in the file that `elsewhere` names."""
    found: dict[str, set[str]] = {section: set(other["rows"]) for section, other in ROWS["elsewhere"].items()}
    for row in ROWS["rows"]:
        found.setdefault(str(row["section"]), set()).add(row["row"])
    return found


def test_every_row_is_covered_or_has_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    for section, count in ROWS["rows_in_the_spec"].items():
        excused = {row["row"] for row in ROWS["not_covered"] if str(row["section"]) == section}
        here = covered()[section]
        assert not here & excused
        assert len(here) + len(excused) == count, f"section {section}"
    total = sum(ROWS["rows_in_the_spec"].values())
    with capsys.disabled():
        print(f" KV: {total - len(ROWS['not_covered'])} of {total} rows of the specification covered ", end="")


def test_every_row_has_a_name_of_its_own() -> None:
    ids = [row_id(row) for row in ROWS["rows"]]
    assert sorted(ids) == sorted(set(ids))
