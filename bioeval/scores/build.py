"""The attributes of scores from their arguments: a matrix, embeddings, or top-K lists.

Labels, identities and metadata are checked, and brought into the order of the scores. For a matrix
of 2 probes and 3 gallery templates, the main attributes are::

    probe_labels  ["ann", "bob"]    gallery_labels  ["ann", "bob", "cem"]
    probe_ids     [3, 4]            gallery_ids     [0, 1, 2]

A probe that is a gallery template has its identity: 1 in place of 4.

The file has the sides of a matrix (:func:`sides_of_matrix`), top-K lists (:func:`searched_lists`),
scores as the test of equal names reads them (:func:`scored_of`), and embeddings
(:func:`compared_embeddings`).
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.arguments import (
    joined_labels,
    require_choice,
    require_flag,
    require_integer,
    require_list,
    require_text,
)
from bioeval.base.errors import DataError, counted, short_name
from bioeval.base.kinds import KINDS, LARGER_IS_CLOSER, NAN_POLICIES, Kind, NanPolicy
from bioeval.base.options import MEMORY_LIMIT, OPTIONS
from bioeval.scores.attempts import columns_of_probes, compared_cells
from bioeval.scores.cells import read_block
from bioeval.scores.codes import Codes
from bioeval.scores.distances import as_distances
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
from bioeval.scores.labels import NO_PERSON, as_subjects, plain
from bioeval.scores.masks import as_mask, subjects_of_mask
from bioeval.scores.metadata import as_meta, columns_of, names_of_table
from bioeval.scores.same import ENOUGH, LEAST_ROWS, MOST, ONE_OF, Scored, confirm_names, people_of
from bioeval.scores.sides import (
    GivenSide,
    Keys,
    are_subjects,
    counts_rows,
    declared_names,
    first_twice,
    in_order,
    in_place,
    index_of,
    keys_of,
    places,
    refuse_unknown_names,
    table_in_order,
)
from bioeval.scores.top_k import TopKLists, numbered_from_zero, own_entries

if TYPE_CHECKING:
    import pandas as pd


#: Attributes of scores, by name.
Attributes = dict[str, Any]

#: The arguments of the labels and of the metadata of each side.
ARGUMENTS = (("labels", "probe_meta"), ("gallery_labels", "gallery_meta"))


def length_of(labels: Any) -> int:
    try:
        return len(labels)
    except TypeError:  # such as an array of no dimension
        return -1


def as_ids(ids: Any, name: str = "distractor_ids") -> tuple[int | str, ...] | None:
    """Return labels of no person, numbers or texts, each once; None if none are stated."""
    if ids is None:
        return None
    checked = []
    for label in map(plain, require_list(name, ids)):
        is_text = isinstance(label, str)
        checked.append(label if is_text else require_integer(name, label, low=-(2**62)))
    return tuple(dict.fromkeys(checked))


def memory_attributes() -> Attributes:
    limit = OPTIONS["memory_limit"]
    return {"_memory_limit": limit or MEMORY_LIMIT, "_limited": limit is not None}


def checked_words(kind: Kind, nan: NanPolicy, name: Any) -> Attributes:
    require_choice("kind", kind, KINDS)
    require_choice("nan", nan, NAN_POLICIES)
    if name is not None and not isinstance(name, os.PathLike):
        require_text("name", name)
    return {"kind": kind, "nan": nan, "name": short_name(str(name)) if name else None}


def given_sides(labels: Sequence[Any], metas: Sequence[Any]) -> tuple[GivenSide, GivenSide]:
    """Return both sides of scores as they are given, first the probes, then the gallery."""
    probe, gallery = (GivenSide(None, *x) for x in zip(labels, metas, ARGUMENTS, strict=True))
    return probe, gallery


def sides_of_matrix(
    values: Any,
    shape: tuple[int, int],
    mask: Any,
    given: tuple[GivenSide, GivenSide],
    names: Any,
    no_person: Sequence[Any],
) -> tuple[Attributes, np.ndarray | None, np.ndarray | None]:
    """Return the attributes of both sides of a matrix, its checked mask, and the other order.

    `values` are the scores as they were given: a table may name its rows and columns. Sides that
    have keys, of embeddings, do not ask them. See :class:`bioeval.scores.sides.InOrder` for the
    other order of the labels of one set.
    """
    probe, gallery = given
    has_keys = probe.has_keys

    # A table has keys, or the labels of both sides as index and columns.
    table = names_of_table(values) if gallery.labels is None and mask is None else None
    if table is not None and (probe.labels is None or are_subjects(keys_of(values), probe.labels)):
        values = None
        probe.labels, gallery.labels = _labels_of_table(table, given, names)
    probe_labels, gallery_labels = probe.labels, gallery.labels
    if not has_keys:
        probe.take_keys(values, probe_labels, names, 0)
        labels_of_columns = probe_labels if gallery_labels is None else gallery_labels
        gallery.take_keys(values, labels_of_columns, names, 1, axis=1)
    keys = probe.keys, gallery.keys
    if probe_labels is not None and gallery_labels is None and gallery.meta is None:
        gallery.take_from_rows(probe, names)

    # Labels, metadata and the mask in the order of the scores. A remark says that a mask without
    # keys is taken in their order if the scores were given with keys.
    remarks_on_mask = []
    if mask is not None and not has_keys and index_of(mask) is index_of(mask, 1) is None:
        remarks_on_mask = [in_place("the scores", "`mask`", x) for x in keys if x.stated]
    for side in given:
        side.join(names)
    has_one_side = shape[0] == shape[1] and gallery.labels is None and gallery.meta is None
    keys = probe.keys, probe.keys if has_one_side else gallery.keys
    brought = table_in_order(mask, keys, "`mask`")
    subjects, mask, is_one_set = _subjects_of(probe, gallery, brought.values, shape)
    probe_meta = as_meta(probe.meta, shape[0], "probe_meta")
    gallery_meta = as_meta(gallery.meta, shape[1], "gallery_meta")
    metas = probe_meta, probe_meta if is_one_set else gallery_meta

    # Identities, by which each template of no person is apart from all others.
    attributes = _identified(subjects, is_one_set, metas, keys, names)
    if attributes["_labelled"]:
        ids = attributes["probe_ids"], attributes["gallery_ids"]
        codes = attributes["_codes"].apart(no_person, *ids)
        attributes["_codes"] = codes
        mask = None if mask is None else as_mask(mask, shape, codes)
    all_remarks = [*probe.remarks, *gallery.remarks, *brought.remarks, *remarks_on_mask]
    attributes["remarks"] = tuple(dict.fromkeys(all_remarks))
    attributes["_without_gallery_labels"] = attributes["_labelled"] and gallery.labels is None
    return attributes, mask, probe.other_order if is_one_set else None


def _labels_of_table(
    table: tuple[np.ndarray, np.ndarray], given: tuple[GivenSide, GivenSide], names: Any
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the labels of rows and of columns of a table; the second are None for one set."""
    row_labels, column_labels = table
    if np.array_equal(row_labels, column_labels):
        return row_labels, None
    has_names = names is not None and all(
        side.meta is not None and declared_names(columns_of(side.meta) or {}) is not None
        for side in given
    )
    # Names tell which templates are the same. Without them, equal labels in two orders may be one
    # set or two.
    if not has_names and Counter(row_labels.tolist()) == Counter(column_labels.tolist()):
        raise DataError(
            "the rows and the columns of the table have the same labels in another order: it "
            "is not known whether they are the same templates, which are not compared with "
            "themselves; bring rows and columns into one order, or, of two sets of templates, "
            "give `labels` and `gallery_labels`"
        )
    return row_labels, column_labels


def _identified(
    subjects: Attributes,
    is_one_set: bool,
    metas: tuple[Mapping[str, np.ndarray], Mapping[str, np.ndarray]],
    keys: tuple[Keys, Keys],
    names: Any,
) -> Attributes:
    """Return the attributes of both sides, with identities: equal names are one template.

    Names that repeat the labels or count the rows go.
    """
    probe_labels, gallery_labels = subjects["probe_labels"], subjects["gallery_labels"]
    probe, gallery = keys[0], keys[0] if is_one_set else keys[1]
    labels: tuple[Any, Any] = (None, None)
    if subjects["_labelled"]:
        labels = (probe_labels, gallery_labels)
    named_sides = [
        (side, labels_of_side)
        for side, labels_of_side in zip((probe, gallery), labels, strict=True)
        if side.names is not None
    ]
    merely_count = all(counts_rows(np.array(side.names)) for side, _ in named_sides)
    if merely_count or all(are_subjects(side, x) for side, x in named_sides):
        probe, gallery = Keys(numbers=probe.numbers), Keys(numbers=gallery.numbers)
    _require_distinct_names(probe.names, len(probe_labels), "row")
    _require_distinct_names(gallery.names, len(gallery_labels), "column")
    gallery_ids = np.arange(len(gallery_labels), dtype=np.int64)
    probe_ids = gallery_ids if is_one_set else new_ids(gallery_ids, len(probe_labels))
    if not is_one_set and probe.names is not None and gallery.names is not None:
        entry = places(probe.names, gallery.names)  # (probes,); -1: no gallery template
        codes = subjects["_codes"]
        is_other_person = (entry >= 0) & (codes.gallery[entry] != codes.probe)
        if subjects["_labelled"] and is_other_person.any():
            row = int(np.argmax(is_other_person))
            column = int(entry[row])
            label = plain(codes.values[codes.probe[row]])
            other_label = plain(codes.values[codes.gallery[column]])
            raise DataError(
                f"the name {plain(probe.names[row])!r} is of two people, in "
                f"{int(is_other_person.sum()):,} of {len(is_other_person):,} rows: {label!r} in "
                f"row {row} and {other_label!r} in column {column}; equal names are one template: "
                "correct the labels or the names, or give `names=None` if these are not names of "
                "templates"
            )
        probe_ids = np.where(entry >= 0, gallery_ids[entry], probe_ids)
    elif not is_one_set and names is not None:
        refuse_unknown_names(*metas, labels)
    return subjects | {
        "probe_ids": probe_ids,
        "gallery_ids": gallery_ids,
        "_probe_meta": metas[0],
        "_gallery_meta": metas[1],
        "_probe_keys": probe,
        "_gallery_keys": gallery,
    }


def new_ids(gallery_ids: np.ndarray, number: int) -> np.ndarray:
    """Return identities of probes that are no gallery templates."""
    return len(gallery_ids) + np.arange(number, dtype=np.int64)


def _require_distinct_names(names: pd.Index | None, length: int, noun: str) -> None:
    if names is None:
        return
    if len(names) != length:
        raise DataError(
            f"`names` has {len(names)} names, but the scores have {length} {noun}s; expected one "
            "name for each"
        )
    twice = first_twice(names)
    if twice is not None:
        name, rows = twice
        raise DataError(
            f"the name {plain(name)!r} stands twice, in {noun}s {', '.join(map(str, rows))}; equal "
            "names are one template, and a matrix has each template once: give each its own name, "
            "drop the index or call the column otherwise if it does not name templates, or make "
            "one template of several embeddings by `average`"
        )


def _subjects_of(
    probe: GivenSide, gallery: GivenSide, mask: Any, shape: tuple[int, int]
) -> tuple[Attributes, Any, bool]:
    """Return the subjects by labels, or by a mask; the mask; and whether both sides are one set."""
    if probe.labels is not None and gallery.labels is not None:
        transposed = shape[::-1]
        lengths = length_of(probe.labels), length_of(gallery.labels)
        if shape != transposed and lengths == transposed:
            raise DataError(
                f"the scores have shape {shape}, but there are {counted(shape[1], 'labels')} of "
                f"probes and {shape[0]:,} of the gallery: is the matrix transposed? Expected a row "
                "for each probe; give scores.T, or exchange the labels"
            )
        searched = as_subjects(probe.labels, "`labels`", shape[0])
        enrolled = as_subjects(gallery.labels, "`gallery_labels`", shape[1])
        return _labelled(searched, enrolled), mask, False
    if probe.labels is not None:
        if shape[0] != shape[1]:
            raise DataError(
                f"the scores have shape {shape}; without gallery_labels the same templates are on "
                "both sides, and the matrix must be square. Give gallery_labels for a "
                "probe-against-gallery matrix"
            )
        if gallery.meta is not None:
            raise DataError("gallery_meta without `gallery_labels`; probe_meta serves both sides")
        labels = as_subjects(probe.labels, "`labels`", shape[0])
        return _labelled(labels, labels), mask, True
    if mask is None:
        raise DataError(
            "`labels` is missing; expected the subject of each row, or a mask of genuine and "
            "impostor"
        )
    if gallery.labels is not None:
        raise DataError("`gallery_labels` is given without `labels`; expected both")
    mask = as_mask(mask, shape, None)
    may_be_one_set = gallery.meta is None or not columns_of(gallery.meta)
    is_one_set = may_be_one_set and shape[0] == shape[1] and not mask.diagonal().any()
    sides, is_consistent = subjects_of_mask(mask, is_one_set)
    about = {"_labelled": False, "_mask_is_consistent": is_consistent}
    return _labelled(*sides, Codes(*sides)) | about, mask, is_one_set


def _labelled(probe: np.ndarray, gallery: np.ndarray, codes: Codes | None = None) -> Attributes:
    """Return the attributes of labels, of which one array, given twice, has one array of codes."""
    return {
        "probe_labels": probe,
        "gallery_labels": gallery,
        "_codes": Codes(probe, gallery, of_any_type=NO_PERSON) if codes is None else codes,
        "_labelled": True,
        "_mask_is_consistent": False,
    }


def searched_lists(
    indices: Any,
    distances: Any,
    kind: Kind,
    given: tuple[GivenSide, GivenSide],
    leave_out_query: bool | None,
    query_positions: Any,
    first_index: int | None,
    shared: bool | None,
) -> Attributes:
    """Return the attributes of top-K lists, of their queries and of their entries."""
    queries, entries = given

    # Without labels of the gallery, its entries are the queries. If lists are in another order than
    # their labels, numbers tell which entry each query is.
    entry_by_number = None
    if entries.labels is None:
        entries.labels = queries.labels
        if entries.meta is None:
            entries.meta = queries.meta
        if leave_out_query is None:
            leave_out_query = True
        if query_positions is None and require_flag("leave_out_query", leave_out_query):
            entry_by_number = _entries_by_number(queries.labels, indices)

    # Labels, metadata, distances and positions in the order of the lists.
    queries.take_keys(indices)
    entries.join("auto")
    queries.join("auto")
    enrolled = as_subjects(entries.labels, "`gallery_labels`")
    if not len(enrolled):
        raise DataError("the gallery is empty: `gallery_labels` has no entries")
    distances = queries.bring(distances, "`distances`", may_be_plain=True)
    query_positions = queries.bring(query_positions, "`query_positions`", may_be_plain=True)
    searched = as_subjects(queries.labels, "`labels`")
    labels = searched, enrolled
    indices = numbered_from_zero(indices, "indices", first_index, labels)
    query_positions = numbered_from_zero(query_positions, "`query_positions`", first_index, labels)
    if query_positions is None:
        query_positions = entry_by_number
    lists = TopKLists.from_arrays(indices, distances, len(enrolled), kind)
    if len(searched) != len(lists.indices):
        raise DataError(
            f"`labels` has {counted(len(searched), 'labels')} for "
            f"{counted(len(lists.indices), 'lists')}; expected one per query"
        )
    metas = (
        as_meta(queries.meta, len(searched), "probe_meta"),
        as_meta(entries.meta, len(enrolled), "gallery_meta"),
    )
    keys = queries.keys, entries.keys
    attributes = _identified(_labelled(searched, enrolled), False, metas, keys, "auto")
    codes = attributes["_codes"]

    # The entry that each query is itself: as it is stated, or by equal names if scores confirm it.
    is_stated = query_positions is not None or leave_out_query is not None
    names, probe_ids = attributes["_probe_keys"].names, attributes["probe_ids"]
    entry_by_name = None
    if names is not None and attributes["_gallery_keys"].names is not None:
        entry_by_name = np.where(probe_ids < len(enrolled), probe_ids, -1)
        if not is_stated and (entry_by_name >= 0).any():
            scored = Scored.of_lists(lists, kind, codes)
            are_shared, _ = confirm_names(scored, entry_by_name, names, shared=shared)
            if not are_shared:
                entry_by_name = np.full(len(searched), -1)
    entry = own_entries(lists, codes, leave_out_query, query_positions, entry_by_name)
    if entry is not None:
        attributes["probe_ids"] = np.where(entry >= 0, entry, new_ids(enrolled, len(searched)))
        lists = lists.leave_out(entry)
    return attributes | {
        "_source": lists,
        "_own_entries_are_stated": is_stated,
        "remarks": tuple(queries.remarks | entries.remarks),
    }


def _entries_by_number(labels: Any, indices: Any) -> np.ndarray | None:
    """Return the place in `labels` of each list by its number; None if both are in one order."""
    numbers, keys = keys_of(labels).numbers, keys_of(indices)
    if numbers is None or keys.numbers is None:
        return None
    import pandas as pd

    place = pd.Series(np.arange(len(labels)), index=numbers)
    entry = in_order(place, keys, "`labels`", templates="the lists").values.to_numpy()
    return None if np.array_equal(entry, place) else entry


def scored_of(scores: Any) -> Scored:
    """Return scores of any layout as the test of :mod:`bioeval.scores.same` reads them."""
    if scores.layout == "pairs":
        return Scored.of_pairs(scores.pairs, scores.kind, scores.codes)
    if scores.layout == "top-k":
        partner = columns_of_probes(scores)
        return Scored.of_lists(scores.lists, scores.kind, scores.codes, partner)
    cells, codes = scores.cells, scores.codes

    def read(rows: np.ndarray, columns: np.ndarray | None, without: bool) -> np.ndarray:
        part = scores.select(probes=rows, gallery=columns)
        sampled = part.cells
        # For some rows of embeddings, no matrix is made.
        source = sampled.base if sampled.embeddings is None else sampled.embeddings
        raw = read_block(source, sampled.rows, 0, len(rows), sampled.columns)
        values = -as_distances(raw, scores.kind).astype(np.float64)
        if without:
            values[~compared_cells(part, 0, len(rows))] = np.nan
        return values

    most = min(MOST, max(ENOUGH, scores.shape[0] // ONE_OF))
    if cells.streams:  # each row is computed
        most = min(most, max(LEAST_ROWS, scores.shape[0] // ONE_OF // 2))
    row_chunk = None
    if cells.is_stored and cells.row_chunk > 1:  # a container reads whole chunks of rows
        row_chunk = max(cells.row_chunk, most)
    vectors = None  # of scores from elsewhere
    if cells.embeddings is not None:
        probe, gallery = cells.embeddings.embeddings
        vectors = (
            probe if cells.rows is None else probe[cells.rows],
            gallery if cells.columns is None else gallery[cells.columns],
        )
    probe_people, gallery_people = people_of(codes)
    return Scored(
        probe_people=probe_people,
        gallery_people=gallery_people,
        partner=columns_of_probes(scores),
        read=read,
        is_similarity=scores.kind in LARGER_IS_CLOSER,
        most_probes=most,
        first_rows=row_chunk,
        is_order=scores.kind == "order",
        vectors=vectors,
    )


# --------------------------------------------------------------------------------------- embeddings


def compared_embeddings(
    probe: Any,
    gallery: Any,
    given: tuple[GivenSide, GivenSide],
    names: Any,
    *,
    metric: Metric = "cosine",
    kind: Kind | None = None,
    dtype: FloatType = "float64",
    average: Sequence[str] = (),
    as_read: bool = False,
    titles: Sequence[str] | None = None,
) -> tuple[Any, tuple[GivenSide, GivenSide], Attributes]:
    """Return distances of embeddings, both sides in their order, and attributes of the scores.

    With `as_read` no matrix is made, however small; `titles` are those of the columns of the
    probes, if a file has them.
    """
    if gallery is not None and given[1].labels is None:
        raise DataError("gallery is given without gallery_labels; expected both or neither")
    if gallery is None and given[1].labels is not None:
        raise DataError("gallery_labels is given without gallery; expected both or neither")

    # Embeddings and labels of the probes, and of the gallery if it is another set.
    nouns = ("probe", "gallery")[: 1 if gallery is None else 2]
    all_values = (probe, gallery)
    sides = given[: len(nouns)]
    embeddings = []
    for i, (noun, side) in enumerate(zip(nouns, sides, strict=True)):
        embeddings.append(as_embeddings(all_values[i], f"{noun} embeddings"))
        labels = joined_labels(side.labels, ARGUMENTS[i][0])
        side.labels = labels
        rows, width = embeddings[i].shape
        if noun == "probe" and rows != length_of(labels) == width:
            raise DataError(
                f"the probe embeddings have shape {(rows, width)}, but there are {width:,} labels: "
                "are they transposed? Expected a row for each template; give embeddings.T"
            )
        side.take_keys(all_values[i], labels, names, i)
        side.join(names)
        side.labels = as_subjects(side.labels, ARGUMENTS[i][0], rows)
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
    left_out: dict[str, str] = {}  # why averaging leaves out columns of metadata
    if columns:
        count = len(embeddings[0])
        means_in_words = f", means by {' and '.join(columns)} of {count} embeddings of probes"
        for i, side in reversed([*enumerate(sides)]):  # reasons of the probes come last, and stay
            meta = as_meta(side.meta, len(embeddings[i]), f"{nouns[i]}_meta")
            embeddings[i], side.meta, reasons = average_embeddings(
                embeddings[i], {"": side.labels, **meta}, columns, nouns[i]
            )
            side.labels = side.meta.pop("")
            left_out |= reasons

    # The distances. Without a gallery, the first side is also the last.
    source = EmbeddingSource(embeddings[0], embeddings[-1], metric, dtype)
    bytes_of_matrix = math.prod(source.shape) * source.dtype.itemsize
    is_small = bytes_of_matrix <= (OPTIONS["memory_limit"] or MEMORY_LIMIT)
    remarks = {**sides[0].remarks, **sides[-1].remarks}
    if columns:  # means have no keys
        given = given_sides([x.labels for x in given], [x.meta for x in given])
    elif gallery is None:
        given[1].keys = given[0].keys
        given[1].has_keys = True
    attributes = {
        "kind": kind_of_metric(metric, kind),
        "origin": describe_metric(source.metric, embeddings[0]) + means_in_words,
        "metric": source.metric if isinstance(source.metric, str) else "",
        "remarks": (*remarks, *left_out_of(left_out, columns)),
        "_columns_left_out": left_out,
    }
    values = source.matrix() if is_small and not as_read else source
    return values, given, attributes
