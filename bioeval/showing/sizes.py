"""Sizes of the data of a task in words, such as ``40 genuine and 1,520 impostor attempts``.

Over folds, numbers of attempts are sums over the test parts, and numbers of subjects are ranges.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import counted
from bioeval.showing.nodes import OVER
from bioeval.showing.text import (
    Count,
    Number,
    Score,
    Text,
    say,
)


def candidates_in_words(attrs: Mapping[Any, Any]) -> str:
    """Return with how many templates probes were compared, in words, if not with the gallery."""
    if "candidates" not in attrs:
        return ""
    smallest, largest = int(attrs["candidates_least"]), int(attrs["candidates_most"])
    number = f"{smallest:,}" if smallest == largest else f"{smallest:,} to {largest:,}"
    candidates = counted(int(attrs["candidates"]), "gallery templates")
    return f"each probe was compared with {number} of {candidates}"


def sample_size(dataset: xr.Dataset, *, is_short: bool = False) -> Text:
    """Return the attempts and subjects of a result in words; over folds, sums of test parts.

    In short, subjects are left out where all subjects of the header made attempts.
    """
    queries, attempts = _total(dataset, "queries"), _total(dataset, "attempts")
    genuine, impostor = _total(dataset, "genuine_attempts"), _total(dataset, "impostor_attempts")
    subjects = _total(dataset, "subjects")
    if queries is not None:
        text = counted(queries, "queries")
    elif attempts is not None:
        text = f"{attempts:,} genuine attempts"
    elif genuine is None or impostor is None:
        return _sizes_of_tracks(dataset)
    else:
        impostor_attempts = counted(impostor, "impostor attempts")
        text = f"{genuine:,} genuine and {impostor_attempts}"
        # Subjects of all attempts or, if they are not known, of each class.
        genuine_subjects = _total(dataset, "genuine_subjects")
        impostor_subjects = _total(dataset, "impostor_subjects")
        if subjects is None and genuine_subjects is not None and impostor_subjects is not None:
            if genuine_subjects == impostor_subjects:
                subjects = impostor_subjects
            elif not is_short:
                genuine_attempts = counted(genuine, "genuine attempts")
                of_genuine = counted(genuine_subjects, "subjects")
                text = f"{genuine_attempts} of {of_genuine} and {impostor_attempts}"
                subjects = impostor_subjects  # stand behind the impostor attempts
    # Of folds, only attempts can be added: the same subjects may be in several test parts.
    if "fold" in dataset.dims:
        repeats = dataset.sizes.get("repeat", 1)
        return f"{text} in total, in {repeats} divisions" if repeats > 1 else f"{text} in total"
    if not subjects or (is_short and subjects == dataset.attrs.get("probe_subjects")):
        return text
    return f"{text} of {counted(subjects, 'subjects')}"


def _sizes_of_tracks(dataset: xr.Dataset) -> str:
    """Return the numbers of tracks and boxes of a tracking result; "" for another result."""
    targets, boxes = _total(dataset, "targets"), _total(dataset, "truth_boxes")
    identities, result_boxes = _total(dataset, "identities"), _total(dataset, "result_boxes")
    if targets is None or boxes is None or identities is None or result_boxes is None:
        return ""
    truth = f"{counted(targets, 'targets')} with {counted(boxes, 'boxes')}"
    result = f"{counted(identities, 'identities')} with {counted(result_boxes, 'boxes')}"
    return f"{truth}; {result} in the result"


def lacking(dataset: xr.Dataset) -> list[str]:
    """Return the classes of which a result has no attempt: ``["0 impostor attempts"]``."""
    class_of = {
        "genuine_attempts": "genuine",
        "attempts": "genuine",
        "impostor_attempts": "impostor",
    }
    return [f"0 {name} attempts" for count, name in class_of.items() if _total(dataset, count) == 0]


def _total(dataset: xr.Dataset, name: str) -> int | None:
    """Return a count, summed over folds; None if the count is missing or cannot be summed."""
    variable = dataset.variables.get(name)
    if variable is None:
        return None
    if not variable.dims:  # a mean of counts is no count
        return int(variable.values) if float(variable.values).is_integer() else None
    if not {*variable.dims} <= {"repeat", "fold", "part"} or name.endswith("subjects"):
        return None
    values = variable.values
    if "part" in variable.dims:
        parts = dataset.variables["part"].values.tolist()
        if "test" not in parts:
            return None
        values = values.take(parts.index("test"), axis=variable.dims.index("part"))
    return int(np.nansum(values))


def parts_in_words(dataset: xr.Dataset) -> Iterator[Text]:
    """Yield how often the data were divided, with the subjects of each part, and the thresholds."""
    over = [dataset.sizes[dim] for dim in OVER if dim in dataset.dims]
    if "partitions" in dataset.attrs and (over or "statistic" in dataset.dims):
        yield _partitions_in_words(dataset, over)
    if {"repeat", "fold", "part"} <= {*dataset.dims} and "subjects" in dataset:
        yield _folds_in_words(dataset)
        thresholds = (
            dataset.variables["threshold"].values if "threshold" in dataset else np.empty(0)
        )
        thresholds = thresholds[np.isfinite(thresholds)]
        if len({*thresholds}) > 1:
            least, most = Score(thresholds.min(), digits=4), Score(thresholds.max(), digits=4)
            yield say("thresholds from {least} to {most}", least=least, most=most)


def _partitions_in_words(dataset: xr.Dataset, sizes: Sequence[int]) -> Text:
    """Return the number of partitions, and the size of their galleries.

    `sizes` are those of the dimensions over partitions; some of the partitions may be selected.
    """
    number = int(dataset.attrs["partitions"])
    if sizes:
        number = min(number, math.prod(sizes))
    people = _range_of(dataset, "gallery_subjects")
    templates = _range_of(dataset, "gallery_templates")
    text = "{partitions}"
    if templates is not None:
        text += "; each gallery: {templates} templates"
        if people is not None:
            text += " of {people} subjects"
    partitions = counted(number, "partitions")
    return say(text, partitions=partitions, templates=templates, people=people)


def _folds_in_words(dataset: xr.Dataset) -> Text:
    """Return the number of folds, and the range of the subjects in training and test parts."""
    attrs = dataset.attrs
    if "experiment" in attrs:
        divided = "{repeats:count repeats}"
    elif dataset.sizes["repeat"] > 1:
        divided = "{repeats:count divisions} into {folds:count folds}"
    else:
        divided = "{folds:count folds}"
    is_validation = str(attrs.get("chosen_on", "")).startswith("the validation")
    other_part = "validation" if is_validation else "training"
    text = f"{divided}; {{sizes_are_of}}: {{train}} in {other_part}, {{test}} in test"

    subjects = dataset.variables["subjects"]
    axis = subjects.dims.index("part")
    parts = dataset.variables["part"].values.tolist()
    return say(
        text,
        repeats=dataset.sizes["repeat"],
        folds=dataset.sizes["fold"],
        sizes_are_of=str(attrs.get("sizes_are_of", "subjects")),
        train=_range(subjects.values.take(parts.index("train"), axis)),
        test=_range(subjects.values.take(parts.index("test"), axis)),
    )


def _range_of(dataset: xr.Dataset, name: str) -> Text | None:
    """Return the smallest and the largest number of all parts; of statistics, the mean."""
    numbers = dataset.variables.get(name)
    if numbers is None or not numbers.size or not np.nanmax(numbers.values):
        return None
    if "statistic" not in numbers.dims:
        return _range(numbers.values)
    statistics = dataset.variables["statistic"].values.tolist()
    if "mean" not in statistics or numbers.ndim > 1:
        return None
    mean = float(numbers.values[statistics.index("mean")])
    return Count(mean) if mean.is_integer() else say("on average {mean}", mean=Number(mean))


def _range(numbers: np.ndarray) -> Text:
    least, most = int(np.nanmin(numbers)), int(np.nanmax(numbers))
    return Count(least) if least == most else say("{a} to {b}", a=least, b=most)
