"""Namespaces and ids of Durable Objects that another Worker hosts."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from flarebed.bindings.errors import JsError
from flarebed.bindings.services.objects import DurableObjectNamespace

ROOMS = DurableObjectNamespace("chat", "Room", random.Random(0))


def test_ids() -> None:
    named = ROOMS.idFromName("lobby")
    unique = ROOMS.newUniqueId()
    assert (named.name, hasattr(unique, "name")) == ("lobby", False)
    assert [len(each.toString()) for each in (named, unique)] == [64, 64]
    assert named.equals(ROOMS.idFromString(named.toString().upper()))
    assert not named.equals(unique)
    assert ROOMS.idFromName(5).toString() == ROOMS.idFromName("5").toString()


def test_stubs() -> None:
    stub = ROOMS.getByName("lobby", {"locationHint": "weur"})
    assert (stub.service, stub.class_name) == ("chat", "Room")
    assert stub.id.equals(ROOMS.idFromName("lobby"))
    assert ROOMS.jurisdiction() is ROOMS


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: ROOMS.idFromString("zz"), "TypeError: Invalid Durable Object ID: must be 64 hex digits"),
        (lambda: ROOMS.idFromString("0" * 64), "TypeError: Durable Object ID is not valid for this namespace."),
        (
            lambda: ROOMS.get("text"),
            "TypeError: Failed to execute 'get' on 'DurableObjectNamespace': parameter 1 is not of type "
            "'DurableObjectId'.",
        ),
        (
            ROOMS.idFromName,
            "TypeError: Failed to execute 'idFromName' on 'DurableObjectNamespace': parameter 1 is not of type "
            "'string'.",
        ),
        (
            lambda: ROOMS.idFromName("a").equals("a"),
            "TypeError: Failed to execute 'equals' on 'DurableObjectId': parameter 1 is not of type 'DurableObjectId'.",
        ),
        (lambda: ROOMS.jurisdiction("eu"), "Error: Jurisdiction restrictions are not implemented in workerd."),
        (
            lambda: ROOMS.newUniqueId({"jurisdiction": "eu"}),
            "Error: Jurisdiction restrictions are not implemented in workerd.",
        ),
    ],
)
def test_errors(call: Callable[[], Any], text: str) -> None:
    with pytest.raises(JsError) as raised:
        call()
    assert str(raised.value) == text
