"""Checks of a list of pairs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bioeval.base.errors import counted
from bioeval.base.kinds import larger_is_closer
from bioeval.evaluation.distribution_checks import kind_finding, ties_finding
from bioeval.evaluation.score_checks import failures, far_finding, zero_impostors
from bioeval.results.findings import Finding, listed
from bioeval.scores.matrix import PairScores
from bioeval.scores.sentinels import far_value
from bioeval.tallies.data_scan import SHOWN, perfect_distance


def pair_checks(scores: PairScores) -> Iterator[Finding]:
    """Yield the findings of a list of pairs."""
    values = scores.values.astype(np.float64)
    sign = -1.0 if larger_is_closer(scores.kind) else 1.0
    failed = np.flatnonzero(np.isnan(values))
    infinite = np.flatnonzero(np.isinf(values))
    yield failures(
        scores, len(failed), listed(f"pair {i}" for i in failed[:SHOWN]), len(infinite),
        int((sign * values == -np.inf).sum()),
    )  # fmt: skip
    finite = values[np.isfinite(values)]
    far = far_value(finite, scores.kind)
    if far is None:
        yield Finding("sentinels", "ok", "no value far from all others is shared")
    else:
        hits = np.flatnonzero(values == far)
        yield far_finding(
            far, len(hits), counted(len(values), "pairs"), listed(f"pair {i}" for i in hits)
        )
    if scores.kind == "order":
        return
    perfect = sign * values == perfect_distance(scores.kind)
    places = np.flatnonzero(perfect & ~scores.genuine)
    yield zero_impostors(
        scores,
        len(places),
        int((~scores.genuine).sum()),
        listed(f"pair {i}" for i in places),
        copies=False,
    )
    known = ~np.isnan(values)
    yield kind_finding(
        scores, sign * values[known & scores.genuine], sign * values[known & ~scores.genuine], 0
    )
    yield ties_finding(finite)
