"""The engine: what can be done with memories, as verbs; what else there is to do hangs on nouns.

with Engine.open("team.db") as engine:
    engine.remember("We cache tracking lookups for 60 seconds")
    engine.search("how long are lookups cached")
    engine.vaults.add("~/notes")
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from recallens.config import Settings, load
from recallens.engine.audit import Audit, Tokens
from recallens.engine.citations import Citations
from recallens.engine.context import ContextBuilder
from recallens.engine.core import Core, open_store, wall_clock
from recallens.engine.crafts import Crafts
from recallens.engine.encoder import StoreEncoder
from recallens.engine.erasure import Erasure
from recallens.engine.imports import Imports
from recallens.engine.ingest import Ingest
from recallens.engine.layers import Layers
from recallens.engine.maintenance import Maintenance
from recallens.engine.memories import Memories
from recallens.engine.recalls import Recalls
from recallens.engine.retrieval import Retriever
from recallens.engine.search import Search
from recallens.engine.sessions import Sessions
from recallens.engine.tasks import Tasks
from recallens.engine.transfer import Transfer
from recallens.engine.vaults import Vaults
from recallens.errors import InvalidInput, StoreClosed
from recallens.index.encoders.protocol import Encoder
from recallens.index.rerankers import Reranker
from recallens.ingest.prepare import Prepare, prepare
from recallens.ingest.signature import checked
from recallens.model.memory import Clock

# Whoever calls any of these from outside is held to their signatures.
for _part in (
    Audit, Citations, ContextBuilder, Crafts, Imports, Ingest, Layers, Maintenance, Memories, Recalls, Retriever,
    Search, Sessions, StoreEncoder, Tasks, Tokens, Transfer, Vaults,
):  # fmt: skip
    checked(_part)


class Engine:
    """One store, opened. Use it as a context manager, or call `close`.

    Each verb is a method of the part that does it, so its signature and its documentation stand there.
    """

    def __init__(self, core: Core) -> None:
        self.core = core
        self.encoder = StoreEncoder(core)
        search = Search(core, self.encoder)
        ingest = Ingest(core, self.encoder)
        self.sessions = Sessions(core, ingest)
        erasure = Erasure(core, self.sessions)
        self.memories = Memories(core, ingest, erasure)
        self.recalls = Recalls(core, search)
        self.layers = Layers(core, search)
        self.crafts = Crafts(core, ingest, search, self.encoder)
        self.tasks = Tasks(core, ingest, self.crafts, self.encoder)
        self.vaults = Vaults(core, self.encoder, erasure)
        self.audit = Audit(core)
        self.tokens = Tokens(core)
        imports = Imports(core, ingest, self.memories, self.sessions, self.vaults)
        self.maintenance = Maintenance(core, self.encoder, erasure, imports)

        # Keeping.
        self.remember = ingest.remember
        self.get = self.memories.get
        self.edit = self.memories.edit
        self.supersede = self.memories.supersede
        self.relate = self.memories.relate
        self.confirm = self.memories.confirm
        self.forget = self.memories.forget
        self.restore = self.memories.restore
        # Asking.
        self.search = search.search
        self.recall = search.recall
        self.context = ContextBuilder(core, search).build
        self.retrieve = Retriever(core, search).retrieve
        # Explaining.
        self.xray = self.recalls.xray
        self.why_not = self.recalls.why_not
        self.replay = self.recalls.replay
        self.diff = self.recalls.diff

    @classmethod
    def open(
        cls,
        store: str | Path | None = None,
        *,
        create: bool = True,
        settings: Settings | None = None,
        clock: Clock = wall_clock,
        ids: Callable[[], str] | None = None,
        encoder: Encoder | str | None = None,
        second: Encoder | None = None,
        reranker: Reranker | str | None = None,
        prepare: Prepare = prepare,
        **flags: object,
    ) -> Self:
        """Open a store, making it if need be, in a folder that exists. Other settings can be given by name:
        `namespace=`, `project=` …

        `encoder` is a spec such as "minilm" or "ollama:bge-m3", or an Encoder of your own; `second` is one for what
        that cannot read, in place of the packaged multilingual one. `reranker` is a spec, or an object of your own
        that looks at the best rows again. `prepare` derives from a draft what is stored with it; whoever stores the
        same texts again and again can remember what it gave.
        """
        if store is not None and not isinstance(store, str | Path):
            raise InvalidInput(f"a store is the path of a file or postgresql://…, not {store!r}")
        if settings is None:
            named = {
                "store": str(store) if store is not None else None,
                "encoder": encoder if isinstance(encoder, str) else None,
                "reranker": reranker if isinstance(reranker, str) else None,
            }
            settings = load(named | flags)
            if store is not None and create:
                _require_folder(settings.store)
        brought = None if isinstance(encoder, str) else encoder
        opened = open_store(settings, create=create)
        looking = None if isinstance(reranker, str) else reranker
        core = Core(
            opened, settings, clock=clock, ids=ids, encoder=brought, second=second, reranker=looking, prepare=prepare
        )
        engine = cls(core)
        engine.maintenance.erasure.resume()
        return engine

    def close(self) -> None:
        self.encoder.close()
        self.core.close()

    def __enter__(self) -> Self:
        if self.core.store.closed:
            raise StoreClosed(f"{self.core.store.location} is closed", hint="Open it anew, by Engine.open.")
        return self

    def __repr__(self) -> str:
        store = self.core.store
        state = "closed" if store.closed else "read-only" if store.read_only else "open"
        return f"<Engine {store.location!r}, namespace {self.core.settings.namespace!r}, {state}>"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _require_folder(store: str) -> None:
    """A mistyped path is no wish for new folders."""
    folder = Path(store).expanduser().absolute().parent
    if "://" not in store and not folder.is_dir():
        raise InvalidInput(f"the folder {folder} does not exist", hint="Make it first, or name a store elsewhere.")
