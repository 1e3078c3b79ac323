"""Whether data show, refute or leave open that a rate is at most a number."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bioeval.base.arguments import check_confidence, require_number
from bioeval.base.errors import DataError, ProtocolError
from bioeval.base.progress import steps_reported
from bioeval.counting.thresholds import require_values, to_internal
from bioeval.counting.verification import is_symmetric
from bioeval.results.dataset import about_attrs, dataset
from bioeval.results.support import beyond_scores
from bioeval.results.variables import Variable
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.matrix import Scores, require_scores
from bioeval.scores.provenance import Provenance
from bioeval.studies.assurance.assured import require_named_people
from bioeval.studies.assurance.limits import PeopleMeans
from bioeval.studies.assurance.shares import Shares, pair_shares
from bioeval.views.messages import sentence_about, warns_of_doubts

PROMISE = {
    "threshold": Variable("threshold that the promise is about", "score", keeps="exact"),
    "promise": Variable("largest rate that is promised"),
    "verdict": Variable("shown, refuted or open", ""),
    "people": Variable("number of people", "subjects"),
    "people_to_settle": Variable(
        "about how many people would decide the promise at this rate", "subjects"
    ),
}

for _rate, _iso in (("far", "FMR"), ("frr", "FNMR")):
    PROMISE[_rate] = Variable(f"{_rate.upper()} there", iso=_iso)
    for _end, _words in (("low", "lower"), ("high", "upper")):
        _long = f"one-sided {_words} limit of the {_rate.upper()} there"
        PROMISE[f"{_rate}_{_end}"] = Variable(_long, iso=_iso)


@warns_of_doubts
@leaves_out_attacks
def check_promise(
    scores: Scores,
    threshold: float,
    *,
    far: float | None = None,
    frr: float | None = None,
    confidence: float = 0.95,
) -> xr.Dataset:
    """Say whether data show, refute or leave open that a rate is at most a number.

    The threshold and the promise are fixed before these data were seen.

    Parameters
    ----------
    scores : Scores
        Of people who had no part in choosing the threshold: a matrix with labels, or a list whose
        lines name people.
    threshold : float
        Fixed beforehand, on other data than these.
    far, frr : float
        The promise: one of the two, above 0 and below 1.
    confidence : float
        Of each one-sided limit.

    Returns
    -------
    xarray.Dataset
        ``verdict``: ``"shown"`` (the upper limit is at most the promise), ``"refuted"`` (the lower
        limit is above it) or ``"open"``; ``far far_low far_high`` or ``frr frr_low frr_high``,
        means over pairs of people or over people; ``threshold promise people``, and
        ``people_to_settle``: about how many people would settle the promise at the observed rate,
        NaN where no number does.

    Raises
    ------
    DataError
        If the promise is none, both or not between 0 and 1.
    ProtocolError
        If the people of the scores are not known.

    Notes
    -----
    The limits are those of :func:`study_threshold` with `assure`: one-sided, of a mean over people
    or pairs of people (``docs/uncertainty.md``). Intervals of :func:`verification` differ: they are
    two-sided, and of all attempts. A second look at the promise with more data of the same people
    is not allowed for.

    Examples
    --------
    >>> import bioeval as be
    >>> found = be.check_promise(be.simulate(200, 4, random_state=2), 2.5, far=0.05)
    >>> found.verdict.item(), bool(found.far_high <= 0.05)
    ('shown', True)
    """
    promises = {name: rate for name, rate in (("far", far), ("frr", frr)) if rate is not None}
    if len(promises) != 1:
        raise DataError(f"give one promise, `far` or `frr`: {len(promises)} given")
    ((name, promise),) = promises.items()
    promise = require_number(name, promise, above=0.0, high=1.0)
    if promise == 1:
        raise DataError(f"`{name}` is 1, a rate that no threshold exceeds; expected less than 1")
    confidence = check_confidence(confidence)
    require_scores(scores)
    require_values(scores, "a promise")
    require_named_people(scores, "a promise")
    at = require_number("threshold", threshold)
    distance = float(to_internal(np.array([at]), scores.kind)[0])
    with steps_reported():
        shares = pair_shares(scores, at=distance)
    if name == "frr":
        means = _means_of_frr(shares, distance, is_symmetric(scores))
    elif shares.refusal is not None:
        raise ProtocolError(f"FAR cannot be assured: {sentence_about(shares.refusal)}")
    else:
        means = shares.means(np.array([0]))
    low, high = means.lower(confidence)[0], means.upper(confidence)[0]
    verdict = "open"
    if high <= promise:
        verdict = "shown"
    elif low > promise:
        verdict = "refuted"
    variables = {
        "verdict": verdict,
        name: float(means.mean[0]),
        f"{name}_low": float(low),
        f"{name}_high": float(high),
        "threshold": at,
        "promise": promise,
        "people": means.people,
        "people_to_settle": float(means.people_to_settle(promise, confidence)),
    }
    far, frr = float(shares.accepted[0]) if len(shares.accepted) else 0.0, shares.frr(distance)
    messages = beyond_scores(at, far, frr)
    attrs = about_attrs(Provenance.of(scores), "promise", "promise", messages)
    attrs |= {"confidence": confidence, "rate": name, "interval_method": "people"}
    this_gallery = name == "far" and shares.fixed_gallery
    attrs["interval_for"] = "this gallery" if this_gallery else "new people"
    return dataset(variables, PROMISE, {}, attrs)


def _means_of_frr(shares: Shares, distance: float, both_ways: bool) -> PeopleMeans:
    """Return the mean over people of each one's own FRR.

    There are no more independent trials than genuine attempts; `both_ways`, each is there twice.
    """
    attempts = np.bincount(shares.genuine_person)
    errors = np.bincount(shares.genuine_person, ~(shares.genuine <= distance))
    rates = errors[attempts > 0] / attempts[attempts > 0]
    n = len(rates)
    if n < 3:
        raise ProtocolError(
            f"there are only {n} people with genuine attempts; at least 3 are needed"
        )
    number = int(attempts.sum()) // (2 if both_ways else 1)
    return PeopleMeans.of(
        rates.sum(keepdims=True), n, rates[None], np.ones(n), number=number, independent=n
    )
