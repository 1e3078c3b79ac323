"""Embeddings compared: the distances, and both sides in the order of their rows.

The embeddings of each side are checked and joined with labels and metadata, averaged to one for
each template if this is wanted, and compared: to a matrix, or, of a large one, to an
:class:`~bioeval.scores.embeddings.EmbeddingSource` whose rows are computed as they are read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bioeval.base.arguments import joined_labels, require_list, require_text
from bioeval.base.errors import DataError, Message
from bioeval.base.kinds import Kind
from bioeval.base.options import MEMORY_LIMIT, OPTIONS
from bioeval.scores.embeddings import (
    EmbeddingSource,
    FloatType,
    Metric,
    describe_metric,
    kind_of_metric,
)
from bioeval.scores.features import (
    FeatureSide,
    as_embeddings,
    average_embeddings,
    left_out_of,
    require_features,
    titles_of,
)
from bioeval.scores.keys import keys_of
from bioeval.scores.labels import as_subjects
from bioeval.scores.metadata import as_meta
from bioeval.scores.sides import (
    ARGUMENTS,
    Side,
    length_of,
    side_in_order,
    sides_in_order,
    template_keys,
)


@dataclass(frozen=True, eq=False)
class Comparison:
    """The distances of embeddings, and what scores say of them."""

    values: Any  # (m, n): an array, or an EmbeddingSource
    probe: Side
    gallery: Side  # without labels if the probes are the gallery, too
    kind: Kind
    metric: str  # the name of the metric; empty for a callable
    origin: str  # the metric, the features and the means in words
    remarks: tuple[Message, ...]
    left_out: Mapping[str, str]  # why averaging leaves out columns of metadata, by column


def compare_embeddings(
    probe: Any,
    gallery: Any,
    labels: tuple[Any, Any],
    metas: tuple[Any, Any],
    *,
    names: Any,
    mask: Any = None,
    metric: Metric = "cosine",
    kind: Kind | None = None,
    dtype: FloatType = "float64",
    average: Sequence[str] = (),
    as_read: bool = False,
    titles: Sequence[str] | None = None,
) -> Comparison:
    """Compare all probes with the gallery; None: with each other.

    With `as_read` no matrix is made, however small; `titles` are those of the columns of the
    probes, if a file has them.
    """
    if gallery is not None and labels[1] is None:
        raise DataError("gallery is given without gallery_labels; expected both or neither")
    if gallery is None and labels[1] is not None:
        raise DataError("gallery_labels is given without gallery; expected both or neither")

    # The embeddings of the probes, and of the gallery if it is another set.
    given = [probe] if gallery is None else [probe, gallery]
    nouns = ("probe", "gallery")
    sides = list[Side]()
    embeddings = list[np.ndarray]()
    for i, values in enumerate(given):
        embeddings.append(as_embeddings(values, f"{nouns[i]} embeddings"))
        side_labels = joined_labels(labels[i], ARGUMENTS[i][0])
        rows, width = embeddings[i].shape
        if i == 0 and rows != length_of(side_labels) == width:
            raise DataError(
                f"the probe embeddings have shape {(rows, width)}, but there are {width:,} labels: "
                "are they transposed? Expected a row for each template; give embeddings.T"
            )
        keys = template_keys(keys_of(values), side_labels, names, i)
        side = side_in_order(side_labels, metas[i], keys, names, ARGUMENTS[i])
        subjects = as_subjects(side.labels, ARGUMENTS[i][0], rows)
        sides.append(replace(side, labels=subjects))
    remarks = [*sides[0].remarks, *sides[-1].remarks]
    all_titles = titles or titles_of(probe), titles_of(gallery)
    features = [
        FeatureSide(embeddings[i], side.labels, f"{nouns[i]} embeddings", all_titles[i])
        for i, side in enumerate(sides)
    ]
    require_features(*features)

    # Means of the embeddings with equal labels and equal values of some columns.
    listed = [average] if isinstance(average, str) else require_list("average", average)
    columns = tuple(require_text("average", name) for name in listed)
    means_in_words = ""
    left_out: dict[str, str] = {}
    if columns:
        count = len(embeddings[0])
        means_in_words = f", means by {' and '.join(columns)} of {count} embeddings of probes"
        for i, side in reversed([*enumerate(sides)]):  # reasons of the probes come last, and stay
            meta = as_meta(side.meta, len(embeddings[i]), f"{nouns[i]}_meta")
            embeddings[i], means_meta, reasons = average_embeddings(
                embeddings[i], {"": side.labels, **meta}, columns, nouns[i]
            )
            sides[i] = replace(side, labels=means_meta.pop(""), meta=means_meta)
            left_out |= reasons

    # Without a gallery, the first side is also the last. Means have no keys.
    source = EmbeddingSource(embeddings[0], embeddings[-1], metric, dtype)
    if columns:
        all_labels = sides[0].labels, None if gallery is None else sides[1].labels
        all_metas = sides[0].meta, metas[1] if gallery is None else sides[1].meta
        sides = [*sides_in_order(source, all_labels, all_metas, names, mask)]
    elif gallery is None:
        sides.append(side_in_order(None, metas[1], sides[0].keys, names, ARGUMENTS[1]))
    kind = kind_of_metric(metric, kind)

    # The distances: a matrix only if it is small.
    bytes_of_matrix = math.prod(source.shape) * source.dtype.itemsize
    is_small = bytes_of_matrix <= (OPTIONS["memory_limit"] or MEMORY_LIMIT)
    distances = source.matrix() if is_small and not as_read else source
    probe_side, gallery_side = sides
    return Comparison(
        distances,
        probe_side,
        gallery_side,
        kind=kind,
        metric=source.metric if isinstance(source.metric, str) else "",
        origin=describe_metric(source.metric, embeddings[0]) + means_in_words,
        remarks=(*dict.fromkeys(remarks), *left_out_of(left_out, columns)),
        left_out=left_out,
    )
