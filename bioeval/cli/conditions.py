"""Conditions with which a command fails, on numbers of its JSON: ``--fail-if "eer > 0.05"``."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any

from bioeval.base.errors import DataError, bad_choice
from bioeval.cli.arguments import PROPORTION, Value
from bioeval.cli.command import F, option

_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}

_FORM = re.compile(r"([\w/-]+?)\s*(?:=\s*([^<>]+?))?\s*(>=|<=|>|<)\s*([^\s<>=]+)")


@dataclass(frozen=True)
class _Entry:
    """A number of the JSON of a command, or the verdict of a row, and where it is."""

    name: str
    value: Any
    row: Mapping[str, Any] = field(default_factory=dict)  # its coordinates
    system: str = ""
    task: str = ""
    supported: bool = True

    @property
    def named(self) -> str:
        """The name with its coordinates, of texts in rows of no statistic the first alone."""
        at = [x if isinstance(x, str) else f"{x:g}" for x in self.row.values()]
        if self.has_texts and "statistic" not in self.row:
            at = at[:1]
        return "=".join(filter(None, (self.name, ",".join(at))))

    @property
    def has_texts(self) -> bool:
        """Whether a coordinate is a text: more than one may name the row."""
        return any(isinstance(x, str) for x in self.row.values())

    @property
    def whose(self) -> str:
        """The system and the task in brackets, where there are several."""
        named = ", ".join(filter(None, (self.system, self.task)))
        return f" ({named})" if named else ""


@dataclass(frozen=True)
class Condition:
    """A condition on a number, such as ``frr_at_far=0.01 > 0.05``, or a verdict, ``worse``."""

    text: str
    name: str
    coordinates: tuple[str, ...] = ()
    sign: str = ""  # none of a verdict
    limit: float = math.nan

    @classmethod
    def parse(cls, text: str, verdicts: Sequence[str]) -> Condition:
        """Return the condition that a text says; raise ValueError if it says none."""
        text = text.strip()
        if text in verdicts:
            return cls(text, text)
        match = _FORM.fullmatch(text)
        if match is None:
            raise ValueError(text)
        name, places, sign, limit = match.groups()
        listed = tuple(x.strip() for x in places.split(",")) if places else ()
        return cls(text, name.replace("-", "_"), listed, sign, PROPORTION.read(limit))

    def reasons(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield why a command with this JSON fails by the condition.

        A number that is not defined, or not supported by the data, fails either way.
        """
        entries = list(_entries(document))
        if not self.sign:
            yield from self._reasons_of_verdict(entries, chosen=bool(document.get("measures")))
            return
        named = [x for x in entries if self._is_about(x)]
        if not named:
            raise DataError(bad_choice("fail_if", self._number, self._known(entries)))
        first_task = {x.system: x.task for x in reversed(named)}
        for entry in named:
            if entry.task != first_task[entry.system]:
                continue
            number = self._number if entry.has_texts else entry.named
            if not entry.supported:
                reason = f"too few people or attempts for {number}"
            elif math.isnan(entry.value):
                reason = f"{number} is not defined"
            elif _SIGNS[self.sign](entry.value, self.limit):
                reason = f"{number} is {entry.value:.6g}"
            else:
                continue
            yield f"{self.text}: {reason}{entry.whose}"

    def _reasons_of_verdict(self, entries: Iterable[_Entry], *, chosen: bool) -> Iterator[str]:
        """Yield the rows with the verdict, and those without any if they were `chosen`, or all."""
        verdicts = [x for x in entries if x.name == "verdict"]
        if not verdicts:
            raise DataError(f"`fail_if` is {self.text}, and these results have no verdict")
        undecided = [x for x in verdicts if not x.supported]
        for entry in verdicts:
            about = ", ".join(entry.row[x] for x in ("system", "name") if x in entry.row)
            if entry.supported and entry.value == self.name:
                yield f"{self.text}: {about}"
            elif not entry.supported and (chosen or len(undecided) == len(verdicts)):
                yield f"{self.text}: too few people or attempts to tell: {about}"

    def _known(self, entries: Iterable[_Entry]) -> Iterable[str]:
        """Return the numbers with this name, or else one with each name."""
        named: dict[str, list[str]] = {}
        for entry in entries:
            if entry.name != "verdict":
                named.setdefault(entry.name, []).append(entry.named)
        alike = named.get(self.name.rpartition("/")[2])
        return dict.fromkeys(alike or (x[0] for x in named.values()))

    @property
    def _number(self) -> str:
        """The name of the number with its coordinates."""
        return "=".join(filter(None, (self.name, ",".join(self.coordinates))))

    def _is_about(self, entry: _Entry) -> bool:
        """Whether a number has this name, or this behind its task, and these coordinates."""
        if self.name not in (entry.name, f"{entry.task}/{entry.name}"):
            return False
        if not self.coordinates or not entry.row:
            return not self.coordinates and not entry.row
        places = entry.row.values()
        return all(any(_is_same(x, y) for y in places) for x in self.coordinates)


def _is_same(written: str, coordinate: Any) -> bool:
    """Whether a coordinate is as written: a number, a name, or a name with a number."""
    if isinstance(coordinate, str):
        name, equals, number = written.partition("=")
        of_coordinate, _, at = coordinate.partition("=")
        if equals and at and name.strip().replace("-", "_") == of_coordinate:
            return _is_same(number, float(at))
        return written.casefold() == coordinate.casefold()
    try:
        return math.isclose(PROPORTION.read(written), coordinate)
    except ValueError:
        return False


# ------------------------------------------------------------------------- of the JSON


def _entries(document: Mapping[str, Any]) -> Iterator[_Entry]:
    """Yield the numbers and verdicts of the JSON of a command."""
    if document.get("result_type") == "comparison":
        first = next(iter(document["files"]))
        yield from (_of_measure(x) for x in document["ranking"] if x["system"] != first)
    if "systems" in document:
        for system, of_system in document["systems"].items():
            for entry in _entries(of_system):
                yield replace(entry, system=system)
    elif "tasks" in document:
        for task, of_task in document["tasks"].items():
            yield from _entries_of(of_task, _Entry("", None, task=task))
    else:
        yield from _entries_of(document, _Entry("", None))


def _entries_of(values: Mapping[str, Any], within: _Entry) -> Iterator[_Entry]:
    """Yield the numbers of a mapping of the JSON, and of the rows in it."""
    supported = within.supported and values.get("supported", True)
    for name, value in values.items():
        if isinstance(value, list):
            for row in value:
                if isinstance(row, Mapping):
                    here = {key: x for key, x in row.items() if _is_coordinate(key, x)}
                    yield from _entries_of(row, replace(within, row=here, supported=supported))
        elif isinstance(value, Mapping):  # at ranks
            for rank, at_rank in value.items():
                if is_number(at_rank) and rank.isdigit():
                    places = {**within.row, "rank": int(rank)}
                    about = replace(within, row=places, supported=supported)
                    yield replace(about, name=name, value=at_rank)
        elif name == "verdict":
            yield replace(within, name=name, value=value, supported=supported)
        elif not _is_coordinate(name, value) and (is_number(value) or value is None):
            number = math.nan if value is None else float(value)
            is_count = isinstance(value, Integral)
            yield replace(within, name=name, value=number, supported=supported or is_count)


def is_number(value: Any) -> bool:
    """Whether a value of the JSON is a number."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_coordinate(key: str, value: Any) -> bool:
    """Whether a value of a row says what the row is of: a text, or a number such as a target."""
    from bioeval.results.variables import COORDINATES

    is_named = key in COORDINATES or key == "cost_prior"
    return isinstance(value, str) or (is_named and is_number(value))


def _of_measure(row: Mapping[str, Any]) -> _Entry:
    """Return the value of a compared measure under the name of the measure."""
    name, equals, at = row["name"].partition("=")
    places = {"at": float(at)} if equals else {}
    value = math.nan if row["value"] is None else row["value"]
    supported = row.get("supported", True)
    return _Entry(name, value, places, system=row["system"], supported=supported)


# ------------------------------------------------------------------------- the option


def fail_if(example: str, *verdicts: str) -> Callable[[F], F]:
    """Return the option ``--fail-if`` of a command, with an example of its own numbers."""
    expected = f'NAME > X, NAME < X, NAME >= X or NAME <= X, such as "{example}"'
    if verdicts:
        expected += f"; or {' or '.join(verdicts)}"
    words = "".join(f"{x}, or " for x in verdicts)
    return option(
        "--fail-if CONDITION",
        f'End with exit code 1 if it is true, or cannot be told: {words}"{example}"; repeatable.',
        Value("condition", lambda text: Condition.parse(text, verdicts), expected),
        multiple=True,
        name="fail_if",
    )
