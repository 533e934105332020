"""What the store holds: namespaces, counts, vaults, and how well it answers golden sets."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, StringConstraints

from recallens.errors import EncoderError, InvalidInput
from recallens.operations.access import Call, Right
from recallens.operations.arguments import Arguments, Limit, Name, Names, PresetName
from recallens.operations.cursors import PAGE, Cursor, cursor_of, offset_of
from recallens.operations.operation import Answer, Operation
from recallens.render.records import Record
from recallens.render.vaults import report_record, vault_record

if TYPE_CHECKING:
    from recallens.engine import Engine

# Where the store lies is no business of a caller from elsewhere.
_OF_THE_MACHINE = ("root", "store", "storeId")

SetName = Annotated[str, StringConstraints(pattern=r"^[\w][\w.-]{0,99}$")]


class OneVault(Arguments):
    name: Name


class Sections(OneVault):
    limit: Limit = PAGE
    cursor: Cursor = None


class AddVault(Arguments):
    path: Annotated[str, StringConstraints(min_length=1, max_length=4_096)]
    name: Name | None = None
    scopes: Names = ()
    include: Names = ()
    exclude: Names = ()
    project: Name | None = None


class OneRun(Arguments):
    id: SetName


class RunSet(Arguments):
    set: Annotated[SetName, Field(description="A golden set that lies with the store.")]
    preset: PresetName | None = None


def stats(engine: Engine, call: Call, asked: Arguments) -> Answer:
    return Answer(_told(engine.stats(namespace=call.namespace), call))


def namespaces(engine: Engine, call: Call, asked: Arguments) -> Answer:
    """Those that the caller holds, also where they are still empty."""
    counts = dict(engine.namespaces())
    held = sorted(counts if call.caller.namespaces is None else call.caller.namespaces)
    return Answer({"namespaces": [{"name": name, "memories": counts.get(name, 0)} for name in held]})


def list_vaults(engine: Engine, call: Call, asked: Arguments) -> Answer:
    found, counts = engine.vaults(namespace=call.namespace), engine.vault_counts(namespace=call.namespace)
    return Answer({"vaults": [_told(vault_record(one, counts[one.name]), call) for one in found]})


def vault_sections(engine: Engine, call: Call, asked: Sections) -> Answer:
    vault = engine.vault(asked.name, namespace=call.namespace)
    shown = ["sections", call.namespace, vault.name]
    start = offset_of(asked.cursor, shown)
    found = engine.vault_page(vault.name, limit=asked.limit, offset=start, namespace=call.namespace)
    record: Record = {
        "vault": vault.name,
        "sections": [
            {"id": id, "path": path, "position": position, "headings": list(headings), "title": title, "chars": chars}
            for id, path, position, headings, title, chars in found
        ],
    }
    more = {"next": cursor_of(shown, [start + asked.limit])} if len(found) == asked.limit else {}
    return Answer(record | more)


def sync_vault(engine: Engine, call: Call, asked: OneVault) -> Answer:
    """The folder is the one that the person at the machine named; a caller only says when to look."""
    report = engine.vault_sync(asked.name, namespace=call.namespace)
    with suppress(EncoderError):  # words find it; its vectors wait in the backlog
        engine.drain()
    return Answer({"vaults": [_told(one, call) for one in report_record(report)["vaults"]]})


def add_vault(engine: Engine, call: Call, asked: AddVault) -> Answer:
    options = asked.model_dump(exclude={"namespace", "path", "name"})
    made = engine.vault_add(asked.path, asked.name, **options, namespace=call.namespace)
    return Answer(vault_record(made, engine.vault_counts(namespace=call.namespace)[made.name]))


# Measuring is loaded when it is asked for: a surface that starts should not wait for it.


def list_runs(engine: Engine, call: Call, asked: Arguments) -> Answer:
    from recallens.evaluate import shelf

    folder = shelf.folder_of(engine.store.location, call.namespace)
    return Answer({"sets": shelf.set_names(folder), "runs": shelf.run_summaries(folder)})


def get_run(engine: Engine, call: Call, asked: OneRun) -> Answer:
    from recallens.evaluate import shelf

    return Answer(shelf.kept_run(shelf.folder_of(engine.store.location, call.namespace), asked.id))


def run_set(engine: Engine, call: Call, asked: RunSet) -> Answer:
    from recallens.evaluate import shelf
    from recallens.evaluate.expectations import expectations
    from recallens.evaluate.harness import Variant, run_golden

    folder = shelf.folder_of(engine.store.location, call.namespace)
    golden = shelf.golden_set(folder, asked.set)
    elsewhere = [one.id for one in golden.questions if one.namespace not in (None, call.namespace)]
    if elsewhere:
        raise InvalidInput(f"the question {elsewhere[0]!r} of {asked.set} is about another namespace")
    here = shelf.within(golden, call.namespace)
    variant = Variant(asked.preset or engine.settings.preset)
    ran = run_golden(engine, here, expectations(engine, here), variant, now=engine.clock())
    return Answer(shelf.keep(folder, ran, engine.new_id().lower()))


def _told(record: dict[str, Any], call: Call) -> Record:
    return record if call.caller.local else {k: v for k, v in record.items() if k not in _OF_THE_MACHINE}


TENDING = (
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
)  # fmt: skip
