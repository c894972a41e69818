"""What the tests of all `spec.py` files share: parse one section and see the specs and the complaints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flarebed.bindings.kind import Complaints, Section


def parsed(parse: Callable[[Section], Any], field: str, value: Any) -> tuple[Any, list[str], list[str]]:
    """(specs, errors, warnings)"""
    complaints = Complaints()
    return parse(Section(field, value, complaints)), complaints.errors, complaints.warnings
