"""The format of .dev.vars and .env, exactly as Node's dotenv and dotenv-expand read it (wrangler uses 16.3 and 12.0).

python-dotenv reads some of it differently (`A=b#c`, backticks, escapes), so it is written out here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

MAX_EXPANSIONS = 1_000
"""Values that refer to each other could grow for ever."""
_QUOTED = "|".join(rf"[ \t\n\f\v]*{quote}(?:\\{quote}|[^{quote}])*{quote}" for quote in "'\"`")
_LINE = re.compile(
    rf"^[\s\ufeff]*(?:export\s+)?(?P<key>[\w.-]+)(?:\s*=\s*?|:\s+?)(?P<value>{_QUOTED}|[^#\n]+)?\s*(?:#.*)?$",
    re.MULTILINE | re.ASCII,
)
_REFERENCE = re.compile(r"(?<!\\)\$(?:\{([^{}]+)\}|([A-Za-z_][A-Za-z0-9_]*))")
_OPERATOR = re.compile(r":\+|\+|:-|-")


def parse(text: str) -> dict[str, str]:
    """Names and values; what is not an assignment is skipped."""
    found: dict[str, str] = {}
    for line in _LINE.finditer(re.sub("\r\n?", "\n", text.removeprefix("\ufeff"))):
        value = (line["value"] or "").strip()
        plain = re.sub(r"^(['\"`])([\s\S]*)\1$", r"\2", value, flags=re.MULTILINE)
        found[line["key"]] = plain.replace("\\n", "\n").replace("\\r", "\r") if value.startswith('"') else plain
    return found


def expand(parsed: Mapping[str, str], surrounding: Mapping[str, str]) -> dict[str, str]:
    """`surrounding` with `parsed` added, `$NAME` and `${NAME:-default}` replaced; on a clash `surrounding` wins."""
    known: dict[str, str] = {}
    for name, value in parsed.items():
        outer = surrounding.get(name)
        if not outer or outer == value:
            outer = _expanded(value, {**known, **surrounding})
        known[name] = outer.replace("\\$", "$")
    return {**surrounding, **known}


def _expanded(value: str, values: Mapping[str, str]) -> str:
    seen: set[str] = set()
    for _ in range(MAX_EXPANSIONS):
        reference = _REFERENCE.search(value)
        if reference is None:
            break
        seen.add(value)
        replacement = _replacement(reference[1] or reference[2], values, seen)
        value = value[: reference.start()] + replacement + value[reference.end() :]
    return value


def _replacement(expression: str, values: Mapping[str, str], seen: set[str]) -> str:
    operator = _OPERATOR.search(expression)
    name, default = (expression[: operator.start()], expression[operator.end() :]) if operator else (expression, "")
    value = values.get(name, "")
    if operator and operator[0].endswith("+"):
        return default if value else ""
    return value if value and value not in seen else default
