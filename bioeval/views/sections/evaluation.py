"""An evaluation as a document: a table for each task, remarks, and warnings."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import xarray as xr

from bioeval.base.errors import counted
from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.base.messages import Message
from bioeval.counting.points import FAR_TARGETS
from bioeval.document.blocks import Block, Column, Messages, Paragraph, Section, Table, tables
from bioeval.document.cells import Count, Label, Quantity
from bioeval.document.results import (
    candidates_in_words,
    interval_note,
    is_doubt,
    messages_of_result,
)
from bioeval.document.terms import rates_are_of
from bioeval.document.text import Enumeration, Text, say
from bioeval.results.dataset import task_code
from bioeval.scores.fusion_rules import parse_fusion
from bioeval.views.sections.header import about, alarms, optimistic, paths_of_messages
from bioeval.views.sections.rows import (
    SUPPORT,
    NumberRow,
    attempts_of_task,
    is_identification,
    precision_of_queries,
    rows_of_task,
)
from bioeval.views.sections.systems import in_parts, measures_of, remarks, tables_of_systems
from bioeval.views.tasks import each_once, system_of, systems, value_of

#: Number of the worst queries that are named.
WORST = 5

#: The numbers of re-identification that a short view has.
_MAIN = ("mean_ap", "rank_k_mean_ap", "cmc", "mean_inp")

# What the policies of ties mean.
_TIES = {
    "pessimistic": "ties: the mate ranks last (pessimistic)",
    "optimistic": "ties: the mate ranks first (optimistic)",
    "expected": "ties: means over all orders (expected)",
    "stable": "ties: in the order of the gallery (stable)",
}

# Which searches make impostor attempts of identification.
_IMPOSTORS = {
    "leave-subject-out": "impostors search without their own subject (leave-subject-out)",
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


@dataclass(frozen=True)
class _Task:
    """A task of one system, with its rows."""

    path: str
    dataset: xr.Dataset
    rows: Sequence[NumberRow]

    @property
    def name(self) -> str:
        """Name of its tables."""
        return self.path.replace("/", "_") or "results"

    @property
    def defined(self) -> bool:
        """Whether one of its numbers is."""
        return any(row.value.is_defined for row in self.rows)


def evaluation_section(results: Mapping[str, xr.Dataset]) -> Section:
    """Return what is said of the tasks of an evaluation by path.

    Systems stand side by side; three and more without limits, which a full view has in rows.
    """
    results = each_once(results)
    several, many = len(systems(results)) > 1, len(systems(results)) > 2
    tasks = [_Task(path, x, list(rows_of_task(x))) for path, x in results.items()]
    blocks: list[Block] = []
    for message, paths in alarms(results).items():
        names = systems(paths) if several else ()
        blocks.append(Messages([message.concerning(*names)], alarm=True))
    blocks.append(about(results))
    blocks += _by_task(tasks, many)
    limits = [note.text for note in interval_note(results)]
    if many:
        blocks += _in_rows(results, limits)
    remarks: list[Text] = [optimistic(x.dataset for x in tasks if x.defined)]
    remarks += [] if many else limits
    notes = [Paragraph(remark, "note") for remark in remarks if remark]
    blocks.append(Section("remarks", "", notes))
    with_rows = {x.path for x in tasks if x.defined}
    blocks.append(_messages(results, with_rows, several))
    return Section("evaluation", "", blocks)


def title(dataset: xr.Dataset, path: str, several: bool) -> str:
    """Return the title of a task, with the name of its system where there are several."""
    task = str(dataset.attrs.get("task", path)) or "results"
    if several:
        return f"{system_of(path)}: {task}"
    return task[0].upper() + task[1:]


def _in_rows(results: Mapping[str, xr.Dataset], notes: Sequence[Text]) -> Iterator[Section]:
    """Yield tables with a row for each system, which a short view leaves out."""
    for section in tables_of_systems(results):
        (table,) = tables(section)
        whole = replace(table, notes=[*table.notes, *notes], brief=())
        yield replace(section, blocks=(whole,))


def _by_task(tasks: Sequence[_Task], many: bool) -> Iterator[Block]:
    """Yield a section for each task; what a task shares with those above is said once.

    Of `many` systems only a short view has it.
    """
    together: dict[tuple[str, str], list[_Task]] = {}
    for x in tasks:
        together.setdefault(task_code(x.dataset.attrs), []).append(x)
    rules, notes = list[str](), list[Text]()
    for of_task in together.values():
        section = _section(of_task, rules, notes)
        if many:
            section = replace(section, blocks=[*map(_values_alone, tables(section))])
        yield section
        if system_of(of_task[0].path):
            yield from (table for x in of_task for table in _data_tables(x))
        notes += _of_each(of_task, _support)
        rules = _rules(of_task[0].dataset)


def _values_alone(table: Table) -> Table:
    """Return a table for a short view, without thresholds and limits."""
    kept = [i for i, column in enumerate(table.columns) if not column.priority]
    rows = []
    for row in table.rows:
        cells = [row[i] for i in kept]
        rows.append([replace(x, interval=None) if isinstance(x, Quantity) else x for x in cells])
    return replace(table, columns=[table.columns[i] for i in kept], rows=rows, shown=0)


def _section(
    tasks: Sequence[_Task], above: Sequence[str] = (), noted: Sequence[Text] = ()
) -> Section:
    """Return the table of a task of one system or several, or why it has none.

    Above its rows are its rules, unless those `above` say them, and below them what the data do not
    support, unless it is `noted`.
    """
    first = tasks[0]
    task = rates_are_of(first.dataset.attrs, searches=is_identification(first.dataset))
    named: Text = title(first.dataset, first.path, len(tasks) == 1 and system_of(first.path) != "")
    undefined = [row.why_not for x in tasks for row in x.rows if not row.value.is_defined]
    reasons = list({repr(why): why for why in undefined}.values())
    if undefined and not any(x.defined for x in tasks):
        none = say("{title}: no results ({why})", title=named, why=Enumeration(reasons, ";"))
        return Section(first.name, none, (), task=task)
    sizes = _of_each(tasks, lambda x: [_sample_size(x.dataset)])
    if len(sizes) == 1:
        named = say("{title}: {size}", title=named, size=sizes.pop())

    def details(x: _Task) -> list[Text]:
        # A closed set has the rules of the open set above it.
        rules = [y for y in _rules(x.dataset) if "cms" not in x.dataset or y not in above]
        return [candidates_in_words(x.dataset.attrs), "; ".join(rules)]

    notes = [x for x in _of_each(tasks, _support) if x not in noted]
    notes += _of_each(tasks, lambda x: _notes(x.dataset))
    about_rows: dict[str, Any] = {
        "title": named,
        "details": [*sizes, *_of_each(tasks, details)],
        "notes": notes,
        "why_undefined": reasons,
    }
    if not system_of(first.path):
        table = replace(_table(first), **about_rows)
        return Section(first.name, "", (table, *_each_query(first.dataset)), task=task)
    return Section("side_by_side", "", (side_by_side(tasks, **about_rows),), task=task)


def verification_of_systems(results: Mapping[str, xr.Dataset], table: str) -> Section:
    """Return verification by several systems side by side, in a table that data have, too."""
    tasks = []
    for name, x in results.items():
        rows = (
            [NumberRow(y.label, y.value) for y in measures_of(x)]
            if in_parts(x)
            else rows_of_task(x)
        )
        tasks.append(_Task(f"{name}/verification", x, list(rows)))
    made = _section(tasks)
    (shown,) = tables(made)
    columns = []
    for column in shown.columns:
        columns.append(replace(column, only="readers" if column.heading == "threshold" else ""))
    shown = replace(shown, id=table, columns=columns, brief=None)
    return replace(made, blocks=(shown, *(Paragraph(x, "note") for x in remarks(results))))


def _of_each(tasks: Sequence[_Task], texts: Callable[[_Task], Iterable[Text]]) -> list[Text]:
    """Return what is said of the systems of a task, once, with the names if not of all."""
    by_text: dict[str, tuple[Text, list[str]]] = {}
    for task in tasks:
        for text in texts(task):
            if text == "":
                continue
            by_text.setdefault(repr(text), (text, []))[1].append(system_of(task.path))
    every = []
    for text, names in by_text.values():
        of_some = say("{names:names}: {text}", names=names, text=text)
        every.append(text if len(names) == len(tasks) else of_some)
    return every


def _support(task: _Task) -> list[Message]:
    return [x for x in messages_of_result(task.dataset) if x.code in SUPPORT]


def _table(task: _Task) -> Table:
    """Return the numbers of a task."""
    columns = [
        Column("measure"),
        Column("value", "value"),
        Column("threshold", "threshold", only="data" if _is_ranked(task.dataset) else ""),
    ]
    rows = [(x.label, x.value, x.threshold) for x in task.rows]
    return Table(task.name, columns, rows, brief=_brief(task.dataset, task.rows))


def _data_tables(task: _Task) -> Iterator[Table]:
    """Yield the tables of a task whose numbers readers have beside those of other systems."""
    if task.defined:
        yield replace(_table(task), shown=0, brief=None)
    yield from _each_query(task.dataset)


def side_by_side(tasks: Sequence[_Task], **more: Any) -> Table:
    """Return a table for readers with a column for the values of each system, and its thresholds.

    A measure at a threshold that was asked for has that in its label.
    """
    labels: dict[str, Text] = {}
    rows: dict[str, dict[str, NumberRow]] = {}
    brief: dict[str, None] = {}
    columns = [Column("measure", only="readers")]
    for task in tasks:
        name = system_of(task.path)
        short = _brief(task.dataset, task.rows)
        for i, row in enumerate(task.rows):
            key = repr(row.heading)
            labels.setdefault(key, row.heading)
            rows.setdefault(key, {})[name] = row
            if short is None or i in short:
                brief[key] = None
        columns += [
            Column(f"value_{name}", Label(name), only="readers"),
            Column(f"threshold_{name}", "threshold", priority=1, only="readers"),
        ]
    cells = []
    for key, by_system in rows.items():
        line: list[Text | None] = [labels[key]]
        for task in tasks:
            if here := by_system.get(system_of(task.path)):
                given = "threshold" in here.value.at
                line += [here.value, None if given else here.threshold]
            else:
                line += [None, None]
        cells.append(line)
    places = [i for i, key in enumerate(rows) if key in brief]
    return Table("side_by_side", columns, cells, brief=places, **more)


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
    left_out = {"eer_hull", "d_prime", "zero_frr"}
    if dataset.attrs.get("templates") == "multi":  # the table of single templates has them
        left_out |= {"zero_far"}
    return [i for i, row in enumerate(rows) if row.value.variable not in left_out]


def _sample_size(dataset: xr.Dataset) -> str:
    """Return the sample size of a task in words."""
    genuine, impostor, subjects = attempts_of_task(dataset)
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
    results: Mapping[str, xr.Dataset], with_rows: Container[str], several: bool
) -> Messages:
    """Return the other messages, those of all tasks first."""
    everywhere, of_tasks = [], []
    for message, paths in paths_of_messages(results).items():
        # A limit of what is not supported says no more than that.
        if is_doubt(message) or message.code in (*SUPPORT, "limit-not-supported"):
            continue
        if len(paths) == len(results):
            everywhere.append(message)
        elif any(path in with_rows for path in paths):  # else the title of the task says why
            names: list[str] = []
            for system in systems(paths):
                of_system = [x for x in paths if system_of(x) == system]
                if several and len(of_system) == [system_of(x) for x in results].count(system):
                    names.append(system)
                else:
                    names += [title(results[x], x, several) for x in of_system]
            of_tasks.append(message.concerning(*names))
    return Messages([*everywhere, *of_tasks])


def _rules(dataset: xr.Dataset) -> list[str]:
    """Return the rules of a task in words."""
    attrs = dataset.attrs
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
    words = [says[name](str(attrs[name])) for name in _options(dataset) if name in attrs]
    return list(filter(None, words))


def _options(dataset: xr.Dataset) -> list[str]:
    """Return the options that are said of a task."""
    if "mrep" in dataset:
        return ["removes", "junk", "variant", "budget", "ties"]
    if "mean_ap" in dataset and "queries" in dataset:
        return ["removes", "junk", "cmc_counts", "ties", "ap"]
    if "cms" in dataset:
        return ["gallery", "rank_unit", "ties", "fusion"]
    if is_identification(dataset):
        searches = ["genuine_gallery_subjects", "gallery", "rank_unit", "ties", "impostors"]
        return [*searches, "fusion"]
    fused = ["fusion"] if dataset.attrs.get("templates") == "multi" else []
    return [*fused, "claims", "fta", "fte"]


def _notes(dataset: xr.Dataset) -> Iterator[Text]:
    """Yield what there is to say of the rows of a task."""
    if "queries" in dataset:
        yield _queries(dataset)
    if "mrep" in dataset or "cms" in dataset:
        return
    if "mean_ap" in dataset and "queries" in dataset:
        yield from _worst(dataset)
        return
    yield from _at_eer(dataset)
    auc = value_of(dataset, "auc")
    if not is_identification(dataset) and auc is not None and auc < 0.5:
        yield "AUC below 0.5: impostor scores are nearer; d' has no sign"


def fusion_in_words(fusion: str, kind: str) -> str:
    """Return how the scores of a subject's templates are fused, in words of their kind."""
    if fusion in ("", "none"):
        return ""
    near, far = ("most", "least") if kind in LARGER_IS_CLOSER else ("nearest", "farthest")
    alike = " similar" if kind in LARGER_IS_CLOSER else ""
    method, order = parse_fusion(fusion)
    words = {
        "best": f"that of its {near}{alike} template",
        "worst": f"that of its {far}{alike} template",
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
            "worst queries (rows, from 0): {listed}; all: be.to_frame(result, curves=True), or "
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
