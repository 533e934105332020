"""Excerpts: the sentences that answer, whole, within so many tokens."""

from hypothesis import given
from hypothesis import strategies as st

from recallens.text.excerpt import answering, has_steps
from recallens.text.token_count import count_tokens

CACHE = (
    "We argued about the cache for weeks. Kim wanted Redis, Lee wanted memory. In the end lookups of parcels are kept"
    " for fifteen minutes. Anything longer showed stale positions to customers. The queue is not affected. Reviews"
    " happened on Tuesday and everyone agreed."
)
DEPLOY = (
    "배포는 매주 목요일 오후 세 시에 한다. 담당자는 김민수이고 대리인은 이영희다. 장애가 나면 즉시 이전 버전으로 "
    "되돌린다. 되돌리는 데는 평균 4분이 걸린다. 결제 서비스는 금요일에 배포하지 않는다. 모든 배포는 기록된다."
)


def test_a_text_that_fits_stays_as_it_is():
    assert answering(" Short.\n\nTwo lines. ", "anything", tokens=20) == "Short.\n\nTwo lines."


def test_the_sentence_that_answers_is_whole():
    assert "lookups of parcels are kept for fifteen minutes." in answering(CACHE, "parcel lookups", tokens=30)
    assert answering(DEPLOY, "담당자가 누구야?", tokens=20) == "… 담당자는 김민수이고 대리인은 이영희다. …"


def test_what_is_left_out_shows_as_an_ellipsis():
    shown = answering(CACHE, ("weeks", "queue"), tokens=18)
    assert shown == "We argued about the cache for weeks. … The queue is not affected. …"


def test_a_long_sentence_is_cut_at_words_around_the_match():
    shown = answering("alpha " * 300 + "the needle is 42 " + "omega " * 300, "where is the needle", tokens=30)
    assert "the needle is 42" in shown
    assert shown.startswith("… alpha ")
    assert shown.endswith("omega …")


def test_without_a_match_the_beginning_is_read():
    assert answering(CACHE, "zebra", tokens=30).startswith("We argued about the cache for weeks.")


@given(st.text(st.sampled_from("ab 가나.\n?한"), max_size=400), st.text(max_size=20), st.integers(5, 60))
def test_the_room_is_never_exceeded(text: str, question: str, room: int):
    assert count_tokens(answering(text, question, tokens=room)) <= room


def test_a_sentence_that_has_nothing_to_do_with_the_question_is_left_out_even_where_it_would_fit():
    shown = answering(CACHE, "parcel lookups", tokens=200, related=True)
    assert shown == "… In the end lookups of parcels are kept for fifteen minutes. …"
    assert answering(CACHE, "zebra", tokens=200, related=True) == CACHE


def test_what_follows_comes_only_behind_a_question():
    said = "Nobody is in. Who holds the spare key of the depot? Mina does. It rained all day and the team was ill. " * 2
    assert "Mina does." in answering(said, "spare key depot", tokens=40)
    plain = said.replace("depot?", "depot is known.")
    assert "Mina does." not in answering(plain, "spare key depot", tokens=40)


def test_an_answer_leads_with_the_sentence_that_says_most():
    text = "Nothing of this is visible to buyers. The trucks of the buyers are insured by Nordan. It rained."
    assert answering(text, "who insures the trucks of the buyers", tokens=60, leading=True).startswith("The trucks")


def test_who_asks_how_gets_the_steps():
    told = (
        "unjam the crate washer. The crate washer runs again after a long day of trying, and everybody was relieved.\n"
        "1. Lock the main switch.\n2. Slacken the chain by two links.\n3. Turn the plastic strip around.\n"
        "The crate washer is as old as the hall. It was bought second hand, with the crate lift and the crate scale."
    )
    shown = answering(told, "how do we unjam the crate washer", tokens=45)
    assert "1. Lock the main switch. 2. Slacken the chain by two links. 3. Turn the plastic strip around." in shown
    assert "1. Lock" not in answering(told, "when was the crate scale bought", tokens=45)


def test_room_is_filled_with_what_stands_beside_the_best_sentence():
    text = (
        "The bakery opens at seven. Every recommender has to pass a gate before it goes out. NDCG must not fall "
        "by more than two thousandths. Everybody was tired that day. The postman comes at nine with the letters."
    )
    question = "what gate does the recommender have to pass"
    assert "NDCG" not in answering(text, question, tokens=44, related=True)
    assert "pass a gate before it goes out. NDCG must" in answering(
        text, question, tokens=44, related=True, around=True
    )


def test_what_goes_on_about_the_best_sentence_stands_before_those_that_say_far_less():
    text = (
        "At night the lamp in the hall stays on. If Granny feels a pressure in the chest she gets her drops. They are"
        " in the red tin on the shelf beside the bed in the small room upstairs. The attic is locked. Granny naps."
    )
    asked = "where are the drops against Granny's pressure in the chest at night"
    assert "They are in the red tin" in answering(text, asked, tokens=36, around=True)


def test_the_steps_of_a_list_in_a_row_keep_their_numbers_and_are_all_told_to_who_asks_how():
    text = (
        "Adding a new gauge station: 1. insert the row into stations with its datum offset. 2. run `twctl calibrate`"
        " against two known tides. 3. turn on publishing with `twctl enable CODE`. 4. watch the plot for a day."
        " Marisol was glad of it."
    )
    shown = answering(text, "how do I add a new gauge station?", tokens=100, related=True)
    assert all(step in shown for step in ("1. insert", "2. run", "3. turn on", "4. watch"))
    assert "3. turn on publishing" in answering(text, "turn on publishing", tokens=30)
    assert has_steps(text)
