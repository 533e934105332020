"""The page over HTTP, without a browser: what it lets whom see, what it writes down, and the headers it stands on."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner
from httpx import Response
from starlette.testclient import TestClient

from payloads import PAYLOADS
from recallens.cli.main import main
from recallens.engine import Engine
from recallens.evaluate.shelf import rated_questions
from recallens.model.terms import WORDS
from recallens.operations import Caller, Right
from recallens.web.page import POLICY
from recallens.web.site import routes
from sites import site, written

HERE = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
READER = Caller(right=Right.READ, namespaces=frozenset(("default",)), home="default")


@pytest.fixture
def store(engine: Engine) -> Engine:
    for text in ("Lookups are cached for 60 seconds.", "The cache is on Redis.", "배포는 화요일에 한다."):
        engine.remember(text)
    engine.remember("The secret plans of team two.", namespace="two")
    return engine


@pytest.fixture
def owner(store: Engine) -> Iterator[TestClient]:
    with TestClient(site(store)) as client:
        yield client


def client(engine: Engine, caller: Caller) -> TestClient:
    return TestClient(site(engine, caller))


class Tags(HTMLParser):
    """The tags of a page, and what of them could run."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.running: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            leads = name in ("href", "src", "action", "formaction", "xlink:href")
            if name.startswith("on") or name == "style" or (leads and not (value or "").startswith(("/", "#"))):
                self.running.append(f"{tag} {name}={value}")


def test_every_page_carries_the_policy_and_stands_by_it(owner: TestClient, store: Engine) -> None:
    one = store.recall(store.recalls.query("cache")).results[0].memory.id
    paths = ("/", "/?q=cache", "/xray?q=cache", "/why-not?q=cache", f"/why-not?q=cache&memory={one}",
             "/sandbox?q=cache", "/sandbox/ranking?q=cache", "/diff", f"/memories/{one}", f"/timeline/{one}", "/vault",
             "/stats", "/rate?q=cache", "/review", "/forget?q=cache", "/memories/none", "/?q=x&kind=none")  # fmt: skip
    for path in paths:
        answer = owner.get(path)
        assert answer.headers["content-security-policy"] == POLICY, path
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "private, no-store"
        found = Tags(answer.text)
        assert found.running == []
        assert "style" not in found.tags
        assert not re.search(r"<script(?![^>]*\ssrc=\"/static/)", answer.text)


def test_assets_are_named_by_their_hash_and_kept_for_good(owner: TestClient) -> None:
    page = owner.get("/").text
    names = re.findall(r"\"(/static/[^\"]+)\"", page)
    assert len(names) >= 4
    for name in names:
        answer = owner.get(name)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    assert owner.get("/static/0000000000000000/page.css").status_code == 404
    assert owner.get(names[0].rpartition("/")[0] + "/..%2fpages.py").status_code == 404


def test_looking_writes_nothing_and_only_a_search_is_recorded(owner: TestClient, store: Engine) -> None:
    one = store.recall(store.recalls.query("cache")).results[0].memory.id
    before = written(store)
    for path in ("/", "/xray?q=cache", "/why-not?q=cache", f"/why-not?q=cache&memory={one}",
                 "/sandbox?q=cache&w.bm25=2", "/sandbox/ranking?q=cache&limit=1", "/diff", f"/memories/{one}", "/vault",
                 "/stats", "/rate?q=cache", "/xray/download?q=cache&format=json"):  # fmt: skip
        assert owner.get(path).status_code == 200, path
    assert written(store) == before
    assert owner.get("/?q=cache").status_code == 200
    assert written(store) > before


@pytest.mark.parametrize(
    "header", [{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, {"Sec-Purpose": "prefetch"}]
)
def test_a_search_that_another_site_or_a_prefetch_opened_is_not_recorded(
    owner: TestClient, store: Engine, header: dict[str, str]
) -> None:
    before = written(store)
    assert "60 seconds" in owner.get("/?q=cached lookups", headers=header).text
    assert written(store) == before


def test_who_only_reads_sees_and_writes_nothing(store: Engine) -> None:
    before = written(store)
    reader = client(store, READER)
    assert "60 seconds" in reader.get("/?q=cached lookups").text
    assert "cannot be kept" in reader.get("/rate?q=cached lookups").text
    one = store.recall(store.recalls.query("cache")).results[0].memory.id
    sent = reader.post("/rate", data={"q": "cache", f"grade.{one}": "3"}, headers=HERE)
    assert (sent.status_code, "may read and not write" in sent.text) == (403, True)
    assert written(store) == before
    assert rated_questions(store, "rated", namespace="default") == ()


def test_a_namespace_that_is_not_granted_is_as_one_that_does_not_exist(store: Engine) -> None:
    reader = client(store, READER)
    foreign = store.recall(store.recalls.query("secret plans", namespace="two")).results[0].memory.id
    for path in ("/?q=secret plans", "/stats?x=1", "/vault?x=1", "/diff?x=1", "/rate?q=secret plans", "/xray?q=secret"):
        with_two, with_none = (reader.get(f"{path}&namespace={name}") for name in ("two", "nowhere"))
        assert with_two.status_code == with_none.status_code == 404
        assert with_two.text.replace("two", "X") == with_none.text.replace("nowhere", "X")
    assert "secret plans of" not in reader.get("/?q=secret plans").text
    for path in (f"/memories/{foreign}", f"/timeline/{foreign}", f"/why-not?q=plans&memory={foreign}"):
        answer, none = reader.get(path), reader.get(path.replace(foreign, "0" * 26))
        assert answer.status_code == none.status_code == 404
        assert answer.text.replace(foreign, "X") == none.text.replace("0" * 26, "X")
    assert "<option" not in reader.get("/").text.split("</form>")[0].split("filters")[0]


def test_several_namespaces_can_be_chosen_from(store: Engine) -> None:
    both = client(store, Caller(namespaces=frozenset(("default", "two"))))
    start = both.get("/").text
    assert ">default</option>" in start
    assert ">two</option>" in start
    found = both.get("/?q=secret plans&namespace=two").text
    assert "secret plans of team two" in re.sub(r"</?mark>", "", found)
    assert "namespace=two" in found


def test_a_rating_from_another_site_is_refused(owner: TestClient, store: Engine) -> None:
    one = store.recall(store.recalls.query("cache")).results[0].memory.id
    data = {"q": "cache", "set": "rated", f"grade.{one}": "3"}
    for headers in (
        {}, {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://testserver", "Sec-Fetch-Site": "cross-site"}, {"Origin": "http://testserver.evil.example"},
    ):  # fmt: skip
        assert owner.post("/rate", data=data, headers=headers).status_code == 403, headers
    assert rated_questions(store, "rated", namespace="default") == ()
    kept = owner.post("/rate", data=data, headers=HERE, follow_redirects=False)
    assert kept.status_code == 303
    assert kept.headers["location"].startswith("/rate?q=cache")
    assert [dict(one.grades) for one in rated_questions(store, "rated", namespace="default")] == [{one: 3}]


def test_a_rating_that_cannot_be_kept_is_told_and_nothing_is_written(owner: TestClient, store: Engine) -> None:
    one = store.recall(store.recalls.query("cache")).results[0].memory.id
    foreign = store.recall(store.recalls.query("secret plans", namespace="two")).results[0].memory.id
    for data, words in (
        ({"q": "cache", f"grade.{one}": "7"}, "one of 0, 1, 2, 3"),
        ({"q": "cache", f"grade.{one}": "0"}, "nothing is rated above 0"),
        ({"q": "cache", f"grade.{foreign}": "3"}, "nothing is rated above 0"),
        ({"q": "", f"grade.{one}": "3"}, "is empty"),
        ({"q": "cache", "set": "../x", f"grade.{one}": "3"}, "no name for a set"),
    ):
        answer = owner.post("/rate", data=data, headers=HERE)
        assert answer.status_code == 400
        assert words in answer.text.lower()
    assert rated_questions(store, "rated", namespace="default") == ()


@pytest.mark.parametrize("path", ["/xray?q={}", "/rate?q={}", "/?q=x&namespace={}"])
def test_no_payload_adds_a_tag_to_a_page(owner: TestClient, path: str) -> None:
    from urllib.parse import quote

    for payload in PAYLOADS:
        found = Tags(owner.get(path.format(quote(payload, safe=""))).text)
        assert found.running == [], payload
        assert not {"img", "iframe", "object", "embed", "base", "math", "style"} & set(found.tags), payload


def test_what_is_wrong_is_told_with_what_would_be_right(owner: TestClient) -> None:
    for path, status, words in (
        ("/?q=x&kind=nonsense", 400, "use one of: fact, decision"),
        ("/?q=x&limit=0", 400, "limit: expected `int` &gt;= 1, not"),
        ("/sandbox?q=x&preset=none", 400, "use one of: default"),
        ("/memories/nowhere", 404, "no memory"),
        ("/snapshots/nowhere", 404, "no recorded recall"),
        ("/vault?vault=none", 404, "no vault"),
        ("/xray/download?q=x&format=pdf", 400, "use one of"),
    ):
        answer = owner.get(path)
        assert answer.status_code == status, path
        assert words in answer.text.lower(), path


@pytest.mark.parametrize("number", ["", "0", "-1", "x", "1e9", "9" * 6_000, "٣"])
def test_an_odd_number_in_the_address_is_no_fault(owner: TestClient, store: Engine, number: str) -> None:
    one = store.recall(store.recalls.query("cache")).results[0].memory.id
    for path in (f"/timeline/{one}?around={number}", f"/vault?page={number}"):
        assert owner.get(path).status_code == 200


def test_a_backend_fault_is_told_without_its_inside(store: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("password of the database")

    monkeypatch.setattr(store.maintenance, "survey", broken)
    answer = client(store, Caller(home="default")).get("/stats")
    assert answer.status_code == 500
    assert "password" not in answer.text


def test_what_is_sent_goes_to_few_addresses_and_everything_else_only_looks() -> None:
    sent = [route.path for route in routes() if "POST" in route.methods]
    assert sent == [
        "/rate", "/memories/{id}/{action}", "/review", "/forget", "/undo", "/sign-in", "/sign-out",
    ]  # fmt: skip


def test_the_verdict_says_what_disputes_the_answer(engine: Engine) -> None:
    engine.remember("The ramp lift carries 1,800 kilograms")
    engine.remember("The ramp lift carries only 1,200 kilograms", dedupe=False)
    engine.relate(*(memory.id for memory in map(engine.get, ("m2", "m1"))), "CONTRADICTS")
    with TestClient(site(engine)) as page:
        text = page.get("/?q=how+much+does+the+ramp+lift+carry").text
    verdict = text.partition('aria-label="The answer"')[2].partition("</section>")[0]
    assert re.search(r'! disputed by <a href="/memories/m[12]">m[12]</a>', verdict), verdict
    assert "disputed by m" in text.partition("</section>")[2]


def test_every_part_of_a_score_has_a_colour_of_its_own() -> None:
    sheet = (files("recallens.web") / "static" / "parts.css").read_text("utf-8")
    light = sheet[: sheet.index("@media")]
    colours = dict(re.findall(r"--p-(\w+): (#\w+);", light))
    assert set(WORDS) <= colours.keys() & set(re.findall(r"\.part-(\w+) \{ fill: var\(--p-\1\); \}", light))
    assert len(set(colours.values())) == len(colours)


# ── looking after ──


def sent(page: TestClient, path: str, **form: str) -> Response:
    return page.post(path, data=form, headers={"origin": "http://testserver"}, follow_redirects=True)


def test_a_token_proposes_what_it_may_not_change(store: Engine) -> None:
    agent = Caller(Right.WRITE, frozenset({"default"}), owner="t1")
    with client(store, agent) as page:
        answer = sent(page, "/memories/m1/forget")
        assert "nothing is changed before the person at the machine accepts it" in answer.text
        assert "Undo" not in answer.text
        for path, form in (
            ("/undo", {}), ("/memories/m1/pin", {"pinned": "yes"}), ("/memories/m1/until", {"until": "2031-01-01"}),
            ("/review", {"id": "p1", "decision": "approve"}),
        ):  # fmt: skip
            assert sent(page, path, **form).status_code == 403, path
    assert store.get("m1").status == "active"
    assert len(store.memories.proposals()) == 1


def test_who_only_reads_sees_no_form_and_changes_nothing(store: Engine) -> None:
    with client(store, Caller(Right.READ, frozenset({"default"}), owner="t1")) as page:
        assert "Look after it" not in page.get("/memories/m1").text
        for path in ("/memories/m1/forget", "/forget", "/undo", "/review"):
            assert sent(page, path).status_code == 403, path


def test_a_withheld_memory_is_not_shown_in_a_form(store: Engine) -> None:
    hidden = store.remember("The board's rent is 4711", scopes=("board",)).id
    with client(store, Caller(Right.WRITE, frozenset({"default"}), owner="t1")) as page:
        text = page.get(f"/memories/{hidden}").text
        assert "4711" not in text
        assert "Look after it" not in text
        assert "4711" not in sent(page, f"/memories/{hidden}/edit", content="").text


def test_of_a_topic_only_what_names_it_is_ticked(owner: TestClient, store: Engine) -> None:
    named = store.remember("The ferry to Bergen leaves at nine").id
    related = store.remember("The ferry to Oslo leaves at eight").id
    shown = unescape(owner.get("/forget", params={"q": "the ferry to Bergen"}).text)
    assert re.search(rf'name="memory.{named}" value="yes" checked>.*names ferry, Bergen', shown)
    assert re.search(rf'name="memory.{related}" value="yes">.*only related: does not say Bergen', shown)
    assert {store.get(id).status for id in (named, related)} == {"active"}


def test_a_form_of_another_site_changes_nothing(owner: TestClient, store: Engine) -> None:
    answer = owner.post("/memories/m1/forget", headers={"origin": "https://evil.example"})
    assert answer.status_code == 403
    assert store.get("m1").status == "active"


@pytest.mark.parametrize("path", ["/memories/m1/explode", "/memories/m1/relate", "/memories/m1/until", "/forget"])
def test_a_wrong_form_is_told_what_is_wrong(owner: TestClient, path: str) -> None:
    assert sent(owner, path, until="whenever", other="").status_code == 400


def test_the_first_command_of_the_empty_page_runs(engine: Engine, tmp_path: Path) -> None:
    with TestClient(site(engine)) as page:
        shown = unescape(page.get("/").text.partition("<pre><code>")[2].partition("</code>")[0])
    (first, _, asked), at = (
        (shlex.split(line)[1:] for line in shown.splitlines()),
        ["--store", str(tmp_path / "new.db")],
    )
    quiet = {"RECALLENS_ENCODER": "hashing"}
    done = CliRunner().invoke(main, [*at, *first], env=quiet)
    assert (first[0], done.exit_code, done.output.split()[-2:]) == ("remember", 0, ["remembered", "m1"])
    assert "60 seconds" in CliRunner().invoke(main, [*at, *asked], env=quiet).output
