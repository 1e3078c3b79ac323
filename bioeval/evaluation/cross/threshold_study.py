"""Which threshold to install, what to expect of it with new people, and how far the data reach."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.arguments import require_integer
from bioeval.base.errors import Argument, DataError
from bioeval.base.random import RandomState
from bioeval.base.variables import STUDY
from bioeval.evaluation.cross.evaluation import cross_evaluate, listed_attempts
from bioeval.evaluation.cross.results import BOUND, SUMMARIES, ends_by_subject
from bioeval.evaluation.cross.splits import Sides
from bioeval.partition import PredefinedPairFolds, RepeatedSampleKFold, RepeatedSubjectKFold
from bioeval.results.dataset import about_attrs, build
from bioeval.scores.blocks import BlockReader, Progress, threads_for
from bioeval.scores.matrix import PairScores, Scores
from bioeval.stats.options import REPLICATES, Asked
from bioeval.stats.pooled import PooledRates, knows_people
from bioeval.tallies.attempts import is_symmetric, require_values
from bioeval.tallies.by_fold import Judged, judge_listed, judge_two
from bioeval.tallies.threshold_rules import Attempts, Rule, parse_rule
from bioeval.tallies.thresholds import to_user

if TYPE_CHECKING:
    import xarray as xr

RATES = ("far", "frr", "hter")

# Unless told otherwise.
FOLDS, REPEATS = 10, 20

# How far above its target a rate is called missed.
CLEARLY = 1.1

NAMED = (
    ". That their subjects are named changes nothing here: for new people, give the pairs folds "
    "that share no subject"
)

# Attempts for each expected error: so few that none of them may fail (rule of 3, at 95 %), and so
# many that 30 do (rule of 30, within 30 % at 90 %).
RULE_OF_3, RULE_OF_30 = 3, 30


def study_threshold(
    scores: Scores,
    target: Any = ("far", 0.001),
    *,
    folds: int | None = None,
    repeats: int | None = None,
    random_state: RandomState = 0,
    templates: str = "single",
    fusion: str = "min",
    confidence: float = 0.95,
    replicates: int = REPLICATES,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Find the threshold to install, and what FAR and FRR new people will meet with it.

    The threshold is chosen on all data. What to expect of a threshold that was chosen so is
    found by choosing it many times on some of the subjects and judging it on the others.

    Parameters
    ----------
    scores : Scores
        A matrix with labels, or a list of pairs (which is divided by pair, or by its own folds;
        by pair even where its subjects are known).
    target : str or tuple
        As `threshold` of :func:`cross_evaluate`: ``("far", 0.001)``, ``"eer"`` ...
    folds, repeats : int, optional
        Folds of subjects, and how often they are drawn: 10 and 20 unless given. A list of pairs
        with folds of its own has no others.
    random_state : int, None, numpy.random.SeedSequence or numpy.random.Generator
    templates, fusion
        As for :func:`bioeval.verification`.
    confidence : float
        Of the intervals.
    replicates : int
        How often subjects are resampled, for the interval of the rates at the threshold itself.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``.

    Returns
    -------
    xarray.Dataset
        ``threshold``, and ``optimistic_far``, ``optimistic_frr`` on the data it was chosen on,
        and ``optimistic_hter``, with ``optimistic_far_low`` ... ``optimistic_hter_high``: what
        other people of the same population would do at this very threshold, by the subject
        bootstrap (NaN where the subjects are not known). Expected of new people: ``far_mean``,
        ``far_sd``, ``far_pooled``, ``far_low``, ``far_high``, ``far_folds``, and the same of
        ``frr`` and ``hter``. Each fold: ``fold_threshold``, ``fold_far``, ``fold_frr`` over
        ``repeat, fold``. How far the data reach: ``independent_impostors`` and, with a FAR target,
        ``impostors_for_3``, ``impostors_for_30`` (independent impostor attempts that the rules of
        3 and 30 ask for), ``more_for_3``, ``more_for_30`` (how many of these are missing),
        ``subjects_for_3``, ``subjects_for_30``.

    Notes
    -----
    The rule of 3: n attempts without an error show, at 95 %, an error rate of at most 3 / n. The
    rule of 30: with 30 errors the true rate is within 30 % of the one observed, at 90 %
    (Doddington et al. 2000, *Speech Communication* 31, 225-254). Both assume independent
    attempts, of which all-against-all has far fewer than pairs, so that they are the least to ask
    for. Subjects: in all-against-all pairs grow with the square of their number; else attempts
    grow in proportion.

    Examples
    --------
    >>> import bioeval as be
    >>> ds = be.study_threshold(be.simulate(60, 4, random_state=1), ("far", 0.01), repeats=5)
    >>> bool(ds.optimistic_far <= 0.01), bool(ds.far_low <= ds.far_mean <= ds.far_high)
    (True, True)
    >>> int(ds.impostors_for_30)
    3000
    """
    rule = parse_rule(target, "target")
    for name, number, least in (("folds", folds, 2), ("repeats", repeats, 1)):
        if number is None:
            continue
        require_integer(name, number, low=least)
        if isinstance(scores, PairScores) and scores.pair_folds is not None:
            raise DataError(
                f"{Argument(name)} is {number}, but these pairs have folds of their own, which are "
                "used; leave it out"
            )
    folds, repeats = folds or FOLDS, repeats or REPEATS
    if not isinstance(scores, Scores):
        raise DataError(f"scores is {type(scores).__name__}; expected bioeval.Scores")
    require_values(scores, "a threshold")
    _require_units(scores, folds)
    crossed = cross_evaluate(
        scores,
        _splitter(scores, folds, repeats, random_state),
        threshold=rule,
        templates=templates,
        fusion=fusion,
        confidence=confidence,
        progress=progress,
    )
    fixed = rule.values[0] if rule.name == "fixed" else math.nan
    fixed = -fixed if scores.kind == "similarity" else fixed
    whole: Judged
    if isinstance(scores, PairScores):
        every = listed_attempts(scores, np.arange(scores.shape[0]))
        whole = judge_listed(every, every, rule, fixed)
    else:
        whole = judge_two(scores, scores, rule, fixed, templates, fusion)
    fa, fr = whole.chosen.counts(whole.test) if whole.chosen.defined else (0, 0)
    genuine, impostor = whole.test.genuine_attempts, whole.test.impostor_attempts
    both_ways = templates == "single" and is_symmetric(scores)
    independent = impostor // 2 if both_ways else impostor
    known = whole.chosen.defined
    asked = Asked.of("subject-bootstrap", confidence, replicates, random_state)
    assert asked is not None
    by_subject, remarks = _by_subject(scores, whole, templates, fusion, asked)
    variables: dict[str, tuple[tuple[str, ...], Any]] = {
        "threshold": ((), to_user(whole.chosen.threshold, scores.kind)),
        "optimistic_far": ((), fa / impostor if known and impostor else math.nan),
        "optimistic_frr": ((), fr / genuine if known and genuine else math.nan),
        "genuine_attempts": ((), np.int64(genuine)),
        "impostor_attempts": ((), np.int64(impostor)),
        "independent_impostors": ((), np.int64(independent)),
    }
    both = [variables[f"optimistic_{rate}"][1] for rate in ("far", "frr")]
    variables["optimistic_hter"] = ((), sum(both) / 2)
    for rate in RATES:
        _, low, high = by_subject.get(rate, (math.nan, math.nan, math.nan))
        variables |= {f"optimistic_{rate}_low": ((), low), f"optimistic_{rate}_high": ((), high)}
    for rate in RATES:
        for key in SUMMARIES:
            variables[f"{rate}_{key}"] = ((), crossed[f"{rate}_{key}"].item())
        variables[f"{rate}_folds"] = ((), np.int64(variables[f"{rate}_folds"][1]))
    for name in ("threshold", "far", "frr"):
        variables[f"fold_{name}"] = (("repeat", "fold"), crossed[name].values)
    if rule.name == "far" and rule.values[0] > 0:
        variables |= _needed(scores, rule.values[0], independent, whole.test)
    about = BlockReader(scores).about
    attrs: dict[str, Any] = about_attrs(about, f"threshold study, {templates}-template", [])
    for name in ("splitter", "confidence", "interval", "threshold_rule", "threshold_rule_in_words"):
        attrs[name] = crossed.attrs[name]
    attrs["chosen_on"] = "all data; its error there is optimistic"
    attrs["divided"] = "pairs" if isinstance(scores, PairScores) else "subjects"
    attrs["on_new_data"] = _missed(variables["far_mean"][1], rule, attrs["divided"])
    attrs["optimistic_interval"] = "by resampling subjects, at the threshold to install"
    attrs["replicates"] = asked.replicates
    bound = '; the column "by subject" has a bound' if by_subject else ""
    said = str(crossed.attrs["warnings"]).replace(BOUND, bound).split("\n")
    if isinstance(scores, PairScores) and scores.pair_folds is None:
        said.append(
            "pairs are divided, not subjects: who is in several pairs is not new to the threshold"
            + ("" if scores.pair_subjects is None else NAMED)
        )
    said += remarks
    reach, few = _reach(variables, rule.values)
    attrs["out_of_reach"] = reach
    attrs["warnings"] = "\n".join(filter(None, [*said, reach, few]))
    coordinates = {name: crossed[name].values for name in ("repeat", "fold")}
    return build(variables, STUDY, coordinates, attrs)


def _by_subject(
    scores: Scores, whole: Judged, templates: str, fusion: str, asked: Asked
) -> tuple[dict[str, tuple[float, float, float]], list[str]]:
    """Return the rates at the threshold that was chosen on all data, with subjects resampled."""
    if not whole.chosen.defined:
        return {}, []
    if not knows_people(scores):
        return {}, ["the subjects of the pairs are not given, so there is no interval by subject"]
    pooled = PooledRates(scores, asked)
    with threads_for(scores):
        pooled.add(scores, whole.chosen.threshold, templates, fusion)
    return ends_by_subject(pooled), pooled.remarks()


def _require_units(scores: Scores, folds: int) -> None:
    """Raise :class:`DataError` where there are fewer subjects, or pairs, than folds of them."""
    pairs = isinstance(scores, PairScores)
    if isinstance(scores, PairScores) and scores.pair_folds is not None:
        return
    number, what = (scores.shape[0], "pair") if pairs else (_subjects(scores), "subject")
    if number == 1:
        raise DataError(f"there is only one {what}, which cannot be both trained on and tested")
    if number < folds:
        raise DataError(
            f"{Argument('folds')} is {folds}, but there are only {number} {what}s; each fold needs "
            f"one to test, so give at most {number} folds"
        )


def _splitter(scores: Scores, folds: int, repeats: int, random_state: RandomState) -> Any:
    if not isinstance(scores, PairScores):
        return RepeatedSubjectKFold(folds, n_repeats=repeats, random_state=random_state)
    if scores.pair_folds is not None:
        return PredefinedPairFolds(scores.pair_folds)
    return RepeatedSampleKFold(
        folds, n_repeats=repeats, random_state=random_state, stratify="genuine"
    )


def _needed(
    scores: Scores, target: float, independent: int, attempts: Attempts
) -> dict[str, tuple[tuple[str, ...], Any]]:
    """Return how many impostor attempts and subjects a FAR target asks for."""
    found: dict[str, tuple[tuple[str, ...], Any]] = {}
    subjects = _subjects(scores)
    square = scores.layout == "all-against-all"
    for rule in (RULE_OF_3, RULE_OF_30):
        wanted = math.ceil(rule / target * (1 - 1e-12))
        found[f"impostors_for_{rule}"] = ((), np.int64(wanted))
        found[f"more_for_{rule}"] = ((), np.int64(max(0, wanted - independent)))
        if not subjects or not independent:
            continue
        if square:  # pairs of subjects: N (N - 1)
            share = independent / (subjects * (subjects - 1))
            enough = math.ceil(0.5 + math.sqrt(0.25 + wanted / share) - 1e-9)
        else:
            enough = math.ceil(subjects * wanted / independent - 1e-9)
        found[f"subjects_for_{rule}"] = ((), np.int64(enough))
    if subjects:
        found["subjects"] = ((), np.int64(subjects))
    return found


def _subjects(scores: Scores) -> int:
    if isinstance(scores, PairScores):
        return len(scores.subjects)
    sides = Sides(scores)
    return sides.subjects_in(np.arange(sides.n))


def _missed(far: float, rule: Rule, divided: str) -> str:
    """Say by how much a FAR target was missed by those whom the threshold had not seen."""
    if rule.name != "far" or not far > CLEARLY * rule.values[0]:
        return ""
    target = rule.values[0]
    found = f"On new {'people' if divided == 'subjects' else divided} the FAR was {100 * far:.3f} %"
    if not target:
        return f"{found}; the target was 0."
    times = far / target
    return f"{found}, {times:,.{1 if times < 9.95 else 0}f} times the target."


def _reach(variables: dict[str, Any], values: tuple[float, ...]) -> tuple[str, str]:
    """Say that the data cannot show the target at all, or that they leave it uncertain."""
    if "more_for_3" not in variables:
        return "", ""
    if variables["more_for_3"][1]:
        cannot = (
            f"the data cannot show FAR {values[0]:g}: even without a false accept "
            f"{variables['impostors_for_3'][1]:,} independent impostor attempts would be needed "
            "(rule of 3)"
        )
        return cannot, ""
    if variables["more_for_30"][1]:
        few = (
            f"fewer than 30 false accepts are expected at FAR {values[0]:g} (rule of 30): the "
            "threshold is uncertain"
        )
        return "", few
    return "", ""
