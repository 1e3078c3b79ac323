"""Protocol cards: list, read, check and explain them.

A protocol says who is enrolled, who claims what, how ties and missing mates are treated, and what
is reported. A card is a TOML file with one protocol. The shipped cards are in the folder
``protocols``; ``docs/protocol-cards.md`` describes how to write another.
"""

from bioeval.base.lazy import NamesByModule, lazy_names

#: The public names, by module.
_NAMES: NamesByModule = {
    "bioeval.protocol.card": ("Protocol",),
    "bioeval.protocol.loading": (
        "available",
        "explain",
        "for_layout",
        "load",
        "of_claims",
        "parse",
    ),
}

#: What studies use besides, by module.
_FOR_STUDIES: NamesByModule = {
    "bioeval.protocol.loading": ("is_path",),
    "bioeval.protocol.pairs": ("with_exclusions",),
    "bioeval.protocol.tasks": ("ClosedSet", "OpenSet", "Reid", "Search", "Verification"),
}

__getattr__, __dir__ = lazy_names(__name__, _NAMES, _FOR_STUDIES)
