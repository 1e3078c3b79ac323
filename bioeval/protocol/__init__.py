"""Protocol cards: list, read, check and explain them.

A protocol says who is enrolled, who claims what, how ties and missing mates are treated, and what
is reported. A card is a TOML file with one protocol. The shipped cards are in the folder
``protocols``; ``docs/protocol-cards.md`` describes how to write another.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
