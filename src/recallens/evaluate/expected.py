"""What a golden question expects, found in the store: files by their paths, memories by their ids."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from recallens.engine import Engine
from recallens.errors import InvalidInput
from recallens.model.memory import Memory
from recallens.store.protocols import Reader
from recallens.text.normalize import nfc


@dataclass(frozen=True, slots=True)
class Target:
    """One thing that should be found. `key` is what it is ranked by: a document's id or a memory's.

    `memories` are the ids that it can be found as: a file's sections, or the one memory.
    """

    name: str
    key: str
    memories: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Expected:
    """`by_file`: what was cut from one document counts once, where its best section stands."""

    by_file: bool = False
    targets: tuple[Target, ...] = ()
    unknown: tuple[str, ...] = ()

    def key_of(self, memory: Memory) -> str:
        return _key(memory, by_file=self.by_file)


@dataclass(slots=True)
class Files:
    """The files of a namespace by every name that they go by: path as stored, path in the vault, path on the disk."""

    documents: dict[str, str] = field(default_factory=dict)
    inside: dict[str, str] = field(default_factory=dict)
    by_name: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def document(self, name: str) -> str | None:
        found = self.by_name.get(_path(name), set())
        exact = {id for id in found if _path(self.documents[id]) == _path(name)}
        if len(found) > 1 and not exact:
            stored = ", ".join(sorted(self.documents[id] for id in found))
            raise InvalidInput(f"{name!r} is the path of several files", hint=f"Name the one that is meant: {stored}.")
        return next(iter(exact or found), None)

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


def resolve(engine: Engine, names: Mapping[str, Iterable[str]], namespace: str) -> dict[str, Expected]:
    """By question, what it expects. One look at the store for all of them."""
    wanted = list(dict.fromkeys(name for own in names.values() for name in own))
    with engine.store.read(namespace) as reader:
        state = reader.state
        if state is None:
            return {question: Expected(unknown=tuple(own)) for question, own in names.items()}
        files = files_of(reader)
        documents = {name: id for name in wanted if (id := files.document(name)) is not None}
        sections = {
            id: tuple(reader.memories.ids(reader.documents.memories(files.documents[id])).values())
            for id in dict.fromkeys(documents.values())
        }
        others = [name for name in wanted if name not in documents]
        memories = _memories(reader, others)
    return {question: _expected(own, documents, sections, memories) for question, own in names.items()}


def _memories(reader: Reader, names: list[str]) -> dict[str, Memory]:
    """By our id, or by the one that a memory had where it came from."""
    ours = reader.memories.find([name.upper() for name in names])
    theirs = reader.memories.by_source_id(names)
    numbers = {name: num for name in names if (num := ours.get(name.upper(), theirs.get(name))) is not None}
    found = reader.memories.get(list(numbers.values()))
    return {name: found[num] for name, num in numbers.items() if num in found}


def _expected(
    names: Iterable[str], documents: Mapping[str, str], sections: Mapping[str, tuple[str, ...]],
    memories: Mapping[str, Memory],
) -> Expected:  # fmt: skip
    own = tuple(names)
    by_file = any(name in documents for name in own)
    targets: dict[str, Target] = {}
    for name in own:
        if name in documents:
            target = Target(name, documents[name], sections[documents[name]])
        elif name in memories:
            target = Target(name, _key(memories[name], by_file=by_file), (memories[name].id,))
        else:
            continue
        targets.setdefault(target.key, target)
    return Expected(
        by_file, tuple(targets.values()), tuple(name for name in own if name not in documents and name not in memories)
    )


def _key(memory: Memory, *, by_file: bool) -> str:
    return memory.document if by_file and memory.document is not None else memory.id


def _path(name: str) -> str:
    """One spelling: composed letters, forward slashes, no leading `./`."""
    return nfc(name).replace("\\", "/").removeprefix("./")
