"""Whether every answer that has a budget of tokens holds to it, by the bytes that are sent.

    python bench/context.py [--runs 1000] [--seed 1]

A store of the sample's memories, longer notes made of them (100 to 400 tokens) and the sample's vault; in each run a
task and a budget by chance, asked of `begin_work`, `get_context` and `retrieve`, as the text that MCP sends and as the
JSON that HTTP and --json send. Counted are o200k tokens. A budget that is too small for any answer must be refused.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recallens import Draft, Engine
from recallens.errors import InvalidInput
from recallens.mcp.calls import CallContext, Offer, local_caller
from recallens.mcp.protocol import result_of
from recallens.mcp.tools import full_tools
from recallens.operations import OPERATIONS, perform
from recallens.text.token_count import count_tokens

EXAMPLES = Path(__file__).parent.parent / "examples"
LONG_NOTES = 120
ELSEWHERE = (
    "how to bake bread",
    "plan a wedding in Busan",
    "빵을 굽는 방법",
    "고양이 사료 추천",
    "who won the match last night",
)
# Text is sent by MCP, JSON by HTTP and the command.
OPERATION = {"begin_work": "tokens", "get_context": "tokens", "retrieve": "contextBudget"}


def fill(engine: Engine, seed: int) -> list[str]:
    """What was remembered: short and long, English and Korean, principles, skills and gotchas among it."""
    rows = [json.loads(line) for line in (EXAMPLES / "memories.jsonl").read_text("utf-8").splitlines() if line.strip()]
    chosen = random.Random(seed)
    drafts = [
        Draft(row["content"], kind=row.get("kind"), project=row.get("project"), title=row.get("title"))
        for row in rows
        if row.get("content")
    ]
    texts = [draft.content for draft in drafts]
    notes = ["\n\n".join(chosen.sample(texts, chosen.randint(2, 6))) for _ in range(LONG_NOTES)]
    engine.memories.remember_many([*drafts, *map(Draft, notes)], dedupe=False)
    for path in sorted((EXAMPLES / "vault").rglob("*.md")):
        engine.memories.add_document(path.read_text("utf-8"), path=str(path.relative_to(EXAMPLES)))
    engine.encoder.drain()
    return texts


def task_of(chosen: random.Random, texts: list[str]) -> str:
    if chosen.random() < 0.15:
        return chosen.choice(ELSEWHERE)
    words = chosen.choice(texts).split()
    at = chosen.randrange(max(1, len(words) - 8))
    return " ".join(words[at : at + chosen.randint(3, 14)])


def runs(engine: Engine, texts: list[str], count: int, seed: int) -> Iterator[dict[str, Any]]:
    chosen = random.Random(seed)
    caller = local_caller(engine.core.settings)
    offer = Offer(lambda: engine, lambda engine, request: caller, full_tools())
    for number in range(count):
        name = chosen.choice(list(OPERATION))
        form = chosen.choice(("text", "json"))
        budget = round(100 * 80 ** chosen.random())  # from 100 to 8,000, small ones as often as large ones
        text = task_of(chosen, texts)
        asked = {"query" if name == "retrieve" else "task": text, OPERATION[name]: budget, "format": form}
        began = time.perf_counter()
        try:
            if form == "text":
                result = result_of(offer, "tools/call", {"name": name, "arguments": asked}, CallContext())
                sent = result["content"][0]["text"]
                refused = bool(result.get("isError"))
            else:
                sent, refused = perform(OPERATIONS[name], engine, caller, asked).text, False
        except InvalidInput as error:
            sent, refused = error.message, True
        yield {
            "run": number, "operation": name, "format": form, "budget": budget, "refused": refused,
            "sent": count_tokens(sent), "seconds": time.perf_counter() - began,
        }  # fmt: skip


def measured(count: int, seed: int, encoder: str = "minilm") -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder, Engine.open(Path(folder) / "store.db", encoder=encoder) as engine:
        found = list(runs(engine, fill(engine, seed), count, seed))
    answered = [run for run in found if not run["refused"]]
    over = [run for run in answered if run["sent"] > run["budget"]]
    return {
        "runs": count,
        "over": len(over),
        "worst": max((run["sent"] / run["budget"] for run in answered), default=0.0),
        "refused": len(found) - len(answered),
        "largestRefused": max((run["budget"] for run in found if run["refused"]), default=0),
        "medianUse": statistics.median(run["sent"] / run["budget"] for run in answered),
        "medianSeconds": statistics.median(run["seconds"] for run in found),
        "overBudget": over[:10],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(json.dumps(measured(given.runs, given.seed), indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
