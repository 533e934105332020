"""Who asks for a list or a count wants every occasion: rows of a session give way to those of others."""

from __future__ import annotations

import pytest

from recallens.engine import Engine
from recallens.ingest.draft import Draft
from recallens.recall.select import asks_for_several

WANTED = """
How many times did I go to the museum?
Which museums have I visited?
What books have I read this year?
How much did I spend in total?
작년에 박물관에 몇 번 갔어?
내가 읽은 책들 알려줘
총 얼마 썼어?
가 본 박물관을 모두 말해 줘
"""
SINGLE = """
How many days ago did I go to the museum?
Where is the museum?
Which museum is the largest?
박물관이 어디야?
아들 생일이 언제야?
누가 그 그림을 만들었어?
"""


@pytest.mark.parametrize("question", WANTED.strip().splitlines())
def test_a_list_or_a_count_is_asked_for(question: str) -> None:
    assert asks_for_several(question)


@pytest.mark.parametrize("question", SINGLE.strip().splitlines())
def test_one_answer_is_asked_for(question: str) -> None:
    assert not asks_for_several(question)


def test_each_session_has_its_turn_where_a_list_is_asked_for(engine: Engine) -> None:
    visits = {
        "s-1": (
            "I visited the museum of clocks on Sunday",
            "The museum of clocks that I visited was quiet, I visited twice",
        ),
        "s-2": ("By the way, I visited a museum in Porto",),
        "s-3": ("We visited the museum of glass",),
    }
    for session, turns in visits.items():
        for position, text in enumerate(turns):
            engine.remember(Draft(text, author="user", session=session, position=position))
    for number in range(12):
        engine.remember(Draft(f"The tram was {number} minutes late", author="user", session="s-4", position=number))

    of_text = {text: session for session, turns in visits.items() for text in turns}

    def first_sessions(question: str) -> set[str]:
        recall = engine.search(question, limit=3, cut=False, record=False)
        assert all(sum(each.parts.values()) == pytest.approx(each.score, abs=1e-9) for each in recall.results)
        return {of_text[each.memory.content] for each in recall.results}

    assert first_sessions("Which museums have I visited?") == {"s-1", "s-2", "s-3"}
