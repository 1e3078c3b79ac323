"""Conditions on the numbers of a result, such as ``eer > 5%``, by which a command fails.

A condition names a number of the frame (:func:`bioeval.showing.data.to_frame`), or it is a word
that is about all verdicts of a study.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.arguments import rate_in
from bioeval.base.errors import DataError, bad_choice
from bioeval.showing.measures import Measure
from bioeval.showing.nodes import OVER
from bioeval.showing.rows import COLUMNS

if TYPE_CHECKING:
    import pandas as pd

_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}

#: Words that are conditions on the verdicts of a study.
WORSE, OPEN = "worse", "open"

#: Names that an error lists, at most.
_MOST_NAMED = 10


@dataclass(frozen=True)
class Condition:
    """A condition on a number, such as ``frr_at_far=0.01@system=new > 5%``, or a word.

    The measure may have ``_low``, ``_high`` or ``_threshold`` at its end, for that column of its
    rows. Without a task it is of the first one that has it.
    """

    text: str
    measure: Measure
    sign: str = ""  # none of a word
    limit: float = np.nan

    @classmethod
    def parse(cls, text: str, words: Iterable[str] = ()) -> Condition:
        """Return the condition that a text says; raise ValueError if it says none."""
        text = text.strip()
        if text in words:
            return cls(text, Measure(text))
        measure, sign, limit = re.split("(>=|<=|>|<)", text)
        return cls(text, Measure.parse(measure), sign, rate_in(limit.strip()))

    def reasons(self, frame: pd.DataFrame) -> Iterator[str]:
        """Yield why results fail by the condition; an undefined or unsupported number fails, too.

        The condition is about the means of folds and partitions. Raise :class:`DataError` where no
        row of the frame has the number.
        """
        if not self.sign:
            yield from self._failed_verdicts(frame)
            return
        rows, column = self._rows_meant(frame)
        units = {*rows.get("unit", [""])}
        if column != "threshold" and units <= {"proportion", "p"}:
            # A difference of two rates is at least -1.
            lowest = 0 if (rows["statistic"].isna() | (rows["statistic"] == "mean")).all() else -1
            if not lowest <= self.limit <= 1:
                raise DataError(
                    f"`fail_if` is {self.text!r}, but {self.measure.name} is from {lowest} to 1; "
                    f"write {self.limit:g}% for {self.limit:g} per cent"
                )
        for row in rows.to_dict("records"):
            number = self.measure.text
            if row["supported"] is False:
                reason = f"too few people or attempts for {number}"
            elif np.isnan(row[column]):
                reason = f"{number} is not defined"
            elif _SIGNS[self.sign](row[column], self.limit):
                reason = f"{number} is {row[column]:.6g}"
            else:
                continue
            yield f"{self.text}: {reason} ({_place_in_words(row)})"

    def _rows_meant(self, frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
        """Return the rows that the condition is about, and the column of its number."""
        # ``eer_low`` is the column "low" of the rows of ``eer``, unless a measure has this name.
        measures = frame["measure"].unique().tolist()
        measure, column = self.measure.name, "value"
        base, _, end = measure.rpartition("_")
        if measure not in measures and base in measures and end in ("low", "high", "threshold"):
            measure, column = base, end
        rows = frame[frame["measure"] == measure]
        if rows.empty:
            raise DataError(bad_choice("fail_if", measure, measures, _MOST_NAMED))
        if self.measure.task:
            rows = _of_label(rows, "task", self.measure.task)

        # The named places; by default, test parts and means over folds.
        places = self.measure.places
        for dim, label in places.items():
            rows = _of_label(rows, dim, label)
        if "statistic" not in places:
            rows = rows[rows["statistic"].isna() | (rows["statistic"] == "mean")]
        if places.keys().isdisjoint(OVER):
            rows = rows[rows[[x for x in OVER if x in rows]].isna().all(axis=1)]
        if "part" in rows and "part" not in places and (rows["part"] == "test").any():
            rows = rows[rows["part"].isna() | (rows["part"] == "test")]

        # The named point. A rank is the point of a row without another one; without a named rank,
        # rows at other points are at the smallest rank.
        points = rows["point"]
        if "rank" in rows and "rank" not in places:
            is_at_rank = points.isna() & rows["rank"].notna()
            points = points.where(~is_at_rank, rows["rank"].astype(float))
            rows = rows[is_at_rank | rows["rank"].isna() | (rows["rank"] == rows["rank"].min())]
            points = points[rows.index]
        is_meant = _is_at(points, self.measure.number) if self.measure.point else points.isna()
        if not is_meant.any():
            task, name = self.measure.task, self.measure.name
            known = [f"{name}={x:g}" for x in points.dropna().unique()] or [name]
            prefix = f"{task}/" if task else ""
            names = [f"{prefix}{x}" for x in known]
            asked = f"{prefix}{self.measure.text}"
            raise DataError(bad_choice("fail_if", asked, names, _MOST_NAMED))
        rows = rows[is_meant]

        # Of several tasks with the number, the first one of each system.
        by = [x for x in ("system", "condition") if x in rows]
        groups = rows.groupby(by or np.zeros(len(rows)), dropna=False, sort=False)
        return rows[rows["task"] == groups["task"].transform("first")], column

    def _failed_verdicts(self, frame: pd.DataFrame) -> Iterator[str]:
        """Yield the open promises, or the measures in which a later system is worse than the first.

        Where measures were chosen, or none is supported, one that is not supported is told, too.
        """
        is_verdict = frame["measure"] == "verdict"
        if self.text == WORSE:
            is_verdict = frame["statistic"] == "separated"
        if not is_verdict.any():
            raise DataError(f"`fail_if` is {self.text}, and these results have no verdict")
        if self.text == OPEN:
            is_open = is_verdict & (frame["text"] == OPEN)
            yield from (f"{OPEN}: {promise}" for promise in frame.loc[is_open, "promise"])
            return
        first = frame.loc[is_verdict, "system"].iloc[0]
        rows = frame[is_verdict & (frame["other_system"] == first)]
        is_supported = rows["supported"].fillna(True).astype(bool)
        chosen = any(x.get("measures") for x in frame.attrs["results"].values())
        for row, supported in zip(rows.to_dict("records"), is_supported, strict=True):
            point = row["point"]
            measure = row["measure"] if np.isnan(point) else f"{row['measure']}={point:g}"
            if not supported and (chosen or not is_supported.any()):
                yield f"{WORSE}: too few people or attempts to tell: {row['system']}, {measure}"
            elif supported and row["value"] == -1:
                yield f"{WORSE}: {row['system']}, {measure}"


def _place_in_words(row: Mapping[Any, Any]) -> str:
    """Return system, condition, task, and the labels of the other dimensions of a row."""
    places: list[str] = []
    for name, label in row.items():
        if name in ("system", "condition", "task"):
            if isinstance(label, str) and label:
                places.append(label)
        elif name not in (*COLUMNS, "rank") and label == label and label is not None:  # no NaN
            places.append(f"{name} {label}")
    return ", ".join(places)


def _of_label(rows: pd.DataFrame, dim: str, label: str) -> pd.DataFrame:
    """Return the rows with a label of a dimension; a number may be written in any way."""
    dims = [x for x in rows if x == "statistic" or x not in COLUMNS]
    if dim not in dims:
        raise DataError(bad_choice("fail_if", f"@{dim}", [f"@{x}" for x in dims]))
    labels = rows[dim]
    if labels.dtype == object or labels.dtype.kind not in "iuf":
        is_meant = labels.astype(str) == label
        if not is_meant.any():
            is_meant = labels.astype(str).str.casefold() == label.casefold()
    else:
        try:
            is_meant = _is_at(labels.astype(float), rate_in(label))
        except ValueError:  # no number, so no label
            is_meant = np.zeros(len(labels), bool)
    if not is_meant.any():
        named = [f"{dim}={x}" for x in labels.dropna().unique()]
        raise DataError(bad_choice("fail_if", f"{dim}={label}", named, _MOST_NAMED))
    return rows[is_meant]


def _is_at(places: pd.Series[float], number: float) -> np.ndarray:
    return np.isclose(places, number, rtol=1e-12, atol=0)
