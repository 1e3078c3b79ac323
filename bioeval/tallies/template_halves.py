"""Halves of each subject's templates, and of the subjects, drawn at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bioeval.base.random import Stream
from bioeval.scores.labels import Codes
from bioeval.scores.matrix import Scores


@dataclass(frozen=True)
class Halves:
    """The half, 0 or 1, of each probe and gallery template among its subject's, and of subjects."""

    probes: np.ndarray
    gallery: np.ndarray
    subjects: np.ndarray

    @classmethod
    def draw(cls, scores: Scores, sides: tuple[np.ndarray, np.ndarray], stream: Stream) -> Halves:
        """Draw halves; `sides` are the subjects of the probes and of the gallery, from 0.

        Halves are of whole sessions where there is a column of them. A template that is on both
        sides is in the same half on both, and so is a session; otherwise each side has its own
        draw.
        """
        subjects = 1 + max(int(side.max(initial=-1)) for side in sides)
        units = _units(scores)
        span = 1 + max(int(unit.max(initial=0)) for unit in units)
        found = [side * span + unit for side, unit in zip(sides, units, strict=True)]
        shared = np.zeros(subjects, dtype=bool)
        shared[np.intersect1d(*found) // span] = True
        # A set of units is a subject's on both sides, or on one of them.
        of_set = [2 * sides[0] + ~shared[sides[0]], 2 * sides[1]]
        keys = np.concatenate([a * span + b for a, b in zip(of_set, units, strict=True)])
        every, back = np.unique(keys, return_inverse=True)
        group = every // span
        order = np.lexsort((stream.uniforms(len(every)), group))
        place = np.arange(len(every)) - np.searchsorted(group, group)  # group is sorted
        half = np.empty(len(every), dtype=np.int64)
        half[order] = place % 2
        probes, gallery = np.split(half[back.reshape(-1)], [len(sides[0])])
        of_subject = np.empty(subjects, dtype=np.int64)
        of_subject[np.argsort(stream.uniforms(subjects), kind="stable")] = np.arange(subjects) % 2
        return cls(probes, gallery, of_subject)


def _units(scores: Scores) -> tuple[np.ndarray, np.ndarray]:
    """Return codes of what is never divided: sessions, else the templates themselves."""
    probe, gallery = (meta.get("session") for meta in (scores.probe_meta, scores.gallery_meta))
    if probe is not None and gallery is not None:
        codes = Codes(probe, gallery, "session")
        return codes.probe, codes.gallery
    if probe is None and gallery is None:
        return scores.probe_ids, scores.gallery_ids
    own, ids = (probe, scores.gallery_ids) if gallery is None else (gallery, scores.probe_ids)
    assert own is not None
    sessions = Codes(own, own, "session").probe
    ids = ids + sessions.max(initial=-1) + 1  # a session of one side is no template of the other
    return (sessions, ids) if gallery is None else (ids, sessions)
