"""Checks of data before they are evaluated: labels, copies, failures, and the kind of scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bioeval.base.arguments import require_flag, require_integer
from bioeval.base.progress import rows_reported
from bioeval.counting.points import check_targets
from bioeval.counting.sorted_attempts import Attempts
from bioeval.counting.verification import is_symmetric
from bioeval.document.results import sides_in_words
from bioeval.document.text import Text, say
from bioeval.protocol.card import Protocol
from bioeval.results.dataset import about_attrs
from bioeval.results.support import KindVerdict
from bioeval.scores.arrays import lattice_step
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.excluded import incomplete_claims
from bioeval.scores.matrix import Scores, require_scores
from bioeval.scores.people import knows_people
from bioeval.scores.provenance import Provenance, same_labels, transaction_notes
from bioeval.studies.check.copies import (
    copies_of_matrix,
    copies_of_pairs,
    copy_finding,
    duplicates_finding,
)
from bioeval.studies.check.counts import (
    FAILED,
    FARTHEST,
    IMPOSTOR,
    NEAREST,
    SHOWN,
    DataScan,
    scan,
    sign_of,
)
from bioeval.studies.check.failure_codes import end_finding, end_values, failed, failures, sentinels
from bioeval.studies.check.findings import Finding, LabelError, confusions_at, listed_pairs, passed
from bioeval.studies.check.label_checks import label_checks
from bioeval.studies.check.label_errors import label_errors, two_names
from bioeval.studies.check.section import DataCheck
from bioeval.tasks.plan import compared, resolve_card

# The most scores of a class by which the kind is judged, and as many distinct scores in equal steps
# as are the nature of whole numbers and of codes.
_MOST_JUDGED, _LEAST_LATTICE = 200_000, 16

# Templates are compared with themselves where at least this proportion is nearest to itself, in at
# least this number of rows, or with one score but for rounding.
_SELF_NEAREST, _TELLING_ROWS, _ROUNDING = 0.95, 12, 1e-5


@leaves_out_attacks
def check_data(
    scores: Scores,
    protocol: str | Protocol = "auto",
    *,
    far_targets: Sequence[float] | None = None,
    threshold: Any = "far=0.001",
    claims: Scores | None = None,
    worst: int = 10,
    read_scores: bool = True,
) -> DataCheck:
    """Check data before any evaluation: labels, copies, failures, kind, numbers of people.

    Parameters
    ----------
    scores : Scores
        A matrix of either layout, embeddings, a list of pairs, or top-K lists, of which labels and
        metadata are checked.
    protocol : str or Protocol
        Card of the later evaluation. What it leaves out is not checked.
    far_targets : sequence of float, optional
        FAR for which to check the number of subjects. Those of the card by default.
    threshold : float, str or None
        Threshold at which people are confused: a number, or a rule applied to these data. None
        leaves it out. Of a matrix whose subjects are known.
    claims : Scores, optional
        :func:`claim_scores` of these scores, in which it is looked for who is confused with whom;
        all else is about the scores themselves.
    worst : int
        Number of pairs of people, and of doubtful labels, that are listed.
    read_scores : bool
        Whether the scores are looked at, in one pass over blocks of rows, or labels and metadata
        alone.

    Returns
    -------
    DataCheck
        Its ``findings``, one for each check, with ``check severity code message count where``:
        ``samples layout labels names compared list
        people``, and of the scores ``failed sentinels
        duplicates zero-distance kind complete two-names label-errors``. ``misleads`` says whether
        any is an ``"error"``, so that a result would mislead; a ``"warning"`` is likely a fault, a
        ``"note"`` is to be known, and ``"ok"`` is what was looked at without finding any.

        ``confusions`` are the pairs of people that make the most false accepts at the threshold,
        with the nearest comparison of each, and the names of its templates.

        ``label_errors`` are the templates whose label is likely wrong, with the label that each is
        nearest to and the nearest template of that label.

    Raises
    ------
    ProtocolError
        If the scores are not of the layout of the protocol.

    Notes
    -----
    Failed and perfect scores are counted in all comparisons, and rows are compared by digests.
    Values at either end are looked for in about 65,000 scores of evenly spaced rows, the kind in at
    most 200,000 of either class, errors of labels by the median distance of each probe to each
    label.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(40, 4, random_state=1)
    >>> found = be.check_data(scores)
    >>> found.misleads, found["samples"].message
    (False, '40 subjects with 4 templates each')
    >>> pair = found.confusions.listed[0]
    >>> pair.probe.subject, pair.claimed.subject, pair.false_accepts, pair.attempts
    (2, 23, 8, 32)
    >>> wrong = be.Scores(scores.values, scores.probe_labels, kind="similarity")
    >>> be.check_data(wrong)["kind"].severity
    'error'
    """
    read_scores = require_flag("read_scores", read_scores)
    worst = require_integer("worst", worst, low=1)
    if claims is not None:
        require_scores(claims, "`claims`")
    card = resolve_card(scores, protocol)
    if scores.layout == "top-k":
        read_scores = False
    else:
        scores = compared(scores, card)
    convention = card.reid is not None or card.gom is not None
    if far_targets is None:
        far_targets = () if convention else card.report.far_targets
    targets = check_targets(far_targets).tolist()
    with rows_reported():
        scanned = scan(scores) if read_scores and scores.layout != "pairs" else None
        findings = list(_findings(scores, targets, scanned, read_scores, convention))
        if scanned is not None:
            findings.append(_complete(scores, card, claims))
        wrong_labels = list[LabelError]()
        if scanned is not None and len(scanned.medians):
            pairs, finding = two_names(scores, scanned.medians)
            findings.append(finding)
            wrong_labels, finding = label_errors(scores, scanned.medians, worst, pairs)
            findings.append(finding)
        confusions = None
        if read_scores and threshold is not None:
            confusions = confusions_at(scores, threshold, worst, claims)
    return DataCheck(
        sides_in_words(about_attrs(Provenance.of(scores), "", "", ())),
        scores.kind,
        card.name,
        tuple(findings),
        scores.name or "",
        (scores if claims is None else claims).fingerprint,  # of the results it belongs to
        confusions,
        tuple(wrong_labels),
    )


def _complete(scores: Scores, card: Protocol, claims: Scores | None) -> Finding:
    """Return the finding about incomplete transactions and lists of candidates."""
    claims = scores if claims is None else claims
    if claims.claims:
        notes, number = transaction_notes(claims), sum(incomplete_claims(claims))
        return Finding("complete", "note", notes[0], number) if notes else passed("complete")
    lists = scores.completeness
    if lists.incomplete and not {"open_set", "closed_set", "reid", "gom"}.isdisjoint(card.tasks):
        return Finding("complete", "note", lists.messages()[0], lists.incomplete)
    return passed("complete")


def why_undefined(scores: Scores, protocol: str | Protocol) -> str:
    """Return the first error that is found; empty without any."""
    if scores.layout == "top-k":
        return ""
    for read in (False, True):
        for finding in check_data(scores, protocol, threshold=None, read_scores=read).of("error"):
            return finding.message
    return ""


def _findings(
    scores: Scores,
    targets: Sequence[float],
    scanned: DataScan | None,
    read_scores: bool,
    convention: bool = False,
) -> Iterator[Finding]:
    """Yield the findings, those that need no score first; a matrix that is read is `scanned`.

    `convention` says whether a card of re-identification has left out junk and cameras already.
    """
    if scanned is None:
        yield from label_checks(scores, targets, convention=convention)
        if read_scores and scores.layout == "pairs":
            yield from _pair_checks(scores)
        return
    impostors = int(scanned.counts[IMPOSTOR])
    yield from label_checks(
        scores,
        targets,
        impostors // 2 if is_symmetric(scores) else impostors,
        convention=convention,
        self_compared=_compared_with_themselves(scores, scanned),
    )
    impostor, sample = _samples(scores, scanned)
    on_lattice = lattice_step(np.unique(sample), _LEAST_LATTICE) > 0
    copies = copies_of_matrix(scores, scanned, impostor, on_lattice)
    yield failed(scores, scanned)
    if not scores.streams:
        unproven = copies is not None and copies.exact > 0 and not copies.proven
        yield sentinels(scores, scanned, unproven)
    yield duplicates_finding(scores, scanned)
    if scores.kind != "order":
        yield copy_finding(scores, copies)
        diagonal = _diagonal(scores, scanned)
        # The sample has finite distances alone; failures count where they are rejected.
        first = FAILED if scores.nan == "reject" else FARTHEST
        left_out = scanned.counts[first : NEAREST + 1].any()
        every = len(scanned.sampled) == scores.shape[0] and not left_out
        yield _kind(scores, scanned.genuine, impostor, diagonal, all_read=every)


def _pair_checks(scores: Scores) -> Iterator[Finding]:
    """Yield the findings of a list of pairs."""
    values = scores.values.astype(np.float64)
    distances, known = sign_of(scores.kind) * values, np.isfinite(values)
    nan = np.flatnonzero(np.isnan(values))
    infinite = int((distances == np.inf).sum()), int((distances == -np.inf).sum())
    yield failures(scores, len(nan), listed_pairs(nan[:SHOWN]), *infinite)
    ends = end_values(values[known], ~scores.genuine[known], scores.kind, copies=True)
    hits = [np.flatnonzero(values == end.value) for end in ends]
    places = listed_pairs(np.concatenate([np.empty(0, int), *hits]))
    yield end_finding(zip(ends, map(len, hits), strict=True), {"pairs": len(values)}, places)
    if scores.kind != "order":
        yield copy_finding(scores, copies_of_pairs(scores, distances))
        there = ~np.isnan(values)
        genuine, impostor = distances[there & scores.genuine], distances[there & ~scores.genuine]
        yield _kind(
            scores, genuine, impostor, 0, all_read=scores.nan != "reject" or bool(there.all())
        )


def _kind(
    scores: Scores, genuine: np.ndarray, impostor: np.ndarray, diagonal: int, *, all_read: bool
) -> Finding:
    """Return the finding about the kind of the scores, of all of them or of a sample."""
    if not len(genuine) or not len(impostor):
        return Finding("kind", "ok", "not checked without both classes")
    number = len(genuine) + len(impostor)
    genuine = genuine[:: max(1, len(genuine) // _MOST_JUDGED)]
    impostor = impostor[:: max(1, len(impostor) // _MOST_JUDGED)]
    in_sample: Text = ""
    if not all_read or len(genuine) + len(impostor) < number:
        in_sample = say(
            "a sample of {genuine:count} genuine and {impostor:count} impostor scores; an "
            "evaluation counts all",
            genuine=len(genuine),
            impostor=len(impostor),
        )
    eer = Attempts.listed(genuine, impostor).equal_error().eer
    people = min(len(genuine), len(scores.subjects) or len(genuine))
    verdict = KindVerdict.of(
        eer, scores.kind, people, diagonal=diagonal, metric=scores.metric, sample=bool(in_sample)
    )
    count = len(genuine) + len(impostor) if eer > 0.5 else 0
    text = "EER {eer:rate} over all attempts, as in an evaluation"
    if in_sample:
        text = "EER {eer:rate} in a sample of {number:count scores} (an evaluation counts all)"
    sampled = len(genuine) + len(impostor)
    message = verdict.message or say(text, eer=eer, number=sampled)
    return Finding("kind", verdict.severity, message, count, places=in_sample)


def _samples(scores: Scores, scanned: DataScan) -> tuple[np.ndarray, np.ndarray]:
    """Return sampled impostor distances and all sampled distances, each pair of templates once."""
    sampled, sample = scanned.sampled, scanned.sample.copy()
    if scanned.same:  # each pair of templates in one direction
        for k, row in enumerate(sampled):
            sample[k, sampled[sampled < row]] = np.nan
    foreign = scores.codes.probe[sampled][:, None] != scores.codes.gallery[None]
    if not knows_people(scores):
        foreign = np.isfinite(sample)
    return sample[foreign & np.isfinite(sample)], sample[np.isfinite(sample)]


def _diagonal(scores: Scores, scanned: DataScan) -> int:
    """Return 1 where a template is nearest to itself, -1 where it is farthest, 0 if unknown."""
    diagonal = scanned.diagonal
    if not scanned.same or scores.streams or np.isfinite(diagonal).sum() < 2:
        return 0
    known = np.isfinite(diagonal)
    near = (diagonal[known] <= scanned.rows[known, 0]).mean()
    far = (diagonal[known] >= scanned.rows[known, 1]).mean()
    return int(near > 0.9) - int(far > 0.9)


def _compared_with_themselves(scores: Scores, scanned: DataScan) -> bool:
    """Whether probe and gallery template of one place are equal, by their scores.

    They are nearest to each other, where the subject has other templates in the gallery, and have
    one score, or there are enough of them.
    """
    if (
        not knows_people(scores)
        or scanned.same
        or not len(scanned.diagonal)
        or not same_labels(scores)
    ):
        return False
    several = np.bincount(scores.codes.gallery)[scores.codes.gallery] > 1
    usable = several & np.isfinite(scanned.diagonal)
    diagonal, nearest = scanned.diagonal[usable], scanned.rows[usable, 0]
    if len(diagonal) < 2 or (diagonal <= nearest).mean() <= _SELF_NEAREST:
        return False
    scale = abs(scanned.rows[usable, :2]).max()
    return len(diagonal) >= _TELLING_ROWS or bool(np.ptp(diagonal) <= _ROUNDING * scale)
