"""Where variables and secrets come from, and which of them wins."""

from __future__ import annotations

import pytest

from flarebed.emulator.config import ConfigErrors
from tests.emulator.config.project import Project

STAGING = {"vars": {"TOP": 1}, "env": {"staging": {"vars": {"TOP": 2, "API": "cfg"}}}}


def test_values_keep_their_types(project: Project) -> None:
    values = {"S": "s", "N": 42, "F": 1.5, "B": True, "O": {"a": [1, None, {"b": "c"}]}, "Z": None}
    assert project.with_config({"vars": values}).vars == values


def test_dev_vars_come_before_vars(project: Project) -> None:
    project.write(".dev.vars", "API=local")
    config = project.with_config(STAGING, env="staging")
    assert (config.vars, config.secrets) == ({"TOP": 2}, {"API": "local"})
    assert config.notices == ("Using secrets defined in .dev.vars",)


def test_one_dev_vars_file_is_read_and_no_other(project: Project) -> None:
    project.write(".dev.vars", "API=local\nMORE=1")
    project.write(".dev.vars.staging", "API=staging")
    project.write(".env", "API=dotenv")
    config = project.with_config(STAGING, env="staging")
    assert config.secrets == {"API": "staging"}
    assert config.notices == ("Using secrets defined in .dev.vars.staging",)
    assert project.load(env="").secrets == {"API": "local", "MORE": "1"}


def test_cloudflare_env_does_not_choose_the_file(project: Project) -> None:
    """Observed on wrangler 4.164."""
    project.write(".dev.vars", "API=local")
    project.write(".dev.vars.staging", "API=staging")
    config = project.with_config(STAGING, environ={"CLOUDFLARE_ENV": "staging"})
    assert (config.env_name, config.secrets) == ("staging", {"API": "local"})


def test_dotenv_files_are_merged(project: Project) -> None:
    project.write(".env", "A=1\nB=1\nC=1\nD=1\nE=$A-${NOPE:-none}-\\$A")
    project.write(".env.local", "B=2\nC=2\nD=2")
    project.write(".env.staging", "C=3\nD=3")
    project.write(".env.staging.local", "D=4")
    config = project.with_config(STAGING, env="staging")
    assert config.secrets == {"A": "1", "B": "2", "C": "3", "D": "4", "E": "1-none-$A"}
    assert config.notices == tuple(
        f"Using secrets defined in {name}" for name in (".env", ".env.local", ".env.staging", ".env.staging.local")
    )
    assert project.load(env="").secrets == {"A": "1", "B": "2", "C": "2", "D": "2", "E": "1-none-$A"}


def test_switches(project: Project) -> None:
    project.write(".env", "A=1")
    off = {"CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV": "False", "HOME": "/h"}
    assert project.with_config({}, environ=off).secrets == {}
    process = {"CLOUDFLARE_INCLUDE_PROCESS_ENV": "true", "HOME": "/h", "A": "outer"}
    config = project.with_config({}, environ=process)
    assert config.secrets == {**process, "A": "outer"}
    assert config.notices == ("Using secrets defined in .env", "Using secrets defined in process.env")
    with pytest.raises(ConfigErrors) as caught:
        project.load(environ={"CLOUDFLARE_INCLUDE_PROCESS_ENV": "1"})
    assert caught.value.render() == 'Expected CLOUDFLARE_INCLUDE_PROCESS_ENV to be "true" or "false", but got "1"'


def test_named_files_replace_the_others(project: Project) -> None:
    project.write(".dev.vars", "A=dev")
    project.write(".env", "A=env")
    project.write("one.env", "A=one\nB=one")
    project.write("two.env", "B=two")
    assert project.with_config({}, env_files=("one.env", "two.env")).secrets == {"A": "one", "B": "two"}


def test_var_comes_before_all(project: Project) -> None:
    project.write(".dev.vars", "A=file")
    config = project.with_config({"vars": {"A": "cfg", "B": "cfg"}}, var={"A": "flag", "N": "new"})
    assert (config.vars, config.secrets) == ({"B": "cfg"}, {"A": "flag", "N": "new"})


REQUIRED = {"vars": {"A": "cfg"}, "secrets": {"required": ["TOKEN", "KEY"]}}
MISSING = "Missing required secrets: {}. Add them to .dev.vars, .env, or set as environment variables."


def test_only_declared_secrets_are_taken(project: Project) -> None:
    project.write(".dev.vars", "A=local\nTOKEN=t\nEXTRA=e")
    config = project.with_config(REQUIRED, environ={"KEY": "not read beside .dev.vars"})
    assert (config.vars, config.secrets) == ({}, {"A": "local", "TOKEN": "t"})
    assert config.warnings == (MISSING.format("KEY"),)


def test_declared_secrets_from_the_process(project: Project) -> None:
    project.write(".env", "TOKEN=t\nEXTRA=e")
    config = project.with_config(REQUIRED, environ={"KEY": "k", "HOME": "/h"})
    assert (config.vars, config.secrets, config.warnings) == ({"A": "cfg"}, {"TOKEN": "t", "KEY": "k"}, ())


def test_vars_may_be_an_array(project: Project) -> None:
    """As Object.entries sees it; wrangler does not mind."""
    assert project.with_config({"vars": ["a", 5]}).vars == {"0": "a", "1": 5}


def test_no_secrets_at_all(project: Project) -> None:
    config = project.with_config(REQUIRED)
    assert (config.secrets, config.warnings) == ({}, (MISSING.format("TOKEN, KEY"),))


def test_watched(project: Project) -> None:
    names = (
        "wrangler.jsonc",
        ".dev.vars.staging",
        ".dev.vars",
        ".env",
        ".env.local",
        ".env.staging",
        ".env.staging.local",
    )
    assert project.with_config(STAGING, env="staging").watched == tuple(project.root / name for name in names)
    assert project.load(env="").watched == tuple(project.root / name for name in names if "staging" not in name)
