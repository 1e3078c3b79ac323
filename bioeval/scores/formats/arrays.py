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

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError, backquoted
from bioeval.base.kinds import METRICS
from bioeval.base.messages import Message
from bioeval.scores.embedding_arrays import as_embeddings, average_embeddings, require_features
from bioeval.scores.embeddings import EmbeddingSource
from bioeval.scores.formats.array_file import DISTMAT, IMPOSTOR, NAMES, ArrayFile, Meta
from bioeval.scores.formats.array_lists import top_k_lists
from bioeval.scores.formats.array_metadata import Sides, metadata
from bioeval.scores.formats.array_pairs import (
    look_up_trials,
    scores_of_pairs,
    scores_of_trials,
    two_named_vectors,
    two_vectors,
    vectors_of_classes,
)
from bioeval.scores.formats.containers import Lazy
from bioeval.scores.formats.faults import wrong_shape
from bioeval.scores.formats.options import Arguments
from bioeval.scores.joining import GivenSide, RowOrder
from bioeval.scores.labels import IDS_OF_NO_PERSON, as_subjects
from bioeval.scores.making import as_ids
from bioeval.scores.matrix import Scores
from bioeval.scores.metadata import as_meta
from bioeval.scores.names import as_names
from bioeval.scores.people import marking

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
    side = GivenSide(labels, meta, RowOrder(None), ("labels", "probe_meta"))
    side.join(file.arguments.names)
    subjects = as_subjects(side.labels, "labels", len(embeddings))
    names = side.order.names
    meta = as_meta(side.meta, len(embeddings), "probe_meta")
    require_features(embeddings, subjects, f"{file.path}: {name}")
    if average := file.arguments.take("average", ()):
        columns = {"": subjects, **meta}
        averaged = average_embeddings(embeddings, columns, average, "probe")
        embeddings = averaged.means
        meta = averaged.columns
        subjects = meta.pop("")
        names = as_names(meta[average[0]])
    listed = look_up_trials(file, subjects, meta, names)
    pairs = Scores.from_pairs(
        EmbeddingSource(embeddings, embeddings, metric).pairs(listed.enrolled, listed.probe),
        listed.genuine,
        nan=file.nan,
        subjects=np.column_stack([subjects[listed.probe], subjects[listed.enrolled]]),
        pair_folds=listed.fold,
        name=file.path.stem,
    )
    return scores_of_trials(file, pairs, listed, len(embeddings))


def _features(file: ArrayFile, name: str, is_transposed: bool) -> Any:
    values = file.arrays[name].read()
    return as_embeddings(values.T if is_transposed else values, f"{file.path}: {name}")
