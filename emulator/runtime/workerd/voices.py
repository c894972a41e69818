"""How Workers that share a workerd are told apart in what it writes: their modules stand in folders of their names, and
their consoles say who writes (`js/named_console.js`; wrangler patches the console for that, too). `output.py` reads it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from flarebed.emulator.runtime.workerd.bundled import Bundled, Module

_CONSOLE: Final = "named_console.js"


def told_apart(bundled: Bundled, worker: str) -> Bundled:
    """A script of the service-worker format has no module before it: its console speaks for the first Worker."""
    if bundled.format == "service-worker":
        return bundled
    return replace(bundled, modules=(*_before(bundled, worker), *bundled.modules)).below(worker)


def _before(bundled: Bundled, worker: str) -> list[Module]:
    """A main module that sets the console up, and then is what the Worker's own is."""
    main = f"./{bundled.modules[0].name}"
    lines = [f'import "./{_CONSOLE}";', f'export * from "{main}";']
    if "default" in bundled.exports:
        lines.append(f'export {{ default }} from "{main}";')
    console = Path(__file__).parent / "js" / _CONSOLE
    return [
        Module("main.flarebed.js", "esModule", "\n".join(lines).encode()),
        Module(_CONSOLE, "esModule", console.read_bytes()),
        Module("name.flarebed", "text", worker.encode()),
    ]
