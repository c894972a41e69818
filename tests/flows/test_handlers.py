"""Workers of other forms: FastAPI, handlers as functions of the module, cron."""

from __future__ import annotations

from pathlib import Path

from tests.served import ROOT, START_MS, served
from tests.support import run


def test_fastapi(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(ROOT / "fixtures" / "fastapi", tmp_path) as worker:
            assert (await worker.get("/")).json == {"message": "My env var"}
            assert (await worker.get("/notes/a")).json == {"detail": "no note a"}
            note = {"text": "hi", "tags": ["x"]}
            written = await worker.ask(
                "PUT", "/notes/a", '{"text": "hi", "tags": ["x"]}', content_type="application/json"
            )
            assert (written.status, written.json) == (201, note)
            assert (await worker.get("/notes/a")).json == note
            assert (await worker.ask("PUT", "/notes/a", "{}", content_type="application/json")).status == 422

    run(scenario())


def test_fastapi_gets_paths_and_sends_headers_and_bytes_as_they_are(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(ROOT / "fixtures" / "fastapi", tmp_path) as worker:
            assert (await worker.get("/paths/a%20b%2Fc?q=1%262")).json == {
                "path": "a b/c",
                "raw": "/paths/a%20b%2Fc",
                "query": {"q": "1&2"},
            }
            cookies = await worker.get("/cookies")
            assert cookies.header("set-cookie") == [
                "first=1; Path=/; SameSite=lax",
                "second=2; Path=/; SameSite=lax",
            ]
            assert (await worker.get("/bytes")).body == bytes(range(256)) * 100
            assert (await worker.get("/stream")).text == "line 0\nline 1\nline 2\n"

    run(scenario())


def test_handlers_that_are_functions(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(ROOT / "fixtures" / "legacy", tmp_path) as worker:
            assert (await worker.get("/")).text == "nothing yet"
            assert (await worker.post("/", "work")).status == 202
            await worker.advance(2)
            assert (await worker.get("/")).text == "message work"
            assert (await worker.get("/cdn-cgi/handler/scheduled?cron=0+3+*+*+*")).text == "ok"
            assert (await worker.get("/")).text == "cron 0 3 * * *"

    run(scenario())


def test_cron_by_hand(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(ROOT / "fixtures" / "cron", tmp_path) as worker:
            assert (await worker.get("/")).json == {}
            path = "/cdn-cgi/handler/scheduled?cron=*/15+*+*+*+*"
            assert (await worker.get(path)).text == "ok"
            assert (await worker.get(path + "&time=1700000000000&format=json")).json == {
                "outcome": "ok",
                "noRetry": False,
            }
            assert (await worker.get("/")).json == {"*/15 * * * *": 1700000000000}
            assert (await worker.get("/cdn-cgi/handler/scheduled?cron=0+6+*+*+MON-FRI")).text == "ok"
            assert (await worker.get("/")).json == {"*/15 * * * *": 1700000000000, "0 6 * * MON-FRI": START_MS}

    run(scenario())


def test_a_websocket_needs_a_request_for_one(tmp_path: Path) -> None:
    (tmp_path / "wrangler.jsonc").write_text(
        '{"name": "w", "main": "entry.py", "compatibility_date": "2026-11-01",'
        ' "compatibility_flags": ["python_workers"]}'
    )
    (tmp_path / "entry.py").write_text(
        "from js import WebSocketPair\n"
        "from workers import Response, WorkerEntrypoint\n"
        "class Default(WorkerEntrypoint):\n"
        "    async def fetch(self, request):\n"
        "        client, server = WebSocketPair.new().object_values()\n"
        "        server.accept()\n"
        "        return Response(None, status=101, web_socket=client)\n"
    )

    async def scenario() -> None:
        async with served(tmp_path, tmp_path / "state") as worker:
            answer = await worker.get("/")
            assert answer.status == 500
            assert answer.text.startswith(
                "TypeError: Worker tried to return a WebSocket in a response to a request which did not contain the "
                'header "Upgrade: websocket".'
            )

    run(scenario())
