"""D1: values bound and read, columns, and the shapes of answers."""

from __future__ import annotations

from typing import Any

from tests.oracle.bindings.questions.words import NAN, UNDEFINED, VALUES, Question, asked, batch, db, text_of

_TYPED = "CREATE TABLE t (id INTEGER PRIMARY KEY, i INTEGER, r REAL, x TEXT, b BLOB, n NUMERIC, a)"
_ALL_COLUMNS = "INSERT INTO t (i, r, x, b, n, a) VALUES (?1, ?1, ?1, ?1, ?1, ?1)"
_READ = (
    "SELECT i, r, x, b, n, a, typeof(i) ti, typeof(r) tr, typeof(x) tx, typeof(b) tb, typeof(n) tn, typeof(a) ta FROM t"
)
_LITERALS = {
    "integers": "0, 1, -1, 9007199254740991, 9007199254740993, 9223372036854775807, -9223372036854775808",
    "reals": "1.0, 1.5, -0.0, 1e21, 1e300, 5e-324, 9e999, -9e999, 0.1 + 0.2, 1e15, 123456789012345678.0",
    "texts": "'', 'a', 'ü😀', 'it''s', char(0), 'a' || char(0) || 'b', char(55296)",
    "blobs": "x'', x'00ff', x'c328', zeroblob(3), cast('ab' AS blob), cast(x'c328' AS text)",
    "booleans and nulls": "true, false, null, 1 = 1, 1 IS NULL",
    "numbers as text": "1 || '', 1.0 || '', 1e21 || '', 5e-324 || '', 123456789012345678.0 || '', -0.0 || ''",
}
_COLUMNS = {
    "duplicate": "1 AS a, 2 AS a, 3 AS b",
    "numeric": "1 AS b, 2 AS '10', 3 AS '2', 4 AS '-1', 5 AS '01'",
    "without names": "1, 'a', 1 + 1, count(*), max(1, 2)",
    "empty name": "1 AS ''",
    "odd": '1 AS "a b", 2 AS "a.b", 3 AS "ü😀", 4 AS "a""b", 5 AS [c]',
    "length": "1 AS length, 2 AS constructor, 3 AS toString",
}
_FIRST = {
    "nothing": [],
    "column": ["a"],
    "missing column": ["zz"],
    "case": ["A"],
    "undefined": [UNDEFINED],
    "null": [None],
    "number": [1],
    "empty": [""],
    "object": [{}],
    "array": [["a"]],
    "constructor": ["toString"],
}
_RAW = {
    "nothing": [],
    "undefined": [UNDEFINED],
    "null": [None],
    "empty object": [{}],
    "true": [{"columnNames": True}],
    "false": [{"columnNames": False}],
    "1": [{"columnNames": 1}],
    "text": [{"columnNames": "false"}],
    "boolean": [True],
}
_TWO_ROWS = "SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2, null"
_NO_ROWS = "SELECT 1 AS a, 'x' AS b WHERE 0"
_PARAMETERS: dict[str, tuple[str, list[Any]]] = {
    "none for one": ("SELECT ?", []),
    "one for none": ("SELECT 1", [1]),
    "two for one": ("SELECT ?", [1, 2]),
    "?2 with two": ("SELECT ?2", [1, 2]),
    "?2 with one": ("SELECT ?2", [1]),
    "?3 ?1": ("SELECT ?3, ?1", [1, 2, 3]),
    "mixed": ("SELECT ?, ?3, ?", [1, 2, 3, 4]),
    "names": ("SELECT :a, @b, $c", [1, 2, 3]),
    "a name twice": ("SELECT :a, :b, :a", [1, 2]),
    "?0": ("SELECT ?0", [1]),
    "?100": ("SELECT ?100", [1] * 100),
    "?101": ("SELECT ?101", [1] * 101),
    "100": ("SELECT " + " + ".join("?" * 100), [1] * 100),
    "101": ("SELECT " + " + ".join("?" * 101), [1] * 101),
    "in a text": ("SELECT '?', ?", [1]),
    "in a comment": ("SELECT ? -- ?", [1]),
    "as a name": ("SELECT * FROM ?", ["t"]),
    "limit": ("SELECT 1 LIMIT ?", [1]),
    "limit 1.5": ("SELECT 1 LIMIT ?", [1.5]),
    "limit text": ("SELECT 1 LIMIT ?", ["x"]),
    "division": ("SELECT ? / ?, ? % ?, ? || ?", [7, 2, 7, 4, "id-", 7]),
    "comparison": ("SELECT ? = 1, ? = '1', 1 IN (?, ?)", [1, 1, 1, 2]),
}

QUESTIONS: dict[str, Question] = {
    **{f"bind: {name}": asked(db("SELECT ? AS v, typeof(?1) AS t, quote(?1) AS q", value)) for name, value in VALUES.items()},
    **{f"column: {name}": asked(db(_TYPED), db(_ALL_COLUMNS, value), db(_READ)) for name, value in VALUES.items()
       if not isinstance(value, dict) or "$view" in value or "$buffer" in value or "$number" in value},
    **{f"literal: {name}": asked(db(f"SELECT {sql}"), db(f"SELECT {sql}", how="raw")) for name, sql in _LITERALS.items()},
    **{
        f"columns: {name}": asked(
            db(f"SELECT {sql}"), db(f"SELECT {sql}", how="first"), db(f"SELECT {sql}", how=["raw", {"columnNames": True}])
        )
        for name, sql in _COLUMNS.items()
    },
    **{f"first: {name}": asked(db(_TWO_ROWS, how=["first", *given]), db(_NO_ROWS, how=["first", *given])) for name, given in _FIRST.items()},
    **{f"raw: {name}": asked(db(_TWO_ROWS, how=["raw", *given]), db(_NO_ROWS, how=["raw", *given])) for name, given in _RAW.items()},
    **{f"parameters: {name}": asked(["DB", ["prepare", sql], ["bind", *values], ["all"]]) for name, (sql, values) in _PARAMETERS.items()},
    "statement: what it holds": asked(
        ["DB", ["prepare", "SELECT ?"]], ["DB", ["prepare", "SELECT ?"], ["bind", 1, "a", None, True, [1, 2], {"$view": ["Uint8Array", [1, 2]]}]],
        ["DB", ["prepare", "SELECT ?"], ["bind", 1], ["bind", 2]], ["DB", ["prepare", "x"], "statement"], ["DB", ["prepare"]],
        ["DB", ["prepare", 5], "statement"],
    ),
    "statement: bind twice": asked(["DB", ["prepare", "SELECT ? AS v"], ["bind", 1], ["bind", 2], ["all"]]),
    "statement: bind nothing": asked(["DB", ["prepare", "SELECT 1"], ["bind"], ["all"]]),
    "statement: used again": asked(
        ["let", "s", "DB", ["prepare", "SELECT ? AS v"]], ["s", ["bind", 1], ["all"]], ["s", ["bind", 2], ["first", "v"]], ["s", ["all"]],
    ),
    "statement: its table changes": asked(
        db("CREATE TABLE t (a)"), ["let", "s", "DB", ["prepare", "SELECT * FROM t"]], ["s", ["all"]], db("INSERT INTO t VALUES (1)"), ["s", ["all"]],
        db("ALTER TABLE t ADD COLUMN b DEFAULT 5"), ["s", ["all"]], ["s", ["raw", {"columnNames": True}]], db("DROP TABLE t"), ["s", ["all"]],
    ),
    **{f"prepare: {name}": asked(["DB", ["prepare", value], ["all"]]) for name, value in VALUES.items()
       if name in ("1", "null", "undefined", "true", "empty text", "array", "object", "BigInt", "function", "Date", "text")},
    "methods: of a select": asked(*(db(_TWO_ROWS, how=how) for how in ("all", "run", "first", "raw"))),
    "methods: of an empty select": asked(*(db(_NO_ROWS, how=how) for how in ("all", "run", "first", "raw"))),
    "methods: of an insert": asked(db("CREATE TABLE t (a)"), *(db("INSERT INTO t VALUES (1)", how=how) for how in ("all", "run", "first", "raw"))),
    "methods: of RETURNING": asked(
        db("CREATE TABLE t (id INTEGER PRIMARY KEY, a)"),
        *(db("INSERT INTO t (a) VALUES (1), (2) RETURNING *", how=how) for how in ("all", "run", "first", "raw", ["raw", {"columnNames": True}])),
    ),
    "methods: of DDL": asked(*(db(f"CREATE TABLE t{number} (a)", how=how) for number, how in enumerate(("all", "run", "first", "raw")))),
    "dump": asked(["DB", ["dump"]]),
    "query": asked(["DB", ["query", {"queries": [{"sql": "SELECT 1", "params": []}]}]]),
    "blob of 1 MB": asked(
        db("CREATE TABLE t (a)"), db("INSERT INTO t VALUES (?)", {"$bytes": 1_000_000}), db("SELECT length(a) AS n FROM t", how="first"),
    ),
    "text of 1 MB": asked(
        db("CREATE TABLE t (a)"), db("INSERT INTO t VALUES (?)", text_of("x", 1_000_000)), db("SELECT a FROM t", how="first"),
    ),
    "value of 2,000,000 bytes": asked(db("CREATE TABLE t (a)"), db("INSERT INTO t VALUES (?)", text_of("x", 1_999_000)),
                                      db("SELECT length(a) AS n FROM t", how="first")),
    "value of 2,000,001 bytes": asked(db("SELECT length(?) AS n", text_of("x", 2_000_001))),
    "value of 9 MB": asked(db("SELECT length(?) AS n", text_of("x", 9_000_000)), db("SELECT length(zeroblob(8388642)) AS n"),
                           db("SELECT length(zeroblob(8388643)) AS n")),
    "batch: values of each kind": asked(batch(*(f"SELECT {sql}" for sql in _LITERALS.values()))),
    "bind: NaN in an array": asked(db("SELECT ? AS v", [NAN])),
    "bind: fractions in an array": asked(db("SELECT ? AS v", [1.5, 2])),
    "bind: negative in an array": asked(db("SELECT ? AS v", [-1])),
    "bind: undefined in an array": asked(db("SELECT ? AS v", [UNDEFINED])),
    "bind: null in an array": asked(db("SELECT ? AS v", [None])),
    "bind: booleans in an array": asked(db("SELECT ? AS v", [True])),
}  # fmt: skip
