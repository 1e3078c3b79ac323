"""The rows of a table: which values of a dataset are shown, and what each is over."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from bioeval.protocol import CARD_OF_LAYOUT
from bioeval.tallies.points import per_cent
from bioeval.views.tables import numbers
from bioeval.views.tables.row import Classes, Over, Row, Section

if TYPE_CHECKING:
    import xarray as xr

#: With this many thresholds or fewer, they were asked for and each has its rows.
FEW = 12

#: So many of the worst queries are named.
WORST = 5

#: Ranks that are shown where no protocol card says others.
RANKS = (1, 5, 10)

#: The nodes of an evaluation, in the order in which they are shown.
TASKS = ("verification", "single", "multi", "open_set", "closed_set", "reid")

# What the course cards evaluate, in words.
_TASKS_OF_COURSE = {
    "verification/single": "single-template verification",
    "verification/multi": "multi-template verification",
    "open_set": "open set",
    "closed_set": "closed set",
}

#: What holds of every operating point, and of no threshold that was given.
CHOSEN = (
    "the thresholds of EER and FAR targets were chosen on these same data: rates there are "
    "optimistic"
)

_UPSIDE_DOWN = (
    "AUC is below 0.5: impostors look more alike than mates; are these scores really of kind {}? "
    'If not, say `kind="{}"`'
)


def datasets(tree: xr.DataTree | xr.Dataset) -> Iterator[tuple[str, xr.Dataset]]:
    """Return the path and the dataset of each task, in the order in which they are shown."""
    import xarray as xr

    if isinstance(tree, xr.Dataset):
        yield "", tree
        return
    if tree.data_vars:
        yield tree.path.strip("/"), tree.to_dataset()
    children = list(tree.children.values())
    place = {name: i for i, name in enumerate(TASKS)}
    for node in sorted(children, key=lambda node: place.get(str(node.name), -1)):
        yield from datasets(node)


def systems(paths: Iterable[str]) -> list[str]:
    """Return the systems that the paths of tasks belong to."""
    return list(dict.fromkeys(_system(path) for path in paths))


def _system(path: str) -> str:
    """Return what stands before the task in a path: the system, where there are several."""
    parts = path.split("/")
    first = next((i for i, part in enumerate(parts) if part in TASKS), len(parts))
    return "/".join(parts[:first])


def report_ranks(dataset: xr.Dataset) -> list[int]:
    """Return the ranks to show: the protocol card's, else `RANKS`, as far as there are any.

    Rank 1 is shown where the results reach none of them.
    """
    if "rank" not in dataset.coords:
        return []
    said = [int(word) for word in str(dataset.attrs.get("report_ranks", "")).split()]
    there = dataset["rank"].values.tolist()
    return [rank for rank in said or RANKS if rank in there] or there[:1]


def has_chosen(dataset: xr.Dataset) -> bool:
    """Whether there are rates at thresholds that were chosen on the data themselves."""
    return "chosen_on" not in dataset.attrs and any(
        name in dataset for name in ("eer", "frr_at_far", "dir_at_far")
    )


# ------------------------------------------------------------------------ the tasks


def section(dataset: xr.Dataset, path: str = "", several: bool = False) -> Section:
    """Return the rows of a task's dataset, under the system's name where there are several."""
    attrs = dataset.attrs
    more: list[str] = []
    if "mean_ap" in dataset and "queries" in dataset:
        rows = list(_reid(dataset))
        details = _details(attrs, "removes", "junk", "cmc_counts", "ties", "ap")
        more = [_queries(dataset), *_worst(dataset)]
    elif "cms" in dataset:
        rows = list(_closed_set(dataset))
        details = _details(attrs, "gallery", "rank_unit", "ties", "fusion")
    elif "dir" in dataset:
        rows = list(_open_set(dataset))
        details = _details(
            attrs, "genuine_gallery_subjects", "gallery", "rank_unit", "ties", "impostors", "fusion"
        )
        details = "; ".join(filter(None, [details, "DIR is TPIR, FAR is FPIR"]))
    else:
        rows = list(_verification(dataset))
        multi = attrs.get("templates") == "multi"
        details = _details(attrs, *(("fusion",) if multi else ()), "claims")
    notes = dict.fromkeys(f"n/a: {row.why_not}" for row in rows if not row.is_defined)
    return Section(title(dataset, path, several), details, rows, [*more, *notes])


def title(dataset: xr.Dataset, path: str, several: bool) -> str:
    """Return what a task is called, with its system where there are several."""
    task = str(dataset.attrs.get("task", path)) or "results"
    return f"{_system(path)}: {task}" if several else task[0].upper() + task[1:]


def _details(attrs: Mapping[str, Any], *names: str) -> str:
    """Say with which options a task was evaluated."""
    # Fusion is named in the sense of distances: min takes the nearest template.
    of_distances = " in the sense of distances" if attrs.get("kind") == "similarity" else ""
    says: dict[str, Callable[[str], str]] = {
        "genuine_gallery_subjects": lambda x: _searched(attrs),
        "gallery": lambda x: _drawn(x, str(attrs.get("sampling", ""))),
        "rank_unit": lambda x: f"ranks count {x}s",
        "ties": lambda x: f"{x} ties",
        "impostors": lambda x: f"impostors {x}",
        "fusion": lambda x: "" if x == "none" else f"fusion {x}{of_distances}",
        "claims": lambda x: "" if x in ("", "all") else f"claims {x}",
        "removes": lambda x: f"removed: {x.replace('-', ' ')}",
        "junk": lambda x: f"junk {x}",
        "cmc_counts": lambda x: f"CMC counts {x}",
        "ap": lambda x: f"AP {x}",
    }
    said = [says[name](str(attrs[name])) for name in names if name in attrs]
    return ", ".join(text for text in said if text)


def _drawn(gallery: str, sampling: str) -> str:
    """Say which galleries were drawn, where templates were."""
    if gallery == "multi":
        return ""
    count = "1 template" if gallery == "single" else f"{int(gallery):,} templates"
    how = "exact mean over all galleries" if sampling == "exact" else f"{sampling} galleries drawn"
    return f"{count} of each subject, {how}"


def _searched(attrs: Mapping[str, Any]) -> str:
    """Say how many subjects a probe is compared with; impostors may have one less."""
    genuine = attrs["genuine_gallery_subjects"]
    impostor = attrs.get("impostor_gallery_subjects", genuine)
    if not int(genuine):
        templates = int(attrs.get("gallery_templates", 0))
        return f"gallery of {numbers.counted(templates, 'templates')}, subjects unknown"
    text = f"N = {numbers.counted(int(genuine), 'subjects')}"
    if str(impostor) == str(genuine):
        return text
    others = f"{impostor:,}" if isinstance(impostor, int) else impostor
    return f"{text} ({others} for impostors)"


def _verification(dataset: xr.Dataset) -> Iterator[Row]:
    over = _classes(dataset)
    fine, finer = _decimals(over.genuine.genuine), _decimals(over.impostor.impostor)
    if (eer := _scalar(dataset, "eer")) is not None:
        threshold_0, ends = _scalar(dataset, "eer_threshold"), _ends(dataset, "eer_interval")
        yield Row("EER", eer, over.both, threshold_0, decimals=fine, ends=ends)
    for i, (target, frr, threshold) in enumerate(_targets(dataset, "frr_at_far")):
        name = f"FNMR at FMR <= {per_cent(target)}{numbers.fvc_name(target)}"
        ends = _ends(dataset, "frr_at_far", far_target=i)
        yield Row(name, frr, over.both, threshold, decimals=fine, ends=ends)
    if (zero := _scalar(dataset, "zero_far")) is not None:
        threshold_0 = _scalar(dataset, "zero_far_threshold")
        yield Row("FNMR at FMR = 0 (ZeroFMR)", zero, over.both, threshold_0, decimals=fine)
    if (zero := _scalar(dataset, "zero_frr")) is not None:
        threshold_0 = _scalar(dataset, "zero_frr_threshold")
        yield Row("FMR at FNMR = 0 (ZeroFNMR)", zero, over.both, threshold_0, decimals=finer)
    if (auc := _scalar(dataset, "auc")) is not None:
        ends = _ends(dataset, "auc")
        yield Row("AUC", auc, over.both, unit="", decimals=5, ends=ends)
    yield from _costs(dataset, over)
    if (d_prime := _scalar(dataset, "d_prime")) is not None:
        why = "the scores of both classes have no spread"
        yield Row("d'", d_prime, over.both, unit="", decimals=3, undefined=why, is_share=False)
    for i, threshold in _few_thresholds(dataset, "frr_at_far"):
        far, frr = float(dataset["far"][i]), float(dataset["frr"][i])
        ends = _ends(dataset, "far", threshold=i)
        yield Row("FMR", far, over.impostor, threshold, decimals=finer, ends=ends)
        ends = _ends(dataset, "frr", threshold=i)
        yield Row("FNMR", frr, over.genuine, threshold, decimals=fine, ends=ends)


def _open_set(dataset: xr.Dataset) -> Iterator[Row]:
    over = _classes(dataset)
    fine, finer = _decimals(over.genuine.genuine), _decimals(over.impostor.impostor)
    if (eer := _scalar(dataset, "eer")) is not None:
        why = "FAR and 1 - DIR do not cross"
        threshold_0 = _scalar(dataset, "eer_threshold")
        ends = _ends(dataset, "eer_interval")
        yield Row(
            "EER, rank 1", eer, over.both, threshold_0, decimals=fine, undefined=why, ends=ends
        )
    for i, (target, rate, limit) in enumerate(_targets(dataset, "dir_at_far")):
        name = f"DIR at FAR <= {per_cent(target)}, rank 1"
        ends = _ends(dataset, "dir_at_far", far_target=i, rank=0)
        yield Row(name, rate, over.both, limit, decimals=fine, ends=ends)
    # Of expected rates, operating points are known between two thresholds of the result.
    for end in ("at least", "at most"):
        if (eer := _scalar(dataset, f"eer_{end}".replace(" ", "_"))) is not None:
            yield Row(f"EER, rank 1, {end}", eer, over.both, decimals=fine)
    bounds = [f"dir_at_far_{end}" for end in ("at_least", "at_most")]
    ends_of = zip(*(_targets(dataset, name) for name in bounds), strict=True)
    for (target, least, _), (_, most, _) in ends_of:
        name = f"DIR at FAR <= {per_cent(target)}, rank 1"
        yield Row(f"{name}, at least", least, over.both, decimals=fine)
        yield Row(f"{name}, at most", most, over.both, decimals=fine)
    first = dataset["dir"].isel(rank=0)
    instead = "dir_at_far" if "dir_at_far" in dataset else bounds[0]
    for i, threshold in _few_thresholds(dataset, instead):
        name, far = "DIR, rank 1", float(dataset["far"][i])
        ends = _ends(dataset, "dir", threshold=i, rank=0)
        yield Row(name, float(first[i]), over.genuine, threshold, decimals=fine, ends=ends)
        ends = _ends(dataset, "far", threshold=i)
        yield Row("FAR", far, over.impostor, threshold, decimals=finer, ends=ends)


def _costs(dataset: xr.Dataset, over: Classes) -> Iterator[Row]:
    """Return the least cost at each prior but one half, over that of accepting or rejecting all."""
    if "min_cost" not in dataset:
        return
    names = ("min_cost", "min_cost_threshold", "cost_prior", "cost_miss", "cost_false_accept")
    for least, threshold, prior, miss, false in zip(
        *(dataset[name].values.tolist() for name in names), strict=True
    ):
        blind = min(prior * miss, (1 - prior) * false)
        if prior != 0.5 and blind > 0:
            what = f"minDCF at prior {prior:g}"
            yield Row(what, least / blind, over.both, threshold, "", 4, is_share=False)


def _closed_set(dataset: xr.Dataset) -> Iterator[Row]:
    attempts = int(_scalar(dataset, "attempts") or 0)
    over = Over(attempts, None, _classes(dataset).genuine.subjects)
    for rank in report_ranks(dataset):
        name = f"Rank {rank:,}" + (" (recognition rate)" if rank == 1 else "")
        value = float(dataset["cms"].sel(rank=rank))
        ends = _ends(dataset, "cms", rank=dataset["rank"].values.tolist().index(rank))
        yield Row(name, value, over, decimals=_decimals(attempts), ends=ends)


def _reid(dataset: xr.Dataset) -> Iterator[Row]:
    queries = int(_scalar(dataset, "queries") or 0)
    over = Over(queries, None, _classes(dataset).genuine.subjects)
    why = "AP and INP are not offered under expected ties"
    if "beyond_lists" in dataset:
        why = "matches stand beyond the lists"
    cut = dataset.attrs.get("rank_k", _scalar(dataset, "rank_k"))
    decimals = _decimals(queries)
    for name, measure in (
        ("mean_ap", "mAP"),
        ("rank_k_mean_ap", f"mAP, lists cut at rank {cut or 0:.0f}"),
    ):
        if (value := _scalar(dataset, name)) is not None:
            yield Row(measure, value, over, decimals=decimals, undefined=why)
    for rank in report_ranks(dataset):
        yield Row(f"Rank {rank:,}", float(dataset["cmc"].sel(rank=rank)), over, decimals=decimals)
    if (value := _scalar(dataset, "mean_inp")) is not None:
        yield Row("mINP", value, over, decimals=decimals, undefined=why)


def precision_of_queries(dataset: xr.Dataset) -> xr.DataArray:
    """Return the average precision of each query; of top-K lists, that of the cut list."""
    names = ("average_precision", "rank_k_average_precision")
    return dataset[next(name for name in names if name in dataset)]


def _worst(dataset: xr.Dataset) -> Iterator[str]:
    """Name the worst queries, where there are values of each."""
    if "probe" not in dataset.dims:
        return
    found = precision_of_queries(dataset).dropna("probe")
    found = found.sortby(found)[:WORST]
    rows = zip(found["probe"].values.tolist(), found.values.tolist(), strict=True)
    listed = ", ".join(f"{row} (AP {100 * value:.1f} %)" for row, value in rows)
    if listed:
        yield f"the worst queries, by row from 0: {listed}"


def _queries(dataset: xr.Dataset) -> str:
    """Say how many queries there were, and what they did not see."""
    count = {k: int(_scalar(dataset, k) or 0) for k in ("queries", "skipped", "removed")}
    said = f"{numbers.counted(count['queries'], 'queries')}; {count['skipped']:,} skipped"
    if "removed" not in dataset:  # lists do not tell how many
        return said
    return f"{said}; {numbers.counted(count['removed'], 'comparisons')} removed"


# ------------------------------------------------------------------------ picking


def _scalar(dataset: xr.Dataset, name: str) -> float | None:
    """Return a 0-d variable, or None where it is not there."""
    if name not in dataset or dataset[name].ndim:
        return None
    return float(dataset[name].item())


def _ends(dataset: xr.Dataset, stem: str, **at: int) -> tuple[float, float] | None:
    """Return the ends of an interval, or None where there is none."""
    names = f"{stem}_low", f"{stem}_high"
    if any(name not in dataset for name in names):
        return None
    low, high = (float(dataset[name].isel(at)) for name in names)
    return None if math.isnan(low) or math.isnan(high) else (low, high)


def intervals(found: Mapping[str, xr.Dataset]) -> list[str]:
    """Say how the intervals were found."""
    said = []
    for dataset in found.values():
        attrs = dataset.attrs
        if "interval_method" not in attrs:
            continue
        text = f"{100 * float(attrs['confidence']):g} % interval, {attrs['interval_method']}"
        if "replicates" in attrs:
            text += f" ({int(attrs['replicates']):,} replicates)"
        said.append(f"In brackets: {text}.")
    return list(dict.fromkeys(said))


def _classes(dataset: xr.Dataset) -> Classes:
    """Return the attempts, and whose probes made them.

    Genuine attempts are those of subjects that are in the gallery. In verification every probe
    makes impostor attempts; in open set, those that the option ``impostors`` says.
    """
    attrs = dataset.attrs
    genuine = int(_scalar(dataset, "genuine_attempts") or 0)
    impostor = int(_scalar(dataset, "impostor_attempts") or 0)
    everyone = int(attrs.get("probe_subjects", 0))
    enrolled = int(
        attrs.get("enrolled_subjects", everyone if attrs.get("layout") == "all-against-all" else 0)
    )
    both = others = everyone
    if attrs.get("impostors") == "unenrolled":
        others = everyone - enrolled
    elif attrs.get("impostors") == "leave-subject-out":
        both = others = enrolled
    return Classes(
        Over(genuine, impostor, both),
        Over(genuine, None, enrolled),
        Over(None, impostor, others),
    )


def _targets(dataset: xr.Dataset, name: str) -> Iterator[tuple[float, float, float | None]]:
    """Return target, rate and threshold at each FAR target; at rank 1, where there are ranks."""
    if name not in dataset:
        return
    rates, limits = dataset[name], dataset.get("threshold_at_far")
    if "rank" in rates.dims:
        rates = rates.isel(rank=0)
    if limits is not None and "rank" in limits.dims:
        limits = limits.isel(rank=0)
    if rates.dims != ("far_target",):
        return
    for i, target in enumerate(dataset["far_target"].values.tolist()):
        yield target, float(rates[i]), None if limits is None else float(limits[i])


def _few_thresholds(dataset: xr.Dataset, instead: str) -> Iterator[tuple[int, float]]:
    """Return all thresholds if they are few; else three, unless the table has `instead`."""
    count = dataset.sizes.get("threshold", 0)
    places: Iterable[int] = range(count)
    if count > FEW:
        places = () if instead in dataset else [round(i * (count - 1) / 4) for i in (1, 2, 3)]
    for i in places:
        yield i, float(dataset["threshold"][i])


def _decimals(attempts: int | None) -> int:
    """Return as many decimals of a per cent as make one attempt visible, up to four."""
    return min(4, max(1, len(str(attempts)) - 2))


# ------------------------------------------------------------------------ around the rows


def about(found: Mapping[str, xr.Dataset]) -> Iterator[tuple[str, str]]:
    """Say, line by line, what the results are about."""
    if not found:
        return
    attrs = next(iter(found.values())).attrs
    layout, kind = str(attrs.get("layout", "")), str(attrs.get("kind", ""))
    name = ", ".join(filter(None, systems(found))) or str(attrs.get("system", ""))
    if name:
        yield "System", name
    if layout:
        yield "Data", _data(attrs, layout)
    if attrs.get("origin"):
        yield "Made of", str(attrs["origin"])
    accepts = {
        "distance": "distances, accepted at or below the threshold",
        "similarity": "similarities, accepted at or above the threshold",
        "order": "order within each row; no thresholds",
    }
    if kind:
        yield "Scores", accepts.get(kind, kind)
    means = {
        "reject": "a failed comparison is an attempt that is always rejected",
        "exclude": "a failed comparison is no attempt",
    }
    if attrs.get("nan_policy") in means:
        text = means[attrs["nan_policy"]]
        if "failed_comparisons" in attrs:
            text += f"; {int(attrs['failed_comparisons']):,} failed"
        yield "NaN", text
    if attrs.get("protocol"):
        yield "Protocol", str(attrs["protocol"])
    if why := left_out(found):
        yield "Left out", why


def _data(attrs: Mapping[str, Any], layout: str) -> str:
    probes, subjects = int(attrs.get("probes", 0)), int(attrs.get("probe_subjects", 0))
    templates = int(attrs.get("gallery_templates", 0))
    gallery = int(attrs.get("gallery_subjects", 0))
    if layout == "pairs":
        return numbers.counted(probes, "pairs")
    unknown = "" if subjects or gallery else "; subjects unknown"
    if layout == "all-against-all" and probes == templates:
        return f"{_of(probes, 'templates', subjects)}, all against all{unknown}"
    who, whom = _of(probes, "probes", subjects), _of(templates, "gallery templates", gallery)
    return f"{who} against {whom}{unknown}"


def _of(count: int, what: str, subjects: int) -> str:
    of = f" of {numbers.counted(subjects, 'subjects')}" if subjects else ""
    return numbers.counted(count, what) + of


def left_out(found: Mapping[str, xr.Dataset]) -> str:
    """Say which tasks of the layout's own card the scores do not support, and why."""
    if not found:
        return ""
    attrs = next(iter(found.values())).attrs
    layout = str(attrs.get("layout"))
    if layout == "pairs" or attrs.get("protocol") != CARD_OF_LAYOUT.get(layout):
        return ""
    done = {path.removeprefix(_system(path)).strip("/") for path in found}
    tasks = [words for path, words in _TASKS_OF_COURSE.items() if path not in done]
    if not tasks:
        return ""
    listed = " and ".join(filter(None, [", ".join(tasks[:-1]), tasks[-1]]))
    if attrs.get("kind") == "order":
        return f"{listed}; scores that only order a row have no thresholds across rows"
    if not attrs.get("probe_subjects") and not attrs.get("gallery_subjects"):
        return f"{listed}; a mask alone does not say which templates belong together"
    return ""


def alarms(found: Mapping[str, xr.Dataset]) -> dict[str, list[str]]:
    """Return what makes all results doubtful, with the paths of the tasks that show it."""
    said: dict[str, list[str]] = {}
    for path, dataset in found.items():
        auc = _scalar(dataset, "auc")
        if auc is not None and auc < 0.5:
            kind = dataset.attrs.get("kind", "distance")
            other = "distance" if kind == "similarity" else "similarity"
            line = _UPSIDE_DOWN.format(kind, other)
            said.setdefault(line, []).append(path)
    return said


def warnings(found: Mapping[str, xr.Dataset]) -> dict[str, list[str]]:
    """Return each warning with the paths of the tasks that gave it."""
    said: dict[str, list[str]] = {}
    for path, dataset in found.items():
        for line in str(dataset.attrs.get("warnings", "")).splitlines():
            said.setdefault(line, []).append(path)
    return said
