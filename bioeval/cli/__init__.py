"""The command line: one file a command or a kind of them, heavy imports inside the commands."""

from bioeval.base.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__spec__)
