"""Checks of a list of pairs."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from bioeval.base.errors import counted
from bioeval.base.kinds import larger_is_closer
from bioeval.evaluation.copy_checks import (
    Copies,
    copy_finding,
    distance_of_copy,
    genuine_copies,
    near_limit,
)
from bioeval.evaluation.score_checks import end_finding, failures, kind_finding, ties_finding
from bioeval.results.findings import Finding, listed
from bioeval.scores.failure_codes import end_values
from bioeval.scores.pairs import PairScores
from bioeval.tallies.data_scan import SHOWN


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
    known = np.isfinite(values)
    finite, impostor = values[known], ~scores.genuine[known]
    ends = end_values(finite, impostor, scores.kind, copies=True)
    hits = [np.flatnonzero(values == end.value) for end in ends]
    yield end_finding(
        zip(ends, map(len, hits), strict=True), counted(len(values), "pairs"),
        listed(f"pair {i}" for places in hits for i in places),
    ) or Finding("sentinels", "ok", "no value at an end is shared by many")  # fmt: skip
    if scores.kind == "order":
        return
    distances = sign * values
    copy = distance_of_copy(scores.kind, distances[known])
    limit = near_limit(distances[known][impostor] - copy, int(impostor.sum()))
    exact, near = (
        np.flatnonzero(~scores.genuine & where)
        for where in (distances == copy, (distances != copy) & (abs(distances - copy) <= limit))
    )
    limit = math.nan if math.isnan(copy) else limit
    copies = Copies(len(exact), [(int(i), 0) for i in near], limit, [])
    where = listed(f"pair {i}" for i in [*exact, *near])
    own = np.flatnonzero(scores.genuine & (distances == copy))
    if len(own) and not len(exact) and not len(near):
        yield _genuine_copies(scores, own)
    else:
        yield copy_finding(scores, copies, int((~scores.genuine).sum()), where)
    known = ~np.isnan(values)
    yield kind_finding(
        scores, distances[known & scores.genuine], distances[known & ~scores.genuine], 0
    )
    yield ties_finding(finite)
    yield Finding("label-errors", "ok", "not looked for in a list of pairs: it takes a matrix")


def _genuine_copies(scores: PairScores, places: np.ndarray) -> Finding:
    """Return the finding about genuine pairs at the distance of a copy."""
    names = scores.templates
    differ = names is not None and (names.a[places] != names.b[places]).all()
    fault = len(places) < scores.genuine.sum() / 2
    what = " of different templates" if differ else ""
    where = listed(f"pair {i}" for i in places)
    return genuine_copies(scores, len(places), where, what, fault=fault)
