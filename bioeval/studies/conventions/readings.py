"""Readings of a measure: the conventions that scores support, and numbers as they are published."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np

from bioeval.base.arguments import require_integer
from bioeval.base.errors import (
    Argument,
    CardError,
    DataError,
    ProtocolError,
    received,
    require_choice,
)
from bioeval.base.kinds import larger_is_closer
from bioeval.protocol.card import Protocol
from bioeval.protocol.loading import available, for_layout, load
from bioeval.scores.exclusions import Exclusion
from bioeval.scores.matrix import Scores, are_pairs, knows_people
from bioeval.tasks.reid.convention import FIELDS, Convention, convention_of, has_cameras
from bioeval.tasks.reid.matches import RankKOver

#: Two values are equal within this.
EQUAL = 1e-12


PublishedUnit = Literal["percent", "fraction"]


@dataclass(frozen=True)
class Published:
    """A number as it is printed, and the fractions that it may be, each with its last digit."""

    text: str
    fractions: tuple[tuple[Fraction, Fraction], ...]

    @classmethod
    def parse(cls, number: Any, digits: Any, unit: Any) -> Published:
        """Read a number as printed: a percentage above 1, else of either unit unless given."""
        if unit is not None:
            require_choice("unit", unit, get_args(PublishedUnit))
        if isinstance(number, float) and digits is None:
            raise DataError(
                Argument("published"),
                f" is {received(number)} without its printed digits; give it as text, "
                f'"{number}", or give ',
                Argument("digits"),
            )
        text = number if isinstance(number, str) else repr(number)
        try:
            value = Decimal(text.strip().removesuffix("%").strip())
            exponent = value.as_tuple().exponent
            if not isinstance(exponent, int) or not 0 <= value <= 100:
                raise InvalidOperation
        except InvalidOperation:
            raise DataError(
                Argument("published"),
                f" is {received(number)}; expected a number from 0 to 1, or a percentage from 0 "
                "to 100",
            ) from None
        if unit == "fraction" and value > 1:
            raise DataError(Argument("published"), f" is {text}, above 1; expected a fraction")
        decimals = max(0, -exponent)
        if digits is not None:
            decimals = require_integer("digits", digits, low=0)
        last = Fraction(1, 10**decimals)
        percentage, fraction = (Fraction(value) / 100, last / 100), (Fraction(value), last)
        if "%" in text or value > 1 or unit == "percent":
            return cls(text, (percentage,))
        if unit == "fraction":
            return cls(text, (fraction,))
        return cls(text, (percentage, fraction))

    def agreement(self, value: float) -> tuple[float, str]:
        """Return the distance from a value, and ``"rounded"``, ``"cut"`` or nothing."""
        if math.isnan(value):
            return math.nan, ""
        near = min(abs(float(Fraction(value) - published)) for published, _ in self.fractions)
        for word, low, high, outside in (("rounded", -0.5, 0.5, 1), ("cut", 0.0, 1.0, -1)):
            for published, last in self.fractions:
                over, slack = float((Fraction(value) - published) / last), EQUAL / float(last)
                if low - slack <= over <= high + outside * slack:
                    return near, word
        return near, ""


# Ranks, and FAR targets, where all measures of a task are wanted.
RANKS, FAR_TARGETS = (1, 5, 10), (0.01, 0.001)

# The last rank at which lists are cut, where their average precision alone is asked for.
MOST_CUT = 100

# Most scores whose every value is made a threshold.
MOST_POINTS = 1 << 24

SESSIONS = ("session", "camera")
FUSED = {"min": "nearest", "mean": "mean", "max": "farthest", "median": "median"}
DIVISORS = {
    "positives": "all matches",
    "smaller": "the smaller of this rank and the matches",
    "found": "the matches found",
}
RETRIEVAL = {
    "removed": "removed",
    "removed_for_ap": "removed for AP alone",
    "junk": "junk",
    "ap": "average precision",
    "unmatched": "queries without a match",
    "cmc": "the CMC",
    "ties": "ties",
}


@dataclass(frozen=True)
class Reading:
    """A convention: what differs as a code and as an option, and the public call.

    The `departure` is a mapping with a ``code`` and its arguments. The call is an expression of
    ``be``, ``np`` and ``scores``. It gives a result, or the number of one `measure`.
    """

    departure: Mapping[str, Any]
    option: str
    call: str
    measure: str = ""


@dataclass(frozen=True)
class _OfTask:
    """The readings of a task, and how its result is had.

    `call` gives the expression of the result, of other data as ``of``, and `of_card` that of the
    result of a card.
    """

    call: Callable[..., str]
    of_card: Callable[[Protocol], str]
    readings: list[Reading]


@dataclass(frozen=True)
class Readings:
    """The readings of a measure (``""``: all of the task) with its number, if any.

    `cards` are those to try, the first of them the base; None: all that suit the data.
    """

    scores: Scores
    task: str
    measure: str
    at: float | None
    cards: Sequence[Protocol] | None

    def listed(self) -> tuple[list[Reading], list[str]]:
        """Return the readings, the base first, and the columns that others would need.

        A list of pairs lacks what some readings need, which is ``"pairs"``.
        """
        base, other_cards = self._cards()
        make = {"verification": self._verification, "reid": self._reid}
        task = make.get(self.task, self._identification)(base)
        readings = [Reading({"code": "card", "card": base.name}, "", task.call())]
        readings += self._data_departures(task.call)
        readings += task.readings
        for card in other_cards:
            option = f"--protocol {card.name}"
            departure = {"code": "card", "card": card.name}
            readings.append(Reading(departure, option, task.of_card(card)))
        return readings, self._lacking()

    # -- cards

    def _cards(self) -> tuple[Protocol, list[Protocol]]:
        """Return the card of the base, and the other cards to try."""
        if self.cards is not None:
            wrong = [card.name for card in self.cards if self.task not in card.tasks]
            if not self.cards:
                wrong = ["none is given"]
            if wrong:
                raise CardError(
                    Argument("cards"),
                    f": {', '.join(wrong)}; expected cards with a section [{self.task}]",
                )
            for card in self.cards:
                if why := self._unsuited(card):
                    raise ProtocolError(f"the card {card.name} does not suit the scores: {why}")
            return self.cards[0], list(self.cards[1:])
        if self.task == "reid":
            base = load("market1501" if has_cameras(self.scores) else "vehicleid")
        else:
            base = for_layout(self.scores.layout)
            if self.task not in base.tasks:
                raise ProtocolError(
                    f"the card {base.name}, of these scores, has no section [{self.task}]; give ",
                    Argument("cards"),
                    ", or a measure of re-identification",
                )
        other_cards = []
        for name in available():
            card = load(name)
            if name != base.name and self.task in card.tasks and not self._unsuited(card):
                other_cards.append(card)
        return base, other_cards

    def _unsuited(self, card: Protocol) -> str:
        """Return why the scores do not support a card; empty where they do."""
        if card.partition is not None or card.galleries is not None:
            return "it divides the data into parts, and each part has other numbers"
        if card.layout != self.scores.layout and self.task != "reid":
            return f"it is for {card.layout}, and the scores are {self.scores.layout}"
        exclusions = list(map(Exclusion.parse, card.exclude))
        missing = [x.column for x in exclusions if not self._both_have(x.column)]
        by_camera = self.task == "reid" and convention_of(card).needs_cameras
        if by_camera and not has_cameras(self.scores):
            missing.append("camera")
        if missing:
            return f"no metadata column {', '.join(missing)} on both sides"
        for exclusion in exclusions:
            value, _ = exclusion.missing_value(self.scores.probe_meta, self.scores.gallery_meta)
            if value is not None:
                return f"no template has the {exclusion.column} {value}"
        return ""

    def _both_have(self, column: str) -> bool:
        scores = self.scores
        if are_pairs(scores):
            return False
        return column in scores.probe_meta and column in scores.gallery_meta

    @property
    def _is_one_set(self) -> bool:
        """Whether rows and columns are the same templates in the same order."""
        scores = self.scores
        return not are_pairs(scores) and np.array_equal(scores.probe_ids, scores.gallery_ids)

    def _lacking(self) -> list[str]:
        """Return the columns that are missing, or ``"pairs"``."""
        if are_pairs(self.scores):
            return ["pairs"]
        return [column for column in SESSIONS if not self._both_have(column)]

    # -- the data

    def _made(self, **changed: str) -> str:
        """Return the expression of the same scores made anew, with arguments changed."""
        scores = self.scores
        square = scores.probe_ids is scores.gallery_ids
        options = {}
        if scores.probe_meta:
            options["probe_meta"] = "scores.probe_meta"
        if not square or "gallery_labels" in changed:
            options["gallery_labels"] = "scores.gallery_labels"
            if scores.gallery_meta:
                options["gallery_meta"] = "scores.gallery_meta"
        options |= {"kind": repr(scores.kind), "nan": repr(scores.nan)}
        if scores._has_mask:
            options["mask"] = "scores.mask"
        if scores.exclude:
            options["exclude"] = repr(scores.exclude)
        listed = ", ".join(map("=".join, (options | changed).items()))
        return f"be.Scores(scores.values, scores.probe_labels, {listed})"

    def _data_departures(self, call: Callable[..., str]) -> Iterator[Reading]:
        """Yield departures in the data."""
        scores = self.scores
        if scores.kind != "order":
            turned, departure = "similarity", {"code": "kind", "scores": "similarities"}
            if larger_is_closer(scores.kind):
                turned, departure = "distance", {"code": "kind", "scores": "distances"}
            made = f"scores.with_values(scores.values, {turned!r})"
            if are_pairs(scores):
                made = f"be.Scores.from_pairs(scores.values, scores.genuine, kind={turned!r})"
            yield Reading(departure, f'kind="{turned}"', call(made))
        if are_pairs(scores):
            return
        for column in SESSIONS:
            if self.task == "reid" or not self._both_have(column):
                continue
            code, option = "same-kept", "exclude=None"
            names = [x for x in scores.exclude if x not in (column, f"all:{column}")]
            if not scores._excludes_same(column):
                code, option = "same-removed", f'exclude="{column}"'
                names.append(column)
            made = f"scores.excluding({', '.join(map(repr, names))})"
            yield Reading({"code": code, "column": column}, option, call(made))
        if self._is_one_set and knows_people(scores):
            made = self._made(gallery_labels="scores.probe_labels")
            yield Reading({"code": "self-comparisons"}, "gallery_labels=", call(made))
        if scores.nan != "raise" and np.isnan(np.asarray(scores.values, dtype=float)).any():
            other, code = "exclude", "failed-left-out"
            if scores.nan == "exclude":
                other, code = "reject", "failed-rejected"
            made = self._made(nan=repr(other))
            yield Reading({"code": code}, f'nan="{other}"', call(made))

    # -- verification

    def _verification(self, base: Protocol) -> _OfTask:
        """Return the readings of verification."""
        scores, task = self.scores, base.verification
        assert task is not None
        targets = f"far_targets={self._far_targets}"
        first, pairs = task.templates[0], are_pairs(scores)
        made = f'templates="{first}", fusion="{task.fusion}", ' if not pairs else ""

        def call(of: str = "scores", made: str = made, more: str = "") -> str:
            return f"be.verification({of}, {made}{targets}{more})"

        def result(card: Protocol) -> str:
            assert card.verification is not None
            node = f"verification/{card.verification.templates[0]}"
            return f'be.evaluate(scores, "{card.name}", {targets})["{node}"]'

        readings = []
        if not pairs:
            if first != "single":
                option = 'templates="single"'
                made_anew = call(made=f"{option}, ")
                readings.append(Reading({"code": "single-template"}, option, made_anew))
            for fusion in FUSED:
                if first != "multi" or fusion != task.fusion:
                    departure = {"code": "multi-template", "chosen": FUSED[fusion]}
                    option = f'templates="multi", fusion="{fusion}"'
                    readings.append(Reading(departure, option, call(made=f"{option}, ")))
        if self._is_one_set and knows_people(scores) and not scores._has_mask:
            whole = "np.where(scores.probe_labels[:, None] == scores.gallery_labels, 2, 1)"
            for probe, half, side in (("later", "tril", -1), ("earlier", "triu", 1)):
                of = f"scores.with_mask(np.{half}({whole}, {side}).astype(np.uint8))"
                departure = {"code": "pairs-once", "probe": probe}
                readings.append(Reading(departure, "unordered pairs", call(of)))
        if np.prod(scores.shape) <= MOST_POINTS and (pairs or first == "single"):
            readings += self._rules_of_points(call)
        return _OfTask(call, result, readings)

    @property
    def _far_targets(self) -> list[float]:
        """The FAR of the measure, or some."""
        return list(FAR_TARGETS) if self.at is None else [self.at]

    def _rules_of_points(self, call: Callable[..., str]) -> Iterator[Reading]:
        """Yield other rules of EER, and of FRR at a FAR, from the points at all scores."""
        similar = larger_is_closer(self.scores.kind)
        values = "scores.values"
        if self.scores.dtype.kind == "f":
            values = "scores.values[~np.isnan(scores.values)]"
        every = f"np.unique({values})"
        # From the loosest threshold on, so that the first of equal points is the loosest.
        if similar:
            every, turned = f"np.r_[{every}, np.inf]", ""
        else:
            every, turned = f"np.r_[-np.inf, {every}]", ".isel(threshold=slice(None, None, -1))"
        points = f"{call(more=f', thresholds={every}')}{turned}"
        # The points that scikit-learn's roc_curve keeps by default; reject-all, the last, stays.
        same_step = "np.diff(p.{}.values[:-1], 2) == 0"
        on_line = f"({same_step.format('fa')}) & ({same_step.format('ga')})"
        kept = f"np.r_[True, ~({on_line}), True, True][:p.threshold.size]"
        thinned = f"(lambda p: p.isel(threshold={kept}))({points})"
        near = "int(abs(p.far.values - p.frr.values).argmin())"
        strictest = "-1 - int(abs(p.far.values - p.frr.values)[::-1].argmin())"
        rules = [
            ("eer-hull", "eer_hull", "float(p.eer_hull)", call()),
            (
                "eer-middle",
                "(eer_bracket_low + eer_bracket_high) / 2",
                "float(p.eer_bracket_low + p.eer_bracket_high) / 2",
                call(),
            ),
            (
                "eer-mean-at-nearest",
                "ASVspoof",
                f"float((p.far + p.frr)[{near}]) / 2",
                points,
            ),
            (
                "eer-frr-at-nearest",
                "nearest",
                f"float(p.frr[{near}])",
                points,
            ),
            (
                "eer-mean-at-strictest",
                "torchmetrics",
                f"float((p.far + p.frr)[{strictest}]) / 2",
                points,
            ),
            (
                "eer-far-of-thinned",
                "scikit-learn, nearest FAR",
                f"float(p.far[{strictest}])",
                thinned,
            ),
            (
                "eer-frr-of-thinned",
                "scikit-learn, nearest FRR",
                f"float(p.frr[{strictest}])",
                thinned,
            ),
            (
                "eer-lines",
                "scikit-learn and brentq",
                "float(np.interp(0, (p.far - p.frr)[::-1], p.far[::-1]))",
                points,
            ),
        ]
        if self.measure in ("", "eer"):
            for code, option, value, of in rules:
                yield Reading({"code": code}, option, f"(lambda p: {value})({of})", "eer")
        if self.measure and self.at is None:
            return
        for x in self._far_targets:
            for code, option, value in (
                (
                    "frr-at-nearest-far",
                    "nearest",
                    f"p.frr[int(abs(p.far.values - {x}).argmin())]",
                ),
                (
                    "frr-interpolated",
                    "interpolated",
                    f"np.interp({x}, p.far[::-1], p.frr[::-1])",
                ),
            ):
                departure = {"code": code, "target": x}
                number = f"(lambda p: float({value}))({points})"
                yield Reading(departure, option, number, f"frr_at_far={x:g}")

    # -- identification and re-identification

    def _identification(self, base: Protocol) -> _OfTask:
        """Return the readings of open-set or closed-set identification."""
        card: Any = base.tasks[self.task]
        options = {"rank_unit": card.rank_unit, "fusion": card.fusion, "ties": card.ties}
        targets = ""
        if self.task == "open_set":
            targets = f", far_targets={[self.at]}"
            options["impostors"] = card.impostors
        else:
            options["unmated"] = "skip"

        def call(of: str = "scores", **changed: str) -> str:
            written = ", ".join(f"{k}={v!r}" for k, v in (options | changed).items())
            return f"be.{self.task}({of}, {written}{targets})"

        def of_card(card: Protocol) -> str:
            return f'be.evaluate(scores, "{card.name}"{targets})["{self.task}"]'

        unit = "template" if card.rank_unit == "subject" else "subject"
        readings = []
        for ties in card.fields()["ties"].words():
            if ties != card.ties:
                departure = {"code": "ties", "ties": ties}
                readings.append(Reading(departure, f'ties="{ties}"', call(ties=ties)))
        departure = {"code": "rank-unit", "units": f"{unit}s"}
        readings.append(Reading(departure, f'rank_unit="{unit}"', call(rank_unit=unit)))
        for fusion, name in FUSED.items():
            if fusion != "min":
                departure = {"code": "rank-fusion", "chosen": name}
                option = f'rank_unit="subject", fusion="{fusion}"'
                of_subjects = call(rank_unit="subject", fusion=fusion)
                readings.append(Reading(departure, option, of_subjects))
        if self.task == "closed_set":  # of open set the mean over all galleries has bounds alone
            departure = {"code": "single-gallery"}
            readings.append(Reading(departure, 'gallery="single"', call(gallery="single")))
        return _OfTask(call, of_card, readings)

    def _cut_lists(self, rules: Convention, call: Callable[..., str]) -> Iterator[Reading]:
        """Yield lists cut at other ranks, or with another divisor of their average precision.

        Of all measures of the task at two ranks, of this one up to rank 100.
        """
        ranks: Sequence[int] = (10, 100)
        if self.measure:
            ranks = range(1, min(MOST_CUT, self.scores.shape[1]) + 1)
        for over in get_args(RankKOver):
            for k in ranks:
                if (k, over) == (rules.rank_k, rules.rank_k_over):
                    continue
                departure = {"code": "rank-k", "rank": k, "over": DIVISORS[over]}
                option = f"rank_k={k}"
                changed: dict[str, Any] = {"rank_k": k}
                if over != rules.rank_k_over:
                    option += f', rank_k_over="{over}"'
                    changed["rank_k_over"] = over
                yield Reading(departure, option, call(**changed))

    def _reid(self, base: Protocol) -> _OfTask:
        """Return the readings of re-identification."""
        rules = convention_of(base)
        ranks = int(self.at or max(RANKS))

        def call(of: str = "scores", card: str = base.name, **changed: Any) -> str:
            written = "".join(f", {k}={v!r}" for k, v in {"max_rank": ranks, **changed}.items())
            return f'be.reid({of}, "{card}"{written})'

        readings = []
        ranked = self.measure.startswith("cmc")
        apart = {"cmc": self.measure and not ranked, "ap": ranked, "removed_for_ap": ranked}
        for key in RETRIEVAL:
            if apart.get(key):  # the measure does not depend on it
                continue
            now = rules.ap_removed if key == "removed_for_ap" else rules[key]
            for word in FIELDS[key].choices:
                cameras = key.startswith("removed") and word not in ("none", "as-above")
                if word not in (now, rules[key]) and (has_cameras(self.scores) or not cameras):
                    departure = {"code": "retrieval", "field": key, "choice": word}
                    readings.append(Reading(departure, f'{key}="{word}"', call(**{key: word})))
        if self.measure in ("", "rank_k_mean_ap"):
            readings += self._cut_lists(rules, call)
        return _OfTask(call, lambda card: call(card=card.name), readings)
