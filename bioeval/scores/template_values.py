"""A value for each template of both sides: a metadata column, or arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.base.errors import DataError, counted, nearest_name, received
from bioeval.base.messages import Message
from bioeval.scores.joining import in_order
from bioeval.scores.labels import missing_values, one_dimensional
from bioeval.scores.matrix import Scores
from bioeval.scores.metadata import unknown_values

Sides = tuple[np.ndarray, np.ndarray]


def template_columns(
    scores: Scores, columns: Any, input_name: str, *, of_probes: bool = False
) -> tuple[Sides, tuple[Message, ...]]:
    """Return a value for each template of both sides, and remarks.

    - `columns` (str, array_like, or pair of array_like): a metadata column that both sides have;
      one value for each template of all-against-all scores; or the values of the probes and of the
      gallery (for listed pairs, of the probe and of the enrolled template of each pair)
    - `input_name`: the name of the argument, for messages
    - `of_probes`: whether only probes have values; those of the gallery are then empty

    Values with names are joined by them.
    """
    names = scores.probe_names, scores.gallery_names
    argument = f"`{input_name}`"
    remarks = dict[Message, None]()

    def joined(values: Any, side: int) -> np.ndarray:
        in_scores_order = in_order(values, names[side], argument)
        remarks.update(dict.fromkeys(in_scores_order.remarks))
        return _values(in_scores_order.values, input_name, scores.shape[-side])

    if of_probes:
        if isinstance(columns, str):
            probe = _column(scores, columns, input_name, of_probes)[0]
        else:
            probe = joined(columns, 0)
        return (_values(probe, input_name, scores.shape[0]), np.empty(0)), (*remarks,)
    if isinstance(columns, str):
        sides = _column(scores, columns, input_name)
    elif is_pair(columns):
        sides = joined(columns[0], 0), joined(columns[1], 1)
    elif scores.layout == "pairs" or scores.probe_ids is not scores.gallery_ids:
        raise DataError(
            f"`{input_name}` is {type(columns).__name__}; expected the name of a metadata "
            f"column, or a pair of arrays: {_lengths(scores)}"
        )
    else:
        column = joined(columns, 0)
        sides = column, column
    return sides, (*remarks,)


def with_known_values(
    scores: Scores, columns: Any, input_name: str, *, of_probes: bool = False
) -> tuple[Scores, Sides]:
    """Return the scores of templates with a known value, with a remark on the rest, and the values.

    If the values are `of_probes`, all gallery templates stay. Raise :class:`DataError` if no
    template of a side has a known value.
    """
    sides, remarks = template_columns(scores, columns, input_name, of_probes=of_probes)
    scores = scores.with_remarks(*remarks) if remarks else scores
    name = columns if isinstance(columns, str) else ""
    is_known = [~unknown_values(side, name) for side in sides]
    if is_known[0].all() and is_known[1].all():
        return scores, sides
    remark = Message(
        "unknown-values",
        column=name or input_name,
        probes=int((~is_known[0]).sum()),
        templates=int((~is_known[1]).sum()),
        treatment="they are left out",
    )
    if scores.layout == "pairs" and not of_probes:
        is_known = [is_known[0] & is_known[1]] * 2
    for side, is_known_of_side, noun in zip(
        sides, is_known, ("probe", "gallery template"), strict=True
    ):
        if not is_known_of_side.any() and len(side):
            _require_known(side, input_name, columns, noun)
    places = np.flatnonzero(is_known[0]), np.flatnonzero(is_known[1])
    keeps_gallery = scores.layout == "pairs" or of_probes
    part = scores.select(probes=places[0], gallery=None if keeps_gallery else places[1])
    probe, gallery = (side[place] for side, place in zip(sides, places, strict=True))
    return part._with(remarks=(*scores.remarks, remark)), (probe, gallery)


def is_pair(column: Any) -> bool:
    if not isinstance(column, (tuple, list)) or len(column) != 2:
        return False
    return all(hasattr(x, "__len__") and not isinstance(x, (str, bytes)) for x in column)


def _column(scores: Scores, name: str, input_name: str, of_probes: bool = False) -> Sides:
    sides = (scores.probe_meta, *(() if of_probes else (scores.gallery_meta,)))
    scores._require_kept(name, input_name, *sides)
    if scores.layout == "pairs" and not scores.probe_meta:
        raise DataError(
            f"`{input_name}` is {received(name)}, but this list of pairs has no metadata; give the "
            "table of its templates as `labels`, with a column template, name a column of the list "
            f"by `columns`, or give in Python a pair of arrays: {_lengths(scores)}"
        )
    probe, gallery = scores.probe_meta, scores.gallery_meta
    common_columns = [column for column in probe if of_probes or column in gallery]
    if name in common_columns:
        return probe[name], np.empty(0) if of_probes else gallery[name]
    existing = "probes and gallery have no column in common"
    if common_columns:
        existing = (
            f"{'probes have' if of_probes else 'both sides have'}: {', '.join(common_columns)}"
        )
    if name in probe:
        side = "the gallery"
    elif name in gallery:
        side = "the probe"
    else:
        side = "the"
    raise DataError(
        f"`{input_name}` is {received(name)}, but {side} metadata have no such column; "
        f"{existing}.{nearest_name(name, common_columns)} Metadata are read with `meta`"
    )


def _lengths(scores: Scores) -> str:
    """Return in words which templates need a value."""
    if scores.layout == "pairs":
        pairs = counted(scores.shape[0], "pairs")
        return f"of the probes (the second names) and of the enrolled templates of the {pairs}"
    probes = counted(scores.shape[0], "probes")
    return f"of the {probes} and of the {counted(scores.shape[1], 'gallery templates')}"


def _values(array: Any, input_name: str, length: int) -> np.ndarray:
    values = one_dimensional(array, f"`{input_name}`")
    if len(values) != length:
        raise DataError(
            f"`{input_name}` has {len(values)} values; expected {length}, one per template"
        )
    return values


def _require_known(values: np.ndarray, input_name: str, argument: Any, side: str) -> None:
    missing = missing_values(values)
    if missing.any():
        column = f" of the column {argument!r}" if isinstance(argument, str) else ""
        raise DataError(
            f"`{input_name}`: {counted(int(missing.sum()), 'missing values')}{column} "
            f"(None, NaN or empty), the first that of {side} {int(np.argmax(missing))}; leave "
            "those templates out, or give them a separate value"
        )
