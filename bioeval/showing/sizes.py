"""How much data a result is of, in words: templates, people, attempts, parts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import counted
from bioeval.showing.cells import Count, Number, Score
from bioeval.showing.nodes import OVER
from bioeval.showing.text import Text, say

#: The counts of a title.
_COUNTED = ("genuine_attempts", "impostor_attempts", "attempts", "queries")


def sides_in_words(attrs: Mapping[Any, Any]) -> str:
    """Return the templates and the subjects of both sides in words."""
    layout = str(attrs.get("layout", ""))
    if not layout:
        return ""
    probes, subjects = int(attrs.get("probes", 0)), int(attrs.get("probe_subjects", 0))
    templates = int(attrs.get("gallery_templates", 0))
    gallery = int(attrs.get("gallery_subjects", 0))
    unknown = "" if subjects or gallery else "; subjects unknown"
    if layout == "pairs":
        return f"{_of(probes, 'pairs', subjects)}{unknown}"
    if layout == "all-against-all" and probes == templates:
        return f"{_of(probes, 'templates', subjects)}, all against all{unknown}"
    probing = _of(probes, "attempts" if "use" in attrs else "probes", subjects)
    enrolled = _of(templates, "gallery templates", gallery)
    if "use" in attrs and templates == gallery:  # claims, of which each subject has one column
        enrolled = counted(gallery, "enrolled subjects")
    return f"{probing} against {enrolled}{unknown}"


def _of(count: int, nouns: str, subjects: int) -> str:
    people = f" of {counted(subjects, 'subjects')}" if subjects else ""
    return counted(count, nouns) + people


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
    counts = {x: n for x in _COUNTED if (n := _total(dataset, x)) is not None}
    people = {role: _total(dataset, f"{role}subjects") for role in ("", "genuine_", "impostor_")}
    if "queries" in counts:
        text = counted(counts["queries"], "queries")
    elif "attempts" in counts:
        text = f"{counts['attempts']:,} genuine attempts"
    elif len(counts) == 2:
        genuine, impostor = counts.values()
        text = f"{genuine:,} genuine and {counted(impostor, 'impostor attempts')}"
        genuine_people, impostor_people = people["genuine_"], people["impostor_"]
        if people[""] is None and genuine_people is not None and impostor_people is not None:
            if genuine_people != impostor_people and not is_short:
                attempts = counted(genuine, "genuine attempts")
                text = f"{attempts} of {counted(genuine_people, 'subjects')}"
                text += f" and {counted(impostor, 'impostor attempts')}"
            people[""] = None if genuine_people != impostor_people and is_short else impostor_people
    else:
        return _tracks(dataset)
    if "fold" in dataset.dims:
        repeats = dataset.sizes.get("repeat", 1)
        return f"{text} in total" + (f", in {repeats} divisions" if repeats > 1 else "")
    if is_short and people[""] == dataset.attrs.get("probe_subjects"):
        return text
    return f"{text} of {counted(people[''], 'subjects')}" if people[""] else text


def _tracks(dataset: xr.Dataset) -> str:
    counts = [_total(dataset, x) for x in ("targets", "truth_boxes", "identities", "result_boxes")]
    if None in counts:
        return ""
    targets, boxes, identities, found = (x or 0 for x in counts)
    truth = f"{counted(targets, 'targets')} with {counted(boxes, 'boxes')}"
    result = f"{counted(identities, 'identities')} with {counted(found, 'boxes')}"
    return f"{truth}; {result} in the result"


def lacking(dataset: xr.Dataset) -> list[str]:
    """Return the classes without an attempt, in words."""
    classes = {
        "genuine_attempts": "genuine",
        "attempts": "genuine",
        "impostor_attempts": "impostor",
    }
    return [f"0 {role} attempts" for name, role in classes.items() if _total(dataset, name) == 0]


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
        number = int(dataset.attrs["partitions"])
        partitions = counted(min(number, math.prod(over)) if over else number, "partitions")
        people = _range_of(dataset, "gallery_subjects")
        templates = _range_of(dataset, "gallery_templates")
        text = "{partitions}"
        text += "; each gallery: {templates} templates" if templates is not None else ""
        text += " of {people} subjects" if templates is not None and people is not None else ""
        yield say(text, partitions=partitions, templates=templates, people=people)
    if not {"repeat", "fold", "part"} <= {*dataset.dims} or "subjects" not in dataset:
        return
    divided = "{repeats:count repeats}"
    if "experiment" not in dataset.attrs:
        divisions = "{repeats:count divisions} into "
        divided = divisions * (dataset.sizes["repeat"] > 1) + "{folds:count folds}"
    sizes: dict[str, Any] = {"repeats": dataset.sizes["repeat"], "folds": dataset.sizes["fold"]}
    text = f"{divided}; {{sizes_are_of}}: {{train}} in training, {{test}} in test"
    subjects = dataset.variables["subjects"]
    parts = dataset.variables["part"].values.tolist()
    for part in ("train", "test"):
        of_part = subjects.values.take(parts.index(part), axis=subjects.dims.index("part"))
        sizes[part] = _range(of_part)
    yield say(text, sizes_are_of=str(dataset.attrs.get("sizes_are_of", "subjects")), **sizes)
    thresholds = dataset.variables["threshold"].values if "threshold" in dataset else np.empty(0)
    thresholds = thresholds[np.isfinite(thresholds)]
    if len({*thresholds}) > 1:
        least, most = (Score(x, digits=4) for x in (thresholds.min(), thresholds.max()))
        yield say("thresholds from {least} to {most}", least=least, most=most)


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
