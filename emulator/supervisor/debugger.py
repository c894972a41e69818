"""`breakpoint()` in Worker code: while a debugger prompts, the terminal is its own.

The supervisor must stop reading keys before the first prompt, so the Worker's process asks and waits for the answer,
on a socket of its own. Every front end of pdb prompts through `Pdb.interaction`.
"""

from __future__ import annotations

import pdb
import signal
import socket
from types import FrameType
from typing import Any, Final

ENTER: Final = b"+"
LEAVE: Final = b"-"
GO_AHEAD: Final = b"."


def claim_terminal_while_prompting(supervisor: socket.socket) -> None:
    """Wrap pdb in this process."""
    supervisor.setblocking(True)
    prompt = pdb.Pdb.interaction

    def interaction(self: pdb.Pdb, frame: FrameType | None, traceback: Any) -> None:
        supervisor.sendall(ENTER)
        supervisor.recv(1)
        ignored = signal.signal(signal.SIGINT, signal.default_int_handler)  # Ctrl-C returns to the prompt
        try:
            prompt(self, frame, traceback)
        finally:
            signal.signal(signal.SIGINT, ignored)
            supervisor.sendall(LEAVE)

    pdb.Pdb.interaction = interaction  # type: ignore[method-assign]
