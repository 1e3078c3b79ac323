"""Failures to acquire and to enrol: verification rates over everyone who attempts."""

from __future__ import annotations

from typing import overload

import xarray as xr

from bioeval.base.arguments import require_number
from bioeval.base.errors import DataError, ProtocolError
from bioeval.results.attributes import tree_of
from bioeval.results.variables import FAILURES, SUPPORTED, described

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
        Failure-to-acquire rate, to add rates that include it. It is the proportion of attempts by
        enrolled people in which no sample could be taken, or none from which features could be
        extracted.
    fte : float
        Failure-to-enrol rate, to add rates that include it. It is the proportion of people who
        cannot be enrolled.

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
        If the results already include failures; if an attempt consists of several tries, since one
        failed try does not fail the attempt; or if failed comparisons were counted as rejections
        (``nan="reject"``), since FTA would count them twice.

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
        if not any(map(_is_verification, nodes.values())):
            raise DataError("`fta` and `fte` need results of verification")
        for path, node in nodes.items():
            if _is_verification(node):
                nodes[path] = _with_failures(node, fta, fte)
            else:
                nodes[path] = node.copy()
        return tree_of(nodes)
    if not isinstance(ds, xr.Dataset) or not _is_verification(ds):
        raise DataError("ds is not a result of be.verification; expected its far and frr")
    return _with_failures(ds, fta, fte)


def _is_verification(ds: xr.Dataset) -> bool:
    return "templates" in ds.attrs and "far" in ds and ds["far"].dims == ("threshold",)


def _with_failures(ds: xr.Dataset, fta: float, fte: float) -> xr.Dataset:
    if "fta" in ds.attrs:
        raise ProtocolError("these results include failures already; give results without them")
    if ds.attrs.get("most_tries", 1) > 1:
        raise ProtocolError(
            "`fta` is of single tries, and these attempts are of several: an attempt fails if all "
            "of its tries fail. Leave `fta` and `fte` out"
        )
    if failed := ds.attrs.get("failed_attempts", 0):  # an attribute where failures are rejected
        raise ProtocolError(
            f"{failed} failed comparisons are rejected attempts already, and would count twice; "
            'give `nan="exclude"`, or leave `fta` and `fte` out'
        )
    variables = {}
    for name, variable in ds.data_vars.items():
        measure, ending = str(name)[:3], str(name)[3:]
        if measure not in ("far", "frr") or f"{measure}_iso{ending}" not in FAILURES:
            continue
        # ISO/IEC 19795-1. Failures are rejected: they count in FRR, and never in FAR.
        counts_failures = float(measure == "frr")
        with_acquisition = fta * counts_failures + variable.values * (1 - fta)
        with_enrolment = fte * counts_failures + (1 - fte) * with_acquisition
        rates = {f"{measure}_iso{ending}": with_acquisition, f"g{measure}{ending}": with_enrolment}
        for rate, values in rates.items():
            variables[rate] = variable.dims, values, FAILURES[rate].attrs
            support = f"{rate}{SUPPORTED}"
            if (of_rate := f"{name}{SUPPORTED}") in ds:
                about = described(FAILURES, support).attrs
                variables[support] = ds[of_rate].dims, ds[of_rate].values, about
    return ds.assign(variables).assign_attrs(fta=fta, fte=fte, failures=_ASSUMED)
