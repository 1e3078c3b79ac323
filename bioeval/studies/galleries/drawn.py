"""Options of random galleries: templates of each subject, and the number of galleries."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval import DataError, ProtocolError, Scores
from bioeval.base import Argument, RandomState, received, require_array
from bioeval.protocol import Search
from bioeval.scores import require_subjects

# Largest memory of the facts kept of sampled galleries, in bytes.
MOST_BYTES = 1 << 32


@dataclass(frozen=True)
class Drawn:
    """A random gallery.

    - `size` (int): templates of each subject; 0 where all of them are enrolled and nothing is drawn
    - `repeats` (int): galleries to sample; 0 for the exact mean over all
    - `random_state` (seed): seed of the sampling
    """

    size: int = 0
    repeats: int = 0
    random_state: RandomState = None

    @property
    def gallery(self) -> str:
        """The value of the option ``gallery``."""
        return {0: "all", 1: "single"}.get(self.size, str(self.size))


def parse_drawn(gallery: Any, sampling: Any, random_state: RandomState = None) -> Drawn:
    """Return the random gallery of a task's options; they must allow a draw."""
    if isinstance(gallery, str) and gallery in ("all", "single"):
        size = 0 if gallery == "all" else 1
    else:
        wanted = "'all' templates, 'single', or the number of templates of each subject"
        size = _whole("gallery", gallery, wanted)
    if isinstance(sampling, str) and sampling == "exact":
        repeats = 0
    else:
        repeats = _whole("sampling", sampling, "'exact', or the number of galleries to draw")
    if not size and repeats:
        raise DataError(
            f'sampling is {sampling!r}, but gallery="all" enrols every template and leaves '
            'nothing to draw; give gallery="single" or a number of templates'
        )
    return Drawn(size, repeats, random_state)


def check_sizes(sizes: Any, unit: str) -> np.ndarray:
    """Return given sizes of galleries, numbers of `what`, as increasing int64."""
    array = np.atleast_1d(require_array("sizes", sizes))
    whole = array.dtype.kind in "iu" and array.ndim == 1 and len(array) > 0
    if not whole or (array < 1).any() or (array[1:] <= array[:-1]).any():
        raise DataError(
            Argument("sizes"),
            f" is {received(sizes)}; expected increasing whole numbers of {unit} from 1 up",
        )
    return array.astype(np.int64)


def require_memory(repeats: int, each: int) -> None:
    """Raise if sampled galleries, with `each` numbers kept, would take too much memory."""
    if repeats * each * 8 > MOST_BYTES:
        raise DataError(
            f"sampling is {repeats:,} and would take {repeats * each * 8 / 2**30:,.0f} GiB (at "
            f"most {MOST_BYTES >> 30}); expected at most {MOST_BYTES // (each * 8):,} galleries of "
            "these probes. The exact mean needs none"
        )


def refuse_interval(interval: str | None) -> None:
    """Raise if an interval is requested for drawn galleries."""
    if interval is not None:
        raise DataError(
            Argument("interval"),
            f" is {received(interval)}, but intervals are of the whole gallery; give ",
            Argument("gallery", "all"),
            ", or leave ",
            Argument("interval"),
            " out: ",
            Argument("sampling", 100),
            " shows the spread between galleries",
        )


def _whole(name: str, value: Any, expected: str) -> int:
    """Return a whole number from 1 on."""
    try:
        number = operator.index(value) if not isinstance(value, bool) else 0
    except TypeError:
        number = 0
    if number < 1:
        raise DataError(Argument(name), f" is {received(value)}; expected {expected} (at least 1)")
    return min(int(number), int(np.iinfo(np.int64).max))


def require_drawable(scores: Scores, drawn: Drawn, search: Search) -> None:
    """Raise unless the averages over drawn galleries can be computed.

    With several templates of a subject, for ranks among templates or other fusions than the
    nearest, they are no product over subjects.
    """
    require_subjects(scores, f"a gallery of drawn templates (gallery={drawn.gallery!r})")
    if drawn.size > 1 and search.rank_unit != "subject":
        raise DataError(
            f"gallery={drawn.size} with ranks among templates: templates of one subject are not "
            "drawn independently of each other. Give ",
            Argument("rank_unit", "subject"),
            " to rank each subject once, by its nearest drawn template",
        )
    if search.rank_unit == "subject" and search.fusion != "min":
        raise DataError(
            f"gallery={drawn.gallery!r} with fusion={search.fusion!r}: only the nearest of the "
            "drawn templates has a known distribution. Give ",
            Argument("fusion", "min"),
        )
    if scores.layout == "pairs":
        raise ProtocolError("fixed pairs have no gallery to draw from")
