"""``be.calibration``: what log-likelihood ratios cost, and what the same scores could reach."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from bioeval.base.errors import Argument, DataError
from bioeval.results.calibration import (
    LOG_ODDS,
    PRIORS,
    calibration_dataset,
    check_costs,
    check_priors,
    wanted_distances,
)
from bioeval.scores.matrix import Scores
from bioeval.tallies.calibration_counts import count_for_calibration


def calibration(
    scores: Scores,
    priors: Sequence[float] = PRIORS,
    *,
    costs: tuple[float, float] = (1.0, 1.0),
    templates: str = "single",
    fusion: str = "min",
) -> xr.Dataset:
    """Evaluate scores as log-likelihood ratios: Cllr, and decision costs by prior.

    Parameters
    ----------
    scores : Scores
        Of ``kind="llr"``, natural log-likelihood ratios; of other kinds only the minima are given.
        The attempts are those of :func:`verification`.
    priors : sequence of float
        Prior probabilities of a genuine attempt, at which decisions are judged.
    costs : (float, float)
        Of a miss (false reject) and of a false accept.
    templates, fusion
        As for :func:`verification`.

    Returns
    -------
    xarray.Dataset
        ``cllr``, ``min_cllr`` and ``calibration_loss`` in bits. Over ``prior``: ``act_dcf`` at the
        ``bayes_threshold`` with ``far_at_bayes`` and ``frr_at_bayes``, and ``min_dcf`` over all
        thresholds, both normalised by the cost of deciding by the prior alone. Over
        ``prior_log_odds``: ``bayes_error``, ``min_bayes_error``, ``ece``, ``min_ece`` and
        ``reference_ece``. Over ``llr``: ``genuine_above`` and ``impostor_above``. Over
        ``pav_block``, the blocks of isotonic regression: ``pav_llr``, ``pav_low``, ``pav_high``,
        ``pav_genuine``, ``pav_impostor``. NaN where a class has no attempt.

    Raises
    ------
    DataError
        If priors or costs are outside their range, or the scores hold NaN and say nothing of it.
    ProtocolError
        If the scores are an order only, or subjects are needed and not known.

    Notes
    -----
    Exact over all attempts, in three sweeps over the scores; memory is that of the genuine scores.
    Bruemmer, N., du Preez, J. (2006). Application-independent evaluation of speaker detection.
    *Computer Speech and Language* 20, 230-275. See ``docs/calibration.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(40, 4, random_state=1)
    >>> ratios = be.Calibrator().fit(scores).transform(scores)
    >>> found = be.calibration(ratios, priors=[0.5, 0.01])
    >>> print(f"{found.cllr.item():.3f} {found.min_cllr.item():.3f}")
    0.140 0.128
    """
    checked, pair = check_priors(priors), check_costs(costs)
    if not isinstance(scores, Scores):
        raise DataError(f"{Argument('scores')} is {type(scores).__name__}; expected bioeval.Scores")
    ratios = scores.kind == "llr"
    counts = count_for_calibration(
        scores,
        templates=templates,
        fusion=fusion,
        wanted=wanted_distances(checked, pair) if ratios else np.empty(0),
        shifts=LOG_ODDS if ratios else None,
    )
    options = {"templates": templates, "fusion": fusion if templates == "multi" else "none"}
    return calibration_dataset(counts, checked, pair, options)
