"""Which files beside a Worker are modules, and of which type: the config's `rules` and wrangler's default ones.

wrangler's deployment-bundle/rules.ts, and the globs of the package glob-to-regexp, which it reads them with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from flarebed.bindings.entry import as_json
from flarebed.emulator.config.model import Rule

DEFAULT_RULES = (
    Rule("Text", ("**/*.txt", "**/*.html", "**/*.sql")),
    Rule("Data", ("**/*.bin",)),
    Rule("CompiledWasm", ("**/*.wasm", "**/*.wasm?module")),
)
_PARTS = re.compile(r"(?P<folders>(?:^|(?<=/))\*{2,}(?:/|$))|(?P<name>\*+)|[^*]+")


@dataclass(frozen=True)
class Rules:
    """The rules that count, those that come too late, and what the user is told about that."""

    in_force: tuple[Rule, ...]
    too_late: tuple[Rule, ...]
    warnings: tuple[str, ...]


def sorted_out(rules: Iterable[Rule]) -> Rules:
    """The config's rules, then the default ones; of one type only the first counts, unless it lets others follow."""
    last: dict[str, Rule] = {}
    in_force: list[Rule] = []
    late: dict[str, list[Rule]] = {}
    for rule in (*rules, *DEFAULT_RULES):
        if rule.type in last:
            late.setdefault(rule.type, []).append(rule)
            continue
        in_force.append(rule)
        if not rule.fallthrough:
            last[rule.type] = rule
    too_late = tuple(rule for ignored in late.values() for rule in ignored)
    unsaid = [(last[kind], ignored) for kind, ignored in late.items() if last[kind].fallthrough is None]
    return Rules(tuple(in_force), too_late, tuple(_warning(rule, ignored) for rule, ignored in unsaid))


def shown(rule: Rule) -> str:
    """The rule as the config has it."""
    fallthrough = {} if rule.fallthrough is None else {"fallthrough": rule.fallthrough}
    return as_json({"type": rule.type, "globs": list(rule.globs), **fallthrough})


def file_pattern(glob: str) -> re.Pattern[str]:
    """For names of files: `*` is any part of a name, `**` any number of folders; all else stands for itself."""
    return re.compile(_PARTS.sub(_part, glob))


def specifier_pattern(glob: str) -> str:
    """For what an `import` says, in a syntax that Go reads too: any number of `*` is anything at all."""
    return "^" + ".*".join(re.escape(part) for part in re.split(r"\*+", glob)) + "$"


def _part(found: re.Match[str]) -> str:
    if found["folders"] is not None:
        return "(?:[^/]*/)*" if found["folders"].endswith("/") else ".*"
    return "[^/]*" if found["name"] is not None else re.escape(found[0])


def _warning(rule: Rule, ignored: Iterable[Rule]) -> str:
    lines = "".join(f"\n {shown(late)}{' (DEFAULT)' if late in DEFAULT_RULES else ''}" for late in ignored)
    return (
        f"The {'default ' if rule in DEFAULT_RULES else ''}module rule {shown(rule)} does not have a fallback, the "
        f"following rules will be ignored:{lines}\n\nAdd `fallthrough = true` to rule to allow next rule to be used or "
        "`fallthrough = false` to silence this warning"
    )
