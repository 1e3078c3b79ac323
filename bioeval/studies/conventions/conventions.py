"""The same scores by every convention that they support, beside a published number."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_list
from bioeval.base.errors import Argument, DataError, ProtocolError, nearest_name, received
from bioeval.base.messages import Message
from bioeval.base.progress import reporter, rows_reported, rows_reported_to
from bioeval.base.registry import names_of, scalar_registry
from bioeval.base.scalars import QUERY_MEANS, Name
from bioeval.evaluation import evaluate
from bioeval.protocol.card import Protocol
from bioeval.protocol.loading import load
from bioeval.protocol.pairs import with_exclusions
from bioeval.results.dataset import about_attrs, along, build
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.matrix import Scores, codes_of, require_scores
from bioeval.scores.provenance import Provenance
from bioeval.studies.conventions.readings import (
    EQUAL,
    RANKS,
    Published,
    PublishedUnit,
    Reading,
    Readings,
)
from bioeval.studies.conventions.section import departure_in_words
from bioeval.tasks.identification import closed_set, open_set
from bioeval.tasks.reid.convention import Convention, convention_of, has_cameras
from bioeval.tasks.reid.passes import RetrievalPass
from bioeval.tasks.reid.reid import reid
from bioeval.tasks.reid.results import ReidOptions, reid_dataset
from bioeval.tasks.verification_task import verification
from bioeval.views.writers.lines import written


def _is_rate(name: str) -> bool:
    """Whether a number of verification is quoted, and no threshold."""
    scalar = scalar_registry()[name]
    return scalar.quoted and scalar.units != "score" and name in names_of("verification")


#: The measures that can be asked for, by task; of those with a number, as ``cmc=1``, any number.
MEASURES = {
    "verification": (*filter(_is_rate, scalar_registry()), "frr_at_far="),
    "open_set": ("dir_at_far=",),
    "closed_set": ("recognition_rate", "cms="),
    "reid": (*QUERY_MEANS, "cmc="),
}


@leaves_out_attacks
def conventions(
    scores: Scores,
    *,
    measure: str | None = None,
    published: str | float | None = None,
    digits: int | None = None,
    unit: PublishedUnit | None = None,
    cards: Sequence[str | Protocol] | None = None,
) -> xr.Dataset:
    """Evaluate scores by every convention that they support, beside a published number.

    Parameters
    ----------
    scores : Scores
    measure : str, optional
        ``eer auc d_prime zero_far zero_frr frr_at_far=X`` of verification, ``dir_at_far=X`` (rank
        1) of open-set and ``recognition_rate cms=K`` of closed-set identification, ``cmc=K`` and
        means over queries, as ``mean_ap``, of re-identification. None: all of the task, which is
        re-identification where both sides have a column ``camera``, else verification.
    published : str or float, optional
        The number as printed, ``"88.40"``: a percentage if it is above 1. Of 1 or less both units
        are tried. Needs `measure`.
    digits : int, optional
        Decimals of `published` as printed; needed where it is a float.
    unit : {"percent", "fraction"}, optional
        The unit of `published`.
    cards : sequence of str or Protocol, optional
        Cards to evaluate in place of all that are shipped and suit the data. The first is the base
        of the single departures.

    Returns
    -------
    xarray.Dataset
        Over ``reading``, what differs in words: the measure, or all measures of the task, by their
        names; ``difference`` from the base; ``option`` and ``call``, an expression of ``be``,
        ``np`` and ``scores`` that gives the number, or the result that has it; ``also``, readings
        with the same values, one per line; ``departures``, all of these as codes. With `published`
        also ``distance`` from it, as a fraction, and ``agrees``: ``"rounded"`` or ``"cut"`` to the
        same digits, else empty; readings are then in the order of the distance. Readings without a
        value come last. The attribute ``left_out`` has the metadata columns that further readings
        would need; it is ``pairs`` for a list of pairs, which has no templates.

    Raises
    ------
    DataError
        If the measure is unknown, or `published` is not a number from 0 to 1 or 100, has no
        `measure` or is a float without `digits`.
    CardError, ProtocolError
        If a card is unknown, or the scores do not support it.

    Notes
    -----
    Each reading departs from the base in one point; two departures at once are not tried. That a
    reading agrees does not show that others used it: other readings may agree too. Which program
    has which convention: ``docs/reid.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(20, 4, random_state=1)
    >>> ds = be.conventions(scores, measure="eer", published="3.36")
    >>> print(ds.agrees.values[0], ds.reading.values[0], float(ds.eer[0].round(4)), sep="; ")
    rounded; EER on the convex hull of the ROC; 0.0336
    """
    require_scores(scores)
    task, at = _parsed(measure)
    goal = None
    if published is not None:
        if measure is None:
            raise DataError(
                Argument("published"),
                " needs ",
                Argument("measure"),
                ": give the measure of the published number",
            )
        goal = Published.parse(published, digits, unit)
    chosen = None
    if cards is not None:
        chosen = [load(x) for x in require_list("cards", cards)]
    if not task:
        task = "reid" if has_cameras(scores) else "verification"
        of_card = [name for name in MEASURES if chosen and name in chosen[0].tasks]
        if of_card:
            task = of_card[0]
    asked = (measure or "").lower()
    readings, left_out = Readings(scores, task, asked, at, chosen).listed()
    shared, rows = _Shared(scores, asked), []
    with rows_reported():
        tell = reporter()
        for done, reading in enumerate(readings, start=1):
            with rows_reported_to(None):
                rows.append(_Row(reading, shared.values(reading, task)))
            tell(done, len(readings))
    names = [asked]
    if not asked:  # of ranks, some are shown
        measured = rows[0].measured
        names = [x for x in measured if not x.startswith(("cmc=", "cms=")) or int(x[4:]) in RANKS]
    return _dataset(Provenance.of(scores), task, names, goal, rows, left_out, asked)


def _parsed(measure: Any) -> tuple[str, float | None]:
    """Return the task of a measure, and its number, if any."""
    if measure is None:
        return "", None
    every: dict[str, str] = {}
    for task, names in MEASURES.items():
        every |= dict.fromkeys(names, task)
    stem, equals, at = str(measure).lower().partition("=")
    if not isinstance(measure, str) or stem + equals not in every:
        nearest = nearest_name(stem, " ".join(every).replace("=", "").split())
        raise DataError(
            Argument("measure"),
            f" is {received(measure)}; expected one of {', '.join(every)} with a number after "
            f"=.{nearest}",
        )
    if not equals:
        return every[stem], None
    try:
        value = float(at)
    except ValueError:
        value = math.nan
    right, expected = 0 < value < 1, "a FAR between 0 and 1, as frr_at_far=0.01"
    if stem in ("cms", "cmc"):
        right, expected = value > 0 and value.is_integer(), "a rank, as cmc=1"
    if not right:
        raise DataError(Argument("measure"), f" is {received(measure)}; expected {expected}")
    return every[stem + equals], value


class _Shared:
    """Replacement of ``be`` in the calls of readings: each result is computed once."""

    def __init__(self, scores: Scores, measure: str):
        """Keep what is counted for the scores; `measure` is empty for all of a task."""
        self.scores, self.measure = scores, measure
        self._be = SimpleNamespace(
            Scores=Scores,
            verification=partial(self._once, verification),
            open_set=partial(self._once, open_set),
            closed_set=partial(self._once, closed_set),
            evaluate=self.evaluate,
            reid=self.reid,
        )
        self._kept: dict[Any, Any] = {}
        self._there: list[Any] = []  # objects by whose identity results are kept

    def values(self, reading: Reading, task: str) -> dict[str, float]:
        """Return the measures of a reading; of a number, those of one measure."""
        try:
            # The calls are written in this file; of the user's they hold names of cards alone.
            result = eval(reading.call, {"be": self._be, "np": np, "scores": self.scores})
        except ProtocolError:
            return {}
        if isinstance(result, float):
            return {reading.measure: result}
        return _measures(result, task)

    def evaluate(self, scores: Scores, card: str, **options: Any) -> xr.DataTree:
        """Evaluate all tasks of a card."""
        return self._once(evaluate, scores, protocol=card, **options)

    def reid(self, scores: Scores, card: str, **options: Any) -> xr.Dataset:
        """Evaluate re-identification; conventions with the same lists share a pass."""
        if scores is not self.scores:
            return self._once(reid, scores, convention=card, **options)
        rules = convention_of(card, **options)
        if self.measure and not self.measure.startswith("cmc"):
            rules = replace(rules, cmc="first-match")  # of AP and INP the CMC is no part
        of_cmc = rules.cmc not in ("first-match", "allshots")
        over = self._counted(rules, rules.removed, of_cmc=of_cmc)
        ap_counts = self._counted(rules, rules.ap_removed)
        tally = replace(
            over,
            convention=rules.name,
            cmc=rules.cmc,
            removed_for_ap=rules.ap_removed,
            matches=ap_counts.matches,
            junk=rules.junk_in_words,
            cmc_matches=over.matches if rules.removed != rules.ap_removed else None,
        )
        key = id(over), id(ap_counts), rules.cmc, *rules.result_options().values()
        if key not in self._kept:
            self._kept[key] = reid_dataset(tally, ReidOptions(**rules.result_options()))
        return self._kept[key]

    def _counted(self, rules: Convention, removed: str, *, of_cmc: bool = False) -> Any:
        """Return the counts of all queries under a rule of removal, with what the CMC needs."""
        there = set(map(str, codes_of(self.scores).values.tolist()))
        junk = rules.junk == "remove" and not there.isdisjoint(map(str, rules.junk_ids))
        plain = replace(rules, removed=removed, removed_for_ap="as-above")
        key: tuple[Any, ...] = removed, junk, rules.exclude
        if of_cmc:
            key = *key, rules.cmc, rules.ties, rules.max_rank
        else:
            plain = replace(plain, cmc="first-match")
        if key not in self._kept:
            self._kept[key] = RetrievalPass(with_exclusions(self.scores, rules), plain).run()
        return self._kept[key]

    def _once(self, count: Any, scores: Scores, **options: Any) -> Any:
        """Return a result, counted once for the same scores and options."""
        plain: dict[str, Any] = {}
        for name, value in options.items():
            plain[name] = repr(value)
            if isinstance(value, np.ndarray):
                plain[name] = value.tobytes()
        key = count.__name__, id(scores), *plain.items()
        if key not in self._kept:
            self._there.append(scores)
            self._kept[key] = count(scores, **options)
        return self._kept[key]


def _measures(result: Any, task: str) -> dict[str, float]:
    """Return the measures of a result by name."""
    ds = result.to_dataset() if isinstance(result, xr.DataTree) else result
    values = {}
    for name in MEASURES[task]:
        stem = name.rstrip("=")
        if stem not in ds:
            continue
        if stem == name:
            values[name] = float(ds[name])
        elif stem in ("cms", "cmc"):
            for rank in ds["rank"].values.tolist():
                values[f"{name}{rank}"] = float(ds[stem].sel(rank=rank))
        else:
            rates = ds[stem]
            if "rank" in rates.dims:
                rates = rates.isel(rank=0)
            for target in ds["far_target"].values.tolist():
                values[f"{name}{target:g}"] = float(rates.sel(far_target=target))
    return values


@dataclass
class _Row:
    """A reading with its measures by name, those shown, and others with the same values."""

    reading: Reading
    measured: dict[str, float]
    values: list[float] = field(default_factory=list)
    also: list[Mapping[str, Any]] = field(default_factory=list)
    distance: float = 0.0  # from the published number
    agrees: str = ""

    def place(self) -> tuple[bool, int, float]:
        """Return what rows are sorted by: those without a value come last."""
        agreement = ["rounded", "cut", ""].index(self.agrees)
        return bool(np.isnan(self.values).all()), agreement, self.distance


def _dataset(
    about: Provenance,
    task: str,
    names: Sequence[str],
    goal: Published | None,
    rows: Sequence[_Row],
    left_out: Sequence[str],
    measure: str,
) -> xr.Dataset:
    """Return the readings, those with the same values as one."""
    base, listed = rows[0], list[_Row]()
    for row in rows:
        if row.reading.measure not in ("", *names):
            continue
        measured = row.measured
        if row.reading.measure:
            measured = base.measured | measured
        row.values = [measured.get(name, math.nan) for name in names]
        for other in listed:
            if np.allclose(row.values, other.values, rtol=0, atol=EQUAL, equal_nan=True):
                other.also.append(row.reading.departure)
                break
        else:
            listed.append(row)
    start = np.array(listed[0].values)
    if goal is not None:
        for row in listed:
            row.distance, row.agrees = goal.agreement(row.values[0])
    listed.sort(key=_Row.place)
    columns: dict[str, list[Any]] = defaultdict(list)
    for row in listed:
        columns["values"].append(row.values)
        for name in ("option", "call"):
            columns[name].append(getattr(row.reading, name))
        departures = [row.reading.departure, *row.also]
        columns["departures"].append(json.dumps(departures))
        first, *others = [written(departure_in_words(x)) for x in departures]
        columns["words"].append(first)
        columns["also"].append("\n".join(others))
        columns["distance"].append(row.distance)
        columns["agrees"].append(row.agrees)
    table = np.array(columns["values"])
    over, more = ("reading",), table - start
    variables: dict[str, Any] = dict(along(over, **dict(zip(names, table.T, strict=True))))
    for k, name in enumerate(names):
        variables[f"{name}_difference"] = over, more[:, k]
    if measure:
        variables["difference"] = variables.pop(f"{measure}_difference")
    texts = ["option", "call", "also", "departures"]
    if goal is not None:
        variables["distance"] = over, np.array(columns["distance"])
        texts.append("agrees")
    for name in texts:
        variables[name] = over, np.array(columns[name], dtype=str)
    note = Message("one-departure-each")
    attrs = about_attrs(about, "conventions", f"conventions of {task.replace('_', '-')}", [note])
    attrs |= {"evaluated": task, "measure": measure, "published": "", "readings_tried": len(rows)}
    if goal is not None:
        attrs["published"] = goal.text
    base_words = written(departure_in_words(base.reading.departure))
    attrs |= {"base": base_words, "left_out": "\n".join(left_out)}
    described = {name: Name(name.replace("_", " ")) for name in variables} | _TEXTS
    words = np.array(columns["words"], dtype=str)
    return build(variables, described, {"reading": words}, attrs)


_TEXTS = {
    "reading": Name("what differs from the base"),
    "difference": Name("value less that of the base"),
    "option": Name("the reading as an option"),
    "call": Name("expression of be, np and scores that gives the number or its result"),
    "also": Name("readings with the same values, one per line"),
    "departures": Name(
        "the reading and those with the same values, as codes with their arguments (JSON)"
    ),
    "distance": Name("distance from the published number, as a fraction"),
    "agrees": Name("how the value agrees with the published digits: rounded, cut, or not"),
}
