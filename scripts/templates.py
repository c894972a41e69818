#!/usr/bin/env python3
"""Serve projects of Cloudflare's own repositories, unmodified, and ask what shows that they work.

    .venv/bin/python scripts/templates.py CHECKOUTS [NAME ...]

CHECKOUTS is a folder with checkouts of github.com/cloudflare/templates (`templates`) and .../workers-sdk
(`workers-sdk`). workerd and esbuild have to be on the PATH, npm too. Each project is copied to a temporary folder, npm
installs the packages that it lists and needs (not its development tools) in the folder above, and `flarebed dev`
serves it. What `npm create cloudflare` asks for, a name and a date, is filled in. `--table` prints the results as the
table of docs/javascript.md.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from examples import FLAREBED, free_port, wait_ready
from template_checks import Site
from template_list import TEMPLATES, Template

_PLACEHOLDERS = {"<WORKER_NAME>": "made-by-c3", "<PACKAGE_NAME>": "made-by-c3", "<COMPATIBILITY_DATE>": "2026-11-01"}
_POLYFILLS = {"unenv": "2.0.0-rc.24", "@cloudflare/unenv-preset": "2.16.1"}
"""Those of wrangler 4.164."""
_FILLED = ("wrangler.jsonc", "package.json")


def run(template: Template, checkouts: Path) -> str:
    """What is wrong, or an empty text."""
    with tempfile.TemporaryDirectory(prefix="templates-") as temporary:
        folder = Path(temporary) / "project"
        log = Path(temporary) / "log"
        try:
            shutil.copytree(checkouts / template.path, folder)
            _fill(folder)
            _install(template, Path(temporary))
            for command in template.before:
                subprocess.run([str(FLAREBED), *command], cwd=folder, check=True, stdin=subprocess.DEVNULL)
            with _serving(template, folder, log) as site:
                template.check(site)
        except Exception as error:
            shown = log.read_text(encoding="utf-8")[-3000:] if log.exists() else ""
            return f"{type(error).__name__}: {error}\n{shown}"
    return ""


def _fill(folder: Path) -> None:
    for name in _FILLED:
        path = folder / name
        if path.exists():
            text = path.read_text("utf-8")
            for placeholder, value in _PLACEHOLDERS.items():
                text = text.replace(placeholder, value)
            path.write_text(text, "utf-8")


def _install(template: Template, above: Path) -> None:
    """The versions are those of the project's package.json."""
    package = above / "project" / "package.json"
    listed = json.loads(package.read_text("utf-8")) if package.exists() else {}
    versions = {**listed.get("devDependencies", {}), **listed.get("dependencies", {})}
    wanted = {name: versions[name] for name in template.packages}
    if template.polyfills:
        wanted |= _POLYFILLS
    if wanted:
        (above / "package.json").write_text(json.dumps({"private": True, "dependencies": wanted}), "utf-8")
        command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"]
        subprocess.run(command, cwd=above, check=True, stdin=subprocess.DEVNULL)


@contextmanager
def _serving(template: Template, folder: Path, log: Path) -> Iterator[Site]:
    port = free_port()
    command = [str(FLAREBED), "dev", "--port", str(port), *template.options]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        wait_ready(port, process)
        yield Site(port, lambda: log.read_text("utf-8"))
    finally:
        process.terminate()
        process.wait(timeout=10)


def main() -> None:
    parser = argparse.ArgumentParser(description="serve projects of cloudflare/templates and workers-sdk")
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    failed = 0
    for template in TEMPLATES:
        if given.names and template.name not in given.names:
            continue
        wrong = run(template, given.checkouts)
        failed += bool(wrong)
        if given.table:
            print(f"| `{template.path}` | {template.uses} | {'does not run' if wrong else 'runs'} |", flush=True)
        else:
            print(f"{template.name}: {wrong or 'works'}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
