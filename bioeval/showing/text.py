"""Text as templates with typed parts; a writer makes words of them.

A template has names in braces. One that is not an argument is a rate: ``{far}`` is FAR, which the
header explains. A format says what a plain value is::

    say("{frr} at {far} at most {target:rate} over {people:count subjects}", target=0.01, people=60)

A format in the plural is that of a list, or of values by name: ``{trackers:counts}`` of ``{"ours":
3}`` is ``ours (3)``. ``{names:names}`` are the first of many names, ``{rate:term}`` a term that an
argument names, and ``{needed:amounts}`` of ``{"people": 78, "pairs": 3000}`` is ``78 people with
3,000 pairs``. ``{size:spread templates}`` of ``[3, 4, 4]``, the least, the median and the largest
number, is ``3 to 4 templates each (median 4)``, and ``{needed:range}`` of more than
four numbers the least and the largest. ``{limit:digits 3}`` and ``{overlap:decimals 3}``
are numbers, ``{words:template}`` is a template without arguments, and ``{notes:messages}`` are
messages one after the other. ``{at:threshold}`` is a threshold, with the score after it in the
argument ``at_next``, and ``{measures:measures}`` are measures with their labels, targets and ranks.

An argument of a public function is in backquotes, as in :mod:`bioeval.base.errors`, and a command
writes its option.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bioeval.base.errors import Message
from bioeval.results.attributes import THRESHOLD_STUDY
from bioeval.results.variables import CLOSED_SET, OPEN_SET, VERIFICATION, Variable
from bioeval.showing.cells import (
    Count,
    Label,
    Number,
    Picture,
    Quantity,
    Rate,
    Score,
    Threshold,
)

if TYPE_CHECKING:
    import xarray as xr

#: Names, and characters of them, that a sentence has; of more, their number.
_NAMED, _LONG = 6, 120


@dataclass(frozen=True)
class Term:
    """A rate by its name in results, such as ``far``: a writer notes it for the header.

    `task` is ``"verification"``, ``"transactions"`` or ``"identification"``, or empty for that of
    the section.
    """

    name: str
    task: str = ""


@dataclass(frozen=True)
class Phrase:
    """A template with its arguments; `task` says what its rates are of, else the section does."""

    template: str
    arguments: Mapping[str, Any]
    task: str = ""

    def __post_init__(self) -> None:
        for _, name, _, _ in string.Formatter().parse(self.template):
            if name is None or name in self.arguments:
                continue
            if not is_term(name):
                raise TypeError(f"{self.template!r} has {name!r}, which is no argument and no term")


@dataclass(frozen=True)
class Enumeration:
    """Texts one after the other: ``a, b and c``."""

    texts: Sequence[Text]
    #: Before the last one; empty for a comma. ``";"`` and ``"\n"`` for semicolons, and for lines.
    last: str = "and"


@dataclass(frozen=True)
class Explained:
    """A name with its explanation, which HTML shows below a pointer."""

    text: Text
    about: Text


#: What a table has in its rows, besides text.
Cell = Quantity | Label | Picture | Explained

#: What can be written in a line. Plain text is written as it is, a message as its sentence.
Text = str | Phrase | Enumeration | Term | Message | Cell


def say(template: str, /, *, task: Any = "", **arguments: Any) -> Phrase:
    """Return a template with its arguments."""
    return Phrase(template, arguments, task)


@functools.cache
def fields_of(template: str) -> tuple[str, ...]:
    """Return the names in braces of a template."""
    return tuple(name for _, name, _, _ in string.Formatter().parse(template) if name)


def _typed(value: Any, form: str) -> Text:
    if isinstance(value, Message | Label | Picture | Explained):
        return value
    if not form and isinstance(value, str | Phrase | Enumeration | Term | Quantity):
        return value
    kind, _, details = form.partition(" ")
    if kind in _FORMATS:
        return _FORMATS[kind](value, details)
    of_one = _FORMATS.get(kind.removesuffix("s"))
    if of_one is not None and isinstance(value, Mapping):
        texts = {name: of_one(x, details) for name, x in value.items()}
        return _first([say("{name:name} ({x})", name=name, x=x) for name, x in texts.items()])
    if of_one is not None:
        return Enumeration([of_one(x, details) for x in value])
    if isinstance(value, int) and not isinstance(value, bool):
        return Count(value)
    raise TypeError(f"{value!r} is no text; give its format, such as {{name:rate}}")


def _range(numbers: Sequence[int], _: str) -> Text:
    if len(numbers) <= 4:
        return Enumeration([Count(x) for x in numbers])
    return say("{least} to {most}", least=min(numbers), most=max(numbers))


def _spread(numbers: Sequence[float], noun: str) -> Text:
    least, median, largest = numbers
    if least == largest:
        return say("{number} each", number=Count(largest, noun=noun))
    return say(
        "{least:count} to {most} each (median {median:digits 6})",
        least=least,
        most=Count(largest, noun=noun),
        median=median,
    )


def _first(names: Sequence[Text]) -> Enumeration:
    lengths = itertools.accumulate(len(x.text) if isinstance(x, Label) else 0 for x in names)
    number = max(1, sum(length <= _LONG for length in itertools.islice(lengths, _NAMED)))
    if len(names) <= number:
        return Enumeration(names)
    return Enumeration([*names[:number], say("{number} more", number=len(names) - number)])


#: What the places of a label are, by their names in it; others are numbers.
_PLACES: dict[str, type[Quantity]] = {"target": Rate, "rank": Count, "threshold": Threshold}


def labelled(label: str, places: Mapping[str, Any], task: str = "") -> Phrase:
    """Return the label of a measure with its places: a ``target``, ``prior``, ``rank``, ``level``.

    A text is written as it is. The rates are of the `task`, or of that of the section.
    """
    typed: dict[str, Text] = {}
    for name, value in places.items():
        if isinstance(value, str | Enumeration):
            typed[name] = value
        else:
            typed[name] = _PLACES[name](value) if name in _PLACES else Number(value, digits=6)
    return Phrase(label, typed, task)


def _measures(measures: Sequence[Mapping[str, Any]], _: str) -> Enumeration:
    """Return the labels of measures in a row; a measure at several targets has one label.

    A measure has its name, ``measure``, its ``label`` and its places, perhaps the ``task`` of its
    rates.
    """
    labels: list[Text] = []
    for _name, group in itertools.groupby(
        measures, lambda x: (x["measure"], "target" in x, x.get("rank"))
    ):
        members = list(group)
        if "target" in members[0]:
            targets = Enumeration([Rate(measure["target"]) for measure in members])
            members = [{**members[0], "target": targets}]
        for measure in members:
            places = {k: v for k, v in measure.items() if k not in ("measure", "label", "task")}
            is_without_rank = "rank" in places and "{rank}" not in measure["label"]
            label = measure["label"] + ", rank {rank}" * is_without_rank
            labels.append(labelled(label, places, measure.get("task", "")))
    has_lists = len(measures) > len(labels) or any("rank" in measure for measure in measures)
    return Enumeration(labels, ";" if has_lists else "and")


#: What makes a text of a plain value, by the format in a template and what stands behind it.
_FORMATS: dict[str, Callable[[Any, str], Text]] = {
    "rate": lambda x, _: Rate(x),
    "count": lambda x, nouns: Count(x, noun=nouns),
    "score": lambda x, _: Score(x),
    "digits": lambda x, digits: Number(x, digits=int(digits)),
    "decimals": lambda x, decimals: Number(x, decimals=int(decimals)),
    "name": lambda x, _: Label(x),
    "names": lambda names, _: _first([Label(str(x)) for x in names]),
    "term": lambda x, _: Term(x),
    "template": lambda x, _: say(x),
    "messages": lambda messages, _: Enumeration(messages, ";"),
    "amounts": lambda amounts, _: Enumeration(
        [Count(n, noun=nouns) for nouns, n in amounts.items()], "with"
    ),
    "nouns": lambda amounts, _: Enumeration([*amounts]),
    "measures": _measures,
    "range": _range,
    "spread": _spread,
}


def parts(phrase: Phrase) -> Iterator[Text]:
    """Yield the literal and the typed parts of a phrase in order."""
    for literal, name, form, _ in string.Formatter().parse(phrase.template):
        if literal:
            yield literal
        if name is None:
            continue
        if name in phrase.arguments and form == "threshold":
            after = phrase.arguments.get(f"{name}_next", math.nan)
            yield Threshold(phrase.arguments[name], next=after)
        elif name in phrase.arguments:
            yield _typed(phrase.arguments[name], form or "")
        else:
            yield Term(name, phrase.task)


#: The task of verification rates if an attempt may have several tries.
TRANSACTIONS = "transactions"

#: The rates of each task that have a term in the standard.
RATES: dict[str, Mapping[str, Variable]] = {
    "verification": {name: VERIFICATION[name] for name in ("far", "frr", "gar", "grr")},
    "identification": {
        **{name: OPEN_SET[name] for name in ("far", "frr", "grr", "dir")},
        "cms": CLOSED_SET["cms"],
    },
}


#: The names of these rates in results; in capital letters, their abbreviations.
_ABBREVIATED = {name for rates in RATES.values() for name in rates}
_IN_PROSE = re.compile(rf"(?<![\w-])({'|'.join(map(str.upper, sorted(_ABBREVIATED)))})(?![\w-])")


def rates_are_of(attrs: Mapping[Any, Any], *, searches: bool = False) -> str:
    """Return the task that names the rates of a result; `searches` are of identification."""
    if searches:
        return "identification"
    return TRANSACTIONS if int(attrs.get("most_tries", 1)) > 1 else "verification"


def template_of(sentence: str) -> str:
    """Return a sentence as a template with the rates that it names."""
    literal = sentence.replace("{", "{{").replace("}", "}}")
    return _IN_PROSE.sub(lambda found: f"{{{found[0].lower()}}}", literal)


def is_term(name: str) -> bool:
    """Whether a name in a template is a rate with a term in the standard."""
    return name in _ABBREVIATED


def names_in_full(shown: Mapping[str, set[str]]) -> dict[str, tuple[str, str]]:
    """Return the name in full and ISO's term of each rate that is shown, by its abbreviation.

    `shown` are the rates of each task. Rates of transactions have the same names in the standard,
    and an empty term here.
    """
    names: dict[str, str] = {}
    iso: dict[str, list[str]] = {}
    for task, rates in RATES.items():
        for name, rate in rates.items():
            if name in shown.get(task, ()):
                iso.setdefault(name.upper(), []).append(rate.iso.partition("(")[0])
            elif task != "verification" or name not in shown.get(TRANSACTIONS, ()):
                continue
            names.setdefault(name.upper(), rate.long_name.partition(":")[0])
    return {short: (name, " or ".join(iso.get(short, ()))) for short, name in names.items()}


def task_of(dataset: xr.Dataset) -> str:
    is_of_study = dataset.attrs.get("result_type", THRESHOLD_STUDY) == THRESHOLD_STUDY
    is_of_searches = is_of_study and "rank_unit" in dataset.attrs
    is_open_set = dataset.attrs.get("result_type") == "open-set"
    if is_of_searches or is_open_set or not {"dir", "cms"}.isdisjoint(dataset):
        return "identification"
    return rates_are_of(dataset.attrs)
