"""Each rule: what breaks it is found where it stands, and what only looks like it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emulator.checking.project import findings

STEP = 'await do("a", lambda: 1)'
WORK = 'await do("a", work)'

OUTSIDE, NAME, SLEEP, AGAIN = (
    "side-effect-outside-step", "step-name-not-deterministic", "sleep-recomputed", "step-not-idempotent",
)  # fmt: skip
STATE, EVENT, SIZE, MANY, BRANCH = (
    "state-between-steps", "event-mutated", "large-output", "many-effects-in-one-step", "branch-not-recorded",
)  # fmt: skip

BROKEN = [
    # The last line of each is what is to be found, unless a line says so.
    (OUTSIDE, 'await self.env.KV.put("a", "1")'),
    (OUTSIDE, 'await self.env.DB.prepare("INSERT INTO log VALUES (?)").bind("a").run()'),
    (OUTSIDE, 'await self.env.DB.batch([self.env.DB.prepare("DELETE FROM log")])'),
    (OUTSIDE, 'await self.env.JOBS.send({"id": params["id"]})'),
    (OUTSIDE, 'await self.env.FLOW.create(id="another")'),
    (OUTSIDE, 'await fetch("https://example.com/")'),
    (AGAIN, 'await do("a", lambda: self.env.DB.prepare("INSERT INTO log VALUES (\'x\')").run())'),
    (AGAIN, 'await do("a", lambda: self.env.DB.prepare("INSERT INTO orders (id) VALUES (\'x\')").run())'),
    (AGAIN, 'await do("a", lambda: self.env.DB.prepare("UPDATE stock SET available = available - 1").run())'),
    (AGAIN, 'await do("a", lambda: self.env.KV.put(f"sent/{uuid.uuid4()}", "1"))'),
    (AGAIN, 'await do("a", lambda: self.env.KV.put(f"sent/{time.time()}", "1"))'),
    (AGAIN, f'async def work():\n    await fetch("https://x.example/", method="POST")  #!\n\n{WORK}'),
    (AGAIN, f'async def work():\n    await fetch(f"https://x.example/{{time.time()}}", method="PUT")  #!\n\n{WORK}'),
    (AGAIN, f"async def work():\n    await self.env.FLOW.create(params=params)  #!\n\n{WORK}"),
    (
        MANY,
        'async def work():\n    await self.env.KV.put("a", "1")\n    await self.env.JOBS.send({"id": params["id"]})\n\n'
        '@step.do("both")  #!\nasync def both():\n    await work()\n\nawait both()',
    ),
    (AGAIN, 'await do("a", lambda: self.env.JOBS.send({"id": secrets.token_hex(8)}))'),
    (AGAIN, 'await do("a", lambda: self.env.JOBS.send({"mail": "welcome"}))'),
    (STATE, 'token = uuid.uuid4().hex  #!\nawait do("a", lambda: token)'),
    (STATE, 'at = time.time()  #!\nawait step.sleep("s", "1 hour")\nawait do("a", lambda: at)'),
    (STATE, 'total = []\nawait do("a", lambda: total.append(1))  #!\nawait do("b", lambda: len(total))'),
    (STATE, 'await do("a", lambda: SEEN.update(a=1))  #!\nawait do("b", lambda: SEEN.get("a"))'),
    (STATE, 'await do("a", lambda: setattr(self, "a", 1))  #!\nawait do("b", lambda: getattr(self, "a", 0))'),
    (STATE, 'global RUNS\nRUNS += 1  #!\nif RUNS == 1:\n    await do("first", lambda: 1)'),
    (EVENT, 'await do("a", lambda: params.update(a=1))'),
    (EVENT, 'params["a"] = 1'),
    (EVENT, 'event.payload = {"a": 1}'),
    (SIZE, 'await do("a", lambda: "x" * 131_072)'),
    (BRANCH, f"if random.random() < 0.001:  #!\n    {STEP}"),
    (BRANCH, f"if datetime.datetime.now().weekday() > 4:  #!\n    {STEP}"),
    (BRANCH, f"if datetime.date.today().month == 1:  #!\n    {STEP}"),
    (BRANCH, f'if await self.env.KV.get("flag") == "on":  #!\n    {STEP}'),
    (BRANCH, f"if random.choice([True, False]):  #!\n    {STEP}\nelse:\n    await do('b', lambda: 1)"),
    (
        BRANCH,
        'found = await self.env.DB.prepare("SELECT available FROM stock").first()\n'
        f'if found["available"] > 5:  #!\n    {STEP}',
    ),
    (SLEEP, 'await step.sleep("s", random.randint(1000, 2000))'),
]


@pytest.mark.parametrize(("rule", "body"), BROKEN)
def test_what_breaks_a_rule_is_found(tmp_path: Path, rule: str, body: str) -> None:
    lines = body.splitlines()
    wanted = next((line for line in lines if line.endswith("#!")), lines[-1]).strip()
    found = findings(tmp_path, body)
    if rule == SIZE:  # its place is the `return` in `do`
        assert found == [(rule, 'return await result if hasattr(result, "__await__") else result')]
    else:
        assert found == [(rule, wanted)]


NAMES = [
    "uuid.uuid4()", "uuid.uuid1()", "random.Random().random()", "random.SystemRandom().random()", 
    "random.sample('abc', 2)",
    "random.gauss(0, 1)", "js.Math.random()", "js.crypto.randomUUID()", "js.Date.now()", "datetime.datetime.now()",
    "time.time()", "datetime.date.today()", "random.random()", "secrets.token_hex()",
]  # fmt: skip


@pytest.mark.parametrize("value", NAMES)
def test_a_name_of_the_moment_is_found(tmp_path: Path, value: str) -> None:
    body = f'@step.do(f"a {{{value}}}")\nasync def a():\n    return 1\n\nawait a()'
    assert findings(tmp_path, body) == [(NAME, f'@step.do(f"a {{{value}}}")')]


SOUND = [
    # Steps
    STEP,
    'for sku in ("a", "b"):\n    await do(f"ship {sku}", lambda: 1)',
    'await do("a", lambda: self.env.DB.prepare("INSERT OR IGNORE INTO orders (id) VALUES (\'x\')").run())',
    'await do("a", lambda: self.env.DB.prepare("INSERT INTO orders (id) VALUES (\'x\') ON CONFLICT DO NOTHING").run())',
    'await do("a", lambda: self.env.DB.prepare("UPDATE stock SET available = 3").run())',
    'await do("a", lambda: self.env.KV.put("at", str(time.time())))',
    'await do("a", lambda: self.env.KV.put("token", uuid.uuid4().hex))',
    'async def put():\n    await fetch("https://x.example/1", method="PUT", body="{}")\n\nawait do("a", put)',
    'async def ask():\n    await fetch("https://x.example/1")\n\nawait do("a", ask)',
    'key = {"Idempotency-Key": params["id"]}\nasync def post():\n'
    '    await fetch("https://x.example/", method="POST", headers=key)\n\nawait do("a", post)',
    'await do("a", lambda: self.env.JOBS.send({"order": params["id"]}))',
    'await do("a", lambda: self.env.JOBS.send({"by": event["instanceId"]}))',
    'async def outer():\n    return await do("inner", lambda: self.env.KV.put("a", "1"))\n\nawait do("outer", outer)',
    # Values made in steps
    'token = await do("token", lambda: uuid.uuid4().hex)\nawait do(f"use {token}", lambda: token)',
    'now = await do("now", lambda: time.time())\nif now > 5:\n    await do("a", lambda: 1)',
    'if await do("dice", lambda: random.random()) < 0.5:\n    await do("low", lambda: 1)',
    # Side by side
    'import asyncio\nawait asyncio.gather(*(do(name, lambda: self.env.KV.put("a", "1")) for name in "abc"))',
    # What is done outside of steps and has no effect
    'print(time.time(), random.random())\nawait do("a", lambda: 1)',
    'await self.env.KV.get("unused")\nawait do("a", lambda: 1)',
    'self.names = ["a", "b"]\nfor name in self.names:\n    await do(name, lambda: 1)',
    'changed = {**params, "a": 1}\nawait do("a", lambda: changed)',
    'changed = dict(params)\nchanged["a"] = 1\nawait do("a", lambda: changed)',
    'SEEN.setdefault("client", object())\nawait do("a", lambda: 1 if SEEN["client"] else 0)',
    'await do("a", lambda: "x" * 131_000)',
    'await do("a", lambda: 1)\nraise_if = time.time() < 0\nif raise_if:\n    raise ValueError',
]


@pytest.mark.parametrize("body", SOUND)
def test_what_is_sound_is_not_found(tmp_path: Path, body: str) -> None:
    assert findings(tmp_path, body) == []
