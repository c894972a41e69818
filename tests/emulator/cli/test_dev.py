"""The address that `flarebed dev` listens on, and its options."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from flarebed.bindings.errors import UserError
from flarebed.emulator.cli import dev
from flarebed.emulator.cli.commands import _variables
from flarebed.emulator.supervisor.running import Announcement, Running


@pytest.fixture
def taken() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


def test_a_named_port_that_is_taken_is_an_error(taken: socket.socket) -> None:
    port = taken.getsockname()[1]
    with taken, pytest.raises(UserError) as error:
        dev.listen("localhost", port)
    # The text of wrangler 4.164.
    assert error.value.message == (
        f"Address already in use (localhost:{port}). Please check that you are not already running a server on this "
        "address or specify a different port with --port."
    )


def test_without_a_named_port_the_next_free_one_is_taken(taken: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    port = taken.getsockname()[1]
    monkeypatch.setattr(dev, "DEFAULT_PORT", port)
    with taken, dev.listen("localhost", None) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"
        assert port < listener.getsockname()[1] or listener.getsockname()[1] != port


def test_port_0_is_any_port() -> None:
    with dev.listen("127.0.0.1", 0) as listener:
        assert listener.getsockname()[1] > 0


def test_an_address_that_is_none_is_an_error() -> None:
    with pytest.raises(UserError, match='Unknown address "no such host"'):
        dev.listen("no such host", 0)


def test_variables_are_key_and_value() -> None:
    assert _variables(["A:1", "URL:http://a:1/b", "E:"]) == {"A": "1", "URL": "http://a:1/b", "E": ""}
    with pytest.raises(UserError, match='"--var nonsense" is not KEY:VALUE'):
        _variables(["nonsense"])


def test_who_has_the_state_already_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dev.tell_of_another(tmp_path)
    first = Announcement(tmp_path, Running("http://localhost:8787", "127.0.0.1", 8787, 42, virtual=False))
    first.make()
    dev.tell_of_another(tmp_path)
    first.end()
    dev.tell_of_another(tmp_path)
    assert capsys.readouterr().err == (
        "▲ [WARNING] The `flarebed dev` at http://localhost:8787 (pid 42) has this state open too. Timers, consumers "
        "and instances of one Worker run in the one that came first, and here when that has ended.\n"
    )
