"""Selection of the datasets that a plot shows, and their names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import xarray as xr

from bioeval.base.errors import DataError, short_name
from bioeval.views.averaged import once
from bioeval.views.plots.registry import PLOTS, Needs, Plot

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


def pick(data: Any, plot: str) -> list[System]:
    """Return the datasets in `data` that a plot can draw, under distinct names.

    `data` is a Dataset, a DataTree, of which all datasets that have the variables are taken, or a
    mapping of name to either; `plot` is the public name of the plot.
    """
    return _pick(data, PLOTS[plot], needs_of(data, PLOTS[plot]))


def pick_one(data: Any, plot: str) -> System:
    """Return the one dataset in `data`, for plots that show one system."""
    found = pick(data, plot)
    if len(found) > 1:
        names = ", ".join(repr(system.name) for system in found)
        raise DataError(
            f"be.plot.{plot} shows one system, but {len(found)} are given ({names}); draw each on "
            "its own axes, with ax="
        )
    return found[0]


def drawable(data: Any, plot: Plot) -> Any:
    """Return the part of `data` that a plot can draw; None if there is none."""
    if not plot.needs:
        return None
    needs = needs_of(data, plot)

    def has(part: Any) -> bool:
        return any(
            _fits(ds, needs) and (not plot.prefer or plot.prefer in ds) for ds in _datasets(part)
        )

    if isinstance(data, Mapping) and not isinstance(data, xr.Dataset | xr.DataTree):
        return {name: one for name, one in data.items() if has(one)} or None
    return data if has(data) else None


class PlotFile(NamedTuple):
    """A file of a plot: its stem, the single system it shows (if any), and its display's data."""

    stem: str
    system: str
    plot: Plot
    data: Any
    options: Mapping[str, Any]

    def drawn_in(self, figure: Any) -> Any:
        """Return the display, drawn unless it would be empty."""
        display = self.plot.load().from_results(self.data)
        return display if display.why_empty else display.plot(figure, **self.options)


def plot_files(data: Any, plots: Iterable[Plot]) -> Iterator[PlotFile]:
    """Yield the files of each plot that `data` supports."""
    for plot in plots:
        if (found := drawable(data, plot)) is None:
            continue
        for stem, options in plot.files.items():
            for one in pick(found, plot.name) if plot.one_system else [found]:
                name = one.name if isinstance(one, System) else ""
                yield PlotFile(stem, name, plot, one, options)


def needs_of(data: Any, plot: Plot) -> Needs:
    """Return the first of a plot's alternatives that some dataset has, or the first of all."""
    found = (needs for needs in plot.needs if any(_fits(ds, needs) for ds in _datasets(data)))
    return next(found, plot.needs[0])


def as_plot_text(name: object) -> str:
    """Return a name for a plot: short, printable, and not read as a formula between dollars."""
    return without_formula(short_name(str(name)))


def without_formula(text: str) -> str:
    """Return printable text that matplotlib does not read as a formula between dollars."""
    return re.sub(r"(?<!\\)\$", r"\\$", text)


def joined(*parts: str) -> str:
    """Return the parts of a name that are not empty, with commas."""
    return ", ".join(part for part in parts if part)


def _datasets(data: Any) -> Iterator[xr.Dataset]:
    """All datasets in a result, a tree, or a mapping of either."""
    if isinstance(data, System):
        yield data.dataset
    elif isinstance(data, xr.Dataset):
        yield data
    elif isinstance(data, xr.DataTree):
        yield from (node.dataset for node in data.subtree)
    elif isinstance(data, Mapping):
        for one in data.values():
            yield from _datasets(one)


def _fits(dataset: xr.Dataset, needs: Needs) -> bool:
    """Whether a dataset has all the variables, over the same dims."""
    return all(
        name in dataset and set(dataset[name].dims) == {*dims} for name, dims in needs.items()
    )


def _pick(data: Any, plot: Plot, needs: Needs) -> list[System]:
    if isinstance(data, System):
        return [data]
    if isinstance(data, xr.Dataset):
        _require(data, plot, needs)
        return [System("", data)]
    if isinstance(data, xr.DataTree):
        return _of_tree(data, plot, needs)
    if not isinstance(data, Mapping):
        raise DataError(
            f"be.plot.{plot.name} got {type(data).__name__}; expected a result of {plot.result} "
            "(an xarray Dataset or DataTree), or a mapping of name to result"
        )
    if not data:
        raise DataError(f"be.plot.{plot.name} got an empty mapping; expected name: result")
    return [
        System(joined(name, inner.name), inner.dataset, joined(name, inner.group), inner.variant)
        for name, given in ((as_plot_text(key), given) for key, given in data.items())
        for inner in _pick(given, plot, needs)
    ]


def _require(dataset: xr.Dataset, plot: Plot, needs: Needs) -> None:
    missing = [name for name in needs if name not in dataset]
    if missing:
        task = dataset.attrs.get("task", "of another kind")
        fits = [p.name for p in PLOTS.values() if any(_fits(dataset, x) for x in p.needs)]
        hint = ""
        if plot.name in fits:
            hint = "; draw each kind of result on its own axes, with ax="
        elif fits:
            hint = (
                f"; be.plot.{' or '.join(filter(None, (', '.join(fits[:-1]), fits[-1])))} draws it"
            )
        raise DataError(
            f"be.plot.{plot.name} draws {' and '.join(needs)} of {plot.result}, but the dataset "
            f"({task}) has no {' and no '.join(missing)}{hint}"
        )
    for name, dims in needs.items():
        extra = [str(dim) for dim in dataset[name].dims if dim not in dims]
        if extra:
            raise DataError(
                f"{name} is over {', '.join(map(str, dataset[name].dims))}; be.plot.{plot.name} "
                f"draws it over {', '.join(dims)}: choose a {' and a '.join(extra)} first, as in "
                f"ds.isel({extra[0]}=0)"
            )


def _of_tree(tree: xr.DataTree, plot: Plot, needs: Needs) -> list[System]:
    nodes = [node for node in tree.subtree if all(name in node.data_vars for name in needs)]
    nodes = [node for node in nodes if plot.prefer in node.data_vars] or nodes
    if not nodes:
        listed = ", ".join(leaf.path for leaf in tree.leaves)
        raise DataError(
            f"be.plot.{plot.name} draws {' and '.join(needs)} of {plot.result}; no node of the "
            f"tree has them ({listed})"
        )
    found = once(
        {node.path.removeprefix(tree.path).strip("/"): node.to_dataset() for node in nodes}
    )
    for dataset in found.values():
        _require(dataset, plot, needs)
    paths = [path.split("/") for path in found]
    names = _names(paths)
    if len({joined(*name) for name in names}) < len(names):
        names = [("/".join(path), "") for path in paths]
    return [
        System(joined(group, variant), dataset, group, variant)
        for (group, variant), dataset in zip(names, found.values(), strict=True)
    ]


def _names(paths: list[list[str]]) -> list[tuple[str, str]]:
    """Name nodes by the parts of their paths: the system, and the parts in which tasks differ."""
    names = []
    for path in paths:
        group = [part for part in path if part not in _WORDS]
        task = [part for part in path if _WORDS.get(part)]
        variant = [_WORDS[part] for part in task if not all(part in other for other in paths)]
        if not group and not variant and len(paths) > 1:  # one task among several
            variant = path[-1:]
        names.append((joined(*group), joined(*variant)))
    return names
