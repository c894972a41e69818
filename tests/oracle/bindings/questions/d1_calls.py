"""D1: several statements, batches, exec, sessions, constraints, and what meta counts."""

from __future__ import annotations

from typing import Any

from tests.oracle.bindings.questions.words import UNDEFINED, VALUES, Op, Question, asked, batch, db, quietly, statement

_TABLE = quietly(db("CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE, b NOT NULL DEFAULT 0, c CHECK (c < 100))"))
_ROWS = db("SELECT * FROM t", how="raw")
_SCRIPTS = {
    "two selects": "SELECT 1 AS a; SELECT 2 AS b",
    "two selects and a semicolon": "SELECT 1; SELECT 2;",
    "three semicolons": "SELECT 1;;;",
    "semicolon first": ";SELECT 1",
    "only a semicolon": ";",
    "spaces": "  \n ",
    "comment": "-- nothing",
    "block comment": "/* nothing */",
    "comment, then a select": "-- first\nSELECT 1 AS a",
    "indented comment, then a select": "  -- first\nSELECT 1 AS a",
    "block comment, then a select": "/* first */ SELECT 1 AS a",
    "select, then a comment": "SELECT 1 AS a -- last",
    "select, semicolon, then a comment": "SELECT 1 AS a; -- last",
    "select, semicolon, then a block comment": "SELECT 1 AS a; /* last */",
    "comment with a semicolon": "SELECT 1 -- a;b",
    "text with a semicolon": "SELECT 'a;b' AS v",
    "text with a comment": "SELECT 'a -- b' AS v",
    "inserts": "INSERT INTO t (a) VALUES (1); INSERT INTO t (a) VALUES (2)",
    "insert, then an error": "INSERT INTO t (a) VALUES (1); INSERT INTO nope VALUES (2)",
    "insert, then a syntax error": "INSERT INTO t (a) VALUES (1); INSRT",
    "error, then an insert": "INSERT INTO nope VALUES (2); INSERT INTO t (a) VALUES (1)",
    "trigger": "CREATE TRIGGER g AFTER INSERT ON t BEGIN UPDATE t SET b = b + 1 WHERE id = new.id; END",
    "select, then a pragma": "SELECT 1; PRAGMA foreign_keys",
    "unfinished": "SELECT (",
    "unfinished comment": "SELECT 1 /* open",
    "byte order mark": "\ufeffSELECT 1",
    "NUL": "SELECT 1\0; SELECT 2",
    "CRLF": "SELECT 1 AS a,\r\n 2 AS b\r\n",
}
_EXEC: dict[str, str] = {
    **_SCRIPTS,
    "three lines": "SELECT 1\nSELECT 2\nSELECT 3",
    "a statement over lines": "SELECT\n1",
    "blank lines": "\nSELECT 1\n\n  \nSELECT 2\n",
    "comment lines": "-- a\nSELECT 1\n  -- b\nSELECT 2",
    "only comments": "-- a\n-- b",
    "empty": "",
    "error in line 2": "INSERT INTO t (a) VALUES (1)\nINSERT INTO nope VALUES (1)",
    "CRLF lines": "SELECT 1;\r\nSELECT 2;\r\n",
    "begin and commit": "BEGIN\nCOMMIT",
    "parameter": "SELECT ?",
}
_CONSTRAINTS: dict[str, str] = {
    "unique": "INSERT INTO t (a) VALUES (1)",
    "primary key": "INSERT INTO t (id, a) VALUES (1, 5)",
    "not null": "INSERT INTO t (a, b) VALUES (5, NULL)",
    "check": "INSERT INTO t (a, c) VALUES (5, 100)",
    "foreign key": "INSERT INTO k VALUES (9)",
    "delete of a parent": "DELETE FROM t WHERE id = 1",
    "drop of a parent": "DROP TABLE t",
    "datatype": "INSERT INTO t (id) VALUES ('x')",
    "strict": "INSERT INTO s VALUES ('x')",
    "raise abort": "INSERT INTO r VALUES ('abort')",
    "raise fail": "INSERT INTO r VALUES ('fail')",
    "raise rollback": "INSERT INTO r VALUES ('rollback')",
    "raise ignore": "INSERT INTO r VALUES ('ignore')",
    "or ignore": "INSERT OR IGNORE INTO t (a) VALUES (1)",
    "or replace": "INSERT OR REPLACE INTO t (id, a) VALUES (2, 1)",
    "or fail": "INSERT OR FAIL INTO t (a) VALUES (7), (1), (8)",
    "or rollback": "INSERT OR ROLLBACK INTO t (a) VALUES (7), (1), (8)",
    "upsert": "INSERT INTO t (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET b = b + 1 RETURNING b",
    "upsert nothing": "INSERT INTO t (a) VALUES (1) ON CONFLICT DO NOTHING",
    "unique of two rows": "INSERT INTO t (a) VALUES (7), (7)",
    "expression index": "INSERT INTO e VALUES ('A')",
}
_CONSTRAINED = quietly(batch(
    "CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE, b NOT NULL DEFAULT 0, c CHECK (c < 100))",
    "CREATE TABLE k (t INTEGER REFERENCES t (id))", "CREATE TABLE s (a INTEGER) STRICT", "CREATE TABLE r (a)",
    "CREATE TRIGGER g BEFORE INSERT ON r BEGIN SELECT CASE new.a WHEN 'abort' THEN raise(abort, 'no: abort') "
    "WHEN 'fail' THEN raise(fail, 'no: fail') WHEN 'rollback' THEN raise(rollback, 'no') WHEN 'ignore' THEN raise(ignore) END; END",
    "CREATE TABLE e (a)", "CREATE UNIQUE INDEX ei ON e (lower(a))",
    "INSERT INTO t (id, a) VALUES (1, 1)", "INSERT INTO k VALUES (1)", "INSERT INTO e VALUES ('a')",
))  # fmt: skip
_COUNTED = quietly(batch(
    "CREATE TABLE u (id INTEGER PRIMARY KEY, name TEXT, age INTEGER)", "CREATE INDEX by_age ON u (age)",
    "CREATE TABLE o (id INTEGER PRIMARY KEY, u INTEGER, item TEXT)", "CREATE INDEX by_u ON o (u)", "CREATE TABLE z (a, b, PRIMARY KEY (a)) WITHOUT ROWID",
    "INSERT INTO u VALUES (1, 'a', 30), (2, 'b', 20), (3, 'c', 30), (4, 'd', 40), (5, 'e', NULL)",
    "INSERT INTO o VALUES (1, 1, 'x'), (2, 1, 'y'), (3, 2, 'x'), (4, 9, 'z')", "INSERT INTO z VALUES (1, 2), (3, 4)",
))  # fmt: skip
_COUNTS = """
SELECT 1 | SELECT * FROM u | SELECT count(*) FROM u | SELECT * FROM u WHERE id = 3 | SELECT * FROM u WHERE id = 99 | SELECT * FROM u WHERE age = 30 | SELECT age FROM u WHERE age = 30 | SELECT * FROM u WHERE name = 'c'
SELECT * FROM u LIMIT 2 | SELECT * FROM u LIMIT 2 OFFSET 2 | SELECT * FROM u ORDER BY id DESC LIMIT 1 | SELECT * FROM u ORDER BY name | SELECT * FROM u ORDER BY age | SELECT max(id) FROM u | SELECT max(age) FROM u | SELECT max(name) FROM u
SELECT min(age), max(age) FROM u | SELECT age, count(*) FROM u GROUP BY age | SELECT name, count(*) FROM u GROUP BY name | SELECT DISTINCT age FROM u | SELECT DISTINCT name FROM u | SELECT * FROM u WHERE age > 20 | SELECT * FROM u WHERE age IS NULL
SELECT * FROM u WHERE id IN (1, 3, 99) | SELECT * FROM u WHERE age IN (20, 40) | SELECT * FROM u WHERE id = 1 OR age = 40 | SELECT * FROM u WHERE id BETWEEN 2 AND 4 | SELECT * FROM u JOIN o ON o.u = u.id | SELECT * FROM u LEFT JOIN o ON o.u = u.id
SELECT * FROM u, o | SELECT * FROM o JOIN u ON u.id = o.u | SELECT * FROM o LEFT JOIN u ON u.id = o.u WHERE u.id IS NULL | SELECT * FROM u WHERE EXISTS (SELECT 1 FROM o WHERE o.u = u.id) | SELECT * FROM u WHERE id IN (SELECT u FROM o)
SELECT u.name, (SELECT count(*) FROM o WHERE o.u = u.id) AS n FROM u | SELECT * FROM (SELECT * FROM u) | WITH v AS (SELECT * FROM u) SELECT * FROM v JOIN v AS w ON v.id = w.id | SELECT * FROM u UNION SELECT * FROM u | SELECT * FROM u UNION ALL SELECT * FROM u
SELECT * FROM u EXCEPT SELECT * FROM u | SELECT * FROM u INTERSECT SELECT * FROM u WHERE id = 1 | SELECT * FROM z | SELECT * FROM z WHERE a = 3 | SELECT name, rank() OVER (ORDER BY age) FROM u | SELECT * FROM u a JOIN u b ON a.age = b.age
SELECT * FROM u a JOIN o b ON a.name = b.item | SELECT value FROM json_each('[1,2,3]') | SELECT * FROM u WHERE name LIKE 'a%' | WITH r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 9) SELECT * FROM r
INSERT INTO u VALUES (6, 'f', 1) | INSERT INTO u (name) VALUES ('f') | INSERT INTO u VALUES (6, 'f', 1), (7, 'g', 2) | INSERT INTO u SELECT id + 10, name, age FROM u | INSERT INTO z VALUES (5, 6) | INSERT OR IGNORE INTO u VALUES (1, 'q', 1)
INSERT OR REPLACE INTO u VALUES (1, 'q', 1) | INSERT INTO u VALUES (1, 'q', 1) ON CONFLICT DO UPDATE SET name = 'q' | INSERT INTO u VALUES (8, 'h', 1) RETURNING id | UPDATE u SET name = 'q' | UPDATE u SET name = 'q' WHERE id = 1 | UPDATE u SET age = 5
UPDATE u SET age = 5 WHERE id = 1 | UPDATE u SET age = 30 WHERE id = 1 | UPDATE u SET id = 10 WHERE id = 1 | UPDATE u SET name = 'q' WHERE name = 'c' | UPDATE u SET name = 'q' WHERE id = 99 | UPDATE u SET name = 'q' WHERE age = 30 RETURNING id
UPDATE u SET name = o.item FROM o WHERE o.u = u.id | DELETE FROM u | DELETE FROM u WHERE id = 1 | DELETE FROM u WHERE age = 30 | DELETE FROM u WHERE name = 'c' | DELETE FROM u WHERE id = 99 | DELETE FROM z WHERE a = 1 | DELETE FROM u RETURNING *
CREATE TABLE n (a) | CREATE TABLE n (a PRIMARY KEY, b UNIQUE) | CREATE TABLE n (id INTEGER PRIMARY KEY AUTOINCREMENT) | CREATE TABLE n AS SELECT * FROM u | CREATE INDEX ni ON u (name) | CREATE UNIQUE INDEX ni ON u (name, age) | CREATE VIEW v AS SELECT * FROM u
CREATE TRIGGER g AFTER INSERT ON u BEGIN DELETE FROM o; END | DROP TABLE u | DROP TABLE o | DROP INDEX by_age | ALTER TABLE u ADD COLUMN q | ALTER TABLE u RENAME TO w | ALTER TABLE u RENAME COLUMN name TO nom | ALTER TABLE u DROP COLUMN name
CREATE VIRTUAL TABLE f USING fts5(a) | CREATE VIRTUAL TABLE f USING rtree(id, a, b) | PRAGMA table_info(u) | PRAGMA foreign_keys | EXPLAIN QUERY PLAN SELECT * FROM u | SELECT * FROM pragma_table_info('u')
"""
_SESSIONS: dict[str, list[Any]] = {
    "nothing": [],
    "undefined": [UNDEFINED],
    "null": [None],
    "empty": [""],
    "spaces": ["  "],
    "first-primary": ["first-primary"],
    "first-unconstrained": ["first-unconstrained"],
    "first-primary with spaces": [" first-primary "],
    "in capitals": ["FIRST-PRIMARY"],
    "a word": ["zzz"],
    "a bookmark ahead": ["ffffffff-00000000-00000000-" + "0" * 32],
    "an old bookmark": ["00000000-00000000-00000000-" + "0" * 32],
}


def _session(*given: Any) -> list[Op]:
    bookmark = ["s", ["getBookmark"]]
    return [
        ["let", "s", "DB", ["withSession", *given]], bookmark, ["s", ["prepare", "SELECT 1 AS a"], ["all"]], bookmark,
        ["s", ["prepare", "CREATE TABLE t (a)"], ["run"]], bookmark, ["s", ["batch", [statement("SELECT * FROM t")]]], bookmark,
        ["s", ["prepare", "SELEC"], ["run"]],
    ]  # fmt: skip


QUESTIONS: dict[str, Question] = {
    **{f"script: {name}": asked(_TABLE, db(sql), _ROWS) for name, sql in _SCRIPTS.items()},
    **{f"batch script: {name}": asked(_TABLE, batch(sql.replace("SELECT", "SELECT ALL"), "SELECT 7 AS z"), _ROWS) for name, sql in _SCRIPTS.items()},
    **{f"exec: {name}": asked(_TABLE, ["DB", ["exec", sql]], _ROWS) for name, sql in _EXEC.items()},
    **{f"exec of: {name}": asked(["DB", ["exec", value]]) for name, value in VALUES.items()
       if name in ("1", "null", "undefined", "true", "array", "object", "BigInt", "function", "Date", "text")},
    **{f"constraint: {name}": asked(_CONSTRAINED, db(sql), _ROWS, batch("INSERT INTO t (a) VALUES (70)", sql, "INSERT INTO t (a) VALUES (80)"), _ROWS)
       for name, sql in _CONSTRAINTS.items()},
    **{f"meta: {sql.strip()}": asked(_COUNTED, db(sql.strip())) for line in _COUNTS.strip().splitlines() for sql in line.split(" | ")},
    **{f"session: {name}": asked(*_session(*given)) for name, given in _SESSIONS.items()},
    **{f"session of: {name}": asked(["DB", ["withSession", value], ["getBookmark"]]) for name, value in VALUES.items()},
    **{f"batch of: {name}": asked(["DB", ["batch", value]]) for name, value in VALUES.items()
       if name in ("1", "null", "undefined", "true", "empty array", "array", "object", "text", "empty text", "Set", "function")},
    **{f"batch of one: {name}": asked(["DB", ["batch", [value]]]) for name, value in VALUES.items()
       if name in ("1", "null", "undefined", "text", "empty array", "object", "function")},
    "batch: error in the second": asked(_TABLE, batch("INSERT INTO t (a) VALUES (1)", "SELEC"), _ROWS),
    "batch: unique in the third": asked(_TABLE, batch("INSERT INTO t (a) VALUES (1)", "SELECT * FROM t", "INSERT INTO t (a) VALUES (1)"), _ROWS),
    "batch: reads its writes": asked(_TABLE, batch("INSERT INTO t (a) VALUES (1)", "SELECT * FROM t", "DELETE FROM t", "SELECT * FROM t")),
    "batch: comments are left out": asked(batch("-- a", "SELECT 1 AS a", "  -- b", "SELECT 2 AS a", "")),
    "batch: parameters": asked(["DB", ["batch", [statement("SELECT ? AS a", 1), statement("SELECT ?, ?", 1), statement("SELECT 3")]]]),
    "batch: statement objects": asked(["DB", ["batch", [{"statement": "SELECT ? AS a", "params": [5]}]]]),
    "batch: BEGIN": asked(batch("BEGIN", "SELECT 1", "COMMIT")),
    "batch: 120 statements": asked(batch(*["SELECT 1"] * 120)),
    "foreign keys: off has no effect": asked(_CONSTRAINED, db("PRAGMA foreign_keys = OFF"), db("INSERT INTO k VALUES (9)"),
        batch("PRAGMA foreign_keys = OFF", "INSERT INTO k VALUES (9)"), db("PRAGMA foreign_keys")),
    "foreign keys: deferred": asked(_CONSTRAINED, batch("PRAGMA defer_foreign_keys = ON", "INSERT INTO k VALUES (9)", "INSERT INTO t (id) VALUES (9)"),
        batch("PRAGMA defer_foreign_keys = ON", "INSERT INTO k VALUES (10)"), db("SELECT * FROM k"), db("PRAGMA defer_foreign_keys")),
    "foreign keys: cascade": asked(
        batch("CREATE TABLE p (id INTEGER PRIMARY KEY)", "CREATE TABLE c (p REFERENCES p ON DELETE CASCADE ON UPDATE SET NULL)",
              "INSERT INTO p VALUES (1), (2), (3)", "INSERT INTO c VALUES (1), (1), (2), (3)"),
        db("DELETE FROM p WHERE id = 1"), db("UPDATE p SET id = 20 WHERE id = 2"), db("SELECT p FROM c", how="raw"), db("DROP TABLE p"), db("SELECT count(*) AS n FROM c"),
    ),
    "script: the same two selects again": asked(db("SELECT 21; SELECT 22"), db("SELECT 21; SELECT 22"), batch("SELECT 23; SELECT 24"), batch("SELECT 23; SELECT 24")),
    "params of an earlier statement": asked(db("SELECT ?; SELECT ?", 1), db("SELECT 1; SELECT ?", 1), db("SELECT ?; SELECT 1", 1)),
    "session: no exec, no dump": asked(["let", "s", "DB", ["withSession"]], ["s", "exec"], ["s", "dump"], ["s", "prepare"], ["s", "batch"]),
    "session: statement of another": asked(
        _TABLE, ["let", "s", "DB", ["withSession"]], ["s", ["batch", [statement("SELECT 1 AS a")]]], ["DB", ["batch", [{"$chain": ["s", ["prepare", "SELECT 2 AS a"]]}]]],
        ["s", ["getBookmark"]],
    ),
    "last_row_id and changes": asked(
        _TABLE, db("INSERT INTO t (id, a) VALUES (50, 1)"), db("SELECT last_insert_rowid() AS r, changes() AS c, total_changes() > 0 AS t"),
        db("UPDATE t SET a = 2"), db("SELECT 1"), db("DELETE FROM t"), db("CREATE TABLE q (a)"), db("INSERT INTO q VALUES (1)"), db("SELECT last_insert_rowid() AS r"),
    ),
    "triggers": asked(
        batch("CREATE TABLE t (a)", "CREATE TABLE log (a, b)", "CREATE INDEX i ON log (a)",
              "CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.a, 1); INSERT INTO log VALUES (new.a, 2); END"),
        db("INSERT INTO t VALUES (1)"), db("INSERT INTO t VALUES (2), (3)"), db("SELECT * FROM log", how="raw"),
    ),
    "fts5": asked(
        db("CREATE VIRTUAL TABLE f USING fts5(title, body)"), db("INSERT INTO f VALUES ('one', 'the quick fox'), ('two', 'a lazy dog')"),
        db("SELECT * FROM f WHERE f MATCH 'quick'"), db("SELECT highlight(f, 1, '[', ']') AS h, snippet(f, 1, '<', '>', '.', 2) AS s FROM f WHERE f MATCH 'fox OR dog' ORDER BY bm25(f)"),
        db("SELECT * FROM f WHERE f MATCH '\"'"), db("DELETE FROM f WHERE title = 'one'"), db("DROP TABLE f"),
    ),
    "rtree": asked(
        db("CREATE VIRTUAL TABLE r USING rtree(id, x0, x1)"), db("INSERT INTO r VALUES (1, 0, 10), (2, 20, 30)"), db("SELECT id FROM r WHERE x0 >= 5"),
        db("INSERT INTO r VALUES (3, 10, 0)"), db("DROP TABLE r"),
    ),
    "autoincrement": asked(
        db("CREATE TABLE n (id INTEGER PRIMARY KEY AUTOINCREMENT, a)"), db("INSERT INTO n (a) VALUES (1), (2)"), db("DELETE FROM n"), db("INSERT INTO n (a) VALUES (3) RETURNING id"),
        db("SELECT * FROM sqlite_sequence"),
    ),
}  # fmt: skip
