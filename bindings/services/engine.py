"""Service bindings: there is nothing to keep and nothing to run, so an engine has only the bindings to give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flarebed.bindings.kind import Surroundings
from flarebed.bindings.services.binding import Fetcher
from flarebed.bindings.services.spec import ServiceSpec


class ServiceResources:
    def __init__(self, specs: Sequence[ServiceSpec]) -> None:
        self._bindings = {spec.binding: Fetcher(spec.worker, spec.entrypoint, spec.props) for spec in specs}

    def bindings(self) -> Mapping[str, object]:
        return self._bindings

    def claims(self) -> Sequence[str]:
        return ()

    async def own(self) -> None:
        """Whoever is called is looked for at each call."""

    async def disown(self) -> None:
        """Calls that are under way belong to the events that make them."""

    def ring(self, resource: str) -> None:
        """Nobody writes work for a service binding."""


def open(specs: Sequence[ServiceSpec], around: Surroundings) -> ServiceResources:
    return ServiceResources(specs)
