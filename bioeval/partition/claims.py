"""Claims of verification: given ones, and claims drawn at random, a proportion of them genuine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.arguments import require_array, require_integer
from bioeval.base.errors import (
    DataError,
    ProtocolError,
    counted,
    named,
    nearest_name,
    received,
)
from bioeval.base.random import RandomState, Stream, seed_sequence
from bioeval.partition import shuffling
from bioeval.partition.base import Parameters, require_seed
from bioeval.scores.excluded import excluded
from bioeval.scores.labels import as_labels, plain
from bioeval.scores.masks import Mask
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people, mate_cells


class DrawnClaims(NamedTuple):
    """Claims in the order of the probes.

    `probe` are the rows (int64) and `subject` the labels of the claimed subjects; `enrolled`
    (bool) says whether the probe's own subject is in the gallery.
    """

    probe: np.ndarray
    subject: np.ndarray
    enrolled: np.ndarray


@dataclass(eq=False, repr=False)
class ClaimSampler(Parameters):
    """Draws the claims of verification: the lecture's distribution of genuine and impostor claims.

    Each probe claims `per_probe` different enrolled subjects. Among all claims by probes of
    enrolled subjects, ``round(genuine * claims)`` are genuine: by probes drawn without repetition,
    at most one each. The other claims are of other enrolled subjects, each as probable as the
    others. Probes of subjects who are not enrolled claim as many, and are counted apart.

    At one threshold FRR and FAR do not depend on `genuine` in expectation, since each is a
    proportion of the attempts of its own class; operating points, such as the EER, vary with the
    draw.

    Parameters
    ----------
    per_probe : int
        Claims of each probe.
    genuine : float
        Proportion of genuine claims, in [0, 1].
    random_state : int, None, numpy.random.SeedSequence, Generator or RandomState
        The seed. None draws other claims each time.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(20, 5, random_state=0)
    >>> sampler = be.partition.ClaimSampler(per_probe=2, genuine=0.25, random_state=0)
    >>> ds = be.verification(scores, templates="multi", claims=sampler)
    >>> int(ds.genuine_attempts), int(ds.impostor_attempts)
    (50, 150)
    """

    per_probe: int = 1
    genuine: float = 0.5
    random_state: RandomState = 0

    def __post_init__(self) -> None:
        sampler = type(self).__name__
        require_integer(f"{sampler}: per_probe", self.per_probe, low=1)
        number = isinstance(self.genuine, int | float | np.number)
        if not number or isinstance(self.genuine, bool) or not 0 <= self.genuine <= 1:
            raise DataError(
                f"{sampler}: genuine is {received(self.genuine)}; expected a proportion in [0, 1]"
            )
        require_seed(self.random_state)

    def draw(self, scores: Scores, repeat: int = 0, *, part: int = 0) -> DrawnClaims:
        """Draw the claims of all probes.

        Parameters
        ----------
        scores : Scores
            A matrix with labels. Its values are not read: a comparison that failed is an attempt
            by the rule of the scores for NaN.
        repeat, part : int
            Other numbers give other claims.

        Returns
        -------
        DrawnClaims

        Raises
        ------
        DataError
            If there are more genuine claims than probes with a usable mate, or more impostor
            claims of a probe than other enrolled subjects.
        ProtocolError
            If the scores have no labels.
        """
        if not isinstance(scores, Scores) or scores.layout == "pairs" or not knows_people(scores):
            raise ProtocolError(
                f"{named('claims')} are drawn among labelled templates of a matrix; give scores "
                "with labels"
            )
        draws = shuffling.stream(
            seed_sequence(self.random_state), shuffling.CLAIMS, 2 * repeat + part
        )
        enrolled = scores.codes.people(scores.codes.gallery)
        # (probes,): the place of each probe's subject among the enrolled subjects, or any place.
        place = np.searchsorted(enrolled, scores.codes.probe)
        place[place == len(enrolled)] = 0
        is_enrolled = enrolled[place] == scores.codes.probe
        enrolled_probes = np.flatnonzero(is_enrolled)
        genuine = self._genuine(scores, enrolled_probes, draws)
        impostor_claims = np.full(len(is_enrolled), self.per_probe)  # (probes,)
        impostor_claims[genuine] -= 1
        self._require_enough_subjects(impostor_claims, is_enrolled, len(enrolled))
        row, claimed = _draw_other_subjects(
            impostor_claims, np.where(is_enrolled, place, -1), len(enrolled), draws
        )
        row = np.append(row, genuine)
        claimed = np.append(claimed, place[genuine])
        order = np.lexsort((claimed, row))
        labels = scores.codes.values[enrolled[claimed[order]]]
        return DrawnClaims(row[order], labels, is_enrolled[row[order]])

    def _genuine(self, scores: Scores, enrolled_probes: np.ndarray, draws: Stream) -> np.ndarray:
        """Draw the probes with a usable mate that claim their own subject once."""
        claims = self.per_probe * len(enrolled_probes)
        number = round(self.genuine * claims)
        able = (
            enrolled_probes[_has_mate(scores, enrolled_probes)] if number else enrolled_probes[:0]
        )
        if number > len(able):
            smaller = ", or a smaller per_probe" if self.per_probe > 1 else ""
            raise DataError(
                f"{named('claims')}: {self!r} makes {counted(number, 'genuine claims')} of "
                f"{claims:,}, but only {counted(len(able), 'probes')} have a mate in the gallery, "
                "and each claims its own subject once; expected genuine at most "
                f"{np.floor(1000 * len(able) / claims) / 1000:g}{smaller}"
            )
        return able[draws.permutation(len(able))[:number]]

    def _require_enough_subjects(
        self, impostor_claims: np.ndarray, is_enrolled: np.ndarray, enrolled: int
    ) -> None:
        for probes, other_subjects in ((is_enrolled, enrolled - 1), (~is_enrolled, enrolled)):
            largest = int(impostor_claims[probes].max(initial=0))
            if largest > other_subjects:
                raise DataError(
                    f"{named('claims')}: {self!r} makes {counted(largest, 'impostor claims')} by "
                    "one probe, but it has only "
                    f"{counted(other_subjects, 'other enrolled subjects')} to claim; expected "
                    f"per_probe at most {max(other_subjects, 1)}, or more enrolled subjects"
                )


def _has_mate(scores: Scores, probes: np.ndarray) -> np.ndarray:
    """Return which probes have a mate that no rule or mask leaves out, bool (probes,)."""
    place, column = mate_cells(scores, probes)
    row = probes[place]
    is_usable = ~excluded(scores, row, column)
    if scores.has_mask:
        step = max(1, (1 << 22) // scores.shape[1])
        for low in range(0, scores.shape[0], step):
            in_rows = np.flatnonzero((row >= low) & (row < low + step))
            mask = scores.cells.read_mask(low, min(low + step, scores.shape[0]))
            is_usable[in_rows] &= mask[row[in_rows] - low, column[in_rows]] != Mask.IGNORE
    return np.bincount(place[is_usable], minlength=len(probes)) > 0


def _draw_other_subjects(
    claims: np.ndarray, probe_subject: np.ndarray, enrolled: int, draws: Stream
) -> tuple[np.ndarray, np.ndarray]:
    """Draw distinct other subjects for each probe; return the probe and the subject of each claim.

    `claims` (probes,) is the number of subjects to draw, and `probe_subject` (probes,) the probe's
    own subject, a number below `enrolled`, or -1. Each subset is as probable as any other of its
    size (Floyd's algorithm; Bentley and Floyd 1987, *Communications of the ACM* 30, 754-757).
    """
    rows = [np.empty(0, dtype=np.int64)]
    claimed = [np.empty(0, dtype=np.int64)]
    for size in np.unique(claims[claims > 0]).tolist():
        row = np.flatnonzero(claims == size)
        is_enrolled = probe_subject[row] >= 0
        total = enrolled - is_enrolled
        drawn = np.empty((len(row), size), dtype=np.int64)
        # Step i draws from 0 ... last; a number that was drawn before is replaced by `last`.
        for i in range(size):
            last = total - size + i
            number = np.floor(draws.uniforms(len(row)) * (last + 1)).astype(np.int64)
            is_repeated = (drawn[:, :i] == number[:, None]).any(axis=1)
            drawn[:, i] = np.where(is_repeated, last, number)
        # The numbers count the other subjects: from the probe's own subject on, they are one less.
        drawn += is_enrolled[:, None] & (drawn >= probe_subject[row][:, None])
        rows.append(np.repeat(row, size))
        claimed.append(drawn.ravel())
    return np.concatenate(rows), np.concatenate(claimed)


def parse_claims(
    scores: Scores, claims: Any, unenrolled: str
) -> tuple[tuple[np.ndarray, np.ndarray], int]:
    """Return stated claims, and the number of claims that are left out.

    The claims are probes and the groups of the claimed subjects, sorted by probe.
    """
    number_of_probes = scores.shape[0]
    if isinstance(claims, tuple) and len(claims) == 2 and not isinstance(claims[0], (str, bytes)):
        probes, subjects = claims
        if number_of_probes == 2 and np.ndim(probes) == 0:
            probes = np.arange(number_of_probes)
            subjects = claims
    else:
        probes = np.arange(number_of_probes)
        subjects = claims
    probes = require_array("claims", probes)
    if probes.ndim != 1 or probes.dtype.kind not in "iu":
        raise DataError(
            "claims: the probe indices are not whole numbers; expected one claimed subject for "
            "each probe, or a pair (probe_index, subjects)"
        )
    labels = as_labels(subjects, "claims")
    if len(labels) != len(probes):
        raise DataError(
            f"claims has {len(labels)} subjects for {len(probes)} probes; expected one per probe"
        )
    wrong = (probes < 0) | (probes >= number_of_probes)
    if wrong.any():
        raise DataError(
            f"claims name {int(wrong.sum())} probes outside 0..{number_of_probes - 1}, the first "
            f"is {int(probes[np.argmax(wrong)])}"
        )
    groups = scores.gallery_order.group_of(scores.codes.codes_of(labels, "claims"))
    missing = groups < 0
    if missing.any() and unenrolled == "raise":
        i = int(np.argmax(missing))
        people = scores.codes.people(scores.gallery_order.subjects)
        enrolled = [scores.codes.values[x] for x in people[:10_000]]
        raise DataError(
            f"{int(missing.sum())} claims are of subjects that are not enrolled, the first is "
            f"claim {i}: probe {int(probes[i])} claims "
            f"{plain(labels[i])!r}.{nearest_name(labels[i], enrolled)} "
            '`unenrolled_claims="skip"` leaves them out and counts them'
        )
    probes = probes[~missing]
    groups = groups[~missing]
    order = np.argsort(probes, kind="stable")
    return (probes[order].astype(np.int64), groups[order]), int(missing.sum())
