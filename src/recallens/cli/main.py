"""The `recallens` command: a table of commands, each loaded only when it is asked for, so that --help costs nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from recallens import __version__
from recallens.cli import failures
from recallens.cli.given import Given
from recallens.cli.options import shared_options

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class CommandEntry(NamedTuple):
    """Where a command lives: a module of `recallens.cli.commands` and a name in it."""

    module: str
    attribute: str
    about: str


SECTIONS: Mapping[str, Mapping[str, CommandEntry]] = {
    "Keep": {
        "init": CommandEntry("store", "init", "Make a store, or say what the one that is there uses."),
        "remember": CommandEntry("remember", "remember", "Keep a text, a file, or many memories from JSON lines."),
        "import": CommandEntry("transfer", "import_store", "Take in what other programs keep, or an export."),
        "session": CommandEntry("sessions", "session", "Start, end and look into the sessions of an agent."),
        "task": CommandEntry("tasks", "task", "Start, log, end and list tasks with their rewards."),
        "used": CommandEntry("tasks", "used", "Say which memories were of use, and in which task."),
        "vault": CommandEntry(
            "vaults", "vault", "Keep a folder of markdown as memory: add, sync, watch, list, remove."
        ),
    },
    "Ask": {
        "search": CommandEntry("search", "search", "Find memories by words and by meaning, and say why."),
        "retrieve": CommandEntry("context", "retrieve", "One context string from every source, within a budget."),
        "documents": CommandEntry("search", "documents", "Find passages of the documents that were added."),
        "context": CommandEntry("context", "context", "What an agent should know for a task, within a token budget."),
        "influence": CommandEntry("memories", "influence", "Whom a memory reached: recalls and texts made of it."),
        "show": CommandEntry("memories", "show", "One memory in full: text, citations, relations, session."),
        "timeline": CommandEntry("memories", "timeline", "What came before and after a memory."),
        "details": CommandEntry("memories", "details", "The full logs of a task, or a memory in full."),
        "skill": CommandEntry("crafts", "skill", "Get or add a skill: principles, pitfalls, how to."),
        "patterns": CommandEntry("crafts", "patterns", "Search or add what has worked before."),
        "gotchas": CommandEntry("crafts", "gotchas", "Search or add known issues and their resolutions."),
        "list": CommandEntry("memories", "list_memories", "Browse memories, newest first."),
    },
    "Explain": {
        "xray": CommandEntry("explain", "xray", "Ask, and see why each memory came, in full."),
        "explain": CommandEntry("explain", "explain", "The X-ray of a recorded search: by id, or a session's last."),
        "why-not": CommandEntry("why_not", "why_not", "Why a memory did not come, and what would bring it in."),
        "replay": CommandEntry("replay", "replay", "A recorded search again, and what differs now."),
        "diff": CommandEntry("replay", "diff", "What changed between two recorded searches, and why."),
        "verify": CommandEntry("replay", "verify", "Whether what a certificate rests on still stands."),
        "audit": CommandEntry("access", "audit", "Who did what with which memories: verify, anchor, list, anomalies."),
    },
    "Connect": {
        "mcp": CommandEntry("connect", "mcp", "Serve an agent over MCP, on stdin and stdout or HTTP."),
        "install": CommandEntry("install", "install", "Write the MCP server and hooks into a client's configuration."),
        "hook": CommandEntry("hook", "hook", "What a client's hooks run, set up by `install --hooks`."),
        "worker": CommandEntry("store", "worker", "Encode what waits, until Ctrl-C; any number beside a server."),
        "serve": CommandEntry("connect", "serve", "Answer over HTTP: the API, the page and MCP, until Ctrl-C."),
    },
    "Curate": {
        "edit": CommandEntry("curation", "edit", "Give a memory a new text; the old one stays as history."),
        "supersede": CommandEntry("curation", "supersede", "Say that one memory replaces another."),
        "relate": CommandEntry("curation", "relate", "Link two memories."),
        "confirm": CommandEntry("curation", "confirm", "Say that a memory proved right."),
        "pin": CommandEntry("upkeep", "pin", "Tell memories first at the start of every session."),
        "until": CommandEntry("upkeep", "until", "Say until when a memory holds."),
        "undo": CommandEntry("upkeep", "undo", "Take the last change back."),
        "deemphasise": CommandEntry("curation", "deemphasise", "Halve a memory's weight, and keep it."),
        "forget": CommandEntry("curation", "forget", "Hide memories, or with --hard delete them for good."),
        "restore": CommandEntry("curation", "restore", "Bring forgotten memories back."),
        "cite": CommandEntry("review", "cite", "Check whether what memories cite is still there."),
        "review": CommandEntry("review", "review", "Decide on memories that wait for a decision."),
    },
    "Look after": {
        "stats": CommandEntry("store", "stats", "What the store holds."),
        "store": CommandEntry("servers", "store", "Of a store on a server: index large namespaces, distribute it."),
        "doctor": CommandEntry("store", "doctor", "Check the store, and name the next step for each problem."),
        "encoder": CommandEntry("configuration", "encoder", "Find, choose or clear the encoder."),
        "reindex": CommandEntry("store", "reindex", "Build everything derived anew; change the encoder."),
        "backup": CommandEntry("store", "backup", "Copy the store while others go on using it."),
        "export": CommandEntry("transfer", "export_store", "Write everything of the store as JSON lines."),
        "migrate": CommandEntry("transfer", "migrate_store", "Move a store to another file or a server, and compare."),
        "prune": CommandEntry("store", "prune", "Delete for good what was forgotten long ago."),
        "namespace": CommandEntry("configuration", "namespace", "List or remove namespaces."),
        "eval": CommandEntry("evaluation", "evaluation", "Measure recall on sets of judged questions."),
        "token": CommandEntry("access", "token", "Make, list and revoke the tokens that `serve` asks for."),
        "config": CommandEntry("configuration", "config", "The settings in force and where each came from."),
        "trust": CommandEntry("configuration", "trust", "Let a project file set what names a place or a key."),
        "completion": CommandEntry("install", "completion", "Print the completion script of a shell."),
    },
}
# What most people need: these are shown with what they do, the others by name.
EVERYDAY = (
    "remember", "import", "vault", "search", "context", "show", "list", "xray", "why-not", "install", "serve", "edit",
    "forget", "review", "stats", "doctor",
)  # fmt: skip
COMMANDS: Mapping[str, CommandEntry] = {name: entry for section in SECTIONS.values() for name, entry in section.items()}

EXIT_CODES = """\b
Exit codes:
  0  done          3  no such memory, session or store   6    a token does not grant it
  1  failed        4  the store cannot be used           70   a bug in Recallens
  2  wrong input   5  the encoder cannot be used         130  interrupted
  7  changed by another meanwhile
"""


class LazyGroup(click.Group):
    """A group whose commands are imported by name; help and completion read the table instead."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command: click.Command = getattr(import_module(f"recallens.cli.commands.{entry.module}"), entry.attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0]
        if word not in COMMANDS and not word.startswith("-") and not ctx.resilient_parsing:
            from recallens.cli.suggestions import no_such_command

            raise click.UsageError(no_such_command(word, COMMANDS), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The everyday commands with what they do, then the others: what each does, its own help says."""
        for title, section in SECTIONS.items():
            shown = [(name, entry.about) for name, entry in section.items() if name in EVERYDAY]
            if shown:
                with formatter.section(title):
                    formatter.write_dl(shown)
        with formatter.section("More, each with --help"):
            formatter.write_dl([
                (title, ", ".join(others)) for title, section in SECTIONS.items()
                if (others := [name for name in section if name not in EVERYDAY])
            ])  # fmt: skip

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        names = [
            CompletionItem(name, help=entry.about) for name, entry in COMMANDS.items() if name.startswith(incomplete)
        ]
        return names + click.Command.shell_complete(self, ctx, incomplete)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            done = super().invoke(ctx)
            sys.stdout.flush()
            return done
        except BrokenPipeError:
            # The reader (`| head`) has all it wanted. Nothing may be written to the pipe again, not even at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return None

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        words = sys.argv[1:] if args is None else list(args)
        # Known before anything is parsed, so that an error of parsing is spelled as was asked too.
        given = Given(json="--json" in words)
        failures.print_anything()
        try:
            code = super().main(words, "recallens", complete_var, standalone_mode=False, obj=given, **extra)
        except (Exception, KeyboardInterrupt) as error:
            code = failures.report(error, json=given.json)
        sys.exit(code if isinstance(code, int) else 0)


@click.group(cls=LazyGroup, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", message="%(prog)s %(version)s")
@shared_options
def main() -> None:
    """Memory for AI agents that says why it remembered.

    \b
    recallens remember "We cache tracking lookups for 60 seconds"
    recallens search "how long are lookups cached"
    """
