"""Counting of all tasks of a protocol in one pass, and the later search for operating points."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bioeval import DataError, MergeError, Protocol, ProtocolError, Scores
from bioeval.base import Argument, Client, received, rows_reported_to, scalar_registry
from bioeval.evaluation import EvaluationOptions, Plan, TaskCounts, distributable, resolve_card
from bioeval.scores import (
    BlockReader,
    Progress,
    Provenance,
    are_pairs,
    leaves_out_attacks,
    threads_for,
)
from bioeval.studies.sites.gallery_parts import (
    BestMates,
    of_whole_gallery,
    part_and_card,
    share_mates,
    union_digest,
)
from bioeval.studies.sites.protocol_tally import Tally, with_notes
from bioeval.studies.sites.row_digests import RowDigestCounter
from bioeval.studies.sites.sharing import distinct_tallies
from bioeval.studies.sites.template_digests import CountedProbes, DigestKey, as_texts, gallery_keys
from bioeval.tallies import (
    PointFinder,
    PointsWanted,
    TileReading,
    VerificationCounter,
    is_symmetric,
)


@leaves_out_attacks
@distributable
def tally(
    scores: Scores,
    protocol: str | Protocol = "auto",
    *,
    thresholds: Any = None,
    max_rank: int | None = None,
    far_targets: Sequence[float] | None = None,
    normalize: tuple[float, float] | None = None,
    points: bool | int = False,
    site: str = "",
    key: str | bytes | None = None,
    mates: BestMates | None = None,
    progress: Progress | None = None,
    client: Client | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Tally:
    """Count all tasks of a protocol in one pass, as counts that merge.

    Parameters
    ----------
    scores : Scores
    protocol : str or Protocol
        The name of a shipped card, the path of a card, a parsed card, or ``"auto"``: the course
        card of the layout (of order-only scores, its closed set alone).
    thresholds, max_rank, far_targets
        In place of the card's.
    normalize : pair of float, optional
        Of GOM, as for :func:`gom`: distances are scaled to 0 ... 1 from these, the smallest and
        the largest of all parts that are to be merged. By default from those of the scores, which
        differ between parts.
    points : bool or int
        Whether the operating points of verification are found, and impostor scores around them
        kept, by which a merged tally has operating points without the scores: at most 1,048,576 of
        each task (8 MiB), or the number given. A merged tally keeps at most 16,777,216.
    site : str
        Where the probes were taken. Probes of several sites whose labels, metadata and positions
        may be the same are different probes if the sites have different names.
    key : str or bytes, optional
        A secret that all sites share. A tally keeps digests of its subjects and probes, and of the
        scores of each probe, by which merging finds probes that would count twice, whatever their
        order and their site; names and scores cannot be guessed from them without the key. By
        default the key is public.
    mates : BestMates, optional
        The nearest mates of the probes in all parts of a gallery, of which `scores` has one
        (``bioeval.studies.sites.gallery_parts.best_mates``, merged). Then `site` is where the part
        of the gallery is, and tallies merge with ``union_of_galleries=True``.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``.
    client : distributed.Client, optional
        The cluster that counts, by blocks of probes; by default this process. The result is the
        same to the last bit.
    checkpoint : path, optional
        A folder that keeps the counts of finished blocks of probes: after an interruption, the same
        call goes on from there. It may be left there; calling again then takes moments. A folder of
        other data, options or version is refused.

    Returns
    -------
    Tally
        Merges with the tally of other probes, is saved and loaded, and gives the results: all
        counts and rates, and the operating points of open set. Those of verification are reported
        as bounds, until ``refine_tally`` looks at the scores again, unless `points` are
        wanted: of a merged tally they are then exact where all parts kept the scores that they
        need, which is checked, and bounds where not. d' needs all scores.

    Raises
    ------
    DataError
        Bad options; NaN under ``nan="raise"``.
    ProtocolError
        If the card is for another layout, or has folds; `points` without verification.

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

    With operating points:

    >>> a, b = (be.tally(scores.select(probes=x), points=True) for x in (rows[:30], rows[30:]))
    >>> a.merge(b).dataset("verification/single").eer.identical(be.verification(scores).eer)
    True
    """
    options = EvaluationOptions.parse(
        thresholds=thresholds, max_rank=max_rank, far_targets=far_targets, normalize=normalize
    )
    if mates is None:
        card = resolve_card(scores, protocol)
        scores._require_matrix()
    else:
        scores, card = part_and_card(scores, protocol)
    if card.has_folds:
        raise ProtocolError(
            f"protocol {card.name} has folds: their counts do not merge; use be.evaluate"
        )
    if card.verification is not None and card.verification.attempts is not None:
        raise ProtocolError(
            f"protocol {card.name} makes transactions of probes: two tallies might divide "
            "them; use be.evaluate"
        )
    secret = DigestKey.parse(key)
    if not isinstance(site, str):
        raise DataError(f"site is {type(site).__name__}; expected a name, such as 'A'")
    keep = _kept_at_most(points)
    if keep and card.verification is None:
        raise ProtocolError(
            f"points do nothing under protocol {card.name}: it has no verification, and the "
            "operating points of its tasks are exact in any tally; leave them out"
        )
    plan = Plan(scores, card, options, automatic=protocol == "auto")
    part = None
    if mates is not None:
        part = share_mates(plan, mates, scores, secret, site, card)
    digests = None
    if mates is None and not are_pairs(scores):
        digests = RowDigestCounter(plan.reader, gallery_keys(scores, secret))
    digest_counters = [] if digests is None else [digests]
    with rows_reported_to(progress):
        parts = plan.count(points=bool(keep), keep=keep, more=digest_counters)
    if keep:
        with threads_for(scores):
            plan.refine(parts)
            plan.keep(parts, keep)
    if mates is None:
        counted = CountedProbes.of(scores, secret, site)
    else:
        counted = CountedProbes.of(scores, secret, rows=True)
        counted = replace(counted, gallery=union_digest(mates))
    if digests is not None:
        sums, varied = digests.score_digests(secret), digests.varied
        counted = counted.with_scores(scores, secret, sums, varied)
    # Several tasks may share a tally, and several tallies their provenance.
    of_site = {}
    for made in distinct_tallies(parts):
        before = made.about
        if before not in of_site:
            of_site[before] = about_of_site(before, secret, site)
        made.about = of_site[before]
        if mates is not None:
            made.about = of_whole_gallery(made.about, mates)
        if made.form == "verification":
            made.people = None  # of pairs; merged, it would not say who is in both
        if made.form == "reid":
            made.subject_of_query = None  # numbers of this site alone
    with_notes(parts, counted.repeated())
    return Tally(card.name, parts, plan.far_targets, card.report.ranks, counted, part)


# Scores that are kept of each task by default.
MOST_KEPT = 1 << 20


def _kept_at_most(points: Any) -> int:
    """Return how many scores are kept for points at most; 0 where no points are wanted."""
    if isinstance(points, (bool, np.bool_)):
        return MOST_KEPT if points else 0
    if not isinstance(points, (int, np.integer)) or points < 1:
        raise DataError(
            Argument("points"),
            f" is {received(points)}; expected True, False, or the largest number of scores to "
            "keep",
        )
    return int(points)


def about_of_site(about: Provenance, key: DigestKey, site: str) -> Provenance:
    """Return a provenance that names the site, with digests in place of subjects' names."""
    names = list(about.probe_subjects)
    digests = dict(zip(names, as_texts(key.digests("label", names)), strict=True))
    return replace(
        about,
        probe_subjects=frozenset(digests.values()),
        enrolled_subjects=frozenset(map(digests.__getitem__, about.enrolled_subjects)),
        sites=(site,),
    )


@leaves_out_attacks
def refine_tally(
    counted: Tally,
    scores: Scores | Sequence[Scores],
    *,
    far_targets: Sequence[float] | None = None,
    costs: Sequence[tuple[float, float, float]] = PointsWanted.COSTS,
    auc: bool = True,
) -> Tally:
    """Add the operating points of verification to a tally, by another pass over the scores.

    Parameters
    ----------
    counted : Tally
        As :func:`tally`, :meth:`Tally.merge` or :meth:`Tally.load` gave it.
    scores : Scores or sequence of Scores
        The same scores that were counted; for a merged tally, all parts.
    far_targets, costs, auc
        As for :func:`verification`; the default targets are the protocol's.

    Returns
    -------
    Tally

    Raises
    ------
    MergeError
        If the number of attempts differs from that of the scores that were counted.

    Examples
    --------
    >>> import bioeval as be
    >>> from bioeval.studies.sites.tally import refine_tally
    >>> scores = be.simulate(20, 4, random_state=1)
    >>> counted = be.tally(scores)
    >>> "eer" in counted.dataset("verification/single")
    False
    >>> "eer" in refine_tally(counted, scores).dataset("verification/single")
    True
    """
    parts = [scores] if isinstance(scores, Scores) else scores
    listed = isinstance(parts, Sequence) and len(parts) > 0
    if not listed or not all(isinstance(part, Scores) for part in parts):
        raise DataError(
            f"scores is {type(scores).__name__}; expected the Scores that were counted, or a "
            "list of them"
        )
    if not isinstance(counted, Tally):
        raise DataError(f"counted is {type(counted).__name__}; expected a Tally")
    if far_targets is None:
        far_targets = counted.far_targets.tolist()
    wanted = PointsWanted.checked(far_targets, costs, auc, scalar_registry().optima)
    readers = [BlockReader(part) for part in parts]
    refined = {}
    for node, part in counted.parts.items():
        old: Any = part.tally
        if old.form != "verification":
            refined[node] = part
            continue
        options = {"templates": old.templates}
        if old.templates == "multi":
            options["fusion"] = old.fusion
        counters = [VerificationCounter(reader, **options) for reader in readers]
        symmetric: bool | None = old.templates == "single" and is_symmetric(parts[0])
        if len(parts) > 1 and old.templates == "single" and old.about.layout == "all-against-all":
            symmetric = None  # a pair may be counted in two parts
        # By tiles if they can be, as they have been counted most often: so last bits are the same.
        by_tiles = [TileReading.offer(x, old.templates, old.fusion or "min") for x in readers]
        try:
            points = PointFinder.points_of(old, counters, wanted, symmetric=symmetric)
        except MergeError:
            if not any(by_tiles):
                raise
            for reader in readers:
                reader.second_reading = None
            points = PointFinder.points_of(old, counters, wanted, symmetric=symmetric)
        refined[node] = TaskCounts(replace(old, points=points), part.options)
    return replace(counted, parts=refined)
