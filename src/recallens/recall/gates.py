"""The filters of a recall. Each judges a row by the row alone, so their order does not matter, and the same rule judges
the candidates of a pool or is pushed into a view as a mask.

A new filter of the caller's is a field of `Filters` and a clause of `_caller_rules`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from typing import Any, Final

import numpy as np
from msgspec import Struct, structs

from recallens.index.columns import Columns, code_of
from recallens.ingest.vault.lessons import is_raw_conversation
from recallens.model.memory import Status, Zone
from recallens.model.plan import Scope
from recallens.model.pool import Pool
from recallens.model.query import Documents, Filters, Mode, Query
from recallens.model.state import OPEN_SCOPES
from recallens.model.times import day
from recallens.model.verdict import BoolArray, Gate, IntArray, anywhere, everywhere
from recallens.recall.plan import given_windows
from recallens.recall.scene import EVERY, Rows, Scene
from recallens.recall.sources import cited_files, inner_path, session_summaries
from recallens.recall.views import within_windows
from recallens.store.protocols import Reader
from recallens.text.normalize import nfc, normalize

# The time that the caller set, and the one that a question asks about and nothing else.
TIME_RULES: Final = ("time-window", "time-asked-about")


class FilterRule(Struct, frozen=True, eq=False):
    name: str
    rejects: Callable[[Rows], BoolArray]
    reason: str | Callable[[IntArray], str]  # why rows were rejected, in one phrase, which may depend on the rows
    from_caller: bool = False  # a filter that the caller asked for
    skips_plain_rows: bool = False  # active, timeless rows out of quarantine always pass
    notes: Mapping[str, Any] = {}  # what the plan says of it


def filter_rules(scene: Scene, query: Query) -> tuple[FilterRule, ...]:
    """The rules of this recall, in the order in which the X-ray lists them."""
    return (*_standing_rules(scene, query), *_caller_rules(scene, query), *time_rules(scene, query))


def time_rules(scene: Scene, query: Query) -> Iterator[FilterRule]:
    """The time that the caller set; and a question that is only a time is answered from it."""
    given, hybrid = list(given_windows(query)), query.mode is Mode.HYBRID
    read = [window for window in scene.question.only_windows if not window.given and query.cut and hybrid]
    for name, windows in zip(TIME_RULES, (given, read), strict=True):
        if windows:
            spans = " or ".join(f"{day(one.start)} to {day(one.end - 1)}" for one in windows)
            reason = f"neither made from {spans} nor naming a day of it"
            admitted = within_windows(scene.columns, EVERY, windows)
            yield _admits(name, admitted, reason, from_caller=windows is given)


def judge(
    scene: Scene,
    rules: Sequence[FilterRule],
    batch: int,
    pushed: Sequence[tuple[int, int]] | None,
    pool: Pool,
    query: Query,
) -> Iterator[Gate]:
    """Every rule as a Gate over the rows of one batch. Rules that plain rows always pass are skipped where all are."""
    applies = pool.batch == batch
    if batch and not anywhere(applies):
        return
    nobody = np.zeros(len(pool), dtype=np.bool_)
    plain = scene.columns.all_plain(pool.rows)
    live = pool.live
    for at, rule in enumerate(rules):
        fails, reason = nobody if plain and rule.skips_plain_rows else rule.rejects(pool.rows), ""
        rejected = live & applies & fails
        if anywhere(rejected):
            reason = rule.reason if isinstance(rule.reason, str) else rule.reason(pool.rows[rejected])
            live = live & ~rejected
        yield Gate(rule.name, applies, fails, nobody, reason, pushed[at] if pushed else None)


def passing(scene: Scene, rules: Iterable[FilterRule]) -> tuple[BoolArray, list[tuple[int, int]]]:
    """The rows of the namespace that every rule admits, and how many rows each rule considered and admitted."""
    mask = scene.columns["alive"].copy()
    plain = scene.columns.all_plain(EVERY)
    counts = []
    for rule in rules:
        considered = int(mask.sum())
        if not (plain and rule.skips_plain_rows):
            mask &= ~rule.rejects(EVERY)
        counts.append((considered, int(mask.sum())))
    return mask, counts


def usable(scene: Scene, query: Query, nums: Sequence[int]) -> list[int]:
    """Of some memories, those that a path may lead through: what is blocked must not show in one.

    A superseded memory still leads to its successor, and the caller's filters are about results, not about the way.
    """
    rows = scene.columns.locate(nums)
    known = rows >= 0
    rows = rows[known]
    passes = scene.columns["alive"][rows]
    plain = scene.columns.all_plain(rows)
    for rule in _standing_rules(scene, structs.replace(query, filters=Filters(include_superseded=True))):
        if not (plain and rule.skips_plain_rows):
            passes = passes & ~rule.rejects(rows)
    allowed: list[int] = np.asarray(nums, dtype=np.int64)[known][passes].tolist()
    return allowed


# ── the rules ──


def _standing_rules(scene: Scene, query: Query) -> Iterator[FilterRule]:
    """The rules that hold for every caller."""
    columns = scene.columns

    def of_another_namespace(rows: Rows) -> BoolArray:  # a scene holds one namespace, so there is nothing to reject
        return np.zeros(columns.size if isinstance(rows, slice) else len(rows), dtype=np.bool_)

    def statuses(rows: IntArray) -> str:
        return f"rejected {', '.join(sorted(map(_STATUSES.__getitem__, set(columns['status'][rows].tolist()))))}"

    def quarantined(rows: Rows) -> BoolArray:
        fails: BoolArray = columns["zone"][rows] == code_of(Zone.QUARANTINE)
        return fails

    timeless = query.as_of is None
    yield FilterRule("namespace-scope", of_another_namespace, "", skips_plain_rows=True)
    yield FilterRule("status-active", partial(_not_active, scene, query), statuses, skips_plain_rows=True)
    yield FilterRule("validity", partial(_not_valid, scene, query), "outside its validity", skips_plain_rows=timeless)
    yield FilterRule("trust-zone", quarantined, "rejected quarantine", skips_plain_rows=True)
    open_to_caller = scene.index.open_to(scene.reader, OPEN_SCOPES.union(query.scopes))
    if open_to_caller is not None:
        yield _admits("context-scope", open_to_caller, "meant for another context only", from_caller=False)


def _caller_rules(scene: Scene, query: Query) -> Iterator[FilterRule]:
    """The filters that the caller asked for."""
    reader, columns, filters = scene.reader, scene.columns, query.filters
    for name in ("project", "sector", "tier", "kind"):
        value = getattr(filters, name)
        if value is not None:
            code = columns.names[name].find(value) if name == "project" else code_of(value)
            yield _admits(name, columns[name] == code, f"{name} is not {value}")
    if filters.requires_citations:
        yield _admits("requires-citations", columns["cited"], "uncited")
    if filters.scope is not Scope.ORG:
        scope = filters.scope
        own = {Scope.TASK: query.task, Scope.WORKTREE: query.worktree, Scope.PROJECT: filters.project}[scope] or ""
        of_scope = columns[scope] == columns.names[scope].find(own)
        yield _admits("scope", of_scope, f"not of {scope} {own}")
    if filters.tags:
        yield _admits("tags", _tagged(reader, columns, filters.tags), f"not tagged {', '.join(filters.tags)}")
    if filters.affected:
        about_them = _affected(reader, columns, filters.affected)
        yield _admits("affected-files", about_them, f"about none of {', '.join(filters.affected)}")
    if filters.brain_file_limit == 0:
        yield _admits("knowledge-mix", columns["document"] < 0, "from a file")
    by_path = filters.folders or not filters.include_raw
    paths = reader.documents.paths(columns.names["document"].texts) if by_path else {}
    if filters.folders:
        hidden = reader.documents.withheld()
        paths = {id: path for id, path in paths.items() if id not in hidden}
        inside, notes = _within_folders(columns, paths, filters.folders)
        yield _admits("folders", inside, f"in none of {', '.join(filters.folders)}", notes)
    if not filters.include_raw:
        not_raw = _rows_of(columns, paths, lambda path: not is_raw_conversation(inner_path(path)))
        yield _admits("raw-conversations", not_raw, "a raw conversation")
    if filters.medium_term_limit == 0:
        yield _admits("medium-term", ~session_summaries(columns), "a summary of a session")
    if filters.min_salience > 0:
        floor = filters.min_salience
        yield FilterRule("min-salience", lambda rows: scene.salience(rows) < floor, f"salience below {floor:g}", True)
    if filters.in_session is not None:
        linked = columns.mask_of(reader.sessions.numbers(filters.in_session))
        yield _admits("in-session", linked, f"not in session {filters.in_session}")
    if filters.documents is Documents.EXCLUDE:
        yield _admits("documents", columns["document"] < 0, "from a document")
    if filters.documents is Documents.ONLY:
        yield _admits("documents", columns["document"] >= 0, "not from a document")


_STATUSES: Final = tuple(str(status) for status in Status)


def _not_active(scene: Scene, query: Query, rows: Rows) -> BoolArray:
    status = scene.columns["status"][rows]
    active: BoolArray = status == code_of(Status.ACTIVE)
    if everywhere(active):
        return ~active
    replaced = status == code_of(Status.SUPERSEDED)
    active |= replaced if query.filters.include_superseded else replaced & ~scene.superseded(rows)
    return ~active


def _not_valid(scene: Scene, query: Query, rows: Rows) -> BoolArray:
    columns, at, then = scene.columns, scene.at, scene.question.then
    fails: BoolArray = columns["valid_from"][rows] > at
    if not query.filters.include_superseded:
        fails = fails | (columns["valid_until"][rows] <= (at if then is None else then))
    if query.as_of is not None:
        fails = fails | (columns.held_from[rows] > at)
    return fails


def _admits(
    name: str, admitted: BoolArray, reason: str, notes: Mapping[str, Any] | None = None, *, from_caller: bool = True
) -> FilterRule:
    """A rule by a mask over the rows of the namespace."""
    return FilterRule(name, lambda rows: ~admitted[rows], reason, from_caller, notes=notes or {})


# ── masks that have to be read from the store ──


def _tagged(reader: Reader, columns: Columns, tags: Sequence[str]) -> BoolArray:
    """Rows that carry every one of the tags."""
    hits = reader.terms.labelled([(normalize(tag), "tag") for tag in tags])
    mask = np.ones(columns.size, dtype=np.bool_)
    for tag in tags:
        mask &= columns.mask_of([num for value, _, num in hits if value == normalize(tag)])
    return mask


def _affected(reader: Reader, columns: Columns, files: Sequence[str]) -> BoolArray:
    """Rows about one of the files. Two that share only their last part are two files, so the folders must agree too."""
    wanted = sorted({normalize(file).removeprefix("./") for file in files})
    names = sorted({value.rsplit("/", 1)[-1] for value in wanted})
    hits = reader.terms.labelled([(name, "path") for name in names])
    labels = reader.terms.paths(sorted({num for _, _, num in hits}))
    named: dict[int, set[str]] = {}
    for num, path in (*labels, *cited_files(reader, names)):
        named.setdefault(num, set()).add(path)
    return columns.mask_of([num for num, paths in named.items() if any(_about(paths, file) for file in wanted)])


def _about(paths: Set[str], file: str) -> bool:
    """Whether a memory that names these paths is about the file; the last part of a longer path stands for nothing."""
    full = {path for path in paths if not any(other.endswith(f"/{path}") for other in paths)}
    return any(path == file or path.endswith(f"/{file}") or file.endswith(f"/{path}") for path in full)


def _within_folders(
    columns: Columns, paths: Mapping[str, str], folders: Sequence[str]
) -> tuple[BoolArray, dict[str, Any]]:
    """The rows that the folders admit, and what the plan says of them. A memory that is no file passes.

    A folder that leads out of the vault, or holds no file of it, is dropped and the plan says so. If none is left no
    file passes: to search everything instead would show what the caller meant to leave out.
    """
    kept, dropped = [], []
    for folder in folders:
        place = _folder_path(folder)
        if place is None:
            dropped.append({"path": folder, "reason": "it leads out of the vault"})
        elif not any(_is_inside(place, path) for path in paths.values()):
            dropped.append({"path": folder, "reason": "no file of the store lies in it"})
        else:
            kept.append(place)
    mask = _rows_of(columns, paths, lambda path: any(_is_inside(place, path) for place in kept))
    return mask, {"folders": kept, **({"droppedFolders": dropped} if dropped else {})}


def _folder_path(folder: str) -> str | None:
    prefix, colon, rest = nfc(folder).replace("\\", "/").rpartition(":")
    place = posixpath.normpath(rest or ".").removeprefix("./")
    if place == ".." or place.startswith("../"):
        return None
    return f"{prefix}{colon}{'' if place == '.' else place}"


def _is_inside(folder: str, path: str) -> bool:
    """By whole names, `docs` is not `docs-old`; a folder without a vault's name is looked for in each of them."""
    vault, colon, place = folder.rpartition(":")
    inner = inner_path(path) if not path.startswith("/") else path
    if colon and not path.startswith(f"{vault}:"):
        return False
    return not place or inner == place or inner.startswith(f"{place.rstrip('/')}/")


def _rows_of(columns: Columns, paths: Mapping[str, str], passes: Callable[[str], bool]) -> BoolArray:
    """Rows whose document has a path that passes, and rows without a document."""
    names = columns.names["document"].texts
    by_document = np.array([passes(paths.get(name, "")) for name in names] + [True], dtype=np.bool_)
    admitted: BoolArray = by_document[columns["document"]]  # no document is −1, the last entry
    return admitted
