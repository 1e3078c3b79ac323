"""Re-identification over time: mAP, mReP and mFR of the queries that were seen in each bin."""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.evaluation.reid import Named, plan_gom
from bioeval.results.dataset import Variables
from bioeval.results.query_means import QueryMean
from bioeval.results.reid import gom_measures
from bioeval.scores.blocks import Progress
from bioeval.scores.matrix import Scores

#: Variables by the measure of GOM that they are the mean of.
_MEANS = {"mean_ap": "mean_ap", "mrep": "mrep", "mfr": "mfr"}


def reid_over_time(
    scores: Scores,
    convention: Named,
    budget: int | None,
    threshold: float,
    codes: np.ndarray,
    bins: int,
    progress: Progress | None = None,
) -> tuple[Variables, dict[str, Any]]:
    """Return the measures of re-identification of each bin, and their attributes.

    As :func:`bioeval.gom` gives them of the queries of a bin, at one distance that is not
    normalised; `codes` are the bins of the queries, -1 for none.
    """
    given = {"budget": budget}
    job, options = plan_gom(scores, convention, [threshold], False, given)
    measures = gom_measures(job.run(progress), options).means
    queries = {
        "reid_queries": _number(measures["mrep"].counted, codes, bins),
        "open_queries": _number(measures["mfr"].counted, codes, bins),
    }
    variables: Variables = {
        name: (("time",), _means(measures[of], codes, bins)) for name, of in _MEANS.items()
    }
    variables |= {name: (("time",), number) for name, number in queries.items()}
    rules = job.convention
    return variables, {
        "reid_convention": rules.name,
        "reid_removes": rules.removed,
        "reid_junk": rules.junk_in_words,
        "reid_ties": options.ties,
        "reid_variant": options.variant,
        "budget": options.budget,
    }


def _number(counted: np.ndarray, codes: np.ndarray, bins: int) -> np.ndarray:
    return np.bincount(codes[counted & (codes >= 0)], minlength=bins)


def _means(mean: QueryMean, codes: np.ndarray, bins: int) -> np.ndarray:
    """Return the mean over the queries of each bin, NaN where there are none."""
    of = codes[mean.query]
    order = np.argsort(of, kind="stable")
    starts = np.searchsorted(of[order], np.arange(bins + 1))
    values = mean.values.reshape(len(of))[order]
    sums = [values[low:high].sum() for low, high in zip(starts, starts[1:], strict=False)]
    number, means = _number(mean.counted, codes, bins), np.full(bins, np.nan)
    return np.divide(sums, number, out=means, where=number > 0)
