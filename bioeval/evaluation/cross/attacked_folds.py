"""Attacks on the people of test parts, at the thresholds of their folds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from bioeval.base.errors import Argument, ProtocolError
from bioeval.evaluation.cross.options import FoldOptions
from bioeval.evaluation.cross.results import Fold
from bioeval.evaluation.cross.splits import PairSides, SplitPlan, SplitSides
from bioeval.results.dataset import rate
from bioeval.scores.attacked import AttackedScores, parted
from bioeval.scores.matrix import Scores, are_pairs
from bioeval.stats.options import BOOTSTRAPS
from bioeval.tallies.attack_attempts import attack_attempts


def attacked_scores(scores: Scores, column: str) -> AttackedScores:
    """Return bona fide presentations and attacks of a matrix, to be divided by the former."""
    if are_pairs(scores):
        raise ProtocolError(
            f"{Argument('attack')} in folds needs a matrix, in which each attack names its target; "
            "bioeval.vulnerability evaluates a list of pairs"
        )
    return parted(scores, None, column)


def require_attacks(options: FoldOptions) -> None:
    """Raise :class:`ProtocolError` for options that attacks in folds do not have."""
    if options.task != "verification":
        raise ProtocolError(
            f"{Argument('attack')} is for verification; the task is {options.task_name}"
        )
    if options.claims is not None:
        raise ProtocolError(f"{Argument('attack')} does not go with drawn claims")
    if options.interval in BOOTSTRAPS:
        raise ProtocolError(
            f"{Argument('interval', options.interval)} has no limits of attack rates in folds; "
            f"expected {Argument('interval', 'nadeau-bengio')} or 'quantile'"
        )


def add_attacks(
    found: Mapping[tuple[int, int], Fold],
    plan: SplitPlan,
    sides: SplitSides | PairSides,
    options: FoldOptions,
) -> None:
    """Add the attacks on enrolled people of each test part, against its gallery alone."""
    parts = options.attacks
    assert parts is not None and isinstance(sides, SplitSides)
    target, enrolled = parts.attacks.codes.probe, parts.attacks.codes.gallery
    names = np.unique(parts.species)
    how = {"templates": options.templates, "fusion": options.fusion}
    for place, fold in found.items():
        columns = sides.places(*plan.split(*place).sides[1])[1]
        rows = np.flatnonzero(np.isin(target, enrolled[columns]))
        ia, number = (np.zeros(len(names), dtype=np.int64) for _ in range(2))
        if len(rows):
            view = parts.attacks.select(probes=rows, gallery=columns)
            here = replace(parts, attacks=view, species=parts.species[rows])
            attempts = attack_attempts(here, None, how)
            of = np.searchsorted(names, attempts.names)
            number[of] = attempts.number
            if fold.defined:
                ia[of] = attempts.at_most(np.array([fold.threshold]))[0]
        fold.counts |= {"ia": int(ia.sum()), "attack_attempts": int(number.sum())}
        made = number if fold.defined else 0 * number
        of_species = np.full(len(names), np.nan)
        np.divide(ia, made, out=of_species, where=made > 0)
        largest = float(np.fmax.reduce(of_species, initial=-np.inf))
        largest = largest if made.any() else np.nan
        frr = rate(np.array(fold.counts["fr"]), fold.counts["genuine_attempts"])
        points = {"iapar_max": largest, "riapar": largest + float(frr)}
        fold.points |= {**points, "iapar_of_species": of_species}
