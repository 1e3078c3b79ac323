"""Protocol cards: list, read, check and explain them.

A protocol says who is enrolled, who claims what, how ties and missing mates are treated, and what
is reported. A card is a TOML file with one protocol. The shipped cards are in the folder
``protocols``; ``docs/protocol-cards.md`` describes how to write another.
"""

from bioeval.base.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__spec__)
