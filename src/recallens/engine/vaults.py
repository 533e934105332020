"""Vaults: folders of notes that are kept as memories."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from recallens.engine.core import Core
from recallens.engine.encoder import StoreEncoder
from recallens.engine.erasure import Erasure, pending
from recallens.errors import EncoderError, InvalidInput, NotFound, StoreBusy
from recallens.ingest.validate import label, reference
from recallens.text.normalize import clean, nfc

if TYPE_CHECKING:
    from recallens.engine.vault_sync import SyncProgress
    from recallens.model.vault import SyncReport, Vault, VaultOptions, VaultPage

DEBOUNCE_MS = 400
# How often a watch looks whether it should stop, or has something left to try again.
_TICK_MS = 500
_NAME = re.compile(r"[^\s/\\:][^/\\:\n]{0,127}")
FILES_A_PAGE = 100


class Vaults:
    """Adds, syncs, watches and removes the vaults of a namespace."""

    def __init__(self, core: Core, encoder: StoreEncoder, erasure: Erasure) -> None:
        self._core = core
        self._erasure = erasure
        self._encoder = encoder

    def add(
        self, path: str | os.PathLike[str], name: str | None = None, *, scopes: Sequence[str] = (),
        include: Sequence[str] = (), exclude: Sequence[str] = (), include_raw: bool = False,
        include_operational: bool = False, project: str | None = None, chunk: int | None = None,
        namespace: str | None = None,
    ) -> Vault:  # fmt: skip
        """Make a folder a vault; `vault_sync` then reads it. Adding it again changes what of it is read, and how long
        its sections are: with another `chunk` every file is read once more.
        """
        from recallens.ingest.vault.choice import choose
        from recallens.model.vault import CHUNK_CHARACTERS, LONGEST_CHUNK, SHORTEST_CHUNK, VaultOptions

        root = Path(os.path.realpath(os.path.expanduser(path)))
        if not root.is_dir():
            raise NotFound(f"there is no folder {root}", hint="A vault is a folder of markdown files.")
        reference("path of the vault", str(root))
        wanted = reference("name of the vault", root.name if name is None else name).strip()
        if not _NAME.fullmatch(wanted):
            raise InvalidInput(f"{wanted!r} is no name for a vault", hint="Give one with --name: letters, no / \\ or :")
        if chunk is not None and not SHORTEST_CHUNK <= chunk <= LONGEST_CHUNK:
            raise InvalidInput(f"a section has {SHORTEST_CHUNK} to {LONGEST_CHUNK:,} characters, not {chunk:,}")
        options = VaultOptions(
            _texts("scopes", scopes), _texts("include", include), _texts("exclude", exclude), include_raw,
            include_operational, label("project", project or self._core.settings.project),
            chunk or CHUNK_CHARACTERS,
        )  # fmt: skip
        choose(str(root), options)  # a vault whose scopes all lead out of it is refused before it is stored
        with self._core.making(namespace) as tx:
            for vault in tx.vaults.all():
                _compatible(vault, wanted, str(root), options)
                if vault.name == wanted and vault.options.chunk != options.chunk:
                    tx.vaults.read_again(vault.id)
            tx.vaults.put(wanted, str(root), options, self._core.clock())
            return next(vault for vault in tx.vaults.all() if vault.name == wanted)

    def all(self, *, namespace: str | None = None) -> list[Vault]:
        with self._core.read(namespace) as reader:
            return reader.vaults.all()

    def counts(self, *, namespace: str | None = None) -> dict[str, tuple[int, int]]:
        """How many files and sections each vault has, by its name."""
        with self._core.read(namespace) as reader:
            counts = reader.vaults.counts()
            return {vault.name: counts[vault.id] for vault in reader.vaults.all()}

    def get(self, name: str, *, namespace: str | None = None) -> Vault:
        vaults = {vault.name: vault for vault in self.all(namespace=namespace)}
        if (wanted := clean(name).strip()) in vaults:
            return vaults[wanted]
        known = f"; the vaults are: {', '.join(vaults)}" if vaults else ""
        raise NotFound(f"no vault {name!r}{known}", hint="`recallens vault add FOLDER` makes one.")

    def page(
        self, name: str, *, limit: int, offset: int = 0, namespace: str | None = None
    ) -> list[tuple[str, str, int, tuple[str, ...], str | None, int]]:
        """The sections of a vault by file and place: id, path, position, headings, title, characters."""
        vault = self.get(name, namespace=namespace)
        with self._core.store.read(vault.namespace) as reader:
            return reader.vaults.page(vault.id, limit, offset)

    def files(
        self, name: str, *, like: str = "", offset: int = 0, limit: int = FILES_A_PAGE, namespace: str | None = None
    ) -> VaultPage:
        """The files of a vault whose paths hold `like`, with their sections."""
        from recallens.model.vault import FiledSections, VaultPage

        if offset < 0 or not 1 <= limit <= FILES_A_PAGE:
            raise InvalidInput(f"a page has 1 to {FILES_A_PAGE} files and starts at 0 or later")
        with self._core.reading(namespace) as reader:
            vault = next((vault for vault in reader.vaults.all() if vault.name == clean(name).strip()), None)
            if vault is None:
                raise NotFound(f"no vault {name!r}", hint="`recallens vault add FOLDER` makes one.")
            wanted = nfc(like).casefold().strip()
            # For whom a file is that could not be read, nobody knows.
            hidden = reader.documents.withheld() | (set() if self._core.actor.sight.everything else {""})
            known = [file for file in reader.vaults.files(vault.id) if file.document not in hidden]
            files = [file for file in known if wanted in nfc(file.path).casefold()]
            shown = files[offset : offset + limit]
            sections = reader.vaults.sections(vault.id, [file.document for file in shown if file.document])
        filed = tuple(FiledSections(file, tuple(sections.get(file.document, ()))) for file in shown)
        return VaultPage(vault, filed, len(files))

    def sighted(self, name: str, *, namespace: str | None = None) -> dict[str, bool]:
        """The paths of the files that were read, and whether who acts may see something of them."""
        vault = self.get(name, namespace=namespace)
        with self._core.read(namespace) as reader:
            hidden = reader.documents.withheld()
            return {file.path: file.document not in hidden for file in reader.vaults.files(vault.id) if file.document}

    def holds_document(self, path: str, *, namespace: str | None = None) -> bool:
        """Whether a document of this path was cut from a vault's file."""
        with self._core.read(namespace) as reader:
            return reader.vaults.holds(clean(path))

    def sync(
        self,
        name: str | None = None,
        paths: Sequence[str] | None = None,
        progress: SyncProgress | None = None,
        *,
        namespace: str | None = None,
    ) -> SyncReport:
        """Bring a vault, or every one, up to date with its folder. Vectors wait in the backlog for `drain`.

        `paths` limits it to these files and folders of one vault. `progress` is told (files done, files to do).
        """
        # Late: what reads notes is needed by nothing else.
        from recallens.engine.vault_sync import Sync
        from recallens.model.vault import SyncReport

        chosen = self.all(namespace=namespace) if name is None else [self.get(name, namespace=namespace)]
        if not chosen:
            raise NotFound("there is no vault yet", hint="`recallens vault add FOLDER` makes one.")
        if paths is not None and len(chosen) > 1:
            raise InvalidInput("paths belong to one vault", hint=f"Name it: {', '.join(v.name for v in chosen)}.")
        watcher = progress or (lambda done, total: None)
        return SyncReport(tuple(Sync(self._core, vault, watcher).run(paths) for vault in chosen))

    def remove(self, name: str, *, namespace: str | None = None) -> int:
        """Forget a vault and delete its sections for good; the folder stays as it is. Gives how many there were."""
        vault = self.get(name, namespace=namespace)
        with self._core.changing(vault.namespace) as tx:
            nums = tx.vaults.drop(vault.id)
            if nums:
                self._erasure.delete(tx, nums)
        if self._erasure.finish() is None:
            raise pending(name)
        return len(nums)

    def watch(
        self,
        name: str,
        stop: threading.Event,
        *,
        on_sync: Callable[[SyncReport], None] | None = None,
        debounce_ms: int = DEBOUNCE_MS,
        embed: bool = True,
        namespace: str | None = None,
    ) -> None:
        """Keep a vault up to date until `stop` is set. `on_sync` is told of every sync that changed something."""
        if find_spec("watchfiles") is None:
            raise InvalidInput("watching a vault needs the package watchfiles:", hint='pip install "recallens[watch]"')
        from watchfiles import watch

        vault = self.get(name, namespace=namespace)

        def sync(paths: Sequence[str] | None) -> bool:
            try:
                report = self.sync(vault.name, paths, namespace=vault.namespace)
            except StoreBusy:
                return False  # another process is at it; the same paths are looked at again
            if embed and report.changed_anything:
                with suppress(EncoderError):  # words find it; its vectors wait in the backlog
                    self._encoder.drain()
            if on_sync is not None and (report.changed_anything or paths is None):
                on_sync(report)
            return True

        pending: set[str] = set()
        # The first look is a whole one, taken when the watch is already on, so that nothing falls between the two.
        looked = False
        for seen in watch(
            vault.root, watch_filter=lambda _, path: _is_visible(vault.root, path), debounce=debounce_ms, step=50,
            stop_event=stop, rust_timeout=_TICK_MS, yield_on_timeout=True, recursive=True,
        ):  # fmt: skip
            pending |= {path for _, path in seen}
            if not looked:
                looked = sync(None)
                pending = set() if looked else pending
            elif pending and sync(sorted(pending)):
                pending = set()


def _is_visible(root: str, path: str) -> bool:
    return not any(part.startswith(".") for part in Path(os.path.relpath(path, root)).parts)


def _texts(what: str, values: Sequence[str]) -> tuple[str, ...]:
    if isinstance(values, str):
        raise InvalidInput(f"{what} must be a list of texts, not the text {values!r}")
    return tuple(dict.fromkeys(reference(what, value).strip() for value in values if value.strip()))


def _compatible(vault: Vault, name: str, root: str, options: VaultOptions) -> None:
    if vault.name == name and vault.root != root:
        raise InvalidInput(f"{name} is the vault at {vault.root}", hint="Give another name with --name.")
    if vault.root == root and vault.name != name:
        raise InvalidInput(f"{root} is the vault {vault.name} already", hint="Sync it: `recallens vault sync`.")
    if vault.name == name and vault.options.project != options.project:
        raise InvalidInput(
            f"the vault {name} belongs to the project {vault.options.project or '(none)'}",
            hint="Remove the vault and add it again to move it to another project.",
        )
