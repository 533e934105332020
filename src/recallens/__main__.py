"""`python -m recallens` is the `recallens` command."""

from recallens.cli.main import main

main()
