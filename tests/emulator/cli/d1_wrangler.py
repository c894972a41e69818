"""What `wrangler d1` answers, recorded in `data/d1_wrangler.json`: scenarios, each in a folder of its own.

    python -m tests.emulator.cli.d1_wrangler WRANGLER [SCENARIO...]

asks wrangler anew. Kept are exit code, stdout, stderr and the files that a step shows, without what is different each
time: colours, the banner, the place of wrangler's log, traces, the folder, durations and times.
"""

from __future__ import annotations

import base64
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

DATA: Final = Path(__file__).parent / "data" / "d1_wrangler.json"

_CHANGING: Final = (
    (re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]"), ""),
    (re.compile(r"\r\n"), "\n"),
    (re.compile(r"\n ⛅️ wrangler .*\n─+\n"), ""),
    (re.compile(r'\n*🪵  Logs were written to ".*"\n'), "\n"),
    (re.compile(r"(?m)^(e = workerd/|stack: ).*\n|\n+ +at .* \(.*\)(?=\n)"), ""),
    (re.compile(r"reference = \w+"), "reference = <reference>"),
    (re.compile(r'"duration": [0-9.]+'), '"duration": 0'),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"), "<time>"),
)


def prepared(scenario: dict[str, Any], folder: Path) -> Path:
    """The scenario's files, and the folder in which it runs."""
    for name, text in scenario["files"].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="")
    for name, encoded in scenario.get("binary", {}).items():
        (folder / name).write_bytes(base64.b64decode(encoded))
    return folder / scenario.get("folder", ".")


def masked(text: str, folder: Path) -> str:
    text = text.replace(str(folder), "<folder>")
    for pattern, kept in _CHANGING:
        text = pattern.sub(kept, text)
    return text


def shown(step: dict[str, Any], folder: Path) -> dict[str, str | None]:
    """The files that a step shows, None where there is none."""
    paths = {name: folder / name for name in step.get("shows", ())}
    return {
        name: masked(path.read_bytes().decode(), folder) if path.is_file() else None for name, path in paths.items()
    }


def record(wrangler: str, scenario: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made).resolve()
        cwd = prepared(scenario, folder)
        for step in scenario["steps"]:
            command = [wrangler, "d1", *step["arguments"]]
            code, out, err = (_on_a_terminal if step.get("tty") else _in_pipes)(command, cwd)
            step["answer"] = {"code": code, "out": masked(out, folder), "err": masked(err, folder)}
            if "shows" in step:
                step["answer"]["shows"] = shown(step, folder)
            (folder / "out.sql").unlink(missing_ok=True)


def _in_pipes(command: list[str], cwd: Path) -> tuple[int, str, str]:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    return done.returncode, done.stdout, done.stderr


def _on_a_terminal(command: list[str], cwd: Path) -> tuple[int, str, str]:
    """stdout is a terminal; stdin is none, so that nothing is asked."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, cwd=cwd, stdout=theirs, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        os.close(theirs)
        out = b""
        while True:
            try:
                out += os.read(ours, 65536)
            except OSError:  # its end
                break
        assert process.stderr is not None
        err = process.stderr.read()
    os.close(ours)
    return process.returncode, out.decode(), err.decode()


def main(wrangler: str, *names: str) -> None:
    os.environ |= {"CI": "1", "NO_COLOR": "1", "WRANGLER_SEND_METRICS": "false"}
    for at, scenario in enumerate(json.loads(DATA.read_text("utf-8"))):
        if names and scenario["name"] not in names:
            continue
        print(scenario["name"])
        record(wrangler, scenario)
        scenarios = json.loads(DATA.read_text("utf-8"))
        scenarios[at] = scenario
        DATA.write_text(json.dumps(scenarios, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
