"""Identification in folds: each part is searched in a gallery of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bioeval.evaluation.cross.options import FoldOptions
from bioeval.evaluation.cross.results import Fold
from bioeval.evaluation.cross.splits import Sides, SplitPlan
from bioeval.results.open_set import impostor_probes
from bioeval.scores.blocks import BlockReader, Progress
from bioeval.scores.matrix import Scores
from bioeval.tallies.by_fold.thresholds import judge_listed
from bioeval.tallies.counts import IdentificationTally
from bioeval.tallies.identification_job import IdentificationJob
from bioeval.tallies.sweep import run_jobs
from bioeval.tallies.threshold_search import Attempts
from bioeval.tallies.tie_policies import rank_weights


def identify_folds(
    plan: SplitPlan, sides: Sides, options: FoldOptions, progress: Progress | None
) -> dict[tuple[int, int], Fold]:
    """Evaluate identification in every fold."""
    found: dict[tuple[int, int], Fold] = {}
    for done, (repeat, fold) in enumerate(plan.places, 1):
        split = plan.split(repeat, fold)
        train, test = sides.view(split.train), sides.view(split.test)
        found[repeat, fold] = identify_views(train, test, sides.sizes(split), options)
        if progress is not None:
            progress(done, len(plan.places))
    return found


def identify_views(
    train_scores: Scores | None,
    test_scores: Scores | None,
    sizes: tuple[int, int],
    options: FoldOptions,
) -> Fold:
    """Evaluate identification of a training and a test part."""
    train, test = _searched(train_scores, options), _searched(test_scores, options)
    closed = options.task == "closed_set"
    if closed:
        made, threshold = Fold(np.nan, True, {}, *sizes), np.inf
    else:
        judged = judge_listed(train.attempts(), test.attempts(), options.distance_rule)
        made, threshold = Fold.of_judged(judged, *sizes), judged.chosen.threshold
    made.galleries = train.gallery, test.gallery
    for prefix, part in (("", test), ("train_", train)):
        if closed:
            made.counts[f"{prefix}genuine_attempts"] = len(part.ranks)
            made.counts[f"{prefix}skipped"] = part.skipped
        made.detected[prefix] = part.detected(threshold, options.ranks, made.defined)
    return made


@dataclass(frozen=True)
class _Searched:
    """Identification attempts of one part.

    Of each genuine attempt the distance and the rank of the nearest mate, of each impostor attempt
    the distance of the nearest candidate; the probes without a mate; the subjects in the gallery.
    """

    mate: np.ndarray
    ranks: np.ndarray
    other: np.ndarray
    skipped: int = 0
    gallery: int = 0

    def attempts(self) -> Attempts:
        """Return the attempts at rank 1; a mate at another rank is rejected at any threshold."""
        first = self.ranks == 1
        return Attempts.listed(self.mate[first], self.other, int((~first).sum()))

    def detected(self, threshold: float, ranks: np.ndarray, defined: bool) -> np.ndarray:
        """Return the genuine attempts accepted at each rank or better."""
        within = self.mate <= threshold if defined else np.zeros(len(self.mate), dtype=bool)
        return np.array([int((within & (self.ranks <= k)).sum()) for k in ranks])


def _searched(view: Scores | None, options: FoldOptions) -> _Searched:
    if view is None:
        return _Searched(np.empty(0), np.empty(0, dtype=np.int64), np.empty(0))
    reader = BlockReader(view)
    job = IdentificationJob(view, reader, rank_unit=options.rank_unit, fusion=options.fusion)
    tally: IdentificationTally
    (tally,) = run_jobs(view, reader, [job])
    chosen = np.flatnonzero(tally.mates > 0)
    probes, ranks, _ = rank_weights(tally, chosen, options.ties)
    other = np.empty(0)
    if options.task == "open_set":
        other = tally.other[impostor_probes(tally, options.impostors)]
    skipped = len(tally.mates) - len(chosen)
    gallery = len(np.unique(view.codes.gallery))
    found = np.rint(ranks).astype(np.int64)
    return _Searched(tally.mate[probes], found, other, skipped, gallery)
