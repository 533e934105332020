"""The sample vault is whole, and the questions written for it find their notes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from recallens.cli.main import main
from recallens.engine import Engine
from recallens.ingest.vault.links import Resolver

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"
GOLDEN = yaml.safe_load((EXAMPLES / "vault-golden.yaml").read_text(encoding="utf-8"))
# Measured with the packaged encoder: 0.952. One question more or less is about 0.02.
LEAST_RECALL = "recall@5=0.92"


@pytest.fixture(scope="module")
def harbor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    # By name, so that the store knows its encoder and the command can open it too.
    engine = Engine.open(tmp_path_factory.mktemp("vault") / "store.db", encoder="minilm")
    engine.vaults.add(EXAMPLES / "vault", "harbor")
    engine.vaults.sync("harbor")
    engine.encoder.drain()
    yield engine
    engine.close()


def test_the_sample_is_read_without_a_problem(harbor: Engine) -> None:
    (again,) = harbor.vaults.sync("harbor").vaults
    assert (again.errors, again.skipped) == ((), ())
    assert again.unchanged >= 60
    files, sections = harbor.vaults.counts()["harbor"]
    assert sections > files
    vault = harbor.vaults.get("harbor").id
    with harbor.core.store.read("default") as reader:
        known = {file.path for file in reader.vaults.files(vault)}
        links = reader.vaults.links(vault)
    assert not {path for path in known if path.startswith(("conversations/", "sessions/"))}
    resolver = Resolver(known)
    loose = [
        (path, link.target)
        for path, own in links.items()
        for _, _, found in own
        for link in found
        if resolver.resolve(link, path) is None
    ]
    assert loose == []


def test_the_questions_are_enough_in_both_languages_and_name_files_that_exist() -> None:
    korean = [one for one in GOLDEN if any("가" <= letter <= "힣" for letter in one["query"])]
    assert len(GOLDEN) >= 45
    assert len(korean) >= 15
    assert [path for one in GOLDEN for path in one["expect"] if not (EXAMPLES / "vault" / path).is_file()] == []


def test_the_questions_find_their_notes(harbor: Engine) -> None:
    asked = ["--store", harbor.core.store.location, "eval", str(EXAMPLES / "vault-golden.yaml"), "--min", LEAST_RECALL]
    shown = CliRunner().invoke(main, [*asked, "--json"])
    run, gates = (json.loads(line) for line in shown.stdout.splitlines())
    assert shown.exit_code == 0, (run["metrics"], shown.stderr)
    assert gates["passed"]
    assert run["queries"] == len(GOLDEN)
    assert run["encoder"].startswith("all-MiniLM-L6-v2-int8")
    assert run["byTag"]["korean"]["recall@5"] >= 0.9


def test_the_cards_of_the_sample_are_cards(harbor: Engine) -> None:
    with harbor.core.store.read("default") as reader:
        state = reader.state
        assert state is not None
        memories = reader.memories.get(reader.memories.numbers()).values()
    kinds = {str(memory.attributes["path"]).split("/")[0]: memory.attributes.get("lessonKind") for memory in memories}
    assert (kinds["lessons"], kinds["교훈"]) == ("lesson", "lesson")
    assert (kinds["playbooks"], kinds["플레이북"], kinds["qa-findings"]) == ("playbook", "playbook", "qa-finding")
    assert {memory.kind for memory in memories if "lessonKind" in memory.attributes} == {"lesson"}
