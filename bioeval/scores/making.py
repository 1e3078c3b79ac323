"""What scores are made of: checked labels, identities and metadata of both sides, by attribute."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from bioeval.base.arguments import require_choice, require_integer, require_list, require_text
from bioeval.base.array_libraries import joined_labels
from bioeval.base.errors import DataError, counted, short_name
from bioeval.base.kinds import KINDS, Kind
from bioeval.base.options import OPTIONS
from bioeval.scores.arrays import as_mask, subjects_of_mask
from bioeval.scores.labels import (
    NO_PERSON,
    Codes,
    as_meta,
    as_subjects,
    fixed,
    names_of_table,
    plain,
)
from bioeval.scores.template_names import (
    NamedTemplates,
    are_names,
    by_name,
    columns_by_name,
    name_column,
    names_of_index,
    sides_of_table,
    table_by_name,
)
from bioeval.scores.top_k import OwnEntries, TopKLists

if TYPE_CHECKING:
    from bioeval.scores.embeddings import FloatType, Metric

# A matrix of distances between embeddings is made if it takes no more bytes than this.
MEMORY_LIMIT = 1 << 30

NanPolicy = Literal["raise", "reject", "exclude"]
NAN_POLICIES: tuple[NanPolicy, ...] = get_args(NanPolicy)

#: Attributes of scores, and columns of metadata.
Attributes = dict[str, Any]
Columns = dict[str, np.ndarray]


def length_of(labels: Any) -> int:
    """Return the number of labels, -1 for what has no length."""
    try:
        return len(labels)
    except TypeError:  # such as an array of no dimension
        return -1


def as_ids(ids: Any, name: str = "distractor_ids") -> tuple[int | str, ...] | None:
    """Return the labels of no person, numbers or texts; None where the rule says which they are."""
    if ids is None:
        return None
    listed = (plain(x) for x in require_list(name, ids))
    return tuple(
        dict.fromkeys(
            x if isinstance(x, str) else require_integer(name, x, low=-(2**62)) for x in listed
        )
    )


def memory_attributes() -> Attributes:
    """Return the attributes of scores that the memory limit of the options sets."""
    limit = OPTIONS["memory_limit"]
    return {"_memory_limit": limit or MEMORY_LIMIT, "_limited": limit is not None}


def checked_words(kind: Kind, nan: NanPolicy, name: Any) -> Attributes:
    """Return kind, policy of NaN and name, checked."""
    require_choice("kind", kind, KINDS)
    require_choice("nan", nan, NAN_POLICIES)
    if name is not None and not isinstance(name, os.PathLike):
        require_text("name", name)
    return {"kind": kind, "nan": nan, "name": short_name(str(name)) if name else None}


# ---------------------------------------------------------------- a matrix


def sides_of_matrix(
    values: Any,
    shape: tuple[int, int],
    labels: Any,
    gallery_labels: Any,
    mask: Any,
    probe_meta: Mapping[str, Any] | None,
    gallery_meta: Mapping[str, Any] | None,
    no_person: Sequence[Any],
) -> Attributes:
    """Return what is known of both sides of a matrix, and its checked mask as ``mask``.

    `values` are as they were given: a table may name its rows and columns. Labels `no_person` are
    of nobody.
    """
    m, n = shape
    labels, probe_meta = _joined(labels, probe_meta, values, "labels", "probe_meta")
    gallery_labels, gallery_meta = _joined(
        gallery_labels, gallery_meta, values, "gallery_labels", "gallery_meta", axis="columns"
    )
    names = [names_of_index(getattr(values, axis, None)) for axis in ("index", "columns")]
    mask = table_by_name(mask, (names[0], names[1]), "mask")
    columns = as_meta(probe_meta, m, "probe_meta")
    enrolled = None if gallery_meta is None else as_meta(gallery_meta, n, "gallery_meta")
    table = None
    if labels is not None or gallery_labels is mask is None:
        table = names_of_table(values)
    if table is not None:
        has_names = NamedTemplates.of(columns, enrolled or {}, None) is not None
        are_labels = labels is None
        labels, gallery_labels, order = sides_of_table(table, labels, gallery_labels, has_names)
        if order is not None:
            gallery_labels = as_subjects(labels, "`labels`", m)[order]
            if enrolled is None:
                enrolled = {name: fixed(x[order]) for name, x in columns.items()}
        if are_labels or len({*table[0].tolist()}) < m or len({*table[1].tolist()}) < n:
            table = None
    if labels is None:
        made = _sides_of_mask(mask, gallery_labels, m, n, one_set=not enrolled)
    elif gallery_labels is None:
        made = _square_sides(labels, enrolled, m, n)
    else:
        made = _two_sides(labels, gallery_labels, m, n)
    square = made["probe_ids"] is made["gallery_ids"]
    if table is not None and labels is not None:
        known = made["probe_labels"], made["gallery_labels"]
        columns, enrolled = _with_names(table, columns, columns if square else enrolled, known)
    made |= {"_probe_meta": columns, "_gallery_meta": columns if square else enrolled or {}}
    made["probe_ids"] = _identified(made, labels is not None)
    if labels is not None:
        codes = made["_codes"].apart(no_person, made["probe_ids"], made["gallery_ids"])
        checked = None if mask is None else as_mask(mask, shape, codes)
        made |= {"_codes": codes, "mask": checked}
    return made


def _joined(
    labels: Any, meta: Any, values: Any, of_labels: str, of_meta: str, axis: str = "index"
) -> tuple[Any, Any]:
    """Return labels and metadata of a side by the names of its templates, along an axis of values.

    Of values without names, those are in the index of the labels.
    """
    names = names_of_index(getattr(values, axis, None))
    labels = by_name(labels, names, f"`{of_labels}`")
    if names is None:
        names = names_of_index(getattr(labels, "index", None))
    return labels, columns_by_name(meta, names, of_meta)


def _two_sides(labels: Any, gallery_labels: Any, m: int, n: int) -> Attributes:
    """Return labels and identities of different templates on both sides."""
    if m != n and (length_of(labels), length_of(gallery_labels)) == (n, m):
        raise DataError(
            f"the scores have shape ({m}, {n}), but there are {counted(n, 'labels')} of probes "
            f"and {m:,} of the gallery: is the matrix transposed? Expected a row for each "
            "probe; give scores.T, or exchange the labels"
        )
    probe = as_subjects(labels, "`labels`", m)
    gallery = as_subjects(gallery_labels, "`gallery_labels`", n)
    return {
        "probe_labels": probe,
        "gallery_labels": gallery,
        "probe_ids": np.arange(n, n + m, dtype=np.int64),
        "gallery_ids": np.arange(n, dtype=np.int64),
        "_codes": Codes(probe, gallery, of_any_type=NO_PERSON),
    }


def _square_sides(labels: Any, gallery_meta: Any, m: int, n: int) -> Attributes:
    """Return the labels and identities of the rows for the columns, too."""
    if m != n:
        raise DataError(
            f"the scores have shape ({m}, {n}); without gallery_labels the same templates "
            "are on both sides, and the matrix must be square. Give gallery_labels for a "
            "probe-against-gallery matrix"
        )
    if gallery_meta is not None:
        raise DataError("gallery_meta without `gallery_labels`; probe_meta serves both sides")
    labels = as_subjects(labels, "`labels`", m)
    ids = np.arange(n, dtype=np.int64)
    return {
        "probe_labels": labels,
        "gallery_labels": labels,
        "probe_ids": ids,
        "gallery_ids": ids,
        "_codes": Codes(labels, labels, of_any_type=NO_PERSON),
        "_without_gallery_labels": True,
    }


def _sides_of_mask(mask: Any, gallery_labels: Any, m: int, n: int, one_set: bool) -> Attributes:
    """Return as subjects what a mask says of each cell; both sides may be `one_set`."""
    if mask is None:
        raise DataError(
            "`labels` is missing; expected the subject of each row, or a mask of "
            "genuine and impostor"
        )
    if gallery_labels is not None:
        raise DataError("`gallery_labels` is given without `labels`; expected both")
    mask = as_mask(mask, (m, n), None)
    square = one_set and m == n and not mask.diagonal().any()
    probe, gallery, consistent = subjects_of_mask(mask, square)
    gallery_ids = np.arange(n, dtype=np.int64)
    return {
        "mask": mask,
        "_labelled": False,
        "_mask_is_consistent": consistent,
        "probe_labels": probe,
        "gallery_labels": gallery,
        "probe_ids": gallery_ids if square else np.arange(n, n + m, dtype=np.int64),
        "gallery_ids": gallery_ids,
        "_codes": Codes(probe, gallery),
    }


def _with_names(
    names: Any, probe: Columns, gallery: Columns | None, labels: tuple[np.ndarray, np.ndarray]
) -> tuple[Columns, Columns]:
    """Return the metadata of both sides with the names in an index, if no column has names."""
    gallery = gallery or {}
    of_probe, of_gallery = names
    if name_column(probe, gallery, labels) or not are_names(of_probe, of_gallery, labels):
        return probe, gallery
    return {"template": fixed(of_probe)} | probe, {"template": fixed(of_gallery)} | gallery


def _identified(made: Attributes, labelled: bool) -> np.ndarray:
    """Return the identities of probes: those with the name of a gallery template are it."""
    labels = (made["probe_labels"], made["gallery_labels"]) if labelled else None
    named = NamedTemplates.of(made["_probe_meta"], made["_gallery_meta"], labels)
    if named is None or made["probe_ids"] is made["gallery_ids"]:
        return made["probe_ids"]
    entry = named.entries(made["_codes"] if labelled else None)
    return np.where(entry >= 0, made["gallery_ids"][entry], made["probe_ids"])


# ---------------------------------------------------------------- embeddings


#: What the comparison of embeddings takes; the rest are arguments of scores.
OF_EMBEDDINGS = ("metric", "kind", "dtype", "probe_meta", "gallery_meta", "average")


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
    as_read: bool = False,
    named: bool = False,
) -> tuple[tuple[Any, ...], dict[str, Any], Attributes]:
    """Compare embeddings; with `as_read` no matrix is made, however small it is.

    Columns of the probes that are `named` are features, whatever they hold.
    Return the first arguments of scores, further ones, and attributes.
    """
    from bioeval.scores.embeddings import (
        EmbeddingSource,
        as_embeddings,
        describe_metric,
        kind_of_metric,
        names_features,
        require_features,
    )

    left = as_embeddings(probe, "probe embeddings")
    labels, probe_meta = _joined(labels, probe_meta, probe, "labels", "probe_meta")
    gallery_labels, gallery_meta = _joined(
        gallery_labels, gallery_meta, gallery, "gallery_labels", "gallery_meta"
    )
    labels = joined_labels(labels, "labels")
    if (gallery is None) != (gallery_labels is None):
        option = "gallery_labels" if gallery is None else "gallery"
        other = "gallery" if gallery is None else "gallery_labels"
        raise DataError(f"{option} is given without {other}; expected both or neither")
    if len(left) != length_of(labels) == left.shape[1]:
        raise DataError(
            f"the probe embeddings have shape {left.shape}, but there are "
            f"{left.shape[1]:,} labels: are they transposed? Expected a row for each "
            "template; give embeddings.T"
        )
    subjects = as_subjects(labels, "labels", len(left))
    if not (named or names_features(getattr(probe, "columns", ()))):
        require_features(left, subjects, "probe embeddings")
    right = left
    if gallery is not None:
        right = as_embeddings(gallery, "gallery embeddings")
        gallery_labels = as_subjects(gallery_labels, "gallery_labels", len(right))
        if not names_features(getattr(gallery, "columns", ())):
            require_features(right, gallery_labels, "gallery embeddings")
    one = gallery is None
    names = [names_of_index(getattr(x, "index", None)) for x in (probe, probe if one else gallery)]
    if all(x is not None for x in names):
        probe_meta, enrolled = _with_names(
            names,
            as_meta(probe_meta, len(left), "probe_meta"),
            as_meta(probe_meta if one else gallery_meta, len(right), "gallery_meta"),
            (subjects, subjects if one else gallery_labels),
        )
        gallery_meta = None if one else enrolled
    listed = [average] if isinstance(average, str) else require_list("average", average)
    rows, averaged = len(left), tuple(require_text("average", name) for name in listed)
    left_out: dict[str, str] = {}
    if averaged:
        left, subjects, probe_meta, left_out = _averaged(
            left, subjects, probe_meta, averaged, "probe"
        )
        if gallery is None:
            right = left
        else:
            right, gallery_labels, gallery_meta, others = _averaged(
                right, gallery_labels, gallery_meta, averaged, "gallery"
            )
            left_out = others | left_out
    source = EmbeddingSource(left, right, metric, dtype)
    kind = kind_of_metric(metric, kind)
    limit = OPTIONS["memory_limit"] or MEMORY_LIMIT
    small = math.prod(source.shape) * source.dtype.itemsize <= limit
    origin = describe_metric(source.metric, left)
    if averaged:
        origin += f", means by {' and '.join(averaged)} of {rows} embeddings of probes"
    return (
        (source.matrix() if small and not as_read else source, subjects, gallery_labels),
        {"kind": kind, "probe_meta": probe_meta, "gallery_meta": gallery_meta},
        {
            "origin": origin,
            "metric": source.metric if isinstance(source.metric, str) else "",
            "_columns_left_out": left_out,
        },
    )


def _averaged(
    values: np.ndarray, labels: np.ndarray, meta: Any, names: tuple[str, ...], side: str
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray], dict[str, str]]:
    """Return the templates averaged from embeddings, with their labels and metadata.

    The last are columns that are left out, and why.
    """
    from bioeval.scores.embeddings import average_embeddings

    columns = {"": labels, **as_meta(meta, len(values), f"{side}_meta")}
    means, shared, left_out = average_embeddings(values, columns, names, side)
    return means, shared.pop(""), shared, left_out


# ---------------------------------------------------------------- top-K lists


def searched_lists(
    indices: Any,
    labels: Any,
    gallery_labels: Any,
    distances: Any,
    kind: Kind,
    probe_meta: Mapping[str, Any] | None,
    gallery_meta: Mapping[str, Any] | None,
    leave_out_query: bool | None,
    query_positions: Any,
) -> Attributes:
    """Return top-K lists and what is known of their queries and entries."""
    if gallery_labels is None:
        gallery_labels = labels
        gallery_meta = probe_meta if gallery_meta is None else gallery_meta
        leave_out_query = True if leave_out_query is None else leave_out_query
    enrolled = as_subjects(gallery_labels, "`gallery_labels`")
    n = len(enrolled)
    if n == 0:
        raise DataError("the gallery is empty: `gallery_labels` has no entries")
    lists = TopKLists.of(indices, distances, n, kind)
    q = len(lists.indices)
    searched = as_subjects(labels, "`labels`")
    if len(searched) != q:
        raise DataError(
            f"`labels` has {len(searched)} labels for {q} lists; expected one per query"
        )
    codes = Codes(searched, enrolled, of_any_type=NO_PERSON)
    columns = as_meta(probe_meta, q, "probe_meta"), as_meta(gallery_meta, n, "gallery_meta")
    named = NamedTemplates.of(*columns, (searched, enrolled))
    entries = OwnEntries(lists, codes, kind, leave_out_query, query_positions, named)
    entry, remarks = entries.find()
    probe_ids = np.arange(n, n + q, dtype=np.int64)
    if entry is not None:
        lists, probe_ids = lists.without(entry), np.where(entry >= 0, entry, probe_ids)
    return {
        "_source": lists,
        "probe_labels": searched,
        "gallery_labels": enrolled,
        "probe_ids": probe_ids,
        "gallery_ids": np.arange(n, dtype=np.int64),
        "_probe_meta": columns[0],
        "_gallery_meta": columns[1],
        "_codes": codes,
        "remarks": remarks,
    }
