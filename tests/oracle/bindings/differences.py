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
    "Not yet as wrangler: JSON's null and a byte order mark in bulk reads, and a key called __proto__.": (
        "kv get json: *",
        "kv get text: byte order mark",
        "kv bulk key: __proto__",
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
        "d1 statement: DROP INDEX ci",
        "d1 statement: WITH r*",
        "d1 statement: its table changes",
        "d1 methods: of RETURNING",
        "d1 limit: 100 order terms",
        "d1 constraint: upsert",
        "d1 foreign keys: cascade",
        "d1 triggers",
        "d1 fts5",
        "d1 rtree",
        "d1 autoincrement",
    ),
    "last_insert_rowid() is that of the Worker's own statements; the local engine's note of a bookmark moves it.": (
        "d1 session: *",
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
    "Not yet as wrangler: text that is no UTF-8 is refused instead of repaired.": (
        "d1 literal: *",
        "d1 batch: values of each kind",
    ),
    "Not yet as wrangler: `matchinfo` and its like are forbidden here, and unknown there.": (
        "d1 function: matchinfo(1)",
        "d1 function: fts3_tokenizer('x')",
        "d1 function: geopoly_area('[[]]')",
    ),
    "Not yet as wrangler: names of pragmas in capitals.": (
        "d1 pragma: TABLE_INFO(c)",
    ),
    "Not yet as wrangler: a NUL ends the SQL.": (
        "d1 *cript: NUL",
        "d1 exec: NUL",
    ),
    "Not yet as wrangler: a TypeError in other words.": (
        "d1 exec of: null",
        "d1 exec of: undefined",
        "d1 exec of: BigInt",
    ),
    "Not yet as wrangler: OR FAIL keeps what it had written, OR ROLLBACK has SQLite's error, not `internal error`.": (
        "d1 constraint: raise rollback",
        "d1 constraint: or fail",
        "d1 constraint: or rollback",
    ),
    "Not yet as wrangler: the error of a commit has `remote` and `durableObjectReset`.": (
        "d1 foreign keys: deferred",
    ),
    "A statement is one that prepare() made; the local engine takes any object with its fields.": (
        "d1 batch: statement objects",
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
