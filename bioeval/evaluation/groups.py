"""Verification by demographic group."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_number
from bioeval.base.engine import Client
from bioeval.base.errors import Argument, DataError, require_choice
from bioeval.base.random import RandomState
from bioeval.evaluation.blocks.engine import distributable
from bioeval.evaluation.chosen_threshold import rule_of
from bioeval.evaluation.ticker import ticker
from bioeval.results.groups import Grouping, groups_dataset
from bioeval.scores.blocks import BlockReader, Progress, require_subjects, threads_for
from bioeval.scores.labels import Codes, plain
from bioeval.scores.matrix import PairScores, Scores
from bioeval.scores.template_columns import template_columns
from bioeval.stats.groups import group_intervals
from bioeval.stats.options import BOOTSTRAPS, CONFIDENCE, REPLICATES, IntervalOptions
from bioeval.tallies.by_group import count_groups, count_listed
from bioeval.tallies.by_subject import SubjectAttempts, codes_of_pairs, require_pair_subjects
from bioeval.tallies.points import FAR_TARGETS, check_far_targets
from bioeval.tallies.symmetry import is_symmetric
from bioeval.tallies.thresholds import require_values
from bioeval.tallies.verification_job import VerificationJob

# Up to this many comparisons are listed one by one.
LISTED = 1 << 17

# More groups are refused: counts of all their pairs would take too much memory.
MOST_GROUPS = 256


@distributable
def by_group(
    scores: Scores,
    group: Any,
    *,
    threshold: Any = "eer",
    far_targets: Sequence[float] = FAR_TARGETS,
    templates: str = "single",
    fusion: str = "min",
    alpha: float = 0.5,
    interval: str | None = None,
    confidence: float = CONFIDENCE,
    replicates: int = REPLICATES,
    random_state: RandomState = 0,
    progress: Progress | None = None,
    client: Client | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> xr.Dataset:
    """Evaluate verification by demographic group: FRR of each, and FAR of each pair of groups.

    Parameters
    ----------
    scores : Scores
        A matrix with labels, or a list of pairs with the subjects of both sides.
    group : str, array_like, or pair of array_like
        A metadata column that both sides have; one value a template of all-against-all scores; or
        the values of the probes and those of the gallery (of listed pairs, of both sides). All
        templates of a subject are of one group.
    threshold : float, str or tuple
        A number in the units of the scores, or a rule as for :func:`cross_evaluate`, which is
        applied to all attempts together: ``"eer"``, ``("far", 0.001)`` (the loosest threshold),
        ``"hter"``, ``("cost", prior, c_miss, c_fa)``.
    far_targets : sequence of float
        For each, the threshold and the FRR of each group alone, by its own impostor attempts.
    templates, fusion
        As for :func:`bioeval.verification`.
    alpha : float
        Weight of FAR in FDR and GARBE, from 0 to 1; that of FRR is ``1 - alpha``.
    interval : {None, "subject-bootstrap", "subject-bootstrap-bca", "subject-bootstrap-logit"}
        Method of the confidence intervals; none by default, since they take another sweep.
        Subjects are resampled, of all groups together. The threshold of all groups stays; those of
        each group are chosen anew in each replicate.
    confidence, replicates, random_state
        As for :func:`bioeval.verification`.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``.
    client, checkpoint
        As for :func:`tally`.

    Returns
    -------
    xarray.Dataset
        Over ``group``, sorted: ``frr fr genuine_attempts subjects``; over ``group`` (of the probe)
        and ``claimed_group``: ``far fa impostor_attempts``; over ``group, far_target``:
        ``threshold_at_far frr_at_far``, from the impostor attempts within the group. Scalars
        ``threshold frr_overall far_overall``, and of FAR within groups and FRR: ``fdr`` (1: all
        groups alike), ``garbe`` (0: all alike), ``far_max_over_min far_max_over_geomean
        frr_max_over_min frr_max_over_geomean`` (NaN where a rate is 0). With an interval,
        ``_low`` and ``_high`` of each.

        ``few_subjects frr_flagged far_flagged frr_at_far_flagged`` are 1 where there are fewer
        than 30 subjects, or fewer than 30 errors are expected at the overall rate or at the target
        (``expected_fr expected_fa expected_fa_at_far``; each pair of a symmetric matrix once):
        too little to rank groups by. The attribute ``warnings`` names them.

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
    >>> ds = be.by_group(scores, group, threshold=("far", 0.01))
    >>> ds.frr.to_series().round(3).to_dict()
    {'f': 0.121, 'm': 0.146}
    >>> ds.far.values.round(3)
    array([[0.009, 0.011],
           [0.011, 0.009]])
    """
    if interval is not None:
        require_choice("interval", interval, BOOTSTRAPS)
    options = IntervalOptions.parse(interval, confidence, replicates, random_state)
    rule, targets = rule_of(threshold), check_far_targets(far_targets)
    alpha = require_number("alpha", alpha, low=0, high=1)
    reader = BlockReader(scores)
    require_values(scores, "verification by group")
    codes = _subjects(scores)
    groups, of_code = _groups_of_subjects(codes, *template_columns(scores, group, "group"))
    job = VerificationJob(scores, reader, templates=templates, fusion=fusion)
    attempts = SubjectAttempts(job, reader)
    of_person = of_code[np.unique(np.concatenate([codes.probe, codes.gallery]))]
    distance_rule = rule.as_distance(scores.kind)
    if isinstance(scores, PairScores) or math.prod(scores.shape) <= LISTED:
        with threads_for(scores):
            tally = count_listed(attempts, of_person, distance_rule)
    else:
        sides = of_code[codes.probe], of_code[codes.gallery]
        tick = ticker(progress, 2 * scores.shape[0])
        tally = count_groups(reader, sides, distance_rule, targets, (templates, fusion), tick)
    symmetric = templates == "single" and is_symmetric(scores)
    subjects = np.bincount(of_person, minlength=len(groups))
    ds = groups_dataset(tally, Grouping(groups, subjects), targets, alpha, symmetric)
    given = rule.name == "fixed"
    ds.attrs |= {
        "by": group if isinstance(group, str) else "given values",
        "templates": templates,
        "fusion": fusion if templates == "multi" else "none",
        "threshold_rule": str(rule),
        "threshold_rule_in_words": rule.words,
        "chosen_on": "given" if given else "the same data; its errors there are optimistic",
    }
    if options is not None:
        with threads_for(scores):
            ds = group_intervals(ds, tally, attempts, of_person, options)
    return ds


def _subjects(scores: Scores) -> Codes:
    """Return the subjects of the attempts as codes."""
    if isinstance(scores, PairScores):
        require_pair_subjects(scores, "verification by group")
        return codes_of_pairs(scores)
    require_subjects(scores, "verification by group")
    return scores.codes


def _groups_of_subjects(
    codes: Codes, probe: np.ndarray, gallery: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of the groups, sorted, and the group of each subject by its code."""
    found = Codes(probe, gallery, str(Argument("group")))
    labels, order = _sorted(found.values[np.union1d(found.probe, found.gallery)])
    place = np.full(len(found.values), -1, dtype=np.int64)
    place[np.union1d(found.probe, found.gallery)[order]] = np.arange(len(order))
    if len(labels) > MOST_GROUPS:
        raise DataError(
            f"{Argument('group')} has {len(labels):,} groups; expected at most {MOST_GROUPS}: a "
            "group is of many subjects"
        )
    subject = np.concatenate([codes.probe, codes.gallery])
    of_template = place[np.concatenate([found.probe, found.gallery])]
    group = np.full(len(codes.values), -1, dtype=np.int64)
    group[subject] = of_template
    wrong = np.flatnonzero(group[subject] != of_template)
    if len(wrong):
        who = np.unique(subject[wrong])
        first = plain(codes.values[subject[wrong[0]]])
        several = labels[np.unique(of_template[subject == subject[wrong[0]]])].tolist()
        more = f" ({len(who):,} subjects have several)" if len(who) > 1 else ""
        raise DataError(
            f"{Argument('group')}: subject {first!r} is in the groups "
            f"{', '.join(map(repr, several))}{more}; expected one group for all templates of a "
            "subject"
        )
    return labels, group


def _sorted(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return labels of groups, numbers or text, in increasing order, and that order."""
    plain_values = [plain(value) for value in values.tolist()]
    if all(isinstance(value, (int, float)) and abs(value) < 2**63 for value in plain_values):
        numbers = np.array(plain_values)
        numbers = numbers.astype(np.int64) if numbers.dtype.kind == "b" else numbers
        order = np.argsort(numbers, kind="stable")
        return numbers[order], order
    texts = [str(value) for value in values.tolist()]
    if len(set(texts)) < len(texts):  # 1 and "1"
        texts = [repr(value) for value in values.tolist()]
    order = np.argsort(np.array(texts, dtype=str), kind="stable")
    return np.array(texts, dtype=str)[order], order
