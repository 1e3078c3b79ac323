"""The parts of a page: the datasets by system and task, and the rows of each threshold."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from typing import Any, TypeVar

import numpy as np
import xarray as xr

from bioeval.attempts.threshold_rules import Rule
from bioeval.base.errors import DataError, printable
from bioeval.base.kinds import larger_is_closer
from bioeval.document.cells import Label
from bioeval.document.text import Text, say
from bioeval.page.support import (
    RULES,
    doubt_of_target,
    none_supported,
    people_of,
    reason_for_target,
    rule_kept,
)
from bioeval.results.support import RuleOf
from bioeval.results.threshold_lookup import ResultThresholds
from bioeval.views.tasks import TASKS, datasets, value_of

_T = TypeVar("_T")
_Key = TypeVar("_Key", bound=Hashable)

#: Results of studies, by a variable that only they have.
_OTHERS = {
    "verdict": "claim",
    "iapar_pooled": "vulnerability",
    "apcer_pooled": "pad",
    "rank_low": "comparison",
    "why_not": "conventions",
    "alpha": "epc",
    "gallery_size": "gallery_size",
    "garbe": "groups",
    "people_per_day": "workload",
    "pauc": "error_discard",
    "optimistic_far": "threshold_study",
    "dev_far": "judged_threshold",
    "mota": "tracking",
    "comparison": "worst_pairs",
    "animal_of_subject": "zoo",
}

#: Tasks of an evaluation besides verification, by a variable that only they have.
_TASKS = {
    "mrep": "gom",
    "mrep_mean": "gom",
    "mean_ap": "reid",
    "mean_ap_mean": "reid",
    "dir": "open_set",
    "dir_mean": "open_set",
    "dir_at_far": "open_set",
    "cms": "closed_set",
    "cms_mean": "closed_set",
}

#: The system of results that name none.
_UNNAMED = "results"

#: The task of results that are of several systems.
OF_SYSTEMS = "comparison"

#: The attribute of results that says what a system lacks of another one.
NOT_SHARED = "not_shared"


#: The tasks that share a section.
BOTH = ("verification/single", "verification/multi")

#: The tasks of an evaluation, whose tables are the page's own.
EVALUATED = (*BOTH, "open_set", "closed_set", "reid", "gom")


@dataclass(frozen=True)
class PageItem:
    """One result of one system."""

    system: str
    task: str  # as a path, such as verification/single
    dataset: xr.Dataset
    place: int = 0  # in the order in which they were given
    label: str = ""  # what tells it from the others of its section; empty where it is alone

    @property
    def kind(self) -> str:
        """The kind of the scores; unknown for a comparison."""
        return str(self.dataset.attrs.get("kind", "distance"))

    @property
    def accepts_larger(self) -> bool:
        """Whether scores are accepted at or above the threshold."""
        return larger_is_closer(self.kind)

    @property
    def units(self) -> str:
        """The units of thresholds: systems of equal kind and units share one."""
        return ResultThresholds(self.dataset).units

    @property
    def title(self) -> str:
        """The task in words, as the title of a section."""
        text = str(self.dataset.attrs.get("task", ""))
        if not text:
            text = self.task.replace("_", " ") or "results"
        return text[0].upper() + text[1:]

    @property
    def words(self) -> str:
        """The task in words, inside a sentence."""
        if self.title[1:2].isupper():
            return self.title
        return self.title[0].lower() + self.title[1:]

    @property
    def templates(self) -> str:
        """How many templates of a subject a claim is compared with; empty of other tasks."""
        return self.task.partition("/")[2] if self.task in BOTH else ""


def grouped(items: Iterable[_T], key: Callable[[_T], _Key]) -> dict[_Key, list[_T]]:
    """Return items by their key, in the order in which the keys come first."""
    groups: dict[_Key, list[_T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def parts_of(results: Any, name: str = "") -> list[PageItem]:
    """Return the datasets of a result: a Dataset, a DataTree, or a mapping of system to either."""
    parts: dict[tuple[str, str], PageItem] = {}
    found = list(_items(results, name))
    named = {part.system for part in found} - {_UNNAMED}
    for place, part in enumerate(found):
        if part.system == _UNNAMED and len(named) == 1 and part.task != OF_SYSTEMS:
            part = replace(part, system=next(iter(named)))
        if (part.system, part.task) in parts:
            raise DataError(
                f"two results are called {part.task!r} of {part.system!r}; name the systems in a "
                "mapping of name to result"
            )
        parts[part.system, part.task] = replace(part, place=place)
    if not parts:
        raise DataError("the results hold no dataset; expected the result of a function of bioeval")
    return sorted(parts.values(), key=_order)


def _order(part: PageItem) -> int:
    """Return the place of a task on the page; other results come last."""
    first = part.task.partition("/")[0]
    if first in TASKS:
        return TASKS.index(first)
    return len(TASKS) + (part.task != "threshold_study")


def _items(results: Any, name: str) -> Iterator[PageItem]:
    """Yield the datasets of the results of a system of this name, or of several."""
    if isinstance(results, list):
        for result in results:
            yield from _items(result, name)
        return
    if isinstance(results, Mapping) and not isinstance(results, xr.Dataset | xr.DataTree):
        for system, of_system in results.items():
            yield from _items(of_system, str(system))
        return
    if not isinstance(results, xr.Dataset | xr.DataTree):
        raise DataError(
            f"a report got {type(results).__name__}; expected a Dataset or a DataTree of results, "
            "a row of be.explain, or a mapping of name to these"
        )
    for path, dataset in datasets(results):
        if not dataset.data_vars:
            continue
        system, task = _split(path, dataset)
        system = "/".join(filter(None, (name, system)))
        system = system or str(dataset.attrs.get("system", "")) or _UNNAMED
        yield PageItem(printable(system), task, dataset)


def _split(path: str, dataset: xr.Dataset) -> tuple[str, str]:
    """Return the system and the task of a path, or the task that the dataset's variables show."""
    known = (*TASKS, "folds", *_OTHERS.values())
    words = list(filter(None, path.split("/")))
    system = list(takewhile(lambda word: word not in known, words))
    task = "/".join(words[len(system) :])
    if task in ("", "verification"):  # single- or multi-template, as it says itself
        task = _task_of(dataset)
    return "/".join(system), task


def _task_of(dataset: xr.Dataset) -> str:
    """Return the task of a dataset by its variables, else by what it says of itself."""
    for name, node in _OTHERS.items():
        if name in dataset:
            return node
    task = next((task for name, task in _TASKS.items() if name in dataset), "")
    if not task and ("gar" in dataset or "far" in dataset or "eer" in dataset):
        task = f"verification/{dataset.attrs.get('templates', 'single')}"
    if "fold" in dataset.dims:
        return f"folds/{task}"
    return task or str(dataset.attrs.get("result_type", "")) or "results"


def systems_of(parts: list[PageItem]) -> list[str]:
    """Return the systems, each once, in the order in which they were given.

    A comparison is of several systems, and none itself unless there is nothing else.
    """
    ordered = sorted(parts, key=lambda part: part.place)
    single = [part for part in ordered if part.task != OF_SYSTEMS]
    return list(grouped(single or ordered, lambda part: part.system))


def section_of(part: PageItem) -> str:
    """Return the section that a part is shown in: of both kinds of verification, of all folds."""
    return "verification" if part.task in BOTH else part.task.partition("/")[0]


def labelled(parts: list[PageItem]) -> list[PageItem]:
    """Return parts with their labels within a section: system, templates."""
    several = len(systems_of(parts)) > 1
    both = set(BOTH).issubset(grouped(parts, lambda part: part.task))
    with_labels = []
    for part in parts:
        said = [part.system] if several else []
        if both and part.templates:
            said.append(f"{part.templates}-template")
        with_labels.append(replace(part, label=", ".join(said)))
    return with_labels


def attempts_of(part: PageItem, name: str) -> int:
    """Return the number of attempts below a rate; 0 where unknown."""
    return int(part.dataset[name]) if name in part.dataset and not part.dataset[name].ndim else 0


def searches_of(part: PageItem) -> int:
    """Return the number of searches below a rate at ranks; 0 where unknown."""
    return attempts_of(part, "attempts") or attempts_of(part, "queries")


def doubts_of_systems(parts: list[PageItem]) -> list[tuple[str, Text]]:
    """Return the tasks in which systems do not share their attempts, with a warning of each."""
    doubts: list[tuple[str, Text]] = []
    first: dict[str, tuple[str, Text]] = {}
    for part in sorted(parts, key=lambda part: part.place):
        if part.task not in EVALUATED:
            continue
        genuine = value_of(part.dataset, "genuine_attempts")
        impostor = value_of(part.dataset, "impostor_attempts")
        if genuine is None or impostor is None:
            continue
        own = say(
            "{genuine:count} genuine and {impostor:count}", genuine=genuine, impostor=impostor
        )
        system, known = first.setdefault(part.task, (part.system, own))
        text: Text = str(part.dataset.attrs.get(NOT_SHARED, ""))
        if not text and own != known:
            text = say(
                "{a} and {b} have different attempts: {a} {known} impostor, {b} {own}",
                a=Label(system),
                b=Label(part.system),
                known=known,
                own=own,
            )
        if text:
            text = say(
                "{text}. Rates are of different data; bioeval compare uses the common data",
                text=text,
            )
            if (part.title, text) not in doubts:
                doubts.append((part.title, text))
    return doubts


#: Types of arrays that a browser has, by the name that the page gives them.
_TYPES = {"f8": np.float64, "u2": np.uint16, "u4": np.uint32}


class ArrayStore:
    """Collects arrays; equal ones are stored once."""

    def __init__(self) -> None:
        self._block = bytearray()
        self._places: dict[bytes, dict] = {}

    def add(self, values: np.ndarray) -> dict:
        """Store numbers as float64, a few repeated values once, and return their place."""
        values = np.ascontiguousarray(values, dtype=np.float64)
        place: dict
        unique, inverse = np.unique(values, return_inverse=True, equal_nan=True)
        if len(unique) <= len(values.ravel()) // 4 and len(unique) < 1 << 16:
            place = {"values": self._put(unique, "f8"), "at": self._put(inverse.ravel(), "u2")}
        else:
            place = {"values": self._put(values.ravel(), "f8")}
        return {**place, "shape": list(values.shape)}

    def add_all(self, arrays: Mapping[str, np.ndarray]) -> dict[str, dict]:
        """Store arrays, and return the place of each by its name."""
        return {name: self.add(values) for name, values in arrays.items()}

    def pixels(self, values: np.ndarray) -> dict:
        """Store places in a picture, in tenths of a unit; NaN becomes a place outside."""
        tenths = np.where(np.isfinite(values), np.clip(np.round(10 * values), 0, 65534), 65535)
        return {"values": self._put(tenths.ravel(), "u2"), "shape": list(values.shape)}

    def text(self) -> str:
        """Return the block, compressed, as base64."""
        return base64.b64encode(zlib.compress(bytes(self._block), 9)).decode("ascii")

    def _put(self, values: np.ndarray, name: str) -> list:
        """Append an array and return its type, its first byte and its length."""
        raw = np.ascontiguousarray(values).astype(np.dtype(_TYPES[name]).newbyteorder("<"))
        key = name.encode() + raw.tobytes()
        if key not in self._places:
            self._block += bytes(-len(self._block) % 8)
            self._places[key] = {"at": [name, len(self._block), raw.size]}
            self._block += raw.tobytes()
        return self._places[key]["at"]


#: Ranks that the control of the page reaches, at most.
MOST_RANKS = 100

#: Rates of the live table, in its order, with the variables of their count and their attempts.
RATES = {
    "dir": ("", "genuine_attempts"),
    "far": ("fa", "impostor_attempts"),
    "frr": ("fr", "genuine_attempts"),
    "gar": ("ga", "genuine_attempts"),
    "grr": ("gr", "impostor_attempts"),
    "cms": ("cms_count", "attempts"),
    "cmc": ("cmc_count", "queries"),
}

#: Variables over the threshold, which rates at a single threshold have without this dimension.
_AT_THRESHOLD = {
    *("di", "ga", "gr", "fa", "fr"),
    *(
        f"{rate}{end}"
        for rate in ("dir", "far", "frr", "gar", "grr")
        for end in ("", "_low", "_high")
    ),
}


@dataclass(frozen=True)
class LivePart:
    """A dataset that has a row for each threshold, each rank, or each of both."""

    number: int
    part: PageItem
    thresholds: np.ndarray  # increasing; empty where it has none
    columns: dict[str, np.ndarray] = field(repr=False)  # over thresholds
    ranked: dict[str, np.ndarray] = field(repr=False)  # over thresholds and ranks
    by_rank: dict[str, np.ndarray] = field(repr=False)  # over ranks
    ranks: int = 0  # 1 to this

    @classmethod
    def of(cls, number: int, part: PageItem) -> LivePart | None:
        """Take the rows of a dataset; None where it has neither thresholds nor ranks."""
        thresholds, single = np.empty(0), False
        coordinate = part.dataset.coords.get("threshold")
        if coordinate is not None and coordinate.dims in ((), ("threshold",)):
            thresholds, single = np.atleast_1d(coordinate.values).astype(float), not coordinate.dims
        variables: dict[tuple[str, ...], dict[str, np.ndarray]] = {}
        for name, values in part.dataset.data_vars.items():
            if values.dtype.kind not in "iufb":
                continue
            dims, array = tuple(map(str, values.dims)), values.values
            if single and name in _AT_THRESHOLD:
                dims, array = ("threshold", *dims), array[None]
            variables.setdefault(dims, {})[str(name)] = array
        over = bool(np.isfinite(thresholds).any())
        columns = variables.get(("threshold",), {}) if over else {}
        if not columns:
            thresholds = np.empty(0)
        by_rank = variables.get(("rank",), {})
        if not columns and not by_rank:
            return None
        ranks = []
        if "rank" in part.dataset.coords:
            ranks = part.dataset["rank"].values.tolist()
        ranked = {}
        if ranks != list(range(1, len(ranks) + 1)):
            ranks, by_rank = [], {}
        elif over:
            for key, array in variables.get(("threshold", "rank"), {}).items():
                ranked[key] = array[:, :MOST_RANKS]
        return cls(number, part, thresholds, columns, ranked, by_rank, ranks=len(ranks))

    @property
    def group(self) -> tuple[str, str]:
        """Name of the group of parts that share a threshold: one system, in the same units."""
        return self.part.system, self.part.units

    @cached_property
    def outside(self) -> int:
        """The row for thresholds stricter than all; -1 unless the strictest rejects all."""
        last = len(self.thresholds) - 1 if self.part.accepts_larger else 0
        if not {"far", "frr"} <= set(self.columns):
            return -1
        if self.columns["far"][last] == 0 and self.columns["frr"][last] == 1:
            return last
        return -1

    def row(self, threshold: float) -> int:
        """Return the row that applies at a threshold: the nearest not looser; -1 for none."""
        if np.isnan(threshold):
            return -1
        larger = self.part.accepts_larger
        row = int(np.searchsorted(self.thresholds, threshold, "left" if larger else "right"))
        row -= not larger
        if 0 <= row < len(self.thresholds):
            return row
        return self.outside

    def row_at_far(self, far: float) -> int:
        """Return the loosest row whose FAR is at most this, the strictest of equals, or -1."""
        within = np.flatnonzero(self.columns["far"] <= far)
        if not len(within):
            return -1
        loosest = within[0] if self.part.accepts_larger else within[-1]
        same = np.ones(len(self.thresholds), dtype=bool)
        for name in ("far", "frr"):
            if name in self.columns:
                same &= self.columns[name] == self.columns[name][loosest]
        equal = np.flatnonzero(same)
        return int(equal[-1] if self.part.accepts_larger else equal[0])

    def has(self, name: str) -> bool:
        """Whether a variable changes with the threshold or the rank."""
        return name in self.columns or name in self.ranked or name in self.by_rank

    def payload(self, store: ArrayStore) -> dict[str, Any]:
        """Return the rows as data for the script of the page."""
        return {
            "system": self.part.system,
            "task": self.part.task,
            "group": "\n".join(self.group),
            "larger": self.part.accepts_larger,
            "outside": self.outside if len(self.thresholds) else -1,
            "threshold": store.add(self.thresholds),
            "columns": store.add_all(self.columns),
            "ranked": store.add_all(self.ranked),
            "byRank": store.add_all(self.by_rank),
        }


@dataclass(frozen=True)
class LiveRow:
    """A live part at the row at which the page opens."""

    live: LivePart
    row: int  # -1 for none

    @property
    def part(self) -> PageItem:
        """The result that it is of."""
        return self.live.part

    @property
    def threshold(self) -> float:
        """The threshold of the row."""
        return float(self.live.thresholds[self.row]) if self.row >= 0 else np.nan

    def value(self, name: str) -> float | int:
        """Return a variable at the row, or at rank 1; NaN where it has none."""
        by_rank = self.live.by_rank.get(name)
        if by_rank is None:
            if self.row < 0:
                return np.nan
            if name not in self.live.ranked:
                return self.live.columns[name][self.row].item()
            by_rank = self.live.ranked[name][self.row]
        if len(by_rank):
            return by_rank[0].item()
        return np.nan


@dataclass(frozen=True)
class Chosen:
    """The operating point at which the page opens."""

    threshold: float  # of the rows of the leading part
    target: float | None  # the FAR that it is chosen for; None for the equal error rate
    exact: float  # the attainable threshold itself, between two rows where rows were given
    rule: Text = ""  # in words, of one that was not chosen for a rate
    given: bool = False  # whether a user gave it, so that it was chosen for no rate
    fixed: bool = False  # whether it is that of a study which was given one
    why: Text = ""  # a sentence: how far the data support its FAR target, or that they support none


class LiveState:
    """The live parts of a page, and their rows when the page opens."""

    def __init__(self, parts: list[PageItem]):
        """Choose the leader, its operating point, and of each group the part that others follow."""
        self.parts = []
        for i, item in enumerate(parts):
            live = LivePart.of(i, item)
            if live is not None:
                self.parts.append(live)
        moved = [part for part in self.parts if len(part.thresholds)]
        self.leader: LivePart | None = None
        self.chosen: Chosen | None = None
        if moved:
            of_first = [part for part in moved if part.part.system == moved[0].part.system]
            self.leader = min(of_first, key=_precedence)
            self.chosen = _chosen_by_study(self.leader, parts) or _choose(self.leader)
            if self.leader.row(self.chosen.exact) < 0 or len(self.leader.thresholds) == 1:
                self.chosen = _strictest(self.leader)
        self.anchors: dict[tuple[str, str], LivePart] = {}
        for part in sorted(moved, key=lambda x: x.part.task != "verification/single"):
            known = self.anchors.get(part.group)
            if known is None or ("far" in part.columns and "far" not in known.columns):
                self.anchors[part.group] = part
        #: The thresholds that the studies of systems answer with, as they were found.
        self.answers = _answers(parts)
        #: The threshold of the study of a group's own system, of groups that have one.
        self.of_study: dict[tuple[str, str], float] = {}
        for group, anchor in self.anchors.items():
            chosen = _chosen_by_study(anchor, parts)
            if chosen is not None and anchor.row(chosen.exact) >= 0:
                self.of_study[group] = chosen.threshold

    @cached_property
    def limits(self) -> tuple[float, float]:
        """The smallest and the largest finite threshold of the leader."""
        if self.leader is None:
            return 0.0, 1.0
        finite = self.leader.thresholds[np.isfinite(self.leader.thresholds)]
        return float(finite[0]), float(finite[-1])

    @property
    def most_ranks(self) -> int:
        """The largest rank of the control; 0 without ranks."""
        return min(MOST_RANKS, max((part.ranks for part in self.parts), default=0))

    def follows(self, part: LivePart) -> bool:
        """Return whether a part is at the leader's threshold: of its system, in its units."""
        return self.leader is not None and part.group == self.leader.group

    def shares_units(self, part: LivePart) -> bool:
        """Return whether a part can use the threshold of the leader on request."""
        return self.leader is not None and part.part.units == self.leader.part.units

    def thresholds(self) -> dict[tuple[str, str], float]:
        """Return the threshold of each group when the page opens."""
        if self.leader is None or self.chosen is None:
            return {}
        far = self.chosen.target
        if far is None:
            far = self.far
        thresholds = {}
        for group, anchor in self.anchors.items():
            if self.follows(anchor):
                thresholds[group] = self.chosen.threshold
            elif group in self.of_study:
                thresholds[group] = self.of_study[group]
            elif np.isnan(far) and self.shares_units(anchor):
                thresholds[group] = self.chosen.threshold
            elif self.chosen.given:
                thresholds[group] = _strictest(anchor).threshold
            elif "far" in anchor.columns:
                thresholds[group] = LiveRow(anchor, anchor.row_at_far(far)).threshold
            else:
                thresholds[group] = float(anchor.thresholds[len(anchor.thresholds) // 2])
        return thresholds

    @property
    def far(self) -> float:
        """The FAR of the leader when the page opens; NaN where it has none."""
        if self.leader is None or self.chosen is None or "far" not in self.leader.columns:
            return np.nan
        row = self.leader.row(self.chosen.threshold)
        return float(LiveRow(self.leader, row).value("far"))

    @cached_property
    def rows(self) -> list[LiveRow]:
        """Each part at the row where the page opens."""
        rows = []
        thresholds = self.thresholds()
        for part in self.parts:
            row = -1
            if len(part.thresholds):
                row = part.row(thresholds.get(part.group, np.nan))
            rows.append(LiveRow(part, row))
        return rows

    def row_of(self, part: PageItem | None) -> LiveRow | None:
        """Return the row of a part where the page opens; None of one that does not move."""
        for at in self.rows:
            if at.part is part:
                return at
        return None


def _precedence(part: LivePart) -> tuple[bool, bool]:
    """Return the order in which parts lead: single-template verification, then those with a FAR."""
    return part.part.task != "verification/single", "far" not in part.columns


def _chosen_by_study(leader: LivePart, parts: list[PageItem]) -> Chosen | None:
    """Return the threshold of a study of the leader's own system: assured, or by its rule."""
    for part in parts:
        if part.system != leader.part.system or part.task != "threshold_study":
            continue
        if ("unenrolled_people" in part.dataset) != (leader.part.task == "open_set"):
            continue
        exact = float(part.dataset.get("assured_threshold", np.nan))
        if np.isfinite(exact):
            return Chosen(_row_of(leader, exact), None, exact, "the assured one")
        exact = float(part.dataset.get("threshold", np.nan))
        if not np.isfinite(exact):
            continue
        rule = Rule.written(str(part.dataset.attrs["threshold_rule"]))
        if rule.name != "far":
            words: Text = ""
            if rule.name == "fixed":
                words = "the given one"
            elif rule.name != "eer":
                words = say(
                    "that of {rule}", rule=str(part.dataset.attrs["threshold_rule_in_words"])
                )
            fixed = rule.name == "fixed"
            return Chosen(_row_of(leader, exact), None, exact, words, fixed=fixed)
        (target,) = rule.values
        usual = _choose(leader)
        why = usual.why
        if usual.target != target:
            why = _doubt_of(leader.part.dataset, target)
        if "assure" in part.dataset.attrs:  # and was refused
            why = say("It is without a promise.{why}", why=say(" {why}", why=why) if why else "")
        return Chosen(_row_of(leader, exact), target, exact, why=why)
    return None


def _answers(parts: list[PageItem]) -> dict[str, float]:
    """Return the threshold that the study of each system answers with, assured if it can be."""
    answers = {}
    for part in parts:
        if part.task != "threshold_study":
            continue
        for name in ("threshold", "assured_threshold"):
            value = float(part.dataset.get(name, np.nan))
            if np.isfinite(value):
                answers[part.system] = value
    return answers


def _choose(leader: LivePart) -> Chosen:
    """Choose the strictest FAR target that the data support, or else the equal error rate.

    Other systems are at the loosest threshold of their own with the same FAR.
    """
    dataset = leader.part.dataset
    why: Text = ""
    name = "threshold_at_far"
    if name in dataset and "expected_false_accepts" in dataset:
        limits = dataset[name]
        if "rank" in limits.dims:
            limits = limits.isel(rank=0)
        kept = _rules_kept(dataset)
        exact_of = dict(zip(dataset["far_target"].values.tolist(), limits.values, strict=True))
        for rule in RULES:
            fits = [x for x in kept if kept[x] == rule and np.isfinite(exact_of[x])]
            if fits:
                target = min(fits)
                exact = float(exact_of[target])
                why = reason_for_target(target, rule, people_of(dataset))
                return Chosen(_row_of(leader, exact), target, exact, why=why)
        if kept and not any(kept.values()):
            why = none_supported([*kept], people_of(dataset))
    if "eer_threshold" in dataset and np.isfinite(float(dataset["eer_threshold"])):
        exact = float(dataset["eer_threshold"])
        return Chosen(_row_of(leader, exact), None, exact, why=why)
    if "tau_max" in dataset and np.isfinite(float(dataset["tau_max"])):
        exact = float(dataset["tau_max"])
        largest = "the threshold of the largest mReP"
        return Chosen(_row_of(leader, exact), None, exact, largest, given=True)
    middle = float(leader.thresholds[len(leader.thresholds) // 2])
    return Chosen(middle, None, np.nan)


def _strictest(leader: LivePart) -> Chosen:
    """Choose the strictest threshold of a result that has none for an operating point."""
    strictest = float(leader.thresholds[-1 if leader.part.accepts_larger else 0])
    rule = "the strictest threshold"
    if len(leader.thresholds) == 1:
        rule = "the only threshold"
    return Chosen(strictest, None, strictest, rule, given=True)


def _rules_kept(dataset: xr.Dataset) -> dict[float, RuleOf | None]:
    """Return the more demanding rule that supports each FAR target of a result, besides 0."""
    people, targets = people_of(dataset), dataset["far_target"].values.tolist()
    expected = dataset["expected_false_accepts"].values.tolist()
    return {x: rule_kept(x, n, people) for x, n in zip(targets, expected, strict=True) if x > 0}


def _doubt_of(dataset: xr.Dataset, target: float) -> Text:
    """Return a sentence on the FAR target of a study that the data do not support, or not well."""
    if "expected_false_accepts" not in dataset:
        return ""
    people = people_of(dataset)
    positive = dataset["far_target"].values > 0
    attempts = (dataset["expected_false_accepts"] / dataset["far_target"]).values[positive]
    if not len(attempts):
        return ""
    kept = rule_kept(target, target * float(attempts[0]), people)
    return doubt_of_target(target, kept, people)


def _row_of(leader: LivePart, threshold: float) -> float:
    """Return the threshold of the row that applies at a threshold, if finite."""
    row = leader.row(threshold)
    if row >= 0:
        of_row = float(leader.thresholds[row])
        if np.isfinite(of_row):
            return of_row
    return threshold
