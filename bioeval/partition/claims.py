"""Claims of verification, in which a probe claims to be an enrolled subject.

:class:`ClaimSampler` draws claims at random, a proportion of them genuine; :func:`parse_claims`
reads claims that are stated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.arguments import require_array, require_integer
from bioeval.base.errors import DataError, ProtocolError, counted, named, nearest_name, received
from bioeval.base.random import RandomState, Stream, seed_sequence
from bioeval.partition import shuffling
from bioeval.partition.base import Parameters, require_seed
from bioeval.scores.attempts import excluded
from bioeval.scores.labels import as_labels, plain
from bioeval.scores.masks import Mask
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people, mate_cells

# Cells of a mask that are read at once.
MASK_AT_ONCE = 1 << 22


class DrawnClaims(NamedTuple):
    """Claims in the order of the probes, each array (claims,)."""

    probe: np.ndarray  # int64: row of the probe
    subject: np.ndarray  # label of the claimed subject
    enrolled: np.ndarray  # bool: whether the probe's own subject is in the gallery


@dataclass(eq=False, repr=False)
class ClaimSampler(Parameters):
    """Draws the claims of verification: with a proportion of genuine and impostor claims.

    Each probe claims `per_probe` different enrolled subjects.

    - Of all claims by probes of enrolled subjects, ``round(genuine * claims)`` are genuine. Their
      probes are drawn without repetition: a probe has at most one.
    - All other claims are of other enrolled subjects, each as probable as the others.
    - Probes of subjects who are not enrolled claim as many, and are counted apart.

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
        is_number = isinstance(self.genuine, int | float | np.number)
        if not is_number or isinstance(self.genuine, bool) or not 0 <= self.genuine <= 1:
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
        enrolled = scores.codes.people(scores.codes.gallery)  # codes, in ascending order
        # (probes,): the probe's subject, as its index in `enrolled`; -1 if it is not enrolled.
        own_subject = np.searchsorted(enrolled, scores.codes.probe)
        own_subject[own_subject == len(enrolled)] = 0  # any index: the subject there is another
        own_subject[enrolled[own_subject] != scores.codes.probe] = -1
        # Draw the probes with a usable mate that claim their own subject once.
        enrolled_probes = np.flatnonzero(own_subject >= 0)
        claims = self.per_probe * len(enrolled_probes)
        number = round(self.genuine * claims)
        able = enrolled_probes[:0]
        if number:  # the search for mates may read a mask of all scores
            able = enrolled_probes[_has_mate(scores, enrolled_probes)]
        if number > len(able):
            smaller = ", or a smaller per_probe" if self.per_probe > 1 else ""
            raise DataError(
                f"{named('claims')}: {self!r} makes {counted(number, 'genuine claims')} of "
                f"{claims:,}, but only {counted(len(able), 'probes')} have a mate in the gallery, "
                "and each claims its own subject once; expected genuine at most "
                f"{np.floor(1000 * len(able) / claims) / 1000:g}{smaller}"
            )
        genuine = able[draws.permutation(len(able))[:number]]
        # All other claims are of other subjects.
        impostor_claims = np.full(len(own_subject), self.per_probe)  # (probes,)
        impostor_claims[genuine] -= 1
        for has_own in (True, False):  # whether the probes' own subject is enrolled
            largest = int(impostor_claims[(own_subject >= 0) == has_own].max(initial=0))
            others = len(enrolled) - has_own
            if largest > others:
                raise DataError(
                    f"{named('claims')}: {self!r} makes {counted(largest, 'impostor claims')} by "
                    f"one probe, but it has only {counted(others, 'other enrolled subjects')} to "
                    f"claim; expected per_probe at most {max(others, 1)}, or more enrolled subjects"
                )
        probe, claimed = _draw_other_subjects(impostor_claims, own_subject, len(enrolled), draws)
        probe = np.append(probe, genuine)
        claimed = np.append(claimed, own_subject[genuine])
        order = np.lexsort((claimed, probe))
        probe, claimed = probe[order], claimed[order]
        labels = scores.codes.values[enrolled[claimed]]
        return DrawnClaims(probe, labels, own_subject[probe] >= 0)


def _has_mate(scores: Scores, probes: np.ndarray) -> np.ndarray:
    """Return which probes have a mate that no rule or mask leaves out, bool (probes,)."""
    index_of_probe, column = mate_cells(scores, probes)
    row = probes[index_of_probe]
    is_usable = ~excluded(scores, row, column)
    if scores.has_mask:
        rows_at_once = max(1, MASK_AT_ONCE // scores.shape[1])
        for low in range(0, scores.shape[0], rows_at_once):
            high = min(low + rows_at_once, scores.shape[0])
            in_rows = np.flatnonzero((row >= low) & (row < high))
            mask = scores.cells.read_mask(low, high)
            is_usable[in_rows] &= mask[row[in_rows] - low, column[in_rows]] != Mask.IGNORE
    return np.bincount(index_of_probe[is_usable], minlength=len(probes)) > 0


def _draw_other_subjects(
    claims: np.ndarray, own_subject: np.ndarray, enrolled: int, draws: Stream
) -> tuple[np.ndarray, np.ndarray]:
    """Draw distinct other subjects for each probe; return the probe and the subject of each claim.

    `claims` (probes,) is the number of subjects to draw, and `own_subject` (probes,) the probe's
    own subject, a number below `enrolled`, or -1. Each subset is as probable as any other of its
    size (Floyd's algorithm; Bentley and Floyd 1987, *Communications of the ACM* 30, 754-757).
    """
    probes = [np.empty(0, dtype=np.int64)]
    claimed = [np.empty(0, dtype=np.int64)]
    for size in np.unique(claims[claims > 0]).tolist():
        probe = np.flatnonzero(claims == size)
        is_enrolled = own_subject[probe] >= 0
        other_subjects = enrolled - is_enrolled
        drawn = np.empty((len(probe), size), dtype=np.int64)
        # Step i draws from 0 ... last; a number that was drawn before is replaced by `last`.
        for i in range(size):
            last = other_subjects - size + i
            number = np.floor(draws.uniforms(len(probe)) * (last + 1)).astype(np.int64)
            is_repeated = (drawn[:, :i] == number[:, None]).any(axis=1)
            drawn[:, i] = np.where(is_repeated, last, number)
        # The numbers count the other subjects: from the probe's own subject on, they are one less.
        drawn += is_enrolled[:, None] & (drawn >= own_subject[probe][:, None])
        probes.append(np.repeat(probe, size))
        claimed.append(drawn.ravel())
    return np.concatenate(probes), np.concatenate(claimed)


def parse_claims(
    scores: Scores, claims: Any, unenrolled: str
) -> tuple[tuple[np.ndarray, np.ndarray], int]:
    """Return stated claims, and the number of claims that are left out.

    The claims are probes and the groups of the claimed subjects, sorted by probe.
    """
    number_of_probes = scores.shape[0]
    # A subject for each probe, or a pair (probe_index, subjects), unless it is of two subjects.
    probes: Any = np.arange(number_of_probes)
    subjects = claims
    if isinstance(claims, tuple) and len(claims) == 2 and not isinstance(claims[0], (str, bytes)):
        are_two_subjects = number_of_probes == 2 and np.ndim(claims[0]) == 0
        if not are_two_subjects:
            probes, subjects = claims
    probes = require_array("claims", probes)
    if probes.ndim != 1 or probes.dtype.kind not in "iu":
        raise DataError(
            "claims: the probe indices are not whole numbers; expected one claimed subject for "
            "each probe, or a pair (probe_index, subjects)"
        )
    labels = as_labels(subjects, "claims")
    if len(labels) != len(probes):
        raise DataError(
            f"claims has {counted(len(labels), 'subjects')} for {counted(len(probes), 'probes')}; "
            "expected one per probe"
        )
    is_wrong = (probes < 0) | (probes >= number_of_probes)
    if is_wrong.any():
        raise DataError(
            f"claims name {counted(is_wrong.sum(), 'probes')} outside "
            f"0..{number_of_probes - 1}, the "
            f"first is {int(probes[np.argmax(is_wrong)])}"
        )
    groups = scores.gallery_order.group_of(scores.codes.codes_of(labels, "claims"))
    is_missing = groups < 0
    if is_missing.any() and unenrolled == "raise":
        i = int(np.argmax(is_missing))
        people = scores.codes.people(scores.gallery_order.subjects)
        enrolled = [scores.codes.values[x] for x in people[:10_000]]
        raise DataError(
            f"{int(is_missing.sum())} claims are of subjects that are not enrolled, the first is "
            f"claim {i}: probe {int(probes[i])} claims "
            f"{plain(labels[i])!r}.{nearest_name(labels[i], enrolled)} "
            '`unenrolled_claims="skip"` leaves them out and counts them'
        )
    probes = probes[~is_missing]
    groups = groups[~is_missing]
    order = np.argsort(probes, kind="stable")
    return (probes[order].astype(np.int64), groups[order]), int(is_missing.sum())
