"""A run of a workflow in workerd: one conversation, from its call to its end, or to that of its rollbacks."""

from __future__ import annotations

from typing import Any

from flarebed.bindings.clock import Clock
from flarebed.bindings.dispatch import WorkerLostError
from flarebed.bindings.errors import JsError
from flarebed.emulator.runtime.workerd.attention import Attention
from flarebed.emulator.runtime.workerd.conversation import Conversation, Way


async def run(way: Way, clock: Clock, class_name: str, event: Any, step: Any) -> Any:
    """See `Dispatch.run_workflow`. Cancelled, it hangs up, and workerd ends the Worker's code at its next await."""
    attention = Attention(clock)
    conversation = Conversation(way, clock.loop, attention, lost=WorkerLostError)
    conversation.open()
    attention.begin(conversation)
    step.outstanding = attention.outstanding
    step.release = conversation.hang_up  # its functions may be called to undo steps, in a replay before it has ended
    try:
        output = await conversation.call(0, "run", class_name, event, conversation.export(step))
    except JsError:
        raise
    except BaseException:
        conversation.hang_up()
        raise
    finally:
        attention.end()
    step.release = conversation.close
    return output
