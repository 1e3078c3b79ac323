"""Numbers and lines of text as the writers print them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from copy import copy
from decimal import ROUND_CEILING, ROUND_FLOOR, Context

from bioeval.base.errors import Message, escaped, singular
from bioeval.showing.sentences import sentence_of
from bioeval.showing.text import (
    Count,
    Enumeration,
    Explained,
    Label,
    Phrase,
    Picture,
    Probability,
    Quantity,
    Rate,
    Score,
    Term,
    Text,
    Threshold,
    parts,
)

NOT_DEFINED = "n/a"

#: The mark of values that are flagged.
FLAG = "*"

#: Per cent by which a sum of floats may miss 0 or 100 %; no rate of fewer than a billion attempts
#: is so near.
_ROUNDING = 1e-10

#: Relative difference of two rates that are equal but for rounding errors.
_EQUAL = 1e-12

#: Decimals of a rate in per cent: at least two, as is usual, and more than four are noise, unless a
#: sentence compares rates; from the last number on, float64 has no more digits.
_FEWEST_DECIMALS, _USUAL_DECIMALS, _MOST_DECIMALS = 2, 4, 15

#: Significant digits of a score, of a rate in a sentence, and of any float64.
_DIGITS_OF_SCORE, _DIGITS_OF_RATE, _ALL_DIGITS = 6, 3, 17

#: From here on, float64 has hardly a digit after the decimal point, and numbers are in powers.
_LARGEST_WHOLE = 1e15


#: A number as text: before the decimal point, from the point on with its unit, and its limits.
Printed = tuple[str, str, str]


def _parts(
    cell: Quantity, number: str, limits: Iterable[str] = (), unit: str = "", before: str = ""
) -> Printed:
    """Return the parts of a number with both its `limits`, if any; `before` is ``<`` or ``>``."""
    integer, point, decimals = number.partition(".")
    before = f"{before} " if before else ""
    unit = f" {unit}" if unit else ""
    flag = FLAG if cell.flagged else ""
    interval = ", ".join(limits)
    in_brackets = f" [{interval}]" if interval else ""
    return f"{before}{integer}", f"{point}{decimals}{unit}{flag}", in_brackets


def _limits(cell: Quantity) -> tuple[float, ...]:
    """Return both limits of a number; none if one is NaN, or if they are all numbers."""
    if cell.interval is None or math.isnan(sum(cell.interval)):
        return ()
    return cell.interval


def decimals_of_rate(rate: Rate) -> int:
    """Return the decimals that show two digits of a value near 0 or 100 %.

    At least two, and no more than make one attempt visible; of a difference, as many as show two
    digits of the width of its interval.
    """
    if not math.isfinite(rate.value):
        return _FEWEST_DECIMALS
    most = _USUAL_DECIMALS
    if rate.difference:
        shown = 100 * (rate.interval[1] - rate.interval[0]) if rate.interval else 0.0
    else:
        shown = _distance_from_ends(rate)
        if rate.attempts is not None:
            # One of 1,000 to 9,999 attempts is 0.1 % to 0.01 %.
            visible = len(str(int(rate.attempts))) - 2
            most = min(most, max(_FEWEST_DECIMALS, visible))
    if not 0 < shown < math.inf:
        return _FEWEST_DECIMALS
    return min(most, max(_FEWEST_DECIMALS, _decimals_of_digits(shown, 2)))


def _distance_from_ends(rate: Rate) -> float:
    """Return the distance of a rate from 0 or from 100 %, the nearer one, in per cent."""
    return 100 * min(abs(rate.value), abs(1 - rate.value))


def _decimals_of_digits(value: float, digits: int) -> int:
    """Return the decimals that show significant `digits` of a positive value; below 0 of tens."""
    return digits - 1 - math.floor(math.log10(value))


def decimals_between(rate: float, others: Sequence[float], least: int = _FEWEST_DECIMALS) -> int:
    """Return the decimals in per cent of a rate that a sentence compares with other rates.

    They are the fewest, at least `least`, with which the rounded rate is still above the rates that
    the rate is above, and below the rates that it is below.
    """
    for decimals in range(least, _MOST_DECIMALS):
        rounded = round(100 * rate, decimals)
        if all(_order(rate, x) == _order(rounded, round(100 * x, decimals)) for x in others):
            return decimals
    return _MOST_DECIMALS


def _order(a: float, b: float) -> int:
    """Return 1 if `a` is larger, -1 if it is smaller, and 0 if they are equal but for rounding."""
    return 0 if math.isclose(a, b, rel_tol=_EQUAL) else int(a > b) - int(a < b)


def printed_column(cells: Sequence[Quantity]) -> list[Printed]:
    """Return the numbers of a column; rates have as many decimals, and scores of one column."""
    rates = [cell for cell in cells if isinstance(cell, Rate) and cell.is_defined]
    decimals = max(map(decimals_of_rate, rates), default=_FEWEST_DECIMALS)
    scores = [cell for cell in cells if _is_plain_score(cell)]
    digits = max((score.digits or _DIGITS_OF_SCORE for score in scores), default=0)
    texts_of_scores = iter(in_one_precision([score.value for score in scores], digits))
    return [
        _parts(cell, next(texts_of_scores)) if _is_plain_score(cell) else printed(cell, decimals)
        for cell in cells
    ]


def _is_plain_score(cell: Quantity) -> bool:
    """Whether a cell is a score that may have zeros at the end: a threshold has none."""
    return type(cell) is Score and cell.is_defined and not cell.interval


def printed(cell: Quantity, decimals: int | None = None) -> Printed:
    """Return a number by itself; a rate has `decimals`, or, if None, as many as it needs."""
    if not cell.is_defined:
        return NOT_DEFINED, "", ""
    match cell:
        case Threshold():
            text = threshold_text(cell.value, cell.next)
            return _parts(cell, text, map(score_text, _limits(cell)))
        case Score():
            text = _whole_or(cell.value, f".{cell.digits or _DIGITS_OF_SCORE}g")
            return _parts(cell, text, map(score_text, _limits(cell)))
        case Probability() if cell.value < 1e-4:  # smaller ones say no more
            return _parts(cell, "0.0001", before="<")
        case Probability():
            return _parts(cell, f"{cell.value:.2g}")
        case Count():
            noun = singular(cell.noun) if cell.value == 1 else cell.noun
            return _printed_as(cell, ",.0f", noun)
        case Rate():
            return _printed_rate(cell, decimals_of_rate(cell) if decimals is None else decimals)
        case _ if cell.digits is None:
            return _printed_with_decimals(cell)
        case _:
            # No digit of a whole part is left out: 1,234 has four digits and not three.
            has_more_digits = 10**cell.digits - 0.5 <= abs(cell.value) < _LARGEST_WHOLE
            return _printed_as(cell, ",.0f" if has_more_digits else f".{cell.digits}g")


def _printed_as(cell: Quantity, form: str, unit: str = "") -> Printed:
    """Return a number and its limits in one form, such as ``,.0f``."""
    limits = [_text_of(cell, limit, form) for limit in _limits(cell)]
    return _parts(cell, _text_of(cell, cell.value, form), limits, unit)


def _printed_rate(cell: Rate, decimals: int) -> Printed:
    form = f".{decimals}f"
    before, number = _inside(cell, _text_of(cell, cell.value, form, 100.0), decimals, 100.0)
    limits = [_text_of(cell, limit, form, 100.0) for limit in _limits(cell)]
    return _parts(cell, number, limits, "pp" if cell.difference else "%", before)


def _printed_with_decimals(cell: Quantity) -> Printed:
    """Return a number without a unit with its own `decimals`."""
    form = f".{cell.decimals}f"
    before, number = _inside(cell, _text_of(cell, cell.value, form), cell.decimals, 1.0)
    limits = []
    for limit in _limits(cell):
        # The limit of a ratio between small numbers may be huge, and its decimals say nothing.
        is_huge = abs(limit) >= 100 > abs(cell.value)
        limits.append(f"{limit:,.0f}" if is_huge else _text_of(cell, limit, form))
    return _parts(cell, number, limits, before=before)


def _text_of(cell: Quantity, number: float, form: str, scale: float = 1.0) -> str:
    """Return the value or a limit of a cell, times `scale`; a difference has a sign."""
    sign = "+" if cell.difference and number else ""
    text = f"{scale * number:{sign}z{form}}"
    # A value that is rounded to 0 has no sign; limits keep theirs.
    is_zero = number == cell.value and float(text.replace(",", "")) == 0
    return text.lstrip("+") if is_zero else text


def _inside(cell: Quantity, number: str, decimals: int, one: float) -> tuple[str, str]:
    """Return ``<`` or ``>`` or nothing, and a number, which is 0 or 1 only if it is exact.

    Rounded to 0, it is below the smallest number with these decimals; likewise for 1, which is
    printed as `one`: 100 in per cent. A difference is rounded.
    """
    if cell.difference:
        return "", number
    smallest = 10.0**-decimals
    if float(number) == 0 < cell.value:
        return "<", f"{smallest:.{decimals}f}"
    if float(number) == one and _order(cell.value, 1.0) < 0:
        return ">", f"{one - smallest:.{decimals}f}"
    return "", number


def printed_in_sentence(cell: Quantity, rates: Sequence[float]) -> str:
    """Return a number for a sentence that has `rates`, which differ from the number.

    A rate has three significant digits, or its `digits`, and so has its distance from 100 %,
    without zeros at the end; or more where fewer would hide which of the rates is larger.
    """
    if not isinstance(cell, Rate) or not cell.is_defined or cell.difference:
        return "".join(printed(cell))
    if cell.interval is not None:  # the rate has as many decimals as its limits
        return "".join(printed(cell, decimals_between(cell.value, rates, decimals_of_rate(cell))))
    percent = 100 * cell.value
    distance = _distance_from_ends(cell)
    if distance < _ROUNDING:
        return f"{percent:.0f} %"
    needed = _decimals_of_digits(distance, cell.digits or _DIGITS_OF_RATE)
    least = min(max(0, needed), _MOST_DECIMALS)
    text = f"{percent:.{decimals_between(cell.value, rates, least)}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return f"{text} %"


def score_text(value: float) -> str:
    return _whole_or(value, f".{_DIGITS_OF_SCORE}g")


def threshold_text(value: float, next_score: float = math.nan) -> str:
    """Return the shortest decimal from a threshold on, but before the next score.

    Every attempt is decided by it as by the threshold itself. The decimal is within 1 % of the
    threshold, however far the next score is. A whole number stays as it is, and so does, with all
    its digits, a threshold whose next score is not known. The next score is below the threshold
    where scores are similarities.

    Examples
    --------
    >>> threshold_text(0.12345678, 0.1241), threshold_text(0.12345678, 0.1229)
    ('0.124', '0.123')
    >>> threshold_text(0.12345678), threshold_text(731.0, 740.0)
    ('0.12345678', '731')
    """
    exact = _whole_or(value, "")
    if math.isnan(next_score) or not math.isfinite(value) or value == int(value):
        return exact
    rounding = ROUND_CEILING if next_score > value else ROUND_FLOOR
    for digits in range(len(str(abs(int(value)))), _ALL_DIGITS):  # no zero in place of a digit
        short = float(Context(prec=digits, rounding=rounding).create_decimal(exact))
        decides_alike = value <= short < next_score or next_score < short <= value
        # The gap to the next score may be wide, and a reader takes the number for the threshold.
        is_near = abs(short - value) <= abs(value) / 100
        if decides_alike and is_near:
            return _whole_or(short, f".{digits}g")
    return exact


def in_one_precision(values: Sequence[float], digits: int = 4) -> list[str]:
    """Return numbers with equal decimals: the most that a number needs for `digits` digits."""
    texts = [_whole_or(value, f".{digits}g") for value in values]
    decimals = 0
    for text in texts:
        if "e" in text:
            return texts
        decimals = max(decimals, len(text.partition(".")[2]))
    return [f"{value:.{decimals}f}" for value in values]


def _whole_or(value: float, form: str) -> str:
    """Return a whole number with all its digits, and another one in a form, such as ``.6g``."""
    is_whole = math.isfinite(value) and value == int(value) and abs(value) < _LARGEST_WHOLE
    return str(int(value)) if is_whole else f"{value:{form}}"


class Lines:
    """Writes lines of text; this one as plain text.

    `task` is the task of rates that name none. Another form overrides :meth:`literal`,
    :meth:`code`, :meth:`number`, :meth:`explained` and :meth:`picture`.
    """

    has_legends = False  # whether a legend explains labels, where no pointer can

    def __init__(self, task: str = ""):
        self.task = task
        self.rates: dict[str, set[str]] = {}  # rates that were written, by task
        self.names: dict[str, str] = {}  # other abbreviations of measures that were written

    def of_task(self, task: str) -> Lines:
        """Return lines whose rates are of a task; of the same if it is empty."""
        if task in ("", self.task):
            return self
        lines = copy(self)  # `rates` is shared: rates of all tasks are collected in one place
        lines.task = task
        return lines

    def unnoted(self) -> Lines:
        """Return lines in this form that note no terms for the header."""
        lines = copy(self)
        lines.rates, lines.names = {}, {}
        return lines

    def literal(self, text: str) -> str:
        return text

    def code(self, text: str) -> str:
        """Return the text between backquotes in a sentence, such as an argument."""
        return f"`{text}`"

    def number(self, text: str) -> str:
        """Return a number as it is printed, in this form."""
        return self.literal(text)

    def explained(self, text: str, about: str) -> str:
        """Return text, already in this form, with its explanation where the form has a place."""
        return text

    def picture(self, picture: Picture) -> str:
        """Return an image; empty in a form without images."""
        return ""

    def write(self, text: Text | None, rates: Sequence[float] = ()) -> str:
        """Return a text in this form; `rates` are all rates of the same sentence."""
        match text:
            case None:
                return ""
            case str():
                return self._plain(text)
            case Term():
                task = text.task or self.task
                self.rates.setdefault(task or "verification", set()).add(text.name)
                return self.literal(text.name.upper())
            case Phrase():
                return self._phrase(text)
            case Message():
                return self.message(text)
            case Enumeration():
                return self._enumeration(text, rates)
            case Label():
                return self.literal(escaped(text.text))
            case Explained():
                if text.name:
                    self.names.setdefault(*text.name)
                about = Lines(self.task).write(text.about)
                return self.explained(self.write(text.text, rates), about)
            case Picture():
                return self.picture(text)
            case Quantity():
                other_rates = [rate for rate in rates if rate != text.value]
                return self.number(printed_in_sentence(text, other_rates))
        raise TypeError(f"{type(text).__name__} is no text")

    def _plain(self, text: str) -> str:
        """Write plain text, with code between backquotes."""
        pieces = text.split("`")
        if len(pieces) % 2 == 0:  # a backquote has no partner
            return self.literal(text)
        pieces[::2] = map(self.literal, pieces[::2])
        pieces[1::2] = map(self.code, pieces[1::2])
        return "".join(pieces)

    def _phrase(self, phrase: Phrase) -> str:
        """Write a sentence: rates so that they can be told apart, scores in one precision."""
        parts_of_phrase = list(parts(phrase))
        rates = [x.value for x in parts_of_phrase if isinstance(x, Rate) and not x.difference]
        scores = [x for x in parts_of_phrase if isinstance(x, Score)]
        has_one_precision = len(scores) > 1
        numbers_of_scores = iter(printed_column(scores) if has_one_precision else ())
        lines = self.of_task(phrase.task)
        texts = []
        for part in parts_of_phrase:
            if isinstance(part, Score) and has_one_precision:
                texts.append(lines.number("".join(next(numbers_of_scores))))
            else:
                texts.append(lines.write(part, rates))
        return "".join(texts)

    def _enumeration(self, enumeration: Enumeration, rates: Sequence[float]) -> str:
        words = [self.write(text, rates) for text in enumeration.texts]
        if enumeration.last == ";":
            return "; ".join(words)
        if len(words) < 2 or not enumeration.last:
            return ", ".join(words)
        return f"{', '.join(words[:-1])} {enumeration.last} {words[-1]}"

    def sentences_about(self, messages: Iterable[Message]) -> dict[str, list[str]]:
        """Return the sentences of messages by parts of the data; ``""``, for all data, is first."""
        groups: dict[str, dict[str, None]] = {"": {}}
        for message in messages:
            about = "; ".join(self.literal(escaped(x)) for x in message.about)
            groups.setdefault(about, {})[self.message(message)] = None
        return {about: list(sentences) for about, sentences in groups.items() if sentences}

    def message(self, message: Message) -> str:
        return self.write(sentence_of(message))


def written(text: Text, task: str = "") -> str:
    return Lines(task).write(text)
