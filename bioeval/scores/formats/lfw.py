"""Lists of pairs as LFW publishes them: names of subjects and numbers of their images.

The first line holds the number of folds, and of genuine and as many impostor pairs in each:
``10 300``; a single number is one fold. Then each fold lists ``name i j``, images `i` and `j` of
one subject, and after these ``name i other j``. (``pairs.txt``, ``pairsDevTrain.txt``: Huang,
Ramesh, Berg, Learned-Miller: Labeled Faces in the Wild, University of Massachusetts Amherst,
Technical Report 07-49, 2007.)
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.formats.files import content, decoded_lines, existing_file
from bioeval.scores.formats.options import say


@dataclass(frozen=True)
class NamedPairs:
    """Pairs of images, each known by its subject and its number, and the line of each pair."""

    path: Path
    images: list[tuple[tuple[str, int], tuple[str, int]]]
    same: np.ndarray
    fold: np.ndarray
    lines: list[int]


def read_lfw_pairs(path: str | Path) -> NamedPairs:
    """Read a list of pairs in LFW's form."""
    place = existing_file(path, "a list of pairs")
    found = content(place)
    if found != "text":
        raise DataError(f"{place}: is {found}; expected text, a list of pairs in LFW's form")
    rows = [(i, line.split()) for i, line in enumerate(decoded_lines(place), 1)]
    rows = [(i, words) for i, words in rows if words]
    head = rows[0][1] if rows else []
    if len(head) not in (1, 2) or not all(_is_number(word) for word in head):
        raise DataError(
            f"{place}: the first line is {' '.join(head)!r}; expected the number of folds and of "
            "genuine pairs in each, as '10 300', or the latter alone"
        )
    folds, each = (1, int(head[0])) if len(head) == 1 else (int(head[0]), int(head[1]))
    pairs = rows[1:]
    if not folds * each or len(pairs) != 2 * folds * each:
        raise DataError(
            f"{place}: has {len(pairs):,} pairs; expected {folds} x 2 x {each} = "
            f"{2 * folds * each:,}, as its first line says"
        )
    images = []
    same = np.arange(len(pairs)) // each % 2 == 0
    for genuine, (line, words) in zip(same.tolist(), pairs, strict=True):
        numbers = (words[1:3] if genuine else words[1::2]) if len(words) > 2 else []
        if len(words) != (3 if genuine else 4) or not all(_is_number(word) for word in numbers):
            form = "'name i j', two images of one subject" if genuine else "'name i other j'"
            raise DataError(f"{place}: line {line} is {' '.join(words)!r}; expected {form}")
        other = words[0] if genuine else words[2]
        if (words[0] == other) != genuine or (genuine and numbers[0] == numbers[1]):
            what = "one image with itself" if genuine else "images of one subject as impostors"
            raise DataError(f"{place}: line {line} compares {what}: {' '.join(words)!r}")
        images.append(((words[0], int(numbers[0])), (other, int(numbers[1]))))
    fold = np.repeat(np.arange(folds), 2 * each)
    return NamedPairs(place, images, same, fold, [line for line, _ in pairs])


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdecimal()


@dataclass(frozen=True)
class FoundPairs:
    """Pairs as indices of templates; without `same`, the labels decide.

    `missing` pairs are left out, since an image of theirs is not among the templates.
    """

    a: np.ndarray
    b: np.ndarray
    same: np.ndarray | None
    fold: np.ndarray | None
    missing: int


def find_pairs(
    listed: NamedPairs, names: list[str], numbers: list[int], missing: str
) -> FoundPairs:
    """Look up the images of pairs among templates, given by their subjects and image numbers.

    With `missing="skip"`, pairs of which an image is not there are left out.
    """
    place = {image: i for i, image in enumerate(zip(names, numbers, strict=True))}
    if len(place) < len(names):
        i = next(i for i, x in enumerate(zip(names, numbers, strict=True)) if place[x] != i)
        raise DataError(
            f"{len(names) - len(place)} templates have the name and the number of another, such "
            f"as {names[i]!r}, {numbers[i]}; {listed.path.name} cannot distinguish them"
        )
    index = np.array([[place.get(a, -1), place.get(b, -1)] for a, b in listed.images])
    there = np.logical_and(*(index >= 0).T)
    if not there.all() and (missing == "raise" or not there.any()):
        first = int(np.argmin(there))
        image = next(x for x in listed.images[first] if x not in place)
        advice = f"; to leave such pairs out say {say('missing_pairs', 'skip')}"
        raise DataError(
            f"{listed.path}: of {int((~there).sum()):,} of {len(there):,} pairs an image is not "
            f"among the {len(names):,} templates, the first on line {listed.lines[first]}: "
            f"{image[0]!r}, {image[1]}{advice if there.any() else ''}"
        )
    a, b = index[there].T
    return FoundPairs(a, b, listed.same[there], listed.fold[there], int((~there).sum()))
