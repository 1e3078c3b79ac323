"""Saved tallies: files of counts, checked before they are used."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np

from bioeval import DataError
from bioeval.base import offered
from bioeval.document import Message
from bioeval.evaluation import TaskCounts
from bioeval.protocol import ClosedSet, OpenSet
from bioeval.scores import Provenance, guarded
from bioeval.studies.reid.counts import GomTally, ReidTally
from bioeval.studies.reid.matches import MatchLists
from bioeval.studies.sites.file_values import is_array, is_increasing, is_table, is_whole, rises
from bioeval.studies.sites.folded import (
    VALUE_BINS,
    FoldedIdentification,
    FoldedQueries,
    FoldedVerification,
)
from bioeval.studies.sites.gallery_parts import GalleryPart
from bioeval.studies.sites.results import FOLDED_MEANS
from bioeval.studies.sites.sharing import Sharing, distinct_tallies
from bioeval.studies.sites.template_digests import CountedProbes
from bioeval.tallies import (
    Attempts,
    ExactSums,
    IdentificationTally,
    VerificationTally,
    check_max_rank,
    kind_of_counts,
    read_counts,
    write_counts,
)

# What a tally has beside the counts of its tasks.
_MORE_FIELDS = ("counted", "part", "shared")

# The tallies of tasks that the core and re-identification count, and what stands beside them.
_WRITTEN = (
    *(VerificationTally, IdentificationTally, ReidTally, GomTally),
    *(FoldedVerification, FoldedIdentification, FoldedQueries),
    *(CountedProbes, ExactSums, GalleryPart, Sharing),
)


def _classes_in(kind: Any) -> Iterator[type]:
    """Yield a class and those of its fields, theirs too: what a saved one is made of."""
    if is_dataclass(kind) and isinstance(kind, type):
        yield kind
        for content in get_type_hints(kind).values():
            yield from _classes_in(content)
    for part in get_args(kind):  # of `Kind | None`
        yield from _classes_in(part)


#: The classes that a file may hold.
_CLASSES: dict[str, Any] = {
    kind.__name__: kind for written in _WRITTEN for kind in _classes_in(written)
}


_FILE_KIND = "a saved tally"


def write_tally(path: str | os.PathLike[str], tally: Any) -> None:
    """Write a `Tally`; the file appears whole or not at all."""
    tallies = distinct_tallies(tally.parts)
    places = {id(counts): place for place, counts in enumerate(tallies)}
    nodes = {}
    for node, task in tally.parts.items():
        nodes[node] = {"tally": places[id(task.tally)], "options": task.plain_options()}
    contents = {
        "protocol": tally.protocol,
        "far_targets": tally.far_targets.tolist(),
        "ranks": list(tally.ranks),
        "nodes": nodes,
        "tallies": tallies,
        **{name: getattr(tally, name) for name in _MORE_FIELDS},
        "discloses": tally.disclosed(),
    }
    write_counts(path, "tallies", contents, _CLASSES)


def read_tally(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the attributes of a saved tally: protocol, parts, far_targets, ranks and counted.

    Raise :class:`DataError` if the file is missing, truncated, or no tally.
    """
    file = read_counts(path, "tallies", _FILE_KIND, _CLASSES)
    contents = file.contents
    with guarded(Path(path), expected=_FILE_KIND):
        tallies, nodes = contents["tallies"], contents["nodes"]
        tasks = {node: (tallies[task["tally"]], task["options"]) for node, task in nodes.items()}
        known = {name: contents[name] for name in ("protocol", "far_targets", "ranks")}
        more = {name: contents[name] for name in _MORE_FIELDS}
        part, shared = more["part"], more["shared"]
        wrong = _wrong_tasks(tasks) or _wrong_header(**known)
        if part is not None:
            right = type(part) is GalleryPart and _as_annotated(part) and bool(part.covered)
            wrong = wrong or ("" if right else "the part of the gallery is damaged")
        if shared is not None:
            right = type(shared) is Sharing and _as_annotated(shared)
            wrong = wrong or ("" if right else "its record of sharing is damaged")
        wrong = wrong or _wrong_probes(more["counted"], shared, tallies)
        wrong = wrong or file.damage()
    if wrong:
        raise DataError(f"{path}: the tally is damaged: {wrong}")
    parts = {node: TaskCounts(tally, dict(options)) for node, (tally, options) in tasks.items()}
    return {**known, "parts": parts, **more}


def holds_mates(path: str | os.PathLike[str]) -> bool:
    """Whether a file holds mates of a gallery in parts, and not a tally.

    Raise :class:`DataError` if the file is missing, truncated, or neither.
    """
    return kind_of_counts(path, f"{_FILE_KIND}, or mates of a gallery in parts") == "mates"


def _wrong_header(protocol: Any, far_targets: Any, ranks: Any) -> str:
    """Return what is wrong with the header, or an empty string; so do the checks below."""
    right = isinstance(protocol, str) and isinstance(far_targets, list) and isinstance(ranks, list)
    if right:
        right = all(isinstance(x, (int, float)) and 0 <= x <= 1 for x in far_targets)
        right = right and all(isinstance(k, int) and k >= 1 for k in ranks)
    return "" if right else "its header names no protocol, FAR targets or ranks"


def _wrong_probes(counted: Any, shared: Any, tallies: list[Any]) -> str:
    """Check the digests of the probes that all tallies of a file have counted."""
    wrong = "the digests of its probes are damaged"
    if counted is None:  # they are left out where a tally is shared without a salt
        return wrong if shared is None or shared.salted else ""
    if type(counted) is not CountedProbes or not _as_annotated(counted):
        return wrong
    digests: list[Any] = [counted.probes]
    if counted.people is not None or counted.scores is not None:
        digests += [counted.people, counted.scores]
    for each in digests:
        if not is_array(each, "u") or each.dtype != np.uint64 or len(each) != len(counted.probes):
            return wrong
    return "" if {len(counted.probes)}.issuperset(t.about.probes for t in tallies) else wrong


# The tallies that each task may have.
_NODES: dict[str, tuple[type, ...]] = {
    "verification/single": (VerificationTally, FoldedVerification),
    "verification/multi": (VerificationTally, FoldedVerification),
    "open_set": (IdentificationTally, FoldedIdentification),
    "closed_set": (IdentificationTally, FoldedIdentification),
    "reid": (ReidTally, FoldedQueries),
    "gom": (GomTally, FoldedQueries),
}
_SEARCHES: dict[str, type[OpenSet | ClosedSet]] = {"open_set": OpenSet, "closed_set": ClosedSet}
_OPTIONS = {
    *("note", "thresholds", "far_targets", "max_rank", "ties", "impostors", "unmated"),
    *("ap", "unmatched", "rank_k", "rank_k_over", "precision_over", "budget", "variant"),
}

#: Means over queries that a folded tally may hold.
_MEANS = {*FOLDED_MEANS, "mrep", "mvp", "mfr"}

_FLOATS = ("mate", "other", "nearest_mate", "nearest_other")


def _wrong_tasks(nodes: dict[str, tuple[Any, Any]]) -> str:
    """Return what is wrong with the (tally, options) of each node, or an empty string."""
    if not nodes:
        return "it holds no task"
    for node, (tally, options) in nodes.items():
        if node not in _NODES:
            return f"it holds an unknown task {node!r}"
        if not isinstance(options, dict) or not set(options) <= _OPTIONS:
            return f"the options of {node} are not those of a task"
        study = offered("saved", type(tally).__name__)
        if type(tally) not in _NODES[node] and (study is None or node not in study.NODES):
            return f"{node} does not hold the counts of its task"
        check = _CHECKS[type(tally)] if study is None else study.damage
        wrong = _about(tally.about) or check(tally) or _search(node, options, tally.about)
        if wrong:
            return f"{node}: {wrong}"
    return ""


def _search(node: str, options: dict[str, Any], about: Provenance) -> str:
    """Return what is wrong with the options of a search."""
    section = _SEARCHES.get(node)
    if section is None:
        return ""
    try:
        search = section(**{x: options[x] for x in section.fields() if x in options})
        check_max_rank(search.max_rank, about.gallery_templates)
    except DataError as error:
        return str(error)
    return ""


def _about(about: Any) -> str:
    if type(about) is not Provenance:
        return "the description of its data is missing"
    return "" if _as_annotated(about) else "the description of its data is damaged"


def _are_texts(values: Any) -> bool:
    return all(isinstance(x, str) for x in values)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


# What a field holds, by its annotation: counts from 0, and numbers that JSON may have made whole.
_HOLDS: dict[str, Callable[[Any], bool]] = {
    "str": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
    "bool | None": lambda value: isinstance(value, bool | None),
    "int": is_whole,
    "float": _is_number,
    "frozenset": lambda value: isinstance(value, frozenset) and _are_texts(value),
    "tuple[str, ...]": lambda value: isinstance(value, tuple) and _are_texts(value),
    "tuple[Message, ...]": lambda value: (
        isinstance(value, tuple) and all(isinstance(x, Message) for x in value)
    ),
    "dict[str, float]": lambda value: all(map(_is_number, dict(value).values())),
    "tuple[tuple[float, float], ...]": lambda value: (
        isinstance(value, tuple) and all(len(x) == 2 and all(map(_is_number, x)) for x in value)
    ),
    "EqualError": lambda value: type(value) is _CLASSES["EqualError"] and _as_annotated(value),
}


def _as_annotated(value: Any, but: str = "") -> bool:
    """Whether the fields that are no arrays or counts hold what they say, `but` one."""
    for field in fields(value):
        holds = _HOLDS.get(str(field.type))
        if holds is not None and field.name != but and not holds(getattr(value, field.name)):
            return False
    return True


def _are_counts(value: Any) -> bool:
    """Whether a value is a list of whole numbers of at least 0."""
    return is_array(value, "i") and not (value < 0).any()


def _verification(tally: VerificationTally) -> str:
    """Check attempts of verification, their operating points and the scores around these."""
    genuine, cells, at_thresholds = tally.genuine, tally.impostor, tally.given
    if not is_array(genuine, "f") or np.isnan(genuine).any() or not rises(genuine, strictly=False):
        return "the genuine scores are not an increasing list of numbers"
    if type(cells) is not _CLASSES["CellCounts"] or not _are_counts(cells.counts):
        return "the impostor counts are not whole numbers of at least 0"
    whole = is_whole(cells.negative_infinite) and is_whole(cells.positive_infinite)
    if not (whole and isinstance(cells.first, int) and isinstance(cells.exponent, int)):
        return "the cells of the impostor counts are damaged"
    if len(cells.counts) and not (cells.counts[0] and cells.counts[-1]):
        return "the impostor counts have empty cells at their ends"
    if at_thresholds is not None:
        right = type(at_thresholds) is _CLASSES["ThresholdCounts"] and is_array(
            at_thresholds.thresholds, "f"
        )
        right = (
            right
            and _are_counts(at_thresholds.counts)
            and rises(at_thresholds.thresholds, strictly=True)
        )
        if not right or len(at_thresholds.counts) != len(at_thresholds.thresholds) + 1:
            return "the counts between thresholds are damaged"
    unenrolled = tally.unenrolled
    if unenrolled is not None and not (
        is_array(unenrolled, "f") and rises(unenrolled, strictly=False)
    ):
        return "the scores of claims by probes who are not enrolled are not an increasing list"
    people = tally.people
    if people is not None and not (
        type(people) is tuple and len(people) == 2 and all(map(is_whole, people))
    ):
        return "the numbers of its subjects are damaged"
    if tally.points is not None and not _points(tally.points):
        return "the operating points are damaged"
    if tally.kept is not None and not _kept(tally.kept, cells):
        return "the scores that were kept are damaged"
    if not _as_annotated(tally):
        return "the options it was counted with are damaged"
    return _attempts_disagree(tally)


def _attempts_disagree(tally: VerificationTally) -> str:
    """Return which numbers of attempts of verification disagree."""
    genuine, cells, at_thresholds, points = tally.genuine, tally.impostor, tally.given, tally.points
    if at_thresholds is not None and at_thresholds.total != cells.total:
        return (
            f"the impostor attempts between thresholds are {at_thresholds.total:,}, those in cells "
            f"{cells.total:,}"
        )
    pairs = tally.about.probes * (tally.about.gallery_templates or 1)
    if len(genuine) + cells.total > pairs:
        return (
            f"{len(genuine):,} genuine and {cells.total:,} impostor attempts are more than the "
            f"{pairs:,} comparisons"
        )
    unenrolled = tally.unenrolled
    if unenrolled is not None and (np.isnan(unenrolled).any() or len(unenrolled) > cells.total):
        return "the claims by probes who are not enrolled are more than the impostor attempts"
    if points is None:
        return ""
    bins = Attempts.of_cells(np.empty(0), cells)
    below = np.append(0, np.cumsum(bins.counts))
    first = np.searchsorted(bins.edges, points.rows, "right")
    last = np.searchsorted(bins.edges, points.rows, "left")
    few, many = below[first], below[np.minimum(last + 1, len(bins.edges))]
    if ((points.rows_fa < few) | (points.rows_fa > many)).any():
        return "the false accepts at the operating points disagree with the impostor attempts"
    frr, limits = np.asarray(points.frr_at_far), np.asarray(points.threshold_at_far)
    known = np.isfinite(frr) & np.isfinite(limits)
    rejected = len(genuine) - np.searchsorted(genuine, limits[known], side="right")
    if (np.abs(rejected - frr[known] * len(genuine)) > 1e-6 * len(genuine)).any() or (
        known.any() and not len(genuine)
    ):
        return "the false rejects at the operating points disagree with the genuine attempts"
    return ""


def _points(points: Any) -> bool:
    """Check operating points: numbers, and lists by target and by cost."""
    if type(points) is not _CLASSES["VerificationPoints"]:
        return False
    right = _as_annotated(points)
    right = right and is_array(points.rows, "f") and bool(np.isfinite(points.rows).all())
    right = right and _are_counts(points.rows_fa) and len(points.rows_fa) == len(points.rows)
    if not right or not rises(points.rows, strictly=True):
        return False
    for at, value, threshold in (
        (points.far_target, points.frr_at_far, points.threshold_at_far),
        (points.frr_target, points.far_at_frr, points.threshold_at_frr),
        (points.costs, points.min_cost, points.min_cost_threshold),
    ):
        targets = np.asarray(at)
        columns = (3,) if at is points.costs else ()
        if targets.dtype.kind != "f" or targets.shape[1:] != columns:
            return False
        for each in (value, threshold):
            if not is_array(each, "f") or len(each) != len(targets):
                return False
    return True


def _kept(kept: Any, cells: Any) -> bool:
    if type(kept) is not _CLASSES["KeptScores"] or not _as_annotated(kept):
        return False
    right = is_array(kept.lows, "f") and is_array(kept.highs, "f") and is_array(kept.scores, "f")
    right = right and is_array(kept.targets, "f") and _are_counts(kept.below)
    right = right and isinstance(kept.costs, np.ndarray) and kept.costs.dtype.kind == "f"
    bins = Attempts.of_cells(np.empty(0), cells)
    return right and kept.agrees(bins.edges, bins.counts)


def _identification(tally: IdentificationTally) -> str:
    """Check the facts of each probe: lists of one length."""
    lengths = set()
    for name, value in vars(tally).items():
        if name in ("about", "rank_unit", "fusion"):
            continue
        kind = "f" if name in _FLOATS else "b" if name == "enrolled" else "i"
        if not is_array(value, kind) or (kind == "i" and (value < 0).any()):
            return f"{name} is not a list of the right numbers"
        lengths.add(len(value))
    if len(lengths) != 1:
        return "its lists differ in length"
    if not _as_annotated(tally):
        return "the options it was counted with are damaged"
    return _ranks_disagree(tally)


def _ranks_disagree(t: IdentificationTally) -> str:
    """Return which facts of probes disagree; the mates of a part of a gallery may be elsewhere."""
    both = ~np.isnan(t.mate) & (t.others > 0)
    wrong = {
        "mate and mates": np.isnan(t.mate) & (t.mates > 0),
        "other and others": np.isnan(t.other) != (t.others == 0),
        "nearest_mate and mates": np.isnan(t.nearest_mate) & (t.mates > 0),
        "nearest_other and others": np.isnan(t.nearest_other) != (t.others == 0),
        "mates_tied and mates": t.mates_tied > t.mates,
        "closer, tied and others": t.closer + t.tied > t.others,
        "tied_before and tied": t.tied_before > t.tied,
        "closer, mate and other": both & ((t.closer > 0) != (t.other < t.mate)),
        "tied, mate and other": both & (t.closer == 0) & ((t.tied > 0) != (t.other == t.mate)),
    }
    for facts, places in wrong.items():
        if places.any():
            first = int(np.flatnonzero(places)[0])
            return f"{facts} disagree for {int(places.sum()):,} probes, the first is {first}"
    return ""


def _folded(tally: FoldedVerification | FoldedIdentification) -> str:
    """Check counts on a fixed grid."""
    limits = tally.thresholds
    if not is_increasing(limits):
        return "the thresholds are not an increasing list of numbers"
    if not isinstance(tally.merged, bool):
        return "the options it was folded with are damaged"
    bins = len(limits) + 1
    shapes: dict[str, tuple[int, ...]] = {"genuine": (bins,), "impostor": (bins,)}
    if isinstance(tally, FoldedIdentification):
        ranks = tally.ranks
        right = is_array(ranks, "i") and len(ranks) > 0
        if not right or ranks[0] < 1 or not rises(ranks, strictly=True):
            return "the ranks are not an increasing list of numbers"
        shapes = {"di": (bins, len(ranks) + 1), "within": (5, bins)}
        if not is_whole(tally.tied + 1):  # -1: unknown
            return "the options and numbers it was folded with are damaged"
    if not _as_annotated(tally, but="tied"):
        return "the options and numbers it was folded with are damaged"
    for name, shape in shapes.items():
        table = getattr(tally, name)
        right = isinstance(table, np.ndarray) and table.dtype == np.int64 and table.shape == shape
        if not right or (table < 0).any():
            return f"{name} is not a table of counts"
    return ""


def _folded_queries(tally: FoldedQueries) -> str:
    """Check counts of queries by value and rank."""
    limits, ranks, measures = tally.thresholds, tally.ranks, tally.measures
    if not is_increasing(limits):
        return "the thresholds are not an increasing list of numbers"
    if not is_array(ranks, "i") or not rises(ranks, strictly=True) or (ranks < 1).any():
        return "the ranks are not an increasing list of numbers"
    if not (_as_annotated(tally) and {*measures} <= _MEANS and measures):
        return "the options and numbers it was folded with are damaged"
    shape = len(measures) * max(1, len(limits)), VALUE_BINS + 1
    for name, kind in (("values", np.int64), ("ends", np.bool_)):
        table = getattr(tally, name)
        if not isinstance(table, np.ndarray) or table.dtype != kind or table.shape != shape:
            return f"{name} is not a table of counts"
    if (tally.values < 0).any() or not tally.ends[:, -1].all():
        return "values is not a table of counts"
    if not _are_counts(tally.first) or len(tally.first) != len(ranks) + 1:
        return "first is not a list of counts"
    return ""


def _retrieval(tally: ReidTally) -> str:
    """Check matches of re-identification, and what each way of counting the CMC has beside."""
    if not _as_annotated(tally):
        return "the convention it was counted with is damaged"
    if not is_array(tally.enrolled, "b") or not _are_counts(tally.removed_entries):
        return "its record of queries is damaged"
    queries = len(tally.enrolled)
    if not is_array(tally.left_out, "b") or len(tally.left_out) != queries:
        return "its record of queries is damaged"
    if len(tally.removed_entries) != queries:
        return "its lists differ in length"
    if tally.subject_of_query is not None:
        return "it numbers the subjects of its queries, which no file holds"
    for lists in (tally.matches, tally.cmc_matches):
        if lists is not None and not _match_lists(lists, queries):
            return "the matches of its queries are damaged"
    if (tally.thresholds is not None or tally.retrieved is not None) and not _retrieved(tally):
        return "the numbers of retrieved entries are not a table over increasing thresholds"
    shots, identities = tally.shots, tally.identities
    if (shots is None) == (tally.cmc == "single-gallery-shot"):
        return "its single shots are missing, or should not be there"
    if (identities is None) == (tally.cmc == "identity-dedup"):
        return "its ranks of identities are missing, or should not be there"
    if shots is not None and not (
        is_array(shots, "f", 2)
        and len(shots) == queries
        and ((shots >= 0) & (shots <= 1 + 1e-9)).all()
    ):
        return "its single shots are damaged"
    if identities is not None and not (
        is_array(identities, "i", 2)
        and identities.shape == (queries, 3)
        and (identities >= 0).all()
    ):
        return "its ranks of identities are damaged"
    return ""


def _within_thresholds(tally: GomTally) -> str:
    """Check the entries retrieved within thresholds."""
    if not _as_annotated(tally):
        return "the convention it was counted with is damaged"
    if not is_array(tally.enrolled, "b") or not _are_counts(tally.removed_entries):
        return "its record of queries is damaged"
    queries = len(tally.enrolled)
    if not is_array(tally.left_out, "b") or len(tally.left_out) != queries:
        return "its record of queries is damaged"
    if not _retrieved(tally):
        return "the numbers of retrieved entries are not a table over increasing thresholds"
    if len(tally.removed_entries) != queries or not _match_lists(tally.matches, queries):
        return "the matches of its queries are damaged"
    return ""


def _retrieved(tally: ReidTally | GomTally) -> bool:
    """Whether the table of entries retrieved within increasing thresholds is valid."""
    taus = tally.thresholds
    if taus is None or not is_increasing(taus):
        return False
    return is_table(tally.retrieved, (len(tally.enrolled), len(taus)))


def _match_lists(lists: MatchLists, queries: int) -> bool:
    """Whether there are increasing places of the matches of each query, and facts of each match."""
    if type(lists) is not MatchLists or not _are_counts(lists.starts):
        return False
    starts = lists.starts
    if len(starts) != queries + 1 or starts[0] != 0 or not rises(starts, strictly=False):
        return False
    if not is_array(lists.distance, "f") or np.isnan(lists.distance).any():
        return False
    for counts in (lists.closer, lists.tied, lists.before):
        if not _are_counts(counts) or len(counts) != starts[-1]:
            return False
    return bool(len(lists.distance) == starts[-1])


_CHECKS: dict[type, Callable[[Any], str]] = {
    VerificationTally: _verification,
    IdentificationTally: _identification,
    FoldedVerification: _folded,
    FoldedIdentification: _folded,
    FoldedQueries: _folded_queries,
    ReidTally: _retrieval,
    GomTally: _within_thresholds,
}
