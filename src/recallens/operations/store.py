"""What the store holds: namespaces, counts, vaults, and how well it answers golden sets."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, structs

from recallens.errors import EncoderError, InvalidInput
from recallens.model.vault import LONGEST_CHUNK, SHORTEST_CHUNK
from recallens.operations.arguments import PAGE, Arguments, Cursor, Limit, Name, Names, PresetName, cursor_of, offset_of
from recallens.operations.machine import backlog, encode
from recallens.operations.operation import Answer, Call, Operation, Right
from recallens.render.records import Record, report_record, vault_record

if TYPE_CHECKING:
    from recallens.engine import Engine

# Where the store lies is no business of a caller from elsewhere.
_OF_THE_MACHINE = ("root", "store", "storeId")

SetName = Annotated[str, Meta(pattern=r"^[\w][\w.-]{0,99}$")]


class OneVault(Arguments, frozen=True, kw_only=True):
    name: Name


class Sections(OneVault, frozen=True, kw_only=True):
    limit: Limit = PAGE
    cursor: Cursor = None


class AddVault(Arguments, frozen=True, kw_only=True):
    path: Annotated[str, Meta(min_length=1, max_length=4_096)]
    name: Name | None = None
    scopes: Names = ()
    include: Names = ()
    exclude: Names = ()
    project: Name | None = None
    chunk: Annotated[int, Meta(ge=SHORTEST_CHUNK, le=LONGEST_CHUNK)] | None = None


class KeepVault(Arguments, frozen=True, kw_only=True):
    """`sync` reads the folder at once, `embed` encodes what it holds."""

    folder: str
    name: str | None = None
    project: str | None = None
    include_raw: bool = False
    include_operational: bool = False
    chunk: int | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    sync: bool = True
    embed: bool = True


class SyncVaults(Arguments, frozen=True):
    name: str | None = None
    paths: tuple[str, ...] = ()
    embed: bool = True


class OneRun(Arguments, frozen=True, kw_only=True):
    id: SetName


class RunSet(Arguments, frozen=True, kw_only=True):
    set: Annotated[SetName, Meta(description="A golden set that lies with the store.")]
    preset: PresetName | None = None


def stats(engine: Engine, call: Call, asked: Arguments) -> Answer:
    return Answer(_told(engine.maintenance.stats(namespace=call.namespace), call))


def namespaces(engine: Engine, call: Call, asked: Arguments) -> Answer:
    """Those that the caller holds, also where they are still empty."""
    counts = dict(engine.maintenance.namespaces())
    held = sorted(counts if call.caller.namespaces is None else call.caller.namespaces)
    return Answer({"namespaces": [{"name": name, "memories": counts.get(name, 0)} for name in held]})


def list_vaults(engine: Engine, call: Call, asked: Arguments) -> Answer:
    found, counts = engine.vaults.all(namespace=call.namespace), engine.vaults.counts(namespace=call.namespace)
    held = [(one, counts[one.name]) for one in found]
    return Answer({"vaults": [_told(vault_record(one, count), call) for one, count in held]}, value=held)


def vault_sections(engine: Engine, call: Call, asked: Sections) -> Answer:
    vault = engine.vaults.get(asked.name, namespace=call.namespace)
    shown = ["sections", call.namespace, vault.name]
    start = offset_of(asked.cursor, shown)
    found = engine.vaults.page(vault.name, limit=asked.limit, offset=start, namespace=call.namespace)
    memories = engine.memories.many([id for id, *_ in found], namespace=call.namespace)
    shown_ids = {id for id, memory in memories.items() if call.caller.sight.withholds(memory) is None}
    record: Record = {
        "vault": vault.name,
        "sections": [
            {"id": id, "path": path, "position": position, "headings": list(headings), "title": title, "chars": chars}
            for id, path, position, headings, title, chars in found
            if id in shown_ids
        ],
    }
    more = {"next": cursor_of(shown, [start + asked.limit])} if len(found) == asked.limit else {}
    return Answer(record | more)


def sync_vault(engine: Engine, call: Call, asked: OneVault) -> Answer:
    """The folder is the one that the person at the machine named; a caller only says when to look. A token is told of
    the files that it may see before and after: for whom one is that cannot be read, nobody knows."""
    before = engine.vaults.sighted(asked.name, namespace=call.namespace)
    report = engine.vaults.sync(asked.name, namespace=call.namespace)
    after = engine.vaults.sighted(asked.name, namespace=call.namespace)
    if not call.caller.sees_withheld:
        shown = {path for path in {*before, *after} if before.get(path, True) and after.get(path, True)}
        report = structs.replace(report, vaults=tuple(one.only(shown) for one in report.vaults))
    with suppress(EncoderError):  # words find it; its vectors wait in the backlog
        engine.encoder.drain()
    return Answer({"vaults": [_told(one, call) for one in report_record(report)["vaults"]]})


def add_vault(engine: Engine, call: Call, asked: AddVault) -> Answer:
    made = engine.vaults.add(asked.path, asked.name, **asked.beside("path", "name"), namespace=call.namespace)
    return Answer(vault_record(made, engine.vaults.counts(namespace=call.namespace)[made.name]))


def keep_vault(engine: Engine, call: Call, asked: KeepVault) -> Answer:
    options = asked.beside("folder", "name", "sync", "embed")
    made = engine.vaults.add(asked.folder, asked.name, **options, namespace=call.namespace)
    if asked.sync:
        return sync_vaults(engine, call, SyncVaults(name=made.name, embed=asked.embed))
    counts = engine.vaults.counts(namespace=call.namespace)[made.name]
    return Answer(vault_record(made, counts), value=(made, counts))


def sync_vaults(engine: Engine, call: Call, asked: SyncVaults) -> Answer:
    """One vault, some of its paths, or every vault; and the texts that wait for their vectors."""
    with call.progress.growing("reading") as told:
        report = engine.vaults.sync(asked.name, list(asked.paths) or None, told, namespace=call.namespace)
    failure = encode(engine, call)[2] if asked.embed else None
    waiting = backlog(engine)
    engine.maintenance.publish(call.namespace)
    return Answer({**report_record(report), "backlog": waiting}, value=report, failure=failure)


def remove_vault(engine: Engine, call: Call, asked: OneVault) -> Answer:
    return Answer({"removed": asked.name, "sections": engine.vaults.remove(asked.name, namespace=call.namespace)})


# Measuring is loaded when it is asked for: a surface that starts should not wait for it.


def list_runs(engine: Engine, call: Call, asked: Arguments) -> Answer:
    from recallens.evaluate import shelf

    folder = shelf.folder_of(engine.core.store.beside, call.namespace)
    return Answer({"sets": shelf.set_names(folder), "runs": shelf.run_summaries(folder)})


def get_run(engine: Engine, call: Call, asked: OneRun) -> Answer:
    from recallens.evaluate import shelf

    return Answer(shelf.kept_run(shelf.folder_of(engine.core.store.beside, call.namespace), asked.id))


def run_set(engine: Engine, call: Call, asked: RunSet) -> Answer:
    from recallens.evaluate import shelf
    from recallens.evaluate.expectations import expectations
    from recallens.evaluate.harness import Variant, run_golden

    folder = shelf.folder_of(engine.core.store.beside, call.namespace)
    golden = shelf.golden_set(folder, asked.set)
    elsewhere = [one.id for one in golden.questions if one.namespace not in (None, call.namespace)]
    if elsewhere:
        raise InvalidInput(f"the question {elsewhere[0]!r} of {asked.set} is about another namespace")
    here = shelf.within(golden, call.namespace)
    variant = Variant(asked.preset or engine.core.settings.preset)
    ran = run_golden(engine, here, expectations(engine, here), variant, now=engine.core.clock())
    return Answer(shelf.keep(folder, ran, engine.core.new_id().lower()))


def _told(record: dict[str, Any], call: Call) -> Record:
    return record if call.caller.local else {k: v for k, v in record.items() if k not in _OF_THE_MACHINE}


STORE = (
    Operation("stats", "What the namespace holds, and how it is encoded.", Right.READ, Arguments, stats),
    Operation("namespaces", "The namespaces that the caller holds.", Right.READ, Arguments, namespaces),
    Operation("list_vaults", "The vaults of the namespace and their sizes.", Right.READ, Arguments, list_vaults),
    Operation("vault_sections", "The sections of a vault, by file.", Right.READ, Sections, vault_sections),
    Operation("sync_vault", "Bring a vault up to date with its folder.", Right.WRITE, OneVault, sync_vault),
    Operation("add_vault", "Make a folder of this machine a vault.", Right.LOCAL, AddVault, add_vault),
    Operation("list_runs", "Golden sets that lie with the store, and what they measured.", Right.READ, Arguments,
              list_runs),
    Operation("get_run", "One recorded run of a golden set.", Right.READ, OneRun, get_run),
    Operation("run_set", "Ask a golden set and record how it went.", Right.LOCAL, RunSet, run_set),
    Operation("keep_vault", "Make a folder a vault, and read it.", Right.OWNER, KeepVault, keep_vault),
    Operation("sync_vaults", "Bring a vault, or every one, up to date with its folder.", Right.OWNER, SyncVaults,
              sync_vaults),
    Operation("remove_vault", "Delete the memories of a vault for good. Its folder stays as it is.", Right.OWNER,
              OneVault, remove_vault),
)  # fmt: skip
