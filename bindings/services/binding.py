"""What a Worker sees of a service binding: workerd's class Fetcher (`api/http.h`).

It says whom it reaches; how is for the runtime to know, for a call takes what only a runtime has words for: a Request,
functions, streams.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Fetcher:
    """The `entrypoint` (None: the default export) of the Worker `service`, called with `props` as its `ctx.props`."""

    clone_error = "ServiceStub cannot be serialized in this context."

    def __init__(self, service: str, entrypoint: str | None = None, props: Mapping[str, Any] | None = None) -> None:
        self.service = service
        self.entrypoint = entrypoint
        self.props = props
