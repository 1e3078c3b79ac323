"""The mean of results over galleries, each at its own thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bioeval import DataError
from bioeval.base import Name, counted, names_of
from bioeval.document import Message, from_json, message_attrs, messages_of
from bioeval.evaluation import TaskCounts
from bioeval.results import ClosedSetCounts, OpenSetAttempts, OpenSetCounts, Scalars, task_code
from bioeval.studies.galleries.drawn import Drawn
from bioeval.studies.galleries.random_galleries import (
    ENROLLED,
    MATE,
    TARGET,
    UNENROLLED,
    GalleryTally,
)
from bioeval.tallies import FAR_TARGETS, IdentificationTally, check_targets, role_of

if TYPE_CHECKING:
    from bioeval.scores import BlockReader
    from bioeval.stats import IntervalOptions


#: Rates that are averaged, where the results have them.
_MEANS = ("eer", "auc", "frr_at_far", "dir_at_far", "cms", "recognition_rate", "cmc", "mean_ap")

#: Attempts, which are added up; no mean is weighed by them.
_SUMS = ("genuine_attempts", "impostor_attempts", "attempts", "skipped", "queries")


def mean_over_galleries(results: Mapping[str, xr.Dataset]) -> xr.Dataset:
    """Return the mean of the rates of one task over several galleries.

    Each gallery keeps its own threshold at each FAR, and all galleries weigh the same: attempts are
    never pooled. IJB-C's figures are such means, over its galleries G1 and G2.

    Parameters
    ----------
    results : mapping of str to Dataset
        The result of one task, such as :func:`bioeval.open_set`, for each gallery by name, with the
        same FAR targets.

    Returns
    -------
    xarray.Dataset
        The means of ``dir_at_far`` over ``far_target, rank``, ``cms`` and ``cmc`` over ``rank``,
        ``frr_at_far`` over ``far_target``, and ``eer auc recognition_rate mean_ap``, as far as the
        results have them, NaN where that of some gallery is; the sums of the attempts; in the
        attributes ``galleries``. Ranks that not all galleries have are left out. There are no
        curves over thresholds, which differ between the galleries.

    Raises
    ------
    DataError
        If there are fewer than two galleries, or they are results of different tasks, or at
        different FAR targets.

    Notes
    -----
    Definition: Maze and others, IARPA Janus Benchmark - C (ICB 2018), 1:N identification;
    ``docs/definitions.md``, "Several galleries".

    Examples
    --------
    >>> import numpy as np, bioeval as be
    >>> from bioeval.studies.galleries.results import mean_over_galleries
    >>> values, probes = np.array([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7]]), ["ann", "bob", "eve"]
    >>> results = {
    ...     name: be.open_set(be.Scores(values[:, [i]], probes, [name]), far_targets=[0.1])
    ...     for i, name in enumerate(["ann", "bob"])
    ... }
    >>> mean_over_galleries(results).dir_at_far.values
    array([[1.]])
    """
    named = isinstance(results, Mapping)
    if not named or not all(isinstance(x, xr.Dataset) for x in results.values()):
        raise DataError(f"results is {type(results).__name__}; expected results by name, a mapping")
    if len(results) < 2:
        raise DataError(f"results has {counted(len(results), 'galleries')}; expected at least two")
    every = list(results.values())
    titles = {task_code(dataset.attrs): str(dataset.attrs.get("task", "")) for dataset in every}
    if len(titles) > 1:
        raise DataError(f"results are of different tasks: {', '.join(sorted(titles.values()))}")
    first = every[0]
    shared = []
    dims: dict[Any, None] = {}
    for name in (*_MEANS, *_SUMS):
        if all(name in dataset.variables for dataset in every):
            shared.append(name)
            dims |= dict.fromkeys(first[name].dims)
    coordinates = {}
    for dim in map(str, dims):
        length = min(dataset.sizes[dim] for dataset in every) if dim == "rank" else None
        labels = first[dim].values[:length]
        for dataset in every:
            if not np.array_equal(labels, dataset[dim].values[:length]):
                raise DataError(
                    f"results are at different values of {dim}; evaluate all at the same"
                )
        coordinates[dim] = (dim, labels, first[dim].attrs)
    variables = {}
    for name in shared:
        arrays = []
        for dataset in every:
            array = dataset[name].transpose(*first[name].dims)
            if "rank" in array.dims:  # up to the last rank of all
                array = array.isel(rank=slice(len(coordinates["rank"][1])))
            arrays.append(array.values)
        values = np.stack(arrays)
        together = values.mean(axis=0) if name in _MEANS else values.sum(axis=0)
        variables[name] = (first[name].dims, together, first[name].attrs)
    attrs = dict(first.attrs)
    for dataset in every:
        attrs = {k: v for k, v in attrs.items() if (k, v) in dataset.attrs.items()}
    attrs.pop("enrolled_subjects", None)  # equal numbers of different subjects
    for name in ("gallery_templates", "gallery_subjects"):
        attrs[name] = sum(int(dataset.attrs.get(name, 0)) for dataset in every)
    found: list[Message] = [Message("mean-over-galleries", galleries=list(results))]
    for dataset in every:
        found += messages_of(dataset.attrs)
    attrs.pop("messages", None)  # those that all galleries have
    attrs |= {"galleries": " ".join(results), **message_attrs(found)}
    return xr.Dataset(variables, coordinates, attrs)


# Curves that are also given gallery by gallery.
BY_GALLERY = ("cms", "far", "frr")


# The same in all galleries; the rest is averaged.
SAME = (
    "attempts",
    "skipped",
    "genuine_attempts",
    "impostor_attempts",
    "target_probes",
    "non_target_probes",
    "expected_false_accepts",
    "subjects",
    "genuine_subjects",
    "impostor_subjects",
)


# Not averaged: their means have no meaning.
LEFT_OUT = (
    "eer_threshold",
    "threshold_at_far",
    "eer_bracket_low",
    "eer_bracket_high",
    "far_at_eer",
    "frr_at_eer",
)


def sampled_dataset(
    tallies: list[IdentificationTally],
    each: Iterable[xr.Dataset],
    drawn: Drawn,
    note: str = "",
    fewer_mates: int = 0,
) -> xr.Dataset:
    """Return the means over sampled galleries, one tally each, with the spread between them.

    The dataset is as `each` of one gallery, but each rate is the mean over galleries.
    ``<name>_sd`` is the standard deviation between galleries (``ddof = 1``, NaN of one gallery),
    ``<name>_se`` the standard error of the mean: how far it may lie from the exact mean over all
    galleries. It says nothing about other probes or subjects. ``<name>_by_gallery`` holds the
    curves of each.
    """
    mean: dict[str, np.ndarray] = {}
    square: dict[str, np.ndarray] = {}
    curves: dict[str, list[np.ndarray]] = {}
    first: xr.Dataset | None = None
    for count, one in enumerate(each, 1):
        if first is None:
            first = one
        for name in one.data_vars:
            key, values = str(name), one[name].values.astype(np.float64)
            if key in SAME or key in LEFT_OUT:
                continue
            if key not in mean:
                mean[key], square[key] = np.zeros(values.shape), np.zeros(values.shape)
            step = values - mean[key]
            mean[key] = mean[key] + step / count
            square[key] = square[key] + step * (values - mean[key])
            if key in BY_GALLERY:
                curves.setdefault(key, []).append(values)
    assert first is not None  # there is at least one gallery
    repeats = drawn.repeats
    variables: dict[str, Any] = {}
    for name in first.data_vars:
        key, old = str(name), first[name]
        if key in SAME:
            variables[key] = old
        if key not in mean:
            continue
        variables[key] = (old.dims, mean[key], old.attrs)
        if old.attrs.get("units") != "1":
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = np.sqrt(square[key] / (repeats - 1 or np.nan))
        says = old.attrs["long_name"]
        variables[f"{key}_sd"] = (old.dims, spread, Name(f"between galleries, {says}").attrs())
        about = Name(f"standard error over galleries, {says}").attrs()
        variables[f"{key}_se"] = (old.dims, spread / np.sqrt(repeats), about)
    for key, curve in curves.items():
        about = Name(f"of each drawn gallery, {first[key].attrs['long_name']}").attrs()
        variables[f"{key}_by_gallery"] = (("repeat", *first[key].dims), np.stack(curve), about)
    coords = {k: (k, v.values, v.attrs) for k, v in first.coords.items()}
    coords["repeat"] = ("repeat", np.arange(repeats), Name("drawn gallery").attrs())
    attrs = first.attrs | drawn_attrs(drawn)
    attrs |= message_attrs(from_json(note), attrs)
    mated = int((tallies[0].mates > 0).sum())  # the same in all galleries
    return with_fewer_mates(xr.Dataset(variables, coords, attrs), fewer_mates, mated, drawn.size)


def closed_set_expected(
    tally: GalleryTally, *, unmated: str = "auto", note: str = ""
) -> xr.Dataset:
    """Return the expected CMS over the ranks; probes without a mate as in one gallery."""
    tied = tally.tied.values()[0, 0]
    counts = ClosedSetCounts(expected_ranks(tally)[-1], tally.genuine, tally.unmated, tied)
    counts.require_mated(tally.about.layout, unmated, tally.first_unmated)
    options = {**drawn_attrs(Drawn(tally.size)), "ties": tally.ties, "unmated": unmated}
    dataset = counts.dataset(tally.about, options, from_json(note))
    return with_fewer_mates(dataset, tally.fewer_mates, tally.genuine, tally.size)


def open_set_expected(
    tally: GalleryTally,
    *,
    impostors: str = "auto",
    far_targets: Sequence[float] = FAR_TARGETS,
    note: str = "",
) -> xr.Dataset:
    """Return expected DIR over thresholds and ranks, and FAR over thresholds."""
    about = tally.about
    role = role_of(about.layout, impostors, not tally.non_targets)
    expected = expected_ranks(tally)
    identified, every = expected[:-1], expected[-1]
    within = tally.within
    accepted, impostor = expected_accepts(tally, role)
    counts = OpenSetCounts(
        attempts=OpenSetAttempts(
            genuine=tally.genuine,
            impostor=impostor,
            tied=tally.tied.values()[0, 0],
            targets=tally.targets,
            non_targets=tally.non_targets,
            unmated=tally.unmated_targets,
        ),
        thresholds=tally.thresholds,
        detected=tally.di[:-1].accumulated(axis=0).values(),
        identified=identified,
        accepted=accepted,
        targets_within=within[TARGET].values(),
        own_within=within[MATE].values(),
        non_targets_within=within[UNENROLLED].values(),
    )
    targets = check_targets(far_targets)
    points = counts.bounds(every, targets)
    options = {**drawn_attrs(Drawn(tally.size)), "ties": tally.ties, "impostors": role}
    notes: list[Message] = [*from_json(note)]
    if tally.genuine and impostor:
        notes.append(Message("points-between-thresholds"))
    result = counts.dataset(points, targets, about, options, notes, [])
    return with_fewer_mates(result, tally.fewer_mates, tally.genuine, tally.size)


def expected_accepts(tally: GalleryTally, role: str) -> tuple[np.ndarray, int]:
    """Return the expected number of impostor searches accepted within each threshold, of all."""
    within = tally.within
    accepted, impostor = {
        "leave-subject-out": (within[ENROLLED], tally.impostors_enrolled),
        "unenrolled": (within[UNENROLLED], tally.impostors_unenrolled),
        "both": (
            within[ENROLLED].merge(within[UNENROLLED]),
            tally.impostors_enrolled + tally.impostors_unenrolled,
        ),
    }[role]
    return np.minimum(accepted.values(), impostor), impostor


def with_fewer_mates(dataset: xr.Dataset, fewer: int, genuine: int, size: int) -> xr.Dataset:
    """Add the number of genuine attempts with fewer templates than are drawn."""
    if size < 2:
        return dataset
    attrs = names_of("open_set")["fewer_mates"].attrs()
    dataset = dataset.assign(fewer_mates=((), np.int64(fewer), attrs))
    if fewer:
        found = Message("fewer-mates-than-drawn", fewer=fewer, genuine=genuine, templates=size)
        dataset.attrs |= message_attrs([found], dataset.attrs)
    return dataset


def expected_ranks(tally: GalleryTally) -> np.ndarray:
    """Return the expected number at each rank or better, within each threshold and overall."""
    table = tally.di.accumulated(axis=0).accumulated(axis=1).values()
    # The chances of a probe add up to 1 but for their rounding.
    return np.minimum(table, tally.genuine)


def drawn_attrs(drawn: Drawn) -> dict[str, str | int | float]:
    """Return the attributes that describe which galleries were drawn, and how."""
    fusion = "min" if drawn.size > 1 else "none"
    return {
        "rank_unit": "subject",
        "fusion": fusion,
        "gallery": drawn.gallery,
        "sampling": str(drawn.repeats or "exact"),
        "draw": "uniformly without replacement, independently for each probe and subject",
    }


def dataset(tally: GalleryTally, node: str, options: dict[str, Any]) -> xr.Dataset:
    """Return the result of expected counts; `node` is ``"open_set"`` or ``"closed_set"``."""
    if node == "open_set":
        return open_set_expected(tally, **options)
    return closed_set_expected(tally, **options)


def scalars(tally: GalleryTally, node: str, options: dict[str, Any]) -> Scalars:
    """Return the numbers of the result of some counts."""
    return Scalars.of_dataset(dataset(tally, node, options))


def with_intervals(
    dataset: xr.Dataset,
    counts: TaskCounts,
    counter: Any,
    reader: BlockReader,
    options: IntervalOptions,
) -> Message:
    """Return that the result has no confidence intervals."""
    return Message("no-interval-over-drawn-galleries")
