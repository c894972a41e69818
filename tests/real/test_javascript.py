"""`flarebed dev` on JavaScript and TypeScript Workers: the onboarding, reloads, and the life and death of workerd."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import signal
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import websockets

from tests.real.command import ENVIRONMENT, ROOT, Running, dev, edit, flarebed, until

pytestmark = pytest.mark.real

FIXTURE = ROOT / "fixtures" / "onboarding-ts"
TENANT = {"tenantId": "t1", "requestedBy": "me"}
EXISTS = 'Error: WorkflowError: (instance.already_exists) Workflow instance with id "tenant-t1" already exists\n    at '
COMPLETE = {"ok": True, "tenantId": "t1", "tenant": {"id": "t1"}}
UNLIMITED = {"limit": 3, "delay": "5 seconds", "backoff": "exponential"}

WORKER = """\
import { NAME } from "./helper";

const VERSION: string = "v0";

export default {
  async fetch(request: Request, env: any): Promise<Response> {
    switch (new URL(request.url).pathname) {
      case "/wait":
        console.log("waiting");
        await new Promise((resolve) => setTimeout(resolve, 600));
        break;
      case "/hang":
        console.log("hanging");
        await new Promise(() => setTimeout(() => {}, 60000));
        break;
      case "/echo": {
        const { 0: client, 1: server } = new WebSocketPair();
        server.accept();
        server.addEventListener("message", ({ data }) => server.send(data));
        server.addEventListener("close", ({ code }) => console.log(`closed ${code}`));
        return new Response(null, { status: 101, webSocket: client });
      }
    }
    return new Response(`${VERSION} ${NAME} ${env.GREETING} ${env.SECRET}`);
  },
};
"""


def project(folder: Path) -> Path:
    (folder / "src").mkdir()
    (folder / "src" / "index.ts").write_text(WORKER)
    (folder / "src" / "helper.ts").write_text('export const NAME: string = "h0";\n')
    (folder / ".dev.vars").write_text("SECRET=s0\n")
    config = {"name": "tiny", "main": "src/index.ts", "compatibility_date": "2026-11-01", "vars": {"GREETING": "hello"}}
    (folder / "wrangler.jsonc").write_text(json.dumps(config))
    return folder


def said(folder: Path, *arguments: str) -> Any:
    ended = flarebed(folder, *arguments)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout) if "--json" in arguments else ended.stdout


# The onboarding


def test_the_fixture_is_the_worker_as_it_is() -> None:
    code = (FIXTURE / "src" / "index.ts").read_bytes()
    assert hashlib.sha256(code).hexdigest() == "7a113ef9ced99442d7013a45aaca240c61723ac4b6d25054e12a59f66e62db17"


def steps(folder: Path) -> tuple[dict[str, Any], list[tuple[Any, ...]]]:
    instance = said(folder, "workflows", "instances", "describe", "onboarding", "tenant-t1", "--json")
    found = [(step["name"], step["type"], step.get("output")) for step in instance["steps"]]
    return instance, found


def test_the_onboarding(tmp_path: Path) -> None:
    folder = shutil.copytree(FIXTURE, tmp_path / "onboarding")
    said(folder, "d1", "migrations", "apply", "tenants")
    with dev(folder, "--virtual-time") as running:
        assert running.ask("POST", "/", TENANT) == (200, '{"id":"tenant-t1"}')
        until(lambda: len(steps(folder)[1]) == 3)
        rows = said(folder, "d1", "execute", "tenants", "--command", "SELECT id, requested_by FROM tenants", "--json")
        assert rows[0]["results"] == [{"id": "t1", "requested_by": "me"}]
        waiting = said(folder, "queues", "peek", "jobs", "--json")
        assert [message["body"] for message in waiting] == [{"tenantId": "t1"}]
        instance, found = steps(folder)
        assert instance["status"] == "waiting"
        assert found == [
            ("create tenant record-1", "step", {"id": "t1"}),
            ("enqueue provisioning-1", "step", None),
            ("wait before verification-1", "sleep", None),
        ]
        assert instance["steps"][0]["config"]["retries"] == UNLIMITED
        status, text = running.ask("POST", "/", TENANT)
        assert (status, text[: len(EXISTS)]) == (500, EXISTS)
        assert f"(file://{folder}/src/index.ts:37:" in text.splitlines()[-1]
        running.kill()
    with dev(folder, "--virtual-time"):
        assert steps(folder)[0]["status"] in ("waiting", "running")
        said(folder, "clock", "advance", "31 seconds")
        instance, found = steps(folder)
        assert (instance["status"], instance["output"], instance["step_count"]) == ("complete", COMPLETE, 3)
        assert len(said(folder, "queues", "peek", "jobs", "--json")) == 1


# Reloads


def test_reloads(tmp_path: Path) -> None:
    folder = project(tmp_path)
    with dev(folder) as running:
        assert running.get() == "v0 h0 hello s0"
        edit(folder / "src" / "index.ts", '"v0"', '"v1"')
        assert running.get() == "v1 h0 hello s0"
        edit(folder / "src" / "helper.ts", "h0", "h1")
        assert running.get() == "v1 h1 hello s0"
        edit(folder / ".dev.vars", "s0", "s1")
        assert running.get() == "v1 h1 hello s1"
        edit(folder / "wrangler.jsonc", "hello", "bye")
        assert running.get() == "v1 h1 bye s1"
        edit(folder / "src" / "index.ts", 'from "./helper"', 'from "./more"')
        assert running.get() == "v1 h1 bye s1"
        running.wait_for(r'Could not resolve "./more"')
        running.wait_for("The last version that worked is still being served")
        (folder / "src" / "more.ts").write_text('export { NAME } from "./helper";')
        running.wait_for("Reloaded")
        edit(folder / "src" / "index.ts", "const VERSION", 'throw new Error("at the top");\nconst VERSION')
        assert running.get() == "v1 h1 bye s1"
        running.wait_for(r"Uncaught Error: at the top")
        running.wait_for(rf"at file://{folder}/src/index.ts:3:7")
        running.wait_for("The last version that worked is still being served")


def test_an_old_request_ends_on_the_old_code(tmp_path: Path) -> None:
    folder = project(tmp_path)
    with dev(folder) as running:
        with closing(running.begin("/wait")) as old:
            running.wait_for("waiting")
            edit(folder / "src" / "index.ts", '"v0"', '"v1"')
            assert running.get() == "v1 h0 hello s0"
            assert old.getresponse().read().decode() == "v0 h0 hello s0"
        until(lambda: len(workerds(running)) == 1)


def test_a_websocket_does_not_outlive_a_reload(tmp_path: Path) -> None:
    folder = project(tmp_path)

    async def talk(running: Running) -> tuple[object, int | None]:
        async with websockets.connect(f"ws://127.0.0.1:{running.port}/echo") as socket:
            await socket.send("hello")
            answer = await socket.recv()
            edit(folder / "src" / "index.ts", '"v0"', '"v1"')
            await socket.wait_closed()
            return answer, socket.close_code

    with dev(folder) as running:
        assert asyncio.run(talk(running)) == ("hello", 1012)
        running.wait_for("closed 1012")


def test_a_broken_worker_is_mended(tmp_path: Path) -> None:
    folder = project(tmp_path)
    edit(folder / "src" / "index.ts", "export default {", "export default {{")
    with dev(folder) as running:
        status, text = running.ask("GET", "/")
        assert status == 500
        assert "src/index.ts:5:" in text
        assert "Traceback" not in text
        edit(folder / "src" / "index.ts", "export default {{", "export default {")
        assert running.get() == "v0 h0 hello s0"


# Life and death


def workerds(running: Running) -> list[int]:
    """The command's processes that are workerd itself."""
    names = subprocess.run(["ps", "-A", "-o", "pid=,comm="], capture_output=True, text=True, check=True).stdout
    found = {int(row.split()[0]) for row in names.splitlines() if row.endswith("workerd")}
    return [pid for pid in running.processes() if pid in found]


def folders(running: Running) -> list[Path]:
    """Where those have their sockets."""
    return [Path(os.readlink(f"/proc/{pid}/cwd")) for pid in workerds(running)]


def gone(pids: list[int]) -> bool:
    return not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_workerd_is_killed(tmp_path: Path) -> None:
    with dev(project(tmp_path)) as running:
        with closing(running.begin("/hang")) as hanging:
            running.wait_for("hanging")
            (pid,) = workerds(running)
            os.kill(pid, signal.SIGKILL)
            lost = hanging.getresponse()
            assert (lost.status, lost.read()) == (500, b"Error: Network connection lost.")
        running.wait_for("workerd, which runs the Worker, was ended by SIGKILL and is being restarted.")
        assert running.get() == "v0 h0 hello s0"


@pytest.mark.parametrize("whom", ["command", "fork server", "runtime", "group", "interrupt", "terminal"])
@pytest.mark.skipif(not Path("/proc").exists(), reason="finds workerd's folder in /proc")
def test_workerd_does_not_outlive_us(tmp_path: Path, whom: str) -> None:
    with dev(project(tmp_path)) as running:
        assert running.get() == "v0 h0 hello s0"
        pids, (folder,) = workerds(running), folders(running)
        assert folder.is_dir()
        processes = running.processes()
        match whom:
            case "command":
                running.process.kill()
            case "fork server" | "runtime":
                os.kill(processes[1 if whom == "fork server" else 2], signal.SIGKILL)
            case "group":
                for pid in processes[:3]:
                    os.kill(pid, signal.SIGKILL)
            case "interrupt":
                running.process.send_signal(signal.SIGINT)
            case "terminal":
                running.process.send_signal(signal.SIGHUP)
        until(lambda: gone(pids))
        until(lambda: not folder.exists())


def test_two_on_one_machine_with_a_long_temporary_folder_and_no_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long, home = tmp_path / ("long" * 30), tmp_path / "home"
    long.mkdir()
    home.mkdir(mode=0o500)
    monkeypatch.setitem(ENVIRONMENT, "TMPDIR", str(long))
    monkeypatch.setitem(ENVIRONMENT, "HOME", str(home))
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        project(tmp_path / name)
    with dev(tmp_path / "one") as one, dev(tmp_path / "two") as two:
        edit(tmp_path / "two" / "src" / "index.ts", '"v0"', '"v1"')
        assert two.get() == "v1 h0 hello s0"
        assert one.get() == "v0 h0 hello s0"
