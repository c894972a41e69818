"""Where workerd and esbuild are found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flarebed.bindings.errors import UserError
from flarebed.emulator.runtime.workerd import tools

PROGRAM = b"\x7fELF\0"
SCRIPT = b"#!/usr/bin/env node\n"


@pytest.fixture(autouse=True)
def on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools.sys, "platform", "linux")
    monkeypatch.setattr(tools.platform, "machine", lambda: "x86_64")


def program(path: Path, content: bytes = PROGRAM, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)
    return path


def test_the_package_of_the_platform(tmp_path: Path) -> None:
    modules = tmp_path / "node_modules"
    program(modules / "workerd/bin/workerd", SCRIPT)
    program(modules / "esbuild/bin/esbuild", SCRIPT)
    workerd = program(modules / "@cloudflare/workerd-linux-64/bin/workerd")
    esbuild = program(modules / "@esbuild/linux-x64/bin/esbuild")
    assert tools.find_workerd(tmp_path, "") == workerd
    assert tools.find_esbuild(tmp_path, "") == esbuild


@pytest.mark.parametrize(
    ("system", "machine", "workerd", "esbuild"),
    [
        ("linux", "aarch64", "workerd-linux-arm64", "linux-arm64"),
        ("darwin", "arm64", "workerd-darwin-arm64", "darwin-arm64"),
        ("darwin", "x86_64", "workerd-darwin-64", "darwin-x64"),
    ],
)
def test_other_platforms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str, machine: str, workerd: str, esbuild: str
) -> None:
    monkeypatch.setattr(tools.sys, "platform", system)
    monkeypatch.setattr(tools.platform, "machine", lambda: machine)
    modules = tmp_path / "node_modules"
    first = program(modules / "@cloudflare" / workerd / "bin/workerd")
    second = program(modules / "@esbuild" / esbuild / "bin/esbuild")
    assert (tools.find_workerd(tmp_path, ""), tools.find_esbuild(tmp_path, "")) == (first, second)


def test_the_package_in_front_if_it_holds_the_program(tmp_path: Path) -> None:
    esbuild = program(tmp_path / "node_modules/esbuild/bin/esbuild")
    assert tools.find_esbuild(tmp_path, "") == esbuild


def test_the_folders_above(tmp_path: Path) -> None:
    esbuild = program(tmp_path / "node_modules/@esbuild/linux-x64/bin/esbuild")
    folder = tmp_path / "packages/worker"
    folder.mkdir(parents=True)
    assert tools.find_esbuild(folder, "") == esbuild
    nearer = program(folder / "node_modules/@esbuild/linux-x64/bin/esbuild")
    assert tools.find_esbuild(folder, "") == nearer


def test_the_version_of_wrangler_where_npm_nests_it(tmp_path: Path) -> None:
    modules = tmp_path / "node_modules"
    program(modules / "@esbuild/linux-x64/bin/esbuild")
    nested = program(modules / "wrangler/node_modules/@esbuild/linux-x64/bin/esbuild")
    assert tools.find_esbuild(tmp_path, "") == nested


def test_what_pnpm_links(tmp_path: Path) -> None:
    store = tmp_path / "node_modules/.pnpm"
    workerd = program(store / "wrangler@4.0.0/node_modules/@cloudflare/workerd-linux-64/bin/workerd")
    (store / "wrangler@4.0.0/node_modules/wrangler").mkdir()
    (tmp_path / "node_modules/wrangler").symlink_to(store / "wrangler@4.0.0/node_modules/wrangler")
    assert tools.find_workerd(tmp_path, "") == workerd


def test_what_pnpm_hoists(tmp_path: Path) -> None:
    workerd = program(tmp_path / "node_modules/.pnpm/node_modules/@cloudflare/workerd-linux-64/bin/workerd")
    assert tools.find_workerd(tmp_path, "") == workerd


def test_the_path_at_last(tmp_path: Path) -> None:
    workerd = program(tmp_path / "bin/workerd")
    folder = tmp_path / "project"
    program(folder / "node_modules/workerd/bin/workerd", SCRIPT)
    program(folder / "node_modules/@cloudflare/workerd-linux-64/bin/workerd", mode=0o644)
    assert tools.find_workerd(folder, os.pathsep.join((str(tmp_path / "gone"), str(tmp_path / "bin")))) == workerd


@pytest.mark.parametrize(
    ("find", "name", "purpose"),
    [(tools.find_workerd, "workerd", "runs"), (tools.find_esbuild, "esbuild", "bundles")],
)
def test_neither(tmp_path: Path, find: object, name: str, purpose: str) -> None:
    program(tmp_path / "bin" / name, SCRIPT)
    with pytest.raises(UserError) as caught:
        find(tmp_path, str(tmp_path / "bin"))  # type: ignore[operator]
    assert (caught.value.message, caught.value.hint) == (
        f'The program "{name}", which {purpose} JavaScript Workers, was not found in node_modules of {tmp_path} and '
        "the folders above it, nor on the PATH.",
        "Install it with `npm install --save-dev workerd esbuild`; `wrangler` brings both along too.",
    )


def test_versions(tmp_path: Path) -> None:
    installed = program(tmp_path / "esbuild/bin/esbuild")
    (tmp_path / "esbuild/package.json").write_text('{"name": "@esbuild/linux-x64", "version": "0.28.2"}')
    assert tools.version_of(installed) == "0.28.2"
    (tmp_path / "a/package.json").parent.mkdir()
    (tmp_path / "a/package.json").write_text('{"name": "mine", "version": "9"}')
    assert tools.version_of(program(tmp_path / "a/b/esbuild", b"#!/bin/sh\necho 0.25.4\n")) == "0.25.4"
    assert tools.version_of(program(tmp_path / "a/b/workerd", b"#!/bin/sh\necho workerd 2026-11-17\n")) == (
        "1.20261117.0"
    )


def test_packages(tmp_path: Path) -> None:
    own = tmp_path / "node_modules/unenv"
    own.mkdir(parents=True)
    assert tools.find_package("unenv", tmp_path / "src") == own
    nested = tmp_path / "node_modules/wrangler/node_modules/unenv"
    nested.mkdir(parents=True)
    assert tools.find_package("unenv", tmp_path) == nested
    assert tools.find_package("@cloudflare/unenv-preset", tmp_path) is None
