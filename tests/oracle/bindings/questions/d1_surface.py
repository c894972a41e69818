"""D1: which SQL production's SQLite takes: functions, pragmas, statements, limits."""

from __future__ import annotations

from tests.oracle.bindings.questions.words import Question, asked, batch, db, quietly

_FUNCTIONS = """
abs(-1) | changes() | char(65,66) | coalesce(null,1) | concat('a',1) | concat_ws('-',1,2) | format('%d',1) | glob('a*','ab') | hex('a') | ifnull(null,1)
iif(1,2,3) | if(1,2,3) | instr('ab','b') | last_insert_rowid() | length('ab') | like('a%','ab') | likelihood(1,0.5) | likely(1) | load_extension('x') | lower('A')
ltrim(' a') | max(1,2) | min(1,2) | nullif(1,1) | octet_length('ü') | printf('%05.1f|%s|%q',1.25,'x','it''s') | quote('a''b') | typeof(random()) | length(randomblob(3))
replace('aa','a','b') | round(1.55,1) | rtrim('a ') | sign(-2) | soundex('a') | sqlite_compileoption_get(0) | sqlite_compileoption_used('X') | sqlite_offset(1)
sqlite_source_id() | sqlite_version() | substr('abc',2) | substring('abc',1,1) | subtype(1) | trim(' a ') | unhex('61') | unicode('a') | unistr('\\0061') | unistr_quote('a')
unlikely(0) | upper('a') | zeroblob(1) | date('2024-01-31','+1 month') | time('12:00') | datetime(0,'unixepoch') | julianday('2000-01-01') | unixepoch('2024-01-01')
strftime('%Y-%W','2024-01-01') | timediff('2024-01-02','2024-01-01') | avg(1) | count(*) | group_concat('a') | string_agg('a',',') | sum(1) | total(1) | median(1)
percentile(1,50) | percentile_cont(1,0.5) | percentile_disc(1,0.5) | acos(1) | acosh(1) | asin(0) | asinh(0) | atan(0) | atan2(0,1) | atanh(0) | ceil(1.2) | ceiling(1.2) | cos(0) | cosh(0)
degrees(0) | exp(0) | floor(1.5) | ln(1) | log(10) | log(2,8) | log10(10) | log2(8) | mod(7,3) | pi() | pow(2,3) | power(2,3) | radians(0) | sin(0) | sinh(0) | sqrt(4) | tan(0) | tanh(0) | trunc(1.5)
json('{"b":1,"a":2}') | json_array(1,'a',null) | json_array_length('[1]') | json_error_position('{') | json_extract('{"a":[1]}','$.a') | json_group_array(1) | json_group_object('a',1)
json_insert('{}','$.a',1) | json_object('a',1) | json_patch('{"a":1}','{"a":null}') | json_pretty('[1]') | json_quote('a') | json_remove('[1,2]','$[0]') | json_replace('[1]','$[0]',2)
json_set('{}','$.a',json('[1]')) | json_type('1.5') | json_valid('x') | jsonb('[1]') | hex(jsonb_array(1)) | hex(jsonb_object('a',1)) | hex(jsonb_set('{}','$.a',1)) | '[1]' -> 0 | '[1]' ->> 0
match('a','b') | regexp('a','b') | 'a' REGEXP 'b' | bm25(1) | highlight(1,0,'','') | snippet(1,0,'','','',1) | matchinfo(1) | rtreecheck('t') | rtreenode(2,x'00') | rtreedepth(x'00') | fts5(1)
fts5_source_id() | fts3_tokenizer('x') | sqlite_log(1,'x') | uuid() | md5('a') | sha1('a') | sha3('a') | decimal('1') | generate_series(1,2) | readfile('x') | writefile('x','y') | edit('a')
nosuch() | abs() | abs(1,2) | current_date IS NOT NULL | current_time IS NOT NULL | current_timestamp IS NOT NULL | row_number() OVER () | rank() OVER () | dense_rank() OVER () | percent_rank() OVER ()
cume_dist() OVER () | ntile(2) OVER () | lag(1) OVER () | lead(1) OVER () | first_value(1) OVER () | last_value(1) OVER () | nth_value(1,1) OVER () | sum(1) OVER (ORDER BY 1) | sqlite_rename_table(1,2,3,4,5,6,7)
sqlite_drop_column(1,2,3) | json_each(1) | total_changes() >= 0 | sqlite_unsupported_offset_limit() | carray(1) | geopoly_area('[]') | sqlite_dbpage(1)
"""
_PRAGMAS = """
data_version | page_size | page_size=4096 | case_sensitive_like | case_sensitive_like=1 | foreign_keys | foreign_keys=0 | foreign_keys=off | foreign_keys(1) | foreign_keys='on' | foreign_keys=2
defer_foreign_keys | defer_foreign_keys=on | ignore_check_constraints | ignore_check_constraints=1 | legacy_alter_table | legacy_alter_table=on | recursive_triggers | recursive_triggers=1
reverse_unordered_selects | reverse_unordered_selects=1 | foreign_key_check | foreign_key_check(c) | foreign_key_check(nope) | foreign_key_list(c) | foreign_key_list | index_info(ci) | index_info | index_list(c) | index_list
index_xinfo(ci) | table_info(c) | table_info | table_info(nope) | table_info('c') | table_xinfo(c) | table_info(_cf_METADATA) | table_info(sqlite_master) | quick_check | quick_check(c) | quick_check(1)
quick_check('c') | optimize | optimize(1) | optimize(0x10002) | optimize(x) | integrity_check | journal_mode | journal_mode=delete | user_version | user_version=1 | schema_version | page_count | freelist_count
cache_size | cache_size=10 | encoding | database_list | function_list | module_list | pragma_list | collation_list | compile_options | synchronous | temp_store | wal_checkpoint | max_page_count | auto_vacuum
application_id | busy_timeout | locking_mode | mmap_size | query_only | query_only=1 | secure_delete | threads | trusted_schema | writable_schema | writable_schema=1 | read_uncommitted | incremental_vacuum
hard_heap_limit | soft_heap_limit | analysis_limit | automatic_index | cell_size_check | checkpoint_fullfsync | count_changes | empty_result_callbacks | full_column_names | short_column_names
stats | vdbe_debug | nosuchpragma | main.table_info(c) | main.foreign_keys | temp.table_info(c) | TABLE_INFO(c) | "table_info"(c)
"""
_STATEMENTS = """
BEGIN | BEGIN TRANSACTION | BEGIN IMMEDIATE | COMMIT | END | ROLLBACK | SAVEPOINT a | RELEASE a | ROLLBACK TO a | VACUUM | VACUUM INTO 'x' | ANALYZE nope | REINDEX | REINDEX c | REINDEX nope | ATTACH 'x' AS y
ATTACH ':memory:' AS y | DETACH main | CREATE TEMP TABLE tt (a) | CREATE TEMP VIEW tv AS SELECT 1 | CREATE TEMP TRIGGER tg AFTER INSERT ON c BEGIN SELECT 1; END | CREATE TABLE temp.tt (a) | CREATE TABLE main.mm (a)
CREATE TABLE other.mm (a) | SELECT * FROM main.c | SELECT * FROM temp.c | SELECT * FROM other.c | CREATE TABLE _cf_x (a) | CREATE TABLE _CF_x (a) | CREATE TABLE "_cf_x" (a) | CREATE TABLE a_cf_x (a) | SELECT * FROM _cf_METADATA
SELECT * FROM _cf_KV | INSERT INTO _cf_KV VALUES (1,2) | DROP TABLE _cf_METADATA | CREATE INDEX _cf_i ON c (a) | CREATE VIEW _cf_v AS SELECT 1 | CREATE TRIGGER _cf_t AFTER INSERT ON c BEGIN SELECT 1; END
ALTER TABLE c RENAME TO _cf_c | ALTER TABLE c ADD COLUMN _cf_a | CREATE TABLE sqlite_x (a) | CREATE INDEX sqlite_i ON c (a)
SELECT count(*) FROM sqlite_temp_master | SELECT count(*) FROM sqlite_temp_schema | INSERT INTO sqlite_master VALUES (1,2,3,4,5) | DELETE FROM sqlite_master | DROP TABLE sqlite_master | SELECT * FROM sqlite_sequence | DELETE FROM sqlite_sequence
UPDATE sqlite_sequence SET seq = 5 | SELECT * FROM dbstat | SELECT * FROM sqlite_dbpage | SELECT * FROM generate_series(1,3) | SELECT * FROM pragma_table_info('c') | SELECT * FROM pragma_foreign_key_list('c')
SELECT * FROM pragma_function_list | SELECT * FROM pragma_database_list | SELECT * FROM pragma_compile_options | SELECT name, type, ncol FROM pragma_table_list('c') | SELECT key, value FROM json_each('[1,2]') | SELECT fullkey FROM json_tree('{"a":[1]}')
SELECT * FROM bytecode('SELECT 1') | SELECT * FROM sqlite_stmt | SELECT * FROM completion('S') | SELECT * FROM fts3tokenize | CREATE VIRTUAL TABLE v USING fts5(a) | CREATE VIRTUAL TABLE v USING fts4(a) | CREATE VIRTUAL TABLE v USING fts3(a)
CREATE VIRTUAL TABLE v USING rtree(id, x0, x1) | CREATE VIRTUAL TABLE v USING rtree_i32(id, x0, x1) | CREATE VIRTUAL TABLE v USING geopoly(a) | CREATE VIRTUAL TABLE v USING dbstat | CREATE VIRTUAL TABLE v USING csv(x)
CREATE VIRTUAL TABLE v USING nosuch(x) | CREATE VIRTUAL TABLE _cf_v USING fts5(a) | CREATE VIRTUAL TABLE temp.v USING fts5(a) | EXPLAIN QUERY PLAN SELECT * FROM c WHERE a = 1 | EXPLAIN QUERY PLAN SELECT * FROM c JOIN p ON p.id = c.p
CREATE TABLE s AS SELECT 1 AS a | CREATE TABLE w (a PRIMARY KEY) WITHOUT ROWID | CREATE TABLE st (a INTEGER) STRICT | CREATE TABLE st (a WRONG) STRICT | CREATE TABLE g (a, b GENERATED ALWAYS AS (a + 1) STORED) | CREATE TABLE IF NOT EXISTS c (x)
CREATE TABLE c (x) | CREATE TABLE k (a CHECK (a > 0)) | CREATE TABLE ai (id INTEGER PRIMARY KEY AUTOINCREMENT) | CREATE UNIQUE INDEX ui ON c (a) WHERE a > 0 | CREATE INDEX ei ON c (lower(a)) | CREATE INDEX ri ON c (random()) | DROP TABLE nope
DROP TABLE IF EXISTS nope | DROP INDEX ci | DROP VIEW nope | DROP TRIGGER nope | ALTER TABLE c RENAME TO d | ALTER TABLE c RENAME COLUMN a TO z | ALTER TABLE c ADD COLUMN z | ALTER TABLE c DROP COLUMN a | ALTER TABLE c DROP COLUMN q
SELEC 1 | SELECT | SELECT nope FROM c | SELECT * FROM nope | SELECT * FROM c WHERE nope = 1 | SELECT 'a | SELECT "a" | SELECT "nope" FROM c | SELECT * FROM c LIMIT 'x' | SELECT 1 UNION SELECT 1, 2 | INSERT INTO c (a) VALUES (1, 2)
INSERT INTO c VALUES (1) | INSERT INTO nope VALUES (1) | UPDATE c SET nope = 1 | DELETE FROM nope | SELECT a FROM c GROUP BY 5 | SELECT sum(sum(a)) FROM c | SELECT * FROM c, p WHERE id = 1 | SELECT x'0' | SELECT 1e | SELECT 0x10, 1_000 | SELECT #
SELECT a FROM c WHERE count(*) > 1 | WITH r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT sum(n) AS s FROM r | VALUES (1, 2), (3, 4) | SELECT 1 WHERE 'a' MATCH 'b' | SELECT * FROM c INDEXED BY ci WHERE a = 1 | SELECT * FROM c INDEXED BY nope
SELECT CAST('12x' AS INTEGER), CAST(1.9 AS INTEGER), CAST('x' AS REAL) | SELECT 1/0, 1%0, 5/2, 5.0/2 | SELECT 9223372036854775807 + 1 | SELECT abs(-9223372036854775808) | SELECT sum(9223372036854775807) FROM (SELECT 1 UNION ALL SELECT 2)
SELECT 'a' COLLATE nocase = 'A', 'a' COLLATE rtrim = 'a  ' | SELECT 'a' COLLATE nosuch = 'A' | SELECT raise(abort, 'x') | SELECT json('{') | SELECT json_extract('{}', 'a') | SELECT strftime('%s', 'x') | SELECT likelihood(1, 2) | SELECT round(1, 2, 3)
"""
_SET_UP = quietly(batch(
    "CREATE TABLE p (id INTEGER PRIMARY KEY, n TEXT)",
    "CREATE TABLE c (a INTEGER, p INTEGER REFERENCES p (id), b TEXT DEFAULT 'x')",
    "CREATE INDEX ci ON c (a, p)",
    "INSERT INTO p VALUES (1, 'one')",
    "INSERT INTO c VALUES (1, 1, 'y')",
))  # fmt: skip
_LIMITS: dict[str, str] = {
    "sql of 100,000 bytes": "SELECT 1 --" + "x" * 99_989,
    "sql of 100,001 bytes": "SELECT 1 --" + "x" * 99_990,
    "sql of 100,000 bytes of ü": "SELECT '" + "ü" * 49_995 + "' ",
    "sql of 100,001 bytes of ü": "SELECT '" + "ü" * 49_995 + "'  ",
    "100 columns": "SELECT " + ", ".join(map(str, range(100))),
    "101 columns": "SELECT " + ", ".join(map(str, range(101))),
    "table of 100 columns": "CREATE TABLE wide (" + ", ".join(f"c{n}" for n in range(100)) + ")",
    "table of 101 columns": "CREATE TABLE wide (" + ", ".join(f"c{n}" for n in range(101)) + ")",
    "100 order terms": "SELECT 1 AS a ORDER BY " + ", ".join("a" for _ in range(100)),
    "101 order terms": "SELECT 1 AS a ORDER BY " + ", ".join("a" for _ in range(101)),
    "LIKE of 50": f"SELECT 'a' LIKE '{'a' * 50}'",
    "LIKE of 51": f"SELECT 'a' LIKE '{'a' * 51}'",
    "LIKE of 50 bytes of ü": f"SELECT 'a' LIKE '{'ü' * 25}'",
    "LIKE of 52 bytes of ü": f"SELECT 'a' LIKE '{'ü' * 26}'",
    "GLOB of 51": f"SELECT 'a' GLOB '{'a' * 51}'",
    "5 compound terms": " UNION ALL ".join(["SELECT 1"] * 5),
    "6 compound terms": " UNION ALL ".join(["SELECT 1"] * 6),
    "values of 600 rows": "VALUES " + ", ".join(["(1)"] * 600),
    "depth 99": "SELECT " + "-(" * 98 + "1" + ")" * 98,
    "depth 100": "SELECT " + "1 + (" * 99 + "1" + ")" * 99,
    "depth 101": "SELECT " + "1 + (" * 100 + "1" + ")" * 100,
    "depth of 120 ANDs": "SELECT " + " AND ".join(["1"] * 120),
    "32 function arguments": "SELECT max(" + ", ".join(["1"] * 32) + ")",
    "33 function arguments": "SELECT max(" + ", ".join(["1"] * 33) + ")",
    "127 function arguments": "SELECT coalesce(" + ", ".join(["null"] * 127) + ")",
    "128 function arguments": "SELECT coalesce(" + ", ".join(["null"] * 128) + ")",
    "65 joined tables": "SELECT 1 FROM " + ", ".join(f"c AS c{n}" for n in range(65)),
    "long program": "SELECT " + ", ".join(["json_array(" + ",".join(["1+a"] * 60) + ")"] * 99) + " FROM c",
    "deep subqueries": "SELECT * FROM (" * 40 + "SELECT 1" + ")" * 40,
}


def _terms(table: str) -> list[str]:
    return [term.strip() for line in table.strip().splitlines() for term in line.split(" | ")]


QUESTIONS: dict[str, Question] = {
    **{f"function: {term}": asked(db(f"SELECT {term} AS v")) for term in _terms(_FUNCTIONS)},
    **{f"pragma: {term}": asked(_SET_UP, db(f"PRAGMA {term}")) for term in _terms(_PRAGMAS)},
    **{f"statement: {term}": asked(_SET_UP, db(term)) for term in _terms(_STATEMENTS)},
    **{f"limit: {name}": asked(_SET_UP, db(sql)) for name, sql in _LIMITS.items()},
}  # fmt: skip
