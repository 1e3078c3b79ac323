"""Naive means over galleries: every gallery there is, one after the other.

Written from the definitions alone, on top of :mod:`naive`; nothing here imports ``bioeval``. All
chances are fractions.
"""

import itertools
from collections.abc import Sequence
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import naive


def role_of_impostors(data: naive.Data, impostors: str) -> str:
    """Which probes are impostors."""
    if data.all_against_all:
        return "leave-subject-out"
    if impostors == "auto":
        return "leave-subject-out" if all(data.enrolled) else "unenrolled"
    return impostors


def plays(data: naive.Data, i: int, impostors: str) -> bool:
    """Whether a probe is an impostor, if other people are in its gallery."""
    role = role_of_impostors(data, impostors)
    own = data.enrolled[i] == (role == "leave-subject-out")
    return data.all_against_all or role == "both" or own


def galleries(row: Sequence[naive.Cell]) -> list[tuple[naive.Cell, ...]]:
    """Every gallery of one template of each subject."""
    return list(itertools.product(*naive.groups(row).values()))


def expected(
    *given: Any,
    thresholds: Sequence[Any] = (),
    max_rank: int | None = None,
    ties: str = "pessimistic",
    impostors: str = "auto",
    **options: Any,
) -> SimpleNamespace:
    """Open- and closed-set identification, each probe averaged over all of its galleries.

    Counts and rates are over ``[threshold][rank - 1]`` or ``[threshold]``.
    """
    data = naive.read(*given, **options)
    assert data.gallery_subjects is not None
    k_max = max_rank or len(set(data.gallery_subjects))
    limits = [data.sign * naive.number(threshold) for threshold in thresholds]

    zero = Fraction(0)
    genuine = impostor = skipped = 0
    tied = zero
    cms_count = [zero] * k_max
    di = [[zero] * k_max for _ in limits]
    fa, ttr, own, ftr = ([zero] * len(limits) for _ in range(4))
    targets = sum(data.enrolled)
    for i, row in enumerate(data.rows):
        has_mate = any(cell.mate for cell in row)
        genuine += has_mate
        skipped += not has_mate
        attempt = plays(data, i, impostors) and any(not cell.mate for cell in row)
        impostor += attempt
        all_galleries = galleries(row)
        share = Fraction(1, len(all_galleries))
        for gallery in all_galleries:
            listed = [naive.Candidate(c.distance, c.column, c.mate, c.subject) for c in gallery]
            best_distance, rank, is_tied = naive.place(listed, ties)
            tied += share * is_tied
            for k in range(1, k_max + 1):
                chance = naive.probability(rank, k)
                for later in range(k, k_max + 1):
                    cms_count[later - 1] += share * chance * (best_distance is not naive.FAILED)
                for place, limit in enumerate(limits):
                    if rank is not None and best_distance <= limit:
                        di[place][k - 1] += share * chance
            other_distances = [c.distance for c in listed if not c.mate]
            everyone = [c.distance for c in listed]
            for place, limit in enumerate(limits):
                if attempt and min(other_distances) <= limit:
                    fa[place] += share
                if data.enrolled[i]:
                    ttr[place] += share * any(x <= limit for x in everyone)
                    own[place] += share * any(c.distance <= limit for c in listed if c.mate)
                else:
                    ftr[place] += share * any(x <= limit for x in everyone)
    dir_ = [[naive.rate(sum(row[: k + 1]), genuine) for k in range(k_max)] for row in di]
    return SimpleNamespace(
        genuine_attempts=genuine,
        impostor_attempts=impostor,
        skipped=skipped,
        tied=tied,
        cms_count=cms_count,
        cms=[naive.rate(c, genuine) for c in cms_count],
        di=di,
        dir=dir_,
        fa=fa,
        far=[naive.rate(x, impostor) for x in fa],
        frr=[1 - row[0] for row in dir_],
        ttr=[naive.rate(x, targets) for x in ttr],
        ttr_identity=[naive.rate(x, targets) for x in own],
        ftr=[naive.rate(x, len(data.rows) - targets) for x in ftr],
    )


def by_size(
    *given: Any,
    size: int,
    thresholds: Sequence[Any] = (),
    max_rank: int,
    fusion: str = "best",
    ties: str = "pessimistic",
    impostors: str = "auto",
    **options: Any,
) -> tuple[list[Any], list[list[Any]], list[Any]]:
    """CMS, DIR and FAR as means over all galleries of `size` subjects; None where there is none.

    For CMS and DIR the probe's own subject is one of them, for FAR it is not.
    """
    data = naive.read(*given, **options)
    assert data.gallery_subjects is not None and data.probe_labels is not None
    enrolled = list(dict.fromkeys(data.gallery_subjects))
    limits = [data.sign * naive.number(threshold) for threshold in thresholds]
    cms, fa, genuine, impostor = [Fraction(0)] * max_rank, [Fraction(0)] * len(limits), 0, 0
    dir_ = [[Fraction(0)] * max_rank for _ in limits]
    possible = True
    for i, label in enumerate(data.probe_labels):
        all_candidates = naive.candidates(data, i, "subject", fusion)
        other_subjects = [s for s in enrolled if s != label]
        if any(c.mate for c in all_candidates):
            genuine += 1
            chosen = list(itertools.combinations(other_subjects, size - 1))
            for subset in chosen:
                listed_ = [c for c in all_candidates if c.mate or c.subject in subset]
                best_distance, rank, _ = naive.place(listed_, ties)
                for k in range(max_rank):
                    chance = Fraction(naive.probability_up_to(rank, k + 1), len(chosen))
                    cms[k] += chance * (best_distance is not naive.FAILED)
                    for place, limit in enumerate(limits):
                        dir_[place][k] += chance * (best_distance <= limit)
        if plays(data, i, impostors) and any(not c.mate for c in all_candidates):
            impostor += 1
            chosen = list(itertools.combinations(other_subjects, size))
            possible = possible and bool(chosen)
            for subset in chosen:
                nearest = min(
                    (c.distance for c in all_candidates if c.subject in subset), default=naive.INF
                )
                is_present = any(c.subject in subset for c in all_candidates)
                for place, limit in enumerate(limits):
                    fa[place] += Fraction(is_present and nearest <= limit, len(chosen))
    return (
        [naive.rate(x, genuine) for x in cms],
        [[naive.rate(x, genuine) for x in row] for row in dir_],
        [naive.rate(x, impostor) if possible else None for x in fa],
    )
