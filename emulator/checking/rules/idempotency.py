"""`step-not-idempotent`: a step that is run again, after a crash between its effect and its record, does more.

What may be repeated: writes after which the databases are as they were, requests by GET, PUT and DELETE to the same
address, POST with the same key for idempotency, messages that are the same and say which work they are about.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from flarebed.emulator.checking.again import Change, Repetition
from flarebed.emulator.checking.evidence import Evidence
from flarebed.emulator.checking.places import Site
from flarebed.emulator.checking.report import Finding, Severity
from flarebed.emulator.checking.witness import Call, plain

RULE = "step-not-idempotent"

_MOST_ROWS = 4


def detect(evidence: Evidence) -> Iterator[Finding]:
    for repetition in evidence.repetitions:
        if repetition.error is not None:
            yield _failed(evidence, repetition)
        yield from _stored(evidence, repetition)
        for index, call in enumerate(call for call in repetition.first.calls if call.is_effect):
            again = _counterpart(call, index, repetition)
            if again is not None:
                yield from _sent(evidence, repetition, call, again)


def _counterpart(call: Call, index: int, repetition: Repetition) -> Call | None:
    """The call of the other attempt that does the same."""
    others = [other for other in repetition.other.calls if other.is_effect]
    if index < len(others) and others[index].effect[:2] == call.effect[:2]:
        return others[index]
    return next((other for other in others if other.effect == call.effect), None)


def _failed(evidence: Evidence, repetition: Repetition) -> Finding:
    failed = [call for call in repetition.same.calls if call.error is not None]
    trail = failed[-1].trail if failed else ()
    reason = str(failed[-1].error) if failed else f"{type(repetition.error).__name__}: {repetition.error}"
    return _finding(
        evidence,
        repetition,
        trail,
        "The step fails if it is run again after its effect was done but not recorded.",
        "Let it find its own effect: INSERT ... ON CONFLICT DO NOTHING, or look first.",
        (f"second attempt: {reason.splitlines()[-1] if reason else ''}",),
    )


def _stored(evidence: Evidence, repetition: Repetition) -> Iterator[Finding]:
    """What D1 and KV have more, or otherwise, after the second attempt."""
    if repetition.same_changes:
        changes, why = repetition.same_changes, "Run again, the step leaves other data than run once."
        advice = "Write what does not depend on how often: INSERT ... ON CONFLICT by the work's id, no increment."
    else:
        changes = [change for change in repetition.other_changes if _is_new(change)]
        why = "The step stores something new in each attempt: its id is random, or a time."
        advice = "Make the id in a step of its own, or of params and the instance's id."
    for change in changes:
        for call in _writers(change, repetition):
            yield _finding(evidence, repetition, call.trail, why, advice, _rows(change))


def _is_new(change: Change) -> bool:
    """More rows, not the same ones with other values: a token or a time that is written over is no harm."""
    if change.table == "entries" and "kv" in change.file.parts:
        return bool({row[0] for row in change.more} - {row[0] for row in change.fewer})
    return change.more.total() > change.fewer.total()


def _writers(change: Change, repetition: Repetition) -> list[Call]:
    """The calls that may have made a change."""
    kind = "kv" if "kv" in change.file.parts else "d1"
    calls = [call for call in repetition.first.calls if call.is_effect and call.kind == kind]
    if kind == "kv":
        keys = {repr(row[0]) for row in change.more + change.fewer}
        return [call for call in calls if call.what in keys] or calls
    return [call for call in calls if re.search(rf"\b{re.escape(change.table)}\b", call.what)] or calls


def _rows(change: Change) -> tuple[str, ...]:
    shown = [f"- {change.table} {_row(row)}" for row in change.fewer]
    shown += [f"+ {change.table} {_row(row)}" for row in change.more]
    more = len(shown) - _MOST_ROWS
    return (*shown[:_MOST_ROWS], *([f"and {more} more"] if more > 0 else []))


def _row(row: tuple[Any, ...]) -> str:
    return f"({', '.join(v.decode(errors='replace') if isinstance(v, bytes) else repr(v) for v in row)})"


def _sent(evidence: Evidence, repetition: Repetition, call: Call, again: Call) -> Iterator[Finding]:
    """Effects that no database shows: requests, messages, instances."""
    if call.kind == "fetch":
        found = _of_request(call, again)
    elif call.kind == "queues":
        found = _of_message(evidence, call, again)
    elif call.kind == "workflows" and call.operation in ("create", "createBatch"):
        found = _of_instance(call, again)
    else:
        return
    if found is not None:
        severity, message, advice = found
        details = (f"first attempt:  {_short(call)}", f"second attempt: {_short(again)}")
        yield _finding(evidence, repetition, call.trail, message, advice, details, severity)


Verdict = tuple[Severity, str, str]


def _of_request(call: Call, again: Call) -> Verdict | None:
    keys = [_idempotency_key(each) for each in (call, again)]
    if keys[0] is not None and keys[0] == keys[1]:
        return None
    if keys[0] is not None:
        advice = "Make the key of the instance's id and the step's name."
        return "error", "The key for idempotency is another one in each attempt, so that both requests count.", advice
    if call.operation in ("PUT", "DELETE"):
        if call.what == again.what:
            return None
        advice = "Make the address of params and results of earlier steps."
        return "error", f"Each attempt's {call.operation} goes to another address.", advice
    severity: Severity = "error" if call.operation == "POST" else "warning"
    return (
        severity,
        f"The {call.operation} is sent again if the step is run again, and nothing tells the service that it is the "
        "same one.",
        'Send an "Idempotency-Key" header made of the instance\'s id, or ask the service first whether it is done.',
    )


def _idempotency_key(call: Call) -> str | None:
    """In a header, or in a member of a JSON body whose name says so."""
    for name, value in call.arguments["headers"].items():
        if "idempoten" in name:
            return str(value)
    body = call.arguments["body"]
    found = re.search(r'"[^"]*idempoten[^"]*"\s*:\s*("[^"]*"|\d+)', _decoded(body), re.IGNORECASE)
    return found[1] if found else None


def _decoded(body: Any) -> str:
    return body.decode(errors="replace") if isinstance(body, bytes) else str(body or "")


def _of_message(evidence: Evidence, call: Call, again: Call) -> Verdict | None:
    if call.arguments != again.arguments:
        return (
            "error",
            "Each attempt sends another message: the consumer can't tell that they are the same.",
            "Make what differs in a step of its own, or of params and the instance's id.",
        )
    known = _known(evidence)
    if any(_is_about(leaf, known) for leaf in _leaves(call.arguments)):
        return None
    return (
        "warning",
        "The message may be sent twice, and has nothing by which the consumer could tell.",
        "Put the instance's id, or that of the thing it is about, into the message.",
    )


def _of_instance(call: Call, again: Call) -> Verdict | None:
    if call.operation == "createBatch" and not isinstance(call.arguments[:1] and call.arguments[0], list):
        return None
    wanted = [_ids(each) for each in (call, again)]
    if None not in wanted[0] and wanted[0] == wanted[1]:
        return None
    return (
        "error",
        "Each attempt creates another instance.",
        "Give the instance an id made of this one's id.",
    )


def _ids(call: Call) -> list[Any]:
    given = call.arguments[0] if call.arguments else None
    items = given if isinstance(given, list) else [given]
    return [item.get("id") if isinstance(item, dict) else None for item in items]


def _is_about(leaf: str, known: set[str]) -> bool:
    """`leaf` is a known value, or is made of one: "provision-globex"."""
    return leaf in known or any(len(value) > 1 and re.search(rf"\b{re.escape(value)}\b", leaf) for value in known)


def _known(evidence: Evidence) -> set[str]:
    """Values that tell one piece of work from another: the id, params, results of steps, payloads of events."""
    values = [evidence.subject.instance_id, evidence.subject.params]
    values += [command.outcome[1] for command in evidence.plain.script.commands if command.outcome is not None]
    return {leaf for value in values for leaf in _leaves(plain(value))}


def _leaves(value: Any) -> set[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return {leaf for member in value for leaf in _leaves(member)}
    if isinstance(value, bool) or value is None:
        return set()
    text = str(value)
    if isinstance(value, str) and text[:1] in "{[":
        try:
            return _leaves(json.loads(text))
        except ValueError:
            pass
    return {text} if text else set()


def _short(call: Call) -> str:
    arguments = call.arguments
    if call.kind == "fetch":
        body = _decoded(arguments["body"])
        return f"{call} {body}"[:160]
    return f"{call.target}.{call.operation}({json.dumps(arguments, ensure_ascii=False, default=str)[1:-1]})"[:160]


def _finding(
    evidence: Evidence,
    repetition: Repetition,
    trail: Sequence[Site],
    message: str,
    advice: str,
    details: tuple[str, ...],
    severity: Severity = "error",
) -> Finding:
    where = trail[0] if trail else repetition.command.site or (str(evidence.subject.config.path), 1)
    notes = evidence.came_from(trail)
    return Finding(RULE, severity, evidence.place(where), message, advice, repetition.command.name, details, notes)
