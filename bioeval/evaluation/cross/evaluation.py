"""Cross-evaluation: thresholds are chosen on the training part of a fold, judged on the test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bioeval.base.errors import Argument, DataError, ProtocolError
from bioeval.base.random import RandomState
from bioeval.evaluation.cross.identification_folds import identify_folds
from bioeval.evaluation.cross.options import FoldOptions, parse_ranks
from bioeval.evaluation.cross.results import Fold, fold_dataset
from bioeval.evaluation.cross.splits import PairSides, Sides, SplitPlan, plan_of_scores
from bioeval.evaluation.cross.trained_systems import TrainedSystem, evaluate_trained
from bioeval.evaluation.cross.verification_folds import (
    attempts_by_subject,
    verify_matrix,
    verify_pairs,
)
from bioeval.scores.blocks import BlockReader, Progress, require_subjects, threads_for
from bioeval.scores.matrix import PairScores, Scores
from bioeval.stats.options import BOOTSTRAPS, REPLICATES, IntervalOptions, check_confidence
from bioeval.stats.pooled import PooledRates
from bioeval.tallies.by_subject import require_people
from bioeval.tallies.threshold_rules import parse_rule
from bioeval.tallies.thresholds import require_values

if TYPE_CHECKING:
    import xarray as xr


def cross_evaluate(
    data: Any,
    splitter: Any,
    *,
    y: Any = None,
    meta: Any = None,
    task: str = "verification",
    threshold: Any = "eer",
    templates: str = "single",
    fusion: str = "min",
    ranks: Sequence[int] = (1, 5, 10),
    rank_unit: str = "template",
    ties: str = "pessimistic",
    impostors: str = "auto",
    estimator: Any = None,
    metric: Any = "cosine",
    interval: str = "nadeau-bengio",
    confidence: float = 0.95,
    replicates: int = REPLICATES,
    random_state: RandomState = 0,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Choose a threshold on the training part of each fold and judge it on the test part.

    A training pair has both templates in the training part, a test pair both in the test part;
    pairs across the two parts are not used. All folds of a partition are counted in one
    sweep over the scores.

    Parameters
    ----------
    data : Scores, or array_like of shape (n, f)
        Scores of any layout; or, with `estimator`, the features of n samples.
    splitter : splitter
        Of :mod:`bioeval.partition` or of scikit-learn, with training and test parts. Of
        ``TrainValidationTest`` the threshold is chosen on the validation part. Of a list of pairs
        a splitter by subject divides the subjects, and a pair is in a part with both of them;
        other splitters divide the pairs.
    y : sequence of hashable, shape (n,), optional
        The subject of each sample, with `estimator`.
    meta : mapping of str to sequence, optional
        Metadata of the samples, with `estimator`, where the splitter needs them.
    task : {"verification", "open_set", "closed_set"}
        ``"closed_set"`` has no threshold; its curve is given for both parts.
    threshold : str or tuple
        ``"eer"``: the equal error rate. ``("far", x)``: the smallest FRR with FAR at most x.
        ``("cost", prior, c_miss, c_fa)``: the least cost; ``"hter"`` is the cost (0.5, 1, 1).
        ``"accuracy"``: the largest accuracy, as in LFW. ``("fixed", t)``: t. Each is found
        exactly, at the scores of the training part; of equals the strictest is taken. Also as a
        text, ``"far=0.001"``.
    templates, fusion
        Of verification, as for :func:`bioeval.verification`.
    ranks : sequence of int
        The ranks of DIR and CMS.
    rank_unit, fusion, ties, impostors
        Of identification, as for :func:`bioeval.open_set`; not with ``"expected"`` ties.
    estimator : estimator, optional
        A transformer in scikit-learn's form. In each fold a clone is fitted on the training
        samples and their subjects alone; both parts are transformed and compared by `metric`.
    metric : str or callable
        As for :meth:`bioeval.Scores.from_embeddings`.
    interval : {"nadeau-bengio", "subject-bootstrap", "subject-bootstrap-bca", \
            "subject-bootstrap-logit"}
        ``"nadeau-bengio"``: of the mean over folds, by their spread. The others, of verification:
        of the pooled rate on the test parts, by resampling subjects while each fold keeps its
        threshold; there are none of the training parts then.
    confidence : float
        Of the interval.
    replicates, random_state
        Of the resampling.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``; of pairs and of identification with folds.

    Returns
    -------
    xarray.Dataset
        Over ``repeat, fold``: the ``threshold`` that was chosen, in the units of the scores; rates
        ``far frr gar grr accuracy hter`` (also over ``rank``: ``dir``, ``cms``), counts
        ``fa fr ga gr`` and attempts of the test part; the same of the training part with
        ``train_`` before the name; ``test_subjects`` and ``train_subjects``; of pairs divided by
        subject ``crossing_pairs``, which have one subject in the test part and are not used. Over
        the folds of all repeats, for each rate: ``<rate>_mean``, ``<rate>_sd``, ``<rate>_pooled``
        (counts summed), ``<rate>_low`` and ``<rate>_high`` (the interval) and ``<rate>_folds``, the
        number of folds in which it is defined. A fold whose class has no attempt is NaN, is left
        out of the mean, and is counted.

    Raises
    ------
    DataError
        Bad options; or the splitter cannot divide these samples.
    ProtocolError
        If the scores cannot support it: no labels, order-only scores, identification in pairs.

    Notes
    -----
    Definitions: ``docs/cross-evaluation.md``. Nadeau, C., Bengio, Y. (2003). Inference for the
    generalization error. *Machine Learning* 52, 239-281.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(40, 4, random_state=1)
    >>> splitter = be.partition.SubjectKFold(4, shuffle=True, random_state=0)
    >>> ds = be.cross_evaluate(scores, splitter, threshold=("far", 0.01))
    >>> dict(ds.sizes)
    {'repeat': 1, 'fold': 4}
    >>> print(f"{ds.train_far_mean.item():.4f} {ds.far_mean.item():.4f}")
    0.0099 0.0059
    """
    options = FoldOptions(
        task=task,
        rule=parse_rule(threshold),
        templates=templates,
        fusion=fusion,
        ranks=parse_ranks(ranks),
        rank_unit=rank_unit,
        ties=ties,
        impostors=impostors,
        interval=interval,
    )
    confidence = check_confidence(confidence)
    resampling = None
    if interval in BOOTSTRAPS:
        resampling = IntervalOptions.parse(interval, confidence, replicates, random_state)
        _check_people(data, options, estimator)
    resampled = None
    if estimator is not None:
        system = TrainedSystem(data, splitter, y, meta, estimator, metric)
        options = options.with_role()
        found, about = evaluate_trained(system, options, progress)
        plan = system.plan
    else:
        scores = _as_scores(data, y, meta)
        options = replace(options, kind=scores.kind)
        _check_task(scores, options)
        plan, sides = plan_of_scores(scores, splitter)
        reader = BlockReader(scores)
        if isinstance(sides, PairSides):
            found = verify_pairs(plan, sides, options, progress)
        elif task == "verification":
            found = verify_matrix(reader, plan, sides, options, progress)
        else:
            options = options.with_role(scores)
            found = identify_folds(plan, sides, options, progress)
        reader.note_sentinels()
        about = reader.about
        if resampling is not None:
            resampled = PooledRates(scores.subjects.tolist(), resampling)
            with threads_for(scores):
                _add_tests(resampled, sides, plan, found, options)
    made = fold_dataset(found, plan.shape, about, options, splitter, confidence, resampled)
    unknown = isinstance(data, PairScores) and data.pair_subjects is None
    made.attrs["sizes_are_of"] = "pairs" if unknown else "subjects"
    return made


def _check_people(data: Any, options: FoldOptions, estimator: Any) -> None:
    """Raise unless subjects can be resampled: the task is verification, the subjects known."""
    if options.task != "verification" or estimator is not None:
        what = f"{options.task_name} in folds" if estimator is None else "trained systems"
        raise ProtocolError(
            f"{Argument('interval', options.interval)} in folds is for verification of scores; "
            f"for {what} give {Argument('interval', 'nadeau-bengio')}"
        )
    if isinstance(data, Scores):
        require_people(data, options.interval)


def _add_tests(
    pooled: PooledRates,
    sides: Sides | PairSides,
    plan: SplitPlan,
    found: Mapping[tuple[int, int], Fold],
    options: FoldOptions,
) -> None:
    """Add the attempts of all test parts, each at its own threshold."""
    for place, fold in found.items():
        part = sides.view(plan.split(*place).test)
        if fold.defined and part is not None:
            attempts = attempts_by_subject(part, options.templates, options.fusion)
            pooled.add(attempts, fold.threshold)


def _as_scores(data: Any, y: Any, meta: Any) -> Scores:
    if not isinstance(data, Scores):
        raise DataError(
            f"data is {type(data).__name__}; expected bioeval.Scores, or features with estimator="
        )
    for name, value, own in (("y", y, "labels"), ("meta", meta, "metadata")):
        if value is not None:
            raise DataError(f"{name} is given with Scores, which have {own} of their own")
    return data


def _check_task(scores: Scores, options: FoldOptions) -> None:
    if options.task != "closed_set":
        require_values(scores, f"{options.task_name} in folds")
    if isinstance(scores, PairScores):
        if options.task != "verification":
            raise ProtocolError(
                f"{options.task} needs a gallery to search; a list of pairs supports verification"
            )
        if options.templates == "multi":
            require_subjects(scores, "multi-template")
