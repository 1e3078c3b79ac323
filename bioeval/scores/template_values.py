"""A value for each template of both sides: a metadata column, or arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.base.errors import Argument, DataError, counted, nearest_name, received
from bioeval.scores.labels import missing_values, one_dimensional
from bioeval.scores.matrix import Scores, are_pairs

Sides = tuple[np.ndarray, np.ndarray]


def template_columns(scores: Scores, given: Any, what: str, gallery: bool = True) -> Sides:
    """Return a value for each template of both sides; no value may be missing.

    - `given` (str, array_like, or pair of array_like): a metadata column that both sides have; one
      value a template of all-against-all scores; or the values of the probes and those of the
      gallery (of listed pairs, of their two sides)
    - `what`: the argument, for messages
    - `gallery`: without, a metadata column may be of the probes alone, and stands for both sides
    """
    named = isinstance(given, str)
    if named and not gallery and not are_pairs(scores) and given in scores.probe_meta:
        sides = scores.probe_meta[given], scores.probe_meta[given]
    elif named:
        sides = _column(scores, given, what)
    elif _is_pair(given):
        m, n = scores.shape[0], scores.shape[-1]
        sides = _values(given[0], what, m), _values(given[1], what, n)
    elif are_pairs(scores) or scores.probe_ids is not scores.gallery_ids:
        raise DataError(
            f"{Argument(what)} is {type(given).__name__}; expected the name of a metadata column, "
            f"or a pair of arrays: {_lengths(scores)}"
        )
    else:
        column = _values(given, what, scores.shape[0])
        sides = column, column
    for side, name in zip(sides, ("probe", "gallery template"), strict=True):
        _require_known(side, what, given, name)
    return sides


def _is_pair(given: Any) -> bool:
    """Whether two columns are given, rather than two values."""
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        return False
    return all(hasattr(x, "__len__") and not isinstance(x, (str, bytes)) for x in given)


def _column(scores: Scores, name: str, what: str) -> Sides:
    """Return a metadata column of both sides; the error names those there are."""
    if are_pairs(scores):
        raise DataError(
            f"{Argument(what)} is {received(name)}, but a list of pairs has no metadata; in "
            "Python, give a "
            f"pair of arrays: {_lengths(scores)}"
        )
    probe, gallery = scores.probe_meta, scores.gallery_meta
    known = [column for column in probe if column in gallery]
    if name in known:
        return probe[name], gallery[name]
    there = "probes and gallery have no column in common"
    if known:
        there = f"both sides have: {', '.join(known)}"
    if name in probe:
        side = "the gallery"
    elif name in gallery:
        side = "the probe"
    else:
        side = "the"
    raise DataError(
        f"{Argument(what)} is {received(name)}, but {side} metadata have no such column; "
        f"{there}.{nearest_name(name, known)} Metadata are read with {Argument('meta')}"
    )


def _lengths(scores: Scores) -> str:
    if are_pairs(scores):
        return f"of both sides of the {counted(scores.shape[0], 'pairs')}"
    m, n = scores.shape
    return f"of the {counted(m, 'probes')} and of the {counted(n, 'gallery templates')}"


def _values(given: Any, what: str, length: int) -> np.ndarray:
    values = one_dimensional(given, str(Argument(what)))
    if len(values) != length:
        raise DataError(
            f"{Argument(what)} has {len(values)} values; expected {length}, one per template"
        )
    return values


def _require_known(values: np.ndarray, what: str, given: Any, side: str) -> None:
    """Raise :class:`DataError` where values are missing: None, NaN, or an empty text."""
    missing = missing_values(values)
    if values.dtype.kind in "UO":
        missing = missing | np.array([isinstance(x, str) and not x for x in values], dtype=bool)
    if missing.any():
        column = ""
        if isinstance(given, str):
            column = f" of the column {given!r}"
        raise DataError(
            f"{Argument(what)}: {counted(int(missing.sum()), 'missing values')}{column} (None, "
            f"NaN or empty), the first that of {side} {int(np.argmax(missing))}; leave those "
            "templates out, or give them a separate value"
        )
