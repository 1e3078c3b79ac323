"""Numbers and lines of text as the writers print them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
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

#: Per cent by which a sum of floats may miss 0 or 100 %.
_ROUNDING = 1e-10

#: Decimals of a rate in per cent at which float64 has no more digits.
_MOST_DECIMALS = 15

#: Significant digits of a score.
_DIGITS_OF_SCORE = 6

#: Significant digits that tell any two float64 apart.
_ALL_DIGITS = 17


#: A number as text: before the decimal point, from the point on with its unit, and its limits.
Printed = tuple[str, str, str]


def _parts(
    cell: Quantity,
    number: str,
    text_of_limit: Callable[[float], str] | None = None,
    unit: str = "",
    before: str = "",
) -> Printed:
    """Return the parts of a number; `before` is ``<`` or ``>``."""
    integer, point, decimals = number.partition(".")
    limits = ""
    if text_of_limit and cell.interval is not None and not math.isnan(sum(cell.interval)):
        limits = " [{}, {}]".format(*map(text_of_limit, cell.interval))
    before = f"{before} " if before else ""
    unit = f" {unit}" if unit else ""
    return f"{before}{integer}", f"{point}{decimals}{unit}{FLAG * cell.flagged}", limits


def decimals_of_rate(rate: Rate) -> int:
    """Return the decimals that show two digits of a value near 0 or 100 %.

    At least two, and no more than make one attempt visible; of a difference, as many as show two
    digits of the width of its interval.
    """
    if not math.isfinite(rate.value):
        return 2
    if rate.difference:
        width = 100 * (rate.interval[1] - rate.interval[0]) if rate.interval else 0.0
        return _within(1 - math.floor(math.log10(width)) if 0 < width < math.inf else 2, 4)
    distance = 100 * min(abs(rate.value), abs(1 - rate.value))
    limit = 4
    if rate.attempts is not None:
        limit = min(4, max(2, len(str(int(rate.attempts))) - 2))
    return _within(1 - math.floor(math.log10(distance)) if distance > 0 else 2, limit)


def _within(decimals: int, most: int) -> int:
    return min(most, max(2, decimals))


def decimals_between(rate: float, others: Sequence[float], least: int = 2) -> int:
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
    return 0 if math.isclose(a, b, rel_tol=1e-12) else int(a > b) - int(a < b)


def printed_column(cells: Sequence[Quantity]) -> list[Printed]:
    """Return the numbers of a column; rates have as many decimals, and scores of one column."""
    rates = [cell for cell in cells if isinstance(cell, Rate) and cell.is_defined]
    decimals = max(map(decimals_of_rate, rates), default=2)
    scores = [cell for cell in cells if _is_plain_score(cell)]
    digits = max((x.digits or _DIGITS_OF_SCORE for x in scores), default=0)
    texts = iter(in_one_precision([x.value for x in scores], digits))
    column = []
    for cell in cells:
        is_plain = _is_plain_score(cell)
        column.append(_parts(cell, next(texts)) if is_plain else printed(cell, decimals))
    return column


def _is_plain_score(cell: Quantity) -> bool:
    """Whether a cell is a score that may have zeros at the end: a threshold has none."""
    return type(cell) is Score and cell.is_defined and not cell.interval


def printed(cell: Quantity, decimals: int | None = None) -> Printed:
    """Return a number by itself; a rate has `decimals`, or, if None, as many as it needs."""
    if not cell.is_defined:
        return NOT_DEFINED, "", ""
    match cell:
        case Threshold():
            return _parts(cell, threshold_text(cell.value, cell.next), score_text)
        case Score():
            text = _whole_or(cell.value, f".{cell.digits or _DIGITS_OF_SCORE}g")
            return _parts(cell, text, score_text)
        case Probability() if cell.value < 1e-4:
            return _parts(cell, "0.0001", before="<")
        case Probability():
            return _parts(cell, f"{cell.value:.2g}")
    unit, scale = "", 1.0
    fixed: int | None = None  # decimals of a number that is written as 0 or 1 only if it is exact
    match cell:
        case Count():
            unit = cell.noun and (singular(cell.noun) if cell.value == 1 else cell.noun)
            form = ",.0f"
        case Rate():
            unit, scale = "pp" if cell.difference else "%", 100.0
            fixed = decimals_of_rate(cell) if decimals is None else decimals
            form = f".{fixed}f"
        case _ if cell.digits is None:
            fixed = cell.decimals
            form = f".{fixed}f"
        case _:
            has_all_digits = 10**cell.digits - 0.5 <= abs(cell.value) < 1e15
            form = ",.0f" if has_all_digits else f".{cell.digits}g"

    def text_of(x: float) -> str:
        sign = "+" if cell.difference and x else ""
        text = f"{scale * x:{sign}z{form}}"
        # A value that is rounded to 0 has no sign; limits keep theirs.
        is_zero = x == cell.value and not float(text.replace(",", ""))
        return text.lstrip("+") if is_zero else text

    def text_of_limit(x: float) -> str:
        # The limit of a ratio between small numbers may be huge, and its decimals say nothing.
        is_huge = fixed is not None and scale == 1 and abs(x) >= 100 > abs(cell.value)
        return f"{x:,.0f}" if is_huge else text_of(x)

    number, before = text_of(cell.value), ""
    if fixed is not None and not cell.difference:
        smallest = 10.0**-fixed
        if float(number) == 0 < cell.value:
            number, before = f"{smallest:{form}}", "<"
        elif float(number) == scale and _order(cell.value, 1.0) < 0:
            number, before = f"{scale - smallest:{form}}", ">"
    return _parts(cell, number, text_of_limit, unit, before)


def printed_in_sentence(cell: Quantity, rates: Sequence[float]) -> str:
    """Return a number for a sentence that has `rates`, which differ from the number.

    A rate has three significant digits, or its `digits`, and so has its distance from 100 %,
    without zeros at the end; or more where fewer would hide which of the rates is larger.
    """
    if not isinstance(cell, Rate) or not cell.is_defined or cell.difference:
        return "".join(printed(cell))
    if cell.interval is not None:  # the rate has as many decimals as its limits
        return "".join(printed(cell, decimals_between(cell.value, rates, decimals_of_rate(cell))))
    value = 100 * cell.value
    distance = 100 * min(abs(cell.value), abs(1 - cell.value))
    # Rounding of sums: no rate over fewer than a billion attempts is so near.
    if distance < _ROUNDING:
        return f"{value:.0f} %"
    digits = cell.digits or 3
    least = max(0, digits - 1 - math.floor(math.log10(distance))) if distance > 0 else 0
    least = min(least, _MOST_DECIMALS)
    text = f"{value:.{decimals_between(cell.value, rates, least)}f}"
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
        if decides_alike and abs(short - value) <= abs(value) / 100:
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


def _whole_or(value: float, digits: str) -> str:
    is_whole = math.isfinite(value) and value == int(value) and abs(value) < 1e15
    return str(int(value)) if is_whole else f"{value:{digits}}"


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
                pieces = text.split("`")
                if len(pieces) % 2 == 0:
                    return self.literal(text)
                return "".join((self.literal, self.code)[i % 2](x) for i, x in enumerate(pieces))
            case Term():
                task = text.task or self.task
                self.rates.setdefault(task or "verification", set()).add(text.name)
                return self.literal(text.name.upper())
            case Phrase():
                typed = list(parts(text))
                rates = [x.value for x in typed if isinstance(x, Rate) and not x.difference]
                scores = [x for x in typed if isinstance(x, Score)]
                # The scores in one precision.
                printed = printed_column(scores) if len(scores) > 1 else []
                lines, texts = self.of_task(text.task), []
                for part in typed:
                    if isinstance(part, Score) and printed:
                        texts.append(lines.number("".join(printed.pop(0))))
                    else:
                        texts.append(lines.write(part, rates))
                return "".join(texts)
            case Message():
                return self.message(text)
            case Enumeration():
                words = [self.write(x, rates) for x in text.texts]
                if text.last == ";" or len(words) < 2 or not text.last:
                    return ("; " if text.last == ";" else ", ").join(words)
                return f"{', '.join(words[:-1])} {text.last} {words[-1]}"
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
                compared = [x for x in rates if x != text.value]
                return self.number(printed_in_sentence(text, compared))
        raise TypeError(f"{type(text).__name__} is no text")

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
