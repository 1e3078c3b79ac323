"""Identification rates for galleries of different sizes.

The definition, over all galleries of ``n`` of the subjects, each as likely as any other::

    cms[n, k] = mean over genuine probes of P(gallery has < k subjects nearer than the mate)
    far[n, t] = mean over impostors of P(gallery has a subject that t accepts)

If 2 of 49 other subjects are nearer than the mate, a gallery of 10 has the mate and, among its 9
others, neither of the 2 with the probability ``C(47, 9) / C(49, 9) = 0.66``: this probe adds 0.66
to CMS at rank 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_array
from bioeval.base.errors import (
    DataError,
    Message,
    ProtocolError,
    counted,
    message_attrs,
    messages_of,
    received,
)
from bioeval.base.progress import rows_reported
from bioeval.counting.parts import Parts
from bioeval.counting.reduce import Reducer, parts_of, reduce
from bioeval.counting.searches import Searches, Searching, check_max_rank
from bioeval.counting.single_template import thresholds_over
from bioeval.counting.thresholds import (
    curve_thresholds,
    in_order_of_scores,
    require_values,
    to_user,
)
from bioeval.protocol.tasks import ImpostorProbes, OpenSet, Ties
from bioeval.results.attributes import about_attrs
from bioeval.results.beyond_scores import all_beyond_scores, following_scores
from bioeval.results.closed_set import ranks_to_report
from bioeval.results.dataset import dataset, rate
from bioeval.results.variables import CLOSED_SET, OPEN_SET, Variable, entries
from bioeval.scores.blocks import Block
from bioeval.scores.distances import FusionRule
from bioeval.scores.matrix import Scores, require_all_scores, require_subjects, require_templates
from bioeval.showing.messages import warns_of_doubts

GALLERY_SIZE = {
    "gallery_size": Variable(
        "subjects in the gallery", "subjects", "gallery size N", label="subjects in the gallery"
    ),
    **entries(CLOSED_SET, "cms", "recognition_rate"),
    **entries(OPEN_SET, "dir", "far", "frr", "genuine_attempts", "impostor_attempts"),
}

#: The kind of impostors that are enrolled: their own subject is left out of the gallery.
ENROLLED = 0

#: The kind of impostors whose subject is in no gallery.
UNENROLLED = 1

#: The kinds of impostors by the role of impostors in a search.
KINDS = {
    "leave-subject-out": (ENROLLED,),
    "unenrolled": (UNENROLLED,),
    "both": (ENROLLED, UNENROLLED),
}

#: The default number of thresholds; each has a table of counts as long as the gallery.
THRESHOLDS = 100

#: The default number of sizes.
SIZES = 12


@warns_of_doubts
def gallery_size(
    scores: Scores,
    sizes: Sequence[int] | None = None,
    *,
    thresholds: Any = None,
    n_thresholds: int | None = None,
    max_rank: int | None = None,
    fusion: FusionRule = "best",
    ties: Ties = "pessimistic",
    impostors: ImpostorProbes = "auto",
) -> xr.Dataset:
    """Evaluate identification against the number of subjects in the gallery.

    Each rate is the mean over **all** galleries of that many subjects of the data, exactly and
    without sampling.

    Parameters
    ----------
    scores : Scores
    sizes : increasing sequence of int, optional
        Numbers of subjects in the gallery; about a dozen, up to all, by default. For CMS and DIR
        the probe's own subject is one of them, for FAR it is not: of enrolled probes, FAR with all
        subjects is NaN.
    thresholds, n_thresholds
        As for :func:`bioeval.open_set`; default: about 100.
    max_rank : int, optional
        Number of ranks. None gives every attainable one while the table stays small, else 100.
    fusion, ties, impostors
        As for :func:`bioeval.open_set`. Ranks count subjects.

    Returns
    -------
    xarray.Dataset
        - ``cms`` over ``gallery_size, rank``, and ``recognition_rate`` over ``gallery_size``
        - ``dir`` over ``gallery_size, threshold, rank``
        - ``far`` and ``frr`` over ``gallery_size, threshold``
        - ``genuine_attempts`` and ``impostor_attempts``

    Raises
    ------
    DataError
        Bad options; NaN under ``nan="raise"``.
    ProtocolError
        If the scores have no subjects, or only an order, or if a probe was compared with only a
        part of the gallery.

    Notes
    -----
    - CMS and DIR: in a gallery of some of all subjects, the number of subjects closer than the mate
      has a hypergeometric distribution.
    - FAR: if a threshold accepts ``c`` of ``M`` subjects, it accepts none of ``n`` drawn subjects
      with the probability ``C(M - c, n) / C(M, n)``.
    - Source: Grother and Phillips (2004), "Models of large population recognition performance",
      CVPR, whose assumption of one distribution for all probes is not made here.

    Examples
    --------
    >>> import bioeval as be
    >>> ds = be.gallery_size(be.simulate(50, 4, random_state=1), [2, 10, 50])
    >>> ds.recognition_rate.values.round(3)
    array([0.999, 0.989, 0.945])
    """
    require_all_scores(scores)
    task = OpenSet(
        rank_unit="subject", fusion=fusion, ties=ties, impostors=impostors, max_rank=max_rank
    ).of_kind(scores.kind)
    check_max_rank(max_rank, scores.shape[-1])
    require_subjects(scores, "a gallery of fewer subjects")
    require_values(scores, "a rate against the gallery size")
    require_templates(scores, "a search")
    _require_complete_lists(scores)
    subjects = len(scores.gallery_order.subjects)
    gallery_sizes = _checked_sizes(sizes, subjects)
    curve = curve_thresholds(thresholds, n_thresholds)
    grid = thresholds_over(scores, curve, THRESHOLDS)

    # The searches of the whole gallery, and a histogram of the candidates of impostors.
    searching = Searching(scores, task)
    is_enrolled = scores.gallery_order.probe_group >= 0
    candidates = CandidateSubjects(task.fusion, grid, subjects, is_enrolled)
    parts = parts_of(scores, nearest=False)  # blocks of whole rows
    with rows_reported():
        *facts, histogram = reduce(parts, *searching.reducers, candidates)
    searches = searching.result(*facts)
    impostor_role = searches.impostor_role(task.impostors)
    kinds = KINDS[impostor_role]
    mated_probes = np.flatnonzero(searches.mates > 0)
    genuine_attempts = len(mated_probes)
    # Each threshold has every impostor once, by its number of candidates.
    impostor_attempts = int(histogram[list(kinds), :1].sum())

    # Expected rates of all galleries of each size.
    points = len(gallery_sizes) * (len(grid) + 1)
    ranks, remarks = ranks_to_report(subjects, max_rank, points)
    by_closer = probes_by_closer(searches, mated_probes, grid, task.ties, subjects)
    cms_by_size, dir_by_size, far_by_size = [], [], []
    for size in gallery_sizes.tolist():
        accepted_mates, all_mates = _identified(by_closer, size, ranks)
        cms_by_size.append(_rate_of(all_mates, genuine_attempts))
        dir_by_size.append(_rate_of(accepted_mates, genuine_attempts))
        accepted = np.sum([_accepted(histogram[kind], kind, size) for kind in kinds], axis=0)
        far_by_size.append(_rate_of(accepted, impostor_attempts))
    cms, far = np.stack(cms_by_size), np.stack(far_by_size)

    # The dataset.
    if not genuine_attempts:
        remarks.append(Message("no-attempt", what="genuine attempt", rates=["cms", "dir", "frr"]))
    if not impostor_attempts:
        remarks.append(Message("no-attempt", what="impostor attempt", rates=["far"]))
    elif np.isnan(far[-1]).any():
        remarks.append(Message("one-subject-left-out", subjects=subjects, others=subjects - 1))
    order = in_order_of_scores(searches.about.kind)
    dir_ = np.stack(dir_by_size)[:, order]
    by_threshold = ("gallery_size", "threshold")
    variables = {
        "cms": (("gallery_size", "rank"), cms),
        "recognition_rate": (("gallery_size",), cms[:, 0]),
        "dir": (("gallery_size", "threshold", "rank"), dir_),
        "far": (by_threshold, far[:, order]),
        "frr": (by_threshold, 1.0 - dir_[:, :, 0]),
        "genuine_attempts": genuine_attempts,
        "impostor_attempts": impostor_attempts,
    }
    coordinates = {
        "gallery_size": gallery_sizes,
        "rank": np.arange(1, cms.shape[1] + 1),
        "threshold": to_user(grid, searches.about.kind)[order],
    }
    title = "identification against gallery size"
    attrs = about_attrs(searches.about, "gallery-size", title, remarks)
    attrs |= {
        "rank_unit": "subject",
        "fusion": searches.fusion,
        "ties": task.ties,
        "impostors": impostor_role,
    }
    result = dataset(variables, GALLERY_SIZE, coordinates, attrs)
    if isinstance(curve, np.ndarray):
        # Of the smallest gallery: FAR of the largest may be undefined.
        smallest = result.isel(gallery_size=0)
        not_detected = 1 - smallest["dir"].isel(rank=-1).values
        following = following_scores(scores, curve)
        beyond = all_beyond_scores(curve, smallest["far"].values, not_detected, following)
        result.attrs.update(message_attrs([*messages_of(result.attrs), *beyond]))
    return result


def _require_complete_lists(scores: Scores) -> None:
    """Raise an error if a probe was compared with only a part of the gallery."""
    lists = scores.completeness
    if not lists.incomplete:
        return
    low = lists.attrs["candidates_least"]
    high = lists.attrs["candidates_most"]
    templates = lists.attrs["candidates"]
    raise ProtocolError(
        "rates against the gallery size need all candidates of each probe, but a part of the "
        f"gallery was not compared with {lists.incomplete:,} of "
        f"{counted(lists.searches, 'probes')} (each probe with at least {low:,} and at most "
        f"{high:,} of {counted(templates, 'templates')}). Compare each probe with the whole "
        'gallery, count failed comparisons by `nan="reject"`, or select the probes and '
        "templates that were compared"
    )


def _checked_sizes(sizes: Sequence[int] | None, subjects: int) -> np.ndarray:
    """Return the sizes of galleries, int64; by default, in equal ratios from 2 up to all."""
    if sizes is None:
        spread = np.geomspace(min(2, subjects), subjects, SIZES)
        return np.unique(np.rint(spread).astype(np.int64))
    array = np.atleast_1d(require_array("sizes", sizes))
    is_list_of_integers = array.dtype.kind in "iu" and array.ndim == 1 and len(array) > 0
    if (
        not is_list_of_integers
        or array[0] < 1
        or array[-1] > subjects
        or (array[1:] <= array[:-1]).any()
    ):
        raise DataError(
            f"`sizes` is {received(sizes)}; expected increasing whole numbers of "
            f"subjects from 1 to {subjects:,}, the subjects of the gallery"
        )
    return array.astype(np.int64)


def probes_by_closer(
    searches: Searches, mated_probes: np.ndarray, grid: np.ndarray, ties: Ties, subjects: int
) -> np.ndarray:
    """Return the expected number of probes with 0, 1, ... subjects closer than the mate.

    Row ``i`` of the result, (t + 1, subjects), is of the mates that threshold ``i`` is the first to
    accept; row ``t`` is of the mates that no threshold accepts. A probe whose mate is tied counts
    in parts.
    """
    probes, rank, weights = searches.rank_weights(mated_probes, ties)
    first_threshold = np.searchsorted(grid, searches.mate[probes])
    table = np.zeros((len(grid) + 1, subjects))
    np.add.at(table, (first_threshold, rank - 1), weights)
    return table


def _identified(by_closer: np.ndarray, size: int, ranks: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the expected number of probes with a mate up to each rank in a gallery of `size`.

    The first array, (t, ranks), is of the mates that each threshold accepts, and the second one,
    (ranks,), of all mates. `by_closer` is that of :func:`probes_by_closer`. A gallery has the
    probe's own subject, and others drawn from the other subjects.
    """
    subjects = by_closer.shape[1]
    at_rank = drawn_marked(subjects - 1, size - 1, by_closer, ranks)
    up_to_rank = at_rank.cumsum(axis=0).cumsum(axis=1)
    return up_to_rank[:-1], up_to_rank[-1]


def _rate_of(expected: np.ndarray, attempts: int) -> np.ndarray:
    """Return an expected number, which a sum may have rounded up, as a share of the attempts."""
    return rate(np.minimum(expected, attempts), attempts)


def _accepted(table: np.ndarray, kind: int, size: int) -> np.ndarray:
    """Return the expected number of impostors that each threshold accepts, (t,).

    `table` (t, N + 1) counts the impostors with 0, 1, ... candidates. The gallery has `size`
    subjects besides the impostor's own; the number is NaN if there are fewer.
    """
    population = table.shape[1] - 1 - (kind == ENROLLED)
    if not len(table) or not table[0].any():
        return np.zeros(len(table))
    if size > population:
        return np.full(len(table), np.nan)
    return table @ (1.0 - none_drawn(population, size, table.shape[1]))


def drawn_marked(population: int, drawn: int, weights: np.ndarray, limit: int) -> np.ndarray:
    """Return mixtures of hypergeometric distributions, (rows, limit).

    If ``m`` subjects of a `population` are marked and `drawn` subjects are drawn, the number of
    marked subjects among them has a hypergeometric distribution. Row ``a`` of the result has the
    probabilities of 0, 1, ... ``limit - 1``, mixed over ``m`` = 0, 1, ... with ``weights[a]``.

    The distribution for ``m + 1`` follows from the distribution for ``m``: if `j` of the ``m`` are
    drawn, one more is drawn with probability ``(drawn - j) / (population - m)``. No term is
    negative, so that no digits cancel.
    """
    mixture = np.zeros((len(weights), limit))
    number = np.arange(limit)
    distribution = (number == 0).astype(np.float64)
    for marked in range(weights.shape[1]):
        mixture += weights[:, marked, None] * distribution
        if population <= marked:
            break
        chance = np.clip((drawn - number) / (population - marked), 0.0, 1.0)
        one_more = np.append(0.0, (distribution * chance)[:-1])
        distribution = distribution * (1.0 - chance) + one_more
    return mixture


def none_drawn(population: int, drawn: int, count: int) -> np.ndarray:
    """Return the probability that none of 0, 1, ... ``count - 1`` candidates is drawn.

    It is ``C(M - c, n) / C(M, n)`` for ``c`` candidates, if ``n`` of ``M`` subjects are drawn.
    """
    candidates = np.arange(count - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.maximum(population - drawn - candidates, 0) / (population - candidates)
    return np.concatenate([[1.0], np.cumprod(np.where(candidates < population, steps, 0.0))])


class CandidateSubjects(Reducer):
    """A histogram, for each threshold, of the number of subjects that are candidates of a probe.

    The result, int64 (2, t, N + 1), counts enrolled and unenrolled probes for which a threshold
    accepts 0, 1, ... of the `N` gallery subjects. A probe's own subject is no candidate.

    - `thresholds` (t,): increasing distances
    - `enrolled` (probes,): whether the subject of a probe is in the gallery
    """

    sums = ("candidates",)

    def __init__(self, fusion: str, thresholds: np.ndarray, subjects: int, enrolled: np.ndarray):
        self.fusion: str = fusion
        self.thresholds, self.enrolled = thresholds, enrolled
        self.candidates = np.zeros((2, len(thresholds), subjects + 1), dtype=np.int64)

    def prepare(self, parts: Parts) -> None:
        """Do nothing: the thresholds are known."""

    def add(self, block: Block) -> None:
        """Count the candidates of the probes of a block, which has whole rows."""
        claims = block.by_person(self.fusion)
        # (probes, subjects): index of the first threshold that accepts each subject; `t` if none.
        distances = claims.scores()[0].astype(np.float64)
        first_threshold = self.thresholds.searchsorted(distances)
        newly_accepted = histograms(first_threshold, len(self.thresholds) + 1)
        candidates = newly_accepted[:, :-1].cumsum(axis=1)  # (probes, t)

        has_attempt = ~np.isnan(claims.values).all(axis=1)
        is_enrolled = self.enrolled[block.probes]
        of_enrolled = candidates[has_attempt & is_enrolled]
        of_unenrolled = candidates[has_attempt & ~is_enrolled]
        self.candidates[ENROLLED] += histograms(of_enrolled.T, self.candidates.shape[2])
        self.candidates[UNENROLLED] += histograms(of_unenrolled.T, self.candidates.shape[2])

    def result(self) -> np.ndarray:
        return self.candidates


def histograms(numbers: np.ndarray, size: int) -> np.ndarray:
    """Return how often 0, 1, ... ``size - 1`` stand in each row, int64 (rows, size).

    `numbers`, int64 (rows, n), are overwritten, which saves a copy.

    >>> histograms(np.array([[0, 2, 2], [1, 1, 1]]), 3).tolist()
    [[1, 0, 2], [0, 3, 0]]
    """
    rows = len(numbers)
    # Each row has numbers of its own: row 1 has ``size`` to ``2 * size - 1``.
    numbers += np.arange(rows)[:, None] * size
    return np.bincount(numbers.reshape(-1), minlength=rows * size).reshape(rows, size)
