"""A value for each template of both sides: a metadata column, or arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bioeval.base.errors import DataError, counted, nearest_name, received
from bioeval.base.messages import Message
from bioeval.scores.labels import one_dimensional
from bioeval.scores.matrix import Scores
from bioeval.scores.missing import no_value
from bioeval.scores.sides import InOrder, in_order


class Sides(NamedTuple):
    """A value for each template of both sides."""

    probe: np.ndarray  # (probes,)
    gallery: np.ndarray  # (n,): of listed pairs the enrolled templates; empty without values


def _template_columns(
    scores: Scores, columns: Any, input_name: str, *, of_probes: bool
) -> tuple[Sides, tuple[Message, ...]]:
    """Return a value for each template, and remarks.

    With `of_probes`, the gallery has no values. `columns` are

    - the name of a metadata column that both sides have, or
    - one value for each template of all-against-all scores, or for each probe, or
    - the values of the probes and of the gallery, as a pair.

    Values with names, or row numbers, are joined by them.
    """
    if isinstance(columns, str):
        return _column(scores, columns, input_name, of_probes), ()
    if not of_probes and is_pair(columns):
        probe = _joined(scores, columns[0], 0, input_name)
        gallery = _joined(scores, columns[1], 1, input_name)
        remarks = dict.fromkeys(probe.remarks + gallery.remarks)
        return Sides(probe.values, gallery.values), (*remarks,)
    is_one_set = scores.layout != "pairs" and scores.probe_ids is scores.gallery_ids
    if not of_probes and not is_one_set:
        raise DataError(
            f"`{input_name}` is {type(columns).__name__}; expected the name of a metadata "
            f"column, or a pair of arrays: {_lengths(scores)}"
        )
    probe = _joined(scores, columns, 0, input_name)
    return Sides(probe.values, np.empty(0) if of_probes else probe.values), probe.remarks


def _joined(scores: Scores, values: Any, side: int, input_name: str) -> InOrder:
    length = (scores.shape[0], scores.shape[-1])[side]
    brought = in_order(values, scores.keys(side), f"`{input_name}`")
    array = one_dimensional(brought.values, f"`{input_name}`")
    if len(array) != length:
        raise DataError(
            f"`{input_name}` has {len(array)} values; expected {length}, one per template"
        )
    return brought._replace(values=array)


def with_known_values(
    scores: Scores, columns: Any, input_name: str, *, of_probes: bool = False
) -> tuple[Scores, Sides]:
    """Return the scores of templates with a known value, with a remark on the rest, and the values.

    If the values are `of_probes`, all gallery templates stay. Raise :class:`DataError` if no
    template of a side has a known value.
    """
    sides, remarks = _template_columns(scores, columns, input_name, of_probes=of_probes)
    scores = scores.with_remarks(*remarks) if remarks else scores
    name = columns if isinstance(columns, str) else ""
    is_known = [~no_value(side, "group") for side in sides]
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
    known = Sides(sides.probe[places[0]], sides.gallery[places[1]])
    return part._with(remarks=(*scores.remarks, remark)), known


def is_pair(column: Any) -> bool:
    if not isinstance(column, (tuple, list)) or len(column) != 2:
        return False
    return all(hasattr(x, "__len__") and not isinstance(x, (str, bytes)) for x in column)


def _column(scores: Scores, name: str, input_name: str, of_probes: bool) -> Sides:
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
        return Sides(probe[name], np.empty(0) if of_probes else gallery[name])
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
    if scores.layout == "pairs":
        pairs = counted(scores.shape[0], "pairs")
        return f"of the probes (the second names) and of the enrolled templates of the {pairs}"
    probes = counted(scores.shape[0], "probes")
    return f"of the {probes} and of the {counted(scores.shape[1], 'gallery templates')}"


def _require_known(values: np.ndarray, input_name: str, argument: Any, side: str) -> None:
    missing = no_value(values, "group")
    if missing.any():
        column = f" of the column {argument!r}" if isinstance(argument, str) else ""
        raise DataError(
            f"`{input_name}`: {counted(int(missing.sum()), 'missing values')}{column} "
            f"(None, NaN or empty), the first that of {side} {int(np.argmax(missing))}; leave "
            "those templates out, or give them a separate value"
        )
