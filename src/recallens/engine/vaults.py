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

from recallens.engine.keeping import Keeping
from recallens.errors import EncoderError, InvalidInput, NotFound, StoreBusy
from recallens.ingest.validate import label
from recallens.text.normalize import clean

if TYPE_CHECKING:
    from recallens.engine.vault_sync import SyncProgress
    from recallens.model.vault import SyncReport, Vault, VaultOptions

DEBOUNCE_MS = 400
# How often a watch looks whether it should stop, or has something left to try again.
_TICK_MS = 500
_NAME = re.compile(r"[^\s/\\:][^/\\:\n]{0,127}")


class Vaults(Keeping):
    def vault_add(
        self, path: str | os.PathLike[str], name: str | None = None, *, scopes: Sequence[str] = (),
        include: Sequence[str] = (), exclude: Sequence[str] = (), include_raw: bool = False,
        include_operational: bool = False, project: str | None = None, namespace: str | None = None,
    ) -> Vault:  # fmt: skip
        """Make a folder a vault; `vault_sync` then reads it. Adding it again changes what of it is read."""
        from recallens.ingest.vault.choice import choose
        from recallens.model.vault import VaultOptions

        root = Path(os.path.realpath(os.path.expanduser(path)))
        if not root.is_dir():
            raise NotFound(f"there is no folder {root}", hint="A vault is a folder of markdown files.")
        wanted = clean(root.name if name is None else name).strip()
        if not _NAME.fullmatch(wanted):
            raise InvalidInput(f"{wanted!r} is no name for a vault", hint="Give one with --name: letters, no / \\ or :")
        options = VaultOptions(
            _texts("scopes", scopes), _texts("include", include), _texts("exclude", exclude), include_raw,
            include_operational, label("project", project or self.settings.project),
        )  # fmt: skip
        choose(str(root), options)  # a vault whose scopes all lead out of it is refused before it is stored
        space = self.namespace(namespace)
        with self.store.write(space) as tx:
            tx.ensure(self.clock())
            for vault in tx.vaults.all():
                _compatible(vault, wanted, str(root), options)
            tx.vaults.put(wanted, str(root), options, self.clock())
            return next(vault for vault in tx.vaults.all() if vault.name == wanted)

    def vaults(self, *, namespace: str | None = None) -> list[Vault]:
        with self.store.read(self.namespace(namespace)) as reader:
            state = reader.state
            return reader.vaults.all() if state else []

    def vault_counts(self, *, namespace: str | None = None) -> dict[str, tuple[int, int]]:
        """How many files and sections each vault has, by its name."""
        with self.store.read(self.namespace(namespace)) as reader:
            state = reader.state
            if state is None:
                return {}
            counts = reader.vaults.counts()
            return {vault.name: counts[vault.id] for vault in reader.vaults.all()}

    def vault(self, name: str, *, namespace: str | None = None) -> Vault:
        found = self.vaults(namespace=namespace)
        for vault in found:
            if vault.name == clean(name).strip():
                return vault
        known = ", ".join(vault.name for vault in found)
        raise NotFound(
            f"no vault {name!r}" + (f"; the vaults are: {known}" if known else ""),
            hint="`recallens vault add FOLDER` makes one.",
        )

    def vault_page(
        self, name: str, *, limit: int, offset: int = 0, namespace: str | None = None
    ) -> list[tuple[str, str, int, tuple[str, ...], str | None, int]]:
        """The sections of a vault by file and place: id, path, position, headings, title, characters."""
        vault = self.vault(name, namespace=namespace)
        with self.store.read(vault.namespace) as reader:
            return reader.vaults.page(vault.id, limit, offset)

    def vault_document(self, path: str, *, namespace: str | None = None) -> bool:
        """Whether a document of this path was cut from a vault's file."""
        with self.store.read(self.namespace(namespace)) as reader:
            state = reader.state
            return state is not None and reader.vaults.holds(clean(path))

    def vault_sync(
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

        chosen = self.vaults(namespace=namespace) if name is None else [self.vault(name, namespace=namespace)]
        if not chosen:
            raise NotFound("there is no vault yet", hint="`recallens vault add FOLDER` makes one.")
        if paths is not None and len(chosen) > 1:
            raise InvalidInput("paths belong to one vault", hint=f"Name it: {', '.join(v.name for v in chosen)}.")
        told = progress or (lambda done, total: None)
        return SyncReport(tuple(Sync(self, vault, told).run(paths) for vault in chosen))

    def vault_remove(self, name: str, *, namespace: str | None = None) -> int:
        """Forget a vault and delete its sections for good; the folder stays as it is. Gives how many there were."""
        vault = self.vault(name, namespace=namespace)
        with self.store.write(vault.namespace) as tx:
            ns = self._state(tx).key
            nums = tx.vaults.drop(vault.id)
            derived = self.resident(ns)
            if nums:
                tx.memories.delete(nums)
        if nums:
            derived.discard()
            self.store.compact()
        return len(nums)

    def vault_watch(
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

        vault = self.vault(name, namespace=namespace)

        def sync(paths: Sequence[str] | None) -> bool:
            try:
                report = self.vault_sync(vault.name, paths, namespace=vault.namespace)
            except StoreBusy:
                return False  # another process is at it; the same paths are looked at again
            if embed and report.changed_anything:
                with suppress(EncoderError):  # words find it; its vectors wait in the backlog
                    self.drain()
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
    return tuple(dict.fromkeys(clean(value).strip() for value in values if value.strip()))


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
