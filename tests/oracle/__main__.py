"""Puts every question to wrangler's engines and to ours, and shows where they differ: `make test-oracle`.

python -m tests.oracle path/to/wrangler                 compare with what was recorded, and with our engines
python -m tests.oracle path/to/wrangler --record        take what is answered today as right
python -m tests.oracle [--record]                       without wrangler: our engines, against what was recorded
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.oracle import data, state
from tests.oracle.bundling import comparison
from tests.oracle.d1 import interchange, rows
from tests.oracle.suite import Questions, Suite, Theirs
from tests.oracle.suites import SUITES

CHECKS = {
    "state": state.not_taken_over,
    "d1_rows": rows.not_as_recorded,
    "d1_turns": interchange.taken_in_turns,
    "bundles": comparison.not_bundled_alike,
}
"""What only the real wrangler can tell."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle")
    parser.add_argument("wrangler", nargs="?")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--only", choices=[*CHECKS, *(suite.name for suite in SUITES)])
    options = parser.parse_args()
    start_s = time.monotonic()
    checks = [name for name in CHECKS if options.wrangler and options.only in (None, name)]
    suites = [suite for suite in SUITES if options.only in (None, suite.name)]
    failed = [check(name, options.wrangler) for name in checks]
    failed += [compare(suite, options.wrangler, record=options.record) for suite in suites]
    print(f"in {time.monotonic() - start_s:.0f} s")
    return max(failed)


def check(name: str, wrangler: str) -> int:
    """0 if nothing is wrong."""
    wrong = list(CHECKS[name](wrangler))
    print("\n".join([*wrong, f"{name}: {len(wrong)} not as expected"]))
    return 1 if wrong else 0


def compare(suite: Suite, wrangler: str | None, *, record: bool) -> int:
    """0 if wrangler answers as recorded, and every difference has a reason."""
    theirs = _theirs(suite, wrangler)
    mine = _mine(suite)
    differing = {name: mine[name] for name in suite.questions if data.text(mine[name]) != data.text(theirs[name])}
    if record and not suite.shares:
        data.write(data.answers_of(suite.name), theirs)
    if record:
        data.write(data.differences_of(suite.name), differing)
    recorded = data.read(data.answers_of(suite.recorded))
    changed = [name for name in suite.questions if data.text(theirs[name]) != data.text(recorded.get(name))]
    unexplained = [name for name in differing if not suite.reasons_of(name)]
    for what, names in (("wrangler's answer is not the recorded one", changed), ("the answers differ", unexplained)):
        for name in names:
            print(f"{name}: {what}\n  wrangler  {data.text(theirs[name])}\n  recorded  {data.text(recorded.get(name))}")
            print(f"  flarebed  {data.text(mine[name])}")
    total = len(suite.questions)
    print(f"{suite.name}: {total} questions: {total - len(differing)} answers are equal, {len(differing)} differ,")
    print(f"of these {len(unexplained)} without a reason; {len(changed)} of wrangler's are not those recorded")
    return 1 if changed or unexplained else 0


def _theirs(suite: Suite, wrangler: str | None) -> dict[str, Any]:
    """Real time passes: what is not as recorded is asked once more, alone; what is new is not."""
    recorded = data.read(data.answers_of(suite.recorded))
    if wrangler is None or suite.theirs is None:
        return recorded
    answers = _asked(suite.theirs, wrangler, suite.questions, suite.at_a_time)
    other = [name for name in answers if name in recorded and data.text(answers[name]) != data.text(recorded[name])]
    return answers | _asked(suite.theirs, wrangler, {name: suite.questions[name] for name in other}, 1)


def _asked(theirs: Theirs, wrangler: str, questions: Questions, at_a_time: int) -> dict[str, Any]:
    if not questions:
        return {}
    with theirs(wrangler, questions) as answer, ThreadPoolExecutor(at_a_time) as several:
        return dict(zip(questions, several.map(answer, questions, questions.values()), strict=True))


def _mine(suite: Suite) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    for questions in suite.parts():
        with tempfile.TemporaryDirectory() as folder, suite.ours(Path(folder), questions) as answer:
            answers |= {name: answer(name, question) for name, question in questions.items()}
    return answers


if __name__ == "__main__":
    sys.exit(main())
