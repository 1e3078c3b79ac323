"""FAR and FRR of several tries at a claim, computed exactly."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.arguments import (
    check_confidence,
    require_integer,
    require_list,
    require_number,
)
from bioeval.base.errors import DataError
from bioeval.base.messages import Message, message_attrs
from bioeval.base.progress import rows_reported
from bioeval.counting.thresholds import require_values, to_internal
from bioeval.results.attributes import about_attrs
from bioeval.results.dataset import Variables, dataset, threshold_with_next, variables_over
from bioeval.results.support import beyond_scores
from bioeval.results.variables import COORDINATES, VERIFICATION, Variable, entries
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.claim_scores import described_tries
from bioeval.scores.matrix import Scores
from bioeval.scores.provenance import Provenance
from bioeval.scores.requirements import require_all_scores, require_subjects
from bioeval.showing.messages import warns_of_doubts
from bioeval.studies.thresholds.judged_threshold import rates_at
from bioeval.studies.tries.pools import Pools

# The largest number of tries at a claim.
_MOST_TRIES = 10**12

_LOGGED = "of the visits as they are, accepted if one of their tries is"

_LEFT_OUT = "pairs of a person and a claimed person with fewer tries, left out"

VARIABLES: dict[str, Variable] = {
    "tries": Variable(
        "number of tries at a claim; tries of all visits are pooled, and each claim counts once",
        "tries",
        label="tries",
    ),
    "threshold": COORDINATES["threshold"],
    **entries(VERIFICATION, "far", "frr", "genuine_attempts", "impostor_attempts"),
    "far_logged": Variable(
        f"FAR {_LOGGED}", "proportion", "FMR", label="{far} of the visits as they are"
    ),
    "frr_logged": Variable(
        f"FRR {_LOGGED}", "proportion", "FNMR", label="{frr} of the visits as they are"
    ),
    "genuine_pairs_left_out": Variable(
        f"genuine {_LEFT_OUT}", "pairs", dims=("tries",), detail="verbose"
    ),
    "impostor_pairs_left_out": Variable(
        f"impostor {_LEFT_OUT}", "pairs", dims=("tries",), detail="verbose"
    ),
}


@warns_of_doubts
@leaves_out_attacks
def tries(
    scores: Scores,
    threshold: float,
    tries: int | Sequence[int] = (1, 2, 3),
    *,
    confidence: float = 0.95,
) -> xr.Dataset:
    """Estimate FAR and FRR of claims with several tries, exactly and without drawing.

    A logged visit ends at the first try that is accepted, usually for the person's own claim.
    Compared with another claimed subject, the visit has fewer tries than an impostor would make,
    and its FAR is too small. Here every claim has the same number of tries.

    Parameters
    ----------
    scores : Scores
        Scores of claims from :func:`claim_scores` with `attempts`, so that the tries of each visit
        are known. In other scores each probe is taken as a visit with one try, and its best score
        against the templates of the claimed subject counts.
    threshold : float
        A try is accepted at this threshold.
    tries : int or sequence of int
        Number of tries at a claim. One number, or several.
    confidence : float
        Two-sided confidence of the limits.

    Returns
    -------
    xarray.Dataset
        Over ``tries``:

        - ``far`` and ``frr``, with limits by people, ``_low`` and ``_high``
        - ``genuine_attempts`` and ``impostor_attempts``: the claims that count
        - ``genuine_pairs_left_out`` and ``impostor_pairs_left_out``: pairs of a person and a
          claimed person with fewer tries

        Scalars: ``threshold``, and ``far_logged`` and ``frr_logged``, the rates of the visits as
        they are.

    Raises
    ------
    DataError
        If there are no subjects, or a number of tries is not from 1 to 10**12.

    Notes
    -----
    - The tries of all visits of a person with a claimed person are pooled; the scores of a try are
      fused over the templates. Tries of unknown people are left out.
    - If ``r`` of ``n`` tries are rejected, ``1 - C(r, k) / C(n, k)`` of the choices of ``k`` tries
      have an accepted try. Each claim counts once, with the value of its pair of people.
    - The limits on either side are the limits of :func:`check_promise` (``docs/uncertainty.md``).
    - If visits end at the first accepted try, FRR is estimated too small, by a fifth to a third in
      simulations (``docs/choose-threshold.md``).
    - Tries are treated as exchangeable. Where they are not, because a person learns within a visit
      or a camera is blinded for all of its tries, several tries help less than pooled tries do.

    Examples
    --------
    >>> import bioeval as be
    >>> door = be.simulate(30, 3, layout="probe-against-gallery", probes=6, sessions=3,
    ...     random_state=3)
    >>> claims = be.claim_scores(door, attempts="session")
    >>> ds = be.tries(claims, 3.3, [1, 3])
    >>> bool(ds.far[0] < ds.far[1]), bool(ds.frr[0] > ds.frr[1])
    (True, True)
    """
    try_counts = check_tries(tries)
    confidence = check_confidence(confidence)
    require_all_scores(scores)
    require_subjects(scores, "rates of several tries")
    require_values(scores, "rates of several tries")
    threshold = require_number("threshold", threshold)
    distance = float(to_internal(np.array([threshold]), scores.kind)[0])
    with rows_reported():
        pools = Pools.from_scores(scores, distance)
    columns = _columns(pools, try_counts, (1 + confidence) / 2)
    variables: Variables = {
        "threshold": threshold,
        **variables_over(("tries",), **columns),
    }
    # Judged with the fewest tries, since more tries are accepted more often at any threshold.
    messages = beyond_scores(threshold, columns["far"][0], columns["frr"][0])
    if scores.tries > 1:
        logged, _ = rates_at(scores, distance)
        variables |= {"far_logged": logged["far"], "frr_logged": logged["frr"]}
    for role in ("genuine", "impostor"):
        attempts = columns[f"{role}_attempts"]
        undefined = [count for count, n in zip(try_counts, attempts, strict=True) if not n]
        if undefined:
            messages.append(Message("fewer-tries", role=role, tries=min(undefined)))
    about = Provenance.from_scores(scores)
    attrs: dict[str, Any] = about_attrs(about, "tries", "claims with several tries", messages)
    attrs |= {"confidence": confidence, "interval_method": "people", "chosen_on": "given"}
    # As for the fewest tries, for which the fewest pairs of people are left out.
    is_for_gallery = pools.rate("far", try_counts[0]).fixed_gallery
    attrs["interval_for"] = "this gallery" if is_for_gallery else "new people"
    if not scores.claims:
        attrs["use"] = described_tries(scores)
    ds = dataset(variables, VARIABLES, {"tries": np.array(try_counts, dtype=np.int64)}, attrs)
    return ds.assign_attrs(message_attrs(_answers(ds), attrs))


def _columns(
    pools: Pools, try_counts: Sequence[int], one_sided_confidence: float
) -> dict[str, np.ndarray]:
    columns: dict[str, np.ndarray] = {}
    for name, role in (("far", "impostor"), ("frr", "genuine")):
        rates = [pools.rate(name, try_count) for try_count in try_counts]
        limits = []
        for rate in rates:
            judged = rate.judged(one_sided_confidence)
            limits.append((math.nan, math.nan) if judged is None else judged.limits_at(rate.mean))
        low, high = np.array(limits).T
        columns |= {
            name: np.array([rate.mean for rate in rates]),
            f"{name}_low": low,
            f"{name}_high": high,
            f"{role}_attempts": np.array([rate.attempts for rate in rates]),
            f"{role}_pairs_left_out": np.array([rate.left_out for rate in rates]),
        }
    return columns


def _answers(ds: xr.Dataset) -> Iterator[Message]:
    try_counts = ds["tries"].values.tolist()
    far = ds["far"].values.tolist()
    frr = ds["frr"].values.tolist()
    if math.isnan(far[-1]) or math.isnan(frr[-1]):
        return
    fewest: dict[str, Any] = {}
    if len(try_counts) > 1:
        fewest = {"fewest": try_counts[0], "far_of_fewest": far[0], "frr_of_fewest": frr[0]}
    yield Message(
        "rates-of-tries",
        **threshold_with_next(ds),
        tries=try_counts[-1],
        far_of_tries=far[-1],
        frr_of_tries=frr[-1],
        **fewest,
    )


def check_tries(tries: Any) -> list[int]:
    """Return numbers of tries in increasing order.

    Raise :class:`DataError` for a number below 1 or above `_MOST_TRIES`, or without any.
    """
    is_number = not isinstance(tries, list | tuple | np.ndarray | range)
    several = [tries] if is_number else require_list("tries", tries)
    try_counts = sorted({require_integer("tries", x, low=1, high=_MOST_TRIES) for x in several})
    if not try_counts:
        raise DataError("`tries` is empty; expected a number of tries, such as 3")
    return try_counts
