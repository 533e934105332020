"""Skills, patterns and gotchas: recorded once for each name, found through the same recall as everything else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, Unpack

from msgspec import structs

from recallens.engine.core import Core
from recallens.engine.encoder import StoreEncoder
from recallens.engine.ingest import Ingest
from recallens.engine.search import Search
from recallens.errors import InvalidInput
from recallens.ingest import curation
from recallens.ingest.crafts import craft_of, draft_of, kept, merged, named
from recallens.ingest.dedupe import content_hash
from recallens.ingest.validate import label, unit_interval
from recallens.model.citation import Citation
from recallens.model.craft import Craft, Gotcha, Pattern, Skill, attributes_of, compose, kind_of
from recallens.model.memory import PROPOSED, Kind, Memory
from recallens.model.query import SearchOptions
from recallens.model.recall import Recall, SearchResult
from recallens.model.trust import Actor, Input, rank
from recallens.model.verdict import Found
from recallens.store.protocols import Writer
from recallens.text.normalize import normalize
from recallens.text.stopwords import token_weight
from recallens.text.tokenizer import tokenize

# How many skills are looked at for one that is about the topic.
SKILLS_CONSIDERED = 5
# A skill is about a topic if it has half of the topic's words, or comes this near to it in meaning. The nearest of all
# skills is always near to something: without a floor every topic would have one.
TOPIC_COVERAGE = 0.5
TOPIC_COSINE = 0.45
DEFAULT_FOUND = 10
# Proposals that say nothing of the question.
_BLIND_VIEWS = frozenset(("recent-scan", "watch"))

AnyCraft = TypeVar("AnyCraft", Skill, Pattern, Gotcha)


class Crafts:
    """Records and finds the skills, patterns and gotchas of a namespace."""

    def __init__(self, core: Core, ingest: Ingest, search: Search, encoder: StoreEncoder) -> None:
        self._core = core
        self._ingest = ingest
        self._search = search
        self._encoder = encoder

    # ── recording ──

    def record_skill(
        self, topic: str, *, context: str = "", core_principles: Sequence[str] = (), pitfalls: Sequence[str] = (),
        implementation_guide: str = "", confidence: float = 0.8, citations: Sequence[Citation] = (), **where: Any,
    ) -> Skill:  # fmt: skip
        """`where` is project, session, task, tags, zone and namespace, as of any memory."""
        sure = unit_interval("confidence", confidence)
        craft = Skill(topic, context, _items("core_principles", core_principles), _items("pitfalls", pitfalls),
                      implementation_guide, sure, tuple(citations))  # fmt: skip
        return self._record(craft, where)

    def record_pattern(
        self, title: str, *, description: str = "", example_code: str | None = None, success_count: int = 1,
        citations: Sequence[Citation] = (), **where: Any,
    ) -> Pattern:  # fmt: skip
        """AnyCraft again, the pattern's success count grows by the one given."""
        return self._record(Pattern(title, description, example_code, success_count, tuple(citations)), where)

    def record_gotcha(
        self, title: str, *, description: str = "", resolution: str = "", occurrence_count: int = 1,
        trigger_conditions: Sequence[str] = (), files: Sequence[str] = (), citations: Sequence[Citation] = (),
        **where: Any,
    ) -> Gotcha:  # fmt: skip
        """AnyCraft again, the gotcha's occurrence count grows by the one given, and its lists by what is new."""
        craft = Gotcha(title, description, resolution, occurrence_count,
                       _items("trigger_conditions", trigger_conditions), _items("files", files),
                       tuple(citations))  # fmt: skip
        return self._record(craft, where)

    def _record(self, given: AnyCraft, where: dict[str, Any]) -> AnyCraft:
        unknown = sorted(where.keys() - _WHERE)
        if unknown:
            raise InvalidInput(f"unknown option {unknown[0]!r}; the options are: {', '.join(sorted(_WHERE))}")
        name = self._core.namespace(where.pop("namespace", None))
        project = label("project", where.pop("project", None)) or self._core.settings.project
        where["session"] = where.get("session") or self._core.settings.session
        craft: Craft = kept(given)
        with self._core.making(name, texts=True) as tx:
            old = named(tx, craft, project, self._core.actor)
            if old is not None:
                before = tx.memories.get([old])[old]
                craft = merged(craft_of(before, whole=True), craft)
                where["inputs"] = (Input.of(before, replaced=True),)
            num, _ = self.put(tx, craft, old, {**where, "project": project})
            recorded = craft_of(tx.memories.get([num])[num])
        self._encoder.drain_quietly()
        assert isinstance(recorded, type(given))
        return recorded

    def put(
        self, tx: Writer, craft: Craft, old: int | None, attributes: dict[str, Any], *, by_rule: bool = False
    ) -> tuple[int, bool]:
        """The memory's number and whether it is new: a text that has changed supersedes, counts alone are updated."""
        now = self._core.clock()
        (row,) = self._ingest.prepared([draft_of(craft, **attributes)], tx.name, tx)
        # A rule has no more say than its text is trusted, whoever ended the task that it counts.
        by = Actor(row.memory.zone) if by_rule else self._core.actor
        if old is not None:
            before = tx.memories.get([old])[old]
            same = before.content == row.memory.content
            if before.kind is kind_of(craft) and (same or (by_rule and _edited(before))):
                if not by.may_change(before):
                    return old, False
                tx.memories.put_attributes(old, {**before.attributes, **attributes_of(craft)}, now)
                if same:
                    tx.memories.merge(old, row)
                return old, False
        ((num, _),) = self._ingest.write(tx, [row])
        if old is not None and row.memory.review == PROPOSED and before.review != PROPOSED:
            # What somebody approved holds until they approve this.
            curation.propose(tx, old=old, new=num, at=now, by=by)
        elif old is not None:
            # A proposal takes over what the one before it was proposed in the place of.
            overtaken = curation.replaced_by(tx, before, old, now)
            curation.decide(tx, before, old, accept=False, at=now)
            curation.supersede(tx, old, num, now, row.session, by=by)
            for settled in overtaken:
                curation.propose(tx, old=settled, new=num, at=now, by=by)
        return num, True

    # ── finding ──

    def skill(self, topic: str, *, owner: str | None = None, **options: Unpack[SearchOptions]) -> Skill | None:
        """The skill about a topic: the one that has it as its name, else the best that the recall finds."""
        asked = _only(Kind.SKILL, options) | {"limit": SKILLS_CONSIDERED}
        recall = self._search.search(topic, owner=owner, **asked)
        wanted, near = normalize(topic), _cosines(recall)
        about = [each for each in _answers(recall) if _is_about(each.memory, topic, near.get(each.memory.id, 0.0))]
        skills = [(craft, result.memory.zone) for result in about if isinstance(craft := _found(result), Skill)]
        # Of those that have the name, the most trusted: nobody takes a name over by using it too.
        named_so = [(craft, zone) for craft, zone in skills if normalize(craft.topic) == wanted]
        return max(named_so, key=lambda each: rank(each[1]))[0] if named_so else skills[0][0] if skills else None

    def patterns(self, query: str, *, owner: str | None = None, **options: Unpack[SearchOptions]) -> list[Pattern]:
        """What has worked before; ten at most, where no limit is given."""
        recall = self._search.search(query, owner=owner, **_only(Kind.PATTERN, options))
        return [craft for craft in map(_found, _answers(recall)) if isinstance(craft, Pattern)]

    def gotchas(self, query: str = "", *, owner: str | None = None, **options: Unpack[SearchOptions]) -> list[Gotcha]:
        """Known issues; with `files`, only those that affect one of them. Files alone are a question too."""
        wanted = _items("files", options.pop("files", None) or ())
        text = query if query.strip() else " ".join(wanted)
        # Where the files are the question, every gotcha about them answers it, whatever its words.
        asked = _only(Kind.GOTCHA, options) | {"affected": wanted, "cut": not wanted}
        recall = self._search.search(text, owner=owner, **asked)
        results = recall.results if wanted else _answers(recall)
        return [craft for craft in map(_found, results) if isinstance(craft, Gotcha)]


_WHERE = frozenset(("namespace", "project", "session", "task", "tags", "zone", "worktree", "source", "author"))


def _items(name: str, value: object) -> tuple[str, ...]:
    """A text is a sequence of texts too, and never the one that was meant."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InvalidInput(f"{name} must be a list of texts, not {value!r}")
    return tuple(value)


def _only(kind: Kind, options: SearchOptions) -> SearchOptions:
    """The caller's options, for one kind of memory alone."""
    decided = sorted(options.keys() & {"kind", "affected"})
    if decided:
        raise InvalidInput(f"{decided[0]!r} is decided by what is asked for; leave it out")
    return {"limit": DEFAULT_FOUND, **options, "kind": kind}


def _answers(recall: Recall) -> list[SearchResult]:
    """What a view found for the question, and not merely because nothing was found for it."""
    return [result for result in recall.results if set(result.views) - _BLIND_VIEWS]


def _found(result: SearchResult) -> Craft:
    state = structs.replace(result.state, project=None)  # which is a caller's word
    return structs.replace(craft_of(result.memory), marks=tuple(state.remarks()))


def _cosines(recall: Recall) -> dict[str, float]:
    verdicts = [entry.verdict for entry in recall.ledger.entries if isinstance(entry.verdict, Found)]
    semantic = [verdict for verdict in verdicts if verdict.view == "semantic"]
    return {id.decode(): float(raw) for each in semantic for id, raw in zip(each.ids.tolist(), each.raw, strict=True)}


def _is_about(memory: Memory, topic: str, cosine: float) -> bool:
    words = {token for token in tokenize(topic) if token_weight(token) > 0} or set(tokenize(topic))
    if not words:
        return False
    held = words & set(tokenize(f"{memory.title or ''}\n{memory.content}"))
    return len(held) / len(words) >= TOPIC_COVERAGE or cosine >= TOPIC_COSINE


def _edited(memory: Memory) -> bool:
    """Whether somebody gave it words of their own: those are not replaced by composed ones."""
    return content_hash(compose(craft_of(memory))) != memory.content_hash
