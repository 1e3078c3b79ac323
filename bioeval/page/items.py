"""What a page shows: results by system and task, and whether they belong together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import xarray as xr

from bioeval.base.errors import DataError, printable
from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.document.blocks import Section
from bioeval.document.cells import Label
from bioeval.document.text import Text, say
from bioeval.results.variables import TASKS as VARIABLES_OF_TASKS
from bioeval.scores.provenance import exclusions_of
from bioeval.tables.sections import sections_of
from bioeval.views.tasks import TASKS, datasets, system_of, value_of

#: The system of results that name none.
_UNNAMED = "results"

#: The type of results that are of several systems.
OF_SYSTEMS = "comparison"

#: The attribute of results that says what a system lacks of another one.
NOT_SHARED = "not_shared"


@dataclass(frozen=True)
class Item:
    """A result of a system, at its path in an evaluation; or one that is no dataset."""

    system: str
    path: str  # such as verification/single
    dataset: xr.Dataset
    is_evaluation: bool = False  # whether it is a task of an evaluation, and of no study
    result: Any = None  # a result that is no dataset; `dataset` has its attributes alone
    name: str = ""  # under which that was given

    @property
    def type(self) -> str:
        """The kind of result."""
        return str(self.dataset.attrs.get("result_type", ""))

    @property
    def larger(self) -> bool:
        """Whether scores are accepted at or above the threshold."""
        return self.dataset.attrs.get("kind", "distance") in LARGER_IS_CLOSER

    @property
    def title(self) -> str:
        """What it is, for an error."""
        text = str(self.dataset.attrs.get("task", "")) or self.path.replace("_", " ") or "results"
        return text[0].upper() + text[1:]

    def sections(self) -> list[Section]:
        """Return what is said of a result that is no dataset."""
        return sections_of(self.result)


def items_of(results: Any) -> list[Item]:
    """Return results one by one, those that belong to no other system with the only one."""
    try:
        items = list(_items(results, ""))
    except RecursionError:
        raise DataError("`results` contains itself; expected results, or lists of them") from None
    if not items:
        raise DataError("the results hold no dataset; expected the result of a function of bioeval")
    named = {x.system for x in items if x.type != OF_SYSTEMS} - {_UNNAMED}
    if len(named) == 1:
        only = next(iter(named))
        items = [replace(x, system=only) if x.system == _UNNAMED else x for x in items]
    systems = systems_of([x for x in items if x.result is None])
    items = [_named(x, systems) for x in items]
    known = set()
    for x in items:
        key = x.system, x.path, "fold" in x.dataset.dims
        if key in known and x.result is None:
            raise DataError(
                f"two results are called {x.path!r} of {x.system!r}; name the systems in a "
                "mapping of name to result, or with --name"
            )
        known.add(key)
    _refuse_other_data(items)
    return items


def _items(results: Any, name: str) -> Iterator[Item]:
    if isinstance(results, list | tuple):
        for result in results:
            yield from _items(result, name)
    elif isinstance(results, xr.Dataset | xr.DataTree):
        for path, dataset in datasets(results):
            if dataset.data_vars:
                yield _item(path, dataset, name)
    elif isinstance(results, Mapping):
        for key, result in results.items():
            yield from _items(result, str(key))
    else:
        try:
            sections_of(results)
        except DataError as error:
            raise DataError(
                f"a report got {type(results).__name__}; expected a Dataset or a DataTree of "
                "results, a check of data, a row of be.explain, or a mapping of name to these"
            ) from error
        attrs = {"fingerprint": getattr(results, "fingerprint", "")}
        yield Item(printable(name), "", xr.Dataset(attrs=attrs), result=results)


def _item(path: str, dataset: xr.Dataset, name: str) -> Item:
    """Return a dataset with its system: what is before the task in its path, or it says itself."""
    attrs = dataset.attrs
    path_of_type = str(attrs.get("result_type", "results")).replace("-", "_")
    if path_of_type == "verification":
        path_of_type = f"verification/{attrs.get('templates', 'single')}"
    first, *_ = path_of_type.split("/")
    system = (
        system_of(path)
        if first in TASKS
        else "/".join(x for x in path.split("/") if x != path_of_type)
    )
    system = "/".join(filter(None, (name, system))) or str(attrs.get("system", "")) or _UNNAMED
    is_summed = bool({"fold", "partition", "statistic"} & {*dataset.dims})
    evaluated = not is_summed and first in VARIABLES_OF_TASKS
    return Item(printable(system), path_of_type, dataset, evaluated)


def _named(x: Item, systems: list[str]) -> Item:
    """Return a result with its system: where that is no dataset, its own or the only one."""
    if x.result is None or x.system in systems:
        return x
    only = systems[0] if len(systems) == 1 else ""
    name = str(getattr(x.result, "system", "")) or only or x.system or _UNNAMED
    return replace(x, system=printable(name), name=x.system)


def systems_of(items: list[Item]) -> list[str]:
    """Return the systems in their order; a comparison is of several, and none itself."""
    single = [x for x in items if x.type != OF_SYSTEMS]
    return list(dict.fromkeys(x.system for x in single or items))


def _refuse_other_data(items: list[Item]) -> None:
    """Raise :class:`DataError` unless all results of a system are of the same scores.

    Results without a fingerprint are not checked.
    """
    known: dict[str, tuple[str, Item]] = {}
    for x in sorted(items, key=lambda x: (x.type == OF_SYSTEMS, x.result is not None)):
        for system, fingerprint in _fingerprints(x):
            same, first = known.setdefault(system, (fingerprint, x))
            attrs = x.dataset.attrs
            kept = x.type == OF_SYSTEMS or "exclude" not in attrs
            kept = kept or {*exclusions_of(attrs)} == {*exclusions_of(first.dataset.attrs)}
            if not kept or fingerprint != same:
                raise DataError(
                    f"results of {system!r} do not belong on one page: {x.title!r} has other "
                    f"scores, labels or excluded comparisons than {first.title!r}. Make both from "
                    "the same scores, or name them as two systems in a mapping of name to results"
                )


def _fingerprints(x: Item) -> Iterator[tuple[str, str]]:
    """Yield each system of a result with the fingerprint of its scores, where it has some."""
    whole = str(x.dataset.attrs.get("fingerprint", ""))
    if x.type != OF_SYSTEMS:
        yield from [(x.system, whole)] * bool(whole)
        return
    systems, each = x.dataset["system"].values.tolist(), whole.split("; ")
    if len(systems) == len(each):
        yield from zip(systems, each, strict=True)


def doubts_of_systems(items: list[Item]) -> list[Text]:
    """Return a sentence on each system whose attempts are not those of the first one."""
    doubts: dict[str, Text] = {}
    first: dict[str, tuple[str, Text]] = {}
    for x in items:
        genuine = value_of(x.dataset, "genuine_attempts")
        impostor = value_of(x.dataset, "impostor_attempts")
        if not x.is_evaluation or genuine is None or impostor is None:
            continue
        counts = say(
            "{genuine:count} genuine and {impostor:count}", genuine=genuine, impostor=impostor
        )
        system, known = first.setdefault(x.path, (x.system, counts))
        text: Text = str(x.dataset.attrs.get(NOT_SHARED, ""))
        if not text and counts != known:
            text = say(
                "{a} and {b} have different attempts: {a} {known} impostor, {b} {counts}",
                a=Label(system),
                b=Label(x.system),
                known=known,
                counts=counts,
            )
        if text:
            rest = "{text}. Rates are of different data; bioeval compare uses the common data"
            doubts.setdefault(x.system, say(rest, text=text))
    return list(doubts.values())
