"""Durable Objects of JavaScript Workers: on disk, one process at a time, alarms that outlive it."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.served import Served, served

from flarebed.bindings.errors import UserError
from flarebed.bindings.ids import id_from_name

CONFIG = {
    "name": "objects",
    "main": "index.js",
    "compatibility_date": "2026-11-01",
    "durable_objects": {
        "bindings": [{"name": "SQL", "class_name": "Sql"}, {"name": "PLAIN", "class_name": "Plain"}],
    },
    "migrations": [{"tag": "1", "new_sqlite_classes": ["Sql", "Unbound"], "new_classes": ["Plain"]}],
}
WORKER = """
import { DurableObject } from "cloudflare:workers";
export class Plain extends DurableObject {
  async add() {
    const count = ((await this.ctx.storage.get("count")) ?? 0) + 1;
    await this.ctx.storage.put("count", count);
    return count;
  }
  select() {
    return this.ctx.storage.sql.exec("SELECT 1 AS one").one().one;
  }
  async arm() {
    await this.ctx.storage.setAlarm(Date.now() + 100);
  }
  async alarm() {
    await this.ctx.storage.put("count", 100);
  }
}
export class Sql extends Plain {}
export class Unbound extends Plain {}
export default {
  async fetch(request, env, ctx) {
    const [, name, method] = new URL(request.url).pathname.split("/");
    const stub = (env[name] ?? ctx.exports[name]).getByName("one");
    try {
      return Response.json((await stub[method]()) ?? null);
    } catch (error) {
      return Response.json(`${error}`);
    }
  },
};
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "wrangler.json").write_text(json.dumps(CONFIG))
    (tmp_path / "index.js").write_text(WORKER)
    return tmp_path


async def asked(project: Served, path: str) -> object:
    return (await project.get(path)).json


async def test_objects_are_where_wrangler_has_them(folder: Path) -> None:
    async with served(folder, folder / "state") as project:
        assert [await asked(project, "/SQL/add") for _ in range(2)] == [1, 2]
        assert await asked(project, "/PLAIN/add") == 1
        assert await asked(project, "/Unbound/add") == 1
        assert await asked(project, "/SQL/select") == 1
        assert str(await asked(project, "/PLAIN/select")).startswith(
            "Error: SQL is not enabled for this Durable Object class."
        )
        assert await asked(project, "/SQL/nope") == (
            'TypeError: The RPC receiver does not implement the method "nope".'
        )
    for key in ("objects-Sql", "objects-Plain", "objects-Unbound"):
        stored = {path.name for path in (folder / "state/v3/do" / key).glob("*.sqlite")}
        assert stored == {"metadata.sqlite", f"{id_from_name(key, 'one')}.sqlite"}
    async with served(folder, folder / "state") as project:
        assert await asked(project, "/SQL/add") == 3


async def test_an_alarm_goes_off_after_a_restart(folder: Path) -> None:
    async with served(folder, folder / "state") as project:
        assert await asked(project, "/SQL/arm") is None
    async with served(folder, folder / "state") as project:
        count = 0
        while count < 100:
            count = int(str(await asked(project, "/SQL/add")))
        assert count == 101


async def test_one_process_has_them_at_a_time(folder: Path) -> None:
    async with AsyncExitStack() as second, AsyncExitStack() as first:
        one = await first.enter_async_context(served(folder, folder / "state"))
        assert await asked(one, "/SQL/add") == 1
        two = await second.enter_async_context(served(folder, folder / "state"))
        waiting = asyncio.create_task(asked(two, "/SQL/add"))
        assert await asked(one, "/SQL/add") == 2
        assert not waiting.done()
        await first.aclose()
        assert await waiting == 3


ASKING = """
export default {
  async fetch(request, env) {
    const page = await env.HOST.fetch("http://host/page");
    return Response.json([await env.THEIRS.getByName("one").add(), page.status, await page.text()]);
  },
};
"""


async def test_objects_and_assets_of_another_worker(folder: Path) -> None:
    asking, public = folder / "asking", folder / "public"
    for made in (asking, public):
        made.mkdir()
    (public / "page.html").write_text("an asset")
    (folder / "wrangler.json").write_text(json.dumps({**CONFIG, "assets": {"directory": "public"}}))
    theirs = {"name": "THEIRS", "class_name": "Sql", "script_name": "objects"}
    config = {
        "name": "asking", "main": "index.js", "compatibility_date": "2026-11-01",
        "durable_objects": {"bindings": [theirs]}, "services": [{"binding": "HOST", "service": "objects"}],
    }  # fmt: skip
    (asking / "wrangler.json").write_text(json.dumps(config))
    (asking / "index.js").write_text(ASKING)
    async with served(asking, folder / "state", folder) as project:
        assert await asked(project, "/") == [1, 200, "an asset"]
        assert await asked(project, "/") == [2, 200, "an asset"]


async def test_a_class_that_is_not_exported(folder: Path) -> None:
    (folder / "index.js").write_text("export class Sql {}\nexport default { fetch() {} };")
    with pytest.raises(UserError) as raised:
        async with served(folder, folder / "state"):
            pass
    assert raised.value.message.splitlines()[0] == (
        "Your Worker depends on the following Durable Objects, which are not exported in your entrypoint file: Plain."
    )


async def test_a_new_version_that_fails_leaves_the_objects_to_the_old(folder: Path) -> None:
    async with served(folder, folder / "state") as project:
        assert await asked(project, "/SQL/add") == 1
        (folder / "index.js").write_text("throw new Error('at the top');\n" + WORKER)
        with pytest.raises(Exception, match="at the top"):
            async with served(folder, folder / "state"):
                pass
        assert await asked(project, "/SQL/add") == 2
