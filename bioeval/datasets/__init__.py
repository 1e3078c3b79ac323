"""Real data that come with bioeval: :func:`faces`, 400 images of 40 people."""

from bioeval.base.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__spec__)
