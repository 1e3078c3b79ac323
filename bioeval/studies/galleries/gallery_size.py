"""Evaluation of identification against the number of subjects in the gallery."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from bioeval.attempts.counts import ImpostorProbes
from bioeval.attempts.identification_counter import check_max_rank
from bioeval.attempts.passes import count_together
from bioeval.attempts.single_template import thresholds_over
from bioeval.attempts.thresholds import require_values, to_user
from bioeval.attempts.tied_places import Ties
from bioeval.base.arguments import require_array
from bioeval.base.errors import Argument, DataError, received
from bioeval.base.kinds import larger_is_closer
from bioeval.base.messages import Message
from bioeval.base.progress import rows_reported
from bioeval.base.registry import names_of
from bioeval.base.scalars import Name
from bioeval.protocol.tasks import OpenSet
from bioeval.results.dataset import about_attrs, build, rate
from bioeval.results.identification import ClosedSetCounts
from bioeval.scores.arrays import FusionRule
from bioeval.scores.blocks import BlockReader, require_subjects
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.matrix import Scores
from bioeval.studies.galleries.sizes import (
    ENROLLED,
    UNENROLLED,
    SizeCounter,
    Sizes,
    SizeTally,
)

GALLERY_SIZE = {
    "gallery_size": Name("subjects in the gallery", "subjects", "gallery size N"),
    **names_of("closed_set", "cms", "recognition_rate"),
    **names_of("open_set", "dir", "far", "frr", "genuine_attempts", "impostor_attempts"),
}

KINDS = {
    "leave-subject-out": (ENROLLED,),
    "unenrolled": (UNENROLLED,),
    "both": (ENROLLED, UNENROLLED),
}


def gallery_size_dataset(
    tally: SizeTally,
    sizes: np.ndarray,
    subjects: int,
    search: OpenSet,
) -> xr.Dataset:
    """Return the rates over increasing gallery sizes."""
    about, grid = tally.ranks.about, tally.thresholds
    role = tally.ranks.impostor_role(search.impostors)
    most = len(sizes) * (len(grid) + 1)
    count, notes = ClosedSetCounts.max_ranks(subjects, search.max_rank, most)
    model = Sizes(tally, search.ties, count, KINDS[role], subjects)
    genuine, impostor = model.genuine, model.impostors

    numbers = sizes.tolist()
    identified = np.stack(list(map(model.identified, numbers)))
    fa = np.stack(list(map(model.accepted, numbers)))
    dir_, cms = rate(identified[:, :-1], genuine), rate(identified[:, -1], genuine)
    far = rate(np.minimum(fa, impostor), impostor)
    order = slice(None)
    if larger_is_closer(about.kind):
        order = slice(None, None, -1)
    dir_, far = dir_[:, order], far[:, order]
    frr = 1.0 - dir_[:, :, 0]
    by_size, each = ("gallery_size",), ("gallery_size", "threshold")
    limits = to_user(grid, about.kind)[order]
    variables = {
        "cms": (("gallery_size", "rank"), cms),
        "recognition_rate": (by_size, cms[:, 0]),
        "dir": (("gallery_size", "threshold", "rank"), dir_),
        "far": (each, far),
        "frr": (each, frr),
        "genuine_attempts": genuine,
        "impostor_attempts": impostor,
    }
    coordinates = {
        "gallery_size": sizes,
        "rank": np.arange(1, count + 1),
        "threshold": limits,
    }
    remarks: list[Message] = [*notes]
    if not genuine:
        remarks.append(Message("no-attempt", what="genuine attempt", rates=["cms", "dir", "frr"]))
    if not impostor:
        remarks.append(Message("no-attempt", what="impostor attempt", rates=["far"]))
    elif np.isnan(far[-1]).any():
        remarks.append(Message("one-subject-left-out", subjects=subjects, others=subjects - 1))
    attrs = about_attrs(about, "gallery-size", "identification against gallery size", remarks)
    attrs |= {
        "rank_unit": "subject",
        "fusion": tally.ranks.fusion,
        "ties": search.ties,
        "impostors": role,
    }
    return build(variables, GALLERY_SIZE, coordinates, attrs)


# Default number of thresholds; each has a table of counts as long as the gallery.
THRESHOLDS = 100

# Default number of sizes.
SIZES = 12


@leaves_out_attacks
def gallery_size(
    scores: Scores,
    sizes: Sequence[int] | None = None,
    *,
    thresholds: Any = None,
    max_rank: int | None = None,
    fusion: FusionRule = "min",
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
    thresholds : None, int or increasing array of float
        As for :func:`bioeval.open_set`; default: about 100.
    max_rank : int, optional
        Number of ranks. None gives every attainable one while the table stays small, else 100.
    fusion, ties, impostors
        As for :func:`bioeval.open_set`. Ranks count subjects.

    Returns
    -------
    xarray.Dataset
        Over ``gallery_size``: ``cms`` (by ``rank``), ``recognition_rate``, ``dir`` (by
        ``threshold`` and ``rank``), ``far`` and ``frr`` (by ``threshold``). Scalars
        ``genuine_attempts impostor_attempts``.

    Raises
    ------
    DataError
        Bad options; NaN under ``nan="raise"``.
    ProtocolError
        If the scores have no subjects, or only an order.

    Notes
    -----
    A probe with ``r - 1`` of ``N - 1`` other subjects closer has, in a gallery of ``n'`` subjects,
    a hypergeometric number closer; with ``c`` of ``M`` candidates within a threshold, none of
    ``n'`` drawn is with chance ``C(M - c, n') / C(M, n')``. The dependence
    on size is that of Grother and Phillips (2004), "Models of large population recognition
    performance", CVPR, without their assumption of one distribution for all probes.

    Examples
    --------
    >>> import bioeval as be
    >>> ds = be.gallery_size(be.simulate(50, 4, random_state=1), [2, 10, 50])
    >>> ds.recognition_rate.values.round(3)
    array([0.999, 0.989, 0.945])
    """
    reader = BlockReader(scores)
    search = OpenSet(
        rank_unit="subject", fusion=fusion, ties=ties, impostors=impostors, max_rank=max_rank
    )
    check_max_rank(max_rank, scores.shape[-1])
    require_subjects(scores, "a gallery of fewer subjects")
    require_values(scores, "a rate against the gallery size")
    subjects = len(reader.gallery.subjects)
    chosen = _sizes(sizes, subjects)
    grid = thresholds_over(reader, thresholds, THRESHOLDS)
    counter = SizeCounter(reader, search, grid)
    with rows_reported():
        (tally,) = count_together(reader, [counter])
    return gallery_size_dataset(tally, chosen, subjects, search)


def _sizes(sizes: Sequence[int] | None, subjects: int) -> np.ndarray:
    """Return the sizes as an increasing array."""
    if sizes is None:
        spread = np.geomspace(min(2, subjects), subjects, SIZES)
        return np.unique(np.rint(spread).astype(np.int64))
    array = np.atleast_1d(require_array("sizes", sizes))
    whole = array.dtype.kind in "iu" and array.ndim == 1 and len(array) > 0
    if not whole or array[0] < 1 or array[-1] > subjects or (array[1:] <= array[:-1]).any():
        raise DataError(
            Argument("sizes"),
            f" is {received(sizes)}; expected increasing whole numbers of subjects from 1 to "
            f"{subjects:,}, the subjects of the gallery",
        )
    return array.astype(np.int64)
