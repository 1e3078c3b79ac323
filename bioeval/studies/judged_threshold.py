"""A threshold that is chosen on a training set, and judged on a test set.

The definition::

    t = choose(rule, attempts of the training set)
    far = mean(impostor distances of the test set <= t)
    frr = mean(genuine distances of the test set > t)

The same people in both sets would make the errors optimistic, which a message says.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import Message, message_attrs, messages_of
from bioeval.base.progress import rows_reported
from bioeval.counting.operating_points import trivial_cost
from bioeval.counting.threshold_rules import Rule
from bioeval.counting.thresholds import require_values, to_user
from bioeval.results.attributes import about_attrs
from bioeval.results.dataset import Variables, dataset, variables_over
from bioeval.results.support import without_attempts
from bioeval.results.variables import VERIFICATION, Variable, entries
from bioeval.scores.alignment import require_one_scale
from bioeval.scores.matrix import Scores, require_all_scores, require_scores
from bioeval.scores.people import knows_people, people_of_both_sets, subject_pattern_of
from bioeval.scores.provenance import Provenance
from bioeval.showing.messages import warns_of_doubts
from bioeval.showing.numbers import threshold_text
from bioeval.stats.jackknife import limits_of_sum
from bioeval.stats.options import IntervalMethod, IntervalName, interval_of
from bioeval.studies.threshold_study import rates_at, threshold_accepts
from bioeval.tasks.verification_task import chosen_threshold

_COST = "prior c_miss FRR + (1 - prior) c_fa FAR, divided by that of the better trivial decision"
JUDGED: dict[str, Variable] = {
    "threshold": Variable(
        "threshold chosen on the training set",
        "score",
        "threshold T",
        shown="threshold",
        label="threshold",
    ),
    **entries(VERIFICATION, "far", "frr", "fa", "fr"),
    "eer": Variable(
        "EER of the test set, at its own best threshold (optimistic)",
        "proportion",
        label="EER of the test set",
        direction="smaller",
    ),
    **entries(VERIFICATION, "genuine_attempts", "impostor_attempts"),
    "dcf": Variable(
        f"cost of the decisions at this threshold: {_COST}",
        "cost",
        label="DCF (actual)",
        direction="smaller",
    ),
    "min_dcf": Variable(
        f"the least cost of any threshold on the test set: {_COST}",
        "cost",
        label="minDCF of the test set",
        direction="smaller",
    ),
}

#: Attributes that describe the intervals of the rates on the test set.
_INTERVAL_ATTRIBUTES = (
    *("interval_method", "confidence", "interval_unit", "interval_for"),
    "replicates",
)


@warns_of_doubts
def judge_threshold(
    train: Scores,
    test: Scores,
    target: Any = "far=0.001",
    *,
    interval: IntervalName | IntervalMethod | None = None,
) -> xr.Dataset:
    """Choose a threshold on a training set, and judge it on a test set.

    Parameters
    ----------
    train, test : Scores
        Training set (also called development set) and test set (evaluation set) of one system: the
        same kind of scores, a matrix or a list of pairs each; of different subjects, unless the
        threshold is for these very subjects.
    target : float or str
        A number, or the rule that chooses the threshold on `train`, as for
        :func:`study_threshold`: ``"eer"``, ``"far=0.001"``, ``"min-dcf=0.01"`` (the threshold of
        minDCF at a prior of 0.01), ``"cost=prior,c_miss,c_fa"`` ...
    interval : str or :class:`bioeval.stats.IntervalMethod`, optional
        Method of the intervals on `test`, as for :func:`bioeval.verification`:
        ``"people"`` by default, and ``"wilson"`` where the subjects are not known.

    Returns
    -------
    xarray.Dataset
        - ``threshold``, in the units of the scores
        - ``far``, ``frr``, ``fa``, ``fr``, ``genuine_attempts`` and ``impostor_attempts`` at this
          threshold, over ``part``, the sets ``"train"`` and ``"test"``
        - ``far_low``, ``far_high``, ``frr_low``, ``frr_high`` over ``part``: NaN in the set on
          which the threshold was chosen
        - ``eer`` of the test set

        A target with a prior also has:

        - ``dcf`` over ``part``: the actual cost of the test set, with ``dcf_low`` and ``dcf_high``,
          and the least cost of the training set
        - ``min_dcf``: the least cost of any threshold on the test set

    Raises
    ------
    DataError
        If the kinds of scores differ, or an option is wrong.
    ProtocolError
        If scores hold only an order, or the training set lacks a class of attempts.

    Notes
    -----
    Costs are normalised as minDCF is: divided by ``min(prior c_miss, (1 - prior) c_fa)``. The
    limits of ``dcf`` are those of a sum of two rates with their own limits, which are taken as
    independent: Zou, G. Y., Donner, A. (2008). Construction of confidence limits about effect
    measures. *Statistics in Medicine* 27, 1693-1702. The intervals take the threshold as given:
    they are of the errors of other people at this very threshold.

    Examples
    --------
    >>> import bioeval as be
    >>> train, test = be.simulate(40, 4, random_state=1), be.simulate(40, 4, random_state=2)
    >>> ds = be.judge_threshold(train, test, "min-dcf=0.01")
    >>> there = ds.sel(part="test")
    >>> print(f"{there.far:.4f} {there.frr:.3f}, DCF {there.dcf:.3f}, minDCF {there.min_dcf:.3f}")
    0.0013 0.429, DCF 0.556, minDCF 0.522
    """
    rule = Rule.parse(target, "target")
    require_scores(train)
    require_scores(test)
    for scores in (train, test):
        require_values(scores, "a threshold")
    require_one_scale(train, test, "a threshold", ("`train`", "`test`"))
    is_wilson_for_lack_of_people = interval is None and not knows_people(test)
    if interval is None:
        interval = "wilson" if is_wilson_for_lack_of_people else "people"
    method = interval_of(interval)
    require_all_scores(train)

    # The threshold, and the rates of both sets there.
    with rows_reported():
        chosen = chosen_threshold(train, rule, argument="target")
    has_cost = rule.name == "cost"
    on_train, _ = rates_at(train, chosen.threshold)
    on_test, verified = rates_at(test, chosen.threshold, method, [rule.values] if has_cost else ())
    if has_cost:
        on_train |= _cost(on_train, rule)
        on_test |= _cost(on_test, rule)
    variables: Variables = {**chosen.in_units(train.kind), "eer": verified["eer"].item()}
    if math.isfinite(chosen.threshold):
        next_of_test = float(verified["threshold_next"].values[0])
        variables["threshold_next"] = _next_of_both(test, variables | on_test, next_of_test)
    if has_cost:
        variables["min_dcf"] = verified["min_dcf"].values[0].item()
    variables |= variables_over(
        ("part",), **{name: [on_train[name], on_test[name]] for name in on_test}
    )

    # The result, with the message that says which scores the threshold accepts.
    remarks = [note.concerning("training set") for note in Provenance.from_scores(train).notes]
    remarks += people_of_both_sets(train, test)
    remarks += [
        without_attempts(role).concerning("test set")
        for role in ("genuine", "impostor")
        if not on_test[f"{role}_attempts"]
    ]
    if rule.name == "cost":
        prior, miss, accept = rule.values
        if on_test["dcf"] > 1:
            always = "rejects" if prior * miss <= (1 - prior) * accept else "accepts"
            cost = float(on_test["dcf"])
            remarks.append(Message("actual-cost-above-1", prior=prior, cost=cost, answer=always))
    for message in messages_of(verified.attrs):
        if is_wilson_for_lack_of_people and message.code == "dependent-attempts":
            message = Message("wilson-without-subjects", pattern=str(subject_pattern_of(test)))
        remarks.append(message)
    attrs: dict[str, Any] = about_attrs(
        Provenance.from_scores(test), "judged-threshold", "threshold judged on a test set", remarks
    )
    attrs |= {x: verified.attrs[x] for x in _INTERVAL_ATTRIBUTES if x in verified.attrs}
    attrs |= {
        **rule.attrs("the training set"),
        "train_system": str(train.name),
        "train_fingerprint": train.fingerprint,
    }
    judged = dataset(variables, JUDGED, {"part": np.array(["train", "test"])}, attrs)
    answer = threshold_accepts(judged, "Given" if rule.name == "fixed" else "Chosen")
    return judged.assign_attrs(message_attrs([answer], attrs))


def _next_of_both(test: Scores, variables: Variables, next_of_test: float) -> float:
    """Return the nearest score of both sets that the threshold rejects, or a number before it.

    - `variables`: the threshold, its errors on the test set, and as ``threshold_next`` the nearest
      score of the training set
    - `next_of_test`: the nearest score of the test set. If the set has too many attempts to list,
      it may be nearer than all scores: then attempts are counted at the printed threshold.
    """
    threshold = variables["threshold"]
    next_of_train = variables["threshold_next"]
    nearer = max if test.kind == "similarity" else min
    printed = float(threshold_text(threshold, next_of_train))
    is_before_both = nearer(next_of_test, printed) == printed
    if math.isnan(next_of_train) or is_before_both:
        return nearer(next_of_test, next_of_train)
    rates, _ = rates_at(test, to_user(printed, test.kind))
    if any(rates[name] != variables[name] for name in ("fa", "fr")):
        return next_of_test
    return float(np.nextafter(printed, next_of_train))


def _cost(rates: Mapping[str, Any], rule: Rule) -> dict[str, float]:
    """Return the normalised cost of the decisions of a set, with its limits, NaN without any.

    The cost is ``(prior miss FRR + (1 - prior) accept FAR) / trivial``, where ``trivial`` is the
    smaller of the costs of accepting all and of rejecting all.
    """
    prior, miss, accept = rule.values
    trivial = float(trivial_cost(prior, miss, accept))
    if not trivial:
        return dict.fromkeys(("dcf", "dcf_low", "dcf_high"), math.nan)
    weight_of_frr = prior * miss / trivial
    weight_of_far = (1 - prior) * accept / trivial

    def weighted(rate: str, weight: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return a rate with its lower and its upper limit, times a weight."""
        value, low, high = rates[rate], rates[f"{rate}_low"], rates[f"{rate}_high"]
        return weight * np.asarray(value), weight * np.asarray(low), weight * np.asarray(high)

    frr, far = weighted("frr", weight_of_frr), weighted("far", weight_of_far)
    low, high = limits_of_sum(frr, far, least=0.0)
    dcf = weight_of_frr * rates["frr"] + weight_of_far * rates["far"]
    return {"dcf_low": float(low), "dcf_high": float(high), "dcf": dcf}
