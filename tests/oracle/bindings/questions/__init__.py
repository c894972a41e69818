"""All questions by name: those that both suites of flags are asked, and those for older flags alone."""

from __future__ import annotations

from tests.oracle.bindings.questions import (
    d1_calls,
    d1_rpc,
    d1_surface,
    d1_values,
    kv_calls,
    kv_values,
    queues_consume,
    queues_send,
    r2_calls,
)
from tests.oracle.bindings.questions.words import Question

_KINDS = {"kv": (kv_values, kv_calls), "d1": (d1_values, d1_surface, d1_calls), "queues": (queues_send, queues_consume)}
QUESTIONS: dict[str, Question] = {
    f"{kind} {name}": question
    for kind, modules in _KINDS.items()
    for module in modules
    for name, question in module.QUESTIONS.items()
}
QUESTIONS_WITH_FLAGS = {f"queues {name}": question for name, question in queues_send.REFUSED.items()}
QUESTIONS_ABOUT_R2 = {f"r2 {name}": question for name, question in r2_calls.QUESTIONS.items()}
QUESTIONS_WITH_RPC = {f"d1 {name}": question for name, question in d1_rpc.QUESTIONS.items()}
