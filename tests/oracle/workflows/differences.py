"""Where our answer is not wrangler's on purpose, and why. Our exact answer: recorded/workflows.differences.json."""

from __future__ import annotations

from typing import Final

from tests.oracle.suite import Reasons

REASONS: Reasons = {
    "Production takes no event type but 1-100 letters, digits, underscores and hyphens "
    "(https://developers.cloudflare.com/workflows/build/workers-api/); the local engine takes any.": (
        "event type, *",
        "sendEvent: number",
        "sendEvent: text",
        "sendEvent: empty",
    ),
    "Production takes 1 MiB (https://developers.cloudflare.com/workflows/reference/limits/); the local engine has "
    "another limit or none.": (
        "size of a result: 1.2 MiB",
        "size of a result: 6 MB",
        "size of params: 1.2 MiB",
        "sendEvent: payload of 1.2 MiB",
    ),
    "The details say how long a wait was that timed out, as they do of a step; the local engine has an empty text.": (
        "waitForEvent name: *",
        "counters: one name, three kinds",
        "sendEvent: none",
        "sendEvent: null",
        "sendEvent: after the time-out",
        "sendEvent: two waiters, one event",
        "wait: time-out *",
    ),
    "`rollback_step_errored` says why the rollback failed; the local engine has the key without a value.": (
        "rollback: fails*",
        "rollback: timeout",
    ),
    "A rollback may have a delay function, as its type says; the local engine fails the rollback at the first error.": (
        "rollback: delay function",
    ),
    "To learn the functions of rollbacks of an instance that is stopped, run() is replayed, here also if it is in "
    "memory; what stands outside of steps is done again.": (
        "terminate with rollback: *",
    ),
    "After a restart the rollbacks are made again; the local engine remembers that they were made once.": (
        "restart from a step after a rollback",
    ),
    "A step in a rollback is refused with the text of the engine's source, and sleep waits; the local engine's stub of "
    "`step` is gone by then.": (
        "step in a rollback: *",
    ),
    "Retention is checked by create(), as by createBatch({instances}) and in production; the local one does not.": (
        "create: retention *",
    ),
    "An error says what production says of a Python object; JavaScript's functions, symbols and class instances have "
    "texts of their own.": (
        "not serialisable, *",
        "create: params *",
        "createBatch: params function",
        "stream: of run()",
    ),
    "An event that can't be sent leaves the instance as it is; in the local engine a wait hangs beyond its time-out.": (
        "sendEvent: payload function",
    ),
    "A value that holds itself is a value; the local engine turns it into JSON to show it, and is left half-way.": (
        "value of a step: circular",
        "value of run(): circular",
        "params: circular",
    ),
    "An Error keeps no properties of its own when it is stored; the local engine shows run()'s before it stores it.": (
        "value of run(): Error with properties",
    ),
    "A limit of Infinity means what it says, as with the engine's earlier validator; that of wrangler 4.164 takes only "
    "finite numbers, which nothing documents.": (
        "step config: limit Infinity",
    ),
    "A key whose value is undefined counts as absent; the local engine lets it hide the default.": (
        "step config: sensitive undefined",
        "step config: timeout undefined",
    ),
    "Names of steps become texts at once; in the local engine a context keeps what was given.": (
        "step name: number",
        "step name: boolean",
        "step name: object",
    ),
    "The text is whole; the local engine's ends at the NUL.": (
        "step name: NUL",
    ),
    "A sleep is known by its name alone, so that a changed duration doesn't begin it anew.": (
        "counters: sleep and sleepUntil",
    ),
    "A duration that is no duration is refused alike; in the local engine an object ends the sleep at once.": (
        "sleep: object",
    ),
    "The details show that a delay is a function, as the events do; the local engine leaves it out.": (
        "delay function: argument",
        "subscribe: dynamic delay",
    ),
    "A stream is of bytes; the local engine also takes texts.": (
        "stream: text chunks",
    ),
    "A rollback may get a stream as `output`; the local engine hangs.": (
        "rollback: output stream",
    ),
    "`workflow_running` stands before the steps that are kept; in the local engine after them.": (
        "subscribe: restart from a step",
    ),
}  # fmt: skip

_ONLY_OF_PYTHON: Final = (
    "A step in a rollback is refused with",
    "An error says what production says of a Python object",
    "A stream is of bytes",
    "An event that can't be sent leaves",
)
JAVASCRIPT_REASONS: Reasons = {
    **{why: names for why, names in REASONS.items() if not why.startswith(_ONLY_OF_PYTHON)},
    "With a compatibility date from 2026-05-14 on, production keeps name and message of a NonRetryableError; the local "
    "engine does so only if the flag workflows_preserve_non_retryable_error_message stands in the config itself.": (
        "non-retryable, uncaught: *",
        "non-retryable, thrown by run(): *",
        "rollback: non-retryable",
        "subscribe: non-retryable",
    ),
    "What can't be cloned is refused before anything is created or sent; in the local engine the instance exists, and "
    "a wait hangs beyond its time-out.": (
        "create: params function",
        "createBatch: params function",
        "sendEvent: payload function",
    ),
}
"""Of worker.js itself, on workerd."""
