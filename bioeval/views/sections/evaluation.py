"""An evaluation as a document: a table for each task, remarks, and warnings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import xarray as xr

from bioeval.base.errors import counted
from bioeval.base.kinds import larger_is_closer
from bioeval.base.messages import Message
from bioeval.counting.points import FAR_TARGETS
from bioeval.document.blocks import Block, Column, Messages, Paragraph, Section, Table
from bioeval.document.cells import Count, Label
from bioeval.document.results import (
    candidates_in_words,
    interval_note,
    is_doubt,
    messages_of_result,
)
from bioeval.document.terms import rates_are_of
from bioeval.document.text import Enumeration, Text, say
from bioeval.scores.arrays import parse_fusion
from bioeval.views.sections.header import about, alarms, optimistic, paths_of_messages
from bioeval.views.sections.rows import (
    NumberRow,
    closed_set_rows,
    gom_rows,
    open_set_rows,
    precision_of_queries,
    reid_rows,
    sample_size,
    verification_rows,
)
from bioeval.views.tasks import datasets, system_of, systems, value_of

#: Number of the worst queries that are named.
WORST = 5

#: Targets that the data do not support, and those with fewer errors than 30.
SUPPORT = ("target-not-supported", "target-uncertain")

#: The numbers of re-identification that a short view has.
_MAIN = ("mean_ap", "rank_k_mean_ap", "cmc", "mean_inp")

# What the policies of ties mean.
_TIES = {
    "pessimistic": "the mate ranks last among equal scores (pessimistic)",
    "optimistic": "the mate ranks first among equal scores (optimistic)",
    "expected": "rates are means over all orders of equal scores (expected ties)",
    "stable": "equal scores keep the order of the gallery (stable ties)",
}

# Which searches make impostor attempts of identification.
_IMPOSTORS = {
    "leave-subject-out": "impostors search without the templates of their own subject "
    "(leave-subject-out)",
    "unenrolled": "impostors are people who are not enrolled",
    "both": "impostors are people who are not enrolled, and all others without the templates of "
    "their own subject (both)",
}

# What a convention of re-identification leaves out of the list of a query, and what it counts.
_REMOVED = {
    "same-id-same-camera": "entries of the same identity and camera",
    "same-camera": "entries of the same camera",
    "none": "none",
}
_CMC = {
    "first-match": "the first match",
    "allshots": "all matches",
    "single-gallery-shot": "one entry of each identity (single shot), other measures all",
    "identity-dedup": "distinct identities, other measures all entries",
}


def section(tree: xr.DataTree | xr.Dataset) -> Section:
    """Return what is said of an evaluation, of one or several systems."""
    results = dict(datasets(tree, once=True))
    several = len(systems(results)) > 1
    ranked = bool(results) and all(map(_is_ranked, results.values()))
    rows = {path: list(rows_of_task(dataset)) for path, dataset in results.items()}
    with_rows = {
        path: results[path] for path in results if any(row.value.is_defined for row in rows[path])
    }
    blocks: list[Block] = []
    for message, paths in alarms(results).items():
        names = systems(paths) if several else ()
        blocks.append(Messages([message.concerning(*names)], alarm=True))
    blocks.append(about(results))
    above, said = "", set[tuple[str, Message]]()
    for path, dataset in results.items():
        named = title(dataset, path, several)
        details = _details(dataset.attrs, _options_and_notes(dataset)[0])
        if "cms" in dataset:  # the same rules as those of the open set above it
            details = "; ".join(x for x in details.split("; ") if x not in above.split("; "))
        above = details
        # What several tasks lack is said once, where it is met first.
        every = [x for x in messages_of_result(dataset) if x.code in SUPPORT]
        support = [x for x in every if (system_of(path), x) not in said]
        said.update((system_of(path), x) for x in support)
        blocks.append(_task(dataset, path, named, rows[path], ranked, (details, support)))
    remarks: list[Text] = [optimistic(with_rows.values())]
    remarks += [note.text for note in interval_note(results)]
    notes = [Paragraph(remark, "note") for remark in remarks if remark]
    blocks.append(Section("remarks", "", notes))
    blocks.append(_messages(results, with_rows, several))
    return Section("evaluation", "", blocks)


def title(dataset: xr.Dataset, path: str, several: bool) -> str:
    """Return the title of a task, with the name of its system where there are several."""
    task = str(dataset.attrs.get("task", path)) or "results"
    if several:
        return f"{system_of(path)}: {task}"
    return task[0].upper() + task[1:]


def rows_of_task(dataset: xr.Dataset) -> Iterator[NumberRow]:
    """Return the rows of the table of a task."""
    if "mrep" in dataset:
        return gom_rows(dataset)
    if "mean_ap" in dataset and "queries" in dataset:
        return reid_rows(dataset)
    if "cms" in dataset:
        return closed_set_rows(dataset)
    if "dir" in dataset or "dir_at_far" in dataset:
        return open_set_rows(dataset)
    return verification_rows(dataset)


def is_identification(dataset: xr.Dataset) -> bool:
    """Whether the rates of a task are those of identification."""
    return not {"cms", "dir", "dir_at_far"}.isdisjoint(dataset)


def _task(
    dataset: xr.Dataset,
    path: str,
    named: Text,
    rows: list[NumberRow],
    ranked: bool,
    about_rows: tuple[str, list[Message]],
) -> Section:
    """Return the table of a task, or why it has none.

    Above its rows are details, and below them what the data do not support.
    """
    details, support = about_rows
    task = rates_are_of(dataset.attrs, searches=is_identification(dataset))
    name = path.replace("/", "_") or "results"
    undefined = [row.why_not for row in rows if not row.value.is_defined]
    reasons = list({repr(why): why for why in undefined}.values())
    if rows and len(undefined) == len(rows):
        why = Enumeration(reasons, ";")
        none = say("{title}: no results ({why})", title=named, why=why)
        return Section(name, none, (), task=task)
    notes = _options_and_notes(dataset)[1]
    notes += [say("n/a: {why}", why=why) for why in reasons]
    columns = [
        Column("measure"),
        Column("value", "value"),
        Column("threshold", "threshold", only="data" if ranked else "", priority=1),
    ]
    if size := _sample_size(dataset):
        named = say("{title}: {size}", title=named, size=size)
    table = Table(
        name,
        columns,
        [(x.label, x.value, x.threshold) for x in rows],
        title=named,
        details=[*filter(None, [candidates_in_words(dataset.attrs)]), details],
        notes=[*support, *notes],
        brief=_brief(dataset, rows),
    )
    return Section(name, "", (table, *_each_query(dataset)), task=task)


def _each_query(dataset: xr.Dataset) -> Iterator[Table]:
    """Yield all queries with their values, the worst first, for data alone."""
    if "probe" not in dataset.dims or "mrep" in dataset:
        return
    dataset = dataset.sortby(precision_of_queries(dataset))
    names = [str(name) for name, values in dataset.data_vars.items() if values.dims == ("probe",)]
    rows: list[list[Text | None]] = []
    for query in range(dataset.sizes["probe"]):
        cells: list[Text | None] = [Label(dataset[name].values[query].item()) for name in names]
        rows.append([Count(int(dataset["probe"][query])), *cells])
    columns = [Column("query"), *map(Column, names)]
    yield Table("queries", columns, rows, shown=0)


def _brief(dataset: xr.Dataset, rows: Sequence[NumberRow]) -> list[int] | None:
    """Return the places of the rows of a short view: those that are asked for.

    None, for all of them, if the targets are a user's.
    """
    if "mrep" in dataset:
        return None
    if "mean_ap" in dataset:
        main = [row.value.variable in _MAIN or "threshold" in row.value.at for row in rows]
        return [i for i, shown in enumerate(main) if shown]
    targets = dataset["far_target"].values.tolist() if "far_target" in dataset else []
    if targets != list(FAR_TARGETS):
        return None
    left_out = {"eer_hull"}
    if dataset.attrs.get("templates") == "multi":  # the table of single templates has them
        left_out |= {"zero_far", "zero_frr"}
    return [i for i, row in enumerate(rows) if row.value.variable not in left_out]


def _sample_size(dataset: xr.Dataset) -> str:
    """Return the sample size of a task in words."""
    genuine, impostor, subjects = sample_size(dataset)
    if _is_ranked(dataset):
        queries = value_of(dataset, "queries")
        text = counted(queries, "queries") if queries else ""
        if "mrep" not in dataset:
            subjects = int(value_of(dataset, "subjects") or 0)
    elif genuine and impostor:
        text = f"{genuine:,} genuine and {counted(impostor, 'impostor attempts')}"
    else:
        role = "genuine" if genuine else "impostor"
        text = counted(genuine or impostor, f"{role} attempts") if genuine or impostor else ""
    return f"{text} of {counted(subjects, 'subjects')}" if text and subjects else text


def _messages(
    results: Mapping[str, xr.Dataset], with_rows: Mapping[str, xr.Dataset], several: bool
) -> Messages:
    """Return the other messages, those of all tasks first."""
    everywhere, of_tasks = [], []
    for message, paths in paths_of_messages(results).items():
        # A limit of what is not supported says no more than that.
        if is_doubt(message) or message.code in (*SUPPORT, "limit-not-supported"):
            continue
        if len(paths) == len(results):
            everywhere.append(message)
        elif not with_rows.keys().isdisjoint(paths):  # else the title of the task says why
            titles = [title(results[path], path, several) for path in paths]
            of_tasks.append(message.concerning(*titles))
    return Messages([*everywhere, *of_tasks])


def _options_and_notes(dataset: xr.Dataset) -> tuple[list[str], list[Text]]:
    """Return the options that are said of a task, and what there is to say of its rows."""
    attrs = dataset.attrs
    notes: list[Text]
    if "mrep" in dataset:
        notes = [_queries(dataset)] if "queries" in dataset else []
        return ["removes", "junk", "variant", "budget", "ties"], [*notes]
    if "mean_ap" in dataset and "queries" in dataset:
        options = ["removes", "junk", "cmc_counts", "ties", "ap"]
        return options, [_queries(dataset), *_worst(dataset)]
    if "cms" in dataset:
        return ["gallery", "rank_unit", "ties", "fusion"], []
    if "dir" in dataset or "dir_at_far" in dataset:
        options = ["genuine_gallery_subjects", "gallery", "rank_unit", "ties", "impostors"]
        return [*options, "fusion"], list(_at_eer(dataset))
    options = ["claims", "fta", "fte"]
    if attrs.get("templates") == "multi":
        options.insert(0, "fusion")
    notes = [*_at_eer(dataset)]
    auc = value_of(dataset, "auc")
    if auc is not None and auc < 0.5:
        notes.append("AUC below 0.5: impostor scores are nearer; d' has no sign")
    return options, notes


def _details(attrs: Mapping[str, Any], names: Iterable[str]) -> str:
    """Return the options of the evaluation in words."""
    says = {
        "genuine_gallery_subjects": lambda x: _searched(attrs),
        "gallery": lambda _: (
            "1 template of each subject, drawn anew for each probe; exact mean over all draws"
        ),
        "rank_unit": lambda x: f"the rank counts {x}s",
        "ties": lambda x: _TIES.get(x, f"{x} ties"),
        "impostors": lambda x: _IMPOSTORS.get(x, f"impostors {x}"),
        "fusion": lambda x: fusion_in_words(x, str(attrs.get("kind", ""))),
        "claims": lambda x: "" if x in ("", "all") else f"claims {x}",
        "fta": lambda x: f"FTA {100 * float(x):g} %",
        "fte": lambda x: f"FTE {100 * float(x):g} %",
        "removes": lambda _: _removed(attrs),
        "junk": lambda x: f"junk {x}",
        "cmc_counts": lambda x: f"CMC counts {_CMC.get(x, x)}",
        "ap": lambda x: f"AP: {x}",
        "variant": lambda x: {"reference": "as the authors' program"}.get(x, ""),
        "budget": lambda x: f"B = {int(x):,}",
    }
    words = [says[name](str(attrs[name])) for name in names if name in attrs]
    return "; ".join(filter(None, words))


def fusion_in_words(fusion: str, kind: str) -> str:
    """Return how the scores of a subject's templates are fused, in words of their kind."""
    if fusion in ("", "none"):
        return ""
    near, far = ("most", "least") if larger_is_closer(kind) else ("nearest", "farthest")
    alike = " similar" if larger_is_closer(kind) else ""
    method, order = parse_fusion(fusion)
    words = {
        "min": f"that of its {near}{alike} template",
        "max": f"that of its {far}{alike} template",
        "kth": f"that of its template number {order} from the {near}{alike}",
    }
    of_all = f"the {method} {kind or 'score'} of its templates"
    return f"the score of a subject is {words.get(method, of_all)}"


def _searched(attrs: Mapping[str, Any]) -> str:
    """Return the size of the gallery in words; impostors may search one subject fewer."""
    genuine = attrs["genuine_gallery_subjects"]
    impostor = attrs.get("impostor_gallery_subjects", genuine)
    if not int(genuine):
        templates = int(attrs.get("gallery_templates", 0))
        return f"gallery of {counted(templates, 'templates')} of unknown subjects"
    text = f"N = {counted(int(genuine), 'subjects')}"
    if str(impostor) == str(genuine):
        return text
    if isinstance(impostor, int):
        impostor = f"{impostor:,}"
    return f"{text} ({impostor} for impostor attempts)"


def _at_eer(dataset: xr.Dataset) -> Iterator[Text]:
    """Return both rates at the threshold of the EER in words, if they are not nearly equal.

    They differ by one attempt at most, or one pair in both orders, unless scores are equal.
    """
    names = ("far_at_eer", "frr_at_eer", "eer_bracket_low", "eer_bracket_high")
    if not {*names} <= {*dataset}:
        return
    far, frr, *bracket = (float(dataset[name]) for name in names)
    attempts = min(int(dataset["genuine_attempts"]), int(dataset["impostor_attempts"]))
    pairs = value_of(dataset, "impostor_pairs")
    step = 1 if pairs in (None, value_of(dataset, "impostor_attempts")) else 2
    if not abs(far - frr) * attempts > 1.001 * step:
        return
    text = "at the threshold of the EER, {far} is {at_far:rate} and {frr} {at_frr:rate}"
    if bracket != sorted((far, frr)):
        text += "; the bracket (FVC) is {low:rate} to {high:rate}"
    low, high = bracket
    yield say(text, at_far=far, at_frr=frr, low=low, high=high)


def _worst(dataset: xr.Dataset) -> Iterator[Text]:
    """Return the worst queries in words, if each query has a value."""
    if "probe" not in dataset.dims:
        return
    precision = precision_of_queries(dataset).dropna("probe")
    precision = precision.sortby(precision)[:WORST]
    rows = list(map(str, precision["probe"].values.tolist()))
    if "template" in dataset:
        names = dataset["template"].sel(probe=precision["probe"]).values.tolist()
        rows = [f"{row} {name}" for row, name in zip(rows, names, strict=True)]
    listed = [
        say("{row:name} (AP {value:rate})", row=row, value=value)
        for row, value in zip(rows, precision.values.tolist(), strict=True)
    ]
    if listed:
        yield say(
            'worst queries (rows, from 0): {listed}; all: be.to_frame(result, "queries"), or '
            "queries.csv of --out",
            listed=Enumeration(listed, ""),
        )


def _removed(attrs: Mapping[str, Any]) -> str:
    """Return in words which entries a convention leaves out, of each list where there are two."""
    removed = _REMOVED[attrs["removes"]]
    for_ap = _REMOVED[attrs.get("removes_for_ap", attrs["removes"])]
    if removed != for_ap:
        return f"removed for the CMC: {removed}; for all other measures: {for_ap}"
    if removed == "none":
        return "no entries removed" if not attrs.get("exclude") else ""
    return f"removed: {removed}"


def _queries(dataset: xr.Dataset) -> str:
    """Return the number of queries and of comparisons removed, in words."""
    text = counted(value_of(dataset, "queries") or 0, "queries")
    if "open_queries" in dataset:
        text += f"; {int(dataset['open_queries']):,} not in the gallery"
    text += f"; {value_of(dataset, 'skipped') or 0:,.0f} skipped"
    if "removed" not in dataset or _removed(dataset.attrs) == "":  # unknown
        return text
    return f"{text}; {counted(value_of(dataset, 'removed') or 0, 'comparisons')} removed"


def _is_ranked(dataset: xr.Dataset) -> bool:
    """Whether these are results of ranked lists, with neither thresholds nor impostors."""
    return "mean_ap" in dataset or "mrep" in dataset or "queries" in dataset
