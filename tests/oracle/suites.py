"""All suites of questions."""

from __future__ import annotations

from tests.oracle.bindings.suite import (
    BINDINGS,
    BINDINGS_WITH_FLAGS,
    D1_BY_RPC,
    JAVASCRIPT,
    JAVASCRIPT_WITH_FLAGS,
    R2,
    R2_IN_JAVASCRIPT,
)
from tests.oracle.workflows.suite import WORKFLOWS, WORKFLOWS_IN_JAVASCRIPT

SUITES = (
    WORKFLOWS, BINDINGS, BINDINGS_WITH_FLAGS, D1_BY_RPC, R2,
    JAVASCRIPT, JAVASCRIPT_WITH_FLAGS, R2_IN_JAVASCRIPT, WORKFLOWS_IN_JAVASCRIPT,
)  # fmt: skip
