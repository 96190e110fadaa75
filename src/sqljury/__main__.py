"""``python -m sqljury``: the command line where its script is not on the path."""

from sqljury.cli import main

main()
