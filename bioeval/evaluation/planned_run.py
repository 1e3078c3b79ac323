"""What an evaluation will take: comparisons, memory, hours and cost, and what leaving out costs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr
from scipy.special import ndtri

from bioeval.base.arguments import require_integer, require_number
from bioeval.base.errors import Argument, DataError, require_choice
from bioeval.base.memory import in_words, physical_memory
from bioeval.base.variables import PLANNED_RUN
from bioeval.base.version import __version__
from bioeval.evaluation.machine_speed import Speed, Work, read_seconds, speed_of
from bioeval.protocol.card import Protocol
from bioeval.results.dataset import Variables, build
from bioeval.scores.embeddings import METRICS
from bioeval.scores.matrix import PairScores, Scores
from bioeval.scores.working_memory import estimated_bytes
from bioeval.stats.planning import Components, assumed, kurtosis, subjects_for_width
from bioeval.stats.run_certainty import far_error, frr_error

CONFIDENCE, ASSURANCE = 0.95, 0.92

DTYPES = ("float16", "float32", "float64")

#: Sweeps over a container, each of which inflates its chunks once.
SWEEPS = 2

#: The part of the subjects or probes where neither hours nor a cost says how much is too much.
PART = 0.1


@dataclass(frozen=True)
class Size:
    """Templates and subjects of both sides; with `same`, probes are templates of the gallery."""

    probes: float
    gallery: float
    probe_subjects: float
    subjects: float
    same: bool

    @property
    def cells(self) -> float:
        """Comparisons that are computed, those of a template with itself too."""
        return self.probes * self.gallery

    @property
    def genuine(self) -> float:
        """Comparisons of a subject with itself; all subjects have as many templates."""
        each = self.gallery / self.subjects
        return self.probes * (each - 1 if self.same else each)


def plan_run(
    scores: Scores | None = None,
    *,
    templates: float | None = None,
    dim: int | None = None,
    subjects: float | None = None,
    probes: float | None = None,
    dtype: str = "float32",
    metric: str = "cosine",
    protocol: str | Protocol = "auto",
    auc: bool = True,
    workers: int = 1,
    price: float = 0.0,
    max_hours: float | None = None,
    max_cost: float | None = None,
    frr: float = 0.02,
    icc: float = 0.2,
    far: float = 1e-4,
    far_icc: float = 0.001,
    frr_width: float = 0.01,
    recalibrate: bool = False,
) -> xr.Dataset:
    """Return what an evaluation will take, and what smaller ones would lose.

    A short calibration run of the same protocol, dimension and dtype is measured on this machine,
    or one of the last 30 days taken, and scaled by the numbers of templates and comparisons.

    Parameters
    ----------
    scores : Scores, optional
        What is to be evaluated: a matrix in a file, or embeddings. Its own container is read to
        find how fast that is. Otherwise `templates` are described.
    templates : float, optional
        Gallery templates, such as ``1e8``; without `probes`, all are compared with all.
    dim : int, optional
        Features of an embedding; left out, a matrix of scores is planned.
    subjects : float, optional
        Subjects of the gallery. By default a fifth of the templates.
    probes : float, optional
        Probes of a probe-against-gallery evaluation, of subjects of the gallery, each with as many.
    dtype : {"float16", "float32", "float64"}
        Of the embeddings, or of the scores.
    metric : {"cosine", "l2", "l1", "linf", "bhattacharyya"}
    protocol : str or Protocol
        As for :func:`bioeval.evaluate`.
    auc : bool
        As for :func:`bioeval.evaluate`.
    workers : int
        Processor cores, all busy until the end.
    price : float
        Of a core for an hour, in any currency.
    max_hours, max_cost : float, optional
        What is too much: smaller runs are planned that fit.
    frr, icc, far, far_icc : float
        Assumed for the certainty: the FRR and the correlation of two genuine errors of a person;
        the FAR, and the correlation of two false accepts that share a person.
    frr_width : float
        The 95 % interval of the FRR is to be so wide: how many subjects do that.
    recalibrate : bool
        Measure anew in any case.

    Returns
    -------
    xarray.Dataset
        Over ``run``, the whole and smaller ones: ``comparisons genuine_comparisons planned_subjects
        planned_probes planned_gallery core_hours hours cost frr_interval far_interval``. Scalars:
        ``embedding_bytes matrix_bytes working_bytes subjects_for_width calibrated_start
        calibrated_template calibrated_cell``. What was measured is in the attributes.

    Raises
    ------
    DataError
        If a number is missing or out of range.

    Notes
    -----
    The error of an FRR falls with the square root of the number of subjects; that of an FAR has a
    part that no number of comparisons among the same people lowers. Formulas:
    ``docs/planning.md``, "The cost of a run".

    Examples
    --------
    >>> import bioeval as be
    >>> plan = be.plan_run(templates=1e6, dim=128, workers=64, price=0.04)  # doctest: +SKIP
    >>> float(plan.comparisons.sel(run="everything"))  # doctest: +SKIP
    1000000000000.0
    """
    size, work = _described(
        scores, templates, dim, subjects, probes, (dtype, metric, protocol, auc)
    )
    workers = require_integer("workers", workers, low=1)
    price = require_number("price", price, low=0.0)
    limits = [
        None if value is None else require_number(name, value, above=0.0)
        for name, value in (("max_hours", max_hours), ("max_cost", max_cost))
    ]
    if limits[1] is not None and not price:
        raise DataError(f"{Argument('max_cost')} needs {Argument('price')}, of a core for an hour")
    components = assumed(
        require_number("frr", frr, above=0.0, high=0.5),
        require_number("icc", icc, above=0.0, high=1.0),
        0.0,
    )
    far = require_number("far", far, above=0.0, high=0.5)
    far_icc = require_number("far_icc", far_icc, low=0.0, high=0.5)
    width = require_number("frr_width", frr_width, above=0.0, high=1.0)
    speed, reading = speed_of(work, again=recalibrate), 0.0
    if scores is not None and scores.is_stored:
        reading = SWEEPS * read_seconds(scores)

    def core_hours(size: Size) -> float:
        return (speed.seconds(size.probes, size.gallery) + reading * size.cells) / 3600

    bounds = [x for x in (limits[0] and limits[0] * workers, limits[1] and limits[1] / price) if x]
    runs = _runs(size, core_hours, min(bounds, default=None))
    rows = []
    for run in runs.values():
        hours = core_hours(run)
        rows.append(
            (run.cells, run.genuine, run.subjects, run.probes, run.gallery, hours,
             hours / workers, hours * price, *_intervals(run, components, far, far_icc))
        )  # fmt: skip
    names = (
        *("comparisons", "genuine_comparisons", "planned_subjects", "planned_probes"),
        *("planned_gallery", "core_hours", "hours", "cost", "frr_interval", "far_interval"),
    )
    variables: Variables = {
        name: (("run",), np.array(column, dtype=float))
        for name, column in zip(names, zip(*rows, strict=True), strict=True)
    }
    variables |= _scalars(size, work, components, width, speed)
    attrs: dict[str, Any] = {
        "task": "planned run",
        "workers": workers,
        "price": price,
        "dim": work.dim,
        "dtype": work.dtype,
        "frr": components.rate,
        "icc": icc,
        "far": far,
        "far_icc": far_icc,
        "frr_width": width,
        "calibrated": f"{speed.measured} on {speed.machine}; processor time of one thread",
        "calibration_error": speed.error,
        "read_seconds": reading,
        "bioeval_version": __version__,
        "warnings": "\n".join(_warnings(size, variables, core_hours, bounds)),
    }
    return build(variables, PLANNED_RUN, {"run": np.array(list(runs))}, attrs)


def _described(
    scores: Scores | None,
    templates: float | None,
    dim: int | None,
    subjects: float | None,
    probes: float | None,
    how: tuple[str, str, str | Protocol, bool],
) -> tuple[Size, Work]:
    """Return the numbers of templates, and the work, of scores or of a description."""
    dtype, metric, protocol, auc = how
    require_choice("dtype", dtype, DTYPES)
    require_choice("metric", metric, METRICS)
    if scores is not None:
        if isinstance(scores, PairScores) or not scores.labelled:
            raise DataError("a run is planned for a matrix or embeddings with labels")
        if any(x is not None for x in (templates, dim, subjects, probes)):
            raise DataError("the numbers of templates are those of the scores; give either")
        m, n = map(float, scores.shape)
        same = scores.layout == "all-against-all"
        probe_people, people = (
            float(len(np.unique(x))) for x in (scores.codes.probe, scores.codes.gallery)
        )
        size = Size(m, n, probe_people, people, same)
        dtype = scores.dtype.name if scores.dtype.name in DTYPES else "float32"
        features = scores.base.features if scores.streams else 0
        named = scores.base.metric if scores.streams else metric
        metric = named if isinstance(named, str) else "l2"
    else:
        if templates is None:
            raise DataError(f"give scores, or the number of {Argument('templates')}")
        n = _whole("templates", templates, 4)
        people = _whole("subjects", n / 5 if subjects is None else subjects, 2)
        if people > n:
            raise DataError(f"{Argument('subjects')} is {people:,.0f}, more than templates")
        same = probes is None
        m = n if probes is None else _whole("probes", probes, 1)
        size = Size(m, n, people if same else min(people, m), people, same)
        features = 0 if dim is None else require_integer("dim", dim, low=1, high=1 << 16)
    if size.genuine <= 0:
        raise DataError("no subject has two templates: there is no genuine comparison to plan")
    share = 0.0 if size.same else size.probes / size.gallery
    each = max(1, round(size.gallery / size.subjects))
    return size, Work(protocol, features, dtype, metric, each, round(min(share, 1.0), 1), auc)


def _whole(name: str, value: Any, low: int) -> float:
    number = require_number(name, value, low=low, high=1e13)
    return float(math.floor(number))


def _runs(size: Size, core_hours: Any, most: float | None) -> dict[str, Size]:
    """Return the whole run and smaller ones, by name."""
    each = size.gallery / size.subjects
    runs = {"everything": size}
    if size.same and each > 1:
        runs["one probe a subject"] = replace(size, probes=size.subjects)
    fits = most is None or core_hours(size) <= most
    of_subjects = (
        math.sqrt(PART)
        if fits
        else _largest(lambda part: core_hours(_fewer_subjects(size, part)), most)
    )
    of_probes = PART if fits else _largest(lambda p: core_hours(_fewer_probes(size, p)), most)
    if of_subjects:
        runs["fewer subjects"] = _fewer_subjects(size, of_subjects)
    if of_probes:
        runs["fewer probes"] = _fewer_probes(size, of_probes)
    return runs


def _largest(cost: Any, most: float | None) -> float:
    """Return the largest part of a run whose cost is at most so much, by halving."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if cost(middle) <= (most or 0.0) else (low, middle)
    return low


def _fewer_subjects(size: Size, part: float) -> Size:
    """Return the run with a part of the subjects on both sides."""
    kept = max(2.0, math.floor(part * size.subjects))
    people = kept if size.same else max(1.0, math.floor(part * size.probe_subjects))
    return replace(
        size,
        probes=size.probes * people / size.probe_subjects,
        gallery=size.gallery * kept / size.subjects,
        probe_subjects=people,
        subjects=kept,
    )


def _fewer_probes(size: Size, part: float) -> Size:
    """Return the run with the probes of a part of the subjects, and the whole gallery."""
    kept = max(1.0, math.floor(part * size.probe_subjects))
    return replace(size, probes=size.probes * kept / size.probe_subjects, probe_subjects=kept)


def _intervals(
    size: Size, components: Components, far: float, far_icc: float
) -> tuple[float, float]:
    """Return how wide the 95 % intervals of the FRR and of the FAR are."""
    z = 2 * float(ndtri(0.5 + CONFIDENCE / 2))
    gallery = size.gallery / size.subjects
    probes = size.probes / size.probe_subjects
    whole = size.same and size.probe_subjects == size.subjects
    if size.same and gallery == probes:
        gallery = probes = max(2, round(gallery))
    frr = frr_error(components, size.probe_subjects, probes, gallery, same=size.same)
    wrong = far_error(far, far_icc, size.probe_subjects, size.subjects, same=whole)
    return z * frr, z * wrong


def _scalars(
    size: Size, work: Work, components: Components, width: float, speed: Speed
) -> Variables:
    item = np.dtype(work.dtype).itemsize
    rows = size.gallery if size.same else size.probes + size.gallery
    each = max(2, round(size.gallery / size.subjects))
    variance = components.subject_variance(each)
    needed = subjects_for_width(
        variance, kurtosis(components.rate, variance), width, CONFIDENCE, ASSURANCE
    )
    counted = 4 if item <= 4 else 8
    held = estimated_bytes(int(size.probes), int(size.gallery), int(size.genuine))
    embeddings = rows * work.dim * item
    return {
        "embedding_bytes": ((), float(embeddings)),
        "matrix_bytes": ((), size.cells * (counted if work.dim else item)),
        "working_bytes": ((), float(held + 2 * rows * work.dim * counted)),
        "subjects_for_width": ((), float(needed)),
        "calibrated_start": ((), speed.start),
        "calibrated_template": ((), speed.template),
        "calibrated_cell": ((), speed.cell),
    }


def _warnings(size: Size, variables: Variables, core_hours: Any, bounds: list[float]) -> list[str]:
    found = []
    there = physical_memory()
    working = float(variables["working_bytes"][1])
    if there and working > there:
        parts = math.ceil(working / (0.5 * there))
        found.append(
            f"a worker would need {in_words(working)} and this machine has {in_words(there)}: "
            f"split the probes among workers, and the gallery into {parts:,} parts that fit "
            "(bioeval best-mates, then bioeval tally --mates)"
        )
    if bounds and core_hours(size) > min(bounds):
        found.append("everything is more than the limit; the runs with fewer templates fit")
    needed = float(variables["subjects_for_width"][1])
    if needed < size.subjects / 2:
        found.append(
            f"{needed:,.0f} subjects would do for the interval of the FRR that is wanted; more "
            "serve smaller FAR, and groups of people"
        )
    if abs(core_hours(size) * 3600) < 1:
        found.append("so small a run is mostly its start: the time is rough")
    return found
