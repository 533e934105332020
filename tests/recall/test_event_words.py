"""What makes the reading of events quick changes nothing of what is read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from recallens.recall.views import event_words
from recallens.text.languages import PACKS, between_bars, packs_for
from recallens.text.times import without_event_phrases

SEASONS = Path(__file__).parents[1] / "seasons"


@pytest.mark.parametrize("of", ["same_events", "same_things"])
def test_a_group_is_tried_wherever_one_of_its_words_stands(of: str) -> None:
    tried = 0
    for pack in PACKS:
        for name, words in getattr(pack.times, of).items():
            for word in between_bars(words):
                written = re.sub(r"\[(.)[^]]*\]", r"\1", re.sub(r"\\s\??|\\w[*+]|\w\?", "", word)).replace("(?:", "")
                written = re.sub(r"\|[^)]*\)", "", written).replace(")", "")
                if re.fullmatch(r"[\w ]+", written):
                    assert name in event_words._possible(f"told of {written}.", of), word
                    tried += 1
    assert tried > 40


def test_what_a_text_dates_itself_by_is_found_around_its_signs_alone() -> None:
    lines = [line for file in SEASONS.rglob("*.txt") for line in file.read_text(encoding="utf-8").splitlines()]
    texts = ["\n".join(lines[at : at + 4]) for at in range(0, len(lines), 3)]
    everywhere = []
    for text in texts:
        for rule in (rule for pack in packs_for(text) for rule in pack.times.events):
            text = re.sub(rule.pattern, " ", text, flags=re.IGNORECASE)
        everywhere.append(text)
    assert list(map(without_event_phrases, texts)) == everywhere
    assert sum(text != left for text, left in zip(texts, everywhere, strict=True)) > 50
