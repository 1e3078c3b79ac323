"""Claims of a system in use over time: when each subject is enrolled, with how many templates."""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval import Scores
from bioeval.evaluation import ResultThreshold
from bioeval.scores import NOT_ENROLLED, as_meta, codes_of, transactions_of


def claims_over_time(scores: Scores, study: ResultThreshold) -> tuple[Scores, np.ndarray]:
    """Return the claims of a study, and how many templates are enrolled at each attempt.

    `scores` leave out templates that are not enrolled when a probe is seen. An attempt is of the
    time of its first try, and a subject is enrolled while any of its templates is.
    """
    claims = study.claims_of(scores)
    in_use = study.parsed_use.enrol.applied(scores)
    first = np.arange(in_use.shape[0])
    if study.attempts is not None:
        first, _ = transactions_of(in_use, study.attempts)
    times = in_use._enrolment_times
    assert times is not None  # of scores with galleries over time
    sizes = times.sizes()[first]
    if study.templates == "multi":
        meta = dict(claims.gallery_meta)
        for name, extreme in (("enrolled_at", np.minimum), ("withdrawn_at", np.maximum)):
            if name in times.columns:
                meta[name] = _of_subjects(times.columns[name], in_use, claims, extreme)
        claims = claims._with(_gallery_meta=as_meta(meta, claims.shape[1], "gallery_meta"))
    return claims.excluding(NOT_ENROLLED), sizes


def _of_subjects(column: np.ndarray, scores: Scores, claims: Scores, extreme: Any) -> np.ndarray:
    """Return the first, or last, time of the templates of each subject of claims.

    A missing time, which sets no limit, sets none for the subject.
    """
    codes = codes_of(scores).gallery
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    times = extreme.reduceat(column[order], starts)
    labels = scores.gallery_labels[order[starts]].tolist()
    place = {label: k for k, label in enumerate(labels)}
    return times[[place[label] for label in claims.gallery_labels.tolist()]]
