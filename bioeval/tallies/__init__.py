"""Integer counts that merge, the passes that fill them, and operating points from counts."""

from bioeval.base.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__spec__)
