"""Rules for the cards that ship with bioeval, beyond those of every valid card."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

from bioeval.base.errors import CardError
from bioeval.protocol.card import Protocol
from bioeval.protocol.toml import read, read_file

#: Words in the text of a source that is revised from year to year.
_UNDATED = ("lecture", "ongoing")


def unmet_rules(card: Protocol) -> list[str]:
    """Return what a card lacks to ship with bioeval, one line for each rule."""
    head = {"name": card.name, "source": dict(card.source), "not_said": card.not_said}
    return _unmet(head, "" if card.path is None else PurePath(card.path).name)


def unmet_rules_of_draft(path: str) -> list[str]:
    """Return what a card that is not valid yet lacks to ship, as far as its text can be read."""
    try:
        head = read(read_file(path), path)
    except CardError:
        return []
    return _unmet(head, Path(path).name)


def _unmet(head: Mapping[str, Any], file: str) -> list[str]:
    found = []
    name, source = head.get("name"), head.get("source")
    if name is not None and file and file != f"{name}.toml":
        found.append(f'name = "{name}", but the file is {file}; expected {name}.toml')
    if not isinstance(source, Mapping):
        source = {}
    if source.get("section") is None:
        found.append("[source] section is missing; expected the section, chapter or part")
    undated = any(word in str(source.get("text", "")).lower() for word in _UNDATED)
    if source.get("year") is None and not undated:
        found.append(
            "[source] year is missing; expected the year, unless the text names a lecture or an "
            "ongoing evaluation"
        )
    if not head.get("not_said"):
        found.append("not_said is empty; expected what the card leaves open, one sentence each")
    return found
