"""``bioeval protocols``: list and explain protocol cards."""

from __future__ import annotations

import re
from typing import Any

import click

from bioeval.cli.command import Command, option
from bioeval.cli.console import put, show_json, terminal_width
from bioeval.cli.options import shared_options
from bioeval.cli.outputs import Output
from bioeval.views.show import print_table

_LEAST_WIDTH = 20


@click.command("protocols", cls=Command)
@click.argument("card", required=False)
@option("--toml", "Print the card as TOML, to copy and change.", bool)
@shared_options(files=False, page=False, name=False, reading=False)
def protocols_command(card: str | None, toml: bool, terms: str, **options: Any) -> None:
    """List the protocols, or explain CARD, a protocol's name or card file (.toml).

    bioeval protocols
    bioeval protocols course-all-vs-all --terms iso
    """
    from bioeval.document.text import say
    from bioeval.protocol.explanation import explain
    from bioeval.protocol.loading import available, load
    from bioeval.views.writers.lines import Lines

    printed = Output.take(options)
    as_json, markup = printed.as_json, printed.markup
    if markup and card is not None:
        raise click.UsageError(f"--{markup} is for the table of all cards, without CARD")
    cards = list(map(load, available() if card is None else [card]))
    if toml:
        if card is None or as_json:
            raise click.UsageError("--toml needs one CARD, and no --json")
        put(cards[0].to_toml())
    elif as_json:
        tables = [one.as_tables() for one in cards]
        show_json(tables if card is None else tables[0])
    elif card is None:
        print_table(_listed(cards), markup)
    else:
        # Lines longer than usual would be hard to read, however wide the terminal.
        width = min(terminal_width(), 92)

        def in_terms(template: str, task: str) -> str:
            if terms == "iso":  # has no other name for 1 - FNMR
                template = re.sub(r" = 1 - \{[a-z]+\}$", "", template)
            of = "verification"
            if task.endswith("_set") or re.search(r"\{(dir|cms)\}", template):
                of = "identification"
            return Lines(terms, of).write(say(template))

        put(explain(cards[0], max(width, _LEAST_WIDTH), say=in_terms).rstrip("\n") + "\n")


def _listed(cards: list[Any]) -> Any:
    """Return the cards as a document: one per line, or on several lines in a narrow terminal."""
    from bioeval.document.blocks import Column, Section, Table
    from bioeval.views.writers.terminal import TerminalDocument

    columns = (
        Column("protocol", "protocol"),
        Column("layout", "layout"),
        Column("title"),
    )
    rows = [(card.name, card.layout, card.title) for card in cards]
    return TerminalDocument(Section("protocols", "", (Table("protocols", columns, rows),)))
