"""Compare the homework of each student with the solution, and name the mistakes.

    python docs/course/teacher/grade.py SUBMISSIONS --out grades.csv

SUBMISSIONS has a folder for each student with the name of the student and the file `answers.npz`.
The table has a row for each student: the number of arrays that are right, 1 or 0 for each array,
and the remarks. With `--seeds FILE`, a CSV file with the columns `student` and `seed`, arrays are
compared with those of this seed; a student with other data gets no point. Each student of this
file has a row, with or without a folder.
"""

from __future__ import annotations

import argparse
import csv
import io
import math
import os
import sys
import tempfile
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from mistakes import PERCENT, mistakes
from solution import (
    all_partition_rates,
    equal_error_rates,
    homework_data,
    pair_distances,
    partition_rates,
    rates,
    solution,
)

#: The arrays of the sheet, in its order.
ARRAYS = (
    *("seed", "genuine_attempts", "impostor_attempts", "thresholds"),
    *("gar", "far", "frr", "grr", "eer", "dir", "cms", "partition_eer"),
)

#: Numbers that differ by at most this are equal: single precision, or four decimals, are enough.
TOLERANCE = 1e-4

#: Numbers of an array and bytes of a file that are read at most; a homework needs far fewer.
NUMBERS, BYTES = 20_000, 20_000_000


class Grade(NamedTuple):
    """The homework of a student: which arrays are right, and remarks on the wrong ones."""

    student: str
    right: dict[str, bool]
    remarks: list[str]
    seed: int | None = None  # as the file states it; None if it cannot be read


def grade(folder: Path, seed: int | None = None) -> Grade:
    """Return the grade of a student's folder, for a seed or for the seed that the file states."""
    try:
        return grade_file(normalised(folder.name), find_answers(folder), seed)
    except ValueError as error:
        remark = str(error)
    except Exception as error:  # whatever a file holds, the others are graded
        remark = (
            f"look at this file yourself: it cannot be graded ({type(error).__name__}: {error})"
        )
    return Grade(normalised(folder.name), dict.fromkeys(ARRAYS, False), [remark])


def grade_file(student: str, file: Path, seed: int | None) -> Grade:
    """Return the grade of a file.

    Raises
    ------
    ValueError
        If nothing can be compared: the sentence is the remark.
    """
    nothing = dict.fromkeys(ARRAYS, False)
    saved = read_answers(file)
    answers = {name: as_numbers(array) for name, array in saved.items()}
    stated_seed = seed_of(answers)
    seed = stated_seed if seed is None else seed
    if seed is None:
        unread = answers["seed"].dtype.kind == "O" if "seed" in answers else False
        reason = answers["seed"].item() if unread else "missing, or no whole number"
        if others := ", ".join(sorted(x[:30] for x in {*answers} - {*ARRAYS})[:12]):
            reason += f" (not on the sheet: {others})"
        raise ValueError(f"seed: {reason}: nothing is compared")
    truth = solution(seed)
    answers = {name: without_single_axes(name, answers, truth) for name in answers}

    truths = [truth]
    if (thresholds := other_thresholds(answers, truth)) is not None:
        truths.append(solution(seed, thresholds))
    sentences = {name: what_is_wrong_with_all(name, answers, truths) for name in ARRAYS}
    if has_other_data(answers, sentences):
        remark = f"no array belongs to seed {seed}: another seed, or other draws"
        return Grade(student, nothing, [remark], stated_seed)
    remarks = []
    if file.name != "answers.npz":
        remarks.append(f"the file should be called answers.npz, not {file.name}")
    for sentence in dict.fromkeys(filter(None, sentences.values())):
        names = [name for name in ARRAYS if sentences[name] == sentence]
        remarks.append(f"{', '.join(names)}: {sentence}")
    remarks += remarks_on_form(saved, answers)
    right = {name: not sentence for name, sentence in sentences.items()}
    return Grade(student, right, remarks, stated_seed)


def normalised(name: str) -> str:
    """Return a name as it is compared and shown: composed letters, and no control characters."""
    name = unicodedata.normalize("NFC", name).strip()
    return "".join(x if x.isprintable() else "\N{REPLACEMENT CHARACTER}" for x in name)


def find_answers(folder: Path) -> Path:
    """Return the file of answers: `answers.npz`, or else the only file of this kind in the folder.

    Raises
    ------
    ValueError
        If there is none, or several.
    """
    files = [x for x in folder.rglob("[!.]*") if x.suffix.lower() == ".npz" and x.is_file()]
    files = sorted(x for x in files if not x.is_symlink())
    named = [x for x in files if x.name.lower() == "answers.npz"]
    if folder / "answers.npz" in files:
        return folder / "answers.npz"
    if len(named or files) > 1:
        names = ", ".join(str(x.relative_to(folder)) for x in files[:5])
        raise ValueError(f"{len(files)} files could be the answers, and one is wanted: {names}")
    if not files:
        is_link = any(x.is_symlink() for x in folder.rglob("*.npz"))
        raise ValueError("answers.npz is a link, not a file" if is_link else "there is no answers.npz")
    return (named or files)[0]


def read_answers(file: Path) -> dict[str, np.ndarray]:
    """Return the arrays of a file, by their names in small letters; nothing is run.

    An array that is not read is an object in its place: the reason.

    Raises
    ------
    ValueError
        If the file is no file of NumPy with named arrays.
    """
    how = "save the arrays by np.savez('answers.npz', **answers)"
    if file.stat().st_size > BYTES:
        raise ValueError(f"{file.name} has more than {BYTES // 1_000_000} MB: {how}")
    try:
        with zipfile.ZipFile(file) as archive:
            members = {name_on_sheet(x.filename): x for x in sorted(archive.infolist(), key=str)}
            arrays = {
                name: read_array(archive, member) if name in ARRAYS else np.array(None)
                for name, member in members.items()
            }
    except Exception as error:  # zipfile raises errors of many kinds
        raise ValueError(f"{file.name} cannot be read: {how}") from error
    if all(name.startswith("arr_") for name in arrays):
        raise ValueError(f"the arrays of {file.name} have no names: {how}")
    if len(arrays) == 1 and not {*arrays} & {*ARRAYS}:
        raise ValueError(
            f"all answers are in one array, {[*arrays][0][:30]}: {how}, with the stars"
        )
    return arrays


def name_on_sheet(name: str) -> str:
    return name.removesuffix(".npy").strip().lower().replace(" ", "_").replace("-", "_")


def read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    """Return an array of a file; the reason, as an object, if it is not read."""
    if member.flag_bits & 1:
        return np.array("the file is encrypted", dtype=object)
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return np.array("the compression is none of NumPy", dtype=object)
    try:
        # No header is believed: so many bytes are read at most.
        with archive.open(member) as stream:
            file = io.BytesIO(stream.read(NUMBERS * 128))
        version = np.lib.format.read_magic(file)
        of_version = {(1, 0): "read_array_header_1_0", (2, 0): "read_array_header_2_0"}[version]
        shape, _, dtype = getattr(np.lib.format, of_version)(file)
        if dtype.kind == "O":
            return np.array("objects are not read: save an array of numbers", dtype=object)
        if min(shape, default=0) < 0 or max(math.prod(shape), *shape, 0) > NUMBERS:
            text = f"its shape is {shape}: too many numbers to be read"[:150]
            return np.array(text, dtype=object)
        if dtype.kind not in "biufUS" or dtype.itemsize > 128:
            return np.array("it has no real numbers", dtype=object)
        file.seek(0)
        return np.lib.format.read_array(file, allow_pickle=False)
    except Exception:  # numpy and zipfile raise errors of many kinds
        return np.array("damaged: save it by np.savez once more", dtype=object)


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
    return int(number) if is_whole and 0 <= number < 2**63 else None


def has_other_data(answers: Mapping[str, np.ndarray], sentences: Mapping[str, str]) -> bool:
    """Whether thresholds are handed in, and no array is right that depends on the distances."""
    thresholds = answers.get("thresholds", np.empty(0))
    if thresholds.dtype.kind not in "iuf" or not np.isfinite(thresholds).any():
        return False
    all_are_there = {*ARRAYS} <= {*answers}  # two seeds may have equal thresholds
    compared = [x for x in ARRAYS if x != "seed" and (x != "thresholds" or not all_are_there)]
    return all(sentences[name] for name in compared)


def other_thresholds(
    answers: Mapping[str, np.ndarray], truth: Mapping[str, np.ndarray]
) -> np.ndarray | None:
    """Return the student's thresholds if they ask for as much work; None if not, or if right.

    Rates at them are to have at least half as many values strictly between 0 and 1.
    """
    thresholds = answers.get("thresholds", np.empty(0))
    distances, person = homework_data(int(truth["seed"]))
    are_numbers = thresholds.dtype.kind in "iuf" and not np.isnan(thresholds).any()
    if not are_numbers or thresholds.ndim != 1 or not 0 < len(thresholds) <= distances.size:
        return None

    def values(thresholds: np.ndarray) -> int:
        of_pairs = rates(*pair_distances(distances, person), thresholds)
        both = np.stack([of_pairs["gar"], of_pairs["far"]])
        return np.unique(both[:, ((both > 0) & (both < 1)).any(axis=0)], axis=1).shape[1]

    is_work = 2 * values(thresholds) >= values(truth["thresholds"])
    return thresholds if is_work and not is_right("thresholds", thresholds, truth) else None


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
        others = sorted(x[:30] for x in {*answers} - {*ARRAYS})[:12]
        return f"missing; not on the sheet: {', '.join(others)}" if others else "missing"
    answer, expected = answers[name], truth[name]
    if answer.dtype.kind == "O":
        return answer.item()
    if answer.dtype.kind not in "biuf":
        return "the array has text: it should have numbers"
    if is_right(name, answer, truth):
        return ""
    if name == "seed":
        return f"{answer} in place of {expected}"
    wrong_rates = [
        x.upper() for x in ("far", "frr") if x in answers and not is_right(x, answers[x], truth)
    ]
    if wrong_rates and follows_from_rates(name, answers, expected):
        return f"follows from {' and '.join(wrong_rates)}: no further mistake"
    other = {"gar": "frr", "frr": "gar", "far": "grr", "grr": "far"}.get(name, "")
    # Of a rate and its complement, the one that the sheet names second follows from the first.
    is_second = ARRAYS.index(other) < ARRAYS.index(name) if other else False
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
    if is_second and is_complement(answer, answers.get(other)):
        return f"follows from {other.upper()}: no further mistake"
    if answer.shape != expected.shape:
        return f"the shape is {answer.shape}: it should be {expected.shape}"
    if expected.dtype.kind == "f" and answer.dtype.kind in "biu":
        return "these are whole numbers: the decimals are missing"
    for decimals in range(4):
        if are_equal(answer, (100 * expected).round(decimals)).all():
            return PERCENT
        if decimals and are_equal(answer, expected.round(decimals)).all():
            return f"rounded to {decimals} decimal{'s' * (decimals > 1)}: four are needed"
    if np.isnan(answer).any():
        return "it contains nan: the mean of an empty array is nan"
    if name == "partition_eer" and are_of_other_partitions(answer, truth):
        return (
            "these are six people each, others than drawn: another seed of the generator, or order"
        )
    different = ~are_equal(answer, expected)
    number, first = different.sum(), tuple(int(i) for i in np.argwhere(different)[0])
    place = f" at [{', '.join(map(str, first))}]" if first else ""
    return (
        f"{number} of {different.size} {'is' if number == 1 else 'are'} wrong; the first{place} is "
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


def are_of_other_partitions(answer: np.ndarray, truth: Mapping[str, np.ndarray]) -> bool:
    """Whether the numbers are EERs of six people each, whoever these are."""
    parts = all_partition_rates(int(truth["seed"]), truth["thresholds"])
    eers = np.concatenate([equal_error_rates(x["far"], x["frr"]) for x in parts])
    return bool(are_equal(answer[:, None], np.unique(eers)).any(axis=1).all())


def is_complement(answer: np.ndarray, other: np.ndarray | None) -> bool:
    """Whether a rate is 1 less another rate of the student."""
    is_rate = other is not None and other.dtype.kind in "biuf" and other.shape == answer.shape
    return bool(is_rate and are_equal(answer, 1 - other).all())


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
        values = f"these are the values of the {('claims', 'pairs')[row]}"
        for sentence, wrong in [(values, expected[::-1]), *known_mistakes]:
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

    def cell(text: str) -> str:
        """Return a text that a spreadsheet takes for no formula."""
        return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text

    descriptor, name = tempfile.mkstemp(dir=out.parent, suffix=".csv")
    try:
        with os.fdopen(descriptor, "w", newline="", encoding="utf-8-sig") as file:
            writer = csv.writer(file)
            writer.writerow(["student", "right", *ARRAYS, "remarks"])
            for x in grades:
                points = [int(x.right[array]) for array in ARRAYS]
                remarks = cell(normalised("; ".join(x.remarks)))
                writer.writerow([cell(x.student), sum(points), *points, remarks])
        os.replace(name, out)
    except BaseException:
        os.unlink(name)
        raise


def read_seeds(file: Path) -> dict[str, int]:
    """Return the seed of each student, from a CSV file with the columns `student` and `seed`.

    Raises
    ------
    ValueError
        If a column is missing, a seed is no whole number, or a student has two.
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
        student = normalised(row["student"] or "")
        if student in seeds:
            raise ValueError(f"{file}: {student} stands twice in the column student")
        if not (row["seed"] or "").strip().isdecimal():
            raise ValueError(f"{file}: the seed of {student} is no whole number from 0")
        seeds[student] = int(row["seed"])
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
    if not options.out.absolute().parent.is_dir():
        usage.error(f"{options.out.parent} is no folder")
    students = sorted(x for x in options.submissions.glob("[!.]*") if x.is_dir())
    if not students:
        usage.error(f"{options.submissions} has no folder of a student")
    try:
        seeds = read_seeds(options.seeds) if options.seeds else None
    except (ValueError, OSError) as error:
        usage.error(str(error))
    grades = [grade(x, (seeds or {}).get(normalised(x.name))) for x in students]
    for student in sorted({*(seeds or {})} - {x.student for x in grades}):
        remark = "there is no folder of this name"
        grades.append(Grade(student, dict.fromkeys(ARRAYS, False), [remark]))
    grades = with_remarks_on_seeds(grades, seeds)
    write_table(grades, options.out)
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # names in any letters
    for x in grades:
        print(f"{x.student:20} {sum(x.right.values()):2} of {len(ARRAYS)}")
        for remark in x.remarks:
            print(f"    {normalised(remark)}")
    print(f"{options.out} written, {len(grades)} students")
    return 0


if __name__ == "__main__":
    sys.exit(main())
