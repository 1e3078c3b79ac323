"""Explicit claims: which probes claim to be which enrolled subjects."""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.base.errors import Argument, DataError
from bioeval.scores.blocks import BlockReader
from bioeval.scores.labels import as_labels, plain
from bioeval.scores.matrix import Scores

UNENROLLED_CLAIMS = ("raise", "skip")


def parse_claims(
    scores: Scores, reader: BlockReader, claims: Any, unenrolled: str
) -> tuple[tuple[np.ndarray, np.ndarray], int]:
    """Return explicit claims as (probe, group) sorted by probe, and the number left out."""
    m = scores.shape[0]
    if isinstance(claims, tuple) and len(claims) == 2 and not isinstance(claims[0], (str, bytes)):
        probes, subjects = claims
        if m == 2 and np.ndim(probes) == 0:
            probes, subjects = np.arange(m), claims
    else:
        probes, subjects = np.arange(m), claims
    probes = np.asarray(probes)
    if probes.ndim != 1 or probes.dtype.kind not in "iu":
        raise DataError(
            "claims: the probe indices are not whole numbers; expected one claimed subject for "
            "each probe, or a pair (probe_index, subjects)"
        )
    labels = as_labels(subjects, "claims")
    if len(labels) != len(probes):
        raise DataError(
            f"claims has {len(labels)} subjects for {len(probes)} probes; expected one a probe"
        )
    wrong = (probes < 0) | (probes >= m)
    if wrong.any():
        raise DataError(
            f"claims name {int(wrong.sum())} probes outside 0..{m - 1}, the first is "
            f"{int(probes[np.argmax(wrong)])}"
        )
    groups = reader.gallery.group_of(scores.codes.codes_of(labels))
    missing = groups < 0
    if missing.any() and unenrolled == "raise":
        i = int(np.argmax(missing))
        raise DataError(
            f"{int(missing.sum())} claims are of subjects that are not enrolled, the first is "
            f"claim {i}: probe {int(probes[i])} claims {plain(labels[i])!r}."
            f"{scores.codes.nearest(labels[i])} {Argument('unenrolled_claims', 'skip')} leaves "
            "them out and counts them"
        )
    probes, groups = probes[~missing], groups[~missing]
    order = np.argsort(probes, kind="stable")
    return (probes[order].astype(np.int64), groups[order]), int(missing.sum())
