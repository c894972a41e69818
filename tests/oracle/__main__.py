"""Puts every question to wrangler's engine and to ours, and shows where they differ: `make test-oracle`.

python -m tests.oracle path/to/wrangler                 compare with what was recorded, and with our engine
python -m tests.oracle path/to/wrangler --record        take what is answered today as right
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.oracle import data, ours
from tests.oracle.differences import reasons
from tests.oracle.production import comparable
from tests.oracle.questions import QUESTIONS
from tests.oracle.wrangler import running

AT_A_TIME = 3


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle")
    parser.add_argument("wrangler")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    theirs = _theirs(options.wrangler)
    mine = {name: _mine(name) for name in QUESTIONS}
    differing = {name: mine[name] for name in QUESTIONS if data.text(mine[name]) != data.text(theirs[name])}
    if options.record:
        data.write(data.ANSWERS, theirs)
        data.write(data.DIFFERENCES, differing)
    recorded = data.read(data.ANSWERS)
    changed = [name for name in QUESTIONS if data.text(theirs[name]) != data.text(recorded.get(name))]
    unexplained = [name for name in differing if not reasons(name)]
    for what, names in (("wrangler's answer is not the recorded one", changed), ("the answers differ", unexplained)):
        for name in names:
            print(f"{name}: {what}\n  wrangler  {data.text(theirs[name])}\n  recorded  {data.text(recorded.get(name))}")
            print(f"  flarebed  {data.text(mine[name])}")
    print(f"{len(QUESTIONS)} questions: {len(QUESTIONS) - len(differing)} answers are equal, {len(differing)} differ,")
    print(f"of these {len(unexplained)} without a reason; {len(changed)} of wrangler's are not those recorded")
    return 1 if changed or unexplained else 0


def _theirs(command: str) -> dict[str, Any]:
    """Real time passes: what is not as recorded is asked once more, alone."""
    recorded = data.read(data.ANSWERS)
    with running(command) as wrangler:
        with ThreadPoolExecutor(AT_A_TIME) as several:
            answers = dict(zip(QUESTIONS, several.map(wrangler.answer, QUESTIONS.values()), strict=True))
        for name, question in QUESTIONS.items():
            if data.text(answers[name]) != data.text(recorded.get(name)):
                answers[name] = wrangler.answer(question)
    return answers


def _mine(name: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        return comparable(ours.answer(Path(folder), QUESTIONS[name]))


if __name__ == "__main__":
    sys.exit(main())
