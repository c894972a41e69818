"""SQL texts into statements, whole or in chunks of whatever size."""

from __future__ import annotations

import pytest

from flarebed.bindings.d1.splitter import SEVERAL_TRANSACTIONS, split, split_queries
from flarebed.bindings.errors import UserError
from flarebed.bindings.sql_policy import MAX_SQL_BYTES

TRIGGER = "create trigger g after insert on t begin update t set n = case when n>1 then 1 else 0 end; end"
NESTED = (
    "CREATE TEMP TRIGGER a AFTER UPDATE ON t WHEN n BEGIN\n  SELECT 'end;'; -- end;\n  DELETE FROM t;\nEND -- done\n"
)

SPLITS = [
    ("SELECT 1; SELECT 2;", [("SELECT 1", 1), ("SELECT 2", 1)]),
    ("SELECT 1;\r\nSELECT 2;\r\n", [("SELECT 1", 1), ("SELECT 2", 2)]),
    ("a;\n-- b;\n/* c;\n*/ d;e", [("a", 1), ("-- b;\n/* c;\n*/ d", 4), ("e", 4)]),
    ("SELECT /* ; */ 2;;\n;\nb\n", [("SELECT /* ; */ 2", 1), ("b", 3)]),
    ("/* only; */; -- this;\n", []),
    ("INSERT INTO t VALUES ('a;b', \"--\", 'it''s;'); SELECT ';'", [
        ("INSERT INTO t VALUES ('a;b', \"--\", 'it''s;')", 1), ("SELECT ';'", 1),
    ]),
    ("SELECT [a;b], `c;``d`, \"e;\"\"f\"; g", [("SELECT [a;b], `c;``d`, \"e;\"\"f\"", 1), ("g", 1)]),
    ("SELECT 1 - -1 / 2; SELECT 3-- ;\n; b", [("SELECT 1 - -1 / 2", 1), ("SELECT 3-- ;", 1), ("b", 2)]),
    ("SELECT CASE a WHEN 1 THEN 2 END; SELECT 2", [("SELECT CASE a WHEN 1 THEN 2 END", 1), ("SELECT 2", 1)]),
    (f"{TRIGGER};\nSELECT 1;", [(TRIGGER, 1), ("SELECT 1", 2)]),
    (f"-- t\n{NESTED};SELECT 1", [(f"-- t\n{NESTED}".rstrip(), 2), ("SELECT 1", 6)]),
    (f"EXPLAIN QUERY PLAN {TRIGGER}; b", [(f"EXPLAIN QUERY PLAN {TRIGGER}", 1), ("b", 1)]),
    ("CREATE TRIGGER t BEGIN a; b; c", [("CREATE TRIGGER t BEGIN a; b; c", 1)]),
    ("CREATE TABLE trigger_end (a); END; b", [("CREATE TABLE trigger_end (a)", 1), ("END", 1), ("b", 1)]),
    ("SELECT 1;\nSELECT 'never closed;\nSELECT 2;", [("SELECT 1", 1), ("SELECT 'never closed;\nSELECT 2;", 2)]),
    ("a; b /* never closed; c", [("a", 1), ("b /* never closed; c", 1)]),
    ("PRAGMA a;\nBEGIN TRANSACTION;\nSELECT 1;\nCOMMIT;\n", [("PRAGMA a", 1), ("SELECT 1", 3)]),
    ("BEGIN TRANSACTION; SELECT 'BEGIN TRANSACTION;'; COMMIT; -- BEGIN TRANSACTION", [
        ("SELECT 'BEGIN TRANSACTION;'", 1),
    ]),
    ("begin transaction; COMMIT; x", [("begin transaction", 1), ("COMMIT", 1), ("x", 1)]),
]  # fmt: skip
ALONE = ["SELECT 1", "\n SELECT 1 ;\n", "SELECT 1 -- a", "-- only", "", " ", ";"]


@pytest.mark.parametrize(("sql", "statements"), SPLITS)
def test_split(sql: str, statements: list[tuple[str, int]]) -> None:
    assert list(split([sql])) == statements
    assert split_queries(sql) == [text for text, _ in statements]
    for size in (1, 2, 3, 7, 50):
        chunks = [sql[at : at + size] for at in range(0, len(sql), size)]
        assert list(split(chunks)) == statements, size


@pytest.mark.parametrize("sql", ALONE)
def test_one_statement_is_left_as_it_is(sql: str) -> None:
    assert split_queries(sql) == [sql]


@pytest.mark.parametrize(
    "sql",
    ["BEGIN TRANSACTION; COMMIT; BEGIN TRANSACTION; COMMIT;", "BEGIN TRANSACTION", "a; -- b\nBEGIN TRANSACTION\n"],
)
def test_more_than_a_transaction_around_it_all_is_refused(sql: str) -> None:
    with pytest.raises(UserError) as caught:
        split_queries(sql)
    assert caught.value.message == SEVERAL_TRANSACTIONS


def test_a_statement_that_never_ends_is_not_read_to_its_end() -> None:
    read = 0

    def chunks() -> object:
        nonlocal read
        yield "SELECT 1; SELECT '"
        for read in range(1000):  # noqa: B007
            yield "x" * 1000

    texts = [statement.text for statement in split(chunks())]  # type: ignore[arg-type]
    assert texts[0] == "SELECT 1"
    assert MAX_SQL_BYTES < len(texts[1]) < MAX_SQL_BYTES + 2000
    assert read < 110
