"""Conditions on results with which a command fails: ``--fail-if "frr_at_far=0.001 > 0.05"``."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bioeval.base.errors import DataError, bad_choice
from bioeval.cli.arguments import PROPORTION, Value
from bioeval.cli.command import option

if TYPE_CHECKING:
    import xarray as xr

_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}

#: The condition of promises.
OPEN = "open"

_FORM = re.compile(r"\s*([\w/-]+?)\s*(?:=\s*([^\s<>=]+))?\s*(>=|<=|>|<)\s*([^\s<>=]+)\s*")

_EXPECTED = 'NAME > X, NAME < X, NAME >= X or NAME <= X, such as "frr_at_far=0.001 > 0.05"'


@dataclass(frozen=True)
class _Number:
    """A number of a result: its variable and place, as a target; and whose it is."""

    name: str
    value: float
    place: float | None = None
    system: str = ""
    task: str = ""
    supported: bool = True


@dataclass(frozen=True)
class Condition:
    """A condition on a number of a result, such as ``eer > 0.05`` or ``open_set/eer > 0.05``."""

    name: str
    place: float | None
    sign: str
    limit: float
    text: str

    @classmethod
    def parse(cls, text: str) -> Condition | OpenPromise:
        """Return the condition that a text says; raise ValueError if it says none."""
        if text.strip() == OPEN:
            return OpenPromise()
        match = _FORM.fullmatch(text)
        if match is None:
            raise ValueError(text)
        name, place, sign, limit = match.groups()
        at = None if place is None else PROPORTION.read(place)
        return cls(name.replace("-", "_"), at, sign, PROPORTION.read(limit), text.strip())

    def reasons(self, results: Any) -> Iterator[str]:
        """Yield why a command fails by this condition, one reason for each system.

        What is not defined, or not supported by the data, cannot be below a limit, or above it.
        """
        numbers = list(_numbers(results))
        named = [x for x in numbers if self._is_about(x)]
        if not named:
            known = dict.fromkeys(_named(x.name, x.place) for x in numbers)
            raise DataError(bad_choice("fail_if", _named(self.name, self.place), known))
        of_first_task = {x.system: x for x in reversed(named)}
        for number in reversed(of_first_task.values()):
            what = _named(number.name, number.place)
            whose = ", ".join(filter(None, (number.system, number.task)))
            whose = f" ({whose})" if whose else ""
            if not number.supported:
                yield f"{self.text}: too few people or attempts for {what}{whose}"
            elif math.isnan(number.value):
                yield f"{self.text}: {what} is not defined{whose}"
            elif _SIGNS[self.sign](number.value, self.limit):
                yield f"{self.text}: {what} is {number.value:.6g}{whose}"

    def _is_about(self, number: _Number) -> bool:
        """Whether the condition is about a number, by its name or that with its task."""
        if self.name not in (number.name, f"{number.task}/{number.name}"):
            return False
        if self.place is None or number.place is None:
            return self.place is number.place
        return math.isclose(self.place, number.place)


class OpenPromise:
    """The condition ``open``: a promise is neither shown nor refuted."""

    def reasons(self, results: Any) -> Iterator[str]:
        """Yield a reason for each promise that is open; one that is refuted fails by itself."""
        if getattr(results, "attrs", {}).get("result_type") != "promise":
            raise DataError(f"`fail_if` is {OPEN}, which is of promises: threshold --promise far=X")
        for promise in results["promise"].values[results["verdict"].values == "open"]:
            yield f"{OPEN}: the data leave the promise {promise} open"


def _named(name: str, place: float | None) -> str:
    """Return the name of a number as a condition has it."""
    return name if place is None else f"{name}={place:g}"


FAIL_IF = option(
    "--fail-if CONDITION",
    'End with exit code 1 if it is true, or cannot be told: "frr_at_far=0.001 > 0.05"; repeatable.',
    Value("condition", Condition.parse, _EXPECTED),
    multiple=True,
    name="fail_if",
)


def _numbers(results: Any) -> Iterator[_Number]:
    """Yield the numbers of what a command found."""
    if isinstance(results, dict):  # systems, each a tree of tasks
        for system, tree in results.items():
            yield from _of_tasks(tree, system if len(results) > 1 else "")
    elif hasattr(results, "findings"):
        for severity in ("error", "warning", "note"):
            yield _Number(f"{severity}s", len(results.of(severity)))
        for finding in results.findings:
            yield _Number(finding.check.replace("-", "_"), finding.count)
    elif results.attrs.get("result_type") == "comparison":
        yield from _of_comparison(results)
    else:
        from bioeval.document.results import messages_of_result

        messages = messages_of_result(results)
        shown = not any(x.code == "target-not-shown" and not x.about for x in messages)
        for name, values in results.data_vars.items():
            if not values.ndim and values.dtype.kind in "fiu":
                supported = shown or results[name].attrs.get("units") != "1"
                yield _Number(str(name), float(values), supported=supported)


def _of_tasks(tree: Any, system: str) -> Iterator[_Number]:
    from bioeval.views.sections.systems import measures_of
    from bioeval.views.tasks import datasets

    for path, dataset in datasets(tree):
        for measure in measures_of(dataset):
            cell = measure.value
            place = next(iter(cell.at.values()), None)
            yield _Number(cell.variable, cell.value, place, system, path, cell.supported)


def _of_comparison(ds: xr.Dataset) -> Iterator[_Number]:
    for i, name in enumerate(ds["scalar"].values.tolist()):
        places = [float(ds[x][i]) for x in ("target", "prior") if x in ds]
        place = next((x for x in places if not math.isnan(x)), None)
        for j, system in enumerate(ds["system"].values.tolist()):
            value = float(ds["value"].transpose("measure", "system")[i, j])
            yield _Number(name, value, place, system, "", bool(ds["supported"][i]))
