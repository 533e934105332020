"""From what went wrong to one line, the next step and an exit code."""

from __future__ import annotations

import errno
import json as json_text
import os
import sys
import traceback

import click

from recallens.errors import RecallensError

EXIT_USAGE = 2
EXIT_BUG = 70
EXIT_INTERRUPTED = 130

# A command group by itself: its message is the help, not an error. Older releases of click show it without raising.
_NOTHING_ASKED: tuple[type[click.ClickException], ...] = tuple(
    filter(None, [getattr(click.exceptions, "NoArgsIsHelpError", None)])
)


def report(error: BaseException, *, json: bool) -> int:
    """Say it on stderr, in words or as a record; returns the exit code."""
    if isinstance(error, _NOTHING_ASKED):
        click.echo(error.format_message(), err=True)
        return EXIT_USAGE
    error = _interruption(error) or error
    code, message, hint, exit_code = _described(error)
    if json:
        record = {"code": code, "message": message} | ({"hint": hint} if hint else {})
        click.echo(json_text.dumps({"error": record}, ensure_ascii=False), err=True)
    else:
        from recallens.cli.screen import visible

        prefix = "" if isinstance(error, click.Abort | KeyboardInterrupt) else "error: "
        click.echo(visible(f"{prefix}{message}"), err=True)
        if hint:
            click.echo(visible(hint), err=True)
    if exit_code == EXIT_BUG and os.environ.get("RECALLENS_DEBUG") == "1":
        traceback.print_exception(error)
    return exit_code


def _interruption(error: BaseException | None) -> KeyboardInterrupt | None:
    """What interrupted: inside the import of a compiled module, Ctrl-C comes out as an ImportError or a SystemError."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, KeyboardInterrupt):
            return error
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return None


def _described(error: BaseException) -> tuple[str, str, str | None, int]:
    """The code, the message, the next step and the exit code."""
    match error:
        case RecallensError():
            return type(error).__name__, error.message, error.hint, error.exit_code
        case click.UsageError():
            hint = f"See `{error.ctx.command_path} --help`." if error.ctx else None
            return "UsageError", error.format_message(), hint, EXIT_USAGE
        case click.ClickException():
            return type(error).__name__, error.format_message(), None, error.exit_code
        case OSError(errno=errno.ENAMETOOLONG):
            return "InvalidInput", f"a name is too long for a file: {str(error.filename)[-60:]}", None, EXIT_USAGE
        case click.Abort() | KeyboardInterrupt():
            return "Interrupted", "interrupted; everything acknowledged so far is kept", None, EXIT_INTERRUPTED
        case _:
            return (
                "Unexpected",
                f"unexpected {type(error).__name__}: {error}",
                "This is a bug in Recallens; what was acknowledged is kept. RECALLENS_DEBUG=1 shows the trace.",
                EXIT_BUG,
            )


def print_anything() -> None:
    """A terminal that is not UTF-8 gets escapes for what it cannot show, instead of a crash."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None and (stream.encoding or "").lower().replace("-", "") != "utf8":
            reconfigure(errors="backslashreplace")
