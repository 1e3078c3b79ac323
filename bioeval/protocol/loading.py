"""Protocol cards by name, by path and by layout."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bioeval.base.errors import CardError, bad_choice, received
from bioeval.protocol.card import Protocol
from bioeval.protocol.check import check_card, read_card
from bioeval.protocol.fields import PAIRS, RECTANGULAR, SQUARE, read_file

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

CARD_OF_LAYOUT = {
    SQUARE: "course-all-vs-all",
    RECTANGULAR: "course-probe-vs-gallery",
    PAIRS: "pairs",
}

#: The card of ranked lists; its layout is a matrix with probes and a gallery.
LISTS = "top-k"
CARD_OF_LISTS = "top-k"

#: The card of each layout, for names that stand for several cards.
_BY_LAYOUT = {
    "auto": {**CARD_OF_LAYOUT, LISTS: CARD_OF_LISTS},
    "course-kfold": {
        SQUARE: "course-kfold",
        RECTANGULAR: "course-kfold-probe-vs-gallery",
        PAIRS: "course-kfold-pairs",
    },
}


def available() -> list[str]:
    """Return the names of the cards that ship with bioeval."""
    return sorted(_shipped_cards())


def load(
    name_or_path: str | os.PathLike[str] | Protocol,
    argument: str = "protocol",
    names: Callable[[], list[str]] = available,
) -> Protocol:
    """Return a protocol by the name of a shipped card, or by the path of a card.

    A text is a path if it ends in ``.toml`` or holds a path separator. A `Protocol` is checked
    and returned as it is. Messages call it the `argument` of the call, and list the `names`.

    Raises
    ------
    CardError
        If there is no such card, or if it is not valid.

    Examples
    --------
    >>> load("course-all-vs-all").tasks["open_set"]["ties"]
    'pessimistic'
    """
    if isinstance(name_or_path, Protocol):
        check_card(name_or_path)
        return name_or_path
    if not isinstance(name_or_path, str | os.PathLike):
        raise CardError(
            f"`{argument}` is {received(name_or_path)}; expected the name or the path of a card"
        )
    path = os.fspath(name_or_path)
    in_folder = os.sep in path or bool(os.altsep and os.altsep in path)
    if isinstance(name_or_path, os.PathLike) or path.endswith(".toml") or in_folder:
        return read_card(read_file(path), path, path)
    try:
        return _load_shipped(path)
    except KeyError:
        wrong = bad_choice(argument, path, names())
        raise CardError(f"{wrong} The path of a card ends in .toml.") from None


def for_layout(layout: str, protocol: str | os.PathLike[str] | Protocol = "auto") -> Protocol:
    """Return the card of a protocol for a layout; ``"auto"`` and ``"course-kfold"`` have several.

    Other protocols are loaded as by :func:`load`, whatever the layout.
    """
    if not isinstance(protocol, str) or protocol not in _BY_LAYOUT:
        return load(protocol)
    if layout not in _BY_LAYOUT[protocol]:
        raise CardError(bad_choice("the layout", layout, _BY_LAYOUT[protocol]))
    return _load_shipped(_BY_LAYOUT[protocol][layout])


def parse(text: str, where: str = "card") -> Protocol:
    """Return the protocol of a card's text; `where` names the text in error messages."""
    return read_card(text, where)


def _shipped_cards() -> dict[str, Traversable]:
    from importlib.resources import files  # slow to import, and seldom needed

    package = files("bioeval")
    folder = package / "protocol" / "cards"  # the folder in an installed wheel
    if not folder.is_dir():
        folder = Path(str(package)).parent / "protocols"  # the folder in a checkout
    if not folder.is_dir():
        raise CardError(
            f"{folder} is not a folder, so the protocol cards that ship with bioeval cannot be read"
        )
    return {
        item.name.removesuffix(".toml"): item
        for item in folder.iterdir()
        if item.name.endswith(".toml")
    }


@functools.cache
def _load_shipped(name: str) -> Protocol:
    card = _shipped_cards()[name]
    return read_card(card.read_text(encoding="utf-8"), card.name, str(card))


def of_claims(card: Protocol) -> Protocol:
    """Return the card for claim scores: verification alone, of single comparisons."""
    verification = replace(card.section("verification"), templates=("single",))
    return replace(card, verification=verification, open_set=None, closed_set=None)
