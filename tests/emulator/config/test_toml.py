"""TOML: what it may look like, and where its fields stand."""

from __future__ import annotations

import pytest

from flarebed.bindings.kv.spec import KvNamespaceSpec
from flarebed.emulator.config import ConfigErrors
from flarebed.emulator.config.document import SyntaxProblem, position
from flarebed.emulator.config.toml import parse
from tests.emulator.config.project import Project

TEXT = '''name = "x" # c
compatibility_date = "2026-11-01"
vars = { A = "1", "B.C" = 2 }

[[kv_namespaces]]
binding = "KV"

[env.prod]
name = "y"
note = """
not = "a key"
"""
[[env.prod.kv_namespaces]]
binding = "KV"
id = "one"
[[env.prod.kv_namespaces]]
  binding = "OTHER"'''


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_line_ends_and_no_final_newline(project: Project, eol: str) -> None:
    project.write("wrangler.toml", TEXT.replace("\n", eol))
    config = project.load(env="prod")
    assert config.name == "y"
    assert config.specs["kv"] == (KvNamespaceSpec("KV", "one"), KvNamespaceSpec("OTHER"))
    assert project.load().vars == {"A": "1", "B.C": 2}


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_places(eol: str) -> None:
    text = TEXT.replace("\n", eol)
    _, offsets = parse(text)
    assert {path: position(text, offset) for path, offset in offsets.items()} == {
        "name": (1, 1),
        "compatibility_date": (2, 1),
        "vars": (3, 1),
        "kv_namespaces[0]": (5, 1),
        "kv_namespaces[0].binding": (6, 1),
        "env.prod": (8, 1),
        "env.prod.name": (9, 1),
        "env.prod.note": (10, 1),
        "env.prod.kv_namespaces[0]": (13, 1),
        "env.prod.kv_namespaces[0].binding": (14, 1),
        "env.prod.kv_namespaces[0].id": (15, 1),
        "env.prod.kv_namespaces[1]": (16, 1),
        "env.prod.kv_namespaces[1].binding": (17, 3),
    }


def test_routes_that_slipped_under_a_table(project: Project) -> None:
    project.write(
        "wrangler.toml",
        'name = "x"\ncompatibility_date = "2026-11-01"\n[assets]\ndirectory = "./public"\nroutes = ["example.com/*"]\n',
    )
    config = project.load()
    assert config.routes == ()
    assert config.warnings == (
        "Processing wrangler.toml configuration:\n"
        '  - Unexpected fields found in assets field: "routes"\n'
        "    at wrangler.toml:5:1",
    )


def test_dates_are_no_vars(project: Project) -> None:
    project.write("wrangler.toml", 'compatibility_date = "2026-11-01"\n[vars]\nD = 2026-01-02\n')
    with pytest.raises(ConfigErrors) as caught:
        project.load()
    assert caught.value.render() == (
        "Processing wrangler.toml configuration:\n"
        '  - The field "vars.D" is a TOML date, which is not supported. Please use a string instead, '
        'e.g. D = "2025-12-19".\n'
        "    at wrangler.toml:3:1"
    )


@pytest.mark.parametrize("text", ["a = " + "[" * 5000, "a = " + "9" * 5000, "a = \ufffd", "[a]\n[a]", "a = 1\na = 2"])
def test_whatever_is_wrong_is_a_syntax_problem(text: str) -> None:
    with pytest.raises(SyntaxProblem, match=r"^Invalid TOML document: "):
        parse(text)
