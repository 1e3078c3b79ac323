"""The scalars of many partitions of one matrix, in one call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import BioevalError, DataError, ProtocolError
from bioeval.partition.base import SplitterLike
from bioeval.protocol.card import Protocol
from bioeval.protocol.loading import load
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.matrix import Scores, are_pairs, knows_people, require_scores
from bioeval.studies.folds.splits import IndexSet, SplitSides
from bioeval.studies.folds.tasks import splitter_of
from bioeval.studies.summaries.counted_together import (
    PartitionScalars,
    counted_together,
    partition_attrs,
    summaries_tree,
)
from bioeval.studies.summaries.summary import scalars_of
from bioeval.tasks.plan import EvaluationOptions, resolve_card


@leaves_out_attacks
def summaries(
    scores: Scores,
    partitions: SplitterLike | Iterable[Any],
    protocol: str | Protocol = "auto",
    *,
    far_targets: Sequence[float] | None = None,
    frr_targets: Sequence[float] | None = None,
    auc: bool = True,
) -> xr.DataTree:
    """Return the scalars of every task of a protocol, of many partitions of the same scores.

    Those of each partition are those of :func:`summary`, to the last bit, in a fraction of its
    time: the scores are put in order once for all partitions.

    Parameters
    ----------
    scores : Scores
        A matrix with labels.
    partitions : splitter, or iterable
        A splitter, as for :func:`repeat`: its galleries and probes, or its test parts. Or what
        ``scores.select`` takes, for each partition: what a splitter yields; a pair of index arrays,
        probes first; or one index of both sides.
    protocol, far_targets, frr_targets, auc
        As for :func:`evaluate`; ``"auto"`` takes the course card for the layout of each partition.

    Returns
    -------
    xarray.DataTree
        The nodes of :func:`evaluate`. Every variable is over ``partition``, in the order of the
        partitions, and has the dtype that it has there: ``to_dataset().to_dataframe()`` of a node
        has a row a partition. What :func:`summary` gives by target, rank or cost is a variable
        each, such as ``frr_at_far_0.01`` and ``cms_rank_1``. A number that a partition lacks, such
        as CMS at a rank beyond its gallery, is NaN; counts are float64 there.

    Raises
    ------
    CardError
        If there is no such card, or it is not valid.
    DataError
        If there is no partition; bad options. Of a partition, which the message names by its place
        from 0: an index out of range, one index for sides that are not the same templates, a
        gallery template twice, NaN under ``nan="raise"``.
    ProtocolError
        For a list of pairs or top-K lists; or if a partition, which is named, cannot support the
        protocol.

    Notes
    -----
    Definitions: ``docs/definitions.md``; thresholds are attainable, as for :func:`verification`.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(30, 4, random_state=1)
    >>> galleries = be.partition.ProbeGallerySplit(1, n_repeats=20, random_state=0)
    >>> tree = be.summaries(scores, galleries)
    >>> tree["closed_set"]["recognition_rate"].sizes
    Frozen({'partition': 20})
    >>> parts = [range(60), {"probes": range(60), "gallery": range(120)}]
    >>> be.summaries(scores, parts)["verification/single"]["genuine_attempts"].values
    array([180, 180])
    """
    options = EvaluationOptions.parse(far_targets=far_targets, frr_targets=frr_targets, auc=auc)
    return _summaries(scores, partitions, protocol, options)


def of_galleries(scores: Scores, card: Protocol, options: EvaluationOptions) -> xr.DataTree:
    """Return the scalars of the galleries of a card that enrols each fold of templates in turn."""
    unused = options.those_set("thresholds", "max_rank", "interval", "per_query")
    if unused:
        raise ProtocolError(
            f"protocol {card.name} evaluates many galleries, without curves and intervals: leave "
            f"out {' and '.join(unused)}"
        )
    inner = replace(
        card, layout="probe-against-gallery", partition=None, decision=None, uncertainty=None
    )
    return _summaries(scores, splitter_of(card, scores), inner, options)


def _summaries(
    scores: Scores, partitions: Any, protocol: str | Protocol, options: EvaluationOptions
) -> xr.DataTree:
    require_scores(scores)
    if are_pairs(scores):
        raise ProtocolError("a list of pairs has no templates to divide; be.cross_evaluate does")
    scores._require_matrix()
    if not isinstance(protocol, str) or protocol not in ("auto", "course-kfold"):
        protocol = load(protocol)
    sets = _index_sets(_with_ids_of(scores, protocol), partitions)
    if not sets:
        raise DataError("there are no partitions; expected at least one")
    parts, cards = counted_together(scores, sets, protocol, options)
    done = np.zeros(len(sets), dtype=bool)
    for part in parts:
        done[part.partitions] = True
    for k in range(len(sets)):
        if not done[k]:
            try:
                rows, columns = sets[k]
                view = scores.select(rows, columns)
                by_task, ranks = scalars_of(view, protocol, options)
                parts.append(PartitionScalars.of_one(k, by_task, ranks))
                cards.append(resolve_card(view, protocol).name)
            except BioevalError as error:
                raise error.preceded_by(f"partition {k}: ") from error
    attrs = partition_attrs(cards, scores.kind, scores.nan, len(sets))
    return summaries_tree(parts, len(sets), attrs)


# ------------------------------------------------------------------------------- partitions


def _with_ids_of(scores: Scores, protocol: str | Protocol) -> Scores:
    """Return scores that know the junk and the distractors of a card, too."""
    junk_ids, distractor_ids = scores._junk_ids, scores.distractor_ids
    if not isinstance(protocol, str):
        for task in filter(None, (protocol.reid, protocol.gom)):
            junk_ids += tuple(task.junk_ids)
            distractor_ids += tuple(task.distractor_ids)
    return scores._with(_junk_ids=junk_ids, distractor_ids=distractor_ids)


def _index_sets(scores: Scores, partitions: Any) -> list[IndexSet]:
    """Return the rows and the columns of each partition, checked."""
    sets = []
    for place, partition in enumerate(_listed(scores, partitions)):
        try:
            sets.append(scores._places(partition))
        except BioevalError as error:
            raise error.preceded_by(f"partition {place}: ") from error
    return sets


def _listed(scores: Scores, partitions: Any) -> list[Any]:
    """Return the partitions as they are given; those of a splitter name their sides."""
    if hasattr(partitions, "split") and not isinstance(partitions, str | bytes):
        return list(_split(scores, partitions))
    scalar = isinstance(partitions, np.ndarray) and not partitions.ndim
    listed = isinstance(partitions, Iterable) and not scalar
    if not listed or isinstance(partitions, str | bytes | Mapping):
        raise DataError(
            f"partitions is {type(partitions).__name__}; expected a splitter, or for each "
            "partition a pair (probes, gallery) of index arrays or one index array"
        )
    return list(partitions)


def _split(scores: Scores, splitter: Any) -> Iterator[dict[str, np.ndarray]]:
    """Yield the rows and the columns of each partition of a splitter, by the names of the sides."""
    if not knows_people(scores):
        raise ProtocolError("partitions need the subjects of the templates. Give labels")
    for probes, gallery in SplitSides(scores).partitions(splitter).sets:
        yield {"probes": probes, "gallery": gallery}
