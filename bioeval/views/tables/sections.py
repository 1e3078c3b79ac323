"""The section of a task in a table: its title, the options of its evaluation, its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import xarray as xr

from bioeval.base.errors import counted
from bioeval.base.kinds import larger_is_closer
from bioeval.scores.arrays import parse_fusion
from bioeval.views.tables.layout import TableSection, with_shared_decimals
from bioeval.views.tables.rows import (
    closed_set_rows,
    gom_rows,
    open_set_rows,
    precision_of_queries,
    reid_rows,
    verification_rows,
)
from bioeval.views.tables.tasks import system_of, value_of
from bioeval.views.terms import term_translator

#: Number of the worst queries that are named.
WORST = 5


def section(dataset: xr.Dataset, path: str = "", several: bool = False) -> TableSection:
    """Return the section of a task, with the name of its system where there are several."""
    attrs = dataset.attrs
    more: list[str] = []
    if _holds(dataset, "mrep"):
        rows = gom_rows(dataset)
        options = ["removes", "junk", "variant", "budget", "ties"]
        more = [_queries(dataset)] if "queries" in dataset else []
    elif _holds(dataset, "mean_ap") and "queries" in dataset:
        rows = reid_rows(dataset)
        options = ["removes", "junk", "cmc_counts", "ties", "ap"]
        more = [_queries(dataset), *_worst(dataset)]
    elif "cms" in dataset:
        rows = closed_set_rows(dataset)
        options = ["gallery", "rank_unit", "ties", "fusion"]
    elif "dir" in dataset or "dir_at_far" in dataset:
        rows = open_set_rows(dataset)
        options = ["genuine_gallery_subjects", "gallery", "rank_unit", "ties", "impostors"]
        options.append("fusion")
    else:
        rows = verification_rows(dataset)
        options = ["fusion"] if attrs.get("templates") == "multi" else []
        options += ["claims", "attempts", "fta", "fte"]
        more = list(_independent(dataset))
        auc = value_of(dataset, "auc")
        if auc is not None and auc < 0.5:
            more.append("AUC below 0.5: impostor scores are nearer; d' has no sign")
    translate = term_translator(dataset)
    listed = [
        replace(row, measure=translate(row.measure), undefined=translate(row.undefined))
        for row in rows
    ]
    named = title(dataset, path, several)
    why_not = dict.fromkeys(row.why_not for row in listed if not row.is_defined)
    if listed and not any(row.is_defined for row in listed):
        return TableSection(f"{named}: no results ({'; '.join(why_not)})", "", [])
    notes = [f"n/a: {why}" for why in why_not]
    shown = with_shared_decimals(listed)
    return TableSection(named, _details(attrs, *options), shown, [*more, *notes])


# What the policies of ties mean.
_TIES = {
    "pessimistic": " (of equal scores the mate ranks last)",
    "optimistic": " (of equal scores the mate ranks first)",
    "expected": " (mean over all orders of equal scores)",
    "stable": " (equal scores in the order of the gallery)",
}


def _holds(dataset: xr.Dataset, name: str) -> bool:
    """Whether a dataset has a measure, or its bounds."""
    return name in dataset or f"{name}_at_least" in dataset


def title(dataset: xr.Dataset, path: str, several: bool) -> str:
    """Return the title of a task, with the name of its system where there are several."""
    task = str(dataset.attrs.get("task", path)) or "results"
    return f"{system_of(path)}: {task}" if several else task[0].upper() + task[1:]


def _details(attrs: Mapping[str, Any], *names: str) -> str:
    """Return the options of the evaluation in words."""
    says: dict[str, Callable[[str], str]] = {
        "genuine_gallery_subjects": lambda x: _searched(attrs),
        "gallery": lambda x: _drawn(x, str(attrs.get("sampling", ""))),
        "rank_unit": lambda x: f"ranks count {x}s",
        "ties": lambda x: f"{x} ties{_TIES.get(x, '')}",
        "impostors": lambda x: f"impostors {x}",
        "fusion": lambda x: fusion_in_words(x, str(attrs.get("kind", ""))),
        "claims": lambda x: "" if x in ("", "all") else f"claims {x}",
        "attempts": lambda x: f"one attempt for all probes of a subject with the same {x}",
        "fta": lambda x: f"FTA {100 * float(x):g} %",
        "fte": lambda x: f"FTE {100 * float(x):g} %",
        "removes": lambda x: f"removed: {x.replace('-', ' ')}",
        "junk": lambda x: f"junk {x}",
        "cmc_counts": lambda x: f"CMC counts {x}",
        "ap": lambda x: f"AP {x}",
        "variant": lambda x: {"reference": "as the authors' program"}.get(x, ""),
        "budget": lambda x: f"B = {int(x):,}",
    }
    said = [says[name](str(attrs[name])) for name in names if name in attrs]
    return ", ".join(text for text in said if text)


def fusion_in_words(fusion: str, kind: str) -> str:
    """Return how the scores of a subject's templates are fused, in words of their kind."""
    if fusion in ("", "none"):
        return ""
    near, far = ("most", "least") if larger_is_closer(kind) else ("nearest", "farthest")
    alike = " similar" if larger_is_closer(kind) else ""
    method, order = parse_fusion(fusion)
    which = {
        "min": f"{near}{alike} template",
        "max": f"{far}{alike} template",
        "kth": f"template number {order} from the {near}{alike}",
    }
    of_all = f"{method} {kind or 'score'} of the templates"
    return f"subject scored by the {which.get(method, of_all)}"


def _drawn(gallery: str, sampling: str) -> str:
    """Return in words how galleries were drawn, if templates were."""
    if gallery == "multi":
        return ""
    count = "1 template" if gallery == "single" else f"{int(gallery):,} templates"
    how = "exact mean over all galleries" if sampling == "exact" else f"{sampling} galleries drawn"
    return f"{count} of each subject, {how}"


def _searched(attrs: Mapping[str, Any]) -> str:
    """Return the size of the gallery in words; impostors may search one subject fewer."""
    genuine = attrs["genuine_gallery_subjects"]
    impostor = attrs.get("impostor_gallery_subjects", genuine)
    if not int(genuine):
        templates = int(attrs.get("gallery_templates", 0))
        return f"gallery of {counted(templates, 'templates')}, subjects unknown"
    text = f"N = {counted(int(genuine), 'subjects')}"
    if str(impostor) == str(genuine):
        return text
    others = f"{impostor:,}" if isinstance(impostor, int) else impostor
    return f"{text} ({others} for impostors: without their own)"


def _independent(dataset: xr.Dataset) -> Iterator[str]:
    """Return in words the number of independent attempts."""
    if "disjoint_pairs" not in dataset:
        return
    pairs, subjects = (int(dataset[name]) for name in ("disjoint_pairs", "subjects"))
    attempts = int(dataset["impostor_attempts"])
    unordered = int(value_of(dataset, "impostor_pairs") or attempts)
    if attempts == 2 * unordered:
        yield f"each of {counted(unordered, 'impostor pairs')} makes an attempt in each order"
    independent = counted(pairs, "independent pairs")
    yield f"{counted(subjects, 'subjects')} make at most {independent} (no subject in two pairs)"


def _worst(dataset: xr.Dataset) -> Iterator[str]:
    """Return the worst queries in words, if each query has a value."""
    if "probe" not in dataset.dims:
        return
    found = precision_of_queries(dataset).dropna("probe")
    found = found.sortby(found)[:WORST]
    rows = zip(found["probe"].values.tolist(), found.values.tolist(), strict=True)
    listed = ", ".join(f"{row} (AP {100 * value:.2f} %)" for row, value in rows)
    if listed:
        yield f"worst queries (rows, from 0): {listed}"


def _queries(dataset: xr.Dataset) -> str:
    """Return the number of queries and of comparisons removed, in words."""
    count = {k: int(value_of(dataset, k) or 0) for k in ("queries", "skipped", "removed")}
    said = counted(count["queries"], "queries")
    if "open_queries" in dataset:
        said += f"; {int(dataset['open_queries']):,} not in the gallery"
    said += f"; {count['skipped']:,} skipped"
    if "removed" not in dataset:  # unknown of lists
        return said
    return f"{said}; {counted(count['removed'], 'comparisons')} removed"
