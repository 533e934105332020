"""A client's own configuration: written once, taken out to the byte, and never harmed."""

from __future__ import annotations

import json
import stat
import subprocess
import tomllib
from pathlib import Path

import pytest
from cli_scene import Ask, Run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recallens.cli.clients import json_member, toml_table
from recallens.cli.clients.places import CLIENTS, ClientScope
from recallens.cli.commands.install import CLIENT_NAMES

ENTRY = {"command": "/bin/recallens", "args": ["mcp", "--store", "/tmp/저장소.db"]}


@pytest.fixture(autouse=True)
def at_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(home / "user"))
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    (home / "user").mkdir()
    return home


PLACES = {
    ("claude-code", "project"): ".mcp.json",
    ("claude-code", "user"): "user/.claude.json",
    ("cursor", "project"): ".cursor/mcp.json",
    ("cursor", "user"): "user/.cursor/mcp.json",
    ("vscode", "project"): ".vscode/mcp.json",
    ("vscode", "user"): "config/Code/User/mcp.json",
    ("codex", "project"): ".codex/config.toml",
    ("codex", "user"): "user/.codex/config.toml",
    ("gemini", "project"): ".gemini/settings.json",
    ("gemini", "user"): "user/.gemini/settings.json",
    ("claude-desktop", "user"): "config/Claude/claude_desktop_config.json",
}
BEFORE = {
    ".json": """{
    "numStartups": 7,
    "mcpServers": {
        "other": {"command": "x",   "args": []}
    },
    "servers": { },
    "한글": "그대로"
}""",
    ".toml": '# mine\nmodel = "o3"   # keep\n\n[mcp_servers.other]\ncommand = "x"\n',
}


def read(path: Path) -> dict[str, object]:
    return json.loads(path.read_bytes()) if path.suffix == ".json" else tomllib.loads(path.read_text())


def only_added(before: str, after: str) -> bool:
    return any(after.startswith(before[:at]) and after.endswith(before[at:]) for at in range(len(before) + 1))


def entry_in(path: Path) -> object:
    whole = read(path)
    for member in ("mcpServers", "servers", "mcp_servers"):
        if "recallens" in whole.get(member, {}):
            return whole[member]["recallens"]
    return None


def test_the_clients_are_those_that_are_named() -> None:
    assert tuple(CLIENTS) == CLIENT_NAMES
    assert {(name, scope) for name, client in CLIENTS.items() for scope in client.places} == set(PLACES)


@pytest.mark.parametrize(("client", "scope"), PLACES)
def test_into_nothing_and_out_again(client: str, scope: str, at_home: Path, run: Run) -> None:
    path = at_home / PLACES[client, scope]
    there = set(at_home.rglob("*"))
    shown = run("install", "--client", client, f"--{scope}", "--dry-run")
    assert f"+++ {path}\n" in shown.stdout
    assert not path.exists()
    run("install", "--client", client, f"--{scope}", "--store", "team.db", "--namespace", "team")
    entry = entry_in(path)
    store = "team.db" if scope == "project" else str(at_home / "team.db")
    assert entry["args"][-5:] == ["mcp", "--store", store, "--namespace", "team"]
    # What is shared with others holds no place of this machine.
    assert Path(entry["command"]).is_absolute() == (scope == "user")
    assert (str(at_home) in path.read_text()) == (scope == "user")
    assert entry.get("type") == ("stdio" if client in ("claude-code", "vscode") else None)
    written = path.read_bytes()
    again = run("install", "--client", client, f"--{scope}", "--store", "team.db", "--namespace", "team")
    assert (again.stdout, path.read_bytes()) == (f"{path} is as it should be; nothing to change\n", written)
    # Undone without being told again what was installed.
    run("install", "--client", client, f"--{scope}", "--undo")
    assert not path.exists()
    assert set(at_home.rglob("*")) == there
    assert "nothing to change" in run("install", "--client", client, f"--{scope}", "--undo").stdout


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("bom", ["", "\ufeff"], ids=["plain", "bom"])
@pytest.mark.parametrize(("client", "scope"), [("claude-code", "user"), ("vscode", "project"), ("codex", "user")])
def test_what_was_there_stays_to_the_byte(
    client: str, scope: str, ending: str, bom: str, at_home: Path, run: Run, ask: Ask
) -> None:
    path = at_home / PLACES[client, scope]
    path.parent.mkdir(parents=True, exist_ok=True)
    before = (bom + BEFORE[path.suffix].replace("\n", ending)).encode()
    path.write_bytes(before)
    path.chmod(0o600)
    shown = ask("install", "--client", client, f"--{scope}", "--dry-run")
    assert (shown["changed"], shown["dryRun"], path.read_bytes()) == (True, True, before)
    run("install", "--client", client, f"--{scope}")
    backup = path.with_name(path.name + ".recallens.bak")
    assert backup.read_bytes() == before
    assert [stat.S_IMODE(each.stat().st_mode) for each in (path, backup)] == [0o600, 0o600]
    after = path.read_bytes().decode()
    if ending == "\r\n":
        assert after.count("\n") == after.count("\r\n")
    # One piece more, at one place; in VS Code's file the blank of an empty object made room for it.
    assert only_added(before.decode().replace("{ }", "{}" if client == "vscode" else "{ }"), after)
    run("install", "--client", client, f"--{scope}", "--undo")
    assert path.read_bytes() == before
    assert not backup.exists()


def test_a_later_change_by_others_survives_an_undo(at_home: Path, run: Run) -> None:
    path = at_home / ".mcp.json"
    path.write_text('{"mcpServers": {"a": {"command": "a"}}}')
    run("install", "--client", "claude-code")
    run("install", "--client", "claude-code", "--namespace", "team")
    held = json.loads(path.read_text())
    held["mcpServers"]["b"] = {"command": "b"}
    path.write_text(json.dumps(held, indent=4))
    run("install", "--client", "claude-code", "--undo")
    assert json.loads(path.read_text()) == {"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}}}
    assert (at_home / ".mcp.json.recallens.bak").read_text() == '{"mcpServers": {"a": {"command": "a"}}}'


def test_a_changed_option_replaces_the_entry_alone(at_home: Path, run: Run) -> None:
    for client, path in (("claude-code", at_home / ".mcp.json"), ("codex", at_home / "user/.codex/config.toml")):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(BEFORE[path.suffix])
        run("install", "--client", client)
        first = path.read_text()
        run("install", "--client", client, "--namespace", "team")
        assert entry_in(path)["args"][-2:] == ["--namespace", "team"]
        run("install", "--client", client)
        assert path.read_text() == first


WRONG = {
    "comments": ("vscode", '{\n  // mine\n  "servers": {}\n}', "it is not plain JSON"),
    "a trailing comma": ("vscode", '{"servers": {},}', "it is not plain JSON"),
    "a list": ("claude-code", "[]", "it holds no JSON object"),
    "servers that are no object": ("cursor", '{"mcpServers": []}', "its 'mcpServers' is no object"),
    "no TOML": ("codex", "[mcp_servers\n", "it cannot be read as TOML"),
    "an inline table": ("codex", 'mcp_servers = { other = { command = "x" } }\n', "a table cannot be added at its end"),
    "another hand's table": ("codex", '[mcp_servers.recallens]\ncommand = "y"\n', "was written by another hand"),
    "no table": ("codex", "mcp_servers = 7\n", "its 'mcp_servers' is no table"),
}


@pytest.mark.parametrize("how", WRONG)
def test_what_cannot_be_edited_is_left_alone_with_what_to_paste(how: str, at_home: Path, run: Run) -> None:
    client, text, said = WRONG[how]
    path = CLIENTS[client].place(None)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    failed = run("install", "--client", client, code=2)
    assert said in failed.stderr
    assert "recallens" in failed.stderr.split("by hand")[1]
    assert path.read_text() == text
    assert [each.name for each in path.parent.iterdir() if "recallens" in each.name] == []


def test_bytes_that_are_no_text_and_folders_in_the_way(at_home: Path, run: Run) -> None:
    path = at_home / ".mcp.json"
    path.write_bytes(b"\xff\xfe{}")
    assert "cannot read" in run("install", "--client", "claude-code", code=2).stderr
    assert path.read_bytes() == b"\xff\xfe{}"
    path.unlink()
    path.mkdir()
    assert "cannot read" in run("install", "--client", "claude-code", code=2).stderr
    (at_home / ".cursor").write_text("a file where a folder should be")
    assert run("install", "--client", "cursor", code=2).stderr.startswith("error: cannot")
    wrong = run("install", "--client", "emacs", code=2)
    assert "unknown client 'emacs'; use one of: claude-code, cursor, vscode, codex" in wrong.stderr


def test_a_link_is_followed(at_home: Path, run: Run) -> None:
    real = at_home / "dotfiles.json"
    real.write_text("{}")
    (at_home / ".mcp.json").symlink_to(real)
    run("install", "--client", "claude-code")
    assert (at_home / ".mcp.json").is_symlink()
    assert entry_in(real) is not None
    run("install", "--client", "claude-code", "--undo")
    assert real.read_text() == "{}"


def test_the_folders_that_users_move(at_home: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_HOME", str(at_home / "codex"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(at_home / "claude"))
    monkeypatch.setenv("RECALLENS_STORE", "here.db")
    run("install", "--client", "codex")
    run("install", "--client", "claude-code", "--user")
    assert entry_in(at_home / "codex" / "config.toml")["args"] == ["mcp", "--store", str(at_home / "here.db")]
    assert entry_in(at_home / "claude" / ".claude.json") is not None


@pytest.mark.slow
def test_the_entry_starts_a_server_that_answers(at_home: Path, run: Run) -> None:
    run("install", "--client", "claude-code", "--user", "--store", "s.db")
    entry = entry_in(at_home / "user/.claude.json")
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    opening = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}) + "\n"
    command = [entry["command"], *entry["args"]]
    ended = subprocess.run(command, input=opening, capture_output=True, text=True, timeout=30, check=True)
    assert json.loads(ended.stdout)["result"]["serverInfo"]["name"] == "recallens"


def test_a_shared_file_names_what_is_on_the_path(at_home: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(at_home / "bin"))
    told = run("install", "--client", "claude-code", "--store", "/elsewhere/team.db")
    assert entry_in(at_home / ".mcp.json") == {
        "type": "stdio", "command": "recallens", "args": ["mcp", "--store", "/elsewhere/team.db"],
    }  # fmt: skip
    assert "not on your PATH: `pipx install recallens`" in told.stderr
    assert "names its place on this machine" in told.stderr
    (at_home / "bin").mkdir()
    (at_home / "bin" / "recallens").touch(mode=0o755)
    told = run("install", "--client", "claude-code", "--store", "team.db")
    assert entry_in(at_home / ".mcp.json")["args"] == ["mcp", "--store", "team.db"]
    assert "PATH" not in told.stderr
    assert "this machine" not in told.stderr
    assert '"Pending approval" until you have approved it: run `claude` here once' in told.stderr


# ── instructions and skill ──

INSTRUCTIONS = {
    ("claude-code", "project"): "CLAUDE.md",
    ("claude-code", "user"): "user/.claude/CLAUDE.md",
    ("cursor", "project"): "AGENTS.md",
    ("vscode", "project"): "AGENTS.md",
    ("codex", "project"): "AGENTS.md",
    ("codex", "user"): "user/.codex/AGENTS.md",
    ("gemini", "project"): "GEMINI.md",
    ("gemini", "user"): "user/.gemini/GEMINI.md",
}


@pytest.mark.parametrize(
    "before", [None, "# Rules\n\nBe kind.\n", "# Rules\r\n\r\nBe kind."], ids=["none", "lf", "crlf"]
)
@pytest.mark.parametrize(("client", "scope"), INSTRUCTIONS)
def test_instructions_go_in_and_out_to_the_byte(
    client: str, scope: str, before: str | None, at_home: Path, run: Run
) -> None:
    path = at_home / INSTRUCTIONS[client, scope]
    if before is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(before.encode())
    there = set(at_home.rglob("*"))
    shown = run("install", "--client", client, f"--{scope}", "--instructions", "--dry-run").stdout
    assert f"+++ {path}\n" in shown
    assert "call `begin_work`" in shown
    assert set(at_home.rglob("*")) == there
    run("install", "--client", client, f"--{scope}", "--instructions")
    written = path.read_bytes()
    assert written.decode().startswith(before or "")
    assert b"begin_work" in written
    run("install", "--client", client, f"--{scope}", "--instructions")
    assert path.read_bytes() == written
    run("install", "--client", client, f"--{scope}", "--undo")
    assert (path.read_bytes().decode() if path.exists() else None) == before
    assert set(at_home.rglob("*")) == there


def test_what_is_written_around_our_part_stays(at_home: Path, run: Run) -> None:
    path = at_home / "AGENTS.md"
    path.write_text("# Mine\n")
    run("install", "--client", "cursor", "--instructions")
    path.write_text(path.read_text() + "\n# Later\n")
    run("install", "--client", "cursor", "--undo")
    assert path.read_text() == "# Mine\n\n# Later\n"


@pytest.mark.parametrize("scope", ["project", "user"])
@pytest.mark.parametrize("client", ["claude-code", "cursor", "vscode", "codex", "gemini"])
def test_a_skill_goes_in_and_out(client: str, scope: str, at_home: Path, run: Run) -> None:
    folder = at_home / ("user" if scope == "user" else "") / (".claude" if client == "claude-code" else ".agents")
    path = folder / "skills/recallens/SKILL.md"
    there = set(at_home.rglob("*"))
    run("install", "--client", client, f"--{scope}", "--skill")
    assert path.read_text().startswith("---\nname: recallens\ndescription: ")
    run("install", "--client", client, f"--{scope}", "--undo")
    assert set(at_home.rglob("*")) == there


def test_an_undo_leaves_the_folders_that_others_made_or_use(at_home: Path, run: Run) -> None:
    (at_home / ".cursor").mkdir()
    run("install", "--client", "cursor")
    run("install", "--client", "cursor", "--undo")
    assert list((at_home / ".cursor").iterdir()) == []
    run("install", "--client", "vscode")
    (at_home / ".vscode" / "settings.json").write_text("{}")
    run("install", "--client", "vscode", "--undo")
    assert [each.name for each in (at_home / ".vscode").iterdir()] == ["settings.json"]


def test_a_skill_of_another_hand_is_left_alone(at_home: Path, run: Run) -> None:
    path = at_home / ".agents/skills/recallens/SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\nname: mine\n---\n")
    assert "a skill of another hand" in run("install", "--client", "cursor", "--skill", code=2).stderr
    run("install", "--client", "cursor")
    run("install", "--client", "cursor", "--undo")
    assert path.read_text() == "---\nname: mine\n---\n"
    assert "these do: claude-code, cursor" in run("install", "--client", "claude-desktop", "--skill", code=2).stderr


# ── laws ──

names = st.text(st.characters(codec="utf-8"), max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | names, lambda inner: st.lists(inner, max_size=3), max_leaves=4
)
objects = st.dictionaries(names, values, max_size=4)


@given(objects, objects, st.sampled_from([None, 0, 2, "\t"]), st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_putting_in_and_taking_out_changes_nothing_else(
    whole: dict[str, object], servers: dict[str, object], indent: int | str | None, has: bool
) -> None:
    whole.pop("servers", None)
    servers.pop("recallens", None)
    whole |= {"servers": servers} if has else {}
    text = json.dumps(whole, indent=indent, ensure_ascii=False)
    made = json_member.put(text, "servers", "recallens", ENTRY)
    expected = (
        {**whole, "servers": {**servers, "recallens": ENTRY}} if has else {**whole, "servers": {"recallens": ENTRY}}
    )
    assert json.loads(made) == expected
    assert json_member.put(made, "servers", "recallens", ENTRY) == made
    taken = json_member.take(made, "servers", "recallens")
    if has and servers:
        assert taken == text
    else:
        assert json.loads(taken) == {name: value for name, value in whole.items() if name != "servers"}
    assert json_member.take(taken, "servers", "recallens") == taken


@given(st.lists(st.sampled_from(["a = 1", "# note", "", "[x]", "[mcp_servers.other]", 'b = "한글"']), unique=True))
def test_a_block_of_toml_goes_in_and_out(lines: list[str]) -> None:
    text = "\n".join(lines)
    made = toml_table.put(text, "mcp_servers", "recallens", ENTRY)
    assert tomllib.loads(made)["mcp_servers"]["recallens"] == ENTRY
    assert toml_table.put(made, "mcp_servers", "recallens", ENTRY) == made
    taken = toml_table.take(made, "mcp_servers", "recallens")
    assert taken in (text, text + "\n")


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_an_entry_between_the_comments_of_earlier_versions_is_found(ending: str, at_home: Path, run: Run) -> None:
    marked = '\n# >>> recallens install\n[mcp_servers.recallens]\ncommand = "y"\n# <<< recallens install\n'
    before = BEFORE[".toml"].replace("\n", ending)
    old = before + marked.replace("\n", ending)
    assert toml_table.take(old, "mcp_servers", "recallens") == before
    assert toml_table.put(old, "mcp_servers", "recallens", ENTRY) == toml_table.put(
        before, "mcp_servers", "recallens", ENTRY
    )
    path = at_home / PLACES["codex", "user"]
    path.parent.mkdir(parents=True)
    path.write_bytes(old.encode())
    run("install", "--client", "codex")
    assert "# >>>" not in path.read_text()
    run("install", "--client", "codex", "--undo")
    assert path.read_bytes() == before.encode()


def test_what_was_written_behind_our_table_stays_when_it_goes() -> None:
    made = toml_table.put(BEFORE[".toml"], "mcp_servers", "recallens", ENTRY)
    for behind in (
        "\n# the next one\n[mcp_servers.next]\ncommand = 'z'  # mine\n",
        "# close by\n[other]\na = [1,\n 2]\n",
    ):
        assert toml_table.take(made + behind, "mcp_servers", "recallens") == BEFORE[".toml"] + behind


def test_scopes_are_named_as_the_options() -> None:
    assert [*ClientScope] == ["project", "user"]
