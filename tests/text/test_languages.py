"""Languages are packs: all of their words stand in one place, and a new language is one file and a line.

A text is searched only if one of its words begins as a phrase does; that must never lose one.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recallens
from recallens.text.languages import PACKS, Phrases, grammar_of, main_language

WORDS = [
    "why",
    "vs",
    "set",
    "setup",
    "known bugs",
    "compared",
    "caus",
    "causing",
    "İ",
    "왜",
    "`x`",
    "_why",
    "why2",
    "-",
]
PHRASES = Phrases(
    r"""
    why|vs|known (?:issues?|bugs?)|compare[ds]?
    caus(?:es|ing)|set ?up|gotchas?
    """,
    "왜",
    anywhere="`[^`]+`",
)
PLAIN = re.compile(
    r"\b(?:why|vs|known (?:issues?|bugs?)|compare[ds]?|caus(?:es|ing)|set ?up|gotchas?)\b|왜|`[^`]+`", re.DOTALL
)


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=3), max_size=6), st.sampled_from([" ", "", ", ", "-", "\n"]))
def test_it_finds_what_the_plain_pattern_finds(words: list[str], between: str) -> None:
    text = between.join(words)
    assert PHRASES.within(text) == (PLAIN.search(text.lower()) is not None)
    assert PHRASES.within(text.upper()) == (PLAIN.search(text.upper().lower()) is not None)


@pytest.mark.parametrize("pattern", ["do\\w*", "(?:what|which) file", "ab?", "\\d+ days"])
def test_a_pattern_that_begins_with_no_known_letters_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="must begin with a whole word, or with 3 letters of one"):
        Phrases(pattern, "왜")


SOURCES = Path(recallens.__file__).parent
HANGUL = re.compile(r"[가-힣]")


def test_no_word_of_a_language_stands_outside_its_pack() -> None:
    holders = set()
    for path in SOURCES.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented
            if is_text and HANGUL.search(node.value):  # type: ignore[attr-defined]
                holders.add(path.relative_to(SOURCES).parts[:2])
    # The command's help has examples in Korean, and a migration names the letters of scripts.
    assert holders - {("cli", "commands"), ("store", "sqlite")} == {("text", "languages")}


SPANISH = """
import recallens.text.languages as languages
from recallens.text.languages.pack import *
languages.PACKS += (LanguagePack(
    code="es",
    function_words="el la los las de que",
    synonyms="authentication: autenticación",
    abbreviations="sra",
    lesson_names={"lesson": ("lección",)},
    times=TimeWords(rules=(TimeRule("ayer", "day", back=1),), sign="ayer", around=(r"(?i:\\b(?:", r")\\b)")),
    questions=QuestionWords(intents={"known_issues": "fallos?|averías?"}, conjunctions="y", broad="área"),
    memories=MemoryWords(
        decision=r"\\bdecidimos\\b", negation=r"\\bjamás\\b", outdated="anticuado", traces=("anticuado",)
    ),
    secrets=SecretWords(passwords="contraseña"),
),)
"""


def test_a_new_language_is_one_pack() -> None:
    script = (
        SPANISH
        + """
from datetime import date
from recallens.ingest.classification import classify_sector
from recallens.ingest.dedupe import same_polarity
from recallens.ingest.redact import redact
from recallens.ingest.vault.lessons import lesson_kind
from recallens.recall.conflicts import marked, traces_in
from recallens.recall.intents import wish_of
from recallens.text.sentences import sentences
from recallens.text.stopwords import expansions, query_weights
from recallens.text.times import time_references
from recallens.text.tokenizer import tokenize
assert time_references("Ayer", date(2024, 3, 5))[0][:3] == ("Ayer", date(2024, 3, 4), date(2024, 3, 5))
assert wish_of("las averías de la red").intent == wish_of("known issues").intent
assert query_weights(tokenize("el servidor"))["el"] == 0
assert "autenticación" in expansions("authentication", tokenize("authentication"))["authent"]
assert "authentication" in expansions("autenticación", tokenize("autenticación"))["autenticación"]
assert classify_sector("decidimos esto") == "reflective"
assert not same_polarity("jamás", "siempre")
assert traces_in(["anticuado"]) and marked("anticuado")
assert redact("contraseña: abc123def!")[1] == ("password",)
assert lesson_kind("lección/a.md", {}) == "lesson"
assert len(sentences("La Sra. Ruiz vino. Bien.")) == 2
"""
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_text_is_of_the_language_whose_script_has_most_of_it() -> None:
    assert [pack.code for pack in PACKS] == ["en", "ko"]
    assert main_language("배포는 API로 한다").code == "ko"
    assert main_language("the word 배포 alone").code == "en"
    assert main_language("").code == "en"
    assert grammar_of("the word 배포 alone") is PACKS[1].grammar
    assert grammar_of("the word alone") is None


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.code)
def test_every_rule_of_a_pack_can_be_read(pack) -> None:  # type: ignore[no-untyped-def]
    for rule in pack.times.rules:
        re.compile(rule.pattern.join(pack.times.around))
    assert len(pack.times.weekdays) == 7
