"""The three layers as an agent reads them: each memory as a line or two, its state in words, counted as it is sent.

Every text of a memory stands on one line behind what Recallens says of it, or behind a blank at the beginning of its
lines, so that no text can pass for a line of ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from recallens.model.context import (
    CERTIFICATE_TOKENS,
    HYPOTHESIS,
    INDEX_TOKENS,
    LONGEST_LINE,
    TIMELINE_TOKENS,
    UNCITED,
    IndexEntry,
    Relationship,
    TimelineEntry,
)
from recallens.model.memory import Memory, Session, Zone, as_json
from recallens.model.recall import SearchResult
from recallens.model.salience import DAY_MS
from recallens.model.state import MemoryState, is_hypothesis
from recallens.model.times import day, instant
from recallens.model.trust import BudgetClaim, room_beside, turns_within
from recallens.render.brief import only_unsettled
from recallens.render.formats import USER, as_name, cites, visible
from recallens.render.markup import plain_text
from recallens.render.records import Record, present, to_line
from recallens.text.excerpt import Wanted, answering, has_steps, wanted_of
from recallens.text.stopwords import token_weight
from recallens.text.token_count import budget_tokens, count_tokens, fit, one_line
from recallens.text.tokenizer import tokenize

# Citations named on an entry of JSON or of a timeline; how many more there are is said.
INDEX_CITATIONS, TIMELINE_CITATIONS = 1, 3
# Fewer tokens than this say nothing.
LEAST = 12
# Where nothing answers: what the nearest memory's excerpt and the names of what is missing take at most, and the
# excerpt before a time.
_EXCERPT, _EXCERPT_LEAST, _MISSING = 24, 10, 18
# Of a result that is less likely to help than this it is said how likely it is.
UNLIKELY = 0.1
# What of a result's text is read to see whether it speaks of the question at all.
_READ = 20_000

_HEADED = re.compile(r"^ {0,3}#{1,6}[ \t]", re.MULTILINE)
RAISE = "raise maxTokens."
# The last line of an answer, of the places of the lines that are shown.
Foot = Callable[[Sequence[int]], str]


def cost(text: str) -> int:
    """What a text costs as it is sent, with the end of its last line."""
    return count_tokens(f"{text}\n")


def takes(text: str) -> int:
    """What it takes from a limit."""
    return budget_tokens(f"{text}\n")


def head_of(memory: Memory, state: MemoryState, *, when: str, doubt: str = "") -> str:
    """Handle, date, kind and who said it, and what is out of the ordinary about it."""
    by = f" {as_name(memory.author)}" if memory.author else ""
    remarks = visible(", ".join(filter(None, (*marks_of(memory, state), doubt))))
    return f"{memory.handle} {when} {memory.kind}{by}" + (f" ({remarks})" if remarks else "")


def unlikely(relevance: float | None) -> str:
    """What is said of a result that hardly answers, so that it does not look like those that do."""
    return f"{relevance:.0%} likely" if relevance is not None and relevance < UNLIKELY else ""


def marks_of(memory: Memory, state: MemoryState) -> list[str]:
    """What is out of the ordinary about a memory, that nobody has checked it, and where it comes from."""
    source = _stranger(memory, state)
    return [
        *state.remarks(as_name), *((UNCITED,) if is_hypothesis(memory, state.verified) else ()),
        *((f"from {as_name(source)}",) if source is not None else ()),
    ]  # fmt: skip


def _stranger(memory: Memory, state: MemoryState) -> str | None:
    """Where a text comes from that is not the trusted person's."""
    return (
        memory.source if state.zone is not Zone.TRUSTED and state.withheld is None and memory.source != USER else None
    )


def label_of(memory: Memory, state: MemoryState) -> str:
    return HYPOTHESIS if is_hypothesis(memory, state.verified) else ""


def titled(memory: Memory, text: str) -> str:
    """The text behind its title, unless it begins with it. A title is a sentence of its own."""
    title = one_line(memory.title) if memory.title else ""
    if not title or one_line(text[: 2 * len(title) + 200]).startswith(title):
        return text
    return f"{title}{'' if title[-1] in '.!?…。' else '.'} {text}"


def said_by(memory: Memory) -> str:
    """What it says, without the headings' marks, and without a heading that only repeats its title."""
    if not _HEADED.search(memory.content):
        return memory.content
    return plain_text(memory.content, memory.title) or memory.content


# ── layer 1 ──


def index_entry(result: SearchResult, question: str | Wanted, *, room: int | None = None) -> IndexEntry:
    """A memory of up to 60 tokens is whole; of a longer one, the sentences that answer. `room` holds it to less."""
    memory, state = result.memory, result.state
    # A date without its dashes costs three tokens instead of seven.
    doubt = unlikely(result.relevance)
    head = f"{head_of(memory, state, when=day(memory.created).replace('-', ''), doubt=doubt)}: "
    question = wanted_of(question)
    # The first takes two lines, and so do the steps of a way to do something.
    leads = result.rank == 1
    longest = LONGEST_LINE * (2 if leads or (question.steps and has_steps(memory.content)) else 1)
    size = longest if room is None else min(room, longest)
    left = size - count_tokens(f"{head}\n")
    most = INDEX_TOKENS if room is None else min(left, INDEX_TOKENS)
    summary, truncated = excerpt_of(result, question, left, whole=most, around=leads)
    text = head + summary
    return IndexEntry(
        id=memory.id,
        handle=memory.handle,
        summary=label_of(memory, state) + summary,
        utility_score=result.score,
        type=memory.kind,
        citations=memory.citations,
        truncated=truncated,
        created=memory.created,
        state=state,
        text=text,
        tokens=count_tokens(text),
        relevance=result.relevance,
        source=_stranger(memory, state),
    )


def excerpt_of(
    result: SearchResult, wanted: Wanted, room: int, *, whole: int = 0, around: bool = False
) -> tuple[str, bool]:
    """What the memory says on one line, and whether anything of its text is missing; one of up to `whole` tokens is
    not shortened.
    """
    memory, own = result.memory, said_by(result.memory)
    for text in (titled(memory, own), own):
        line = visible(one_line(text))
        if len(line) <= whole * 24 and count_tokens(line) <= whole:
            return line, False
    if room < 1:
        return "", True
    if memory.summary and wanted.words.keys().isdisjoint(tokenize(memory.content[:_READ])):
        return fit(visible(one_line(memory.summary)), room)[0], True
    text = titled(memory, plain_text(memory.content, memory.title) or memory.content)
    texts = [text]
    if memory.title and wanted.words.keys() >= {*filter(token_weight, tokenize(memory.title))}:  # it says no more
        texts.insert(0, text.lstrip()[len(memory.title) :].lstrip(" .\n"))
    for said in filter(None, texts):
        size = room
        while size > 0:  # spelling out what could break a line makes it longer
            shown = answering(said, wanted, tokens=size, related=True, nearest=result.sentence, around=around)
            line = visible(one_line(shown))
            if (over := count_tokens(line) - room) <= 0:
                return line, True
            size -= over
    return "", True


def index_record(entry: IndexEntry) -> Record:
    """The specification's fields, and what the line says beside them."""
    more = len(entry.citations) - INDEX_CITATIONS
    return present({
        "id": entry.id, "handle": entry.handle, "summary": entry.summary, "utilityScore": round(entry.utility_score, 4),
        "relevance": None if entry.relevance is None else round(entry.relevance, 4), "type": entry.type,
        "citations": as_json(entry.citations[:INDEX_CITATIONS]), "moreCitations": more if more > 0 else None,
        "isCited": entry.is_cited, "verified": entry.state.verified, "timestamp": instant(entry.created),
        "truncated": entry.truncated or None, "source": entry.source, "state": as_json(entry.state) or None,
    })  # fmt: skip


def certificate_line(certificate: Mapping[str, Any] | None, *, most: int = CERTIFICATE_TOKENS) -> str:
    """How much of the question the results cover and what is missing, in one line of at most so many tokens."""
    if certificate is None or certificate.get("completenessScore") is None:
        return ""
    reworded, said = certificate.get("reworded"), []
    if certificate.get("abstention", {}).get("abstain"):
        said.append("Perhaps nothing here answers this")
    if certificate.get("verdict") == "doubtful":
        said.append(f"Doubtful: {certificate['likelihood']:.0%} likely to answer this")
    elif certificate["completenessScore"] < 1.0 or not reworded:
        said.append(f"Covers {certificate['completenessScore']:.0%} of the question")
    else:
        likely = certificate.get("likelihood")
        said.append(f"{'May' if likely is None else f'{likely:.0%} likely to'} answer this in other words")
    if certificate.get("redundancyRatio"):
        said[-1] += f", redundancy {certificate['redundancyRatio']:.2f}"
    line = ". ".join(said)
    if reworded:
        line += f"; no result says: {', '.join(visible(name) for name in reworded)}"
    if certificate.get("unsettled"):
        line += f"; {only_unsettled(certificate)}"
    if missing := certificate.get("missing"):
        line += f"; missing: {', '.join(visible(name) for name in missing)}"
    if "suggestion" in certificate:
        line += f". {certificate['suggestion']}"
    return fit(f"{line}.", most)[0]


def silence_line(
    told: Sequence[str],
    *,
    time: str,
    nearest: str = "",
    excerpt: Callable[[int], str] = lambda tokens: "",
    missing: Sequence[str] = (),
    most: int,
) -> str:
    """That nothing here answers, the nearest memory and what is missing, in at most so many tokens.

    What has to give way is the time first, then words of the excerpt and of what is missing: the nearest is named as
    long as there is any room for it.
    """
    head = " ".join(filter(None, (*told, nearest)))
    if count_tokens(head) > most:
        return fit(" ".join(told), most)[0]
    lacking = missing_line(missing, min(_MISSING, most - count_tokens(head)))

    def written(said: str, time: str) -> str:
        return " ".join(filter(None, (head, said, lacking, time)))

    def room(said: str, time: str = "") -> int:
        return most - count_tokens(f"{written(said, time)} x")  # what comes next begins with a blank

    def shortened(size: int, time: str) -> str:
        said, left = "", min(size, room("", time)) if nearest else 0
        while left > 2 and count_tokens(written(said := excerpt(left), time)) > most:
            said, left = "", left - 1
        return said

    least = shortened(_EXCERPT_LEAST, "")
    said_time = fit(time, room(least))[0] if room(least) >= LEAST else ""
    return written(shortened(_EXCERPT, said_time), said_time)


def missing_line(missing: Sequence[str], most: int) -> str:
    """What is missing, as many names as fit and how many more there are; at least the beginning of one."""
    names = [visible(one_line(name)) for name in missing]
    for count in range(len(names), 0, -1):
        more = f" and {len(names) - count} more" if count < len(names) else ""
        line = f"Missing: {', '.join(names[:count])}{more}."
        if count_tokens(line) <= most:
            return line
    if not names or most < LEAST // 2:
        return ""
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    name = fit(names[0], most - count_tokens(f"Missing:{more}."))[0]
    return f"Missing: {name}{more}." if name else ""


def fitted_lines(
    lines: Sequence[str],
    order: Sequence[int],
    foot: Foot,
    limit: int | None,
    shorter: Callable[[int, int], str],
    left_out: int = 0,
    claims: Sequence[BudgetClaim] = (),
) -> tuple[str, list[int]]:
    """The lines and the foot within the limit, and the places of the lines in it: taken in `order`, the last of them
    `shorter` where that makes it fit.

    The foot gives way to the first line alone, and to the first that has a claim: what is missing says more than
    another line. What is left out is said, with the `left_out` before. Lines of what is less trusted take half of the
    limit at most beside those that have a claim, one of them `shorter` for that, and beyond it what these leave.
    """

    def written(shown: Mapping[int, str], foot: str = "") -> str:
        left = len(lines) - len(shown) + left_out
        told = f"{left} more left out: {RAISE}" if left else ""
        return "\n".join(filter(None, (*(shown[at] for at in sorted(shown)), " ".join(filter(None, (foot, told))))))

    def room(shown: Mapping[int, str], foot: str = "") -> int:
        return -1 if limit is None else limit - takes(written(shown, foot))

    everything = written(dict(enumerate(lines)), foot(order))
    if limit is None or takes(everything) <= limit:
        return everything, sorted(order)
    leads = {order[0]} if order else set()
    if BudgetClaim.FIRST in claims and BudgetClaim.LOWER in claims:
        leads.add(next(at for at in order if claims[at] is BudgetClaim.FIRST))
        lines, order = _beside_claims(lines, order, claims, limit - takes(written({})), shorter)
    shown: dict[int, str] = {}
    for at in order:
        whole, ending = {**shown, at: lines[at]}, foot(sorted((*shown, at)))
        if room(whole, ending) < 0 and (at not in leads or room(whole) < 0):
            ending = "" if at in leads else ending
            left = room({**shown, at: ""}, ending)
            short = shorter(at, left) if left > LEAST else ""
            if short and room({**shown, at: short}, ending) >= 0:
                shown[at] = short
            break
        shown = whole
    places = sorted(shown)
    told = [written(shown, foot(places)), written(shown), "\n".join(shown[at] for at in places)] if shown else []
    handles = " ".join(lines[at].split(" ", 1)[0] for at in order)
    rest = [f"{handles}: {RAISE}", RAISE] if handles else [fit(foot(order), limit - 1)[0] if limit > 1 else ""]
    return next((text for text in (*told, *rest) if takes(text) <= limit), ""), places


def _beside_claims(
    lines: Sequence[str],
    order: Sequence[int],
    claims: Sequence[BudgetClaim],
    most: int,
    shorter: Callable[[int, int], str],
) -> tuple[Sequence[str], Sequence[int]]:
    """The lines and the order in which they are given room: the first that has a claim, the first, then as they stand;
    of what is less trusted, the line that has no room beside such lines is `shorter`, and those behind it come last.
    """
    claiming = [at for at in order if claims[at] is BudgetClaim.FIRST]
    room = int(room_beside([min(takes(lines[at]), most / 2) for at in claiming], most))
    lines, first, late = list(lines), list[int](), list[int]()
    for at in order:
        if claims[at] is BudgetClaim.LOWER:
            if takes(lines[at]) > room:
                short, size = "", 0 if late else room
                while size > LEAST and takes(short := shorter(at, size)) > room:  # it may take more than its tokens
                    short, size = "", size - (takes(short) - room)
                if not short:
                    late.append(at)
                    continue
                lines[at] = short
            room -= takes(lines[at])
        first.append(at)
    return lines, list(dict.fromkeys((claiming[0], order[0], *first, *late)))


def turns_of_records(
    order: Sequence[int], claims: Sequence[BudgetClaim], costs: Sequence[int], limit: int | None
) -> list[int]:
    """The order in which records of these costs are given room beside what has a claim. What is last goes first, so the
    best that has one comes first, where half of the limit has room for it.
    """
    if limit is None or BudgetClaim.LOWER not in claims:
        return list(order)
    turns = turns_within([claims[at] for at in order], ([costs[at] for at in order], limit))
    best = [at for at in order if claims[at] is BudgetClaim.FIRST][:1]
    return list(dict.fromkeys((*(at for at in best if costs[at] <= limit / 2), *(order[turn] for turn in turns))))


def counted_record(record: Record, holder: Record, *names: str) -> Record:
    """The record, in which `holder` says what the whole of it costs as it is sent."""
    names = names or ("tokens",)
    size = 0
    for _ in range(4):  # the number is part of what it counts
        holder |= dict.fromkeys(names, size)
        before, size = size, cost(to_line(record))
        if size == before:
            break
    return record


# ── layer 2 ──


class Surroundings(Struct, frozen=True):
    """What is known around a memory of a timeline: its session, and the turns beside it there."""

    session: Session | None = None
    previous: Memory | None = None
    following: Memory | None = None


def timeline_entry(memory: Memory, anchor: Memory, state: MemoryState, around: Surroundings) -> TimelineEntry:
    """About 150 tokens: when and in what course of events it was said, the text, and the turns beside it."""
    relation = None if memory.id == anchor.id else relationship(memory, anchor)
    days = (memory.created - anchor.created) / DAY_MS
    placed = f" {relation} {days:+z.1f}d" if relation is not None else ""
    task = f" task {as_name(memory.task)}" if memory.task else ""
    head = head_of(memory, state, when=instant(memory.created)[:16]) + placed + task
    tail = f"\n {cites(memory.citations, TIMELINE_CITATIONS)}" if memory.citations else ""
    room = TIMELINE_TOKENS - count_tokens(f"{head}\n {tail}\n")
    beside = _beside(around)
    needed = sum(count_tokens(f"\n {name}: {line}") for name, line in beside)
    own, truncated = fit(visible(one_line(titled(memory, said_by(memory)))), max(LEAST, room - needed, room // 2))
    room -= count_tokens(own)
    lines, shown = [f"{head}\n {own}"], {}
    for place, (name, line) in enumerate(beside):
        share = room // (len(beside) - place)
        short, _ = fit(line, share - count_tokens(f"\n {name}: "))
        if short and (share >= LEAST or short == line):
            shown[name] = short
            lines.append(f" {name}: {short}")
            room -= count_tokens(f"\n{lines[-1]}")
    text = "\n".join(lines) + tail
    return TimelineEntry(
        id=memory.id,
        handle=memory.handle,
        task=memory.task,
        created=memory.created,
        relation=relation,
        summary=label_of(memory, state) + own,
        type=memory.kind,
        citations=memory.citations,
        truncated=truncated,
        state=state,
        beside=shown,
        text=text,
        tokens=count_tokens(text),
    )


def relationship(memory: Memory, anchor: Memory) -> Relationship:
    if memory.task is not None and memory.task == anchor.task:
        return Relationship.SAME_TASK
    earlier = (memory.created, memory.id) < (anchor.created, anchor.id)
    return Relationship.BEFORE if earlier else Relationship.AFTER


def _beside(around: Surroundings) -> list[tuple[str, str]]:
    """Lines by name; the session first, which is the shortest account of what was going on."""
    session = around.session
    lines = []
    if session is not None:
        about = ". ".join(filter(None, (session.title, session.summary)))
        lines.append(("session", visible(one_line(f"{session.id}: {about}" if about else session.id))))
    for name, turn in (("previous", around.previous), ("next", around.following)):
        if turn is not None:
            by = f"{as_name(turn.author)}: " if turn.author else ""
            lines.append((name, by + visible(one_line(turn.summary or titled(turn, turn.content)))))
    return lines


def timeline_entry_record(entry: TimelineEntry) -> Record:
    more = len(entry.citations) - TIMELINE_CITATIONS
    return {
        "id": entry.id, "handle": entry.handle, "task": entry.task, "reward": entry.reward,
        "timestamp": instant(entry.created), "relation": entry.relation, "summary": entry.summary, "type": entry.type,
        "citations": as_json(entry.citations[:TIMELINE_CITATIONS]), "isCited": bool(entry.citations),
        "verified": entry.state.verified,
        **({"moreCitations": more} if more > 0 else {}), **({"truncated": True} if entry.truncated else {}),
        **({"state": state} if (state := as_json(entry.state)) else {}), **entry.beside,
    }  # fmt: skip
