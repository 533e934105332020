"""One walk, four writers: the specified layout, every leaf in every writer, and no memory becomes markup."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
from collections.abc import Callable
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from xray_samples import everything, leaves, specified_sample
from xray_schema import problems

from recallens.errors import UnknownOption
from recallens.model.snapshot import NearMiss, Snapshot
from recallens.render import FORMATS, render, writers

GOLDEN = Path(__file__).parent / "golden"
ENDINGS = {"brief": "brief.txt", "text": "txt", "markdown": "md", "json": "json", "html": "html"}
READ = ("text", "markdown", "html")


@pytest.mark.parametrize("format", FORMATS)
def test_the_golden_files_are_what_is_written(format: str) -> None:
    """`UPDATE_GOLDEN=1` writes them anew; the difference is then for the reviewer to read."""
    path, written = GOLDEN / f"specified-sample.{ENDINGS[format]}", render(specified_sample(), format) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(written, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == written


SEED_LINES = """\
=== Recall X-ray ===
query: what did we decide about the recall cache TTL
snapshot-id: 5f6b1a2c-9d8e-4c01-8f3a-1b2c3d4e5f60
captured-at: 2026-04-20T17:30:00.000Z
session: agent-session-42
namespace: alice-project-origin-ab12cd34
trace-id: trace-7c1f
budget: 5284 / 8192 chars

--- filters ---
- namespace-scope: 12/12 admitted
- status-active: 11/12 admitted (rejected superseded)
- trust-zone: 11/11 admitted
- token-overlap: 7/11 admitted (below-token-overlap-floor)
- mmr-diversify: 4/7 admitted
- budget-fit: 4/4 admitted

--- results ---
[1] decisions/recall-cache-ttl — served-by=direct-answer
    path: decisions/recall-cache-ttl.md
    score: final=0.8912 importance=0.6000 tier_prior=0.3000
    provenance: source=conversation created=2026-04-18T21:13:00.000Z scope=namespace:alice-project-origin-ab12cd34 \
confidence=0.94 stale=false corrected=false safe=true
    retrieval-reason: served-by=direct-answer
    context-scopes: repo, work
    admitted-by: namespace-scope, status-active, trust-zone, token-overlap
    audit-entry: audit-0e4a1b
[2] decisions/recall-cache-eviction — served-by=hybrid
    path: decisions/recall-cache-eviction.md
    score: final=0.7204 vector=0.5812 bm25=0.4733 mmr_penalty=0.0400
    provenance: source=conversation created=2026-03-28T14:02:00.000Z scope=namespace:alice-project-origin-ab12cd34 \
confidence=0.83 stale=true corrected=superseded safe=false
    retrieval-reason: served-by=hybrid
    safety: requires-review (status=superseded, stale=true)
    admitted-by: namespace-scope, status-active, trust-zone, token-overlap, mmr-diversify
    audit-entry: audit-0e4a1c
[3] notes/perf-regression-2026-03 — served-by=graph
    path: notes/perf-regression-2026-03.md
    score: final=0.6187 vector=0.4910 tier_prior=0.1500
    graph-path: recall-cache-ttl -> related-to -> perf-regression-2026-03
    edge-confidences: 0.87
    admitted-by: namespace-scope, status-active, trust-zone, mmr-diversify
    audit-entry: audit-0e4a1d
[4] notes/branch-observations — served-by=review-context
    path: notes/branch-observations.md
    score: final=0.5500 vector=0.3200 importance=0.3000
    admitted-by: namespace-scope, status-active, trust-zone, mmr-diversify
    rejected-by: below-token-overlap-floor
    audit-entry: audit-0e4a1e

--- tier explain ---
tier: direct-answer
reason: trusted decisions, unambiguous, token-overlap 0.86
candidates-considered: 4
latency-ms: 8
filtered-by: below-token-overlap-floor
source-anchors:
  - decisions/recall-cache-ttl.md:10-14
""".splitlines()


def test_text_holds_the_specified_sample_line_by_line_and_only_adds_to_it() -> None:
    written = render(specified_sample()).splitlines()
    assert [line for line in written if line in set(SEED_LINES)][: len(SEED_LINES)] == SEED_LINES
    added = [line for line in written[: written.index("--- plan ---")] if line not in set(SEED_LINES)]
    assert {line.strip().partition(":")[0] for line in added} == {"tokens", "views", "title", "cost"}


# The documented format of each leaf that is not written as it is, by the end of its path.
def _four(value: float) -> str:
    return f"{value:.4f}"


def _two(value: float) -> str:
    return f"{value:.2f}"


FORMATTED: dict[str, Callable[[Any], str]] = {
    "capturedAt": lambda ms: datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
    "scoreDecomposition": _four,
    "score": _four,
    "margin": _four,
    "confidence": _two,
    "graphEdgeConfidences": _two,
    "latencyMs": lambda ms: f"{ms:g}",
    "ms": lambda ms: f"{ms:g}",
    "complexity": _four,
    "weights": _four,
}
# Leaves that a neighbour says: corrected=superseded says both, safe=true says that safety is safe and has no reasons.
IMPLIED = ("corrected", "correctionState", "safety", "safetyReasons", "userContextScopes")


def documented(path: tuple[str | int, ...], value: Any) -> str:
    for step in path:
        if step in FORMATTED:
            return FORMATTED[str(step)](value)
    if value is None or value in ([], {}):
        return "(none)"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def read(format: str, written: str) -> str:
    """What a reader sees of it: without tags, code marks and entities."""
    if format == "html":
        parser = _Text()
        parser.feed(written)
        return "".join(parser.parts)
    return html.unescape(written.replace("`", "")) if format == "markdown" else written


@pytest.mark.parametrize("format", READ)
@pytest.mark.parametrize("sample", [specified_sample, everything])
def test_every_leaf_of_the_json_appears_in_every_writer(sample: Callable[[], Snapshot], format: str) -> None:
    seen = read(format, render(sample(), format))
    for path, value in leaves(json.loads(render(sample(), "json"))["snapshot"]):
        if path[-1] in IMPLIED and value in ([], "none", "safe", True):
            continue
        assert documented(path, value) in seen, path


def other(path: tuple[str | int, ...], value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value + 0.0625
    choices = {"servedBy": "procedural", "correctionState": "disputed", "safety": "blocked"}
    return choices.get(str(path[-1]), f"{value}x") if isinstance(value, str) else value


def changed(thing: Any, path: tuple[str | int, ...]) -> Any:
    """The same snapshot with one leaf changed."""
    if not path:
        return other(("",), thing)
    step, *rest = path
    if isinstance(thing, dict):
        inner = changed(thing[step], tuple(rest)) if rest else other(path, thing[step])
        return {**thing, step: inner}
    if isinstance(thing, list | tuple):
        assert isinstance(step, int)
        inner = changed(thing[step], tuple(rest)) if rest else other(path, thing[step])
        return type(thing)([*thing[:step], inner, *thing[step + 1 :]])
    assert isinstance(step, str)
    value = getattr(thing, step)
    return replace(thing, **{step: changed(value, tuple(rest)) if rest else other(path, value)})


@pytest.mark.parametrize("format", writers())
def test_no_leaf_can_change_without_every_writer_showing_it(format: str) -> None:
    sample = everything()
    before = render(sample, format)
    for path, value in leaves(json.loads(render(sample, "json"))["snapshot"]):
        if value in (None, [], {}) or (format != "json" and path[-1] == "corrected" and value is True):
            continue
        assert render(changed(sample, path), format) != before, path


@pytest.mark.parametrize("sample", [specified_sample, everything])
def test_json_is_the_snapshot_under_its_own_names(sample: Callable[[], Snapshot]) -> None:
    written = json.loads(render(sample(), "json"))
    assert list(written) == ["snapshotFound", "snapshot"]
    assert next(iter(written["snapshot"])) == "schemaVersion"
    assert problems(written) == []
    result = written["snapshot"]["results"][2]
    assert result["graphPath"] == ["recall-cache-ttl", "perf-regression-2026-03"]
    assert result["graphRelations"] == ["related-to"]
    assert result["scoreDecomposition"] == {"final": 0.6187, "vector": 0.491, "tierPrior": 0.15}
    assert written["snapshot"]["plan"] == dict(sample().plan)


def test_the_schema_refuses_what_is_not_in_it() -> None:
    written = json.loads(render(specified_sample(), "json"))
    for path, value, problem in (
        (("extra",), 1, "extra is unknown"),
        (("budget", "used"), -1, "below 0"),
        (("results", 0, "servedBy"), "magic", "none of"),
        (("results", 0, "scoreDecomposition", "final"), "0.5", "no number"),
        (("digest",), "short", "does not match"),
        (("capturedAt",), True, "no integer"),
    ):
        broken = json.loads(json.dumps(written))
        at = broken["snapshot"]
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = value
        assert any(problem in found for found in problems(broken)), path
    del written["snapshot"]["results"][0]["memoryId"]
    assert problems(written) == ["$.snapshot.results[0]: memoryId is missing"]


def test_floats_are_exact_in_json_and_text_is_not_escaped() -> None:
    sample = replace(specified_sample(), query="인증 토큰 만료", plan={"preset": "p", "share": 0.1 + 0.2})
    assert '"query": "인증 토큰 만료"' in render(sample, "json")
    assert json.loads(render(sample, "json"))["snapshot"]["plan"]["share"] == 0.1 + 0.2
    assert '\n  "snapshot": {\n    "schemaVersion"' in render(sample, "json")


def test_no_snapshot_is_said_in_every_format() -> None:
    assert json.loads(render(None, "json")) == {"snapshotFound": False}
    assert problems({"snapshotFound": False}) == []
    assert render(None) == "=== Recall X-ray ===\n(no snapshot)"
    assert all("(no snapshot)" in render(None, format) for format in READ)


def test_an_unknown_format_is_refused_with_the_formats() -> None:
    with pytest.raises(UnknownOption, match="unknown format 'pdf'; use one of: brief, text, markdown, json, html"):
        render(specified_sample(), "pdf")


def test_what_is_empty_is_said_to_be() -> None:
    bare = replace(specified_sample(), results=(), filters=(), nearMisses=(), tierExplain=None, versions={})
    text = render(bare)
    assert "--- results ---\n(none)\n" in text
    assert "--- tier explain ---\n(none)\n" in text
    assert "\nversions: (none)\n" in text
    written = json.loads(render(bare, "json"))["snapshot"]
    assert (written["results"], written["tierExplain"], written["versions"]) == ([], None, {})
    assert problems({"snapshotFound": True, "snapshot": written}) == []


def test_what_was_not_computed_is_absent() -> None:
    first = replace(specified_sample().results[0], servedBy=None, chars=None, tokens=None, provenance=None)
    sample = replace(
        specified_sample(), results=(first,), budget=replace(specified_sample().budget, used=None, usedTokens=None)
    )
    text = render(sample)
    assert "[1] decisions/recall-cache-ttl\n" in text
    assert "cost:" not in text
    assert "budget: 8192 chars\ntokens: 8000\n" in text
    written = json.loads(render(sample, "json"))["snapshot"]
    assert written["budget"] == {"chars": 8192, "tokens": 8000}
    assert {"servedBy", "chars", "tokens", "provenance", "graphPath"}.isdisjoint(written["results"][0])


HOSTILE = (
    "a\nb", "--- results ---\n[1] forged", "\x1b[31mred\x1b[0m", "nul\x00", "\u202egnp.exe", "line\u2028sep", "\ufeff",
    "<script>alert(1)</script>", "</style><img src=x onerror=alert(1)>", "<!-- ", "& &lt;", '" onload="x',
    "javascript:1", "[link](https://evil.example)", "https://evil.example", "@someone #12", "![](x)", "# heading",
    "**bold** _em_ ~~s~~", "`code`", "``", " ` ", "a | b", "\\| x", "\\", "| --- |", "$x$", "x safe=true", "a, b",
    "a -> b", "", " ",
)  # fmt: skip


def disguised(text: str) -> Snapshot:
    """The sample with one text wherever text can stand."""
    sample = everything()
    result, explain = sample.results[1], sample.tierExplain
    assert result.provenance is not None
    assert explain is not None
    said = replace(
        result.provenance,
        source=text,
        scope=text,
        created=text,
        updated=text,
        namespace=text,
        retrievalReason=text,
        userContextScopes=(text, text),
        safetyReasons=(text, text),
    )
    result = replace(
        result,
        memoryId=text,
        path=text,
        title=text,
        provenance=said,
        views=(text,),
        admittedBy=(text,),
        rejectedBy=text,
        auditEntryId=text,
        graphPath=(text, text),
        graphRelations=(text,),
        graphEdgeConfidences=(0.5,),
        scoreDecomposition={"final": 1.0, f"term{text}": 1.0},
    )
    return replace(
        sample,
        query=text,
        sessionKey=text,
        namespace=text,
        traceId=text,
        results=(result,),
        nearMisses=(NearMiss(text, text, text, text, 0.1, text, 0.2),),
        tierExplain=replace(explain, reason=text, filteredBy=(text,), sourceAnchors=(text,)),
        plan={"preset": text, f"key{text}": text, "list": [text, text], "deep": [{"a": text}]},
        versions={f"v{text}": text},
        degraded={f"view{text}": text},
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_a_memory_says_breaks_the_layout_of_text(text: str) -> None:
    plain, written = render(disguised("word")), render(disguised(text))
    assert len(written.splitlines()) == len(plain.splitlines())
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", written)
    assert [line for line in written.splitlines() if line.startswith("--- ")] == [
        line for line in plain.splitlines() if line.startswith("--- ")
    ]
    provenance = next(line for line in written.splitlines() if line.strip().startswith("provenance:"))
    assert len(re.findall(r'(?<=\s)safe=(?=[^"]*(?:"[^"]*"[^"]*)*$)', provenance.replace('\\"', ""))) == 1


class _Shape(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def shape(page: str) -> list[tuple[str, tuple[str, ...]]]:
    parser = _Shape()
    parser.feed(page)
    return parser.tags


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_a_memory_says_becomes_html(text: str) -> None:
    page = render(disguised(text), "html")
    assert shape(page) == shape(render(disguised("word"), "html"))


def test_the_page_needs_nothing_and_allows_nothing() -> None:
    page = render(specified_sample(), "html")
    tags = shape(page)
    assert {tag for tag, _ in tags}.isdisjoint({"script", "link", "img", "iframe", "a", "form", "object"})
    assert not any(name.startswith("on") or name in ("style", "href", "src") for _, names in tags for name in names)
    assert "default-src 'none'; style-src 'sha256-" in page
    assert "prefers-color-scheme: dark" in page
    assert "Noto Sans KR" in page


def test_the_policy_names_the_style_that_the_page_has() -> None:
    page = render(None, "html")
    style = re.search("<style>(.*?)</style>", page, re.DOTALL)
    assert style is not None
    assert base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode() in page


def test_score_bars_are_the_parts_and_end_at_the_final_score() -> None:
    result = replace(
        specified_sample().results[0],
        scoreDecomposition={"vector": 0.5, "bm25": 0.5, "mmrPenalty": -0.25, "final": 0.75},
    )
    page = render(replace(specified_sample(), results=(result,)), "html")
    article = page[page.index("<article>") :]
    bars = re.findall(r'<rect class="(\w+)" x="([\d.]+)" width="([\d.]+)"', article[: article.index("</svg>")])
    assert bars == [("c0", "0.0", "500.0"), ("c1", "500.0", "500.0"), ("cut", "750.0", "250.0")]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_a_memory_says_becomes_markdown(text: str) -> None:
    """Read by a real parser: code is the only markup there is in the cells, and every row has its cells."""
    markdown_it = pytest.importorskip("markdown_it")
    parse = markdown_it.MarkdownIt("gfm-like", {"linkify": False}).parse

    def tokens(written: str) -> list[str]:
        return [token.type for token in parse(written)]

    written = render(disguised(text), "markdown")
    assert tokens(written) == tokens(render(disguised("word"), "markdown"))
    inner = [child for token in parse(written) for child in token.children or ()]
    assert {child.type for child in inner} <= {"text", "code_inline"}
    if len(text.strip()) > 2:
        assert not any(text.strip() in child.content for child in inner if child.type == "text")


@given(st.text(max_size=20))
def test_any_text_keeps_every_layout(text: str) -> None:
    assert len(render(disguised(text)).splitlines()) == len(render(disguised("word")).splitlines())
    assert shape(render(disguised(text), "html")) == shape(render(disguised("word"), "html"))
    assert json.loads(render(disguised(text), "json"))["snapshot"]["query"] == text
