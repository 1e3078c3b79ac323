"""Cross-evaluation: a threshold is chosen on the training part of a fold and judged on the test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.errors import Argument, DataError, ProtocolError, require_choice
from bioeval.base.random import RandomState
from bioeval.evaluation.cross.results import Fold, fold_dataset
from bioeval.evaluation.cross.splits import Plan, Sides, plan_for
from bioeval.evaluation.cross.trained_systems import System, systems_of
from bioeval.results.open_set import impostor_probes, role_of
from bioeval.scores.blocks import BlockReader, Progress, require_subjects, threads_for
from bioeval.scores.blocks import as_row as as_row_of_distances
from bioeval.scores.matrix import PairScores, Scores
from bioeval.scores.template_fusion import parse_fusion
from bioeval.stats.options import BOOTSTRAPS, REPLICATES, Asked, check_confidence
from bioeval.stats.pooled import PooledRates
from bioeval.tallies.attempts import TEMPLATES, IdentificationJob, require_values
from bioeval.tallies.by_fold import Judged, Part, judge_folds, judge_listed, judge_two
from bioeval.tallies.by_subject import require_people
from bioeval.tallies.counts import IdentificationTally
from bioeval.tallies.sweep import run_jobs
from bioeval.tallies.threshold_rules import Attempts, Rule, parse_rule
from bioeval.tallies.tie_policies import rank_weights

if TYPE_CHECKING:
    import xarray as xr

TASKS = ("verification", "open_set", "closed_set")
TIES = ("pessimistic", "optimistic", "stable")


@dataclass(frozen=True)
class Options:
    """What is evaluated in each fold.

    Attributes
    ----------
    fixed : float
        The threshold of the rule ``"fixed"``, as a distance.
    impostors : str
        Of identification, with ``"auto"`` resolved for the scores as a whole.
    """

    task: str
    rule: Rule
    fixed: float
    templates: str
    fusion: str
    ranks: np.ndarray
    rank_unit: str
    ties: str
    impostors: str
    interval: str = "nadeau-bengio"


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
    pairs of one and the other are used by neither. All folds of a partition are counted in one
    sweep over the scores.

    Parameters
    ----------
    data : Scores, or array_like of shape (n, f)
        Scores of any layout; or, with `estimator`, the features of n samples.
    splitter : splitter
        Of :mod:`bioeval.partition` or of scikit-learn, with training and test parts. Of
        ``TrainValidationTest`` the threshold is chosen on the validation part. Pairs are divided
        by ``PredefinedPairFolds`` or as samples.
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
        Called as ``progress(rows_done, rows)``.

    Returns
    -------
    xarray.Dataset
        Over ``repeat, fold``: the ``threshold`` that was chosen, in the units of the scores; rates
        ``far frr gar grr accuracy hter`` (also over ``rank``: ``dir``, ``cms``), counts
        ``fa fr ga gr`` and attempts of the test part; the same of the training part with
        ``train_`` before the name; ``test_subjects`` and ``train_subjects``. Over the folds of all
        repeats, for each rate: ``<rate>_mean``, ``<rate>_sd``, ``<rate>_pooled`` (counts summed),
        ``<rate>_low`` and ``<rate>_high`` (the interval) and
        ``<rate>_folds``, the number of folds in which it is defined. A fold whose class has no
        attempt is NaN, is left out of the mean, and is counted.

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
    require_choice("task", task, TASKS)
    require_choice("templates", templates, TEMPLATES)
    require_choice("ties", ties, TIES)
    parse_fusion(fusion)
    require_choice("interval", interval, ("nadeau-bengio", *BOOTSTRAPS))
    confidence = check_confidence(confidence)
    asked = None
    if interval in BOOTSTRAPS:
        asked = Asked.of(interval, confidence, replicates, random_state)
        _check_people(data, task, estimator, interval)
    rule = parse_rule(threshold)
    options = Options(
        task, rule, np.nan, templates, fusion, _as_ranks(ranks), rank_unit, ties, impostors,
        interval,
    )  # fmt: skip
    if estimator is not None:
        system = System(data, splitter, y, meta, estimator, metric)
        options = _with_role(_with_fixed(options, "distance"))
        found, plan, about = _over_systems(system, options, progress)
    else:
        scores = _as_scores(data, y, meta)
        options = _with_fixed(options, scores.kind)
        _check_task(scores, options)
        plan, sides = plan_for(scores, splitter)
        reader = BlockReader(scores)
        about = reader.about
        tick = None if progress is None else _Ticker(progress)
        if sides is None:
            assert isinstance(scores, PairScores)
            found = _over_pairs(scores, plan, options)
        elif task == "verification":
            found = _over_matrix(scores, reader, plan, sides, options, tick)
        else:
            options = _with_role(options, scores)
            found = _over_views(plan, sides, options, tick)
    resampled = None if asked is None else _resampled(scores, plan, sides, found, options, asked)
    made = fold_dataset(found, plan.shape, about, options, splitter, confidence, resampled)
    unknown = isinstance(data, PairScores) and data.pair_subjects is None
    made.attrs["sizes_are_of"] = "pairs" if unknown else "subjects"
    return made


def _check_people(data: Any, task: str, estimator: Any, interval: str) -> None:
    """Refuse to resample subjects where that is not known how to do, or who they are."""
    if task != "verification" or estimator is not None:
        what = f"{task.replace('_', '-')} in folds" if estimator is None else "systems trained anew"
        raise ProtocolError(
            f"{Argument('interval', interval)} in folds is for verification of scores; for {what} "
            f"give {Argument('interval', 'nadeau-bengio')}"
        )
    if isinstance(data, Scores):
        require_people(data, interval)


def _resampled(
    scores: Scores,
    plan: Plan,
    sides: Sides | None,
    found: Mapping[tuple[int, int], Fold],
    options: Options,
    asked: Asked,
) -> PooledRates:
    """Resample the subjects of all test parts, each at its own threshold."""
    pooled = PooledRates(scores, asked)
    with threads_for(scores):
        for (repeat, fold), one in found.items():
            test = plan.division(repeat, fold).test
            part = scores.select(test) if sides is None else sides.view(test)
            if one.defined and part is not None:
                pooled.add(part, one.threshold, options.templates, options.fusion)
    return pooled


def _as_ranks(ranks: Any) -> np.ndarray:
    array = np.atleast_1d(np.asarray(ranks))
    if array.ndim != 1 or array.dtype.kind not in "iu" or not len(array) or (array < 1).any():
        raise DataError(f"ranks is {ranks!r}; expected whole numbers from 1 up")
    return np.unique(array).astype(np.int64)


def _with_fixed(options: Options, kind: str) -> Options:
    if options.rule.name != "fixed":
        return options
    t = options.rule.values[0]
    return replace(options, fixed=-t if kind == "similarity" else t)


def _with_role(options: Options, scores: Scores | None = None) -> Options:
    role = (
        role_of("all-against-all", options.impostors, True)
        if scores is None
        else role_in_all_parts(scores, options.impostors)
    )
    return replace(options, impostors=role)


def role_in_all_parts(scores: Scores, impostors: str) -> str:
    """Say once for all parts who plays the impostor: a part may have no unenrolled probe."""
    everybody = bool(np.isin(scores.codes.probe, scores.codes.gallery).all())
    return role_of(scores.layout, impostors, everybody)


def _as_scores(data: Any, y: Any, meta: Any) -> Scores:
    if not isinstance(data, Scores):
        raise DataError(
            f"data is {type(data).__name__}; expected bioeval.Scores, or features with estimator="
        )
    for name, value, own in (("y", y, "labels"), ("meta", meta, "metadata")):
        if value is not None:
            raise DataError(f"{name} is given with Scores, which have {own} of their own")
    return data


def _check_task(scores: Scores, options: Options) -> None:
    if options.task != "closed_set":
        require_values(scores, f"{options.task.replace('_', '-')} in folds")
    if isinstance(scores, PairScores):
        if options.task != "verification":
            raise ProtocolError(
                f"{options.task} needs a gallery to search; a list of pairs supports verification"
            )
        if options.templates == "multi":
            require_subjects(scores, "multi-template")


class _Ticker:
    """Adds up what is done for a callback that wants it whole; the end is not known beforehand."""

    def __init__(self, progress: Progress):
        self.progress, self.done, self.total = progress, 0, 1

    def expect(self, rows: int) -> None:
        self.total = rows

    def __call__(self, rows: int) -> None:
        self.done = min(self.done + rows, self.total)
        self.progress(self.done, self.total)


# ------------------------------------------------------------------------------ verification


def _over_matrix(
    scores: Scores,
    reader: BlockReader,
    plan: Plan,
    sides: Sides,
    options: Options,
    tick: _Ticker | None,
) -> dict[tuple[int, int], Fold]:
    """Evaluate verification over a matrix, each repeat in one sweep."""
    found: dict[tuple[int, int], Fold] = {}
    repeats = plan.shape[0]
    if tick is not None:
        tick.expect(2 * repeats * scores.shape[0])
    for repeat in range(repeats):
        number = plan.folds_of(repeat)
        divided = [plan.division(repeat, fold) for fold in range(number)]
        code, parts = _coded(plan, repeat, sides.n)
        if options.templates == "multi" and not sides.keeps_subjects(code):
            judged = _fold_by_fold(sides, divided, options)
            if tick is not None:
                tick(2 * scores.shape[0])
        else:
            codes = code[sides.probe], code[sides.gallery]
            judged = judge_folds(
                scores, reader, options.rule, options.fixed, parts, codes, options.templates,
                options.fusion, tick,
            )  # fmt: skip
        for fold, (one, division) in enumerate(zip(judged, divided, strict=True)):
            sizes = sides.subjects_in(division.train), sides.subjects_in(division.test)
            found[repeat, fold] = Fold.of_judged(one, *sizes)
    return found


def _coded(plan: Plan, repeat: int, n: int) -> tuple[np.ndarray, list[tuple[Part, Part]]]:
    """Return the fold of each sample, and the parts of each fold by these."""
    if plan.codes is not None:
        code = plan.codes[repeat]
        number = plan.folds_of(repeat)
        parts = [(Part(k, inside=False), Part(k)) for k in range(number)]
        return np.where(code < 0, number, code), parts
    division = plan.division(repeat, 0)
    code = np.full(n, 2, dtype=np.int64)
    code[division.train], code[division.test] = 1, 0
    return code, [(Part(1), Part(0))]


def _fold_by_fold(sides: Sides, divided: list, options: Options) -> list[Judged]:
    """Evaluate each fold by itself, where a subject is fused in several parts."""
    judged = []
    for division in divided:
        train, test = sides.view(division.train), sides.view(division.test)
        judged.append(judge_views(train, test, options))
    return judged


def judge_views(train: Scores | None, test: Scores | None, options: Options) -> Judged:
    """Choose a threshold of verification on some scores and count others at it."""
    if train is None or test is None:
        nothing = Attempts.listed(np.empty(0), np.empty(0))
        only = next((s for s in (train, test) if s is not None), None)
        if only is None:
            return judge_listed(nothing, nothing, options.rule, options.fixed)
        args = (options.rule, options.fixed, options.templates, options.fusion)
        both = judge_two(only, only, *args)
        if train is None:
            return judge_listed(nothing, both.test, options.rule, options.fixed)
        return Judged(both.chosen, both.train, nothing)
    return judge_two(train, test, options.rule, options.fixed, options.templates, options.fusion)


def listed_attempts(scores: PairScores, index: np.ndarray) -> Attempts:
    """Return some fixed trials as attempts."""
    row = as_row_of_distances(scores.values, scores.kind, scores.nan)[0]
    index = index[row[index] == row[index]]
    genuine = scores.genuine[index]
    return Attempts.listed(row[index[genuine]], row[index[~genuine]])


def _over_pairs(scores: PairScores, plan: Plan, options: Options) -> dict[tuple[int, int], Fold]:
    """Evaluate fixed trials: the samples are pairs."""
    found: dict[tuple[int, int], Fold] = {}
    for repeat in range(plan.shape[0]):
        for fold in range(plan.folds_of(repeat)):
            division = plan.division(repeat, fold)
            parts = [listed_attempts(scores, part) for part in (division.train, division.test)]
            sizes = _size_of(scores, division.train), _size_of(scores, division.test)
            judged = judge_listed(parts[0], parts[1], options.rule, options.fixed)
            found[repeat, fold] = Fold.of_judged(judged, *sizes)
    return found


def _size_of(scores: PairScores, index: np.ndarray) -> int:
    """Return the subjects of some pairs; where they are not known, the pairs."""
    if scores.pair_subjects is None:
        return len(index)
    return len(set(scores.pair_subjects[index].ravel().tolist()))


# ---------------------------------------------------------------------------- identification


def _over_views(
    plan: Plan, sides: Sides, options: Options, tick: _Ticker | None
) -> dict[tuple[int, int], Fold]:
    """Evaluate identification: each part is searched in a gallery of its own."""
    found: dict[tuple[int, int], Fold] = {}
    places = [(r, k) for r in range(plan.shape[0]) for k in range(plan.folds_of(r))]
    if tick is not None:
        tick.expect(len(places))
    for repeat, fold in places:
        division = plan.division(repeat, fold)
        train, test = sides.view(division.train), sides.view(division.test)
        sizes = sides.subjects_in(division.train), sides.subjects_in(division.test)
        found[repeat, fold] = identify_views(train, test, sizes, options)
        if tick is not None:
            tick(1)
    return found


def identify_views(
    train_scores: Scores | None,
    test_scores: Scores | None,
    sizes: tuple[int, int],
    options: Options,
) -> Fold:
    """Evaluate identification of a training and a test part."""
    train, test = _searched(train_scores, options), _searched(test_scores, options)
    if options.task == "closed_set":
        both = (train.ranks, train.skipped), (test.ranks, test.skipped)
        made = Fold.of_ranks(*both, options.ranks, *sizes)
        made.galleries = train.gallery, test.gallery
        return made
    judged = judge_listed(train.attempts(), test.attempts(), options.rule, options.fixed)
    made = Fold.of_judged(judged, *sizes)
    made.galleries = train.gallery, test.gallery
    t = judged.chosen.threshold
    for name, part in (("train_", train), ("", test)):
        made.detected[name] = part.detected(t, options.ranks, judged.chosen.defined)
    return made


@dataclass(frozen=True)
class _Searched:
    """What identification in one part came to.

    Attributes
    ----------
    mate : float64 array
        Distance of the best mate of each genuine attempt.
    ranks : int64 array
    other : float64 array
        Distance of the nearest candidate of each impostor attempt.
    skipped : int
        Probes without a mate.
    gallery : int
        Subjects in the gallery.
    """

    mate: np.ndarray
    ranks: np.ndarray
    other: np.ndarray
    skipped: int = 0
    gallery: int = 0

    def attempts(self) -> Attempts:
        """Return the attempts at rank 1: a mate that is not first is never accepted."""
        first = self.ranks == 1
        return Attempts.listed(self.mate[first], self.other, int((~first).sum()))

    def detected(self, threshold: float, ranks: np.ndarray, defined: bool) -> np.ndarray:
        """Return the genuine attempts accepted at each rank or better."""
        within = self.mate <= threshold if defined else np.zeros(len(self.mate), dtype=bool)
        return np.array([int((within & (self.ranks <= k)).sum()) for k in ranks])


def _searched(view: Scores | None, options: Options) -> _Searched:
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


# ----------------------------------------------------------------------------------- systems


def _over_systems(
    system: System, options: Options, progress: Progress | None
) -> tuple[dict[tuple[int, int], Fold], Plan, Any]:
    """Fit a system anew for each fold and evaluate it."""
    plan = system.plan
    found: dict[tuple[int, int], Fold] = {}
    about = None
    for done, (repeat, fold, views, sizes) in enumerate(systems_of(system), 1):
        if options.task == "verification":
            found[repeat, fold] = Fold.of_judged(judge_views(*views, options), *sizes)
        else:
            found[repeat, fold] = identify_views(*views, sizes, options)
        if about is None:
            about = system.about(views[1])
        if progress is not None:
            progress(done, system.count)
    return found, plan, about
