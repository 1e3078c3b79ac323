"""The systems that a plot shows, with words about them, and the table of plots.

A plot calls :func:`pick`, which finds the datasets that it can draw in whatever the user gave: a
Dataset, the nodes of a DataTree, or a mapping such as ``{"A": tree, "B": tree}``, whose systems are
called "A, single-template", "A, multi-template", "B, single-template" and so on. Which variables a
plot needs stands in the table `PLOTS` at the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_list, require_text
from bioeval.base.errors import DataError, bad_choice, counted, enumerated, short_name
from bioeval.base.kinds import PLURALS
from bioeval.plot import plot_axes
from bioeval.plot.plot_axes import RGB, Style
from bioeval.results.attributes import THRESHOLD_STUDY, require_schema
from bioeval.showing.header import sides_in_words
from bioeval.showing.nodes import datasets, distinct_tasks, value_of
from bioeval.showing.numbers import Lines
from bioeval.showing.sizes import sample_size
from bioeval.showing.text import RATES, Term, Text, is_term, say, task_of

#: Of names of systems, one of which has more letters, a plot leaves out what all of them share.
LONG_NAME = 24

#: Words in the name of a variant, by part of a path; other parts are names of systems.
_WORDS = {
    **dict.fromkeys(("verification", "open_set", "closed_set", "reid", "gom"), ""),
    "single": "single-template",
    "multi": "multi-template",
    "visits": "visits",
    "claims": "claims",
}


@dataclass(frozen=True, eq=False)
class System:
    """The dataset of one system, to be drawn."""

    name: str  # empty for a dataset that was given without a name
    dataset: xr.Dataset
    group: str = ""  # name of the system, which its variants share
    variant: str = ""  # name of the variant of the task, where a system has several results

    def text_of(self, attribute: str) -> str:
        return str(self.dataset.attrs.get(attribute, ""))

    def colour(self, number: int, shade: int = 0) -> RGB:
        """Return the plot's colour for the system, or else the colour of a number."""
        return Style.colour(number, shade, (self.name, self.group))


def pick(data: Any, plot: str, single: bool = False, relabel: bool = True) -> list[System]:
    """Return the datasets in `data` that a plot can draw, under distinct names.

    `data` is a Dataset, a DataTree (all its datasets with the variables are taken), or a mapping of
    name to either; `plot` is the public name of the plot. With `single`, several systems are an
    error. With `relabel`, systems are renamed by the argument ``labels`` of the plot.
    """
    systems = _systems_in(data, PLOTS[plot], _needs_met(data, PLOTS[plot]) or PLOTS[plot].needs[0])
    if single and len(systems) > 1:
        names = ", ".join(repr(system.name) for system in systems)
        raise DataError(
            f"be.plot.{plot} shows one system, but {len(systems)} are given ({names}); draw "
            "each on its own axes, with ax="
        )
    return labelled(systems) if relabel else systems


def labelled(systems: list[System]) -> list[System]:
    """Return systems renamed by the plot's ``labels``, and check the names in ``colors``."""
    groups = list(dict.fromkeys(system.group or system.name for system in systems))
    names = [*dict.fromkeys([*groups, *(system.name for system in systems)])]
    labels = labels_of(names, groups, [system.name for system in systems])
    renamed = []
    for system in systems:
        if system.name in labels:
            name = labels[system.name]
            system = replace(system, name=name, group=name, variant="")
        elif system.group in labels:
            group = labels[system.group]
            system = replace(system, name=joined(group, system.variant), group=group)
        renamed.append(system)
    return renamed


def labels_of(known: Sequence[str], *listed: Sequence[str]) -> dict[str, str]:
    """Return the new names of systems by their `known` names, from the argument ``labels``.

    If ``labels`` is a list, it has a name for each name in one of the sequences `listed`. The
    palette may have either name in ``colors``, and has the new name afterwards.
    """
    colours = Style.palette.by_system
    for name in [*colours]:
        colours[as_plot_text(name)] = colours.pop(name)
    if colours and not any(known):
        raise DataError("colors is a mapping by system, but the system has no name; give a list")
    labels = Style.labels
    if labels is None:
        labels = {}
    elif not isinstance(labels, Mapping):
        new_names = require_list("labels", labels)
        fitting_names = [names for names in listed if len(names) == len(new_names)]
        if not fitting_names:
            raise DataError(f"labels has {len(new_names)} names, but the plot has {len(listed[0])}")
        labels = dict(zip(fitting_names[0], new_names, strict=True))
    renamed = {as_plot_text(x): as_plot_text(require_text("labels", y)) for x, y in labels.items()}
    for name in colours:
        if name not in known:
            raise DataError(bad_choice("a name in colors", name, known))
    Style.words = {x: y for x, y in renamed.items() if x not in known}
    colours.update({renamed[name]: colours[name] for name in [*colours] if name in renamed})
    return renamed


def agreed(systems: Sequence[System], words: Callable[[System], str]) -> str:
    """Return the words about a system if all systems have the same words, else an empty text."""
    texts = set(map(words, systems))
    return texts.pop() if len(texts) == 1 else ""


def drawable(data: Any, plot: Plot) -> Any:
    """Return the part of `data` that a plot can draw; None if there is none."""
    needs = _needs_met(data, plot)
    if needs is None:
        return None

    def is_drawable(part: Any) -> bool:
        fitting = [dataset for dataset in _datasets(part) if _fits(dataset, needs)]
        return any(not plot.prefer or plot.prefer in dataset for dataset in fitting)

    if isinstance(data, Mapping) and not isinstance(data, xr.Dataset | xr.DataTree):
        return {name: result for name, result in data.items() if is_drawable(result)} or None
    return data if is_drawable(data) else None


def _needs_met(data: Any, plot: Plot) -> Needs | None:
    """Return the first of the plot's needs that a dataset meets; None if none is met."""
    datasets = [*_datasets(data)]
    for needs in plot.needs:
        if any(_fits(dataset, needs) for dataset in datasets):
            return needs
    return None


def as_plot_text(name: object) -> str:
    """Return a name for a plot: short, printable, and not read as a formula between dollars."""
    return plot_axes.without_formula(short_name(str(name)))


def without_shared_parts(names: Sequence[str]) -> tuple[list[str], str]:
    """Return long names without what all of them share, and the shared part with a gap in it.

    The first and last words that all names have are taken out if the longest name is longer than
    `LONG_NAME`; words end at a space, ``_``, ``-``, ``/``, ``.`` or comma. No name becomes empty.
    """
    if len(names) < 2 or max(map(len, names)) <= LONG_NAME:
        return list(names), ""
    words = [re.findall(r"[^ _\-/.,]*[ _\-/.,]+|[^ _\-/.,]+$", name) for name in names]
    fewest = min(map(len, words)) - 1  # a word is left of each
    first = _equal_words(words, fewest)
    last = _equal_words([name[::-1] for name in words], fewest - first)
    rests = ["".join(name[first : len(name) - last]).strip(" _-/.,") for name in words]
    if first + last == 0 or len(set(rests)) < len(set(names)):
        return list(names), ""
    shared = "".join(words[0][:first]) + "…" + "".join(words[0][len(words[0]) - last :])
    return rests, shared


def _equal_words(names: Sequence[Sequence[str]], most: int) -> int:
    """Return how many words all names begin with, at most `most`."""
    for i in range(most):
        if any(name[i] != names[0][i] for name in names):
            return i
    return most


def joined(*parts: str, by: str = ", ") -> str:
    """Return the parts of a name that are not empty, joined by commas."""
    return by.join(filter(None, parts))


def _datasets(data: Any) -> Iterator[xr.Dataset]:
    """Yield all datasets in the data of a plot; data of another kind have none."""
    if isinstance(data, System):
        yield data.dataset
    elif isinstance(data, xr.Dataset):
        require_schema(data.attrs)
        yield data
    elif isinstance(data, xr.DataTree):
        yield from (dataset for _, dataset in datasets(data))
    elif isinstance(data, Mapping):
        for part in data.values():
            yield from _datasets(part)


def _fits(dataset: xr.Dataset, needs: Needs) -> bool:
    """Whether a dataset has all variables that are needed, over their dimensions."""
    return all(
        name in dataset and set(dataset[name].dims) == set(dims) for name, dims in needs.items()
    )


def _systems_in(data: Any, plot: Plot, needs: Needs) -> list[System]:
    """Return the systems in the data of a plot; the keys of a mapping precede their names."""
    if isinstance(data, System):
        return [data]
    if isinstance(data, xr.Dataset):
        _require_variables(data, plot, needs)
        return [System("", data)]
    if isinstance(data, xr.DataTree):
        return _systems_in_tree(data, plot, needs)
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
        for inner in _systems_in(value, plot, needs):
            full_name, group = joined(name, inner.name), joined(name, inner.group)
            systems.append(System(full_name, inner.dataset, group, inner.variant))
    return systems


def _systems_in_tree(tree: xr.DataTree, plot: Plot, needs: Needs) -> list[System]:
    """Return the systems of a tree that a plot can draw, the preferred if there are any.

    In the path ``/A/verification/single``, "A" is the system's name, and "single" its variant.
    """
    nodes = {path: ds for path, ds in datasets(tree) if needs.keys() <= ds.data_vars.keys()}
    if not nodes:
        leaves = ", ".join(leaf.path for leaf in tree.leaves)
        raise DataError(
            f"be.plot.{plot.name} draws {' and '.join(needs)} of {plot.result}; no node of the "
            f"tree has them ({leaves})"
        )
    nodes = {path: ds for path, ds in nodes.items() if plot.prefer in ds} or nodes
    above = tree.path.strip("/")
    nodes = distinct_tasks({path.removeprefix(above).strip("/"): ds for path, ds in nodes.items()})
    paths = [path.split("/") for path in nodes]
    common_parts = set(paths[0]).intersection(*paths)
    by_name: dict[str, System] = {}
    for parts, dataset in zip(paths, nodes.values(), strict=True):
        _require_variables(dataset, plot, needs)
        group = joined(*(part for part in parts if part not in _WORDS))
        variant = joined(*(_WORDS.get(part, "") for part in parts if part not in common_parts))
        if not group and not variant and len(paths) > 1:  # one task among several
            variant = parts[-1]
        name = joined(group, variant)
        by_name[name] = System(name, dataset, group, variant)
    if len(by_name) < len(nodes):  # names are not distinct: the paths are
        return [System(path, dataset, path) for path, dataset in nodes.items()]
    return list(by_name.values())


def _require_variables(dataset: xr.Dataset, plot: Plot, needs: Needs) -> None:
    missing = [name for name in needs if name not in dataset]
    if missing:
        task = dataset.attrs.get("task", "of another kind")
        fitting_plots = [other.name for other in PLOTS.values() if _needs_met(dataset, other)]
        hint = f"; be.plot.{enumerated(fitting_plots, 'or')} draws it" if fitting_plots else ""
        if plot.name in fitting_plots:
            hint = "; draw each kind of result on its own axes, with ax="
        raise DataError(
            f"be.plot.{plot.name} draws {' and '.join(needs)} of {plot.result}, but the dataset "
            f"({task}) has no {' and no '.join(missing)}{hint}"
        )
    for name, dims in needs.items():
        own_dims = list(map(str, dataset[name].dims))
        if set(dims) != set(own_dims):
            extra = [dim for dim in own_dims if dim not in dims]
            hint = f": choose a {extra[0]} first, as in ds.isel({extra[0]}=0)" if extra else ""
            if "part" in {*own_dims, *dataset.coords}:
                hint = "; be.plot.folds and be.plot.repeated draw results over folds"
            if dataset.attrs.get("result_type") == THRESHOLD_STUDY:
                hint = "; the folds of a threshold study are in its node `folds`"
            raise DataError(
                f"{name} is over {', '.join(own_dims) or 'no dimension'}; be.plot.{plot.name} "
                f"draws it over {', '.join(dims)}{hint}"
            )


# --------------------------------------------------------------------------------- words


def lines_of(dataset: xr.Dataset) -> Lines:
    """Return the writer of texts on a dataset, with the rates of its task."""
    return Lines(task_of(dataset))


def iso_terms(dataset: xr.Dataset, *rates: str) -> str:
    """Return the terms of the standard for rates, with its name: ``ISO: FMR and FNMR``."""
    task = task_of(dataset)
    if task not in RATES:  # transactions, whose rates have the same names
        return ""
    return f"ISO: {' and '.join(RATES[task][rate].iso for rate in rates)}"


def task_in_title(systems: Sequence[System]) -> str:
    tasks = {system.text_of("task") for system in systems}
    if len(tasks) > 1:
        verified = all(x.text_of("result_type") == "verification" for x in systems)
        return "verification" if verified else "several tasks"
    return tasks.pop()


def attempts(dataset: xr.Dataset, role: str) -> int | None:
    """Return the number of genuine or impostor attempts; None if the dataset lacks it."""
    for name in (f"{role}_attempts", "attempts"):
        if name in dataset and not dataset[name].ndim:
            return int(dataset[name])
    return None


def data_in_words(system: System) -> str:
    """Return the attempts and people of a system in words, and the gallery of an identification."""
    dataset, attrs = system.dataset, system.dataset.attrs
    if "claimed_group" in dataset.dims or attrs.get("result_type") == "groups":
        dataset = dataset.isel(group=-1, claimed_group=-1, missing_dims="ignore")
    words = lines_of(dataset).write(sample_size(dataset))
    people = int(attrs.get("probe_subjects", 0))
    if words and "subject" not in words and people:
        comma = "," if "fold" in dataset.dims else ""
        words += f"{comma} of {counted(people, 'subjects')}"
    gallery = ""
    if "rank" in dataset.dims and "gallery_templates" in attrs:
        templates, subjects = (int(attrs.get(f"gallery_{x}", 0)) for x in ("templates", "subjects"))
        gallery = f"gallery: {counted(templates, 'templates')}"
        gallery += f" of {counted(subjects, 'subjects')}" * bool(subjects)
        if attrs.get("result_type") == "gallery-size":
            gallery = ""
    return joined(words or sides_in_words(attrs), gallery, by="; ")


def by_system(systems: Sequence[System], words: Callable[[System], str]) -> list[str]:
    """Return the words about each system, said once where systems have the same.

    Of more than two different words, none is said but that systems differ.
    """
    names: dict[str, list[str]] = {}
    for system in systems:
        names.setdefault(words(system), []).append(system.name)
    if len(names) == 1:
        return [*names]
    if len(names) > 2:
        return ["systems differ in their attempts"]
    return [joined(joined(*names[text]), text, by=": ") for text in names if text]


def undefined(dataset: xr.Dataset, variable: str, word: Text) -> Text:
    """Return why no value of a variable is finite; empty if a value is."""
    if np.isfinite(np.asarray(dataset[variable], dtype=float)).any():
        return ""
    if variable == "threshold":
        return "no finite threshold"
    name: Text = Term(variable) if is_term(variable) else word or variable.replace("_", " ")
    role = "impostor" if variable in ("far", "grr") else "genuine"
    reason = ""
    if variable in ("cmc", "interpolated_precision", "mrep"):
        reason = "no query has a match: "
    elif variable == "mfr" or (variable == "far" and value_of(dataset, "open_queries") == 0):
        reason = "the identity of every query is in the gallery: "
    elif attempts(dataset, role) == 0:
        reason = f"no {role} attempt: "
    return say("{why}{name} is not defined", why=reason, name=name)


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


#: The variables that a plot needs, and their dimensions.
Needs = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Plot:
    """One plot, ``be.plot.<name>``."""

    name: str
    result: str  # the public function whose result it draws
    needs: tuple[Needs, ...]  # drawn are the first of these variables that the data have
    one_system: bool = False  # whether each file shows one system
    log: bool = False  # whether there is a second file, with a logarithmic axis
    #: A variable of preferred results: other results of a tree are drawn only if no result has the
    #: variable, and never by ``save_all``.
    prefer: str = ""


def _along(dim: str, *names: str) -> Needs:
    return dict.fromkeys(names, (dim,))


_DIR: Needs = {"far": ("threshold",), "dir": ("threshold", "rank")}
_FOLD = ("repeat", "fold")
_PART = (*_FOLD, "part")
_RATES = _along("threshold", "far", "frr")
_MEANS: tuple[Needs, ...] = (
    {"cms": ("partition", "rank")},
    {"cms": (*_FOLD, "rank")},
    {"cms": (*_PART, "rank")},
    {"far": ("partition", "threshold")},
    {"far": (*_FOLD, "threshold")},
    {"dir": (*_PART, "rank")},
)
_FOLDS: Needs = {"far": _PART, "frr": _PART}
_GROUPS: Needs = {"frr": ("group",), "far": ("group", "claimed_group")}
_CONDITIONS = _along("group", "frr", "far")
_COMPARED: Needs = {**_along("other_system", "other_system"), **_along("system", "system")}
_ZOO: Needs = {
    **_along("subject", "genuine_mean", "animal_of_subject"),
    **{"animal_count": ("animal",), "errors": ("error", "subject")},
}
_STUDY: Needs = {**dict.fromkeys(("folds/far", "folds/frr"), _FOLD), **_along("part", "far", "frr")}

_ALL = (
    Plot("roc", "be.verification", (_along("threshold", "far", "gar"),), log=True),
    Plot("det", "be.verification", (_RATES,), prefer="gar"),
    Plot("error_rates", "be.verification", (_RATES,), one_system=True, prefer="gar"),
    Plot("dir_far", "be.open_set", (_DIR,), log=True),
    Plot("cmc", "be.closed_set", (_along("rank", "cms"), _along("rank", "cmc"))),
    Plot("score_distributions", "be.Scores", ()),
    Plot("matrix", "be.Scores", ()),
    Plot("ranking", "be.compare", (_COMPARED,), one_system=True),
    Plot("repeated", "be.repeat", _MEANS),
    Plot("folds", "be.cross_evaluate", (_FOLDS,), one_system=True),
    Plot("gallery_size", "be.gallery_size", ({"cms": ("gallery_size", "rank")},)),
    Plot("groups", "be.by_group", (_GROUPS, _CONDITIONS), one_system=True),
    Plot("ranked_lists", "be.Scores", ()),
    Plot("gom", "be.gom", ({**_along("threshold", "mrep", "mfr"), "tau_max": (), "max_mrep": ()},)),
    Plot("precision_recall", "be.reid", (_along("recall_level", "interpolated_precision"),)),
    Plot("threshold_study", "be.study_threshold", (_STUDY,), one_system=True),
    Plot("hota", "be.tracking", (_along("localisation_threshold", "hota_at_alpha"),)),
    Plot("worst_pairs", "be.worst_pairs", (_along("pair", "comparison", "score"),)),
    Plot("zoo", "be.zoo", (_ZOO,), one_system=True),
)

PLOTS = {plot.name: plot for plot in _ALL}
