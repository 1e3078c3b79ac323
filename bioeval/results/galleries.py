"""The mean of results over galleries, each at its own thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError, counted

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
