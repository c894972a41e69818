"""What becomes of an event whose handler ends in an unusual way."""

from __future__ import annotations

from pathlib import Path

from flarebed.emulator.config.load import load
from flarebed.emulator.testing.session import Session

ENTRY = """\
import asyncio
from workers import Response, WorkerEntrypoint, WorkflowEntrypoint

class Flow(WorkflowEntrypoint):
    async def run(self, event, step):
        given_up = asyncio.create_task(asyncio.sleep(60))
        given_up.cancel()
        await given_up

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response("ok")
"""
CONFIG = """\
{
  "name": "tiny", "main": "entry.py", "compatibility_date": "2026-11-01", "compatibility_flags": ["python_workers"],
  "workflows": [{"name": "flow", "binding": "FLOW", "class_name": "Flow"}]
}
"""


def test_a_run_that_is_cancelled_by_what_it_does_itself_is_an_error(tmp_path: Path) -> None:
    """Not one that the engine has stopped, of which nothing would be recorded."""
    (tmp_path / "entry.py").write_text(ENTRY)
    (tmp_path / "wrangler.jsonc").write_text(CONFIG)
    session = Session(load(None, cwd=tmp_path, env="", environ={}), tmp_path / "state", lambda level, text: None)
    flow = session.app.resources["workflows"].bindings()["FLOW"]
    instance = session.run(flow.create({"id": "i"}))
    session.settle()
    shown = session.run(instance.status())
    session.close()
    assert shown["status"] == "errored"
    assert shown["error"]["message"].splitlines()[-1] == "asyncio.exceptions.CancelledError"
