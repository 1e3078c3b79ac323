"""Comparison of two systems over the same data, with paired intervals by subject."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.errors import DataError, ProtocolError, counted
from bioeval.base.random import RandomState
from bioeval.base.scalars import COMPARED, Scalar
from bioeval.base.variables import COMPARISON
from bioeval.base.version import __version__
from bioeval.results.dataset import build
from bioeval.results.open_set import impostor_probes, impostor_role
from bioeval.results.support import support_warnings, supported
from bioeval.scores.blocks import BlockReader, Progress, as_row, threads_for
from bioeval.scores.matrix import PairScores, Scores
from bioeval.stats.binomial import zero_error_bound
from bioeval.stats.bootstrap_limits import confidence_limits
from bioeval.stats.identification import identification_replicates
from bioeval.stats.interval_variables import few_people
from bioeval.stats.options import CONFIDENCE, REPLICATES, IntervalOptions
from bioeval.stats.verification import Replicates
from bioeval.stats.verification import replicates as verification_replicates
from bioeval.tallies.by_subject import SubjectAttempts, require_people
from bioeval.tallies.counts import IdentificationTally, VerificationTally
from bioeval.tallies.identification_job import IdentificationJob
from bioeval.tallies.points import FAR_TARGETS, check_costs, check_far_targets, per_cent
from bioeval.tallies.second_pass.search import refine
from bioeval.tallies.sweep import run_jobs
from bioeval.tallies.symmetry import is_symmetric
from bioeval.tallies.verification_job import VerificationJob

if TYPE_CHECKING:
    import xarray as xr


def compare(
    a: Scores,
    b: Scores,
    *,
    templates: str = "single",
    fusion: str = "min",
    far_targets: Sequence[float] = FAR_TARGETS,
    rank_unit: str = "template",
    ties: str = "pessimistic",
    impostors: str = "auto",
    confidence: float = CONFIDENCE,
    replicates: int = REPLICATES,
    random_state: RandomState = 0,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Compare two systems that scored the same templates of the same people.

    The bootstrap is paired: each replicate draws the same subjects for both systems, so that the
    difficulty of the data that both have in common cancels in the difference.

    Parameters
    ----------
    a, b : Scores
        Of the same layout, shape and labels, in the same order. One may hold distances and the
        other similarities. Pairs need their subjects.
    templates, fusion, far_targets
        As for :func:`verification`.
    rank_unit, ties, impostors
        As for :func:`open_set`.
    confidence : float
        Of each difference by itself.
    replicates, random_state
        As for :func:`verification`.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``, for one system after the other.

    Returns
    -------
    xarray.Dataset
        Over ``measure`` (EER, FRR at each FAR target, AUC, the recognition rate, DIR at each FAR
        target at rank 1; as far as the scores support them): ``value_a value_b difference``
        (a - b) ``difference_low difference_high``, and ``better``: 1 where a is better, -1 where
        b is, 0 where there is no significant difference. ``supported`` is 0 where the impostor
        attempts are too few for the FAR target (rule of 3). The attribute ``conclusions`` has a
        sentence for each measure.

    Raises
    ------
    DataError
        If the two are not over the same data.
    ProtocolError
        If the subjects are not known.

    Notes
    -----
    Paired bootstrap by subject, percentile interval of the difference; operating points are
    chosen anew for each system in each replicate. A difference that is the same in every replicate
    has a bound by subjects, never ``[0, 0]``. With several measures, one in twenty differs at
    95 % by chance alone. See ``docs/uncertainty.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> crowd = be.simulate_embeddings(50, 4, random_state=1)
    >>> found = be.compare(crowd.scores("l2"), crowd.scores("l1"))
    >>> for said in found.attrs["conclusions"].splitlines()[1:3]:
    ...     print(said.partition(", difference ")[2])
    +0.006667 [-0.006192, +0.01583]: no significant difference with 50 subjects (95 %).
    -0.04667 [-0.08789, -0.007076]: simulated (a) is better (95 %, 50 subjects).
    """
    interval = IntervalOptions.parse("subject-bootstrap", confidence, replicates, random_state)
    assert interval is not None
    require_same(a, b)
    for scores in (a, b):
        require_people(scores)
    targets = check_far_targets(far_targets)
    options = _Options(templates, fusion, rank_unit, ties, impostors)
    found = [_measure(scores, options, targets, interval, progress) for scores in (a, b)]
    return _dataset(a, b, found, interval, options)


@dataclass(frozen=True)
class _Options:
    templates: str
    fusion: str
    rank_unit: str
    ties: str
    impostors: str


@dataclass(frozen=True)
class _Measure:
    """A scalar of one system in each column of weights.

    Attributes
    ----------
    scalar : Scalar
    values : float64 array, shape (columns,)
    trials : int
        Independent trials: subjects, or disjoint pairs of subjects.
    supported : bool
        Whether there are enough impostor attempts for its FAR target.
    """

    scalar: Scalar
    values: np.ndarray
    trials: int
    supported: bool = True


@dataclass
class _System:
    """One system: its measures by label, subjects, attempts of each class and warnings."""

    measures: dict[str, _Measure] = field(default_factory=dict)
    people: int = 0
    attempts: tuple[int, ...] = ()
    remarks: list[str] = field(default_factory=list)

    def add(self, scalar: Scalar, values: np.ndarray, trials: int) -> None:
        """Add a scalar without a FAR target."""
        self.measures[scalar.label] = _Measure(scalar, values, trials)

    def add_at_targets(
        self, scalar: Scalar, values: np.ndarray, trials: int, targets: np.ndarray, attempts: float
    ) -> None:
        """Add a scalar at each FAR target; `attempts` are the independent impostor attempts."""
        for target, at_target in zip(targets.tolist(), values, strict=True):
            enough = not attempts or supported(target, attempts)
            label = scalar.label.format(target=per_cent(target))
            self.measures[label] = _Measure(scalar, at_target, trials, enough)


def require_same(a: Any, b: Any) -> None:
    """Raise :class:`DataError` unless two systems scored the same templates in the same order."""
    for what, scores in (("the first", a), ("the second", b)):
        if not isinstance(scores, Scores):
            raise DataError(f"{what} system is {type(scores).__name__}; expected bioeval.Scores")
    if a.layout != b.layout or a.shape != b.shape:
        raise DataError(
            f"the systems are not over the same data: the first is {a.layout} {a.shape}, the "
            f"second {b.layout} {b.shape}"
        )
    if isinstance(a, PairScores) and isinstance(b, PairScores):
        _require_equal(a.genuine, b.genuine, "genuine flags", "pair")
        if a.pair_subjects is not None and b.pair_subjects is not None:
            for k in (0, 1):
                sides = a.pair_subjects[:, k], b.pair_subjects[:, k]
                _require_equal(*sides, "subjects", "pair")
        return
    _require_equal(a.probe_labels, b.probe_labels, "labels", "probe")
    _require_equal(a.gallery_labels, b.gallery_labels, "labels", "gallery template")
    own = BlockReader(a).gallery.self_position, BlockReader(b).gallery.self_position
    _require_equal(*own, "templates compared with themselves", "probe")


def _require_equal(a: np.ndarray, b: np.ndarray, what: str, where: str) -> None:
    left, right = a.tolist(), b.tolist()
    if left == right:
        return
    differ = [i for i, (x, y) in enumerate(zip(left, right, strict=True)) if x != y]
    i = differ[0]
    raise DataError(
        f"the systems are not over the same data: {what} differ at {len(differ)} of {len(left)} "
        f"places, the first is {where} {i} ({left[i]!r} and {right[i]!r}); expected the same "
        "templates in the same order"
    )


def _measure(
    scores: Scores,
    options: _Options,
    targets: np.ndarray,
    interval: IntervalOptions,
    progress: Progress | None,
) -> _System:
    """Evaluate one system, as it is and in every replicate."""
    reader = BlockReader(scores)
    jobs: list[Any] = []
    if scores.kind != "order":
        verification = VerificationJob(
            scores, reader, templates=options.templates, fusion=options.fusion
        )
        jobs.append(verification)
    if not isinstance(scores, PairScores):
        jobs.append(
            IdentificationJob(scores, reader, rank_unit=options.rank_unit, fusion=options.fusion)
        )
    if not jobs:
        raise ProtocolError("pairs that hold only an order cannot be compared")
    tallies = run_jobs(scores, reader, jobs, progress)
    system = _System()
    with threads_for(scores):
        if scores.kind != "order":
            tally = tallies[0]
            tally.points = refine(
                tally,
                lambda: verification.sweep(reader),
                targets,
                check_costs(()),
                symmetric=False,
            )
            attempts = SubjectAttempts(verification, reader)
            drawn = verification_replicates(tally, attempts, np.empty(0), interval)
            _add_verification(system, scores, options, tally, drawn, targets)
    if not isinstance(scores, PairScores):
        _add_identification(system, scores, options, tallies[-1], targets, interval)
    return system


def _add_verification(
    system: _System,
    scores: Scores,
    options: _Options,
    tally: VerificationTally,
    drawn: Replicates,
    targets: np.ndarray,
) -> None:
    both_ways = options.templates == "single" and is_symmetric(scores)
    independent = tally.impostor.total / (2 if both_ways else 1)
    for name, values in drawn.values.items():
        if values.ndim == 2:
            system.add_at_targets(COMPARED[name], values, drawn.subjects, targets, independent)
        else:
            system.add(COMPARED[name], values, min(drawn.subjects, drawn.pairs))
    system.people = drawn.people
    system.attempts = len(tally.genuine), tally.impostor.total
    if independent:
        system.remarks = support_warnings(targets, independent, both_ways, "FRR")


def _add_identification(
    system: _System,
    scores: Scores,
    options: _Options,
    tally: IdentificationTally,
    targets: np.ndarray,
    interval: IntervalOptions,
) -> None:
    rank_one, at_far, people, trials = identification_replicates(
        tally, scores.codes.probe, options.ties, options.impostors, targets, interval
    )
    system.add(COMPARED["recognition_rate"], rank_one, trials)
    genuine = int((tally.mates > 0).sum())
    if scores.kind != "order":
        role = impostor_role(tally, options.impostors)
        impostor = len(impostor_probes(tally, role)) if genuine else 0
        system.add_at_targets(COMPARED["dir_at_far"], at_far, trials, targets, impostor)
        if impostor:
            system.remarks += support_warnings(targets, impostor, False, "DIR")
    system.people = max(system.people, people)
    system.attempts = *system.attempts, genuine


def _dataset(
    a: Scores,
    b: Scores,
    found: list[_System],
    interval: IntervalOptions,
    options: _Options,
) -> xr.Dataset:
    first, second = found
    measures = list(first.measures)
    own = list(first.measures.values())
    one, other = (_stacked([system.measures[m].values for m in measures]) for system in found)
    names = _names(a, b)
    change = one - other
    low, high = _opened(confidence_limits(change, interval), own, interval)
    sign = np.array([1 if x.scalar.larger_is_better else -1 for x in own])
    apart = np.where(low > 0, 1, np.where(high < 0, -1, 0)) * sign
    enough = [all(system.measures[m].supported for system in found) for m in measures]
    said = [
        _conclusion(
            m, values, change[i, 0], (low[i], high[i]), apart[i], names, first.people, interval
        )
        + ("" if enough[i] or np.isnan(values).any() else _TOO_FEW)
        for i, (m, values) in enumerate(
            zip(measures, zip(one[:, 0], other[:, 0], strict=True), strict=True)
        )
    ]
    over = ("measure",)
    variables = {
        "value_a": (over, one[:, 0]),
        "value_b": (over, other[:, 0]),
        "difference": (over, change[:, 0]),
        "difference_low": (over, low),
        "difference_high": (over, high),
        "better": (over, apart.astype(np.int64)),
        "supported": (over, np.array(enough, dtype=np.int64)),
    }
    remarks = dict.fromkeys([*first.remarks, *second.remarks])
    warnings = [*few_people(first.people, interval), *remarks]
    if alone := _made_by_one(a, b):
        warnings.append(
            "the systems did not make the same attempts: one of them alone made "
            f"{counted(alone, 'comparisons')} (failed comparisons, or masks or exclusions that "
            "differ); attempts of each "
            f"class: {_listed(first.attempts)} and {_listed(second.attempts)}"
        )
    attrs: dict[str, str | int | float] = {
        "task": "comparison of two systems",
        "system_a": names[0],
        "system_b": names[1],
        "layout": a.layout,
        "kind_a": a.kind,
        "kind_b": b.kind,
        "subjects": first.people,
        "templates": options.templates,
        "fusion": options.fusion,
        "rank_unit": options.rank_unit,
        "ties": options.ties,
        "impostors": options.impostors,
        **interval.attrs(),
        "fingerprint": f"{a.fingerprint}; {b.fingerprint}",
        "conclusions": "\n".join(said),
        "bioeval_version": __version__,
        "warnings": "\n".join(warnings),
    }
    coordinates = {"measure": np.array(measures, dtype=object)}
    return build(variables, COMPARISON, coordinates, attrs)


def _stacked(values: list[np.ndarray]) -> np.ndarray:
    """Return values of several measures, (measures, columns); NaN where one is not resampled.

    A single person who probes is not resampled, while the people of a gallery are.
    """
    most = max(map(len, values))
    return np.stack([np.pad(x, (0, most - len(x)), constant_values=np.nan) for x in values])


def _opened(
    closed: tuple[np.ndarray, np.ndarray], measures: list[_Measure], interval: IntervalOptions
) -> tuple[np.ndarray, np.ndarray]:
    """Open the interval of a difference that is the same in every replicate.

    Two systems without an error differ by 0 however they are resampled, which does not mean that
    they are equal: as for a rate without an error, only a bound by subjects is known.
    """
    low, high = closed
    number = np.array([x.trials for x in measures])
    widest = np.array([x.scalar.bounds[1] - x.scalar.bounds[0] for x in measures])
    bound = zero_error_bound(number, interval.confidence)
    same = high - low < 1e-12
    low = np.where(same, np.maximum(low - bound, -widest), low)
    high = np.where(same, np.minimum(high + bound, widest), high)
    return np.where(number > 0, low, np.nan), np.where(number > 0, high, np.nan)


def _made_by_one(a: Scores, b: Scores) -> int:
    """Return how many comparisons one of two systems made and the other did not."""
    if not any(s.nan == "exclude" or s.has_mask or s.exclude for s in (a, b)):
        return 0
    if isinstance(a, PairScores):
        made = (~np.isnan(as_row(s.values, s.kind, s.nan)) for s in (a, b))
        return int((next(made) != next(made)).sum())
    readers = BlockReader(a), BlockReader(b)
    step = min(reader.rows_per_block() for reader in readers)
    alone = 0
    for low in range(0, a.shape[0], step):
        blocks = [reader.block(low, min(low + step, a.shape[0])) for reader in readers]
        differ = np.isnan(blocks[0].values) != np.isnan(blocks[1].values)
        itself = blocks[0].self_position
        rows = np.nonzero(itself >= 0)[0]
        differ[rows, itself[rows]] = False
        alone += int(differ.sum())
    return alone


def _names(a: Scores, b: Scores) -> tuple[str, str]:
    """Return the names of the systems, distinct."""
    first, second = a.name or "a", b.name or "b"
    return (first, second) if first != second else (f"{first} (a)", f"{second} (b)")


def _listed(attempts: Sequence[int]) -> str:
    return ", ".join(f"{n:,}" for n in attempts)


_TOO_FEW = " The impostor attempts are too few for this FAR."


def _conclusion(
    measure: str,
    values: tuple[float, float],
    change: float,
    ends_: tuple[float, float],
    apart: int,
    names: tuple[str, str],
    people: int,
    interval: IntervalOptions,
) -> str:
    """Return the conclusion about a measure as a sentence."""
    if np.isnan(values).any():
        return f"{measure}: not defined."
    who = counted(people, "subjects")
    found = f"{measure}: {names[0]} {values[0]:.4g}, {names[1]} {values[1]:.4g}"
    if np.isnan(ends_).any():
        return f"{found}; no conclusion with {who}."
    level = f"{100 * interval.confidence:g} %"
    gap = f"difference {change:+.4g} [{ends_[0]:+.4g}, {ends_[1]:+.4g}]"
    if not apart:
        return f"{found}, {gap}: no significant difference with {who} ({level})."
    better = names[0] if apart > 0 else names[1]
    return f"{found}, {gap}: {better} is better ({level}, {who})."
