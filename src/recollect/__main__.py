"""`python -m recollect` is the `recollect` command."""

from recollect.cli.main import main

main()
