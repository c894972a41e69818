"""The pytest plugin `flarebed`: the fixture of that name, two markers, two options.

pytest imports this file in every run, before coverage may have begun: so all else is imported by the fixture.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from flarebed.emulator.testing.stage import Settings, Stage
    from flarebed.emulator.testing.worker import SyncWorker, Worker

_INI = {
    "config": "the wrangler config, relative to the root folder (default: the nearest one above the test)",
    "env": "the environment of the config",
    "outbound": "what a Worker's fetch to the world does where no mock answers: allow (default) or refuse",
}
_LOGS = pytest.StashKey[list[tuple[str, str]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("flarebed", "Cloudflare Workers")
    group.addoption("--flarebed-config", metavar="FILE", help="the wrangler config for the fixture `flarebed`")
    group.addoption("--flarebed-env", metavar="NAME", help="the environment of the wrangler config")
    for name, text in _INI.items():
        parser.addini(f"flarebed_{name}", f"flarebed: {text}")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "flarebed(config=, env=, vars=, start=, seed=, outbound=, state=, kv_consistency=, queue_defaults=, "
        "queue_duplicates=, queue_shuffle=, patience_s=, workers=): how the fixture `flarebed` sets up the Worker",
    )
    config.addinivalue_line(
        "markers",
        "flarebed_check(workflow, params, events=, state=, outbound=, answers=, strict=, may_fail=): "
        "the workflow keeps the rules of durable execution",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """pytest shows the log with a test that fails."""
    if call.when == "call" and (logs := item.stash.get(_LOGS, [])):
        item.add_report_section("call", "flarebed", "\n".join(f"{level}: {text}" for level, text in logs))


@pytest.fixture
def flarebed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """The Worker of the wrangler config, in this process, on a clock of its own, with state of its own."""
    from flarebed.emulator.testing.worker import Worker

    stage = _opened(request.node, tmp_path_factory.mktemp("flarebed") / "state")
    if isinstance(stage, str):  # not in the `except` block, where pytest would show the exception as well
        pytest.fail(stage, pytrace=False)
    request.node.stash[_LOGS] = stage.logs
    try:
        yield Worker(stage)
    finally:
        stage.close()


@pytest.fixture
def flarebed_sync(flarebed: Worker) -> SyncWorker:
    """The same, for tests that are plain functions."""
    return flarebed.sync


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """A test with the marker `flarebed_check` fails with the report, before its body runs."""
    for marker in reversed(list(pyfuncitem.iter_markers("flarebed_check"))):
        if (text := _checked(pyfuncitem, marker)) is not None:
            pytest.fail(text, pytrace=False)


def _checked(item: pytest.Function, marker: pytest.Mark) -> str | None:
    from flarebed.bindings.errors import UserError
    from flarebed.emulator.checking.marker import Wanted, broken

    if "flarebed" in item.fixturenames:
        return "flarebed_check runs Workers of its own, so the test can't have the fixture `flarebed` as well."
    with tempfile.TemporaryDirectory(prefix="flarebed-check-", ignore_cleanup_errors=True) as folder:
        try:
            return broken(Wanted.of(marker.args, marker.kwargs), _settings(item, Path(folder, "state")))
        except UserError as error:
            return _text(error)


def _opened(item: pytest.Item, state: Path) -> Stage | str:
    """The Worker, or what the user has to mend: how it is asked for, its config, or what its top level raises."""
    from flarebed.bindings.errors import FlarebedError, UserError
    from flarebed.emulator.testing.stage import Stage
    from flarebed.emulator.testing.uncaught import in_words

    try:
        settings = _settings(item, state)
        try:
            return Stage(settings)
        except FlarebedError:
            raise
        except Exception as error:
            return f"The Worker can't be loaded.\n{in_words(error, settings.config.code_folder())}"
    except UserError as error:
        return _text(error)


def _settings(item: pytest.Item, state: Path) -> Settings:
    from flarebed.emulator.testing.settings import Wishes, settle

    return settle(Wishes.of(_given(item)), item.path.parent, state)


def _given(item: pytest.Item) -> dict[str, Any]:
    """The marker's words before the options, these before the ini file."""
    from flarebed.bindings.errors import UserError

    config = item.config
    root = config.rootpath
    given: dict[str, Any] = {name: value for name in _INI if (value := config.getini(f"flarebed_{name}"))}
    if "config" in given:
        given["config"] = root / given["config"]
    if (path := config.getoption("--flarebed-config")) is not None:
        given["config"] = config.invocation_params.dir / Path(path)
    if (env := config.getoption("--flarebed-env")) is not None:
        given["env"] = env
    for marker in reversed(list(item.iter_markers("flarebed"))):
        if marker.args:
            raise UserError("@pytest.mark.flarebed takes names only.", hint='For example: config="wrangler.jsonc"')
        given |= marker.kwargs
    return given


def _text(error: Any) -> str:
    lines = (error.place and f"{error.place}:", error.message, error.hint)
    return "\n".join(line for line in lines if line)
