"""Frames over a socket pair."""

from __future__ import annotations

import asyncio
import os
import socket

import pytest

from flarebed.emulator.supervisor.messages import Channel, Decoder, Message, receive, send
from tests.support import run


def test_frames_are_found_in_any_cutting() -> None:
    data = Message({"is": "a"}, b"\x00payload").encode() + Message({"do": "b", "n": [1, "☃"]}).encode()
    for size in (1, 7, len(data)):
        decoder = Decoder()
        got = [message for at in range(0, len(data), size) for message in decoder.feed(data[at : at + size], ())]
        assert got == [Message({"is": "a"}, b"\x00payload"), Message({"do": "b", "n": [1, "☃"]})]


def test_descriptors_go_with_their_message() -> None:
    left, right = socket.socketpair()
    read_end, write_end = os.pipe()
    with left, right:
        send(left, Message({"is": "nothing"}))
        send(left, Message({"is": "pipe"}, b"x", (write_end,)))
        os.close(write_end)
        decoder = Decoder()
        messages: list[Message] = []
        while len(messages) < 2:
            messages += receive(right, decoder) or []
        assert [len(message.fds) for message in messages] == [0, 1]
        os.write(messages[1].fds[0], b"through")
        os.close(messages[1].fds[0])
        assert os.read(read_end, 100) == b"through"
        os.close(read_end)
        left.close()
        assert receive(right, decoder) is None


def test_a_channel_sends_more_than_the_socket_holds_in_order_and_tells_its_end() -> None:
    async def work() -> None:
        loop = asyncio.get_running_loop()
        left, right = socket.socketpair()
        got: list[Message] = []
        ended = asyncio.Event()
        sender = Channel(left, loop, got.append, lambda: None)
        receiver = Channel(right, loop, got.append, ended.set)
        read_end, write_end = os.pipe()
        sender.send({"n": 0}, bytes(3_000_000))
        sender.send({"n": 1}, b"", (write_end,))
        sender.send({"n": 2})
        while len(got) < 3:
            await asyncio.wait([asyncio.ensure_future(ended.wait())], timeout=0.001)
        assert [message.fields["n"] for message in got] == [0, 1, 2]
        assert len(got[0].payload) == 3_000_000
        os.close(got[1].fds[0])
        assert os.read(read_end, 1) == b""  # the sender's copy is closed
        os.close(read_end)
        sender.close()
        await ended.wait()
        receiver.close()

    run(work())


def test_what_can_not_be_sent_any_more_is_closed() -> None:
    async def work() -> None:
        left, right = socket.socketpair()
        channel = Channel(left, asyncio.get_running_loop(), lambda message: None, lambda: None)
        channel.close()
        right.close()
        read_end, write_end = os.pipe()
        channel.send({"is": "late"}, b"", (write_end,))
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(write_end)
        os.close(read_end)

    run(work())
