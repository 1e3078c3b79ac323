"""Results over several galleries: each of them, and the mean of all."""

from __future__ import annotations

import xarray as xr

from bioeval.base.errors import Message, message_attrs, messages_of
from bioeval.results.dataset import MEAN
from bioeval.results.variables import GALLERY
from bioeval.stats.aggregate import aggregate

#: Rates that are averaged, where the results have them.
_MEANS = ("eer", "auc", "frr_at_far", "dir_at_far", "cms", "recognition_rate", "cmc", "mean_ap")

#: Attempts, which are added up; they do not weight any mean.
_SUMS = ("genuine_attempts", "impostor_attempts", "attempts", "skipped", "queries")


def each_gallery(results: xr.Dataset) -> dict[str, xr.Dataset]:
    """Return the results of each gallery by its name, and their mean as a further gallery."""
    names = results["gallery"].values.tolist()
    sizes = [name for name in GALLERY if name in results]
    by_name = {}
    for place, name in enumerate(names):
        of_gallery = results.isel(gallery=place, drop=True)
        if "rank" in of_gallery.dims:  # a smaller gallery has fewer ranks
            of_gallery = of_gallery.dropna("rank", how="all")
        messages = []
        for message in messages_of(results.attrs):
            if name in message.about or {*names}.isdisjoint(message.about):
                messages.append(_without_galleries(message, names))
        attrs = {**results.attrs, **message_attrs(messages)}
        attrs |= {size: int(of_gallery[size]) for size in sizes}
        by_name[name] = of_gallery.drop_vars(sizes).assign_attrs(attrs)
    by_name[MEAN] = mean_of_galleries(results)
    return by_name


def _without_galleries(message: Message, names: list[str]) -> Message:
    about = [name for name in message.about if name not in names]
    return Message(message.code, about, **message.arguments)


def mean_of_galleries(results: xr.Dataset) -> xr.Dataset:
    """Return the mean of the rates over several galleries, and the sums of their attempts.

    Each gallery keeps its own threshold at each FAR, and all galleries have the same weight:
    attempts are never pooled. IJB-C's figures are such means, over its galleries G1 and G2. Ranks
    that not all galleries have are left out, and so are curves over thresholds.

    Definition: Maze and others, IARPA Janus Benchmark - C (ICB 2018), 1:N identification;
    ``docs/definitions.md``, "Several galleries".
    """
    rates = results[[name for name in _MEANS if name in results]]
    statistics = aggregate(rates, "gallery")
    in_all = statistics.sel(statistic="number", drop=True) == results.sizes["gallery"]
    means = statistics.sel(statistic="mean", drop=True).where(in_all)
    if "rank" in means.dims:
        means = means.dropna("rank", how="all")
    counts = results[[name for name in _SUMS if name in results]].sum("gallery", keep_attrs=True)
    means = means.assign(counts.drop_vars(counts.coords).astype("int64"))
    names = results["gallery"].values.tolist()
    messages = [Message("mean-over-galleries", galleries=names)]
    messages += [_without_galleries(message, names) for message in messages_of(results.attrs)]
    sums = {name: int(results[name].sum()) for name in ("gallery_templates", "gallery_subjects")}
    means.attrs = {**results.attrs, **sums, **message_attrs(messages)}
    return means
