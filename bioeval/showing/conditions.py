"""Conditions on the numbers of results, as ``frr_at_far=0.01 > 5%``: queries of their frame."""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bioeval.base.arguments import rate_in
from bioeval.base.errors import DataError, bad_choice
from bioeval.showing.data import COLUMNS
from bioeval.showing.document import Measure
from bioeval.showing.nodes import OVER

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
            yield from _VERDICTS[self.text](frame)
            return
        measures = frame["measure"].unique().tolist()
        measure, column = self.measure.name, "value"
        base, _, end = measure.rpartition("_")
        if measure not in measures and base in measures and end in ("low", "high", "threshold"):
            measure, column = base, end
        rows = frame[frame["measure"] == measure]
        if rows.empty:
            nearest = difflib.get_close_matches(measure, measures, _MOST_NAMED, cutoff=0)
            raise DataError(bad_choice("fail_if", measure, nearest))
        if self.measure.task:
            rows = _of_label(rows, "task", self.measure.task)
        rows = self._at_point(self._at_places(rows))
        named = [x for x in ("system", "condition") if x in rows]
        first_tasks = rows.groupby(named or np.zeros(len(rows)), dropna=False, sort=False)["task"]
        rows = rows[rows["task"] == first_tasks.transform("first")]
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
            places: list[str] = []
            for name, label in row.items():
                if name in ("system", "condition", "task"):
                    places += [label] if isinstance(label, str) and label else []
                elif name not in (*COLUMNS, "rank") and label == label and label is not None:
                    places.append(f"{name} {label}")
            yield f"{self.text}: {reason} ({', '.join(places)})"

    def _at_places(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows at the named places; by default, of test parts and means over folds."""
        for dim, label in self.measure.places.items():
            rows = _of_label(rows, dim, label)
        if "statistic" not in self.measure.places:
            rows = rows[rows["statistic"].isna() | (rows["statistic"] == "mean")]
        if not {*OVER} & {*self.measure.places}:
            rows = rows[rows[[x for x in OVER if x in rows]].isna().all(axis=1)]
        if "part" in rows and "part" not in self.measure.places and (rows["part"] == "test").any():
            rows = rows[rows["part"].isna() | (rows["part"] == "test")]
        return rows

    def _at_point(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows at the named point; without a named rank, at the smallest rank."""
        points = rows["point"]
        if "rank" in rows and "rank" not in self.measure.places:
            is_at_rank = points.isna() & rows["rank"].notna()
            points = points.where(~is_at_rank, rows["rank"].astype(float))
            rows = rows[is_at_rank | rows["rank"].isna() | (rows["rank"] == rows["rank"].min())]
            points = points[rows.index]
        is_meant = _is_at(points, self.measure.number) if self.measure.point else points.isna()
        if not is_meant.any():
            task, name = self.measure.task, self.measure.name
            known = [f"{name}={x:g}" for x in points.dropna().unique()[:_MOST_NAMED]] or [name]
            asked, *named = ("/".join(filter(None, (task, x))) for x in (self.measure.text, *known))
            raise DataError(bad_choice("fail_if", asked, named))
        return rows[is_meant]


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
        named = [f"{dim}={x}" for x in labels.dropna().unique()[:_MOST_NAMED]]
        raise DataError(bad_choice("fail_if", f"{dim}={label}", named))
    return rows[is_meant]


def _is_at(places: pd.Series[float], number: float) -> np.ndarray:
    return np.isclose(places, number, rtol=1e-12, atol=0)


def _worse(frame: pd.DataFrame) -> Iterator[str]:
    """Yield the measures by which a later system is shown to be worse than the first.

    Where the measures were chosen, or none is supported, one that is not supported is told, too.
    """
    is_verdict = frame["statistic"] == "separated"
    if not is_verdict.any():
        raise _no_verdict(WORSE)
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


def _open(frame: pd.DataFrame) -> Iterator[str]:
    verdicts = frame[frame["measure"] == "verdict"]
    if verdicts.empty:
        raise _no_verdict(OPEN)
    for promise in verdicts.loc[verdicts["text"] == OPEN, "promise"]:
        yield f"{OPEN}: {promise}"


def _no_verdict(word: str) -> DataError:
    return DataError(f"`fail_if` is {word}, and these results have no verdict")


_VERDICTS: dict[str, Callable[[pd.DataFrame], Iterator[str]]] = {WORSE: _worse, OPEN: _open}
