"""Every error that bioeval raises on purpose.

All derive from :class:`BioevalError`, so that a program (and the command line) can tell a
problem of the input from a defect of the library. Messages say what was found, where, and what
was expected.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class BioevalError(Exception):
    """Base class of every error that bioeval raises on purpose."""


class DataError(BioevalError, ValueError):
    """Scores, labels, metadata, thresholds or a file that cannot be used as they are."""


class ProtocolError(BioevalError, ValueError):
    """A task or option that these scores, by their layout or kind, cannot support."""


class CardError(BioevalError, ValueError):
    """A protocol card that is missing or not valid."""


class MergeError(BioevalError, ValueError):
    """Two tallies that do not belong together."""


class MissingDependencyError(BioevalError, ImportError):
    """An optional dependency that is not installed."""


class BioevalWarning(UserWarning):
    """A result that is right, but that a user should know something about."""


#: What other programs call a thing that has another name here.
SYNONYMS = {
    "euclidean": "l2",
    "manhattan": "l1",
    "cityblock": "l1",
    "chebyshev": "linf",
    "eucl": "l2",
    "fnmr": "frr",
    "fmr": "far",
    "market": "market1501",
    "lfw": "lfw-view2",
}


def nearest_name(name: object, choices: Iterable[object]) -> str:
    """Return ``" Did you mean 'x'?"`` for the nearest of `choices`, or an empty string."""
    by_folded = {str(choice).casefold(): str(choice) for choice in choices}
    known = SYNONYMS.get(str(name).casefold())
    if known in by_folded:
        return f" Did you mean {by_folded[known]!r}?"
    near = difflib.get_close_matches(str(name).casefold(), list(by_folded), n=1, cutoff=0.6)
    return f" Did you mean {by_folded[near[0]]!r}?" if near else ""


def bad_choice(what: str, got: object, choices: Iterable[object]) -> str:
    """Say that `got` is none of `choices`, which are listed, with the nearest one."""
    choices = list(choices)
    listed = ", ".join(repr(choice) for choice in choices)
    return f"{what} is {got!r}; expected one of {listed}.{nearest_name(got, choices)}"


def require_choice(what: str, got: object, choices: Iterable[object]) -> None:
    """Raise :class:`DataError` unless `got` is one of `choices`."""
    choices = list(choices)
    if not isinstance(got, str) or got not in choices:
        raise DataError(bad_choice(what, got, choices))
