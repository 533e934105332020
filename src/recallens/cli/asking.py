"""A question as it is typed: what `search`, `xray` and `why-not` take alike, and the same question as a command."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from recallens.cli.given import Given
from recallens.cli.options import TEXT, Decorated, OneOf, Size, Weight, listed, now_ms
from recallens.cli.reading import changed_files
from recallens.errors import InvalidInput
from recallens.ingest.validate import parse_when
from recallens.model.memory import Kind, Sector, Tier
from recallens.model.plan import Intent, Scope
from recallens.model.query import ALPHA, BETA, BLEND, DEFAULT_BUDGET, DEFAULT_TOKENS, Documents, Mode, Query
from recallens.model.times import instant

if TYPE_CHECKING:
    from recallens.config import Settings

_OPTIONS = (
    click.option("--mode", type=OneOf(Mode, "mode"), help=f"One of {listed(Mode)}."),
    click.option("--limit", "-k", type=int, metavar="N", help="How many results; else what the question calls for."),
    click.option("--intent", metavar="INTENT", type=TEXT, help=f"What kind of answer is wanted: {listed(Intent)}."),
    click.option("--alpha", type=float, metavar="0..1", help="What fitting the question weighs (0.7)."),
    click.option("--beta", type=float, metavar="0..1", help="What proven use in tasks weighs (0.2)."),
    click.option("--requires-citations", is_flag=True, help="Only what cites a source."),
    click.option("--worktree", metavar="NAME", type=TEXT, help="The worktree that the asker works in."),
    click.option("--project", metavar="NAME", type=TEXT, help="Only this project; an empty name means any."),
    click.option("--sector", type=OneOf(Sector, "sector"), help=f"Only this sector: {listed(Sector)}."),
    click.option("--tier", type=OneOf(Tier, "tier"), help=f"Only this tier: {listed(Tier)}."),
    click.option("--kind", type=OneOf(Kind, "kind"), help=f"Only this kind: {listed(Kind)}."),
    click.option("--tag", "tags", metavar="TAG", type=TEXT, multiple=True,
                 help="Only with this tag; repeat it for several."),
    click.option("--min-salience", type=float, metavar="0..1", help="Only what is still this salient."),
    click.option("--include-superseded", is_flag=True, help="Also what has been replaced or has run out."),
    click.option("--in-session", metavar="ID", type=TEXT, help="Only what this session touched."),
    click.option("--session", metavar="ID", type=TEXT, help="The session that asks."),
    click.option("--task", metavar="TASK", type=TEXT, help="The running task that asks: what it gets counts for it."),
    click.option("--affected", metavar="FILE", type=TEXT, multiple=True,
                 help="Only what is about this file; repeat it for several."),
    click.option("--now", metavar="WHEN", type=TEXT, help="Ask as if it were this time."),
    click.option("--as-of", metavar="WHEN", type=TEXT, help="What was known at this time: 2026-05-01, 3d …"),
    click.option("--preset", metavar="NAME", type=TEXT, help="The ranking: default, fusion, classic or adaptive."),
    click.option("--documents", type=OneOf(Documents, "documents"),
                 help=f"Passages of documents: {listed(Documents)}."),
    click.option("--budget", metavar="CHARS", type=Size("budget", "characters", DEFAULT_BUDGET),
                 help="At most this many characters in all."),
    click.option("--tokens", metavar="N", type=Size("tokens", "tokens", DEFAULT_TOKENS),
                 help="At most this many tokens in all."),
    click.option("--files", metavar="FILE", type=TEXT, multiple=True,
                 help="A file under review: what is known of it takes part. Repeat it for several."),
    click.option("--diff", metavar="FILE", type=TEXT, help="A unified diff that names the files; - is standard input."),
    click.option("--scope", "scopes", metavar="SCOPE", type=TEXT, multiple=True,
                 help=f"How far to look: {listed(Scope)}. Any other word is a context that the caller holds."),
    click.option("--folder", "folders", metavar="FOLDER", type=TEXT, multiple=True,
                 help="Of files, only those in this folder of the vault; repeat it for several."),
    click.option("--open-file", metavar="FILE", type=TEXT, help="The file that is open: what is about it goes up."),
    click.option("--command", "commands", metavar="TEXT", type=TEXT, multiple=True,
                 help="A recent command, the latest first: what shares its words goes up."),
    click.option("--hierarchical", is_flag=True, help="Prefer what is as abstract as the question."),
    click.option("--blend", type=float, metavar="0..1", help="Under `fusion`: what meaning weighs beside words (0.5)."),
    click.option("--weight", "weights", metavar="NAME=FACTOR", type=Weight(), multiple=True,
                 help="Multiply one part of every score, such as bm25=2; repeat it for several."),
)  # fmt: skip


def asks(command: Decorated) -> Decorated:
    """The options of a question."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class Question:
    """The words and the options that were given; what was not given, the settings decide."""

    text: str
    options: Mapping[str, Any]

    def for_engine(self, settings: Settings) -> dict[str, Any]:
        project = self.options.get("project")
        project = settings.project if project is None else project
        session = self.options.get("session") or settings.session
        return {**self.options, "project": project or None, "session": session}


def question(words: Sequence[str], options: Mapping[str, Any]) -> Question:
    now, as_of, diff = options["now"], options["as_of"], options["diff"]
    asked_at = None if now is None else parse_when(now, now_ms=now_ms())
    return Question(
        " ".join(words),
        {
            **{name: value for name, value in options.items() if name != "diff"},
            "now": asked_at,
            "as_of": None if as_of is None else parse_when(as_of, now_ms=now_ms() if asked_at is None else asked_at),
            "files": tuple(dict.fromkeys((*options["files"], *(changed_files(diff) if diff is not None else ())))),
            "weights": dict(options["weights"]),
            **_scopes(options["scopes"]),
        },
    )


def _scopes(words: Sequence[str]) -> dict[str, Any]:
    """How far to look, and the contexts that the caller holds: one option, because no context is called task or org."""
    reach = [word for word in words if word in tuple(Scope)]
    if len(reach) > 1:
        raise InvalidInput(f"one reach at a time, not {' and '.join(reach)}; it is one of: {listed(Scope)}")
    return {"scope": reach[0] if reach else None, "scopes": tuple(word for word in words if word not in reach)}


def needed(asked: Question, usage: str) -> Question:
    """The question itself, unless there is none: then the error says how to ask one."""
    if not asked.text.strip():
        raise InvalidInput("the query is empty; give the question in words", hint=f"Usage: {usage}")
    return asked


def command(query: Query, settings: Settings, given: Given, *, dated: bool) -> str:
    """The command that asks this query, as a shell takes it; `dated` = its time was given, and is not simply now."""
    words = ["recallens", "xray"]
    options = [*_shared(given), *_options(query, settings)]
    if dated:
        options += ["--now", instant(query.now)]
    if query.text.startswith("-"):
        return shlex.join([*words, *options, "--", query.text])
    return shlex.join([*words, query.text, *options])


def _shared(given: Given) -> Iterator[str]:
    for name in ("store", "namespace"):
        if (value := getattr(given, name)) is not None:
            yield from (f"--{name}", value)


def _options(query: Query, settings: Settings) -> Iterator[str]:
    filters = query.filters
    values: dict[str, tuple[Any, Any]] = {  # what is asked, and what would be asked without the option
        "--mode": (query.mode, Mode.HYBRID),
        "-k": (query.limit, settings.limit),
        "--project": (filters.project or "", settings.project or ""),
        "--sector": (filters.sector, None),
        "--tier": (filters.tier, None),
        "--kind": (filters.kind, None),
        "--min-salience": (filters.min_salience, 0.0),
        "--in-session": (filters.in_session, None),
        "--session": (query.session, settings.session),
        "--task": (query.task, None),
        "--worktree": (query.worktree, None),
        "--intent": (query.intent, None),
        "--alpha": (query.alpha, ALPHA),
        "--beta": (query.beta, BETA),
        "--as-of": (None if query.as_of is None else instant(query.as_of), None),
        "--preset": (query.preset, settings.preset),
        "--documents": (filters.documents, Documents.INCLUDE),
        "--budget": (query.budget, DEFAULT_BUDGET),
        "--tokens": (query.tokens, DEFAULT_TOKENS),
        "--open-file": (query.situation.open_file, None),
        "--blend": (query.blend, BLEND),
    }
    for name, (value, default) in values.items():
        if value != default:
            yield from (name, str(value))
    if filters.include_superseded:
        yield "--include-superseded"
    if filters.requires_citations:
        yield "--requires-citations"
    if filters.scope is not Scope.ORG:
        yield from ("--scope", str(filters.scope))
    if query.situation.levels:
        yield "--hierarchical"
    several = {
        "--tag": filters.tags,
        "--files": query.files,
        "--scope": query.scopes,
        "--affected": filters.affected,
        "--folder": filters.folders,
        "--command": query.situation.commands,
    }
    for name, items in several.items():
        for item in items:
            yield from (name, item)
    for term, factor in query.weights.items():
        yield from ("--weight", f"{term}={factor!r}")
