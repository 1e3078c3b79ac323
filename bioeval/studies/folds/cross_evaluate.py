"""Cross-evaluation: a threshold is chosen on the training part of a fold, and judged on both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bioeval import partition
from bioeval.base.errors import DataError, ProtocolError
from bioeval.base.kinds import Kind
from bioeval.base.progress import rows_reported
from bioeval.counting.threshold_rules import Rule
from bioeval.counting.thresholds import FAR_TARGETS, check_priors, check_targets
from bioeval.counting.verification import Use
from bioeval.partition.any_splitter import as_splitter
from bioeval.partition.base import SplitterLike
from bioeval.protocol.fields import ImpostorProbes, PlainTies, RankUnit
from bioeval.protocol.tasks import OpenSet
from bioeval.results.support import note_asked_targets
from bioeval.scores.distances import FusionRule, Templates
from bioeval.scores.embeddings import Metric
from bioeval.scores.matrix import Scores
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.aggregate import REPEATED_INTERVALS, RepeatedInterval
from bioeval.stats.options import IntervalMethod, required_interval
from bioeval.studies.folds.loop import (
    FoldedSystem,
    FoldOptions,
    FoldTask,
    TrainedSystem,
    evaluate_folds,
    parse_ranks,
)
from bioeval.studies.folds.results import fold_dataset, span
from bioeval.studies.folds.splits import SplitPlan, SplitSides

#: The default ranks of DIR and CMS.
RANKS = (1, 5, 10)


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
    # The options. Test parts have operating points of their own if any of these is given.
    splitter = as_splitter(splitter)
    at_frr = check_targets(frr_targets, "frr_targets")
    at_priors = check_priors(priors)
    has_points = len(at_frr) or len(at_priors) or isinstance(splitter, partition.Experiment)
    names_targets = far_targets is not None
    if far_targets is None and has_points:
        far_targets = FAR_TARGETS
    options = FoldOptions(
        task=task,
        rule=Rule("none") if threshold is None else Rule.parse(threshold),
        use=Use(templates, fusion),
        search=OpenSet(rank_unit=rank_unit, fusion=fusion, ties=ties, impostors=impostors),
        ranks=parse_ranks(ranks),
        interval=required_interval(interval, REPEATED_INTERVALS),
        far_targets=None if far_targets is None else check_targets(far_targets),
        frr_targets=at_frr,
        priors=at_priors,
        claims=claims,
    )
    searches = options.task != "verification"
    has_fusion = (rank_unit == "subject") if searches else (templates == "multi")
    fused = '`rank_unit="subject"`' if searches else '`templates="multi"`'
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
        is_given = not is_default and not (name == "threshold" and threshold is None)
        if is_given and not has_effect:
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
    if names_targets:
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
        of_all_folds = None if system.is_fitted else system.scores
        about = system.about_task(options)
        dataset = fold_dataset(numbers, plan, about, options, of_all_folds)
        dataset.attrs["sizes_are_of"] = system.unit
        if plan.by_parts and not system.is_fitted and isinstance(sides, SplitSides):
            dataset.attrs["experiment"] = _test_parts_in_words(plan, sides)
        datasets.append(dataset)
    return datasets


def _test_parts_in_words(plan: SplitPlan, sides: SplitSides) -> str:
    enrolled, templates, not_enrolled = [], [], []
    for split in plan.splits.values():
        part = split.test
        if part.probes is part.gallery:
            return "templates of a part are all compared with each other"
        people = len(np.unique(sides.subject[part.gallery]))
        enrolled.append(people)
        templates.append(len(part.gallery))
        not_enrolled.append(int(np.count_nonzero(sides.has_subject(part))) - people)
    return (
        f"each test part: {span(enrolled)} subjects enrolled with {span(templates)} templates in "
        f"all, {span(not_enrolled)} not enrolled"
    )
