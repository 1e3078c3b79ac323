"""Tallies into labelled rates, one file for each task; no result reads a score matrix."""

from bioeval.base.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__spec__)
