"""The X-ray on the command line: the renderer's bytes, the specified validation, files that are whole or not there."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest
from cli_scene import EXAMPLES, Ask, Remember, Run, spawn
from click.testing import CliRunner

from recallens.cli.files import changed_files
from recallens.cli.main import main
from recallens.engine import Engine
from recallens.errors import InvalidInput
from recallens.model.terms import WEIGHABLE, WORDS, plain
from recallens.render import FORMATS, render, writers

NOW = "2026-09-02"
NOW_MS = 1_788_307_200_000


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stages take no time: what is measured is all that may differ between two equal recalls."""
    monkeypatch.setattr("recallens.recall.runner.perf_counter_ns", lambda: 0)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sample in a store; every scene has a copy of it."""
    folder = tmp_path_factory.mktemp("sample")
    words = ["--store", str(folder / "store.db"), "remember", "--jsonl", str(EXAMPLES)]
    assert CliRunner().invoke(main, words, env={"RECALLENS_ENCODER": "hashing"}).exit_code == 0
    return folder


@pytest.fixture
def sample(loaded: Path, store: Path) -> Path:
    shutil.copytree(loaded, store.parent)
    return store


def test_the_formats_are_the_renderers() -> None:
    assert ("brief", *writers()) == tuple(FORMATS)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("query", ["How long do we cache tracking lookups now?", "나루물류요청한도"])
def test_what_is_printed_is_what_is_rendered(run: Run, sample: Path, still: None, format: str, query: str) -> None:
    options = ["-k", "3", "--now", NOW, "--session", "s-1", "--trace-id", "t-1"]
    printed = run("xray", query, "--format", format, *options).stdout
    with Engine.open(sample, create=False) as engine:
        rendered = render(engine.xray(query, limit=3, now=NOW_MS, session="s-1", trace_id="t-1"), format)
    assert printed == rendered + "\n"
    assert query in printed
    assert "\x1b" not in printed


@pytest.mark.parametrize("format", FORMATS)
def test_explain_gives_the_recorded_recall_byte_for_byte(run: Run, sample: Path, format: str) -> None:
    first = run("search", "나루물류 요청 한도", "--session", "s-1", "-k", "3", "--xray", format).stdout
    assert run("explain", "--session", "s-1", "--format", format).stdout == first
    assert run("explain", "--session", "s-1", "--format", format).stdout == first
    with Engine.open(sample, create=False) as engine:
        assert render(engine.recalls.last("s-1"), format) + "\n" == first


def test_the_short_form_is_the_default_and_json_is_a_format(run: Run, ask: Ask, sample: Path) -> None:
    shown = run("xray", "cache", "--now", NOW).stdout
    assert shown.startswith("X-ray: cache\n")
    assert shown == run("xray", "cache", "--now", NOW, "--format", "brief").stdout
    assert len(shown.splitlines()) <= 40
    text = run("xray", "cache", "--now", NOW, "--format", "text").stdout
    assert text.startswith("=== Recall X-ray ===\nquery: cache\n")
    assert ask("xray", "cache")["snapshotFound"] is True
    assert json.loads(run("xray", "cache", "--format", "json").stdout)["snapshot"]["schemaVersion"] == "1"
    assert "give one of the two" in run("xray", "cache", "--json", "--format", "html", code=2).stderr


def test_long_lines_are_not_wrapped(run: Run, sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert max(map(len, run("xray", "cache", "--format", "text").stdout.splitlines())) > 200


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ([], "--format brief|text|markdown|json|html"),
        ([""], "--budget CHARS"),
        (["  \t "], "the query is empty"),
        (["x", "--format", "yaml"], "unknown format 'yaml'; use one of: brief, text, markdown, json, html"),
        (["x", "--format", ""], "use one of: brief, text, markdown, json, html"),
        (["x", "--budget", "0"], "budget must be a positive whole number of characters, not '0'"),
        (["x", "--budget", "-5"], "not '-5'; for example --budget 8192"),
        (["x", "--budget", "many"], "not 'many'"),
        (["x", "--budget", "1.5"], "not '1.5'"),
        (["x", "--budget", "1_000"], "not '1_000'"),
        (["x", "--budget", ""], "positive whole number"),
        (["x", "--tokens", "0"], "tokens must be a positive whole number of tokens, not '0'; for example --tokens"),
        (["x", "--weight", "bm25"], "use NAME=FACTOR, where NAME is one of: vector, bm25"),
        (["x", "--weight", "magic=2"], "unknown part of the score 'magic'; use one of: vector, bm25"),
        (["x", "--weight", "bm25=-1"], "a number from 0, not '-1'"),
        (["x", "--weight", "bm25=nan"], "a number from 0, not 'nan'"),
        (["x", "--diff", "nowhere.diff"], "cannot read nowhere.diff"),
        (["x", "--preset", "best"], "use one of: default, fusion, classic"),
        (["x", "--out", "."], "--out '.' is a folder"),
        (["x", "--out", "no/such/folder/x.txt"], "there is no folder"),
        (["x", "--out", "~nobody-here/x"], "is no path"),
        (["x", "--out", ""], "is a folder"),
        (["x", "--ledger", "."], "--ledger '.' is a folder"),
        (["x", "--ledger", "same", "--out", "./same"], "name the same file"),
    ],
)
def test_wrong_input_lists_what_would_be_right(run: Run, home: Path, args: list[str], told: str) -> None:
    run("init")
    failed = run("xray", *args, code=2)
    assert failed.stdout == ""
    assert told in failed.stderr
    record = json.loads(run("xray", *args, "--json", code=2).stderr)["error"]
    assert told in record["message"] + record.get("hint", "")
    assert not list(home.glob("*.part"))


def test_wrong_input_is_told_before_a_missing_store(run: Run) -> None:
    run("xray", code=2)
    run("xray", "x", "--format", "yaml", code=2)
    for command in (["xray", "x"], ["explain"], ["why-not", "ABCDEF", "x"], ["replay", "x"], ["diff", "x", "y"],
                    ["audit", "verify"], ["audit", "list"], ["audit", "anomalies"]):  # fmt: skip
        assert "Run `recallens init`" in run(*command, code=3).stderr


def test_an_empty_store(run: Run, ask: Ask) -> None:
    run("init")
    for args in ([], ["--namespace", "other"]):
        assert "Nothing here answers this." in run("xray", "anything", *args).stdout
        shown = run("xray", "anything", *args, "--format", "text").stdout
        assert "--- results ---\n(none)" in shown
        assert ask("xray", "anything", "--sensitivity", *args)["sensitivity"] == []
    assert "--- sensitivity ---\n(none)" in run("xray", "x", "--sensitivity", "--format", "text").stdout


# ── files ──


def test_out_expands_the_home_folder_and_replaces_whole(
    run: Run, remember: Remember, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember("나루물류의 요청 한도는 초당 50건이다")
    monkeypatch.setenv("HOME", str(home))
    done = run("xray", "나루물류", "--format", "html", "--out", "~/xray.html")
    assert done.stdout == ""
    assert f"wrote {home / 'xray.html'}" in done.stderr
    written = (home / "xray.html").read_text(encoding="utf-8")
    assert "나루물류" in written
    assert written.endswith("\n")
    (home / "xray.html").chmod(0o640)
    (home / "link").symlink_to(home / "xray.html")
    quiet = run("xray", "나루물류", "--json", "--out", "link")
    assert quiet.output == ""
    assert json.loads((home / "xray.html").read_text(encoding="utf-8"))["snapshotFound"] is True
    assert (home / "link").is_symlink()
    assert stat.S_IMODE((home / "xray.html").stat().st_mode) == 0o640
    assert not [path for path in home.iterdir() if path.name.endswith(".part")]


def test_out_to_a_device_is_written_to_and_not_replaced(remember: Remember) -> None:
    remember("The broker is RabbitMQ")
    shown = spawn("xray", "broker", "--out", "/dev/stdout")
    assert shown.stdout.startswith("X-ray: broker\n")


def test_a_folder_or_a_missing_one_is_refused_and_nothing_is_made(run: Run, remember: Remember, home: Path) -> None:
    remember("The broker is RabbitMQ")
    (home / "folder").mkdir()
    assert "Give a file, for example --out folder/xray.txt" in run("xray", "x", "--out", "folder", code=2).stderr
    run("xray", "x", "--out", "new/xray.txt", code=2)
    assert not (home / "new").exists()
    assert list((home / "folder").iterdir()) == []


def test_the_ledger_holds_the_decisions(run: Run, remember: Remember, home: Path) -> None:
    id = remember("The broker is RabbitMQ")
    run("xray", "broker", "--ledger", "l.json", "--now", NOW)
    record = json.loads((home / "l.json").read_text(encoding="utf-8"))
    assert record["query"]["text"] == "broker"
    assert id in json.dumps(record["entries"])
    assert record["digest"] in run("xray", "broker", "--now", NOW, "--format", "text").stdout


# ── what is asked ──


def test_options_reach_the_recall(run: Run, ask: Ask, remember: Remember) -> None:
    long = remember("The broker is RabbitMQ " + "and it is long " * 40, "--project", "api")
    short = remember("The broker port is 5672", "--project", "web")
    private = remember("The broker password rotates", "--scope", "do-not-use-outside-this-context")

    def ids(*options: str) -> list[str]:
        return [result["memoryId"] for result in ask("xray", "broker", *options)["snapshot"]["results"]]

    assert set(ids()) == {long, short}
    assert private in ids("--scope", "do-not-use-outside-this-context")
    assert ids("--budget", "200") == [short]
    assert ids("--tokens", "60") == [short]
    assert ids("--project", "web") == [short]
    assert ids("-k", "1") == ids("--limit", "1")
    asked = ask("xray", "broker", "--budget", "200", "--session", "s-1", "--namespace", "default", "--trace-id", "t")
    budget = asked["snapshot"]["budget"]
    assert (budget["chars"], asked["snapshot"]["sessionKey"], asked["snapshot"]["traceId"]) == (200, "s-1", "t")
    assert 0 < budget["used"] <= 200


def test_a_weight_of_zero_means_zero(ask: Ask, remember: Remember) -> None:
    remember("The broker is RabbitMQ")
    remember("Apples are red")

    def score(*options: str) -> dict[str, float]:
        found: dict[str, float] = ask("xray", "broker", "--now", NOW, *options)["snapshot"]["results"][0][
            "scoreDecomposition"
        ]
        return found

    plain_score, doubled = score(), score("--weight", "bm25=2", "--weight", "importance=0")
    assert doubled["bm25"] == pytest.approx(2 * plain_score["bm25"])
    assert doubled["importance"] == 0
    for name in WEIGHABLE:
        score("--weight", f"{name}=1.5")


def test_search_takes_the_same_and_shows_the_x_ray_of_that_very_recall(run: Run, ask: Ask, remember: Remember) -> None:
    remember("The broker is RabbitMQ " + "and it is long " * 40)
    short = remember("The broker port is 5672")
    found = ask("search", "broker", "--budget", "200", "--weight", "bm25=2", "--scope", "work", "--files", "a.py")
    assert [result["memory"]["id"] for result in found["results"]] == [short]
    shown = run("search", "broker", "--budget", "200", "--xray").stdout
    assert shown.startswith("X-ray: broker\n")
    shown = run("search", "broker", "--budget", "200", "--xray", "text").stdout
    assert "audit-entry: audit-" in shown
    assert shown == run("explain", "--format", "text").stdout
    assert ask("search", "broker", "--tokens", "60", "--xray")["snapshotFound"] is True
    assert "audit-entry" not in run("search", "broker", "--xray", "markdown", "--no-record").stdout
    assert "# Recall X-ray" in run("search", "broker", "--xray=markdown").stdout
    wrong = run("search", "--xray", "broker", code=2)
    assert "unknown format 'broker'; use one of: brief, text" in wrong.stderr
    assert "--xray=brief" in wrong.stderr


def test_explain_without_a_recorded_search(run: Run, ask: Ask, remember: Remember) -> None:
    remember("The broker is RabbitMQ")
    run("search", "broker")
    missing = run("explain", "--session", "s-7", code=3)
    assert "no recorded search of session 's-7'" in missing.stderr
    assert 'recallens search "…" --session s-7' in missing.stderr
    assert ask("explain", "--session", "s-7") == {"snapshotFound": False}
    assert json.loads(run("explain", "--session", "s-7", "--format", "json").stdout) == {"snapshotFound": False}
    assert "X-ray: broker" in run("explain").stdout
    run("search", "broker", "--session", "s-7")
    assert ask("explain", "--session", "s-7")["snapshot"]["sessionKey"] == "s-7"


def test_explain_takes_the_session_that_is_set(run: Run, remember: Remember, monkeypatch: pytest.MonkeyPatch) -> None:
    remember("The broker is RabbitMQ")
    monkeypatch.setenv("RECALLENS_SESSION", "s-env")
    run("search", "broker")
    assert "session: s-env" in run("explain", "--format", "text").stdout


@pytest.mark.parametrize("format", FORMATS)
def test_sensitivity_is_one_sentence_a_result(run: Run, sample: Path, still: None, format: str) -> None:
    asked = ["xray", "E-AUTH-4012", "-k", "2", "--all", "--now", NOW, "--format", format]
    without, shown = run(*asked).stdout, run(*asked, "--sensitivity").stdout
    assert len(re.findall(r"1st because of|1st: no single", shown)) == 1
    assert "1st" not in without
    if format == "json":
        record = json.loads(shown)
        assert list(record) == ["snapshotFound", "snapshot", "sensitivity"]
        assert [one["rank"] for one in record["sensitivity"]] == [1, 2]
        assert record["snapshot"] == json.loads(without)["snapshot"]
    if format == "text":
        assert shown.startswith(without)


# ── files under review ──

DIFF = """\
diff --git a/src/harbor/cache.py b/src/harbor/cache.py
--- a/src/harbor/cache.py\t2026-09-01 10:00
+++ b/src/harbor/cache.py
@@ -1,3 +1,3 @@
 SELECT 1
--- a comment of SQL, not a file
+++ b/neither.py
 done
diff --git a/new.py b/new.py
--- /dev/null
+++ b/new.py
@@ -0,0 +1 @@
+x
diff --git "a/docs/\\355\\225\\234.md" "b/docs/\\355\\225\\234.md"
--- "a/docs/\\355\\225\\234.md"
+++ "b/docs/\\355\\225\\234.md"
@@ -1 +1 @@
-a
+b
rename from old/name.py
rename to name.py
"""


def test_the_files_of_a_diff(home: Path) -> None:
    (home / "c.diff").write_text(DIFF)
    assert changed_files("c.diff") == ["src/harbor/cache.py", "new.py", "docs/한.md", "old/name.py", "name.py"]
    (home / "empty.diff").write_text("\n")
    assert changed_files("empty.diff") == []
    (home / "letter.txt").write_text("Dear all,\n")
    with pytest.raises(InvalidInput, match=r"letter\.txt names no file"):
        changed_files("letter.txt")


def test_a_change_brings_what_is_known_of_its_files(run: Run, ask: Ask, remember: Remember) -> None:
    about = remember("Never widen the key in src/harbor/cache.py", "--cite", "file:src/harbor/cache.py:1-9")
    for options, stdin in ((["--files", "src/harbor/cache.py"], None), (["--diff", "-"], DIFF)):
        shown = run("xray", "what to mind", *options, "--format", "text", input=stdin).stdout
        assert f"{about} — served-by=review-context" in shown
        found = json.loads(run("search", "what to mind", *options, "--json", input=stdin).stdout)
        assert "review-context" in found["results"][0]["views"]


# ── why a memory came, in words ──


def test_every_part_of_a_score_has_a_plain_word(ask: Ask, sample: Path) -> None:
    parts: set[str] = set()
    for options in ([], ["--preset", "classic"], ["--include-superseded"], ["--files", "src/harbor/cache.py"]):
        for query in ("How long do we cache tracking lookups now?", "E-AUTH-4012", "how to deploy"):
            for result in ask("search", query, *options)["results"]:
                parts |= result["parts"].keys()
    assert parts <= WORDS.keys()
    assert {"vector", "bm25", "symbolic", "graph", "tierPrior", "mmrPenalty", "sectorBoost"} <= parts


def test_the_why_line_is_in_words(run: Run, sample: Path) -> None:
    shown = run("search", "How long do we cache tracking lookups now?", "--now", NOW, "--why").stdout
    assert "meaning" in shown
    assert "words" in shown
    assert "− repetition" in shown
    assert not re.search(r"why:[^█]*(vector|bm25|mmr|prior)", shown)
    assert plain("reinforcementBoost") == "reinforcement"
    assert plain("somethingNew") == "something new"


# ── why it did not come ──


def confirmed(run: Run, id: str, record: dict[str, Any]) -> list[str]:
    """Run the command that was suggested; gives its words."""
    words = shlex.split(record["command"])
    assert words[0] == "recallens"
    shown = json.loads(run("--json", *words[1:]).stdout)["snapshot"]["results"]
    assert shown[record["change"]["rank"] - 1]["memoryId"] == id
    return words


@pytest.mark.parametrize(
    ("options", "blocker", "added"),
    [
        (["--project", "web"], "project", None),
        (["--kind", "skill"], "kind", None),
        (["--tag", "red", "--tag", "green"], "tags", None),
        (["--min-salience", "1"], "min-salience", None),
        (["--documents", "only"], "documents", None),
        (["-k", "1"], "mmr-diversify", "-k"),
        (["--budget", "120"], "budget-fit", "--budget"),
        (["--tokens", "45"], "budget-fit", "--tokens"),
        (["--as-of", "2020-01-01"], "validity", None),
    ],
)
def test_why_not_gives_the_command_that_brings_it_in(
    run: Run, ask: Ask, remember: Remember, options: list[str], blocker: str, added: str | None
) -> None:
    remember("브로커 포트는 5672", "--project", "web", "--kind", "skill", "--tag", "red", "--tag", "green")
    text = "The broker, 브로커, is RabbitMQ, and it stands in the cellar of the depot"
    id = remember(text, "--project", "api", "--kind", "fact")
    asked = ["why-not", id[:20], "브로커 포트", "5672", "--all", *options]
    record = ask(*asked)
    assert record["outcome"] == "kept-out"
    assert blocker in [one["name"] for one in record["blockers"]]
    words = confirmed(run, id, record)
    assert added is None or added in words
    shown = run(*asked).stdout
    assert record["sentence"].replace(id, "m2") in shown
    assert f"- {blocker} (in " in shown
    assert re.search(rf"as running it has confirmed:\n  {re.escape(record['command'])}\n", shown)


def test_why_not_leaves_out_what_a_setting_named(
    run: Run, ask: Ask, remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = remember("The broker is RabbitMQ", "--project", "api", "--namespace", "team")
    monkeypatch.setenv("RECALLENS_PROJECT", "web")
    asked = ["--json", "why-not", id, "--namespace", "team", "--now", NOW, "--", "-broker's"]
    record = json.loads(run(*asked).stdout)
    assert "--project ''" in record["command"]
    assert record["command"].endswith("-- '-broker'\"'\"'s'")
    words = confirmed(run, id, record)
    assert {"--namespace", "--now"} <= set(words)


def test_why_not_of_what_is_there_unknown_or_beyond_a_query(run: Run, ask: Ask, remember: Remember) -> None:
    id = remember("The broker is RabbitMQ")
    assert ask("why-not", id, "broker") == {
        "outcome": "returned", "memoryId": id, "rank": 1, "sentence": f"{id} is in the results already: it is 1st.",
    }  # fmt: skip
    assert run("why-not", id, "broker").stdout == "m1 is in the results already: it is 1st.\n"
    assert "no memory '01AAAAAAAAAAAAAAAAAAAAAAAA'" in run("why-not", "01AAAAAAAAAAAAAAAAAAAAAAAA", "x", code=3).stderr
    assert "the query is empty" in run("why-not", id, code=2).stderr
    assert "Usage: recallens why-not" in run("why-not", id, " ", code=2).stderr
    run("forget", id)
    shown = run("why-not", id, "broker").stdout
    assert "No change to the query brings it in. `recallens restore m1` " in shown
    assert "confirmed" not in shown
    run("init", "--namespace", "bare")
    run("why-not", id, "broker", "--namespace", "bare", code=3)


def test_why_not_says_by_how_much(run: Run, sample: Path, ask: Ask) -> None:
    found = ask("search", "배포 절차", "--all", "-k", "2", "--no-record", "--now", NOW)["results"]
    other = ask("xray", "배포 절차", "--all", "-k", "1", "--now", NOW)["snapshot"]["nearMisses"][0]["memoryId"]
    shown = run("why-not", other, "배포 절차", "--all", "-k", "1", "--now", NOW).stdout
    assert len(found) == 2
    assert "missed by:\n- rank: by its score it would be" in shown


def test_an_xray_within_a_budget_is_that_of_the_search(run: Run, remember: Remember) -> None:
    remember("The ramp lift carries 1,800 kilograms according to its plate")
    remember("The ramp lift carries only 1,200 kilograms, says the report of the inspector")
    asked = ("how much can the ramp lift carry", "--all")
    for budget in (120, 250, 400, 800):
        found = run("search", *asked, "--no-record", "--budget", str(budget)).stdout
        shown = run("xray", *asked, "--budget", str(budget)).stdout
        assert [f" {at} m" in shown for at in (1, 2)] == [f"{at}  m" in found for at in (1, 2)]
    none = run("xray", *asked, "--tokens", "10").stdout
    assert "What answers this does not fit the budget" in none
    assert "Nothing here" not in none
    assert "Missing" not in none


def test_without_capture_every_way_to_an_xray_says_that_there_is_none(
    run: Run, remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember("Lookups are cached for 60 seconds")
    monkeypatch.setenv("RECALLENS_CAPTURE", "off")
    for words in (["xray", "lookups"], ["explain"], ["search", "lookups", "--xray"]):
        assert run(*words).stdout == "no X-ray: the setting `capture` is off\n"
        assert json.loads(run(*words, "--json").stdout) == {"snapshotFound": False}
    monkeypatch.delenv("RECALLENS_CAPTURE")
    assert json.loads(run("explain", "--json").stdout) == {"snapshotFound": False}
