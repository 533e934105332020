"""What an import costs: files of each program that `recallens import --from NAME` reads, taken in twice, not encoded.

    python bench/imports.py                               100,000 lines of Claude Code in 100 sessions; minutes
    python bench/imports.py --lines 10000 --from all      every importer, one after the other

`--lines` counts lines of transcripts and of Obsidian's notes, messages of conversations, memories, observations and
relations, or commits. Each run is the command in a process of its own: seconds on the clock and of its
processor, and its largest memory. An entry that is imported a second time is an error.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from corpus import texts
from recallens.ingest.importers import sources

START_MS = 1_770_000_000_000
# Of ten lines of a working session: a question, two answers, three calls of tools and what they gave.
WORK = ("user", "assistant", "call", "result", "assistant", "call", "result", "aside", "call", "result")
# Cursor keeps nothing of what tools gave; Gemini CLI and Claude keep it in the message that called them.
CURSOR = ("user", "assistant", "call", "assistant", "call", "call", "assistant", "call", "assistant", "aside")
GEMINI = ("user", "task", "task", "assistant", "task", "assistant", "aside", "user", "task", "assistant")
CHATGPT = ("user", "assistant", "user", "call", "result", "assistant", "user", "aside", "assistant", "user")
TEXTS = {"call": 0, "aside": 0, "result": 3, "task": 3}  # the others have one
SESSION_LINES, CHAT_MESSAGES, TALK_TURNS = 1_000, 50, 10
TALKS, SHARED_TALKS = 50, 5  # of a question of LongMemEval, and of those the ones that the next question has too
NOTE_ENTRIES, FOLDER_NOTES = 5, 100
HUB_SHARE = 0.1  # of a graph's relations, those that begin at the person whom all of it is about
MERGE_EVERY = 20  # commits

Texts = Iterator[str]
Kinds = tuple[str, ...]
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


def sessions(count: int, size: int, kinds: Kinds, words: Texts) -> Iterator[list[Step]]:
    """`count` steps in sessions of `size`."""
    for seed, first in enumerate(range(0, count, size)):
        session, steps, chance = str(uuid.UUID(int=seed + 1, version=4)), list[Step](), random.Random(seed)
        parent, call, command = None, "", ""
        for number in range(min(size, count - first)):
            kind, id = kinds[number % len(kinds)], str(uuid.UUID(int=chance.getrandbits(128), version=4))
            if kind in ("call", "task"):
                call, command = f"{seed}_{number}", f"pytest tests/test_{chance.randrange(400)}.py"
            text = "\n".join(next(words) for _ in range(TEXTS.get(kind, 1)))
            seconds = START_MS / 1000 + seed * 90_000 + number * 7
            steps.append(Step(session, number, kind, id, parent, seconds, text, call, command))
            parent = parent if kind == "aside" else id
        yield steps


def save(path: Path, *values: object) -> None:
    """One value as JSON, several as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")


# ── a step as a line of a transcript ──


def claude_code(step: Step) -> Record:
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


def codex(step: Step) -> Record:
    asked = json.dumps({"command": ["bash", "-lc", step.command]})
    output = json.dumps({"output": step.text, "metadata": {"exit_code": 0, "duration_seconds": 0.1}})
    part = {"type": "input_text" if step.kind == "user" else "output_text", "text": step.text}
    items: dict[str, Record] = {
        "start": {"id": step.session, "timestamp": step.when(), "cwd": "/home/ada/harbor"},
        "aside": {"type": "token_count", "info": None},
        "call": {"type": "function_call", "name": "shell", "arguments": asked, "call_id": step.call},
        "result": {"type": "function_call_output", "call_id": step.call, "output": output},
    }
    kind = step.kind if step.number else "start"
    payload = items.get(kind, {"type": "message", "role": kind, "content": [part]})
    type = {"start": "session_meta", "aside": "event_msg"}.get(kind, "response_item")
    return {"timestamp": step.when(), "type": type, "payload": payload}


def cursor(step: Step) -> Record:
    if step.kind == "aside":
        return {"type": "turn_ended", "status": "success"}
    typed = f"<attached_files>\nsrc/ferry.py\n</attached_files>\n<user_query>\n{step.text}\n</user_query>"
    part = {
        "user": {"type": "text", "text": typed},
        "assistant": {"type": "text", "text": step.text},
        "call": {"type": "tool_use", "name": "Shell", "input": {"command": step.command}},
    }[step.kind]
    return {"role": "user" if step.kind == "user" else "assistant", "message": {"content": [part]}}


def vscode(step: Step) -> Record:
    tool = {"toolName": "run_in_terminal", "arguments": {"command": step.command}}
    result = {"success": True, "result": {"content": step.text}}
    events: dict[str, tuple[str, Record]] = {
        "start": ("session.start", {"startTime": step.when(), "context": {"cwd": "/home/ada/harbor"}}),
        "user": ("user.message", {"content": step.text, "attachments": []}),
        "assistant": ("assistant.message", {"messageId": step.id, "content": step.text, "toolRequests": []}),
        "call": ("tool.execution_start", {"toolCallId": step.call, **tool}),
        "result": ("tool.execution_complete", {"toolCallId": step.call, **result}),
        "aside": ("assistant.turn_end", {"turnId": str(step.number)}),
    }
    kind, data = events[step.kind if step.number else "start"]
    return {"type": kind, "data": data, "id": step.id, "timestamp": step.when(), "parentId": step.parent}


def transcripts(
    folder: Path, lines: int, words: Texts, *, line: Callable[[Step], Record], place: str, kinds: Kinds = WORK
) -> None:
    """A file for each session; `place` is its name with the session's id and, as `strftime` has it, its time."""
    for session in sessions(lines, SESSION_LINES, kinds, words):
        save(folder / session[0].when(place).format(id=session[0].session), *map(line, session))


# ── the other formats, each with its writer ──


def gemini(folder: Path, lines: int, words: Texts) -> None:
    def message(step: Step) -> Record:
        response = {"functionResponse": {"id": step.call, "response": {"output": step.text}}}
        call = {"id": step.call, "name": "run_shell_command", "args": {"command": step.command}, "result": [response],
                "status": "success", "timestamp": step.when()}  # fmt: skip
        kind = {"user": "user", "aside": "info"}.get(step.kind, "gemini")
        content = {"task": "", "aside": "Request cancelled."}.get(step.kind, step.text)
        return {"id": step.id, "timestamp": step.when(), "type": kind, "content": content,
                "toolCalls": [call] if step.kind == "task" else []}  # fmt: skip

    for session in sessions(lines, SESSION_LINES, GEMINI, words):
        first, messages = session[0], list(map(message, session))
        save(folder / first.when(f"harbor/chats/session-%Y-%m-%dT%H-%M-{first.session}.json"),
             {"sessionId": first.session, "startTime": first.when(), "messages": messages})  # fmt: skip


def chatgpt(folder: Path, lines: int, words: Texts) -> None:
    """The first node of a tree is its root; an aside is an answer that was asked for again, on a branch of its own."""

    def conversation(session: list[Step]) -> Record:
        mapping: dict[str, Record] = {}
        for step in session:
            role = {"call": "assistant", "result": "tool", "aside": "assistant"}.get(step.kind, step.kind)
            author = {"role": role, "name": "browser" if role == "tool" else None}
            content = {"content_type": "text", "parts": [step.text or step.command]}
            message = {"id": step.id, "author": author, "create_time": step.seconds, "content": content,
                       "recipient": "browser" if step.kind == "call" else "all"}  # fmt: skip
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
        for session in sessions(lines, CHAT_MESSAGES, ("user", "assistant", "user", "task"), words)
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


def mem0(folder: Path, lines: int, words: Texts) -> None:
    save(folder / "memories.json", {"results": [
        {"id": step.id, "memory": step.text, "metadata": {"category": "work"}, "created_at": step.when(),
         "updated_at": None, "user_id": "ada", "run_id": step.session, "categories": ["work"]}
        for session in sessions(lines, CHAT_MESSAGES, ("user",), words) for step in session
    ]})  # fmt: skip


def mcp_memory(folder: Path, lines: int, words: Texts) -> None:
    """As many relations as entities. The server writes all entities first."""
    chance, names = random.Random(1), [f"Entity {number}" for number in range(lines // NOTE_ENTRIES)]
    ends = [(names[0], name) if chance.random() < HUB_SHARE else (name, chance.choice(names)) for name in names]
    save(
        folder / "memory.jsonl",
        *({"type": "entity", "name": name, "entityType": "component",
           "observations": [next(words) for _ in range(NOTE_ENTRIES - 1)]} for name in names),
        *({"type": "relation", "from": source, "to": target, "relationType": "works_with"} for source, target in ends),
    )  # fmt: skip


def notes(folder: Path, lines: int, words: Texts, *, body: Callable[[int, Texts], str], of_a_note: int) -> None:
    """`of_a_note` of the lines stand in each."""
    for number in range(lines // of_a_note):
        place = folder / f"{number // FOLDER_NOTES:03}" / f"Note {number}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        matter = f"title: Note {number}\npermalink: notes/{number}\ntags:\n- harbor\n- part-{number % 40}"
        place.write_text(f"---\n{matter}\n---\n\n# Note {number}\n\n{body(number, words)}", encoding="utf-8")


def basic_memory(number: int, words: Texts) -> str:
    observations = "".join(f"- [fact] {next(words)} #harbor\n" for _ in range(NOTE_ENTRIES - 1))
    relations = "".join(f"- depends_on [[Note {other}]]\n" for other in (number // 2, number // 3))
    return f"{next(words)}\n\n## Observations\n{observations}\n## Relations\n{relations}"


def obsidian(number: int, words: Texts) -> str:
    """Its sections are long enough to be kept apart: small neighbours are joined."""
    return "\n".join(
        f"## Part {part}\n\n{next(words)} See [[Note {number // (part + 2)}]].\n\n- {next(words)}\n- {next(words)}\n"
        f"- {next(words)}\n" for part in range(NOTE_ENTRIES)
    )  # fmt: skip


def git(folder: Path, lines: int, words: Texts) -> None:
    """Each merge joins the two commits before it, which have the same parent."""
    chance = random.Random(2)

    def commit(number: int) -> str:
        by, place = f"Ada Pell <ada@example.org> {START_MS // 1000 + number * 600} +0000", number % MERGE_EVERY
        parents = f"from :{number - (2 if place == MERGE_EVERY - 1 else 1)}\n" if number > 1 else ""
        paths = [f"src/part_{chance.randrange(20)}/file_{chance.randrange(20)}.py" for _ in range(2)]
        changes = "".join(f"M 100644 inline {path}\ndata 3\n{number % 1000:03}\n" for path in paths)
        message = f"{next(words)[:70]}\n\n{next(words)}"
        return (f"commit refs/heads/main\nmark :{number}\nauthor {by}\ncommitter {by}\n"
                f"data {len(message.encode())}\n{message}\n{parents}"
                + (changes if place else f"merge :{number - 2}\n"))  # fmt: skip

    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(folder)], check=True)
    stream = "".join(map(commit, range(1, lines + 1)))
    subprocess.run(["git", "-C", str(folder), "fast-import", "--quiet"], input=stream.encode(), check=True)


# ── what an import of them costs ──

WRITERS: dict[str, Callable[[Path, int, Texts], None]] = {
    "basic-memory": partial(notes, body=basic_memory, of_a_note=NOTE_ENTRIES), "chatgpt": chatgpt, "claude": claude,
    "claude-code": partial(transcripts, line=claude_code, place="{id}.jsonl"),
    "codex": partial(transcripts, line=codex, place="%Y/%m/%d/rollout-%Y-%m-%dT%H-%M-%S-{id}.jsonl"),
    "cursor": partial(transcripts, line=cursor, place="agent-transcripts/{id}/{id}.jsonl", kinds=CURSOR),
    "gemini": gemini, "git": git, "longmemeval": longmemeval, "mcp-memory": mcp_memory, "mem0": mem0,
    "obsidian": partial(notes, body=obsidian, of_a_note=NOTE_ENTRIES * 7),
    "vscode": partial(transcripts, line=vscode, place="GitHub.copilot-chat/transcripts/{id}.jsonl"),
}  # fmt: skip


def written(name: str, folder: Path, lines: int) -> None:
    WRITERS[name](folder, lines, cycle(texts(lines * 4)))


def measured(name: str, store: Path, folder: Path) -> tuple[float, ...]:
    """One run: entries read and imported, seconds on the clock and of the processor, MiB of memory."""
    command = [sys.executable, "-m", "recallens", "--store", str(store), "import", "--from", name, str(folder),
               "--no-embed", "--json"]  # fmt: skip
    begun, environment = time.perf_counter(), os.environ | {"RECALLENS_ENCODER": "hashing"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as run:
        output = run.stdout.read() if run.stdout else b""
        _, status, used = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
    seconds, processor = time.perf_counter() - begun, used.ru_utime + used.ru_stime
    if run.returncode:
        raise subprocess.CalledProcessError(run.returncode, command)
    record = json.loads(output)
    return record["read"], record["imported"], seconds, processor, used.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--from", dest="names", nargs="+", choices=[*sources(), "all"], default=["claude-code"])
    options = parser.parse_args()
    heading, wrong = "     read imported   clock     cpu   MiB", list[str]()
    print(f"{'':13}{'first time':>40} │{'second time':>40}\n{'':13}{heading} │{heading}", flush=True)
    for name in sources() if "all" in options.names else options.names:
        with tempfile.TemporaryDirectory() as place:
            folder, store = Path(place, "harbor"), Path(place, "store.db")
            # In a process of its own: what this one has held counts as memory of the commands that it starts.
            with get_context("spawn").Pool(1) as writer:
                writer.apply(written, (name, folder, options.lines))
            try:
                runs = [measured(name, store, folder) for _ in range(2)]
            except subprocess.CalledProcessError as error:
                wrong.append(f"{name}: {error}")
                continue
        rows = ("{:>9,}{:>9,}{:>8.1f}{:>8.1f}{:>6,.0f}".format(*run) for run in runs)
        print(f"{name:13}{' │'.join(rows)}", flush=True)
        if runs[1][1]:
            wrong.append(f"{name}: {runs[1][1]:,} were imported a second time")
    sys.exit("\n".join(wrong) or None)


if __name__ == "__main__":
    main()
