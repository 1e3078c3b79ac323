"""The arguments of scores from embeddings, which are checked, joined, averaged and compared."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bioeval.base.arguments import require_list, require_text
from bioeval.base.array_libraries import joined_labels
from bioeval.base.errors import DataError
from bioeval.base.kinds import Kind
from bioeval.base.memory import MEMORY_LIMIT
from bioeval.base.options import OPTIONS
from bioeval.scores.embedding_arrays import as_embeddings, average_embeddings, left_out_of
from bioeval.scores.embeddings import EmbeddingSource
from bioeval.scores.features import FeatureSide, require_features, titles_of
from bioeval.scores.labels import as_subjects
from bioeval.scores.making import (
    ARGUMENTS,
    Attributes,
    SideArguments,
    are_given,
    keys_of_side,
    length_of,
)
from bioeval.scores.metadata import as_meta
from bioeval.scores.metrics import FloatType, Metric, describe_metric, kind_of_metric
from bioeval.scores.sides import GivenSide


def compared_embeddings(
    probe: Any,
    labels: Any,
    gallery: Any = None,
    gallery_labels: Any = None,
    *,
    metric: Metric = "cosine",
    kind: Kind | None = None,
    dtype: FloatType = "float64",
    probe_meta: Mapping[str, Any] | None = None,
    gallery_meta: Mapping[str, Any] | None = None,
    average: Sequence[str] = (),
    names: Any = "auto",
    as_read: bool,
    titles: Sequence[str] | None,
) -> tuple[Any, SideArguments, Attributes]:
    """Compare embeddings; with `as_read` distances are computed whenever they are read.

    `titles` are those of the columns of the probes, if a file has them; the other arguments are
    those of :meth:`bioeval.Scores.from_embeddings`. Returned are the values, the arguments of both
    sides, and attributes of the scores.
    """
    if (gallery is None) != (gallery_labels is None):
        option = "gallery_labels" if gallery is None else "gallery"
        missing_argument = "gallery" if gallery is None else "gallery_labels"
        raise DataError(f"{option} is given without {missing_argument}; expected both or neither")
    nouns = ("probe", "gallery")[: 1 if gallery is None else 2]
    all_values, metas = (probe, gallery), (probe_meta, gallery_meta)
    sides, embeddings = [], []
    for i, noun in enumerate(nouns):
        embeddings.append(as_embeddings(all_values[i], f"{noun} embeddings"))
        people = joined_labels((labels, gallery_labels)[i], ARGUMENTS[i][0])
        rows, width = embeddings[i].shape
        if i == 0 and rows != length_of(people) == width:
            raise DataError(
                f"the probe embeddings have shape {(rows, width)}, but there are {width:,} labels: "
                "are they transposed? Expected a row for each template; give embeddings.T"
            )
        keys = keys_of_side(all_values[i], people, names, i)
        side = GivenSide(keys, people, metas[i], ARGUMENTS[i], are_listed=are_given(names))
        side.join(names)
        side.labels = as_subjects(side.labels, ARGUMENTS[i][0], rows)
        sides.append(side)
    all_titles = titles or titles_of(probe), titles_of(gallery)
    require_features(
        *(
            FeatureSide(embeddings[i], side.labels, f"{nouns[i]} embeddings", all_titles[i])
            for i, side in enumerate(sides)
        )
    )
    listed = [average] if isinstance(average, str) else require_list("average", average)
    columns = tuple(require_text("average", name) for name in listed)
    means_in_words = ""
    left_out: dict[str, str] = {}  # why averaging leaves out columns of metadata
    if columns:
        count = len(embeddings[0])
        means_in_words = f", means by {' and '.join(columns)} of {count} embeddings of probes"
        for i, side in reversed([*enumerate(sides)]):
            meta = as_meta(side.meta, len(embeddings[i]), f"{nouns[i]}_meta")
            averaged = average_embeddings(
                embeddings[i], {"": side.labels, **meta}, columns, nouns[i]
            )
            embeddings[i] = averaged.means
            side.labels, side.meta = averaged.columns.pop(""), averaged.columns
            left_out |= averaged.left_out
    source = EmbeddingSource(embeddings[0], embeddings[-1], metric, dtype)
    bytes_of_matrix = math.prod(source.shape) * source.dtype.itemsize
    is_small = bytes_of_matrix <= (OPTIONS["memory_limit"] or MEMORY_LIMIT)
    given = SideArguments(
        (sides[0].labels, None if gallery is None else sides[1].labels),
        (sides[0].meta, gallery_meta if gallery is None else sides[1].meta),
        names,
        keys=None if columns else (sides[0].keys, sides[-1].keys),
        other_order=None if columns else sides[0].other_order,
    )
    attributes = {
        "kind": kind_of_metric(metric, kind),
        "origin": describe_metric(source.metric, embeddings[0]) + means_in_words,
        "metric": source.metric if isinstance(source.metric, str) else "",
        "remarks": (
            *{**sides[0].remarks, **sides[-1].remarks},
            *left_out_of(left_out, columns),
        ),
        "_columns_left_out": left_out,
    }
    return source.matrix() if is_small and not as_read else source, given, attributes
