"""Numbers alone, whose labels or trials are in other files: .npy arrays, and texts of numbers.

Beside ``x.npy`` lies ``x.labels.csv`` (all-against-all), or ``x.probe.csv`` and ``x.gallery.csv``.
A file of embeddings has one row per template, and its labels in ``x.labels.csv``; the gallery's
embeddings are another file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.errors import DataError, counted
from bioeval.base.messages import Message
from bioeval.scores.embeddings import EmbeddingSource, describe_metric
from bioeval.scores.features import FeatureSide, as_embeddings, average_embeddings, require_features
from bioeval.scores.formats.array_file import KIND_ASSUMED
from bioeval.scores.formats.comparisons import in_listed_order, look_up, read_comparisons
from bioeval.scores.formats.containers import npy_dimensions, open_npy
from bioeval.scores.formats.faults import fault, wrong_shape
from bioeval.scores.formats.files import FileKind, existing_file, kind_of_file
from bioeval.scores.formats.labels import labels_of_matrix, labels_of_rows
from bioeval.scores.formats.layouts import first_line_of
from bioeval.scores.formats.options import Arguments
from bioeval.scores.formats.scores_alone import scores_of_two_files
from bioeval.scores.formats.spellings import is_number
from bioeval.scores.formats.tables import Head, read_columns
from bioeval.scores.formats.template_tables import TemplateTable, read_templates
from bioeval.scores.matrix import Scores
from bioeval.scores.missing import ids_of_no_person
from bioeval.scores.pairs import classes_of_subjects
from bioeval.scores.sides import as_keys


def read_npy(path: Path, arguments: Arguments, impostor: Path | None, as_read: bool) -> Scores:
    """Read a .npy file, which by its arguments holds one of these:

    - scores of one class, with a file of impostor scores;
    - a matrix, or embeddings;
    - with `trials`, the embeddings of the templates whose pairs are listed, or scores.
    """
    values = open_npy(path)
    if impostor is None and "trials" not in arguments:
        return _read_matrix(path, values, arguments, as_read)
    if impostor is None and ("metric" in arguments or "average" in arguments):
        return _pairs_of_features(path, _require_matrix(path, values), arguments)
    values = _vector(path, values)
    options = {
        "kind": arguments.kind_of(path, None, ""),
        "nan": arguments.take("nan", "raise"),
        "name": path.stem,
    }
    if impostor is None:
        return in_listed_order(path, values, arguments, options)
    impostor_values = _vector(impostor, _open_second(impostor, "a .npy file of impostor scores"))
    return scores_of_two_files(path, values, impostor, impostor_values, arguments, options)


def read_numbers(head: Head, arguments: Arguments) -> Scores:
    """Read a text of numbers alone: a matrix, or with a metric an embedding on each line."""
    has_names = not any(map(is_number, head.cells[0]))
    if has_names:
        header = True
        index_columns = int(not head.cells[0][0])
    else:
        header, index_columns = first_line_of(head, arguments)
    index = {i: "the index" for i in range(index_columns)}
    names = {i: f"column {i + 1}" for i in range(index_columns, head.width)}
    table = read_columns(head, header, index, names, blanks=names)
    values: Any = np.column_stack([*table.numbers.values()])
    titles = head.cells[0][index_columns:]
    if index_columns and (numbers := as_keys(table.words[0].objects()).numbers) is not None:
        import pandas as pd

        values = pd.DataFrame(values, index=numbers, columns=titles)
    scores = _read_matrix(head.path, values, arguments, False, titles if has_names else None)
    return scores._with(reading=(*head.reading, *scores.reading))


def _open_second(path: Path, expected: str) -> Any:
    kind = kind_of_file(existing_file(path, expected))
    if kind != FileKind.NPY:
        raise fault(path, f"is {kind}", f"expected {expected}")
    return open_npy(path)


def _vector(path: Path, values: Any) -> np.ndarray:
    if prod(values.shape) != max(values.shape, default=0):
        raise wrong_shape(path, "", values.shape, "one score an attempt")
    return np.ravel(np.asarray(values[:] if values.ndim else values))


def _require_matrix(path: Path, values: Any) -> Any:
    if values.ndim == 2:
        return values
    hint = ""
    if values.ndim == 1:
        hint = (
            "; give the list of their trials as `trials`, or write a .npz file with scores "
            "and genuine, or a CSV file with the columns score and genuine"
        )
    raise DataError(f"{path}: has shape {values.shape}; expected a matrix (probes, gallery){hint}")


def is_matrix(path: Path | None) -> bool:
    """Whether a file is an array of two dimensions, such as the embeddings of a gallery."""
    if path is None or not path.is_file() or kind_of_file(path) != FileKind.NPY:
        return False
    return npy_dimensions(path) > 1


def _read_matrix(
    path: Path,
    values: Any,
    arguments: Arguments,
    as_read: bool,
    titles: Sequence[str] | None = None,
) -> Scores:
    """Read an array whose labels are elsewhere: embeddings if arguments say so, else scores.

    `titles` are those of the columns, if the file has them.
    """
    values = _require_matrix(path, values)
    if is_matrix(arguments.peek("gallery")) or "metric" in arguments or "average" in arguments:
        return _read_embeddings(path, values, arguments, as_read, titles)
    sides = labels_of_matrix(path, arguments, *values.shape)
    kind = arguments.take("kind")
    scores = Scores(
        values,
        kind=kind or "distance",
        nan=arguments.take("nan", "raise"),
        name=path.stem,
        names=arguments.names,
        shared=arguments.take("shared"),
        **sides,
    )
    return scores._with(reading=() if kind else (KIND_ASSUMED,))


def _read_embeddings(
    path: Path, values: Any, arguments: Arguments, as_read: bool, titles: Sequence[str] | None
) -> Scores:
    options: dict[str, Any] = {
        "metric": arguments.take("metric", "cosine"),
        "nan": arguments.take("nan", "raise"),
        "name": path.stem,
        "average": arguments.take("average", ()),
        "names": arguments.names,
        "shared": arguments.take("shared"),
        "as_read": as_read,
        "titles": titles,
    }
    features = as_embeddings(values[:], str(path))
    features = values if hasattr(values, "iloc") else features  # with the numbers of its rows
    label_file = arguments.take("labels")
    if not is_matrix(arguments.peek("gallery")):
        meta_names = arguments.all_meta()
        side = labels_of_rows(path, arguments, label_file, meta_names, len(features), "labels")
        labels, meta = side.columns()
        return Scores._from_embeddings(features, labels, probe_meta=meta, **options)
    gallery = arguments.take("gallery")
    gallery_values = _open_second(gallery, "a .npy file of embeddings")
    gallery_features = as_embeddings(_require_matrix(gallery, gallery_values), str(gallery))
    if features.shape[1] != gallery_features.shape[1]:
        raise fault(
            path,
            f"has {features.shape[1]} features a row and {gallery} {gallery_features.shape[1]}",
            "expected the same number",
        )
    meta_names = arguments.side_meta("probe")
    side = labels_of_rows(path, arguments, label_file, meta_names, len(features), "labels")
    labels, meta = side.columns()
    meta_names = arguments.side_meta("gallery")
    side = labels_of_rows(gallery, arguments, None, meta_names, len(gallery_features), "")
    gallery_labels, gallery_meta = side.columns()
    sides = (features, labels, gallery_features, gallery_labels)
    return Scores._from_embeddings(*sides, probe_meta=meta, gallery_meta=gallery_meta, **options)


def _features_of(
    path: Path, values: np.ndarray, templates: TemplateTable, average: Sequence[str]
) -> np.ndarray:
    """Return the features of templates that a table names.

    With `average`, each row of `values` is an image of the table, and a template has the mean of
    its images.
    """
    features = as_embeddings(values, str(path))
    subjects = templates.columns.get("subject")
    if subjects is not None and len(subjects) == len(features):
        require_features(FeatureSide(features, subjects, str(path)))
    image_count = len(templates.columns["template"])
    template_count = len(templates.names)
    if len(features) != (image_count if average else template_count):
        raise fault(
            path,
            f"has {len(features):,} rows, and {templates.path} names {image_count:,} images of "
            f"{template_count:,} templates",
            "expected a row for each template, or, with `average` as template,media, for "
            "each image",
        )
    if not average:
        return features
    if average[0] != "template":
        raise DataError(
            f'`average="{average[0]}"`: the pairs are of templates; expected "template" '
            "first, as in template,media"
        )
    return average_embeddings(features, templates.columns, average, "template").means


class _ListedPairs(NamedTuple):
    """The pairs that are attempts; a template is a row of the features."""

    enrolled: np.ndarray  # int64 (pairs,)
    probe: np.ndarray  # int64 (pairs,)
    genuine: np.ndarray  # bool (pairs,)
    subjects: np.ndarray | None  # object (pairs, 2)
    notes: tuple[Message, ...] = ()


def _listed_pairs(templates: TemplateTable, arguments: Arguments) -> _ListedPairs:
    """Return the pairs of `trials`, which `trials` or the subjects of their templates classify."""
    listed = read_comparisons(arguments.take("trials"), arguments)
    enrolled, probe, _ = look_up(listed, templates.names)
    is_same = enrolled == probe
    if is_same.any():
        raise fault(
            listed.path,
            f"has {counted(int(is_same.sum()), 'pairs')} of a template with itself, "
            f"the first is pair {int(np.argmax(is_same)) + 1}",
        )
    subject_of = templates.subjects_if_stated()
    subjects = None
    if subject_of is not None:
        subject = np.array([subject_of[name] for name in templates.names], dtype=object)
        subjects = np.column_stack([subject[enrolled], subject[probe]])
    if listed.genuine is not None:
        return _ListedPairs(enrolled, probe, listed.genuine, subjects)
    if subjects is None:
        raise fault(
            listed.path,
            f"does not mark genuine pairs, and {templates.path} has no subjects",
            "expected 1 or 0 after the two templates, or `labels` with subject_id",
        )
    no_person = ids_of_no_person(arguments.peek("distractor_ids"))
    genuine, is_attempt = classes_of_subjects(subjects[:, 0], subjects[:, 1], no_person)
    notes: tuple[Message, ...] = ()
    if not is_attempt.all():
        notes = (Message("pairs-of-no-person", pairs=int((~is_attempt).sum())),)
    return _ListedPairs(
        enrolled[is_attempt], probe[is_attempt], genuine[is_attempt], subjects[is_attempt], notes
    )


def _pairs_of_features(path: Path, values: np.ndarray, arguments: Arguments) -> Scores:
    """Return the distances of the pairs that `trials` lists, of templates that `labels` lists.

    With `average`, a row of the features is an image, in the order of `labels`; without `average`,
    a template, in the order of the first lines of the templates.
    """
    if "labels" not in arguments:
        raise fault(
            path,
            f"the templates of its {len(values):,} rows are missing",
            "give the list of images with their templates and media as `labels`",
        )
    templates = read_templates(arguments)
    average = arguments.take("average", ())
    features = _features_of(path, values, templates, average)
    listed = _listed_pairs(templates, arguments)
    metric = arguments.take("metric", "cosine")
    scores = Scores.from_pairs(
        EmbeddingSource(features, features, metric).pairs(listed.enrolled, listed.probe),
        listed.genuine,
        nan=arguments.take("nan", "raise"),
        subjects=listed.subjects,
        name=path.stem,
    )
    origin = describe_metric(metric, features)
    if average:
        origin += f", means by {' and '.join(average)} of {len(values)} embeddings"
    return scores.with_pairs(
        replace(scores.pairs, ids=np.column_stack([listed.enrolled, listed.probe])),
        origin=origin,
        metric=metric if isinstance(metric, str) else "",
        remarks=(*scores.remarks, *listed.notes),
    )
