"""`flarebed clock`: finds the running `flarebed dev` through its state folder, and asks it to move its virtual time.

The answer comes when all is done that this sets off. If the Worker is reloaded meanwhile, the new process goes on.
"""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from flarebed.bindings.ecma_date import date_to_iso
from flarebed.bindings.errors import UserError
from flarebed.emulator.cli.opening import Place
from flarebed.emulator.server.control import CLOCK
from flarebed.emulator.supervisor import running
from flarebed.emulator.supervisor.running import Running

_HOW: Final = "Start it with `flarebed dev --virtual-time`."


@dataclass(frozen=True)
class VirtualDev:
    found: Running

    def ask(self, query: str = "") -> dict[str, Any]:
        """With a query, move. As "localhost", by which name any `dev` may be asked."""
        connection = http.client.HTTPConnection(self.found.host, self.found.port)
        try:
            path = f"{CLOCK}?{query}" if query else CLOCK
            connection.request("POST" if query else "GET", path, headers={"Host": "localhost"})
            response = connection.getresponse()
            body = response.read().decode()
        except (OSError, http.client.HTTPException) as error:
            why = str(error) or type(error).__name__
            raise UserError(f"`flarebed dev` at {self.found.url} doesn't answer: {why}") from None
        finally:
            connection.close()
        if response.status == http.client.CONFLICT:
            raise UserError("The Worker can't run, so its time stands still.", hint="`flarebed dev` says why.")
        if response.status != http.client.OK:
            raise UserError(body)
        answer: dict[str, Any] = json.loads(body)
        return answer


def virtual_dev(config_file: Path | None, env: str | None, persist_to: Path | None) -> VirtualDev:
    """The `dev` that runs on the state which the options name."""
    found, alive = running.last(Place.of(config_file, env, persist_to).state)
    if found is None or not alive:
        raise UserError("No `flarebed dev` is running here.", hint=_HOW)
    if not found.virtual:
        raise UserError(f"The `flarebed dev` at {found.url} runs on the machine's time.", hint=_HOW)
    return VirtualDev(found)


def move(dev: VirtualDev, query: str) -> None:
    answer = dev.ask(query)
    while not answer["done"]:
        answer = dev.ask("to=idle" if query == "to=idle" else f"to={answer['end_ms']!r}")
    show(answer)
    if query == "to=idle" and not answer["idle"]:
        raise UserError(
            "It is not idle after a year: something comes again and again.",
            hint="Go on to a certain time with `flarebed clock run-until TIME`.",
        )


def show(answer: dict[str, Any]) -> None:
    print(date_to_iso(answer["now_ms"]))
