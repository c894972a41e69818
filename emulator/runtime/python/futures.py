"""PyodideFuture and PyodideTask: what the Worker's loop makes, futures that can also be used like promises.

Source: Pyodide's documentation of `pyodide.webloop`.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any


class PyodideFuture(asyncio.Future[Any]):
    """An asyncio.Future with a promise's `then`, `catch` and `finally_`."""

    __slots__ = ()

    def then(
        self, onfulfilled: Callable[[Any], Any] | None = None, onrejected: Callable[[BaseException], Any] | None = None
    ) -> PyodideFuture:
        """A future of what the callback for the outcome gives, awaited as long as it is awaitable."""

        async def settled() -> Any:
            error = self.exception()
            if error is None:
                return await _awaited(self.result() if onfulfilled is None else onfulfilled(self.result()))
            if onrejected is None:
                raise error
            return await _awaited(onrejected(error))

        return self._follow(settled)

    def catch(self, onrejected: Callable[[BaseException], Any]) -> PyodideFuture:
        return self.then(None, onrejected)

    def finally_(self, onfinally: Callable[[], Any]) -> PyodideFuture:
        async def settled() -> Any:
            await _awaited(onfinally())
            return self.result()

        return self._follow(settled)

    def _follow(self, settled: Callable[[], Any]) -> PyodideFuture:
        """A future with the outcome of `settled()`, which runs when this one is done."""
        loop = self.get_loop()
        result = PyodideFuture(loop=loop)

        async def follow() -> None:
            try:
                result.set_result(await settled())
            except asyncio.CancelledError:
                result.cancel()
            except Exception as error:
                result.set_exception(error)

        self.add_done_callback(lambda _done: loop.create_task(follow()))
        return result


async def _awaited(value: Any) -> Any:
    while inspect.isawaitable(value):
        value = await value
    return value


class PyodideTask(asyncio.Task[Any], PyodideFuture):
    """An asyncio.Task that is a PyodideFuture."""

    __slots__ = ()


for _public in (PyodideFuture, PyodideTask):
    _public.__module__ = "pyodide.webloop"
