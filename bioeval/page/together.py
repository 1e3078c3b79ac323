"""Which results belong on one page: those of the same scores, at the threshold of its answer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import xarray as xr

from bioeval.base.errors import DataError
from bioeval.document.cells import threshold_to_install
from bioeval.document.text import Text, say
from bioeval.page.parts import EVALUATED, OF_SYSTEMS, PageItem, parts_of
from bioeval.scores.provenance import exclusions_of

#: Attributes of results whose difference is the reason that they do not belong together, in words.
_REASONS = {
    "kind": "kind of scores",
    "layout": "layout",
    "probes": "number of probes",
    "gallery_templates": "number of gallery templates",
    "probe_subjects": "number of subjects",
    "exclude": "choice of excluded comparisons",
    "nan_policy": "treatment of failed comparisons",
}


def refuse_other_data(parts: Iterable[PageItem], others: Iterable[tuple[str, str, Any]]) -> None:
    """Raise :class:`DataError` unless all results of a system are of the same scores.

    `others` are results that are no datasets, each with its title and its system. A comparison has
    to be of the scores that the page evaluates. Results without a fingerprint are not checked.
    """
    known: dict[str, tuple[str, Mapping[Any, Any]]] = {}
    compared = []
    for part in sorted(parts, key=lambda part: part.task not in EVALUATED):
        if part.task == OF_SYSTEMS:
            compared.append(part)
        else:
            _compare(known, part.system, part.title, part.dataset.attrs)
    for title, system, result in others:
        attrs = {"fingerprint": getattr(result, "fingerprint", "")}
        if system not in known and len(known) == 1:
            system = next(iter(known))
        _compare(known, system, title, attrs)
    for part in compared:
        systems = part.dataset["system"].values.tolist()
        fingerprints = str(part.dataset.attrs.get("fingerprint", "")).split("; ")
        if len(fingerprints) == len(systems) and known.keys() >= set(systems):
            for system, fingerprint in zip(systems, fingerprints, strict=True):
                _compare(known, system, part.title, {"fingerprint": fingerprint})


def _compare(
    known: dict[str, tuple[str, Mapping[Any, Any]]],
    system: str,
    title: str,
    attrs: Mapping[Any, Any],
) -> None:
    """Raise unless a result is of the scores of the first result of its system, which is kept."""
    fingerprint = str(attrs.get("fingerprint", ""))
    if not fingerprint:
        return
    first_title, first = known.setdefault(system, (title, attrs))
    same_comparisons = set(exclusions_of(attrs)) == set(exclusions_of(first))
    if fingerprint == str(first["fingerprint"]) and (same_comparisons or "exclude" not in attrs):
        return
    difference = "other scores or other labels, with the same numbers of subjects and templates"
    for name, words in _REASONS.items():
        if name in attrs and name in first and attrs[name] != first[name]:
            one, other = (attrs[name] or "none"), (first[name] or "none")
            difference = f"another {words} ({one} in place of {other})"
            break
    else:
        if "kind" not in attrs:
            difference = "other scores or other labels"
    raise DataError(
        f"results of {system!r} do not belong on one page: {title!r} has {difference} than "
        f"{first_title!r}. Make both from the same scores, or name them as two systems in a "
        "mapping of name to results"
    )


def threshold_of(result: xr.Dataset) -> float | None:
    """Return the one threshold that the numbers of a study are at; None without one."""
    value: Any = result.attrs.get("threshold")
    if "threshold" in result.variables and not result["threshold"].dims:
        value = result["threshold"].item()
    if isinstance(value, int | float) and not math.isnan(value):
        return float(value)
    return None


def at_another_threshold(result: xr.Dataset, answer: float | None) -> Text:
    """Return a sentence where a study is not at the threshold of the answer; empty if it is."""
    own = threshold_of(result)
    if own is None or answer is None or math.isclose(own, answer, rel_tol=1e-9):
        return ""
    kind = str(result.attrs.get("kind", "distance"))
    return say(
        "These numbers are at another threshold than the answer of this page: {own}, not {answer}.",
        own=threshold_to_install(own, kind),
        answer=threshold_to_install(answer, kind),
    )


def one_tree_each(results: Mapping[str, xr.DataTree], names: Sequence[str]) -> dict[str, Any]:
    """Return results of files by system: different tasks of one system are put together.

    They have one system if they say so themselves. Results that were given `names` keep them;
    others have the name of their system, unless several have the same.
    """
    systems: dict[str, Any] = {}
    called_by: dict[str, str] = {}
    for called, tree in results.items():
        items = parts_of({called: tree})
        system = str(items[0].dataset.attrs.get("system", ""))
        first = called_by.setdefault(system, called)
        if first == called or not system or called in names:
            systems[called] = tree
            continue
        known = {part.task: part.dataset for part in parts_of({first: systems[first]})}
        if known.keys() & {part.task for part in items}:
            systems[called] = tree
        else:
            known |= {part.task: part.dataset for part in items}
            systems[first] = xr.DataTree.from_dict(known)
    own = {called: _system_of(called, systems[called], names) for called in systems}
    if len(set(own.values())) < len(own):
        return systems
    return {own[called]: tree for called, tree in systems.items()}


def _system_of(called: str, results: xr.DataTree, names: Sequence[str]) -> str:
    """Return the name that results have of their system, if they were given none."""
    found = {str(part.dataset.attrs.get("system", "")) for part in parts_of({called: results})}
    if called in names or len(found) > 1:
        return called
    return "".join(found) or called
