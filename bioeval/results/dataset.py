"""Results as numbers by name, and as datasets described by :mod:`bioeval.base.variables`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bioeval.base.scalars import Name
from bioeval.base.variables import COORDINATES
from bioeval.base.version import __version__
from bioeval.results.assembly import dataset_of
from bioeval.scores.provenance import Provenance

#: Ranks that are shown unless the protocol card names others.
RANKS = (1, 5, 10)

#: Variables that come first: of many, ``print(dataset)`` shows the first and the last six.
FIRST = (
    "eer", "eer_threshold", "frr_at_far", "dir_at_far", "threshold_at_far", "recognition_rate",
    "auc", "d_prime", "mean_ap", "mean_inp", "hter_mean", "far_mean", "frr_mean",
)  # fmt: skip

#: What labels the costs of decisions, which are scalars by prior.
COSTS = ("cost_prior", "cost_miss", "cost_false_accept")

#: Variables by name: dimensions and values, or a single number.
Variables = dict[str, Any]


def along(dims: tuple[str, ...], **values: Any) -> Variables:
    """Return variables over the same dimensions."""
    return {name: (dims, x) for name, x in values.items()}


class Scalars(NamedTuple):
    """Numbers of a task, single or by FAR target, cost or rank, with their labels."""

    variables: Variables
    labels: dict[str, np.ndarray]

    @classmethod
    def of_dataset(cls, dataset: xr.Dataset) -> Scalars:
        """Take the variables of a dataset besides its curves over the threshold."""
        return cls(
            {str(k): (tuple(map(str, x.dims)), x.values) for k, x in dataset.data_vars.items()},
            {str(k): x.values for k, x in dataset.coords.items() if k != "threshold"},
        )

    def at(self, chosen: np.ndarray) -> Scalars:
        """Return the values of some partitions, the first axis of every value."""
        variables = {k: (dims, values[chosen]) for k, (dims, values) in self.variables.items()}
        return Scalars(variables, self.labels)

    def plain(self, ranks: Sequence[int]) -> dict[str, Any]:
        """Return plain numbers; those over a dimension become mappings by its labels.

        Of the ranks those to show, and rank 1 of what depends on a FAR target too.
        """
        labels = {dim: values.tolist() for dim, values in self.labels.items()}
        shown = shown_ranks(ranks, labels.get("rank", ()))
        found: dict[str, Any] = {}
        for name, (dims, value) in in_order(self.variables).items():
            values = np.asarray(value)
            if dims == ("far_target", "rank"):
                dims, values = dims[:1], values[:, 0]
            if not dims:
                found[name] = values.item()
            elif len(dims) == 1 and dims[0] in labels and name not in COSTS:
                found[name] = dict(zip(labels[dims[0]], values.tolist(), strict=True))
            if dims == ("rank",):
                found[name] = {rank: found[name][rank] for rank in shown}
        return found


def in_order(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables, those of `FIRST` before the others."""
    return {**{name: variables[name] for name in FIRST if name in variables}, **variables}


def shown_ranks(ranks: Sequence[int], there: Sequence[int]) -> list[int]:
    """Return the ranks to show: those given, or `RANKS`, that the results reach.

    The first rank where they reach none of them.
    """
    return [rank for rank in ranks or RANKS if rank in there] or [*there[:1]]


def rate(count: np.ndarray | int, attempts: int) -> np.ndarray:
    """Return ``count / attempts`` in float64, NaN where there was no attempt."""
    return np.true_divide(count, attempts) if attempts else np.full(np.shape(count), np.nan)


def decisions(ga: np.ndarray, genuine: int, fa: np.ndarray, impostor: int) -> Variables:
    """Return rates and counts over the threshold, each rate over the attempts of its own class."""
    counts = {"ga": ga, "fr": genuine - ga, "fa": fa, "gr": impostor - fa}
    attempts = {"ga": genuine, "fr": genuine, "fa": impostor, "gr": impostor}
    rates = {
        name: rate(counts[of], attempts[of])
        for name, of in {"gar": "ga", "frr": "fr", "far": "fa", "grr": "gr"}.items()
    }
    over = ("threshold",)
    return {name: (over, values) for name, values in (rates | counts).items()}


def build(
    variables: Mapping[str, Any],
    names: Mapping[str, Name],
    coordinates: Mapping[str, np.ndarray],
    attrs: Mapping[str, str | int | float],
) -> xr.Dataset:
    """Return a Dataset whose variables carry their long name, units and ISO term.

    A variable is a pair of dimensions and values, or a single number. `names` may describe new
    coordinates, too.
    """
    found = {k: x if isinstance(x, tuple) else ((), x) for k, x in in_order(variables).items()}
    data = {k: _variable(dims, x, names[k]) for k, (dims, x) in found.items()}
    described = {**COORDINATES, **names}
    coords = {k: _variable((k,), x, described[k]) for k, x in coordinates.items()}
    return dataset_of(data, coords, dict(attrs))


def _variable(dims: tuple[str, ...], values: Any, name: Name) -> xr.Variable:
    """Return a variable of plain numbers, without xarray's check for dask arrays."""
    return xr.Variable(dims, np.asarray(values), name.attrs(), fastpath=True)


def about_attrs(
    about: Provenance, task: str, warnings: Iterable[str]
) -> dict[str, str | int | float]:
    """Return the attributes of every result: data, options and warnings."""
    prints = about.fingerprints
    shown = list(prints[:4]) + ([f"and {len(prints) - 4} more"] if len(prints) > 4 else [])
    return {
        "task": task,
        "system": about.name,
        "layout": about.layout,
        "kind": about.kind,
        "nan_policy": about.nan,
        "exclude": about.exclude,
        "probes": about.probes,
        "probe_subjects": len(about.probe_subjects),
        "enrolled_subjects": len(about.enrolled_subjects),
        "gallery_templates": about.gallery_templates,
        "gallery_subjects": about.gallery_subjects,
        "fingerprint": "; ".join(shown),
        "origin": about.origin,
        **({"reading": "; ".join(about.reading)} if about.reading else {}),
        **({"attacks_left_out": about.attacks} if about.attacks else {}),
        "bioeval_version": __version__,
        "warnings": "\n".join(dict.fromkeys([*about.notes, *_of_subjects(about), *warnings])),
    }


def _of_subjects(about: Provenance) -> list[str]:
    """Return the warning of labels that leave a class of attempts empty."""
    people = len(about.probe_subjects), len(about.enrolled_subjects), about.gallery_subjects
    if people == (1, 1, 1) and about.layout in ("all-against-all", "probe-against-gallery"):
        return ["all templates are of one subject: there is no impostor attempt; check the labels"]
    if about.layout == "all-against-all" and 1 < about.gallery_templates == about.gallery_subjects:
        return ["one template of each subject: there is no genuine attempt; check the labels"]
    return []


def max_ranks(longest: int, thresholds: int, max_rank: int | None, limit: int) -> tuple[int, str]:
    """Return the number of ranks to report, and a note if it is less than the attainable ones.

    These are as many as the `longest` candidate list has; all are reported where `thresholds`, the
    number of thresholds for each rank, times ranks is within the `limit`.
    """
    longest = max(1, longest)
    if max_rank is not None:
        return max_rank, ""
    if longest * thresholds <= limit or longest <= 100:
        return longest, ""
    return 100, (
        f"ranks 1 to 100 of {longest}: {longest} ranks x {thresholds} thresholds exceed "
        f"{limit:,} values; give `max_rank` for another number"
    )
