"""Integer counts that merge, the sweeps that fill them, and operating points from counts."""

from bioeval.base.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__spec__)
