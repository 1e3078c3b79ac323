"""Cost of an evaluation: comparisons, memory, and time from one short measurement."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import xarray as xr

from bioeval import DataError, Protocol, Scores, __version__, evaluate
from bioeval.base import (
    Argument,
    Name,
    physical_memory,
    require_choice,
    require_flag,
    require_integer,
    require_number,
    stage,
)
from bioeval.document import Message, message_attrs
from bioeval.results import build
from bioeval.scores import (
    BlockReader,
    are_pairs,
    codes_of,
    knows_people,
    leaves_out_attacks,
    require_scores,
)
from bioeval.tallies import HELD, PointsWanted

PLANNED_RUN = {
    "comparisons": Name("comparisons, those of a template with itself too", "comparisons"),
    "genuine_comparisons": Name("genuine comparisons", "comparisons"),
    "core_hours": Name("processor time", "hours"),
    "hours": Name("time on all workers, without idle time", "hours"),
    "embedding_bytes": Name("size of the embeddings", "bytes"),
    "matrix_bytes": Name("size of the matrix of scores", "bytes"),
    "working_bytes": Name("memory of a worker that has all templates", "bytes"),
}

FloatFormat = Literal["float16", "float32", "float64"]
DTYPES: tuple[FloatFormat, ...] = get_args(FloatFormat)

Metric = Literal["cosine", "l2", "l1", "linf", "bhattacharyya"]

#: Gallery templates of the larger of two evaluations that are measured.
MEASURED = 4000

# Proportion of the scores that lies near operating points, about: these are kept by the pass.
_KEPT = 0.01

# Bytes of the tiles that a pass holds until they are counted: mates, and a pilot.
_TILES = HELD + (32 << 20)


@leaves_out_attacks
def plan_run(
    scores: Scores | None = None,
    *,
    templates: float | None = None,
    dim: int | None = None,
    subjects: float | None = None,
    probes: float | None = None,
    dtype: FloatFormat = "float32",
    metric: Metric = "cosine",
    protocol: str | Protocol = "auto",
    auc: bool = True,
    workers: int = 1,
) -> xr.Dataset:
    """Estimate the comparisons, memory and processor time of an evaluation.

    Two short evaluations of the same protocol, dimension and dtype are measured on this machine,
    and their processor time is extrapolated to the number of comparisons. Embeddings are planned
    as :meth:`Scores.from_embeddings` compares them, by tiles that are not kept; the matrix of few
    is made whole.

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
    require_choice("metric", metric, get_args(Metric))
    workers = require_integer("workers", workers, low=1)
    auc = require_flag("auc", auc)
    if scores is None:
        if templates is None:
            raise DataError("give scores, or the number of ", Argument("templates"))
        n = _whole("templates", templates, 4)
        if subjects is None:
            subjects = n / 5
        people = _whole("subjects", subjects, 2)
        if people > n:
            raise DataError(Argument("subjects"), f" is {people:,.0f}, more than templates")
        m = n if probes is None else _whole("probes", probes, 1)
        features = 0
        if dim is not None:
            features = require_integer("dim", dim, low=1, high=1 << 16)
        square, distances, held = probes is None, dtype, None
        if features:
            distances = "float64"
    else:
        require_scores(scores)
        if are_pairs(scores) or not knows_people(scores):
            raise DataError("a run is planned for a matrix or embeddings with labels")
        if not (templates is dim is subjects is probes is None):
            raise DataError("the numbers of templates are those of the scores; give either")
        m, n = map(float, scores.shape)
        people, square = float(len(np.unique(codes_of(scores).gallery))), scores._from_square
        features, dtype, distances = 0, _float_format(scores), _float_format(scores)
        if scores._embedded:
            embeddings: Any = scores._embedded_probes
            features, dtype = embeddings.shape[1], _float_format(embeddings)
        source: Any = scores._embedding_source
        held = source is None
        if source is not None:
            metric = "l2" if callable(source.metric) else source.metric
    genuine = m * (n / people - square)
    if genuine <= 0:
        raise DataError("no subject has two templates: there is no genuine comparison to plan")
    item = np.dtype(dtype).itemsize
    wide = np.dtype(distances).itemsize
    each = max(2, min(round(n / people), 50))
    memory = BlockReader.memory(int(m), int(n), int(genuine), wide)
    if held is None:
        held = memory.made
    share = None if square else m / n
    rows = n if square else m + n
    how = _Measured(features, dtype, metric, each, share, distances, held, memory.tiled)
    kept = min(_KEPT * m * n, PointsWanted.MOST_SCORES)
    working = memory.templates + kept * wide
    if features:
        # As given, in the dtype of the distances, and as matrix products take them.
        working += rows * features * (item + wide * (1 + (wide > item)))
        if held:
            working += memory.whole
        else:  # the vectors once more in the order of tiles, and tiles that are held
            working += rows * features * wide + min(memory.whole, _TILES)
            working += memory.streamed
    hours = _seconds(how, protocol, auc, m * n) / 3600
    quantities = {
        "comparisons": m * n,
        "genuine_comparisons": genuine,
        "core_hours": hours,
        "hours": hours / workers,
        "embedding_bytes": rows * features * item,
        "matrix_bytes": memory.whole,
        "working_bytes": working,
    }
    available, messages = physical_memory(), list[Message]()
    if available and working > available:
        messages.append(
            Message("run-exceeds-memory", needed=float(working), available=float(available))
        )
    attrs: dict[str, Any] = {
        "result_type": "planned-run",
        "task": "planned run",
        "workers": workers,
        "dim": features,
    }
    attrs |= {"dtype": dtype, "bioeval_version": __version__, **message_attrs(messages)}
    return build({k: float(v) for k, v in quantities.items()}, PLANNED_RUN, {}, attrs)


def _float_format(values: Any) -> FloatFormat:
    """Return the type of an array or of scores where it can be planned, else float32."""
    return values.dtype.name if values.dtype.name in DTYPES else "float32"


def _whole(name: str, value: Any, low: int) -> float:
    return float(math.floor(require_number(name, value, low=low, high=1e13)))


class _Measured(NamedTuple):
    """What is measured: embeddings with a number of features, or without a matrix of scores.

    `share` is the number of probes over that of the gallery, None for all against all; `held`
    whether the matrix of distances is made whole, and `tiled` whether its rows are read in tiles.
    """

    features: int
    dtype: str
    metric: Metric
    each: int  # templates of a subject
    share: float | None
    distances: Any  # the dtype of distances, or of the scores
    held: bool = False
    tiled: bool = True


def _example(how: _Measured, templates: int) -> Callable[[], Scores]:
    """Return what makes scores like the planned ones, with a number of gallery templates."""
    rng = np.random.default_rng(0)
    labels, camera = np.arange(templates) // how.each, np.arange(templates) % 2
    m = templates
    if how.share is not None:
        m = min(templates, max(how.each, round(templates * how.share)))
    features = how.features or 32
    people = rng.normal(size=(labels[-1] + 1, features))
    x = people[labels] + 0.7 * rng.normal(size=(templates, features))
    probes = people[labels[:m]] + 0.7 * rng.normal(size=(m, features))
    if how.metric == "bhattacharyya":
        x, probes = np.abs(x), np.abs(probes)
    sides: dict[str, Any] = {"probe": x.astype(how.dtype)}
    about: dict[str, Any] = {"probe_labels": labels, "probe_meta": {"camera": camera}}
    if how.share is not None:
        sides = {"probe": probes.astype(how.dtype), "gallery": x.astype(how.dtype)}
        about = {"probe_labels": labels[:m], "probe_meta": {"camera": 1 - camera[:m]}}
        about |= {"gallery_labels": labels, "gallery_meta": {"camera": camera}}

    def embedded() -> Scores:
        """Embeddings beyond a memory limit that their matrix just exceeds: blocks, as of many."""
        options: dict[str, Any] = about | {"metric": how.metric, "dtype": how.distances}
        if not how.held:
            size = m * templates * np.dtype(how.distances).itemsize
            options["memory_limit"] = size - 1
        made = Scores.from_embeddings(**sides, **options)
        if not (how.held or how.tiled):
            made._base.tile = 1
        return made

    if how.features:
        return embedded
    values = Scores.from_embeddings(**sides, **about, metric=how.metric).values.astype(how.dtype)
    return lambda: Scores(values, **about)


def _seconds(how: _Measured, protocol: str | Protocol, auc: bool, comparisons: float) -> float:
    """Return the processor time of an evaluation, measured at two sizes once all is compiled."""
    cells, seconds = [], []
    made = []  # kept, so that each is in memory that is new to the process, as that of a run is
    with stage("measuring a short evaluation"):
        for templates in (MEASURED // 2, MEASURED):
            make, times = _example(how, templates), []
            for _ in range(3):
                before = time.process_time()
                made.append(make())
                evaluate(made[-1], protocol, auc=auc)
                times.append(time.process_time() - before)
            cells.append(math.prod(made[-1].shape))
            seconds.append(min(times))
    each = (seconds[1] - seconds[0]) / max(cells[1] - cells[0], 1)
    if each <= 0:  # few probes, whose comparisons take no time beside the rest
        each = seconds[1] / cells[1]
    return max(seconds[1] - each * cells[1], 0.0) + each * comparisons
