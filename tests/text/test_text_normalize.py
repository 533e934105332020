from __future__ import annotations

from unicodedata import is_normalized

from hypothesis import given
from hypothesis import strategies as st

from recallens.text.normalize import clean, normalize

ANY_TEXT = st.text(alphabet=st.characters())


def test_clean_keeps_case_and_lines_and_drops_what_cannot_be_stored() -> None:
    assert clean("Cafe\u0301\n\tB\x00\ud800!") == "Café\n\tB!"


def test_clean_composes_what_a_removed_character_kept_apart() -> None:
    assert clean("e\x00\u0301") == "é"


def test_normalize_folds_case_and_composes_again() -> None:
    assert normalize("STRASSE") == normalize("Straße")
    assert normalize("E\u0301COLE") == "école"


def test_normalize_turns_control_characters_into_spaces() -> None:
    assert normalize("A\x00B\nC\udfff") == "a b c "


@given(ANY_TEXT)
def test_clean_is_idempotent_and_storable(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert is_normalized("NFC", cleaned)
    assert "\x00" not in cleaned
    cleaned.encode("utf-8")


@given(ANY_TEXT)
def test_normalize_is_idempotent(text: str) -> None:
    normalized = normalize(text)
    assert normalize(normalized) == normalized
    assert is_normalized("NFC", normalized)
    normalized.encode("utf-8")
