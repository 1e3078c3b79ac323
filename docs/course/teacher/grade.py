"""Compare the homework of each student with the solution, and name the mistakes.

    python docs/course/teacher/grade.py SUBMISSIONS --out grades.csv

SUBMISSIONS has a folder for each student with the name of the student and the file `answers.npz`.
The table has a row for each student: the number of arrays that are right, 1 or 0 for each array,
and the remarks. With `--seeds FILE`, a CSV file with the columns `student` and `seed`, a student
with another seed gets no point.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from mistakes import mistakes
from solution import equal_error_rates, homework_data, partition_rates, solution

#: The arrays of the sheet, in its order.
ARRAYS = (
    *("seed", "genuine_attempts", "impostor_attempts", "thresholds"),
    *("gar", "far", "frr", "grr", "eer", "dir", "cms", "partition_eer"),
)

#: Numbers that differ by at most this are equal: single precision, or four decimals, are enough.
TOLERANCE = 1e-4


class Grade(NamedTuple):
    """The homework of a student: which arrays are right, and remarks on the wrong ones."""

    student: str
    right: dict[str, bool]
    remarks: list[str]
    seed: int | None = None  # None if it cannot be read


def read_answers(file: Path) -> dict[str, np.ndarray]:
    """Return the arrays of a file of answers, by their names in small letters; nothing is run.

    An array of objects is not read: an empty one is returned in its place.

    Raises
    ------
    ValueError
        If the file does not exist, or is no file of NumPy with numbers.
    """
    if not file.is_file():
        raise ValueError(f"there is no {file.name}")
    try:
        with np.load(file, allow_pickle=False) as archive:
            in_capitals_first = sorted(archive.files)
            return {name.lower(): read_array(archive, name) for name in in_capitals_first}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, AttributeError) as error:
        raise ValueError(f"{file.name} cannot be read: save numbers with np.savez") from error


def read_array(archive: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    """Return an array of a file; an empty array of objects if it is no array of numbers."""
    try:
        return np.asarray(archive[name])
    except ValueError:
        return np.empty(0, dtype=object)


def seed_of(answers: Mapping[str, np.ndarray]) -> int | None:
    """Return the seed of a student; None unless it is a whole number that is not negative."""
    seed = answers.get("seed")
    if seed is None or seed.size != 1 or seed.dtype.kind not in "iuf":
        return None
    number = seed.item()
    is_whole = isinstance(number, int) or number.is_integer()
    return int(number) if is_whole and number >= 0 else None


def grade(student: str, file: Path) -> Grade:
    """Return the grade of a student's file of answers."""
    right = dict.fromkeys(ARRAYS, False)
    try:
        answers = read_answers(file)
    except ValueError as error:
        return Grade(student, right, [str(error)])
    seed = seed_of(answers)
    if seed is None:
        return Grade(student, right, ["seed: missing, or no whole number: nothing can be compared"])
    if has_other_distances(answers, seed):
        remark = f"thresholds do not belong to seed {seed}: another seed, or other draws"
        return Grade(student, right, [remark], seed)
    answers["seed"] = np.array(seed)
    truth = solution(seed)
    sentences = {name: what_is_wrong(name, answers, truth) for name in ARRAYS}
    right = {name: not sentence for name, sentence in sentences.items()}
    remarks = []
    for sentence in dict.fromkeys(filter(None, sentences.values())):
        names = [name for name in ARRAYS if sentences[name] == sentence]
        remarks.append(f"{', '.join(names)}: {sentence}")
    return Grade(student, right, remarks, seed)


def has_other_distances(answers: Mapping[str, np.ndarray], seed: int) -> bool:
    """Whether most of the thresholds are no distances of the seed."""
    thresholds = answers.get("thresholds", np.empty(0))
    if thresholds.dtype.kind not in "iuf" or not np.isfinite(thresholds).any():
        return False
    distances = homework_data(seed)[0].ravel()
    finite = thresholds[np.isfinite(thresholds)]
    gap = np.abs(finite[:, None] - distances).min(axis=1)
    return (gap > TOLERANCE).mean() > 0.5


def what_is_wrong(
    name: str, answers: Mapping[str, np.ndarray], truth: Mapping[str, np.ndarray]
) -> str:
    """Return what is wrong with an array; empty if it is right."""
    if name not in answers:
        return "missing"
    answer, expected = answers[name], truth[name]
    if answer.dtype.kind not in "biuf":
        return f"an array of {answer.dtype}: it should have numbers"
    if answer.shape == expected.shape and is_right(name, answer, truth):
        return ""
    in_both_rows = list(mistakes(name, int(truth["seed"]), dict(truth)))
    in_one_row = [one for both in in_both_rows for one in _mistakes_in_one_row(expected, *both)]
    for sentence, wrong in in_both_rows + in_one_row:
        if answer.shape != wrong.shape:
            continue
        # An EER of a partition may be the one of another threshold that is as near.
        needed = 0.9 if name == "partition_eer" else 1
        if are_equal(answer, wrong).mean() >= needed:
            return sentence
    if answer.shape != expected.shape:
        return f"the shape is {answer.shape}: it should be {expected.shape}"
    if np.isnan(answer).any():
        return "it contains nan: the mean of an empty array is nan"
    if follows_from_rates(name, answers, expected):
        rates = [x for x in ("far", "frr") if not is_right(x, answers[x], truth)]
        return (
            f"follows from {' and '.join(rates).upper().replace('AND', 'and')}: no further mistake"
        )
    different = ~are_equal(answer, expected)
    first = tuple(int(i) for i in np.argwhere(different)[0])
    place = f" at [{', '.join(map(str, first))}]" if first else ""
    return (
        f"{different.sum()} of {different.size} are wrong; the first{place} is "
        f"{answer[first]:.6g} in place of {expected[first]:.6g}"
    )


def are_equal(answer: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Whether each number of an answer is the expected one, up to rounding."""
    return np.isclose(answer, expected, rtol=0, atol=TOLERANCE)


def is_right(name: str, answer: np.ndarray, truth: Mapping[str, np.ndarray]) -> bool:
    """Whether an array is right; an EER may be the one of any of the nearest thresholds."""
    if name == "eer":
        pairs = list(zip(truth["far"], truth["frr"], strict=True))
    elif name == "partition_eer":
        pairs = [(x["far"], x["frr"]) for x in partition_rates(int(truth["seed"]))]
    else:
        return bool(are_equal(answer, truth[name]).all())
    return all(
        are_equal(value, equal_error_rates(*rates)).any()
        for value, rates in zip(answer, pairs, strict=True)
    )


def _mistakes_in_one_row(
    expected: np.ndarray, sentence: str, wrong: np.ndarray
) -> list[tuple[str, np.ndarray]]:
    """Return the mistake in the pairs alone and in the claims alone; none of other arrays."""
    if expected.ndim == 0 or len(expected) != 2 or expected.shape != wrong.shape:
        return []
    pairs_are_wrong = np.stack([wrong[0], expected[1]])
    claims_are_wrong = np.stack([expected[0], wrong[1]])
    return [(f"pairs: {sentence}", pairs_are_wrong), (f"claims: {sentence}", claims_are_wrong)]


def follows_from_rates(name: str, answers: Mapping[str, np.ndarray], expected: np.ndarray) -> bool:
    """Whether the EER follows from the FAR and FRR of the student."""
    if name != "eer" or not {"far", "frr"} <= {*answers}:
        return False
    far, frr = answers["far"], answers["frr"]
    are_rates = all(x.dtype.kind in "biuf" and not np.isnan(x).any() for x in (far, frr))
    if not are_rates or far.shape != frr.shape or far.ndim != 2 or len(far) != len(expected):
        return False
    return all(
        are_equal(value, equal_error_rates(*row)).any()
        for value, *row in zip(answers[name], far, frr, strict=True)
    )


def with_remarks_on_seeds(grades: Sequence[Grade], seeds: Mapping[str, int] | None) -> list[Grade]:
    """Return grades with remarks on seeds that two students share, or that are not in the list."""
    times = Counter(x.seed for x in grades if x.seed is not None)
    remarked = []
    for x in grades:
        remarks = list(x.remarks)
        right = dict(x.right)
        if x.seed is not None and times[x.seed] > 1:
            others = [y.student for y in grades if y.seed == x.seed and y is not x]
            remarks.append(f"seed: {x.seed} is also the seed of {', '.join(others)}")
        if seeds is not None and x.seed is not None and seeds.get(x.student) != x.seed:
            remarks.append(f"seed: {x.seed}; expected {seeds.get(x.student, 'no such student')}")
            right = dict.fromkeys(right, False)
        remarked.append(x._replace(remarks=remarks, right=right))
    return remarked


def write_table(grades: Sequence[Grade], out: Path) -> None:
    """Write a row for each student; an existing file is replaced at the end."""
    descriptor, name = tempfile.mkstemp(dir=out.parent, suffix=".csv")
    try:
        with os.fdopen(descriptor, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["student", "right", *ARRAYS, "remarks"])
            for x in grades:
                points = [int(x.right[array]) for array in ARRAYS]
                writer.writerow([x.student, sum(points), *points, "; ".join(x.remarks)])
        os.replace(name, out)
    except BaseException:
        os.unlink(name)
        raise


def read_seeds(file: Path) -> dict[str, int]:
    """Return the seed of each student, from a CSV file with the columns `student` and `seed`.

    Raises
    ------
    ValueError
        If a column is missing, or a seed is no whole number.
    """
    text = file.read_text(encoding="utf-8-sig")
    title, *_ = text.splitlines() or [""]
    rows = csv.DictReader(text.splitlines(), delimiter=";" if ";" in title else ",")
    if not {"student", "seed"} <= {*(rows.fieldnames or ())}:
        raise ValueError(
            f"{file} should have the columns student and seed; its first line: {title}"
        )
    seeds = {}
    for row in rows:
        try:
            seeds[row["student"]] = int(row["seed"])
        except (TypeError, ValueError) as error:
            raise ValueError(f"{file}: the seed of {row['student']} is no whole number") from error
    return seeds


def main(words: Sequence[str] | None = None) -> int:
    """Grade the folders of a class; return the exit code."""
    usage = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    usage.add_argument("submissions", type=Path, help="folder with a folder for each student")
    usage.add_argument("--out", type=Path, default=Path("grades.csv"), help="the table (CSV)")
    usage.add_argument("--seeds", type=Path, help="the seed of each student (CSV)")
    options = usage.parse_args(words)
    if not options.submissions.is_dir():
        usage.error(f"{options.submissions} is no folder")
    students = sorted(x for x in options.submissions.iterdir() if x.is_dir())
    if not students:
        usage.error(f"{options.submissions} has no folder of a student")
    try:
        seeds = read_seeds(options.seeds) if options.seeds else None
    except (ValueError, OSError) as error:
        usage.error(str(error))
    grades = [grade(folder.name, folder / "answers.npz") for folder in students]
    grades = with_remarks_on_seeds(grades, seeds)
    write_table(grades, options.out)
    for x in grades:
        print(f"{x.student:20} {sum(x.right.values()):2} of {len(ARRAYS)}")
        for remark in x.remarks:
            print(f"    {remark}")
    print(f"{options.out} written, {len(grades)} students")
    return 0


if __name__ == "__main__":
    sys.exit(main())
