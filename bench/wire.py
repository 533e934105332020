"""What an agent receives for its questions, in the bytes of the MCP server, over a store of this script's own making.

    python bench/wire.py [--questions 120] [--limits 1000] [--encoder minilm] [--seed 7] [--show] [--all]

The store has a long note (100 to 400 tokens, half of them Korean) for each fact of `wire-notes.json`, whose sentence
that answers is known, and short notes around them. It prints the tokens of a result and of an answer, how many of the
notes that were delivered show the sentence that answers, how many short ones are whole, and how often a limit of tokens
was passed. A goal that is missed is an exit code.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from recallens import Draft, Engine
from recallens.text.token_count import TOKENIZER, count_tokens

NOTES = Path(__file__).with_name("wire-notes.json")
SHORT = 60
LONG = (100, 400)
GOALS = {"resultTokens": 60, "answerTokens": 500, "answering": 0.9, "whole": 1.0, "exceeded": 0}
_LINE = re.compile(r"^(m\d+) \S+ \w+.*?: (.*)$")


class Note(NamedTuple):
    text: str
    answer: str = ""
    question: str = ""


class Client:
    """A plain client of the server over its standard input and output."""

    def __init__(self, store: Path) -> None:
        command = [sys.executable, "-m", "recallens", "--store", str(store), "mcp"]
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
        self._number = 0
        opening = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.ask("initialize", opening)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps(message) + "\n")
        self._server.stdin.flush()

    def ask(self, method: str, params: Mapping[str, Any]) -> Any:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self._server.stdout is not None
        for line in self._server.stdout:
            answer = json.loads(line)
            if answer.get("id") == self._number:
                return answer["result"]
        raise SystemExit("the server ended")

    def call(self, tool: str, **arguments: Any) -> str:
        """What is sent for one call: the text, or the structured content as it stands on the wire."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        text = "".join(part["text"] for part in answer["content"])
        if answer.get("isError"):
            raise SystemExit(f"{tool} {arguments}: {text}")
        shape = answer.get("structuredContent")
        if shape is None:
            return text
        assert not text, "both text and structured content were sent"
        return json.dumps(shape, ensure_ascii=False, separators=(",", ":"))

    def close(self) -> None:
        self._server.terminate()
        self._server.wait()


def notes(seed: int, most: int | None = None) -> Iterator[Note]:
    """Long notes with an answer, and short ones about the same things without one."""
    chance = random.Random(seed)
    written = json.loads(NOTES.read_text(encoding="utf-8"))
    for language in written.values():
        for subject, fact, question in language["facts"][:most]:
            size = chance.randint(LONG[0] + 10, LONG[1] - 60)
            lines, filler = [fact], chance.sample(language["filler"], len(language["filler"]))
            while filler and count_tokens(" ".join(lines)) < size:
                lines.insert(chance.randint(0, len(lines)), filler.pop().format(s=subject))
            yield Note(" ".join(lines), fact, question)
            yield Note(f"{chance.choice(language['filler']).format(s=subject)} ({subject})")


def filled(store: Path, written: Sequence[Note], encoder: str) -> dict[str, Note]:
    """The notes by handle."""
    with Engine.open(store, encoder=encoder) as engine:
        drafts = [Draft(note.text, project="bench" if at % 3 else None) for at, note in enumerate(written)]
        kept = [one for batch in engine.memories.remember_many(drafts, dedupe=False) for one in batch]
        handles = [engine.get(one.id).handle for one in kept]
        engine.encoder.drain()
    return dict(zip(handles, written, strict=True))


def measured(client: Client, known: Mapping[str, Note], *, show: bool = False, cut: bool = True) -> dict[str, Any]:
    lines_of, answers = [], []
    delivered = answering = short = whole = 0
    for handle, note in known.items():
        if not note.question:
            continue
        text = client.call("search_memory", query=note.question, cut=cut)
        answers.append(count_tokens(text))
        for line in text.splitlines():
            match = _LINE.match(line)
            if match is None:
                continue
            lines_of.append(count_tokens(line + "\n"))
            named, said = known[match[1]], match[2]
            if count_tokens(named.text) <= SHORT:
                short += 1
                whole += said == named.text
            if match[1] == handle:
                delivered += 1
                answering += note.answer in said
                if show and note.answer not in said:
                    print(f"{note.question}\n  {line}\n  {note.answer}", file=sys.stderr)
    return {
        "questions": len(answers),
        "results": len(lines_of),
        "resultTokens": statistics.median(lines_of or [0]),
        "answerTokens": statistics.median(answers),
        "delivered": delivered,
        "answering": round(answering / max(delivered, 1), 3),
        "whole": round(whole / max(short, 1), 3),
        "short": short,
    }


def exceeded(client: Client, known: Mapping[str, Note], calls: int, seed: int) -> int:
    """How often an answer cost more than it was allowed to, as text and as JSON, at every layer that takes a limit."""
    chance, over = random.Random(seed), 0
    questions = [note.question for note in known.values() if note.question]
    for _ in range(calls):
        cut = chance.random() < 0.5
        limit = chance.choice((chance.randint(1, 60), chance.randint(60, 300), chance.randint(300, 1500)))
        format = chance.choice(("text", "json"))
        if chance.random() < 0.8:
            sent = client.call("search_memory", query=chance.choice(questions), maxTokens=limit, format=format, cut=cut)
        else:
            sent = client.call("get_details", task_id=chance.choice(list(known)), tokens=limit, format=format)
        over += count_tokens(sent) > limit
    return over


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=120)
    parser.add_argument("--limits", type=int, default=1_000)
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--show", action="store_true", help="print what was delivered without its answer")
    parser.add_argument("--all", action="store_true", help="deliver also what is unlikely to help")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store.db"
        known = filled(store, list(notes(given.seed, given.questions // 2)), given.encoder)
        client = Client(store)
        figures = measured(client, known, show=given.show, cut=not given.all)
        figures["exceeded"] = exceeded(client, known, given.limits, given.seed)
        client.close()
    figures |= {"memories": len(known), "limits": given.limits, "tokenizer": TOKENIZER}
    print(json.dumps(figures, indent=2))
    missed = [name for name in ("resultTokens", "answerTokens", "exceeded") if figures[name] > GOALS[name]]
    missed += [name for name in ("answering", "whole") if figures[name] < GOALS[name]]
    if missed:
        raise SystemExit(f"missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
