"""Where something happened, as a project: "what went wrong at the bakery in February", "4월에 병원에서 생긴 문제".

What happens at a place is seldom told with the place's name. Where such a question names a time and a place and nothing
else, and the memories that speak of the place are nearly all of one project, it asks for that project's time.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from msgspec.structs import replace

from recallens.index.lexical import bind_words
from recallens.model.plan import PlaceOfProject
from recallens.model.query import Query
from recallens.model.verdict import BoolArray, IntArray
from recallens.recall.facets import place_alone
from recallens.recall.gates import filter_rules, passing
from recallens.recall.plan import PLANNED_CHARACTERS
from recallens.recall.presets import Preset
from recallens.recall.scene import Scene, facets_asked
from recallens.recall.views import within_windows
from recallens.text.languages.translation import words_in_translation, words_of_the_same_meaning
from recallens.text.stopwords import projects_named
from recallens.text.tokenizer import tokenize

# Of the memories that speak of the place, so many are of its project; one that holds most of the store is no place.
MOST_OF_THEM: Final = 0.7
MOST_OF_THE_STORE: Final = 0.6


def placed(scene: Scene, preset: Preset, query: Query) -> Scene:
    """The scene whose question asks for the time of the project that its place is of, where it has one."""
    plan, projects = scene.question.plan, scene.columns.names["project"]
    if plan is None or not scene.question.windows or scene.question.only_windows or scene.question.projects:
        return scene
    text = query.text[:PLANNED_CHARACTERS]
    place = place_alone(text, scene.question.facets)
    if place is None or len(projects.codes) < 2:
        return scene
    written, name = place
    admitted = passing(scene, filter_rules(scene, query))[0]
    code = next(iter(projects_named(name, projects.codes).values()), None)
    if code is None:
        code = _project_of(scene, preset, name, admitted)
    if code is None:
        return scene
    of_project = admitted & (scene.columns["project"] == code)
    windows = [window for window in scene.question.windows if not window.given] or scene.question.windows
    if not (of_project & within_windows(scene.columns, slice(None), windows)).any():
        return scene
    called = next(known for known, number in projects.codes.items() if number == code)
    plan = replace(plan, place=PlaceOfProject(name, called))
    facets = facets_asked(text, scene.question.annotations, plan, [written])
    return replace(scene, question=replace(scene.question, plan=plan, facets=facets, projects=[code]))


def _project_of(scene: Scene, preset: Preset, name: str, admitted: BoolArray) -> int | None:
    """The project of nearly all memories that hold the name; of those that say it in other words, where none does."""
    whole = "".join(name.split()).casefold()
    codes = [code for known, code in scene.columns.names["project"].codes.items() if whole in known.casefold()]
    if len(codes) == 1 and len(whole) > 2:
        return codes[0]
    others = [token for word in words_of_the_same_meaning(name) for token in tokenize(word)]
    for words in (tokenize(name), [*words_in_translation(name), *others]):
        rows = _holding(scene, preset, list(dict.fromkeys(words)), admitted)
        if len(rows):
            return _mostly(scene, rows, admitted)
    return None


def _holding(scene: Scene, preset: Preset, words: list[str], admitted: BoolArray) -> IntArray:
    if not words:
        return np.empty(0, dtype=np.int64)
    bound = bind_words(scene.reader, scene.index.lexical, words, formula=preset.formula, name="place")
    held: IntArray = bound.matching[admitted[bound.matching]]
    return held


def _mostly(scene: Scene, rows: IntArray, admitted: BoolArray) -> int | None:
    projects, counts = np.unique(scene.columns["project"][rows], return_counts=True)
    code = int(projects[counts.argmax()])
    share = (admitted & (scene.columns["project"] == code)).sum() / admitted.sum()
    fits = code >= 0 and counts.max() >= MOST_OF_THEM * len(rows) and share <= MOST_OF_THE_STORE
    return code if fits else None
