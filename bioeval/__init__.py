"""bioeval: what the scores of a recognition system really mean.

``import bioeval as be``; the names in ``__init__.pyi`` are loaded when they are first used, so that
importing the package costs nothing.
"""

from bioeval.base.lazy import lazy_names
from bioeval.base.version import __version__ as __version__

# Names that were removed, and what does their work.
_REMOVED = {
    "extend_tally": "be.tally counts all scores again",
    "withdraw": "be.tally counts the scores that are left again",
}

__all__, __getattr__, __dir__ = lazy_names(__spec__, _REMOVED)
