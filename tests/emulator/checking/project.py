"""A Worker with one workflow, written into a folder, and what the check finds in it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flarebed.emulator.checking.check import check
from flarebed.emulator.checking.report import Finding, Report
from flarebed.emulator.config.load import load

CONFIG = """\
{
  "name": "worker", "main": "src/entry.py", "compatibility_date": "2026-11-01",
  "compatibility_flags": ["python_workers"],
  "workflows": [{ "name": "flow", "binding": "FLOW", "class_name": "Flow" }],
  "d1_databases": [{ "binding": "DB", "database_name": "shop", "database_id": "shop" }],
  "kv_namespaces": [{ "binding": "KV", "id": "kv" }],
  "queues": { "producers": [{ "binding": "JOBS", "queue": "jobs" }] }
}
"""
MIGRATION = """\
CREATE TABLE orders (number INTEGER PRIMARY KEY, id TEXT UNIQUE, sku TEXT);
CREATE TABLE log (line TEXT);
CREATE TABLE stock (sku TEXT PRIMARY KEY, available INTEGER);
INSERT INTO stock VALUES ('lamp', 10);
"""
HEAD = """\
import datetime
import json
import random
import secrets
import time
import uuid

import js
from workers import WorkflowEntrypoint, fetch

SEEN = {}
RUNS = 0


class Flow(WorkflowEntrypoint):
    async def run(self, event, step):
        async def do(name, work, **config):
            @step.do(name, **config)
            async def made():
                result = work()
                return await result if hasattr(result, "__await__") else result

            return await made()

        params = event["payload"]
"""
PARAMS = {"id": "o-1", "sku": "lamp"}


def written(folder: Path, body: str) -> Path:
    """The Worker whose `run` ends with `body`."""
    (folder / "src").mkdir()
    (folder / "migrations").mkdir()
    (folder / "wrangler.jsonc").write_text(CONFIG)
    (folder / "migrations" / "0001.sql").write_text(MIGRATION)
    (folder / "src" / "entry.py").write_text(HEAD + textwrap.indent(textwrap.dedent(body), " " * 8))
    return folder


def report(folder: Path, body: str, events: Sequence[tuple[str, Any]] = (), **options: Any) -> Report:
    config = load(None, cwd=written(folder, body), env="", environ={})
    return check(config, "flow", PARAMS, events, **options)


def findings(folder: Path, body: str, events: Sequence[tuple[str, Any]] = (), **options: Any) -> list[tuple[str, str]]:
    """(rule, the first line of the place), in the order of the report."""
    found = report(folder, body, events, **options)
    assert [workflow.status for workflow in found.workflows] == ["complete"]
    return [(finding.rule, shown(finding)) for finding in found.findings]


def shown(finding: Finding) -> str:
    return finding.place.source.splitlines()[0].strip()
