"""The measures of GOM that follow from its curves over the threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError
from bioeval.counting.thresholds import check_thresholds
from bioeval.results.dataset import dataset
from bioeval.results.variables import GOM

# Curves may be published with two decimals: mReP may exceed its bound by the rounding of both.
_ROUNDING = 0.006


def gom_from_curves(
    threshold: Any,
    *,
    mrep: Any,
    mfr: Any,
    mrp: Any = None,
    mvp: Any = None,
    cmc: Any = None,
    name: str = "",
) -> xr.Dataset:
    """Return the measures of GOM that follow from published or saved curves.

    Parameters
    ----------
    threshold : increasing array of float, shape (t,)
        Thresholds of distances on the scale 0 ... 1.
    mrep : array of float, shape (t,)
        Mean re-identification precision: the mean over the queries of ``sqrt(RP VP)``. It does not
        follow from `mrp` and `mvp`: the root of the product of two means is larger than the mean
        of the roots, unless all queries have the same.
    mfr : array of float, shape (t,)
        Mean false rate of the queries whose identity is not in the gallery; NaN throughout if
        there are none.
    mrp, mvp : array of float, shape (t,), optional
        Mean ranking precision and mean verification precision.
    cmc : array of float, optional
        The CMC at ranks 1, 2 ...
    name : str
        Name of the system.

    Returns
    -------
    xarray.Dataset
        The curves over ``threshold`` and ``rank`` as they are given, with the names that
        :func:`gom` gives them, and the scalars ``mrep_area mfr_area tau_max tau_nz max_mrep``;
        with `mvp` ``max_mvp``; with `mrp` at a threshold of 1, where everything is retrieved,
        ``mean_ap``. Rates and areas are proportions.

    Raises
    ------
    DataError
        If a curve is not one of proportions at each threshold, a CMC falls, or `mrep` is larger
        than the root of `mrp` times `mvp`, which no queries give.

    Notes
    -----
    Definitions: Re-identification = Retrieval + Verification: Back to Essence and Forward with a
    New Metric (arXiv:2011.11506, 2020), whose Table 3 follows from the curves that its authors
    published; ``docs/reid.md``, "GOM".

    Examples
    --------
    >>> import bioeval as be
    >>> result = be.gom_from_curves([0, 0.5, 1], mrep=[0, 0.6, 0.4], mfr=[0, 0.2, 1])
    >>> float(result.max_mrep), float(result.tau_max), float(result.mfr_area)
    (0.6, 0.5, 0.35)
    """
    tau = check_thresholds(threshold, "threshold")
    means = _checked_means({"mrep": mrep, "mfr": mfr, "mrp": mrp, "mvp": mvp}, len(tau))
    scalars = summary_over_thresholds(tau, means)
    if "mrp" in means and (at_one := np.flatnonzero(tau == 1.0)).size:
        scalars["mean_ap"] = means["mrp"][at_one[0]]
    variables: dict[str, Any] = {k: (("threshold",), values) for k, values in means.items()}
    variables |= scalars
    coordinates = {"threshold": tau}
    if cmc is not None:
        values = _checked_curve("cmc", cmc)
        if not (np.diff(values) >= 0).all():
            raise DataError("cmc falls, or holds NaN; expected the CMC at ranks 1, 2 ...")
        variables["cmc"] = (("rank",), values)
        coordinates["rank"] = np.arange(1, len(values) + 1)
    attrs = {"result_type": "gom", "task": "GOM", "system": name, "origin": "curves"}
    return dataset(variables, GOM, coordinates, attrs)


def _checked_means(curves: Mapping[str, Any], length: int) -> dict[str, np.ndarray]:
    """Return the curves that are given, with proportions at each threshold."""
    means = {}
    for name, curve in curves.items():
        if curve is not None or name in ("mrep", "mfr"):
            means[name] = _checked_curve(name, curve, length)
    for name, values in means.items():
        is_nan = np.isnan(values)
        if is_nan.any() and (name != "mfr" or not is_nan.all()):
            index = int(np.argmax(is_nan))
            raise DataError(f"{name}[{index}] is NaN; expected a proportion at each threshold")
    if "mrp" in means and "mvp" in means:
        excess = means["mrep"] - np.sqrt(means["mrp"] * means["mvp"])
        if (excess > _ROUNDING).any():
            i = int(np.argmax(excess))
            raise DataError(
                f"mrep[{i}] = {means['mrep'][i]:g} is larger than the root of mrp[{i}] = "
                f"{means['mrp'][i]:g} times mvp[{i}] = {means['mvp'][i]:g}; a mean of roots never "
                "is: check that the curves are of the same queries"
            )
    return means


def _checked_curve(name: str, values: Any, length: int | None = None) -> np.ndarray:
    expected = "a list of proportions" if length is None else f"{length} numbers, one per threshold"
    try:
        curve = np.asarray(values)
    except ValueError as error:
        raise DataError(f"{name} is not an array: {error}; expected {expected}") from None
    is_numeric = curve.dtype.kind in "iuf" and curve.ndim == 1
    if not is_numeric or curve.size != (length or max(1, curve.size)):
        raise DataError(
            f"{name} has shape {curve.shape} and dtype {curve.dtype}; expected {expected}"
        )
    is_outside = (curve < 0) | (curve > 1)
    if is_outside.any():
        i = int(np.argmax(is_outside))
        raise DataError(
            f"{name}[{i}] = {curve[i]:g}; expected proportions from 0 to 1 (divide per cent by 100)"
        )
    return curve.astype(np.float64)


def summary_over_thresholds(tau: np.ndarray, means: dict[str, np.ndarray]) -> dict[str, np.float64]:
    """Return areas, maxima and their thresholds of ``mvp mrep mfr f1`` over `tau`, or NaN.

    Areas are by the trapezoidal rule. ``tau_max`` is the first threshold with the largest mReP, and
    ``tau_nz`` the first with mFR above 0.
    """
    mrep, mfr = means["mrep"], means["mfr"]
    unknown = np.float64(np.nan)
    is_finite = np.isfinite(tau).all()
    is_known = not np.isnan(mrep).any()
    accepts_any = not np.isnan(mfr).any() and (mfr > 0).any()
    scalars = {
        "mrep_area": np.float64(np.trapezoid(mrep, tau)) if is_finite else unknown,
        "mfr_area": np.float64(np.trapezoid(mfr, tau)) if is_finite else unknown,
        "max_mrep": mrep.max() if is_known else unknown,
        "tau_max": tau[int(np.argmax(mrep))] if is_known else unknown,
        "tau_nz": tau[int(np.argmax(mfr > 0))] if accepts_any else unknown,
    }
    if "mvp" in means:
        scalars["max_mvp"] = means["mvp"].max() if is_known else unknown
    if "f1" in means:
        f1 = means["f1"]
        scalars["max_f1"] = f1.max() if is_known else unknown
        scalars["tau_f1"] = tau[int(np.argmax(f1))] if is_known else unknown
    return scalars
