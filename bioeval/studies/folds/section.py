"""What is said of results over folds, repeats of an experiment and repeated partitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.messages import Message
from bioeval.document.blocks import (
    Block,
    Column,
    Fact,
    Messages,
    Paragraph,
    ResultsBySystem,
    Section,
    Table,
)
from bioeval.document.cells import Count, Interval, Label
from bioeval.document.results import (
    data_facts,
    messages_of_result,
    rule_of,
    span_of_thresholds,
    threshold_choice,
)
from bioeval.document.scalars import cell_of_scalar
from bioeval.document.text import Enumeration, Text, say
from bioeval.results.support import is_supported
from bioeval.studies.folds.results import ALIKE, PARTS
from bioeval.views.sections.rows import is_identification
from bioeval.views.tasks import Averaged, averaged, system_of, systems, unit_of

_LONGEST = 160  # characters of a splitter that are shown

#: Splitters that list the fold of each sample, in words.
_LISTED = {
    "PredefinedFolds": "folds as given, one for each template",
    "PredefinedPairFolds": "folds as given, one for each pair",
}


def folds_section(results: ResultsBySystem) -> Section:
    """Return what is said of results by path: of tasks, of one system or of several."""
    several = len(systems(results)) > 1
    by_system: dict[str, xr.Dataset] = {}
    for path, ds in results.items():
        by_system.setdefault(system_of(path) if several else "", ds)
    attrs = next(iter(results.values())).attrs
    protocol = Fact("Protocol", Label(str(attrs.get("protocol", ""))), "protocol")
    partition = Fact("Partition", Label(_splitter(attrs)), "splitter")
    blocks: list[Block] = [data_facts(by_system, protocol, partition)]
    shown: list[Text] = []
    every: list[Averaged] = []
    for path, ds in results.items():  # what several tasks share is said once
        details = list(_details(ds))
        new = [x for x in details if x not in shown]
        title = say("{title}: {size}", title=_title(path, ds, several), size=_attempts(ds))
        rows = list(averaged(ds))
        blocks.append(_task(path, ds, rows, title, new))
        shown += details
        every += rows
    notes = [Paragraph(note, "note") for note in _notes(attrs, every)]
    blocks.append(Section("remarks", "", notes))
    blocks.append(_messages(results, several))
    return Section("folds", "", blocks)


def _splitter(attrs: Mapping[Any, Any]) -> str:
    """Return how the data were divided, not too long."""
    splitter = str(attrs["splitter"])
    splitter = _LISTED.get(str(attrs.get("splitter_class", "")), splitter)
    if len(splitter) > _LONGEST:
        splitter = f"{splitter[: _LONGEST - 4]} ..."
    return splitter


def _title(path: str, ds: xr.Dataset, several: bool) -> Text:
    """Return the title of a task, with the name of its system where there are several."""
    task = str(ds.attrs["task"])
    if several:
        return say("{system}: {title}", system=Label(system_of(path)), title=task)
    return f"{task[0].upper()}{task[1:]}"


def _task_of(ds: xr.Dataset) -> str:
    """Return what the rates of a result are of."""
    return "identification" if is_identification(ds) else "verification"


def _task(
    path: str, ds: xr.Dataset, rows: Sequence[Averaged], title: Text, details: list[Text]
) -> Section:
    """Return the rates of a task, at the thresholds of the training parts and at others.

    Data have those at others in a table of their own.
    """
    name = path.replace("/", "_") or "rates"
    at_rule = [row for row in rows if not row.at_own_threshold]
    of_test = [row for row in rows if row.at_own_threshold]
    rows = [*at_rule, *of_test]
    brief = [i for i, row in enumerate(rows) if row.name != "dir" or row.at["rank"] == 1]
    of_all = _rates("folds", ds, rows)
    shown = [i for i, column in enumerate(of_all.columns) if column.only != "data"]
    of_all = Table(
        "folds",
        [replace(of_all.columns[i], only="readers") for i in shown],
        [[cells[i] for i in shown] for cells in of_all.rows],
        title=title,
        details=details,
        brief=brief,
    )
    blocks: list[Block] = [of_all]
    of_data = {name: at_rule or of_test, f"{name}_own_thresholds": at_rule and of_test}
    blocks += [replace(_rates(id, ds, some), shown=0) for id, some in of_data.items() if some]
    return Section(name, "", blocks, task=_task_of(ds))


#: What is said of a rate over folds: its summaries, their headings and priorities.
_SUMMARIES = {
    "train_mean": ("training", 2),
    "mean": ("test", 0),
    "sd": ("sd", 1),
    "repeats_sd": ("sd of repeats", 2),
    "se": ("se", 3),
    "pooled": ("pooled", 3),
}


def _rates(name: str, ds: xr.Dataset, rows: Sequence[Averaged]) -> Table:
    """Return the means over folds of some rates, with their intervals.

    An asterisk is at those whose thresholds were chosen on the test parts.
    """
    number = ds.sizes["repeat"] * ds.sizes["fold"]
    cells = []
    for row in rows:
        out_of = row.scalar.denominator
        is_known = out_of and {*out_of} <= {*ds.data_vars}
        attempts = int(sum(_of_part(ds, x).sum() for x in out_of)) if is_known else None
        supported = is_supported(ds, row.scalar.name, row.at)
        summaries: list[Text | None] = []
        for key in _SUMMARIES:
            value = row.training() if key == "train_mean" else row.summary(key)
            ends = _interval(row) if key == "mean" else None
            about: dict[str, Any] = {"variable": f"{row.name}_{key}", "at": row.at}
            about["supported"] = supported
            chosen = row.at_own_threshold and (row.scalar.threshold or row.at)
            about["flagged"] = key == "mean" and bool(chosen)
            cell = cell_of_scalar(row.scalar, value, attempts=attempts, interval=ends, **about)
            left_out = key == "se" and not _of_listed_pairs(ds)
            summaries.append(cell if key == "mean" or (cell.is_defined and not left_out) else None)
        folds = Count(int(row.summary("number")), supported=supported)
        cells.append((row.name_in_text, *summaries, folds))
    all_there = all(row.summary("number") == number for row in rows)
    columns = [Column("measure")]
    for key, (heading, priority) in _SUMMARIES.items():
        columns.append(Column(key, heading, priority))
    columns.append(Column("folds", f"{unit_of(ds.attrs)}s", 4, only="data" if all_there else ""))
    return Table(name, columns, cells)


def _interval(row: Averaged) -> Interval | None:
    ends = row.ends()
    return ends if np.isfinite(ends).all() else None


def _of_listed_pairs(ds: xr.Dataset) -> bool:
    """Whether the folds are of listed pairs, with a standard error."""
    return ds.attrs.get("splitter_class") == "PredefinedPairFolds"


def _of_part(ds: xr.Dataset, name: str, part: str = "test") -> np.ndarray:
    """Return the values of a part of the folds that there are."""
    variable = ds[name].variable
    place = ds["part"].values.tolist().index(part)  # xarray would import dask to select
    values = variable.values.take(place, axis=variable.dims.index("part"))
    return values[~np.isnan(values)]


# ----------------------------------------------------------------------------- details


def _details(ds: xr.Dataset) -> Iterator[Text]:
    """Yield what a result says of its parts, its thresholds and its galleries."""
    attrs = ds.attrs
    yield _divisions(ds)
    if "gallery_subjects" in ds and ds["gallery_subjects"].values.all():
        yield _galleries(ds)
    if "experiment" in attrs:
        yield str(attrs["experiment"])
    if "claims" in attrs:
        yield say("claims drawn for each part by {claims}", claims=Label(attrs["claims"]))
    if "threshold" in ds and "chosen_on" in attrs:
        if attrs["chosen_on"] == "given":
            yield say("{rule}, given beforehand", rule=rule_of(attrs))
            return
        span: Text = ""
        if np.isfinite(ds["threshold"].values).any():
            span = say(": {span}", span=span_of_thresholds(ds))
        yield say("threshold at {choice}{span}", choice=threshold_choice(attrs), span=span)


#: The attempts of all test parts together, in words.
_ATTEMPTS = {
    "genuine_attempts": "{number} genuine",
    "attempts": "{number} genuine",
    "impostor_attempts": "{number} impostor",
    "unenrolled_attempts": "{number} by probes not enrolled, counted separately",
}


def _attempts(ds: xr.Dataset) -> Text:
    """Return the test attempts of all folds in words."""
    there = {name: words for name, words in _ATTEMPTS.items() if name in ds}
    numbers = [say(words, number=int(_of_part(ds, name).sum())) for name, words in there.items()]
    return say("{numbers} in test", numbers=Enumeration(numbers, ""))


def _divisions(ds: xr.Dataset) -> Text:
    """Return how the data were divided, and how many subjects each part has."""
    divided, used = "{repeats:count repeats}", "where thresholds are chosen"
    if "experiment" not in ds.attrs:
        divided, used = "{repeats:count divisions} into {folds:count folds}", "in training"
    return say(
        f"{divided}; {{sizes_are_of}}: {{train}} {used}, {{test}} in test",
        **{x: ds.sizes[x[:-1]] for x in ("repeats", "folds") if f"{{{x}:" in divided},
        sizes_are_of=str(ds.attrs["sizes_are_of"]),
        **{part: _span(_of_part(ds, "subjects", part)) for part in PARTS},
    )


def _galleries(ds: xr.Dataset) -> Text:
    """Return how many subjects are enrolled in each part, and what that means for the rates."""
    sizes = {part: _of_part(ds, "gallery_subjects", part) for part in PARTS}
    train, test = (x.mean() for x in sizes.values())
    easier = ""
    if abs(train - test) > ALIKE * max(train, test):
        part = "test" if test < train else "training"
        easier = f"; fewer make fewer errors, so that {part} looks better"
    spans = {part: _span(x) for part, x in sizes.items()}
    return say(
        "enrolled subjects: {train} in training, {test} in test{easier}", easier=easier, **spans
    )


def _span(counts: np.ndarray) -> Text:
    """Return the smallest and the largest of some counts."""
    low, high = int(counts.min()), int(counts.max())
    return Count(low) if low == high else say("{low} to {high}", low=low, high=high)


# ------------------------------------------------------------------------------- notes


def _notes(attrs: Mapping[Any, Any], rows: Sequence[Averaged]) -> Iterator[Text]:
    """Yield what the columns are, and by which method the intervals are found."""
    units = f"{unit_of(attrs)}s"
    if any(np.isfinite(row.training()) for row in rows):
        yield "Training: rate on the data on which the threshold was chosen (optimistic)."
    columns = [f"Test, sd: mean and standard deviation over {units}"]
    if any(np.isfinite(row.summary("repeats_sd")) for row in rows):
        columns.append("sd of repeats: that of the means of the repeats")
    if any(_of_listed_pairs(row.dataset) for row in rows):
        columns.append("se: sd by the square root of the folds, as in LFW tables")
    yield f"{'; '.join([*columns, f'pooled: rate of the summed counts of all {units}'])}."
    if any(row.at_own_threshold for row in rows):
        yield "*: at a threshold that was chosen on the same test part (optimistic)."
    if all(_interval(row) is None for row in rows):
        return
    text = "{level:rate} interval of the test mean by Nadeau and Bengio, a heuristic"
    if attrs.get("interval_method") == "quantile":
        text = f"the middle {{level:rate}} of the {units}, no confidence interval for other people"
    yield say(f"In brackets: {text}.", level=float(attrs["confidence"]))


def _messages(results: ResultsBySystem, several: bool) -> Messages:
    """Return the messages, each with its tasks or systems where not all results have it."""
    paths_of: dict[Message, list[str]] = {}
    for path, ds in results.items():
        for message in messages_of_result(ds):
            arguments = {"task": _task_of(ds), **message.arguments}
            of_task = Message(message.code, message.about, **arguments)
            paths_of.setdefault(of_task, []).append(path)
    listed = []
    for message, paths in paths_of.items():
        if message.about and several and systems(paths) != systems(results):
            message = message.concerning(*systems(paths))
        elif not message.about and len(paths) < len(results):
            message = message.concerning(*(_name(path, results[path], several) for path in paths))
        listed.append(message)
    return Messages(listed)


def _name(path: str, ds: xr.Dataset, several: bool) -> str:
    """Return the name of a result in messages."""
    return f"{system_of(path)}: {ds.attrs['task']}" if several else str(ds.attrs["task"])
