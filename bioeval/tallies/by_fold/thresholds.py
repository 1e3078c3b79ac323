"""Thresholds that are chosen on the training part of each fold, and counts at them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bioeval.scores.blocks import BlockReader, threads_for
from bioeval.scores.matrix import Scores
from bioeval.tallies.by_fold.partition import Subset, Tick
from bioeval.tallies.by_fold.sweep import FoldSweep
from bioeval.tallies.counters import ThresholdCounter
from bioeval.tallies.sweep import run_jobs
from bioeval.tallies.threshold_rules import ChosenThreshold, Rule, choose, wanted_bins
from bioeval.tallies.threshold_search import Attempts, within
from bioeval.tallies.verification_job import VerificationJob


@dataclass
class Judged:
    """One fold: the threshold chosen on its training part, and the attempts of both parts."""

    chosen: ChosenThreshold
    train: Attempts
    test: Attempts


def judge_folds(
    sweep: FoldSweep,
    rule: Rule,
    folds: Sequence[Sequence[tuple[Subset, Subset]]],
    tick: Tick | None = None,
) -> list[list[Judged]]:
    """Choose a threshold on the first part of each fold and count both parts at it.

    `rule` holds its threshold, if it gives one, as a distance; `folds` are those of each partition
    of the sweep. Two passes are made over the scores, and `tick` counts the rows of both.
    """
    judged: list[list[Judged]] = []
    with threads_for(sweep.rows.scores):
        sweep.count(tick)
        while True:
            attempts = [
                [tuple(sweep.attempts(one, part) for part in parts) for parts in some]
                for one, some in zip(sweep.partitions, folds, strict=True)
            ]
            wanted = [[wanted_bins(rule, train) for train, _ in some] for some in attempts]
            every = np.logical_or.reduce(list(itertools.chain(*wanted)))
            if not sweep.narrow(every):
                break
        found = zip(
            sweep.partitions, folds, attempts, wanted, sweep.collect(every, tick), strict=True
        )
        for one, parts_of, attempts_of, wanted_of, (values, pairs, weights) in found:
            judged.append([])
            for parts, both, flags in zip(parts_of, attempts_of, wanted_of, strict=True):
                places = within(values, sweep.edges, flags)
                for part, attempts_in in zip(parts, both, strict=True):
                    inside = places[one.has(part, pairs[places])]
                    attempts_in.look_into(values[inside], weights[inside])
                judged[-1].append(Judged(choose(rule, both[0], flags), *both))
    return judged


def judge_all(scores: Scores, rule: Rule, templates: str, fusion: str) -> Judged:
    """Choose a threshold on all scores and count them at it."""
    probe, gallery = (np.zeros(n, dtype=np.int64) for n in scores.shape)
    sweep = FoldSweep(BlockReader(scores), templates, fusion, [(probe, gallery)])
    return judge_folds(sweep, rule, [[(Subset(0), Subset(0))]])[0][0]


def judge_two(train: Scores, test: Scores, rule: Rule, templates: str, fusion: str) -> Judged:
    """Choose a threshold on some scores and count others at it.

    For parts that one sweep cannot tell apart: of systems that are trained anew for each fold,
    and of subjects who are in both parts and fused there.
    """
    judged = judge_all(train, rule, templates, fusion)
    return replace(judged, test=counted_at(judged.chosen.threshold, test, templates, fusion))


def counted_at(threshold: float, scores: Scores, templates: str, fusion: str) -> Attempts:
    """Return the numbers of attempts and errors of some scores at one threshold."""
    reader = BlockReader(scores)
    job = VerificationJob(scores, reader, templates=templates, fusion=fusion)
    job.given = ThresholdCounter(np.array([-np.inf if math.isnan(threshold) else threshold]))
    (tally,) = run_jobs(scores, reader, [job])
    assert tally.given is not None
    edges = np.append(tally.given.thresholds, np.inf)
    found = Attempts(tally.genuine.astype(np.float64), edges, tally.given.counts)
    found.look_into(edges[:1], tally.given.counts[:1])
    return found


def judge_listed(train: Attempts, test: Attempts, rule: Rule) -> Judged:
    """Choose a threshold on listed attempts and count others at it."""
    wanted = wanted_bins(rule, train)
    return Judged(choose(rule, train, wanted), train, test)
