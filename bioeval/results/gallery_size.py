"""Rates of identification against the number of subjects in the gallery."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_probability
from bioeval.base.errors import require_choice
from bioeval.base.kinds import larger_is_closer
from bioeval.base.variables import GALLERY_SIZE
from bioeval.results.dataset import about_attrs, build, max_ranks, rate
from bioeval.results.open_set import DIR_LIMIT, IMPOSTORS, impostor_role
from bioeval.tallies.random_galleries.sizes import ENROLLED, UNENROLLED, Sizes, SizeTally
from bioeval.tallies.random_galleries.unseen_subjects import MODEL
from bioeval.tallies.thresholds import to_user
from bioeval.tallies.tie_policies import TIES, check_max_rank

KINDS = {
    "leave-subject-out": (ENROLLED,),
    "unenrolled": (UNENROLLED,),
    "both": (ENROLLED, UNENROLLED),
}


@dataclass(frozen=True)
class GallerySizeOptions:
    """Options of the rates against gallery size, checked; see :func:`bioeval.gallery_size`."""

    max_rank: int | None
    ties: str
    impostors: str
    unenrolled_shares: np.ndarray

    @classmethod
    def parse(
        cls, max_rank: int | None, ties: str, impostors: str, unenrolled_shares: Any
    ) -> GallerySizeOptions:
        """Return checked options."""
        require_choice("ties", ties, TIES)
        require_choice("impostors", impostors, IMPOSTORS)
        check_max_rank(max_rank)
        shares = np.atleast_1d(require_probability("unenrolled_shares", unenrolled_shares))
        return cls(max_rank, ties, impostors, shares)


def gallery_size_dataset(
    tally: SizeTally, sizes: np.ndarray, subjects: int, options: GallerySizeOptions
) -> xr.Dataset:
    """Return the rates over increasing gallery sizes, of a whole gallery of `subjects`."""
    about, grid = tally.ranks.about, tally.thresholds
    role = impostor_role(tally.ranks, options.impostors)
    longest = max(subjects, int(sizes.max()))
    count, note = max_ranks(longest, len(sizes) * (len(grid) + 1), options.max_rank, DIR_LIMIT)
    model = Sizes(tally, options.ties, count, KINDS[role], subjects)
    genuine, impostor = model.genuine, model.impostors

    found = np.stack([model.identified(int(size)) for size in sizes])
    fa = np.stack([model.accepted(int(size)) for size in sizes])
    dir_, cms = rate(found[:, :-1], genuine), rate(found[:, -1], genuine)
    far = rate(np.minimum(fa, impostor), impostor)
    order = slice(None, None, -1 if larger_is_closer(about.kind) else 1)
    dir_, far = dir_[:, order], far[:, order]
    frr = 1.0 - dir_[:, :, 0]
    beyond = (sizes > subjects).astype(np.int64)
    far_beyond = np.array([not model.far_is_exact(int(size)) for size in sizes]).astype(np.int64)
    shares = options.unenrolled_shares
    by_size, each = ("gallery_size",), ("gallery_size", "threshold")
    limits = to_user(grid, about.kind)[order]
    in_error = _weighted(shares[:, None, None], frr, far)
    least, where = _least(in_error, shares, limits, about.kind)
    variables: dict[str, Any] = {
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
        "genuine_attempts": ((), np.int64(genuine)),
        "impostor_attempts": ((), np.int64(impostor)),
    }
    coordinates = {
        "gallery_size": sizes,
        "rank": np.arange(1, count + 1),
        "threshold": limits,
        "unenrolled_share": shares,
    }
    remarks = [note] if note else []
    if not genuine:
        remarks.append("no genuine attempt: CMS, DIR and FRR are not defined (NaN)")
    if not impostor:
        remarks.append("no impostor attempt: FAR is not defined (NaN)")
    if beyond.any() or far_beyond.any():
        remarks += _extrapolated(sizes, subjects, bool(beyond.any()), model)
    if beyond.any():
        known, validation = _validation(model, subjects)
        coordinates["validation_size"] = known
        variables |= validation
    attrs = about_attrs(about, "identification against gallery size", remarks)
    attrs |= {
        "rank_unit": "subject",
        "fusion": tally.ranks.fusion,
        "ties": options.ties,
        "impostors": role,
        "exact_up_to": subjects,
        "model": MODEL,
    }
    return build(variables, GALLERY_SIZE, coordinates, attrs)


def _validation(model: Sizes, subjects: int) -> tuple[np.ndarray, dict[str, Any]]:
    """Return the sizes from which the whole gallery is predicted, and the errors."""
    known = np.unique([max(2, subjects // 4), max(2, subjects // 2)])
    errors = [model.validated(int(size)) for size in known if size < subjects]
    over = ("validation_size",)
    return known[: len(errors)], {
        "validation_cms_error": (over, np.array([_largest(cms) for cms, _ in errors])),
        "validation_far_error": (over, np.array([_largest(far) for _, far in errors])),
    }


def _weighted(share: np.ndarray, frr: np.ndarray, far: np.ndarray) -> np.ndarray:
    """Return the proportion of searches in error; a class of weight 0 may be undefined."""
    misses = np.where(share < 1.0, (1.0 - share) * frr, 0.0)
    return misses + np.where(share > 0.0, share * far, 0.0)


def _least(
    errors: np.ndarray, shares: np.ndarray, limits: np.ndarray, kind: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest error over thresholds, and the strictest threshold with it: (u, sizes).

    NaN where no threshold has a known error. `errors` is (u, sizes, t), `shares` (u,); `limits`
    (t,) are in the user's order.
    """
    step, none = (-1, np.inf) if larger_is_closer(kind) else (1, -np.inf)
    # The reject-all point: FNIR = 1, FPIR = 0.
    reject = np.broadcast_to(1.0 - shares[:, None, None], (*errors.shape[:2], 1))
    every = np.concatenate([reject, errors[..., ::step]], axis=-1)
    at = np.nanargmin(every, axis=-1)
    least = np.take_along_axis(every, at[..., None], axis=-1)[..., 0]
    unknown = np.isnan(errors).all(axis=-1)
    where = np.concatenate([[none], limits[::step]])[at]
    return np.where(unknown, np.nan, least), np.where(unknown, np.nan, where)


def _extrapolated(sizes: np.ndarray, subjects: int, beyond: bool, model: Sizes) -> list[str]:
    """Return remarks on extrapolated rates."""
    if beyond:
        many = sizes[sizes > subjects]
        larger = ", ".join(f"{size:,}" for size in many)
        found = [
            f"gallery size{'s' * (len(many) > 1)} {larger} {'are' if len(many) > 1 else 'is'} "
            f"beyond the {subjects:,} subject{'s' * (subjects != 1)} there are: extrapolated, "
            f"by the model {MODEL}; its validation errors are those within the data"
        ]
        if model.closer_model is None and model.genuine:
            found.append("no non-mated subject is closer than a mate: nothing to extrapolate from")
        return found
    return [
        f"FAR at {subjects:,} subjects is extrapolated by one: an enrolled probe has "
        f"{subjects - 1:,} other subject{'s' * (subjects != 2)}"
    ]


def _largest(errors: np.ndarray) -> float:
    """Return the largest error in size, with its sign; NaN without any."""
    known = errors[~np.isnan(errors)]
    return float(known[np.argmax(np.abs(known))]) if len(known) else np.nan
