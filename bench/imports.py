"""What an import costs: files of each program that `recallens import --from NAME` reads, taken in twice, not encoded.

    python bench/imports.py                               100,000 lines of Claude Code in 100 sessions; minutes
    python bench/imports.py --lines 10000 --from all      every importer, one after the other
    python bench/imports.py --from git mem0

`--lines` counts lines of transcripts, messages of conversations, memories, observations and relations, sections and
observations of notes, or commits. Each run is the command in a process of its own: seconds on the clock and of its
processor, and its largest memory. An entry that is imported a second time is an error.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

from corpus import texts

LINES = 100_000
START_MS = 1_770_000_000_000
# Of ten lines of a working session: a question, two answers, three calls of tools and what they gave.
WORK = ("user", "assistant", "call", "result", "assistant", "call", "result", "aside", "call", "result")
# Cursor keeps nothing of what tools gave; Gemini CLI and Claude keep it in the message that called them.
CURSOR = ("user", "assistant", "call", "assistant", "call", "call", "assistant", "call", "assistant", "aside")
GEMINI = ("user", "task", "task", "assistant", "task", "assistant", "aside", "user", "task", "assistant")
CLAUDE = ("user", "assistant", "user", "task")
CHATGPT = ("user", "assistant", "user", "call", "result", "assistant", "user", "aside", "assistant", "user")
SESSION_LINES, CHAT_MESSAGES, TALK_TURNS = 1_000, 50, 10
TALKS, SHARED_TALKS = 50, 5  # of a question of LongMemEval, and of those the ones that the next question has too
NOTE_ENTRIES, FOLDER_NOTES = 5, 100
HUB_SHARE = 0.1  # of a graph's relations, those that begin at the person whom all of it is about
MERGE_EVERY = 20  # commits

Texts = Iterator[str]
Record = dict[str, Any]


class Step(NamedTuple):
    """A line or a message of a session, before it has the form of any program."""

    session: str
    number: int  # in its session
    kind: str  # user, assistant, call, result; task: a call with its result; aside: what is no turn
    id: str
    parent: str | None
    seconds: float
    text: str  # what was said, or what the tool gave
    call: str
    command: str

    def when(self, form: str = "%Y-%m-%dT%H:%M:%S.000Z") -> str:
        return time.strftime(form, time.gmtime(self.seconds))


def sessions(count: int, size: int, kinds: tuple[str, ...], words: Texts) -> Iterator[list[Step]]:
    """`count` steps in sessions of `size`."""
    for seed, first in enumerate(range(0, count, size)):
        yield list(steps(str(uuid.UUID(int=seed + 1, version=4)), min(size, count - first), kinds, words, seed))


def steps(session: str, count: int, kinds: tuple[str, ...], words: Texts, seed: int) -> Iterator[Step]:
    chance, parent, call, command = random.Random(seed), None, "", ""
    for number in range(count):
        kind, id = kinds[number % len(kinds)], str(uuid.UUID(int=chance.getrandbits(128), version=4))
        if kind in ("call", "task"):
            call, command = f"{seed}_{number}", f"pytest tests/test_{chance.randrange(400)}.py"
        text = "\n".join(next(words) for _ in range({"call": 0, "aside": 0, "result": 3, "task": 3}.get(kind, 1)))
        seconds = START_MS / 1000 + seed * 90_000 + number * 7
        yield Step(session, number, kind, id, parent, seconds, text, call, command)
        parent = parent if kind == "aside" else id


def save(path: Path, *values: object, end: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(value) + end for value in values)


# ── transcripts: files of JSON lines, and Gemini's of JSON ──


def claude_code(folder: Path, lines: int, words: Texts) -> None:
    def line(step: Step) -> Record:
        if step.kind == "aside":
            return {"type": "file-history-snapshot", "messageId": step.id, "snapshot": {}, "isSnapshotUpdate": False}
        role, call = "assistant" if step.kind in ("assistant", "call") else "user", f"toolu_{step.call}"
        content = {
            "user": step.text,
            "assistant": [{"type": "text", "text": step.text}],
            "call": [{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": step.command}}],
            "result": [{"type": "tool_result", "tool_use_id": call, "content": step.text}],
        }[step.kind]
        return {
            "parentUuid": step.parent, "isSidechain": False, "cwd": "/home/ada/harbor", "sessionId": step.session,
            "type": role, "message": {"role": role, "content": content}, "uuid": step.id, "timestamp": step.when(),
        }  # fmt: skip

    for session in sessions(lines, SESSION_LINES, WORK, words):
        save(folder / f"{session[0].session}.jsonl", *map(line, session), end="\n")


def codex(folder: Path, lines: int, words: Texts) -> None:
    def line(step: Step) -> Record:
        arguments = json.dumps({"command": ["bash", "-lc", step.command]})
        output = json.dumps({"output": step.text, "metadata": {"exit_code": 0, "duration_seconds": 0.1}})
        part = {"type": "input_text" if step.kind == "user" else "output_text", "text": step.text}
        payload: Record = {
            "aside": {"type": "token_count", "info": None},
            "call": {"type": "function_call", "name": "shell", "arguments": arguments, "call_id": step.call},
            "result": {"type": "function_call_output", "call_id": step.call, "output": output},
        }.get(step.kind, {"type": "message", "role": step.kind, "content": [part]})
        kind = "event_msg" if step.kind == "aside" else "response_item"
        if step.number == 0:
            kind, payload = "session_meta", {"id": step.session, "timestamp": step.when(), "cwd": "/home/ada/harbor"}
        return {"timestamp": step.when(), "type": kind, "payload": payload}

    for session in sessions(lines, SESSION_LINES, WORK, words):
        name = session[0].when(f"%Y/%m/%d/rollout-%Y-%m-%dT%H-%M-%S-{session[0].session}.jsonl")
        save(folder / name, *map(line, session), end="\n")


def cursor(folder: Path, lines: int, words: Texts) -> None:
    def line(step: Step) -> Record:
        if step.kind == "aside":
            return {"type": "turn_ended", "status": "success"}
        typed = f"<attached_files>\nsrc/ferry.py\n</attached_files>\n<user_query>\n{step.text}\n</user_query>"
        part = {
            "user": {"type": "text", "text": typed},
            "assistant": {"type": "text", "text": step.text},
            "call": {"type": "tool_use", "name": "Shell", "input": {"command": step.command}},
        }[step.kind]
        return {"role": "user" if step.kind == "user" else "assistant", "message": {"content": [part]}}

    for session in sessions(lines, SESSION_LINES, CURSOR, words):
        id = session[0].session
        save(folder / "agent-transcripts" / id / f"{id}.jsonl", *map(line, session), end="\n")


def vscode(folder: Path, lines: int, words: Texts) -> None:
    def line(step: Step) -> Record:
        call = {"toolCallId": step.call}
        kind, data = {
            "user": ("user.message", {"content": step.text, "attachments": []}),
            "assistant": ("assistant.message", {"messageId": step.id, "content": step.text, "toolRequests": []}),
            "call": ("tool.execution_start",
                     call | {"toolName": "run_in_terminal", "arguments": {"command": step.command}}),
            "result": ("tool.execution_complete", call | {"success": True, "result": {"content": step.text}}),
            "aside": ("assistant.turn_end", {"turnId": str(step.number)}),
        }[step.kind]  # fmt: skip
        if step.number == 0:
            kind, data = "session.start", {"startTime": step.when(), "context": {"cwd": "/home/ada/harbor"}}
        return {"type": kind, "data": data, "id": step.id, "timestamp": step.when(), "parentId": step.parent}

    for session in sessions(lines, SESSION_LINES, WORK, words):
        name = f"{session[0].session}.jsonl"
        save(folder / "GitHub.copilot-chat" / "transcripts" / name, *map(line, session), end="\n")


def gemini(folder: Path, lines: int, words: Texts) -> None:
    def message(step: Step) -> Record:
        response = {"functionResponse": {"id": step.call, "response": {"output": step.text}}}
        call = {"id": step.call, "name": "run_shell_command", "args": {"command": step.command},
                "result": [response], "status": "success", "timestamp": step.when()}  # fmt: skip
        held: Record = {
            "user": {"type": "user", "content": step.text},
            "task": {"type": "gemini", "content": "", "toolCalls": [call]},
            "assistant": {"type": "gemini", "content": step.text},
            "aside": {"type": "info", "content": "Request cancelled."},
        }[step.kind]
        return {"id": step.id, "timestamp": step.when(), **held}

    for session in sessions(lines, SESSION_LINES, GEMINI, words):
        first, messages = session[0], list(map(message, session))
        place = folder / "harbor" / "chats" / first.when(f"session-%Y-%m-%dT%H-%M-{first.session}.json")
        save(place, {"sessionId": first.session, "startTime": first.when(), "messages": messages})


# ── exports of conversations ──


def chatgpt(folder: Path, lines: int, words: Texts) -> None:
    """The first node of a tree is its root; an aside is an answer that was asked for again, on a branch of its own."""

    def conversation(session: list[Step]) -> Record:
        mapping: dict[str, Record] = {}
        for step in session:
            role = {"call": "assistant", "result": "tool", "aside": "assistant"}.get(step.kind, step.kind)
            message = {
                "author": {"role": role, "name": "browser" if role == "tool" else None}, "create_time": step.seconds,
                "content": {"content_type": "text", "parts": [step.text or step.command]},
                "recipient": "browser" if step.kind == "call" else "all", "id": step.id, "metadata": {},
            }  # fmt: skip
            mapping[step.id] = {"message": message if step.number else None, "parent": step.parent, "children": []}
            if step.parent is not None:
                mapping[step.parent]["children"].append(step.id)
        shown = [step for step in session if step.kind != "aside"]
        return {"title": shown[-1].text[:30], "create_time": shown[0].seconds, "conversation_id": shown[0].session,
                "current_node": shown[-1].id, "mapping": mapping}  # fmt: skip

    save(folder / "conversations.json", list(map(conversation, sessions(lines, CHAT_MESSAGES, CHATGPT, words))))


def claude(folder: Path, lines: int, words: Texts) -> None:
    def message(step: Step) -> Record:
        answer, _, page = step.text.partition("\n")
        call = {"type": "tool_use", "name": "web_search", "input": {"query": step.command}}
        result = {"type": "tool_result", "name": "web_search", "content": [{"type": "text", "text": page}]}
        content = [*([call, result] if step.kind == "task" else []), {"type": "text", "text": answer}]
        return {"uuid": step.id, "text": answer, "content": content, "created_at": step.when(), "attachments": [],
                "sender": "human" if step.kind == "user" else "assistant"}  # fmt: skip

    save(folder / "conversations.json", [
        {"uuid": session[0].session, "name": session[0].text[:30], "created_at": session[0].when(),
         "chat_messages": list(map(message, session))}
        for session in sessions(lines, CHAT_MESSAGES, CLAUDE, words)
    ])  # fmt: skip


def longmemeval(folder: Path, lines: int, words: Texts) -> None:
    talks = list(sessions(lines, TALK_TURNS, ("user", "assistant"), words))
    haystacks = [talks[first : first + TALKS] for first in range(0, len(talks), TALKS - SHARED_TALKS)]
    save(folder / "longmemeval_s.json", [
        {"question_id": f"q{number}", "question": next(words),
         "haystack_dates": [talk[0].when("%Y/%m/%d (%a) %H:%M") for talk in haystack],
         "haystack_session_ids": [talk[0].session for talk in haystack],
         "haystack_sessions": [[{"role": step.kind, "content": step.text} for step in talk] for talk in haystack]}
        for number, haystack in enumerate(haystacks)
    ])  # fmt: skip


# ── memories, notes and commits ──


def mem0(folder: Path, lines: int, words: Texts) -> None:
    save(folder / "memories.json", {"results": [
        {"id": step.id, "memory": step.text, "metadata": {"category": "work"}, "created_at": step.when(),
         "updated_at": None, "user_id": "ada", "run_id": step.session, "categories": ["work"]}
        for session in sessions(lines, CHAT_MESSAGES, ("user",), words) for step in session
    ]})  # fmt: skip


def mcp_memory(folder: Path, lines: int, words: Texts) -> None:
    """As many relations as entities; the server writes all entities first."""
    chance, names = random.Random(1), [f"Entity {number}" for number in range(lines // NOTE_ENTRIES)]
    entities = [{"type": "entity", "name": name, "entityType": "component",
                 "observations": [next(words) for _ in range(NOTE_ENTRIES - 1)]} for name in names]  # fmt: skip
    relations = [{"type": "relation", "from": names[0] if chance.random() < HUB_SHARE else name,
                  "to": chance.choice(names), "relationType": "depends_on"} for name in names]  # fmt: skip
    save(folder / "memory.jsonl", *entities, *relations, end="\n")


def save_notes(folder: Path, lines: int, body: Callable[[int], str]) -> None:
    for number in range(lines // NOTE_ENTRIES):
        place = folder / f"{number // FOLDER_NOTES:03}" / f"Note {number}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        matter = f"title: Note {number}\ntype: note\npermalink: notes/{number}\ntags:\n- harbor\n- part-{number % 40}"
        place.write_text(f"---\n{matter}\n---\n\n# Note {number}\n\n{body(number)}", encoding="utf-8")


def basic_memory(folder: Path, lines: int, words: Texts) -> None:
    def body(number: int) -> str:
        observations = "".join(f"- [fact] {next(words)} #harbor\n" for _ in range(NOTE_ENTRIES - 1))
        relations = "".join(f"- depends_on [[Note {other}]]\n" for other in (number // 2, number // 3))
        return f"{next(words)}\n\n## Observations\n{observations}\n## Relations\n{relations}"

    save_notes(folder, lines, body)


def obsidian(folder: Path, lines: int, words: Texts) -> None:
    """A section is long enough to stay one: small neighbours are joined."""

    def body(number: int) -> str:
        return "\n".join(
            f"## Part {part}\n\n{next(words)} See [[Note {number // (part + 2)}]].\n\n"
            + "".join(f"- {next(words)}\n" for _ in range(3))
            for part in range(NOTE_ENTRIES)
        )

    save_notes(folder, lines, body)


def git(folder: Path, lines: int, words: Texts) -> None:
    """Each merge joins the two commits before it, which have the same parent."""
    chance = random.Random(2)

    def commit(number: int) -> str:
        at, message = START_MS // 1000 + number * 600, f"{next(words)[:70]}\n\n{next(words)}"
        by = f"Ada Pell <ada@example.org> {at} +0000"
        merges, beside = number % MERGE_EVERY == 0, number % MERGE_EVERY == MERGE_EVERY - 1
        parents = (f"from :{number - 2 if beside else number - 1}\n" if number > 1 else "") + (
            f"merge :{number - 2}\n" if merges else ""
        )
        paths = [] if merges else [f"src/part_{chance.randrange(20)}/file_{chance.randrange(20)}.py" for _ in range(2)]
        return (f"commit refs/heads/main\nmark :{number}\nauthor {by}\ncommitter {by}\n{data(message)}{parents}"
                + "".join(f"M 100644 inline {path}\n{data(f'{number}')}" for path in paths))  # fmt: skip

    def data(text: str) -> str:
        return f"data {len(text.encode())}\n{text}\n"

    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(folder)], check=True)
    stream = "".join(commit(number) for number in range(1, lines + 1))
    subprocess.run(["git", "-C", str(folder), "fast-import", "--quiet"], input=stream.encode(), check=True)


# ── what an import of them costs ──

WRITERS: dict[str, Callable[[Path, int, Texts], None]] = {
    "basic-memory": basic_memory, "chatgpt": chatgpt, "claude": claude, "claude-code": claude_code, "codex": codex,
    "cursor": cursor, "gemini": gemini, "git": git, "longmemeval": longmemeval, "mcp-memory": mcp_memory, "mem0": mem0,
    "obsidian": obsidian, "vscode": vscode,
}  # fmt: skip


class Run(NamedTuple):
    read: int
    imported: int
    seconds: float
    processor: float
    mib: float

    def __str__(self) -> str:
        return f"{self.read:>10,}{self.imported:>10,}{self.seconds:>9.1f}{self.processor:>9.1f}{self.mib:>6.0f}"


def written(name: str, folder: Path, lines: int) -> None:
    WRITERS[name](folder, lines, cycle(texts(lines * 2)))


def measured(name: str, store: Path, folder: Path) -> Run:
    command = [sys.executable, "-m", "recallens", "--store", str(store), "import", "--from", name, str(folder),
               "--no-embed", "--json"]  # fmt: skip
    begun = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | {"RECALLENS_ENCODER": "hashing"}) as run:
        assert run.stdout is not None
        output = run.stdout.read()
        _, status, used = os.wait4(run.pid, 0)
        seconds, run.returncode = time.perf_counter() - begun, os.waitstatus_to_exitcode(status)
    if run.returncode:
        sys.exit(f"the import from {name} ended with {run.returncode}")
    record = json.loads(output)
    spent = used.ru_utime + used.ru_stime
    return Run(record["read"], record["imported"], seconds, spent, used.ru_maxrss / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=LINES)
    parser.add_argument("--from", dest="names", nargs="+", choices=[*WRITERS, "all"], default=["claude-code"])
    options = parser.parse_args()
    columns = f"{'read':>10}{'imported':>10}{'seconds':>9}{'of cpu':>9}{'MiB':>6}"
    print(f"{'':13}{columns}   again:{columns[8:]}", flush=True)
    twice = []
    for name in WRITERS if "all" in options.names else options.names:
        with tempfile.TemporaryDirectory() as place:
            folder, store = Path(place, "harbor"), Path(place, "store.db")
            # In a process of its own: what this one holds when it starts a command counts as memory of the command.
            writing = multiprocessing.get_context("spawn").Process(target=written, args=(name, folder, options.lines))
            writing.start()
            writing.join()
            first, second = measured(name, store, folder), measured(name, store, folder)
        print(f"{name:13}{first}        {second}", flush=True)
        if second.imported:
            twice.append(name)
    if twice:
        sys.exit(f"imported a second time: {', '.join(twice)}")


if __name__ == "__main__":
    main()
