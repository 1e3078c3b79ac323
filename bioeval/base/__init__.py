"""Common to all layers: errors, result variables, argument checks, random numbers."""

from bioeval.base.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__spec__)
