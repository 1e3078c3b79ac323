"""The systems that a plot shows: their datasets and names, and captions about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError, counted, short_name
from bioeval.base.kinds import PLURALS, larger_is_closer
from bioeval.document.terms import RATES, rate_of_term
from bioeval.document.text import Enumeration, Term, Text, say
from bioeval.plot import plot_style
from bioeval.plot.registry import PLOTS, Needs, Plot
from bioeval.results.layouts import expanded
from bioeval.results.words import enumerated
from bioeval.views.tasks import each_once
from bioeval.views.terms import task_of, words_of
from bioeval.views.writers.lines import Lines

_WORDS = {
    "verification": "",
    "open_set": "",
    "closed_set": "",
    "reid": "",
    "gom": "",
    "folds": "",
    "single": "single-template",
    "multi": "multi-template",
}


@dataclass(frozen=True)
class System:
    """The dataset of one system, to be drawn."""

    name: str  # empty for a dataset that was given without a name
    dataset: xr.Dataset
    group: str = ""  # the system
    variant: str = ""  # which of its results of one task

    def named(self, *words: str) -> str:
        """Return its name, followed by words for what is drawn of it."""
        return joined(self.name, *words)

    def text_of(self, attribute: str) -> str:
        """Return an attribute of its dataset as text; empty where it has none."""
        return str(self.dataset.attrs.get(attribute, ""))

    @staticmethod
    def pick(data: Any, plot: str, single: bool = False) -> list[System]:
        """Return the datasets in `data` that a plot can draw, under distinct names.

        `data` is a Dataset, a DataTree, of which all datasets that have the variables are taken, or
        a mapping of name to either; `plot` is the public name of the plot. With `single`, more than
        one is an error.
        """
        systems = _pick(data, PLOTS[plot], needs_of(data, PLOTS[plot]))
        if single and len(systems) > 1:
            names = ", ".join(repr(system.name) for system in systems)
            raise DataError(
                f"be.plot.{plot} shows one system, but {len(systems)} are given ({names}); draw "
                "each on its own axes, with ax="
            )
        return systems

    @staticmethod
    def agreed(systems: Sequence[System], attribute: str, words: str = "{}") -> str:
        """Return an attribute in words where all systems have the same value, else nothing."""
        value = _shared(systems, lambda system: system.text_of(attribute))
        if value:
            return words.format(value)
        return ""

    @staticmethod
    def convention(systems: Sequence[System]) -> str:
        """Return the convention of re-identification, as far as all systems agree."""
        counts = System.agreed(systems, "cmc_counts", "counts {}")
        if counts == "counts first-match":
            counts = ""
        queries = _shared(systems, lambda system: f"{int(system.dataset['queries']):,} queries")
        ties = System.agreed(systems, "ties", "{} ties")
        return _semicolons([System.agreed(systems, "convention"), counts, ties, queries])


def drawable(data: Any, plot: Plot) -> Any:
    """Return the part of `data` that a plot can draw; None if there is none."""
    if not plot.needs:
        return None
    needs = needs_of(data, plot)

    def has(part: Any) -> bool:
        for dataset in _datasets(part):
            if _fits(dataset, needs) and (not plot.prefer or plot.prefer in dataset):
                return True
        return False

    if isinstance(data, Mapping) and not isinstance(data, xr.Dataset | xr.DataTree):
        return {name: result for name, result in data.items() if has(result)} or None
    if has(data):
        return data
    return None


def needs_of(data: Any, plot: Plot) -> Needs:
    """Return the first of a plot's alternatives that some dataset has, or the first of all."""
    return _met_needs(data, plot) or plot.needs[0]


def _met_needs(data: Any, plot: Plot) -> Needs | None:
    for needs in plot.needs:
        for dataset in _datasets(data):
            if _fits(dataset, needs):
                return needs
    return None


def as_plot_text(name: object) -> str:
    """Return a name for a plot: short, printable, and not read as a formula between dollars."""
    return plot_style.without_formula(short_name(str(name)))


def joined(*parts: str) -> str:
    """Return the parts of a name that are not empty, with commas."""
    return ", ".join(filter(None, parts))


def listed(*parts: Text) -> Text:
    """Return the texts that are not empty, with commas."""
    return Enumeration([part for part in parts if part], "")


def with_colon(*parts: str) -> str:
    """Return a name and a text, with a colon between them unless one is empty."""
    return ": ".join(filter(None, parts))


def _datasets(data: Any) -> Iterator[xr.Dataset]:
    """All datasets in a result, a tree, or a mapping of either."""
    if isinstance(data, System):
        yield data.dataset
    elif isinstance(data, xr.Dataset):
        yield expanded(data)
    elif isinstance(data, xr.DataTree):
        for node in expanded(data).subtree:
            yield node.dataset
    elif isinstance(data, Mapping):
        for part in data.values():
            yield from _datasets(part)


def _fits(dataset: xr.Dataset, needs: Needs) -> bool:
    """Whether a dataset has all the variables, over the same dims."""
    for name, dims in needs.items():
        if name not in dataset or set(dataset[name].dims) != {*dims}:
            return False
    return True


def _pick(data: Any, plot: Plot, needs: Needs) -> list[System]:
    """Return the systems in data of any form, named by their places in it."""
    if isinstance(data, System):
        return [data]
    if isinstance(data, xr.Dataset):
        data = expanded(data)
        _require(data, plot, needs)
        return [System("", data)]
    if isinstance(data, xr.DataTree):
        return _of_tree(expanded(data), plot, needs)
    if not isinstance(data, Mapping):
        raise DataError(
            f"be.plot.{plot.name} got {type(data).__name__}; expected a result of {plot.result} "
            "(an xarray Dataset or DataTree), or a mapping of name to result"
        )
    if not data:
        raise DataError(f"be.plot.{plot.name} got an empty mapping; expected name: result")
    systems = []
    for key, value in data.items():
        name = as_plot_text(key)
        for inner in _pick(value, plot, needs):
            whole, group = joined(name, inner.name), joined(name, inner.group)
            systems.append(System(whole, inner.dataset, group, inner.variant))
    return systems


def _require(dataset: xr.Dataset, plot: Plot, needs: Needs) -> None:
    """Raise :class:`DataError` unless a dataset has what a plot needs."""
    missing = [name for name in needs if name not in dataset]
    if missing:
        task = dataset.attrs.get("task", "of another kind")
        fits = [other.name for other in PLOTS.values() if _met_needs(dataset, other)]
        hint = ""
        if plot.name in fits:
            hint = "; draw each kind of result on its own axes, with ax="
        elif fits:
            hint = f"; be.plot.{enumerated(fits, 'or')} draws it"
        raise DataError(
            f"be.plot.{plot.name} draws {' and '.join(needs)} of {plot.result}, but the dataset "
            f"({task}) has no {' and no '.join(missing)}{hint}"
        )
    for name, dims in needs.items():
        there = list(map(str, dataset[name].dims))
        if set(dims) - set(there):
            hint = ""
            if "fold" in {*there, *dataset.coords}:
                hint = (
                    "; be.plot.folds and be.plot.spread draw results over folds, and be.plot.roc "
                    "and be.plot.det those at FAR targets"
                )
            raise DataError(
                f"{name} is over {', '.join(there) or 'no dimension'}; be.plot.{plot.name} draws "
                f"it over {', '.join(dims)}{hint}"
            )
        extra = [dim for dim in there if dim not in dims]
        if extra:
            raise DataError(
                f"{name} is over {', '.join(there)}; be.plot.{plot.name} "
                f"draws it over {', '.join(dims)}: choose a {' and a '.join(extra)} first, as in "
                f"ds.isel({extra[0]}=0)"
            )


def _of_tree(tree: xr.DataTree, plot: Plot, needs: Needs) -> list[System]:
    """Return the systems of a tree that a plot can draw, of these the preferred ones."""
    nodes, preferred = [], []
    for node in tree.subtree:
        if needs.keys() <= node.data_vars.keys():
            nodes.append(node)
            if plot.prefer in node.data_vars:
                preferred.append(node)
    if not nodes:
        listed = ", ".join(leaf.path for leaf in tree.leaves)
        raise DataError(
            f"be.plot.{plot.name} draws {' and '.join(needs)} of {plot.result}; no node of the "
            f"tree has them ({listed})"
        )
    datasets = {}
    for node in preferred or nodes:
        datasets[node.path.removeprefix(tree.path).strip("/")] = node.to_dataset()
    datasets = each_once(datasets)
    for dataset in datasets.values():
        _require(dataset, plot, needs)
    return _named(datasets)


def _named(datasets: Mapping[str, xr.Dataset]) -> list[System]:
    """Name datasets by system and what differs between tasks; by whole paths if ambiguous."""
    paths = [path.split("/") for path in datasets]
    common = set(paths[0]).intersection(*paths)
    systems = {}
    for path, dataset in zip(paths, datasets.values(), strict=True):
        names, words = [], []
        for part in path:
            if part not in _WORDS:
                names.append(part)
            elif _WORDS[part] and part not in common:
                words.append(_WORDS[part])
        group, variant = ", ".join(names), ", ".join(words)
        if not group and not variant and len(paths) > 1:  # one task among several
            variant = path[-1]
        name = joined(group, variant)
        systems[name] = System(name, dataset, group, variant)
    if len(systems) < len(datasets):
        return [System(path, dataset, path) for path, dataset in datasets.items()]
    return list(systems.values())


def _shared(systems: Sequence[System], words: Callable[[System], str]) -> str:
    """Return what is said of all systems alike; nothing where they differ."""
    texts = set(map(words, systems))
    if len(texts) == 1:
        return texts.pop()
    return ""


def title_of(plot_title: Text, systems: Sequence[System]) -> str:
    """Return the title of a plot: its name, and the task or what several tasks share."""
    tasks = {system.text_of("task") for system in systems}
    if len(tasks) > 1:
        of_verification = all(x.text_of("result_type") == "verification" for x in systems)
        tasks = {"verification" if of_verification else "several tasks"}
    return with_colon(in_words(systems)(plot_title), *tasks)


def over(systems: Sequence[System]) -> list[str]:
    """Return the attempts and subjects behind the rates, one line for each system that differs."""
    shared = _shared(systems, _people)
    lines, texts = [], set[str]()
    for system in systems:
        text = _attempts(system.dataset)
        if not shared:
            text = _semicolons([text, _people(system)])
        if text:
            texts.add(text)
            lines.append(with_colon(_label(system), text))
    if len(texts) <= 1:
        both = _semicolons([*texts, shared])
        if both and len(systems) == 1:
            both = with_colon(_label(systems[0]), both)
        lines = [both]
    elif len(systems) > 3:
        lines = [_semicolons([_ranges(systems), shared])]
    else:
        lines.append(shared)
    return list(filter(None, lines))


def of_each(systems: Sequence[System], words: Callable[[xr.Dataset], str]) -> list[str]:
    """Return the denominators of the rates, a line for each of up to three systems that differ."""
    texts = [words(system.dataset) for system in systems]
    if len(systems) == 1:
        return [with_colon(_label(systems[0]), *texts)]
    if len(systems) > 1 and len(set(texts)) == 1:
        return texts[:1]
    if len(systems) > 3:
        return []
    return [with_colon(s.name, text) for s, text in zip(systems, texts, strict=True)]


def _semicolons(parts: Iterable[str]) -> str:
    return "; ".join(filter(None, parts))


def _label(system: System) -> str:
    """Return the name of a system, or of one whose results are unnamed its own."""
    whole = as_plot_text(system.text_of("system")) if not system.group else ""
    if system.variant:
        return joined(whole, system.name)
    return system.name or whole


def attempts(dataset: xr.Dataset, role: str) -> int | None:
    """Return the number of genuine or impostor attempts, None where the dataset has none."""
    for name in (f"{role}_attempts", "attempts"):
        if name in dataset:
            return int(dataset[name])
    return None


def _attempts(dataset: xr.Dataset) -> str:
    """Return the numbers of attempts in words; nothing where unknown."""
    genuine, impostor = attempts(dataset, "genuine"), attempts(dataset, "impostor")
    if "genuine_attempts" in dataset and "impostor_attempts" in dataset:
        return f"{genuine:,} genuine and {counted(impostor or 0, 'impostor attempts')}"
    if genuine is None:
        return ""
    probes = counted(genuine, "probes")
    if "skipped" in dataset and (skipped := int(dataset["skipped"])):
        probes += f" ({skipped:,} without a mate left out)"
    return probes


def _people(system: System) -> str:
    """Return the templates and the subjects of both sides in words; nothing where unknown."""
    attrs = system.dataset.attrs

    def number(attribute: str, nouns: str) -> str:
        return counted(int(attrs.get(attribute, 0)), nouns)

    if not int(attrs.get("probe_subjects", 0)):
        return ""
    templates = number("gallery_templates", "templates")
    gallery = f"{templates} of {number('gallery_subjects', 'subjects')}"
    if attrs.get("layout") == "probe-against-gallery":
        probes = number("probes", "probes")
        return f"{probes} of {number('probe_subjects', 'subjects')} against {gallery}"
    if attrs.get("layout") == "all-against-all":
        return gallery
    return ""


def _ranges(systems: Sequence[System]) -> str:
    """Return the least and the largest number of attempts of each class."""
    parts = []
    for role in ("genuine", "impostor"):
        if role == "impostor" and "impostor_attempts" not in systems[0].dataset:
            continue
        counts = []
        for system in systems:
            count = attempts(system.dataset, role)
            if count is not None:
                counts.append(count)
        if counts:
            number = f"{min(counts):,}"
            if min(counts) < max(counts):
                number += f" to {max(counts):,}"
            parts.append(f"{number} {role} attempts")
    return _semicolons(parts)


def identification_details(systems: Sequence[System]) -> list[str]:
    """Return the galleries, the unit of ranks and the tie policy common to all systems."""
    details = []
    if System.agreed(systems, "gallery"):
        details.append("1 template a subject")
    details.append(System.agreed(systems, "rank_unit", "the rank counts {}s"))
    details.append(System.agreed(systems, "ties", "{} ties"))
    genuine = _with_commas(System.agreed(systems, "genuine_gallery_subjects"))
    impostor = _with_commas(System.agreed(systems, "impostor_gallery_subjects"))
    if genuine and genuine == impostor:
        details.append(f"gallery of N = {genuine}")
    elif genuine and impostor:
        details.append(f"N = {genuine} for genuine, {impostor} for impostor attempts")
    return [_semicolons(details)]


def _with_commas(size: str) -> str:
    return f"{int(size):,}" if size.isdecimal() else size


def lines_of(dataset: xr.Dataset) -> Lines:
    """Return the writer of texts on a dataset: terms of its views, and rates of its task."""
    return Lines(words_of(dataset), task_of(dataset))


def in_words(systems: Sequence[System]) -> Callable[[Text], str]:
    """Return the function that writes a text in the terms of the systems' views."""
    return lines_of(systems[0].dataset).write


def other_term(systems: Sequence[System], *rates: str) -> str:
    """Return the other vocabulary's term for rates if all systems have the same."""
    return _shared(systems, lambda system: other_term_of(system.dataset, *rates))


def other_term_of(dataset: xr.Dataset, *rates: str) -> str:
    """Return the other vocabulary's terms for rates, with its name: ``ISO: FMR and FNMR``."""
    if words_of(dataset) == "iso" and task_of(dataset) in RATES:
        return f"lecture: {' and '.join(map(str.upper, rates))}"
    task = task_of(dataset)
    if task not in RATES:  # transactions, whose rates have the same names
        return ""
    return f"ISO: {' and '.join(RATES[task][rate].iso for rate in rates)}"


def scalar(dataset: xr.Dataset, name: str) -> float:
    """Return a 0-d variable, NaN where the dataset has none of the name."""
    if name not in dataset or dataset[name].ndim:
        return float("nan")
    return float(dataset[name])


def undefined(dataset: xr.Dataset, variable: str) -> Text:
    """Return why all values of a variable are NaN; empty if any is defined."""
    if not np.isnan(np.asarray(dataset[variable], dtype=float)).all():
        return ""
    if variable == "cmc":
        return "no query has a match: CMC is not defined"
    if variable == "interpolated_precision":
        return (
            "interpolated precision is not defined: no query has a match, ties are expected, "
            "or some matches are beyond the lists"
        )
    if variable == "mrep":
        return "no query has a match: mReP is not defined"
    if variable == "mfr" or (variable == "far" and scalar(dataset, "open_queries") == 0):
        rate = "mFR" if variable == "mfr" else Term("far")
        return say(
            "the identity of every query is in the gallery: {rate} is not defined", rate=rate
        )
    role = "impostor" if variable in ("far", "grr") else "genuine"
    name: Text = Term(variable) if rate_of_term(variable) else variable.upper()
    if attempts(dataset, role) == 0:
        noun = f"{role} attempt" if variable != "cms" else "probe with a mate"
        return say("no {noun}: {name} is not defined", noun=noun, name=name)
    return say("{name} is not defined (NaN)", name=name)


def kind_of(systems: Sequence[System], plot: str) -> str:
    """Return the kind of score that several systems share, or raise :class:`DataError`."""
    kinds = {s.name: str(s.dataset.attrs.get("kind", "distance")) for s in systems}
    if len(set(kinds.values())) > 1:
        statement = ", ".join(f"{name!r} holds {PLURALS.get(k, k)}" for name, k in kinds.items())
        raise DataError(
            f"be.plot.{plot}: {statement}: they have no common axis; draw each on its own axes, "
            "with ax="
        )
    return next(iter(kinds.values()))


def steps_of(kind: str) -> str:
    """Return how a curve of counts over thresholds is drawn between them.

    Counts change at a threshold: just past it for distances, just before it for similarities.
    """
    return "steps-pre" if larger_is_closer(kind) else "steps-post"
