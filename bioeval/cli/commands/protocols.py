"""``bioeval protocols``: list and explain protocol cards."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.command import option
from bioeval.cli.console import terminal_width
from bioeval.cli.shared import shared

if TYPE_CHECKING:
    from bioeval.cli.running import Run
    from bioeval.protocol.card import Protocol

_LEAST_WIDTH = 20


@click.argument("card", required=False)
@option("--toml", "Print the card as TOML, to copy and change.", bool)
@shared(files=False, page=False, name=False, reading=False)
def protocols_command(run: Run, toml: bool, card: str | None = None) -> None:
    """List the protocols, or explain CARD, a protocol's name or card file (.toml).

    bioeval protocols
    bioeval protocols course-all-vs-all --terms iso
    """
    from bioeval.protocol.loading import available, load

    if run.markup and card is not None:
        raise click.UsageError(f"--{run.markup} is for the table of all cards, without CARD")
    if toml and (card is None or run.as_json):
        raise click.UsageError("--toml needs one CARD, and no --json")
    cards = list(map(load, available() if card is None else [card]))
    if card is None:
        run.keep(_listed(cards), [one.as_tables() for one in cards])
    else:
        text = cards[0].to_toml() if toml else _explained(cards[0], run.terms)
        run.keep(text, cards[0].as_tables())


def _explained(card: Protocol, terms: Any) -> str:
    from bioeval.protocol.explanation import explain
    from bioeval.showing.text import say
    from bioeval.showing.writers.lines import Lines

    # Lines longer than usual would be hard to read, however wide the terminal.
    width = min(terminal_width(), 92)

    def in_terms(template: str, task: str) -> str:
        if terms == "iso":  # has no other name for 1 - FNMR
            template = re.sub(r" = 1 - \{[a-z]+\}$", "", template)
        task_of_rates = "verification"
        if task.endswith("_set") or re.search(r"\{(dir|cms)\}", template):
            task_of_rates = "identification"
        return Lines(terms, task_of_rates).write(say(template))

    return explain(card, max(width, _LEAST_WIDTH), say=in_terms).rstrip("\n") + "\n"


def _listed(cards: list[Any]) -> Any:
    """Return the cards as a document: one per line, or on several lines in a narrow terminal."""
    from bioeval.showing.blocks import Column, Section, Table
    from bioeval.showing.writers.terminal import TerminalDocument

    columns = (
        Column("protocol", "protocol"),
        Column("layout", "layout"),
        Column("title"),
    )
    rows = [(card.name, card.layout, card.title) for card in cards]
    return TerminalDocument(Section("protocols", "", (Table("protocols", columns, rows),)))
