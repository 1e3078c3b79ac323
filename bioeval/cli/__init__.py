"""The command line: one file a command or a kind of them, heavy imports inside the commands."""

from bioeval.cli.program import main as main
