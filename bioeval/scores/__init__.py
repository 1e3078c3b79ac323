"""Comparisons and their data: scores, labels, embeddings, blocks of rows, and their files."""

from bioeval.base.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__spec__)
