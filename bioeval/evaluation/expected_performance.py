"""Expected performance: thresholds chosen on a development set, errors on a test set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_increasing_proportions
from bioeval.base.errors import Argument, DataError, require_choice
from bioeval.base.scalars import Name
from bioeval.base.variables import VERIFICATION, picked
from bioeval.results.blocks import Block, DataHeader, Found, Note, Sentence, Table, Title, Warnings
from bioeval.results.dataset import about_attrs, along, build
from bioeval.results.words import percent, thresholds_in_one_precision
from bioeval.scores.arrays import parse_fusion
from bioeval.scores.blocks import BlockReader, Progress, threads_for
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.matrix import Scores
from bioeval.tallies.counts import VerificationTally
from bioeval.tallies.point_search import refine
from bioeval.tallies.second_pass import PointsWanted
from bioeval.tallies.sweep import run_jobs
from bioeval.tallies.thresholds import require_values, to_user
from bioeval.tallies.verification_job import TEMPLATES, VerificationJob

EPC: dict[str, Name] = {
    "threshold": Name(
        "strictest threshold that minimises alpha FAR + (1 - alpha) FRR on the development set",
        "score",
    ),
    "hter": Name("half total error rate on the test set: (FAR + FRR) / 2"),
    **picked(VERIFICATION, "far", "frr", "fa", "fr", "genuine_attempts", "impostor_attempts"),
    "dev_error": Name("smallest alpha FAR + (1 - alpha) FRR on the development set"),
    "dev_genuine_attempts": Name("genuine attempts of the development set", "attempts"),
    "dev_impostor_attempts": Name("impostor attempts of the development set", "attempts"),
}

# HTER on the test set at which a threshold of the development set decides nothing.
_USELESS = 0.45

#: Default weights of FAR: 0, 0.01 ... 1.
ALPHAS = tuple(k / 100 for k in range(101))


@leaves_out_attacks
def epc(
    dev: Scores,
    test: Scores,
    *,
    alphas: Sequence[float] = ALPHAS,
    templates: str = "single",
    fusion: str = "min",
    progress: Progress | None = None,
) -> xr.Dataset:
    """Evaluate expected performance: errors on a test set at thresholds of a development set.

    Parameters
    ----------
    dev, test : Scores
        Development and test set of one system: the same kind of scores, a matrix or a list of pairs
        each; of other subjects, unless the threshold is to be used for these very subjects. A
        second system has two sets of its own.
    alphas : increasing sequence of float
        Weights of FAR, from 0 to 1. For each, the threshold minimises ``alpha FAR + (1 - alpha)
        FRR`` on the development set, the strictest in a tie.
    templates, fusion
        As for :func:`bioeval.verification`.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``, for one set after the other.

    Returns
    -------
    xarray.Dataset
        Over ``alpha``: ``threshold``, and at it ``hter far frr fa fr`` on the test set, with
        ``dev_error``, the weighted error on the development set. Scalars ``genuine_attempts
        impostor_attempts`` and, of the development set, ``dev_genuine_attempts
        dev_impostor_attempts``.

    Raises
    ------
    DataError
        If the kinds of scores differ, alphas do not increase, or an option is wrong.
    ProtocolError
        If scores hold only an order, or a list of pairs is to be multi-template.

    Notes
    -----
    Thresholds are the scores of the development set themselves and the one that rejects all
    (``-inf``; ``inf`` for similarities; NaN where a score has that very value). Ties are decided on
    exact fractions, `alphas` by their decimal values. Bengio and Mariethoz 2004, "The expected
    performance curve: a new assessment measure for person authentication", Odyssey.
    ``docs/groups.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> dev, test = be.simulate(40, 4, random_state=1), be.simulate(40, 4, random_state=2)
    >>> be.epc(dev, test, alphas=[0.1, 0.5, 0.9]).hter.values.round(3)
    array([0.04 , 0.036, 0.054])
    """
    chosen = require_increasing_proportions("alphas", alphas)
    require_choice("templates", templates, TEMPLATES)
    parse_fusion(fusion)
    readers = BlockReader(dev), BlockReader(test)
    for scores in (dev, test):
        require_values(scores, "an EPC")
    require_one_kind(dev, test)
    options = {"templates": templates, "fusion": fusion}
    half = Fraction(1, 2)  # twice the cost of which is the weighted error
    costs = np.array([[half, 1 - alpha, alpha] for alpha in chosen], dtype=object)
    job = VerificationJob(dev, readers[0], **options)
    job.wanted = PointsWanted(np.empty(0), costs, every_score=True)
    (made,) = run_jobs(dev, readers[0], [job], progress)
    with threads_for(dev):
        points = refine(
            made,
            lambda: job.sweep(readers[0]),
            job.wanted,
            symmetric=False,
            second_pass=job.second_pass,
        )
    at = points.min_cost_threshold
    known = np.unique(to_user(at[~np.isnan(at)], dev.kind))
    judge = VerificationJob(test, readers[1], thresholds=known if len(known) else None, **options)
    (judged,) = run_jobs(test, readers[1], [judge], progress)
    attempts = attempts_of(judged)
    attempts |= {f"dev_{name}": n for name, n in attempts_of(made).items()}
    fa, fr = errors_at(judged, at)
    defined = attempts["dev_genuine_attempts"] > 0 and attempts["dev_impostor_attempts"] > 0
    far, frr = (
        errors / attempts[name] if defined and attempts[name] else np.full(len(at), np.nan)
        for errors, name in ((fa, "impostor_attempts"), (fr, "genuine_attempts"))
    )
    over = ("alpha",)
    variables: dict[str, Any] = {
        **along(
            over,
            threshold=to_user(at, dev.kind),
            hter=(far + frr) / 2,
            far=far,
            frr=frr,
            fa=fa,
            fr=fr,
            dev_error=2 * points.min_cost,
        ),
        **attempts,
    }
    remarks = [f"development set: {note}" for note in readers[0].about.notes]
    remarks += without_attempts(attempts) + _of_one_system(
        np.array(chosen, dtype=np.float64), points.min_cost, far, frr
    )
    attrs = about_attrs(readers[1].about, f"expected performance, {templates}-template", remarks)
    attrs |= options | {
        "fusion": fusion if templates == "multi" else "none",
        "chosen_on": "the development set",
        "dev_fingerprint": dev.fingerprint,
    }
    return build(variables, EPC, {"alpha": np.array(chosen, dtype=np.float64)}, attrs)


def _of_one_system(
    alphas: np.ndarray, dev_cost: np.ndarray, far: np.ndarray, frr: np.ndarray
) -> list[str]:
    """Warn that the sets may be of different systems if the threshold has no effect."""
    i = int(np.argmin(np.abs(alphas - 0.5)))
    hter = (far[i] + frr[i]) / 2
    if not (hter >= _USELESS and 2 * dev_cost[i] <= hter / 2):
        return []
    return [
        f"at the threshold for alpha {alphas[i]:g} the test set has FAR {100 * far[i]:.4g} % and "
        f"FRR {100 * frr[i]:.4g} %, the development set a weighted error of "
        f"{200 * dev_cost[i]:.4g} %: both may be of different systems, or of different scales"
    ]


def without_attempts(attempts: Mapping[str, Any]) -> list[str]:
    """Warn of classes without attempts, by the names of their numbers."""
    return [
        f"no {name.replace('_', ' ').replace('dev ', '').removesuffix('s')} in the "
        f"{'development' if name.startswith('dev') else 'test'} set: rates are not defined (NaN)"
        for name, number in attempts.items()
        if not number
    ]


def require_one_kind(dev: Scores, test: Scores) -> None:
    """Raise :class:`DataError` unless a threshold of one set means something to the other."""
    if dev.kind != test.kind:
        raise DataError(
            f"{Argument('dev')} holds {dev.kind} scores and {Argument('test')} {test.kind} scores; "
            "a threshold of one means nothing to the other"
        )


def attempts_of(tally: VerificationTally) -> dict[str, int]:
    """Return the numbers of genuine and of impostor attempts."""
    return {"genuine_attempts": len(tally.genuine), "impostor_attempts": tally.impostor.total}


def errors_at(tally: VerificationTally, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return false accepts and false rejects at thresholds (distances); NaN rejects all."""
    number = attempts_of(tally)
    fa = np.zeros(len(at), dtype=np.int64)
    fr = np.full(len(at), number["genuine_attempts"], dtype=np.int64)
    known = ~np.isnan(at)
    if known.any():
        assert tally.given is not None
        fa[known] = tally.given.at_most(at[known])
        fr[known] -= np.searchsorted(tally.genuine, at[known], side="right")
    return fa, fr


# Points that are shown of a longer curve.
_SHOWN = 11


def shown_points(number: int) -> list[int]:
    """Return the points that a table shows of a curve, from the first to the last."""
    places = np.linspace(0, number - 1, min(number, _SHOWN)).round().astype(int)
    return np.unique(places).tolist()


def blocks(found: Found) -> Iterator[Block]:
    """Yield the errors of a system at some weights, or HTER of several side by side."""
    first, several = next(iter(found.values())), len(found) > 1
    yield Title("Expected performance")
    yield DataHeader(found)
    yield Note(
        "Thresholds minimise alpha FAR + (1 - alpha) FRR on the development set"
        f"{' of each system' if several else ''}; errors are of the test set"
    )
    yield Sentence()
    rows = []
    for i in shown_points(first.sizes["alpha"]):
        rates = [ds["hter"] for ds in found.values()]
        cells: list[Any] = []
        if not several:
            rates = [first[name] for name in ("hter", "far", "frr")]
            cells = [float(first["threshold"][i])]
        cells += [percent(float(rate[i]), unit="") for rate in rates]
        rows.append([f"alpha {float(first['alpha'][i]):g}", *cells])
    if several:
        yield Sentence("HTER, %, on the test set")
        yield Table([" ", *found], rows, said="")
    else:
        rows = thresholds_in_one_precision(rows, 1)
        yield Table([" ", "threshold", "HTER, %", "FAR, %", "FRR, %"], rows)
    yield Warnings(found)
