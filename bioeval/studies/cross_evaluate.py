"""Cross-evaluation: a threshold is chosen on the training part of a fold, and judged on both.

The definition, of verification::

    for split in plan.splits.values():
        threshold = rule.choose(attempts of split.train)
        for part in (split.train, split.test):
            fa, fr = errors of the attempts of part at threshold

:func:`cross_evaluate` is the public call. :class:`FoldedSystem` has the scores and their splits,
and :func:`evaluate_folds` counts the errors. What is evaluated, and the result, are in
:mod:`bioeval.studies.fold_results`. Many folds are not counted one by one, as in this loop: they
are masks of a matrix that is sorted once, or share a pass over the scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import xarray as xr

from bioeval import partition
from bioeval.base.errors import DataError, ProtocolError
from bioeval.base.kinds import Kind
from bioeval.base.progress import report_rows, reporter, rows_reported
from bioeval.counting.folds import FoldAttempts, Subset
from bioeval.counting.masks import (
    MaskedParts,
    PartsOfScores,
    PartTemplates,
    SearchedParts,
    SelectedParts,
    batches,
    masks_pay,
)
from bioeval.counting.operating_points import AttemptsOfParts
from bioeval.counting.reduce import reduce
from bioeval.counting.searches import claims_lost
from bioeval.counting.sorted_matrix import SortedMatrix
from bioeval.counting.threshold_rules import ChosenThreshold, PointsWanted, Rule, choose_of_parts
from bioeval.counting.thresholds import FAR_TARGETS, check_priors, check_targets
from bioeval.counting.verification import Use
from bioeval.partition.any_splitter import SplitterLike, as_splitter
from bioeval.partition.base import LabelCodes
from bioeval.partition.claims import DrawnClaims
from bioeval.protocol.tasks import ImpostorProbes, OpenSet, PlainTies, RankUnit
from bioeval.results.support import note_asked_targets
from bioeval.scores.blocks import is_few
from bioeval.scores.distances import FusionRule, Templates
from bioeval.scores.embeddings import Metric, kind_of_metric
from bioeval.scores.features import FeatureSide, as_embeddings, require_features, titles_of
from bioeval.scores.joining import each_in_order, in_order
from bioeval.scores.keys import keys_of
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people
from bioeval.scores.provenance import Provenance
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.aggregate import REPEATED_INTERVALS, RepeatedInterval
from bioeval.stats.options import IntervalMethod, required_interval
from bioeval.studies.fold_results import (
    RANKS,
    FoldOptions,
    FoldTask,
    Numbers,
    fold_dataset,
    parse_ranks,
    span,
)
from bioeval.studies.splits import PairSides, Samples, Split, SplitPlan, SplitSides, plan_of_scores


@warns_of_doubts
def cross_evaluate(
    data: Any,
    splitter: SplitterLike | Iterable[Any],
    *,
    y: Any = None,
    meta: Any = None,
    task: FoldTask = "verification",
    threshold: Any = "eer",
    templates: Templates = "single",
    fusion: FusionRule = "best",
    ranks: Sequence[int] = RANKS,
    rank_unit: RankUnit = "template",
    ties: PlainTies = "pessimistic",
    impostors: ImpostorProbes = "auto",
    estimator: Any = None,
    metric: Metric = "cosine",
    kind: Kind | None = None,
    claims: partition.ClaimSampler | None = None,
    far_targets: Sequence[float] | None = None,
    frr_targets: Sequence[float] = (),
    priors: Sequence[float] = (),
    interval: RepeatedInterval | IntervalMethod = "nadeau-bengio",
) -> xr.Dataset:
    """Choose a threshold on the training part of each fold and judge it on the test part.

    A training pair has both templates in the training part, a test pair both in the test part;
    pairs across the two parts are not used. All folds of a partition are counted in one pass over
    the scores.

    Parameters
    ----------
    data : Scores, or array_like of shape (n, f)
        Scores of any layout; with an `estimator`, the features of n samples.
    splitter : splitter, or list of pairs
        Of :mod:`bioeval.partition` or of scikit-learn, with training and test parts; or a list of
        pairs (training, test) of index arrays, in which no index stands twice. The indices are
        those of the templates, of a list of pairs those of the pairs. If probes and gallery are
        different templates, the m probes have the indices 0 to m - 1, and the gallery templates
        follow: column j has the index m + j. Templates of no person, such as distractors, and
        gallery templates that are also probes have no index of their own there.

        - With ``TrainValidationTest`` the threshold is chosen on the validation part.
        - ``Experiment`` divides both parts into gallery and probes as well.
        - For a list of pairs, a splitter by subject divides the subjects, and a pair is in a part
          with both of them; other splitters divide the pairs.
    y : sequence of hashable, shape (n,), optional
        The subject of each sample, with `estimator`.
    meta : mapping of str to sequence, optional
        Metadata of the samples, with `estimator`, where the splitter needs them.
    task : {"verification", "open_set", "closed_set"}
        ``"closed_set"`` has no threshold; its curve is given for both parts.
    threshold : float or str
        A number, or a rule that is applied exactly, at the scores of the training part:

        - ``"eer"``: the equal error rate
        - ``"far=x"``: the smallest FRR with FAR at most x, such as ``"far=0.001"``,
          ``"far=0.1%"``, ``"far=1/1000"``
        - ``"frr=x"``: the smallest FAR with FRR at most x
        - ``"cost=prior,c_miss,c_fa"``: the least cost; with costs of 1 ``"min-dcf=prior"``;
          ``"hter"`` is ``"cost=0.5,1,1"``
        - ``"accuracy"``: the largest accuracy, as in LFW

        With None no threshold is chosen, and there are only the operating points of each test part
        by itself, at `far_targets`.
    templates : {"single", "multi"}
        Attempts of verification, as for :func:`bioeval.verification`.
    fusion : {"best", "mean", "worst", "median", "kth:K", "min", "max"}
        How scores of templates of one subject are fused, for ``templates="multi"`` and for
        ``rank_unit="subject"``.
    ranks : sequence of int
        The ranks of DIR and CMS.
    rank_unit, ties, impostors
        Options of identification, as for :func:`bioeval.open_set`; not with ``"expected"`` ties.
    estimator : estimator, optional
        A transformer in scikit-learn's form. In each fold a clone is fitted on the training
        samples and their subjects alone; both parts are transformed and compared by `metric`.
    metric, kind
        As for :meth:`bioeval.Scores.from_embeddings`: a callable needs its kind.
    claims : ClaimSampler, optional
        Verification by claims that are drawn anew for each part, in place of all claims.
    far_targets : sequence of float, optional
        Also find the operating points of each test part by itself, at the scores of that part:
        ``eer`` (of verification and open set), ``auc`` and ``frr_at_far`` or ``dir_at_far`` at
        these FAR targets, and ``recognition_rate``. None: with an ``Experiment``, FRR targets or
        priors, 0.1, 0.01, 0.001 and 0.0001; with other splitters there are no such points.
    frr_targets : sequence of float
        Verification also has ``far_at_frr`` of each test part by itself at these FRR targets.
    priors : sequence of float
        Verification also has ``min_dcf`` of each test part by itself, over ``cost``: its least
        normalised cost at these proportions of genuine attempts, both errors costing 1. Other costs
        are those of another prior: ``p c_miss / (p c_miss + (1 - p) c_fa)``.
    interval : {"nadeau-bengio", "quantile"} or :class:`bioeval.stats.IntervalMethod`
        ``"nadeau-bengio"``: of the mean over folds, by their spread. ``"quantile"``: the central
        quantiles of the folds themselves, such as the middle 95 % of the repeats of an experiment,
        which is no confidence interval for other subjects.

    Returns
    -------
    xarray.Dataset
        Over ``repeat, fold`` (independent draws are repeats of one fold):

        - ``threshold``, in the units of the scores
        - ``threshold_next``: the nearest score of the training part that the threshold does not
          accept
        - the operating points of the test part by itself
        - ``crossing_pairs``, for pairs divided by subject

        Over ``repeat, fold, part``, with the parts ``"train"``, whose rates are optimistic, and
        ``"test"``:

        - ``far``, ``frr``, ``gar``, ``grr``, ``accuracy``, ``hter``
        - ``fa``, ``fr``, ``ga``, ``gr``, ``genuine_attempts``, ``impostor_attempts``, ``subjects``
        - ``far_unenrolled``, ``fa_unenrolled``, ``unenrolled_attempts``, for drawn claims; ``far``
          does not count these claims
        - ``gallery_subjects``, for identification, and over ``rank`` ``dir`` and ``di``, or
          ``cms``, ``cms_count``, ``attempts`` and ``skipped``

        A fold whose class has no attempt is NaN. :func:`aggregate` over ``("repeat", "fold")``
        gives means, and their limits by `interval`. The attribute ``subjects_in_both_parts`` is the
        largest number of test subjects that a fold trained on as well.

    Raises
    ------
    DataError
        Bad options; or the splitter cannot divide these samples.
    ProtocolError
        If the scores cannot support it: no labels, order-only scores, identification in pairs. Or
        if an option has no effect on the task.

    Notes
    -----
    Definitions: ``docs/cross-evaluation.md``. Nadeau, C., Bengio, Y. (2003). Inference for the
    generalization error. *Machine Learning* 52, 239-281.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(40, 4, random_state=1)
    >>> splitter = be.partition.SubjectKFold(4, shuffle=True, random_state=0)
    >>> ds = be.cross_evaluate(scores, splitter, threshold="far=0.01")
    >>> dict(ds.far.sizes)
    {'repeat': 1, 'fold': 4, 'part': 2}
    >>> ds.far.mean(("repeat", "fold")).values.round(4)
    array([0.0099, 0.0191])
    >>> test = be.aggregate(ds, over=("repeat", "fold")).sel(part="test")
    >>> test.frr_low.item() < test.frr.sel(statistic="mean").item() < test.frr_high.item()
    True
    """
    splitter = as_splitter(splitter)
    checked_frr_targets = check_targets(frr_targets, "frr_targets")
    checked_priors = check_priors(priors)
    # Test parts have operating points of their own if any of these options asks for one.
    targets = far_targets
    has_points = len(checked_frr_targets) or len(checked_priors)
    if targets is None and (has_points or isinstance(splitter, partition.Experiment)):
        targets = FAR_TARGETS
    options = FoldOptions(
        task=task,
        rule=Rule("none") if threshold is None else Rule.parse(threshold),
        use=Use(templates, fusion),
        search=OpenSet(rank_unit=rank_unit, fusion=fusion, ties=ties, impostors=impostors),
        ranks=parse_ranks(ranks),
        interval=required_interval(interval, REPEATED_INTERVALS),
        far_targets=None if targets is None else check_targets(targets),
        frr_targets=checked_frr_targets,
        priors=checked_priors,
        claims=claims,
    )

    # Refuse options that have no effect.
    searches = options.task != "verification"
    has_fusion, fused = templates == "multi", '`templates="multi"`'
    if searches:
        has_fusion, fused = rank_unit == "subject", '`rank_unit="subject"`'
    identification = '`task="open_set"` or `task="closed_set"`'
    has_threshold = '`task="verification"` or `task="open_set"`'
    # Each option with its default, whether it has an effect here, and what it needs for one.
    for name, option, default, has_effect, need in (
        ("templates", templates, "single", not searches, '`task="verification"`'),
        ("fusion", fusion, "best", has_fusion, fused),
        ("ranks", options.ranks.tolist(), [*RANKS], searches, identification),
        ("rank_unit", rank_unit, "template", searches, identification),
        ("ties", ties, "pessimistic", searches, identification),
        ("impostors", impostors, "auto", options.task == "open_set", '`task="open_set"`'),
        ("threshold", options.rule.name, "eer", options.task != "closed_set", has_threshold),
        ("metric", metric, "cosine", estimator is not None, "`estimator`"),
        ("kind", kind, None, estimator is not None, "`estimator`"),
    ):
        is_default = isinstance(option, type(default)) and option == default
        if name == "threshold" and threshold is None:  # None is right where there is no threshold
            is_default = True
        if not is_default and not has_effect:
            raise ProtocolError(f"`{name}` has no effect without {need}; leave it out")
    if estimator is not None and claims is not None:
        raise ProtocolError("claims are drawn among scores; with estimator= all are evaluated")

    # Scores as they are, or a system that is fitted in each fold.
    with rows_reported():
        if estimator is None:
            if not isinstance(data, Scores):
                raise DataError(
                    f"data is {type(data).__name__}; expected bioeval.Scores, or features with "
                    "estimator="
                )
            for name, value, noun in (("y", y, "labels"), ("meta", meta, "metadata")):
                if value is not None:
                    raise DataError(
                        f"{name} is given with Scores, but these have {noun} of their own; leave "
                        f"{name} out"
                    )
            (dataset,) = evaluate_tasks(data, splitter, [options])
        else:
            options = options.checked(splitter)
            system = TrainedSystem(data, splitter, y, meta, estimator, metric=metric, kind=kind)
            (dataset,) = _datasets(system, [options])
    if far_targets is not None:
        note_asked_targets(dataset)
    return dataset


def evaluate_tasks(scores: Scores, splitter: Any, tasks: Sequence[FoldOptions]) -> list[xr.Dataset]:
    """Evaluate several tasks in the same splits of scores."""
    tasks = [options.checked(splitter, scores) for options in tasks]
    return _datasets(FoldedSystem(scores, splitter), tasks)


def _datasets(system: FoldedSystem, tasks: Sequence[FoldOptions]) -> list[xr.Dataset]:
    datasets = []
    plan, sides = system.plan, system.sides
    for options, numbers in zip(tasks, evaluate_folds(system, tasks), strict=True):
        about, scores_of_all_folds = system.about, None
        if not system.is_fitted:
            scores_of_all_folds = system.scores
            if options.task != "verification":
                about = about.searching(system.scores)
            if options.claims is None:
                lost = claims_lost(system.scores, options.fused(system.kind))
                about = about.without_claims(*lost, where=" of all data")
        dataset = fold_dataset(numbers, plan, about, options, scores_of_all_folds)
        dataset.attrs["sizes_are_of"] = system.unit
        if plan.by_parts and isinstance(sides, SplitSides):
            dataset.attrs["experiment"] = _experiment_in_words(plan, sides)
        datasets.append(dataset)
    return datasets


def _experiment_in_words(plan: SplitPlan, sides: SplitSides) -> str:
    """Return the sizes of the galleries of the test parts of an experiment."""
    tests = [split.test for split in plan.splits.values()]
    if any(part.probes is part.gallery for part in tests):
        return "templates of a part are all compared with each other"
    enrolled = np.array([len(np.unique(sides.subject[part.gallery])) for part in tests])
    everybody = np.array([np.count_nonzero(sides.has_subject(part)) for part in tests])
    templates = [len(part.gallery) for part in tests]
    return (
        f"each test part: {span(enrolled)} subjects enrolled with {span(templates)} templates in "
        f"all, {span(everybody - enrolled)} not enrolled"
    )


def judged(
    chosen: ChosenThreshold, parts: Sequence[AttemptsOfParts], times: Sequence[int] = (1, 1)
) -> Numbers:
    """Count errors in both parts of splits at the threshold of the split.

    The counts are (splits, part), and 0 without a threshold. `parts` are the attempts of all
    training parts and of all test parts; `times` says how often an attempt counts in either.
    """
    errors = [attempts.errors_at(chosen.threshold) for attempts in parts]
    genuine = _over_parts([attempts.genuine_attempts for attempts in parts]) * times
    impostor = _over_parts([attempts.impostor_attempts for attempts in parts]) * times
    fa = _over_parts([accepts for accepts, _ in errors]) * times
    fr = _over_parts([rejects for _, rejects in errors]) * times
    is_defined = chosen.defined[:, None]
    return {
        "threshold": chosen.threshold,
        "threshold_next": chosen.next,
        "defined": chosen.defined,
        "genuine_attempts": genuine,
        "impostor_attempts": impostor,
        "ga": (genuine - fr) * is_defined,
        "fr": fr * is_defined,
        "fa": fa * is_defined,
        "gr": (impostor - fa) * is_defined,
    }


def _over_parts(of_each_part: Sequence[np.ndarray]) -> np.ndarray:
    """Join numbers (splits, ...) of the training and of the test part as (splits, part, ...)."""
    return np.stack(of_each_part, axis=1)


def numbers_of_splits(
    train: PartsOfScores, test: PartsOfScores, options: FoldOptions, kind: Kind
) -> Numbers:
    """Choose a threshold on the training part of each split, and judge both parts by it."""
    rule = options.rule.as_distance(kind)  # a fitted system may have another kind
    if options.task != "verification":
        searches = train.searches(options.search), test.searches(options.search)
        numbers = numbers_of_searches(*searches, options, rule)
        numbers["gallery_subjects"] = _over_parts([train.gallery_subjects, test.gallery_subjects])
        return numbers
    fusion = options.fused(kind)
    # Of a single large part, only the attempts that a rule needs are listed.
    trained, times = train.attempts(fusion, PointsWanted.of_rule(rule))
    chosen = choose_of_parts(rule, trained)
    fixed = np.where(chosen.defined, chosen.threshold, -np.inf)
    tested, test_times = test.attempts(fusion, PointsWanted.of_rule(Rule("fixed", tuple(fixed))))
    numbers = judged(chosen, [trained, tested], [times, test_times])
    if options.claims is not None:
        assert isinstance(train, SelectedParts)
        assert isinstance(test, SelectedParts)
        # Claims of probes that are not enrolled: (splits, part), as arrays of distances.
        accepted, claims = [], []
        for i, threshold in enumerate(chosen.threshold):
            distances = train.unenrolled[fusion][i], test.unenrolled[fusion][i]
            accepted.append([np.count_nonzero(x <= threshold) for x in distances])
            claims.append([len(x) for x in distances])
        numbers["fa_unenrolled"] = np.array(accepted)
        numbers["unenrolled_attempts"] = np.array(claims)
    if options.far_targets is not None:
        if not test.listed:
            tested, _ = test.attempts(fusion, options.wanted)
        numbers |= options.points(tested)
    return numbers


def numbers_of_searches(
    train: SearchedParts, test: SearchedParts, options: FoldOptions, rule: Rule
) -> Numbers:
    """Choose a threshold on the searches of each training part, and judge both parts by it."""
    parts = train, test
    numbers = {"tied": test.number(test.is_mated & (test.tied > 0))}
    if options.task == "closed_set":
        attempts = _over_parts([x.number(x.is_mated) for x in parts])
        numbers["cms_count"] = _over_parts([x.found(options.ranks)[1] for x in parts])
        numbers["attempts"] = attempts
        numbers["skipped"] = _over_parts([x.number(~x.is_mated) for x in parts])
        if options.far_targets is not None:
            at_rank_1, _ = test.found(np.ones(1, dtype=np.int64))  # (splits, 1)
            with np.errstate(invalid="ignore"):
                numbers["recognition_rate"] = at_rank_1[:, 0] / attempts[:, 1]
        return numbers
    roles = [options.search.impostors] * test.parts
    ranked = [x.attempts(x.impostors(roles)) for x in parts]
    at_first_rank = [x.first for x in ranked]
    chosen = choose_of_parts(rule, at_first_rank[0])
    numbers |= judged(chosen, at_first_rank)
    found = [x.found(options.ranks, chosen.threshold) for x in parts]
    numbers["di"] = _over_parts([at_rank for at_rank, _ in found])
    numbers["detected"] = _over_parts([up_to_rank for _, up_to_rank in found])
    numbers["searching"] = test.searching_people(roles)
    if options.far_targets is not None:
        numbers["eer"] = at_first_rank[1].equal_error().eer
        numbers["dir_at_far"], _ = ranked[1].dir_at_far(options.far_targets, options.ranks)
    return numbers


# Repeats share a pass over the scores; this is the most pairs of folds in all of them.
_FOLD_PAIRS_AT_ONCE = 1 << 12


# All folds.


class FoldedSystem:
    """Scores that are evaluated in folds; derived classes make new scores in each fold."""

    unit = "subjects"  # the unit of the sizes of parts
    is_fitted = False  # whether each fold has new scores, which share no pass with other folds
    sides: Samples

    def __init__(self, scores: Scores, splitter: Any):
        self.plan, self.sides = plan_of_scores(scores, splitter)
        self.scores, self.kind = self.sides.scores, scores.kind  # scores with remarks on the folds
        if scores.layout == "pairs" and not knows_people(scores):
            self.unit = "pairs"

    @cached_property
    def about(self) -> Provenance:
        return Provenance.from_scores(self.scores)

    def parts(self, split: Split) -> tuple[Scores | None, Scores | None]:
        """Return the scores of the training and of the test part; None without comparisons."""
        assert isinstance(self.sides, SplitSides | PairSides)
        return self.sides.view(split.train), self.sides.view(split.test)


def joined(numbers: Sequence[Numbers]) -> Numbers:
    return {name: np.concatenate([x[name] for x in numbers]) for name in numbers[0]}


def evaluate_folds(system: FoldedSystem, tasks: Sequence[FoldOptions]) -> list[Numbers]:
    """Evaluate several tasks in every split, and return the numbers of each task.

    The parts of many folds of a matrix are masks of a matrix that is sorted once. Verification in
    other folds of a matrix is counted in passes over the scores, where folds can share them. All
    other parts are selected.
    """
    plan, sides = system.plan, system.sides
    splits = [*plan.splits.values()]
    train_and_test: PlacesOfParts | None = None
    if not system.is_fitted and isinstance(sides, SplitSides):
        train_and_test = (
            [sides.indices(split.train) for split in splits],
            [sides.indices(split.test) for split in splits],
        )

    # How each task is counted, by its number.
    share_passes = [_share_passes(system, options) for options in tasks]
    matrix, masked = None, list[int]()
    if train_and_test is not None:
        masked = [i for i, options in enumerate(tasks) if _may_be_masked(options)]
        matrix = _sorted_matrix(system.scores, train_and_test, all(share_passes[i] for i in masked))
    if matrix is None:
        masked = []
    in_passes = [i for i, share in enumerate(share_passes) if share and i not in masked]
    selected = [i for i in range(len(tasks)) if i not in masked and i not in in_passes]

    numbers: list[list[Numbers]] = [[] for _ in tasks]  # of each task, for each run of splits
    for i in in_passes:
        numbers[i].append(_count_together(system, tasks[i]))
    tell = reporter()
    with rows_reported(to=None):  # progress counts folds, and not the rows that they read
        if matrix is not None and train_and_test is not None:
            for run in batches(system.scores.shape, train_and_test[0]):
                masks = [MaskedParts(matrix, places[run]) for places in train_and_test]
                for i in masked:
                    numbers[i].append(numbers_of_splits(masks[0], masks[1], tasks[i], system.kind))
                tell(run.stop, len(splits))
        if selected:
            claims = next((options.claims for options in tasks if options.claims), None)
            for run in _runs_of_selected(system, len(splits), train_and_test):
                train, test = _selected_parts(system, splits[run], run.start, claims)
                for i in selected:
                    numbers[i].append(numbers_of_splits(train, test, tasks[i], system.kind))
                tell(run.stop, len(splits))
    sizes = [sides.sizes(split) for split in splits]
    sizes_by_name = {name: np.array([x[name] for x in sizes]) for name in sizes[0]}
    return [joined(of_runs) | sizes_by_name for of_runs in numbers]


#: The rows and columns of all training parts, and of all test parts, of a matrix.
PlacesOfParts = tuple[list[PartTemplates], list[PartTemplates]]


def _may_be_masked(options: FoldOptions) -> bool:
    """Whether :class:`MaskedParts` can count a task: neither drawn claims, nor ranks of people."""
    ranks_people = options.task != "verification" and options.search.rank_unit == "subject"
    return options.claims is None and not ranks_people


def _sorted_matrix(
    scores: Scores, train_and_test: PlacesOfParts, all_share_passes: bool
) -> SortedMatrix | None:
    """Return the sorted scores, of which parts are masks, or None if it does not pay to sort.

    `all_share_passes` says whether all tasks could also be counted in passes.
    """
    # A pass over many scores counts all folds in the time in which masks count some.
    if all_share_passes and not is_few(math.prod(scores.shape)):
        return None
    if not masks_pay(scores, chain(*train_and_test)):
        return None
    try:
        return SortedMatrix(scores)
    except DataError:  # a part may be without this fault, or raises the error
        return None


def _runs_of_selected(
    system: FoldedSystem, splits: int, train_and_test: PlacesOfParts | None
) -> Iterable[slice]:
    """Return runs of splits whose parts are selected and counted together.

    A run is a single split, unless the attempts of all parts are few enough to be listed.
    """
    if train_and_test is not None:
        sizes = (len(rows) * len(columns) for rows, columns in chain(*train_and_test))
        if all(map(is_few, sizes)):
            return batches(system.scores.shape, train_and_test[0])
    return [slice(i, i + 1) for i in range(splits)]


def _selected_parts(
    system: FoldedSystem,
    splits: Sequence[Split],
    first: int,
    claims: partition.ClaimSampler | None,
) -> tuple[SelectedParts, SelectedParts]:
    """Return the training and the test parts of some splits, numbered from `first`, as scores.

    Claims are drawn by the number of the split and by the part, whatever the runs are.
    """
    about = None if system.is_fitted else system.about
    train_and_test = []
    for part, views in enumerate(zip(*map(system.parts, splits), strict=True)):
        drawn: list[DrawnClaims | None] = []
        for number, view in enumerate(views, start=first):
            if claims is None or view is None:
                drawn.append(None)
            else:
                drawn.append(claims.draw(view, repeat=number, part=part))
        train_and_test.append(SelectedParts(views, about, drawn))
    train, test = train_and_test
    return train, test


def _count_together(system: FoldedSystem, options: FoldOptions) -> Numbers:
    """Count verification of both parts of all folds of some repeats in each pass."""
    plan, sides = system.plan, system.sides
    assert isinstance(sides, SplitSides)
    rule = options.rule.as_distance(system.kind)
    divisions = [_division(plan, number) for number in range(plan.shape[0])]
    at_once = max(1, _FOLD_PAIRS_AT_ONCE // (plan.shape[1] + 1) ** 2)
    passes = range(0, len(divisions), at_once)
    counted: list[Numbers] = []
    tell, rows = reporter(), system.scores.shape[0]
    with rows_reported(to=tell, passes=2 * len(passes)):
        for first in passes:
            folds_of_sides, parts = [], []
            for fold_of_sample, parts_of_repeat in divisions[first : first + at_once]:
                fold_of_row = fold_of_sample[sides.sample_of_row]
                fold_of_column = fold_of_sample[sides.sample_of_column]
                folds_of_sides.append((fold_of_row, fold_of_column))
                parts.append(parts_of_repeat)
            counting = FoldAttempts(options.fused(system.kind), folds_of_sides, parts, rule)
            (attempts,) = reduce(system.scores, counting)
            report_rows(rows, rows)  # the second pass may not be needed
            for train, test in attempts:
                numbers = judged(choose_of_parts(rule, train), [train, test])
                if options.far_targets is not None and counting.few:
                    numbers |= options.points(test)
                counted.append(numbers)
    if options.far_targets is None or counting.few:
        return joined(counted)
    points = []
    with rows_reported(to=None):
        for done, split in enumerate(plan.splits.values(), start=1):
            test = SelectedParts([system.parts(split)[1]], system.about)
            attempts, _ = test.attempts(options.fused(system.kind), options.wanted)
            points.append(options.points(attempts))
            tell(done, len(plan.splits))
    return joined(counted) | joined(points)


def _share_passes(system: FoldedSystem, options: FoldOptions) -> bool:
    """Whether folds may be counted together; other folds must be counted part by part.

    They may in verification of a matrix, but for experiments, drawn claims, data with templates of
    no person, which are in every part, and claims of a person whose templates are in two folds.
    """
    is_of_all_attempts = options.task == "verification" and options.claims is None
    if system.is_fitted or not is_of_all_attempts or system.plan.by_parts:
        return False
    plan, sides = system.plan, system.sides
    if not isinstance(sides, SplitSides) or sides.n != sides.templates:
        return False
    if options.use.templates == "single":
        return True
    subject = system.scores.codes.gallery
    for repeat in range(plan.shape[0]):
        # The gallery templates of each subject must be in one fold, that of the last of them.
        fold_of_sample, _ = _division(plan, repeat)
        fold = fold_of_sample[sides.sample_of_column]
        last_fold = np.full(int(subject.max()) + 1, -2, dtype=np.int64)
        last_fold[subject] = fold
        if not (last_fold[subject] == fold).all():
            return False
    return True


def _division(plan: SplitPlan, repeat: int) -> tuple[np.ndarray, list[tuple[Subset, Subset]]]:
    """Return the fold of each sample, int64 (n,), and the training and test part of each fold.

    The parts are subsets of the folds. If every fold trains on all samples that it does not test,
    a sample is in the fold that tests it, and a sample that no fold tests has the next number.
    Else there is one division into 0 (test), 1 (training) and 2 (neither).
    """
    if plan.codes is not None:
        fold_of_sample = plan.codes[repeat]
        folds = int(fold_of_sample.max()) + 1
        parts = [(Subset(k, inside=False), Subset(k)) for k in range(folds)]
        return np.where(fold_of_sample < 0, folds, fold_of_sample), parts
    split = plan.splits[repeat, 0]
    fold_of_sample = np.full(plan.n, 2, dtype=np.int64)
    fold_of_sample[split.train.probes] = 1
    fold_of_sample[split.test.probes] = 0
    return fold_of_sample, [(Subset(1), Subset(0))]


# Systems that are fitted in each fold, to features or to scores of the training part.


class TrainedSystem(FoldedSystem):
    """Features, their subjects, and an estimator that is fitted in each fold."""

    is_fitted = True

    def __init__(
        self, features: Any, splitter: Any, y: Any, meta: Any, estimator: Any, **compared_by: Any
    ):
        """Check features, subjects and estimator; `compared_by` are the options metric and kind."""
        self.kind = kind_of_metric(**compared_by)
        self.metric = compared_by["metric"]
        if isinstance(features, Scores):
            raise DataError(
                "estimator is given with Scores of a finished system; give the features of "
                "the samples, shape (n, f)"
            )
        keys = keys_of(features)
        brought = in_order(y, keys, "`y`", templates="the features")
        y, remarks = brought.values, [*brought.remarks]
        if isinstance(meta, Mapping):
            brought = each_in_order(
                meta,
                brought.keys,
                "meta[{!r}]",
                templates="the features",
                may_be_plain=not keys.stated,
            )
            meta = brought.values
            remarks += brought.remarks
        self.features = as_embeddings(features, "data")
        if y is None:
            raise DataError("y is missing: the subject of each sample, to fit and to divide by")
        samples = len(self.features)
        self.labels = LabelCodes(y, "y")
        self.subjects = self.labels.labels
        if len(self.subjects) != samples:
            raise DataError(
                f"y has {len(self.subjects)} subjects for {samples} samples; expected {samples}"
            )
        require_features(FeatureSide(self.features, self.subjects, "data", titles_of(features)))
        for method in ("fit", "transform"):
            if isinstance(estimator, type) or not hasattr(estimator, method):
                raise DataError(
                    f"estimator is {estimator!r}, not an object with {method}(); expected "
                    "a transformer, such as make_pipeline(PCA(50), LinearDiscriminantAnalysis())"
                )
        self.estimator = estimator
        self._origin = ""  # of the embeddings of the last fold
        splitter_in_order = splitter
        if isinstance(splitter, partition.PredefinedFolds):
            noun = "`fold_of_sample`"
            folds = in_order(splitter.fold_of_sample, brought.keys, noun, templates="the features")
            splitter_in_order = partition.PredefinedFolds(folds.values)
            remarks += folds.remarks
        self.plan = SplitPlan(splitter_in_order, samples, self.subjects, meta=meta, given=splitter)
        self._remarks = tuple(dict.fromkeys(remarks))
        self.sides = Samples(self.labels.codes)

    def parts(self, split: Split) -> tuple[Scores | None, Scores | None]:
        """Return both parts, transformed by a clone that is fitted to the training samples."""
        from sklearn.base import clone

        fitted = clone(self.estimator).fit(self.features[split.fitted], self.subjects[split.fitted])
        parts: list[Scores | None] = []
        for probes, gallery in (split.train, split.test):
            if not len(probes) or not len(gallery):
                parts.append(None)
                continue
            # A part whose templates are all compared with each other has one side.
            sides = []
            for templates in [probes] if gallery is probes else [probes, gallery]:
                embeddings = np.asarray(fitted.transform(self.features[templates]))
                sides += [embeddings, self.subjects[templates]]
            parts.append(Scores.from_embeddings(*sides, metric=self.metric, kind=self.kind))
        train, test = parts
        if test is not None:
            self._origin = test.origin
        return train, test

    @property
    def about(self) -> Provenance:
        names = len(self.labels)
        samples, width = self.features.shape
        return Provenance(
            name=type(self.estimator).__name__,
            layout="all-against-all",
            kind=self.kind,
            nan="raise",
            probes=samples,
            gallery_templates=samples,
            gallery_subjects=names,
            probe_subjects=names,
            enrolled_subjects=names,
            people=(names, names, names),
            notes=self._remarks,
            fingerprints=(f"{samples} samples, {width} features labels:{self.labels.digest}",),
            origin=f"{self.estimator!r}; {self._origin}",
        )
