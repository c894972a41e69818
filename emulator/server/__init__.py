"""From a socket to a Worker and back: uvicorn's protocols, an ASGI application, our own routes.

Importing any part of uvicorn imports its command line first, with click and multiprocessing, which takes longer than
all that is used here. So the package is run when somebody asks for more of it than its configuration.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Any


def _run_uvicorn_when_asked() -> None:
    spec = importlib.util.find_spec("uvicorn")
    assert spec is not None
    module = importlib.util.module_from_spec(spec)

    def run(name: str) -> Any:
        if name == "Config":  # uvicorn.lifespan.off asks the package for it
            return importlib.import_module("uvicorn.config").Config
        del module.__dict__["__getattr__"]
        assert spec.loader is not None
        spec.loader.exec_module(module)
        return getattr(module, name)

    module.__dict__["__getattr__"] = run
    sys.modules["uvicorn"] = module


if "uvicorn" not in sys.modules:
    _run_uvicorn_when_asked()
