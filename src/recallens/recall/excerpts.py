"""What of a result is handed out: a section's text up to a length, a lesson up to a larger one, under its title."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from recallens.ingest.vault.lessons import extract_lesson_essence
from recallens.model.memory import Kind, Memory
from recallens.model.pool import Pool
from recallens.model.verdict import IntArray
from recallens.recall.provenance import path_of, title_of
from recallens.recall.scene import Scene
from recallens.recall.sources import LAYERS, layers
from recallens.text.sentences import cut_at_word
from recallens.text.token_count import count_tokens

# The specification's lengths.
SECTION_CHARACTERS: Final = 700
LESSON_CHARACTERS: Final = 1_200
# A text that closed the block it stands in could pass for the frame's own words.
_CLOSING, _BLUNTED = "</memories", "‹/memories"


@dataclass(frozen=True, slots=True)
class Excerpt:
    source: str
    title: str
    content: str

    @property
    def block(self) -> str:
        return f"[{self.source}] {self.title}\n{self.content}\n\n".replace(_CLOSING, _BLUNTED)

    @property
    def tokens(self) -> int:
        return count_tokens(self.block)


def excerpt(memory: Memory, *, source: str, path: str) -> Excerpt:
    """A section of a file is called by its path, and its headings stand before its text; a lesson is called alike."""
    lesson = memory.kind is Kind.LESSON
    text = memory.content.strip()
    essence = extract_lesson_essence(text, LESSON_CHARACTERS) if lesson else ""
    body = essence or cut_at_word(text, LESSON_CHARACTERS if lesson else SECTION_CHARACTERS)
    if memory.document is None:
        return Excerpt(source, title_of(memory), body)
    crumb = f"{memory.title}\n" if memory.title and not lesson and not text.startswith(memory.title) else ""
    return Excerpt(source, path, crumb + body)


def excerpts(scene: Scene, pool: Pool, positions: IntArray) -> Sequence[Excerpt]:
    if scene.known is None or not len(positions):
        return []
    nums = scene.columns["num"][pool.rows[positions]].tolist()
    known = scene.known(nums)
    sources = [str(LAYERS[code]) for code in layers(scene, pool)[positions].tolist()]
    return [
        excerpt(known.memories[num], source=source, path=path_of(known.memories[num], known.paths))
        for num, source in zip(nums, sources, strict=True)
    ]
