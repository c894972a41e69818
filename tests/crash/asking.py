"""What every client of a scenario does: it notes what it asks, and what was granted; and it waits.

It is in the Worker's process and killed with it. A script is played from its beginning in each life. What an earlier
life has seen acknowledged is not asked again; what was under way when it was killed is looked up, and asked again if it
did not happen.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, ClassVar, Final, Self

import apsw

from flarebed.bindings.errors import JsError
from flarebed.emulator.testing.session import START_MS, Session
from tests.crash import notes
from tests.crash.notes import Note, Notebook

POLLED_MS: Final = 100


class Asking:
    """`config` is the file of the Worker that it asks, `prefix` what the names of its scenarios begin with."""

    config: ClassVar[str]
    prefix: ClassVar[str] = ""
    is_javascript: ClassVar[bool] = False

    def __init__(self, session: Session, notebook: Notebook) -> None:
        self._session = session
        self._notebook = notebook
        self._past = notes.read(notebook.path)
        self._state = session.app.store.root
        self._number = 0

    @staticmethod
    async def prepare(session: Session) -> None:
        """Before the first line of the script, in each life."""

    async def play(self, script: Callable[[Self], Awaitable[None]]) -> None:
        await script(self)

    # What it waits for, unless an earlier life has come further

    async def after(self, seconds: float) -> None:
        await self._wait(lambda: True, seconds * 1000)

    async def at(self, seconds: float) -> None:
        """That long after the first life began."""
        await self._session.clock.sleep_until(START_MS + seconds * 1000)

    async def heard(self, what: str, **fields: Any) -> None:
        """Until the Worker has noted this, in this life or an earlier one."""
        wanted = {"is": what} | fields
        await self._wait(lambda: any(wanted.items() <= note.items() for note in notes.read(self._notebook.path)))

    async def _wait(self, is_over: Callable[[], bool], first_ms: float = 0) -> None:
        if any(note.get("number", 0) > self._number for note in self._past):
            return
        await self._session.clock.sleep(first_ms)
        while not is_over():
            await self._session.clock.sleep(POLLED_MS)

    # How it asks

    async def _ask(
        self,
        asked: Note,
        call: Callable[[], Coroutine[Any, Any, Any]],
        is_done: Callable[[Note], bool],
        before: Callable[[], Any] = lambda: None,
    ) -> None:
        """`is_done(note)` tells a later life whether what this note asks for happened; `before` is kept in the note."""
        self._number += 1
        mine = [note for note in self._past if note.get("number") == self._number]
        if any(note["is"] == "acked" for note in mine):
            return
        asked = {**asked, "number": self._number}
        if not (mine and is_done(mine[0])):
            self._note("asks", key=mine[0]["key"] if mine else before(), **asked)
            try:
                await self._granted(call, asked)
            except JsError as error:
                self._note("refused", text=error.message, **asked)
        self._note("acked", **asked)

    async def _granted(self, call: Callable[[], Coroutine[Any, Any, Any]], asked: Note) -> None:
        """What could not be written has not happened, and is asked again."""
        while True:
            try:
                return await call()
            except Exception as error:
                if not self._is_for_want_of_room(error):
                    raise
                await self._failed(asked)
                await self._session.clock.sleep(POLLED_MS)

    def _is_for_want_of_room(self, error: Exception) -> bool:
        return isinstance(error, apsw.Error)

    async def _failed(self, asked: Note) -> None:
        """The client was told that it can't be written."""

    def _note(self, what: str, **fields: Any) -> None:
        self._notebook.note(what, self._session.clock.now_ms(), **fields)
