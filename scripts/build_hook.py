"""What a wheel and an sdist have that the repository has in another form.

The wheel has the cards of ``protocols/`` as ``bioeval/protocol/cards/*.toml``. In a checkout
``bioeval/protocol/cards`` is a symbolic link to ``protocols/``, or a text file with the path where
links cannot be made. There is no wheel or sdist without cards.

The long description, which a package index shows, is README.md with its links and pictures at the
address `Source` of ``[project.urls]``, in the version that is built.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


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


class ReadmeOnAnIndex(MetadataHookInterface):
    """Writes the long description, whose links hold wherever it is shown."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the long description."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        source = f"{metadata['urls']['Source']}/{{}}/v{metadata['version']}"
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": with_absolute_links(text, source.format("blob"), source.format("raw")),
        }


def with_absolute_links(text: str, pages: str, pictures: str) -> str:
    """Return Markdown whose links to files of the repository begin with an address."""

    def absolute(found: re.Match[str]) -> str:
        address = pictures if found["picture"] else pages
        return f"{found['picture']}{found['shown']}({address}/{found['file']})"

    link = r"(?P<picture>!?)(?P<shown>\[[^\[\]]*\])\((?P<file>(?!#|[a-z]+:)[^()\s]+)\)"
    return re.sub(link, absolute, text)
