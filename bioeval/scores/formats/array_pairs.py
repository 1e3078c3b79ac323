"""Named arrays of listed pairs, and lists of trials among the templates of a file."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.columns import CodedSides
from bioeval.scores.formats.array_file import IMPOSTOR, PEOPLE_NAMES, RESERVED, ArrayFile, Meta
from bioeval.scores.formats.comparisons import (
    in_listed_order,
    is_lfw,
    look_up,
    read_comparisons,
    read_lfw,
)
from bioeval.scores.formats.containers import Lazy
from bioeval.scores.formats.faults import fault, wrong_shape
from bioeval.scores.formats.files import existing_file
from bioeval.scores.formats.spellings import COLUMNS, TRIAL_NAMES
from bioeval.scores.listed_templates import ListRules, places
from bioeval.scores.matrix import Scores

# The number of an image among the images of its subject, which lists in LFW's form state.
_IMAGE_NUMBER = "image_number"

_SIDES = ("subject_a", "subject_b", "template_a", "template_b")

# Names of two vectors of scores, in lower case and without "scores".
_TWO_CLASSES = (
    *(("genuine", "impostor"), ("gen", "imp"), ("client", "impostor"), ("target", "nontarget")),
    *(("mated", "nonmated"), ("match", "nonmatch"), ("same", "different"), ("intra", "inter")),
)


@dataclass(frozen=True)
class Trials:
    """Trials, each of two templates of one set; all arrays are (trials,)."""

    enrolled: np.ndarray  # the place of the enrolled template in the set
    probe: np.ndarray  # the place of the probe
    genuine: np.ndarray
    fold: np.ndarray | None
    missing: int  # number of trials that were left out, since a template is not in the set


def look_up_trials(file: ArrayFile, labels: np.ndarray, meta: Any, template_names: Any) -> Trials:
    """Return the trials that `trials` lists, with the places of their templates in a file.

    Templates are found by `template_names`, images of LFW by their subject and number.
    """
    if not file.square:
        raise DataError(
            f"{file.path}: `trials` needs the same templates on both sides, but this file "
            "has a separate gallery"
        )
    path = existing_file(file.arguments.take("trials"))
    names = None if template_names is None else template_names.tolist()
    if names is None or is_lfw(path):
        listed = read_lfw(path)
        if _IMAGE_NUMBER not in meta or meta[_IMAGE_NUMBER].dtype.kind not in "iu":
            raise DataError(
                f"{file.path}: {listed.path.name} numbers the images of each subject, but there "
                f"are no whole numbers called {_IMAGE_NUMBER!r}; name them with "
                f'`columns={{"{_IMAGE_NUMBER}": ...}}`. It holds: {file.contents}'
            )
        numbers = meta[_IMAGE_NUMBER].tolist()
        names = [f"{person} {i}" for person, i in zip(_people(file, labels), numbers, strict=True)]
    else:
        listed = read_comparisons(path, file.arguments)
    skip = file.arguments.take("lists.missing_pairs") == "skip"
    enrolled, probe, is_found = look_up(listed, names, skip)
    if listed.genuine is None:
        raise fault(listed.path, "lists genuine pairs alone", "expected impostor pairs, too")
    fold = None if listed.fold is None else listed.fold[is_found]
    left_out = int((~is_found).sum())
    return Trials(enrolled, probe, listed.genuine[is_found], fold, left_out)


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


def scores_of_trials(file: ArrayFile, pairs: Scores, trials: Trials, template_count: int) -> Scores:
    """Return `pairs`, the scores of trials, without those that the rules of lists leave out."""
    codes = trials.probe.astype(np.int32), trials.enrolled.astype(np.int32)
    listed = replace(pairs.pairs, templates=CodedSides(range(template_count), *codes))
    rules = ListRules.parse(**file.arguments.rules())
    listed, _, notes = listed.attempts(rules, pairs.kind, lambda rows: places("pair", rows))
    # The cells of a matrix have the probe first, pairs the enrolled template. The names of the
    # templates go, as they are places in this file, which mean nothing in another.
    listed = listed.exchanged(np.ones(len(listed.values), dtype=bool))
    listed = replace(listed, templates=None, missing=trials.missing)
    return pairs.with_pairs(listed, remarks=notes)


def scores_of_pairs(file: ArrayFile, name: str) -> Scores:
    arguments = file.arguments
    genuine = file.take("genuine")
    count = max(file.arrays[name].shape)
    values = arguments.with_failures(file.read(name))
    kind, remarks = file.kind(name)
    options: dict[str, Any] = {"kind": kind, "nan": file.nan, "name": file.path.stem}
    if genuine is None and "trials" in arguments:
        pairs = in_listed_order(file.path, values, arguments, options)
        return pairs._with(reading=(*pairs.reading, *remarks))
    if genuine is None:
        raise DataError(
            f"{file.path}: {name!r} is a list of {count} scores without classes; name the array of "
            f'0 and 1 with `columns={{"genuine": ...}}`. It holds: {file.contents}'
        )
    pairs = Scores.from_pairs(
        values,
        file.read(genuine),
        subjects=_both_sides(file, "subject", count),
        pair_folds=file.read_if_there("fold"),
        pair_templates=_template_names(file, count),
        meta=_meta_of_pairs(file, count),
        **options,
        **arguments.rules(),
    )
    return pairs._with(reading=remarks)


def _both_sides(file: ArrayFile, noun: str, pairs: int) -> np.ndarray | None:
    """Return the subjects or templates of both sides, (pairs, 2); None if the file has neither.

    Arrays have the names of a list's columns, or the names that ``columns`` says.
    """
    if f"{noun}s" in file.arrays:
        return file.read(f"{noun}s")
    sides = []
    for side in (f"{noun}_a", f"{noun}_b"):
        chosen = next((x for x in COLUMNS[side] if x in file.arguments.meta), None)
        if chosen is not None:
            file.require(file.arguments.meta[chosen], f'`columns={{"{chosen}": ...}}`')
        words = [x for x in COLUMNS[side] if x not in TRIAL_NAMES]
        sides.append(
            file.arguments.meta[chosen]
            if chosen is not None
            else next((x for x in words if x in file.arrays), None)
        )
    named = [name for name in sides if name is not None]
    if not named:
        return None
    if len(named) == 1:
        raise fault(
            file.path,
            f"{named[0]!r} has the {noun}s of one side of the pairs alone",
            f'name those of both, as in `columns={{"{noun}_a": ...}}` and `columns={{"{noun}_b": '
            "...}`",
        )
    for name in named:
        if file.shape(name) != (pairs,):
            raise file.wrong_length(name, pairs)
    file.use(*named)
    return np.column_stack([file.read(name) for name in named])


def _meta_of_pairs(file: ArrayFile, pairs: int) -> Meta:
    """Return the metadata of both templates of each pair, (pairs, 2), the enrolled one first.

    Metadata are arrays that ``columns`` names, arrays of two columns, and ``probe_x`` together
    with ``gallery_x``. Where an array has a single value for a pair, both templates have it.
    """
    columns = {}
    roles = {word for side in _SIDES for word in COLUMNS[side]}
    stated = {word: x for word, x in file.arguments.all_meta().items() if word not in roles}
    for word, name in stated.items():
        file.require(name, f'`columns={{"{word}": ...}}`')
        if file.shape(name) not in ((pairs,), (pairs, 2)):
            raise file.wrong_length(name, pairs)
        values = file.read(name)
        columns[word] = values if values.ndim == 2 else np.column_stack([values, values])
        file.use(name)
    for name in file.arrays:
        if file.shape(name) == (pairs, 2) and name not in RESERVED | file.used:
            columns[name] = file.read(name)
            file.use(name)
    for name in file.arrays:
        if name in file.used:
            continue
        column = name.removeprefix("probe_")
        gallery_name = f"gallery_{column}"
        if (
            name == column
            or gallery_name not in file.arrays
            or not RESERVED.isdisjoint((name, gallery_name))
        ):
            continue
        wrong = [x for x in (name, gallery_name) if file.shape(x) != (pairs,)]
        if not wrong:
            columns[column] = np.column_stack([file.read(gallery_name), file.read(name)])
        elif not file.arguments.names_arrays:
            raise file.wrong_length(wrong[0], pairs)
    return columns


def _template_names(file: ArrayFile, pairs: int) -> np.ndarray | CodedSides | None:
    """Return the names of both templates of each pair; None if the file has none."""
    names = file.read_if_there("template_names")
    codes = _both_sides(file, "template", pairs)
    if codes is None or names is None:
        return codes
    are_places = codes.shape == (pairs, 2) and codes.dtype.kind in "iu" and names.ndim == 1
    if not are_places or codes.min(initial=0) < 0 or codes.max(initial=0) >= len(names):
        raise fault(
            file.path,
            f"'templates' is {codes.shape} {codes.dtype}",
            f"expected ({pairs}, 2) places in 'template_names', 0 to {names.size - 1:,}",
        )
    if len({*names.tolist()}) < len(names):
        raise fault(file.path, "'template_names' has a name twice", "expected each once")
    return CodedSides(names.tolist(), *np.ascontiguousarray(codes.T, dtype=np.int32))


def two_classes(arrays: dict[str, Lazy]) -> tuple[str, str] | None:
    """Return the array of genuine scores and the array of impostor scores; None if not both."""
    vectors = {
        re.sub("scores?|[_ -]", "", name.casefold()): name
        for name, array in arrays.items()
        if array.dtype.kind in "iuf" and array.is_vector
    }
    return next(
        (
            (vectors[genuine], vectors[impostor])
            for genuine, impostor in _TWO_CLASSES
            if genuine in vectors and impostor in vectors
        ),
        None,
    )


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
    """Return the scores of two arrays as pairs without names."""
    genuine_scores, impostor_scores = (
        file.arrays[name].read().reshape(-1) for name in (genuine, impostor)
    )
    file.use(genuine, impostor)
    kind, remarks = file.kind(genuine)
    pairs = Scores.from_pairs(
        file.arguments.with_failures(np.concatenate([genuine_scores, impostor_scores])),
        np.repeat([True, False], [len(genuine_scores), len(impostor_scores)]),
        kind=kind,
        nan=file.nan,
        name=file.path.stem,
    )
    origin = f"genuine scores from {genuine!r}, impostor scores from {impostor!r}"
    return pairs._with(reading=(origin, *remarks))
