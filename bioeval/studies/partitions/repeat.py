"""The numbers of a protocol: of some scores, and of many partitions of one matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_flag
from bioeval.base.errors import BioevalError, DataError, ProtocolError
from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.base.messages import message_attrs, messages_of
from bioeval.base.progress import reporter, rows_reported, rows_reported_to
from bioeval.counting.thresholds import to_user
from bioeval.counting.verification import verify
from bioeval.partition.base import SplitterLike
from bioeval.protocol.card import Protocol
from bioeval.protocol.loading import load
from bioeval.results.support import all_beyond_scores
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.labels import ids_of_no_person
from bioeval.scores.matrix import Scores, require_all_scores, require_scores
from bioeval.scores.people import knows_people, marking
from bioeval.scores.provenance import Provenance, notes_on_scores
from bioeval.studies.folds.splits import SplitSides
from bioeval.studies.partitions.results import CurveGrid, partitions_tree
from bioeval.tasks.options import EvaluationOptions
from bioeval.tasks.plan import CardTasks, CountedTask, check_systems, resolve_card
from bioeval.views.messages import warn_of, warns_of_doubts

# Default number of ranks of curves.
RANKS = 50


@leaves_out_attacks
def summary(
    scores: Scores | Mapping[str, Scores],
    protocol: str | Protocol = "auto",
    *,
    far_targets: Sequence[float] | None = None,
    frr_targets: Sequence[float] | None = None,
    auc: bool = True,
) -> dict[str, Any]:
    """Return the scalars of every task of a protocol, as plain numbers by name.

    They are those of :func:`evaluate` to the last bit, without its curves and datasets, in a
    fraction of its time: for scripts that evaluate many small sets of scores.

    Parameters
    ----------
    scores : Scores, or mapping of str to Scores
        One system, or several by name.
    protocol, far_targets, frr_targets, auc
        As for :func:`evaluate`.

    Returns
    -------
    dict of str to dict
        By task, such as ``"verification/single"`` or ``"open_set"``, the variables of its dataset
        as floats and ints; of several systems, such a mapping for each. What depends on a target,
        a rank or the prior of a cost is a mapping by it: ``frr_at_far`` and ``far_at_frr`` of the
        targets, ``cms`` and ``cmc`` of the ranks that tables show, ``min_dcf`` of the card's
        priors; ``dir_at_far`` of the targets at rank 1. NaN where a number is not defined.

    Raises
    ------
    CardError, DataError
        As for :func:`evaluate`.
    ProtocolError
        As for :func:`evaluate`, and of a card with folds.

    Examples
    --------
    >>> import bioeval as be
    >>> found = be.summary(be.simulate(20, 4, random_state=1))
    >>> sorted(found)
    ['closed_set', 'open_set', 'verification/multi', 'verification/single']
    >>> sorted(found["closed_set"]["cms"])
    [1, 5, 10]
    >>> found["verification/single"]["genuine_attempts"]
    240
    """
    options = EvaluationOptions.parse(far_targets=far_targets, frr_targets=frr_targets, auc=auc)
    if not isinstance(scores, Mapping):
        return _summary_of_system(scores, protocol, options)
    check_systems(scores)
    return {name: _summary_of_system(each, protocol, options) for name, each in scores.items()}


def _summary_of_system(
    scores: Scores, protocol: str | Protocol, options: EvaluationOptions
) -> dict[str, Any]:
    """Return the scalars of one system, and warn of what makes them doubtful."""
    by_task = scalars_of(scores, protocol, options)
    warn_of(notes_on_scores(scores))
    return by_task


def scalars_of(
    scores: Scores, protocol: str | Protocol, options: EvaluationOptions
) -> dict[str, dict[str, Any]]:
    """Return the scalars of every task of a protocol."""
    return _plain(*_counted(scores, protocol, options))


def _plain(counted: Mapping[str, CountedTask], card: Protocol) -> dict[str, dict[str, Any]]:
    """Return the scalars of tasks, at the ranks that a card shows."""
    return {node: part.scalars().plain(card.report.ranks) for node, part in counted.items()}


def _counted(
    scores: Scores,
    protocol: str | Protocol,
    options: EvaluationOptions,
    whole: Provenance | None = None,
    *,
    curves: bool = False,
) -> tuple[dict[str, CountedTask], Protocol]:
    """Count every task of a protocol, and return its card; `whole` is that of a part."""
    require_scores(scores)
    card = resolve_card(scores, protocol)
    if card.has_folds:
        raise ProtocolError(
            f"protocol {card.name} has folds, and each fold has rates of its own: use be.evaluate"
        )
    tasks = CardTasks(scores, card, options, automatic=protocol == "auto", whole=whole)
    return tasks.count(curves=curves), card


@warns_of_doubts
@leaves_out_attacks
def repeat(
    scores: Scores,
    partitions: SplitterLike | Iterable[Any],
    protocol: str | Protocol = "auto",
    *,
    curves: bool = False,
    thresholds: Any = None,
    n_thresholds: int | None = None,
    max_rank: int | None = None,
    far_targets: Sequence[float] | None = None,
    frr_targets: Sequence[float] | None = None,
    auc: bool = True,
) -> xr.DataTree:
    """Evaluate every task of a protocol in each of many partitions of the same scores.

    The numbers of each partition are those of :func:`summary`, to the last bit.

    Parameters
    ----------
    scores : Scores
        A matrix with labels.
    partitions : splitter, or iterable
        A splitter: its galleries and probes (``ProbeGallerySplit``, ``EnrolledSplit``), or its test
        parts, of an ``Experiment`` with their own galleries. Or what ``scores.select`` takes, for
        each partition: what a splitter yields; a pair of index arrays, probes first; or one index
        of both sides.
    protocol, far_targets, frr_targets, auc
        As for :func:`evaluate`; ``"auto"`` takes the course card for the layout of each partition.
    curves : bool
        Whether the tree has the curves of each partition, too.
    thresholds : float or increasing array of float, optional
        With `curves`, the thresholds that all of them share. None: about 1,000 from the smallest to
        the largest score of the whole matrix.
    n_thresholds : int, optional
        With `curves`, the number of these in place of about 1,000.
    max_rank : int, optional
        With `curves`, the number of ranks; None: 50, or as many as there are gallery templates.
        Beyond the list of a small gallery, a curve keeps its last value.

    Returns
    -------
    xarray.DataTree
        The nodes of :func:`evaluate`. Every variable is over ``partition``, in the order of the
        partitions, and has the dtype that it has there: ``to_dataset().to_dataframe()`` of a node
        has a row a partition. What :func:`summary` gives by target, rank or cost is a variable
        each, such as ``frr_at_far_0.01`` and ``cms_rank_1``. A number that a partition lacks, such
        as CMS at a rank beyond its gallery, is NaN; counts are float64 there.

        With `curves`, also ``far`` and ``frr`` over ``partition, threshold`` (of open set ``far``
        and ``dir`` at rank 1), ``cms`` and ``cmc`` with their counts over ``partition, rank``; and
        of each rate, over all partitions in which it is defined, ``far_mean``, and the band
        ``far_low`` to ``far_high``: the middle 95 % at each point.

    Raises
    ------
    CardError
        If there is no such card, or it is not valid.
    DataError
        If there is no partition; bad options. Of a partition, which the message names by its place
        from 0: an index out of range, one index for sides that are not the same templates, a
        gallery template twice, NaN under ``nan="raise"``.
    ProtocolError
        For a list of pairs or top-K lists; if the card has folds; or if a partition, which is
        named, cannot support the protocol.

    Notes
    -----
    A band shows how a curve depends on the partition of these very people, not how it would differ
    for others. Means are at the same threshold, not at the same FAR: "threshold averaging" of
    Fawcett, T. (2006). An introduction to ROC analysis. *Pattern Recognition Letters* 27, 861-874.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(30, 4, random_state=1)
    >>> galleries = be.partition.ProbeGallerySplit(1, n_repeats=20, random_state=0)
    >>> tree = be.repeat(scores, galleries, curves=True)
    >>> tree["closed_set"]["recognition_rate"].sizes
    Frozen({'partition': 20})
    >>> tree["closed_set"]["cms"].sizes
    Frozen({'partition': 20, 'rank': 50})
    >>> parts = [range(60), {"probes": range(60), "gallery": range(120)}]
    >>> be.repeat(scores, parts)["verification/single"]["genuine_attempts"].values
    array([180, 180])
    """
    options = EvaluationOptions.parse(
        thresholds=thresholds,
        n_thresholds=n_thresholds,
        max_rank=max_rank,
        far_targets=far_targets,
        frr_targets=frr_targets,
        auc=auc,
    )
    if not require_flag("curves", curves):
        for name in options.those_set("thresholds", "n_thresholds", "max_rank"):
            raise DataError(f"`{name}` is of curves; give `curves=True`")
    return results_of_partitions(scores, partitions, protocol, options, curves=curves)


def results_of_partitions(
    scores: Scores,
    partitions: Any,
    protocol: str | Protocol,
    options: EvaluationOptions,
    *,
    curves: bool = False,
) -> xr.DataTree:
    """Return the results of all partitions, with checked options; see :func:`repeat`."""
    require_scores(scores)
    if scores.layout == "pairs":
        raise ProtocolError("a list of pairs has no templates to divide; be.cross_evaluate does")
    require_all_scores(scores)
    if not isinstance(protocol, str) or protocol not in ("auto", "course-kfold"):
        protocol = load(protocol)
    chosen = _partitions(_with_ids_of(scores, protocol), partitions)
    if not chosen:
        raise DataError("there are no partitions; expected at least one")
    with rows_reported():
        tell = reporter()
    whole = Provenance.of(scores)
    with rows_reported_to(None):
        grid = _grid(scores, options) if curves else None
        cards, parts, of_curves = list[Protocol](), [], []
        for place, some in enumerate(chosen):
            try:
                view = scores.select(*some)
                counted, card = _counted(view, protocol, options, whole)
                parts.append(_plain(counted, card))
                cards.append(card)
                if grid is not None:
                    wanted = grid.options(options)
                    counted, _ = _counted(view, protocol, wanted, whole, curves=True)
                    of_curves.append({k: grid.of_dataset(x.dataset()) for k, x in counted.items()})
            except BioevalError as error:
                raise error.preceded_by(f"partition {place}: ") from error
            tell(place + 1, len(chosen))
    tree = partitions_tree(scores, cards, parts, of_curves, grid)
    if grid is not None and options.thresholds is not None:
        for node in tree.leaves:
            means = node.to_dataset()
            if {"far_mean", "frr_mean"} <= {*means}:
                rates = means["far_mean"].values, means["frr_mean"].values
                beyond = all_beyond_scores(options.thresholds, *rates)
                node.attrs |= message_attrs([*beyond, *messages_of(node.attrs)])
    return tree


def _grid(scores: Scores, options: EvaluationOptions) -> CurveGrid:
    """Return the thresholds of all curves, given or over the range of the scores, and the ranks."""
    ranks = options.max_rank or min(RANKS, scores.shape[1])
    if options.thresholds is not None:
        return CurveGrid(options.thresholds, ranks)
    if scores.kind == "order":
        return CurveGrid(np.empty(0), ranks)
    verified = verify(scores, given=options.n_thresholds)
    thresholds = to_user(verified.curve[0], scores.kind)
    if scores.kind in LARGER_IS_CLOSER:
        thresholds = thresholds[::-1]
    return CurveGrid(thresholds, ranks)


# ------------------------------------------------------------------------------- partitions


def _with_ids_of(scores: Scores, protocol: str | Protocol) -> Scores:
    """Return scores that know the junk and the distractors of a card, too."""
    junk_ids, distractor_ids = scores.junk_ids, scores.distractor_ids
    if not isinstance(protocol, str):
        for task in filter(None, (protocol.reid, protocol.gom)):
            junk_ids += tuple(task.junk_ids)
            if task.distractor_ids:
                distractor_ids = (*ids_of_no_person(distractor_ids), *task.distractor_ids)
    return marking(scores, distractor_ids, junk_ids)


def _partitions(scores: Scores, partitions: Any) -> list[tuple[Any, ...]]:
    """Return what :meth:`Scores.select` takes for each partition."""
    if hasattr(partitions, "split") and not isinstance(partitions, str | bytes):
        if not knows_people(scores):
            raise ProtocolError("partitions need the subjects of the templates. Give labels")
        return SplitSides(scores).partitions(partitions)
    scalar = isinstance(partitions, np.ndarray) and not partitions.ndim
    if (
        scalar
        or not isinstance(partitions, Iterable)
        or isinstance(partitions, str | bytes | Mapping)
    ):
        raise DataError(
            f"partitions is {type(partitions).__name__}; expected a splitter, or for each "
            "partition a pair (probes, gallery) of index arrays or one index array"
        )
    chosen = [*map(_sides_of, partitions)]
    for place, sides in enumerate(chosen):
        if any(side is None for side in sides):  # all of them, to `select`
            raise DataError(f"partition {place}: a side is None; expected a list of indices")
    return chosen


def _sides_of(partition: Any) -> tuple[Any, ...]:
    """Return probes and gallery of a pair; else what both sides take."""
    if hasattr(partition, "_fields") or not isinstance(partition, tuple | list):
        return (partition,)
    pair = len(partition) == 2 and not any(map(np.isscalar, partition))
    return tuple(partition) if pair else (partition,)
