"""``bioeval help``: the help of a command, and all examples."""

from __future__ import annotations

import click

from bioeval.cli.console import put
from bioeval.cli.examples import EXAMPLES, all_examples
from bioeval.cli.options import Command


@click.command("help", cls=Command)
@click.argument("words", nargs=-1, metavar="[examples] [COMMAND]")
@click.pass_context
def command(ctx: click.Context, words: tuple[str, ...]) -> None:
    """Print the help of a command; with `examples`, all its examples.

    Without a command, `bioeval help` prints the list of commands, and `bioeval help examples` the
    number of examples of each.
    """
    examples = words[:1] == ("examples",)
    names = words[1:] if examples else words
    root = ctx.find_root()
    assert isinstance(root.command, click.Group)
    if len(names) > 1:
        raise click.UsageError(f"expected one command, not {len(names)}: {' '.join(names)}")
    if not names:
        put(f"{_counts() if examples else root.get_help()}\n")
        return
    _, found, _ = root.command.resolve_command(root, [*names])
    assert found is not None
    if examples and names[0] not in EXAMPLES:
        raise click.UsageError(f"{names[0]!r} has no other examples than those of its help")
    inner = click.Context(found, info_name=names[0], parent=root)
    put(f"{all_examples(names[0]) if examples else found.get_help(inner)}\n")


def _counts() -> str:
    """Return the commands with their numbers of examples."""
    lines = [f"  {name:17} {len(found):2}" for name, found in EXAMPLES.items()]
    head = "Numbers of examples; bioeval help examples COMMAND prints them:"
    return "\n".join([head, *lines])
