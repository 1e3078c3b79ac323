"""Verification by demographic group."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_number
from bioeval.base.errors import Argument, DataError
from bioeval.base.messages import Message, message_attrs
from bioeval.base.progress import report_rows, rows_reported
from bioeval.counting.by_subject import SubjectAttempts
from bioeval.counting.folds import FoldAttempts, Subset
from bioeval.counting.reduce import reduce
from bioeval.counting.threshold_rules import Rule, choose, no_such_threshold
from bioeval.counting.thresholds import require_values, to_user
from bioeval.counting.verification import is_symmetric
from bioeval.results.support import KindVerdict
from bioeval.scores.blocks import threads_for
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.labels import Codes, plain
from bioeval.scores.matrix import Scores, require_scores
from bioeval.scores.provenance import Provenance
from bioeval.scores.template_values import with_known_values
from bioeval.stats.options import IntervalMethod, interval_of
from bioeval.stats.people import people_counts
from bioeval.studies.groups.group_rates import GroupRates, group_intervals, groups_dataset
from bioeval.views.messages import warn_of_kind

# More groups are refused: counts of all their pairs would take too much memory.
MOST_GROUPS = 256


@leaves_out_attacks
def by_group(
    scores: Scores,
    group: Any,
    *,
    threshold: Any = "eer",
    alpha: float = 0.5,
    interval: Literal["people"] | IntervalMethod | None = None,
) -> xr.Dataset:
    """Evaluate verification by demographic group: FRR of each, and FAR of each pair of groups.

    Parameters
    ----------
    scores : Scores
        A matrix with labels, or a list of pairs with the subjects of both sides.
    group : str, array_like, or pair of array_like
        Metadata column of the groups. Both sides have it; or one value a template of
        all-against-all scores; or the values of the probes and those of the gallery (of listed
        pairs, of the second and of the first names). All templates of a subject are of one group.
    threshold : float or str
        Threshold: a number, or a rule applied to all groups together. A rule is ``"eer"``,
        ``"far=0.001"`` (the loosest threshold), ``"hter"``, ``"cost=prior,c_miss,c_fa"``.
    alpha : float
        Weight of FAR in FDR and GARBE, from 0 to 1. That of FRR is ``1 - alpha``.
    interval : {None, "people"}
        Add confidence intervals by subject: those of the jackknife over the people of each group.
        The threshold of all groups stays.

    Returns
    -------
    xarray.Dataset
        Over ``group``, sorted: ``frr fr genuine_attempts subjects``; over ``group`` (of the probe)
        and ``claimed_group``: ``far fa impostor_attempts``. Scalars ``threshold frr_overall
        far_overall``, and of FAR within groups and FRR: ``fdr`` (1: all groups alike), ``garbe``
        (0: all alike), ``far_max_over_min far_max_over_geomean frr_max_over_min
        frr_max_over_geomean`` (NaN where a rate is 0). With an interval, ``_low`` and ``_high`` of
        each; those of the measures are their smallest and largest values while all rates keep
        within ``frr_simultaneous_low frr_simultaneous_high far_simultaneous_low
        far_simultaneous_high``, limits over ``group`` that hold for all groups together.
        ``frr_groups_p far_groups_p``: p-values by permutation, of the hypothesis that people of all
        groups have the same distribution. Over ``group, other_group``, of FRR and of FAR within
        groups (``far_``): ``frr_difference frr_difference_low frr_difference_high``, the group
        minus the other one, with limits that hold for all pairs of groups together, and
        ``frr_separated``: 1 where the group is shown to have the larger rate, -1 the smaller, else
        0; over ``group`` ``frr_letters``: groups that share a letter cannot be told apart. Groups
        of fewer than 30 subjects have no part in any of these.

        ``few_subjects frr_flagged far_flagged`` are 1 where there are fewer than 30 subjects, or
        fewer than 30 errors are expected at the overall rate (``expected_fr expected_fa``; each
        pair of a symmetric matrix once): too little to rank groups by. :func:`bioeval.messages`
        names them.

    Raises
    ------
    DataError
        If a column is unknown or has missing values, a subject is in two groups, or an option is
        wrong; NaN under ``nan="raise"``.
    ProtocolError
        If subjects are unknown, or scores hold only an order.

    Notes
    -----
    With ``x`` the FAR within each of ``n`` groups and ``y`` their FRR: ``fdr = 1 - (alpha max|x_i -
    x_j| + (1 - alpha) max|y_i - y_j|)`` (de Freitas Pereira and Marcel 2021, "Fairness in
    biometrics: a figure of merit to assess biometric verification systems", IEEE T-BIOM 4);
    ``garbe = alpha G(x) + (1 - alpha) G(y)`` with the Gini coefficient ``G(x) = n / (n - 1) sum_ij
    |x_i - x_j| / (2 n^2 mean(x))`` (Howard, Laird, Rubin, Sirotin, Tipton and Vemury 2022,
    "Evaluating proposed fairness models for face recognition algorithms"). ISO/IEC 19795-10 names
    the terms: differential performance of demographic groups. ``docs/groups.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(80, 4, random_state=1)
    >>> group = ["f" if subject % 2 else "m" for subject in scores.probe_labels]
    >>> ds = be.by_group(scores, group, threshold="far=0.01")
    >>> ds.frr.to_series().round(3).to_dict()
    {'f': 0.121, 'm': 0.146}
    >>> ds.far.values.round(3)
    array([[0.009, 0.011],
           [0.011, 0.009]])
    """
    options = interval_of(interval, ["people"])
    rule = Rule.parse(threshold)
    alpha = require_number("alpha", alpha, low=0, high=1)
    advice = ""
    if scores.layout == "pairs" and not isinstance(group, str):
        advice = "; the first array is of the probes, which are the second names of the pairs"
    require_scores(scores)
    require_values(scores, "verification by group")
    SubjectAttempts.require_people(scores, purpose="verification by group")
    scores, sides = with_known_values(scores, group, "group")
    codes = scores.codes
    everyone = np.append(codes.probe, codes.gallery)
    groups, of_code = _groups_of_subjects(everyone, codes.values, *sides, advice)
    as_distance = rule.as_distance(scores.kind)
    of_sides = of_code[codes.probe], of_code[codes.gallery]
    counting = FoldAttempts(None, [of_sides], [[(Subset(),)]], as_distance, Rule("eer"))
    with rows_reported(passes=2):
        ((((attempts,),),),) = reduce(scores, counting)
        report_rows(scores.shape[0], scores.shape[0])  # of a second pass that may not be needed
    chosen = choose(as_distance, attempts)
    who = np.unique(everyone)
    doubt = KindVerdict.doubt(
        attempts.equal_error().eer,
        scores.kind,
        min(len(who), attempts.genuine_attempts),
        fused=bool(scores.claims),
        metric=scores.metric,
    )
    warn_of_kind(doubt)
    at = to_user(np.array([chosen.threshold]), scores.kind)
    subjects = np.bincount(of_code[who[~codes.no_person[who]]], minlength=len(groups))
    rates = GroupRates(float(at[0]), chosen.defined, subjects, counting.by_fold(chosen.threshold))
    ds = groups_dataset(rates, groups, alpha, Provenance.of(scores), is_symmetric(scores))
    is_given = rule.name == "fixed"
    messages = [] if doubt is None else [doubt]
    if attempts.defined and not chosen.defined:
        messages.append(Message("no-threshold", why=no_such_threshold(rule, attempts)))
    ds.attrs |= {
        "by": group if isinstance(group, str) else "given values",
        "threshold_rule": str(rule),
        "threshold_rule_in_words": rule.words,
        "chosen_on": "given" if is_given else "the same data; its errors there are optimistic",
        **message_attrs(messages, ds.attrs),
    }
    if options is not None:
        with threads_for(scores):
            counts = people_counts(scores, at)
            ds = group_intervals(ds, counts, of_code[who], options, defined=chosen.defined)
    return ds


def _groups_of_subjects(
    subject: np.ndarray,
    names: np.ndarray,
    probe: np.ndarray,
    gallery: np.ndarray,
    advice: str,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of the groups, sorted, and the group of each subject by its code.

    `subject` has the subject's code of each template of either side, `names` are those of codes;
    `advice` ends the error of a subject in several groups.
    """
    codes = Codes(probe, gallery, Argument("group"))
    labels, order = _sorted(codes.values[np.union1d(codes.probe, codes.gallery)])
    place = np.full(len(codes.values), -1, dtype=np.int64)
    place[np.union1d(codes.probe, codes.gallery)[order]] = np.arange(len(order))
    if len(labels) > MOST_GROUPS:
        raise DataError(
            f"{Argument('group')} has {len(labels):,} groups; expected at most {MOST_GROUPS}: a "
            "group is of many subjects"
        )
    of_template = place[np.concatenate([codes.probe, codes.gallery])]
    group = np.full(len(names), -1, dtype=np.int64)
    group[subject] = of_template
    wrong = np.flatnonzero(group[subject] != of_template)
    if len(wrong):
        who = np.unique(subject[wrong])
        first = plain(names[subject[wrong[0]]])
        several = labels[np.unique(of_template[subject == subject[wrong[0]]])].tolist()
        more = f" ({len(who):,} subjects have several)" if len(who) > 1 else ""
        raise DataError(
            f"{Argument('group')}: subject {first!r} is in the groups "
            f"{', '.join(map(repr, several))}{more}; expected one group for all templates of a "
            f"subject{advice}"
        )
    return labels, group


def _sorted(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of groups, numbers or text, in increasing order, and that order."""
    plain_values = list(map(plain, values.tolist()))
    if all(isinstance(value, (int, float)) and abs(value) < 2**63 for value in plain_values):
        numbers = np.array(plain_values)
        if numbers.dtype.kind == "b":
            numbers = numbers.astype(np.int64)
        order = np.argsort(numbers, kind="stable")
        return numbers[order], order
    texts = list(map(str, values.tolist()))
    order = np.argsort(np.array(texts, dtype=str), kind="stable")
    return np.array(texts, dtype=str)[order], order
