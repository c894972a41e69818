"""Where our answer is not wrangler's, and why. Our exact answer is in recorded/bindings*.differences.json.

Most are meant; what begins with "Not yet" is a fault of ours that is known.
"""

from __future__ import annotations

from tests.oracle.suite import Reasons

REASONS: Reasons = {
    "A text is UTF-8 here, so that a lone surrogate becomes U+FFFD, as in TextEncoder; the local engine stores its "
    "three bytes, reads them as three U+FFFD, and refuses a key that has one (400 Could not URL-decode key name).": (
        "kv put: lone surrogate",
        "kv key: lone surrogate",
        "kv bulk key: lone surrogate",
        "d1 bind: lone surrogate",
        "d1 column: lone surrogate",
    ),
    "A stream is of bytes, as the documentation of KV's put() has it (https://developers.cloudflare.com/kv/api/"
    "write-key-value-pairs/); workerd's newest streams also take texts, and have other words for what they refuse.": (
        "kv put stream: *",
    ),
    "How many rows a statement read or wrote is told from SQLite's bytecode and counters; workerd counts with a "
    "patched SQLite (src/workerd/util/sqlite.c++, addRowsRead), and the documentation promises no exact figure: "
    "https://developers.cloudflare.com/d1/platform/pricing/.": (
        "d1 meta: *",
        "d1 function: * OVER *",
        "d1 pragma: foreign_key_check*",
        "d1 pragma: quick_check*",
        "d1 pragma: optimize*",
        "d1 statement: REINDEX*",
        "d1 statement: ALTER TABLE *",
        "d1 statement: CREATE *",
        "d1 foreign keys: cascade",
        "d1 triggers",
    ),
    "The local engine's cache refuses several statements in one text when the same text was run before.": (
        "d1 script: the same two selects again",
    ),
    "What is no text is no statement; the local engine sends JSON, in which a Date becomes one.": (
        "d1 prepare: BigInt",
        "d1 prepare: Date",
    ),
    "A row has the columns that were selected; the local engine also finds what JavaScript's objects inherit.": (
        "d1 first: constructor",
    ),
    "What has no trim() is no SQL; the local engine's exec() fails on a BigInt only once it makes JSON of it.": (
        "d1 exec of: BigInt",
    ),
    "Not yet as wrangler: after a commit that fails the local engine opens the database anew, so that the next meta "
    "has a last_row_id of 0.": (
        "d1 foreign keys: deferred",
    ),
    "A value has at most 2,000,000 bytes (https://developers.cloudflare.com/d1/platform/limits/); the local engine "
    "takes 8 MiB and 34 bytes.": (
        "d1 value of *",
    ),
    "A body of type bytes is a Uint8Array, as in production; in the local engine an ArrayBuffer (the types of "
    "https://developers.cloudflare.com/queues/configuration/javascript-apis/).": (
        "queues body bytes: *",
        "queues item: types mixed",
        "queues size: send of 128,000 bytes",
        "queues dead letters: content type and time",
    ),
    "A text is whole; the local engine's ends at the NUL.": (
        "queues body text: NUL",
    ),
    "Pyodide makes an int of a whole number, and Python's int has no -0.": (
        "queues body v8: -0",
    ),
    "Of what JavaScript can iterate, arrays, sets, maps and typed arrays are batches; those of the web are not.": (
        "queues batch of: Headers",
    ),
    "What was acknowledged does not come again after an exception or retryAll(), as in production (https://developers."
    "cloudflare.com/queues/configuration/batching-retries/#explicit-acknowledgement-and-retries); the local engine "
    "redelivers all.": (
        "queues verdict: ack*",
        "queues verdict always: ack*",
    ),
}  # fmt: skip

_ALSO_OF_JAVASCRIPT = frozenset({
    "d1 bind: lone surrogate",
    "d1 column: lone surrogate",
    "d1 foreign keys: cascade",
    "d1 triggers",
    "d1 script: the same two selects again",
    "d1 value of *",
    "queues body bytes: *",
    "queues item: types mixed",
    "queues size: send of 128,000 bytes",
    "queues dead letters: content type and time",
    "queues verdict: ack*",
    "queues verdict always: ack*",
})  # fmt: skip
_SHARED = {why: tuple(name for name in names if name in _ALSO_OF_JAVASCRIPT) for why, names in REASONS.items()}

JAVASCRIPT_REASONS: Reasons = {
    **{why: names for why, names in _SHARED.items() if names},
    "A commit that fails is an error of D1 (D1_ERROR: internal error; ...); the local engine's is a Durable Object "
    "that breaks, which nothing but one can make workerd throw.": (
        "d1 constraint: raise rollback",
        "d1 constraint: or rollback",
        "d1 foreign keys: deferred",
    ),
}
