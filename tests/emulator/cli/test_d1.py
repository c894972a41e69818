"""`flarebed d1`: what it does and, to the letter, what it says (wrangler 4.164; nothing here is remote)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest

from flarebed.emulator.cli.commands import app

CONFIG = """\
{
  "name": "worker", "main": "entry.py", "compatibility_date": "2026-11-01", "compatibility_flags": ["python_workers"],
  "d1_databases": [{ "binding": "DB", "database_name": "party", "database_id": "party-id" }]
}
"""
EXECUTING = "🌀 Executing on local database DB (party-id) from .wrangler/state/v3/d1:\n"


class Command:
    """Runs commands in the folder of a config; each gives its exit code, its output and its errors."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        code = 0
        try:
            app(["d1", *arguments], standalone_mode=False)
        except SystemExit as ended:
            code = int(ended.code or 0)
        return (code, *self._capture.readouterr())

    def results(self, sql: str) -> Any:
        code, out, _ = self("execute", "DB", "--json", "--command", sql)
        assert code == 0
        return [one["results"] for one in json.loads(out)]


@pytest.fixture
def d1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    (tmp_path / "wrangler.jsonc").write_text(CONFIG)
    monkeypatch.chdir(tmp_path)
    return Command(capsys)


def migration(name: str, sql: str) -> None:
    Path("migrations").mkdir(exist_ok=True)
    Path("migrations", name).write_text(sql)


def test_execute_answers_in_json_where_there_is_no_terminal(d1: Command) -> None:
    sql = "CREATE TABLE t (a, b); INSERT INTO t VALUES (1.0, x'0102'), (NULL, '[x]'); SELECT a, b FROM t"
    code, out, err = d1("execute", "DB", "--command", sql)
    assert (code, err) == (0, "")
    assert out.startswith(EXECUTING + '🚣 3 commands executed successfully.\n[\n  {\n    "results": [],\n')
    found = json.loads(out.partition("successfully.\n")[2])
    assert [one["success"] for one in found] == [True, True, True]
    assert found[2]["results"] == [{"a": 1, "b": "[1, 2]"}, {"a": None, "b": "[x]"}]
    assert list(found[2]["meta"]) == ["duration"]


def test_execute_draws_tables_on_a_terminal(d1: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    code, out, err = d1("execute", "party", "--command", "SELECT 1 AS n, NULL AS missing, '[b]ü' AS text")
    assert (code, err) == (0, "")
    assert out == EXECUTING.replace(" DB ", " party ") + (
        "🚣 1 command executed successfully.\n"
        "┌───┬─────────┬──────┐\n"
        "│ n │ missing │ text │\n"
        "├───┼─────────┼──────┤\n"
        "│ 1 │ null    │ [b]ü │\n"
        "└───┴─────────┴──────┘\n"
    )


def test_execute_with_json_says_nothing_else(d1: Command) -> None:
    code, out, err = d1("execute", "DB", "--json", "--local", "--command", "SELECT 1 AS n")
    assert (code, err) == (0, "")
    [answer] = json.loads(out)
    assert answer["results"] == [{"n": 1}]


@pytest.mark.parametrize("where", [["--command", "SELEC 1"], ["--command", "CREATE TABLE t (a); SELEC 1"]])
def test_execute_is_all_or_nothing(d1: Command, where: list[str]) -> None:
    message = 'near "SELEC": syntax error at offset 0: SQLITE_ERROR'
    assert d1("execute", "DB", *where) == (1, EXECUTING, f"✘ [ERROR] {message}\n")
    assert d1("execute", "DB", "--json", *where) == (
        1, json.dumps({"error": {"text": message}}, indent=2) + "\n", ""
    )  # fmt: skip
    assert d1.results("SELECT name FROM sqlite_master WHERE name = 't'") == [[]]


def test_execute_a_file(d1: Command, tmp_path: Path) -> None:
    (tmp_path / "dump.sql").write_text(
        "BEGIN TRANSACTION;\nCREATE TABLE t (a TEXT); -- a; b\nINSERT INTO t VALUES ('a;b');\nCOMMIT;"
    )
    code, out, err = d1("execute", "DB", "--file", "dump.sql")
    assert (code, err) == (0, "")
    assert out.startswith(EXECUTING + "🚣 2 commands executed successfully.\n")
    assert d1.results("SELECT a FROM t") == [[{"a": "a;b"}]]
    apsw.Connection(str(tmp_path / "binary.sqlite")).execute("CREATE TABLE t (a)")
    assert d1("execute", "DB", "--file", "binary.sqlite")[2] == (
        "✘ [ERROR] Provided file is a binary SQLite database file instead of an SQL text file. The execute command can "
        "only process SQL text files. Please export an SQL file from your SQLite database and try again.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["DB", "--command", "SELECT 1", "--file", "x.sql"], "Error: can't provide both --command and --file."),
        (
            ["DB"],
            'Missing required option --command or --file. Provide a SQL command inline with --command="<SQL>", or a '
            "path to a SQL file with --file=<path>.",
        ),
        (
            ["nodb", "--command", "SELECT 1"],
            "Couldn't find a D1 DB with the name or binding 'nodb' in your wrangler.jsonc file.\n  It has: DB",
        ),
        (
            ["DB", "--file", "no.sql"],
            'Unable to read SQL text file "no.sql". Please check the file path and try again.',
        ),
    ],
)
def test_mistakes_of_execute(d1: Command, arguments: list[str], message: str) -> None:
    assert d1("execute", *arguments) == (1, "", f"✘ [ERROR] {message}\n")


def test_the_file_is_wranglers(d1: Command, tmp_path: Path) -> None:
    d1("execute", "DB", "--command", "CREATE TABLE t (a)")
    [made] = (tmp_path / ".wrangler/state/v3/d1/miniflare-D1DatabaseObject").glob("*.sqlite")
    assert apsw.Connection(str(made)).execute("SELECT name FROM sqlite_master").fetchall() == [("t",)]
    d1("execute", "DB", "--persist-to", "elsewhere", "--command", "CREATE TABLE t (a)")
    assert (tmp_path / "elsewhere/v3/d1/miniflare-D1DatabaseObject" / made.name).is_file()


def test_migrations_from_first_to_last(d1: Command) -> None:
    migration("0002_ann.sql", "INSERT INTO guests VALUES ('ann');")
    migration("0001_guests.sql", "CREATE TABLE guests (name TEXT);")
    listed = (
        "Migrations to be applied:\n"
        "┌─────────────────┐\n"
        "│ {}            │\n"
        "├─────────────────┤\n"
        "│ 0001_guests.sql │\n"
        "├─────────────────┤\n"
        "│ 0002_ann.sql    │\n"
        "└─────────────────┘\n"
    )
    states = (
        "┌─────────────────┬────────┐\n"
        "│ name            │ status │\n"
        "├─────────────────┼────────┤\n"
        "│ 0001_guests.sql │ ✅     │\n"
        "├─────────────────┼────────┤\n"
        "│ 0002_ann.sql    │ {}     │\n"
        "└─────────────────┴────────┘\n"
    )
    assert d1("migrations", "list", "DB") == (0, listed.format("Name"), "")
    each = EXECUTING + "🚣 2 commands executed successfully.\n"
    asked = (
        "? About to apply 2 migration(s)\n"
        "Your database may not be available to serve requests during the migration, continue?\n"
        "🤖 Using fallback value in non-interactive context: yes\n"
    )
    applied = listed.format("name") + asked + each + states.format("🕒️") + each + states.format("✅")
    assert d1("migrations", "apply", "DB") == (0, applied, "")
    assert d1.results("SELECT name FROM guests; SELECT name FROM d1_migrations ORDER BY id") == [
        [{"name": "ann"}],
        [{"name": "0001_guests.sql"}, {"name": "0002_ann.sql"}],
    ]
    assert d1("migrations", "list", "DB") == (0, "✅ No migrations to apply!\n", "")
    assert d1("migrations", "apply", "DB") == (0, "✅ No migrations to apply!\n", "")


def test_a_migration_that_fails_leaves_no_trace_and_the_earlier_stay(d1: Command) -> None:
    migration("0001_a.sql", "CREATE TABLE a (x);")
    migration("0002_bad.sql", "CREATE TABLE b (x);\nBAD;")
    code, out, err = d1("migrations", "apply", "DB")
    assert (code, err) == (
        1, '✘ [ERROR] near "BAD": syntax error at offset 0: SQLITE_ERROR\n  migrations/0002_bad.sql:2: BAD\n'
    )  # fmt: skip
    assert out.endswith(
        "│ 0001_a.sql   │ ✅     │\n├──────────────┼────────┤\n│ 0002_bad.sql │ 🕒️     │\n└──────────────┴────────┘\n"
        + EXECUTING
    )
    assert d1.results("SELECT name FROM d1_migrations; SELECT name FROM sqlite_master WHERE name IN ('a', 'b')") == [
        [{"name": "0001_a.sql"}],
        [{"name": "a"}],
    ]


def test_a_folder_of_migrations_that_is_not_there(d1: Command, tmp_path: Path) -> None:
    message = (
        "▲ [WARNING] No migrations folder found. Set `migrations_dir` in your wrangler.jsonc file to choose a "
        f"different path.\n✘ [ERROR] No migrations present at {tmp_path / 'migrations'}.\n"
    )
    assert d1("migrations", "list", "DB") == (1, "", message)
    assert d1("migrations", "apply", "DB") == (1, "", message)


def test_what_the_file_system_refuses_is_told_in_its_words(d1: Command, tmp_path: Path) -> None:
    migration("0001_a.sql", "SELECT 1")
    code, _, err = d1("migrations", "create", "DB", "x" * 300)
    assert (code, err) == (1, f"✘ [ERROR] {tmp_path}/migrations/0002_{'x' * 300}.sql: File name too long\n")
    Path("migrations", "0001_a.sql").unlink()
    Path("migrations").rmdir()
    Path("migrations").touch()
    for command in (("apply", "DB"), ("list", "DB"), ("create", "DB", "x")):
        code, out, err = d1("migrations", *command)
        assert (code, out, err) == (1, "", f"✘ [ERROR] {tmp_path}/migrations: Not a directory\n")
