"""Checking what memories cite, and keeping the verdicts where a recall finds them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from recallens.config import DEFAULT_SOURCE
from recallens.engine.core import Core
from recallens.errors import InvalidInput
from recallens.model.citation import Citation, CitationCheck, LogCitation, TerminalCitation, updated


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
        if self._core.settings.sources.get("store", DEFAULT_SOURCE) == DEFAULT_SOURCE:
            return None
        from recallens.ingest.citation_check import work_tree

        return work_tree(Path(self._core.store.location).resolve().parent)

    def check(
        self,
        ids: Iterable[str] | None = None,
        *,
        root: str | Path | None = None,
        project: str | None = None,
        mark: bool = False,
        namespace: str | None = None,
    ) -> list[CitationCheck]:
        """What each citation of these memories (all that cite anything) comes to. Only `mark` writes."""
        from recallens.ingest.citation_check import verify

        place = self.workspace(root)
        with self._core.store.read(self._core.namespace(namespace)) as reader:
            if reader.state is None:
                return []
            nums = None if ids is None else [self._core.num(reader, id) for id in ids]
            cited = reader.citations.of(nums, project)
            artifacts = reader.citations.artifacts(_pointers(cited.values()))
        verdicts = verify((each for _, all in cited.values() for each in all), root=place, artifacts=artifacts)
        at = self._core.clock()
        checks = {
            num: CitationCheck(id, at, tuple(verdicts[each] for each in citations))
            for num, (id, citations) in cited.items()
        }
        if mark and checks:
            self._mark(checks, self._core.namespace(namespace))
        return list(checks.values())

    def _mark(self, checks: dict[int, CitationCheck], namespace: str) -> None:
        with self._core.store.write(namespace) as tx:
            present = tx.memories.ids(list(checks))  # since they were read, some may have been deleted
            before = tx.citations.checks(list(present))
            marks = {num: updated(before[num], checks[num]) if num in before else checks[num] for num in present}
            tx.citations.put_checks(marks)

    def last_check(self, id: str, *, namespace: str | None = None) -> CitationCheck | None:
        """The verdict that was kept, if any."""
        with self._core.reading(namespace) as reader:
            num = self._core.num(reader, id)
            return reader.citations.checks([num]).get(num)


def _pointers(cited: Iterable[tuple[str, list[Citation]]]) -> list[str]:
    from recallens.ingest.citation_check import artifact_id

    found: dict[str, None] = {}
    for _, citations in cited:
        for each in citations:
            if isinstance(each, LogCitation):
                found[artifact_id(each.pointer)] = None
            elif isinstance(each, TerminalCitation):
                found[artifact_id(each.id)] = None
    return list(found)
