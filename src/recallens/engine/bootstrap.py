"""Choosing an encoder: what is there, what fits the store's language, and what the user has ruled out."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from recallens.engine.core import GIVEN_ENCODER
from recallens.engine.tending import Progress, Tending
from recallens.errors import StoreReadOnly
from recallens.store.records import META_ENCODER_SPEC
from recallens.text.language import hangul_share

if TYPE_CHECKING:
    from recallens.index.encoders.detect import Available, Looked

META_CLEARED: Final = "encoder-cleared"
# Texts looked at to tell the store's language, spread over it, and how much of each.
SAMPLED: Final = 200
SAMPLED_CHARACTERS: Final = 500
MOSTLY_KOREAN: Final = 0.5
NO_ENCODER: Final = "none"


@dataclass(frozen=True, slots=True)
class Detection:
    """`suggestion` is what would fit better than what the store uses; None where nothing would, `reason` says why."""

    current: str | None
    looked: tuple[Looked, ...]
    hangul: float
    cleared: tuple[str, ...]
    suggestion: str | None
    reason: str

    @property
    def available(self) -> tuple[Available, ...]:
        return tuple(found for place in self.looked for found in place.found)

    def to_json(self) -> dict[str, Any]:
        return {
            "current": self.current,
            "available": [
                {"encoder": one.spec, "origin": one.origin, "multilingual": one.multilingual} for one in self.available
            ],
            "unavailable": [
                {"place": place.place, "problem": place.problem} for place in self.looked if place.problem is not None
            ],
            "koreanShare": self.hangul,
            "cleared": list(self.cleared),
            "suggestion": self.suggestion,
            "reason": self.reason,
        }


class Bootstrapping(Tending):
    def detect_encoders(self) -> Detection:
        """Look for encoders, within about a second a place. Nothing is downloaded, loaded or changed."""
        looked = tuple(self._look())
        available = [one for place in looked for one in place.found]
        current = self.store.meta(META_ENCODER_SPEC)
        cleared = self.cleared_encoders()
        hangul = self.korean_share()
        suggestion, reason = suggest(available, current=current, hangul=hangul, cleared=cleared)
        return Detection(current, looked, hangul, cleared, suggestion, reason)

    def bootstrap_encoder(self) -> Detection:
        """At first use: a store without an encoder takes the one that fits, unless a setting or the user says which."""
        found = self.detect_encoders()
        settled = found.current is not None or "encoder" in self.settings.sources or self._given_encoder is not None
        if not settled and found.suggestion is not None and not self.store.read_only:
            self._change_encoder(found.suggestion)
        return found

    def use_encoder(self, spec: str, *, progress: Progress = lambda done: None) -> dict[str, int]:
        """Encode everything with this one from now on. Asked for by name, it is no longer ruled out."""
        done = self.reindex(encoder=spec, progress=progress)
        self._put_cleared([one for one in self.cleared_encoders() if one != spec])
        return done

    def clear_encoder(self) -> str | None:
        """Words alone from now on; what was used is never set again unless it is asked for by name."""
        if self.store.read_only:
            raise StoreReadOnly(f"{self.store.location} cannot be written to", hint="Check its permissions.")
        before = self.store.meta(META_ENCODER_SPEC) or self.settings.encoder
        if before == NO_ENCODER:
            return None
        self._change_encoder(NO_ENCODER)
        if before != GIVEN_ENCODER:
            self._put_cleared([*self.cleared_encoders(), before])
        return before

    def cleared_encoders(self) -> tuple[str, ...]:
        return tuple(json.loads(self.store.meta(META_CLEARED) or "[]"))

    def korean_share(self) -> float:
        """Hangul over all letters, of texts sampled evenly over the whole store."""
        texts: list[str] = []
        with self.store.read_all() as whole:
            for state, _ in whole.namespaces():
                memories = whole.at(state.name).memories
                nums = memories.numbers()
                chosen = nums[:: max(1, len(nums) // SAMPLED)][:SAMPLED]
                texts += [memory.content[:SAMPLED_CHARACTERS] for memory in memories.get(chosen).values()]
        return hangul_share("\n".join(texts))

    def _look(self) -> Iterator[Looked]:
        # Late, as it brings urllib and ssl.
        from recallens.index.encoders.detect import ollama, openai, packaged

        url, key = self.settings.encoder_url, os.environ.get(self.settings.encoder_key_env)
        yield packaged()
        yield ollama(url, key)
        if url is not None:
            yield openai(url, key)

    def _put_cleared(self, specs: list[str]) -> None:
        with self.store.write_all() as tx:
            tx.set_meta(META_CLEARED, json.dumps(list(dict.fromkeys(specs)), ensure_ascii=False))


def suggest(
    available: list[Available], *, current: str | None, hangul: float, cleared: tuple[str, ...]
) -> tuple[str | None, str]:
    """A multilingual model for a store that is mostly Korean, else the packaged one, else whatever there is.

    A store whose encoder was cleared is left alone.
    """
    from recallens.index.encoders.detect import multilingual_rank

    if current == NO_ENCODER or (current is None and cleared):
        return None, "the encoder was cleared; `recallens encoder use SPEC` sets one again"
    allowed = [one for one in available if one.spec not in cleared]
    speaking = sorted(
        (one for one in allowed if one.multilingual), key=lambda one: multilingual_rank(one.spec.partition(":")[2]) or 0
    )
    if hangul > MOSTLY_KOREAN:
        if speaking:
            return _other(speaking[0].spec, current, "the store is mostly Korean, which this model reads")
        if current is not None:
            return None, "the store is mostly Korean, and no multilingual model was found: words find it"
    if current is not None:
        return None, f"{current} fits"
    ranked = [*(one for one in allowed if one.origin == "packaged"), *speaking, *allowed]
    return (ranked[0].spec, "the first that is there") if ranked else (None, "no encoder was found: words alone")


def _other(spec: str, current: str | None, reason: str) -> tuple[str | None, str]:
    return (None, f"{current} fits") if spec == current else (spec, reason)
