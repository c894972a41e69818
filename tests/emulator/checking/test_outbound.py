"""What answers a checked workflow's requests."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from flarebed.emulator.checking import outbound
from flarebed.emulator.checking.outbound import Outbound

URL = "https://api.example/a?b=1"


def ask(made: Outbound, method: str = "GET", url: str = URL) -> tuple[int, str]:
    async def asked() -> tuple[int, str]:
        async with made.client() as client:
            response = await client.request(method, url)
            return response.status_code, response.text

    return asyncio.run(asked())


def test_a_stub_answers_with_an_empty_object() -> None:
    assert ask(Outbound()) == (200, "{}")


def test_an_answer_is_found_by_the_beginning_of_the_address() -> None:
    made = Outbound("refuse", {"https://api.example/a": {"x": 1}})
    assert ask(made) == (200, '{"x": 1}')
    with pytest.raises(httpx.ConnectError):
        ask(made, url="https://api.example/b")


def test_a_function_answers() -> None:
    assert ask(Outbound(handler=lambda request: httpx.Response(201, text=request.method)), "PUT") == (201, "PUT")


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    requests: list[str] = []

    async def send(request: httpx.Request) -> tuple[int, dict[str, str], bytes]:
        requests.append(request.method)
        return 200, {}, f"answer {len(requests)}".encode()

    monkeypatch.setattr(outbound, "_sent", send)
    return requests


def test_what_is_real_is_sent_in_the_first_trial_only(sent: list[str]) -> None:
    made = Outbound("real")
    made.rewind()
    assert [ask(made, "POST"), ask(made, "POST")] == [(200, "answer 1"), (200, "answer 2")]
    made.rewind()
    assert [ask(made, "POST") for _ in range(3)] == [(200, "answer 1"), (200, "answer 2"), (200, "answer 2")]
    assert ask(made, "DELETE") == (200, "{}")
    assert sent == ["POST", "POST"]
