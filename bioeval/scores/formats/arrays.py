"""Named arrays as scores: an array has a role by ``columns`` or by a known name.

Schema 1 of bioeval, of a .npz file and of all files with named arrays, holds either

- ``scores`` (m, n), ``probe_labels`` (m,) and ``gallery_labels`` (n,), or without
  ``gallery_labels`` all-against-all; ``mask`` (m, n); ``probe_<name>`` and ``gallery_<name>``
  metadata; ``probe_ids`` and ``gallery_ids`` where templates of a selection are on both sides;
- ``indices`` (q, k), ``distances`` (q, k), ``probe_labels`` (q,) and ``gallery_labels`` (n,),
  top-K lists;
- ``scores`` (p,) and ``genuine`` (p,), a list of pairs, with ``subjects`` (p, 2), ``fold`` (p,) and
  ``templates`` (p, 2), the names of the templates of both sides, or their places in
  ``template_names`` (n,);
- ``embeddings`` (m, f), ``labels`` (m,), ``metric`` and ``<name>`` metadata, and optionally
  ``gallery_embeddings`` (n, f) and ``gallery_labels`` (n,).

``kind`` and ``nan`` are words, ``exclude`` names metadata columns, ``schema`` is the number of
the layout. ``distractor_ids`` and ``junk_ids`` are whole numbers: labels of no person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.errors import DataError, backquoted
from bioeval.base.kinds import METRICS, VALUED, Kind
from bioeval.base.messages import Message
from bioeval.scores.build import as_ids
from bioeval.scores.codes import CodedSides
from bioeval.scores.embeddings import EmbeddingSource
from bioeval.scores.features import (
    FeatureSide,
    as_embeddings,
    average_embeddings,
    left_out_of,
    require_features,
)
from bioeval.scores.formats.array_file import (
    DISTMAT,
    IMPOSTOR,
    NAMES,
    PEOPLE_NAMES,
    PREFIXES,
    RESERVED,
    ArrayFile,
    Meta,
)
from bioeval.scores.formats.comparisons import in_listed_order, look_up, read_comparisons
from bioeval.scores.formats.containers import Lazy
from bioeval.scores.formats.faults import fault, wrong_shape
from bioeval.scores.formats.files import existing_file
from bioeval.scores.formats.labels import SideLabels, read_labels
from bioeval.scores.formats.options import Arguments
from bioeval.scores.formats.scores_alone import scores_of_classes
from bioeval.scores.formats.spellings import COLUMNS, MOST_COLUMNS, TRIAL_NAMES
from bioeval.scores.labels import IDS_OF_NO_PERSON, as_subjects
from bioeval.scores.matrix import Scores
from bioeval.scores.metadata import as_meta
from bioeval.scores.pairs import ListRules, places_in_words
from bioeval.scores.people import marking
from bioeval.scores.sides import GivenSide, Keys, as_names, refuse_other_orders

#: The number of the layout.
SCHEMA = 1

_MAIN_ROLES = ("scores", "embeddings", "indices")


# ------------------------------------------------------------------------- what a file holds


def scores_of(
    path: Path,
    arrays: dict[str, Lazy],
    arguments: Arguments,
    matlab: bool = False,
    as_read: bool = False,
) -> Scores:
    """Return the scores of a file, or of its top-K lists or embeddings, by the roles of its arrays.

    With `as_read`, distances of embeddings are computed as they are read.
    """
    schema = arrays.get("schema")
    if schema is not None and schema.shape == () and schema.dtype.kind in "iu":
        number = int(schema.read())
        if number != SCHEMA:
            raise DataError(
                f"{path}: is of schema {number}; this bioeval reads schema {SCHEMA}. Use a newer "
                "bioeval"
            )
    file = ArrayFile(path, arrays, arguments, matlab)
    scores = _by_role(file, as_read)
    if unused := file.unused:
        remark = Message("arrays-left-out", arrays=unused)
        scores = scores._with(remarks=(*scores.remarks, remark))
    if arguments.names_arrays:
        return scores
    ids, junk_ids = (
        as_ids(np.ravel(arrays[name].read()).tolist(), name) if name in arrays else None
        for name in IDS_OF_NO_PERSON
    )
    return marking(scores, ids, junk_ids or ())


def _by_role(file: ArrayFile, as_read: bool) -> Scores:
    arguments = file.arguments
    names_impostors = IMPOSTOR in arguments.meta and "columns.scores" not in arguments
    if "columns.genuine" in arguments and names_impostors:
        return two_named_vectors(file)
    roles = _main_roles(file)
    if len(roles) > 1:
        names = [next(x for x in NAMES[role] if x in file.arrays) for role in roles]
        raise DataError(
            f"{file.path}: holds both {' and '.join(names)}; choose by "
            + " or ".join(f'`columns={{"{r}": "{x}"}}`' for r, x in zip(roles, names, strict=True))
        )
    if roles == ["indices"]:
        return top_k_lists(file)
    if roles == ["embeddings"]:
        return _embeddings(file, as_read)
    if roles == ["scores"]:
        return _pairs_or_matrix(file)
    if names_of_vectors := vectors_of_classes(file.arrays):
        return two_vectors(file, *names_of_vectors)
    matrices = (k for k, v in file.arrays.items() if len(v.shape) == 2 and v.dtype.kind in "iuf")
    raise DataError(
        f"{file.path}: no array 'scores' or 'embeddings'; name the array to use with "
        f"{backquoted('columns.scores', next(matrices, None))} or "
        f'`columns={{"embeddings": ...}}`. It holds: {file.contents}'
    )


def _pairs_or_matrix(file: ArrayFile) -> Scores:
    arguments = file.arguments
    name = file.take("scores") or ""
    shape = file.arrays[name].shape
    has_classes = "genuine" in file.arrays or "columns.genuine" in arguments
    if len(shape) == 1 or file.is_list(name) and (has_classes or "trials" in arguments):
        return scores_of_pairs(file, name)
    if len(shape) != 2:
        expected = "a matrix (probes, gallery), or one score per pair"
        raise wrong_shape(file.path, repr(name), shape, expected)
    return _matrix(file, name)


def _main_roles(file: ArrayFile) -> list[str]:
    """Return the role among `_MAIN_ROLES` by which a file is read, or several if it is not clear.

    Roles are stated by ``columns``, else by bioeval's own names, else by names of other programs.
    """
    arguments = file.arguments
    arrays = file.arrays
    if named := [role for role in _MAIN_ROLES if f"columns.{role}" in arguments]:
        if {*named} >= {"scores", "embeddings"}:
            problem = '`columns={"scores": ...}` and `columns={"embeddings": ...}` are both given'
            raise DataError(f"{problem}; expected one")
        return ["indices"] if "indices" in named else named
    if roles := [role for role in _MAIN_ROLES if role in arrays]:
        # Scores beside indices are a matrix, unless they have the shape of the lists.
        main_roles = [role for role in roles if role != "indices"]
        if main_roles == roles or "embeddings" in roles:
            return main_roles
        has_matrix = main_roles and arrays["scores"].shape != arrays["indices"].shape
        return main_roles if has_matrix else ["indices"]
    matrices = {name for name, array in arrays.items() if len(array.shape) == 2}
    features = matrices.intersection(NAMES["embeddings"])
    gallery_features = matrices.intersection(NAMES["gallery_embeddings"])
    scores = [] if matrices.isdisjoint(DISTMAT) else ["scores"]
    return [*scores, "embeddings"] if features and gallery_features else scores


def _are_transposed(file: ArrayFile, *names: str) -> bool:
    """Whether matrices of a MATLAB file are transposed, by the number of labels of both sides.

    `names` are one array of scores, or the embeddings of both sides. Programs disagree on whether
    templates are rows or columns. Where the number of labels fits both dimensions (as many
    features as templates), the matrix of the other side decides.
    """
    if not file.matlab:
        return False
    labels = [*filter(None, map(file.take, ("labels", "gallery_labels")))]
    counts = tuple(file.shape(x)[0] for x in labels if len(file.shape(x)) == 1)
    if len(counts) != 2:
        return False
    if len(names) == 1:
        shape = file.arrays[names[0]].shape
        return shape == counts[::-1] != counts
    row_counts, column_counts = zip(*(file.arrays[x].shape for x in names), strict=True)
    return column_counts == counts != row_counts


# ------------------------------------------------------------------------- a matrix


def _matrix(file: ArrayFile, name: str) -> Scores:
    arguments = file.arguments
    file.require_used("a matrix of scores")
    array = file.arrays[name]
    is_transposed = _are_transposed(file, name)
    mask = file.take("mask")
    shape = array.shape[::-1] if is_transposed else array.shape
    sides = _sides_of_matrix(file, name, (shape[0], shape[1]), has_mask=mask is not None)
    probe_meta, gallery_meta = metadata(file, sides, plain=sides.are_one_set)
    if is_transposed:
        values = array.read().T
    else:
        values = array.read() if array.rows is None else array.rows()
    kind, remarks = file.kind(name)
    scores = Scores(
        values,
        sides.probe and sides.probe.columns()[0],
        sides.gallery and sides.gallery.columns()[0],
        mask=file.read_if_there(mask),
        probe_meta=probe_meta,
        gallery_meta=None if sides.are_one_set else gallery_meta,
        kind=kind,
        nan=file.nan,
        name=file.path.stem,
        exclude=file.exclude,
        names=arguments.names,
        shared=True if "probe_ids" in file.arrays else arguments.take("shared"),
    )._with(reading=remarks)
    if not arguments.names_arrays and "probe_ids" in file.arrays:
        probe_ids = file.ids("probe_ids", shape[0])
        scores = scores._with(probe_ids=probe_ids, gallery_ids=file.ids("gallery_ids", shape[1]))
    if "trials" not in arguments:
        return scores
    _require_one_set(file, sides)
    listed = look_up_trials(file, scores.probe_labels, scores.probe_meta, scores.probe_names)
    pairs = scores.at_pairs(listed.enrolled, listed.probe, listed.genuine, listed.fold)
    return scores_of_trials(file, pairs, listed, shape[0])


def _sides_of_matrix(
    file: ArrayFile, name: str, counts: tuple[int, int], *, has_mask: bool
) -> Sides:
    """Return the labels of the rows and of the columns; raise where they are missing.

    Without labels of the columns, a square matrix is all-against-all; with a mask, and without any
    labels, the two sides are not known to be one set.
    """
    probe_count, gallery_count = counts
    gallery = file.labels("gallery", gallery_count, "gallery templates")
    may_be_one_set = gallery is None and probe_count == gallery_count
    probe = file.labels("probe", probe_count, "probes", has_metadata=may_be_one_set)
    if probe is None:
        if has_mask and gallery is None:
            return Sides(None, None, counts)
        raise file.no_labels(probe_count, gallery_count)
    if gallery is None and not may_be_one_set:
        raise DataError(
            f"{file.path}: {name!r} is {probe_count} x {gallery_count}, not square, and there are "
            "no gallery labels; "
            f'name them with `columns={{"gallery_labels": ...}}`. It holds: {file.contents}'
        )
    return Sides(probe, gallery, counts, are_one_set=gallery is None)


def _require_one_set(file: ArrayFile, sides: Sides) -> None:
    if not sides.are_one_set:
        raise DataError(
            f"{file.path}: `trials` needs the same templates on both sides, but this file "
            "has a separate gallery"
        )


# ------------------------------------------------------------------------- embeddings


def _embeddings(file: ArrayFile, as_read: bool) -> Scores:
    arguments = file.arguments
    kind = arguments.take("kind")
    if kind not in (None, "distance"):
        raise DataError(
            f'`kind="{kind}"` has no meaning for embeddings; they are compared by distances'
        )
    names = [*filter(None, map(file.take, ("embeddings", "gallery_embeddings")))]
    file.require_used("embeddings")
    for name in names:
        shape = file.arrays[name].shape
        if len(shape) != 2:
            raise wrong_shape(file.path, repr(name), shape, "one embedding per row")
    is_transposed = len(names) == 2 and _are_transposed(file, *names)
    counts = [file.arrays[name].shape[is_transposed] for name in names]
    sides = _sides_of_embeddings(file, counts)
    probe_meta, gallery_meta = metadata(file, sides, plain=True)
    metric = file.word("metric", "cosine", METRICS)
    mask = file.take("mask")
    features = [_features(file, name, is_transposed) for name in names]
    labels = [side.columns()[0] for side in (sides.probe, sides.gallery) if side is not None]
    if "trials" in arguments:
        _require_one_set(file, sides)
        return _pairs_of_embeddings(file, features[0], metric, labels[0], probe_meta, names[0])
    features_and_labels = [x for of_side in zip(features, labels, strict=True) for x in of_side]
    return Scores._from_embeddings(
        *features_and_labels,
        metric=metric,
        nan=file.nan,
        mask=file.read_if_there(mask),
        probe_meta=probe_meta,
        gallery_meta=None if sides.are_one_set else gallery_meta,
        name=file.path.stem,
        exclude=file.exclude,
        average=arguments.take("average", ()),
        names=arguments.names,
        shared=arguments.take("shared"),
        as_read=as_read,
    )


def _sides_of_embeddings(file: ArrayFile, counts: Sequence[int]) -> Sides:
    """Return the labels; `counts` are the numbers of templates on each side that is in the file."""
    if len(counts) == 1:
        gallery = None
        probe = file.labels("probe", counts[0], "templates", has_metadata=True)
    else:
        gallery = file.labels("gallery", counts[1], "gallery templates")
        probe = file.labels("probe", counts[0], "templates")
    if probe is None or (len(counts) == 2 and gallery is None):
        raise file.no_labels(*counts)
    return Sides(probe, gallery, (counts[0], counts[-1]), are_one_set=len(counts) == 1)


def _pairs_of_embeddings(
    file: ArrayFile, embeddings: np.ndarray, metric: Any, labels: Any, meta: Meta, name: str
) -> Scores:
    """Return the distances of the pairs that `trials` lists; `name` is the array of embeddings."""
    side = GivenSide(Keys(), labels, meta)
    side.join(file.arguments.names)
    subjects = as_subjects(side.labels, "labels", len(embeddings))
    names = side.keys.names
    meta = as_meta(side.meta, len(embeddings), "probe_meta")
    require_features(FeatureSide(embeddings, subjects, f"{file.path}: {name}"))
    left_out: tuple[Message, ...] = ()
    if average := file.arguments.take("average", ()):
        columns = {"": subjects, **meta}
        averaged = average_embeddings(embeddings, columns, average, "probe")
        embeddings = averaged.means
        meta = averaged.columns
        subjects = meta.pop("")
        names = as_names(meta[average[0]])
        left_out = left_out_of(averaged.left_out, average)
    listed = look_up_trials(file, subjects, meta, names)
    pairs = Scores.from_pairs(
        EmbeddingSource(embeddings, embeddings, metric).pairs(listed.enrolled, listed.probe),
        listed.genuine,
        nan=file.nan,
        subjects=np.column_stack([subjects[listed.probe], subjects[listed.enrolled]]),
        pair_folds=listed.fold,
        name=file.path.stem,
    )
    scores = scores_of_trials(file, pairs, listed, len(embeddings))
    return scores._with(remarks=(*scores.remarks, *left_out))


def _features(file: ArrayFile, name: str, is_transposed: bool) -> Any:
    values = file.arrays[name].read()
    return as_embeddings(values.T if is_transposed else values, f"{file.path}: {name}")


# ------------------------------------------------------------------------- array lists


def top_k_lists(file: ArrayFile) -> Scores:
    arguments = file.arguments
    file.require_used("top-K lists")
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
        lists,
        probe.columns()[0],
        gallery.columns()[0],
        distances=file.read_if_there(values),
        kind=kind,
        probe_meta=probe_meta,
        gallery_meta=gallery_meta,
        name=file.path.stem,
        leave_out_query=False if are_saved else leave_out,
        query_positions=None if are_saved else file.read_if_there("query_positions"),
        first_index=_first_index(file),
        shared=file.arguments.take("shared"),
    )
    if are_saved:
        scores = _with_saved_ids(file, scores)
    return scores._with(reading=remarks)


def _first_index(file: ArrayFile) -> int | None:
    """Return the number of the first gallery entry, as stated, or as a program writes it."""
    stated = file.arguments.take("lists.first_index")
    if stated is not None:
        return stated
    if file.matlab:
        return 1
    return 0 if file.is_own_layout and "schema" in file.arrays else None


def _array_of_values(file: ArrayFile, shape: tuple[int, ...]) -> str | None:
    """Return the array of the scores of the entries; None for lists of entries alone."""
    if "columns.scores" in file.arguments:
        return file.take("scores")
    names = [x for x in NAMES["values"] if x in file.arrays and x not in file.arguments.ignored]
    for name in names:
        if file.shape(name) == shape:
            return name
        if name != "scores":  # which may be a matrix beside the lists
            raise wrong_shape(file.path, repr(name), file.shape(name), f"{shape}, as the lists")
    return None


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


# ------------------------------------------------------------------------- array metadata


class Sides(NamedTuple):
    """The labels of both sides of a matrix, of top-K lists or of embeddings."""

    probe: SideLabels | None
    gallery: SideLabels | None
    counts: tuple[int, int]  # numbers of probes and of gallery templates
    are_one_set: bool = False  # whether both sides are the same templates


class _Column(NamedTuple):
    """A column of metadata, and the array that has its values."""

    side: int  # 0: of the probes, 1: of the gallery
    name: str
    array: str


def metadata(file: ArrayFile, sides: Sides, plain: bool = False) -> tuple[Meta, Meta]:
    """Return the metadata of both sides.

    - Arrays ``probe_x`` and ``gallery_x`` are columns ``x``.
    - With `plain`, arrays without a prefix are columns of the probes.
    - Arrays that ``columns`` names are columns, and so are arrays of cameras under the names of
      other programs; they replace a column by prefix.
    - Further columns are in the files of the labels.
    """
    array_of_column = _columns_by_prefix(file, sides, plain)
    for column in [*_cameras(file, sides), *_named_columns(file, sides)]:
        if file.shape(column.array) != (sides.counts[column.side],):
            raise file.wrong_length(column.array, sides.counts[column.side])
        arrays = array_of_column[column.side]
        # An array is one column only, under the name that was given.
        for name in [x for x in arrays if arrays[x] == column.array]:
            del arrays[name]
        arrays[column.name] = column.array
    probe_arrays, gallery_arrays = array_of_column
    return (
        _values_of_columns(file, sides.probe, probe_arrays),
        _values_of_columns(file, sides.gallery, gallery_arrays),
    )


def _values_of_columns(
    file: ArrayFile, labels: SideLabels | None, array_of_column: dict[str, str]
) -> Meta:
    """Return the columns of a side; a column in arrays and in labels has the values of the array.

    Raise where such a column has its values in two orders, and no names that join them.
    """
    file.use(*array_of_column.values())
    from_arrays = {name: file.read(array) for name, array in array_of_column.items()}
    from_labels = labels.columns()[1] if labels else {}
    if labels and not labels.names:
        for name in from_labels.keys() & from_arrays.keys():
            values = {f"{name} of the labels": from_labels[name], name: from_arrays[name]}
            refuse_other_orders(values, None)
    return from_labels | from_arrays


def _columns_by_prefix(
    file: ArrayFile, sides: Sides, plain: bool
) -> tuple[dict[str, str], dict[str, str]]:
    array_of_column: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for name in _candidates(file, sides, plain):
        side = int(name.startswith("gallery_"))
        column = _without_prefix(name)
        has_prefix = column != name
        if has_prefix and file.is_own_layout:
            file.refuse_objects(name)
        is_pickled = file.arrays[name].dtype.hasobject
        if side and sides.are_one_set:
            _require_same_metadata(file, name)
        elif not is_pickled and file.shape(name) == (sides.counts[side],):
            array_of_column[side][column] = name
        elif file.is_own_layout and (has_prefix or file.is_unused_list(name)):
            raise file.wrong_length(name, sides.counts[side])
    return array_of_column


def _without_prefix(name: str) -> str:
    return re.sub("^(probe|gallery)_", "", name)


def _candidates(file: ArrayFile, sides: Sides, plain: bool) -> list[str]:
    """Return the names of arrays that may be columns of metadata, since they have no role.

    Without `plain`, they begin with the prefix of a side.
    """
    names_in_use = RESERVED | file.used
    if sides.are_one_set and not file.is_own_layout:
        names_in_use |= {*NAMES["camera of the gallery"]}  # a square matrix has one side
    columns = [
        name
        for name in file.arrays
        if (plain or name.startswith(PREFIXES))
        and len(file.shape(name)) < 2
        and name not in names_in_use
    ]
    if len(columns) > MOST_COLUMNS:
        problem = f"holds {len(columns):,} arrays of metadata"
        raise fault(file.path, problem, f"expected at most {MOST_COLUMNS:,}")
    return columns


def _require_same_metadata(file: ArrayFile, name: str) -> None:
    probe_name = f"probe_{name.removeprefix('gallery_')}"
    same = probe_name in file.arrays and np.array_equal(file.read(name), file.read(probe_name))
    if file.is_own_layout and not same:
        raise fault(file.path, f"there are gallery metadata, {name!r}, but no gallery_labels")


def _cameras(file: ArrayFile, sides: Sides) -> Iterator[_Column]:
    """Yield the columns ``camera`` of arrays that have the name of another program."""
    if file.is_own_layout or "camera" in file.arguments.meta:
        return
    for side, role in enumerate(("camera of queries", "camera of the gallery")):
        if side == 0 or not sides.are_one_set:
            array = next((x for x in NAMES[role] if x in file.arrays), None)
            if array and f"{PREFIXES[side]}camera" not in file.arguments.meta:
                yield _Column(side, "camera", array)


def _named_columns(file: ArrayFile, sides: Sides) -> Iterator[_Column]:
    if sides.are_one_set and "labels" in file.arguments:
        return  # they are columns of the file of labels
    for word, array in file.arguments.all_meta().items():
        columns = _columns_of_word(file, sides, word, array)
        for column in columns:
            name = column.array if column.array in file.arrays else array
            file.require(name, f'`columns={{"{word}": ...}}`')
        yield from columns


def _columns_of_word(file: ArrayFile, sides: Sides, word: str, array: str) -> list[_Column]:
    """Return the columns that ``columns={word: array}`` means: of one side, or of both."""
    if sides.are_one_set:
        return [_Column(0, word, array if array in file.arrays else f"probe_{array}")]
    column = _without_prefix(word)
    if column != word:
        return [_Column(int(word.startswith("gallery_")), column, array)]
    of_both_sides = [_Column(side, word, f"{PREFIXES[side]}{array}") for side in (0, 1)]
    if any(x.array in file.arrays for x in of_both_sides):
        return of_both_sides
    file.require(array, f'`columns={{"{word}": ...}}`')
    raise DataError(
        f"{file.path}: {array!r} is given for {word!r}, but probes and gallery "
        f'differ; say `columns={{"probe_{word}": "{array}"}}` and '
        f'`columns={{"gallery_{word}": ...}}`'
    )


# ------------------------------------------------------------------------- array pairs


# The number of an image among the images of its subject, which lists in LFW's form state.
_IMAGE_NUMBER = "image_number"

_SIDES = ("subject_a", "subject_b", "template_a", "template_b")

# Names of two vectors of scores, in lower case and without "scores".
_NAMES_OF_CLASSES = (
    ("genuine", "impostor"), ("gen", "imp"), ("client", "impostor"), ("target", "nontarget"),
    ("mated", "nonmated"), ("match", "nonmatch"), ("same", "different"), ("intra", "inter"),
)  # fmt: skip


@dataclass(frozen=True)
class Trials:
    """Trials, each of two templates of one set; all arrays are (trials,)."""

    enrolled: np.ndarray  # int64: the number of the enrolled template in the set
    probe: np.ndarray  # int64: the number of the probe
    genuine: np.ndarray  # bool
    fold: np.ndarray | None
    missing: int  # number of trials that were left out, since a template is not in the set


def look_up_trials(file: ArrayFile, labels: np.ndarray, meta: Any, template_names: Any) -> Trials:
    """Return the trials that `trials` lists, among the templates of a file.

    Templates are found by `template_names`, images of LFW by their subject and number.
    """
    path = existing_file(file.arguments.take("trials"))
    listed = read_comparisons(path, file.arguments)
    if listed.subjects is not None:
        if _IMAGE_NUMBER not in meta or meta[_IMAGE_NUMBER].dtype.kind not in "iu":
            raise DataError(
                f"{file.path}: {listed.path.name} numbers the images of each subject, but there "
                f"are no whole numbers called {_IMAGE_NUMBER!r}; name them with "
                f'`columns={{"{_IMAGE_NUMBER}": ...}}`. It holds: {file.contents}'
            )
        numbers = meta[_IMAGE_NUMBER].tolist()
        names = [f"{person} {i}" for person, i in zip(_people(file, labels), numbers, strict=True)]
    elif template_names is None:
        raise fault(
            file.path,
            f"has no names of templates, by which the trials of {listed.path.name} find them",
            'give them as `columns={"name": ...}`; a list of pairs of LFW is read by '
            '`format="lfw"`',
        )
    else:
        names = template_names.tolist()
    skip = file.arguments.take("lists.missing_pairs") == "skip"
    found = look_up(listed, names, skip)
    if listed.genuine is None:
        raise fault(listed.path, "lists genuine pairs alone", "expected impostor pairs, too")
    return Trials(
        found.enrolled,
        found.probe,
        listed.genuine[found.is_found],
        None if listed.fold is None else listed.fold[found.is_found],
        int((~found.is_found).sum()),
    )


def _people(file: ArrayFile, labels: np.ndarray) -> list[str]:
    """Return the name of each template's person.

    Labels may be places in an array of names, as in files of LFW's images.
    """
    array = file.arrays.get(PEOPLE_NAMES)
    name_count = 0
    if array is not None and array.dtype.kind == "U" and len(array.shape) == 1:
        name_count = array.shape[0]
    if labels.dtype.kind in "iu" and 0 <= labels.min() <= labels.max() < name_count:
        return file.arrays[PEOPLE_NAMES].read()[labels].tolist()
    return [*map(str, labels.tolist())]


def scores_of_trials(
    file: ArrayFile, scores: Scores, trials: Trials, template_count: int
) -> Scores:
    """Return the scores of trials without the trials that the rules of lists leave out."""
    codes = trials.probe.astype(np.int32), trials.enrolled.astype(np.int32)
    listed = replace(scores.pairs, templates=CodedSides(range(template_count), *codes))
    rules = ListRules.parse(**file.arguments.rules())
    listed, _, notes = listed.attempts(
        rules, scores.kind, lambda rows: places_in_words("pair", rows)
    )
    # The cells of a matrix have the probe first, pairs the enrolled template. The names of the
    # templates go, as they are places in this file, which mean nothing in another.
    listed = listed.exchanged(np.ones(len(listed.values), dtype=bool))
    listed = replace(listed, templates=None, missing=trials.missing)
    return scores.with_pairs(listed, remarks=notes)


def scores_of_pairs(file: ArrayFile, name: str) -> Scores:
    """Return the scores in the vector `name`, which has a score for each pair of templates.

    Whether a pair is genuine is in an array of 0 and 1, or in the list ``trials``, which is then in
    the order of the scores.
    """
    arguments = file.arguments
    genuine = file.take("genuine")
    pair_count = max(file.arrays[name].shape)
    file.require_used("a list of pairs")
    values = arguments.with_failures(file.read(name))
    kind, remarks = file.kind(name)
    options: dict[str, Any] = {"kind": kind, "nan": file.nan, "name": file.path.stem}
    if genuine is None and "trials" in arguments:
        scores = in_listed_order(file.path, values, arguments, options)
        return scores._with(reading=(*scores.reading, *remarks))
    if genuine is None:
        raise DataError(
            f"{file.path}: {name!r} is a list of {pair_count} scores without classes; name the "
            f'array of 0 and 1 with `columns={{"genuine": ...}}`. It holds: {file.contents}'
        )
    scores = Scores.from_pairs(
        values,
        file.read(genuine),
        subjects=_both_sides(file, "subject", pair_count),
        pair_folds=file.read_if_there("fold"),
        pair_templates=_template_names(file, pair_count),
        meta=_meta_of_pairs(file, pair_count),
        **options,
        **arguments.rules(),
    )
    return scores._with(reading=remarks)


def _both_sides(file: ArrayFile, noun: str, pair_count: int) -> np.ndarray | None:
    """Return the subjects or templates of both sides, (pairs, 2); None if the file has neither."""
    if f"{noun}s" in file.arrays:
        return file.read(f"{noun}s")
    sides = [_array_of_side(file, side) for side in (f"{noun}_a", f"{noun}_b")]
    named = [name for name in sides if name is not None]
    if not named:
        return None
    if len(named) == 1:
        raise fault(
            file.path,
            f"{named[0]!r} has the {noun}s of one side of the pairs alone",
            f'name the arrays of both sides, as in `columns={{"{noun}_a": ...}}` and '
            f'`columns={{"{noun}_b": ...}}`',
        )
    for name in named:
        if file.shape(name) != (pair_count,):
            raise file.wrong_length(name, pair_count)
    file.use(*named)
    return np.column_stack([file.read(name) for name in named])


def _array_of_side(file: ArrayFile, side: str) -> str | None:
    """Return the array of a column of lists such as ``subject_a``; None if there is none.

    Its name is given by ``columns``, or is one of the names that the column has in lists.
    """
    stated = file.arguments.meta
    for word in COLUMNS[side]:
        if word in stated:
            file.require(stated[word], f'`columns={{"{word}": ...}}`')
            return stated[word]
    for word in COLUMNS[side]:
        if word in file.arrays and word not in TRIAL_NAMES:
            return word
    return None


def _meta_of_pairs(file: ArrayFile, pair_count: int) -> Meta:
    """Return the metadata of both templates of each pair, (pairs, 2), the enrolled one first.

    Metadata are arrays that ``columns`` names, then other arrays of two columns, and then arrays
    ``gallery_x`` with ``probe_x``: an array that one of these functions uses is none for the next.
    """
    return {
        **_named_by_columns(file, pair_count),
        **_of_two_columns(file, pair_count),
        **_named_by_sides(file, pair_count),
    }


def _named_by_columns(file: ArrayFile, pair_count: int) -> Meta:
    """Return the arrays that ``columns`` names.

    If an array has a single value for a pair, both templates have this value.
    """
    roles = {word for side in _SIDES for word in COLUMNS[side]}
    columns = {}
    for word, name in file.arguments.all_meta().items():
        if word in roles:
            continue
        file.require(name, f'`columns={{"{word}": ...}}`')
        if file.shape(name) not in ((pair_count,), (pair_count, 2)):
            raise file.wrong_length(name, pair_count)
        values = file.read(name)
        columns[word] = values if values.ndim == 2 else np.column_stack([values, values])
        file.use(name)
    return columns


def _of_two_columns(file: ArrayFile, pair_count: int) -> Meta:
    columns = {}
    for name in file.arrays:
        if file.shape(name) == (pair_count, 2) and name not in RESERVED | file.used:
            columns[name] = file.read(name)
            file.use(name)
    return columns


def _named_by_sides(file: ArrayFile, pair_count: int) -> Meta:
    """Return the arrays ``gallery_x`` and ``probe_x`` as ``x``.

    Arrays of another length are an error, unless ``columns`` says which arrays are meant.
    """
    columns = {}
    for probe_name in file.arrays:
        name = probe_name.removeprefix("probe_")
        gallery_name = f"gallery_{name}"
        names = (gallery_name, probe_name)
        if name == probe_name or gallery_name not in file.arrays or probe_name in file.used:
            continue
        if not RESERVED.isdisjoint(names):
            continue
        wrong = [x for x in (probe_name, gallery_name) if file.shape(x) != (pair_count,)]
        if not wrong:
            columns[name] = np.column_stack([file.read(x) for x in names])
        elif not file.arguments.names_arrays:
            raise file.wrong_length(wrong[0], pair_count)
    return columns


def _template_names(file: ArrayFile, pair_count: int) -> np.ndarray | CodedSides | None:
    names = file.read_if_there("template_names")
    codes = _both_sides(file, "template", pair_count)
    if codes is None or names is None:
        return codes
    are_places = codes.shape == (pair_count, 2) and codes.dtype.kind in "iu" and names.ndim == 1
    if not are_places or codes.min(initial=0) < 0 or codes.max(initial=0) >= len(names):
        raise fault(
            file.path,
            f"'templates' is {codes.shape} {codes.dtype}",
            f"expected ({pair_count}, 2) places in 'template_names', 0 to {names.size - 1:,}",
        )
    if len({*names.tolist()}) < len(names):
        raise fault(file.path, "'template_names' has a name twice", "expected each once")
    return CodedSides(names.tolist(), *np.ascontiguousarray(codes.T, dtype=np.int32))


def vectors_of_classes(arrays: dict[str, Lazy]) -> tuple[str, str] | None:
    """Return the names of the arrays of genuine and impostor scores; None unless both exist."""
    vectors = {
        re.sub("scores?|[_ -]", "", name.casefold()): name
        for name, array in arrays.items()
        if array.dtype.kind in "iuf" and array.is_vector
    }
    for genuine, impostor in _NAMES_OF_CLASSES:
        if genuine in vectors and impostor in vectors:
            return vectors[genuine], vectors[impostor]
    return None


def two_named_vectors(file: ArrayFile) -> Scores:
    """Return the scores of the two classes, whose arrays ``columns`` names."""
    names = {"genuine": file.arguments.take("columns.genuine")} | file.arguments.all_meta()
    for word, name in names.items():
        if word not in ("genuine", IMPOSTOR):
            raise file.arguments.no_meaning(file.path, f"columns.{word}", "scores of two classes")
        file.require(name, f'`columns={{"{word}": ...}}`')
        if not file.arrays[name].is_vector:
            raise wrong_shape(file.path, repr(name), file.arrays[name].shape, "one score a pair")
    return two_vectors(file, names["genuine"], names[IMPOSTOR])


def two_vectors(file: ArrayFile, genuine: str, impostor: str) -> Scores:
    """Return the scores in two arrays as pairs without names."""
    genuine_scores = file.arrays[genuine].read().reshape(-1)
    impostor_scores = file.arrays[impostor].read().reshape(-1)
    file.use(genuine, impostor)
    file.require_used("scores of two classes")
    kind, remarks = file.kind(genuine)
    options = {"kind": kind, "nan": file.nan, "name": file.path.stem}
    scores = scores_of_classes(genuine_scores, impostor_scores, file.arguments, options)
    origin = f"genuine scores from {genuine!r}, impostor scores from {impostor!r}"
    return scores._with(reading=(origin, *remarks))
