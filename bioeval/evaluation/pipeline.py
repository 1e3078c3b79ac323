"""All tasks of a protocol: one sweep over the scores, counts that merge, and a tree of results."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.errors import Argument, DataError, ProtocolError
from bioeval.base.random import RandomState
from bioeval.evaluation.random_galleries import closed_set_job, open_set_job
from bioeval.evaluation.tally import Part, Tally
from bioeval.protocol import for_layout, load
from bioeval.protocol.card import Protocol
from bioeval.protocol.pairs import with_pairs
from bioeval.protocol.reid import convention_of
from bioeval.results.top_k import reid_of_lists
from bioeval.scores.blocks import BlockReader, Progress, threads_for
from bioeval.scores.matrix import PairScores, Scores
from bioeval.scores.top_k import TopKScores
from bioeval.stats.identification import closed_set_intervals, open_set_intervals
from bioeval.stats.options import CONFIDENCE, REPLICATES, Asked
from bioeval.stats.verification import verification_intervals
from bioeval.tallies.attempts import (
    IdentificationJob,
    ImpostorBlock,
    VerificationJob,
    is_symmetric,
    require_values,
)
from bioeval.tallies.by_subject import require_people
from bioeval.tallies.counts import IdentificationTally, VerificationTally
from bioeval.tallies.points import COSTS, check_costs, check_far_targets
from bioeval.tallies.random_galleries.counts import GalleryJob, GalleryTally
from bioeval.tallies.random_galleries.options import parse_drawn
from bioeval.tallies.reid_jobs import RetrievalJob
from bioeval.tallies.reid_mask import kept_scores
from bioeval.tallies.second_pass.search import PointFinder, refine
from bioeval.tallies.sweep import run_jobs
from bioeval.tallies.thresholds import check_thresholds

if TYPE_CHECKING:
    import xarray as xr

# FAR targets that verification also reports of its own accord, where there are attempts enough
# to expect 30 false accepts.
RARE_TARGETS = (1e-5, 1e-6)


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
        card of the layout (of order-only scores, its closed set alone).
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
    if plan.card.has_folds:
        raise ProtocolError(
            f"protocol {plan.card.name} has folds, whose counts are no tally; be.evaluate does it"
        )
    return plan.count(progress)


def refine_tally(
    counted: Tally,
    scores: Scores | Sequence[Scores],
    *,
    far_targets: Sequence[float] | None = None,
    costs: Sequence[tuple[float, float, float]] = COSTS,
    auc: bool = True,
) -> Tally:
    """Add the operating points of verification to a tally, by another look at the scores.

    Parameters
    ----------
    counted : Tally
        As :func:`tally`, :meth:`Tally.merge` or :meth:`Tally.load` gave it.
    scores : Scores or sequence of Scores
        The very scores that were counted; for a merged tally, all parts.
    far_targets, costs, auc
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
    parts = [scores] if isinstance(scores, Scores) else scores
    if not isinstance(parts, Sequence) or not all(isinstance(x, Scores) for x in parts):
        raise DataError(
            f"scores is {type(scores).__name__}; expected the Scores that were counted, or a "
            "list of them"
        )
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
        symmetric = len(parts) == 1 and old.templates == "single" and is_symmetric(parts[0])
        points = refine(old, sweep, targets, weights, symmetric=symmetric, auc=auc)
        refined[node] = Part(replace(old, points=points), part.options)
    return Tally(counted.protocol, refined, counted.far_targets, counted.ranks)


class _Plan:
    """The jobs of a protocol over some scores, and the options of their results."""

    def __init__(
        self,
        scores: Scores,
        protocol: str | Protocol,
        thresholds: Any,
        max_rank: int | None,
        far_targets: Sequence[float] | None,
        auc: bool = True,
        per_query: bool = False,
    ):
        self.auc, self.per_query = auc, per_query
        self.automatic = protocol == "auto"
        self.card = card = _resolve(scores, protocol)
        _require_no_thresholds(card, thresholds, far_targets)
        if per_query and "reid" not in card.tasks:
            raise ProtocolError(
                f"{Argument('per_query')} applies to re-identification only; protocol {card.name} "
                "has no [reid] section (be.ranks gives the rank of each probe)"
            )
        self.retrieval: RetrievalJob | None = None
        if "reid" in card.tasks:
            rules = convention_of(card, max_rank=max_rank)
            self.retrieval = RetrievalJob(scores, rules)
            if len(card.tasks) > 1:  # the other tasks see what the queries see
                scores = kept_scores(scores, rules)
        self.scores = scores = _compared(scores, card)
        self.reader = BlockReader(scores)
        if self.automatic:
            self.reader.about = replace(
                self.reader.about, notes=(*self.reader.about.notes, *_hints(scores))
            )
        if thresholds is None:
            thresholds = _card_thresholds(card.settings["thresholds"])
        thresholds = check_thresholds(thresholds)
        given_targets = far_targets
        if far_targets is None:
            far_targets = card.settings["report"]["far_targets"]
        self.far_targets = check_far_targets(far_targets)
        priors = card.settings["report"].get("priors") or ()
        self.costs = check_costs([(prior, 1.0, 1.0) for prior in priors])
        self.extends = self.automatic and given_targets is None
        self.jobs: dict[str, tuple[Any, dict[str, Any]]] = {}
        shared: dict[tuple[str, str], IdentificationJob] = {}
        for task, given in card.tasks.items():
            if protocol == "auto" and not _supports(scores, task):
                continue
            options: dict[str, Any] = dict(given)
            if task == "reid":
                continue
            if task == "verification":
                self._add_verification(options, thresholds)
                continue
            unit, fusion = options.pop("rank_unit"), options.pop("fusion")
            gallery = options.pop("gallery", None) or "all"
            if gallery != "all":
                options |= {"rank_unit": unit, "fusion": fusion}
                options["max_rank"] = options.get("max_rank") if max_rank is None else max_rank
                self._add_drawn(task, gallery, options, thresholds)
                continue
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

    def _add_drawn(self, task: str, gallery: str, options: dict[str, Any], thresholds: Any) -> None:
        """Add identification in drawn galleries, averaged exactly."""
        drawn = parse_drawn(gallery, "exact")
        given = {name: options.pop(name) for name in ("rank_unit", "fusion", "ties", "max_rank")}
        if task == "closed_set":
            job, note = closed_set_job(self.reader, drawn, **given)
        else:
            require_values(self.scores, "open-set identification")
            job, note = open_set_job(self.reader, drawn, thresholds=thresholds, **given)
            options["far_targets"] = self.far_targets
        self.jobs[task] = (job, {**options, "note": note})

    def _add_verification(self, options: dict[str, Any], thresholds: Any) -> None:
        for templates in options["templates"]:
            if self.automatic and templates == "multi" and not self.scores.labelled:
                continue  # a mask alone does not say which templates belong together
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
        # What the one-sweep kernel does not know is counted apart, so as not to slow the rest.
        drawn = [job for job in distinct if isinstance(job, GalleryJob)]
        counted = [job for job in distinct if not isinstance(job, GalleryJob)]
        by_job: dict[Any, Any] = {}
        for jobs in (counted, drawn):
            if jobs:
                results = run_jobs(self.scores, self.reader, jobs, progress)
                by_job |= dict(zip(jobs, results, strict=True))
        parts = {node: Part(by_job[job], options) for node, (job, options) in self.jobs.items()}
        if self.retrieval is not None:
            options = self.retrieval.convention.result_options()
            if self.per_query:
                options["per_query"] = True
            parts["reid"] = Part(self.retrieval.run(progress), options)
        ranks = self.card.settings["report"].get("ranks") or (1, 5, 10)
        return Tally(self.card.name, parts, self.far_targets, ranks)

    def refine(self, counted: Tally) -> None:
        """Find the operating points of verification, in one sweep for all."""
        if not self.jobs:
            return
        both_ways = is_symmetric(self.scores)
        finders = []
        for node, (job, _) in self.jobs.items():
            found = counted.parts[node].tally
            if not isinstance(found, VerificationTally):
                continue
            symmetric = both_ways and found.templates == "single"
            targets = self.far_targets
            if self.extends:
                own = found.impostor.total / (2 if symmetric else 1)
                more = [x for x in RARE_TARGETS if own >= 30 / x and x not in targets]
                targets = np.append(targets, more)
            finder = PointFinder(found, targets, self.costs, symmetric=symmetric, auc=self.auc)
            finder.prepare(functools.partial(job.sweep, self.reader))
            finders.append((found, job, finder))
        waiting = [(job, finder) for _, job, finder in finders if finder.waits]
        if isinstance(self.scores, PairScores):
            for job, finder in waiting:
                for impostors in job.sweep(self.reader):
                    finder.take(*impostors)
        elif waiting:
            for block in self.reader:
                for job, finder in waiting:
                    for impostors in job.impostors(block):
                        finder.take(*impostors)
        for found, _, finder in finders:
            found.points = finder.points()

    def with_intervals(self, counted: Tally, node: str, asked: Asked) -> xr.Dataset:
        """Return the result of a task with the intervals that were asked for."""
        found, tally = counted.dataset(node), counted.parts[node].tally
        if isinstance(tally, VerificationTally):
            job = self.jobs[node][0]
            return verification_intervals(found, tally, job, self.reader, asked)
        if not isinstance(tally, IdentificationTally):
            drawn = isinstance(tally, GalleryTally)
            what = "means over drawn galleries" if drawn else "re-identification"
            return _without_interval(found, what)
        add = open_set_intervals if node == "open_set" else closed_set_intervals
        return add(found, tally, self.scores, asked)


def evaluate(
    scores: Scores | Mapping[str, Scores],
    protocol: str | Protocol = "auto",
    *,
    thresholds: Any = None,
    max_rank: int | None = None,
    far_targets: Sequence[float] | None = None,
    auc: bool = True,
    interval: str | None = None,
    confidence: float = CONFIDENCE,
    replicates: int = REPLICATES,
    random_state: RandomState = 0,
    per_query: bool = False,
    progress: Progress | None = None,
) -> xr.DataTree:
    """Evaluate every task of a protocol, in one sweep over the scores.

    Parameters
    ----------
    scores : Scores, or mapping of str to Scores
        One system, or several by name.
    protocol, thresholds, max_rank, far_targets, progress
        As for :func:`tally`.
    auc : bool
        As for :func:`verification`: without it an evaluation is several times faster.
    interval, confidence, replicates, random_state
        As for :func:`verification`; all tasks and systems rest on the same draws.
    per_query : bool
        As for :func:`reid`: also the values of each query, of a card with re-identification.

    Returns
    -------
    xarray.DataTree
        Nodes ``/verification/single``, ``/verification/multi``, ``/open_set``, ``/closed_set``,
        ``/reid``, as far as the card has them; under ``/<system>`` for several systems. Of a card
        with folds, ``/folds/verification/single`` and so on, as :func:`bioeval.cross_evaluate`
        gives them; there are no curves then, and options about them are refused.

    Examples
    --------
    >>> import bioeval as be
    >>> tree = be.evaluate(be.simulate(20, 4, random_state=1))
    >>> sorted(node.path for node in tree.leaves)
    ['/closed_set', '/open_set', '/verification/multi', '/verification/single']
    """
    asked = Asked.of(interval, confidence, replicates, random_state)
    given = (protocol, thresholds, max_rank, far_targets, auc, per_query)
    if isinstance(scores, Mapping):
        return _evaluate_systems(scores, given, asked, progress)
    return _evaluate(scores, given, asked, progress)


def _evaluate(
    scores: Scores, given: tuple, asked: Asked | None, progress: Progress | None
) -> xr.DataTree:
    import xarray as xr

    protocol, thresholds, max_rank, far_targets, _, per_query = given
    if isinstance(scores, TopKScores):
        return _of_lists(scores, given, asked)
    card = _resolve(scores, protocol)
    if card.has_folds:
        options = {"thresholds": thresholds, "max_rank": max_rank, "far_targets": far_targets}
        options |= {"interval": asked, "per_query": per_query or None}
        unused = [name for name, value in options.items() if value is not None]
        if unused:
            raise ProtocolError(
                f"protocol {card.name} has folds, which have neither curves nor intervals of their "
                f"own: leave out {' and '.join(unused)}, or change the card"
            )
        return _in_folds(_compared(scores, card), card, progress)
    plan = _Plan(scores, *given)
    if asked is not None and asked.by_subject:
        require_people(scores, asked.method)
    counted = plan.count(progress)
    with threads_for(scores):
        plan.refine(counted)
        if asked is None:
            return counted.tree()
        return xr.DataTree.from_dict(
            {f"/{node}": plan.with_intervals(counted, node, asked) for node in counted.parts}
        )


def _of_lists(scores: TopKScores, given: tuple, asked: Asked | None) -> xr.DataTree:
    """Evaluate top-K lists by a convention, the one protocol that they support."""
    import xarray as xr

    protocol, thresholds, max_rank, far_targets, _, per_query = given
    if protocol == "auto":
        scores.require_matrix()
    card = load(protocol)
    if set(card.tasks) != {"reid"}:
        scores.require_matrix()
    _require_no_thresholds(card, thresholds, far_targets)
    rules = convention_of(card, max_rank=max_rank)
    found = reid_of_lists(scores, rules, max_rank=max_rank, per_query=per_query)
    ranks = card.settings["report"].get("ranks") or (1, 5, 10)
    found.attrs |= {"protocol": card.name, "report_ranks": " ".join(map(str, ranks))}
    if asked is not None:
        found = _without_interval(found, "re-identification")
    return xr.DataTree.from_dict({"/reid": found})


def _require_no_thresholds(card: Protocol, thresholds: Any, far_targets: Any) -> None:
    """Refuse thresholds where a card has re-identification alone."""
    given = {"thresholds": thresholds, "far_targets": far_targets}
    unused = [name for name, value in given.items() if value is not None]
    if unused and set(card.tasks) == {"reid"}:
        raise ProtocolError(
            f"{' and '.join(unused)} do nothing under protocol {card.name}, which has "
            "re-identification alone; leave them out, or add a section [verification] or "
            "[open_set] to a card of your own"
        )


def _without_interval(found: xr.Dataset, what: str) -> xr.Dataset:
    note = f"no interval: none is known for {what}"
    known = found.attrs["warnings"]
    return found.assign_attrs(warnings=f"{known}\n{note}" if known else note)


def _in_folds(scores: Scores, card: Protocol, progress: Progress | None) -> xr.DataTree:
    import xarray as xr

    from bioeval.evaluation.cross.card_folds import evaluate_folds

    return xr.DataTree.from_dict(dict(evaluate_folds(scores, card, progress=progress)))


def _evaluate_systems(
    systems: Mapping[str, Scores], given: tuple, asked: Asked | None, progress: Progress | None
) -> xr.DataTree:
    import xarray as xr

    if not systems:
        raise DataError("no systems are given; expected a mapping of name to Scores")
    for name in systems:
        if not isinstance(name, str) or not name or "/" in name:
            raise DataError(f"the system's name is {name!r}; expected a word without '/'")
    trees = {k: _evaluate(v, given, asked, progress) for k, v in systems.items()}
    return xr.DataTree(children=trees)


def _resolve(scores: Scores, protocol: str | Protocol) -> Protocol:
    """Return the card, and refuse one of another layout."""
    if not isinstance(scores, Scores):
        raise DataError(
            f"scores is {type(scores).__name__}; expected bioeval.Scores, which says what the "
            "values are: bioeval.Scores(values, probe_labels, gallery_labels)"
        )
    scores.require_matrix()
    if isinstance(protocol, Protocol):
        card = protocol
    elif protocol == "auto":
        card = for_layout(scores.layout)
    else:
        card = load(protocol)
    if card.layout != scores.layout:
        raise ProtocolError(
            f"protocol {card.name} is for the layout {card.layout}, but these scores are "
            f"{scores.layout}; use {for_layout(scores.layout).name}, or a card of this layout"
        )
    return card


def _compared(scores: Scores, card: Protocol) -> Scores:
    """Leave out what the card's verification does not compare."""
    return with_pairs(scores, card.tasks.get("verification", {}).get("pairs") or "ordered")


def _hints(scores: Scores) -> list[str]:
    """Remark on data that another protocol than the course's is usual for."""
    if isinstance(scores, PairScores) or not scores.labelled or scores.has_mask:
        return []
    cameras = scores.probe_meta.get("camera")
    if cameras is None or "camera" not in scores.gallery_meta or "camera" in scores.exclude:
        return []
    if len(np.unique(cameras.astype(str))) < 2:
        return []
    return [
        "the templates have cameras, and pairs of one camera are counted; the conventions of "
        "re-identification leave them out, and junk: protocol market1501, for one"
    ]


def _supports(scores: Scores, task: str) -> bool:
    """Say whether a task of the layout's own card means anything for these scores."""
    if task == "verification":
        return scores.kind != "order"
    if scores.kind == "order" and task != "closed_set":
        return False  # only ranks within a row have a meaning
    return scores.derives_subjects


def _card_thresholds(section: Mapping[str, Any]) -> Any:
    """Return the thresholds of a card; the default number means the default grid."""
    if section.get("values") is not None:
        return list(section["values"])
    number = section.get("count")
    return None if number in (None, 1000) else number
