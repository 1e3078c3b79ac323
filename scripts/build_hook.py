"""A check of the build: no wheel or sdist without the protocol cards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CardsAreThere(BuildHookInterface):
    """Refuses to build where ``bioeval/protocol/cards`` leads to no cards.

    It is a symbolic link to ``protocols/``; a clone without symbolic links has a text file there.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Look for the cards before anything is built."""
        folder = Path(self.root, "bioeval", "protocol", "cards")
        if not list(folder.glob("*.toml")):
            raise RuntimeError(
                f"{folder} has no protocol cards; it must be a link to ../../protocols. On "
                "Windows, clone with: git clone -c core.symlinks=true"
            )
