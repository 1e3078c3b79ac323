"""Named arrays of listed pairs, and lists of trials among the templates of a file."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.coded_sides import CodedSides
from bioeval.scores.formats.array_file import IMPOSTOR, PEOPLE_NAMES, RESERVED, ArrayFile, Meta
from bioeval.scores.formats.comparisons import read_comparisons
from bioeval.scores.formats.containers import Lazy
from bioeval.scores.formats.faults import fault, wrong_shape
from bioeval.scores.formats.files import existing_file
from bioeval.scores.formats.scores_alone import scores_of_classes
from bioeval.scores.formats.spellings import COLUMNS, TRIAL_NAMES
from bioeval.scores.formats.trial_scores import in_listed_order, look_up
from bioeval.scores.listed_templates import ListRules, places_in_words
from bioeval.scores.matrix import Scores

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
    kind, remarks = file.kind(genuine)
    options = {"kind": kind, "nan": file.nan, "name": file.path.stem}
    scores = scores_of_classes(genuine_scores, impostor_scores, file.arguments, options)
    origin = f"genuine scores from {genuine!r}, impostor scores from {impostor!r}"
    return scores._with(reading=(origin, *remarks))
