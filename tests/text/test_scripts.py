from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallens.text.scripts import hangul_share, script_of


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("The quick fox", "latin"),
        ("Über café", "latin"),
        ("사용자 인증", "hangul"),
        ("API를 사용자 인증에 쓴다", "hangul"),
        ("中文文本", "han"),
        ("日本語を話す", "kana"),
        ("привет мир", "other"),
        ("123 !? 😀", "none"),
        ("", "none"),
    ],
)
def test_the_script_with_most_letters(text: str, script: str) -> None:
    assert script_of(text) == script


def test_the_share_of_hangul_is_of_letters_alone() -> None:
    assert hangul_share("한글 ab 123!") == 0.5
    assert hangul_share("123") == 0.0


@given(st.text(alphabet=st.characters()))
def test_any_text_has_a_share_and_a_script(text: str) -> None:
    assert 0.0 <= hangul_share(text) <= 1.0
    assert script_of(text) in ("latin", "hangul", "han", "kana", "other", "none")
