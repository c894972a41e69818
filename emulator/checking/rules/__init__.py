"""The rules of durable execution, one detector each.

Source: https://developers.cloudflare.com/workflows/build/rules-of-workflows/
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from flarebed.emulator.checking.evidence import Evidence
from flarebed.emulator.checking.report import Finding


class Detector(Protocol):
    """Reads what the trials gave to see, and says where its rule is broken."""

    def __call__(self, evidence: Evidence) -> Iterable[Finding]: ...
