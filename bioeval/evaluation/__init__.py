"""The public calls: one task, a card, rates at a threshold."""

from bioeval.base.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__spec__)
