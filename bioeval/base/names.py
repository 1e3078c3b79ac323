"""The description of a variable: its attributes in every result."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Name:
    """What a variable of a result means.

    Attributes
    ----------
    long_name : str
        In words.
    units : str
        ``"1"`` for rates, ``"attempts"``, ``"probes"``, ``"score"`` (the user's own units) ...
    iso : str
        The term of ISO/IEC 19795-1, where it has one.
    """

    long_name: str
    units: str = "1"
    iso: str = ""

    def attrs(self) -> dict[str, str]:
        """Return the attributes of a variable of this name."""
        given = {"long_name": self.long_name, "units": self.units, "iso_term": self.iso}
        return {k: v for k, v in given.items() if v}
