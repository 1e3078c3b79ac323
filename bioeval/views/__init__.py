"""Views of results: tables and plots."""

from bioeval.base.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__spec__)
