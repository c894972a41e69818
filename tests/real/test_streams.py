"""Bodies that do not fit into memory, clients that are slow or gone, WebSockets."""

from __future__ import annotations

import asyncio
import http.client
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import websockets

from tests.real.command import Running, dev, pause, project

pytestmark = pytest.mark.real

MEGABYTE = bytes(range(256)) * 4096
SIZE_MB = 100

ENTRY = """\
import asyncio
from urllib.parse import urlparse

import js
from pyodide.ffi import create_proxy, to_js
from workers import Response, WorkerEntrypoint

CHUNK = bytes(range(256)) * 256


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        path = urlparse(request.url).path
        return await getattr(self, path[1:])(request)

    async def count(self, request):
        reader = request.body.getReader()
        total = check = 0
        while not (part := await reader.read()).done:
            chunk = part.value.to_bytes()
            total += len(chunk)
            check = (check + sum(chunk[:16])) & 0xFFFFFFFF
        return Response(str(total))

    async def pour(self, request):
        left = 1600

        async def pull(controller):
            nonlocal left
            if not left:
                controller.close()
            else:
                left -= 1
                controller.enqueue(to_js(CHUNK))

        def cancel(_reason):
            print(f"cancelled with {left} left")

        source = to_js({"pull": pull, "cancel": cancel}, dict_converter=js.Object.fromEntries)
        return Response(js.ReadableStream.new(source))

    async def back(self, request):
        return Response(request.body)

    async def patient(self, request):
        try:
            await asyncio.sleep(30)
        finally:
            print("patient no more")

    async def echo(self, request):
        client, server = js.WebSocketPair.new().object_values()
        server.accept()
        server.addEventListener("message", create_proxy(lambda event: self.on_message(server, event.data)))
        server.addEventListener("close", create_proxy(lambda event: print(f"closed {event.code} {event.reason}")))
        return js.Response.new(None, status=101, webSocket=client)

    def on_message(self, server, data):
        if data == "bye":
            server.close(4001, "so long")
        else:
            server.send(data)

    async def method(self, request):
        return Response(request.method, headers={"x-method": request.method})
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with dev(project(tmp_path_factory.mktemp("streams"), ENTRY)) as running:
        yield running


def memory_mb(running: Running) -> float:
    """What all processes of the command take together, shared pages counted once."""
    total_kb = 0
    for pid in running.processes():
        rollup = Path(f"/proc/{pid}/smaps_rollup")
        if not rollup.exists():
            pytest.skip("only Linux tells how much memory is shared")
        total_kb += int(re.findall(r"^Pss:\s+(\d+) kB", rollup.read_text(), re.MULTILINE)[0])
    return total_kb / 1024


def connect(running: Running) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", running.port, timeout=20)


def test_a_large_request_body_in_little_memory(running: Running) -> None:
    connection = connect(running)
    connection.request("POST", "/count", (MEGABYTE for _ in range(SIZE_MB)), {"content-length": str(SIZE_MB << 20)})
    assert connection.getresponse().read() == b"%d" % (SIZE_MB << 20)
    connection.close()
    assert memory_mb(running) < 150


def test_a_large_response_body_in_little_memory_whatever_the_client_reads(running: Running) -> None:
    connection = connect(running)
    connection.request("GET", "/pour")
    response = connection.getresponse()
    pause(0.3)  # the Worker could make all of it now
    assert memory_mb(running) < 150
    total = 0
    while chunk := response.read(1 << 20):
        assert chunk[:256] == MEGABYTE[:256]
        total += len(chunk)
    connection.close()
    assert total == SIZE_MB << 20
    assert memory_mb(running) < 150


def test_a_large_body_through_the_worker_and_back(running: Running) -> None:
    connection = connect(running)
    connection.putrequest("POST", "/back")
    connection.putheader("transfer-encoding", "chunked")
    connection.endheaders()
    connection.send(b"5\r\nhello\r\n")
    response = connection.getresponse()
    assert response.read(5) == b"hello"  # before the request is over
    connection.send(b"7\r\n, world\r\n0\r\n\r\n")
    assert response.read() == b", world"
    connection.close()


def test_a_client_that_goes_away_cancels_the_stream(running: Running) -> None:
    connection = connect(running)
    connection.request("GET", "/pour")
    assert len(connection.getresponse().read(1 << 20)) == 1 << 20
    connection.close()
    assert int(running.wait_for(r"cancelled with (\d+) left")[1]) > 1000


def test_a_client_that_goes_away_cancels_the_request(running: Running) -> None:
    connection = connect(running)
    connection.request("GET", "/patient")
    pause(0.1)
    connection.close()
    running.wait_for("patient no more")


def test_methods(running: Running) -> None:
    for method in ("HEAD", "OPTIONS", "DELETE", "PATCH"):
        connection = connect(running)
        connection.request(method, "/method")
        response = connection.getresponse()
        body = b"" if method == "HEAD" else method.encode()
        assert (response.status, response.headers["x-method"], response.read()) == (200, method, body)
        assert response.headers["content-length"] == str(len(method))
        connection.close()


def test_a_websocket(running: Running) -> None:
    async def scenario() -> None:
        url = f"ws://127.0.0.1:{running.port}/echo"
        async with websockets.connect(url) as socket:
            for message in ("häi", b"\x00\xff", "x" * 100_000):
                await socket.send(message)
                assert await socket.recv() == message
            await socket.send("bye")
            with pytest.raises(websockets.ConnectionClosed):
                await socket.recv()
            assert (socket.close_code, socket.close_reason) == (4001, "so long")
        async with websockets.connect(url) as socket:
            await socket.close(4100, "enough")
        await asyncio.to_thread(running.wait_for, "closed 4100 enough")
        socket = await websockets.connect(url)
        socket.transport.abort()
        await asyncio.to_thread(running.wait_for, "closed 1006 ")

    asyncio.run(scenario())


def test_a_request_that_is_no_http(running: Running) -> None:
    with socket.create_connection(("127.0.0.1", running.port), timeout=20) as client:
        client.sendall(b"what is this\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 400 ")
    assert running.get("/method") == "GET"
