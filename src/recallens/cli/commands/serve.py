from __future__ import annotations

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.options import TEXT, shared
from recallens.errors import InvalidInput

NEEDED = ("starlette", "uvicorn", "pydantic", "jinja2")


@click.command()
@click.option("--host", metavar="HOST", type=TEXT, default="127.0.0.1",
              help="Where to listen (127.0.0.1); elsewhere only with tokens.")  # fmt: skip
@click.option("--port", metavar="PORT", type=click.IntRange(0, 65535), default=8765,
              help="The port (8765); 0 takes a free one.")  # fmt: skip
@click.option("--open", "open_page", is_flag=True, help="Open the page in a browser.")
@click.option("--allow-host", "allow_hosts", metavar="NAME", type=TEXT, multiple=True,
              help="Another name under which it is asked for, such as a proxy's; repeat it for several.")  # fmt: skip
@click.option("--threads", metavar="N", type=click.IntRange(1, 64), help="Requests worked on at a time.")
@click.option("--deadline", metavar="SECONDS", type=click.FloatRange(min=0.1, max=3600), default=30.0,
              help="A request that takes longer is answered 504 (30).")  # fmt: skip
@click.option("--access-log", is_flag=True, help="A line a request on standard error: route, status, time.")
@click.option("--spans", is_flag=True, help="OpenTelemetry spans, where it is installed and set up.")
@shared
@pass_given
def serve(
    given: Given, /, host: str, port: int, open_page: bool, allow_hosts: tuple[str, ...], threads: int | None,
    deadline: float, access_log: bool, spans: bool,
) -> None:  # fmt: skip
    """Answer over HTTP: the API at /v1, its description at /openapi.json, the page at /. Ctrl-C stops it.

    Without a token it answers this machine alone. `recallens token create` makes one; from then on every
    request needs it.

    \b
    recallens serve --open
    curl "http://127.0.0.1:8765/v1/search?q=how+long+are+lookups+cached"
    """
    import logging
    from importlib.util import find_spec

    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise InvalidInput(f"serving needs {', '.join(missing)}:", hint='pip install "recallens[serve]"')
    from recallens.http.limits import Limits
    from recallens.server import address_of, listening, refuse_open_doors, run, whole

    logging.basicConfig(level=logging.INFO if access_log else logging.WARNING, format="%(levelname)s %(message)s")
    limits = Limits(deadline=deadline) if threads is None else Limits(deadline=deadline, threads=threads)
    with given.engine(create=True) as engine:
        refuse_open_doors(engine, host)
        with listening(host, port) as listener:
            address = address_of(listener, host)
            app = whole(engine, host=host, allow_hosts=allow_hosts, limits=limits, spans=spans, access_log=access_log)
            run(app, listener, started=lambda: _say(given, address, engine.tokens.guarded(), open_page))
    given.note("stopped")


def _say(given: Given, address: str, guarded: bool, open_page: bool) -> None:
    if given.json:
        import json

        click.echo(json.dumps({"address": address, "guarded": guarded}))
    else:
        click.echo(address)
        given.note("every request needs a token" if guarded else "open to this machine, without a token")
        given.note("Ctrl-C stops it")
    if open_page:
        import webbrowser

        webbrowser.open(address)
