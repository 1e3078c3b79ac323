"""The one pipeline: scores and a protocol become tallies, and tallies become results.

The functions of this module are the public way in. Imports of xarray wait until a result is
built, so that counting alone stays light.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bioeval.blocks import BlockReader, Progress
from bioeval.counting import (
    IdentificationJob,
    ImpostorBlock,
    VerificationJob,
    count,
    is_symmetric,
    require_values,
)
from bioeval.errors import DataError, ProtocolError
from bioeval.metrics.closed_set import closed_set_dataset
from bioeval.metrics.open_set import open_set_dataset
from bioeval.metrics.ranks import ranks_dataset
from bioeval.metrics.verification import verification_dataset
from bioeval.points import COSTS, FAR_TARGETS, check_costs, check_far_targets
from bioeval.protocol import Protocol, for_layout, load
from bioeval.refinement import refine
from bioeval.scores import PairScores, Scores
from bioeval.tallies import VerificationTally
from bioeval.tally_bundle import Part, Tally

if TYPE_CHECKING:
    import xarray as xr


def verification(
    scores: Scores,
    *,
    templates: str = "single",
    fusion: str = "min",
    thresholds: Any = None,
    claims: Any = None,
    unenrolled_claims: str = "raise",
    far_targets: Sequence[float] = FAR_TARGETS,
    costs: Sequence[tuple[float, float, float]] = COSTS,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Evaluate verification: is the probe who it claims to be?

    Parameters
    ----------
    scores : Scores
        A matrix of either layout, or a list of pairs.
    templates : {"single", "multi"}
        ``"single"``: each comparison with a template is an attempt. ``"multi"``: each probe
        claims each subject once, by the fused score of that subject's templates.
    fusion : {"min", "mean", "max", "median", "kth:K"}
        How a subject's templates are fused, in the sense of distances: ``"min"`` takes the
        nearest template (the largest similarity).
    thresholds : None, int or increasing array of float
        None: about 1,000 evenly spaced ones. A number: that many from the smallest to the
        largest score. An array, in the units of the scores: as given.
    claims : sequence of shape (m,), or pair (probe_index, subjects), optional
        Explicit claims instead of all: one claimed subject for each probe, or any list.
    unenrolled_claims : {"raise", "skip"}
        Whether a claim of a subject without templates is an error, or is left out and counted.
    far_targets : sequence of float
        For each, the smallest FRR with FAR at most the target, and its threshold.
    costs : sequence of (prior, c_miss, c_fa)
        For each, the least cost ``prior c_miss FRR + (1 - prior) c_fa FAR``; the default is the
        half total error rate.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``.

    Returns
    -------
    xarray.Dataset
        Over ``threshold``: rates ``gar frr`` (of the genuine attempts) and ``far grr`` (of the
        impostor attempts), counts ``ga fr fa gr``; scalars ``genuine_attempts``,
        ``impostor_attempts``, ``skipped_claims``. Operating points, exact at the scores
        themselves and never read off the thresholds: ``eer eer_threshold far_at_eer frr_at_eer
        eer_low eer_high eer_hull auc d_prime zero_far zero_frr`` (with thresholds); over
        ``far_target``: ``frr_at_far threshold_at_far expected_false_accepts``; over ``cost``:
        ``min_cost min_cost_threshold``. Targets that the number of impostor attempts cannot
        support are named in the attribute ``warnings``.

    Raises
    ------
    DataError
        Bad options, thresholds or claims; NaN under ``nan="raise"``.
    ProtocolError
        If the scores cannot support the task: order-only values, multi-template pairs.

    Notes
    -----
    Definitions: biometrics lecture, "verification"; ISO/IEC 19795-1 (FMR, FNMR);
    ``docs/definitions.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> d = [[0, 1, 4, 6], [1, 0, 5, 3], [4, 5, 0, 2], [6, 3, 2, 0]]
    >>> scores = be.Scores(d, ["ann", "ann", "bob", "bob"])
    >>> ds = be.verification(scores, thresholds=[1, 2, 3, 4])
    >>> ds.gar.values, ds.far.values
    (array([0.5, 1. , 1. , 1. ]), array([0.  , 0.  , 0.25, 0.5 ]))
    """
    reader = BlockReader(scores)
    job = VerificationJob(
        scores,
        reader,
        templates=templates,
        fusion=fusion,
        thresholds=thresholds,
        claims=claims,
        unenrolled_claims=unenrolled_claims,
    )
    targets, weights = check_far_targets(far_targets), check_costs(costs)
    (result,) = _run(scores, reader, [job], progress)
    result.points = refine(
        result, lambda: job.sweep(reader), targets, weights, is_symmetric(scores)
    )
    return verification_dataset(result)


def open_set(
    scores: Scores,
    *,
    thresholds: Any = None,
    max_rank: int | None = None,
    rank_unit: str = "template",
    fusion: str = "min",
    ties: str = "pessimistic",
    impostors: str = "auto",
    far_targets: Sequence[float] = FAR_TARGETS,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Evaluate open-set identification: who is it, if anyone that is enrolled?

    Parameters
    ----------
    scores : Scores
    thresholds : None, int or increasing array of float
        As for :func:`verification`; the default grid spans the distances of best mates and of
        the impostors' nearest templates.
    max_rank : int, optional
        Number of ranks. None gives every attainable rank while thresholds x ranks is at most
        2,000,000, else 100, and says so in the warnings.
    rank_unit : {"template", "subject"}
        Whether a rank counts templates (the lecture's) or subjects, each once by its fused
        score.
    fusion : str
        As for :func:`verification`; used with subject ranks.
    ties : {"pessimistic", "optimistic", "stable", "expected"}
        Where the best mate stands among candidates of other subjects exactly as close: behind
        them, before them, in gallery order, or the mean over all orders.
    impostors : {"auto", "unenrolled", "leave-subject-out", "both"}
        Who plays the impostor with probes against a gallery: the probes whose subject is not
        enrolled, each enrolled probe with its own subject taken out of the gallery, or both.
        ``"auto"``: the unenrolled if there is any, else leave-subject-out. All-against-all is
        always leave-subject-out.
    far_targets : sequence of float
        For each, the largest DIR with FAR at most the target, at every rank.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``.

    Returns
    -------
    xarray.Dataset
        ``dir di`` over ``threshold, rank``; ``far grr fa gr frr ttr ttr_identity ftr`` over
        ``threshold``; scalars ``genuine_attempts impostor_attempts tied target_probes
        non_target_probes``, ``eer`` (where FAR and 1 - DIR at rank 1 cross) with ``eer_threshold
        far_at_eer frr_at_eer eer_low eer_high``; ``dir_at_far threshold_at_far`` over
        ``far_target, rank``, exact at the scores themselves.

    Notes
    -----
    Definitions: biometrics lecture, "open-set identification"; ISO/IEC 19795-1 (FPIR, FNIR);
    ``docs/definitions.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> d = [[1, 4, 6], [5, 3, 2], [4, 3, 5]]
    >>> scores = be.Scores(d, ["ann", "bob", "eve"], ["ann", "bob", "cat"])
    >>> ds = be.open_set(scores, thresholds=[1, 2, 3])
    >>> ds.dir.values
    array([[0.5, 0.5, 0.5],
           [0.5, 0.5, 0.5],
           [0.5, 1. , 1. ]])
    >>> ds.far.values
    array([0., 0., 1.])
    """
    reader = BlockReader(scores)
    job = IdentificationJob(scores, reader, rank_unit=rank_unit, fusion=fusion)
    require_values(scores, "open-set identification")
    (result,) = _run(scores, reader, [job], progress)
    return open_set_dataset(
        result,
        thresholds=thresholds,
        max_rank=max_rank,
        ties=ties,
        impostors=impostors,
        far_targets=far_targets,
    )


def closed_set(
    scores: Scores,
    *,
    max_rank: int | None = None,
    rank_unit: str = "template",
    fusion: str = "min",
    ties: str = "pessimistic",
    unmated: str = "auto",
    progress: Progress | None = None,
) -> xr.Dataset:
    """Evaluate closed-set identification: at which rank does each probe's subject stand?

    Parameters
    ----------
    scores : Scores
    max_rank : int, optional
        Number of ranks; None gives every attainable one (up to 1,000,000).
    rank_unit, fusion, ties
        As for :func:`open_set`.
    unmated : {"auto", "raise", "skip"}
        What to do with probes without a usable mate. ``"auto"`` leaves them out and counts them
        in all-against-all, and is an error with probes against a gallery.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``.

    Returns
    -------
    xarray.Dataset
        ``cms`` and ``cms_count`` over ``rank``; scalars ``recognition_rate`` (CMS at rank 1),
        ``attempts``, ``skipped``, ``tied``.

    Notes
    -----
    Definitions: biometrics lecture, "closed-set identification"; ISO/IEC 19795-1 (CMC);
    ``docs/definitions.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.Scores([[1, 4, 6], [5, 3, 2]], ["ann", "bob"], ["ann", "bob", "cat"])
    >>> be.closed_set(scores).cms.values
    array([0.5, 1. , 1. ])
    """
    reader = BlockReader(scores)
    job = IdentificationJob(scores, reader, rank_unit=rank_unit, fusion=fusion)
    (result,) = _run(scores, reader, [job], progress)
    return closed_set_dataset(result, max_rank=max_rank, ties=ties, unmated=unmated)


def ranks(
    scores: Scores,
    *,
    rank_unit: str = "template",
    fusion: str = "min",
    ties: str = "pessimistic",
    progress: Progress | None = None,
) -> xr.Dataset:
    """Return what identification is made of, one row a probe: ranks, mates and neighbours.

    Parameters
    ----------
    scores, rank_unit, fusion, ties, progress
        As for :func:`open_set`. Order-only scores (``kind="order"``) are accepted.

    Returns
    -------
    xarray.Dataset
        Over ``probe``: ``identification_rank`` (NaN without a mate; the mean rank under
        ``"expected"`` ties), ``mate_distance``, ``nearest_other``, ``closer``, ``tied``,
        ``mates``, ``others``, ``enrolled``.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.Scores([[1, 4, 6], [5, 3, 2]], ["ann", "bob"], ["ann", "bob", "cat"])
    >>> be.ranks(scores).identification_rank.values
    array([1., 2.])
    """
    reader = BlockReader(scores)
    job = IdentificationJob(scores, reader, rank_unit=rank_unit, fusion=fusion)
    (result,) = _run(scores, reader, [job], progress)
    return ranks_dataset(result, ties)


def tally(
    scores: Scores,
    protocol: str | Protocol = "auto",
    *,
    thresholds: Any = None,
    max_rank: int | None = None,
    far_targets: Sequence[float] | None = None,
    progress: Progress | None = None,
) -> Tally:
    """Count everything that a protocol asks for, in one sweep, as counts that merge.

    Parameters
    ----------
    scores : Scores
    protocol : str or Protocol
        The name of a shipped card, the path of a card, a parsed card, or ``"auto"``: the course
        card of the layout.
    thresholds, max_rank, far_targets
        Instead of the card's.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``.

    Returns
    -------
    Tally
        Merges with the tally of other probes, is saved and loaded, and gives the results: all
        counts and rates; the operating points of verification need another look at the scores
        (:func:`refine_tally`), until then they are reported as bounds.

    Examples
    --------
    Half of the probes at a time:

    >>> import numpy as np, bioeval as be
    >>> scores = be.simulate(20, 4, random_state=1)
    >>> rows = np.arange(80)
    >>> a = be.tally(scores.select(probes=rows[:30]))
    >>> b = be.tally(scores.select(probes=rows[30:]))
    >>> whole = be.tally(scores)
    >>> a.merge(b).dataset("closed_set").equals(whole.dataset("closed_set"))
    True
    """
    plan = _Plan(scores, protocol, thresholds, max_rank, far_targets)
    return plan.count(progress)


def refine_tally(
    counted: Tally,
    scores: Scores | Sequence[Scores],
    *,
    far_targets: Sequence[float] | None = None,
    costs: Sequence[tuple[float, float, float]] = COSTS,
) -> Tally:
    """Add the operating points of verification to a tally, by another look at the scores.

    Parameters
    ----------
    counted : Tally
        As :func:`tally`, :meth:`Tally.merge` or :meth:`Tally.load` gave it.
    scores : Scores or sequence of Scores
        The very scores that were counted; for a merged tally, all parts.
    far_targets, costs
        As for :func:`verification`; the default targets are the protocol's.

    Returns
    -------
    Tally

    Raises
    ------
    MergeError
        If the scores are not those that were counted, as far as the number of attempts tells.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(20, 4, random_state=1)
    >>> counted = be.tally(scores)
    >>> "eer" in counted.dataset("verification/single")
    False
    >>> "eer" in be.refine_tally(counted, scores).dataset("verification/single")
    True
    """
    parts = [scores] if isinstance(scores, Scores) else list(scores)
    given = None if far_targets is None else check_far_targets(far_targets)
    weights = check_costs(costs)
    readers = [BlockReader(part) for part in parts]
    refined = {}
    for node, part in counted.parts.items():
        old = part.tally
        if not isinstance(old, VerificationTally):
            refined[node] = part
            continue
        options = {"templates": old.templates}
        if old.templates == "multi":
            options["fusion"] = old.fusion
        jobs = [VerificationJob(s, r, **options) for s, r in zip(parts, readers, strict=True)]

        def sweep(jobs: list[VerificationJob] = jobs) -> Iterator[ImpostorBlock]:
            for job, reader in zip(jobs, readers, strict=True):
                yield from job.sweep(reader)

        targets = counted.far_targets if given is None else given
        symmetric = len(parts) == 1 and is_symmetric(parts[0])
        points = refine(old, sweep, targets, weights, symmetric)
        refined[node] = Part(replace(old, points=points), part.options)
    return Tally(counted.protocol, refined, counted.far_targets)


class _Plan:
    """The jobs of a protocol over some scores, and the options of their results."""

    def __init__(
        self,
        scores: Scores,
        protocol: str | Protocol,
        thresholds: Any,
        max_rank: int | None,
        far_targets: Sequence[float] | None,
    ):
        self.scores, self.reader = scores, BlockReader(scores)
        self.card = card = _resolve(scores, protocol)
        if thresholds is None:
            thresholds = _card_thresholds(card.settings["thresholds"])
        if far_targets is None:
            far_targets = card.settings["report"]["far_targets"]  # type: ignore[assignment]
        self.far_targets = check_far_targets(far_targets)
        self.jobs: dict[str, tuple[Any, dict[str, Any]]] = {}
        shared: dict[tuple[str, str], IdentificationJob] = {}
        for task, given in card.tasks.items():
            options: dict[str, Any] = dict(given)
            if task == "verification":
                self._add_verification(options, thresholds)
                continue
            unit, fusion = options.pop("rank_unit"), options.pop("fusion")
            if (unit, fusion) not in shared:
                shared[unit, fusion] = IdentificationJob(
                    scores, self.reader, rank_unit=unit, fusion=fusion
                )
            if max_rank is not None:
                options["max_rank"] = max_rank
            if task == "open_set":
                require_values(scores, "open-set identification")
                options["thresholds"] = thresholds
                options["far_targets"] = self.far_targets
            self.jobs[task] = (shared[unit, fusion], options)

    def _add_verification(self, options: dict[str, Any], thresholds: Any) -> None:
        for templates in options["templates"]:
            job = VerificationJob(
                self.scores,
                self.reader,
                templates=templates,
                fusion=options.get("fusion") or "min",
                thresholds=thresholds,
                unenrolled_claims=options.get("unenrolled_claims") or "raise",
            )
            self.jobs[f"verification/{templates}"] = (job, {})

    def count(self, progress: Progress | None) -> Tally:
        """Count all tasks in one sweep."""
        distinct: list[Any] = list(dict.fromkeys(job for job, _ in self.jobs.values()))
        results = _run(self.scores, self.reader, distinct, progress)
        by_job = dict(zip(distinct, results, strict=True))
        parts = {node: Part(by_job[job], options) for node, (job, options) in self.jobs.items()}
        return Tally(self.card.name, parts, self.far_targets)

    def refine(self, counted: Tally) -> None:
        """Find the operating points of verification, in a sweep for each."""
        symmetric = is_symmetric(self.scores)
        for node, (job, _) in self.jobs.items():
            found = counted.parts[node].tally
            if isinstance(found, VerificationTally):
                found.points = refine(
                    found,
                    functools.partial(job.sweep, self.reader),
                    self.far_targets,
                    check_costs(COSTS),
                    symmetric,
                )


def evaluate(
    scores: Scores | Mapping[str, Scores],
    protocol: str | Protocol = "auto",
    *,
    thresholds: Any = None,
    max_rank: int | None = None,
    far_targets: Sequence[float] | None = None,
    progress: Progress | None = None,
) -> xr.DataTree:
    """Evaluate every task of a protocol, in one sweep over the scores.

    Parameters
    ----------
    scores : Scores, or mapping of str to Scores
        One system, or several by name.
    protocol, thresholds, max_rank, far_targets, progress
        As for :func:`tally`.

    Returns
    -------
    xarray.DataTree
        Nodes ``/verification/single``, ``/verification/multi``, ``/open_set``, ``/closed_set``,
        as far as the card has them; under ``/<system>`` for several systems.

    Examples
    --------
    >>> import bioeval as be
    >>> tree = be.evaluate(be.simulate(20, 4, random_state=1))
    >>> sorted(node.path for node in tree.leaves)
    ['/closed_set', '/open_set', '/verification/multi', '/verification/single']
    """
    given = (protocol, thresholds, max_rank, far_targets)
    if isinstance(scores, Mapping):
        return _evaluate_systems(scores, given, progress)
    plan = _Plan(scores, *given)
    counted = plan.count(progress)
    plan.refine(counted)
    return counted.tree()


def _evaluate_systems(
    systems: Mapping[str, Scores], given: tuple, progress: Progress | None
) -> xr.DataTree:
    import xarray as xr

    if not systems:
        raise DataError("no systems are given; expected a mapping of name to Scores")
    for name in systems:
        if not isinstance(name, str) or not name or "/" in name:
            raise DataError(f"the system's name is {name!r}; expected a word without '/'")
    names = ("protocol", "thresholds", "max_rank", "far_targets")
    options = dict(zip(names, given, strict=True))
    trees = {k: evaluate(v, progress=progress, **options) for k, v in systems.items()}
    return xr.DataTree(children=trees)


def _resolve(scores: Scores, protocol: str | Protocol) -> Protocol:
    """Return the card, and refuse one of another layout."""
    if not isinstance(scores, Scores):
        raise DataError(
            f"scores is {type(scores).__name__}; expected bioeval.Scores, which says what the "
            "values are: bioeval.Scores(values, probe_labels, gallery_labels)"
        )
    if isinstance(protocol, Protocol):
        card = protocol
    elif protocol == "auto":
        card = for_layout(scores.layout)
    else:
        card = load(protocol)
    if card.layout != scores.layout:
        raise ProtocolError(
            f"protocol {card.name} is for the layout {card.layout}, but these scores are "
            f"{scores.layout}"
        )
    return card


def _card_thresholds(section: Mapping[str, Any]) -> Any:
    """Return the thresholds of a card; the default number means the default grid."""
    if section.get("values") is not None:
        return list(section["values"])
    number = section.get("count")
    return None if number in (None, 1000) else number


def _run(
    scores: Scores, reader: BlockReader, jobs: Sequence[Any], progress: Progress | None
) -> list[Any]:
    """Run jobs over one sweep and return their tallies."""
    if isinstance(scores, PairScores):
        for job in jobs:
            job.add_pairs()
        return [job.result() for job in jobs]
    return count(scores, jobs, reader, progress)
