"""What keeps the systems of a page from being read side by side: other attempts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bioeval.views.page.parts import PageItem
from bioeval.views.terms import term_translator

#: The attribute of results that says what a system lacks of another one.
NOT_SHARED = "not_shared"

_CLASSES = ("genuine_attempts", "impostor_attempts")


def doubts_of_systems(parts: list[PageItem]) -> list[dict[str, Any]]:
    """Return warnings about systems that do not share their attempts."""
    said = [(part.title, term_translator(part.dataset)(text)) for part, text in _attempts(parts)]
    return [{"text": text, "of": of, "serious": True} for of, text in dict.fromkeys(said)]


def _attempts(parts: list[PageItem]) -> Iterator[tuple[PageItem, str]]:
    """Return a warning of systems whose numbers of attempts differ from the first's."""
    first: dict[str, tuple[str, list[int]]] = {}
    for part in sorted(parts, key=lambda part: part.place):
        if not all(name in part.dataset and not part.dataset[name].ndim for name in _CLASSES):
            continue
        numbers = [int(part.dataset[name]) for name in _CLASSES]
        system, known = first.setdefault(part.task, (part.system, numbers))
        text = str(part.dataset.attrs.get(NOT_SHARED, ""))
        if not text and numbers != known:
            text = (
                f"{system} and {part.system} have different attempts: {system} {known[0]:,} "
                f"genuine and {known[1]:,} impostor, {part.system} {numbers[0]:,} and "
                f"{numbers[1]:,}"
            )
        if text:
            text += ". Rates are of different data; bioeval compare uses the common data"
            yield part, text
