"""Open queries of another data set, searched in the same gallery, for GOM."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bioeval.base.errors import Argument, DataError, counted
from bioeval.protocol.reid import CAMERA_COLUMNS, Convention
from bioeval.scores.labels import NOT_ENROLLED, Codes
from bioeval.scores.matrix import Scores, require_scores


def as_open_queries(queries: Scores, scores: Scores, rules: Convention) -> Scores:
    """Return queries of another data set as queries whose identity is not in the gallery.

    They must be scores of the same kind against the gallery of `scores`, which lends them its
    metadata. Their labels no longer count; their cameras do where a convention removes a whole
    camera from a list.
    """
    argument = Argument("open_queries")
    require_scores(queries, str(argument))
    scores.require_matrix()
    queries.require_matrix()
    for what in ("kind", "nan"):
        mine, theirs = getattr(scores, what), getattr(queries, what)
        if mine != theirs:
            raise DataError(
                f"{argument} has {what} = {theirs!r}, and the scores have {mine!r}; expected the "
                "same of both"
            )
    _require_same_gallery(queries, scores, argument)
    if np.isin(queries.probe_ids, queries.gallery_ids).any():
        raise DataError(
            f"{argument} is an all-against-all matrix: its queries are in the gallery; "
            "expected queries of another data set, against the same gallery"
        )
    view = queries.select()
    view.gallery_meta, view.distractor_ids = scores.gallery_meta, scores.distractor_ids
    if "same-camera" not in (rules.removed, rules.ap_removed) and rules.needs_cameras:
        sides = view.probe_meta, view.gallery_meta
        view.probe_meta, view.gallery_meta = (
            {name: x for name, x in meta.items() if name.casefold() not in CAMERA_COLUMNS}
            | {"camera": np.zeros(size, dtype=np.int64)}
            for meta, size in zip(sides, view.shape, strict=True)
        )
    view.exclude = view._as_columns([x for x in scores.exclude if x == NOT_ENROLLED])
    ids = (*rules.junk_ids, *rules.distractor_ids, *scores.distractor_ids)
    view.codes = _codes_of_strangers(scores.gallery_labels, view.shape[0], ids)
    return view


def _require_same_gallery(queries: Scores, scores: Scores, argument: Argument) -> None:
    """Raise :class:`DataError` unless the columns of both are the same templates."""
    sizes = queries.shape[1], scores.shape[1]
    if sizes[0] != sizes[1]:
        raise DataError(
            f"{argument} has a gallery of {counted(sizes[0], 'templates')}, and the scores have "
            f"one of {sizes[1]:,}; expected the same gallery, in the same order"
        )
    columns = {"label": (queries.gallery_labels, scores.gallery_labels)}
    for name, column in scores.gallery_meta.items():
        if name in queries.gallery_meta:
            columns[name] = queries.gallery_meta[name], column
    for name, (theirs, mine) in columns.items():
        pairs = zip(theirs.tolist(), mine.tolist(), strict=True)
        other = [i for i, (x, y) in enumerate(pairs) if x != y and (x == x or y == y)]
        if other:
            at = other[0]
            raise DataError(
                f"{argument} has another gallery: the {name} of template {at} is "
                f"{theirs.tolist()[at]!r}, and {mine.tolist()[at]!r} in the scores "
                f"({counted(len(other), 'templates')} differ); expected the same templates in "
                "the same order"
            )


def _codes_of_strangers(gallery: np.ndarray, queries: int, ids: Sequence[int]) -> Codes:
    """Return codes in which no query has an identity of the gallery, or one of `ids`."""
    codes = Codes(gallery, gallery)
    stranger: object = "open query"
    if codes.values.dtype.kind in "iufb":
        taken = {*codes.values.tolist(), *ids}
        stranger = next(x for x in range(len(taken) + 1) if x not in taken)
    else:
        while stranger in codes.lookup:
            stranger = f"{stranger}'"
    code = np.full(queries, len(codes.values))
    return Codes.known(np.append(codes.values, np.array([stranger])), code, codes.gallery)
