"""Problems of a card, each with the line where it was found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bioeval.base.errors import CardError
from bioeval.protocol.toml import Place, shorten


class Problems:
    """What is wrong with a card: `where` names it, and `lines` has the line of each field."""

    def __init__(self, where: str, lines: Mapping[Place, int]) -> None:
        self.where = where
        self.lines = lines
        self.found: list[tuple[int, str]] = []

    def add(self, place: Place, message: str) -> None:
        """Add a problem, on the line of the nearest section or field that has one."""
        while place and place not in self.lines:
            place = place[:-1]  # a field of an inline table, or one that is missing
        self.found.append((self.lines.get(place, 0), message))

    def add_unused(self, section: str, key: str, value: object, why: str) -> None:
        """Add a value that has no meaning beside the others."""
        found = shorten(list(value) if isinstance(value, tuple) else value)
        self.add(
            (section, key),
            f"[{section}] {key} = {found} has no meaning {why}; expected to be left out",
        )

    def raise_if_any(self) -> None:
        """Raise one :class:`CardError` of all problems, in the order of their lines."""
        if self.found:
            ordered = sorted(self.found, key=lambda problem: problem[0])
            lines = [
                f"{self.where}{f', line {line}' if line else ''}: {message}"
                for line, message in ordered
            ]
            raise CardError("\n".join(lines))


def brackets(names: Iterable[str]) -> str:
    """Return names of sections as they are written in a card: ``[a], [b]``."""
    return ", ".join(f"[{name}]" for name in names)
