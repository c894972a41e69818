"""What workerd serves by itself, from inside a Worker. The answers are those of wrangler dev 4.164."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.served import served

CONFIG = {
    "name": "small",
    "main": "index.js",
    "compatibility_date": "2026-11-01",
    "vars": {"TEXT": "text", "JSON": {"a": [1, 2]}},
    "version_metadata": {"binding": "V"},
    "ratelimits": [
        {"name": "RL", "namespace_id": "1", "simple": {"limit": 2, "period": 60}},
        {"name": "SAME", "namespace_id": "1", "simple": {"limit": 3, "period": 60}},
    ],
    "analytics_engine_datasets": [{"binding": "AE"}],
    "hyperdrive": [{"binding": "HD", "id": "x", "localConnectionString": "postgres://u:p%40@localhost:5433/db"}],
    "send_email": [{"name": "MAIL", "destination_address": "a@b.c", "allowed_sender_addresses": ["x@y.z"]}],
    "pipelines": [{"binding": "P", "stream": "s"}],
    "worker_loaders": [{"binding": "LOADER"}],
}
WORKER = """
import { EmailMessage } from "cloudflare:email";
const code = "export default { fetch() { return new Response('loaded'); } }";
const inner = { compatibilityDate: "2026-01-01", mainModule: "m.js", modules: { "m.js": code } };
const builder = { from: { name: "X", email: "x@y.z" }, to: "a@b.c", subject: "s", text: "hello" };
const raw = "From: X <x@y.z>\\r\\nMessage-ID: <1>\\r\\n\\r\\nhey";
const asked = {
  process: () => process.env.TEXT + process.env.JSON,
  metadata: (env) => Object.entries(env.V).map(([name, value]) => [name, typeof value]),
  limits: async (env) => {
    const answers = [];
    for (const key of ["a", "a", "a", "b"]) answers.push((await env.RL.limit({ key })).success);
    answers.push((await env.SAME.limit({ key: "a" })).success, (await env.SAME.limit({ key: "a" })).success);
    return answers;
  },
  limitsNothing: (env) => env.RL.limit(),
  limitsUnknown: (env) => env.RL.limit({ x: 1, y: 2 }),
  limitsKey: (env) => env.RL.limit({ key: 1 }),
  limitsPeriod: (env) => env.RL.limit({ period: 5 }),
  analytics: (env) => String(env.AE.writeDataPoint({ blobs: ["a"] })),
  pipeline: async (env) => String(await env.P.send([{}])),
  hyperdrive: (env) => [env.HD.user, env.HD.password, env.HD.database, env.HD.port, env.HD.host.split(".").slice(1)],
  email: async (env) => /^<[A-Za-z0-9]{36}@y\\.z>$/.test((await env.MAIL.send(builder)).messageId),
  emailRaw: async (env) => Object.keys(await env.MAIL.send(new EmailMessage("x@y.z", "a@b.c", raw))),
  emailTo: (env) => env.MAIL.send({ ...builder, to: ["a@b.c", "d@b.c"] }),
  emailFrom: (env) => env.MAIL.send({ ...builder, from: "q@y.z" }),
  emailOther: (env) => env.MAIL.send(new EmailMessage("x@y.z", "a@b.c", raw.replace("x@", "q@"))),
  emailNoId: (env) => env.MAIL.send(new EmailMessage("x@y.z", "a@b.c", "From: x@y.z\\r\\n\\r\\n")),
  loader: async (env) => (await env.LOADER.get("k", () => inner).getEntrypoint().fetch("http://x")).text(),
};
export default {
  async fetch(request, env) {
    const answers = {};
    for (const [name, ask] of Object.entries(asked)) {
      try {
        answers[name] = await ask(env);
      } catch (error) {
        answers[name] = `${error}`;
      }
    }
    return Response.json(answers);
  },
};
"""


async def answers(tmp_path: Path, config: dict[str, Any], worker: str) -> tuple[Any, list[tuple[str, str]]]:
    (tmp_path / "wrangler.json").write_text(json.dumps(config))
    (tmp_path / "index.js").write_text(worker)
    async with served(tmp_path, tmp_path / "state") as project:
        return (await project.get("/")).json, project.logged


async def test_the_small_bindings(tmp_path: Path) -> None:
    found, logged = await answers(tmp_path, CONFIG, WORKER)
    assert found == {
        "process": 'text{"a":[1,2]}',
        "metadata": [["id", "string"], ["tag", "string"], ["timestamp", "string"]],
        "limits": [True, True, False, True, True, False],
        "limitsNothing": "Error: invalid rate limit options",
        "limitsUnknown": "Error: bad rate limit options: [x,y]",
        "limitsKey": "Error: invalid key: 1",
        "limitsPeriod": "Error: unsupported period: 5",
        "analytics": "undefined",
        "pipeline": "undefined",
        "hyperdrive": ["u", "p@", "db", 5432, ["hyperdrive", "local"]],
        "email": True,
        "emailRaw": ["messageId"],
        "emailTo": "Error: email to d@b.c not allowed",
        "emailFrom": "Error: email from q@y.z not allowed",
        "emailOther": "Error: From: header does not match mail from",
        "emailNoId": "Error: invalid message-id",
        "loader": "loaded",
    }
    assert [text for level, text in logged if "send_email" in text] == [
        'send_email binding called with MessageBuilder:\nFrom: "X" <x@y.z>\nTo: a@b.c\nSubject: s\n\nhello',
        "send_email binding called with the following message:\nFrom: X <x@y.z>\r\nMessage-ID: <1>\r\n\r\nhey",
    ]


CACHE = """
const url = "http://a.b/x?y=1";
const put = (cache, body, headers, key = url) => cache.put(key, new Response(body, { headers }));
const headersOf = (response) => Object.fromEntries(response.headers);
const shown = async (response) => response && [response.status, await response.text(), headersOf(response)];
export default {
  async fetch(request) {
    const cache = caches.default, named = await caches.open("n"), found = [];
    const ask = async (headers, key = url) => shown(await cache.match(new Request(key, { headers })));
    await put(cache, "body", { "cache-control": "max-age=60", etag: '"e"', date: "Mon, 30 Nov 2026 00:00:00 GMT" });
    found.push(await ask({}), (await ask({ range: "bytes=1-2" }))?.slice(0, 2));
    found.push((await ask({ "if-none-match": 'W/"x", "e"' }))[0], (await ask({ range: "bytes=9-" }))[0]);
    found.push(await ask({}, url + "&z"), await ask({}, "https://a.b/x?y=1"), await named.match(url));
    await put(cache, "short", {}, "http://a.b/1");
    await put(cache, "private", { "cache-control": "private, max-age=9" }, "http://a.b/2");
    await put(cache, "cookie", { "cache-control": "max-age=9", "set-cookie": "a=b" }, "http://a.b/3");
    for (const key of ["http://a.b/1", "http://a.b/2", "http://a.b/3"]) found.push(await ask({}, key));
    found.push(await cache.delete(url), await cache.delete(url));
    return Response.json(found.map((each) => each ?? "nothing"));
  },
};
"""


async def test_the_cache(tmp_path: Path) -> None:
    config = {"name": "cache", "main": "index.js", "compatibility_date": "2026-11-01"}
    kept = {
        "age": "0", "cache-control": "max-age=60", "cf-cache-status": "HIT", "content-length": "4",
        "content-type": "text/plain;charset=UTF-8", "date": "Mon, 30 Nov 2026 00:00:00 GMT", "etag": '"e"',
    }  # fmt: skip
    found, _ = await answers(tmp_path, config, CACHE)
    assert found == [[200, "body", kept], [206, "od"], 304, 416, *["nothing"] * 6, True, False]


async def test_a_limit_is_over_with_its_period(tmp_path: Path) -> None:
    (tmp_path / "wrangler.json").write_text(json.dumps(CONFIG))
    (tmp_path / "index.js").write_text(
        "export default { fetch: async (_, env) => Response.json(await env.RL.limit({ key: 'k' })) };"
    )
    async with served(tmp_path, tmp_path / "state") as project:
        seen = [(await project.get("/")).json["success"] for _ in range(3)]
        await project.advance(60)
        assert [*seen, (await project.get("/")).json["success"]] == [True, True, False, True]


@pytest.mark.parametrize("connection", ["localhost", "postgres://localhost/db", "redis://u:p@localhost/db"])
async def test_a_connection_string_that_names_no_database(tmp_path: Path, connection: str) -> None:
    config = {**CONFIG, "hyperdrive": [{"binding": "HD", "id": "x", "localConnectionString": connection}]}
    with pytest.raises(Exception, match='connection string of Hyperdrive binding "HD" does not name a database'):
        await answers(tmp_path, config, WORKER)
