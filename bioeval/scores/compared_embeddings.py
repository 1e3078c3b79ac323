"""The arguments of scores from embeddings, which are checked, joined, averaged and compared."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.arguments import require_list, require_text
from bioeval.base.array_libraries import joined_labels
from bioeval.base.errors import DataError
from bioeval.base.kinds import Kind
from bioeval.base.messages import Message
from bioeval.base.options import OPTIONS
from bioeval.scores.embedding_arrays import as_embeddings, average_embeddings
from bioeval.scores.embeddings import EmbeddingSource
from bioeval.scores.features import FeatureSide, require_features, titles_of
from bioeval.scores.labels import as_subjects
from bioeval.scores.making import (
    ARGUMENTS,
    MEMORY_LIMIT,
    Attributes,
    SideArguments,
    length_of,
    order_of_side,
)
from bioeval.scores.metadata import as_meta
from bioeval.scores.metrics import FloatType, Metric, describe_metric, kind_of_metric
from bioeval.scores.sides import GivenSide, Keys


class EmbeddingOptions(NamedTuple):
    """How embeddings are compared: arguments of :meth:`bioeval.Scores.from_embeddings`."""

    metric: Metric = "cosine"
    kind: Kind | None = None
    dtype: FloatType = "float64"
    probe_meta: Mapping[str, Any] | None = None
    gallery_meta: Mapping[str, Any] | None = None
    average: Sequence[str] = ()
    names: Any = "auto"


class ComparedEmbeddings(NamedTuple):
    """Embeddings that are compared, as arguments and attributes of scores."""

    values: Any
    given: SideArguments
    kind: Kind
    attributes: Attributes


@dataclass(frozen=True)
class _EmbeddedSide:
    """The templates of one side, in the order of their embeddings (n, f)."""

    embeddings: np.ndarray
    labels: np.ndarray
    meta: Any
    keys: Keys | None  # None: not known after averaging
    other_order: np.ndarray | None  # of the labels, see `InOrder`
    remarks: Mapping[Message, None]
    #: Why averaging leaves out columns of metadata, by the name of the column.
    left_out: Mapping[str, str]

    def averaged(self, columns: tuple[str, ...], noun: str) -> _EmbeddedSide:
        meta = as_meta(self.meta, len(self.embeddings), f"{noun}_meta")
        averaged = average_embeddings(self.embeddings, {"": self.labels, **meta}, columns, noun)
        return replace(
            self,
            embeddings=averaged.means,
            labels=averaged.columns.pop(""),
            meta=averaged.columns,
            keys=None,
            other_order=None,
            left_out=averaged.left_out,
        )


def compared_embeddings(
    probe: Any,
    labels: Any,
    gallery: Any = None,
    gallery_labels: Any = None,
    *,
    options: EmbeddingOptions,
    as_read: bool,
    titles: Sequence[str] | None,
) -> ComparedEmbeddings:
    """Compare embeddings; with `as_read` distances are computed whenever they are read.

    `titles` are those of the columns of the probes, if a file has them.
    """
    if (gallery is None) != (gallery_labels is None):
        option = "gallery_labels" if gallery is None else "gallery"
        missing_argument = "gallery" if gallery is None else "gallery_labels"
        raise DataError(f"{option} is given without {missing_argument}; expected both or neither")
    probe_side = _side(probe, labels, options.probe_meta, options.names, 0)
    gallery_side = probe_side
    if gallery is not None:
        gallery_side = _side(gallery, gallery_labels, options.gallery_meta, options.names, 1)
    sides = [
        FeatureSide(
            probe_side.embeddings, probe_side.labels, "probe embeddings", titles or titles_of(probe)
        )
    ]
    if gallery is not None:
        sides.append(
            FeatureSide(
                gallery_side.embeddings,
                gallery_side.labels,
                "gallery embeddings",
                titles_of(gallery),
            )
        )
    require_features(*sides)
    average = options.average
    listed = [average] if isinstance(average, str) else require_list("average", average)
    columns = tuple(require_text("average", name) for name in listed)
    means_in_words = ""
    if columns:
        rows = len(probe_side.embeddings)
        means_in_words = f", means by {' and '.join(columns)} of {rows} embeddings of probes"
        probe_side = probe_side.averaged(columns, "probe")
        gallery_side = probe_side if gallery is None else gallery_side.averaged(columns, "gallery")
    source = EmbeddingSource(
        probe_side.embeddings, gallery_side.embeddings, options.metric, options.dtype
    )
    bytes_of_matrix = math.prod(source.shape) * source.dtype.itemsize
    is_small = bytes_of_matrix <= (OPTIONS["memory_limit"] or MEMORY_LIMIT)
    keys = probe_side.keys, gallery_side.keys
    gallery_meta = options.gallery_meta if gallery is None else gallery_side.meta
    given = SideArguments(
        (probe_side.labels, None if gallery is None else gallery_side.labels),
        (probe_side.meta, gallery_meta),
        options.names,
        keys=None if keys[0] is None or keys[1] is None else (keys[0], keys[1]),
        other_order=probe_side.other_order,
    )
    return ComparedEmbeddings(
        source.matrix() if is_small and not as_read else source,
        given,
        kind_of_metric(options.metric, options.kind),
        attributes={
            "origin": describe_metric(source.metric, probe_side.embeddings) + means_in_words,
            "metric": source.metric if isinstance(source.metric, str) else "",
            "remarks": tuple({**probe_side.remarks, **gallery_side.remarks}),
            "_columns_left_out": {**gallery_side.left_out, **probe_side.left_out},
        },
    )


def _side(values: Any, labels: Any, meta: Any, names: Any, side: int) -> _EmbeddedSide:
    noun = f"{('probe', 'gallery')[side]} embeddings"
    embeddings = as_embeddings(values, noun)
    argument = ARGUMENTS[side][0]
    labels = joined_labels(labels, argument)
    order = order_of_side(values, labels, names, axis=0, side=side)
    if side == 0 and len(embeddings) != length_of(labels) == embeddings.shape[1]:
        raise DataError(
            f"the probe embeddings have shape {embeddings.shape}, but there are "
            f"{embeddings.shape[1]:,} labels: are they transposed? Expected a row for each "
            "template; give embeddings.T"
        )
    joined = GivenSide(labels, meta, order, ARGUMENTS[side])
    joined.join(names)
    subjects = as_subjects(joined.labels, argument, len(embeddings))
    remarks = order.remarks
    return _EmbeddedSide(
        embeddings, subjects, joined.meta, order.keys, joined.other_order, remarks, {}
    )
