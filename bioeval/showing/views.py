"""The numbers of a task that a view has: all, those that the data support, or a few of these.

A view in detail ``all`` has every number, ``supported`` has those that the data support or that
were asked for, and ``brief`` has the main ones of these. No other module leaves out numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import xarray as xr

from bioeval.base.errors import messages_of
from bioeval.results.variables import RANKS
from bioeval.showing.header import joined_texts
from bioeval.showing.nodes import OVER, Node
from bioeval.showing.notes import NOT_SUPPORTED, SUPPORT
from bioeval.showing.rows import Row, rows_of
from bioeval.showing.sentences import ANSWERS
from bioeval.showing.tables import FEW
from bioeval.showing.text import Detail, Text, rates_are_of, task_of
from bioeval.stats.aggregate import aggregate


@dataclass(frozen=True)
class TaskResults:
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
        return capitalised(self.nodes[0].title)

    def texts(self, texts_of: Callable[[xr.Dataset], Iterable[Text]]) -> list[Text]:
        """Return the texts of a function on all systems, each text once.

        A text that is not of all systems has the names of its systems.
        """
        return joined_texts({x.name_of_system(): texts_of(x.dataset) for x in self.nodes})


def results_in_view(nodes: Sequence[Node], detail: Detail, is_dense: bool) -> TaskResults:
    """Return the results of a task with the rows of a view; no other place leaves out numbers.

    A dense view has the strictest of the usual FAR targets that the data support, and rank 1.
    """
    rows = list(chain.from_iterable(rows_of_task(node) for node in nodes))
    if not rows:  # selected variables, or changed records, of which tables show none by default
        rows = list(chain.from_iterable(rows_of_task(node, data=True) for node in nodes))
    shown = rows
    if detail != "all":
        shown = [row for row in shown if has_support(row)]
    if detail == "brief":
        shown = _brief_rows(shown, nodes)
    if is_dense:
        shown = _dense_rows(shown, nodes)
    is_defined = any(row.is_defined for row in rows)
    rows_left_out = _number_of_values(rows) - _number_of_values(shown)
    return TaskResults(nodes, shown, is_defined, rows_left_out)


def has_support(row: Row) -> bool:
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
        targets = without_support if message.code == NOT_SUPPORTED else uncertain
        targets.update(message.arguments["targets"])
    supported = set(dataset.variables["far_target"].values.tolist()) - without_support
    certain = supported - uncertain
    return min(certain or supported, default=math.nan)


def rows_of_task(node: Node, *, data: bool = False) -> Iterator[Row]:
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


def capitalised(title: str) -> str:
    return f"{title[0].upper()}{title[1:]}"
