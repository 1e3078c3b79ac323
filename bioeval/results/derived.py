"""Results made of results: rates with failures to acquire, and means over galleries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, overload

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_number
from bioeval.base.errors import Argument, DataError, ProtocolError, counted
from bioeval.base.scalars import Name
from bioeval.results.dataset import tree_of

_FAILURES = {
    "frr_iso": Name("false reject rate with failures to acquire: FTA + FRR (1 - FTA)", iso="FRR"),
    "far_iso": Name("false accept rate with failures to acquire: FAR (1 - FTA)", iso="FAR"),
    "gfrr": Name("generalised false reject rate: FTE + (1 - FTE) FRR_iso", iso="GFRR"),
    "gfar": Name("generalised false accept rate: (1 - FTE) FAR_iso", iso="GFAR"),
}

#: Variables of :func:`bioeval.with_failures`.
FAILURES = {
    f"{name}{ending}": Name(f"{what.long_name}{where}", what.units, what.iso)
    for name, what in _FAILURES.items()
    for ending, where in (
        ("", ""),
        ("_low", "; lower end of its interval, FTA and FTE taken as known"),
        ("_high", "; upper end of its interval, FTA and FTE taken as known"),
        ("_at_eer", "; at eer_threshold"),
        ("_at_far", "; the smallest with FAR at most the target"),
        ("_at_far_low", "; the smallest with FAR at most the target: lower end of its interval"),
        ("_at_far_high", "; the smallest with FAR at most the target: upper end of its interval"),
    )
}

_ASSUMED = (
    "ISO/IEC 19795-1, of zero-effort impostors and single attempts: FTA and FTE are taken as known "
    "and as independent of the scores"
)


@overload
def with_failures(ds: xr.Dataset, *, fta: float = 0.0, fte: float = 0.0) -> xr.Dataset: ...
@overload
def with_failures(ds: xr.DataTree, *, fta: float = 0.0, fte: float = 0.0) -> xr.DataTree: ...
def with_failures(
    ds: xr.Dataset | xr.DataTree, *, fta: float = 0.0, fte: float = 0.0
) -> xr.Dataset | xr.DataTree:
    """Return a result of verification with rates that include failures to acquire and to enrol.

    Parameters
    ----------
    ds : xarray.Dataset or DataTree
        A result of :func:`verification`; or of :func:`evaluate`, whose other tasks stay as they
        are.
    fta : float
        Failure-to-acquire rate: proportion of the attempts of enrolled people in which no sample
        could be taken, or none from which features could be extracted.
    fte : float
        Failure-to-enrol rate: proportion of people who cannot be enrolled.

    Returns
    -------
    xarray.Dataset or DataTree
        The same with ``frr_iso = FTA + FRR (1 - FTA)``, ``far_iso = FAR (1 - FTA)``, ``gfrr = FTE +
        (1 - FTE) FRR_iso`` and ``gfar = (1 - FTE) FAR_iso`` over ``threshold``; ending in
        ``_at_eer`` at the threshold of the EER, ``frr_iso_at_far`` and ``gfrr_at_far`` over
        ``far_target`` (FAR without failures), and ``_low`` and ``_high`` where there are intervals.

    Raises
    ------
    DataError
        If a rate is not in [0, 1], or these are no results of verification.
    ProtocolError
        If failures are in the results already; of transactions, in which one failure is not the
        failure of the attempt; and where failed comparisons were counted as rejections
        (``nan="reject"``), which would count FTA twice.

    Notes
    -----
    ISO/IEC 19795-1: false accept and reject rates, generalised false accept and reject rates. FRR
    and FAR of :func:`verification` are its FNMR and FMR. Zero-effort impostors, single attempts,
    failures independent of the scores.

    Examples
    --------
    >>> import bioeval as be
    >>> ds = be.verification(be.simulate(60, 4))
    >>> more = be.with_failures(ds, fta=0.02, fte=0.01)
    >>> print(f"{ds.frr_at_eer:.3f} {more.frr_iso_at_eer:.3f} {more.gfrr_at_eer:.3f}")
    0.039 0.058 0.068
    """
    fta = require_number("fta", fta, low=0.0, high=1.0)
    fte = require_number("fte", fte, low=0.0, high=1.0)
    if isinstance(ds, xr.DataTree):
        nodes = {x.path.strip("/"): x.to_dataset() for x in ds.subtree if x.has_data}
        known = {path for path, one in nodes.items() if _is_verification(one)}
        if not known:
            raise DataError(f"{Argument('fta')} and {Argument('fte')} need results of verification")
        return tree_of(
            {k: _added(x, fta, fte) if k in known else x.copy() for k, x in nodes.items()}
        )
    if not isinstance(ds, xr.Dataset) or not _is_verification(ds):
        raise DataError("ds is not a result of be.verification; expected its far and frr")
    return _added(ds, fta, fte)


def _is_verification(ds: xr.Dataset) -> bool:
    return "templates" in ds.attrs and "far" in ds and ds["far"].dims == ("threshold",)


def _added(ds: xr.Dataset, fta: float, fte: float) -> xr.Dataset:
    """Return one result with failures."""
    if "fta" in ds.attrs:
        raise ProtocolError("these results include failures already; give those without")
    if ds.attrs.get("attempts"):
        raise ProtocolError(
            f"{Argument('fta')} is of single attempts, and these are transactions of several "
            f"({Argument('attempts', ds.attrs['attempts'])}): a transaction fails where all of its "
            "probes do. Leave one of the two out"
        )
    if ds.attrs.get("nan_policy") == "reject" and ds.attrs.get("failed_attempts", 1):
        failed = ds.attrs.get("failed_attempts", "some")
        raise ProtocolError(
            f"{failed} failed comparisons are rejected attempts already, and {Argument('fta')} "
            f"would count failures twice; give {Argument('nan', 'exclude')}, or leave it out"
        )
    added = {
        name: (ds[of].dims, values, FAILURES[name].attrs())
        for of in map(str, ds.data_vars)
        for name, values in _rates(of, ds[of].values, fta, fte)
    }
    return ds.assign(added).assign_attrs(fta=fta, fte=fte, failures=_ASSUMED)


def _rates(of: str, rate: np.ndarray, fta: float, fte: float) -> Iterator[tuple[str, np.ndarray]]:
    """Return the rates with failures of a variable, by name; none unless it is FAR or FRR."""
    what, ending = of[:3], of[3:]
    if what not in ("far", "frr") or f"{what}_iso{ending}" not in FAILURES:
        return
    missed = float(what == "frr")  # what becomes of a failure: rejected
    iso = fta * missed + rate * (1 - fta)
    yield f"{what}_iso{ending}", iso
    yield f"g{what}{ending}", fte * missed + (1 - fte) * iso


#: Rates that are averaged, where the results have them.
_MEANS = ("eer", "auc", "frr_at_far", "dir_at_far", "cms", "recognition_rate", "cmc", "mean_ap")

#: Attempts, which are added up; no mean is weighed by them.
_SUMS = ("genuine_attempts", "impostor_attempts", "attempts", "skipped", "queries")


def mean_over_galleries(results: Mapping[str, xr.Dataset]) -> xr.Dataset:
    """Return the mean of the rates of one task over several galleries.

    Each gallery keeps its own threshold at each FAR, and all galleries weigh the same: attempts are
    never pooled. IJB-C's figures are such means, over its galleries G1 and G2.

    Parameters
    ----------
    results : mapping of str to Dataset
        The result of one task, such as :func:`bioeval.open_set`, for each gallery by name, with the
        same FAR targets.

    Returns
    -------
    xarray.Dataset
        The means of ``dir_at_far`` over ``far_target, rank``, ``cms`` and ``cmc`` over ``rank``,
        ``frr_at_far`` over ``far_target``, and ``eer auc recognition_rate mean_ap``, as far as the
        results have them, NaN where that of some gallery is; the sums of the attempts; in the
        attributes ``galleries``. Ranks that not all galleries have are left out. There are no
        curves over thresholds, which differ between the galleries.

    Raises
    ------
    DataError
        If there are fewer than two galleries, or they are results of different tasks, or at
        different FAR targets.

    Notes
    -----
    Definition: Maze and others, IARPA Janus Benchmark - C (ICB 2018), 1:N identification;
    ``docs/definitions.md``, "Several galleries".

    Examples
    --------
    >>> import numpy as np, bioeval as be
    >>> values, probes = np.array([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7]]), ["ann", "bob", "eve"]
    >>> results = {
    ...     name: be.open_set(be.Scores(values[:, [i]], probes, [name]), far_targets=[0.1])
    ...     for i, name in enumerate(["ann", "bob"])
    ... }
    >>> be.mean_over_galleries(results).dir_at_far.values
    array([[1.]])
    """
    if not isinstance(results, Mapping) or not all(
        isinstance(x, xr.Dataset) for x in results.values()
    ):
        raise DataError(f"results is {type(results).__name__}; expected results by name, a mapping")
    if len(results) < 2:
        raise DataError(f"results has {counted(len(results), 'galleries')}; expected at least two")
    every = list(results.values())
    tasks = {str(dataset.attrs.get("task", "")) for dataset in every}
    if len(tasks) > 1:
        raise DataError(f"results are of different tasks: {', '.join(sorted(tasks))}")
    first = every[0]
    shared = [name for name in (*_MEANS, *_SUMS) if all(name in dataset for dataset in every)]
    coordinates: dict[str, Any] = {}
    for dim in dict.fromkeys(str(dim) for name in shared for dim in first[name].dims):
        length = min(dataset.sizes[dim] for dataset in every) if dim == "rank" else None
        labels = [dataset[dim].values[:length] for dataset in every]
        if any(not np.array_equal(labels[0], other) for other in labels[1:]):
            raise DataError(f"results are at different values of {dim}; evaluate all at the same")
        coordinates[dim] = (dim, labels[0], first[dim].attrs)
    variables = {}
    for name in shared:
        dims = first[name].dims
        size = {str(dim): slice(len(coordinates[str(dim)][1])) for dim in dims}
        values = np.stack([x[name].transpose(*dims).isel(size).values for x in every])
        together = values.mean(axis=0) if name in _MEANS else values.sum(axis=0)
        variables[name] = (dims, together, first[name].attrs)
    shared_attrs = set.intersection(*(set(dataset.attrs.items()) for dataset in every))
    attrs = {k: v for k, v in first.attrs.items() if (k, v) in shared_attrs}
    attrs.pop("enrolled_subjects", None)  # equal numbers of different subjects
    for name in ("gallery_templates", "gallery_subjects"):
        attrs[name] = sum(int(dataset.attrs[name]) for dataset in every)
    notes = [
        f"means over the galleries {', '.join(results)}, each at its own thresholds; attempts "
        "are sums and no weights of the means"
    ]
    for dataset in every:
        notes += str(dataset.attrs.get("warnings", "")).splitlines()
    attrs |= {"galleries": " ".join(results), "warnings": "\n".join(dict.fromkeys(notes))}
    return xr.Dataset(variables, coordinates, attrs)
