"""Checks of data before they are evaluated: labels, copies, and the scores themselves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bioeval.attempts.lists import Attempts
from bioeval.attempts.points import check_targets
from bioeval.base.arguments import require_flag, require_integer
from bioeval.base.errors import Argument
from bioeval.base.kinds import larger_is_closer, noun_of
from bioeval.base.messages import Message, as_json, messages_of
from bioeval.base.progress import rows_reported
from bioeval.document.results import is_doubt
from bioeval.document.text import Text, say
from bioeval.protocol.card import Protocol
from bioeval.results.support import KindVerdict
from bioeval.scores.arrays import lattice_step
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores, are_pairs, codes_of, knows_people, require_scores
from bioeval.scores.pairs import PairScores
from bioeval.studies.check.confusions import confusions_at
from bioeval.studies.check.counts import SHOWN, DataScan, perfect_distance, scan, sign_of
from bioeval.studies.check.failure_codes import EndValue
from bioeval.studies.check.findings import (
    SEVERITIES,
    DataCheck,
    Finding,
    LabelError,
    listed,
    place_in_words,
)
from bioeval.studies.check.kernel import (
    FAILED,
    FARTHEST,
    GENUINE,
    IMPOSTOR,
    NEAREST,
    PERFECT_GENUINE,
    PERFECT_IMPOSTOR,
)
from bioeval.studies.check.label_checks import label_checks, same_labels
from bioeval.studies.check.label_errors import label_errors
from bioeval.tasks.plan import compared, resolve_card


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
    """Check data before any evaluation: labels, copies, sentinels, kind, ties, numbers of people.

    Parameters
    ----------
    scores : Scores
        A matrix of either layout, embeddings, a list of pairs, or top-K lists, of which labels and
        metadata are checked.
    protocol : str or Protocol
        The card under which they will be evaluated: what it leaves out is not checked.
    far_targets : sequence of float, optional
        FAR for which there should be people enough; those of the card by default.
    threshold : float, str or None
        At which it is looked for who is confused with whom: a number, or a rule applied to these
        data. None leaves it out. Of a matrix whose subjects are known.
    claims : Scores, optional
        :func:`claim_scores` of these scores, in which it is looked for who is confused with whom;
        all else is about the scores themselves.
    worst : int
        How many pairs of people, and how many templates with a doubtful label, are listed at most.
    read_scores : bool
        Whether the scores are looked at, in one pass over blocks of rows, or labels and metadata
        alone.

    Returns
    -------
    DataCheck
        Its ``findings``, one for each check, with ``check severity code message count
        where``: ``samples layout labels names metadata people``, and of the scores ``failed
        sentinels duplicates zero-distance symmetry kind ties label-errors``. ``be.messages`` lists
        their codes with arguments and sentences. ``misleads`` says whether any is
        an ``"error"``, so that a result would mislead; a ``"warning"`` is likely a fault, a
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
    Counts of failed, perfect and equal scores are of all comparisons. Ties and values at either end
    are looked for in about 65,000 scores of evenly spaced rows, symmetry in about 2 million, the
    kind in at most 200,000 of either class. Rows are compared by digests, and none is sorted.
    Errors of labels are looked for by the median distance of each probe to each label.

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
        require_scores(claims, Argument("claims"))
    card = resolve_card(scores, protocol)
    if scores.layout == "top-k":
        read_scores = False
    else:
        scores = compared(scores, card)
    convention = card.reid is not None or card.gom is not None
    if far_targets is None:
        far_targets = () if convention else card.report.far_targets
    labels = partial(
        label_checks, scores, check_targets(far_targets).tolist(), convention=convention
    )
    with rows_reported():
        scanned = scan(scores) if read_scores and not are_pairs(scores) else None
        findings = list(_findings(scores, labels, scanned, read_scores))
        wrong_labels = list[LabelError]()
        if scanned is not None and len(scanned.medians):
            wrong_labels, finding = label_errors(
                scores, scanned.medians, worst, one_way=_is_one_way(scanned)
            )
            findings.append(finding)
        confusions = None
        if read_scores and threshold is not None:
            confusions = confusions_at(scores, threshold, worst, claims)
    return DataCheck(
        repr(scores)[1:-1],
        card.name,
        tuple(findings),
        scores.name or "",
        (scores if claims is None else claims).fingerprint,  # of the results it belongs to
        confusions,
        tuple(wrong_labels),
    )


def with_kind_finding(tree: xr.DataTree, scores: Scores, protocol: str | Protocol) -> xr.DataTree:
    """Return results whose doubt of labels or kind is replaced by the data check's finding.

    The check knows more than the results: whether each template is nearest to itself. The scores
    are read only where results are in doubt.
    """
    doubtful = [node for node in tree.subtree if any(map(is_doubt, messages_of(node.attrs)))]
    if not doubtful:
        return tree
    card = resolve_card(scores, protocol)
    scores = compared(scores, card)
    labels = partial(label_checks, scores, ())
    scanned = None if are_pairs(scores) else scan(scores)
    for finding in _findings(scores, labels, scanned, True):
        if finding.check == "kind":
            break
    else:
        return tree
    if finding.severity == "ok":
        return tree
    for node in doubtful:
        known = messages_of(node.attrs)
        found = [finding.found if is_doubt(message) else message for message in known]
        node.attrs = {**node.attrs, "messages": as_json(found)}
    return tree


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
    labels: Callable[..., Iterator[Finding]],
    scanned: DataScan | None,
    read_scores: bool,
) -> Iterator[Finding]:
    """Yield the findings, those that need no score first; a matrix that is read is `scanned`."""
    if are_pairs(scores):
        yield from labels(symmetric=False)
        if read_scores:
            yield from pair_checks(scores)
        return
    if scanned is None:
        yield from labels(symmetric=True)
        return
    yield from labels(
        symmetric=_is_symmetric(scores, scanned),
        impostors=int(scanned.counts[IMPOSTOR]),
        self_compared=compared_with_themselves(scores, scanned),
    )
    yield from score_checks(scores, scanned)


def _is_symmetric(scores: Scores, scanned: DataScan) -> bool:
    """Whether both directions of a pair have one score; embeddings have, by their metric."""
    return mirrored(scanned) if len(scanned.lines) else scores._streams


def _is_one_way(scanned: DataScan) -> bool:
    """Whether a pair of templates of both sides has a score in one direction alone."""
    known = np.stack([~np.isnan(scanned.forth), ~np.isnan(scanned.back)]) & scanned.compared
    known[:, np.arange(len(scanned.lines)), scanned.lines] = False
    return bool((known[0] != known[1]).any())


# Least columns in a digest of a row, of which equal ones are no chance.
_LEAST_COLUMNS = 8

# A near copy is nearer than this part of the usual distance of impostors, and nearer than chance
# allows: by a power law through the least distances of the others, fewer than this number would be.
_NEAR, _CHANCE = 1e-3, 0.01

# Near copies of one label are below this part of every other genuine distance.
_APART = 0.01

# Least sampled distances of impostors for it, least genuine ones that are no near copies, and the
# most rows that are read again.
_LEAST_SAMPLED, _LEAST_GENUINE, _MOST_ROWS = 200, 30, 200

# Similarities above 1 by more than rounding have another scale: the one of a copy is not known.
_ROUNDING_OF_COPIES = 1e-6


class Copies(NamedTuple):
    """Impostor comparisons at the distance of a copy, or near it, and genuine ones near it."""

    exact: int
    near: list[tuple[int, int]]
    limit: float  # the largest distance of a near copy from that of a copy; NaN if unknown
    proven: list[tuple[int, int]]  # cells, of the first, whose templates have the same scores
    near_genuine: list[tuple[int, int]]
    genuine_limit: float


def find_copies(scores: Scores, scanned: DataScan, impostor: np.ndarray) -> Copies:
    """Look for copies under two labels; `impostor` are sampled impostor distances."""
    perfect = distance_of_copy(scores.kind, scanned.rows[:, 0])
    if math.isnan(perfect):
        return Copies(0, [], math.nan, [], [], math.nan)
    exact = int(scanned.counts[PERFECT_IMPOSTOR])
    limit = near_limit(impostor - perfect, int(scanned.counts[IMPOSTOR]))
    genuine_limit = genuine_near_limit(scanned.genuine - perfect, int(scanned.counts[GENUINE]))
    near = []
    near_genuine = []
    rows = np.empty(0, dtype=np.int64)
    if knows_people(scores):
        nearest = abs(scanned.rows[:, 0] - perfect)
        rows = np.flatnonzero(nearest <= max(limit, genuine_limit))
    for i in rows[:_MOST_ROWS].tolist():
        away = abs(scanned.reader.attempted(i, i + 1)[0] - perfect)
        mate = codes_of(scores).gallery == codes_of(scores).probe[i]
        hit = ~mate & (away <= limit) & (away > 0)
        near += [(i, j) for j in np.flatnonzero(hit).tolist()]
        hit = mate & (away <= genuine_limit) & (away > 0)
        near_genuine += [(i, j) for j in np.flatnonzero(hit).tolist()]
    proven = [
        *_with_equal_scores(scores, scanned.cells(PERFECT_IMPOSTOR), 0.0),
        *_with_equal_scores(scores, near[:SHOWN], 2 * limit),
    ]
    return Copies(exact, near, limit, proven, near_genuine, genuine_limit)


def distance_of_copy(kind: str, distances: np.ndarray) -> float:
    """Return the distance of a copy, NaN where unknown; `distances` include the smallest."""
    perfect = perfect_distance(kind)
    # No distance is below 0, but the largest similarity is a guess.
    beyond = (distances < perfect - _ROUNDING_OF_COPIES).any()
    if beyond and larger_is_closer(kind):
        return math.nan
    return perfect


def genuine_near_limit(distances: np.ndarray, comparisons: int) -> float:
    """Return the largest genuine distance of a near copy; 0 where it might be due to chance.

    Those that may be near copies, perhaps many, are not among the distances that chance makes; they
    are far below all others.
    """
    away = abs(distances)
    away = away[away > 0]
    if not len(away):
        return 0.0
    usual = away[away > _NEAR * np.median(away)]
    limit = near_limit(usual, comparisons, least=_LEAST_GENUINE)
    largest = away[away <= limit].max(initial=0.0)
    if largest > _APART * away[away > limit].min(initial=np.inf):
        return 0.0
    return limit


def near_limit(distances: np.ndarray, comparisons: int, least: int = _LEAST_SAMPLED) -> float:
    """Return the largest distance of a near copy; 0 where it might be due to chance."""
    n = len(distances)
    if n < least:
        return 0.0
    low = max(n // 500, min(n // 10, 20))
    high = min(10 * low, n - 1)
    ordered = np.partition(distances, [low, high, n // 2])
    near, far, usual = ordered[[low, high, n // 2]].tolist()
    steps = math.log(far / near) if 0 < near < far < math.inf else 0.0
    if not steps:  # the same distance many times, or failed comparisons
        return 0.0
    power = math.log(high / low) / steps
    return min(_NEAR * usual, near * (_CHANCE * n / (comparisons * low)) ** (1 / power))


class _EqualLines(NamedTuple):
    """Rows, or columns, that are equal."""

    side: str
    places: np.ndarray

    def in_words(self, scores: Scores) -> Text:
        """Return the places of the lines, with the names of their templates."""
        meta = {"row": scores.probe_meta, "column": scores.gallery_meta}[self.side]
        places = listed(place_in_words(i, meta) for i in self.places.tolist())
        return say("{side}s {places}", side=self.side, places=places)


def duplicates_finding(scores: Scores, scanned: DataScan, copies: Copies) -> Finding:
    """Return the finding of equal rows and columns: templates that occur twice."""
    varied = scanned.rows[:, 0] < scanned.rows[:, 1]
    enough = scanned.row_digests[:, 1] >= max(_LEAST_COLUMNS, (scores.shape[1] - 2) // 2)
    groups = _equal("row", scanned.row_digests[:, 0], varied & enough)
    if (scanned.failure_codes.self_columns < 0).sum() >= _LEAST_COLUMNS:
        varied = scanned.columns[0] < scanned.columns[1]
        groups += _equal("column", scanned.column_digests, varied)
    codes = {"row": codes_of(scores).probe, "column": codes_of(scores).gallery}
    mixed = [lines for lines in groups if np.ptp(codes[lines.side][lines.places])]
    near = {*copies.proven} & {*copies.near}
    if near and not mixed:
        return _near_duplicates(scores, near, copies.limit)
    if not groups:
        return Finding("duplicates", "ok", Message("no-equal-rows"))
    extra = sum(len(lines.places) - 1 for lines in groups)
    where = listed(lines.in_words(scores) for lines in mixed or groups)
    if mixed and knows_people(scores):
        side, places = mixed[0]
        labels = {"row": scores.probe_labels, "column": scores.gallery_labels}[side][places]
        whose = list(dict.fromkeys(repr(plain(label)) for label in labels))
        found = Message("templates-repeated-under-different-labels", templates=extra, labels=whose)
        return Finding("duplicates", "error", found, extra, where)
    found = Message("templates-repeated", templates=extra)
    return Finding("duplicates", "warning", found, extra, where)


def _near_duplicates(scores: Scores, cells: set[tuple[int, int]], limit: float) -> Finding:
    """Return the finding of rows that are nearly equal, under different labels."""
    pairs = set()
    for row, column in cells:
        same_probe = int(np.flatnonzero(scores.probe_ids == scores.gallery_ids[column])[0])
        pairs.add((min(row, same_probe), max(row, same_probe)))
    ordered = sorted(pairs)
    label, other_label = map(plain, scores.probe_labels[[*ordered[0]]])
    return Finding(
        "duplicates",
        "error",
        Message(
            "templates-nearly-repeated-under-different-labels",
            pairs=len(pairs),
            limit=float(2 * limit),
            labels=[repr(label), repr(other_label)],
        ),
        count=len(pairs),
        places=listed(
            say("rows {rows}", rows=listed(place_in_words(i, scores.probe_meta) for i in pair))
            for pair in ordered
        ),
    )


def _equal(side: str, digests: np.ndarray, considered: np.ndarray) -> list[_EqualLines]:
    """Return the lines of each digest that occurs several times among those considered."""
    places = np.flatnonzero(considered)
    order = places[np.argsort(digests[places], kind="stable")]
    cuts = np.flatnonzero(digests[order][1:] != digests[order][:-1]) + 1
    groups = [_EqualLines(side, group) for group in np.split(order, cuts) if len(group) > 1]
    return sorted(groups, key=lambda lines: lines.places[0])


def distance_finding(
    scores: Scores, scanned: DataScan, copies: Copies, on_lattice: bool
) -> Finding:
    """Return the finding of different labels or templates at the distance of a copy."""
    genuine = int(scanned.counts[PERFECT_GENUINE]) + len(copies.near_genuine)
    if genuine and not (copies.exact or copies.near or math.isnan(copies.limit)):
        where = listed(_named(scores, [*scanned.cells(PERFECT_GENUINE), *copies.near_genuine]))
        fault = genuine < scanned.counts[GENUINE] / 2 and not on_lattice
        return genuine_copies(scores, genuine, copies, where, " of different templates", fault)
    cells = [*scanned.cells(PERFECT_IMPOSTOR), *copies.near]
    where = listed(_named(scores, cells))
    return copy_finding(scores, copies, int(scanned.counts[IMPOSTOR]), where)


def genuine_copies(
    scores: Scores, number: int, copies: Copies, where: Text, detail: str, fault: bool
) -> Finding:
    """Return the finding about genuine comparisons at the distance of a copy, or near it."""
    about: dict[str, Any] = {"comparisons": number, "of": detail, "copy": _copy_in_words(scores)}
    found = Message("genuine-copies", **about)
    if copies.near_genuine:
        found = Message("genuine-near-copies", **about, limit=float(copies.genuine_limit))
    return Finding("zero-distance", "warning" if fault else "note", found, number, where)


def _copy_in_words(scores: Scores) -> str:
    """Return the score of a copy in words."""
    return "distance 0" if scores.kind == "distance" else "similarity 1"


def copy_finding(scores: Scores, copies: Copies, compared: int, where: Text) -> Finding:
    """Return the finding about impostor comparisons at the distance of a copy."""
    number = copies.exact + len(copies.near)
    if math.isnan(copies.limit):
        return Finding("zero-distance", "ok", Message("score-of-copy-unknown"))
    if not number:
        return Finding("zero-distance", "ok", Message("no-score-of-copy"))
    about: dict[str, Any] = {"comparisons": number, "compared": compared}
    about["copy"] = _copy_in_words(scores)
    code = "proven-impostor-copies" if copies.proven else "impostor-copies"
    if copies.near:
        code = "proven-impostor-near-copies" if copies.proven else "impostor-near-copies"
        about["limit"] = float(copies.limit)
    if copies.proven:
        about["equal"] = "equal" if copies.exact else "nearly equal"
    severity = "error" if copies.proven else "warning"
    return Finding("zero-distance", severity, Message(code, **about), number, where)


def _named(scores: Scores, cells: Sequence[tuple[int, int]]) -> list[Text]:
    """Return cells in words, with their labels and names."""
    named = list[Text]()
    for i, j in cells:
        text = say(
            "row {row}, column {column}",
            row=place_in_words(i, scores.probe_meta),
            column=place_in_words(j, scores.gallery_meta),
        )
        if knows_people(scores):
            text = say(
                "{place} ({probe:name}, {gallery:name})",
                place=text,
                probe=repr(plain(scores.probe_labels[i])),
                gallery=repr(plain(scores.gallery_labels[j])),
            )
        named.append(text)
    return named


def _with_equal_scores(
    scores: Scores, cells: Iterable[tuple[int, int]], within: float
) -> Iterator[tuple[int, int]]:
    """Yield the cells of which the templates of the row and of the column have the same scores."""
    for row, column in cells:
        places = np.flatnonzero(scores.probe_ids == scores.gallery_ids[column])
        if not len(places):
            continue
        both = scores.select(probes=[row, int(places[0])])._read_rows(0, 2).astype(np.float64)
        ids = scores.probe_ids[[row, places[0]]]
        of_row, of_column = both[:, ~np.isin(scores.gallery_ids, ids)]
        atol = max(1e-6 * np.nanmax(np.abs(both), initial=0.0), within)
        close = np.isclose(of_row, of_column, rtol=1e-5, atol=atol, equal_nan=True)
        if len(close) and close.all():
            yield row, column


def pair_checks(scores: PairScores) -> Iterator[Finding]:
    """Yield the findings of a list of pairs."""
    values = scores.values.astype(np.float64)
    sign = sign_of(scores.kind)
    failed = np.flatnonzero(np.isnan(values))
    infinite = np.flatnonzero(np.isinf(values))
    yield failures(
        scores,
        len(failed),
        _listed_pairs(failed[:SHOWN]),
        len(infinite),
        int((sign * values == -np.inf).sum()),
    )
    known = np.isfinite(values)
    finite, impostor = values[known], ~scores.genuine[known]
    ends = EndValue.among(finite, impostor, scores.kind, copies=True)
    hits = [np.flatnonzero(values == end.value) for end in ends]
    places = np.concatenate([np.empty(0, int), *hits])
    yield end_finding(
        zip(ends, map(len, hits), strict=True),
        {"pairs": len(values)},
        _listed_pairs(places),
    ) or Finding("sentinels", "ok", Message("no-shared-end-value"))
    if scores.kind == "order":
        return
    distances = sign * values
    copy = distance_of_copy(scores.kind, distances[known])
    limit = near_limit(distances[known][impostor] - copy, int(impostor.sum()))
    is_near = (distances != copy) & (abs(distances - copy) <= limit)
    exact = np.flatnonzero(~scores.genuine & (distances == copy))
    near = np.flatnonzero(~scores.genuine & is_near)
    if math.isnan(copy):
        limit = math.nan
    genuine_limit = genuine_near_limit(
        distances[known & scores.genuine] - copy, int(scores.genuine.sum())
    )
    away = abs(distances - copy)
    copied = np.flatnonzero(scores.genuine & (away <= genuine_limit))
    copies = Copies(
        exact=len(exact),
        near=[(i, 0) for i in near.tolist()],
        limit=limit,
        proven=[],
        near_genuine=[(i, 0) for i in copied.tolist() if away[i]],
        genuine_limit=genuine_limit,
    )
    where = _listed_pairs([*exact, *near])
    if len(copied) and not len(exact) and not len(near):
        names = scores._templates
        differ = names is not None and (names.a[copied] != names.b[copied]).all()
        fault = len(copied) < scores.genuine.sum() / 2
        detail = " of different templates" if differ else ""
        yield genuine_copies(scores, len(copied), copies, _listed_pairs(copied), detail, fault)
    else:
        yield copy_finding(scores, copies, int((~scores.genuine).sum()), where)
    known = ~np.isnan(values)
    classes = distances[known & scores.genuine], distances[known & ~scores.genuine]
    yield kind_finding(scores, *classes, 0, all_read=bool(known.all()))
    yield ties_finding(finite)
    yield Finding("label-errors", "ok", Message("labels-of-pairs-not-compared"))


def _listed_pairs(places: Iterable[int]) -> Text:
    return listed(say("pair {place:name}", place=int(i)) for i in places)


def _listed_cells(cells: Iterable[Iterable[int]]) -> Text:
    return listed(
        say("row {row:name}, column {column:name}", row=int(i), column=int(j)) for i, j in cells
    )


# The most scores of a class by which the kind is judged.
_MOST_JUDGED = 200_000

# Ties are noted beyond this proportion of the scores; so few distinct scores are coarse.
_TIED, _COARSE = 0.05, 100

#: As many distinct scores in equal steps are the nature of whole numbers and of codes.
LEAST_LATTICE = 16


def kind_finding(
    scores: Scores, genuine: np.ndarray, impostor: np.ndarray, diagonal: int, *, all_read: bool
) -> Finding:
    """Return the finding about the kind of the scores, of all of them or of a sample."""
    if not len(genuine) or not len(impostor):
        found = Message("kind-not-checked", scores=noun_of(scores.kind, plural=True))
        return Finding("kind", "ok", found)
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
        eer,
        scores.kind,
        people,
        diagonal=diagonal,
        metric=scores._metric,
        sample=bool(in_sample),
    )
    count = len(genuine) + len(impostor) if eer > 0.5 else 0
    return Finding("kind", verdict.severity, verdict.message, count, places=in_sample)


def ties_finding(sample: np.ndarray) -> Finding:
    """Return the finding about scores that several comparisons share."""
    values, counts = np.unique(sample, return_counts=True)
    if len(values) < 2:
        return Finding("ties", "ok", Message("too-few-scores-for-ties"))
    tied = float(counts[counts > 1].sum() / counts.sum())
    ties = Message("few-ties", tied=tied, scores=len(sample))
    if tied <= _TIED:
        return Finding("ties", "ok", ties)
    top = int(np.argmax(counts))
    where = say(
        "{value:score} is {share:rate} of them",
        value=float(values[top]),
        share=float(counts[top] / counts.sum()),
    )
    severity, about = "note", {"ties": ties, "values": len(values)}
    found = Message("many-ties", **about)
    if step := lattice_step(values, LEAST_LATTICE):
        found = Message("ties-in-equal-steps", **about, step=float(step))
    elif values[0] >= 0 and lattice_step(values, LEAST_LATTICE, 2):
        found = Message("ties-in-square-roots", **about)
    elif len(values) < min(_COARSE, len(sample) // 4):
        severity, found = "warning", Message("scores-quantised", **about)
    return Finding("ties", severity, found, int(counts[counts > 1].sum()), where)


# Differences of the two directions within this part of the largest score are rounding.
_ROUNDING = 1e-5

# Templates are compared with themselves where at least this proportion is nearest to itself, in at
# least this number of rows.
_SELF_NEAREST, _TELLING_ROWS = 0.95, 12

# Up to this proportion of comparisons that differ from the other direction are an exception.
_DAMAGED = 0.05


def score_checks(scores: Scores, scanned: DataScan) -> Iterator[Finding]:
    """Yield the findings of a pass over a matrix."""
    valued = scores.kind != "order"
    impostor, sample = _samples(scores, scanned)
    copies = find_copies(scores, scanned, impostor)
    yield _failed(scores, scanned)
    if not scores._streams:
        scattered = impostor if copies.exact and not copies.proven else None
        yield _sentinels(scores, scanned, scattered)
    yield duplicates_finding(scores, scanned, copies)
    ties = ties_finding(sample)
    if valued:
        yield distance_finding(
            scores, scanned, copies, on_lattice=lattice_step(np.unique(sample), LEAST_LATTICE) > 0
        )
    if len(scanned.lines):
        yield _symmetry(scores, scanned)
    if valued:
        diagonal = _diagonal(scores, scanned)
        yield kind_finding(scores, scanned.genuine, impostor, diagonal, all_read=False)
        yield ties


def _failed(scores: Scores, scanned: DataScan) -> Finding:
    """Return the finding about failed comparisons, and templates without any other."""
    number, nearest = int(scanned.counts[FAILED]), int(scanned.counts[NEAREST])
    lost = (scanned.rows[:, 0] > scanned.rows[:, 1]) & (scanned.rows[:, 2] > 1)
    places = list[Text]()
    for i in np.flatnonzero(lost)[:SHOWN].tolist():
        places.append(say("all of row {row}", row=place_in_words(i, scores.probe_meta)))
    places.append(_listed_cells(scanned.cells(FAILED)))
    infinite = int(scanned.counts[FARTHEST]) + nearest
    return failures(scores, number, listed(places), infinite, nearest)


def failures(scores: Scores, failed: int, where: Text, infinite: int, nearest: int) -> Finding:
    """Return the finding about numbers of failed and infinite comparisons."""
    if failed:
        code = {"reject": "failures-rejected", "exclude": "failures-left-out"}.get(
            scores.nan, "comparisons-failed"
        )
        severity = "error" if scores.nan == "raise" else "note"
        return Finding("failed", severity, Message(code, comparisons=failed), failed, where)
    if nearest:
        found = Message("comparisons-infinitely-near", comparisons=nearest)
        return Finding("failed", "warning", found, nearest)
    if infinite:
        found = Message("comparisons-infinitely-far", comparisons=infinite)
        return Finding("failed", "note", found, infinite)
    return Finding("failed", "ok", Message("scores-finite"))


def _sentinels(scores: Scores, scanned: DataScan, scattered: np.ndarray | None) -> Finding:
    """Return the finding about rows, columns and values that stand for failed comparisons.

    `scattered` are sampled impostor distances, where some are at the distance of a copy and none is
    known to be of one.
    """
    codes = scanned.failure_codes
    seen = codes.found()
    lines = [f"row {i}" for i in seen.rows] + [f"column {j}" for j in seen.columns]
    if lines:
        values = np.unique(np.concatenate([seen.row_values, seen.column_values]))
        found = Message("constant-lines", lines=len(lines), values=values[:SHOWN].tolist())
        return Finding("sentinels", "error", found, len(lines), listed(lines))
    ends, hits = list(seen.ends), list(seen.hits)
    if scattered is not None:
        sampled = sign_of(scores.kind) * scattered
        impostor = np.ones(len(scattered), dtype=bool)
        for end in EndValue.among(sampled, impostor, scores.kind, copies=True):
            if end.accepted and end not in ends:
                places = np.argwhere(codes.sample == end.value)
                ends.append(end)
                hits.append(np.column_stack([codes.sampled[places[:, 0]], places[:, 1]]))
    return end_finding(
        zip(ends, map(len, hits), strict=True),
        {"sampled comparisons": int(seen.compared)},
        _listed_cells(chain.from_iterable(hits)),
    ) or Finding("sentinels", "ok", Message("no-failure-code"))


def end_finding(
    ends: Iterable[tuple[Any, int]], compared: Mapping[str, int], where: Text
) -> Finding | None:
    """Return the finding of values at the ends of the range, with their numbers; else None.

    `compared` is the number of comparisons by what they are called.
    """
    messages, severities, total = [], [], 0
    for end, number in ends:
        messages.append(
            Message(
                "shared-end-value",
                comparisons=int(number),
                compared=dict(compared),
                value=float(end.value),
                how=end.how,
            )
        )
        severities.append(end.severity)
        total += number
    if not messages:
        return None
    severity = max(severities, key=SEVERITIES.index)
    code = "values-cut-off" if severity == "note" else "values-of-failures"
    return Finding("sentinels", severity, Message(code, ends=messages), total, where)


def mirrored(scanned: DataScan) -> bool:
    """Whether most pairs are attempts both ways, with one score but for rounding."""
    gap, scale = _gaps(scanned)
    both_ways = 2 * scanned.compared.all(axis=0).sum() > scanned.compared[0].sum()
    return bool(both_ways) and bool(gap.max(initial=0.0) <= _ROUNDING * scale)


def _gaps(scanned: DataScan) -> tuple[np.ndarray, float]:
    """Return the differences between both directions, and the largest finite distance."""
    forth, back, lines = scanned.forth, scanned.back, scanned.lines
    with np.errstate(invalid="ignore"):
        gap = np.where(forth == back, 0.0, np.abs(forth - back))
    gap[np.isnan(forth) & np.isnan(back)] = 0.0
    gap[np.isnan(gap)] = np.inf
    gap[np.arange(len(lines)), lines] = 0.0
    gap[~scanned.compared.all(axis=0)] = 0.0
    finite = forth[np.isfinite(forth)]
    return gap, float(np.abs(finite).max(initial=0.0))


def _symmetry(scores: Scores, scanned: DataScan) -> Finding:
    """Return the finding about whether both directions of a pair have one score."""
    gap, scale = _gaps(scanned)
    both_ways = np.array(scanned.compared.all(axis=0))
    both_ways[np.arange(len(gap)), scanned.lines] = False
    number, of = int((gap > 0).sum()), int(both_ways.sum())
    if not of:
        return Finding("symmetry", "ok", Message("one-direction"))
    if not number:
        return Finding("symmetry", "ok", Message("directions-agree"))
    k, j = np.unravel_index(int(np.argmax(gap)), gap.shape)
    sign = sign_of(scores.kind)
    where = say(
        "row {row:name}, column {column:name}: {forth:score}, the other way round {back:score}",
        row=int(scanned.lines[k]),
        column=int(j),
        forth=float(0.0 + sign * scanned.forth[k, j]),
        back=float(0.0 + sign * scanned.back[k, j]),
    )
    severity, found = "note", Message("directions-differ", comparisons=number, compared=of)
    if gap.max() <= _ROUNDING * scale:
        found = Message("directions-differ-by-rounding", differences=found)
    elif number <= _DAMAGED * of:
        severity, found = "warning", Message("directions-differ-in-few", differences=found)
    return Finding("symmetry", severity, found, number, where)


def _samples(scores: Scores, scanned: DataScan) -> tuple[np.ndarray, np.ndarray]:
    """Return sampled impostor distances and sampled scores, each pair of templates once."""
    sampled = scanned.failure_codes.sampled
    sample = scanned.failure_codes.sample.copy()
    if scanned.same:  # each pair of templates in one direction
        for k, row in enumerate(sampled):
            sample[k, sampled[sampled < row]] = np.nan
    foreign = codes_of(scores).probe[sampled][:, None] != codes_of(scores).gallery[None]
    if not knows_people(scores):
        foreign = np.isfinite(sample)
    impostor = sign_of(scores.kind) * sample[foreign & np.isfinite(sample)]
    return impostor, sample[np.isfinite(sample)]


def _diagonal(scores: Scores, scanned: DataScan) -> int:
    """Return 1 where a template is nearest to itself, -1 where it is farthest, 0 if unknown."""
    diagonal = scanned.diagonal
    if not scanned.same or scores._streams or np.isfinite(diagonal).sum() < 2:
        return 0
    known = np.isfinite(diagonal)
    near = (diagonal[known] <= scanned.rows[known, 0]).mean()
    far = (diagonal[known] >= scanned.rows[known, 1]).mean()
    return int(near > 0.9) - int(far > 0.9)


def compared_with_themselves(scores: Scores, scanned: DataScan) -> bool:
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
    several = np.bincount(codes_of(scores).gallery)[codes_of(scores).gallery] > 1
    usable = several & np.isfinite(scanned.diagonal)
    diagonal, nearest = scanned.diagonal[usable], scanned.rows[usable, 0]
    if len(diagonal) < 2 or (diagonal <= nearest).mean() <= _SELF_NEAREST:
        return False
    scale = abs(scanned.rows[usable, :2]).max()
    return len(diagonal) >= _TELLING_ROWS or bool(np.ptp(diagonal) <= _ROUNDING * scale)
