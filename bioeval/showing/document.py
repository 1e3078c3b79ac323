"""Any result as a document: header, answers, a table for each task, notes and messages.

Results that are records (worst pairs, ranks of the best mates, conventions) and the table of
measures for a paper have their documents here as well.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.arguments import rate_in
from bioeval.base.errors import DataError, Message, bad_choice, messages_of
from bioeval.results.attributes import THRESHOLD_STUDY
from bioeval.results.dataset import meta_columns
from bioeval.results.variables import RANKS, method_in_words
from bioeval.scores.sampled import KIND_DOUBTS
from bioeval.showing.header import (
    WITH_ITSELF,
    data_fact,
    header_of,
    joined_texts,
    lacking,
    rules_of,
    sample_size,
    scores_in_words,
    sides_in_words,
    unusual_rules_of,
    use_of_threshold,
)
from bioeval.showing.rows import (
    CURVES,
    OVER,
    Node,
    Row,
    distinct_nodes,
    label_of,
    label_of_measure,
    rows_of,
)
from bioeval.showing.sentences import ANSWERS, SENTENCES, Doubt, finding_of
from bioeval.showing.tables import FEW, LETTERS, STATISTICS_IN_ROWS, systems_in_rows, tables_of
from bioeval.showing.text import (
    Block,
    Column,
    Count,
    Detail,
    Enumeration,
    Facts,
    Label,
    Legend,
    Messages,
    Paragraph,
    Phrase,
    Picture,
    Quantity,
    Section,
    Table,
    Text,
    cell_of,
    cell_of_number,
    rates_are_of,
    say,
    task_of,
    template_of,
)
from bioeval.stats.aggregate import aggregate

# [task/]name[=point][@dimension=label,...], as in "verification/single/frr_at_far=0.01@part=test".
_FORM = re.compile(
    r"(?:(?P<task>[\w/-]+)/)?(?P<name>[\w-]+)\s*(?:=\s*(?P<point>[^@=]+?)\s*)?"
    r"(?:@\s*(?P<places>.+))?"
)


@dataclass(frozen=True)
class Measure:
    """A variable that a table shows, such as ``frr_at_far=0.01``."""

    name: str
    task: str = ""  # empty for any task
    point: str = ""  # the target, threshold or rank; empty for all
    places: Mapping[str, str] = field(default_factory=dict)  # labels by dimension

    @classmethod
    def parse(cls, text: str) -> Measure:
        """Return the measure that a text names.

        Raise ValueError for another form, or a point that is no number.
        """
        match = _FORM.fullmatch(text.strip())
        if match is None:
            raise ValueError(text)
        places = {}
        for place in filter(None, (match["places"] or "").split(",")):
            dim, _, label = place.partition("=")
            places[dim.strip()] = label.strip()
        name = match["name"].replace("-", "_")
        point = match["point"] or ""
        if point:
            rate_in(point)  # raises ValueError
        return cls(name, match["task"] or "", point, places)

    @property
    def text(self) -> str:
        return "=".join(filter(None, (self.name, self.point)))

    @property
    def number(self) -> float:
        """The point as a number; NaN without a point."""
        return rate_in(self.point) if self.point else math.nan

    def matches(self, row: Row) -> bool:
        """Return whether a row holds a number of this measure.

        Where there are training and test parts, only the test part matches unless `places` names
        one.
        """
        if row.measure != self.name or (self.task and row.node.task != self.task):
            return False
        if any(str(row.places.get(dim)) != label for dim, label in self.places.items()):
            return False
        if row.places.get("part") == "train" and "part" not in self.places:
            return False
        if not self.point:
            return True
        # A row without a target or threshold may be at a rank.
        point = row.point if row.at else row.places.get("rank", math.nan)
        return math.isclose(point, self.number, rel_tol=1e-12)


#: Titles of the tables of worst pairs, by the kind of comparison.
_PAIRS = {"impostor": "Nearest impostor pairs", "genuine": "Farthest genuine pairs"}

#: Headings of the tables of worst pairs.
_HEADINGS = ("score", "row", "column", "try", "probe image", "probe", "gallery image", "gallery")


def worst_pairs_section(ds: xr.Dataset, _: Detail) -> Section:
    listed = {
        "each pair once": "each pair of templates is listed once, in its worse direction",
        "each comparison": "each comparison is listed",
    }[str(ds.attrs["pairs"])]
    text = "Row and column are positions in the matrix, from 0; {listed}."
    if "try" in ds:
        text += (
            " Try: the nearest of the attempt, which decided, as a row of the matrix that claims "
            "were made of."
        )
    places = say(text, listed=listed)
    blocks = (
        Paragraph(places, "note"),
        *(_pairs(ds, comparison) for comparison in _PAIRS),
        Messages(messages_of(ds.attrs)),
    )
    return Section("worst_pairs", "", blocks, task="verification")


def _pairs(ds: xr.Dataset, comparison: str) -> Block:
    rows: list[list[Text | None]] = []
    for i in (ds["comparison"].values == comparison).nonzero()[0].tolist():
        cells: dict[str, Text | None] = {"score": cell_of(ds, "score", {"pair": i})}
        for place in ("row", "column", "try"):
            cells[place] = Count(ds[place].item(i)) if place in ds else None
        for side in ("probe", "gallery"):
            values = {name: ds[x].values[i] for name, x in meta_columns(ds, side).items()}
            meta = {name: value for name, value in values.items() if value != ""}
            # Any column of the metadata may hold the name of an image.
            picture = Picture({name: str(value) for name, value in meta.items()})
            label = Label(ds[f"{side}_label"].values[i])
            if not meta:
                cells[f"{side} image"], cells[side] = picture, label
            else:
                texts = [
                    say("{name:name} {value:name}", name=x, value=value)
                    for x, value in meta.items()
                ]
                cells[f"{side} image"] = picture
                cells[side] = say("{label} ({meta})", label=label, meta=Enumeration(texts, ""))
        rows.append([cells[heading] for heading in _HEADINGS])
    if not rows:
        return Paragraph(f"There is no {comparison} pair.")
    columns = [Column(name, name) for name in _HEADINGS]
    return Table(f"{comparison}_pairs", columns, rows, title=_PAIRS[comparison])


#: Probes that are listed, those with the worst ranks.
_LISTED = 20


def ranks_section(ds: xr.Dataset, _: Detail) -> Section:
    """Return the rank of the best mate of each probe, the worst first, and the scores beside it."""
    order = np.argsort(-ds["identification_rank"].values, kind="stable")  # NaN, no rank, is last
    columns, cells = [], []
    # What names a probe comes before its numbers.
    for name in ("probe", *sorted(ds.data_vars, key=lambda x: "units" in ds[x].attrs)):
        about = ds[name].attrs
        if label := about.get("label"):
            columns.append(Column(str(name), label))
            is_label = name == "probe" or "units" not in about
            kind = Label if is_label else partial(cell_of_number, about=about)
            cells.append(map(kind, ds[name].values[order[:_LISTED]].tolist()))
    rows = [*zip(*cells, strict=True)]
    more = [f"... and {order.size - _LISTED:,} more"] if order.size > _LISTED else []
    table = Table("ranks", columns, rows, title="Probes, the worst rank first", notes=more)
    header = header_of([Node("", "", "", ds)])
    blocks = (header, table, Messages(messages_of(ds.attrs)))
    return Section("ranks", "Ranks of the best mates", blocks, task="identification")


#: The measures of each task that a card may have, and the dimension that they are over.
MEASURES_OF_CARDS = {
    "verification": {"eer": "", "frr_at_far": "far_target", "auc": ""},
    "open_set": {"dir_at_far": "far_target"},
    "closed_set": {"cms": "rank"},
    "reid": {"mean_ap": "", "mean_inp": "", "cmc": "rank", "queries": ""},
}

#: Titles of the tables of conventions.
_TASKS = {
    "verification": "Verification",
    "open_set": "Open-set identification",
    "closed_set": "Closed-set identification",
    "reid": "Re-identification",
}


def conventions_section(ds: xr.Dataset, detail: Detail) -> Section:
    """Return a table for each task, and the cards that could not be evaluated."""
    data = data_fact([str(ds.attrs.get("system", ""))], sides_in_words(ds.attrs))
    scores = "Scores", scores_in_words(str(ds.attrs.get("kind", "")))
    blocks: list[Block] = [Facts([data, scores])]
    rows = [*rows_of(Node("", "", "", ds), data=True)]
    for task, measures in MEASURES_OF_CARDS.items():
        of_task = [row for row in rows if row.measure in measures]
        shown = [row for row in of_task if detail == "all" or row.supported is not False]
        tables = [replace(x, title=_TASKS[task]) for x in tables_of(shown, task)]
        task_of_words = "verification" if task == "verification" else "identification"
        blocks.append(Section(task, "", tables, task=task_of_words))
    for why in dict.fromkeys(filter(None, ds["why_not"].values.tolist())):
        cards = ", ".join(ds["card"].values[ds["why_not"].values == why])
        text = say("Not evaluated: {cards:name} ({why:name}).", cards=cards, why=why)
        blocks.append(Paragraph(text, "note"))
    blocks.append(Messages(messages_of(ds.attrs)))
    return Section("conventions", "Conventions", blocks, task="verification")


#: The documents by the type of their result.
OF_RECORDS: Mapping[str, Callable[[xr.Dataset, Detail], Section]] = {
    "ranks": ranks_section,
    "conventions": conventions_section,
    "worst-pairs": worst_pairs_section,
}


#: Messages that stand below the table of their task: targets that the data do not support.
SUPPORT = ("target-not-supported", "target-uncertain")

#: A message that stands above the table of its task, whose numbers mislead without it.
_CAUTION = "galleries-of-different-sizes"

#: Answers that name a threshold; a sentence says for which attempts it is.
_WITH_THRESHOLD = {"threshold-accepts", "install-threshold"}

#: Messages that are not repeated below the tables, which have notes or marks for them.
_SHOWN_BY_TABLES = (*SUPPORT, _CAUTION, "limit-not-supported")

#: Messages on numbers that a short view does not have, or on what its header says.
_HIDDEN_IN_SHORT = ("not-all-ranks", *WITH_ITSELF)


@dataclass(frozen=True)
class _Task:
    """The results of a task, of one system or several, with the rows that are shown."""

    nodes: Sequence[Node]
    rows: Sequence[Row]
    is_defined: bool  # whether any of its numbers is
    rows_left_out: int = 0  # defined numbers that the view leaves out

    @property
    def rates_of(self) -> str:
        dataset = self.nodes[0].dataset
        return rates_are_of(dataset.attrs, searches=task_of(dataset) == "identification")

    @property
    def title(self) -> str:
        return _capitalised(self.nodes[0].title)

    def texts(self, texts_of: Callable[[xr.Dataset], Iterable[Text]]) -> list[Text]:
        """Return the texts of a function on all systems, each text once.

        A text that is not of all systems has the names of its systems.
        """
        return joined_texts({x.name_of_system(): texts_of(x.dataset) for x in self.nodes})


#: Evaluations, comparisons and threshold studies, whose short view has one line for each note.
_EVALUATED = {
    *("verification", "open-set", "closed-set", "reid", "gom"),
    *("comparison", THRESHOLD_STUDY),
}


def section_of(
    nodes: Sequence[Node],
    detail: Detail = "all",
    lines: Sequence[Text] = (),
    *,
    on_screen: bool = False,
) -> Section:
    """Return the document of results: header, answers, the tables of tasks, notes and messages.

    Further `lines` stand below. A short view of an evaluation `on_screen` has a line for each note.
    """
    nodes = distinct_nodes(nodes)
    several = len({(x.system, x.condition) for x in nodes}) > 1
    whole_of = {}  # the study that a result is a part of, or the result itself
    for node in nodes:
        studies = (x for x in nodes if node.name.startswith(f"{x.name}/"))
        whole_of[node.name] = next(studies, node)
    by_task: dict[str, list[Node]] = {}
    for node in nodes:
        is_part = whole_of[node.name] is not node
        if detail != "brief" or not is_part or node.dataset.attrs.get("detail") != "verbose":
            by_task.setdefault(node.task, []).append(node)
    types = {x.result_type for x in whole_of.values()}
    is_short = on_screen and detail == "brief" and types <= _EVALUATED
    is_dense = is_short and len(by_task) > 1
    tasks = [_task(of_task, detail, is_dense) for of_task in by_task.values()]
    undefined = {node.name for task in tasks if not task.is_defined for node in task.nodes}
    # The messages of results, each once and with the names of its systems or tasks.
    names_of: dict[Message, dict[str, None]] = {}
    for node in nodes:
        for message in messages_of(node.dataset.attrs):
            names_of.setdefault(message, {})[whole_of[node.name].name] = None
    wholes = [x for x in nodes if whole_of[x.name] is x]
    alarms: list[Block] = []
    answers: list[Message] = []
    others: list[Message] = []
    for message, names in names_of.items():
        if {*names} <= undefined and len(names) < len(wholes):
            continue
        message = _about(message, names, wholes, several)
        if message.code in KIND_DOUBTS:
            alarms.append(Messages([message], alarm=True))
        elif message.code in ANSWERS:
            answers.append(message)
        elif message.code not in _SHOWN_BY_TABLES:
            others.append(message)
    in_answers = [argument for answer in answers for argument in answer.arguments.values()]
    others = sorted((x for x in others if x not in in_answers), key=lambda x: bool(x.about))

    texts_above: list[Text] = []
    hidden: list[Text] = []  # what the short view of an evaluation leaves out
    sections = [_section(x, several, texts_above, hidden if is_short else None) for x in tasks]
    if is_short and not several:
        if types == {THRESHOLD_STUDY} and not sections[0].blocks and len(sections) > 1:
            # The answers have the numbers of a study: its title stands above the table of its part.
            (whole, part, *further) = sections
            tables = [replace(x, title=whole.title) for x in part.blocks if isinstance(x, Table)]
            sections = [replace(part, blocks=tables), *further] if tables else sections
        sections = _below_each_other(sections)
    notes: list[Text] = [*dict.fromkeys(text for node in nodes for text in node.changes)]
    with_thresholds = {"verification", "open-set"}
    number = sum(x.is_defined and x.nodes[0].result_type in with_thresholds for x in tasks)
    if number and nodes[0].result_type in with_thresholds:
        for_task = " for the task in use" if number > 1 else ""
        in_full = (
            "Do not install a threshold of this evaluation: be.study_threshold (bioeval threshold) "
            f"chooses one{for_task}."
        )
        in_short = "Choose a threshold to install by be.study_threshold (bioeval threshold)."
        notes.append(in_short if is_short else in_full)
    notes += notes_of([row for task in tasks for row in task.rows], sections, is_short)
    blocks = [*alarms, header_of(nodes, is_short)]
    for answer in answers:
        of_some = say("{about:names}: {answer}", about=answer.about, answer=answer)
        blocks.append(Paragraph(of_some if answer.about else answer, "answer"))
    chosen = [x for x in nodes if _WITH_THRESHOLD & {m.code for m in messages_of(x.dataset.attrs)}]
    uses = {x.name_of_system(): [use_of_threshold(x.dataset.attrs, is_short)] for x in chosen}
    blocks += (Paragraph(text, "answer") for text in joined_texts(uses))
    blocks += sections
    if detail != "brief":
        labels: dict[str, Phrase] = {}
        for task in tasks:
            for row in task.rows:
                text = str(row.about.get("long_name", ""))
                label = label_of_measure(row)
                if text and text != label.template and row.statistic in ("", "mean"):
                    labels.setdefault(text, replace(label, task=label.task or task.rates_of))
        blocks.append(
            Legend(
                [(label, say(template_of(text), task=label.task)) for text, label in labels.items()]
            )
        )
    if is_short:
        facts = [x for x in others if not isinstance(SENTENCES[x.code], Doubt)]
        others = [x for x in others if x not in facts]
        if not several:
            facts = [Message(x.code, **x.arguments) for x in facts]
        notes += [finding_of(x) for x in facts if x.code not in _HIDDEN_IN_SHORT]
        hidden += [x for x in facts if x.code in _HIDDEN_IN_SHORT]
    blocks.append(Section("remarks", "", [Paragraph(x, "note") for x in notes]))
    blocks += [Messages(others), *map(Paragraph, lines)]
    if is_short:
        amounts = {"rows": sum(task.rows_left_out for task in tasks), "notes": len(hidden)}
        more = Enumeration([Count(n, noun=nouns) for nouns, n in amounts.items() if n])
        text = (
            "In full, with {more} more: `verbose=True`" if more.texts else "In full: `verbose=True`"
        )
        blocks.append(Paragraph(say(text, more=more), "note"))
    of_wholes = {x.rates_of for x in tasks if whole_of[x.nodes[0].name] is x.nodes[0]}
    return Section("results", "", blocks, task=of_wholes.pop() if len(of_wholes) == 1 else "")


def table_of_measures(nodes: Sequence[Node], measures: Sequence[str]) -> Section:
    """Return a table of each task with a row for each system, and a column for each measure.

    Raise :class:`DataError` for measures that the results lack.
    """
    nodes = distinct_nodes(nodes)
    rows = [row for node in nodes for row in _rows(node, data=True)]
    rows = [row for row in rows if row.statistic in STATISTICS_IN_ROWS]
    chosen: list[Row] = []  # in the order of the measures
    named = set[int]()  # a target that was named is shown in any case
    for text in measures:
        of_measure: list[Row] = []
        with contextlib.suppress(ValueError):
            of_measure = [*filter(Measure.parse(text).matches, rows)]
        if not of_measure:
            raise DataError(bad_choice("measures", text, dict.fromkeys(x.measure for x in rows)))
        chosen += of_measure
        named |= {id(row) for row in of_measure if "=" in text}
    sections: list[Section] = []
    for path in dict.fromkeys(node.task for node in nodes):
        of_measures = [row for row in chosen if row.node.task == path]
        if not of_measures:
            continue
        shown = [x for x in of_measures if x.supported is not False or x.is_asked or id(x) in named]
        task = _Task([node for node in nodes if node.task == path], shown, True)
        is_supported = all(row.supported is not False for row in of_measures)
        support = [] if is_supported else task.texts(_support)
        id_of_table = path.replace("/", "_")
        blocks: list[Block] = [Paragraph(x, "note") for x in support]
        if shown:
            blocks = [replace(systems_in_rows(shown, id_of_table), title=task.title, notes=support)]
        sections.append(Section(id_of_table, "", blocks, task=task.rates_of))
    notes = [Paragraph(x, "note") for x in notes_of(chosen, sections)]
    return Section("systems", "", [*sections, *notes])


def _task(nodes: Sequence[Node], detail: Detail, is_dense: bool) -> _Task:
    """Return the results of a task with the rows of a view; no other place leaves out numbers.

    A dense view has the strictest of the usual FAR targets that the data support, and rank 1.
    """
    rows = [row for node in nodes for row in _rows(node)]
    if not rows:  # selected variables, or changed records, of which tables show none by default
        rows = [row for node in nodes for row in _rows(node, data=True)]
    is_defined = any(row.is_defined for row in rows)
    number_defined = sum(row.is_defined and row.statistic in ("", "mean") for row in rows)
    if detail != "all":
        rows = [row for row in rows if row.supported is not False or row.is_asked]
    if detail == "brief":
        in_answers = {  # results whose answer has their threshold
            x.name
            for x in nodes
            for message in messages_of(x.dataset.attrs)
            if message.code in ANSWERS and "threshold" in message.arguments
        }
        brief = [
            row
            for row in rows
            if row.is_brief and not (row.name == "threshold" and row.node.name in in_answers)
        ]
        rows = brief or [row for row in rows if row.about.get("detail") == "data"]
    systems = {row.system for row in rows}
    if detail == "brief" and len(systems) > FEW:  # their letters say which pairs differ
        rows = [row for row in rows if not row.other_system]
    if is_dense:
        # The strictest of the FAR targets with enough people and attempts, NaN without one; a
        # target with 30 expected errors comes before one that is uncertain.
        targets: dict[str, float] = {}
        for node in nodes:
            lacking_for: dict[str, set[float]] = {code: set() for code in SUPPORT}
            for message in messages_of(node.dataset.attrs):
                if message.code in SUPPORT and message.arguments["chosen"] == "far":
                    lacking_for[message.code].update(message.arguments["targets"])
            known = node.dataset.variables.get("far_target")
            supported = {*([] if known is None else known.values.tolist())}
            supported -= lacking_for[SUPPORT[0]]
            usual = supported - lacking_for[SUPPORT[1]] or supported
            targets[node.name] = min(usual, default=math.nan)
        rows = [
            row
            for row in rows
            if (row.at != "far_target" or row.is_asked or row.point == targets[row.node.name])
            and (row.name != "cms" or row.places.get("rank") not in RANKS[1:])
        ]
    shown = sum(row.is_defined and row.statistic in ("", "mean") for row in rows)
    return _Task(nodes, rows, is_defined, number_defined - shown)


def _rows(node: Node, *, data: bool = False) -> Iterator[Row]:
    """Yield the numbers of a result; over folds and partitions, the statistics that are shown."""
    over = [dim for dim in OVER if dim in node.dataset.dims]
    if not over:
        yield from rows_of(node, data=data)
        return
    scalars = node.dataset.drop_dims("threshold", errors="ignore")
    statistics = aggregate(scalars, over, quantiles=(0, 1))
    shown = ["", "mean", "sd", "q0", "q1"]
    if "part" in node.dataset.dims:
        shown = ["", "mean", "sd", "repeats_sd", "pooled"]
        if node.dataset.attrs.get("splitter_class") == "PredefinedPairFolds":
            shown.append("se")  # protocols such as LFW's report the standard error
    # Rows are chosen here, since xarray would load dask to choose statistics of the dataset.
    rows = rows_of(node._replace(dataset=statistics), data=data)
    yield from (row for row in rows if row.statistic in shown)


def _section(
    task: _Task, several: bool, texts_above: list[Text], hidden: list[Text] | None
) -> Section:
    """Return the tables of a task; omit the texts in `texts_above`, and add new texts there.

    The short view of an evaluation has the texts that say what is unusual, and adds the others to
    `hidden`, which is None in other views.
    """
    is_short = hidden is not None
    node = task.nodes[0]
    id = node.task.replace("/", "_")
    title: Text = task.title
    if several and len(task.nodes) == 1:
        names = filter(None, (node.system, node.condition))
        title = say("{system}: {title}", system=Label(", ".join(names)), title=node.title)
    if not task.is_defined:
        why = " and ".join(lacking(node.dataset))
        variables = node.dataset.data_vars.values()
        if not why and variables and all({*CURVES} & {*x.dims} for x in variables):
            why = "no single numbers; be.to_frame(..., curves=True) has the points of curves"
        text = "{title}: no results ({why})" if why else "{title}: no results"
        return Section(id, say(text, title=title, why=why), (), task=task.rates_of)
    details = task.texts(lambda dataset: [sample_size(dataset, is_short=is_short)])
    if len(details) == 1:
        title = say("{title}: {size}", title=title, size=details.pop())
    cautions = task.texts(lambda ds: [x for x in messages_of(ds.attrs) if x.code == _CAUTION])
    support = task.texts(_support)
    rules = [x for x in task.texts(rules_of) if x not in texts_above]
    texts_above += rules
    if hidden is not None:
        unusual = task.texts(unusual_rules_of)
        hidden += [x for x in (*rules, *support) if x not in (*unusual, *hidden)]
        rules = [x for x in rules if x in unusual]
        cautions = [finding_of(x) for x in cautions if isinstance(x, Message)]
        support = task.texts(lambda dataset: _support_in_short(dataset, task.rows))
    plain_rules = "; ".join(x for x in rules if isinstance(x, str))  # all rules in one line
    details += [*filter(None, [plain_rules]), *(x for x in rules if not isinstance(x, str))]
    details += cautions
    stands_above = any(x in texts_above for x in support)
    # The reasons why numbers are not defined; of several, with the measures. Classes without
    # attempts are the reason of all undefined numbers of their result.
    labels: dict[str, list[Text]] = {}
    for row in task.rows:
        if not row.is_defined and not row.statistic:
            classes = " and ".join(lacking(row.node.dataset))
            if why := classes or str(row.about.get("undefined", "")):
                labels.setdefault(why, []).append(label_of(row))
    text = "n/a: {why}" if len(labels) == 1 else "n/a, {labels}: {why}"
    reasons = [say(text, labels=Enumeration(x), why=say(why)) for why, x in labels.items()]
    notes = [x for x in (*reasons, *support) if x not in texts_above]
    texts_above += notes
    if stands_above and not is_short:
        notes.append("the notes above on people and targets hold for this table, too")
    tables = list(tables_of(task.rows, id))
    if not tables:
        return Section(id, title, [Paragraph(x, "note") for x in notes], task=task.rates_of)
    if tables[0].title:
        title = say("{whole}: {table}", whole=title, table=tables[0].title)
    tables[0] = replace(tables[0], title=title, details=details)
    tables[-1] = replace(tables[-1], notes=[*tables[-1].notes, *notes])
    return Section(id, "", tables, task=task.rates_of)


def _below_each_other(sections: Iterable[Section]) -> list[Section]:
    """Return sections whose tables stand below the first one without a blank line between.

    A table whose column headings stand above already has none.
    """
    headings: set[str] = set()
    closer: list[Section] = []
    for section in sections:
        blocks = [*section.blocks]
        for i, table in enumerate(blocks):
            if isinstance(table, Table):
                own = {str(column.heading) for column in table.columns}
                columns = table.columns
                if own <= headings:
                    columns = [replace(column, heading="") for column in columns]
                blocks[i] = replace(table, columns=columns, is_continued=bool(headings))
                headings |= own
        closer.append(replace(section, blocks=blocks))
    return closer


def _support_messages(dataset: xr.Dataset) -> Iterator[Message]:
    for message in messages_of(dataset.attrs):
        about = message.arguments
        if message.code in SUPPORT and f"{about['rate']}_at_{about['chosen']}" in dataset:
            yield message


def _support(dataset: xr.Dataset) -> list[Text]:
    by_parts: dict[tuple[str, ...], list[Message]] = {}
    for message in _support_messages(dataset):
        task = str(dataset.attrs.get("task", ""))
        parts = tuple(x for x in message.about if not task.startswith(x))
        by_parts.setdefault(parts, []).append(Message(message.code, **message.arguments))
    notes: list[Text] = list(by_parts.pop((), ()))
    for parts, messages in by_parts.items():
        notes.append(say("{parts:names}: {messages:messages}", parts=parts, messages=messages))
    if by_parts and "fold" in dataset.dims:
        larger = "larger test parts" if "experiment" in dataset.attrs else "fewer, larger folds"
        notes.append(f"use {larger} or test more people")
    return notes


def _support_in_short(dataset: xr.Dataset, rows: Sequence[Row]) -> list[Text]:
    """Return a line for each rate of which no row is at a target that the data surely support."""
    found: dict[tuple[Any, ...], list[Message]] = {}
    for message in _support_messages(dataset):
        about = message.arguments
        key = about["rate"], about["chosen"], about["unit"], message.about
        found.setdefault(key, []).append(message)
    texts: list[Text] = []
    for (rate, chosen, unit, parts), messages in found.items():
        targets = [x for message in messages for x in message.arguments["targets"]]
        at_targets = f"{chosen}_target"
        points = {x.point for x in rows if x.at == at_targets and x.node.dataset is dataset}
        if points and not points & {*targets}:
            continue
        is_uncertain = any(message.code == "target-uncertain" for message in messages)
        text = "{rate:term} at {chosen:term} <= {target:rate}"
        text += " and below" * (len(targets) > 1)
        text += " is uncertain with" if is_uncertain else " cannot be estimated from"
        text += " fewer than {needed:count} {unit}"
        values = {"rate": rate, "chosen": chosen, "target": max(targets), "unit": unit}
        values["needed"] = min(x for message in messages for x in message.arguments["needed"])
        phrase = say(text, task=messages[0].arguments.get("task", ""), **values)
        texts.append(say("{parts:names}: {text}", parts=parts, text=phrase) if parts else phrase)
    return texts


def _about(message: Message, names: Iterable[str], nodes: Sequence[Node], several: bool) -> Message:
    """Return a message with the systems or tasks that it is about.

    A message of all results has none, except an answer where there are several systems.
    """
    nodes_of_message = [x for x in nodes if x.name in names]
    if len(nodes_of_message) == len(nodes) and not (several and message.code in ANSWERS):
        return message
    about: list[str] = []
    for system in dict.fromkeys(x.name_of_system() for x in nodes_of_message):
        titles = [x.title for x in nodes_of_message if x.name_of_system() == system]
        if not several:
            about += map(_capitalised, titles)
        elif len(titles) == sum(x.name_of_system() == system for x in nodes):
            about.append(system)
        else:
            about += (f"{system}: {title}" for title in titles)
    return message.concerning(*about)


def _capitalised(title: str) -> str:
    return f"{title[0].upper()}{title[1:]}"


# Notes below the tables: thresholds chosen on the data, intervals, the meaning of statistics.


#: The meaning of columns of statistics, by their headings.
_STATISTICS = {
    "training": "Training: mean over the training parts (optimistic).",
    "test": "Test: mean over the test parts; sd: their standard deviation.",
    "mean": "Mean, sd: over the parts, each with the same weight.",
    "sd of repeats": "sd of repeats: standard deviation of the means of the repeats.",
    "pooled": "Pooled: rate of all test parts counted together.",
}


def notes_of(
    rows: Sequence[Row], sections: Sequence[Section], is_short: bool = False
) -> Iterator[Text]:
    """Yield the notes that explain the numbers in the tables of sections, perhaps in short."""
    headings: set[str] = set()
    cells: list[Quantity] = []
    for section in sections:
        for table in section.blocks:
            if isinstance(table, Table):
                headings.update(str(column.heading) for column in table.columns)
                cells += (x for row in table.rows for x in row if isinstance(x, Quantity))
    has_chosen_thresholds = False  # chosen on the data of the rates
    has_statistics = False
    chosen_on_test: list[Row] = []
    differences: list[Row] = []
    for row in rows:
        attrs = row.node.dataset.attrs
        over_parts = "part" in row.node.dataset.dims
        has_statistics |= row.statistic in ("mean", "pooled")
        if row.threshold_cell is not None and "part" not in row.places:
            is_of_rule = row.about.get("threshold") in _CHOSEN_BY_RULE
            has_chosen_thresholds |= not is_of_rule or "chosen_on" not in attrs
        is_rate = row.about.get("units") == "proportion" and row.supported is not False
        if row.statistic == "mean" and over_parts and "part" not in row.places and is_rate:
            chosen_on_test.append(row)
        if row.statistic == "difference":
            differences.append(row)
    if has_statistics:
        yield from (text for heading, text in _STATISTICS.items() if heading in headings)
    if has_chosen_thresholds and not is_short:
        yield "Thresholds were chosen on these data, so errors at them are optimistic (too low)."
    for direction, is_larger in (("low", False), ("high", True)):
        of_direction = [
            x for x in chosen_on_test if (x.about.get("direction") == "larger") == is_larger
        ]
        if of_direction:
            text = f"{{labels}}: too {direction}, with a threshold chosen on the test part itself."
            yield say(text, labels=_labels_of(of_direction))
    if any(row.flagged for row in rows) and any(x.flagged for x in cells):
        yield "*: too few subjects or independent errors to rank groups by this rate."
    elif any(x.flagged for x in cells):
        yield "*: not supported: too few people or attempts for this target."
    if any(x.interval for x in cells):
        yield from _intervals(rows, is_short)
    yield from _of_differences(differences, is_short)
    if any(row.statistic == LETTERS for row in rows) and not differences:
        yield (
            "Systems that share a letter do not differ significantly; all pairs: `verbose=True`. A "
            "system that is chosen for its best value looks better than it is: report its value on "
            "new data."
        )


#: Thresholds whose origin is in the attribute ``chosen_on``.
_CHOSEN_BY_RULE = ("threshold", "assured_threshold")


def _labels_of(rows: Iterable[Row]) -> Enumeration:
    labels = {repr(x): x for x in (label_of(row, with_also=False) for row in rows)}
    return Enumeration(list(labels.values()), ";")


def _of_differences(rows: Sequence[Row], is_short: bool) -> Iterator[Text]:
    by_method: dict[str, list[Row]] = {}
    for row in rows:
        if (method := row.about.get("interval_method")) and not math.isnan(row.low):
            by_method.setdefault(str(method), []).append(row)
    methods: list[Text] = []
    for method, of_method in by_method.items():
        attrs = of_method[0].node.dataset.attrs
        is_drawn = method == "subject-bootstrap" and "replicates" in attrs
        drawn = f"; {attrs['replicates']:,} replicates, seed {attrs['seed']}" if is_drawn else ""
        words, labels = method_in_words(method), _labels_of(of_method)
        text = "by {method} ({labels}{drawn})"
        methods.append(say(text, method=words, labels=labels, drawn=drawn))
    if methods:
        is_holm = attrs["adjust"] == "holm"
        text = (
            "Limits and p values of differences: for each measure by itself"
            + " and all pairs of systems together" * (int(attrs.get("systems_compared", 2)) > 2)
            + ("; conclusions are corrected" if is_holm else ", not corrected")
            + " for the number of measures"
            + ("." if is_short else "; Student's test, with standard errors {methods}.")
        )
        yield say(text, methods=Enumeration(methods, ";"))
    if any(row.other_system for row in rows):
        before = "" if is_short else "Differences are computed before rounding. "
        yield (
            f"{before}A system that is chosen for its best value looks better than it is: report "
            "its value on new data."
        )


def _intervals(rows: Sequence[Row], is_short: bool) -> Iterator[Text]:
    tasks_of: dict[str, tuple[Text, dict[str, None]]] = {}
    limited = [row for row in rows if not math.isnan(row.low)]
    for dataset in {row.node.name: row.node.dataset for row in limited}.values():
        if "interval_method" in dataset.attrs:
            attrs = dataset.attrs
            limits = "one-sided confidence limits"
            if attrs.get("limits") != "one-sided":
                limits = (
                    "interval" if attrs["interval_method"] == "quantile" else "confidence interval"
                )
            population = str(attrs.get("interval_for", ""))
            of_population = " {population}" if population and not is_short else ""
            text = f"{{level:rate}} {limits}{of_population}, by {{method}}"
            if "interval_of_test" in attrs:  # columns of a threshold study name the populations
                text = f"{{level:rate}} {limits}; same data: {{method}}"
            arguments: dict[str, Any] = {
                "level": float(attrs["confidence"]),
                "method": method_in_words(str(attrs["interval_method"])),
            }
            if of_population:
                arguments["population"] = _POPULATIONS.get(population, f"for {population}")
            for name, noun in _OF_INTERVALS.items():
                if name in attrs:
                    text += f"; {noun}{{{name}}}"
                    arguments[name] = str(attrs[name])
            if "replicates" in attrs and attrs["interval_method"] != "people":
                text += " ({replicates:count replicates})"
                arguments["replicates"] = int(attrs["replicates"])
            method = say(text, **arguments)
            tasks = tasks_of.setdefault(repr(method), (method, {}))[1]
            tasks[str(dataset.attrs.get("task", ""))] = None
    methods: list[Text] = []
    for words, tasks in tasks_of.values():
        named = Enumeration([task for task in tasks if task])
        text = "of {tasks}: {method}" if methods else "{method}"
        methods.append(say(text, method=words, tasks=named))
    if methods:
        is_one_sided = any(x.value in (0, 1) and x.statistic in ("", "mean") for x in limited)
        is_said = is_one_sided and not is_short
        end = " Where a value is 0 or 100 %, the interval is one-sided." if is_said else ""
        yield say("In square brackets: {methods}.{end}", methods=Enumeration(methods, ";"), end=end)


#: Further attributes of intervals, with the words before their text.
_OF_INTERVALS = {
    "left_out": "left out in turn: ",
    "interval_of_test": "new people: ",
    "interval_of_differences": "after differences: ",
}

#: The populations of intervals in words, if the name of the population is no clear text.
_POPULATIONS = {
    "new people": "for people like these",
    "folds like these": "of the test mean",
}
