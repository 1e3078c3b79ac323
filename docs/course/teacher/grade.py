"""Compare the homework of each student with the solution, and name the mistakes.

    python docs/course/teacher/grade.py SUBMISSIONS --out grades.csv

SUBMISSIONS has a folder for each student with the name of the student and the file `answers.npz`.
The table has a row for each student: the number of arrays that are right, 1 or 0 for each array,
and the remarks. With `--seeds FILE`, a CSV file with the columns `student` and `seed`, arrays are
compared with those of this seed; a student with other data gets no point.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import tempfile
import zipfile
import zlib
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
    seed: int | None = None  # as the file states it; None if it cannot be read


def grade(folder: Path, seed: int | None = None) -> Grade:
    """Return the grade of a student's folder, for a seed or for the seed that the file states."""
    student = folder.name
    nothing = dict.fromkeys(ARRAYS, False)
    try:
        file = find_answers(folder)
        saved = read_answers(file)
    except ValueError as error:
        return Grade(student, nothing, [str(error)])
    answers = {name: as_numbers(array) for name, array in saved.items()}
    stated_seed = seed_of(answers)
    seed = stated_seed if seed is None else seed
    if seed is None:
        return Grade(student, nothing, ["seed: missing, or no whole number: nothing is compared"])
    truth = solution(seed)
    answers = {name: without_single_axes(name, answers, truth) for name in answers}
    if has_other_data(answers, truth):
        remark = f"thresholds do not belong to seed {seed}: another seed, or other draws"
        return Grade(student, nothing, [remark], stated_seed)

    truths = [truth]
    if (thresholds := other_thresholds(answers, truth)) is not None:
        truths.append(solution(seed, thresholds))
    sentences = {name: what_is_wrong_with_all(name, answers, truths) for name in ARRAYS}
    remarks = [f"the file should be called answers.npz, not {file.name}"] * (
        file.name != "answers.npz"
    )
    for sentence in dict.fromkeys(filter(None, sentences.values())):
        names = [name for name in ARRAYS if sentences[name] == sentence]
        remarks.append(f"{', '.join(names)}: {sentence}")
    remarks += remarks_on_form(saved, answers)
    right = {name: not sentence for name, sentence in sentences.items()}
    return Grade(student, right, remarks, stated_seed)


def find_answers(folder: Path) -> Path:
    """Return the file of answers: `answers.npz`, or else the only file of this kind in the folder.

    Raises
    ------
    ValueError
        If there is none, or several.
    """
    file = folder / "answers.npz"
    if file.is_file():
        return file
    files = [x for x in folder.rglob("[!.]*") if x.suffix.lower() == ".npz" and x.is_file()]
    if len(files) != 1:
        raise ValueError("there is no answers.npz")
    return files[0]


def read_answers(file: Path) -> dict[str, np.ndarray]:
    """Return the arrays of a file, by their names in small letters; nothing is run.

    An array of objects is not read: an empty one is returned in its place.

    Raises
    ------
    ValueError
        If the file is no file of NumPy with named arrays.
    """
    how = "save the arrays by np.savez('answers.npz', **answers)"
    try:
        with np.load(file, allow_pickle=False) as archive:
            in_capitals_first = sorted(archive.files)
            arrays = {name_on_sheet(name): read_array(archive, name) for name in in_capitals_first}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, AttributeError) as error:
        raise ValueError(f"{file.name} cannot be read: {how}") from error
    if all(name.startswith("arr_") for name in arrays):
        raise ValueError(f"the arrays of {file.name} have no names: {how}")
    return arrays


def name_on_sheet(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def read_array(archive: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    """Return an array of a file; an empty array of objects if it cannot be read."""
    try:
        return np.asarray(archive[name])
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error):
        return np.empty(0, dtype=object)


def as_numbers(array: np.ndarray) -> np.ndarray:
    """Return the numbers of an array of text; other arrays, and words, as they are."""
    if array.dtype.kind not in "US":
        return array
    for kind in (np.int64, np.float64):
        try:
            return array.astype(kind)
        except (ValueError, OverflowError):
            continue
    return array


def without_single_axes(
    name: str, answers: Mapping[str, np.ndarray], truth: Mapping[str, np.ndarray]
) -> np.ndarray:
    """Return an array without axes of length 1 that the array of the sheet does not have."""
    answer = answers[name]
    if name not in truth or answer.ndim <= truth[name].ndim:
        return answer
    squeezed = answer.squeeze()
    return squeezed if squeezed.ndim == truth[name].ndim else answer


def remarks_on_form(
    saved: Mapping[str, np.ndarray], answers: Mapping[str, np.ndarray]
) -> list[str]:
    """Return remarks on arrays that are read although their form is not the one of the sheet."""
    names = [name for name in ARRAYS if name in answers]
    texts = [x for x in names if saved[x].dtype.kind in "US" and answers[x].dtype.kind in "if"]
    columns = [x for x in names if x != "seed" and saved[x].shape != answers[x].shape]
    forms = (
        (texts, "saved as text, and read as numbers"),
        (columns, "read without axes of length 1"),
    )
    return [f"{', '.join(found)}: {form}" for found, form in forms if found]


def seed_of(answers: Mapping[str, np.ndarray]) -> int | None:
    """Return the seed of a student; None unless it is a whole number that is not negative."""
    seed = answers.get("seed")
    if seed is None or seed.size != 1 or seed.dtype.kind not in "iuf":
        return None
    number = seed.item()
    is_whole = isinstance(number, int) or number.is_integer()
    return int(number) if is_whole and number >= 0 else None


def has_other_data(answers: Mapping[str, np.ndarray], truth: Mapping[str, np.ndarray]) -> bool:
    """Whether the thresholds are of other distances, and no array without thresholds is right."""
    thresholds = answers.get("thresholds", np.empty(0))
    if thresholds.dtype.kind not in "iuf" or not np.isfinite(thresholds).any():
        return False
    distances = homework_data(int(truth["seed"]))[0].ravel()
    finite = thresholds[np.isfinite(thresholds)]
    gap = np.abs(finite[:, None] - distances).min(axis=1)
    without_thresholds = ("genuine_attempts", "impostor_attempts", "cms")
    return (gap > TOLERANCE).mean() > 0.5 and all(
        what_is_wrong(name, answers, truth) for name in without_thresholds
    )


def other_thresholds(
    answers: Mapping[str, np.ndarray], truth: Mapping[str, np.ndarray]
) -> np.ndarray | None:
    """Return the student's thresholds if rates can be compared at them; None if they are right."""
    thresholds = answers.get("thresholds", np.empty(0))
    longest = homework_data(int(truth["seed"]))[0].size
    are_numbers = thresholds.dtype.kind in "iuf" and not np.isnan(thresholds).any()
    if not are_numbers or thresholds.ndim != 1 or not 0 < len(thresholds) <= longest:
        return None
    return None if is_right("thresholds", thresholds, truth) else thresholds


def what_is_wrong_with_all(
    name: str, answers: Mapping[str, np.ndarray], truths: Sequence[Mapping[str, np.ndarray]]
) -> str:
    """Return what is wrong with an array; empty if it is right at the thresholds of any truth."""
    if name == "thresholds":
        return what_is_wrong(name, answers, truths[0])
    sentences = []
    for truth in reversed(truths):
        sentences.append(what_is_wrong(name, answers, truth))
        if not sentences[-1]:
            return ""
    return sentences[0]


def what_is_wrong(
    name: str, answers: Mapping[str, np.ndarray], truth: Mapping[str, np.ndarray]
) -> str:
    """Return what is wrong with an array; empty if it is right."""
    if name not in answers:
        others = sorted({*answers} - {*ARRAYS})
        return f"missing; not on the sheet: {', '.join(others)}" if others else "missing"
    answer, expected = answers[name], truth[name]
    if answer.dtype.kind == "O":
        return "objects are not read: save an array of numbers"
    if answer.dtype.kind not in "biuf":
        return "the array has text: it should have numbers"
    if is_right(name, answer, truth):
        return ""
    if name == "seed":
        return f"{answer} in place of {expected}"
    known_mistakes = list(mistakes(name, int(truth["seed"]), dict(truth)))
    for sentence, wrong in known_mistakes:
        if answer.shape != wrong.shape:
            continue
        # An EER of a partition may be the one of another threshold that is as near.
        needed = 0.9 if name == "partition_eer" else 1
        if are_equal(answer, wrong).mean() >= needed:
            return sentence
    if sentence := mistakes_by_row(answer, expected, known_mistakes):
        return sentence
    if answer.shape != expected.shape:
        return f"the shape is {answer.shape}: it should be {expected.shape}"
    if expected.dtype.kind == "f" and answer.dtype.kind in "biu":
        return "these are whole numbers: the decimals are missing"
    for decimals in (1, 2, 3):
        if are_equal(answer, expected.round(decimals)).all():
            return f"rounded to {decimals} decimals: four are needed"
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
    precision = np.finfo(answer.dtype).eps if answer.dtype.kind == "f" else 0
    return np.isclose(answer, expected, rtol=precision, atol=TOLERANCE)


def is_right(name: str, answer: np.ndarray, truth: Mapping[str, np.ndarray]) -> bool:
    """Whether an array is right; an EER may be the one of any of the nearest thresholds."""
    if answer.shape != truth[name].shape:
        return False
    if name == "eer":
        pairs = list(zip(truth["far"], truth["frr"], strict=True))
    elif name == "partition_eer":
        pairs = [
            (x["far"], x["frr"]) for x in partition_rates(int(truth["seed"]), truth["thresholds"])
        ]
    else:
        return bool(are_equal(answer, truth[name]).all())
    return all(
        are_equal(value, equal_error_rates(*rates)).any()
        for value, rates in zip(answer, pairs, strict=True)
    )


def mistakes_by_row(
    answer: np.ndarray, expected: np.ndarray, known_mistakes: Sequence[tuple[str, np.ndarray]]
) -> str:
    """Return the mistake in the pairs and in the claims; empty unless each wrong row has one."""
    if answer.shape != expected.shape or len(expected) != 2:
        return ""
    sentences = []
    for row, attempts in enumerate(("pairs", "claims")):
        if are_equal(answer[row], expected[row]).all():
            continue
        for sentence, wrong in known_mistakes:
            if wrong.shape == answer.shape and are_equal(answer[row], wrong[row]).all():
                sentences.append(f"{attempts}: {sentence.removeprefix(f'{attempts}: ')}")
                break
        else:
            return ""
    return "; ".join(sentences)


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
    """Return grades with remarks on seeds that two students share, or that are not in the table."""
    times = Counter(x.seed for x in grades if x.seed is not None)
    remarked = []
    for x in grades:
        remarks = list(x.remarks)
        if x.seed is not None and times[x.seed] > 1:
            others = [y.student for y in grades if y.seed == x.seed and y is not x]
            remarks.append(f"seed: {x.seed} is also the seed of {', '.join(others)}")
        if seeds is not None and x.student not in seeds:
            remarks.append("the table of seeds has no such student")
        remarked.append(x._replace(remarks=remarks))
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
    grades = [grade(folder, (seeds or {}).get(folder.name)) for folder in students]
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
