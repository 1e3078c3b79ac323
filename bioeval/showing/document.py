"""Any result as a document: header, answers, a table for each task, notes and messages.

:func:`section_of` makes the document that :func:`bioeval.show` prints ::

    Data    simulated: 40 templates of 20 subjects, all against all         facts of the header
    Scores  distances, accepted if <= threshold

    Verification, single-template: 40 genuine and 1,520 impostor attempts   title of a table
    an attempt compares two templates                                       details: its rules
             value  threshold
      EER   5.00 %       4.51                                               rows
      FRR at FAR <= 10 % is uncertain with fewer than 25 people             notes of the table

    Choose a threshold to install by be.study_threshold                     notes on all tables

It first chooses the numbers of each task that the view has (:class:`_TaskResults`), then collects
the messages of the results, makes the tables, and ends with the notes on them. These steps follow
it here in this order. Before it are the documents of records (worst pairs, ranks of the best mates,
conventions); :func:`table_of_measures` is the table for a paper.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

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

#: [task/]name[=point][@dimension=label,...], as in "verification/single/frr_at_far=0.01@part=test".
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
        for place in (match["places"] or "").split(","):
            dim, _, label = place.partition("=")
            if place:
                places[dim.strip()] = label.strip()
        name = match["name"].replace("-", "_")
        point = match["point"] or ""
        if point:
            rate_in(point)  # raises ValueError
        return cls(name, match["task"] or "", point, places)

    @property
    def text(self) -> str:
        return f"{self.name}={self.point}" if self.point else self.name

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
    pairs_in_words = {
        "each pair once": "each pair of templates is listed once, in its worse direction",
        "each comparison": "each comparison is listed",
    }
    text = "Row and column are positions in the matrix, from 0; {listed}."
    if "try" in ds:
        text += (
            " Try: the nearest of the attempt, which decided, as a row of the matrix that claims "
            "were made of."
        )
    note = say(text, listed=pairs_in_words[str(ds.attrs["pairs"])])
    blocks = (
        Paragraph(note, "note"),
        *(_pairs(ds, comparison) for comparison in _PAIRS),
        Messages(messages_of(ds.attrs)),
    )
    return Section("worst_pairs", "", blocks, task="verification")


def _pairs(ds: xr.Dataset, comparison: str) -> Block:
    """Return the table of the genuine or of the impostor pairs, in the order of the result."""
    rows: list[list[Text | None]] = []
    for i in (ds["comparison"].values == comparison).nonzero()[0].tolist():
        cells: dict[str, Text | None] = {"score": cell_of(ds, "score", {"pair": i})}
        for place in ("row", "column", "try"):
            cells[place] = Count(ds[place].item(i)) if place in ds else None
        for side in ("probe", "gallery"):
            metadata = {name: ds[x].values[i] for name, x in meta_columns(ds, side).items()}
            metadata = {name: value for name, value in metadata.items() if value != ""}
            # Any column of the metadata may hold the name of an image.
            names_of_images = {name: str(value) for name, value in metadata.items()}
            cells[f"{side} image"] = Picture(names_of_images)
            label = Label(ds[f"{side}_label"].values[i])
            cells[side] = label
            if metadata:
                texts = [
                    say("{name:name} {value:name}", name=name, value=value)
                    for name, value in metadata.items()
                ]
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
    columns: list[Column] = []
    cells_of_columns: list[list[Text]] = []
    # What names a probe comes before its numbers, which have units: False sorts before True.
    for name in ("probe", *sorted(ds.data_vars, key=lambda x: "units" in ds[x].attrs)):
        about = ds[name].attrs
        if not about.get("label"):
            continue
        columns.append(Column(str(name), about["label"]))
        values = ds[name].values[order[:_LISTED]].tolist()
        if name == "probe" or "units" not in about:
            cells_of_columns.append([Label(value) for value in values])
        else:
            cells_of_columns.append([cell_of_number(value, about) for value in values])
    rows = list(zip(*cells_of_columns, strict=True))
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
    reasons = ds["why_not"].values  # "" for cards that were evaluated
    for why in dict.fromkeys(reason for reason in reasons.tolist() if reason):
        cards = ", ".join(ds["card"].values[reasons == why])
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
_NOT_SUPPORTED = "target-not-supported"
_UNCERTAIN = "target-uncertain"
SUPPORT = (_NOT_SUPPORTED, _UNCERTAIN)

#: A message that stands above the table of its task, whose numbers mislead without it.
_CAUTION = "galleries-of-different-sizes"

#: Answers that name a threshold; a sentence says for which attempts it is.
_WITH_THRESHOLD = {"threshold-accepts", "install-threshold"}

#: Messages that are not repeated below the tables, which have notes or marks for them.
_SHOWN_BY_TABLES = (*SUPPORT, _CAUTION, "limit-not-supported")

#: Messages on numbers that a short view does not have, or on what its header says.
_HIDDEN_IN_SHORT = ("not-all-ranks", *WITH_ITSELF)

#: Evaluations, comparisons and threshold studies, whose short view has one line for each note.
_EVALUATED = {
    "verification",
    "open-set",
    "closed-set",
    "reid",
    "gom",
    "comparison",
    THRESHOLD_STUDY,
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
    whole_of = {node.name: _whole_of(node, nodes) for node in nodes}
    wholes = [node for node in nodes if whole_of[node.name] is node]
    has_several_systems = len({(x.system, x.condition) for x in nodes}) > 1
    types = {x.result_type for x in wholes}
    is_short = on_screen and detail == "brief" and types <= _EVALUATED

    # The numbers of each task. With several tasks, a short view has fewer numbers of each.
    nodes_by_task: dict[str, list[Node]] = {}
    for node in nodes:
        is_part = whole_of[node.name] is not node
        if detail != "brief" or not is_part or node.dataset.attrs.get("detail") != "verbose":
            nodes_by_task.setdefault(node.task, []).append(node)
    is_dense = is_short and len(nodes_by_task) > 1
    tasks = [_results_in_view(x, detail, is_dense) for x in nodes_by_task.values()]

    # What the results say of themselves.
    messages = _messages_with_systems(nodes, whole_of, tasks, has_several_systems)
    alarms = [x for x in messages if x.code in KIND_DOUBTS]
    answers = [x for x in messages if x.code in ANSWERS]
    remarks = _remarks_among(messages, answers)

    # The tables with their rules and notes.
    tables, notes_left_out = _tables_of_tasks(tasks, has_several_systems, is_short)
    if is_short and not has_several_systems:
        if types == {THRESHOLD_STUDY}:
            tables = _with_title_of_study(tables)
        tables = _below_each_other(tables)

    # The notes below all tables; in short, most remarks are notes of one line.
    changes = chain.from_iterable(node.changes for node in nodes)
    notes: list[Text] = list(dict.fromkeys(changes))
    notes += _advice_on_thresholds(nodes, tasks, is_short)
    rows = list(chain.from_iterable(task.rows for task in tasks))
    notes += notes_of(rows, tables, is_short)
    if is_short:
        facts = [x for x in remarks if not isinstance(SENTENCES[x.code], Doubt)]
        facts_shown = [x for x in facts if x.code not in _HIDDEN_IN_SHORT]
        remarks = [x for x in remarks if x not in facts]
        if not has_several_systems:  # the tasks of a fact do not matter in short
            facts_shown = [Message(x.code, **x.arguments) for x in facts_shown]
        notes += map(finding_of, facts_shown)
        notes_left_out += len(facts) - len(facts_shown)

    # All blocks, from top to bottom.
    blocks: list[Block] = [Messages([alarm], alarm=True) for alarm in alarms]
    blocks.append(header_of(nodes, is_short))
    for answer in answers:
        of_some = say("{about:names}: {answer}", about=answer.about, answer=answer)
        blocks.append(Paragraph(of_some if answer.about else answer, "answer"))
    blocks += (Paragraph(text, "answer") for text in _uses_of_thresholds(nodes, is_short))
    blocks += tables
    if detail != "brief":
        blocks.append(_legend_of(tasks))
    blocks.append(Section("remarks", "", [Paragraph(x, "note") for x in notes]))
    blocks.append(Messages(remarks))
    blocks += map(Paragraph, lines)
    if is_short:
        rows_left_out = sum(task.rows_left_out for task in tasks)
        blocks.append(_way_to_full_view(rows_left_out, notes_left_out))
    rates_of = {x.rates_of for x in tasks if whole_of[x.nodes[0].name] is x.nodes[0]}
    return Section("results", "", blocks, task=rates_of.pop() if len(rates_of) == 1 else "")


def table_of_measures(nodes: Sequence[Node], measures: Sequence[str]) -> Section:
    """Return a table of each task with a row for each system, and a column for each measure.

    Raise :class:`DataError` for measures that the results lack.
    """
    nodes = distinct_nodes(nodes)
    all_rows = chain.from_iterable(_rows_of_node(node, data=True) for node in nodes)
    known = [row for row in all_rows if row.statistic in STATISTICS_IN_ROWS]
    wanted: list[Row] = []  # in the order of the measures
    at_named_points = set[int]()  # the identity of their rows
    for measure in measures:
        rows_of_measure = _rows_of_measure(known, measure)
        wanted += rows_of_measure
        if "=" in measure:
            at_named_points.update(map(id, rows_of_measure))

    sections: list[Section] = []
    for path in dict.fromkeys(node.task for node in nodes):
        wanted_of_task = [row for row in wanted if row.node.task == path]
        if not wanted_of_task:
            continue
        # A number that was named with its point is shown even if the data do not support it.
        rows = [x for x in wanted_of_task if _has_support(x) or id(x) in at_named_points]
        task = _TaskResults([x for x in nodes if x.task == path], rows, True)
        is_supported = all(row.supported is not False for row in wanted_of_task)
        notes = [] if is_supported else task.texts(_support_notes)
        id_of_table = path.replace("/", "_")
        blocks: list[Block] = [Paragraph(note, "note") for note in notes]
        if rows:
            table = systems_in_rows(rows, id_of_table)
            blocks = [replace(table, title=task.title, notes=notes)]
        sections.append(Section(id_of_table, "", blocks, task=task.rates_of))
    notes_below = [Paragraph(note, "note") for note in notes_of(wanted, sections)]
    return Section("systems", "", [*sections, *notes_below])


def _rows_of_measure(rows: Sequence[Row], text: str) -> list[Row]:
    """Return the rows of the measure that a text names; raise DataError if there is none."""
    found: list[Row] = []
    with contextlib.suppress(ValueError):  # a text of another form names no measure
        measure = Measure.parse(text)
        found = [row for row in rows if measure.matches(row)]
    if not found:
        known = dict.fromkeys(row.measure for row in rows)
        raise DataError(bad_choice("measures", text, known))
    return found


# The numbers of a task, and which of them a view has.


@dataclass(frozen=True)
class _TaskResults:
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


def _whole_of(node: Node, nodes: Sequence[Node]) -> Node:
    """Return the study that a result is a part of, or the result itself."""
    studies = (x for x in nodes if node.name.startswith(f"{x.name}/"))
    return next(studies, node)


def _results_in_view(nodes: Sequence[Node], detail: Detail, is_dense: bool) -> _TaskResults:
    """Return the results of a task with the rows of a view; no other place leaves out numbers.

    A dense view has the strictest of the usual FAR targets that the data support, and rank 1.
    """
    rows = list(chain.from_iterable(_rows_of_node(node) for node in nodes))
    if not rows:  # selected variables, or changed records, of which tables show none by default
        rows = list(chain.from_iterable(_rows_of_node(node, data=True) for node in nodes))
    shown = rows
    if detail != "all":
        shown = [row for row in shown if _has_support(row)]
    if detail == "brief":
        shown = _brief_rows(shown, nodes)
    if is_dense:
        shown = _dense_rows(shown, nodes)
    is_defined = any(row.is_defined for row in rows)
    rows_left_out = _number_of_values(rows) - _number_of_values(shown)
    return _TaskResults(nodes, shown, is_defined, rows_left_out)


def _has_support(row: Row) -> bool:
    """Whether the data support a number, or it was asked for and is shown with a mark."""
    return row.supported is not False or row.is_asked


def _number_of_values(rows: Iterable[Row]) -> int:
    """Return the number of defined values; standard deviations and the like are not counted."""
    return sum(row.is_defined and row.statistic in ("", "mean") for row in rows)


def _brief_rows(rows: Sequence[Row], nodes: Sequence[Node]) -> list[Row]:
    """Return the rows of a brief view; those of detail ``data`` where there would be no other."""
    in_answers = {node.name for node in nodes if _has_threshold_in_answer(node.dataset)}
    brief: list[Row] = []
    for row in rows:
        is_in_answer = row.name == "threshold" and row.node.name in in_answers
        if row.is_brief and not is_in_answer:
            brief.append(row)
    if not brief:
        brief = [row for row in rows if row.about.get("detail") == "data"]
    # The letters of more systems say which pairs differ, so their differences are left out.
    if len({row.system for row in brief}) > FEW:
        return [row for row in brief if not row.other_system]
    return brief


def _has_threshold_in_answer(dataset: xr.Dataset) -> bool:
    answers = [x for x in messages_of(dataset.attrs) if x.code in ANSWERS]
    return any("threshold" in answer.arguments for answer in answers)


def _dense_rows(rows: Sequence[Row], nodes: Sequence[Node]) -> list[Row]:
    """Return the rows at one FAR target for each result, at the targets asked for, and at rank 1.

    Rows without a target or a rank are kept.
    """
    target_of = {node.name: _strictest_target(node.dataset) for node in nodes}
    dense: list[Row] = []
    for row in rows:
        is_at_target = row.at != "far_target" or row.point == target_of[row.node.name]
        is_at_later_rank = row.name == "cms" and row.places.get("rank") in RANKS[1:]
        if (is_at_target or row.is_asked) and not is_at_later_rank:
            dense.append(row)
    return dense


def _strictest_target(dataset: xr.Dataset) -> float:
    """Return the strictest FAR target with enough people and attempts; NaN without one.

    A target with 30 expected errors comes before one that is uncertain.
    """
    if "far_target" not in dataset.variables:
        return math.nan
    without_support: set[float] = set()
    uncertain: set[float] = set()
    for message in messages_of(dataset.attrs):
        if message.code not in SUPPORT or message.arguments["chosen"] != "far":
            continue
        targets = without_support if message.code == _NOT_SUPPORTED else uncertain
        targets.update(message.arguments["targets"])
    supported = set(dataset.variables["far_target"].values.tolist()) - without_support
    certain = supported - uncertain
    return min(certain or supported, default=math.nan)


def _rows_of_node(node: Node, *, data: bool = False) -> Iterator[Row]:
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


def _messages_with_systems(
    nodes: Sequence[Node],
    whole_of: Mapping[str, Node],
    tasks: Iterable[_TaskResults],
    has_several_systems: bool,
) -> list[Message]:
    """Return the messages of results, each once, with the systems or tasks that it is about.

    A message of tasks without a defined number is left out: their section says why.
    """
    undefined: set[str] = set()
    for task in tasks:
        if not task.is_defined:
            undefined.update(node.name for node in task.nodes)
    names_of: dict[Message, set[str]] = {}
    for node in nodes:
        for message in messages_of(node.dataset.attrs):
            names_of.setdefault(message, set()).add(whole_of[node.name].name)
    wholes = [node for node in nodes if whole_of[node.name] is node]
    messages: list[Message] = []
    for message, names in names_of.items():
        is_of_all = len(names) >= len(wholes)
        if is_of_all or not names <= undefined:
            messages.append(_with_systems(message, names, wholes, has_several_systems))
    return messages


def _with_systems(
    message: Message, names: set[str], nodes: Sequence[Node], has_several_systems: bool
) -> Message:
    """Return a message of the results with some `names` with its systems, or else its tasks.

    A message of all results has none, except an answer where there are several systems.
    """
    nodes_of_message = [x for x in nodes if x.name in names]
    is_answer_of_systems = has_several_systems and message.code in ANSWERS
    if len(nodes_of_message) == len(nodes) and not is_answer_of_systems:
        return message
    if not has_several_systems:
        return message.concerning(*(_capitalised(node.title) for node in nodes_of_message))
    about: list[str] = []
    for system in dict.fromkeys(x.name_of_system() for x in nodes_of_message):
        titles = [x.title for x in nodes_of_message if x.name_of_system() == system]
        number_of_tasks = sum(x.name_of_system() == system for x in nodes)
        if len(titles) == number_of_tasks:
            about.append(system)
        else:
            about += (f"{system}: {title}" for title in titles)
    return message.concerning(*about)


def _capitalised(title: str) -> str:
    return f"{title[0].upper()}{title[1:]}"


def _remarks_among(messages: Iterable[Message], answers: Sequence[Message]) -> list[Message]:
    """Return the messages that stand below the tables: first those that are about all results.

    Alarms, answers, what an answer cites, and what tables show by themselves have other places.
    """
    elsewhere = {*KIND_DOUBTS, *ANSWERS, *_SHOWN_BY_TABLES}
    cited: list[Any] = []
    for answer in answers:
        cited += answer.arguments.values()
    remarks = [x for x in messages if x.code not in elsewhere and x not in cited]
    return sorted(remarks, key=lambda message: bool(message.about))


def _uses_of_thresholds(nodes: Iterable[Node], is_short: bool) -> list[Text]:
    """Return for which attempts the thresholds are that answers name."""
    uses: dict[str, list[Text]] = {}
    for node in nodes:
        attrs = node.dataset.attrs
        codes = {message.code for message in messages_of(attrs)}
        if not _WITH_THRESHOLD.isdisjoint(codes):
            uses[node.name_of_system()] = [use_of_threshold(attrs, is_short)]
    return joined_texts(uses)


def _advice_on_thresholds(
    nodes: Sequence[Node], tasks: Iterable[_TaskResults], is_short: bool
) -> list[Text]:
    """Return where to get a threshold to install; nothing where the first task has none."""
    with_thresholds = {"verification", "open-set"}
    types = [task.nodes[0].result_type for task in tasks if task.is_defined]
    number = sum(result_type in with_thresholds for result_type in types)
    if not number or nodes[0].result_type not in with_thresholds:
        return []
    if is_short:
        return ["Choose a threshold to install by be.study_threshold (bioeval threshold)."]
    for_task = " for the task in use" if number > 1 else ""
    return [
        "Do not install a threshold of this evaluation: be.study_threshold (bioeval threshold) "
        f"chooses one{for_task}."
    ]


def _legend_of(tasks: Iterable[_TaskResults]) -> Legend:
    """Return the labels of measures with their long names, each long name once."""
    labels: dict[str, Phrase] = {}
    for task in tasks:
        for row in task.rows:
            long_name = str(row.about.get("long_name", ""))
            label = label_of_measure(row)
            is_explained = long_name not in ("", label.template)
            if is_explained and row.statistic in ("", "mean"):
                labels.setdefault(long_name, replace(label, task=label.task or task.rates_of))
    explanations = [
        (label, say(template_of(long_name), task=label.task)) for long_name, label in labels.items()
    ]
    return Legend(explanations)


def _way_to_full_view(rows_left_out: int, notes_left_out: int) -> Paragraph:
    amounts = {"rows": rows_left_out, "notes": notes_left_out}
    more = Enumeration([Count(n, noun=nouns) for nouns, n in amounts.items() if n])
    with_more = ", with {more} more" if more.texts else ""
    return Paragraph(say(f"In full{with_more}: `verbose=True`", more=more), "note")


class _TaskTexts(NamedTuple):
    """The texts around the tables of a task, without those that stand with a task above it."""

    rules: list[Text]  # all of them, in words
    rules_shown: list[Text]
    cautions: list[Text]  # on numbers that mislead without them
    notes: list[Text]  # below the tables
    left_out: list[Text]  # the rules and the notes that a short view leaves out


def _tables_of_tasks(
    tasks: Iterable[_TaskResults], has_several_systems: bool, is_short: bool
) -> tuple[list[Section], int]:
    """Return the tables of all tasks, and the number of texts that a short view leaves out.

    A rule or a note that several tasks have stands with the first of them.
    """
    sections: list[Section] = []
    texts_above: list[Text] = []
    texts_left_out: list[Text] = []
    for task in tasks:
        title = _title_in_document(task, has_several_systems)
        if not task.is_defined:
            sections.append(_section_without_numbers(task, title))
            continue
        texts = _texts_of_task(task, is_short, texts_above)
        sections.append(_tables_of_task(task, title, texts, is_short))
        texts_above += [*texts.rules, *texts.notes]
        texts_left_out += [text for text in texts.left_out if text not in texts_left_out]
    return sections, len(texts_left_out)


def _texts_of_task(task: _TaskResults, is_short: bool, texts_above: Sequence[Text]) -> _TaskTexts:
    rules = [x for x in task.texts(rules_of) if x not in texts_above]
    notes_on_support = task.texts(_support_notes)
    cautions = task.texts(lambda ds: [x for x in messages_of(ds.attrs) if x.code == _CAUTION])
    rules_shown = rules
    left_out: list[Text] = []
    if is_short:  # the rules that are unusual, and a line for each note
        unusual = task.texts(unusual_rules_of)
        rules_shown = [x for x in rules if x in unusual]
        left_out = [x for x in (*rules, *notes_on_support) if x not in unusual]
        notes_on_support = task.texts(partial(_short_support_notes, rows=task.rows))
        cautions = [finding_of(x) for x in cautions if isinstance(x, Message)]

    texts_before_notes = [*texts_above, *rules]
    all_notes = [*_reasons_of_undefined(task.rows), *notes_on_support]
    notes = [x for x in all_notes if x not in texts_before_notes]
    if not is_short and any(x in texts_before_notes for x in notes_on_support):
        notes.append("the notes above on people and targets hold for this table, too")
    return _TaskTexts(rules, rules_shown, cautions, notes, left_out)


def _tables_of_task(task: _TaskResults, title: Text, texts: _TaskTexts, is_short: bool) -> Section:
    """Return the tables of a task: the first has the title and the details, the last the notes."""
    # One sample size is part of the title; those of several systems stand below it.
    details = task.texts(lambda dataset: [sample_size(dataset, is_short=is_short)])
    if len(details) == 1:
        title = say("{title}: {size}", title=title, size=details[0])
        details = []
    plain_rules = [x for x in texts.rules_shown if isinstance(x, str)]
    if plain_rules:
        details.append("; ".join(plain_rules))
    details += (x for x in texts.rules_shown if not isinstance(x, str))
    details += texts.cautions

    id = task.nodes[0].task.replace("/", "_")
    tables = list(tables_of(task.rows, id))
    if not tables:
        blocks = [Paragraph(note, "note") for note in texts.notes]
        return Section(id, title, blocks, task=task.rates_of)
    if tables[0].title:
        title = say("{whole}: {table}", whole=title, table=tables[0].title)
    tables[0] = replace(tables[0], title=title, details=details)
    tables[-1] = replace(tables[-1], notes=[*tables[-1].notes, *texts.notes])
    return Section(id, "", tables, task=task.rates_of)


def _title_in_document(task: _TaskResults, has_several_systems: bool) -> Text:
    """Return the title of a task; of one among several systems, with the name of the system."""
    if not has_several_systems or len(task.nodes) > 1:
        return task.title
    node = task.nodes[0]
    names = [name for name in (node.system, node.condition) if name]
    return say("{system}: {title}", system=Label(", ".join(names)), title=node.title)


def _section_without_numbers(task: _TaskResults, title: Text) -> Section:
    """Return a section that says why a task has no defined number, if this is known."""
    node = task.nodes[0]
    why = " and ".join(lacking(node.dataset))
    variables = node.dataset.data_vars.values()
    if not why and variables and all(not {*CURVES}.isdisjoint(x.dims) for x in variables):
        why = "no single numbers; be.to_frame(..., curves=True) has the points of curves"
    text = "{title}: no results ({why})" if why else "{title}: no results"
    id = node.task.replace("/", "_")
    return Section(id, say(text, title=title, why=why), (), task=task.rates_of)


def _reasons_of_undefined(rows: Iterable[Row]) -> list[Text]:
    """Return the reasons why numbers are not defined; of several, each with its measures.

    Classes without attempts are the reason of all undefined numbers of their result.
    """
    labels_of: dict[str, list[Text]] = {}
    for row in rows:
        if row.is_defined or row.statistic:
            continue
        classes = " and ".join(lacking(row.node.dataset))
        why = classes or str(row.about.get("undefined", ""))
        if why:
            labels_of.setdefault(why, []).append(label_of(row))
    text = "n/a: {why}" if len(labels_of) == 1 else "n/a, {labels}: {why}"
    return [
        say(text, labels=Enumeration(labels), why=say(why)) for why, labels in labels_of.items()
    ]


def _with_title_of_study(sections: list[Section]) -> list[Section]:
    """Return the sections of a threshold study, whose first one may have a title alone.

    The answers have the numbers of the study then: its title stands above the table of its part.
    """
    if len(sections) < 2 or sections[0].blocks:
        return sections
    study, part, *further = sections
    tables = [replace(x, title=study.title) for x in part.blocks if isinstance(x, Table)]
    return [replace(part, blocks=tables), *further] if tables else sections


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
    """Yield the messages on targets that the data do not support, if the rate is shown at them."""
    for message in messages_of(dataset.attrs):
        about = message.arguments
        if message.code in SUPPORT and f"{about['rate']}_at_{about['chosen']}" in dataset:
            yield message


def _support_notes(dataset: xr.Dataset) -> list[Text]:
    """Return the notes on unsupported targets; those of a part of the data behind its name."""
    task = str(dataset.attrs.get("task", ""))
    messages_of_parts: dict[tuple[str, ...], list[Message]] = {}
    for message in _support_messages(dataset):
        parts = tuple(x for x in message.about if not task.startswith(x))
        without_parts = Message(message.code, **message.arguments)
        messages_of_parts.setdefault(parts, []).append(without_parts)
    notes: list[Text] = list(messages_of_parts.pop((), ()))
    for parts, messages in messages_of_parts.items():
        notes.append(say("{parts:names}: {messages:messages}", parts=parts, messages=messages))
    if messages_of_parts and "fold" in dataset.dims:
        larger = "larger test parts" if "experiment" in dataset.attrs else "fewer, larger folds"
        notes.append(f"use {larger} or test more people")
    return notes


def _short_support_notes(dataset: xr.Dataset, rows: Sequence[Row]) -> list[Text]:
    """Return a line for each rate of which no row is at a target that the data surely support."""
    messages_by_rate: dict[tuple[Any, ...], list[Message]] = {}
    for message in _support_messages(dataset):
        about = message.arguments
        key = (about["rate"], about["chosen"], about["unit"], message.about)
        messages_by_rate.setdefault(key, []).append(message)

    rows_of_dataset = [row for row in rows if row.node.dataset is dataset]
    notes: list[Text] = []
    for (rate, chosen, unit, parts), messages in messages_by_rate.items():
        targets = list(chain.from_iterable(x.arguments["targets"] for x in messages))
        needed = list(chain.from_iterable(x.arguments["needed"] for x in messages))
        points = {row.point for row in rows_of_dataset if row.at == f"{chosen}_target"}
        if points and points.isdisjoint(targets):
            continue
        is_uncertain = any(message.code == _UNCERTAIN for message in messages)
        fault = "is uncertain with" if is_uncertain else "cannot be estimated from"
        and_below = " and below" if len(targets) > 1 else ""
        text = (
            f"{{rate:term}} at {{chosen:term}} <= {{target:rate}}{and_below} {fault} "
            "fewer than {needed:count} {unit}"
        )
        task = messages[0].arguments.get("task", "")
        numbers = {"target": max(targets), "unit": unit, "needed": min(needed)}
        note = say(text, task=task, rate=rate, chosen=chosen, **numbers)
        notes.append(say("{parts:names}: {text}", parts=parts, text=note) if parts else note)
    return notes


# Notes below the tables: thresholds chosen on the data, intervals, the meaning of statistics.


#: The meaning of columns of statistics, by their headings.
_STATISTICS = {
    "training": "Training: mean over the training parts (optimistic).",
    "test": "Test: mean over the test parts; sd: their standard deviation.",
    "mean": "Mean, sd: over the parts, each with the same weight.",
    "sd of repeats": "sd of repeats: standard deviation of the means of the repeats.",
    "pooled": "Pooled: rate of all test parts counted together.",
}

#: Thresholds whose origin is in the attribute ``chosen_on``.
_CHOSEN_BY_RULE = ("threshold", "assured_threshold")


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
                for cells_of_row in table.rows:
                    cells += (x for x in cells_of_row if isinstance(x, Quantity))
    differences = [row for row in rows if row.statistic == "difference"]

    if any(row.statistic in ("mean", "pooled") for row in rows):
        yield from (text for heading, text in _STATISTICS.items() if heading in headings)
    if not is_short and any(map(_has_threshold_of_same_data, rows)):
        yield "Thresholds were chosen on these data, so errors at them are optimistic (too low)."
    yield from _notes_on_test_parts(rows)
    if any(x.flagged for x in cells):
        if any(row.flagged for row in rows):
            yield "*: too few subjects or independent errors to rank groups by this rate."
        else:
            yield "*: not supported: too few people or attempts for this target."
    if any(x.interval for x in cells):
        yield from _notes_on_intervals(rows, is_short)
    yield from _notes_on_differences(differences, is_short)
    if any(row.statistic == LETTERS for row in rows) and not differences:
        yield (
            "Systems that share a letter do not differ significantly; all pairs: `verbose=True`. A "
            "system that is chosen for its best value looks better than it is: report its value on "
            "new data."
        )


def _has_threshold_of_same_data(row: Row) -> bool:
    """Whether a number is at a threshold that was chosen on the data of the number."""
    if row.threshold_cell is None or "part" in row.places:
        return False
    is_of_rule = row.about.get("threshold") in _CHOSEN_BY_RULE
    return not is_of_rule or "chosen_on" not in row.node.dataset.attrs


def _notes_on_test_parts(rows: Iterable[Row]) -> Iterator[Text]:
    """Yield which means are too low or too high, since each test part chose its own threshold.

    These are the rates of a result over parts that have no training and test values.
    """
    too_low: list[Row] = []
    too_high: list[Row] = []
    for row in rows:
        is_rate = row.about.get("units") == "proportion" and row.supported is not False
        is_mean = row.statistic == "mean" and "part" not in row.places
        if not is_rate or not is_mean or "part" not in row.node.dataset.dims:
            continue
        # A threshold that is chosen on the data makes rates better than they are.
        if row.about.get("direction") == "larger":
            too_high.append(row)
        else:
            too_low.append(row)
    end = "with a threshold chosen on the test part itself."
    if too_low:
        yield say(f"{{labels}}: too low, {end}", labels=_labels_of(too_low))
    if too_high:
        yield say(f"{{labels}}: too high, {end}", labels=_labels_of(too_high))


def _labels_of(rows: Iterable[Row]) -> Enumeration:
    """Return the labels of rows, each once."""
    labels = [label_of(row, with_also=False) for row in rows]
    distinct = {repr(label): label for label in labels}
    return Enumeration(list(distinct.values()), ";")


def _notes_on_differences(rows: Sequence[Row], is_short: bool) -> Iterator[Text]:
    """Yield how the limits of differences between systems were computed, and what to beware of."""
    rows_by_method: dict[str, list[Row]] = {}
    for row in rows:
        method = str(row.about.get("interval_method") or "")
        if method and not math.isnan(row.low):
            rows_by_method.setdefault(method, []).append(row)
    if rows_by_method:
        yield _note_on_limits(rows_by_method, is_short)
    if any(row.other_system for row in rows):
        before = "" if is_short else "Differences are computed before rounding. "
        yield (
            f"{before}A system that is chosen for its best value looks better than it is: report "
            "its value on new data."
        )


def _note_on_limits(rows_by_method: Mapping[str, Sequence[Row]], is_short: bool) -> Text:
    """Return for what limits and p values of differences hold, and what they are corrected for."""
    # The rows are of one comparison, whose attributes say what is corrected; of several, the last.
    last_rows = list(rows_by_method.values())[-1]
    comparison = last_rows[0].node.dataset.attrs
    methods: list[Text] = []
    for method, rows in rows_by_method.items():
        attrs = rows[0].node.dataset.attrs
        drawn = ""
        if method == "subject-bootstrap" and "replicates" in attrs:
            drawn = f"; {attrs['replicates']:,} replicates, seed {attrs['seed']}"
        values = {"method": method_in_words(method), "labels": _labels_of(rows), "drawn": drawn}
        methods.append(say("by {method} ({labels}{drawn})", **values))
    has_more_pairs = int(comparison.get("systems_compared", 2)) > 2
    pairs = " and all pairs of systems together" if has_more_pairs else ""
    is_corrected = comparison["adjust"] == "holm"
    correction = "; conclusions are corrected" if is_corrected else ", not corrected"
    end = "." if is_short else "; Student's test, with standard errors {methods}."
    text = (
        f"Limits and p values of differences: for each measure by itself{pairs}{correction} for "
        f"the number of measures{end}"
    )
    return say(text, methods=Enumeration(methods, ";"))


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


def _notes_on_intervals(rows: Sequence[Row], is_short: bool) -> Iterator[Text]:
    """Yield what the numbers in square brackets are; each method once, with its tasks."""
    limited = [row for row in rows if not math.isnan(row.low)]
    dataset_of = {row.node.name: row.node.dataset for row in limited}
    method_of: dict[str, Text] = {}
    tasks_of: dict[str, list[str]] = {}
    for dataset in dataset_of.values():
        if "interval_method" not in dataset.attrs:
            continue
        method = _interval_in_words(dataset.attrs, is_short)
        key = repr(method)  # texts may hold lists, which cannot be keys
        method_of.setdefault(key, method)
        tasks_of.setdefault(key, []).append(str(dataset.attrs.get("task", "")))
    methods: list[Text] = []
    for key, method in method_of.items():
        # The first method is that of most tasks: the others have the names of theirs.
        text = "of {tasks}: {method}" if methods else "{method}"
        tasks = [task for task in dict.fromkeys(tasks_of[key]) if task]
        methods.append(say(text, method=method, tasks=Enumeration(tasks)))
    if not methods:
        return
    values = [row.value for row in limited if row.statistic in ("", "mean")]
    is_one_sided = any(value in (0, 1) for value in values)
    end = ""
    if is_one_sided and not is_short:
        end = " Where a value is 0 or 100 %, the interval is one-sided."
    yield say("In square brackets: {methods}.{end}", methods=Enumeration(methods, ";"), end=end)


def _interval_in_words(attrs: Mapping[Any, Any], is_short: bool) -> Text:
    """Return the level, the population and the method of the intervals of a result."""
    method = str(attrs["interval_method"])
    arguments: dict[str, Any] = {
        "level": float(attrs["confidence"]),
        "method": method_in_words(method),
    }
    limits = "interval" if method == "quantile" else "confidence interval"
    if attrs.get("limits") == "one-sided":
        limits = "one-sided confidence limits"
    text = f"{{level:rate}} {limits}, by {{method}}"
    population = str(attrs.get("interval_for", ""))
    if population and not is_short:
        text = f"{{level:rate}} {limits} {{population}}, by {{method}}"
        arguments["population"] = _POPULATIONS.get(population, f"for {population}")
    if "interval_of_test" in attrs:  # columns of a threshold study name the populations
        text = f"{{level:rate}} {limits}; same data: {{method}}"
    for name, words in _OF_INTERVALS.items():
        if name in attrs:
            text += f"; {words}{{{name}}}"
            arguments[name] = str(attrs[name])
    if "replicates" in attrs and method != "people":
        text += " ({replicates:count replicates})"
        arguments["replicates"] = int(attrs["replicates"])
    return say(text, **arguments)
