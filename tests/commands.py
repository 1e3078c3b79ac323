"""The commands of the program: each as click has it, run in this process."""

import click

from bioeval.cli.lazy_group import COMMANDS, root


def command_of(name: str) -> click.Command:
    command = root.get_command(click.Context(root), name)
    assert command is not None
    return command


def options_of(name: str) -> list[click.Option]:
    """Return the options of a command."""
    return [param for param in command_of(name).params if isinstance(param, click.Option)]


EXAMPLES: dict[str, list[str]] = {name: command_of(name).examples for name in COMMANDS}
