"""The parts of a page: the datasets of a result, by system and task."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import xarray as xr

from bioeval.base.errors import DataError, printable
from bioeval.base.kinds import larger_is_closer
from bioeval.results.threshold_lookup import units_of
from bioeval.views.tables.tasks import TASKS, datasets
from bioeval.views.terms import term_translator

#: Tasks beside those of an evaluation, by a variable that only they have.
_OTHERS = {
    "value_a": "comparison",
    "optimistic_far": "threshold_study",
    "animal_of_subject": "zoo",
    "label_error": "worst_pairs",
    "garbe": "groups",
    "extrapolated": "gallery_size",
    "also": "conventions",
    "iapar_pooled": "vulnerability",
    "apcer_pooled": "pad",
    "mmpmr": "morphing",
    "measured_far": "extrapolated_far",
    "open_set_far": "gallery_templates",
}

#: Tasks of an evaluation, by their name in the attributes of a dataset.
_NODES = {
    "verification, single-template": "verification/single",
    "verification, multi-template": "verification/multi",
    "open-set identification": "open_set",
    "closed-set identification": "closed_set",
    "re-identification": "reid",
    "GOM": "gom",
}

_IN_FOLDS = ", in folds"

#: The attribute of results that says what a system lacks of another one.
NOT_SHARED = "not_shared"

_CLASSES = ("genuine_attempts", "impostor_attempts")

#: The tasks that share a section.
BOTH = ("verification/single", "verification/multi")


@dataclass(frozen=True)
class PageItem:
    """One result of one system."""

    system: str
    task: str  # as a path, such as verification/single
    dataset: xr.Dataset
    place: int = 0  # in the order in which they were given
    label: str = ""  # what tells it from the others of its section; empty where it is alone

    @property
    def kind(self) -> str:
        """The kind of the scores; unknown for a comparison."""
        return str(self.dataset.attrs.get("kind", "distance"))

    @property
    def accepts_larger(self) -> bool:
        """Whether scores are accepted at or above the threshold."""
        return larger_is_closer(self.kind)

    @property
    def units(self) -> str:
        """The units of thresholds: systems of equal kind and units share one."""
        return units_of(self.dataset)

    @property
    def title(self) -> str:
        """The task in words, as the title of a section."""
        text = str(self.dataset.attrs.get("task", "")) or self.task.replace("_", " ") or "results"
        return text[0].upper() + text[1:]

    @property
    def words(self) -> str:
        """The task in words, inside a sentence."""
        return self.title if self.title[1:2].isupper() else self.title[0].lower() + self.title[1:]


def parts_of(results: Any, name: str = "") -> list[PageItem]:
    """Return the datasets of a result: a Dataset, a DataTree, or a mapping of system to either."""
    found = [replace(part, place=i) for i, part in enumerate(_found(results, name))]
    if not found:
        raise DataError("the results hold no dataset; expected the result of a function of bioeval")
    seen: set[tuple[str, str]] = set()
    for part in found:
        key = part.system, part.task
        if key in seen:
            raise DataError(
                f"two results are called {part.task!r} of {part.system!r}; name the systems in a "
                "mapping of name to result"
            )
        seen.add(key)
    place = {task: i for i, task in enumerate(TASKS)}
    return sorted(found, key=lambda part: place.get(part.task.partition("/")[0], len(place)))


def _found(results: Any, name: str) -> Iterator[PageItem]:
    if isinstance(results, Mapping) and not isinstance(results, xr.Dataset | xr.DataTree):
        for key, one in results.items():
            yield from _found(one, str(key))
        return
    if not isinstance(results, xr.Dataset | xr.DataTree):
        raise DataError(
            f"a report got {type(results).__name__}; expected a Dataset or a DataTree of results, "
            "a row of be.explain, or a mapping of name to these"
        )
    for path, dataset in datasets(results):
        if not dataset.data_vars:
            continue
        system, task = _split(path, dataset)
        system = "/".join(filter(None, (name, system)))
        system = system or str(dataset.attrs.get("system", "")) or "results"
        yield PageItem(printable(system), task, dataset)


def _split(path: str, dataset: xr.Dataset) -> tuple[str, str]:
    """Return the system and the task of a path, or the task that the dataset's variables show."""
    known = (*TASKS, "folds", *_OTHERS.values())
    words = [word for word in path.split("/") if word]
    first = next((i for i, word in enumerate(words) if word in known), len(words))
    if words[first:] == ["verification"]:  # single- or multi-template, as it says itself
        return "/".join(words[:first]), _task_of(dataset)
    if words[first:]:
        return "/".join(words[:first]), "/".join(words[first:])
    return "/".join(words), _task_of(dataset)


def _task_of(dataset: xr.Dataset) -> str:
    said = str(dataset.attrs.get("task", ""))
    for variable, task in _OTHERS.items():
        if variable in dataset:
            return task
    if said.endswith(_IN_FOLDS):
        bare = said.removesuffix(_IN_FOLDS)
        return f"folds/{_NODES.get(bare, bare)}"
    if said.startswith("verification"):
        return f"verification/{dataset.attrs.get('templates', 'single')}"
    return _NODES.get(said, re.sub(r"\W+", "_", said).strip("_") or "results")


def systems_of(parts: list[PageItem]) -> list[str]:
    """Return the systems, each once, in the order in which they were given.

    A comparison is of two systems, and none itself unless there is nothing else.
    """
    ordered = sorted(parts, key=lambda part: part.place)
    own = [part for part in ordered if part.task != "comparison"] or ordered
    return list(dict.fromkeys(part.system for part in own))


def section_of(part: PageItem) -> str:
    """Return the section that a part is shown in; both kinds of verification share one."""
    return "verification" if part.task in BOTH else part.task


def labelled(parts: list[PageItem]) -> list[PageItem]:
    """Return parts with their labels within a section: system, templates."""
    several = len(systems_of(parts)) > 1
    both = {part.task for part in parts} >= set(BOTH)
    found = []
    for part in parts:
        said = [part.system] if several else []
        said += [f"{part.task.partition('/')[2]}-template"] if both and part.task in BOTH else []
        found.append(replace(part, label=", ".join(said)))
    return found


def doubts_of_systems(parts: list[PageItem]) -> list[dict[str, Any]]:
    """Return warnings about systems that do not share their attempts."""
    said = [(part.title, term_translator(part.dataset)(text)) for part, text in _attempts(parts)]
    return [{"text": text, "of": of, "serious": True} for of, text in dict.fromkeys(said)]


def _attempts(parts: list[PageItem]) -> Iterator[tuple[PageItem, str]]:
    """Return a warning of systems whose numbers of attempts differ from the first's."""
    first: dict[str, tuple[str, list[int]]] = {}
    for part in sorted(parts, key=lambda part: part.place):
        if not all(name in part.dataset and not part.dataset[name].ndim for name in _CLASSES):
            continue
        numbers = [int(part.dataset[name]) for name in _CLASSES]
        system, known = first.setdefault(part.task, (part.system, numbers))
        text = str(part.dataset.attrs.get(NOT_SHARED, ""))
        if not text and numbers != known:
            text = (
                f"{system} and {part.system} have different attempts: {system} {known[0]:,} "
                f"genuine and {known[1]:,} impostor, {part.system} {numbers[0]:,} and "
                f"{numbers[1]:,}"
            )
        if text:
            text += ". Rates are of different data; bioeval compare uses the common data"
            yield part, text
