"""The tasks of results: datasets, their order and systems, and scalars averaged over folds."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr

from bioeval.document.scalars import label_of
from bioeval.document.text import Text, say
from bioeval.results.dataset import THRESHOLD_STUDY, Scalars, require_schema, study_in_one
from bioeval.results.support import note_thresholds_beyond_scores
from bioeval.results.variables import (
    GOM_POINTS,
    OPEN_SET,
    POINTS_OF_PARTS,
    QUERY_MEANS,
    REID,
    TARGETS,
    VERIFICATION,
    Variable,
    averaged_over_folds,
)
from bioeval.stats.aggregate import aggregate
from bioeval.views.galleries import each_gallery
from bioeval.views.terms import task_of, words_of
from bioeval.views.writers.lines import Lines

if TYPE_CHECKING:
    import xarray as xr


# The title of single- and multi-template verification that are equal.
_BOTH = "verification, single- and multi-template (one template per subject)"


def each_once(results: Mapping[str, xr.Dataset]) -> dict[str, xr.Dataset]:
    """Return the datasets of tasks, equal single- and multi-template verification as one."""
    shown = dict(results)
    for path, single in results.items():
        multi = shown.get(f"{path.removesuffix('single')}multi")
        if not path.endswith("single") or multi is None or not _equal(single, multi):
            continue
        del shown[f"{path.removesuffix('single')}multi"]
        shown[path] = single.assign_attrs(task=_BOTH)
    return shown


def _equal(single: xr.Dataset, multi: xr.Dataset) -> bool:
    """Whether two datasets are equal; the attempts first, for xarray loads dask to compare."""
    name = "impostor_attempts"
    there = name in single and name in multi
    if there and not np.array_equal(single[name].values, multi[name].values):
        return False
    return single.equals(multi)


#: Dimensions whose values are summed up.
OVER = ("repeat", "fold", "partition")

# The others follow, in the order of their descriptions.
_FIRST = (*("accuracy", "far", "far_unenrolled", "frr", "hter", "dir", "cms"),)


class Averaged(NamedTuple):
    """One number of each fold or partition: a scalar, at a rank or a target where it has these.

    Of folds, that of the test part.
    """

    label: str  # in the words of the view, with its unit
    name_in_text: Text  # of a document
    scalar: Variable
    places: dict[str, tuple[int, Any]]
    dataset: xr.Dataset
    statistics: xr.Dataset  # over folds or partitions

    @property
    def at(self) -> dict[str, Any]:
        """The labels of its place."""
        return {dim: label for dim, (_, label) in self.places.items()}

    @property
    def name(self) -> str:
        """Name of its variable."""
        return self.scalar.name

    @property
    def at_own_threshold(self) -> bool:
        """Whether each part has it at its own operating point."""
        return self.scalar.name in POINTS_OF_PARTS

    def summary(self, key: str) -> float:
        """Return a statistic such as ``mean``; NaN without one."""
        return self._statistic(key, "test")

    def training(self) -> float:
        """Return the mean over training parts; NaN of what test parts alone have."""
        if "part" not in self.dataset[self.name].dims:
            return np.nan
        return self._statistic("mean", "train")

    def ends(self) -> tuple[float, float]:
        """Return the limits of the mean, or without such the middle 95 % of the values."""
        if f"{self.name}_low" in self.statistics:
            low, high = (self._at(self.statistics, f"{self.name}_{x}") for x in ("low", "high"))
            return float(low), float(high)
        return self.summary("q0.025"), self.summary("q0.975")

    def each(self) -> np.ndarray:
        """Return the value of each fold or partition that has one."""
        values = self._at(self.dataset, self.name).ravel()
        return values[~np.isnan(values)]

    def _statistic(self, key: str, part: str) -> float:
        labels = self.statistics["statistic"].values.tolist()
        if key not in labels:
            return np.nan
        return float(self._at(self.statistics, self.name, part)[labels.index(key)])

    def _at(self, dataset: xr.Dataset, name: str, part: str = "test") -> np.ndarray:
        """Return the values of a variable at the place."""
        places = {dim: place for dim, (place, _) in self.places.items()}
        if "part" in dataset[name].dims:
            places["part"] = dataset["part"].values.tolist().index(part)
        return values_at(dataset[name].variable, places)


def figure_scalars() -> dict[str, Variable]:
    """Return what has a row in a table of folds or partitions, by name: scalars with a label."""
    known = {
        **averaged_over_folds(),
        "min_dcf": VERIFICATION["min_dcf"],
        "cmc": REID["cmc"],
        **QUERY_MEANS,
        **GOM_POINTS,
    }
    complements = ("gar", "grr")
    return {name: x for name, x in known.items() if x.label and name not in complements}


def values_at(variable: xr.Variable, at: Mapping[str, int]) -> np.ndarray:
    """Return the values at places of some dimensions."""
    return variable.values[tuple(at.get(str(dim), slice(None)) for dim in variable.dims)]


def averaged(dataset: xr.Dataset) -> Iterator[Averaged]:
    """Return the scalars of a result over folds, repeats or partitions, one row each."""
    rule = str(dataset.attrs.get("threshold_rule", ""))
    lines = Lines(words_of(dataset), task_of(dataset))
    scalars = dataset.drop_dims("threshold", errors="ignore")
    statistics = aggregate(scalars, [str(dim) for dim in OVER if dim in dataset.dims])
    order = (*_FIRST, *POINTS_OF_PARTS)
    for name, scalar in sorted(figure_scalars().items(), key=lambda x: place_in(order, x[0])):
        if name not in dataset or "threshold" in dataset[name].dims:
            continue  # a curve
        if name == "accuracy" and rule != "accuracy":
            continue
        if name == "recognition_rate" and 1 in dataset["rank"].values:
            continue  # a row of CMS
        for text, at in places_of(dataset, scalar):
            label = lines.write(_with_unit(text, scalar))
            yield Averaged(label, text, scalar, at, dataset, statistics)


def place_in(order: Sequence[str], name: str) -> int:
    """Return the place of a name in an order; others are behind it."""
    return order.index(name) if name in order else len(order)


def _with_unit(label: Text, scalar: Variable) -> Text:
    """Return the label of a scalar with its unit: ``FRR at FAR <= 1 % (in %)``."""
    return say("{label} (in %)", label=label) if scalar.kind == "rate" else label


def places_of(
    dataset: xr.Dataset, scalar: Variable, name: str = ""
) -> Iterator[tuple[Text, dict[str, tuple[int, Any]]]]:
    """Yield the label of each value of a scalar that is shown in a row, and where it is.

    That is its place along each dimension, with the label there; `name` is a bound of the scalar.
    """
    dims = dataset[name or scalar.name].dims
    ranks = dataset["rank"].values.tolist() if "rank" in dims else []
    over = next((dim for dim in (*TARGETS, "cost") if dim in dims), "")
    if over:
        at = {"rank": (0, ranks[0])} if ranks else {}
        labels = dataset["cost_prior" if over == "cost" else over].values.tolist()
        for i, label in enumerate(labels):
            text: Text = label_of(scalar, **{"prior" if over == "cost" else "target": label})
            if scalar is OPEN_SET["dir_at_far"] and ranks[:1] not in ([], [1]):
                text = "{dir} at {far} <= {target:rate}, rank {rank:count}"
                text = say(text, target=label, rank=ranks[0])
            yield text, {over: (i, label), **at}
    elif ranks:
        for rank in report_ranks(dataset):
            text = label_of(scalar, rank=rank)
            if not scalar.places:
                text = say("{label}, rank {rank:count}", label=text, rank=rank)
            yield text, {"rank": (ranks.index(rank), rank)}
    elif scalar.name == "eer" and "rank" in dataset.dims:
        yield label_of(OPEN_SET["eer"]), {}
    else:
        yield label_of(scalar, **dict.fromkeys(scalar.places, "K")), {}


def unit_of(attrs: Any) -> str:
    """Return the unit of a result: folds, repeats of an experiment, or other partitions."""
    if "partitions" in attrs:
        return "partition"
    if "experiment" in attrs:
        return "repeat"
    return "fold"


#: Up to this number of thresholds each has its rows: they were given.
FEW = 9

#: The nodes of an evaluation, in the order in which they are shown.
TASKS = ("verification", "single", "multi", "open_set", "closed_set", "reid", "gom", "tries")


def datasets(
    tree: xr.DataTree | xr.Dataset, once: bool = False
) -> Iterator[tuple[str, xr.Dataset]]:
    """Yield the path and the dataset of each task, in the order of display.

    A threshold study is one dataset: see :func:`study_in_one`. Several galleries, and their mean,
    are as systems. With `once`, equal single- and multi-template verification are one: see
    :func:`each_once`.
    """
    found = galleries_as_systems(dict(_datasets(tree)))
    yield from (each_once(found) if once else found).items()


def _datasets(tree: xr.DataTree | xr.Dataset) -> Iterator[tuple[str, xr.Dataset]]:
    require_schema(tree.attrs)
    if isinstance(tree, xr.Dataset):
        yield "", tree
        return
    if tree.attrs.get("result_type") == THRESHOLD_STUDY:
        yield tree.path.strip("/"), study_in_one(tree)
        return
    if tree.data_vars:
        yield tree.path.strip("/"), tree.to_dataset()
    children = list(tree.children.values())
    place = {name: i for i, name in enumerate(TASKS)}
    for node in sorted(children, key=lambda node: place.get(str(node.name), -1)):
        yield from _datasets(node)


def galleries_as_systems(results: Mapping[str, xr.Dataset]) -> dict[str, xr.Dataset]:
    """Return results by path, those over several galleries by the galleries and their mean."""
    if not any("gallery" in dataset.dims for dataset in results.values()):
        return dict(results)
    found = {}
    for path, dataset in results.items():
        if "gallery" not in dataset.dims:
            found[path] = dataset
            continue
        system = system_of(path)
        for name, of_gallery in each_gallery(dataset).items():
            names = system, name, path.removeprefix(system).strip("/")
            found["/".join(filter(None, names))] = of_gallery
    order = systems(found)
    return dict(sorted(found.items(), key=lambda item: order.index(system_of(item[0]))))


def systems(paths: Iterable[str]) -> list[str]:
    """Return the systems that the paths of tasks belong to."""
    return list(dict.fromkeys(map(system_of, paths)))


def system_of(path: str) -> str:
    """Return the part of a path before the task: the system, if there are several."""
    names = itertools.takewhile(lambda part: part not in TASKS, path.split("/"))
    return "/".join(names)


def report_ranks(dataset: xr.Dataset) -> list[int]:
    """Return the ranks to show: those of the protocol card that the results reach."""
    if "rank" not in dataset.coords:
        return []
    ranks = map(int, str(dataset.attrs.get("report_ranks", "")).split())
    return Scalars.shown_ranks(list(ranks), dataset["rank"].values.tolist())


def with_asked_thresholds(tree: xr.DataTree, thresholds: Sequence[float]) -> xr.DataTree:
    """Return results whose tables show the rates at these thresholds, among those of the curves."""
    asked = " ".join(repr(float(x)) for x in thresholds)
    datasets = {}
    for node in tree.subtree:
        dataset = node.to_dataset()
        if "threshold" in dataset.coords:
            dataset.attrs["report_thresholds"] = asked
            note_thresholds_beyond_scores(dataset, thresholds)
        datasets[node.path] = dataset
    return xr.DataTree.from_dict(datasets)


def asked_thresholds(dataset: xr.Dataset) -> list[float]:
    """Return the thresholds of a result's curves that were asked for."""
    return list(map(float, str(dataset.attrs.get("report_thresholds", "")).split()))


def value_of(dataset: xr.Dataset, name: str) -> float | None:
    """Return the value of a variable without dimensions; None if there is none."""
    if name not in dataset or dataset[name].ndim:
        return None
    return float(dataset[name].item())


def has_folds(tree: xr.DataTree | xr.Dataset) -> bool:
    """Whether these are results over folds."""
    return any("fold" in dataset.dims for _, dataset in datasets(tree))
