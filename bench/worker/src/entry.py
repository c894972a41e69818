"""The routes of ../../js/src/index.js in Python, but for R2 and Durable Objects."""

from time import process_time
from urllib.parse import parse_qsl, urlsplit

from workers import Response, WorkerEntrypoint, WorkflowEntrypoint

VERSION = "v0"

SCHEMA = (
    "DROP TABLE IF EXISTS users",
    "DROP TABLE IF EXISTS inserts",
    "DROP TABLE IF EXISTS queue_consumed",
    "DROP TABLE IF EXISTS wf_done",
    "DROP TABLE IF EXISTS wf_steps",
    "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, score INTEGER NOT NULL)",
    "CREATE TABLE inserts (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, val INTEGER NOT NULL)",
    "CREATE TABLE queue_consumed (tag TEXT PRIMARY KEY, n INTEGER NOT NULL, batches INTEGER NOT NULL,"
    " maxbatch INTEGER NOT NULL, isum INTEGER NOT NULL)",
    "CREATE TABLE wf_done (id TEXT PRIMARY KEY, c INTEGER NOT NULL)",
    "CREATE TABLE wf_steps (rowid_ INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, step INTEGER NOT NULL)",
    "INSERT INTO users (id, name, email, score)"
    " WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 10000)"
    " SELECT i, 'user name ' || i, 'user' || i || '@example.com', (i * 7919) % 1000 FROM c",
)
INSERT = "INSERT INTO inserts (name, val) VALUES (?, ?)"
CONSUMED = (
    "INSERT INTO queue_consumed (tag, n, batches, maxbatch, isum) VALUES (?1, ?2, 1, ?2, ?3)"
    " ON CONFLICT (tag) DO UPDATE SET n = n + ?2, batches = batches + 1, maxbatch = max(maxbatch, ?2), isum = isum + ?3"
)
SUMS = (
    "SELECT COALESCE(SUM(n), 0) AS consumed, COALESCE(SUM(batches), 0) AS batches,"
    " COALESCE(MAX(maxbatch), 0) AS maxbatch, COALESCE(SUM(isum), 0) AS isum FROM queue_consumed"
)


class BenchWorkflow(WorkflowEntrypoint):
    async def run(self, event, step):
        instance_id, params = event["instanceId"], event["payload"]
        db, i = self.env.DB, params["i"]

        async def trace(number):
            if params["trace"]:
                await db.prepare("INSERT INTO wf_steps (id, step) VALUES (?, ?)").bind(instance_id, number).run()

        @step.do("one")
        async def one():
            await trace(1)
            return {"i": i, "a": 1}

        @step.do("two")
        async def two():
            await trace(2)
            return {"i": i, "b": a["a"] + 1}

        @step.do("three")
        async def three():
            await trace(3)
            return {"i": i, "c": b["b"] + 1}

        a = await one()
        if params["sleep"]:
            await step.sleep("nap", f"{params['sleep']} seconds")
        b = await two()
        c = await three()
        # The mark of completion that GET /wf/done reads: outside any step, idempotent.
        await db.prepare("INSERT OR IGNORE INTO wf_done (id, c) VALUES (?, ?)").bind(instance_id, c["c"]).run()
        return {"ok": True, "c": c["c"]}


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        url = urlsplit(request.url)
        route = ROUTES.get(f"{request.method.value} {url.path}")
        if route is None:
            return Response.json({"error": "not found"}, status=404)
        return await route(self.env, dict(parse_qsl(url.query)), request)

    async def queue(self, batch, env, ctx):
        tags = {}
        for message in batch.messages:
            body = message.body
            count, total = tags.get(body["tag"], (0, 0))
            tags[body["tag"]] = (count + 1, total + body["i"])
        statement = self.env.DB.prepare(CONSUMED)
        await self.env.DB.batch([statement.bind(tag, count, total) for tag, (count, total) in tags.items()])


async def hello(env, query, request):
    return Response("hello world")


async def version(env, query, request):
    return Response.json({"version": VERSION})


async def echo(env, query, request):
    return Response.json(await request.json())


async def seed(env, query, request):
    await env.DB.batch([env.DB.prepare(sql) for sql in SCHEMA])
    await env.KV.put("bench:key", "x" * 100)
    for i in range(100):
        await env.KV.put(f"seed:{i:04}", f"value {i}")
    return Response.json({"ok": True, "rows": 10000, "kv": 101})


async def kv_get(env, query, request):
    value = await env.KV.get(query.get("k", "bench:key"))
    return Response.json({"value": value}, status=404 if value is None else 200)


async def kv_put(env, query, request):
    await env.KV.put(query["k"], f"value of {query['k']}")
    return Response.json({"ok": True})


async def kv_list(env, query, request):
    listed = await env.KV.list(prefix=query.get("prefix", "seed:"))
    return Response.json({"count": len(listed["keys"]), "complete": listed["list_complete"]})


async def d1_get(env, query, request):
    statement = env.DB.prepare("SELECT id, name, email, score FROM users WHERE id = ?")
    row = await statement.bind(int(query["id"])).first()
    return Response.json(row, status=404 if row is None else 200)


async def d1_insert(env, query, request):
    await env.DB.prepare(INSERT).bind(query.get("name", "single insert"), 42).run()
    return Response.json({"ok": True})


async def d1_batch(env, query, request):
    statement = env.DB.prepare(INSERT)
    results = await env.DB.batch([statement.bind("batch insert", i) for i in range(20)])
    return Response.json({"ok": True, "n": len(results)})


async def d1_scan(env, query, request):
    result = await env.DB.prepare("SELECT id, name, email, score FROM users ORDER BY id LIMIT 1000").all()
    rows = result["results"]
    return Response.json({"count": len(rows), "sum": sum(row["score"] for row in rows)})


async def d1_count(env, query, request):
    statement = env.DB.prepare("SELECT COUNT(*) AS n FROM inserts WHERE name = ?")
    return Response.json({"count": await statement.bind(query["name"]).first("n")})


async def queue_send(env, query, request):
    count, tag, delay_s = int(query.get("n", 1)), query.get("tag", "t"), int(query.get("delay", 0))
    for start in range(0, count, 100):
        messages = [{"body": {"tag": tag, "i": i}} for i in range(start, min(start + 100, count))]
        if delay_s:
            await env.JOBS.sendBatch(messages, delaySeconds=delay_s)
        else:
            await env.JOBS.sendBatch(messages)
    return Response.json({"sent": count})


async def queue_consumed(env, query, request):
    statement = env.DB.prepare(SUMS)
    if "tag" in query:
        statement = env.DB.prepare(SUMS + " WHERE tag = ?").bind(query["tag"])
    return Response.json(await statement.first())


async def wf_start(env, query, request):
    count, prefix, sleep_s = int(query.get("n", 1)), query.get("prefix", "wf"), int(query.get("sleep", 0))
    trace = query.get("trace") == "1"
    for start in range(0, count, 100):
        batch = [
            {"id": f"{prefix}-{i}", "params": {"i": i, "sleep": sleep_s, "trace": trace}}
            for i in range(start, min(start + 100, count))
        ]
        if len(batch) == 1:
            await env.WF.create(batch[0])
        else:
            await env.WF.create_batch(batch)
    return Response.json({"created": count})


async def wf_done(env, query, request):
    prefix = query["prefix"] + "-"
    statement = env.DB.prepare("SELECT COUNT(*) AS n FROM wf_done WHERE substr(id, 1, ?) = ?")
    return Response.json({"done": await statement.bind(len(prefix), prefix).first("n")})


async def wf_status(env, query, request):
    instance = await env.WF.get(query["id"])
    status = await instance.status()
    return Response.json({key: status.get(key) for key in ("status", "output", "error")})


async def wf_steps(env, query, request):
    statement = env.DB.prepare("SELECT step, COUNT(*) AS n FROM wf_steps WHERE id = ? GROUP BY step ORDER BY step")
    result = await statement.bind(query["id"]).all()
    return Response.json({"steps": {row["step"]: row["n"] for row in result["results"]}})


INSIDE = {
    "kv_get": lambda env: env.KV.get("bench:key"),
    "kv_put": lambda env: env.KV.put("inside", "x" * 100),
    "d1_first": lambda env: env.DB.prepare("SELECT id, name, email, score FROM users WHERE id = ?").bind(77).first(),
    "d1_run": lambda env: env.DB.prepare(INSERT).bind("inside", 42).run(),
    "d1_batch": lambda env: env.DB.batch([env.DB.prepare(INSERT).bind("batch insert", i) for i in range(20)]),
    "d1_scan": lambda env: env.DB.prepare("SELECT id, name, email, score FROM users ORDER BY id LIMIT 1000").all(),
    "queue_send": lambda env: env.JOBS.send({"tag": "inside", "i": 1}, delaySeconds=3600),
}


async def inside(env, query, request):
    """CPU per call of a binding, without HTTP; flarebed only."""
    call, count = INSIDE[query["call"]], int(query["n"])
    started_s = process_time()
    for _ in range(count):
        await call(env)
    return Response.json({"us": (process_time() - started_s) / count * 1e6})


ROUTES = {
    "GET /inside": inside,
    "GET /hello": hello,
    "GET /version": version,
    "POST /echo": echo,
    "POST /seed": seed,
    "GET /kv/get": kv_get,
    "POST /kv/put": kv_put,
    "GET /kv/list": kv_list,
    "GET /d1/get": d1_get,
    "POST /d1/insert": d1_insert,
    "POST /d1/batch": d1_batch,
    "GET /d1/scan": d1_scan,
    "GET /d1/count": d1_count,
    "POST /queue/send": queue_send,
    "GET /queue/consumed": queue_consumed,
    "POST /wf/start": wf_start,
    "GET /wf/done": wf_done,
    "GET /wf/status": wf_status,
    "GET /wf/steps": wf_steps,
}
