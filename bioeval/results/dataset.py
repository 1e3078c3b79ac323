"""Datasets whose variables bear the descriptions of :mod:`bioeval.base.variables`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.scalars import Name
from bioeval.base.variables import COORDINATES
from bioeval.base.version import __version__
from bioeval.scores.about import About


def rate(count: np.ndarray | int, attempts: int) -> np.ndarray:
    """Return ``count / attempts`` in float64, NaN where there was no attempt."""
    counts = np.asarray(count, dtype=np.float64)
    return counts / attempts if attempts else np.full(counts.shape, np.nan)


def build(
    variables: Mapping[str, tuple[tuple[str, ...], Any]],
    names: Mapping[str, Name],
    coordinates: Mapping[str, np.ndarray],
    attrs: Mapping[str, str | int | float],
) -> xr.Dataset:
    """Return a Dataset whose variables carry their long name, units and ISO term."""
    data = {k: (dims, values, names[k].attrs()) for k, (dims, values) in variables.items()}
    coords = {k: (k, v, COORDINATES[k].attrs()) for k, v in coordinates.items()}
    return xr.Dataset(data, coords, dict(attrs))


def about_attrs(about: About, task: str, warnings: Iterable[str]) -> dict[str, str | int | float]:
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
        "bioeval_version": __version__,
        "warnings": "\n".join(dict.fromkeys([*about.notes, *warnings])),
    }


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
