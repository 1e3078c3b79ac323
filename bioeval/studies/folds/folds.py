"""A threshold chosen on some attempts, judged on others: in folds of scores and of pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal, Self, get_args

import numpy as np

from bioeval import partition
from bioeval.base.arguments import require_array
from bioeval.base.errors import DataError, ProtocolError, chosen_task, received, require_choice
from bioeval.base.progress import report_rows, reporter, rows_reported_to
from bioeval.counting.folds import FoldAttempts, Subset
from bioeval.counting.identification import PlainTies, Searches, role_of, search
from bioeval.counting.points import normalised_cost
from bioeval.counting.reduce import reduce
from bioeval.counting.sorted_attempts import Attempts, PointsWanted, points_of
from bioeval.counting.threshold_rules import ChosenThreshold, Rule, choose
from bioeval.counting.verification import Use, Verification, verify
from bioeval.protocol.tasks import OpenSet
from bioeval.results.identification import OpenSetPoints
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people
from bioeval.scores.provenance import Provenance
from bioeval.studies.folds.splits import (
    PairSides,
    Place,
    Samples,
    Split,
    SplitPlan,
    SplitSides,
    plan_of_scores,
)

#: Tasks of which a threshold is chosen.
ThresholdTask = Literal["verification", "open_set"]

FoldTask = Literal[ThresholdTask, "closed_set"]
TASKS: tuple[FoldTask, ...] = get_args(FoldTask)

FoldInterval = Literal["nadeau-bengio", "quantile"]
INTERVALS: tuple[FoldInterval, ...] = get_args(FoldInterval)


@dataclass(frozen=True)
class FoldOptions:
    """Task, threshold rule and attempts of an evaluation in folds; checked when it is made.

    `ranks` are increasing; impostors of a search may be ``"auto"`` until :meth:`with_role`.
    `far_targets` and `frr_targets` are those of the operating points of each test part by itself,
    `priors` those of its least costs; there are none where `far_targets` is None.
    """

    task: str
    rule: Rule
    use: Use = Use()
    search: OpenSet = field(default_factory=OpenSet)
    ranks: np.ndarray = field(default_factory=lambda: np.ones(1, dtype=np.int64))
    interval: str = "nadeau-bengio"
    kind: str = "distance"
    far_targets: np.ndarray | None = None
    frr_targets: np.ndarray = field(default_factory=lambda: np.empty(0))
    priors: np.ndarray = field(default_factory=lambda: np.empty(0))
    claims: partition.ClaimSampler | None = None

    def __post_init__(self) -> None:
        """Raise for options that do not go together."""
        if str(self.task).lower() in ("reid", "re-identification", "gom"):
            raise ProtocolError(
                f"`task` is {self.task!r}; re-identification has no threshold of a "
                'training part: be.repeat(scores, splitter, "market1501") evaluates it in each '
                "partition, and be.show its mean and standard deviation"
            )
        object.__setattr__(self, "task", chosen_task(self.task, TASKS))
        require_choice("ties", self.search.ties, PlainTies)
        require_choice("interval", self.interval, INTERVALS)
        of_verification = {name: np.size(getattr(self, name)) for name in ("frr_targets", "priors")}
        for name, number in {**of_verification, "claims": self.claims is not None}.items():
            if number and self.task != "verification":
                raise ProtocolError(
                    f"`{name}` applies to verification only; the task is {self.task}"
                )
        if not isinstance(self.claims, partition.ClaimSampler | None):
            raise DataError(
                f"`claims` is {type(self.claims).__name__}; expected a ClaimSampler, "
                "to draw claims for each part"
            )

    @property
    def in_words(self) -> str:
        """The task as the attributes of a result name it."""
        if self.task == "verification":
            return f"verification, {self.use.templates}-template"
        return f"{self.task_name} identification"

    @property
    def task_name(self) -> str:
        """The task in words."""
        return self.task.replace("_", "-")

    @property
    def targets(self) -> np.ndarray:
        """The FAR targets of operating points; empty where they are not wanted."""
        return np.empty(0) if self.far_targets is None else self.far_targets

    @property
    def distance_rule(self) -> Rule:
        """The rule, with a fixed threshold converted to a distance."""
        return self.rule.as_distance(self.kind)

    def with_role(self, splitter: Any, scores: Scores | None = None) -> FoldOptions:
        """Return the options with the probes that are impostors; None for trained systems."""
        if self.task == "verification":
            return self
        if isinstance(splitter, partition.Experiment) and splitter.has_galleries:
            role = splitter.impostors if self.search.impostors == "auto" else self.search.impostors
        elif scores is None:
            role = role_of("all-against-all", self.search.impostors, True)
        else:
            # In every part: one part may have no probe who is not enrolled.
            all_enrolled = bool(np.isin(scores.codes.probe, scores.codes.gallery).all())
            role = role_of(scores.layout, self.search.impostors, all_enrolled)
        return replace(self, search=replace(self.search, impostors=role))


def parse_ranks(ranks: Any) -> np.ndarray:
    """Return ranks in increasing order as int64, or raise :class:`DataError`."""
    array = np.atleast_1d(require_array("ranks", ranks))
    if array.ndim != 1 or array.dtype.kind not in "iu" or not len(array) or (array < 1).any():
        raise DataError(f"ranks is {received(ranks)}; expected whole numbers from 1 up")
    return np.unique(array).astype(np.int64)


# Partitions that share a look, times the pairs of folds of each.
SHARED = 1 << 12

NOTHING = Attempts.listed(np.empty(0), np.empty(0))

Points = dict[str, float | np.ndarray]


# ------------------------------------------------------------------------- one part of the scores


@dataclass(frozen=True)
class Searched:
    """Identification attempts of one part.

    Of each genuine attempt the distance and the rank of the nearest mate, of each impostor attempt
    the distance of the nearest candidate; the number of probes without a mate, of subjects in the
    gallery, and of probes whose rank equal scores decide.
    """

    mate: np.ndarray
    ranks: np.ndarray
    other: np.ndarray
    skipped: int = 0
    gallery: int = 0
    tied: int = 0

    def attempts(self) -> Attempts:
        """Return the attempts at rank 1; a mate at another rank is rejected at any threshold."""
        mate = np.where(self.ranks == 1, self.mate, np.nan)
        return Attempts.with_failures(mate, self.other)

    def detected(self, threshold: float, ranks: np.ndarray) -> np.ndarray:
        """Return the genuine attempts accepted at each rank or better; none at NaN."""
        return ((self.mate <= threshold) & (self.ranks <= ranks[:, None])).sum(axis=1)

    def points(self, options: FoldOptions) -> Points:
        """Return the operating points of this part: EER and DIR at FAR, or CMS at rank 1."""
        number = len(self.mate)
        if options.task == "closed_set":
            return {"recognition_rate": (self.ranks == 1).sum() / number if number else math.nan}
        points = OpenSetPoints(self.mate, self.ranks, np.ones(number), number, np.sort(self.other))
        dir_, _ = points.at_far(options.targets, int(options.ranks[-1]))
        return {"eer": points.equal_error.eer, "dir_at_far": dir_[:, options.ranks - 1]}


class FoldSide:
    """One part of the scores, selected when it is first read; there may be none."""

    def __init__(self, view: Callable[[], Scores | None], about: Provenance | None = None):
        """Take what selects the part, and the provenance of the whole."""
        self._view, self._about = view, about
        #: Draws the claims that are its attempts.
        self.draw: Callable[[Scores], partition.DrawnClaims] | None = None
        self._ranked: dict[tuple[str, str], Searches] = {}

    @cached_property
    def scores(self) -> Scores | None:
        """The scores of the part; None without probes or without a gallery."""
        return self._view()

    @cached_property
    def claims(self) -> partition.DrawnClaims | None:
        """The claims that are its attempts, where they are drawn."""
        if self.draw is None or self.scores is None:
            return None
        return self.draw(self.scores)

    def attempts(self, options: FoldOptions, rule: Rule) -> Attempts:
        """Return the attempts of verification; of a large part, as far as a rule needs them."""
        if self.scores is None:
            return NOTHING
        wanted = PointsWanted.of_rule(rule)
        if rule.name == "fixed":
            wanted = replace(wanted, rows=np.array(rule.values))
        return self._verified(options, wanted).attempts

    def _verified(self, options: FoldOptions, wanted: PointsWanted | None = None) -> Verification:
        assert self.scores is not None
        return verify(
            self.scores, options.use, claims=self.claims, wanted=wanted, about=self._about
        )

    def unenrolled(self, options: FoldOptions) -> np.ndarray:
        """Return the scores of drawn claims by probes who are not enrolled."""
        scores = None if self.scores is None else self._verified(options).unenrolled
        return np.empty(0) if scores is None else scores

    def points(self, options: FoldOptions, attempts: Attempts) -> Points:
        """Return the operating points of verification, of attempts that the part has.

        They are counted anew if some of their scores are not known.
        """
        costs = np.array([(prior, 1.0, 1.0) for prior in options.priors]).reshape(-1, 3)
        wanted = PointsWanted(options.targets, costs, True, frr_targets=options.frr_targets)
        if attempts.counted_at is not None:
            attempts = self._verified(options, wanted).attempts
        counts = points_of(attempts, wanted, symmetric=None, with_rows=False)
        points: Points = {"eer": counts.equal_error.eer, "auc": counts.auc}
        points["frr_at_far"] = counts.frr_at_far
        if len(options.frr_targets):
            points["far_at_frr"] = counts.far_at_frr
        if len(costs):
            points["min_dcf"] = normalised_cost(counts.min_cost, costs)
        return points

    def searched(self, options: FoldOptions) -> Searched:
        """Return the attempts of identification."""
        other = np.empty(0)
        if self.scores is None:
            return Searched(other, np.empty(0, dtype=np.int64), other)
        key = options.search.rank_unit, options.search.fusion
        if key not in self._ranked:
            self._ranked[key] = search(self.scores, options.search, self._about)
        searches = self._ranked[key]
        mated = searches.mates > 0
        probes, places, _ = searches.rank_weights(np.flatnonzero(mated), options.search.ties)
        if options.task == "open_set":
            other = searches.other[searches.impostor_probes(options.search.impostors)]
        return Searched(
            searches.mate[probes],
            np.rint(places).astype(np.int64),
            other,
            int((~mated).sum()),
            len(self.scores.gallery_order.subjects),
            int((searches.tied[mated] > 0).sum()),
        )


# -------------------------------------------------------------------------------------- one fold


@dataclass
class Judged:
    """The threshold chosen on a training part, and the attempts of both parts."""

    chosen: ChosenThreshold
    train: Attempts
    test: Attempts

    @classmethod
    def of(cls, train: Attempts, test: Attempts, rule: Rule) -> Self:
        """Choose a threshold on attempts; the rule holds one that is given as a distance."""
        return cls(choose(rule, train), train, test)


@dataclass
class Fold:
    """Counts of one fold, at its threshold (a distance), if one could be chosen (`defined`).

    Names of the training part's counts begin with ``train_``. `detected` has, by that prefix, the
    genuine attempts detected, or identified, at each rank or better; `galleries` the numbers of
    subjects in which training and test part are searched, `tied` the test searches whose rank equal
    scores decide. `points` are operating points of the test part by itself, over FAR targets and
    ranks.
    """

    threshold: float
    defined: bool
    counts: dict[str, int]
    subjects: tuple[int, int]
    detected: dict[str, np.ndarray] = field(default_factory=dict)
    galleries: tuple[int, int] = (0, 0)
    tied: int = 0
    points: Points = field(default_factory=dict)

    @classmethod
    def of_judged(cls, judged: Judged, subjects: tuple[int, int]) -> Fold:
        """Count both parts at the threshold."""
        counts = {}
        chosen = judged.chosen
        for prefix, attempts in (("", judged.test), ("train_", judged.train)):
            genuine, impostor = attempts.genuine_attempts, attempts.impostor_attempts
            counts[f"{prefix}genuine_attempts"] = genuine
            counts[f"{prefix}impostor_attempts"] = impostor
            fa = fr = ga = gr = 0
            if chosen.defined:
                fa, fr = attempts.errors_at(chosen.threshold)
                ga, gr = genuine - fr, impostor - fa
            counts |= {f"{prefix}ga": ga, f"{prefix}fr": fr, f"{prefix}fa": fa, f"{prefix}gr": gr}
        return cls(chosen.threshold, chosen.defined, counts, subjects)


def fold_of(
    train: FoldSide,
    test: FoldSide,
    sizes: tuple[int, int],
    options: FoldOptions,
    known: Judged | None = None,
) -> Fold:
    """Evaluate a task: choose a threshold on one part, and judge it on the other."""
    if options.task == "verification":
        return _verified(train, test, sizes, options, known)
    trained, tested = train.searched(options), test.searched(options)
    made = fold_of_searches(trained, tested, sizes, options)
    if options.far_targets is not None:
        made.points = tested.points(options)
    return made


def fold_of_searches(
    trained: Searched, tested: Searched, sizes: tuple[int, int], options: FoldOptions
) -> Fold:
    """Return what is counted of identification in both parts."""
    if options.task == "closed_set":
        counts: dict[str, int] = {}
        for prefix, part in (("", tested), ("train_", trained)):
            counts |= {f"{prefix}genuine_attempts": len(part.ranks)}
            counts |= {f"{prefix}skipped": part.skipped}
        made = Fold(np.inf, True, counts, sizes)
    else:
        judged = Judged.of(trained.attempts(), tested.attempts(), options.distance_rule)
        made = Fold.of_judged(judged, sizes)
    made.galleries, made.tied = (trained.gallery, tested.gallery), tested.tied
    at = made.threshold if made.defined else np.nan
    for prefix, part in (("", tested), ("train_", trained)):
        made.detected[prefix] = part.detected(at, options.ranks)
    return made


def _verified(
    train: FoldSide,
    test: FoldSide,
    sizes: tuple[int, int],
    options: FoldOptions,
    known: Judged | None,
) -> Fold:
    """Evaluate verification of one fold, with its drawn claims."""
    judged = known
    if judged is None:
        trained = train.attempts(options, options.distance_rule)
        chosen = choose(options.distance_rule, trained)
        at = chosen.threshold if chosen.defined else -np.inf
        judged = Judged(chosen, trained, test.attempts(options, Rule("fixed", (at,))))
    made = Fold.of_judged(judged, sizes)
    if options.claims is not None:
        for prefix, part in (("", test), ("train_", train)):
            scores = part.unenrolled(options)
            made.counts[f"{prefix}fa_unenrolled"] = int((scores <= made.threshold).sum())
            made.counts[f"{prefix}unenrolled_attempts"] = len(scores)
    if options.far_targets is not None:
        made.points = test.points(options, judged.test)
    return made


# ------------------------------------------------------------------------------------- all folds

Folds = dict[Place, Fold]


class FoldedSystem:
    """What is evaluated in folds: scores as they are given, or made anew in each fold."""

    unit = "subjects"  # what the sizes of parts are numbers of
    together = True  # whether thresholds of many folds may be chosen together
    sides: Samples

    def __init__(self, scores: Scores, splitter: Any):
        self.scores, self.kind = scores, scores.kind
        self.plan, self.sides = plan_of_scores(scores, splitter)
        if scores.layout == "pairs" and not knows_people(scores):
            self.unit = "pairs"

    @cached_property
    def about(self) -> Provenance:
        """The provenance of the results."""
        return Provenance.of(self.scores)

    def parts(self, split: Split) -> tuple[FoldSide, FoldSide]:
        """Return the training part and the test part."""
        assert isinstance(self.sides, SplitSides | PairSides)
        train, test = (partial(self.sides.view, part) for part in (split.train, split.test))
        return FoldSide(train, self.about), FoldSide(test, self.about)

    def finish(self, fold: Fold, split: Split, test: FoldSide, options: FoldOptions) -> None:
        """Add what a fold has beside its task: pairs of a subject of either part."""
        if isinstance(self.sides, PairSides) and self.sides.by_subject:
            fold.counts["crossing_pairs"] = self.sides.crossing(split.test.probes)


def evaluate_folds(system: FoldedSystem, tasks: Sequence[FoldOptions]) -> list[Folds]:
    """Evaluate several tasks in every split."""
    by_task: list[Folds] = [{} for _ in tasks]
    tasks = [replace(options, kind=system.kind) for options in tasks]
    known = [_judged_together(system, options) for options in tasks]
    sampler = next((x.claims for x in tasks if x.claims is not None), None)
    for done, (place, split) in enumerate(system.plan.splits.items()):
        with rows_reported_to(None):  # each fold is told of, and not the rows that it reads
            sides = train, test = system.parts(split)
            for number, side in enumerate(sides):
                if sampler is not None:
                    side.draw = partial(sampler.draw, repeat=done, part=number)
            for options, folds, judged in zip(tasks, by_task, known, strict=True):
                if options.kind != system.kind:  # what an estimator makes may be of another kind
                    options = replace(options, kind=system.kind)
                fold = fold_of(train, test, system.sides.sizes(split), options, judged.get(place))
                system.finish(fold, split, test, options)
                folds[place] = fold
        if any(place not in judged for judged in known):
            reporter()(done + 1, len(system.plan.splits))
    return by_task


def _judged_together(system: FoldedSystem, options: FoldOptions) -> dict[Place, Judged]:
    """Choose thresholds of verification in many folds of a matrix together.

    Other folds are to be read part by part: experiments, drawn claims, and where templates are in
    every part, or a subject's fused templates in several.
    """
    plan, sides = system.plan, system.sides
    judged: dict[Place, Judged] = {}
    if (
        not system.together
        or options.task != "verification"
        or options.claims is not None
        or plan.by_parts
        or not isinstance(sides, SplitSides)
        or sides.n < sides.templates  # templates that are in every part have no code
    ):
        return judged
    together = {}
    for repeat in range(plan.shape[0]):
        codes, parts = _coded(plan, repeat, sides.n)
        if options.use.templates == "single" or sides.keeps_subjects(codes):
            together[repeat] = codes, parts
    repeats = list(together)
    most = max(1, SHARED // (plan.shape[1] + 1) ** 2)
    looks = range(0, len(repeats), most)
    with rows_reported_to(reporter(), passes=2 * len(looks)):
        for first in looks:
            some = repeats[first : first + most]
            codes_of_both = [
                (together[x][0][sides.probe], together[x][0][sides.gallery]) for x in some
            ]
            parts_of_each = [together[x][1] for x in some]
            counting = FoldAttempts(
                options.use.fused, codes_of_both, parts_of_each, options.distance_rule
            )
            (attempts,) = reduce(system.scores, counting)
            rows = system.scores.shape[0]
            report_rows(rows, rows)  # of a second pass that may not be needed
            for repeat, its in zip(some, attempts, strict=True):
                for fold, (train, test) in enumerate(its):
                    judged[repeat, fold] = Judged.of(train, test, options.distance_rule)
    return judged


def _coded(plan: SplitPlan, repeat: int, n: int) -> tuple[np.ndarray, list[tuple[Subset, Subset]]]:
    """Return the fold of each sample, and the training and test part of each fold."""
    if plan.codes is not None:
        code = plan.codes[repeat]
        number = int(code.max()) + 1
        parts = [(Subset(k, inside=False), Subset(k)) for k in range(number)]
        return np.where(code < 0, number, code), parts
    split = plan.splits[repeat, 0]
    code = np.full(n, 2, dtype=np.int64)
    code[split.train.probes], code[split.test.probes] = 1, 0
    return code, [(Subset(1), Subset(0))]
