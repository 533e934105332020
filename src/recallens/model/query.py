"""What can be asked: the one table of options, and the checked query that they make.

A query is a plain value: with a store and a clock it decides every byte of the answer. `SearchOptions` is the table.
The engine's signatures, the checks, the command's flags, the schemas of HTTP and MCP, the page's parameters and the
table in docs/python.md are all read from it. Annotations here are values, so this file has no `annotations` import.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from operator import attrgetter
from typing import Annotated, Any, Final, TypedDict

from msgspec import Struct, ValidationError, convert, field, structs

from recallens.model.memory import Kind, Sector, Tier
from recallens.model.plan import Intent, Scope
from recallens.model.times import When

DEFAULT_NAMESPACE = "default"
DEFAULT_LIMIT = 10
MAX_LIMIT = 1_000
# What a question may hold; a longer one is a document.
MAX_QUERY_CHARACTERS = 32_768
DEFAULT_BUDGET = 8_192
DEFAULT_TOKENS = 8_000
GRAPH_FLOOR = 0.2
GRAPH_ITERATIONS = 8
# The specification: what similarity and proven use weigh in a result's utility, and in the one widening.
ALPHA, BETA = 0.7, 0.2
WIDE_ALPHA, WIDE_BETA, WIDE_LIMIT = 0.5, 0.5, 20
# The specification: what meaning weighs beside the words in the preset `fusion` (its golden set chose 0.5).
BLEND = 0.5
# The view that follows the memories of `watch` through a recall; what it proposes takes no part in the answer.
WATCH = "watch"


class Mode(StrEnum):
    HYBRID = "hybrid"
    SEMANTIC = "semantic"
    KEYWORD = "keyword"


class Documents(StrEnum):
    """Whether memories that were cut from a document take part."""

    INCLUDE = "include"
    EXCLUDE = "exclude"
    ONLY = "only"


class Ranking(StrEnum):
    """The presets by name; `recall/presets.py` holds what each one is."""

    DEFAULT = "default"
    FUSION = "fusion"
    CLASSIC = "classic"
    ADAPTIVE = "adaptive"
    BM25 = "bm25"
    DENSE = "dense"
    RRF = "rrf"


class Check(StrEnum):
    """How the value of an option is read. `engine/question.py` has the function of each, every surface its type."""

    LABEL = "label"  # a name
    NAMESPACE = "namespace"
    TEXTS = "texts"
    TAGS = "tags"
    COMMANDS = "commands"
    CHOICE = "choice"  # a member of `choices`
    INTENT = "intent"  # a member of `choices`, or one of its aliases
    PRESET = "preset"
    LIMIT = "limit"  # from 1 to MAX_LIMIT
    SIZE = "size"  # a whole number from 1
    COUNT = "count"  # a whole number from 0, where 0 means none at all
    SHARE = "share"  # a number from 0 to 1
    FLAG = "flag"
    MOMENT = "moment"  # epoch milliseconds
    EDGE = "edge"  # where a time begins or ends: epoch milliseconds, or a day in words
    FACTORS = "factors"  # a factor for each name
    SHARES = "shares"  # a share for each name of `parts`


class Option(Struct, frozen=True):
    """What every surface needs to know about one option. Its neutral value is the default of the field it goes to."""

    help: str
    check: Check
    place: str | None = None  # the query's field, such as "filters.project"; None is the field of the option's name
    choices: type[StrEnum] | None = None
    parts: Mapping[str, str] = field(default_factory=dict)  # the place of each name, where one option sets several
    gates: tuple[str, ...] = ()  # the gates and picks that it asks for, by the names that a ledger has
    flags: tuple[str, ...] = ()  # of the command, where they are not the option's name with dashes
    metavar: str | None = None
    aside: str = ""  # what is true of the flag alone
    off: str = ""  # what its flag does, where that turns it off
    unit: str = ""
    usual: int | None = None  # a size as one would give it, for the error that lists what is right
    setting: bool = False  # whether a setting of the same name decides where nothing is said
    on_page: bool = False  # whether the address of a page can say it
    python_only: bool = False  # whether no other surface offers it


# fmt: off
class SearchOptions(TypedDict, total=False):
    """Everything that can be said beside a question; None, or nothing, leaves it to the settings and the defaults."""

    session: Annotated[str | None, Option("The session that asks.", Check.LABEL, metavar="ID", setting=True)]
    limit: Annotated[int | None, Option(
        "How many results; else what the question calls for.", Check.LIMIT,
        flags=("--limit", "-k"), metavar="N", setting=True, on_page=True,
    )]
    budget: Annotated[int | None, Option(
        "At most this many characters in all.", Check.SIZE,
        metavar="CHARS", unit="characters", usual=DEFAULT_BUDGET, on_page=True,
    )]
    tokens: Annotated[int | None, Option(
        "At most this many tokens in all.", Check.SIZE,
        metavar="N", unit="tokens", usual=DEFAULT_TOKENS, on_page=True,
    )]
    mode: Annotated[Mode | str | None, Option(
        "By words, by meaning, or both.", Check.CHOICE, choices=Mode, on_page=True,
    )]
    intent: Annotated[Intent | str | None, Option(
        "What kind of answer is wanted.", Check.INTENT, choices=Intent, metavar="INTENT", on_page=True,
    )]
    alpha: Annotated[float | None, Option("What fitting the question weighs.", Check.SHARE)]
    beta: Annotated[float | None, Option("What proven use in tasks weighs.", Check.SHARE)]
    project: Annotated[str | None, Option(
        "Only this project.", Check.LABEL, "filters.project",
        metavar="NAME", aside="an empty name means any", setting=True, on_page=True, gates=("project",),
    )]
    sector: Annotated[Sector | str | None, Option(
        "Only this sector.", Check.CHOICE, "filters.sector", choices=Sector, on_page=True, gates=("sector",),
    )]
    tier: Annotated[Tier | str | None, Option(
        "Only this tier.", Check.CHOICE, "filters.tier", choices=Tier, on_page=True, gates=("tier",),
    )]
    kind: Annotated[Kind | str | None, Option(
        "Only this kind.", Check.CHOICE, "filters.kind", choices=Kind, on_page=True, gates=("kind",),
    )]
    tags: Annotated[Sequence[str] | None, Option(
        "Only with this tag.", Check.TAGS, "filters.tags", flags=("--tag",), metavar="TAG", gates=("tags",),
    )]
    min_salience: Annotated[float | None, Option(
        "Only what is still this salient.", Check.SHARE, "filters.min_salience", on_page=True,
        gates=("min-salience",),
    )]
    include_superseded: Annotated[bool | None, Option(
        "Also what has been replaced or has run out.", Check.FLAG, "filters.include_superseded", on_page=True,
    )]
    requires_citations: Annotated[bool | None, Option(
        "Only what cites a source.", Check.FLAG, "filters.requires_citations", on_page=True,
        gates=("requires-citations",),
    )]
    in_session: Annotated[str | None, Option(
        "Only what this session touched.", Check.LABEL, "filters.in_session", metavar="ID", gates=("in-session",),
    )]
    task: Annotated[str | None, Option(
        "The running task that asks: what it gets counts for it.", Check.LABEL, metavar="TASK",
    )]
    worktree: Annotated[str | None, Option("The worktree that the asker works in.", Check.LABEL, metavar="NAME")]
    affected: Annotated[Sequence[str] | None, Option(
        "Only what is about this file.", Check.TEXTS, "filters.affected", metavar="FILE", gates=("affected-files",),
    )]
    files: Annotated[Sequence[str] | None, Option(
        "A file under review: what is known of it takes part.", Check.TEXTS, metavar="FILE",
    )]
    folders: Annotated[Sequence[str] | None, Option(
        "Of files, only those in this folder of the vault.", Check.TEXTS, "filters.folders",
        flags=("--folder",), metavar="FOLDER", gates=("folders",),
    )]
    scope: Annotated[Scope | str | None, Option(
        "How far to look.", Check.CHOICE, "filters.scope", choices=Scope, metavar="SCOPE", gates=("scope",),
    )]
    scopes: Annotated[Sequence[str] | None, Option(
        "A context to ask from: what is remembered for it comes too.", Check.TEXTS, flags=("--scope",), metavar="SCOPE",
    )]
    documents: Annotated[Documents | str | None, Option(
        "Passages of documents.", Check.CHOICE, "filters.documents", choices=Documents, on_page=True,
        gates=("documents",),
    )]
    cut: Annotated[bool | None, Option(
        "Only what is likely to help; false for as many results as are asked for.", Check.FLAG, flags=("--all",),
        off="As many results as are asked for, also what is unlikely to help.",
        on_page=True, gates=("relevance-cut",),
    )]
    preset: Annotated[str | None, Option(
        "The ranking.", Check.PRESET, choices=Ranking, metavar="NAME", setting=True, on_page=True,
    )]
    now: Annotated[When | None, Option(
        "Ask as if it were this time: ISO, or 3d for three days ago.", Check.MOMENT, metavar="WHEN", on_page=True,
    )]
    as_of: Annotated[When | None, Option(
        "What was known at this time: 2026-05-01, 3d …", Check.MOMENT, metavar="WHEN", on_page=True,
    )]
    since: Annotated[str | When | None, Option(
        "Only what was made from this day on, or names a day since: 2026-03-01, 3 days ago, last week …", Check.EDGE,
        "filters.since", metavar="DAY", on_page=True, gates=("time-window",),
    )]
    until: Annotated[str | When | None, Option(
        "Only what was made up to the end of this day, or names a day until then: 2026-03-01, yesterday …", Check.EDGE,
        "filters.until", metavar="DAY", on_page=True, gates=("time-window",),
    )]
    open_file: Annotated[str | None, Option(
        "The file that is open: what is about it goes up.", Check.LABEL, "situation.open_file", metavar="FILE",
    )]
    commands: Annotated[Sequence[str] | None, Option(
        "A recent command, the latest first: what shares its words goes up.", Check.COMMANDS, "situation.commands",
        flags=("--command",), metavar="TEXT",
    )]
    hierarchical: Annotated[bool | None, Option(
        "Prefer what is as abstract as the question.", Check.FLAG, "situation.levels",
    )]
    blend: Annotated[float | None, Option("Under `fusion`: what meaning weighs beside words.", Check.SHARE)]
    chunk_level: Annotated[bool | None, Option(
        "Sections of a file as results of their own; false for one result a file, judged by all of its sections.",
        Check.FLAG, flags=("--whole-files",),
    )]
    weights: Annotated[Mapping[str, float] | None, Option(
        "Multiply a part of every score by its name, 1 being the preset's own.", Check.FACTORS,
        flags=("--weight",), metavar="NAME=FACTOR",
    )]

    namespace: Annotated[str | None, Option(
        "The namespace to look in.", Check.NAMESPACE, setting=True, python_only=True,
    )]
    record: Annotated[bool | None, Option(
        "Whether what is returned is recorded.", Check.FLAG, "", setting=True, python_only=True,
    )]
    certify: Annotated[bool | None, Option(
        "Add a certificate of what the results cover.", Check.FLAG, python_only=True,
    )]
    widen: Annotated[bool | None, Option(
        "Look once more, wider, where the results leave much of the question uncovered.", Check.FLAG, python_only=True,
    )]
    max_results: Annotated[int | None, Option(
        "At most this many results, also after a wider look.", Check.SIZE, python_only=True,
    )]
    item_tokens: Annotated[int | None, Option(
        "What a result costs at most in the layer that shows it, where that is not its whole text.", Check.SIZE,
        python_only=True,
    )]
    expand: Annotated[bool | None, Option(
        "Also other words for its own, however short the question; `fusion` always does.", Check.FLAG, python_only=True,
    )]
    excerpts: Annotated[bool | None, Option(
        "Results are handed out shortened, and cost as much.", Check.FLAG, python_only=True,
    )]
    watch: Annotated[Sequence[str] | None, Option(
        "Memories to follow through the recall; they take no part in it.", Check.TEXTS, python_only=True,
    )]
    include_raw: Annotated[bool | None, Option(
        "Whether raw conversations and transcripts take part.", Check.FLAG, "filters.include_raw", python_only=True,
        gates=("raw-conversations",),
    )]
    brain_file_limit: Annotated[int | None, Option(
        "Sections of files at most; 0 for none.", Check.COUNT, "filters.brain_file_limit", python_only=True,
        gates=("knowledge-mix", "brain-file-limit"),
    )]
    medium_term_limit: Annotated[int | None, Option(
        "Summaries of sessions at most; 0 for none.", Check.COUNT, "filters.medium_term_limit", python_only=True,
        gates=("medium-term", "medium-term-limit"),
    )]
    graph_floor: Annotated[float | None, Option(
        "The least confidence with which a path of relations is followed.", Check.SHARE, python_only=True,
    )]
    graph_iterations: Annotated[int | None, Option(
        "Rounds of the walk through the graph.", Check.LIMIT, python_only=True,
    )]
    actionability_weights: Annotated[Mapping[str, float] | None, Option(
        "What the open file and the recent commands add to a score.", Check.SHARES, "", python_only=True,
        parts={"fileMatch": "situation.file_match", "commandMatch": "situation.command_match"},
    )]
    hierarchical_weights: Annotated[Mapping[str, float] | None, Option(
        "What being as abstract as the question adds to a score, and being far from it takes off.", Check.SHARES, "",
        python_only=True, parts={"sameLevel": "situation.same_level", "farMismatch": "situation.far_level"},
    )]
# fmt: on


class Filters(Struct, frozen=True, forbid_unknown_fields=True):
    """The caller's own gates. None means the gate is not asked for.

    `folders`, `include_raw` and `brain_file_limit` are about what was cut from files: only from these folders, whether
    raw conversations take part, and how many at most. `medium_term_limit` is about summaries of sessions. Zero means
    none at all.
    """

    project: str | None = None
    sector: Sector | None = None
    tier: Tier | None = None
    kind: Kind | None = None
    tags: tuple[str, ...] = ()
    min_salience: float = 0.0
    include_superseded: bool = False
    in_session: str | None = None
    documents: Documents = Documents.INCLUDE
    requires_citations: bool = False
    scope: Scope = Scope.ORG
    affected: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    include_raw: bool = True
    brain_file_limit: int | None = None
    medium_term_limit: int | None = None
    since: int | None = None
    until: int | None = None  # the first millisecond that is out


class Situation(Struct, frozen=True, forbid_unknown_fields=True):
    """What the asker is at: the file that is open, the latest commands first. `levels` asks for answers as abstract as
    the question. The four numbers are shares of a score.
    """

    open_file: str | None = None
    commands: tuple[str, ...] = ()
    levels: bool = False
    file_match: float = 0.3
    command_match: float = 0.2
    same_level: float = 0.15
    far_level: float = 0.15

    @property
    def working(self) -> bool:
        return self.open_file is not None or bool(self.commands)


class Query(Struct, frozen=True, forbid_unknown_fields=True):
    """One question, asked at `now`, about what was known at `as_of` (default: now).

    `budget` is in characters, beside `tokens`; without them nothing is left out for its length. `files` are those of a
    change under review, `scopes` the contexts that the caller holds. `weights` multiplies a term by name, 1 being the
    preset's own. `watch` names memories that are followed through the recall without taking part in it, which is how
    "why not this one?" is answered. `alpha` multiplies what says how well a memory fits the question, `beta` what it
    has been worth in tasks. `task` and `worktree` are where the asker works. `certify` asks for the certificate, and
    `widen` lets an answer that leaves much of the question uncovered look once more, wider; `max_results` holds in both
    rounds. `item_tokens` is what a result costs at most in the layer that shows it, where that is not its whole text.
    `blend` is what meaning weighs beside the words where a preset blends the two. `excerpts` says that results are
    handed out shortened, and cost as much. `cut` leaves out what is not likely to help, where the preset judges that.
    `expand` looks for other words for the question's own, however simple it is. Without `chunk_level` a file is one
    result, by the section that stands first.
    """

    text: str
    now: int
    namespace: str = DEFAULT_NAMESPACE
    mode: Mode = Mode.HYBRID
    limit: int = DEFAULT_LIMIT
    preset: str = "default"
    filters: Filters = field(default_factory=Filters)
    session: str | None = None
    as_of: int | None = None
    budget: int | None = None
    tokens: int | None = None
    files: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    watch: tuple[str, ...] = ()
    graph_floor: float = GRAPH_FLOOR
    graph_iterations: int = GRAPH_ITERATIONS
    intent: Intent | None = None
    alpha: float = ALPHA
    beta: float = BETA
    task: str | None = None
    worktree: str | None = None
    certify: bool = False
    widen: bool = False
    max_results: int | None = None
    item_tokens: int | None = None
    blend: float = BLEND
    situation: Situation = field(default_factory=Situation)
    excerpts: bool = False
    cut: bool = True
    expand: bool = False
    chunk_level: bool = True

    @property
    def at(self) -> int:
        return self.now if self.as_of is None else self.as_of

    def to_json(self) -> dict[str, Any]:
        inner = {"filters": structs.asdict(self.filters), "situation": structs.asdict(self.situation)}
        return structs.asdict(self) | inner | {"weights": dict(self.weights)}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Query":
        """The query that `to_json` wrote. A field this version does not know is an error: it might have mattered."""
        inner: Mapping[type[Struct], str] = {Filters: "filters", Situation: "situation"}
        for kind, held in ((cls, record), *((kind, record.get(name, {})) for kind, name in inner.items())):
            if unknown := sorted(held.keys() - set(kind.__struct_fields__)):
                raise ValueError(f"the recorded query has {unknown[0]!r}, which this version does not know")
        try:
            return convert(record, cls)
        except ValidationError as error:
            raise ValueError(f"the recorded query cannot be read: {error}") from error


# ── the table, read ──

OPTIONS: Final[Mapping[str, Option]] = {
    name: annotation.__metadata__[0] for name, annotation in SearchOptions.__annotations__.items()
}
# What other surfaces offer too: HTTP and MCP under the JSON name, the command under its flags.
ASKED: Final[Mapping[str, Option]] = {name: option for name, option in OPTIONS.items() if not option.python_only}


def place_of(name: str) -> str:
    """The path of an option's value in a query; empty where it has none, or several."""
    place = OPTIONS[name].place
    return name if place is None else place


def value_of(query: Query, name: str) -> Any:
    return attrgetter(place_of(name))(query)


NEUTRAL: Final[Mapping[str, Any]] = {
    name: value_of(Query("", 0), name) for name in OPTIONS if place_of(name)
}  # what each option is where nothing is said


def json_name(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def about(name: str) -> str:
    """The option's help, with its neutral value where that is a share of something."""
    option, neutral = OPTIONS[name], NEUTRAL.get(name)
    if option.check is Check.SHARE and neutral:
        return f"{option.help.removesuffix('.')} ({neutral:g})."
    return option.help
