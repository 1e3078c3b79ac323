"""What tables say beside their numbers: about the data, caveats, intervals and warnings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import counted, printable
from bioeval.base.kinds import larger_is_closer
from bioeval.protocol import CARD_OF_LAYOUT
from bioeval.results.support import KIND_DOUBT
from bioeval.results.words import excluded
from bioeval.views.tasks import system_of, systems, value_of
from bioeval.views.terms import dictionary, interval_method, term_translator

#: Caveat shown when operating points were selected on the evaluated data.
CHOSEN = (
    "the thresholds of EER and FAR targets were chosen on these data, so their rates are optimistic"
)

#: Why thresholds of DIR at a FAR differ between ranks; shown where they do.
OF_RANK_ONE = (
    "the thresholds of DIR at a FAR are for rank 1; at higher ranks, the same FAR may allow looser "
    "thresholds"
)

_UPSIDE_DOWN = (
    "AUC is below 0.5: impostor scores are nearer than genuine scores. Check whether they are "
    'of kind {}; if not, give `kind="{}"`'
)

# Tasks of the cards of the course, in words.
_TASKS_OF_COURSE = {
    "verification/single": "single-template verification",
    "verification/multi": "multi-template verification",
    "open_set": "open set",
    "closed_set": "closed set",
}


def about(found: Mapping[str, xr.Dataset]) -> Iterator[tuple[str, str]]:
    """Return the lines of the header, each with its name."""
    if not found:
        return
    attrs = next(iter(found.values())).attrs
    layout, kind = str(attrs.get("layout", "")), str(attrs.get("kind", ""))
    name = ", ".join(filter(None, systems(found))) or str(attrs.get("system", ""))
    if name:
        yield "System", printable(name)
    if layout:
        yield "Data", _data(attrs, layout)
    if attrs.get("origin"):
        yield "Made of", str(attrs["origin"])
    accepts = {
        "distance": "distances, accepted at or below the threshold",
        "similarity": "similarities, accepted at or above the threshold",
        "llr": "log-likelihood ratios, accepted at or above the threshold",
        "order": "order within each row; no thresholds",
    }
    if kind:
        yield "Scores", accepts.get(kind, kind)
    if attrs.get("reading"):
        yield "Read", str(attrs["reading"])
    means = {
        "reject": "failed comparisons are attempts that are always rejected",
        "exclude": "failed comparisons are not attempts",
    }
    if attrs.get("nan_policy") in means:
        text = means[attrs["nan_policy"]]
        if "failed_comparisons" in attrs:
            text += f"; {int(attrs['failed_comparisons']):,} failed"
        yield "NaN", text
    if text := excluded(attrs):
        yield "Excluded", text
    if attrs.get("protocol"):
        yield "Protocol", str(attrs["protocol"])
    if words := dictionary(found.values()):
        yield "Terms", words
    if why := left_out(found):
        yield "Left out", why


def _data(attrs: Mapping[str, Any], layout: str) -> str:
    probes, subjects = int(attrs.get("probes", 0)), int(attrs.get("probe_subjects", 0))
    templates = int(attrs.get("gallery_templates", 0))
    gallery = int(attrs.get("gallery_subjects", 0))
    if layout == "pairs":
        return counted(probes, "pairs")
    unknown = "" if subjects or gallery else "; subjects unknown"
    if layout == "all-against-all" and probes == templates:
        return f"{_of(probes, 'templates', subjects)}, all against all{unknown}"
    compared = _of(probes, "probes", subjects), _of(templates, "gallery templates", gallery)
    return f"{' against '.join(compared)}{unknown}"


def _of(count: int, what: str, subjects: int) -> str:
    of = f" of {counted(subjects, 'subjects')}" if subjects else ""
    return counted(count, what) + of


def left_out(found: Mapping[str, xr.Dataset]) -> str:
    """Return the tasks that the card has and the scores do not support, with reasons."""
    if not found:
        return ""
    attrs = next(iter(found.values())).attrs
    layout = str(attrs.get("layout"))
    if (
        layout not in CARD_OF_LAYOUT
        or layout == "pairs"
        or (attrs.get("protocol") != CARD_OF_LAYOUT[layout])
    ):
        return ""
    done = {path.removeprefix(system_of(path)).strip("/") for path in found}
    tasks = [words for path, words in _TASKS_OF_COURSE.items() if path not in done]
    if not tasks:
        return ""
    listed = " and ".join(filter(None, [", ".join(tasks[:-1]), tasks[-1]]))
    if attrs.get("kind") == "order":
        return f"{listed}; scores that only order a row have no common thresholds"
    if not attrs.get("probe_subjects") and not attrs.get("gallery_subjects"):
        return f"{listed}; a mask does not give the subjects of the templates"
    return ""


def has_chosen(dataset: xr.Dataset) -> bool:
    """Whether there are rates at thresholds selected on the evaluated data."""
    return "chosen_on" not in dataset.attrs and any(
        name in dataset for name in ("eer", "frr_at_far", "dir_at_far")
    )


def optimistic(found: Iterable[xr.Dataset]) -> list[str]:
    """Return the caveat about such rates, if results have any, in the terms of their views."""
    return [sentence(term_translator(x)(CHOSEN)) for x in filter(has_chosen, found)][:1]


def differs_by_rank(dataset: xr.Dataset) -> bool:
    """Whether a FAR target has different thresholds at different ranks."""
    limits = dataset.get("threshold_at_far")
    if limits is None or "rank" not in limits.dims:
        return False
    by_rank = limits.transpose("rank", ...).values
    return not all(np.array_equal(by_rank[0], other, equal_nan=True) for other in by_rank[1:])


def intervals(found: Mapping[str, xr.Dataset]) -> list[str]:
    """Return the methods of the intervals in words, with their tasks where they differ."""
    said: dict[str, list[str]] = {}
    for dataset in found.values():
        attrs = dataset.attrs
        if "interval_method" not in attrs:
            continue
        text = f"{100 * float(attrs['confidence']):g} % interval, {interval_method(attrs)}"
        if "replicates" in attrs:
            text += f" ({int(attrs['replicates']):,} replicates)"
        if attrs.get("band") == "simultaneous":
            text += ", simultaneous along curves"
        said.setdefault(text, []).append(str(attrs.get("task", "")))
    if len(said) < 2:
        return [f"In brackets: {text}." for text in said]
    tasks = (" and ".join(dict.fromkeys(filter(None, of))) for of in said.values())
    each = [f"{text} ({of})" for text, of in zip(said, tasks, strict=True)]
    return [f"In brackets: {'; '.join(each)}."]


def alarms(found: Mapping[str, xr.Dataset]) -> dict[str, list[str]]:
    """Return reasons to doubt all results, with the paths of the tasks that show them."""
    said: dict[str, list[str]] = {}
    for path, dataset in found.items():
        line = str(dataset.attrs.get(KIND_DOUBT, ""))
        auc = value_of(dataset, "auc")
        if not line and auc is not None and auc < 0.5:
            kind = dataset.attrs.get("kind", "distance")
            other = "distance" if larger_is_closer(kind) else "similarity"
            line = _UPSIDE_DOWN.format(kind, other)
        if line:
            said.setdefault(line, []).append(path)
    return said


def warnings(found: Mapping[str, xr.Dataset]) -> dict[str, list[str]]:
    """Return each warning with the paths of its tasks, without the alarms."""
    said: dict[str, list[str]] = {}
    for path, dataset in found.items():
        for line in str(dataset.attrs.get("warnings", "")).splitlines():
            if line != dataset.attrs.get(KIND_DOUBT):
                said.setdefault(line, []).append(path)
    return said


_SAME_REASON = re.compile(r"FAR ([^()]+) \(([^()]+)\); FAR ([^()]+) \(\2\)")


def with_joined_targets(text: str) -> str:
    """Join successive FAR targets for the same reason."""
    before = ""
    while text != before:
        before, text = text, _SAME_REASON.sub(r"FAR \1, \3 (\2)", text)
    return text


def sentence(text: str) -> str:
    """Return a text with a capital first letter and a full stop."""
    return f"{text[0].upper()}{text[1:]}."
