"""What a Worker's SQL may do in SQLite: functions, pragmas, names and sizes. `sql.py` installs it on a connection.

D1 and Durable Objects share it, as they do in workerd: src/workerd/util/sqlite.c++ has the lists and the limits,
src/workerd/api/sql.c++ the rule about names and the refusal of transactions.
"""

from __future__ import annotations

import re
from typing import Final

import apsw

_FUNCTION_NAMES: Final = """
    abs changes char coalesce concat concat_ws format glob hex ifnull iif instr last_insert_rowid length like likelihood
    likely load_extension lower ltrim max_scalar min_scalar nullif octet_length printf quote random randomblob replace
    round rtrim sign soundex substr substring total_changes trim typeof unhex unicode unlikely upper zeroblob
    date time datetime julianday unixepoch strftime timediff current_date current_time current_timestamp
    avg count group_concat max min string_agg sum total
    row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value
    acos acosh asin asinh atan atan2 atanh ceil cos cosh degrees exp floor ln log log2 mod pi pow radians sin sinh sqrt
    tan tanh trunc
    json jsonb json_array jsonb_array json_array_length json_extract jsonb_extract -> ->> json_insert jsonb_insert
    json_object jsonb_object json_patch jsonb_patch json_remove jsonb_remove json_replace jsonb_replace json_set
    jsonb_set json_type json_valid json_quote json_group_array jsonb_group_array json_group_object jsonb_group_object
    json_each json_tree
    match highlight bm25 snippet rtreecheck
    sqlite_rename_column sqlite_rename_table sqlite_rename_test sqlite_drop_column sqlite_rename_quotefix
    """
ALLOWED_FUNCTIONS: Final = frozenset(_FUNCTION_NAMES.split())

_ABSENT_NAMES: Final = """
    median percentile percentile_cont percentile_disc carray fts3_tokenizer matchinfo offsets optimize
    geopoly_area geopoly_bbox geopoly_blob geopoly_ccw geopoly_contains_point geopoly_debug geopoly_group_bbox
    geopoly_json geopoly_overlap geopoly_regular geopoly_svg geopoly_within geopoly_xform
    """
ABSENT_FUNCTIONS: Final = frozenset(_ABSENT_NAMES.split())
"""Compiled into apsw's SQLite but not into workerd's, where they are unknown rather than forbidden."""

KEPT_MODULES: Final = ("fts5", "fts5vocab", "rtree", "rtree_i32")
"""The virtual tables that workerd's SQLite has, besides those of JSON and of pragmas."""

_BOOLEAN_PRAGMAS: Final = frozenset(
    {"case_sensitive_like", "foreign_keys", "defer_foreign_keys", "ignore_check_constraints", "legacy_alter_table",
     "recursive_triggers", "reverse_unordered_selects"}
)  # fmt: skip
_BOOLEANS: Final = ("true", "false", "yes", "no", "on", "off", "1", "0")
_OBJECT_PRAGMAS: Final = frozenset(
    {"table_info", "table_xinfo", "foreign_key_list", "index_info", "index_list", "index_xinfo"}
)
_INTEGER: Final = re.compile(r"[+-]?(0x[0-9a-f]+|[0-9]+)", re.IGNORECASE)

MAX_SQL_BYTES: Final = 100_000
"""Asked before SQLite is, whose limit would count the terminating zero that apsw adds."""

LIMITS: Final = {
    # Production's of a string, BLOB or row (https://developers.cloudflare.com/d1/platform/limits/): wrangler 4.164 has
    # 8,388,642.
    apsw.SQLITE_LIMIT_LENGTH: 2_000_000,
    apsw.SQLITE_LIMIT_COLUMN: 100,
    apsw.SQLITE_LIMIT_EXPR_DEPTH: 100,
    apsw.SQLITE_LIMIT_COMPOUND_SELECT: 5,
    apsw.SQLITE_LIMIT_VDBE_OP: 25_000,
    apsw.SQLITE_LIMIT_FUNCTION_ARG: 127,  # documented as 32, which workerd raised on purpose (issue 2412)
    apsw.SQLITE_LIMIT_ATTACHED: 0,
    apsw.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 50,
    apsw.SQLITE_LIMIT_VARIABLE_NUMBER: 100,
    apsw.SQLITE_LIMIT_TRIGGER_DEPTH: 10,
    apsw.SQLITE_LIMIT_WORKER_THREADS: 0,
}

TRANSACTION_REFUSAL: Final = (
    "To execute a transaction, please use the state.storage.transaction() or state.storage.transactionSync() APIs "
    "instead of the SQL BEGIN TRANSACTION or SAVEPOINT statements. The JavaScript API is safer because it will "
    "automatically roll back on exceptions, and because it interacts correctly with Durable Objects' automatic atomic "
    "write coalescing."
)

_ALWAYS: Final = frozenset({apsw.SQLITE_SELECT, apsw.SQLITE_ANALYZE, apsw.SQLITE_RECURSIVE})
_ONE_NAME: Final = frozenset(
    {apsw.SQLITE_CREATE_TABLE, apsw.SQLITE_DELETE, apsw.SQLITE_DROP_TABLE, apsw.SQLITE_INSERT, apsw.SQLITE_CREATE_VIEW,
     apsw.SQLITE_DROP_VIEW, apsw.SQLITE_REINDEX, apsw.SQLITE_READ, apsw.SQLITE_UPDATE}
)  # fmt: skip
_TWO_NAMES: Final = frozenset(
    {apsw.SQLITE_CREATE_INDEX, apsw.SQLITE_DROP_INDEX, apsw.SQLITE_CREATE_TRIGGER, apsw.SQLITE_DROP_TRIGGER}
)


class Authorizer:
    """SQLite's authorizer callback, asked while a statement is prepared.

    `trusted` lets our own statements through. `refusal` is the text of a refusal that has better words than SQLite's.
    `asked` tells that SQLite prepared a statement, anew perhaps because the schema changed.
    """

    def __init__(self) -> None:
        self.trusted = False
        self.asked = False
        self.refusal: str | None = None

    def __call__(
        self, action: int, first: str | None, second: str | None, database: str | None, trigger: str | None
    ) -> int:
        self.asked = True
        return apsw.SQLITE_OK if self.trusted or self._allows(action, first, second, database) else apsw.SQLITE_DENY

    def _allows(self, action: int, first: str | None, second: str | None, database: str | None) -> bool:
        if action in (apsw.SQLITE_ALTER_TABLE, apsw.SQLITE_DETACH):
            first, second, database = second, None, first  # SQLite passes the database's name first for these two
        if database == "temp":
            return action in (apsw.SQLITE_READ, apsw.SQLITE_UPDATE) and is_allowed_name(first)
        if database not in (None, "main"):
            return False
        if action in _ALWAYS:
            return True
        if action == apsw.SQLITE_FUNCTION:
            return (second or "").lower() in ALLOWED_FUNCTIONS
        if action in _ONE_NAME or action == apsw.SQLITE_ALTER_TABLE:
            return is_allowed_name(first)
        if action in _TWO_NAMES:
            return is_allowed_name(first) and is_allowed_name(second)
        if action in (apsw.SQLITE_CREATE_VTABLE, apsw.SQLITE_DROP_VTABLE):
            return (second or "").lower() in KEPT_MODULES and is_allowed_name(first)
        if action in (apsw.SQLITE_TRANSACTION, apsw.SQLITE_SAVEPOINT):
            self.refusal = TRANSACTION_REFUSAL
            return False
        return action == apsw.SQLITE_PRAGMA and _allows_pragma((first or "").lower(), second)


def is_allowed_name(name: str | None) -> bool:
    """Whether it is the Worker's to use: `_cf_` names are workerd's own tables."""
    return name is None or name[:4].lower() != "_cf_"


def _allows_pragma(pragma: str, argument: str | None) -> bool:
    if pragma == "table_list":
        return True
    if pragma in _OBJECT_PRAGMAS:
        return argument is not None and is_allowed_name(argument)
    if pragma in ("data_version", "page_size"):
        return argument is None
    if pragma in _BOOLEAN_PRAGMAS:
        return argument is None or _unquoted(argument).lower().startswith(_BOOLEANS)
    if pragma == "optimize":
        return argument is None or _INTEGER.fullmatch(argument) is not None
    return pragma in ("foreign_key_check", "quick_check") and is_allowed_name(argument)


def _unquoted(text: str) -> str:
    quoted = len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]
    return text[1:-1] if quoted else text
