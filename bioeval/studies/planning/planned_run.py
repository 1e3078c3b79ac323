"""Cost of an evaluation: comparisons, memory, and time from one short measurement."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any, Literal, get_args

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_flag, require_integer, require_number
from bioeval.base.errors import Argument, DataError, counted, require_choice
from bioeval.base.kinds import METRICS, MetricName
from bioeval.base.lazy import without
from bioeval.base.memory import in_words, physical_memory
from bioeval.base.progress import stage
from bioeval.base.scalars import Name
from bioeval.base.version import __version__
from bioeval.evaluation.evaluate import evaluate
from bioeval.protocol.card import Protocol
from bioeval.results.blocks import Block, Found, Sentence, Table, Warnings
from bioeval.results.dataset import build
from bioeval.scores.blocks import estimated_bytes
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.embeddings import MOST_COLUMNS
from bioeval.scores.matrix import Scores, are_pairs, require_scores

PLANNED_RUN = {
    "comparisons": Name("comparisons, those of a template with itself too", "comparisons"),
    "genuine_comparisons": Name("genuine comparisons", "comparisons"),
    "core_hours": Name("processor time", "hours"),
    "hours": Name("time on all workers, without idle time", "hours"),
    "embedding_bytes": Name("size of the embeddings", "bytes"),
    "matrix_bytes": Name("size of the matrix of scores (never stored)", "bytes"),
    "working_bytes": Name("memory of a worker that has all templates", "bytes"),
}

FloatFormat = Literal["float16", "float32", "float64"]
DTYPES: tuple[FloatFormat, ...] = get_args(FloatFormat)

_NO_PRICE = "the plan gives core hours, and nothing is made smaller to fit"
_NO_WIDTH = "be.sample_size plans the width of an interval"

#: Gallery templates of the evaluation that is measured.
MEASURED = 4000


@leaves_out_attacks
@without(
    **dict.fromkeys(("price", "max_hours", "max_cost"), _NO_PRICE),
    **dict.fromkeys(("frr", "icc", "far", "far_icc", "frr_width"), _NO_WIDTH),
    recalibrate="this machine is measured in each call",
)
def plan_run(
    scores: Scores | None = None,
    *,
    templates: float | None = None,
    dim: int | None = None,
    subjects: float | None = None,
    probes: float | None = None,
    dtype: FloatFormat = "float32",
    metric: MetricName = "cosine",
    protocol: str | Protocol = "auto",
    auc: bool = True,
    workers: int = 1,
) -> xr.Dataset:
    """Estimate the comparisons, memory and processor time of an evaluation.

    A short evaluation of the same protocol, dimension and dtype is measured on this machine, and
    its processor time is scaled by the number of comparisons.

    Parameters
    ----------
    scores : Scores, optional
        A matrix in a file, or embeddings, to be evaluated. Otherwise `templates` describes them.
    templates : float, optional
        Gallery templates, such as ``1e8``; without `probes`, all are compared with all.
    dim : int, optional
        Features of an embedding; left out, a matrix of scores is planned.
    subjects : float, optional
        Subjects of the gallery. By default a fifth of the templates.
    probes : float, optional
        Probes of a probe-against-gallery evaluation.
    dtype : {"float16", "float32", "float64"}
        Of the embeddings, or of the scores.
    metric : {"cosine", "l2", "l1", "linf", "bhattacharyya"}
    protocol : str or Protocol
        As for :func:`bioeval.evaluate`.
    auc : bool
        As for :func:`bioeval.evaluate`.
    workers : int
        Processor cores, all busy until the end.

    Returns
    -------
    xarray.Dataset
        Scalars: ``comparisons genuine_comparisons core_hours hours embedding_bytes matrix_bytes
        working_bytes``.

    Raises
    ------
    DataError
        If a number is missing or out of range.

    Notes
    -----
    The time is an estimate: it does not know how far genuine and impostor scores overlap, nor the
    time to read a file. Certainty follows from the number of subjects, not of comparisons:
    :func:`bioeval.sample_size`.

    Examples
    --------
    >>> import bioeval as be
    >>> plan = be.plan_run(templates=1e6, dim=128, workers=64)  # doctest: +SKIP
    >>> float(plan.comparisons)  # doctest: +SKIP
    1000000000000.0
    """
    require_choice("dtype", dtype, DTYPES)
    require_choice("metric", metric, METRICS)
    workers = require_integer("workers", workers, low=1)
    auc = require_flag("auc", auc)
    if scores is None:
        if templates is None:
            raise DataError(f"give scores, or the number of {Argument('templates')}")
        n = _whole("templates", templates, 4)
        people = _whole("subjects", n / 5 if subjects is None else subjects, 2)
        if people > n:
            raise DataError(f"{Argument('subjects')} is {people:,.0f}, more than templates")
        m = n if probes is None else _whole("probes", probes, 1)
        features = 0 if dim is None else require_integer("dim", dim, low=1, high=1 << 16)
        square = probes is None
    else:
        require_scores(scores)
        if are_pairs(scores) or not scores.labelled:
            raise DataError("a run is planned for a matrix or embeddings with labels")
        if any(x is not None for x in (templates, dim, subjects, probes)):
            raise DataError("the numbers of templates are those of the scores; give either")
        m, n = map(float, scores.shape)
        people, square = float(len(np.unique(scores.codes.gallery))), scores.from_square
        dtype = scores.dtype.name if scores.dtype.name in DTYPES else "float32"
        features = scores.base.features if scores.streams else 0
        named: Any = scores.base.metric if scores.streams else metric
        metric = "l2" if callable(named) else named
    genuine = m * (n / people - square)
    if genuine <= 0:
        raise DataError("no subject has two templates: there is no genuine comparison to plan")
    each = max(2, min(round(n / people), 50))
    example = _example((features, dtype, metric), each, None if square else m / n)
    item = np.dtype(dtype).itemsize
    if features and n * item > 4 * MOST_COLUMNS:  # whose rows are not computed in tiles
        example.base.tile = 1
    seconds = _seconds_per_comparison(example, protocol, auc) * m * n
    rows, counted = (n if square else m + n), max(item, 4)
    working = float(estimated_bytes(int(m), int(n), int(genuine)) + 2 * rows * features * counted)
    found = {
        "comparisons": m * n,
        "genuine_comparisons": genuine,
        "core_hours": seconds / 3600,
        "hours": seconds / 3600 / workers,
        "embedding_bytes": rows * features * item,
        "matrix_bytes": m * n * (counted if features else item),
        "working_bytes": working,
    }
    there, warning = physical_memory(), ""
    if there and working > there:
        warning = (
            f"a worker would need {in_words(working)} and this machine has {in_words(there)}: "
            f"split the probes among workers, and the gallery into {math.ceil(2 * working / there)}"
            " parts (bioeval best-mates, then bioeval tally --mates)"
        )
    attrs: dict[str, Any] = {"task": "planned run", "workers": workers, "dim": features}
    attrs |= {"dtype": dtype, "bioeval_version": __version__, "warnings": warning}
    return build({k: float(v) for k, v in found.items()}, PLANNED_RUN, {}, attrs)


def _whole(name: str, value: Any, low: int) -> float:
    return float(math.floor(require_number(name, value, low=low, high=1e13)))


def _example(how: tuple[int, str, MetricName], each: int, share: float | None) -> Scores:
    """Return scores like the planned ones, with `MEASURED` gallery templates at most."""
    features, dtype, metric = how
    rng = np.random.default_rng(0)
    labels, camera = np.arange(MEASURED) // each, np.arange(MEASURED) % 2
    dim = features or 32
    x = rng.normal(size=(labels[-1] + 1, dim))[labels] + 0.7 * rng.normal(size=(MEASURED, dim))
    x = (np.abs(x) if metric == "bhattacharyya" else x).astype(dtype)
    given: tuple[Any, ...] = (x, labels)
    meta: dict[str, Any] = {"probe_meta": {"camera": camera}}
    if share is not None:
        m = min(MEASURED, max(each, round(MEASURED * share)))
        given = (x[:m] + np.abs(x[:m]) / 4, labels[:m], x, labels)
        meta = {"probe_meta": {"camera": 1 - camera[:m]}, "gallery_meta": {"camera": camera}}
    # A limit that the matrix just exceeds: it is computed in blocks, as a large one is.
    limit = 8 * len(given[0]) * MEASURED - 1
    streamed = Scores.from_embeddings(*given, metric=metric, memory_limit=limit, **meta)
    if features:
        return streamed
    return Scores(streamed.base.whole().astype(dtype), *given[1::2], **meta)


def _seconds_per_comparison(scores: Scores, protocol: str | Protocol, auc: bool) -> float:
    """Return processor time by comparison, once all kernels are compiled."""
    with stage("measuring a short evaluation"):
        for _ in range(2):
            before = time.process_time()
            evaluate(scores, protocol, auc=auc)
            seconds = time.process_time() - before
    return seconds / math.prod(scores.shape)


def blocks(found: Found) -> Iterator[Block]:
    """Yield a line for each quantity."""
    ds = found[""]
    one = {str(k): float(v) for k, v in ds.data_vars.items()}
    sizes = [("matrix", "matrix_bytes")]
    if ds.attrs["dim"]:
        sizes = [("embeddings", "embedding_bytes"), ("their matrix, not stored", "matrix_bytes")]
    rows = [
        ("comparisons", f"{one['comparisons']:.4g}"),
        ("genuine comparisons", f"{one['genuine_comparisons']:.4g}"),
        *((what, in_words(one[name])) for what, name in sizes),
        ("memory of a worker", in_words(one["working_bytes"])),
        ("processor time", _hours_text(one["core_hours"])),
        (f"time on {counted(ds.attrs['workers'], 'workers')}", _hours_text(one["hours"])),
    ]
    yield Table(["", ""], rows, widths=[-26, 16])
    yield Sentence()
    yield Sentence(
        "The time is scaled from a short evaluation on this machine, on processor cores that are "
        "never idle. How many people a test needs: bioeval sample-size."
    )
    yield Warnings(found, reworded=False)


def _hours_text(hours: float) -> str:
    """Return hours with three digits, and less than an hour in seconds."""
    return f"{hours:,.3g} hours" if hours >= 1 else f"{hours * 3600:,.3g} s"
