"""``be.calibration``: what log-likelihood ratios cost, and what the same scores could reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import xarray as xr

from bioeval.base.errors import Argument, DataError, counted, printable
from bioeval.base.kinds import PLURALS
from bioeval.base.progress import reported_to
from bioeval.results.blocks import (
    Block,
    FactList,
    Found,
    Note,
    Sentence,
    Table,
    Title,
    Warnings,
)
from bioeval.results.calibration import (
    LOG_ODDS,
    PRIORS,
    EqualisedRates,
    bayes_thresholds,
    calibration_dataset,
    check_costs,
    check_priors,
    wanted_distances,
)
from bioeval.results.words import excluded_by_system, number
from bioeval.scores.attacks import leaves_out_attacks
from bioeval.scores.blocks import Progress
from bioeval.scores.matrix import Scores
from bioeval.scores.template_columns import probe_column
from bioeval.tallies.attempts_within import attempts_within
from bioeval.tallies.calibration_counts import CalibrationCounts, count_for_calibration
from bioeval.tallies.thresholds import to_user


@leaves_out_attacks
def calibration(
    scores: Scores,
    priors: Sequence[float] = PRIORS,
    *,
    costs: tuple[float, float] = (1.0, 1.0),
    templates: str = "single",
    fusion: str = "min",
    equalise: str | None = None,
    progress: Progress | None = None,
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
    equalise : str, optional
        A metadata column of the probes. FRR and FAR in Cprimary are then means over the values of
        this column, each value with such attempts weighing the same, as in NIST's speaker
        recognition evaluations.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``, of one sweep after the other.

    Returns
    -------
    xarray.Dataset
        ``cllr``, ``min_cllr`` and ``calibration_loss`` in bits. Over ``prior``: ``act_dcf`` at the
        ``bayes_threshold`` with ``far_at_bayes`` and ``frr_at_bayes``, and ``min_dcf`` over all
        thresholds, both normalised by the cost of deciding by the prior alone. ``c_primary`` is
        the mean over the priors of ``FRR + beta FAR`` with ``beta = c_fa (1 - prior) / (c_miss
        prior)`` at the Bayes threshold ``ln beta``, ``min_c_primary`` that of the least over all
        thresholds. Over
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
    *Computer Speech and Language* 20, 230-275. Cprimary: NIST 2016 Speaker Recognition Evaluation
    Plan, section 3, with the priors 0.01 and 0.005. See ``docs/calibration.md``.

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
    if equalise is not None:
        if not isinstance(equalise, str):
            raise DataError(f"{Argument('equalise')} is {equalise!r}; expected a column's name")
        values = probe_column(scores, equalise, "equalise")
    ratios = scores.kind == "llr"
    with reported_to(progress):
        counts = count_for_calibration(
            scores,
            templates=templates,
            fusion=fusion,
            wanted=wanted_distances(checked, pair) if ratios else np.empty(0),
            shifts=LOG_ODDS if ratios else None,
        )
    options = {"templates": templates, "fusion": fusion if templates == "multi" else "none"}
    if equalise is None:
        return calibration_dataset(counts, checked, pair, options)
    rates = _equalised(scores, values, counts, bayes_thresholds(checked, pair), templates, fusion)
    options["equalised"] = equalise
    return calibration_dataset(counts, checked, pair, options, rates)


def _equalised(
    scores: Scores,
    values: np.ndarray,
    counts: CalibrationCounts,
    bayes: np.ndarray,
    templates: str,
    fusion: str,
) -> EqualisedRates:
    """Return FRR and FAR as means over the values of a probe column.

    The cost is least at a genuine score, or where all are rejected: between two genuine scores only
    false accepts grow.
    """
    thresholds = np.union1d(bayes, to_user(counts.genuine, scores.kind))
    thresholds = thresholds[~np.isnan(thresholds)]
    frr, far = [], []
    for value in np.unique(values):
        part = scores.select(probes=np.flatnonzero(values == value))
        found = attempts_within(part, thresholds, templates, fusion)
        if found.genuine_attempts:
            frr.append(1 - found.genuine / found.genuine_attempts)
        if found.impostor_attempts:
            far.append(found.impostor / found.impostor_attempts)
    none = np.full(len(thresholds), np.nan)
    means = (np.mean(x, axis=0) if x else none for x in (frr, far))
    return EqualisedRates(thresholds, *means)


_COSTS = {"Cllr": "cllr", "minimum Cllr": "min_cllr", "calibration loss": "calibration_loss"}

_PRIMARY = {
    "Cprimary, mean over the priors": "c_primary",
    "minimum Cprimary": "min_c_primary",
}

_BY_PRIOR = {
    "threshold": "bayes_threshold",
    "FAR, %": "far_at_bayes",
    "FRR, %": "frr_at_bayes",
    "actual": "act_dcf",
    "minimum": "min_dcf",
}


def blocks(found: Found) -> Iterator[Block]:
    """Yield Cllr of each system, and decision costs by prior."""
    yield Title("Calibration")
    facts = []
    for name, ds in found.items():
        made = f": {printable(str(ds.attrs['origin']))}" if ds.attrs["origin"] else ""
        genuine, impostor = (int(ds[f"{x}_attempts"]) for x in ("genuine", "impostor"))
        facts.append((name, f"{PLURALS[str(ds.attrs['kind'])]}{made}"))
        facts.append(("", f"{genuine:,} genuine, {counted(impostor, 'impostor attempts')}"))
    excluded = excluded_by_system({name: ds.attrs for name, ds in found.items()})
    yield FactList([*facts, ("Excluded", excluded)], indented=True)
    yield Sentence()
    ratios = any("cllr" in ds for ds in found.values())
    rows = [
        [f"{label}, bits", *(number(float(ds.get(name, np.nan)), ".4f") for ds in found.values())]
        for label, name in _COSTS.items()
        if ratios or name == "min_cllr"
    ]
    for label, name in _PRIMARY.items():
        if ratios or name == "min_c_primary":
            values = (number(float(ds.get(name, np.nan)), ".4f") for ds in found.values())
            rows.append([label, *values])
    yield Table(["", *found], rows, said="")
    for name, ds in found.items():
        yield Sentence()
        miss, false = (float(ds.attrs[f"cost_{x}"]) for x in ("miss", "false_accept"))
        yield Sentence(
            f"{name}: normalised decision cost, a miss costs {miss:g} and a false accept {false:g}"
        )
        shown = {head: ds[x].values.tolist() for head, x in _BY_PRIOR.items() if x in ds}
        rows = [
            [
                f"{prior:g}",
                *(
                    number(100 * x[i], ".3f") if head.endswith("%") else number(x[i], ".4f")
                    for head, x in shown.items()
                ),
            ]
            for i, prior in enumerate(ds["prior"].values.tolist())
        ]
        yield Table(["prior", *shown], rows)
    yield Sentence()
    actual = "Actual: at the Bayes threshold. " if ratios else ""
    yield Note(
        "Minimum: after the best monotone map, or at the best threshold, on these data "
        f"(optimistic). {actual}Cost 1 is that of decisions by the prior alone.",
        indented=False,
    )
    columns = {str(ds.attrs["equalised"]) for ds in found.values() if "equalised" in ds.attrs}
    for column in sorted(columns):
        text = f"Cprimary: every value of {printable(column)} has equal weight in FRR and in FAR."
        yield Note(text, indented=False)
    yield Warnings(found, reworded=False)
