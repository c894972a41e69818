"""A namespace as one of Cloudflare's locations may see it (`--kv-consistency eventual`): what a read has found, the
next ones are given again until its time is over, also where nothing was found, and whoever has written since.

Production usually shows a write at once where it was made, but tells not to rely on it; here it never does, so that
code which does is found. https://developers.cloudflare.com/kv/concepts/how-kv-works/#consistency
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Final

from flarebed.bindings.clock import Clock
from flarebed.bindings.kv.namespace import Entry, Namespace, Page
from flarebed.bindings.store import Database

DEFAULT_CACHE_TTL_S: Final = 60
MAX_CACHE_BYTES: Final = 64 * 1024 * 1024
"""Of values, names and metadata; beyond it the answers given longest ago go, as they do from a cache of production."""
_ANSWER_BYTES: Final = 500
"""What an answer takes beside its content."""


@dataclass(frozen=True, slots=True)
class Answer:
    content: Any
    given_ms: float
    ttl_s: int
    size: int


class EventualNamespace(Namespace):
    """Each process is a location of its own, and begins with nothing in its cache."""

    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._answers: OrderedDict[Hashable, Answer] = OrderedDict()
        self._bytes = 0

    def get(self, key: str, cache_ttl_s: int | None = None) -> Entry | None:
        ttl_s = DEFAULT_CACHE_TTL_S if cache_ttl_s is None else cache_ttl_s
        answer = self._given(key, ttl_s)
        if answer is None:
            entry = super().get(key)
            if entry is not None:
                entry = bytes(entry[0]), entry[1], entry[2], None
            answer = Answer(entry, self._clock.now_ms(), ttl_s, len(key) + (len(entry[0]) if entry else 0))
            self._keep(key, answer)
        kept: Entry | None = answer.content
        return None if kept is None or self._is_over(kept[2]) else kept

    def list(self, prefix: str, limit: int, cursor: str) -> Page:
        question = (prefix, limit, cursor)
        answer = self._given(question, DEFAULT_CACHE_TTL_S)
        if answer is None:
            page = super().list(prefix, limit, cursor)
            size = sum(len(key.name) + len(key.metadata or "") for key in page.keys)
            answer = Answer(page, self._clock.now_ms(), DEFAULT_CACHE_TTL_S, size)
            self._keep(question, answer)
        kept: Page = answer.content
        return kept

    def _given(self, question: Hashable, ttl_s: int) -> Answer | None:
        """What was answered, if that is recent enough for who asked then and for who asks now.

        https://developers.cloudflare.com/kv/api/read-key-value-pairs/#cachettl-parameter
        """
        answer = self._answers.get(question)
        if answer is None or self._clock.now_ms() >= answer.given_ms + min(answer.ttl_s, ttl_s) * 1000:
            return None
        return answer

    def _keep(self, question: Hashable, answer: Answer) -> None:
        if former := self._answers.pop(question, None):
            self._bytes -= former.size + _ANSWER_BYTES
        self._answers[question] = answer
        self._bytes += answer.size + _ANSWER_BYTES
        while self._bytes > MAX_CACHE_BYTES:
            _, oldest = self._answers.popitem(last=False)
            self._bytes -= oldest.size + _ANSWER_BYTES
