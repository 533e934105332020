"""Two tiny judged sets, written by the tests: a conversation with haystacks of its own dates, and documents."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

HEADER = "query-id\tunit-id\tgroup-id\tgrade"


def write_set(
    folder: Path,
    *,
    kind: str,
    units: Iterable[Mapping[str, Any]],
    queries: Iterable[Mapping[str, Any]],
    qrels: Sequence[tuple[str, str, str, int]],
    haystacks: Iterable[Mapping[str, Any]] | None = None,
) -> Path:
    folder.mkdir(parents=True)
    (folder / "dataset.json").write_text(json.dumps({"name": folder.name, "kind": kind}), encoding="utf-8")
    write_lines(folder / "units.jsonl.gz", units)
    write_lines(folder / "queries.jsonl.gz", queries)
    if haystacks is not None:
        write_lines(folder / "haystacks.jsonl.gz", haystacks)
    rows = ["\t".join(map(str, row)) for row in qrels]
    (folder / "qrels.tsv").write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    return folder


def write_lines(path: Path, records: Iterable[Any]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for record in records:
            file.write((record if isinstance(record, str) else json.dumps(record, ensure_ascii=False)) + "\n")


def turn(id: str, group: str, position: int, speaker: str, text: str) -> dict[str, Any]:
    return {"id": id, "text": text, "group": group, "position": position, "speaker": speaker, "at": None,
            "title": None, "path": None}  # fmt: skip


def question(id: str, text: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "text": text, "type": None, "at": None, "haystack": None, "answerable": True} | more


def conversation(folder: Path) -> Path:
    """Session `trip` is in both haystacks, two years apart; `cat` only in the first, `dog` only in the second."""
    return write_set(
        folder,
        kind="conversation",
        units=[
            turn("u1", "trip", 0, "Mina", "We took the night train to Lisbon"),
            turn("u2", "trip", 1, "Jon", "The custard tarts there were the best part"),
            turn("u3", "cat", 0, "Mina", "My cat Pixel knocked the router off the shelf"),
            turn("u4", "cat", 1, "Jon", "My cat Pixel knocked the router off the shelf"),
            turn("u5", "dog", 0, "Mina", "새 강아지 이름은 보리입니다"),
        ],
        queries=[
            question("q1", "who took the night train", haystack="h1", type="single", at="2023-06-01T10:00"),
            question("q2", "what knocked the router off", haystack="h1", type="single"),
            question("q3", "강아지 이름", haystack="h2", type="korean"),
            question("q4", "what colour is the bicycle", haystack="h2", type="none", answerable=False),
        ],
        qrels=[("q1", "u1", "trip", 1), ("q2", "u3", "cat", 1), ("q2", "u4", "cat", 1), ("q3", "u5", "dog", 2)],
        haystacks=[
            {"id": "h1", "groups": ["trip", "cat"], "at": ["2023-05-01", "2023-05-02"]},
            {"id": "h2", "groups": ["trip", "dog"], "at": ["2025-05-01", "2025-05-02"]},
        ],
    )


def documents(folder: Path) -> Path:
    texts = {
        "d1": "The ingress controller routes traffic to services",
        "d2": "A service account gives a pod an identity",
        "d3": "파드는 컨테이너를 담는 가장 작은 단위입니다",
    }
    units = [
        {"id": id, "text": text, "group": None, "position": 0, "speaker": None, "at": None, "title": None,
         "path": f"docs/{id}.md"}
        for id, text in texts.items()
    ]  # fmt: skip
    return write_set(
        folder,
        kind="documents",
        units=units,
        queries=[question("q1", "ingress traffic"), question("q2", "컨테이너 단위")],
        qrels=[("q1", "d1", "", 1), ("q1", "d2", "", 1), ("q2", "d3", "", 1)],
    )
