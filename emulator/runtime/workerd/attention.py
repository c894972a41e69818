"""Whose turn it is in a run of a workflow: workerd's, or time's.

As long as it is workerd's, that is an operation outside for the clock. It is, unless the run waits for answers of ours
(a step that sleeps, say), none of its functions is being called, and workerd has said that it has nothing left to do
since something was last said. On a real clock nobody asks until a run that waits is to leave memory.
"""

from __future__ import annotations

from flarebed.bindings.clock import Clock, VirtualClock
from flarebed.emulator.runtime.workerd.conversation import Conversation, Listener


class Attention(Listener):
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._loop = clock.loop
        self._is_eager = isinstance(clock, VirtualClock)
        self._conversation: Conversation | None = None
        self._called = 0
        self._calling = 0  # also the call of the run itself
        self._is_over = False
        self._said = 0
        self._was_asked = False
        self._is_quiet = False
        self._counts = 0

    def begin(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._settle()

    def end(self) -> None:
        """The run is over; calls of functions that undo its steps may follow."""
        self._is_over = True
        self._settle()

    def outstanding(self) -> int:
        """See `dispatch.WorkflowStep`: the steps that are open, and what workerd may have to do."""
        if not self._is_quiet and not self._was_asked:
            self._ask()
        return self._called + max(0, self._calling - 1) + (not self._is_quiet)

    # What the conversation tells

    def called(self, change: int) -> None:
        self._called += change
        self._stir()

    def calling(self, change: int) -> None:
        self._calling += change
        self._stir()

    def quiet(self, number: int) -> None:
        self._was_asked = False
        if number == self._said:
            self._is_quiet = True
            self._settle()
        elif self._is_eager:
            self._ask_soon()

    def _stir(self) -> None:
        self._said += 1
        self._is_quiet = False
        self._settle()
        if self._is_eager:
            self._ask_soon()

    def _waits(self) -> bool:
        """For us alone, if workerd has nothing left to do."""
        return self._called > 0 and self._calling <= 1 and not self._is_over

    def _ask_soon(self) -> None:
        if self._waits() and not self._was_asked:
            self._was_asked = True
            self._loop.call_soon(self._ask)

    def _ask(self) -> None:
        self._was_asked = self._conversation is not None and self._waits()
        if self._conversation is not None and self._was_asked:
            self._conversation.ask_for_quiet(self._said)

    def _settle(self) -> None:
        counts = int(self._calling > 0 if self._is_over else not (self._waits() and self._is_quiet))
        self._clock.outside += counts - self._counts
        self._counts = counts
