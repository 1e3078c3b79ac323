"""The vocabulary of views: the lecture's terms for rates, or those of ISO/IEC 19795-1.

Results name their rates as the lecture does; :mod:`bioeval.showing.terms` has the standard's term
for each. A view of results made by :func:`in_terms` is written in the standard's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from bioeval.showing.terms import VOCABULARIES, rates_are_of

if TYPE_CHECKING:
    import xarray as xr

TERMS = VOCABULARIES

Results = TypeVar("Results", "xr.Dataset", "xr.DataTree")

# A variable of threshold studies of open set.
_OF_SEARCHES = "unenrolled_people"


def in_terms(results: Results, words: str) -> Results:
    """Return results whose tables and plots use a vocabulary of `TERMS`, such as ``"iso"``."""
    if words == "lecture":
        return results
    if hasattr(results, "map_over_datasets"):
        return results.map_over_datasets(lambda dataset: dataset.assign_attrs(terms=words))
    return results.assign_attrs(terms=words)


def words_of(dataset: xr.Dataset) -> str:
    """Return the name of the terms that the views of a dataset use."""
    return str(dataset.attrs.get("terms", "lecture"))


def task_of(dataset: xr.Dataset) -> str:
    """Return the task that the rates of a dataset are from."""
    names = {"dir", "cms", _OF_SEARCHES}
    if dataset.attrs.get("result_type") == "open-set" or not names.isdisjoint(dataset):
        return "identification"
    return rates_are_of(dataset.attrs)
