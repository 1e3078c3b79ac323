"""Blocks of plain data that make up what a reader is shown of a result.

A study yields blocks; :mod:`bioeval.views.tables.blocks` lays them out. Titles, sentences, notes
and heads name rates as the lecture does, and a view puts them into its words; facts and cells stay
as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import xarray as xr

#: Results by the name of their system, ``""`` for the only one.
ResultsBySystem = Mapping[str, xr.Dataset]


@dataclass(frozen=True)
class Title:
    """A heading."""

    text: str


@dataclass(frozen=True)
class Sentence:
    """A line of text; a view wraps it at its width."""

    text: str | Terms = ""


@dataclass(frozen=True)
class Note:
    """A secondary line, indented unless it belongs to the whole result."""

    text: str
    indented: bool = True
    exact: bool = False  # in these words in each vocabulary


@dataclass(frozen=True)
class FactList:
    """Names and their texts, without empty texts."""

    rows: Sequence[tuple[str, str | Terms]]
    indented: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of cells below column headings; a narrow view leaves out cells that are None.

    `reworded` names what a view puts into its words: ``"heads"``, ``"labels"``, the first cell of
    each row, or nothing. A table that `folds` is written as lines where it is too wide. `widths`
    are those of the columns in plain lines, negative ones flush left.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[str | None]]
    reworded: str = "heads"
    folds: bool = False
    indented: bool = True
    dim_last: bool = False
    widths: Sequence[int] = ()


@dataclass(frozen=True)
class DataHeader:
    """The header of results: system, data, scores, protocol."""

    results: ResultsBySystem


@dataclass(frozen=True)
class Terms:
    """Names of rates in the other vocabulary, for a result or for these rates by task."""

    results: ResultsBySystem
    rates: Mapping[str, Sequence[str]] | None = None


@dataclass(frozen=True)
class Intervals:
    """The methods of the confidence intervals of results."""

    results: ResultsBySystem
    where: str = "In brackets"
    more: str = ""


@dataclass(frozen=True)
class Warnings:
    """The warnings of results, with the names of their systems where not all have them."""

    results: ResultsBySystem
    reworded: bool = True  # with arguments named as options of the command


Block = Title | Sentence | Note | FactList | Table | DataHeader | Intervals | Warnings
