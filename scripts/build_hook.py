"""The wheel has the cards of ``protocols/`` as ``bioeval/protocol/cards/*.toml``.

In a checkout ``bioeval/protocol/cards`` is a symbolic link to ``protocols/``, or a text file with
the path where links cannot be made. There is no wheel or sdist without cards.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CardsAreThere(BuildHookInterface):
    """Puts the cards where the package looks for them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Look for the cards before anything is built."""
        # An sdist has the folder where the link was.
        places = [Path(self.root, "protocols"), Path(self.root, "bioeval", "protocol", "cards")]
        found = [str(place) for place in places if list(place.glob("*.toml"))]
        if not found:
            raise RuntimeError(f"{places[0]} has no protocol cards")
        if self.target_name == "wheel" and version == "standard":  # not for an editable install
            build_data["force_include"][found[0]] = "bioeval/protocol/cards"
