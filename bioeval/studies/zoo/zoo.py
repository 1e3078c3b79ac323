"""The zoo of a system: who fails, and whether goats, lambs and wolves exist."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from scipy.stats import chi2, rankdata, tiecorrect

from bioeval.attempts.threshold_rules import Rule
from bioeval.attempts.thresholds import require_values
from bioeval.base.arguments import require_integer
from bioeval.base.errors import DataError
from bioeval.base.messages import Message
from bioeval.base.progress import rows_reported, stage
from bioeval.base.random import RandomState, Stream, seed_sequence
from bioeval.results.dataset import Variables
from bioeval.scores.blocks import BlockReader, require_subjects
from bioeval.scores.bona_fide import people_apart
from bioeval.scores.matrix import Scores
from bioeval.scores.provenance import unknown_notes
from bioeval.studies.zoo.counts import SubjectTally, count_by_subject, sessions_of
from bioeval.studies.zoo.kernel import permuted_products
from bioeval.studies.zoo.results import Quantile, zoo_dataset
from bioeval.tasks.threshold_choice import chosen_threshold

# Fewer subjects are not tested.
LEAST_SUBJECTS = 8

# Fewer subjects are not permuted among themselves alone.
LEAST_TOGETHER = 4


@dataclass(frozen=True)
class HalvesTest:
    """Rank correlation of two halves over subjects, its one-sided p, and how many subjects.

    The two numbers are NaN where fewer than `LEAST_SUBJECTS` have both halves.
    """

    correlation: float
    p_value: float
    subjects: int


def halves_test(
    first: np.ndarray, second: np.ndarray, sizes: np.ndarray, permutations: int, stream: Stream
) -> HalvesTest:
    """Test whether the means of two halves of each subject's attempts go together.

    Spearman's correlation over subjects; `second` is permuted among subjects of one size, whose
    means of second halves have the same distribution: within one size the test is exact. Sizes of
    fewer than `LEAST_TOGETHER` subjects are joined with the next, the last ones with those before.
    Subjects with a NaN are left out.
    """
    known = ~(np.isnan(first) | np.isnan(second))
    subjects = int(known.sum())
    if subjects < LEAST_SUBJECTS:
        return HalvesTest(math.nan, math.nan, subjects)
    # Twice the ranks are whole numbers, and so are sums of their products: ties are exact.
    a = (2 * rankdata(first[known])).astype(np.int64) - 1
    b = (2 * rankdata(second[known])).astype(np.int64) - 1
    order = np.argsort(sizes[known], kind="stable")
    a, b = a[order], b[order]
    observed, products = int(a @ b), np.empty(permutations, dtype=np.int64)
    ends = _ends(sizes[known])
    permuted_products(a, b, ends, stream.words(2), products)
    reached = int((products >= observed).sum())
    spread = math.sqrt(a.var() * b.var())
    covariance = observed / subjects - float(a.mean() * b.mean())
    correlation = covariance / spread if spread > 0 else math.nan
    return HalvesTest(correlation, (1 + reached) / (1 + permutations), subjects)


def opponents_test(
    first: np.ndarray, second: np.ndarray, sizes: np.ndarray, permutations: int, stream: Stream
) -> HalvesTest:
    """Test whether means of two halves of each subject's templates go together over opponents.

    `first` and `second` are means of distances of each subject against each group of opponents,
    NaN where there is none. The statistic is the sum, over subjects, of the products of both means
    against two *different* groups: no template and no opponent is on both sides. It varies for two
    reasons, and a replicate adds both: subjects of one size are permuted in the second half, as
    templates happen to be near to all; and the signs of the groups change at random in both halves,
    as some opponents happen to be near to some subjects.
    """
    known = ~(np.isnan(first).all(axis=1) | np.isnan(second).all(axis=1))
    subjects = int(known.sum())
    if subjects < LEAST_SUBJECTS:
        return HalvesTest(math.nan, math.nan, subjects)
    order = np.argsort(sizes[known], kind="stable")
    compared = ~(np.isnan(first) & np.isnan(second)).all(axis=0)
    groups = int(compared.sum())
    a, b = (_deviations(x[known][order][:, compared]) for x in (first, second))
    of_groups = a.T @ b
    np.fill_diagonal(of_groups, 0)
    observed, products = int(of_groups.sum()), np.empty(permutations, dtype=np.int64)
    x, y = a.sum(axis=1), b.sum(axis=1)
    permuted_products(x, y, _ends(sizes[known]), stream.words(2), products)
    signs = np.where(stream.uniforms(permutations * groups) < 0.5, -1, 1).reshape(-1, groups)
    products += ((signs @ of_groups) * signs).sum(axis=1)
    reached = int((products >= observed).sum())
    spread = math.sqrt(float(x @ x) * float(y @ y))
    correlation = math.nan
    if spread > 0:
        # Of all pairs of groups, those of different ones were summed.
        correlation = observed / spread * groups / (groups - 1)
    return HalvesTest(
        float(np.clip(correlation, -1, 1)), (1 + reached) / (1 + permutations), subjects
    )


def _deviations(means: np.ndarray) -> np.ndarray:
    """Return what each subject's means are above those of all against the group, 0 where unknown.

    As whole numbers, which add to the same in any order: 2^18 is the largest.
    """
    there = ~np.isnan(means)
    number = np.maximum(there.sum(axis=0), 1)
    apart = np.where(there, means - np.where(there, means, 0.0).sum(axis=0) / number, 0.0)
    largest = np.abs(apart).max()
    return np.rint(apart * (2**18 / largest if largest > 0 else 0.0)).astype(np.int64)


def _ends(sizes: np.ndarray) -> np.ndarray:
    """Return the ends of the groups of subjects, in order of their sizes."""
    ends, stops = [0], np.cumsum(np.unique(sizes, return_counts=True)[1])
    for stop in stops.tolist():
        if stop - ends[-1] >= LEAST_TOGETHER:
            ends.append(stop)
    return np.array([*ends[1:-1], len(sizes)], dtype=np.int64)


def kruskal_wallis(values: np.ndarray, groups: np.ndarray) -> float:
    """Return the p-value of the test of Kruskal and Wallis; NaN for one group or one value.

    That of :func:`scipy.stats.kruskal`, which takes long for many groups; `groups` are codes.
    """
    sizes = np.bincount(groups)
    sizes, n = sizes[sizes > 0], len(values)
    if len(sizes) < 2 or values.min() == values.max():
        return math.nan
    ranks = rankdata(values)
    sums = np.bincount(groups, ranks)[np.unique(groups)]
    h = 12 / (n * (n + 1)) * float((sums**2 / sizes).sum()) - 3 * (n + 1)
    return float(chi2.sf(h / tiecorrect(ranks), len(sizes) - 1))


# What a subject needs to have two halves, by layout: all templates of a square matrix.
_NEEDED = {
    "goat": ("4 templates", "2 probes and 2 gallery templates"),
    "wolf": ("2 templates", "2 probes"),
    "lamb": ("2 templates", "2 gallery templates"),
}


@people_apart
def zoo(
    scores: Scores,
    *,
    threshold: Any = "eer",
    quantile: float = 0.25,
    permutations: int = 2000,
    random_state: RandomState = 0,
) -> xr.Dataset:
    """Evaluate verification by subject: scores, errors, animals, and whether subjects differ.

    Parameters
    ----------
    scores : Scores
        A matrix of either layout, with the subjects of probes and gallery.
    threshold : float or str
        At which errors are counted: a number in the units of the scores, or a rule that chooses
        one on these data: ``"eer"``, ``"far=0.001"``, ``"cost=prior,c_miss,c_fa"``,
        ``"hter"`` or ``"accuracy"``, which takes another look at the scores.
    quantile : float
        The proportion of subjects that are best, and worst, by each of two means, of which the
        animals are made: above 0, at most 0.5.
    permutations : int
        Number of permutations of the tests.
    random_state : int, None, numpy SeedSequence, Generator or RandomState
        Seed of the halves and the permutations. The same integer gives the same on every platform.

    Returns
    -------
    xarray.Dataset
        Over ``subject``: ``genuine_mean impostor_mean impostor_mean_as_probe
        impostor_mean_as_claimed`` of finite scores; numbers of attempts ``genuine_attempts
        impostor_attempts_as_probe impostor_attempts_as_claimed``; errors ``fr fa_as_probe
        fa_as_claimed``, as rates ``frr far_as_probe far_as_claimed``, and as proportions of all
        such errors ``fr_share fa_share_as_probe fa_share_as_claimed``; rates of all attempts
        without the subject, ``frr_without far_without``; and ``animal_of_subject``. Over
        ``animal``: ``animal_count animal_expected animal_p_more animal_p_fewer``. Over ``pair``,
        the three pairs of people with most false accepts: ``probe_of_pair claimed_of_pair
        fa_of_pair fa_share_of_pair``. Scalars:
        ``threshold``, ``non_finite``, Gini coefficients ``fr_gini fa_gini_as_probe
        fa_gini_as_claimed``; rank correlations between halves ``goat_correlation
        wolf_correlation lamb_correlation`` with p-values ``goat_p wolf_p lamb_p``; and
        ``kruskal_p``, which assumes independent scores.

    Raises
    ------
    DataError
        Bad options; fewer than two subjects, or too few for the quantile; NaN under
        ``nan="raise"``; scores too large to be averaged.
    ProtocolError
        If the scores have no subjects, only an order, or no attempts to choose a threshold on.

    Notes
    -----
    A genuine attempt counts for its subject. An impostor attempt counts for the subject of its
    probe (the wolf's side) and for the subject that it claims (the lamb's side). Animals: Yager and
    Dunstone (2010), "The biometric menagerie", IEEE TPAMI 32(2): doves are best by genuine and
    impostor mean, worms worst by both, chameleons best by the genuine and worst by the impostor
    mean, phantoms the reverse. Goats, lambs and wolves: Doddington and others (1998), "Sheep,
    goats, lambs and wolves", ICSLP, whose test takes all scores as independent. The tests here
    compare means over two halves of each subject's templates, drawn at random, that have no
    template in common: without differences between subjects they are independent. Subjects are
    permuted among those whose second halves are of one size, which makes the test of goats exact.
    Halves are whole sessions where there is a metadata column ``session``. ``docs/who-fails.md``
    has the measured level and power.

    Examples
    --------
    >>> import bioeval as be
    >>> ds = be.zoo(be.simulate(40, 6, random_state=1))
    >>> int(ds.fr.sum()), float(ds.fr_gini.round(2))
    (44, 0.68)
    >>> ds.fr_share.to_series().nlargest(2).round(2).to_dict()
    {12: 0.14, 14: 0.09}
    """
    proportion = Quantile.parse(quantile)
    require_integer("permutations", permutations, low=1, of_draws=True)
    seed, rule = seed_sequence(random_state), Rule.parse(threshold)
    reader = BlockReader(scores)
    require_subjects(scores, "a zoo")
    require_values(scores, "a zoo")
    if len(scores.subjects) < 2:
        raise DataError("there is only one subject; a zoo compares at least two")
    with rows_reported():
        at = chosen_threshold(reader, rule)
        tally = count_by_subject(reader, at, Stream(seed, 0))
    tests, warnings = _tests(tally, permutations, seed)
    if math.isnan(at):
        warnings.append(Message("rejects-all"))
    if "session" in scores.probe_meta and not scores._excludes_same("session"):
        warnings += unknown_notes(sessions_of(scores), "session")
    ds = zoo_dataset(tally, proportion, tests, warnings)
    chosen_on, halves = "the same data; errors there are optimistic", "templates"
    if rule.name == "fixed":
        chosen_on = "given"
    if "session" in scores.probe_meta:
        halves = "whole sessions"
    ds.attrs |= {
        "threshold_rule": str(rule),
        "threshold_rule_in_words": rule.words,
        "chosen_on": chosen_on,
        "quantile": float(quantile),
        "permutations": int(permutations),
        "halves": halves,
    }
    return ds


@stage("testing whether subjects differ")
def _tests(
    tally: SubjectTally, permutations: int, seed: np.random.SeedSequence
) -> tuple[Variables, list[Message]]:
    """Return the tests of existence as variables, and warnings of those that are undefined."""
    variables = {}
    warnings = list[Message]()
    layout = 0 if tally.about.layout == "all-against-all" else 1
    tests = {
        "goat": halves_test(*tally.goats, permutations, Stream(seed, 1)),
        "wolf": opponents_test(*tally.wolves, permutations, Stream(seed, 2)),
        "lamb": opponents_test(*tally.lambs, permutations, Stream(seed, 3)),
    }
    for animal, test in tests.items():
        variables[f"{animal}_correlation"] = (), test.correlation
        variables[f"{animal}_p"] = (), test.p_value
        if test.subjects < LEAST_SUBJECTS:
            warnings.append(
                Message(
                    "too-few-halves",
                    animals=f"{animal}s" if animal != "wolf" else "wolves",
                    subjects=test.subjects,
                    needed=LEAST_SUBJECTS,
                    templates=_NEEDED[animal][layout],
                )
            )
        elif math.isnan(test.correlation):
            animals = f"{animal}s" if animal != "wolf" else "wolves"
            warnings.append(Message("subjects-all-alike", animals=animals))
    variables["kruskal_p"] = (), kruskal_wallis(*tally.pairs)
    return variables, warnings
