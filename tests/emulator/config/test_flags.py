"""Compatibility dates and flags; the Python rows were asked of workerd 1.20261117.1."""

from __future__ import annotations

import pytest

from tests.emulator.config.project import Project

PYTHON = ["python_workers"]


@pytest.mark.parametrize(
    ("date", "flags", "version"),
    [
        ("2025-09-01", PYTHON, "0.26.0a2"),
        ("2025-09-28", PYTHON, "0.26.0a2"),
        ("2025-09-29", PYTHON, "0.28.2"),
        ("2025-11-02", PYTHON, "0.28.2"),
        ("2026-07-29", PYTHON, "0.28.2"),
        ("2026-09-07", PYTHON, "0.28.2"),
        ("2026-09-08", PYTHON, "314.0.6"),
        ("2026-11-17", PYTHON, "314.0.6"),
        ("2025-01-01", [*PYTHON, "python_workers_20250116"], "0.28.2"),
        ("2025-11-02", [*PYTHON, "no_python_workers_20250116"], "0.26.0a2"),
        ("2025-11-02", [*PYTHON, "python_workers_20260610"], "314.0.4"),
        ("2025-11-02", [*PYTHON, "python_workers_314"], "314.0.6"),
        ("2026-11-17", [*PYTHON, "no_python_workers_314"], "0.28.2"),
        ("2026-11-17", [], None),
    ],
)
def test_pyodide_version(project: Project, date: str, flags: list[str], version: str | None) -> None:
    config = project.with_config({"compatibility_date": date, "compatibility_flags": flags})
    assert config.pyodide_version == version


PYTHON_FLAGS = (
    "python_workflows", "python_no_global_handlers", "python_workers_force_new_vendor_path",
    "python_dedicated_snapshot", "enable_python_external_sdk", "python_check_rng_state",
    "python_workflows_implicit_dependencies", "python_request_headers_preserve_commas", "python_process_pth_files",
)  # fmt: skip


@pytest.mark.parametrize(("date", "on"), [("2026-11-01", PYTHON_FLAGS), ("2025-11-02", PYTHON_FLAGS[:4])])
def test_python_flags(project: Project, date: str, on: tuple[str, ...]) -> None:
    config = project.with_config({"compatibility_date": date, "compatibility_flags": PYTHON})
    assert tuple(flag for flag in PYTHON_FLAGS if flag in config.flags) == on


@pytest.mark.parametrize(
    ("flag", "date"),
    [
        ("queues_json_messages", "2024-03-18"),
        ("rpc", "2024-04-03"),
        ("enable_validate_workflow_entrypoint", "2025-09-20"),
        ("enable_ctx_exports", "2025-11-17"),
        ("strip_bom_in_read_all_text", "2026-01-13"),
        ("rpc_params_dup_stubs", "2026-01-20"),
        ("delete_all_deletes_alarm", "2026-02-24"),
        ("queue_expose_error_codes", "2026-03-12"),
        ("enhanced_error_serialization", "2026-04-21"),
        ("workflows_preserve_non_retryable_error_message", "2026-05-14"),
        ("workflows_enable_fast_engine_creation", "2026-08-11"),
        ("nodejs_compat", "2026-08-04"),
    ],
)
def test_flags_by_date(project: Project, flag: str, date: str) -> None:
    year, month, day = date.split("-")
    before = f"{year}-{month}-{int(day) - 1:02}"
    assert flag in project.with_config({"compatibility_date": date}).flags
    assert flag not in project.with_config({"compatibility_date": before}).flags
    assert flag in project.with_config({"compatibility_date": before, "compatibility_flags": [flag]}).flags


@pytest.mark.parametrize(
    "flag", ["queue_consumer_no_wait_for_wait_until", "workflows_step_rollback", "d1_binding_jsrpc"]
)
def test_flags_without_a_date(project: Project, flag: str) -> None:
    assert flag not in project.with_config({"compatibility_date": "2026-11-24"}).flags
    config = project.with_config({"compatibility_flags": [flag]})
    assert (flag in config.flags, config.compatibility_flags, config.warnings) == (True, (flag,), ())


@pytest.mark.parametrize(("off", "flag"), [("no_rpc", "rpc"), ("no_queues_json_messages", "queues_json_messages")])
def test_switching_off(project: Project, off: str, flag: str) -> None:
    assert flag not in project.with_config({"compatibility_flags": [off]}).flags


def test_switching_off_what_is_implied(project: Project) -> None:
    flags = ["python_workers", "disable_python_workflows"]
    assert "python_workflows" not in project.with_config({"compatibility_flags": flags}).flags


@pytest.mark.parametrize(
    ("config", "errors"),
    [
        ({"compatibility_flags": ["nope_flag"]}, ["No such compatibility flag: nope_flag"]),
        ({"compatibility_flags": [""]}, ["No such compatibility flag: "]),
        (
            {"compatibility_date": "2024-01-01", "compatibility_flags": ["rpc", "rpc"]},
            ["Compatibility flag specified multiple times: rpc"],
        ),
        (
            {"compatibility_flags": ["rpc", "no_rpc"]},
            ["Compatibility flags are mutually contradictory: rpc vs no_rpc"],
        ),
        ({"compatibility_date": "2026-1-1"}, ["Invalid compatibility date: 2026-1-1"]),
        ({"compatibility_date": "1999-01-01"}, ["Invalid compatibility date: 1999-01-01"]),
    ],
)
def test_errors(project: Project, config: dict[str, object], errors: list[str]) -> None:
    assert project.errors(config) == tuple(errors)


@pytest.mark.parametrize(
    ("config", "warning"),
    [
        (
            {"compatibility_flags": ["rpc"]},
            "The compatibility flag rpc became the default as of 2024-04-03 so does not need to be specified anymore.\n"
            "    at wrangler.jsonc:1:62",
        ),
        (
            {"compatibility_date": "2027-06-01"},
            'This Worker requires compatibility date "2027-06-01", but the newest date known here is "2026-11-24". '
            "What changed since then is not emulated.\n    at wrangler.jsonc:1:2",
        ),
    ],
)
def test_warnings(project: Project, config: dict[str, object], warning: str) -> None:
    assert project.with_config(config).warnings == (f"Processing wrangler.jsonc configuration:\n  - {warning}",)
