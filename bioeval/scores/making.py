"""The attributes of scores from their arguments: checked labels, identities and metadata."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.arguments import require_choice, require_integer, require_list, require_text
from bioeval.base.errors import DataError, counted, short_name
from bioeval.base.kinds import KINDS, NAN_POLICIES, Kind, NanPolicy
from bioeval.base.options import OPTIONS
from bioeval.scores.codes import Codes
from bioeval.scores.joining import (
    GivenSide,
    RowOrder,
    refuse_unknown_names,
    same_templates,
    table_in_order,
)
from bioeval.scores.labels import NO_PERSON, as_subjects, plain
from bioeval.scores.masks import as_mask, subjects_of_mask
from bioeval.scores.metadata import as_meta, columns_of, names_of_table
from bioeval.scores.names import (
    are_no_names,
    are_subjects,
    declared_names,
    index_names,
    names_of_given,
    require_each_once,
)
from bioeval.scores.top_k import OwnEntries, TopKLists

if TYPE_CHECKING:
    import pandas as pd


#: A matrix of distances between embeddings is made if it takes no more bytes than this.
MEMORY_LIMIT = 1 << 30

#: Attributes of scores, by name.
Attributes = dict[str, Any]

#: The arguments of the labels and of the metadata of each side.
ARGUMENTS = (("labels", "probe_meta"), ("gallery_labels", "gallery_meta"))


def length_of(labels: Any) -> int:
    """Return the number of labels; -1 if they have no length."""
    try:
        return len(labels)
    except TypeError:  # such as an array of no dimension
        return -1


def as_ids(ids: Any, name: str = "distractor_ids") -> tuple[int | str, ...] | None:
    """Return labels of no person, numbers or texts, each once; None if none are stated."""
    if ids is None:
        return None
    listed = (plain(x) for x in require_list(name, ids))
    return tuple(
        dict.fromkeys(
            x if isinstance(x, str) else require_integer(name, x, low=-(2**62)) for x in listed
        )
    )


def memory_attributes() -> Attributes:
    """Return the attributes of scores that come from the option `memory_limit`."""
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
    labels: tuple[Any, Any],
    mask: Any,
    metas: tuple[Any, Any],
    names: Any,
    no_person: Sequence[Any],
) -> Attributes:
    """Return the attributes of both sides of a matrix, and its checked mask as ``mask``.

    `labels` and `metas` are of the probes and of the gallery. `values` are the scores as they
    were given: a table may name its rows and columns. `no_person` are labels of no person.
    """
    probe_count, gallery_count = shape
    probe, gallery = _given_sides(values, labels, mask, metas, names)
    for side in (probe, gallery):
        side.join(names)
    one_side = probe_count == gallery_count and gallery.labels is None and gallery.meta is None
    template_names = probe.order.names, (probe if one_side else gallery).order.names
    mask, _, remarks = table_in_order(mask, template_names, "`mask`")
    if probe.labels is None:
        one_set = gallery.meta is None or not columns_of(gallery.meta)
        sides = _subjects_of_mask(mask, gallery.labels, probe_count, gallery_count, one_set=one_set)
    elif gallery.labels is None:
        sides = _square_sides(probe.labels, gallery.meta, probe_count, gallery_count)
    else:
        sides = _two_sides(probe.labels, gallery.labels, probe_count, gallery_count)
    is_square = sides["probe_ids"] is sides["gallery_ids"]
    probe_meta = as_meta(probe.meta, probe_count, "probe_meta")
    gallery_meta = {}
    if gallery.meta is not None:
        gallery_meta = as_meta(gallery.meta, gallery_count, "gallery_meta")
    sides["_probe_meta"] = probe_meta
    sides["_gallery_meta"] = probe_meta if is_square else gallery_meta
    sides |= _names_of_sides(sides, template_names, names, is_square=is_square)
    sides["remarks"] = tuple(probe.order.remarks | gallery.order.remarks | dict.fromkeys(remarks))
    if probe.labels is not None:
        codes = sides["_codes"].apart(no_person, sides["probe_ids"], sides["gallery_ids"])
        sides["_codes"] = codes
        sides["mask"] = None if mask is None else as_mask(mask, shape, codes)
    return sides


def _given_sides(
    values: Any, labels: tuple[Any, Any], mask: Any, metas: tuple[Any, Any], names: Any
) -> tuple[GivenSide, GivenSide]:
    labels, values = _labels_and_names(values, labels, mask, metas, names)
    probe_labels, gallery_labels = labels
    probe_order = order_of_side(values, 0, probe_labels, names, 0)
    probe = GivenSide(probe_labels, metas[0], probe_order, ARGUMENTS[0])
    labels_of_columns = probe_labels if gallery_labels is None else gallery_labels
    gallery_order = order_of_side(values, 1, labels_of_columns, names, 1)
    gallery = GivenSide(gallery_labels, metas[1], gallery_order, ARGUMENTS[1])
    if probe_labels is not None and gallery_labels is None and metas[1] is None:
        gallery.take_from_rows(probe, names)
    return probe, gallery


def _labels_and_names(
    values: Any, labels: tuple[Any, Any], mask: Any, metas: tuple[Any, Any], names: Any
) -> tuple[tuple[Any, Any], Any]:
    """Return the labels of both sides, and the table that names templates; None for no names.

    Without labels, the index and the columns of a table are labels, and do not name templates.
    """
    if labels[1] is not None or mask is not None:
        return labels, values
    table = names_of_table(values)
    if table is None:
        return labels, values
    if labels[0] is not None and not are_subjects(index_names(values), labels[0]):
        return labels, values
    return labels_of_table(*table, has_names=_have_names(metas, names)), None


def order_of_side(values: Any, axis: int, labels: Any, names: Any, side: int) -> RowOrder:
    """Return the order of the templates along an axis; without names if the index has labels."""
    template_names = names_of_given(names, side)
    if template_names is None and are_subjects(index_names(values, axis), labels):
        return RowOrder(None)
    return RowOrder(values, names=template_names, axis=axis)


def _have_names(metas: tuple[Any, Any], names: Any) -> bool:
    if names is None or any(meta is None for meta in metas):
        return False
    return all(declared_names(columns_of(meta) or {}) is not None for meta in metas)


def labels_of_table(
    rows: np.ndarray, columns: np.ndarray, *, has_names: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the index and the columns of a table as labels; no labels of the gallery if equal.

    Raise where both hold the same labels in another order, unless metadata name the templates.
    """
    if np.array_equal(rows, columns):
        return rows, None
    if not has_names and Counter(rows.tolist()) == Counter(columns.tolist()):
        raise DataError(
            "the rows and the columns of the table have the same labels in another order: it is "
            "not known whether they are the same templates, which are not compared with "
            "themselves; bring rows and columns into one order, or, of two sets of templates, "
            "give `labels` and `gallery_labels`"
        )
    return rows, columns


def _names_of_sides(
    sides: Attributes,
    template_names: tuple[pd.Index | None, pd.Index | None],
    names: Any,
    *,
    is_square: bool,
) -> Attributes:
    """Return the names of both sides, and the identities of probes by their names.

    If the scores are square, both sides are the same templates. Names are dropped if they are the
    labels of the templates, or merely count them.
    """
    labelled = sides.get("_labelled", True)
    probe, gallery = template_names
    if is_square:
        gallery = probe
    labels = (sides["probe_labels"], sides["gallery_labels"]) if labelled else (None, None)
    if are_no_names((probe, gallery), labels):
        probe = gallery = None
    for side, names_of_side, noun in (("probe", probe, "row"), ("gallery", gallery, "column")):
        number = len(sides[f"{side}_ids"])
        if names_of_side is not None and len(names_of_side) != number:
            raise DataError(
                f"`names` has {len(names_of_side)} names, but the scores have {number} {noun}s; "
                "expected one name for each"
            )
        require_each_once(names_of_side, noun)
    names_found: Attributes = {"_probe_names": probe, "_gallery_names": gallery}
    if is_square:
        return names_found
    if probe is None or gallery is None:
        if names is not None:
            refuse_unknown_names(sides["_probe_meta"], sides["_gallery_meta"], labels)
        return names_found
    codes = sides["_codes"]
    subjects = (codes.probe, codes.gallery, codes.values) if labelled else None
    entry = same_templates(probe, gallery, subjects)
    names_found["probe_ids"] = np.where(entry >= 0, sides["gallery_ids"][entry], sides["probe_ids"])
    return names_found


def _two_sides(
    labels: Any, gallery_labels: Any, probe_count: int, gallery_count: int
) -> Attributes:
    if probe_count != gallery_count and (length_of(labels), length_of(gallery_labels)) == (
        gallery_count,
        probe_count,
    ):
        raise DataError(
            f"the scores have shape ({probe_count}, {gallery_count}), but there are "
            f"{counted(gallery_count, 'labels')} of probes and {probe_count:,} of the gallery: is "
            "the matrix transposed? Expected a row for each probe; give scores.T, or exchange the "
            "labels"
        )
    probe = as_subjects(labels, "`labels`", probe_count)
    gallery = as_subjects(gallery_labels, "`gallery_labels`", gallery_count)
    return {
        "probe_labels": probe,
        "gallery_labels": gallery,
        "probe_ids": np.arange(gallery_count, gallery_count + probe_count, dtype=np.int64),
        "gallery_ids": np.arange(gallery_count, dtype=np.int64),
        "_codes": Codes(probe, gallery, of_any_type=NO_PERSON),
    }


def _square_sides(
    labels: Any, gallery_meta: Any, probe_count: int, gallery_count: int
) -> Attributes:
    if probe_count != gallery_count:
        raise DataError(
            f"the scores have shape ({probe_count}, {gallery_count}); without gallery_labels the "
            "same templates are on both sides, and the matrix must be square. Give gallery_labels "
            "for a probe-against-gallery matrix"
        )
    if gallery_meta is not None:
        raise DataError("gallery_meta without `gallery_labels`; probe_meta serves both sides")
    labels = as_subjects(labels, "`labels`", probe_count)
    ids = np.arange(gallery_count, dtype=np.int64)
    return {
        "probe_labels": labels,
        "gallery_labels": labels,
        "probe_ids": ids,
        "gallery_ids": ids,
        "_codes": Codes(labels, labels, of_any_type=NO_PERSON),
        "_without_gallery_labels": True,
    }


def _subjects_of_mask(
    mask: Any, gallery_labels: Any, probe_count: int, gallery_count: int, one_set: bool
) -> Attributes:
    if mask is None:
        raise DataError(
            "`labels` is missing; expected the subject of each row, or a mask of genuine and "
            "impostor"
        )
    if gallery_labels is not None:
        raise DataError("`gallery_labels` is given without `labels`; expected both")
    mask = as_mask(mask, (probe_count, gallery_count), None)
    is_square = one_set and probe_count == gallery_count and not mask.diagonal().any()
    probe, gallery, is_consistent = subjects_of_mask(mask, is_square)
    gallery_ids = np.arange(gallery_count, dtype=np.int64)
    probe_ids = gallery_ids
    if not is_square:
        probe_ids = np.arange(gallery_count, gallery_count + probe_count, dtype=np.int64)
    return {
        "mask": mask,
        "_labelled": False,
        "_mask_is_consistent": is_consistent,
        "probe_labels": probe,
        "gallery_labels": gallery,
        "probe_ids": probe_ids,
        "gallery_ids": gallery_ids,
        "_codes": Codes(probe, gallery),
    }


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
    """Return the attributes of top-K lists, of their queries and of their entries."""
    if gallery_labels is None:
        gallery_labels = labels
        gallery_meta = probe_meta if gallery_meta is None else gallery_meta
        leave_out_query = True if leave_out_query is None else leave_out_query
    queries = GivenSide(labels, probe_meta, RowOrder(indices), ARGUMENTS[0])
    entries = GivenSide(gallery_labels, gallery_meta, RowOrder(None), ARGUMENTS[1])
    entries.join("auto")
    queries.join("auto")
    enrolled = as_subjects(entries.labels, "`gallery_labels`")
    entry_count = len(enrolled)
    if entry_count == 0:
        raise DataError("the gallery is empty: `gallery_labels` has no entries")
    distances = queries.order.bring(distances, "`distances`", may_be_plain=True)
    query_positions = queries.order.bring(query_positions, "`query_positions`", may_be_plain=True)
    lists = TopKLists.from_arrays(indices, distances, entry_count, kind)
    query_count = len(lists.indices)
    searched = as_subjects(queries.labels, "`labels`")
    if len(searched) != query_count:
        raise DataError(
            f"`labels` has {len(searched)} labels for {query_count} lists; expected one per query"
        )
    codes = Codes(searched, enrolled, of_any_type=NO_PERSON)
    attributes: Attributes = {
        "probe_labels": searched,
        "gallery_labels": enrolled,
        "probe_ids": np.arange(entry_count, entry_count + query_count, dtype=np.int64),
        "gallery_ids": np.arange(entry_count, dtype=np.int64),
        "_probe_meta": as_meta(queries.meta, query_count, "probe_meta"),
        "_gallery_meta": as_meta(entries.meta, entry_count, "gallery_meta"),
        "_codes": codes,
    }
    template_names = queries.order.names, entries.order.names
    attributes |= _names_of_sides(attributes, template_names, "auto", is_square=False)
    named = None
    if attributes["_probe_names"] is not None and attributes["_gallery_names"] is not None:
        named = np.where(attributes["probe_ids"] < entry_count, attributes["probe_ids"], -1)
    own = OwnEntries(lists, codes, kind, leave_out_query, query_positions, named)
    entry, remarks = own.find()
    if entry is not None:
        attributes["probe_ids"] = np.where(
            entry >= 0, entry, np.arange(entry_count, entry_count + query_count)
        )
        lists = lists.leave_out(entry)
    all_remarks = dict.fromkeys(remarks) | queries.order.remarks | entries.order.remarks
    return attributes | {"_source": lists, "remarks": tuple(all_remarks)}
