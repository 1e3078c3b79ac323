"""Evaluation of identification against the number of subjects in the gallery."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval import DataError, Scores
from bioeval.base import (
    Argument,
    Name,
    RandomState,
    Stream,
    larger_is_closer,
    names_of,
    received,
    require_integer,
    require_numbers,
    rows_reported_to,
    seed_sequence,
)
from bioeval.document import Message
from bioeval.protocol import OpenSet
from bioeval.results import (
    ClosedSetCounts,
    about_attrs,
    build,
    rate,
)
from bioeval.scores import BlockReader, FusionRule, Progress, leaves_out_attacks, require_subjects
from bioeval.studies.folds.options import FoldOptions
from bioeval.studies.folds.parts import FoldSide, counted_parts
from bioeval.studies.folds.splits import IndexSet
from bioeval.studies.galleries.drawn import check_sizes, require_memory
from bioeval.studies.galleries.random_galleries import thresholds_over
from bioeval.studies.galleries.sizes import (
    ENROLLED,
    MODEL,
    UNENROLLED,
    SizeCounter,
    Sizes,
    SizeTally,
)
from bioeval.tallies import (
    ImpostorProbes,
    Rule,
    Ties,
    check_max_rank,
    count_together,
    require_values,
    to_user,
)

GALLERY_SIZE = {
    "unenrolled_share": Name("proportion of the probes that are not enrolled"),
    "validation_size": Name("subjects of the part that the whole was predicted from", "subjects"),
    "gallery_size": Name("subjects in the gallery", "subjects", "gallery size N"),
    **names_of("closed_set", "cms", "recognition_rate"),
    **names_of("open_set", "dir", "far", "frr", "genuine_attempts", "impostor_attempts"),
    "error_share": Name("proportion of all searches that end in a miss or a false accept"),
    "least_error_share": Name(
        "smallest error_share of any threshold, chosen on the same data (optimistic)"
    ),
    "least_error_threshold": Name("strictest threshold of least_error_share", "score"),
    "extrapolated": Name("whether CMS, DIR and FRR are extrapolated by a model (1) or exact (0)"),
    "far_extrapolated": Name("whether FAR is extrapolated by a model (1) or exact (0)"),
    "validation_cms_error": Name("error of CMS predicted from a part of the gallery, the largest"),
    "validation_far_error": Name("error of FAR predicted from a part of the gallery, the largest"),
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
    shares: np.ndarray,
    search: OpenSet,
) -> xr.Dataset:
    """Return the rates over increasing gallery sizes; `shares` are those of unenrolled probes."""
    about, grid = tally.ranks.about, tally.thresholds
    role = tally.ranks.impostor_role(search.impostors)
    longest = max(subjects, int(sizes.max()))
    most = len(sizes) * (len(grid) + 1)
    count, notes = ClosedSetCounts.max_ranks(longest, search.max_rank, most)
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
    beyond = (sizes > subjects).astype(np.int64)
    far_exact = np.array(list(map(model.far_is_exact, numbers)))
    far_beyond = (~far_exact).astype(np.int64)
    by_size, each = ("gallery_size",), ("gallery_size", "threshold")
    limits = to_user(grid, about.kind)[order]
    in_error = _weighted(shares[:, None, None], frr, far)
    least, where = _least(in_error, shares, limits, about.kind)
    variables = {
        "cms": (("gallery_size", "rank"), cms),
        "recognition_rate": (by_size, cms[:, 0]),
        "dir": (("gallery_size", "threshold", "rank"), dir_),
        "far": (each, far),
        "frr": (each, frr),
        "error_share": (("unenrolled_share", *each), in_error),
        "least_error_share": (("unenrolled_share", *by_size), least),
        "least_error_threshold": (("unenrolled_share", *by_size), where),
        "extrapolated": (by_size, beyond),
        "far_extrapolated": (by_size, far_beyond),
        "genuine_attempts": genuine,
        "impostor_attempts": impostor,
    }
    coordinates = {
        "gallery_size": sizes,
        "rank": np.arange(1, count + 1),
        "threshold": limits,
        "unenrolled_share": shares,
    }
    remarks: list[Message] = [*notes]
    if not genuine:
        remarks.append(Message("no-genuine-attempt", rates=["cms", "dir", "frr"]))
    if not impostor:
        remarks.append(Message("no-impostor-attempt", rates=["far"]))
    if beyond.any() or far_beyond.any():
        remarks += _extrapolated(sizes, subjects, bool(beyond.any()), model)
    if beyond.any():
        known, validation = _validation(model, subjects)
        coordinates["validation_size"] = known
        variables |= validation
    attrs = about_attrs(about, "gallery-size", "identification against gallery size", remarks)
    attrs |= {
        "rank_unit": "subject",
        "fusion": tally.ranks.fusion,
        "ties": search.ties,
        "impostors": role,
        "exact_up_to": subjects,
        "model": MODEL,
    }
    return build(variables, GALLERY_SIZE, coordinates, attrs)


def _validation(model: Sizes, subjects: int) -> tuple[np.ndarray, dict[str, Any]]:
    """Return the sizes from which the whole gallery is predicted, and the errors."""
    known = np.unique([max(2, subjects // 4), max(2, subjects // 2)])
    known = known[known < subjects]
    errors: dict[str, list[float]] = {"validation_cms_error": [], "validation_far_error": []}
    for size in known.tolist():
        cms, far = model.validated(size)
        errors["validation_cms_error"].append(_largest(cms))
        errors["validation_far_error"].append(_largest(far))
    over = ("validation_size",)
    return known, {name: (over, np.array(values)) for name, values in errors.items()}


def _weighted(share: np.ndarray, frr: np.ndarray, far: np.ndarray) -> np.ndarray:
    """Return the proportion of searches in error; a class of weight 0 may be undefined."""
    misses = np.where(share < 1.0, (1.0 - share) * frr, 0.0)
    return misses + np.where(share > 0.0, share * far, 0.0)


def _least(
    errors: np.ndarray, shares: np.ndarray, limits: np.ndarray, kind: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest error over thresholds, and its strictest threshold: (u, sizes).

    NaN where no threshold has a known error. `errors` is (u, sizes, t), `shares` (u,); `limits`
    (t,) are in the user's order.
    """
    step, none = 1, -np.inf
    if larger_is_closer(kind):
        step, none = -1, np.inf
    # The reject-all point: FNIR = 1, FPIR = 0.
    reject = np.broadcast_to(1.0 - shares[:, None, None], (*errors.shape[:2], 1))
    every = np.concatenate([reject, errors[..., ::step]], axis=-1)
    at = np.nanargmin(every, axis=-1)
    least = np.take_along_axis(every, at[..., None], axis=-1)[..., 0]
    unknown = np.isnan(errors).all(axis=-1)
    where = np.concatenate([[none], limits[::step]])[at]
    return np.where(unknown, np.nan, least), np.where(unknown, np.nan, where)


def _extrapolated(
    sizes: np.ndarray, subjects: int, beyond: bool, model: Sizes
) -> Iterator[Message]:
    """Yield messages of extrapolated rates."""
    if not beyond:
        yield Message("extrapolated-by-one-subject", subjects=subjects, others=subjects - 1)
        return
    larger = sizes[sizes > subjects].tolist()
    yield Message("sizes-beyond-data", sizes=larger, subjects=subjects, model=MODEL)
    if model.closer_model is None and model.genuine:
        yield Message("nothing-to-extrapolate-from")


def _largest(errors: np.ndarray) -> float:
    """Return the error that is largest in size, with its sign; NaN without errors."""
    known = errors[~np.isnan(errors)]
    if len(known):
        return float(known[np.argmax(np.abs(known))])
    return np.nan


# Default number of thresholds; each has a table of counts as long as the gallery.
THRESHOLDS = 100

# Default number of sizes.
SIZES = 12

SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


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
    unenrolled_shares: Sequence[float] = SHARES,
    sampling: int | None = None,
    random_state: RandomState = None,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Evaluate identification against the number of subjects in the gallery.

    Up to the number of subjects of the data, each rate is the mean over **all** galleries of that
    many subjects, exactly and without sampling; beyond it, the rate is extrapolated by a model,
    and flagged.

    Parameters
    ----------
    scores : Scores
    sizes : increasing sequence of int, optional
        Subjects in the gallery; default: about a dozen, up to all. For CMS and DIR the
        probe's own subject is one of them, for FAR it is not.
    thresholds : None, int or increasing array of float
        As for :func:`bioeval.open_set`; default: about 100.
    max_rank : int, optional
        Number of ranks; None gives every attainable one while the table stays small, else 100.
    fusion, ties, impostors
        As for :func:`bioeval.open_set`. Ranks count subjects.
    unenrolled_shares : sequence of float
        Proportions of unenrolled probes, for the weights of the errors.
    sampling : int, optional
        Also draw this many galleries of each size within the data: random subjects, with only
        their own probes. They show how far one gallery may be from the mean, which needs no
        sampling.
    random_state : int, SeedSequence, Generator or RandomState, optional
        Seed of the sampling.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``.

    Returns
    -------
    xarray.Dataset
        Over ``gallery_size``: ``cms`` (by ``rank``), ``recognition_rate``, ``dir`` (by
        ``threshold`` and ``rank``), ``far`` and ``frr`` (by ``threshold``), ``error_share`` (by
        ``unenrolled_share`` and ``threshold``: the proportion of all searches that are a miss or
        a false accept), ``least_error_share`` with ``least_error_threshold`` (at the best of the
        thresholds or by rejecting all; chosen on the same data, which is optimistic), and
        ``extrapolated`` and ``far_extrapolated``, 1 where a rate is beyond the data and comes
        from the model (attribute ``model``), else 0. Scalars ``genuine_attempts
        impostor_attempts``. With sizes beyond the data, ``validation_cms_error`` and
        ``validation_far_error`` over ``validation_size`` say how far the same model was off when
        it predicted the whole gallery from parts of that size (the largest error over ranks, or
        thresholds, with its sign). Sampling adds ``cms_by_gallery`` over ``repeat``, NaN beyond
        the data, and ``cms_sd``, the standard deviation between those galleries.

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
    ``n'`` drawn is with chance ``C(M - c, n') / C(M, n')``. ``docs/exact-galleries.md`` derives
    both, and the model. The dependence on size is that of Grother and Phillips (2004), "Models of
    large population recognition performance", CVPR, without their assumption of one distribution
    for all probes.

    Examples
    --------
    >>> import bioeval as be
    >>> ds = be.gallery_size(be.simulate(50, 4, random_state=1), [2, 10, 50])
    >>> ds.recognition_rate.values.round(3), ds.extrapolated.values
    (array([0.999, 0.989, 0.945]), array([0, 0, 0]))
    """
    reader = BlockReader(scores)
    search = OpenSet(
        rank_unit="subject", fusion=fusion, ties=ties, impostors=impostors, max_rank=max_rank
    )
    shares = np.atleast_1d(require_numbers("unenrolled_shares", unenrolled_shares))
    if not ((shares >= 0) & (shares <= 1)).all():
        raise DataError(
            Argument("unenrolled_shares"),
            f" is {received(unenrolled_shares)}; expected numbers in [0, 1]",
        )
    if shares.ndim > 1:
        raise DataError(
            Argument("unenrolled_shares"), f" is {received(unenrolled_shares)}; expected a list"
        )
    check_max_rank(max_rank, scores.shape[-1])
    require_subjects(scores, "a gallery of fewer subjects")
    require_values(scores, "a rate against the gallery size")
    subjects = len(reader.gallery.subjects)
    chosen = _sizes(sizes, subjects)
    grid = thresholds_over(reader, thresholds, THRESHOLDS)
    counter = SizeCounter(reader, search, grid)
    repeats = 0
    if sampling is not None:
        repeats = require_integer("sampling", sampling, low=1, of_draws=True)
    stream = Stream(seed_sequence(random_state), 0)
    with rows_reported_to(progress):
        (tally,) = count_together(reader, [counter])
    dataset = gallery_size_dataset(tally, chosen, subjects, shares, search)
    if not repeats:
        return dataset
    says = dataset["cms"].attrs["long_name"]
    curves = _sampled(reader, chosen, repeats, stream, search, len(dataset["rank"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of one gallery, or none of a size
        spread = np.std(curves, axis=0, ddof=1)
    over = ("gallery_size", "rank")
    dataset["cms_by_gallery"] = (
        ("repeat", *over),
        curves,
        Name(f"of each gallery, {says}").attrs(),
    )
    dataset["cms_sd"] = (over, spread, Name(f"between galleries, {says}").attrs())
    coordinate = ("repeat", np.arange(repeats), Name("drawn gallery").attrs())
    return dataset.assign_coords(repeat=coordinate)


def _sampled(
    reader: BlockReader,
    sizes: np.ndarray,
    repeats: int,
    stream: Stream,
    search: OpenSet,
    ranks: int,
) -> np.ndarray:
    """Return the CMS of random galleries, shape (repeats, sizes, ranks); NaN beyond the data."""
    scores, groups = reader.scores, reader.gallery
    subjects = len(groups.subjects)
    of_column = np.empty(scores.shape[1], dtype=np.int64)
    of_column[groups.columns[0]] = np.repeat(np.arange(subjects), np.diff(groups.starts))
    require_memory(repeats, len(sizes) * ranks)
    curves = np.full((repeats, len(sizes), ranks), np.nan)

    def drawn() -> Iterator[tuple[tuple[int, int], IndexSet]]:
        """Yield the place of each curve, and the probes and templates of its gallery."""
        for r in range(repeats):
            order = np.argsort(stream.uniforms(subjects), kind="stable")
            for i, size in enumerate(sizes[sizes <= subjects]):
                # Galleries of one repeat lie within each other; the last flag is for probes
                # without a subject here.
                inside = np.zeros(subjects + 1, dtype=bool)
                inside[order[:size]] = True
                chosen = (
                    np.flatnonzero(inside[groups.probe_group]),
                    np.flatnonzero(inside[of_column]),
                )
                if len(chosen[0]):
                    yield (r, i), chosen

    options = FoldOptions("closed_set", Rule("none"), fusion=search.fusion, rank_unit="subject")
    tasks = []
    if search.ties != "expected":
        tasks.append(replace(options, ties=search.ties))
    for place, (probes, templates), attempts in counted_parts(scores, drawn(), tasks):
        side = FoldSide(scores.select(probes, templates), counted=attempts)
        searched = side.searched(options, search.ties)
        ranked = searched.ranked(ranks, whole=search.ties != "expected")
        curves[place] = rate(ranked, searched.genuine)
    return curves


def _sizes(sizes: Sequence[int] | None, subjects: int) -> np.ndarray:
    """Return the sizes as an increasing array."""
    if sizes is None:
        spread = np.geomspace(min(2, subjects), subjects, SIZES)
        return np.unique(np.rint(spread).astype(np.int64))
    return check_sizes(sizes, "subjects")
