"""Two languages of one documentation as one vault: the Korean page for a Korean question, else the English one."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from made import made_once
from recallens import Engine
from recallens.index.encoders.minilm import MiniLMEncoder
from recallens.model.citation import FileCitation

pytestmark = [pytest.mark.data, pytest.mark.timeout(600)]

DATA = os.environ.get("RECALLENS_EVAL_DATA")
KOREAN = {
    "조건부 렌더링": "learn/conditional-rendering.md",
    "이벤트 핸들러 추가하기": "learn/responding-to-events.md",
    "Context로 데이터를 깊게 전달하기": "learn/passing-data-deeply-with-context.md",
    "리스트 렌더링에서 key가 필요한 이유": "learn/rendering-lists.md",
    "컴포넌트를 순수하게 유지하기": "learn/keeping-components-pure.md",
    "state를 스냅샷으로 이해하기": "learn/state-as-a-snapshot.md",
}
# Their Korean pages are taken away, so that only English has them.
ENGLISH_ONLY = {
    "createPortal 사용법": "reference/react-dom/createPortal.md",
    "useOptimistic 훅은 무엇인가요": "reference/react/useOptimistic.md",
    "useDebugValue 훅 사용하기": "reference/react/useDebugValue.md",
}
# Of the other pages one in so many is there, since each of their sections has a vector of either encoder.
EVERY = 9


def fill(folder: Path, encoder: MiniLMEncoder) -> None:
    pages, asked = folder / "pages", {*KOREAN.values(), *ENGLISH_ONLY.values()}
    for name in ("react-en", "react-ko"):
        with tarfile.open(Path(str(DATA)) / "vaults" / f"{name}.tar.gz") as archive:
            archive.extractall(pages, filter="data")
        content = pages / name / "src" / "content"
        others = [page for page in sorted(content.rglob("*.md")) if str(page.relative_to(content)) not in asked]
        for place, page in enumerate(others):
            if place % EVERY:
                page.unlink()
    for page in ENGLISH_ONLY.values():
        (pages / "react-ko" / "src" / "content" / page).unlink()
    with Engine.open(folder / "store.db", encoder=encoder) as engine:
        engine.vaults.add(pages, name="react")
        engine.vaults.sync("react")
        engine.encoder.drain()
        engine.maintenance.publish()


@pytest.fixture(scope="module")
def react(tmp_path_factory: pytest.TempPathFactory, minilm: MiniLMEncoder) -> Iterator[Engine]:
    if DATA is None:
        pytest.skip("RECALLENS_EVAL_DATA is not set: the vaults of React's pages are not here")
    folder = made_once(tmp_path_factory, "react", lambda folder: fill(folder, minilm))
    with Engine.open(folder / "store.db", encoder=minilm) as engine:
        yield engine


def pages(engine: Engine, question: str) -> list[str]:
    """The files of the results, each once, best first."""
    cited = [result.memory.citations[0] for result in engine.search(question, record=False).results]
    return list(dict.fromkeys(each.path for each in cited if isinstance(each, FileCitation)))


@pytest.mark.parametrize("question", KOREAN)
def test_a_korean_question_finds_the_korean_page_first(react: Engine, question: str) -> None:
    found = pages(react, question)
    assert found[0].startswith("react-ko/")
    assert f"react-ko/src/content/{KOREAN[question]}" in found[:2]  # an overview may have a section about just that


@pytest.mark.parametrize("question", ENGLISH_ONLY)
def test_it_finds_the_english_page_where_only_english_has_it(react: Engine, question: str) -> None:
    assert pages(react, question)[0] == f"react-en/src/content/{ENGLISH_ONLY[question]}"
