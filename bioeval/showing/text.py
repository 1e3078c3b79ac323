"""What a reader is shown, before a writer makes words of it: cells, text, and blocks of a document.

A cell is an exact value with its kind, its interval and its sample size; writers round it. Text is
a template with typed parts. A document is a tree of sections, paragraphs, facts and tables.

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
from typing import TYPE_CHECKING, Any, Literal

from bioeval.base.errors import Message
from bioeval.results.attributes import THRESHOLD_STUDY
from bioeval.results.variables import CLOSED_SET, NEXT, OPEN_SET, VERIFICATION, Variable

if TYPE_CHECKING:
    import xarray as xr

#: Limits of a confidence interval.
Interval = tuple[float, float]


@dataclass(frozen=True)
class Quantity:
    """A number of any kind, NaN if it is not defined; its class says its unit.

    A `flagged` number has an asterisk, which a note of its table explains. A `difference` of two
    numbers has a sign.
    """

    value: float
    interval: Interval | None = None
    flagged: bool = False
    difference: bool = False
    #: Attempts behind a rate, whose decimals show a change of one attempt.
    attempts: float | None = None
    decimals: int = 2  # decimals of a number without a unit
    #: Significant digits: of a plain number in place of decimals, of a score, of a rate in a label.
    digits: int | None = None
    noun: str = ""  # the things that a count counts, in the plural
    next: float = math.nan  # the nearest score that a threshold rejects

    @property
    def is_defined(self) -> bool:
        return not math.isnan(self.value)


class Rate(Quantity):
    """A proportion in [0, 1], in per cent; a difference of two is in percentage points."""


class Count(Quantity):
    """A number of things."""


class Score(Quantity):
    """A score, in the units of the scores."""


class Threshold(Score):
    """A threshold, which is printed so that it decides every attempt as the exact threshold does.

    The nearest score that it rejects is `next`: infinite if it rejects no score, NaN if the score
    is not known. All digits are printed then.
    """


class Number(Quantity):
    """A number without a unit, or with a unit that its label names: an AUC, a cost, a mean rank."""


class Probability(Quantity):
    """A probability of a test: two digits, and small ones as a bound."""


@dataclass(frozen=True)
class Label:
    """A name that a user chose: of a system, a subject, a file. It is never translated."""

    value: Any  # text, or a number that serves as a name

    @property
    def text(self) -> str:
        return str(self.value)


@dataclass(frozen=True)
class Picture:
    """An image of a template: its name, or names by column of the metadata."""

    source: Any


#: Statistics of the spread of values, of which only few digits are certain.
SPREADS = ("sd", "repeats_sd", "se")

#: Significant digits of such a statistic.
_DIGITS_OF_SPREAD = 3

#: Decimals of costs, and of other numbers, unless their description says how many.
_DECIMALS_OF_COSTS, _DECIMALS = 4, 2

#: Units of numbers that are no counts: they need not be whole.
_UNITS_OF_NO_COUNT = ("", "proportion", "p", "score", "cost", "1", "per frame")


def cell_of_number(
    value: float,
    about: Mapping[Any, Any],
    statistic: str = "",
    attempts: float | None = None,
    **fields: Any,
) -> Quantity:
    """Return a number as a cell of the kind that the attributes of its variable say.

    A `statistic` of the variable may be of another kind. `fields` are further fields of the cell.
    """
    unit = str(about.get("units", ""))
    # "", "threshold", "count", or a number of significant digits
    display = str(about.get("shown", ""))
    is_difference = statistic == "difference"
    fields["difference"] = is_difference
    if unit == "score" and statistic.endswith("sd"):
        return Number(value, digits=_DIGITS_OF_SPREAD, **fields)
    if unit == "score":
        if display == "threshold" and not statistic:
            return Threshold(value, **fields)
        digits = _DIGITS_OF_SPREAD if statistic in SPREADS else None
        return Score(value, digits=digits, **fields)
    if unit == "proportion" and statistic != "number":
        if attempts is not None:
            attempts = None if math.isnan(attempts) else int(attempts)
        return Rate(value, attempts=attempts, **fields)
    if unit == "p" and statistic != "number":
        return Probability(value, **fields)
    is_whole = math.isnan(value) or float(value).is_integer()
    is_count = (display == "count" or unit not in _UNITS_OF_NO_COUNT) and not is_difference
    if statistic == "number" or (is_count and is_whole):
        return Count(value, **fields)
    if display.isdecimal():
        return Number(value, digits=int(display), **fields)
    default = _DECIMALS_OF_COSTS if unit == "cost" else _DECIMALS
    return Number(value, decimals=int(about.get("decimals", default)), **fields)


def cell_of(
    dataset: xr.Dataset, name: str, places: Mapping[str, int] | None = None
) -> Quantity | None:
    """Return a number of a dataset as its description says, with its interval and its flag.

    `places` are positions along the dimensions of the variable, and of its denominator. None for a
    variable that the dataset lacks.
    """
    variables = dataset.variables
    places = places or {}
    if name not in variables:
        return None

    def value_at(other: str, missing: float = math.nan) -> float:
        if other not in variables:
            return missing
        variable = variables[other]
        return variable.values[tuple(places[str(dim)] for dim in variable.dims)].item()

    about = variables[name].attrs
    low, high = value_at(f"{name}_low"), value_at(f"{name}_high")
    out_of = str(about.get("out_of", "")).split()
    is_known = [x in variables and {*variables[x].dims} <= {*places} for x in out_of]
    return cell_of_number(
        value_at(name),
        about,
        attempts=sum(map(value_at, out_of)) if is_known and all(is_known) else None,
        interval=None if math.isnan(low + high) else (low, high),
        flagged=bool(value_at(f"{name}_flagged", 0)),
        next=value_at(f"{name}{NEXT}"),
    )


def threshold_of(dataset: xr.Dataset, name: str = "threshold") -> Threshold:
    """Return the threshold of a result as a cell."""
    threshold = cell_of(dataset, name)
    assert isinstance(threshold, Threshold)
    return threshold


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
    last: str = "and"  # before the last one; empty for a comma, ``";"`` for semicolons


@dataclass(frozen=True)
class Explained:
    """A name with its explanation, which HTML shows below a pointer."""

    text: Text
    about: Text
    name: tuple[str, str] | tuple[()] = ()  # an abbreviation at its beginning, and its name in full


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


def _range(numbers: Sequence[int], _: str) -> Text:
    if len(numbers) <= 4:
        return Enumeration([Count(x) for x in numbers])
    return say("{least} to {most}", least=min(numbers), most=max(numbers))


def _spread(numbers: Sequence[int], noun: str) -> Text:
    least, median, largest = numbers
    most = Count(largest, noun=noun)
    if least == largest:
        return say("{number} each", number=most)
    text = "{least:count} to {most} each (median {median:digits 6})"
    return say(text, least=least, most=most, median=median)


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


#: What a reader is shown: a short view, all numbers that the data support, or all numbers.
Detail = Literal["brief", "supported", "all"]


@dataclass(frozen=True)
class Paragraph:
    """A sentence or several; a `note` is secondary, an `answer` is what the reader asked for."""

    text: Text
    role: Literal["", "note", "answer", "warning"] = ""


@dataclass(frozen=True)
class Vocabulary:
    """The abbreviations that a document shows, in full, with ISO's terms; a writer finds them.

    In short, only ISO's terms.
    """

    is_short: bool = False


#: A name with what there is to say.
Fact = tuple[str, Text | Vocabulary]


@dataclass(frozen=True)
class Facts:
    """Names and their texts side by side; a fact with an empty text is left out."""

    facts: Sequence[Fact]


@dataclass(frozen=True)
class Column:
    """A column of a table: its name, its heading, and whether it stays beside the one before it."""

    name: str
    heading: Text = ""
    is_attached: bool = False


@dataclass(frozen=True)
class Legend:
    """Labels with their explanations, for terminals; a page has pointers."""

    explanations: Sequence[tuple[Text, Text]]


@dataclass(frozen=True)
class Table:
    """Rows of cells below column headings; a cell without a value is None.

    The `title` stands above, the `details` below it, the `notes` below the rows. The first columns,
    `names` of them, name the rows: where a table is too wide, they stand before each of its parts.
    """

    id: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Text | None]]
    title: Text = ""
    details: Sequence[Text] = ()
    notes: Sequence[Text] = ()
    names: int = 1
    is_continued: bool = False  # stands closely below the table above

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise TypeError(
                    f"the table {self.id} has a row of {len(row)} cells; expected "
                    f"{len(self.columns)}"
                )


@dataclass(frozen=True)
class Messages:
    """Messages of results, each with the names of its systems where not all have it.

    An `alarm` stands above the results that it makes doubtful.
    """

    messages: Sequence[Message]
    alarm: bool = False


@dataclass(frozen=True)
class Section:
    """What a study says of a result. `task` is what its rates are of unless a phrase says it."""

    id: str
    title: Text
    blocks: Sequence[Block]
    task: str = ""


Block = Paragraph | Facts | Legend | Table | Messages | Section
