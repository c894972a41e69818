"""The trials of one workflow, made when a detector first asks for them."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from flarebed.emulator.checking.copies import copy_state
from flarebed.emulator.checking.places import Place, Site
from flarebed.emulator.checking.trial import Life, Seen, Subject


class Evidence:
    """`folder` is for the states of trials, each of which begins with what is in `seed`."""

    def __init__(self, subject: Subject, folder: Path, seed: Path | None) -> None:
        self.subject = subject
        self._folder = folder
        self._seed = seed

    def place(self, site: Site) -> Place:
        return self.subject.sources.place(site)

    @cached_property
    def plain(self) -> Seen:
        """The workflow as it is, from its start to its end."""
        with Life(self.subject, self.state("plain")) as life:
            life.begin()
            life.run(traced=True)
        return life.seen

    def state(self, trial: str) -> Path:
        """A new state folder."""
        folder = self._folder / trial
        if self._seed is not None:
            copy_state(self._seed, folder)
        return folder
