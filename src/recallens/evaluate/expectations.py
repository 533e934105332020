"""What golden questions expect, found in the store: files by their paths, memories by their ids.

Where there are no questions yet, the files' titles and headings propose some.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from recallens.engine import Engine
from recallens.errors import InvalidInput, NotFound
from recallens.evaluate.golden import GoldenSet
from recallens.model.memory import Memory
from recallens.store.protocols import Reader
from recallens.text.normalize import nfc
from recallens.text.stopwords import FULL_WEIGHT, token_weight
from recallens.text.tokenizer import tokenize


class Target(Struct, frozen=True):
    name: str
    key: str  # what it is ranked by: a document's id or a memory's
    memories: tuple[str, ...]  # the ids that it can be found as: a file's sections, or the one memory


class Expected(Struct, frozen=True):
    by_file: bool = False  # sections of one document count once, where the best of them stands
    targets: tuple[Target, ...] = ()
    unknown: tuple[str, ...] = ()

    def key_of(self, memory: Memory) -> str:
        return memory.document if self.by_file and memory.document is not None else memory.id


class Files(Struct):
    """The files of a namespace by every name that they go by: path as stored, path in the vault, path on the disk."""

    documents: dict[str, str] = {}
    inside: dict[str, str] = {}
    by_name: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def document(self, name: str) -> str | None:
        documents = self.by_name.get(_path(name), set())
        exact = {id for id in documents if _path(self.documents[id]) == _path(name)}
        if len(documents) > 1 and not exact:
            stored = ", ".join(sorted(self.documents[id] for id in documents))
            raise InvalidInput(f"{name!r} is the path of several files", hint=f"Name the one that is meant: {stored}.")
        return next(iter(exact or documents), None)

    def shortest_names(self) -> dict[str, str]:
        """Document → the path in its vault, or as stored where another file has the same."""
        return {
            id: inside if len(self.by_name.get(_path(inside), ())) == 1 else stored
            for id, stored in self.documents.items()
            for inside in (self.inside.get(id, stored),)
        }


def files_of(reader: Reader) -> Files:
    files = Files()
    for document in reader.documents.all():
        files.documents[document.id] = document.path
        files.by_name[_path(document.path)].add(document.id)
    for vault in reader.vaults.all():
        for file in reader.vaults.files(vault.id):
            if file.document:
                files.inside[file.document] = file.path
                for name in (file.path, os.path.join(vault.root, file.path)):
                    files.by_name[_path(name)].add(file.document)
    return files


def expectations(engine: Engine, golden: GoldenSet) -> dict[str, Expected]:
    """By question's id. A set of which nothing is there asks another store than was meant."""
    by_namespace: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for question in golden.questions:
        by_namespace[engine.core.namespace(question.namespace)][question.id] = question.expect
    expected: dict[str, Expected] = {}
    for namespace, names in by_namespace.items():
        expected |= resolve(engine, names, namespace)
    if not any(own.targets for own in expected.values()):
        first = golden.questions[0].expect[0]
        raise NotFound(
            f"nothing that {golden.name} expects is in {engine.core.store.location}: {first!r}, for one",
            hint="`recallens vault add FOLDER` takes notes in; --store and --namespace say where to look.",
        )
    return expected


def resolve(engine: Engine, names: Mapping[str, Iterable[str]], namespace: str) -> dict[str, Expected]:
    """What each question expects, with one look at the store for all of them."""
    wanted = list(dict.fromkeys(name for expected in names.values() for name in expected))
    with engine.core.store.read(namespace) as reader:
        if reader.state is None:
            return {question: Expected(unknown=tuple(expected)) for question, expected in names.items()}
        files = files_of(reader)
        documents = {name: id for name in wanted if (id := files.document(name)) is not None}
        sections = {
            id: tuple(reader.memories.ids(reader.documents.memories(files.documents[id])).values())
            for id in documents.values()
        }
        memories = _memories(reader, [name for name in wanted if name not in documents])
    files_expected = {name: Target(name, id, sections[id]) for name, id in documents.items()}
    return {question: _expected(list(expected), files_expected, memories) for question, expected in names.items()}


def _memories(reader: Reader, names: list[str]) -> dict[str, Memory]:
    """By our id, or by the one that a memory had where it came from."""
    ours = reader.memories.find([name.upper() for name in names])
    theirs = reader.memories.by_source_id(names)
    numbers = {name: num for name in names if (num := ours.get(name.upper(), theirs.get(name))) is not None}
    memories = reader.memories.get(list(numbers.values()))
    return {name: memories[num] for name, num in numbers.items() if num in memories}


def _expected(names: list[str], files: Mapping[str, Target], memories: Mapping[str, Memory]) -> Expected:
    expected = Expected(by_file=any(name in files for name in names))
    targets: dict[str, Target] = {}
    for name in names:
        target = files.get(name)
        if target is None and (memory := memories.get(name)) is not None:
            target = Target(name, expected.key_of(memory), (memory.id,))
        if target is not None:
            targets.setdefault(target.key, target)
    unknown = tuple(name for name in names if name not in files and name not in memories)
    return replace(expected, targets=tuple(targets.values()), unknown=unknown)


def _path(name: str) -> str:
    """One spelling: composed letters, forward slashes, no leading `./`."""
    return nfc(name).replace("\\", "/").removeprefix("./")


# ── a set to begin with: titles and headings that only one of the store's files could answer to ──

MOST_PROPOSED = 50
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


class ProposedQuestion(Struct, frozen=True):
    query: str
    path: str
    heading: bool
    distinct: float


def propose(engine: Engine, vault: str | None, *, most: int = MOST_PROPOSED) -> list[ProposedQuestion]:
    """Of one vault, or of all that was cut from files. The same store gives the same list."""
    only = None if vault is None else engine.vaults.get(vault).id
    with engine.core.store.read(engine.core.namespace(None)) as reader:
        named = list(_named(reader, only)) if reader.state is not None else []
    if not named:
        raise NotFound("no file to ask about is in the store", hint="`recallens vault add FOLDER` takes notes in.")
    proposed = sorted(_distinct(named), key=lambda own: (own.heading, -own.distinct, own.path, own.query))
    return sorted(proposed[:most], key=lambda own: (own.path, own.heading, own.query))


def as_yaml(questions: Sequence[ProposedQuestion], *, vault: str | None, file: str) -> str:
    """JSON strings are YAML strings, whatever they hold."""
    where = "" if vault is None else f" of the vault {json.dumps(vault, ensure_ascii=False)}"
    parts = [_HEAD.format(count=len(questions), where=where, file=file)]
    for question in questions:
        query, path = (json.dumps(text, ensure_ascii=False) for text in (question.query, question.path))
        tags = "\n  tags: [heading]" if question.heading else ""
        parts.append(f"- query: {query}\n  expect: [{path}]{tags}\n")
    return "".join(parts)


def _named(reader: Reader, only: int | None) -> Iterator[tuple[str, str, bool]]:
    """Each file's path, with its title or one of its headings."""
    paths = files_of(reader).shortest_names()
    of_vaults, chosen = set[str](), set[str]()
    for vault in reader.vaults.all():
        documents = [file.document for file in reader.vaults.files(vault.id) if file.document in paths]
        of_vaults.update(documents)
        if only in (None, vault.id):
            chosen.update(documents)
            for id, sections in sorted(reader.vaults.sections(vault.id, documents).items()):
                headings = dict.fromkeys(heading for section in sections for heading in section.placed.headings)
                yield from ((paths[id], heading, True) for heading in headings)
    for document in reader.documents.all():
        wanted = document.id in chosen or (only is None and document.id not in of_vaults)
        if wanted and document.title:
            yield paths[document.id], document.title, False


def _distinct(named: Sequence[tuple[str, str, bool]]) -> Iterator[ProposedQuestion]:
    """A title that holds a word which no other file's title or heading has, and enough words to be asked."""
    weights = {text: {word: token_weight(word) for word in tokenize(text)} for _, text, _ in named}
    words = {text: {word for word, weight in own.items() if weight == FULL_WEIGHT} for text, own in weights.items()}
    held: dict[str, set[str]] = defaultdict(set)
    for path, text, _ in named:
        held[path] |= words[text]
    files = Counter(word for own in held.values() for word in own)
    titles = {(path, " ".join(text.split()).casefold()) for path, text, heading in named if not heading}
    for path, text, heading in dict.fromkeys(named):
        own, query = words[text], " ".join(text.split())
        repeated = heading and (path, query.casefold()) in titles
        if not repeated and sum(weights[text].values()) >= LEAST_WEIGHT and any(files[word] == 1 for word in own):
            yield ProposedQuestion(query, path, heading, sum(1 / files[word] for word in own))
