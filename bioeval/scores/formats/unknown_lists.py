"""Errors of texts that are not read: of other programs, with two readings, or without scores."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Sequence
from itertools import pairwise

from bioeval.base.errors import DataError
from bioeval.scores.formats.faults import fault
from bioeval.scores.formats.layout_table import MOST_UNNAMED, letter, signature
from bioeval.scores.formats.spellings import COLUMNS, HEADER_NAMES, folded, is_number, like_number
from bioeval.scores.formats.tables import Head

#: Classes in labels of KITTI, in lower case.
KITTI_CLASSES = {
    *("car", "van", "truck", "pedestrian", "person_sitting", "cyclist", "tram", "dontcare"),
}
# Names of columns of counts, and of bins.
_COUNTS = re.compile(r"(.*_)?(count|counts|freq|frequency|bin|bins|hist|histogram)(_.*)?")


def foreign(head: Head) -> str:
    """Return which text of another program a text is, in words; empty if it is none."""
    width = head.width
    kitti_columns = (head.column(i) for i in (0, 2) if i < width)
    has_classes = any({*map(str.casefold, cells)} <= KITTI_CLASSES for cells in kitti_columns)
    if has_classes and 15 <= width <= 18:
        return (
            "looks like labels of KITTI, boxes of objects; boxes of tracking are read by `bioeval "
            "tracking` with MOTChallenge's columns (frame, id, left, top, width, height)"
        )
    if width == 6 and {*head.column(1)} <= {"Q0", "0"} and all(map(is_number, head.column(4))):
        return (
            "looks like a run of TREC (query, Q0, document, rank, score, run); write a list with "
            "the columns probe, model, similarity and genuine"
        )
    if width == 4 and {*head.column(1)} <= {"Q0", "0"} and all(map(str.isdigit, head.column(3))):
        return (
            "looks like relevance judgements of TREC (query, 0, document, relevance); write a "
            "list with the columns probe, model and genuine as `trials`"
        )
    has_names = not any(map(is_number, head.cells[0]))
    if _names_bins(head.cells[0]) if has_names else _is_histogram(head):
        return (
            "looks like a histogram, counts of scores in bins; expected the scores themselves, "
            "one attempt a line"
        )
    return ""


def _names_bins(cells: Sequence[str]) -> bool:
    names = {*map(folded, cells)}
    has_both_classes = {"genuine", "impostor"} <= names or {"mated", "nonmated"} <= names
    if has_both_classes and not names.isdisjoint(COLUMNS["score"]):
        return True
    has_other_columns_of_lists = not HEADER_NAMES.difference(COLUMNS["score"]).isdisjoint(names)
    return not has_other_columns_of_lists and any(map(_COUNTS.fullmatch, names))


def _is_histogram(head: Head) -> bool:
    if len(head.rows) < 3 or head.width != 3 or letter(head.column(0)) != "f":
        return False
    try:
        bins = [float(cell) for cell in head.column(0)]
    except ValueError:
        return False
    steps = [high - low for low, high in pairwise(bins)]
    are_even = min(steps) > 0 and max(steps) - min(steps) <= 1e-6 * max(steps)
    return are_even and all(cell.isdigit() for i in (1, 2) for cell in head.column(i))


def two_readings(head: Head, columns: list[int], content: str, reading: str) -> DataError:
    """Return the error of columns whose `content` has a second `reading`."""
    *numbers, last = [str(i + 1) for i in columns]
    hold = f"column {last} holds"
    if numbers:
        hold = f"columns {', '.join(numbers)} and {last} each hold"
    return fault(
        head.path,
        f"{hold} {content}, and {reading}",
        "write the names of the columns in a first line, such as 'genuine template_a template_b "
        "score' or 'claimed_id real_id probe_label score'",
        line=head.start_line,
    )


def refuse_two_readings(head: Head, columns: Sequence[int]) -> None:
    """Raise where columns of a list in bob's layout hold 0 and 1 alone."""
    if columns:
        reading = "could mark genuine pairs, or have the layout of bob's lists"
        raise two_readings(head, sorted(columns), "only 0 and 1", reading)


def refuse_decimal_commas(head: Head, score: int) -> None:
    """Raise where a comma beside the column of scores may be the decimal mark."""
    for i in (score - 1, score):
        if head.delimiter != "," or not 0 <= i < head.width - 1:
            continue
        pairs = zip(head.column(i), head.column(i + 1), strict=True)
        decimal = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?", re.ASCII)
        if all(decimal.fullmatch(f"{whole},{fraction}") for whole, fraction in pairs):
            reading = "could be decimals with a comma"
            raise two_readings(head, [i, i + 1], "digits alone", reading)


def unknown_list(head: Head) -> DataError:
    """Return the error of a list without names of columns whose signature no layout has."""
    letters = [*enumerate(signature(head))]
    words, binary, whole, fractions = ([i for i, x in letters if x == kind] for kind in "wbif")
    if head.width > MOST_UNNAMED or len(words) > 1:
        return no_scores(head)
    if not words and len(binary) > 1:
        return two_readings(head, binary, "only 0 and 1", "could mark genuine pairs")
    genuine = [*words, *binary][:1]
    numbers = sorted(i for i in (*binary, *whole, *fractions) if i not in genuine)
    if genuine and not numbers and head.width > 1:
        return fault(
            head.path,
            "is a list of trials without scores",
            "give the file with the scores, and this one as `trials`",
        )
    if len(numbers) > 1 and len(fractions) != 1 and (genuine or head.width > 2):
        return two_readings(head, numbers, "numbers", "could be the scores")
    return no_scores(head)


def no_scores(head: Head, named: bool = False) -> DataError:
    """Return the error of a text, or of a table with `named` columns, without scores."""
    if description := foreign(head):
        return fault(head.path, description)
    first = head.delimiter.join(head.cells[0])[:80]
    problem = f"its first line, {first!r}, is none of a known list"
    if named:
        problem = f"its columns are {', '.join(map(repr, head.cells[0]))}"
    return DataError(
        f"{head.path}: no column 'score'; {problem}; expected a first line with the names of the "
        "columns, such as 'distance,genuine' or 'similarity,subject_a,subject_b' (others by "
        '`columns={"scores": ...}` and `columns={"genuine": ...}`). A CSV file of labels goes with '
        "a .npy matrix: give the matrix, and the CSV file as `labels`. A matrix of scores is "
        f"read from .npy or .npz{misspelt(head.cells[0])}"
    )


def unknown_words(head: Head) -> str:
    """Return a hint at a column of two words, which may mean genuine and impostor, or ""."""
    for i in range(head.width):
        words = [*dict.fromkeys(head.column(i))]
        names = {cell for j in head.columns_except(i) for cell in head.column(j)}
        repeated = len(words) == 2 < len(head.rows)
        if repeated and names.isdisjoint(words) and not any(map(like_number, words)):
            known_words = "target and nontarget, or 1 and 0"
            return (
                f". Column {i + 1} has the words {words[0]!r} and {words[1]!r}; write {known_words}"
            )
    return ""


def misspelt(names: Sequence[str], known_names: Collection[str] = ()) -> str:
    """Return a hint at a column that seems to have a misspelt name, or ""."""
    if any(map(is_number, names)):
        return ""
    folded_names = {*map(folded, names)}
    for name in names:
        if name not in known_names and folded(name) not in HEADER_NAMES:
            close_matches = difflib.get_close_matches(
                folded(name), HEADER_NAMES - folded_names, n=1, cutoff=0.75
            )
            if close_matches:
                return f". The column {name!r} is not known. Did you mean {close_matches[0]!r}?"
    return ""
