"""What the owner does at the machine: look after the store, its encoder, its tokens and its audit log.

No other surface offers these. Each answers what its command prints with `--json`. Their arguments are judged by the
engine, whose errors are the command's.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from recallens.errors import EncoderError, StoreDamaged
from recallens.ingest.validate import later
from recallens.model.audit import Agent
from recallens.model.memory import as_json
from recallens.operations.arguments import Arguments
from recallens.operations.operation import Answer, Call, Operation, Right

if TYPE_CHECKING:
    from recallens.config import Settings
    from recallens.engine import Engine
    from recallens.engine.transfer import Carried
    from recallens.model.audit import AuditEntry, Token

# What to do about each kind of problem that a check of the store finds.
REINDEX: Final = "Run `recallens reindex`: it builds everything derived anew from the memories."
RESTORE: Final = "Put a copy made by `recallens backup` back with `recallens restore --from BACKUP`."
_NEXT: Final = {
    "file:": RESTORE,
    "digest:": f"{RESTORE} Without one: forget it for good and write it again, or `recallens export` what is sound.",
    "encoder:": "Make the encoder available again, or run `recallens reindex --encoder minilm`.",
}
# Whatever a URL carries beside its place may be a secret.
_CREDENTIALS: Final = re.compile(r"(?<=:/)(/?)[^/@\s]+@")
_PARAMETERS: Final = re.compile(r"\?.*")


class Backup(Arguments, frozen=True, kw_only=True):
    target: str


class IndexNamespace(Arguments, frozen=True, kw_only=True):
    """`measure` only compares the index that is there, `drop` takes it away."""

    measure: bool = False
    drop: bool = False


class DistributeStore(Arguments, frozen=True, kw_only=True):
    dry_run: bool = False


class Export(Arguments, frozen=True, kw_only=True):
    """`only` is the one namespace that is meant; None means all."""

    target: Any
    only: str | None = None
    vectors: bool = False
    tokens: bool = False


class ImportFile(Arguments, frozen=True, kw_only=True):
    source: Any
    only: str | None = None
    tokens: bool = False
    embed: bool = True


class ImportFrom(Arguments, frozen=True, kw_only=True):
    """What another program keeps at `path`."""

    source: str
    path: str
    zone: str | None = None
    project: str | None = None
    dry_run: bool = False
    embed: bool = True


class Reindex(Arguments, frozen=True):
    encoder: str | None = None
    vectors: bool = False


class Prune(Arguments, frozen=True, kw_only=True):
    older_than: int | None = None  # without it, only trails go
    superseded: bool = False
    delete: bool = False


class NamedNamespace(Arguments, frozen=True, kw_only=True):
    name: str


class UseEncoder(Arguments, frozen=True, kw_only=True):
    spec: str


class CreateToken(Arguments, frozen=True, kw_only=True):
    namespaces: tuple[str, ...]
    right: str = "read"
    name: str | None = None
    expires: str | None = None
    scopes: tuple[str, ...] = ()


class NamedToken(Arguments, frozen=True, kw_only=True):
    token: str


class VerifyAudit(Arguments, frozen=True):
    anchor: str | None = None
    key: str | None = None


class AnchorFile(Arguments, frozen=True, kw_only=True):
    file: str


class AuditPage(Arguments, frozen=True):
    page: int = 1
    limit: int = 20


# ── the store ──


def init_store(engine: Engine, call: Call, asked: Arguments) -> Answer:
    """The encoder that is set is taken as it is; else one that is found on this machine is suggested, or taken."""
    detection = None if engine.core.settings.sources.get("encoder") == "flag" else engine.encoder.bootstrap()
    with engine.core.making(call.namespace, texts=True):
        pass
    record = {
        "store": engine.core.store.location,
        "namespace": call.namespace,
        "encoderSpec": engine.core.encoding.spec,
        "encoder": engine.core.encoding.key,
    }
    if detection is not None and detection.suggestion not in (None, record["encoderSpec"]):
        record["suggestedEncoder"] = detection.suggestion
    return Answer(record, value=detection)


def backup(engine: Engine, call: Call, asked: Backup) -> Answer:
    engine.maintenance.backup(asked.target)
    return Answer({"target": asked.target, "bytes": Path(asked.target).expanduser().stat().st_size})


def doctor(engine: Engine, call: Call, asked: Arguments) -> Answer:
    try:
        health = engine.maintenance.doctor()
    except StoreDamaged as error:
        raise StoreDamaged(error.message, hint=f"Nothing was changed. {RESTORE}") from error
    problems = [{"problem": problem, "next": next_step(problem)} for problem in health.problems]
    return Answer({"ok": not problems, "problems": problems, "facts": dict(health.facts)}, value=health)


def export_store(engine: Engine, call: Call, asked: Export) -> Answer:
    transfer = engine.maintenance.transfer
    with call.progress.growing("exporting") as told:
        to_file = isinstance(asked.target, str)
        write = transfer.export if to_file else transfer.write
        carried = write(asked.target, namespace=asked.only, vectors=asked.vectors, tokens=asked.tokens, progress=told)
    left_out: Counter[str] = Counter()
    for of in carried.unreadable.values():
        left_out.update({noun: count for noun, count in of.items() if count})
    return Answer({**_carried_record(carried), "unreadable": left_out.total(), "leftOut": dict(left_out)})


def import_store(engine: Engine, call: Call, asked: ImportFile) -> Answer:
    transfer = engine.maintenance.transfer
    with call.progress.growing("importing") as told:
        of_file = isinstance(asked.source, str)
        take = transfer.load if of_file else transfer.read
        carried = take(asked.source, namespace=asked.only, tokens=asked.tokens, progress=told)
    encoded, waiting, failure = encode(engine, call) if asked.embed else (0, backlog(engine), None)
    record = _carried_record(carried)
    for name in record["namespaces"]:
        engine.maintenance.publish(name)
    also = {"firstNumber": carried.first, "encoderKept": carried.encoder_kept, "encoder": engine.core.encoding.key}
    return Answer({**record, **also, "encoded": encoded, "backlog": waiting}, failure=failure)


def import_from(engine: Engine, call: Call, asked: ImportFrom) -> Answer:
    with call.progress.growing("reading") as told:
        imported = engine.maintenance.imports.run(
            asked.source, asked.path, zone=asked.zone, project=asked.project, dry_run=asked.dry_run, progress=told,
            namespace=call.namespace,
        )  # fmt: skip
    encodes = asked.embed and not asked.dry_run
    _, waiting, failure = encode(engine, call) if encodes else (0, backlog(engine), None)
    if imported.imported and not asked.dry_run:
        engine.maintenance.publish(call.namespace)
    record = as_json(imported) | {"backlog": waiting}
    return Answer(record, value=imported, failure=failure)


def _carried_record(carried: Carried) -> dict[str, Any]:
    rows = sum(sum(of.values()) for of in carried.counts.values())
    names = [name for name in carried.counts if name]
    return {"namespaces": names, "memories": carried.memories, "rows": rows, "counts": carried.counts}


def next_step(problem: str) -> str:
    return next((step for start, step in _NEXT.items() if problem.startswith(start)), REINDEX)


def reindex(engine: Engine, call: Call, asked: Reindex) -> Answer:
    names = engine.maintenance.namespaces()
    with call.progress.bar("indexing", sum(count for _, count in names)) as advance:
        done = engine.maintenance.reindex(encoder=asked.encoder, vectors=asked.vectors, progress=advance)
    encoded, waiting, failure = encode(engine, call)
    for name, _ in names:
        engine.maintenance.publish(name)
    record = {"entries": done["entries"], "encoded": encoded, "backlog": waiting, "encoder": engine.core.encoding.key}
    return Answer(record, failure=failure)


def index_namespace(engine: Engine, call: Call, asked: IndexNamespace) -> Answer:
    large, name = engine.maintenance.large, engine.core.namespace(call.namespace)
    if asked.drop:
        large.drop(name)
        return Answer({"namespace": name, "indexed": False})
    if asked.measure:
        standing = large.measure(name)
    else:
        total = next((each.memories for each in large.listed() if each.name == name), 0)
        with call.progress.bar("indexing", total) as advance:
            standing = large.index(name, advance)
    answers = standing.memories > engine.core.settings.resident_memories
    record = {"namespace": name, "indexed": True, "memories": standing.memories, "encoders": list(standing.encoders),
              "recallAtTen": standing.recall, "sampled": standing.sampled, "answers": answers}  # fmt: skip
    return Answer(record, value=standing)


def distribute_store(engine: Engine, call: Call, asked: DistributeStore) -> Answer:
    statements = engine.core.store.distribute(dry_run=asked.dry_run)
    return Answer({"statements": statements, "done": not asked.dry_run})


def prune(engine: Engine, call: Call, asked: Prune) -> Answer:
    where: dict[str, Any] = {"dry_run": not asked.delete, "namespace": call.namespace}
    days, superseded, prune = asked.older_than, asked.superseded, engine.maintenance.prune
    due = prune(older_than_days=days, superseded=superseded, **where) if days is not None else []
    trails = engine.maintenance.prune_trails(**where)
    return Answer({"deleted": asked.delete, "memories": [memory.id for memory in due], "trails": trails}, value=due)


def remove_namespace(engine: Engine, call: Call, asked: NamedNamespace) -> Answer:
    return Answer({"removed": asked.name, "memories": engine.maintenance.remove_namespace(asked.name)})


def show_config(engine: Engine, call: Call, asked: Arguments) -> Answer:
    return Answer(config_record(engine.core.settings))


def config_record(settings: Settings) -> dict[str, Any]:
    """Each setting, where it came from and what it means. A store need not be open for this; keys are never shown."""
    from recallens.config import ABOUT, DEFAULT_SOURCE

    return {
        name: {"value": _shown(settings, name), "from": settings.sources.get(name, DEFAULT_SOURCE), "about": about}
        for name, about in ABOUT.items()
    }


def _shown(settings: Settings, name: str) -> object:
    value = getattr(settings, name)
    if name == "encoder_key_env":
        return f"{value} ({'set' if os.environ.get(value) else 'not set'})"
    if isinstance(value, str) and ":/" in value:
        return _PARAMETERS.sub("?…", _CREDENTIALS.sub(r"\1…@", value))
    return value


# ── the encoder ──


def backlog(engine: Engine) -> int:
    """How many texts wait for a vector."""
    return engine.encoder.waiting()


def encode(engine: Engine, call: Call) -> tuple[int, int, EncoderError | None]:
    """How many texts were encoded, how many still wait, and the failure of the encoder; what is stored stays stored."""
    before, failure = backlog(engine), None
    try:
        with call.progress.bar("encoding", before) as advance:
            engine.encoder.drain(advance)
    except EncoderError as error:
        failure = type(error)(
            error.message, hint="The memories are kept, and words find them. `recallens reindex` encodes them."
        )
    waiting = backlog(engine)
    return before - waiting, waiting, failure


def detect_encoders(engine: Engine, call: Call, asked: Arguments) -> Answer:
    detection = engine.encoder.detect()
    return Answer(detection.to_json(), value=detection)


def use_encoder(engine: Engine, call: Call, asked: UseEncoder) -> Answer:
    with call.progress.bar("indexing", sum(count for _, count in engine.maintenance.namespaces())) as advance:
        engine.encoder.use(asked.spec, progress=advance)
    encoded, waiting, failure = encode(engine, call)
    record = {"encoderSpec": asked.spec, "encoder": engine.core.encoding.key, "encoded": encoded, "backlog": waiting}
    return Answer(record, failure=failure)


def clear_encoder(engine: Engine, call: Call, asked: Arguments) -> Answer:
    return Answer({"cleared": engine.encoder.clear()})


# ── tokens ──


def create_token(engine: Engine, call: Call, asked: CreateToken) -> Answer:
    """The record has the token's text, which nobody can tell again."""
    expires = None if asked.expires is None else later(asked.expires, now_ms=engine.core.clock())
    said = asked.beside("namespaces") | {"expires": expires}
    made, text = engine.tokens.create(asked.namespaces, **said)
    return Answer({"token": text, **token_record(made)}, value=made)


def list_tokens(engine: Engine, call: Call, asked: Arguments) -> Answer:
    tokens = engine.tokens.all()
    return Answer({"tokens": [token_record(token) for token in tokens]}, value=tokens)


def revoke_token(engine: Engine, call: Call, asked: NamedToken) -> Answer:
    return Answer(token_record(engine.tokens.revoke(asked.token)))


def token_record(token: Token) -> dict[str, Any]:
    record = {
        "id": token.id, "name": token.name, "namespaces": list(token.namespaces), "right": token.right,
        "scopes": list(token.scopes) or None, "createdAt": token.created, "expiresAt": token.expires,
        "revokedAt": token.revoked,
    }  # fmt: skip
    return {name: value for name, value in record.items() if value is not None}


# ── the log of what was done by whom ──


def verify_audit(engine: Engine, call: Call, asked: VerifyAudit) -> Answer:
    verdict = engine.audit.verify(anchor=asked.anchor, key=asked.key, namespace=call.namespace)
    return Answer({
        "ok": not verdict.problems, "namespace": call.namespace, "entries": verdict.entries,
        "problems": list(verdict.problems), "notes": list(verdict.notes),
    })  # fmt: skip


def anchor_audit(engine: Engine, call: Call, asked: AnchorFile) -> Answer:
    anchor = engine.audit.anchor(asked.file, namespace=call.namespace)
    return Answer(
        {"file": asked.file, "namespace": anchor.namespace, "number": anchor.head.number, "digest": anchor.head.digest}
    )


def list_audit(engine: Engine, call: Call, asked: AuditPage) -> Answer:
    total, entries = engine.audit.entries(limit=asked.limit, page=asked.page, namespace=call.namespace)
    known = engine.audit.memories(namespace=call.namespace) if entries else {}
    records = [_audit_record(entry, known) for entry in entries]
    return Answer({"total": total, "page": asked.page, "limit": asked.limit, "entries": records})


def _audit_record(entry: AuditEntry, known: Mapping[str, str]) -> dict[str, Any]:
    """Of what is deleted for good, only that it was among them."""
    act, named = entry.act, [known[mark] for mark in entry.marks if mark in known]
    record = {
        "id": entry.id, "number": entry.number, "at": act.at, **_who(act.who), "operation": act.what,
        "error": act.outcome or None, "session": act.session, "questionDigest": act.question or None,
        "memories": named or None, "unnamed": entry.total - len(named) or None, "key": entry.key,
        "previous": entry.previous, "digest": entry.digest,
    }  # fmt: skip
    return {name: value for name, value in record.items() if value is not None}


def _who(who: str | None) -> dict[str, str]:
    """A token by its id, an agent by the way that it comes and what it calls itself; of the person nothing."""
    if (agent := Agent.named(who)) is not None:
        return {"agent": agent.transport} | ({"client": agent.client} if agent.client else {})
    return {} if who is None else {"token": who}


def list_anomalies(engine: Engine, call: Call, asked: Arguments) -> Answer:
    anomalies = engine.audit.anomalies(namespace=call.namespace)
    records = [
        {"kind": each.kind, "session": each.session, "count": each.count, "about": each.about, **_who(each.who)}
        for each in anomalies
    ]
    return Answer({"anomalies": records}, value=anomalies)


MACHINE = (
    Operation("init_store", "Make a store, or say what the one that is there uses.", Right.OWNER, Arguments,
              init_store),
    Operation("backup", "Copy the store to a new file while others go on using it.", Right.OWNER, Backup, backup),
    Operation("export_store", "Everything of the store or of a namespace as JSON lines, in a new file.", Right.OWNER,
              Export, export_store),
    Operation("import_store", "Make namespaces of what an export holds: all of it or nothing.", Right.OWNER,
              ImportFile, import_store),
    Operation("import_from", "Take in what another program keeps: transcripts, exports, notes, history.", Right.OWNER,
              ImportFrom, import_from),
    Operation("doctor", "Check the file, the indexes and the encoder. Changes nothing.", Right.OWNER, Arguments,
              doctor),
    Operation("reindex", "Build everything derived anew from the memories, and encode what waits.", Right.OWNER,
              Reindex, reindex),
    Operation("index_namespace", "Let the database propose candidates of a large namespace, and measure what it finds.",
              Right.OWNER, IndexNamespace, index_namespace),
    Operation("distribute_store", "Spread the tables of namespaces over the workers of a Citus cluster.",
              Right.OWNER, DistributeStore, distribute_store),
    Operation("prune", "Delete for good what was forgotten long ago, and trails that are kept no longer.",
              Right.OWNER, Prune, prune),
    Operation("remove_namespace", "Delete a namespace and everything in it for good.", Right.OWNER, NamedNamespace,
              remove_namespace),
    Operation("show_config", "Each setting, where it came from and what it means.", Right.OWNER, Arguments,
              show_config),
    Operation("detect_encoders", "Look for encoders on this machine. Nothing is downloaded or changed.", Right.OWNER,
              Arguments, detect_encoders),
    Operation("use_encoder", "Encode everything with another encoder from now on.", Right.OWNER, UseEncoder,
              use_encoder),
    Operation("clear_encoder", "Search by words alone.", Right.OWNER, Arguments, clear_encoder),
    Operation("create_token", "Make a token for HTTP and MCP.", Right.OWNER, CreateToken, create_token),
    Operation("list_tokens", "Every token and what it opens; never its text.", Right.OWNER, Arguments, list_tokens),
    Operation("revoke_token", "End a token at once.", Right.OWNER, NamedToken, revoke_token),
    Operation("verify_audit", "Whether any entry of the log was altered, deleted, reordered, cut off or made anew.",
              Right.OWNER, VerifyAudit, verify_audit),
    Operation("anchor_audit", "Tell a file outside the store where the log ends.", Right.OWNER, AnchorFile,
              anchor_audit),
    Operation("list_audit", "Who did what with which memories, the latest first.", Right.OWNER, AuditPage, list_audit),
    Operation("list_anomalies", "Patterns in the log that an honest agent seldom shows.", Right.OWNER, Arguments,
              list_anomalies),
)  # fmt: skip
