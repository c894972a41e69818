"""Durable Objects that another Worker hosts: workerd's DurableObjectNamespace, DurableObjectId and DurableObject.

Ids are made here, as workerd makes them; the object is for the runtime to reach, as any other entrypoint.
Source: workerd src/workerd/api/actor.c++ and server/actor-id-impl.c++.
"""

from __future__ import annotations

import random
import re
from typing import Any

from flarebed.bindings.errors import JsError, type_error
from flarebed.bindings.ids import id_from_base, id_from_name
from flarebed.bindings.values import UNDEFINED
from flarebed.bindings.webidl import ABSENT, string, wrong_parameter

_HEX = re.compile(r"[0-9a-fA-F]{64}")
_BASE_BYTES = 16


class DurableObjectId:
    """64 hex digits, and the name that they were made from, if they were."""

    def __init__(self, digits: str, name: str | None = None) -> None:
        self._digits = digits
        if name is not None:
            self.name = name

    def toString(self) -> str:
        return self._digits

    def equals(self, other: Any = ABSENT) -> bool:
        if not isinstance(other, DurableObjectId):
            raise wrong_parameter("DurableObjectId", "equals", 1, "DurableObjectId")
        return self._digits == other._digits


class DurableObject:
    """A stub of the object `id` of the class `class_name` of the Worker `service`."""

    clone_error = "DurableObject cannot be serialized in this context."

    def __init__(self, service: str, class_name: str, id: DurableObjectId) -> None:
        self.service = service
        self.class_name = class_name
        self.id = id


class DurableObjectNamespace:
    """https://developers.cloudflare.com/durable-objects/api/namespace/"""

    clone_error = "DurableObjectNamespace cannot be serialized in this context."

    def __init__(self, service: str, class_name: str, entropy: random.Random) -> None:
        self._service = service
        self._class_name = class_name
        self._entropy = entropy

    def newUniqueId(self, options: Any = UNDEFINED) -> DurableObjectId:
        if isinstance(options, dict) and options.get("jurisdiction", UNDEFINED) not in (None, UNDEFINED):
            raise _no_jurisdictions()
        return DurableObjectId(id_from_base(self._unique_key, self._entropy.randbytes(_BASE_BYTES)))

    def idFromName(self, name: Any = ABSENT) -> DurableObjectId:
        if name is ABSENT:
            raise wrong_parameter("DurableObjectNamespace", "idFromName", 1, "string")
        text = string(name)
        return DurableObjectId(id_from_name(self._unique_key, text), text)

    def idFromString(self, digits: Any = ABSENT) -> DurableObjectId:
        if digits is ABSENT:
            raise wrong_parameter("DurableObjectNamespace", "idFromString", 1, "string")
        text = string(digits)
        if not _HEX.fullmatch(text):
            raise type_error("Invalid Durable Object ID: must be 64 hex digits")
        made = id_from_base(self._unique_key, bytes.fromhex(text)[:_BASE_BYTES])
        if made != text.lower():
            raise type_error("Durable Object ID is not valid for this namespace.")
        return DurableObjectId(made)

    def get(self, id: Any = ABSENT, options: Any = UNDEFINED) -> DurableObject:
        """A stub; nothing is called yet."""
        if not isinstance(id, DurableObjectId):
            raise wrong_parameter("DurableObjectNamespace", "get", 1, "DurableObjectId")
        return DurableObject(self._service, self._class_name, id)

    def getByName(self, name: Any = ABSENT, options: Any = UNDEFINED) -> DurableObject:
        if name is ABSENT:
            raise wrong_parameter("DurableObjectNamespace", "getByName", 1, "string")
        return self.get(self.idFromName(name))

    def jurisdiction(self, jurisdiction: Any = UNDEFINED) -> DurableObjectNamespace:
        if jurisdiction is UNDEFINED or jurisdiction is None:
            return self
        raise _no_jurisdictions()

    @property
    def _unique_key(self) -> str:
        """What wrangler calls a class of a Worker (miniflare, getDurableObjectUniqueKey)."""
        return f"{self._service}-{self._class_name}"


def _no_jurisdictions() -> JsError:
    return JsError("Jurisdiction restrictions are not implemented in workerd.")
