"""Named arrays of top-K lists."""

from __future__ import annotations

from math import prod

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.kinds import VALUED, Kind
from bioeval.scores.formats.array_file import NAMES, ArrayFile
from bioeval.scores.formats.array_metadata import Sides, metadata
from bioeval.scores.formats.faults import fault
from bioeval.scores.formats.labels import SideLabels, read_labels
from bioeval.scores.matrix import Scores


def top_k_lists(file: ArrayFile) -> Scores:
    arguments = file.arguments
    name = file.take("indices") or ""
    lists = file.arrays[name].read()
    if lists.ndim != 2 or lists.dtype.kind not in "iu":
        expected = "integers (queries, K), the nearest gallery entries of each query"
        raise fault(file.path, f"{name!r} is {file.arrays[name]}", f"expected {expected}")
    values = _array_of_values(file, lists.shape)
    kind: Kind = "similarity"
    remarks: tuple[str, ...] = ()
    if values != "similarities" or "kind" in arguments or "kind" in file.arrays:
        kind, remarks = file.kind(values or "distances", VALUED)
    counts = len(lists), _gallery_size(file)
    probe, gallery = _labels_of_sides(file, *counts)
    probe_meta, gallery_meta = metadata(file, Sides(probe, gallery, counts))
    # Lists that bioeval saved state the entry of each query, and lack it already.
    are_saved = not arguments.names_arrays and "probe_ids" in file.arrays
    leave_out = arguments.take("lists.leave_out_query")
    if leave_out is None and probe is gallery:
        leave_out = True  # a gallery searched with its own templates
    scores = Scores.from_top_k(
        _indices_from_zero(file, name, lists),
        probe.columns()[0],
        gallery.columns()[0],
        distances=file.read_if_there(values),
        kind=kind,
        probe_meta=probe_meta,
        gallery_meta=gallery_meta,
        name=file.path.stem,
        leave_out_query=False if are_saved else leave_out,
        query_positions=None if are_saved else file.read_if_there("query_positions"),
    )
    if are_saved:
        scores = _with_saved_ids(file, scores)
    return scores._with(reading=remarks)


def _array_of_values(file: ArrayFile, shape: tuple[int, ...]) -> str | None:
    """Return the array of the scores of the entries; None for lists of entries alone."""
    if "columns.scores" in file.arguments:
        return file.take("scores")
    names = (x for x in NAMES["values"] if x in file.arrays and file.shape(x) == shape)
    return next(names, None)


def _labels_of_sides(
    file: ArrayFile, query_count: int, entry_count: int
) -> tuple[SideLabels, SideLabels]:
    probe = file.labels("probe", query_count, "queries")
    gallery = file.labels("gallery", entry_count, "gallery entries")
    if gallery is None and file.roles.get("labels") == "labels":
        gallery = probe  # queries and entries are one set of templates
    if probe is None or gallery is None:
        raise file.no_labels(query_count, entry_count)
    return probe, gallery


def _with_saved_ids(file: ArrayFile, scores: Scores) -> Scores:
    """Return lists with the gallery entry that each query is; larger numbers are no entries."""
    ids = file.ids("probe_ids", len(scores.probe_labels))
    queries = np.flatnonzero(ids < len(scores.gallery_labels))
    labels = scores.probe_labels[queries], scores.gallery_labels[ids[queries]]
    if (ids < 0).any() or not np.array_equal(*labels):
        raise fault(
            file.path,
            "'probe_ids' names gallery entries of other subjects than the queries",
            "expected the entry that a query is itself, or a larger number",
        )
    return scores._with(probe_ids=ids)


def _gallery_size(file: ArrayFile) -> int:
    arguments = file.arguments
    if "gallery" in arguments:
        return len(read_labels(arguments.take("gallery"), arguments, role="gallery_labels").label)
    chosen = arguments.peek("columns.gallery_labels")
    if chosen is not None:
        file.require(chosen, '`columns={"gallery_labels": ...}`')
    possible_names = (chosen, "gallery_labels", "labels", *NAMES["gallery_labels"])
    name = next((x for x in possible_names if x in file.arrays), None)
    if name is None:
        raise DataError(
            f"{file.path}: no gallery_labels; top-K lists need the identity of every gallery "
            "entry, listed or not: an array gallery_labels, or a CSV file by `gallery`. It holds: "
            f"{file.contents}"
        )
    return prod(file.shape(name))


def _indices_from_zero(file: ArrayFile, name: str, lists: np.ndarray) -> np.ndarray:
    """Return the gallery entries numbered from 0; negative numbers, which fill lists, stay."""
    if not file.arguments.take("lists.first_index"):
        return lists
    if (lists == 0).any():
        row = int(np.argmax((lists == 0).any(axis=1)))
        raise DataError(
            f"{file.path}: {name!r}: list {row} holds 0, and the first entry is said to be 1"
        )
    return np.where(lists >= 0, lists - 1, lists)
