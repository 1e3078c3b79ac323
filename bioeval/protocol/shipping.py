"""Rules for the cards that ship with bioeval, beyond those of every valid card."""

from __future__ import annotations

from pathlib import PurePath

from bioeval.protocol.card import Protocol

#: Words in the text of a source that is revised from year to year.
_UNDATED = ("lecture", "ongoing")


def unmet_rules(card: Protocol) -> list[str]:
    """Return what a card lacks to ship with bioeval, one line for each rule.

    Examples
    --------
    >>> from bioeval import protocol
    >>> unmet_rules(protocol.load("market1501"))
    []
    """
    found = []
    file = "" if card.path is None else PurePath(card.path).name
    if file and file != f"{card.name}.toml":
        found.append(f'name = "{card.name}", but the file is {file}; expected {card.name}.toml')
    if card.source.section is None:
        found.append("[source] section is missing; expected the section, chapter or part")
    undated = any(word in card.source.text.lower() for word in _UNDATED)
    if card.source.year is None and not undated:
        found.append(
            "[source] year is missing; expected the year, unless the text names a lecture or an "
            "ongoing evaluation"
        )
    if not card.not_said:
        found.append("not_said is empty; expected what the card leaves open, one sentence each")
    return found
