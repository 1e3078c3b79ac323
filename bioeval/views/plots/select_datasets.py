"""Which datasets a plot is to show, and what to call each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError
from bioeval.views.plots.style import plural

# What draws what: told to somebody who gave a dataset of another task.
DRAWN_BY = {
    "extrapolated": "be.plot.gallery_size",
    "gar": "be.plot.roc, det or error_rates",
    "dir": "be.plot.dir_far or dir_surface",
    "cms": "be.plot.cmc",
    "cmc": "be.plot.cmc",
}

_WORDS = {
    "verification": "",
    "open_set": "",
    "closed_set": "",
    "reid": "",
    "single": "single-template",
    "multi": "multi-template",
}


@dataclass(frozen=True)
class System:
    """A dataset to draw.

    Attributes
    ----------
    name : str
        Empty where one dataset was given as it is.
    dataset : Dataset
    group, variant : str
        The two parts of the name: whose result, and which of several of one task.
    """

    name: str
    dataset: xr.Dataset
    group: str = ""
    variant: str = ""


def pick(
    data: Any,
    plot: str,
    needs: Mapping[str, Sequence[str]],
    prefer: str | None = None,
) -> list[System]:
    """Return the datasets in `data` that a plot can draw, with names that tell them apart.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of name to either
        Of a tree, all datasets that have the variables are taken.
    plot : str
        The name of the plot, for error messages.
    needs : mapping of variable to its dims
        What the plot draws.
    prefer : str, optional
        Of a tree, only the datasets that have this variable are taken, if any has it.

    Raises
    ------
    DataError
        If `data` is something else, or has nothing that the plot draws.
    """
    if isinstance(data, xr.Dataset):
        _require(data, plot, needs)
        return [System("", data)]
    if isinstance(data, xr.DataTree):
        return _of_tree(data, plot, needs, prefer)
    if not isinstance(data, Mapping):
        raise DataError(
            f"be.plot.{plot} got {type(data).__name__}; expected a result of bioeval (an xarray "
            "Dataset or DataTree), or a mapping of name to result"
        )
    if not data:
        raise DataError(f"be.plot.{plot} got an empty mapping; expected name: result")
    return [
        System(
            joined(str(name), inner.name), inner.dataset, joined(str(name), inner.group),
            inner.variant,
        )
        for name, given in data.items()
        for inner in pick(given, plot, needs, prefer)
    ]  # fmt: skip


def joined(*parts: str) -> str:
    """Return the parts of a name that are not empty, with commas."""
    return ", ".join(part for part in parts if part)


def pick_one(data: Any, plot: str, needs: Mapping[str, Sequence[str]]) -> System:
    """Return the one dataset in `data`, for plots that show one system."""
    found = pick(data, plot, needs)
    if len(found) > 1:
        names = ", ".join(repr(system.name) for system in found)
        raise DataError(
            f"be.plot.{plot} shows one system, but {len(found)} are given ({names}); draw each on "
            "an axis of its own, with ax="
        )
    return found[0]


def _require(dataset: xr.Dataset, plot: str, needs: Mapping[str, Sequence[str]]) -> None:
    missing = [name for name in needs if name not in dataset]
    if missing:
        other = next((by for name, by in DRAWN_BY.items() if name in dataset), "")
        task = dataset.attrs.get("task", "of another kind")
        hint = f"; {other} draws it" if other else ""
        raise DataError(
            f"be.plot.{plot} draws {' and '.join(needs)}, but the dataset ({task}) has no "
            f"{' and no '.join(missing)}{hint}"
        )
    for name, dims in needs.items():
        extra = [str(dim) for dim in dataset[name].dims if dim not in dims]
        if extra:
            raise DataError(
                f"{name} is over {', '.join(map(str, dataset[name].dims))}; be.plot.{plot} draws "
                f"it over {', '.join(dims)}: choose a {' and a '.join(extra)} first, as in "
                f"ds.isel({extra[0]}=0)"
            )


def _of_tree(
    tree: xr.DataTree, plot: str, needs: Mapping[str, Sequence[str]], prefer: str | None
) -> list[System]:
    nodes = [node for node in tree.subtree if all(name in node.data_vars for name in needs)]
    if prefer is not None and any(prefer in node.data_vars for node in nodes):
        nodes = [node for node in nodes if prefer in node.data_vars]
    if not nodes:
        listed = ", ".join(leaf.path for leaf in tree.leaves)
        raise DataError(
            f"be.plot.{plot} draws {' and '.join(needs)}, which no node of the tree has ({listed})"
        )
    for node in nodes:
        _require(node.to_dataset(), plot, needs)
    paths = [node.path.removeprefix(tree.path).strip("/").split("/") for node in nodes]
    names = _names(paths)
    if len({joined(*name) for name in names}) < len(names):
        names = [("/".join(path), "") for path in paths]
    return [
        System(joined(group, variant), node.to_dataset(), group, variant)
        for (group, variant), node in zip(names, nodes, strict=True)
    ]


def _names(paths: list[list[str]]) -> list[tuple[str, str]]:
    """Name nodes by the parts of their paths: the system, and what differs in the task."""
    names = []
    for path in paths:
        group = [part for part in path if part not in _WORDS]
        told = [part for part in path if _WORDS.get(part)]
        variant = [_WORDS[part] for part in told if not all(part in other for other in paths)]
        names.append((joined(*group), joined(*variant)))
    return names


# ------------------------------------------------------------------ what a plot says it is over


def task_of(systems: Sequence[System]) -> str:
    """Return the task, or what the tasks of several systems have in common."""
    tasks = list(dict.fromkeys(str(s.dataset.attrs.get("task", "")) for s in systems))
    if len(tasks) == 1:
        return tasks[0]
    heads = {task.partition(",")[0] for task in tasks}
    return heads.pop() if len(heads) == 1 else "several tasks"


def title_of(what: str, systems: Sequence[System]) -> str:
    """Return the title of a plot: its name, the task, and the system where it is one."""
    task = task_of(systems)
    return f"{what}: {task}" if task else what


def over(systems: Sequence[System]) -> list[str]:
    """Say what the rates are over: attempts and subjects, a line a system where they differ."""
    people = list(dict.fromkeys(_people(system.dataset.attrs) for system in systems))
    shared = people[0] if len(people) == 1 else ""
    said = [(_label(s), _attempts_text(s.dataset) if shared else _over(s.dataset)) for s in systems]
    texts = list(dict.fromkeys(text for _, text in said if text))
    if len(texts) <= 1:
        who = _label(systems[0]) + ": " if len(systems) == 1 and _label(systems[0]) else ""
        both = "; ".join(filter(None, (*texts, shared)))
        return [who + both] if both else []
    if len(said) > 3:
        return ["; ".join(filter(None, (_ranges([s.dataset for s in systems]), shared)))]
    lines = [f"{label}: {text}" if label else text for label, text in said if text]
    return [*lines, shared] if shared else lines


def _label(system: System) -> str:
    return system.name or str(system.dataset.attrs.get("system", ""))


def attempts(dataset: xr.Dataset, role: str) -> int | None:
    """Return the number of attempts of a class, None where the dataset does not say."""
    for name in (f"{role}_attempts", "attempts"):
        if name in dataset:
            return int(dataset[name])
    return None


def _over(dataset: xr.Dataset) -> str:
    return "; ".join(filter(None, (_attempts_text(dataset), _people(dataset.attrs))))


def _attempts_text(dataset: xr.Dataset) -> str:
    genuine, impostor = attempts(dataset, "genuine"), attempts(dataset, "impostor")
    if "genuine_attempts" in dataset and "impostor_attempts" in dataset:
        return f"{genuine:,} genuine and {plural(impostor or 0, 'impostor attempt')}"
    if genuine is not None:
        skipped = int(dataset["skipped"]) if "skipped" in dataset else 0
        left_out = f" ({skipped:,} without a mate left out)" if skipped else ""
        return plural(genuine, "probe") + left_out
    return ""


def _people(attrs: Mapping[Any, Any]) -> str:
    layout = attrs.get("layout")
    probes, people = int(attrs.get("probes", 0)), int(attrs.get("probe_subjects", 0))
    templates, enrolled = (
        int(attrs.get("gallery_templates", 0)),
        int(attrs.get("gallery_subjects", 0)),
    )
    if layout == "all-against-all" and people:
        return f"{plural(templates, 'template')} of {plural(enrolled, 'subject')}"
    if layout == "probe-against-gallery" and people:
        return (
            f"{plural(probes, 'probe')} of {plural(people, 'subject')} against "
            f"{plural(templates, 'template')} of {plural(enrolled, 'subject')}"
        )
    return ""


def _ranges(datasets: Sequence[xr.Dataset]) -> str:
    parts = []
    for role in ("genuine", "impostor"):
        counts = [c for d in datasets if (c := attempts(d, role)) is not None]
        if not counts or (role == "impostor" and "impostor_attempts" not in datasets[0]):
            continue
        low, high = min(counts), max(counts)
        number = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        parts.append(f"{number} {role} attempts")
    return "; ".join(parts)


def identification_details(systems: Sequence[System]) -> list[str]:
    """Say what ranks count and how ties were ranked, where all systems agree on it."""
    attrs = [system.dataset.attrs for system in systems]
    said = []
    for key, text in (("rank_unit", "ranks count {}s"), ("ties", "{} ties")):
        values = {str(a[key]) for a in attrs if key in a}
        if len(values) == 1:
            said.append(text.format(values.pop()))
    drawn = {str(a.get("gallery", "multi")) for a in attrs}
    if len(drawn) == 1 and drawn != {"multi"}:
        number = drawn.pop()
        said.insert(0, f"{'1 template' if number == 'single' else f'{number} templates'} a subject")
    genuine = {str(a.get("genuine_gallery_subjects", "")) for a in attrs}
    impostor = {str(a.get("impostor_gallery_subjects", "")) for a in attrs}
    if len(genuine) == len(impostor) == 1 and "" not in genuine | impostor:
        of_genuine, of_impostor = (
            f"{int(text):,}" if text.isdecimal() else text
            for text in (genuine.pop(), impostor.pop())
        )
        if of_genuine == of_impostor:
            said.append(f"gallery of N = {of_genuine}")
        else:
            said.append(f"N = {of_genuine} for genuine, {of_impostor} for impostor attempts")
    return ["; ".join(said)] if said else []


def iso_of(systems: Sequence[System], variable: str) -> str:
    """Return the ISO term of a variable, where all systems have the same."""
    terms = {str(s.dataset[variable].attrs.get("iso_term", "")) for s in systems}
    return terms.pop() if len(terms) == 1 else ""


def scalar(dataset: xr.Dataset, name: str) -> float:
    """Return a 0-d variable, NaN where the dataset has none of the name."""
    if name not in dataset or dataset[name].ndim:
        return float("nan")
    return float(dataset[name])


def undefined(dataset: xr.Dataset, variable: str) -> str:
    """Say why a variable has no values, or return an empty text where it has some."""
    if not np.isnan(np.asarray(dataset[variable], dtype=float)).all():
        return ""
    if variable == "cmc":
        return "no query has a match: CMC is not defined"
    role = "impostor" if variable in ("far", "grr") else "genuine"
    name = variable.upper() if variable != "cms" else "CMS"
    if attempts(dataset, role) == 0:
        noun = "probe with a mate" if variable == "cms" else f"{role} attempt"
        return f"no {noun}: {name} is not defined"
    return f"{name} is not defined (NaN)"


def shared_kind(systems: Sequence[System], plot: str) -> str:
    """Return the kind of the scores, which must be the same for thresholds on one axis."""
    return one_kind({s.name: str(s.dataset.attrs.get("kind", "distance")) for s in systems}, plot)


def one_kind(kinds: Mapping[str, str], plot: str) -> str:
    """Return the kind that several systems share, or raise :class:`DataError`."""
    if len(set(kinds.values())) > 1:
        plural_of = {"distance": "distances", "similarity": "similarities"}
        said = ", ".join(f"{name!r} holds {plural_of.get(k, k)}" for name, k in kinds.items())
        raise DataError(
            f"be.plot.{plot}: {said}, which have no axis in common; draw each on an axis of its "
            "own, with ax="
        )
    return next(iter(kinds.values()))


def threshold_label(kind: str) -> str:
    """Return the label of a threshold axis, which says what is accepted."""
    sign = "≥" if kind == "similarity" else "≤"
    return f"Threshold t ({kind}: accepted if {sign} t)"
