"""A golden set to begin with: the titles and headings of the store's files that only one file could answer to."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recallens.engine import Engine
from recallens.errors import NotFound
from recallens.evaluate.expected import files_of
from recallens.store.protocols import Reader
from recallens.text.stopwords import FULL_WEIGHT, token_weight
from recallens.text.tokenizer import tokenize

MOST = 50
# One word names a subject, not a question: a word of framing must be with it at least ("deploy days"). Korean is cut
# into pairs of syllables, so three syllables are two words.
LEAST_WEIGHT = 1.5

_HEAD = """\
# {count} questions from titles and headings{where}. They are a beginning: a title asks in the note's own
# words, which is easy. Write each as somebody would ask it who does not know the note, delete what nobody asks, and
# add what was once searched for in vain. `expect` names every note that answers; `tags` are yours to sort by.
#
#   recallens eval {file}
"""


@dataclass(frozen=True, slots=True)
class Proposal:
    query: str
    path: str
    heading: bool
    distinct: float


def propose(engine: Engine, vault: str | None, *, most: int = MOST) -> list[Proposal]:
    """Of one vault, or of all that was cut from files. The same store gives the same list."""
    only = None if vault is None else engine.vault(vault).id
    with engine.store.read(engine.namespace(None)) as reader:
        state = reader.state
        named = list(_named(reader, only)) if state is not None else []
    if not named:
        raise NotFound("no file to ask about is in the store", hint="`recallens vault add FOLDER` takes notes in.")
    found = sorted(_distinct(named), key=lambda one: (one.heading, -one.distinct, one.path, one.query))
    return sorted(found[:most], key=lambda one: (one.path, one.heading, one.query))


def as_yaml(proposals: Sequence[Proposal], *, vault: str | None, file: str) -> str:
    """JSON strings are YAML strings, whatever they hold."""
    where = "" if vault is None else f" of the vault {json.dumps(vault, ensure_ascii=False)}"
    parts = [_HEAD.format(count=len(proposals), where=where, file=file)]
    for one in proposals:
        query, path = (json.dumps(text, ensure_ascii=False) for text in (one.query, one.path))
        tags = "\n  tags: [heading]" if one.heading else ""
        parts.append(f"- query: {query}\n  expect: [{path}]{tags}\n")
    return "".join(parts)


def _named(reader: Reader, only: int | None) -> Iterator[tuple[str, str, bool]]:
    """Each file's path, with its title or one of its headings."""
    paths = files_of(reader).shortest_names()
    of_vaults: set[str] = set()
    chosen: set[str] = set()
    for vault in reader.vaults.all():
        documents = [file.document for file in reader.vaults.files(vault.id) if file.document in paths]
        of_vaults.update(documents)
        if only in (None, vault.id):
            chosen.update(documents)
            for document, sections in sorted(reader.vaults.sections(vault.id, documents).items()):
                headings = dict.fromkeys(heading for section in sections for heading in section.placed.headings)
                yield from ((paths[document], heading, True) for heading in headings)
    for kept in reader.documents.all():
        wanted = kept.id in chosen or (only is None and kept.id not in of_vaults)
        if wanted and kept.title:
            yield paths[kept.id], kept.title, False


def _distinct(named: Sequence[tuple[str, str, bool]]) -> Iterator[Proposal]:
    """A title that holds a word which no other file's title or heading has, and enough words to be asked."""
    weights = {text: {word: token_weight(word) for word in tokenize(text)} for _, text, _ in named}
    words = {text: {word for word, weight in own.items() if weight == FULL_WEIGHT} for text, own in weights.items()}
    held: dict[str, set[str]] = defaultdict(set)
    for path, text, _ in named:
        held[path] |= words[text]
    files = Counter(word for own in held.values() for word in own)
    titles = {(path, _flat(text)) for path, text, heading in named if not heading}
    for path, text, heading in dict.fromkeys(named):
        own = words[text]
        repeated = heading and (path, _flat(text)) in titles
        if not repeated and sum(weights[text].values()) >= LEAST_WEIGHT and any(files[word] == 1 for word in own):
            yield Proposal(" ".join(text.split()), path, heading, sum(1 / files[word] for word in own))


def _flat(text: str) -> str:
    return " ".join(text.split()).casefold()
