"""The terms of documents, each in a store of its own: sections, paths, names, identifiers, and who mentions whom."""

from __future__ import annotations

from typing import Any

from recallens.engine import Engine
from recallens.ingest.draft import Draft
from recallens.model.citation import FileCitation
from recallens.model.recall import Recall

OWN = {"sections", "path", "fileName", "identifiers", "length", "mentioned"}
FILLING = "It lies between two hills, and people there keep records of rain, harvests and the height of its river. "


def keep(engine: Engine, *drafts: Draft) -> None:
    for _ in engine.memories.remember_many(drafts, dedupe=False):
        pass
    engine.encoder.drain()


def ask(engine: Engine, text: str, **options: Any) -> Recall:
    return engine.recall(engine.recalls.query(text, cut=False, **options))


def page(text: str, title: str | None = None, path: str | None = None, length: int = 14) -> Draft:
    return Draft(text + " " + FILLING * length, title=title, citations=(FileCitation(path),) if path else ())


def part(recall: Recall, name: str) -> dict[str, float]:
    return {result.memory.title or "": result.parts[name] for result in recall.results if name in result.parts}


def test_a_document_that_the_first_one_mentions_is_found_without_a_word_of_the_question(engine: Engine) -> None:
    others = [page(f"Valley number {at} has a mill.", f"Mill {at}") for at in range(60)]
    first = page("The lighthouse keeper Ada Quill was born in Varn Hollow (north).", "Ada Quill")
    keep(engine, first, Draft("Founded 1311. 4,000 live there, it is known for cheese, glass, and its many bells. " * 3,
                              title="Varn Hollow (village)"), *others)  # fmt: skip
    recall = ask(engine, "where did the lighthouse keeper Quill come from", limit=50)
    assert recall.results[0].memory.title == "Ada Quill"
    assert part(recall, "mentioned").keys() == {"Varn Hollow (village)"}
    (found,) = (result for result in recall.results if result.memory.title == "Varn Hollow (village)")
    assert "graph" in found.views


def test_sections_of_one_title_do_not_mention_each_other(engine: Engine) -> None:
    keep(engine, *(page(f"Part {at} of the tide tables, Tide tables.", "Tide tables") for at in range(4)))
    assert not part(ask(engine, "tide tables part 2"), "mentioned")


def test_the_section_that_speaks_of_it_counts_and_not_words_all_over_a_long_text(engine: Engine) -> None:
    whole = Draft(FILLING * 20 + "The quota of the copper store is nine crates. " + FILLING * 20, title="Stores")
    apart = Draft(FILLING * 14 + "A quota. " + FILLING * 14 + "Copper. " + FILLING * 14 + "A store.", title="Apart")
    keep(engine, whole, apart, *(page(f"Room {at}", f"Room {at}") for at in range(5)))
    recall = ask(engine, "quota of the copper store")
    found = part(recall, "sections")
    assert recall.results[0].memory.title == "Stores"
    assert found["Stores"] > found["Apart"]


def test_a_path_and_a_file_name_say_what_a_document_is_about(engine: Engine) -> None:
    keep(
        engine,
        page("How it is set up.", "A", "docs/network/side-car.md"),
        page("How it is set up.", "B", "docs/storage/index.md"),
    )
    recall = ask(engine, "how the side car of the network is set up")
    assert part(recall, "path").keys() == part(recall, "fileName").keys() == {"A"}
    assert "B" not in part(ask(engine, "index of what is set up"), "fileName")


def test_identifiers_count_as_they_are_written(engine: Engine) -> None:
    keep(engine, page("Set MaxSurge to 3.", "A"), page("The max surge is a word.", "B"), page("maxsurge.", "C"))
    assert part(ask(engine, "what does MaxSurge do"), "identifiers").keys() == {"A"}


def test_notes_have_none_of_the_terms_of_documents(engine: Engine) -> None:
    notes = ("Varn Hollow has a lighthouse.", "MaxSurge is 3 in Ada Quill's file.")
    keep(engine, *(Draft(text, title="Varn Hollow", citations=(FileCitation("docs/surge.md"),)) for text in notes))
    told = {term.name for term in ask(engine, "MaxSurge surge Varn Hollow lighthouse").ledger.terms()}
    assert told.isdisjoint(OWN)
