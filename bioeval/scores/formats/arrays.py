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

`scores_of` finds the arrays that have a role, and calls the function of the layout, `_matrix`,
`_embeddings`, `_top_k_lists` or `_pairs`. The arrays of a file are an
:class:`~bioeval.scores.formats.array_file.ArrayFile`, which knows their names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError, Message, backquoted
from bioeval.base.kinds import METRICS, VALUED, Kind
from bioeval.base.options import OPTIONS, require_memory
from bioeval.scores.codes import Codes
from bioeval.scores.embeddings import EmbeddingSource, describe_metric
from bioeval.scores.features import (
    FeatureSide,
    as_embeddings,
    average_embeddings,
    left_out_of,
    require_features,
    titles_of,
)
from bioeval.scores.formats.array_file import (
    DISTMAT,
    MAIN_ROLES,
    NAMES,
    RESERVED,
    SCHEMA,
    SIDES_OF_LIST,
    ArrayFile,
    Meta,
    metadata_of,
)
from bioeval.scores.formats.containers import Lazy, open_npy
from bioeval.scores.formats.labels import SIBLINGS, sibling
from bioeval.scores.formats.roles import Arguments
from bioeval.scores.formats.tables import COLUMNS
from bioeval.scores.formats.texts import (
    FileKind,
    fault,
    first_of_role,
    kind_of_file,
    one_side_alone,
    wrong_shape,
)
from bioeval.scores.formats.trials import (
    in_listed_order,
    look_up,
    read_comparisons,
    refuse_impostor_flags,
    scores_of_classes,
)
from bioeval.scores.keys import Keys, as_names
from bioeval.scores.labels import IDS_OF_NO_PERSON, as_objects, as_subjects, ids_of_no_person
from bioeval.scores.matrix import Scores
from bioeval.scores.metadata import as_meta
from bioeval.scores.pairs import ListRules, PairList, classes_of_subjects, places_in_words
from bioeval.scores.people import marking
from bioeval.scores.rows import rows_within
from bioeval.scores.sides import side_in_order

# What embeddings and lists take under a memory limit: bytes in any case, and copies of the arrays.
_BYTES_OF_ARRAYS = 76 << 20
_COPIES = 4


# ------------------------------------------------------------------------- what a file holds


def scores_of(
    path: Path,
    arrays: dict[str, Lazy],
    arguments: Arguments,
    matlab: bool = False,
    as_read: bool = False,
    label_files: dict[str, Path] | None = None,
) -> Scores:
    """Return the scores of a file, or of its lists or embeddings, by the roles of its arrays."""
    arrays = {name: x for name, x in arrays.items() if name not in arguments.ignored}
    schema = arrays.get("schema")
    if schema is not None and schema.shape == () and schema.dtype.kind in "iu":
        number = int(schema.read())
        if number != SCHEMA:
            raise DataError(
                f"{path}: is of schema {number}; this bioeval reads schema {SCHEMA}. Use a newer "
                "bioeval"
            )
    file = ArrayFile(path, arrays, arguments, matlab, label_files or {})
    roles = _main_roles(file)
    if len(roles) > 1:
        names = [next(x for x in NAMES[role] if x in arrays) for role in roles]
        raise DataError(
            f"{path}: holds both {' and '.join(names)}; choose by "
            + " or ".join(f'`columns={{"{r}": "{x}"}}`' for r, x in zip(roles, names, strict=True))
        )
    limit = OPTIONS["memory_limit"]
    if limit is not None and (roles != ["scores"] or "genuine" in arrays):  # all is read whole
        needed = _BYTES_OF_ARRAYS + _COPIES * sum(
            prod(x.shape) * x.dtype.itemsize for x in arrays.values()
        )
        remedy = "its arrays are read whole"
        require_memory(needed, f"{path}: an evaluation", remedy, limit=limit)
    ids_of_sides = ("probe_ids", "gallery_ids")  # which matrices and top-K lists have, read or not
    layout = "a matrix of scores"
    if roles == ["indices"]:
        file.used.update(ids_of_sides)
        layout, scores = "top-K lists", _top_k_lists(file)
    elif roles == ["embeddings"]:
        layout, scores = "embeddings", _embeddings(file, as_read)
    elif not roles:
        layout = "scores of two classes"
        scores = _two_vectors(file)
    else:
        name = file.take("scores") or ""
        shape = arrays[name].shape
        has_classes = "genuine" in arrays or "columns.genuine" in arguments
        if len(shape) == 1 or file.is_list(name) and (has_classes or "trials" in arguments):
            layout, scores = "a list of pairs", _pairs(file, name)
        elif len(shape) == 2:
            file.used.update(ids_of_sides)
            scores = _matrix(file, name)
        else:
            expected = "a matrix (probes, gallery), or one score per pair"
            raise wrong_shape(path, repr(name), shape, expected)
    if unread := file.unread(layout):
        remark = Message("arrays-left-out", arrays=unread)
        scores = scores._with(remarks=(*scores.remarks, remark))
    if arguments.names_arrays:
        return scores
    ids, junk_ids = map(file.ids_of_no_person, IDS_OF_NO_PERSON)
    return marking(scores, ids, junk_ids or ())


def require_matrix(path: Path, values: Any) -> Any:
    if len(values.shape) == 2:
        return values
    hint = ""
    if len(values.shape) == 1:
        hint = (
            "; give the list of their trials as `trials`, or write a .npz file with scores "
            "and genuine, or a CSV file with the columns score and genuine"
        )
    raise DataError(f"{path}: has shape {values.shape}; expected a matrix (probes, gallery){hint}")


def scores_of_array(path: Path, values: Any, arguments: Arguments, as_read: bool = False) -> Scores:
    """Return the scores of an array alone: embeddings if arguments say so, else a matrix.

    Its labels are in the files of `labels` and `gallery`, else in files beside it. Of embeddings,
    `gallery` may be another array, with its labels beside it.
    """
    require_matrix(path, values)
    labels, gallery = arguments.take("labels"), arguments.peek("gallery")
    of_both, of_rows, of_columns = (sibling(path, ending) for ending in SIBLINGS)
    row_count, column_count = values.shape
    is_npy = gallery is not None and gallery.is_file() and kind_of_file(gallery) == FileKind.NPY
    second: Any = open_npy(gallery, "a .npy file", "str") if is_npy else None
    has_gallery = second is not None and len(second.shape) > 1
    label_files: dict[str, Path] = {}
    if has_gallery or "metric" in arguments or "average" in arguments:
        arrays = {"embeddings": Lazy.of(values)}
        label_files["probe"] = labels or of_both
        if has_gallery:
            arguments.take("gallery")
            arrays["gallery_embeddings"] = Lazy.of(require_matrix(gallery, second))
            label_files["gallery"] = sibling(gallery, SIBLINGS[0])
        counts = row_count, second.shape[0] if has_gallery else 0
        for side, place, count in zip(label_files, (path, gallery), counts, strict=False):
            if label_files[side] != labels and not label_files[side].exists():
                alternative = ", or `labels`" if side == "probe" else ""
                raise DataError(
                    f"{place}: the labels of its {count} rows are missing; expected "
                    f"{label_files[side].name} beside it{alternative}"
                )
        return scores_of(path, arrays, arguments, as_read=as_read, label_files=label_files)
    arguments.take("gallery")
    if gallery and not labels:
        raise fault(path, "`labels` is missing, the labels of the rows")
    if not labels:
        present = [place for place in (of_both, of_rows, of_columns) if place.exists()]
        if present not in ([of_both], [of_rows, of_columns]):
            existing = " and ".join(place.name for place in present) or "none of them"
            raise DataError(
                f"{path}: the labels of its {row_count} rows and {column_count} columns are "
                f"missing; expected {of_both.name} beside it, or {of_rows.name} and "
                f"{of_columns.name} (there is {existing}), or CSV files given by `labels` (and "
                "`gallery`, if the columns are other templates)"
            )
        labels, gallery = (*present, None)[:2]
    if not gallery and row_count != column_count:
        raise DataError(
            f"{path}: is {row_count} x {column_count}, not square, so one list of labels "
            f"({labels}) does not do; give `gallery`, too, or `metric` if the rows are "
            "embeddings"
        )
    label_files = {"probe": labels} | ({"gallery": gallery} if gallery else {})
    return scores_of(path, {"scores": Lazy.of(values)}, arguments, label_files=label_files)


def _main_roles(file: ArrayFile) -> list[str]:
    """Return the role of `MAIN_ROLES` by which a file is read, or several if it is not clear."""
    arrays = file.arrays
    if named := [role for role in MAIN_ROLES if f"columns.{role}" in file.arguments]:
        if {*named} >= {"scores", "embeddings"}:
            problem = '`columns={"scores": ...}` and `columns={"embeddings": ...}` are both given'
            raise DataError(f"{problem}; expected one")
        return ["indices"] if "indices" in named else named
    if roles := [role for role in MAIN_ROLES if role in arrays]:
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


def vectors_of_classes(names: Sequence[str]) -> tuple[str, str] | None:
    """Return the names of the genuine and of the impostor scores; None if there are none."""
    folded_names = {re.sub("scores?|[_ -]", "", name.casefold()): name for name in names}
    for words in _NAMES_OF_CLASSES:
        if folded_names.keys() >= {*words}:
            return folded_names[words[0]], folded_names[words[1]]
    return None


def _two_vectors(file: ArrayFile) -> Scores:
    path = file.path
    arrays = file.arrays.items()
    vectors = [k for k, v in arrays if v.dtype.kind in "iuf" and v.is_vector]
    genuine, impostor = vectors_of_classes(vectors) or ("", "")
    if not genuine:
        matrices = (k for k, v in arrays if len(v.shape) == 2 and v.dtype.kind == "f")
        raise DataError(
            f"{path}: no array 'scores' or 'embeddings', and no vectors 'genuine' and 'impostor'; "
            f"name the array to use with {backquoted('columns.scores', next(matrices, None))}, "
            '`columns={"embeddings": ...}` or, of top-K lists, `columns={"indices": ..., "scores": '
            f"...}}`. It holds: {file.contents}"
        )
    genuine_scores = file.arrays[genuine].read().reshape(-1)
    impostor_scores = file.arrays[impostor].read().reshape(-1)
    file.used.update((genuine, impostor))
    kind, remarks = file.kind(genuine)
    options = {"kind": kind, "nan": file.nan, "name": path.stem}
    scores = scores_of_classes(genuine_scores, impostor_scores, file.arguments, options)
    origin = f"genuine scores from {genuine!r}, impostor scores from {impostor!r}"
    return scores._with(reading=(origin, *remarks))


# ------------------------------------------------------------------------- a matrix


def _matrix(file: ArrayFile, name: str) -> Scores:
    arguments = file.arguments
    array = file.arrays[name]
    mask = file.take("mask")
    row_count, column_count = array.shape
    # Without labels of the columns, a square matrix is all-against-all; with a mask, and without
    # any labels, the two sides are not known to be one set.
    gallery = file.labels("gallery", column_count, "gallery templates")
    may_be_one_set = gallery is None and row_count == column_count
    probe = file.labels("probe", row_count, "probes", has_metadata=may_be_one_set)
    if probe is None and (mask is None or gallery is not None):
        raise file.no_labels(row_count, column_count)
    if probe is not None and gallery is None and not may_be_one_set:
        raise file.no_labels(row_count, column_count, "gallery_labels")
    are_one_set = probe is not None and gallery is None
    counts = row_count, column_count
    metadata = metadata_of(file, (probe, gallery), counts, are_one_set, plain=are_one_set)
    probe_meta, gallery_meta = metadata
    kind, remarks = file.kind(name)
    options: dict[str, Any] = {
        "mask": file.read_if_there(mask),
        "probe_meta": probe_meta,
        "gallery_meta": None if are_one_set else gallery_meta,
        "kind": kind,
        "nan": file.nan,
        "name": file.path.stem,
        "exclude": file.exclude,
        "names": arguments.names,
        "shared": True if "probe_ids" in file.arrays else arguments.take("shared"),
    }
    labels = [side and side.columns()[0] for side in (probe, gallery)]
    held = 0
    if array.rows is not None and "failed" not in arguments:
        values = array.rows()
    else:
        if OPTIONS["memory_limit"] is not None:
            held = prod(array.shape) * array.dtype.itemsize
            # What does not fit is not read: the least limit depends on the labels, not on values.
            values = np.broadcast_to(array.dtype.type(0), (row_count, column_count))
            scores = Scores(values, *labels, **options)
            copies = replace(scores.memory, held=array.copies * held)
            rows_within(scores._with(memory=copies), 1)
        values = arguments.with_failures(array.read())
    scores = Scores(values, *labels, **options)
    scores = scores._with(reading=remarks, memory=replace(scores.memory, held=held))
    if not arguments.names_arrays and "probe_ids" in file.arrays:
        probe_ids = file.ids("probe_ids", row_count)
        gallery_ids = file.ids("gallery_ids", column_count)
        scores = scores._with(_sides=scores.sides.with_ids(probe_ids, gallery_ids))
    if "trials" not in arguments:
        return scores
    _require_one_set(file, are_one_set)
    of_templates = scores.probe_labels, scores.probe_meta, scores.probe_names
    return _scores_of_trials(file, *of_templates, scores.at_pairs)


def _require_one_set(file: ArrayFile, are_one_set: bool) -> None:
    if not are_one_set:
        raise DataError(
            f"{file.path}: `trials` needs the same templates on both sides, but this file "
            "has a separate gallery"
        )


# ------------------------------------------------------------------------- embeddings


def _embeddings(file: ArrayFile, as_read: bool) -> Scores:
    """Return the distances of embeddings; `as_read`, they are computed as they are read."""
    arguments = file.arguments
    if arguments.peek("kind") == "distance":
        arguments.take("kind")  # another has no meaning: embeddings are compared by distances
    names = [*filter(None, map(file.take, ("embeddings", "gallery_embeddings")))]
    for name in names:
        shape = file.arrays[name].shape
        if len(shape) != 2:
            raise wrong_shape(file.path, repr(name), shape, "one embedding per row")
    are_one_set = len(names) == 1
    counts = file.arrays[names[0]].shape[0], file.arrays[names[-1]].shape[0]

    gallery = None if are_one_set else file.labels("gallery", counts[1], "gallery templates")
    probe = file.labels("probe", counts[0], "templates", has_metadata=are_one_set)
    if probe is None or not are_one_set and gallery is None:
        raise file.no_labels(*counts)
    probe_meta, gallery_meta = metadata_of(file, (probe, gallery), counts, are_one_set, plain=True)
    metric = file.word("metric", "cosine", METRICS)
    mask = file.take("mask")

    features = []
    titles = None
    for name in names:
        values = file.arrays[name].read()
        titles = titles_of(values)
        checked = as_embeddings(values, f"{file.path}: {name}")
        features.append(values if hasattr(values, "iloc") else checked)  # rows may have numbers
    labels = probe.columns()[0]
    if "trials" in arguments:
        _require_one_set(file, are_one_set)
        source = f"{file.path}: {names[0]}"
        return _embeddings_of_trials(file, features[0], labels, probe_meta, metric, source)
    gallery_features = gallery_labels = None
    if gallery is not None:
        gallery_features, gallery_labels = features[1], gallery.columns()[0]
    metadata = probe_meta, None if are_one_set else gallery_meta
    return Scores._from_embeddings(
        features[0],
        gallery_features,
        (labels, gallery_labels),
        metadata,
        names=arguments.names,
        metric=metric,
        nan=file.nan,
        mask=file.read_if_there(mask),
        name=file.path.stem,
        exclude=file.exclude,
        average=arguments.take("average", ()),
        shared=arguments.take("shared"),
        as_read=as_read,
        titles=titles,
    )


def _embeddings_of_trials(
    file: ArrayFile, embeddings: Any, labels: Any, meta: Meta, metric: Any, source: str
) -> Scores:
    """Return the distances of the pairs that `trials` lists, of embeddings or of their means.

    Errors of the embeddings begin with their `source`.
    """
    arguments = file.arguments
    side = side_in_order(labels, meta, Keys(), arguments.names)
    row_count = len(embeddings)
    subjects = as_subjects(side.labels, "labels", row_count)
    columns: Any = as_meta(side.meta, row_count, "probe_meta")
    require_features(FeatureSide(embeddings, subjects, source))
    vectors, names, people = embeddings, side.keys.names, subjects
    left_out: tuple[Message, ...] = ()
    means = ""
    if average := arguments.take("average", ()):
        means = f", means by {' and '.join(average)} of {row_count} embeddings"
        columns = columns | {"": subjects}
        vectors, columns, reasons = average_embeddings(embeddings, columns, average, "probe")
        names = as_names(columns[average[0]])
        people = columns.pop("", None)  # None if a mean is of several people
        left_out = left_out_of(reasons, average)

    def scores_at(enrolled: Any, probe: Any, genuine: Any, fold: Any) -> Scores:
        of_pairs = None
        if people is not None:
            of_pairs = np.column_stack([people[probe], people[enrolled]])
        values = EmbeddingSource(vectors, vectors, metric).pairs(enrolled, probe)
        pairs = PairList.from_arrays(values, genuine, subjects=of_pairs, pair_folds=fold)
        scores = Scores._of_pairs(pairs, kind="distance", nan=file.nan, name=file.path.stem)
        return scores._with(metric=metric if isinstance(metric, str) else "")

    scores = _scores_of_trials(file, people, columns, names, scores_at)
    origin = describe_metric(metric, vectors) + means
    return scores._with(origin=origin, remarks=(*scores.remarks, *left_out))


# ------------------------------------------------------------------------- top-K lists


def _top_k_lists(file: ArrayFile) -> Scores:
    """Return top-K lists: ``indices`` (queries, K), labels, and perhaps the scores of entries."""
    arguments = file.arguments
    path = file.path
    name = file.take("indices") or ""
    lists = file.arrays[name].read()
    if lists.ndim != 2 or lists.dtype.kind not in "iu":
        expected = "integers (queries, K), the nearest gallery entries of each query"
        raise fault(path, f"{name!r} is {file.arrays[name]}", f"expected {expected}")
    values = _scores_of_entries(file, lists.shape)
    kind: Kind = "similarity"
    remarks: tuple[str, ...] = ()
    if values != "similarities" or "kind" in arguments or "kind" in file.arrays:
        kind, remarks = file.kind(values or "distances", VALUED)

    # The number of gallery entries is that of their labels.
    probe = file.labels("probe", len(lists), "queries")
    gallery = file.labels("gallery", None, "gallery entries")
    if gallery is None and file.roles.get("labels") == "labels":
        gallery = probe  # queries and entries are one set of templates
    if gallery is None:
        raise DataError(
            f"{path}: no gallery_labels; top-K lists need the identity of every gallery entry, "
            "listed or not: an array gallery_labels, or a CSV file by `gallery`. It holds: "
            f"{file.contents}"
        )
    counts = len(lists), len(gallery.label)
    if probe is None:
        raise file.no_labels(*counts)
    probe_meta, gallery_meta = metadata_of(file, (probe, gallery), counts)

    leave_out = arguments.take("lists.leave_out_query")
    if leave_out is None and probe is gallery:
        leave_out = True  # a gallery searched with its own templates
    # Lists that bioeval saved state the entry of each query, and lack it already.
    are_saved = not arguments.names_arrays and "probe_ids" in file.arrays
    if are_saved:
        leave_out = False
    # MATLAB counts from 1, and bioeval from 0; other lists are asked about if they may do either.
    first_index = arguments.take("lists.first_index")
    if first_index is None and file.matlab:
        first_index = 1
    elif first_index is None and file.is_own_layout and "schema" in file.arrays:
        first_index = 0
    scores = Scores.from_top_k(
        lists,
        probe.columns()[0],
        gallery.columns()[0],
        distances=file.read_if_there(values),
        kind=kind,
        probe_meta=probe_meta,
        gallery_meta=gallery_meta,
        name=path.stem,
        leave_out_query=leave_out,
        query_positions=None if are_saved else file.read_if_there("query_positions"),
        first_index=first_index,
        shared=arguments.take("shared"),
    )
    if are_saved:  # the gallery entry that each query is; larger numbers are no entries
        ids = file.ids("probe_ids", len(scores.probe_labels))
        queries = np.flatnonzero(ids < len(scores.gallery_labels))
        labels_of_both = scores.probe_labels[queries], scores.gallery_labels[ids[queries]]
        if (ids < 0).any() or not np.array_equal(*labels_of_both):
            raise fault(
                path,
                "'probe_ids' names gallery entries of other subjects than the queries",
                "expected the entry that a query is itself, or a larger number",
            )
        scores = scores._with(_sides=scores.sides.with_ids(ids))
    return scores._with(reading=remarks)


def _scores_of_entries(file: ArrayFile, shape_of_lists: tuple[int, ...]) -> str | None:
    """Return the array of the scores in top-K lists; None of lists of entries alone."""
    if "columns.scores" in file.arguments and (stated := file.take("scores")) is not None:
        return stated
    for name in NAMES["values"]:
        if name not in file.arrays:
            continue
        shape = file.shape(name)
        if shape == shape_of_lists:
            return name
        if name != "scores":  # which may be a matrix beside the lists
            raise wrong_shape(file.path, repr(name), shape, f"{shape_of_lists}, as the lists")
    return None


# ------------------------------------------------------------------------- trials


# The number of an image among the images of its subject, which lists in LFW's form state.
_IMAGE_NUMBER = "image_number"


def _scores_of_trials(
    file: ArrayFile, subjects: Any, meta: Any, template_names: Any, scores_at: Callable[..., Scores]
) -> Scores:
    """Return the scores of the trials that `trials` lists, among the templates of a file.

    `scores_at` returns scores by the numbers of templates, as ``Scores.at_pairs`` does. Classes
    that are not listed follow from the `subjects` of the templates.
    """
    arguments = file.arguments
    listed = read_comparisons(arguments.take("trials"), arguments)
    if listed.subjects is not None:
        if _IMAGE_NUMBER not in meta or meta[_IMAGE_NUMBER].dtype.kind not in "iu":
            raise DataError(
                f"{file.path}: {listed.path.name} numbers the images of each subject, but there "
                f"are no whole numbers called {_IMAGE_NUMBER!r}; name them with "
                f'`columns={{"{_IMAGE_NUMBER}": ...}}`. It holds: {file.contents}'
            )
        numbers = meta[_IMAGE_NUMBER].tolist()
        names = [f"{person} {i}" for person, i in zip(subjects.tolist(), numbers, strict=True)]
    elif template_names is None:
        raise fault(
            file.path,
            f"has no names of templates, by which the trials of {listed.path.name} find them",
            'give them as `columns={"name": ...}`; a list of pairs of LFW is read by '
            '`format="lfw"`',
        )
    else:
        names = template_names.tolist()
    skip = arguments.take("lists.missing_pairs") == "skip"
    enrolled, probe, is_found = look_up(listed, names, skip)
    remarks: tuple[Message, ...] = ()
    if listed.genuine is not None:
        genuine = listed.genuine[is_found]
    elif subjects is None:
        raise fault(
            listed.path,
            "does not mark genuine pairs, and `labels` has no subjects",
            "expected 1 or 0 after the two templates, or `labels` with subject_id",
        )
    else:
        ids = arguments.peek("distractor_ids")
        no_person = ids_of_no_person(
            file.ids_of_no_person("distractor_ids") if ids is None else ids
        )
        sides = subjects[enrolled], subjects[probe]
        genuine, is_attempt = classes_of_subjects(*sides, no_person)
        if not is_attempt.all():
            remarks = (Message("pairs-of-no-person", pairs=int((~is_attempt).sum())),)
            enrolled, probe, genuine = (x[is_attempt] for x in (enrolled, probe, genuine))
    fold = None if listed.fold is None else listed.fold[is_found]
    scores = scores_at(enrolled, probe, genuine, fold)

    # The cells of a matrix have the probe first, pairs the enrolled template. The names of the
    # templates go, as they are places in this file, which mean nothing in another.
    places = as_objects([*range(len(names))])
    codes = Codes.known(places, enrolled.astype(np.int32), probe.astype(np.int32))
    pairs = replace(scores.pairs, templates=codes)
    rules = ListRules.parse(**arguments.rules())
    pairs, _, notes = pairs.attempts(rules, scores.kind, lambda rows: places_in_words("pair", rows))
    pairs = pairs.exchanged(np.ones(len(pairs.values), dtype=bool))
    pairs = replace(pairs, templates=None, missing=int((~is_found).sum()))
    return scores.with_pairs(pairs, remarks=(*notes, *remarks))


# ------------------------------------------------------------------------- pairs


# Names of two vectors of scores, in lower case and without "scores".
_NAMES_OF_CLASSES = (
    ("genuine", "impostor"), ("gen", "imp"), ("client", "impostor"), ("target", "nontarget"),
    ("mated", "nonmated"), ("match", "nonmatch"), ("same", "different"), ("intra", "inter"),
)  # fmt: skip


def _pairs(file: ArrayFile, name: str) -> Scores:
    """Return the scores in the vector `name`, whose classes are in an array or a list of trials."""
    arguments = file.arguments
    genuine = file.take("genuine")
    pair_count = max(file.arrays[name].shape)
    values = arguments.with_failures(file.read(name))
    kind, remarks = file.kind(name)
    options: dict[str, Any] = {"kind": kind, "nan": file.nan, "name": file.path.stem}
    if genuine is None and "trials" in arguments:
        scores = in_listed_order(file.path, values, arguments, options)
        return scores._with(reading=(*scores.reading, *remarks))
    refuse_impostor_flags(file.path, *([*file.arrays] if genuine is None else [genuine]))
    if genuine is None:
        raise DataError(
            f"{file.path}: {name!r} is a list of {pair_count} scores without classes; name the "
            f'array of 0 and 1 with `columns={{"genuine": ...}}`. It holds: {file.contents}'
        )
    templates = _templates_of_pairs(file, pair_count)
    ids = arguments.peek("distractor_ids")
    scores = Scores.from_pairs(
        values,
        file.read(genuine),
        distractor_ids=file.ids_of_no_person("distractor_ids") if ids is None else ids,
        subjects=_both_sides(file, "subject", pair_count),
        pair_folds=file.read_if_there("fold"),
        pair_templates=templates,
        meta=_meta_of_pairs(file, pair_count),
        **options,
        **arguments.rules(),
    )
    return scores._with(reading=remarks)


def _templates_of_pairs(file: ArrayFile, pair_count: int) -> Any:
    """Return the templates of both sides: names (pairs, 2), or codes of ``template_names``."""
    templates = _both_sides(file, "template", pair_count)
    names = None if templates is None else file.read_if_there("template_names")
    if templates is None or names is None:
        return templates
    are_places = templates.shape == (pair_count, 2) and templates.dtype.kind in "iu"
    are_places = are_places and names.ndim == 1
    if not are_places or templates.min(initial=0) < 0 or templates.max(initial=0) >= len(names):
        raise fault(
            file.path,
            f"'templates' is {templates.shape} {templates.dtype}",
            f"expected ({pair_count}, 2) places in 'template_names', 0 to {names.size - 1:,}",
        )
    if len({*names.tolist()}) < len(names):
        raise fault(file.path, "'template_names' has a name twice", "expected each once")
    enrolled, probes = np.ascontiguousarray(templates.T, dtype=np.int32)
    return Codes.known(as_objects(names.tolist()), probes, enrolled)


def _both_sides(file: ArrayFile, noun: str, pair_count: int) -> np.ndarray | None:
    """Return the subjects or templates of both sides, (pairs, 2); None if the file has neither."""
    if f"{noun}s" in file.arrays:
        return file.read_if_there(f"{noun}s")
    stated = file.arguments.meta
    named: dict[str, str] = {}  # the array of each side
    for side in (f"{noun}_a", f"{noun}_b"):
        words = [word for word in COLUMNS[side] if word in stated]
        for word in words:
            file.require(stated[word], word)
        names = [stated[word] for word in words]
        if not names:  # arrays with a known name, if possible with a value for each pair
            names = [x for x in COLUMNS[side] if x in file.arrays and x not in stated.values()]
            names = [x for x in names if file.shape(x) == (pair_count,)] or names
        if names:
            named[side] = first_of_role(file.path, names, f"array of {side}", file.are_equal)
    if not named:
        return None
    if len(named) == 1:
        ((side, name),) = named.items()
        raise one_side_alone(file.path, name, side)
    for name in named.values():
        if file.shape(name) != (pair_count,):
            raise file.wrong_length(name, pair_count)
    file.used.update(named.values())
    return np.column_stack([file.read(name) for name in named.values()])


def _meta_of_pairs(file: ArrayFile, pair_count: int) -> Meta:
    """Return the metadata of both templates of each pair, (pairs, 2), the enrolled one first.

    An array is in one column alone: named by ``columns``, of two columns, or one for each side.
    """
    by_option, of_two_columns, by_prefix = Meta(), Meta(), Meta()
    roles = {word for side in SIDES_OF_LIST for word in COLUMNS[side]}
    for word, name in file.arguments.all_meta().items():
        if word in roles:
            continue
        file.require(name, word)
        if file.shape(name) not in ((pair_count,), (pair_count, 2)):
            raise file.wrong_length(name, pair_count)
        values = file.read(name)
        # A single value for a pair is that of both templates.
        by_option[word] = values if values.ndim == 2 else np.column_stack([values, values])
        file.used.add(name)
    names_in_use = RESERVED | file.used
    for name in file.arrays:
        if file.shape(name) == (pair_count, 2) and name not in names_in_use:
            of_two_columns[name] = file.read(name)
            file.used.add(name)
    for probe_name in file.arrays:
        column = probe_name.removeprefix("probe_")
        gallery_name = f"gallery_{column}"
        if column == probe_name or gallery_name not in file.arrays:
            continue
        if probe_name in names_in_use or gallery_name in names_in_use:
            continue
        wrong = [x for x in (probe_name, gallery_name) if file.shape(x) != (pair_count,)]
        if not wrong:
            both_sides = [file.read(gallery_name), file.read(probe_name)]
            by_prefix[column] = np.column_stack(both_sides)
        elif not file.arguments.names_arrays:  # else `columns` says which arrays are meant
            raise file.wrong_length(wrong[0], pair_count)
    return by_option | of_two_columns | by_prefix
