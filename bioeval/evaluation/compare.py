"""Two systems over the same data: how much they differ, and what can be concluded from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.errors import DataError, ProtocolError
from bioeval.base.random import RandomState
from bioeval.base.variables import COMPARISON
from bioeval.base.version import __version__
from bioeval.results.dataset import build
from bioeval.results.open_set import impostor_probes, impostor_role
from bioeval.results.support import support_warnings, supported
from bioeval.scores.blocks import BlockReader, Progress, as_row, threads_for
from bioeval.scores.matrix import PairScores, Scores
from bioeval.stats.binomial import zero_error_bound
from bioeval.stats.bootstrap_limits import ends
from bioeval.stats.identification import identification_replicates
from bioeval.stats.interval_variables import few_people
from bioeval.stats.options import CONFIDENCE, REPLICATES, Asked
from bioeval.stats.verification import replicates as verification_replicates
from bioeval.tallies.by_subject import require_people
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

    Both are resampled together: in each replicate the same people take part for both, so that
    what makes the data hard or easy for both is not taken for a difference between them.

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
        b is, 0 where they cannot be told apart. ``supported`` is 0 where the impostor attempts
        are too few for the FAR target (rule of 3): what differs there need not be what the target
        says. The attribute ``conclusions`` says the same in words, a line for each measure.

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
    >>> from bioeval.scores.simulation import simulate_embeddings
    >>> crowd = simulate_embeddings(50, 4, random_state=1)
    >>> found = be.compare(crowd.scores("l2"), crowd.scores("l1"))
    >>> for said in found.attrs["conclusions"].splitlines()[1:3]:
    ...     print(said.partition(", difference ")[2])
    +0.006667 [-0.006192, +0.01583]: they cannot be told apart with 50 subjects (95 %).
    -0.04667 [-0.08789, -0.007076]: simulated (a) is better (95 %, 50 subjects).
    """
    asked = Asked.of("subject-bootstrap", confidence, replicates, random_state)
    assert asked is not None
    require_same(a, b)
    for scores in (a, b):
        require_people(scores)
    targets = check_far_targets(far_targets)
    options = _Options(templates, fusion, rank_unit, ties, impostors)
    found = [_measure(scores, options, targets, asked, progress) for scores in (a, b)]
    return _dataset(a, b, found, targets, asked, options)


@dataclass(frozen=True)
class _Options:
    templates: str
    fusion: str
    rank_unit: str
    ties: str
    impostors: str


@dataclass
class _Measured:
    """What a system's measures become in each column of weights.

    Attributes
    ----------
    trials : dict of str to int
        How many independent trials a measure has: subjects, or pairs of whom nobody is in two.
    attempts : tuple of int
        Of each class.
    unsupported : set of str
        Measures at a FAR target that so few impostor attempts cannot show.
    """

    values: dict[str, np.ndarray]
    larger_is_better: dict[str, bool]
    trials: dict[str, int]
    people: int
    attempts: tuple[int, ...]
    remarks: list[str]
    unsupported: set[str] = field(default_factory=set)


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
    asked: Asked,
    progress: Progress | None,
) -> _Measured:
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
    found = _Measured({}, {}, {}, 0, (), [])
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
            drawn = verification_replicates(tally, verification, reader, np.empty(0), asked)
            found.values["EER"] = drawn.values["eer"]
            at_targets = [f"FRR at FAR <= {per_cent(x)}" for x in targets]
            found.values |= dict(zip(at_targets, drawn.values["frr_at_far"], strict=True))
            found.larger_is_better = dict.fromkeys(found.values, False)
            found.values["AUC"] = drawn.values["auc"]
            found.trials = dict.fromkeys(found.values, drawn.subjects)
            found.trials["EER"] = found.trials["AUC"] = min(drawn.subjects, drawn.pairs)
            found.people = drawn.people
            found.attempts = len(tally.genuine), tally.impostor.total
            if tally.impostor.total:
                both_ways = options.templates == "single" and is_symmetric(scores)
                own = tally.impostor.total / (2 if both_ways else 1)
                found.remarks = support_warnings(targets, own, both_ways, "FRR")
                found.unsupported = _unsupported(at_targets, targets, own)
    if not isinstance(scores, PairScores):
        tally = tallies[-1]
        rank_one, at_far, people, trials = identification_replicates(
            tally, scores, options.ties, options.impostors, targets, asked
        )
        found.values["recognition rate"] = rank_one
        if scores.kind != "order":
            at_targets = [f"DIR at FAR <= {per_cent(x)}, rank 1" for x in targets]
            found.values |= dict(zip(at_targets, at_far, strict=True))
            made = len(impostor_probes(tally, impostor_role(tally, options.impostors)))
            if made and (tally.mates > 0).any():
                found.remarks += support_warnings(targets, made, False, "DIR")
                found.unsupported |= _unsupported(at_targets, targets, made)
        found.trials = {**dict.fromkeys(found.values, trials), **found.trials}
        found.people = max(found.people, people)
        found.attempts = *found.attempts, int((tally.mates > 0).sum())
    for name in found.values:
        found.larger_is_better.setdefault(name, True)
    return found


def _unsupported(measures: list[str], targets: np.ndarray, attempts: float) -> set[str]:
    """Return the measures whose FAR target so many impostor attempts cannot show."""
    return {m for m, x in zip(measures, targets, strict=True) if not supported(x, attempts)}


def _dataset(
    a: Scores,
    b: Scores,
    found: list[_Measured],
    targets: np.ndarray,
    asked: Asked,
    options: _Options,
) -> xr.Dataset:
    first, second = found
    measures = list(first.values)
    one, other = (_stacked([system.values[m] for m in measures]) for system in found)
    names = _names(a, b)
    change = one - other
    low, high = _opened(ends(change, asked), [first.trials[m] for m in measures], asked)
    sign = np.array([1 if first.larger_is_better[m] else -1 for m in measures])
    apart = np.where(low > 0, 1, np.where(high < 0, -1, 0)) * sign
    weak = first.unsupported | second.unsupported
    said = [
        _conclusion(
            m, values, change[i, 0], (low[i], high[i]), apart[i], names, first.people, asked
        )
        + (_TOO_FEW if m in weak and not np.isnan(values).any() else "")
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
        "supported": (over, np.array([m not in weak for m in measures], dtype=np.int64)),
    }
    remarks = dict.fromkeys([*first.remarks, *second.remarks])
    warnings = [*few_people(first.people, asked), *remarks]
    if alone := _made_by_one(a, b):
        warnings.append(
            f"the systems did not make the same attempts: {alone:,} comparisons were made by one "
            "of them alone (failed comparisons, or masks or exclusions that differ); attempts of "
            f"each class: {_counted(first.attempts)} and {_counted(second.attempts)}"
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
        **asked.attrs(),
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
    closed: tuple[np.ndarray, np.ndarray], trials: list[int], asked: Asked
) -> tuple[np.ndarray, np.ndarray]:
    """Open the interval of a difference that is the same in every replicate.

    Two systems without an error differ by 0 however they are resampled, which does not mean that
    they are equal: as for a rate without an error, a bound by subjects is what is known.
    """
    low, high = closed
    number = np.array(trials)
    bound = zero_error_bound(number, asked.confidence)
    same = high - low < 1e-12
    low = np.where(same, np.maximum(low - bound, -1.0), low)
    high = np.where(same, np.minimum(high + bound, 1.0), high)
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
    """Return the systems' names, which tell them apart."""
    first, second = a.name or "a", b.name or "b"
    return (first, second) if first != second else (f"{first} (a)", f"{second} (b)")


def _counted(attempts: Sequence[int]) -> str:
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
    asked: Asked,
) -> str:
    """Say in a sentence what can be concluded."""
    if np.isnan(values).any():
        return f"{measure}: not defined."
    found = f"{measure}: {names[0]} {values[0]:.4g}, {names[1]} {values[1]:.4g}"
    if np.isnan(ends_).any():
        return f"{found}; nothing can be said with {_people(people)}."
    level = f"{100 * asked.confidence:g} %"
    gap = f"difference {change:+.4g} [{ends_[0]:+.4g}, {ends_[1]:+.4g}]"
    if not apart:
        return f"{found}, {gap}: they cannot be told apart with {_people(people)} ({level})."
    better = names[0] if apart > 0 else names[1]
    return f"{found}, {gap}: {better} is better ({level}, {_people(people)})."


def _people(number: int) -> str:
    return f"{number:,} subject{'' if number == 1 else 's'}"
