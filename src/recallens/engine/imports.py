"""What other programs keep, taken in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from recallens.engine.core import Core
from recallens.engine.ingest import Ingest
from recallens.engine.memories import Memories
from recallens.engine.sessions import Sessions
from recallens.engine.vaults import Vaults
from recallens.errors import InvalidInput
from recallens.ingest.validate import label, option
from recallens.model.memory import Zone
from recallens.model.trust import importer

if TYPE_CHECKING:
    from recallens.engine.import_run import Imported, ImportProgress


class Imports:
    """Takes in the transcripts, exports and notes of other programs."""

    def __init__(self, core: Core, ingest: Ingest, memories: Memories, sessions: Sessions, vaults: Vaults) -> None:
        self._core = core
        self._ingest = ingest
        self._memories = memories
        self._sessions = sessions
        self._vaults = vaults

    def run(
        self, source: str, path: str | Path, *, zone: str | None = None, project: str | None = None,
        dry_run: bool = False, progress: ImportProgress | None = None, namespace: str | None = None,
    ) -> Imported:  # fmt: skip
        """Everything that a program keeps at a path, or below it where that is a folder. Twice is the same as once.

        What people and assistants said enters `zone` (working, where none is named); what tools gave is in quarantine
        whatever the zone. `progress` is told (kilobytes read, kilobytes to read).
        """
        # Late: what reads other programs' files is needed by nothing else.
        from recallens.engine.import_run import ImportRun, entries_of
        from recallens.ingest.findings import Finder
        from recallens.ingest.importers import files_of, source_named
        from recallens.ingest.source_file import SourceFile

        known = source_named(source)
        place = Path(path).expanduser()
        files = files_of(known, place)
        entered = None if zone is None else option(Zone, zone, "zone")
        if getattr(known, "IS_VAULT", False) and not dry_run:
            return self._keep_vault(source, place, entered, project, namespace)
        zone_of_talk = entered or Zone.WORKING
        with self._core.acting(importer(zone_of_talk)):
            name = self._core.namespace(namespace)
            run = ImportRun(
                self._core, self._ingest, self._memories, self._sessions, name, zone=zone_of_talk,
                project=label("project", project), dry_run=dry_run,
                finder=Finder() if getattr(known, "IS_WORK", False) else None,
                there=self._held_by_vault(place, name) if getattr(known, "IS_VAULT", False) else frozenset(),
            )  # fmt: skip
            opened = [SourceFile(path) for path in files]
            run.take_all(entries_of(known, opened, progress or (lambda done, total: None)))
            return run.finish(source, sum(file.files for file in opened))

    def _held_by_vault(self, place: Path, namespace: str) -> frozenset[str]:
        """What a vault of this folder holds already, as digests of its texts."""
        root = str(place.resolve())
        vault = next((vault for vault in self._vaults.all(namespace=namespace) if vault.root == root), None)
        if vault is None:
            return frozenset()
        with self._core.read(namespace) as reader:
            documents = [file.document for file in reader.vaults.files(vault.id) if file.document]
            sections = reader.vaults.sections(vault.id, documents)
        return frozenset(section.content_hash for own in sections.values() for section in own)

    def _keep_vault(
        self, source: str, place: Path, zone: Zone | None, project: str | None, namespace: str | None
    ) -> Imported:
        from recallens.engine.import_run import Imported
        from recallens.ingest.importers import SkippedEntry

        if zone not in (None, Zone.TRUSTED):
            raise InvalidInput(
                f"{source} stays a vault, whose notes are the person's own: trusted, not {zone}",
                hint="Leave out --zone.",
            )
        vault = self._vaults.add(place, project=project, namespace=namespace)
        (synced,) = self._vaults.sync(vault.name, namespace=namespace).vaults
        sections = self._vaults.counts(namespace=namespace)[vault.name][1]
        skipped = tuple(SkippedEntry(each.path, each.reason) for each in (*synced.errors, *synced.skipped))
        imported = min(synced.sections_indexed, sections)
        files = len(synced.added) + len(synced.changed) + len(synced.renamed) + synced.unchanged
        return Imported(
            source, files, sections + len(skipped), imported, sections - imported, skipped, vault=vault.name
        )
