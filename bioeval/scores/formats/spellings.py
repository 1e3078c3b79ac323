"""The words for genuine and impostor in lists, and the names of columns by their role."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from bioeval.base.errors import DataError
from bioeval.base.kinds import Kind
from bioeval.scores.formats.faults import fault

_GENUINE = (
    *("1", "1.0", "+1", f"{1:.18e}", "true", "genuine", "target", "match", "mated", "same"),
    "client",
)

#: Spellings of impostor, a row for each meaning. A list must not have words of two rows. The long
#: numbers are 0 and -1 as np.savetxt writes them.
IMPOSTORS = (
    ("0", "0.0", f"{0:.18e}"),
    ("-1", "-1.0", f"{-1:.18e}"),
    ("nontarget", "non-target", "impostor", "imposter", "nonmatch", "non-match", "different"),
)

#: Spellings of genuine and impostor, in lower case and with ``-`` for ``_``.
TRUTH = dict.fromkeys(_GENUINE, True) | dict.fromkeys(
    ("false", "nonmated", "non-mated", *sum(IMPOSTORS, ())), False
)

#: Names of columns by role; the first name present counts. Side a is enrolled.
COLUMNS: dict[str, tuple[str, ...]] = {
    "score": ("score", "scores", "distance", "dissimilarity", "similarity", "llr", "y_score"),
    "genuine": (
        *("genuine", "target", "is_target", "match", "mated", "same", "is_genuine", "label"),
        *("targettype", "target_type", "y_true"),
    ),
    "subject_a": (
        *("subject_a", "subject_1", "enrol", "enroll", "claimed_id", "gallery_subject"),
        "bio_ref_subject_id",
    ),
    "subject_b": (
        *("subject_b", "subject_2", "test", "real_id", "probe_subject", "probe_subject_id"),
    ),
    "template_a": (
        *("template_a", "template_1", "model", "model_label", "gallery", "bio_ref_template_id"),
        *("modelid", "model_id"),  # NIST's evaluations of speakers
        *("image1", "image_1", "file1", "file_1", "path1", "path_1", "img1", "img_1"),
    ),
    "template_b": (
        *("template_b", "template_2", "probe", "probe_label", "probe_template_id", "probe_key"),
        *("segmentid", "segment_id", "segment", "query"),
        *("image2", "image_2", "file2", "file_2", "path2", "path_2", "img2", "img_2"),
    ),
    "fold": ("fold",),
}

#: Every name of a column of a list.
HEADER_NAMES = {name for names in COLUMNS.values() for name in names}

#: The kind of scores that the name of their column declares.
KINDS: dict[str, Kind] = {
    "distance": "distance",
    "dissimilarity": "distance",
    "similarity": "similarity",
    "llr": "similarity",
}

#: Names of the sides of a trial, which lists of speakers give to subjects or to recordings.
TRIAL_NAMES = ("enrol", "enroll", "test")

#: The most columns of a table, or arrays of metadata: more are a matrix, or damage.
MOST_COLUMNS = 1000


def folded(name: str) -> str:
    """Return the name of a column in lower case, with ``_`` in place of blanks and hyphens."""
    return name.casefold().replace("-", "_").replace(" ", "_")


def is_number(cell: str) -> bool:
    """Whether a cell is a number, NaN and infinity among them."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def like_number(cell: str) -> bool:
    """Whether a cell is a number, or a near-number with advice in its error: ``50%``, ``0,5``."""
    return is_number(cell.removesuffix("%").replace(",", ".", 1))


def truth_word(cell: str) -> str:
    """Return a word for a class as the keys of :data:`TRUTH` are spelt."""
    return cell.casefold().replace("_", "-")


def is_truth(cell: str) -> bool:
    """Whether a cell states genuine or impostor."""
    return truth_word(cell) in TRUTH


def counts_columns(cells: Sequence[str]) -> bool:
    """Whether cells are 0..k-1 in some order, as pandas writes above columns without names."""
    return {*cells} == {*map(str, range(len(cells)))}


def require_few(path: Path, line: int, cells: Sequence[str]) -> None:
    """Raise where a line has more columns than a list or a table can have."""
    if len(cells) > MOST_COLUMNS:
        problem = f"has more than {MOST_COLUMNS:,} columns"
        raise fault(path, problem, "a matrix of scores is read from .npy or .npz", line=line)


def require_names(path: Path, line: int, cells: Sequence[str]) -> None:
    """Raise where a column has no name, or the same name as another column."""
    for number, name in enumerate(cells, 1):
        if not name and number > 1:  # the first may be the index of pandas
            raise fault(path, f"column {number} has no name in the header", line=line)
        if name in cells[: number - 1]:
            raise fault(path, f"two columns are called {name!r}", line=line)


# A number in which each point may separate thousands, and one without a point.
_POINTS = re.compile(r"[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+")
_WHOLE = re.compile(r"[+-]?[0-9]+")


def thousands(cells: Sequence[str]) -> list[str]:
    """Return a number in which a point may separate thousands, and a larger one without a point.

    All points have groups of three digits behind them, all other numbers are whole and below 1000,
    and one of these is larger than each number with a point, read as a decimal. Without such
    numbers the list is empty.
    """
    texts = [x.strip() for x in cells if x.strip()]
    pointed = [x for x in texts if "." in x]
    whole = [x for x in texts if "." not in x]
    if not pointed or not whole or not all(map(_WHOLE.fullmatch, whole)):
        return []
    if not all(map(_POINTS.fullmatch, pointed)) or any(x.count(".") > 1 for x in pointed):
        return []  # a number with several points is refused by itself
    largest = max(whole, key=lambda x: abs(int(x)))
    is_larger = max(abs(float(x)) for x in pointed) < abs(int(largest)) < 1000
    return [pointed[0], largest] if is_larger else []


def require_no_thousands(source: str, cells: Sequence[str]) -> None:
    """Raise where points of numbers may separate thousands, or be decimal points."""
    if found := thousands(cells):
        pointed, whole = found
        raise DataError(
            f"{source} has {pointed!r} beside {whole!r}: does the point separate thousands? Then "
            f"write {pointed.replace('.', '')!r}, or read the text by `pd.read_csv(path, "
            f'thousands=".")`; if {pointed!r} is a decimal, write {whole + ".000"!r}, or read it '
            "by `pd.read_csv(path)`, and load the table"
        )
