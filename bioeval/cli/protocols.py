"""``bioeval protocols``: list, explain and check protocol cards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

HELP = """List the protocols, or explain CARD: a protocol's name, or the path of a card (.toml).

\b
Examples:
  bioeval protocols
  bioeval protocols course-all-vs-all
  bioeval protocols my-protocol.toml --check
"""


@click.command("protocols", help=HELP, short_help="List, explain and check protocol cards.")
@click.argument("card", required=False)
@click.option("--check", is_flag=True, help="Say only whether the card is valid.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(card: str | None, check: bool, as_json: bool) -> None:
    """List, explain or check cards."""
    from bioeval.cli.console import show_json
    from bioeval.protocol import available, explain, load

    cards = [load(name) for name in (available() if card is None else [card])]
    if as_json:
        documents = [_plain(one) for one in cards]
        show_json(documents if card is None else documents[0])
    elif check:
        for one in cards:
            click.echo(f"{one.path or one.name}: valid; protocol {one.name}, for {one.layout}")
    elif card is None:
        _list(cards)
    else:
        click.echo(explain(cards[0]).rstrip("\n"))


def _list(cards: list[Any]) -> None:
    """Print a table of the cards."""
    from rich.table import Table

    from bioeval.cli.console import show

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for head in ("protocol", "layout"):
        table.add_column(head, no_wrap=True)
    table.add_column("what it is", overflow="fold")
    for one in cards:
        table.add_row(one.name, one.layout, one.title)
    show(table)


def _plain(card: Any) -> dict[str, Any]:
    """Return a card as plain values."""
    names = ("name", "title", "summary", "layout", "tasks", "settings", "not_said", "path")
    return {name: _thaw(getattr(card, name)) for name in names}


def _thaw(value: Any) -> Any:
    return {k: _thaw(v) for k, v in value.items()} if isinstance(value, Mapping) else value
