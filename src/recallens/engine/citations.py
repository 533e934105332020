"""What memories cite, held against the checkout that it speaks of: as it was when it was cited, and as it is now.

A recall reads the verdicts that were kept and never a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recallens.config import DEFAULT_SOURCE
from recallens.engine.core import Core
from recallens.errors import InvalidInput
from recallens.model.citation import (
    Checked,
    Citation,
    CitationCheck,
    CitedLines,
    CommitCitation,
    FileCitation,
    LogCitation,
    Standing,
    SymbolCitation,
    TerminalCitation,
    updated,
)
from recallens.store.records import Prepared

if TYPE_CHECKING:
    from recallens.ingest.citation_check import Checkout


class Citations:
    """Checks citations against the checkout that they speak of."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def workspace(self, root: str | Path | None = None) -> Path | None:
        """Where cited files and commits are looked for: what is given, the setting, or the store's own work tree.

        The default store serves every project, so that the folder it lies in says nothing.
        """
        named = root if root is not None else self._core.settings.workspace
        if named is not None:
            folder = Path(named).expanduser()
            if not folder.is_dir():
                raise InvalidInput(f"the workspace {str(named)!r} is no folder", hint="Give the root of a checkout.")
            return folder.resolve()
        store = self._core.store.path
        if store is None or self._core.settings.sources.get("store", DEFAULT_SOURCE) == DEFAULT_SOURCE:
            return None
        from recallens.ingest.repository import work_tree

        return work_tree(store.resolve().parent)

    def here(self, root: str | Path | None = None) -> Path | None:
        """The workspace, else the work tree that the person or the agent works in."""
        from recallens.ingest.repository import work_tree

        named, folder = self.workspace(root), self._core.folder
        return named if named is not None or folder is None else work_tree(folder.resolve())

    def taken(self, rows: Sequence[Prepared]) -> list[dict[Citation, CitedLines]]:
        """The cited lines of each row as they are now, where there is a checkout to look in."""
        wanted = [[] if row.memory.document is not None else _located(row.memory.citations) for row in rows]
        checkout = self._checkout() if any(wanted) else None
        if checkout is None:
            return [{} for _ in rows]
        each = [[(citation, checkout.take(citation)) for citation in citations] for citations in wanted]
        return [{citation: lines for citation, lines in own if lines is not None} for own in each]

    def check(
        self,
        ids: Iterable[str] | None = None,
        *,
        root: str | Path | None = None,
        project: str | None = None,
        mark: bool = False,
        namespace: str | None = None,
    ) -> list[CitationCheck]:
        """What each citation of these memories (all that cite anything) comes to. Only `mark` writes: the verdicts, by
        checkout and branch, and what cited lines are where that was not known yet.
        """
        from recallens.ingest.citation_check import Checkout, artifact_id, verify

        # What was never seen in a checkout is not missed in one that merely happens to be here.
        checkout, guessed = Checkout(self.here(root)), self.workspace(root) is None
        with self._core.read(namespace) as reader:
            nums = None if ids is None else [self._core.num(reader, id) for id in ids]
            cited = reader.citations.of(nums, project)
            known = reader.citations.lines(list(cited))
            pairs = [(num, citation) for num, (_, citations) in cited.items() for citation in citations]
            logs = [citation.pointer for _, citation in pairs if isinstance(citation, LogCitation)]
            screens = [citation.id for _, citation in pairs if isinstance(citation, TerminalCitation)]
            artifacts = reader.citations.artifacts(list(dict.fromkeys(map(artifact_id, [*logs, *screens]))))
        asked = [(citation, known.get((num, citation))) for num, citation in pairs]
        verdicts = verify(asked, checkout, artifacts)
        if guessed:
            here = [pair for pair in asked if pair[1] is None and not _is_here(verdicts[pair])]
            verdicts |= verify(here, Checkout(None), artifacts)
        at = self._core.clock()
        checks = {
            num: CitationCheck(
                id, at, tuple(verdicts[citation, known.get((num, citation))] for citation in citations),
                checkout.worktree,
            )
            for num, (id, citations) in cited.items()
        }  # fmt: skip
        if mark and checks:
            with self._core.store.write(self._core.namespace(namespace)) as tx:
                present = tx.memories.ids(list(checks))  # since they were read, some may have been deleted
                marks = {num: checks[num] for num in present}
                for num, found in marks.items():
                    before = next((b for b in tx.citations.all_checks(num) if _same_place(b, found)), None)
                    marks[num] = found if before is None else updated(before, found)
                tx.citations.put_checks(marks)
                seen = () if guessed else [(num, cited) for num, cited in pairs if (num, cited) not in known]
                new = {place: checkout.take(place[1]) for place in seen if place[0] in present}
                tx.citations.put_lines({place: lines for place, lines in new.items() if lines is not None})
        return list(checks.values())

    def last_check(self, id: str, *, worktree: str | None = None, namespace: str | None = None) -> CitationCheck | None:
        """The verdict that was kept, if any: of the checkout or branch of this name, else the last."""
        with self._core.reading(namespace) as reader:
            num = self._core.num(reader, id)
            return reader.citations.checks([num], worktree).get(num)

    def checks(self, id: str, *, namespace: str | None = None) -> list[CitationCheck]:
        """The verdicts that were kept, by checkout and branch, the latest first."""
        with self._core.reading(namespace) as reader:
            return reader.citations.all_checks(self._core.num(reader, id))

    def _checkout(self) -> Checkout | None:
        from recallens.ingest.citation_check import Checkout

        try:
            root = self.here()
        except InvalidInput:  # a folder that is set and gone keeps nobody from remembering
            return None
        return None if root is None else Checkout(root)


def _located(citations: Sequence[Citation]) -> list[Citation]:
    return [citation for citation in citations if isinstance(citation, FileCitation | SymbolCitation)]


def _is_here(checked: Checked) -> bool:
    """A commit that the repository has was made in it; one that it has not may be of another."""
    return isinstance(checked.citation, CommitCitation) and checked.standing is Standing.VERIFIED


def _same_place(before: CitationCheck, after: CitationCheck) -> bool:
    """Who looked nowhere learned nothing of any checkout."""
    here, there = after.worktree, before.worktree
    return not here.root or (there.root, there.branch) == (here.root, here.branch)
