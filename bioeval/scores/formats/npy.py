"""Matrices of scores, and embeddings, as .npy files with their labels in CSV files beside them.

A file of embeddings has one row per template; the gallery's embeddings are another file. Arrays are
memory-mapped.

Beside ``x.npy`` lies ``x.labels.csv`` (all-against-all), or ``x.probe.csv`` and ``x.gallery.csv``.
A file of embeddings has its labels in ``x.labels.csv``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import (
    DataError,
    counted,
)
from bioeval.scores.embeddings import (
    EmbeddingSource,
    as_embeddings,
    average_embeddings,
    describe_metric,
)
from bioeval.scores.formats.archive import open_array
from bioeval.scores.formats.files import content, existing_file
from bioeval.scores.formats.format import Format, ReadOptions, say
from bioeval.scores.formats.label_files import Labels, read_side, side_arguments
from bioeval.scores.formats.trials import (
    read_media,
    read_template_pairs,
    refuse_same,
    scores_in_order,
    truth_in_order,
)
from bioeval.scores.matrix import Scores

#: How the files beside ``x.npy`` end.
SIBLINGS = ("labels.csv", "probe.csv", "gallery.csv")


def sibling(path: Path, ending: str) -> Path:
    """Return ``x.<ending>`` for ``x.npy``."""
    return path.with_name(f"{path.stem}.{ending}")


def matrix_labels(path: Path, options: ReadOptions, m: int, n: int) -> tuple[Labels, Labels | None]:
    """Find the labels of both sides, as given or beside the matrix."""
    probe, gallery = options.labels, options.gallery_labels
    if gallery and not probe:
        raise DataError(f"{path}: {say('labels')} is missing, the labels of the rows")
    if not probe:
        both, *sides = (sibling(path, ending) for ending in SIBLINGS)
        present = [place for place in (both, *sides) if place.exists()]
        if present not in ([both], sides):
            there = " and ".join(place.name for place in present) or "none of them"
            raise DataError(
                f"{path}: the labels of its {m} rows and {n} columns are missing; expected "
                f"{both.name} beside it, or {sides[0].name} and {sides[1].name} (there is "
                f"{there}), or CSV files given by {say('labels')} (and {say('gallery_labels')}, if "
                "the columns are other templates)"
            )
        probe, gallery = (*present, None)[:2]
    if not gallery:
        if m != n:
            raise DataError(
                f"{path}: is {m} x {n}, not square, so one list of labels ({probe}) does not do; "
                f"give {say('gallery_labels')}, too, or {say('metric')} if the rows are embeddings"
            )
        labels = read_side(probe or "", options, options.meta)
        labels.expect(m, "rows")
        return labels, None
    rows = read_side(probe or "", options, options.side_meta("probe"))
    columns = read_side(gallery or "", options, options.side_meta("gallery"))
    rows.expect(m, "rows")
    columns.expect(n, "columns")
    return rows, columns


def embedding_labels(path: Path, option: str, options: ReadOptions, count: int) -> Labels:
    """Read the labels of one file, as given or in ``x.labels.csv`` beside ``x.npy``."""
    place = getattr(options, option)
    if place is None:
        place = sibling(path, "labels.csv")
        if not place.exists():
            other = f", or {say('labels')}" if option == "labels" else ""
            raise DataError(
                f"{path}: the labels of its {count} rows are missing; expected {place.name} beside "
                f"it{other}"
            )
    meta = options.meta
    if options.gallery_embeddings is not None:
        meta = options.side_meta("probe" if option == "labels" else "gallery")
    labels = read_side(place, options, meta)
    labels.expect(count, "rows")
    return labels


def pairs_of_features(path: Path, values: np.ndarray, options: ReadOptions) -> Scores:
    """Return the distances of listed pairs of templates, of features of images or of templates.

    With `average`, each row is an image of `labels`, in its order; without it, each row is a
    template, in the order in which they are first named.
    """
    if options.labels is None:
        raise DataError(
            f"{path}: the templates of its {len(values):,} rows are missing; give the list of "
            f"images with their templates and media as {say('labels')}"
        )
    features = as_embeddings(values, str(path))
    media = read_media(options.labels)
    names = options.average or ()
    images, templates = len(media.columns["template"]), len(media.templates)
    if len(features) != (images if names else templates):
        raise DataError(
            f"{path}: has {len(features):,} rows, and {media.path} names {images:,} images of "
            f"{templates:,} templates; expected a row for each template, or, with {say('average')} "
            "as template,media, for each image"
        )
    pairs = read_template_pairs(media, options)
    same = pairs.a == pairs.b
    if same.any():
        raise DataError(
            f"{options.trials}: has {counted(int(same.sum()), 'pairs')} of a template with itself, "
            f"the first is pair {int(np.argmax(same)) + 1}"
        )
    if names:
        if names[0] != "template":
            raise DataError(
                f"{say('average', names[0])}: the pairs are of templates; expected 'template' "
                "first, as in template,media"
            )
        features, _ = average_embeddings(features, media.columns, names, "template")
    metric = options.metric or "cosine"
    who = media.subjects()
    subjects = None
    if who is not None:
        owner = np.array(who, dtype=object)
        subjects = np.column_stack([owner[pairs.a], owner[pairs.b]])
    genuine = pairs.same
    if genuine is None and subjects is not None:
        genuine = subjects[:, 0] == subjects[:, 1]
    listed = Scores.from_pairs(
        EmbeddingSource(features, features, metric).pairs(pairs.a, pairs.b),
        genuine,
        nan=options.nan or "raise",
        subjects=subjects,
        name=path.stem,
    )
    origin = describe_metric(metric, features)
    if names:
        origin += f", means by {' and '.join(names)} of {len(values)} embeddings"
    pair_ids = np.column_stack([pairs.a, pairs.b])
    return listed._with(
        _origin=origin, _metric=metric if isinstance(metric, str) else "", _pair_ids=pair_ids
    )


_MATRIX = ("labels", "gallery_labels", "names_of", "meta", "kind", "nan")
_ALL_EMBEDDINGS = ("labels", "gallery_embeddings", "names_of", "meta", "metric", "nan", "average")
_RULES = ("lists.keep", "lists.unordered")
_TWO_SIDES = ("gallery_labels", *_ALL_EMBEDDINGS)
_FEATURE_PAIRS = ("trials", "columns.genuine", "labels", "metric", "average", "nan")


def _read(path: Path, options: ReadOptions) -> Scores:
    values = open_array(path)
    if options.impostor is not None:
        return _read_two(path, values, options)
    if options.pairs is not None:
        options.allow("a .npy file beside a list of pairs", ("pairs", "kind", "nan", *_RULES))
        return scores_in_order(path, _vector(path, values), options.required_kind(path), options)
    if options.trials is None:
        return read_bare(path, values, options)
    if options.metric is not None or options.average is not None:
        options.allow("features of templates in pairs", _FEATURE_PAIRS)
        return pairs_of_features(path, _checked(path, values), options)
    return _read_in_order(path, values, options)


def read_bare(path: Path, values: Any, options: ReadOptions) -> Scores:
    """Read an array whose labels are elsewhere: embeddings if options say so, else a matrix."""
    if {options.metric, options.average, options.gallery_embeddings} != {None}:
        return _read_embeddings(path, values, options)
    return _read_matrix(path, values, options)


def _read_in_order(path: Path, values: np.ndarray, options: ReadOptions) -> Scores:
    """Read scores in the order of a list of trials."""
    options.allow("scores of listed trials", ("trials", "columns.genuine", "kind", "nan"))
    values = _vector(path, values)
    flags, remark = truth_in_order(path, len(values), options)
    how: dict[str, Any] = {"kind": options.required_kind(path), "nan": options.nan or "raise"}
    scores = Scores.from_pairs(values, flags, name=path.stem, **how)
    return scores._with(_remarks=(remark,))


def _second(path: Path, input_name: str) -> tuple[Path, np.ndarray]:
    place = existing_file(path, input_name)
    if content(place) != "npy":
        raise DataError(f"{place}: is {content(place)}; expected {input_name}")
    return place, open_array(place)


def _vector(path: Path, values: np.ndarray) -> np.ndarray:
    if values.size != max(values.shape, default=0):
        raise DataError(f"{path}: has shape {values.shape}; expected one score an attempt")
    return np.ravel(values)


def _read_two(path: Path, values: np.ndarray, options: ReadOptions) -> Scores:
    options.allow("genuine scores in a .npy file", ("impostor", "kind", "nan"))
    other, theirs = _second(options.impostor or path, "a .npy file of impostor scores")
    genuine, impostor = _vector(path, values), _vector(other, theirs)
    kind = options.required_kind(path)
    refuse_same(path, genuine, other, impostor)
    flags = np.repeat([True, False], [len(genuine), len(impostor)])
    values = np.concatenate([genuine, impostor])
    nan = options.nan or "raise"
    scores = Scores.from_pairs(values, flags, kind=kind, nan=nan, name=path.stem)
    read = f"genuine scores from {path.name}, impostor scores from {other.name}"
    return scores._with(_reading=(read,))


# ---------------------------------------------------------------- a matrix


def _read_matrix(path: Path, values: Any, options: ReadOptions) -> Scores:
    options.allow("a matrix without names (its labels are in CSV files)", _MATRIX)
    m, n = _checked(path, values).shape
    probe, gallery = matrix_labels(path, options, m, n)
    kind, notes = options.kind_of()
    scores = Scores(
        values,
        **side_arguments(probe, gallery),
        kind=kind,
        nan=options.nan or "raise",
        name=path.stem,
    )
    return scores._with(_reading=notes)


def _checked(path: Path, values: Any) -> Any:
    """Return the array of a file; raise unless it is a matrix."""
    if values.ndim == 2:
        return values
    hint = ""
    if values.ndim == 1:
        hint = (
            f"; give the list of their trials as {say('trials')}, or write a .npz file with scores "
            "and genuine, or a CSV file with the columns score and genuine"
        )
    raise DataError(f"{path}: has shape {values.shape}; expected a matrix (probes, gallery){hint}")


# ---------------------------------------------------------------- embeddings


def _read_embeddings(path: Path, values: Any, options: ReadOptions) -> Scores:
    """Read embeddings of all templates, or of the probes where the gallery's are given."""
    other = options.gallery_embeddings
    options.allow("embeddings without names", _ALL_EMBEDDINGS if other is None else _TWO_SIDES)
    how: dict[str, Any] = {
        "metric": options.metric or "cosine",
        "nan": options.nan or "raise",
        "name": path.stem,
        "average": options.average or (),
        "as_read": options.only_embeddings,
    }
    left = as_embeddings(_checked(path, values)[:], str(path))
    if other is None:
        labels = embedding_labels(path, "labels", options, len(left))
        return Scores._from_embeddings(left, labels.label, probe_meta=labels.meta, **how)
    other, array = _second(other, "a .npy file of embeddings")
    right = as_embeddings(_checked(other, array), str(other))
    if left.shape[1] != right.shape[1]:
        raise DataError(
            f"{path}: has {left.shape[1]} features a row and {other} {right.shape[1]}; expected "
            "the same number"
        )
    probe = embedding_labels(path, "labels", options, len(left))
    gallery = embedding_labels(other, "gallery_labels", options, len(right))
    return Scores._from_embeddings(
        left,
        probe.label,
        right,
        gallery.label,
        probe_meta=probe.meta,
        gallery_meta=gallery.meta,
        **how,
    )


FORMAT = Format(
    name="`.npy`",
    suffixes=(".npy",),
    holds="a matrix of scores, memory-mapped; or embeddings. Labels are in CSV files beside it",
    expected="a .npy file",
    recognise=lambda file: file.content == "npy",
    read=_read,
    options=tuple(
        dict.fromkeys(
            (*_MATRIX, *_ALL_EMBEDDINGS, "trials", "columns.genuine", "impostor", "pairs", *_RULES)
        )
    ),
)
