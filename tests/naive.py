"""Naive implementations of every task, written from the definitions alone.

Nothing here is clever and nothing here imports ``bioeval``: plain loops over Python numbers,
integers and fractions for counts. The tests hold the library to these functions.

Every function on data takes the same arguments:

``values``
    Scores, row = probe template, column = gallery template; a 2-D array or nested sequences.
    Each number is read exactly (Python ``int`` or ``float``), so nothing wraps or is rounded.
``probe_labels``, ``gallery_labels``
    Identities. Without gallery labels a square matrix is all-against-all: the same templates on
    both sides, and a template is never compared with itself.
``kind``
    ``"distance"``, ``"similarity"`` or ``"order"`` (a distance that means nothing across rows).
``nan``
    ``"raise"``, ``"reject"`` or ``"exclude"``.
``mask``
    For each cell 0 ignore, 1 impostor, 2 genuine, in place of the labels.
    A label that is missing, or one of :data:`NO_PERSON`, is of no person: each such template is
    somebody else for all people, and two of them are not compared.
``probe_ids``, ``gallery_ids``
    Identities of the templates, for a part of a square matrix: cells with equal ids are a
    template against itself, and are not compared. With gallery labels the layout is
    probe-against-gallery, ids or not.

Inside, everything is a distance (a similarity is negated, which is exact for Python numbers);
what goes in and comes out is in the user's units. Counts are integers, or fractions under
expected ties; rates are fractions, or ``nan`` when their class had no attempt.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

INF = math.inf
NAN = math.nan


class Failed(float):
    """A comparison that failed: an attempt after every score, which no threshold accepts."""

    def __lt__(self, other: Any) -> bool:
        return False

    def __gt__(self, other: Any) -> bool:
        return other is not self

    def __le__(self, other: Any) -> bool:
        return other is self

    def __ge__(self, other: Any) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return other is self

    def __hash__(self) -> int:
        return id(self)

    def __mul__(self, other: Any) -> Failed:  # it has no units
        return self

    __rmul__ = __mul__


FAILED = Failed(INF)

#: Labels of no person, in lower case and without blanks around them.
NO_PERSON = (
    *("-1", "nan", "null", "nil", "none", "na", "n/a", "#n/a", "#na", "<na>", "nat", "?", "-", "."),
    *("unknown", "missing", "unbekannt", "#ref!", "#value!", "#name?"),
    *("unidentified", "new_individual"),
)


@dataclass(frozen=True)
class Nobody:
    """The subject of a template of no person: nobody else has it."""

    side: str
    template: Any


def is_nobody(label: Any) -> bool:
    """Whether a label names no person."""
    if label is None or label != label:
        return True
    if isinstance(label, str):
        text = label.strip()
        are_people = ("Na", "Nan", "Nat", "Nil")
        return text == "" or (text.lower() in NO_PERSON and text not in are_people)
    return isinstance(label, int | float) and label == -1


def subjects_of(labels: Any, side: str, ids: Any) -> list[Any] | None:
    """Return the subject of each template of a side."""
    if labels is None:
        return None
    return [
        Nobody("" if ids is not None else side, i if ids is None else ids[i])
        if is_nobody(label)
        else label
        for i, label in enumerate(labels)
    ]


# --- Reading -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """One comparison that happened: its column, score and class."""

    column: int
    distance: Any
    mate: bool
    subject: Any


@dataclass
class Data:
    """The comparisons of every probe, after exclusions and the policy for failed ones."""

    rows: list[list[Cell]]
    enrolled: list[bool]  # is the probe's subject in the gallery of its trial? (PG)
    all_against_all: bool
    probe_labels: list[Any] | None
    gallery_subjects: list[Any] | None  # each once, in gallery order
    n_columns: int
    sign: int  # user's score = sign * distance
    kind: str = field(default="distance")
    undefined: Any = INF  # a fused score of infinities of both signs

    def user(self, distance: Any) -> Any:
        """Turn a distance back into the user's units."""
        return None if distance is None else self.sign * distance


def number(x: Any) -> Any:
    """Read one score exactly, as a Python int or float; a failure stays a failure."""
    if x is FAILED:
        return x
    if hasattr(x, "item"):
        x = x.item()
    return int(x) if isinstance(x, int) else float(x)


def as_list(x: Any) -> list[Any] | None:
    """Plain Python objects, from an array or any sequence."""
    if x is None:
        return None
    return [v.item() if hasattr(v, "item") else v for v in x]


def sign_of(kind: str) -> int:
    """Return +1 where smaller is closer, -1 where larger is."""
    return {"distance": 1, "order": 1, "similarity": -1}[kind]


def read(
    values: Any,
    probe_labels: Any = None,
    gallery_labels: Any = None,
    *,
    kind: str = "distance",
    nan: str = "raise",
    mask: Any = None,
    probe_ids: Any = None,
    gallery_ids: Any = None,
    names: bool = False,
) -> Data:
    """Turn the arguments that all functions share into the comparisons that happened.

    With `names` all labels are names, those of no person too.
    """
    sign = sign_of(kind)
    scores = [[number(x) for x in row] for row in values]
    probes, gallery = as_list(probe_labels), as_list(gallery_labels)
    if not names:
        probes = subjects_of(probes, "probe", probe_ids)
        gallery = subjects_of(gallery, "gallery", gallery_ids)
    m = len(scores)
    n = len(scores[0]) if m else len(gallery or [])

    # No labels at all beside a mask: all-against-all where the mask ignores the whole diagonal.
    all_against_all = gallery is None and m == n
    if all_against_all and probes is None and mask is not None:
        all_against_all = all(mask[i][i] == 0 for i in range(m))
    if all_against_all:
        gallery = probes
        probe_ids = list(range(m)) if probe_ids is None else probe_ids
        gallery_ids = probe_ids if gallery_ids is None else gallery_ids

    rows, enrolled = [], []
    for i in range(m):
        row, is_enrolled = [], False
        for j in range(n):
            if probe_ids is not None and gallery_ids is not None and probe_ids[i] == gallery_ids[j]:
                continue  # by identity, never by value; its score is not read
            sides = [side[place] for side, place in ((probes, i), (gallery, j)) if side is not None]
            if len(sides) == 2 and all(isinstance(x, Nobody) for x in sides):
                continue
            if mask is not None:
                if mask[i][j] == 0:
                    continue  # an ignored cell is not a comparison: a NaN there is no failure
                mate = bool(mask[i][j] == 2)
            else:
                assert probes is not None and gallery is not None
                mate = bool(probes[i] == gallery[j])
            # PG by the label, whatever NaN does to it; without labels by a genuine cell.
            is_enrolled = is_enrolled or mate
            score = scores[i][j]
            if score != score:
                if nan == "raise":
                    raise ValueError(f"NaN at ({i}, {j})")
                if nan == "exclude":
                    continue
                distance = FAILED
            else:
                distance = sign * score
            row.append(Cell(j, distance, mate, None if gallery is None else gallery[j]))
        rows.append(row)
        if probes is not None:
            is_enrolled = not isinstance(probes[i], Nobody) and probes[i] in (gallery or ())
        enrolled.append(is_enrolled)
    return Data(
        rows=rows,
        enrolled=enrolled,
        all_against_all=all_against_all,
        probe_labels=probes,
        gallery_subjects=None if gallery is None else list(dict.fromkeys(gallery)),
        n_columns=n,
        sign=sign,
        kind=kind,
        undefined=FAILED if nan == "reject" else INF,
    )


def rate(count: Any, attempts: int) -> Any:
    """Count over the attempts of its own class, ``nan`` when there were none."""
    return Fraction(count) / attempts if attempts else NAN


# --- Fusion --------------------------------------------------------------------------------------


def fuse(distances: Sequence[Any], fusion: str = "best", undefined: Any = INF) -> Any:
    """Fuse the distances of a group; None when there is no fused value.

    What failed is left out, unless nothing else is left; for the k-th smallest it is last.
    """
    if not distances:
        return None
    if fusion.startswith("kth:"):
        k = int(fusion.removeprefix("kth:"))
        return sorted(distances)[k - 1] if len(distances) >= k else None
    distances = [d for d in distances if d is not FAILED]
    if not distances:
        return FAILED
    if fusion == "best":
        return min(distances)
    if fusion == "worst":
        return max(distances)
    if fusion == "mean":
        # The exact sum, rounded once, over the number.
        if INF in map(abs, distances):
            mean = sum(map(float, distances))
        else:
            total = sum(Fraction(float(d)) for d in distances)
            # Of sums beyond the range of floats the exponent alone is another.
            scale = 1 if abs(total) < Fraction(2) ** 1000 else 2**64
            mean = float(total / scale) / len(distances) * scale
        return undefined if mean != mean else mean
    assert fusion == "median"
    ordered = sorted(distances)
    half = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[half]
    # The middle two are averaged in float64; opposite infinities as for the mean.
    middle = (float(ordered[half - 1]) + float(ordered[half])) / 2
    return undefined if middle != middle else middle


@dataclass(frozen=True)
class Candidate:
    """Something that can be ranked: a template, or a subject by its fused distance."""

    distance: Any
    column: int  # of a subject: the column of its first best template
    mate: bool
    subject: Any


def groups(row: Iterable[Cell]) -> dict[tuple[bool, Any], list[Cell]]:
    """Cells by subject, in gallery order; a mask may split a subject into two groups."""
    cells_by_subject: dict[tuple[bool, Any], list[Cell]] = {}
    for cell in row:
        cells_by_subject.setdefault((cell.mate, cell.subject), []).append(cell)
    return cells_by_subject


def candidates(data: Data, i: int, unit: str, fusion: str) -> list[Candidate]:
    """Return the entries of the gallery of probe ``i``, one for each template or subject."""
    if unit == "template":
        return [Candidate(c.distance, c.column, c.mate, c.subject) for c in data.rows[i]]
    assert unit == "subject"
    listed = []
    for (mate, subject), cells in groups(data.rows[i]).items():
        fused = fuse([c.distance for c in cells], fusion, data.undefined)
        if fused is None:
            continue  # too small for its k-th smallest: not in the list
        best = min(c.distance for c in cells)
        column = min(c.column for c in cells if c.distance == best)
        listed.append(Candidate(fused, column, mate, subject))
    return listed


# --- Verification --------------------------------------------------------------------------------


def claim_list(claims: Any, m: int) -> list[tuple[int, Any]]:
    """Return ``(probe, claimed subject)`` pairs, from a subject for each probe or two lists."""
    if isinstance(claims, tuple) and len(claims) == 2:
        indices, subjects = as_list(claims[0]) or [], as_list(claims[1]) or []
    else:
        indices, subjects = list(range(m)), as_list(claims) or []
    return list(zip(indices, subjects, strict=True))


def resolve_claims(data: Data, claims: Any, unenrolled_claims: str) -> tuple[list, int]:
    """Claims of enrolled subjects, and the number of claims that were left out."""
    assert data.gallery_subjects is not None
    if claims is None:  # each probe claims every enrolled subject once
        return [(i, s) for i in range(len(data.rows)) for s in data.gallery_subjects], 0
    genuine_claims, skipped = [], 0
    for i, subject in claim_list(claims, len(data.rows)):
        if subject in data.gallery_subjects:
            genuine_claims.append((i, subject))
        elif unenrolled_claims == "skip":
            skipped += 1
        else:
            raise ValueError(f"{subject!r} is not enrolled")
    return genuine_claims, skipped


def skipped_claims(*given: Any, claims: Any, **options: Any) -> int:
    """Return the number of claims of subjects who are not enrolled."""
    return resolve_claims(read(*given, **options), claims, "skip")[1]


def attempts_single(
    *given: Any, claims: Any = None, unenrolled_claims: str = "raise", **options: Any
) -> tuple[list[Any], list[Any]]:
    """Genuine and impostor scores, one attempt a comparison, probe by probe in gallery order."""
    data = read(*given, **options)
    genuine: list[Any] = []
    impostor: list[Any] = []
    if claims is None:
        attempts = [cell for row in data.rows for cell in row]
    else:  # one attempt for each template of the claimed subject
        resolved, _ = resolve_claims(data, claims, unenrolled_claims)
        attempts = [c for i, subject in resolved for c in data.rows[i] if c.subject == subject]
    for cell in attempts:
        (genuine if cell.mate else impostor).append(data.user(cell.distance))
    return genuine, impostor


def attempts_multi(
    *given: Any,
    fusion: str = "best",
    claims: Any = None,
    unenrolled_claims: str = "raise",
    **options: Any,
) -> tuple[list[Any], list[Any]]:
    """Genuine and impostor scores, one attempt a claim, its group fused."""
    data = read(*given, **options)
    genuine: list[Any] = []
    impostor: list[Any] = []
    for i, subject in resolve_claims(data, claims, unenrolled_claims)[0]:
        claimed = [cell for cell in data.rows[i] if cell.subject == subject]
        for (mate, _), cells in groups(claimed).items():
            fused = fuse([c.distance for c in cells], fusion, data.undefined)
            if fused is not None:
                (genuine if mate else impostor).append(data.user(fused))
    return genuine, impostor


def attempts_of_transactions(
    values: Any,
    probe_labels: Any,
    gallery_labels: Any = None,
    *,
    column: Sequence[Any],
    templates: str = "single",
    fusion: str = "best",
    mask: Any = None,
    **options: Any,
) -> tuple[list[Any], list[Any], tuple[int, int]]:
    """All probes of a subject with the same value in `column` are one attempt: the nearest.

    An attempt of which a try was compared with others, and not with the claimed one, lacks it: it
    is no attempt, and counted apart, genuine and impostor ones.
    """
    probes, m, n = as_list(probe_labels), len(values), len(values[0])
    gallery = as_list(gallery_labels) or probes
    assert probes is not None and gallery is not None
    if mask is None:
        mask = [[2 if probes[i] == gallery[j] else 1 for j in range(n)] for i in range(m)]
    tries = [(who, value) for who, value in zip(probes, column, strict=True)]
    if gallery_labels is None:  # a transaction is not compared with its own templates
        mask = [[0 if tries[i] == tries[j] else mask[i][j] for j in range(n)] for i in range(m)]
    data = read(values, probe_labels, gallery_labels, mask=mask, **options)
    genuine: list[Any] = []
    impostor: list[Any] = []
    incomplete = [0, 0]
    for transaction in dict.fromkeys(tries):
        nearest: dict[Any, Candidate] = {}  # by gallery template, or by claimed subject
        for i in [i for i in range(m) if tries[i] == transaction]:
            unit = "template" if templates == "single" else "subject"
            for candidate in candidates(data, i, unit, fusion):
                claim = candidate.column if templates == "single" else candidate.subject
                if claim not in nearest or candidate.distance < nearest[claim].distance:
                    nearest[claim] = candidate
        for claim, nearest_cell in nearest.items():
            claimed = range(n) if templates == "multi" else [claim]
            claimed = [j for j in claimed if templates == "single" or gallery[j] == claim]
            if gallery_labels is None:
                claimed = [j for j in claimed if tries[j] != transaction]
            compared = [
                {cell.column for cell in data.rows[i]} for i in range(m) if tries[i] == transaction
            ]
            if any(columns and columns.isdisjoint(claimed) for columns in compared):
                incomplete[not nearest_cell.mate] += 1
                continue
            (genuine if nearest_cell.mate else impostor).append(data.user(nearest_cell.distance))
    return genuine, impostor, (incomplete[0], incomplete[1])


def accepted(score: Any, threshold: Any, kind: str) -> bool:
    """Accept iff ``d <= t``, or ``s >= t``; Python compares ints and floats exactly."""
    if score is FAILED:
        return False
    return score >= threshold if kind == "similarity" else score <= threshold


def verification_counts(
    genuine: Sequence[Any], impostor: Sequence[Any], thresholds: Sequence[Any], kind: str
) -> tuple[list[int], list[int], list[int], list[int]]:
    """Counts ``ga, fr, fa, gr`` at each threshold."""
    ga, fr, fa, gr = [], [], [], []
    genuine, impostor = [number(s) for s in genuine], [number(s) for s in impostor]
    for threshold in [number(threshold) for threshold in thresholds]:
        ga.append(sum(accepted(s, threshold, kind) for s in genuine))
        fr.append(len(genuine) - ga[-1])
        fa.append(sum(accepted(s, threshold, kind) for s in impostor))
        gr.append(len(impostor) - fa[-1])
    return ga, fr, fa, gr


# --- Identification ------------------------------------------------------------------------------


@dataclass
class Ranked:
    """What one probe contributes to identification, in distances.

    ``rank`` is None without a usable mate, an int, or under expected ties the probability of
    each rank. ``best_mate`` and ``nearest_other`` are fused scores with subject ranks;
    ``nearest_template`` and ``nearest_mate_template`` are single scores always.
    """

    best_mate: Any
    rank: int | dict[int, Fraction] | None
    tied: bool
    nearest_other: Any
    enrolled: bool
    nearest_template: Any
    nearest_mate_template: Any


def place(found: Sequence[Candidate], ties: str) -> tuple[Any, Any, bool]:
    """Distance of the best mate, its rank (or distribution), and whether a non-mate ties it."""
    mates = [c for c in found if c.mate]
    if not mates:
        return None, None, False
    best_distance = min(c.distance for c in mates)
    best = [c for c in mates if c.distance == best_distance]
    closer = sum(1 for c in found if not c.mate and c.distance < best_distance)
    tied = [c for c in found if not c.mate and c.distance == best_distance]
    if ties == "pessimistic":
        rank: Any = 1 + closer + len(tied)
    elif ties == "optimistic":
        rank = 1 + closer
    elif ties == "stable":
        first = min(c.column for c in best)
        rank = 1 + closer + sum(1 for c in tied if c.column < first)
    else:
        assert ties == "expected"
        places, m = len(tied) + len(best), len(best)
        rank = {
            closer + r: Fraction(math.comb(places - r, m - 1), math.comb(places, m))
            for r in range(1, places - m + 2)
        }
    return best_distance, rank, bool(tied)


def ranked(data: Data, unit: str, fusion: str, ties: str) -> list[Ranked]:
    """``ranks`` in distances."""
    out = []
    for i, row in enumerate(data.rows):
        listed = candidates(data, i, unit, fusion)
        best_distance, rank, tied = place(listed, ties)
        other_distances = [c.distance for c in listed if not c.mate]
        out.append(
            Ranked(
                best_mate=best_distance,
                rank=rank,
                tied=tied,
                nearest_other=min(other_distances) if other_distances else None,
                enrolled=data.enrolled[i],
                nearest_template=min((c.distance for c in row), default=None),
                nearest_mate_template=min((c.distance for c in row if c.mate), default=None),
            )
        )
    return out


def ranks(
    *given: Any,
    unit: str = "template",
    fusion: str = "best",
    ties: str = "pessimistic",
    **options: Any,
) -> list[Ranked]:
    """Rank of the best mate of every probe, with its score and the nearest other one."""
    data = read(*given, **options)
    out = ranked(data, unit, fusion, ties)
    for result in out:
        result.best_mate = data.user(result.best_mate)
        result.nearest_other = data.user(result.nearest_other)
    return out


def probability(rank: int | dict[int, Fraction] | None, k: int) -> Any:
    """Probability that the rank is exactly ``k`` (0 or 1 unless ties are expected)."""
    if rank is None:
        return 0
    return rank.get(k, Fraction(0)) if isinstance(rank, dict) else int(rank == k)


def probability_up_to(rank: int | dict[int, Fraction] | None, k: int) -> Any:
    """Probability that the rank is at most ``k``."""
    return sum(probability(rank, r) for r in range(1, k + 1))


def attainable(data: Data, unit: str) -> int:
    """Length of the longest list: all templates (all but itself when square), or all subjects."""
    if unit == "subject":
        return max(1, len(data.gallery_subjects or []))
    return max(1, data.n_columns - data.all_against_all)


def roles(
    data: Data, unit: str, fusion: str, ties: str, impostors: str
) -> tuple[list[Ranked], list[Any], list[Ranked]]:
    """Genuine attempts, the ``e_i`` of the impostor attempts, and all probes."""
    probes = ranked(data, unit, fusion, ties)
    genuine = [r for r in probes if r.rank is not None]
    if data.all_against_all:
        playing = probes  # always leave-subject-out: single-template subjects play as well
    else:
        if impostors == "auto":
            has_unenrolled = any(not r.enrolled for r in probes)
            impostors = "unenrolled" if has_unenrolled else "leave-subject-out"
        playing = [
            r
            for r in probes
            if impostors == "both" or r.enrolled == (impostors == "leave-subject-out")
        ]
    # With subject ranks an entry of another label means one with a fused value: where every
    # other group is too small for its k-th smallest, there was no attempt.
    nearest = [r.nearest_other for r in playing if r.nearest_other is not None]
    return genuine, nearest, probes


def open_set(
    *given: Any,
    thresholds: Sequence[Any],
    max_rank: int | None = None,
    unit: str = "template",
    fusion: str = "best",
    ties: str = "pessimistic",
    impostors: str = "auto",
    **options: Any,
) -> SimpleNamespace:
    """Open-set identification: counts and rates over ``[threshold]`` or ``[threshold][rank - 1]``.

    TTR and FTR speak of the nearest template, so they look at templates with subject ranks too;
    a probe with no usable template stays in the denominator and is never within.
    """
    data = read(*given, **options)
    genuine, nearest, probes = roles(data, unit, fusion, ties, impostors)
    tg, ti = len(genuine), len(nearest)
    k_max = attainable(data, unit) if max_rank is None else max_rank
    of_thresholds = ("di", "dir", "frr", "fa", "gr", "far", "grr", "ttr", "ttr_identity", "ftr")
    out = SimpleNamespace(
        genuine_attempts=tg,
        impostor_attempts=ti,
        tied=sum(r.tied for r in genuine),
        **{name: [] for name in of_thresholds},
    )
    targets = [r for r in probes if r.enrolled]
    nontargets = [r for r in probes if not r.enrolled]

    for threshold in [data.sign * number(threshold) for threshold in thresholds]:
        accepted = [r for r in genuine if r.best_mate <= threshold]
        di = [sum(probability(r.rank, k) for r in accepted) for k in range(1, k_max + 1)]
        out.di.append(di)
        out.dir.append([rate(sum(di[:k]), tg) for k in range(1, k_max + 1)])
        out.frr.append(1 - out.dir[-1][0])
        fa = sum(e <= threshold for e in nearest)
        out.fa.append(fa)
        out.gr.append(ti - fa)
        out.far.append(rate(fa, ti))
        out.grr.append(rate(ti - fa, ti))

        def share(distances: list[Any], limit: Any = threshold) -> Any:
            within = sum(x is not None and x <= limit for x in distances)
            return rate(within, len(distances))

        out.ttr.append(share([r.nearest_template for r in targets]))
        out.ttr_identity.append(share([r.nearest_mate_template for r in targets]))
        out.ftr.append(share([r.nearest_template for r in nontargets]))
    return out


def closed_set(
    *given: Any,
    max_rank: int | None = None,
    unit: str = "template",
    fusion: str = "best",
    ties: str = "pessimistic",
    unmated: str = "auto",
    **options: Any,
) -> SimpleNamespace:
    """Closed-set identification: ``cms_count[k - 1]`` and ``cms[k - 1]``, and probes left out."""
    data = read(*given, **options)
    if unmated == "auto":
        unmated = "skip" if data.all_against_all else "raise"
    probes = ranked(data, unit, fusion, ties)
    mated = [r for r in probes if r.rank is not None]
    skipped = len(probes) - len(mated)
    people = [not isinstance(who, Nobody) for who in data.probe_labels or probes]
    if unmated == "raise" and any(
        is_person and r.rank is None for is_person, r in zip(people, probes, strict=True)
    ):
        raise ValueError(f"{skipped} probes without a mate")
    k_max = attainable(data, unit) if max_rank is None else max_rank
    compared = [r for r in mated if r.best_mate is not FAILED]  # a failure is identified at no rank
    counts = [sum(probability_up_to(r.rank, k) for r in compared) for k in range(1, k_max + 1)]
    return SimpleNamespace(
        cms_count=counts,
        cms=[rate(c, len(mated)) for c in counts],
        attempts=len(mated),
        skipped=skipped,
        tied=sum(r.tied for r in mated),
    )


# --- Operating points of verification ------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """An attainable operating point: threshold in the user's units, FAR and FRR."""

    threshold: Any
    far: Fraction
    frr: Fraction


def roc_points(genuine: Sequence[Any], impostor: Sequence[Any], kind: str) -> list[Point]:
    """Reject-all first, then one point for each distinct score; none if a class is empty."""
    return list(_roc_points(tuple(map(number, genuine)), tuple(map(number, impostor)), kind))


@functools.lru_cache(maxsize=16)  # the rules of points read those of the same attempts in turn
def _roc_points(genuine: tuple[Any, ...], impostor: tuple[Any, ...], kind: str) -> list[Point]:
    if not genuine or not impostor:
        return []
    points = [Point(reject_all(genuine + impostor, kind), Fraction(0), Fraction(1))]
    thresholds = sorted({*genuine, *impostor} - {FAILED}, reverse=kind == "similarity")
    ga, _, fa, _ = verification_counts(genuine, impostor, thresholds, kind)
    for threshold, genuine_accepts, i in zip(thresholds, ga, fa, strict=True):
        frr = 1 - Fraction(genuine_accepts, len(genuine))
        points.append(Point(threshold, Fraction(i, len(impostor)), frr))
    return points


def reject_all(scores: Iterable[Any], kind: str) -> float:
    """Return the threshold that rejects everything; ``nan`` if a score has that very value."""
    extreme = INF if kind == "similarity" else -INF
    return NAN if any(s == extreme for s in scores) else extreme


@dataclass(frozen=True)
class EqualError:
    """The crossing, its attainable neighbour, and the bracket of the FVC."""

    value: Any
    threshold: Any
    far_at_eer: Any
    frr_at_eer: Any
    low: Any
    high: Any


def crossing(points: Sequence[Point]) -> EqualError:
    """Equal error rate on points from strict to loose."""
    if not points:
        return EqualError(NAN, NAN, NAN, NAN, NAN, NAN)
    where = next((k for k, p in enumerate(points) if p.far >= p.frr), None)
    if where is None:
        return EqualError(NAN, NAN, NAN, NAN, NAN, NAN)
    p0, p1 = points[where - 1], points[where]
    weight = (p0.frr - p0.far) / ((p1.far - p0.far) - (p1.frr - p0.frr))
    value = p0.far + weight * (p1.far - p0.far)
    nearest = p0 if max(p0.far, p0.frr) <= max(p1.far, p1.frr) else p1
    # FVC: t1 the strictest point with FRR <= FAR, t2 the loosest with FRR >= FAR; of the two the
    # one with the smaller FAR + FRR, t1 in a tie, is the bracket.
    t1 = next(p for p in points if p.frr <= p.far)
    t2 = [p for p in points if p.frr >= p.far][-1]
    side = t1 if t1.far + t1.frr <= t2.far + t2.frr else t2
    low, high = min(side.far, side.frr), max(side.far, side.frr)
    return EqualError(value, nearest.threshold, nearest.far, nearest.frr, low, high)


def eer(genuine: Sequence[Any], impostor: Sequence[Any], kind: str) -> EqualError:
    """Equal error rate, interpolated between the neighbours of the crossing."""
    return crossing(roc_points(genuine, impostor, kind))


def eer_hull(genuine: Sequence[Any], impostor: Sequence[Any], kind: str) -> Any:
    """Equal error rate on the lower-left convex hull of the points.

    The hull meets the diagonal at the lowest place where any segment between two points does.
    """
    points = roc_points(genuine, impostor, kind)
    best: Any = NAN
    for point in points:
        for after in points:
            gap_p, gap_q = point.frr - point.far, after.frr - after.far
            if not gap_p >= 0 >= gap_q:
                continue
            if gap_p == gap_q:  # both on the diagonal: the lower of the two
                error = min(point.far, after.far)
            else:
                error = point.far + gap_p / (gap_p - gap_q) * (after.far - point.far)
            best = error if best != best else min(best, error)
    return best


def at_most(value: Fraction, limit: Any) -> bool:
    """Compare a rate with a target as the user does: the float64 rate with the float64 target."""
    return float(value) <= float(limit)


def frr_at_far(
    genuine: Sequence[Any], impostor: Sequence[Any], kind: str, x: float
) -> tuple[Any, Any]:
    """Smallest FRR with FAR at most ``x``, and the threshold.

    Where several thresholds share that FRR: the loosest, the one of ``threshold_at_far``.
    """
    allowed = [p for p in roc_points(genuine, impostor, kind) if at_most(p.far, x)]
    if not allowed:
        return NAN, NAN
    return min(p.frr for p in allowed), threshold_at_far(genuine, impostor, kind, x)


def threshold_at_far(genuine: Sequence[Any], impostor: Sequence[Any], kind: str, x: float) -> Any:
    """Loosest attainable threshold with FAR at most ``x``; it may reject all."""
    allowed = [p for p in roc_points(genuine, impostor, kind) if at_most(p.far, x)]
    return allowed[-1].threshold if allowed else NAN


def threshold_at_frr(genuine: Sequence[Any], impostor: Sequence[Any], kind: str, x: float) -> Any:
    """Strictest attainable threshold with FRR at most ``x``; it may reject all."""
    points = roc_points(genuine, impostor, kind)
    return next((p.threshold for p in points if at_most(p.frr, x)), NAN)


def far_at_frr(
    genuine: Sequence[Any], impostor: Sequence[Any], kind: str, x: float
) -> tuple[Any, Any]:
    """Smallest FAR with FRR at most ``x``, and the strictest threshold."""
    allowed = [p for p in roc_points(genuine, impostor, kind) if at_most(p.frr, x)]
    if not allowed:
        return NAN, NAN
    return min(p.far for p in allowed), allowed[0].threshold


def auc(genuine: Sequence[Any], impostor: Sequence[Any], kind: str) -> Any:
    """Share of (genuine, impostor) pairs in the right order, ties one half."""
    if not genuine or not impostor:
        return NAN
    halves = 0
    for genuine_score in [number(x) for x in genuine]:
        for i in [number(x) for x in impostor]:
            if genuine_score == i:
                halves += 1
            elif FAILED in (genuine_score, i):
                halves += 2 * (i is FAILED)
            elif (genuine_score > i) == (kind == "similarity"):
                halves += 2
    return Fraction(halves, 2 * len(genuine) * len(impostor))


def d_prime(genuine: Sequence[Any], impostor: Sequence[Any]) -> float:
    """Distance of the means over the root mean variance (``ddof = 0``), on finite scores."""
    moments = []
    for scores in (genuine, impostor):
        finite = [Fraction(number(x)) for x in scores if math.isfinite(x)]
        if not finite:
            return NAN
        mean = sum(finite) / len(finite)
        moments.append((mean, sum((x - mean) ** 2 for x in finite) / len(finite)))
    (mean_g, var_g), (mean_i, var_i) = moments
    if var_g == 0 and var_i == 0:
        return NAN
    ratio = (mean_i - mean_g) ** 2 / ((var_g + var_i) / 2)
    # It may be too large or too small for a float where its root is not.
    half = (ratio.numerator.bit_length() - ratio.denominator.bit_length()) // 2
    return math.ldexp(math.sqrt(ratio / Fraction(4) ** half), half)


def min_cost(
    genuine: Sequence[Any],
    impostor: Sequence[Any],
    kind: str,
    pi: Any = Fraction(1, 2),
    c_miss: Any = 1,
    c_fa: Any = 1,
) -> tuple[Any, Any]:
    """Smallest ``pi * c_miss * FRR + (1 - pi) * c_fa * FAR``, and the strictest such threshold."""
    points = roc_points(genuine, impostor, kind)
    if not points:
        return NAN, NAN
    pi, c_miss, c_fa = Fraction(pi), Fraction(c_miss), Fraction(c_fa)
    costs = [(pi * c_miss * p.frr + (1 - pi) * c_fa * p.far, p.threshold) for p in points]
    return min(costs, key=lambda cost: cost[0])  # the first of equals


def threshold_of(
    rule: str | float, genuine: Sequence[Any], impostor: Sequence[Any], kind: str
) -> Any:
    """The threshold of a rule such as ``far=0.01``, or a number; None if a class has no attempt.

    `cost` has a prior and the costs of a miss and of a false accept; `hter` weighs both rates
    alike, `accuracy` all attempts.
    """
    if not isinstance(rule, str):
        return rule
    if not genuine or not impostor:
        return None
    name, _, value = rule.partition("=")
    if name == "eer":
        return eer(genuine, impostor, kind).threshold
    if name in ("far", "frr"):
        threshold_at = threshold_at_far if name == "far" else threshold_at_frr
        return threshold_at(genuine, impostor, kind, float(value))
    weights: dict[str, tuple[Any, ...]] = {
        "hter": (),
        "accuracy": (Fraction(len(genuine), len(genuine) + len(impostor)),),
    }
    costs = weights[name] if name in weights else tuple(map(float, value.split(",")))
    return min_cost(genuine, impostor, kind, *costs)[1]


# --- Operating points of open-set identification -------------------------------------------------


def open_set_points(
    *given: Any,
    k: int = 1,
    unit: str = "template",
    fusion: str = "best",
    ties: str = "pessimistic",
    impostors: str = "auto",
    **options: Any,
) -> list[Point]:
    """Points at rank ``k``: FAR, and ``frr`` for ``1 - DIR(t, k)``; none if a class is empty.

    Under expected ties the ``d_i`` of a probe counts if its rank can be ``k`` or better.
    """
    data = read(*given, **options)
    genuine, nearest, _ = roles(data, unit, fusion, ties, impostors)
    if not genuine or not nearest:
        return []
    best_distances = {*nearest, *(r.best_mate for r in genuine if probability_up_to(r.rank, k))}
    best_distances -= {FAILED}
    start = data.user(reject_all(best_distances, "distance"))
    points = [Point(start, Fraction(0), Fraction(1))]
    for threshold in sorted(best_distances):
        far = Fraction(sum(e <= threshold for e in nearest), len(nearest))
        hits = sum(probability_up_to(r.rank, k) for r in genuine if r.best_mate <= threshold)
        points.append(Point(data.user(threshold), far, 1 - Fraction(hits) / len(genuine)))
    return points


def dir_at_far(x: float, k: int, **case: Any) -> tuple[Any, Any]:
    """Largest ``DIR(t, k)`` with FAR at most ``x``, and the loosest such threshold."""
    allowed = [p for p in open_set_points(k=k, **case) if at_most(p.far, x)]
    if not allowed:
        return NAN, NAN
    return max(1 - p.frr for p in allowed), allowed[-1].threshold


def open_set_eer(k: int = 1, **case: Any) -> EqualError:
    """Equal error rate where FAR and ``1 - DIR(t, k)`` cross.

    They always meet in the end, where FAR is 1, unless comparisons failed: if no mate is ever
    found, the rate is 1.
    """
    return crossing(open_set_points(k=k, **case))
