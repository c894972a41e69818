"""`flarebed check workflow`: what it says, to people and in JSON, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flarebed.bindings.errors import UserError
from flarebed.emulator.checking.check import check
from flarebed.emulator.cli.commands import app
from flarebed.emulator.config.load import load
from flarebed.emulator.testing.session import Session
from tests.emulator.checking.project import HEAD, written

SOUND = 'return await do("a", lambda: params.get("sku"))'
WARNED = 'await do("a", lambda: self.env.JOBS.send({"mail": "welcome"}))'
BROKEN = 'await self.env.KV.put("a", "1")'
FAILS = 'raise ValueError(params["no"])'

LINE = HEAD.count("\n") + 1

REPORT = f"""\
flow (Flow): 1 step, complete

error[side-effect-outside-step] env.KV.put('a') is done outside of a step: it is done again whenever the instance is \
resumed.
  --> src/entry.py:{LINE}
  {LINE:>4} |         await self.env.KV.put("a", "1")
  Fix: Do it in a step.do, whose result is recorded.

✘ 1 error, 0 warnings
"""


class Command:
    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self.folder, self._capture, self._patch = folder, capture, patch

    def __call__(self, body: str, *arguments: str) -> tuple[int, str, str]:
        if not (self.folder / "src").exists():
            written(self.folder, body)
        self._patch.chdir(self.folder)
        with pytest.raises(SystemExit) as ended:
            app(["check", "workflow", *arguments], standalone_mode=False)
        return (int(ended.value.code or 0), *self._capture.readouterr())


@pytest.fixture
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    return Command(tmp_path, capsys, monkeypatch)


def test_a_finding_shows_its_line_and_what_to_do(command: Command) -> None:
    assert command(f"{BROKEN}\nawait do('a', lambda: 1)") == (1, REPORT, "")


def test_a_clean_workflow(command: Command) -> None:
    text = "flow (Flow): 1 step, complete\n\n✅ No rule is broken.\n"
    assert command(SOUND, "flow", "--params", '{"sku": "lamp"}') == (0, text, "")


def test_json(command: Command) -> None:
    code, out, _ = command(BROKEN, "--json")
    assert code == 1
    assert json.loads(out) == {
        "version": 1,
        "workflows": [
            {
                "name": "flow",
                "class_name": "Flow",
                "status": "complete",
                "error": None,
                "steps": [],
                "notes": [],
                "findings": [
                    {
                        "rule": "side-effect-outside-step",
                        "severity": "error",
                        "file": "src/entry.py",
                        "line": LINE,
                        "end_line": LINE,
                        "source": '        await self.env.KV.put("a", "1")',
                        "step": None,
                        "message": "env.KV.put('a') is done outside of a step: it is done again whenever the instance "
                        "is resumed.",
                        "advice": "Do it in a step.do, whose result is recorded.",
                        "details": [],
                        "notes": [],
                    }
                ],
            }
        ],
    }


@pytest.mark.parametrize(("body", "arguments", "code"), [
    (WARNED, [], 0),
    (WARNED, ["--strict"], 1),
    (FAILS, [], 1),
    (FAILS, ["--may-fail", "--strict"], 0),
    (f"{BROKEN}  # flarebed: ignore[side-effect-outside-step]", ["--strict"], 0),
    (f"{BROKEN}  # flarebed: ignore[large-output]", [], 1),
    (f"{BROKEN}  # flarebed: ignore", [], 0),
])  # fmt: skip
def test_the_exit_code(command: Command, body: str, arguments: list[str], code: int) -> None:
    assert command(body, *arguments)[0] == code


def test_a_run_that_fails_says_so(command: Command) -> None:
    _, out, _ = command(FAILS)
    told = (
        "flow (Flow): 0 steps, errored\n  It ended with KeyError: 'no'; what would come after that was not checked.\n\n"
    )
    assert out == (
        f"{told}✘ Not checked to the end: flow. Lead it there with params, events and answers; "
        "if it is to end so, say that it may fail.\n"
    )
    assert command(FAILS, "--may-fail")[1] == f"{told}✅ No rule is broken.\n"


def test_a_run_without_end_is_given_up(command: Command) -> None:
    config = '{"retries": {"limit": 1_000_000, "delay": "1 hour", "backoff": "constant"}}'
    code, out, _ = command(f'await do("a", lambda: 1 / 0, config={config})', "--strict")
    assert (code, out) == (
        1,
        "flow (Flow): 1 step, stopped\n"
        "  note: It would not come to its end (it retries or waits for ever), and was given up there.\n\n"
        "✘ Not checked to the end: flow. Lead it there with params, events and answers; "
        "if it is to end so, say that it may fail.\n",
    )


def test_a_worker_that_cannot_be_loaded(command: Command) -> None:
    code, out, err = command("if:")
    assert (code, out) == (1, "")
    assert err.startswith("✘ [ERROR] The Worker can't be loaded.\nTraceback (most recent call last):\n")
    assert err.endswith("SyntaxError: invalid syntax\n  wrangler.jsonc\n")


def test_a_migration_that_fails(command: Command) -> None:
    written(command.folder, SOUND)
    (command.folder / "migrations" / "0002.sql").write_text("CREATE TABLE orders (id)")
    assert command(SOUND) == (
        1,
        "",
        "✘ [ERROR] A migration of DB can't be applied: table orders already exists at offset 13: SQLITE_ERROR\n"
        "  ./migrations\n",
    )


def test_events_and_answers(command: Command) -> None:
    body = """\
        sent = (await step.wait_for_event("w", "go"))["payload"]
        async def ask():
            return await (await fetch("https://api.example/x?y=1")).json()
        assert [sent, await do("ask", ask)] == [{"n": 1}, {"ok": True}]
    """
    arguments = ["--event", 'go={"n": 1}', "--answer", 'https://api.example/x?y=1={"ok": true}', "--strict"]
    assert command(body, *arguments)[0] == 0


def test_a_recorded_instance(command: Command) -> None:
    body = """\
        sent = (await step.wait_for_event("w", "go"))["payload"]
        await do("a", lambda: 1)
        assert [params, sent] == [{"sku": "desk"}, 5]
    """
    config = load(None, cwd=written(command.folder, body), env="", environ={})
    session = Session(config, command.folder / ".wrangler" / "state", lambda level, text: None)
    flow = session.app.resources["workflows"].bindings()["FLOW"]
    instance = session.run(flow.create({"id": "one", "params": {"sku": "desk"}}))  # type: ignore[attr-defined]
    session.run(instance.sendEvent({"type": "go", "payload": 5}))
    session.settle()
    session.close()
    assert command(body, "flow", "--instance", "one", "--strict")[0] == 0
    code, _, err = command(body, "flow", "--instance", "two")
    assert (code, err.splitlines()[0].partition(" in /")[0]) == (
        1, '✘ [ERROR] The workflow "flow" has no instance "two"',
    )  # fmt: skip


def test_local_state_is_copied_when_asked(command: Command) -> None:
    body = 'assert await do("a", lambda: self.env.KV.get("seed")) == "here"'
    state = command.folder / "kept"
    config = load(None, cwd=written(command.folder, body), env="", environ={})
    session = Session(config, state, lambda level, text: None)
    session.run(session.app.resources["kv"].bindings()["KV"].put("seed", "here"))  # type: ignore[attr-defined]
    session.close()
    assert command(body, "--with-state", "--persist-to", "kept", "--strict")[0] == 0
    assert command(body, "--strict")[0] == 1


@pytest.mark.parametrize(("arguments", "text"), [
    (["--params", "{"], "--params is not JSON: "),
    (["--params", "{}", "--params-file", "x.json"], "--params and --params-file can't be given both.\n"),
    (["--params-file", "x.json"], 'Unable to read "x.json": No such file or directory.\n'),
    (["--event", "go"], '"go" is not TYPE=JSON.\n  Say --event TYPE=JSON.\n'),
    (["other"], 'There is no workflow "other".\n  wrangler.jsonc\n  It has: flow\n'),
])  # fmt: skip
def test_mistakes_are_told(command: Command, arguments: list[str], text: str) -> None:
    code, out, err = command(SOUND, *arguments)
    assert (code, out) == (1, "")
    assert err.startswith(f"✘ [ERROR] {text}")


def test_a_worker_in_typescript_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "index.ts").touch()
    (tmp_path / "wrangler.json").write_text('{"name": "shop", "main": "index.ts", "compatibility_date": "2026-11-01"}')
    with pytest.raises(UserError) as refused:
        check(load(None, cwd=tmp_path, env="", environ={}))
    assert (refused.value.message, refused.value.place) == (
        'The rules are checked in workflows that are written in Python, and "shop" is not.',
        "wrangler.json",
    )
