"""Thresholds that are chosen on the training part of each fold, and counts at them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bioeval.scores.blocks import BlockReader, threads_for
from bioeval.scores.matrix import Scores
from bioeval.tallies.by_fold.rows import Tick
from bioeval.tallies.by_fold.sweep import FoldSweep, Part
from bioeval.tallies.threshold_rules import ChosenThreshold, Rule, choose, wanted_bins
from bioeval.tallies.threshold_search import Attempts, bins_of_increasing


@dataclass
class Judged:
    """One fold: the threshold chosen on its training part, and the attempts of both parts."""

    chosen: ChosenThreshold
    train: Attempts
    test: Attempts


def judge_folds(
    reader: BlockReader,
    rule: Rule,
    folds: Sequence[tuple[Part, Part]],
    codes: tuple[np.ndarray, np.ndarray],
    templates: str,
    fusion: str,
    tick: Tick | None = None,
) -> list[Judged]:
    """Choose a threshold on the first part of each fold and count both parts at it.

    `rule` holds its threshold, if it gives one, as a distance; `codes` are the fold of each probe
    and of each gallery template. Two passes are made over the scores, and `tick` counts the rows of
    both.
    """
    with threads_for(reader.scores):
        sweep = FoldSweep(reader, templates, fusion, *codes)
        sweep.count(tick)
        while True:
            attempts = [(sweep.attempts(train), sweep.attempts(test)) for train, test in folds]
            wanted = [wanted_bins(rule, train) for train, _ in attempts]
            every = np.logical_or.reduce(wanted)
            if not sweep.narrow(every):
                break
            sweep.count()
        values, code, weights = sweep.collect(every, tick)
    probe, gallery = sweep.split(code)
    bins = bins_of_increasing(values, sweep.edges)
    judged = []
    for both, parts, flags in zip(attempts, folds, wanted, strict=True):
        looked = flags[bins]
        for one, part in zip(both, parts, strict=True):
            inside = looked & part.has(probe, gallery)
            one.look_into(values[inside], weights[inside])
        judged.append(Judged(choose(rule, both[0], flags), *both))
    return judged


def judge_two(train: Scores, test: Scores, rule: Rule, templates: str, fusion: str) -> Judged:
    """Choose a threshold on some scores and count others at it.

    For parts that one sweep cannot tell apart: of systems that are trained anew for each fold,
    and of subjects who are in both parts and fused there.
    """
    whole = Part(0)
    with threads_for(train):
        sweep = _whole_sweep(train, templates, fusion)
        while True:
            sweep.count()
            trained = sweep.attempts(whole)
            wanted = wanted_bins(rule, trained)
            if not sweep.narrow(wanted):
                break
        values, _, weights = sweep.collect(wanted)
    trained.look_into(values, weights)
    with threads_for(test):
        other = _whole_sweep(test, templates, fusion)
        other.grid = sweep.grid
        other.count()
        tested = other.attempts(whole)
        values, _, weights = other.collect(wanted)
    tested.look_into(values, weights)
    return Judged(choose(rule, trained, wanted), trained, tested)


def _whole_sweep(scores: Scores, templates: str, fusion: str) -> FoldSweep:
    """Return a sweep of scores that are all in one fold."""
    codes = (np.zeros(n, dtype=np.int64) for n in scores.shape)
    return FoldSweep(BlockReader(scores), templates, fusion, *codes)


def judge_listed(train: Attempts, test: Attempts, rule: Rule) -> Judged:
    """Choose a threshold on listed attempts and count others at it."""
    wanted = wanted_bins(rule, train)
    return Judged(choose(rule, train, wanted), train, replace(test))
