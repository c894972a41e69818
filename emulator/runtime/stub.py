"""A stub: what stands on one side of a call for a function, or an object with methods, on the other side."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any


class Stub:
    """`call(method, *arguments)` has the other side's method called or, with None in its place, the function itself."""

    __slots__ = ("call",)
    js_tag = "RpcStub"
    clone_error = "RpcStub cannot be serialized in this context."

    def __init__(self, call: Callable[..., Awaitable[Any]]) -> None:
        self.call = call

    async def __call__(self, *arguments: Any) -> Any:
        return await self.call(None, *arguments)
