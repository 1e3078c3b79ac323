"""Reading files of scores: the content decides; an argument has an effect or is refused.

Numbers alone, a .npy array or a text, have their labels or trials in other files. Beside ``x.npy``
lies ``x.labels.csv`` (all-against-all), or ``x.probe.csv`` and ``x.gallery.csv``. A file of
embeddings has one row per template; the gallery's embeddings are another file.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.errors import DataError, counted, enumerated
from bioeval.base.messages import Message
from bioeval.base.unchanged import unchanged
from bioeval.scores.embeddings import EmbeddingSource, describe_metric
from bioeval.scores.features import FeatureSide, as_embeddings, average_embeddings, require_features
from bioeval.scores.formats.arrays import KIND_ASSUMED, scores_of
from bioeval.scores.formats.containers import (
    npy_dimensions,
    open_hdf5,
    open_mat,
    open_npy,
    open_npz,
)
from bioeval.scores.formats.files import (
    COMPRESSED,
    FileKind,
    existing_file,
    fault,
    guarded,
    kind_of_file,
    naming_file,
    wrong_shape,
)
from bioeval.scores.formats.labels import (
    TemplateTable,
    labels_of_matrix,
    labels_of_rows,
    lists_templates,
    read_templates,
)
from bioeval.scores.formats.layouts import PRESETS, first_line_of, names_columns
from bioeval.scores.formats.lists import (
    is_wide,
    read_frame,
    read_list,
    read_parquet,
    read_wide,
    scores_of_two_files,
    with_corner,
)
from bioeval.scores.formats.roles import Arguments, counts_columns, is_number, like_number
from bioeval.scores.formats.tables import Head, head_of, read_columns
from bioeval.scores.formats.trials import in_listed_order, look_up, read_comparisons
from bioeval.scores.image_names import PATTERNS
from bioeval.scores.matrix import Scores
from bioeval.scores.missing import ids_of_no_person
from bioeval.scores.pairs import classes_of_subjects
from bioeval.scores.people import marking
from bioeval.scores.sides import as_keys


class Format(NamedTuple):
    """A format of files of scores."""

    content: FileKind
    noun: str
    suffixes: tuple[str, ...]
    holds: str


#: The formats by the word of the argument `format`.
FORMATS = {
    "npz": Format(
        FileKind.ZIP,
        "a .npz file",
        (".npz",),
        "scores, pairs, embeddings or top-K lists, with labels and metadata",
    ),
    "npy": Format(
        FileKind.NPY,
        "a .npy file",
        (".npy",),
        "a matrix of scores, or embeddings. Labels are in CSV files beside it",
    ),
    "mat": Format(
        FileKind.MAT,
        "a MATLAB file",
        (".mat",),
        "what a .npz file holds, and the usual layout of re-identification features",
    ),
    "h5": Format(
        FileKind.HDF5, "an HDF5 file", (".h5", ".hdf5"), "what a .npz file holds, in HDF5"
    ),
    "parquet": Format(
        FileKind.PARQUET,
        "a Parquet file",
        (".parquet",),
        "a list of pairs, or a matrix, as a table of Parquet",
    ),
    "matrix-text": Format(
        FileKind.TEXT,
        "a text of numbers alone, a matrix of scores",
        (),
        "a matrix of numbers alone, or with a metric an embedding a row, of up to 1,000 columns; "
        "labels are given as files",
    ),
    "text": Format(
        FileKind.TEXT,
        "a text with a score on each line (a matrix of scores is .npy or .npz)",
        (".csv",),
        "a list of pairs with a score on each line, with the names of its columns, or by a preset",
    ),
}


def is_text(path: Path) -> bool:
    """Whether a file is text, or compressed, and so perhaps a compressed text."""
    kind = kind_of_file(path)
    return kind == FileKind.TEXT or kind in COMPRESSED


def read(
    path: Any, impostor: Path | None, arguments: Arguments, *, only_embeddings: bool = False
) -> Scores:
    """Read a file, or two of genuine and impostor scores; every error names the file.

    With `only_embeddings` the file must hold embeddings, whose distances are computed as they are
    read.
    """
    with unchanged():
        return _read(path, impostor, arguments, only_embeddings)


def _read(path: Any, impostor: Path | None, arguments: Arguments, only_embeddings: bool) -> Scores:
    is_frame = hasattr(path, "iloc")
    place = Path("DataFrame") if is_frame else existing_file(path)
    form = "text" if is_frame else recognise(place, arguments)
    noun = FORMATS[form].noun
    further_files = filter(None, (impostor, *map(arguments.peek, ("labels", "gallery", "trials"))))
    with naming_file(place, *further_files), guarded(place, expected=noun):
        if impostor is not None and form not in ("npy", "text"):
            raise arguments.no_meaning(place, "path", f"two files, of which one is {noun}")
        if is_frame:
            scores = read_frame(path, arguments)
        elif form == "text":
            head = with_corner(head_of(place))
            wide = read_wide(head, arguments) if impostor is None else None
            scores = read_list(head, arguments, impostor) if wide is None else wide
            scores = scores._with(reading=(*head.reading, *scores.reading))
        elif form == "matrix-text":
            scores = _read_numbers(head_of(place), arguments)
        elif form == "npy":
            scores = _read_npy(place, arguments, impostor, only_embeddings)
        elif form == "parquet":
            scores = read_parquet(place, arguments)
        else:
            arrays = {"npz": open_npz, "mat": open_mat, "h5": open_hdf5}[form](place)
            scores = scores_of(place, arrays, arguments, form == "mat", only_embeddings)
        exclude = arguments.take("exclude", ())
        ids = arguments.take("distractor_ids", scores.distractor_ids)
        content = {"pairs": "a list of pairs", "top-k": "top-K lists"}.get(scores.layout)
        content = content or ("embeddings" if scores.metric else "a matrix of scores")
        arguments.refuse_unused(place, content)
        scores = scores._with(reading=(*scores.reading, *dict.fromkeys(arguments.notes)))
        if only_embeddings and not scores.streams:
            raise fault(place, "holds no embeddings")
        if exclude:
            scores = scores.excluding(*exclude)
    junk_ids = scores.junk_ids
    if pattern := arguments.peek("names_of"):
        form_of_names = PATTERNS[pattern]
        junk_ids = form_of_names.junk_ids
        ids = ids if "distractor_ids" in arguments else form_of_names.distractor_ids or None
    return marking(scores, ids, junk_ids)


# ------------------------------------------------------------------------- what a file is


def recognise(path: Path, arguments: Arguments) -> str:
    """Return the format of a file by its content; raise if its suffix contradicts.

    A text whose first line names columns is a list or a matrix with names, whatever its suffix.
    """
    if arguments.peek("format") in FORMATS:
        return arguments.take("format")
    kind = kind_of_file(path)
    suffix = path.suffix.lower()
    by_suffix = next((word for word, x in FORMATS.items() if suffix in x.suffixes), None)
    if is_text(path):
        has_names = False
        with suppress(DataError):  # the text is no list or matrix with names, or is damaged
            head = with_corner(head_of(path))
            has_names = names_columns(head) or is_wide(head.cells[0], Arguments({}))
        if has_names and "gallery" not in arguments:
            return "text"
        if by_suffix in (None, "text"):
            return _format_of_text(path, arguments)
    elif kind == FileKind.HDF5 and suffix == ".mat":
        return "mat"  # another program than MATLAB wrote version 7.3
    elif suffix == ".mat" and kind == FileKind.UNKNOWN:
        raise fault(
            path,
            "is not a MATLAB file of version 5 to 7.3 (that of save -v4 is not read)",
            "write it with save -v7",
        )
    by_content = next((word for word, x in FORMATS.items() if x.content == kind), None)
    if by_content is not None and by_suffix in (None, by_content) and kind != FileKind.TEXT:
        return by_content
    if by_suffix is None:
        suffixes = [suffix for x in FORMATS.values() for suffix in x.suffixes]
        raise fault(path, f"is {kind}", f"expected {enumerated(suffixes, 'or')}")
    remedy = "write the file again" if kind == FileKind.TEXT else "name it as what it is"
    problem = f"is named {path.suffix} but holds {kind}"
    raise fault(path, problem, f"expected {FORMATS[by_suffix].noun}; {remedy}")


def _format_of_text(path: Path, arguments: Arguments) -> str:
    """Return ``"text"`` for a list, ``"matrix-text"`` for a matrix; raise for other texts.

    A text of numbers is a matrix if an argument has its labels, unless an argument of lists is
    given. Fewer than three numbers a line are more likely a list.
    """
    labels = arguments.peek("labels")
    gallery = arguments.peek("gallery")
    # How many cells the first line has, if all are numbers or empty; else 0. An empty cell does not
    # count before numbers of the columns. With a metric, a first line without any number may name
    # the features, and the second line decides.
    first, *below = head_of(path).rows
    if "metric" in arguments and not any(map(like_number, first)):
        numbers = len(first) if below and all(map(like_number, below[0])) else 0
    else:
        cells = first[1:] if not first[0] and counts_columns(first[1:]) else first
        numbers = len(cells) if all(not x or like_number(x) for x in cells) else 0
    is_list = any(x in arguments for x in ("columns.scores", "trials", "subject_from", "format"))
    is_list = is_list or labels is not None and labels.is_file() and lists_templates(labels)
    if not is_list and (labels or gallery) and numbers >= (2 if gallery else 3):
        return "matrix-text"
    if gallery:
        raise fault(
            path,
            "is text with other first cells than numbers",
            "`labels` and `gallery` label the rows and columns of a matrix of numbers alone, "
            "without names of rows and columns",
        )
    if not is_list and numbers >= 3:
        raise fault(
            path,
            "begins with a line of numbers, as a matrix does",
            "a matrix of scores needs `labels`; of a list of pairs give the `format`, or the "
            "numbers of the columns, or write their names in a first line, such as 'genuine "
            "template_a template_b score'",
        )
    return "text"


# ------------------------------------------------------------------------- for commands


def holds_labels(file: str) -> bool:
    """Whether a file may hold scores with their labels, and so be a system, by its suffix."""
    return Path(file).suffix.lower() in (".npz", ".mat", ".h5", ".hdf5")


def role_of_second_file(path: Path, second: Path, preset: str | None) -> str:
    """Return the option that a second file of a command is for: labels, impostor or trials.

    With a `preset` of lists, which genuine and impostor scores in two files do not have, it has
    labels or trials.
    """
    existing_file(path)
    if lists_templates(second):
        return "labels"
    if preset in PRESETS:
        return "trials"
    if kind_of_file(path) == kind_of_file(second) == FileKind.NPY:
        return "impostor"
    if is_text(path) and head_of(path).width == head_of(second).width == 1:
        return "impostor"
    return "trials"


def _read_npy(path: Path, arguments: Arguments, impostor: Path | None, as_read: bool) -> Scores:
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


def _read_numbers(head: Head, arguments: Arguments) -> Scores:
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

    # The pairs that are attempts; a template is a row of the features. The list, or the subjects of
    # the templates, say which are genuine.
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
    notes: tuple[Message, ...] = ()
    genuine = listed.genuine
    if genuine is None and subjects is None:
        raise fault(
            listed.path,
            f"does not mark genuine pairs, and {templates.path} has no subjects",
            "expected 1 or 0 after the two templates, or `labels` with subject_id",
        )
    if genuine is None:
        no_person = ids_of_no_person(arguments.peek("distractor_ids"))
        genuine, is_attempt = classes_of_subjects(subjects[:, 0], subjects[:, 1], no_person)
        if not is_attempt.all():
            notes = (Message("pairs-of-no-person", pairs=int((~is_attempt).sum())),)
            enrolled, probe, genuine = (x[is_attempt] for x in (enrolled, probe, genuine))
            subjects = subjects[is_attempt]
    metric = arguments.take("metric", "cosine")
    scores = Scores.from_pairs(
        EmbeddingSource(features, features, metric).pairs(enrolled, probe),
        genuine,
        nan=arguments.take("nan", "raise"),
        subjects=subjects,
        name=path.stem,
    )
    origin = describe_metric(metric, features)
    if average:
        origin += f", means by {' and '.join(average)} of {len(values)} embeddings"
    return scores.with_pairs(
        replace(scores.pairs, ids=np.column_stack([enrolled, probe])),
        origin=origin,
        metric=metric if isinstance(metric, str) else "",
        remarks=(*scores.remarks, *notes),
    )
