"""The counts of all tasks of a protocol: merged, saved, folded, shared and shown."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval import DataError, MergeError, ProtocolError
from bioeval.base import Argument, panel, require_choice, require_integer, scalar_registry
from bioeval.document import Message
from bioeval.evaluation import TaskCounts
from bioeval.results import tree_of
from bioeval.scores import Provenance
from bioeval.studies.reid.counts import require_same_entries
from bioeval.studies.reid.matches import MatchLists
from bioeval.studies.sites.folded import Folded, fold_identification, fold_verification
from bioeval.studies.sites.gallery_parts import GalleryPart
from bioeval.studies.sites.sharing import (
    Disclosure,
    Sharing,
    disclosures,
    distinct_tallies,
    in_sentences,
    share_about,
    share_parts,
    share_probes,
)
from bioeval.studies.sites.tally_file import read_tally, write_tally
from bioeval.studies.sites.template_digests import CountedProbes, DigestKey
from bioeval.tallies import (
    IdentificationTally,
    at_most_kept,
    check_thresholds,
    require_alike,
    to_internal,
)

# What the parts of a gallery have in common, and the nearest of either.
_SAME = ("mate",)
_NEAREST = ("other", "nearest_mate", "nearest_other")

# The options in which the counts of parts are alike, by task.
_RULES = {
    "identification": ("rank_unit", "fusion"),
    "reid": ("convention", "removed", "junk", "removed_for_ap", "cmc"),
    "gom": ("convention", "removed", "junk", "variant", "low", "high"),
}


def with_notes(parts: dict[str, TaskCounts], notes: list[Message], **changed: Any) -> None:
    """Add notes to the provenance of counts that were just made, with other changes."""
    for tally in distinct_tallies(parts):
        all_notes = tuple(dict.fromkeys([*tally.about.notes, *notes]))
        tally.about = replace(tally.about, notes=all_notes, **changed)


def union_of_tallies(mine: Any, theirs: Any) -> Any:
    """Return the counts of probes against both parts of a gallery: attempts and ranks add up."""
    about = mine.about.over_galleries(theirs.about)
    if mine.form == "verification":
        return replace(mine.merge(theirs), about=about)
    if mine.form not in _RULES:
        raise MergeError(f"a {type(mine).__name__} has no parts of a gallery")
    require_alike(mine, theirs, _RULES[mine.form])
    joined = facts_of_union if mine.form == "identification" else _entries
    return replace(mine, about=about, **joined(mine, theirs))


def facts_of_union(mine: IdentificationTally, theirs: IdentificationTally) -> dict[str, Any]:
    """Return the facts of each probe over both parts."""
    joined = {}
    for f in fields(mine):
        a, b = getattr(mine, f.name), getattr(theirs, f.name)
        if not isinstance(a, np.ndarray):
            continue
        if f.name in _SAME:
            _require_same(np.array_equal(a, b, equal_nan=True))
            joined[f.name] = a
        elif f.name in _NEAREST:
            joined[f.name] = np.fmin(a, b)
        elif a.dtype == bool:
            joined[f.name] = a | b
        else:
            joined[f.name] = a + b
    return joined


def _entries(mine: Any, theirs: Any) -> dict[str, Any]:
    """Return the entries and the ranks of matches over both parts."""
    require_same_entries(mine.thresholds, theirs.thresholds)
    joined = {
        "enrolled": mine.enrolled | theirs.enrolled,
        "removed_entries": mine.removed_entries + theirs.removed_entries,
    }
    if mine.retrieved is not None:
        joined["retrieved"] = mine.retrieved + theirs.retrieved
    for name in ("matches", "cmc_matches"):
        lists = getattr(mine, name, None)
        if lists is not None:
            joined[name] = _matches(lists, getattr(theirs, name))
    return joined


def _matches(mine: MatchLists, theirs: MatchLists) -> MatchLists:
    """Return the shared matches, with the entries before each over both parts."""
    _require_same(
        np.array_equal(mine.starts, theirs.starts)
        and np.array_equal(mine.distance, theirs.distance)
    )
    return replace(
        mine,
        closer=mine.closer + theirs.closer,
        tied=mine.tied + theirs.tied,
        before=mine.before + theirs.before,
    )


def _require_same(same: bool) -> None:
    if not same:
        raise MergeError("parts of a gallery that counted around different mates; share them anew")


# Ranks of a folded tally.
RANKS = 100

# Scores that a merged tally keeps of each task at most.
MOST_KEPT = 1 << 24


def fold_parts(
    parts: dict[str, TaskCounts],
    far_targets: np.ndarray,
    *,
    thresholds: Any = None,
    max_rank: int = RANKS,
    genuine: bool = False,
) -> dict[str, TaskCounts]:
    """Return the counts of tasks on a grid.

    Verification keeps its genuine scores, which are few and from which its points follow, unless
    `genuine` says that they are folded as well.
    """
    require_integer("max_rank", max_rank, low=1)
    grid = check_thresholds(thresholds)
    if isinstance(grid, int):
        raise ProtocolError(Argument("thresholds"), " is a number; a fixed grid is an array")
    ranks = np.arange(1, max_rank + 1)
    made: dict[tuple[Any, ...], Folded] = {}
    folded_parts = {}
    for node, part in parts.items():
        tally: Any = part.tally
        options = part.options
        distances = to_internal(grid, tally.about.kind) if grid is not None else None
        if tally.form == "verification" and genuine:
            at = tally.grid() if distances is None else distances
            options = {"far_targets": far_targets.tolist()}
            if tally.given is None and not np.array_equal(at, tally.grid()):
                raise MergeError(
                    "the tally has not counted at these thresholds; count at them: be.tally(..., ",
                    Argument("thresholds"),
                    "=...)",
                )
            folded_parts[node] = TaskCounts(fold_verification(tally, at), options)
            continue
        if tally.form in ("reid", "gom"):
            taus = grid if set(parts) == {"gom"} else None
            from bioeval.studies.sites.results import fold_gom, fold_reid

            is_reid = tally.form == "reid"
            folded = fold_reid(tally, options, ranks) if is_reid else fold_gom(tally, options, taus)
            folded_parts[node] = TaskCounts(folded, {})
            continue
        if tally.form != "identification":
            folded_parts[node] = part  # verification, or folded already
            continue
        ties = options["ties"]
        if distances is None:
            at_open_set = _some(parts.get("open_set", part).options, "thresholds", "impostors")
            at_open_set |= {"ties": ties, "max_rank": 1, "far_targets": far_targets}
            opened = TaskCounts(tally, at_open_set).dataset("open_set")
            distances = np.sort(to_internal(opened["threshold"].values, tally.about.kind))
        key = (id(tally), ties)
        if key not in made:
            made[key] = fold_identification(tally, distances, ranks, ties)
        kept = _some(options, "impostors", "unmated", "far_targets")
        folded_parts[node] = TaskCounts(made[key], kept)
    return folded_parts


def _some(options: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return those options of these names that there are."""
    return {name: value for name, value in options.items() if name in names}


@dataclass(eq=False, repr=False)
class Tally:
    """Counts of every task of a protocol, made in one pass.

    Attributes
    ----------
    protocol : str
        The name of the protocol card.
    parts : dict of str to TaskCounts
        The counts of each node, such as ``"verification/single"``.
    counted : CountedProbes or None
        Digests of the probes that were counted; None of a tally that was shared without a salt.
    part : GalleryPart or None
        Of a tally of some parts of a gallery, which they are.
    shared : Sharing or None
        How it was made fit to be shared, by :meth:`share`.
    """

    protocol: str
    parts: dict[str, TaskCounts]
    far_targets: np.ndarray
    ranks: Sequence[int]
    counted: CountedProbes | None = None
    part: GalleryPart | None = None
    shared: Sharing | None = None

    def __post_init__(self) -> None:
        self.far_targets = np.asarray(self.far_targets, dtype=np.float64)
        self.ranks = tuple(int(k) for k in self.ranks)

    @property
    def _about(self) -> Provenance:
        """The data of all tasks."""
        return next(iter(self.parts.values())).tally.about

    def __repr__(self) -> str:
        return f"<Tally {self.protocol}, {self._about.probes} probes, {', '.join(self.parts)}>"

    def _repr_html_(self) -> str:
        """Return a table for notebooks."""
        about, gallery = self._about, ""
        if about.gallery_templates:
            gallery = (
                f"{about.gallery_templates:,} templates of {about.gallery_subjects:,} subjects"
            )
        rows = [
            ("system", about.name),
            ("protocol", self.protocol),
            ("probes", f"{about.probes:,} of {len(about.probe_subjects):,} subjects"),
            ("gallery", gallery),
            ("tasks", ", ".join(self.parts)),
            ("then", ".tree() for the results, .merge(other), .save(path)"),
        ]
        return panel("Tally", rows)

    def merge(
        self, other: Tally, *, union_of_galleries: bool = False, same_system: bool = False
    ) -> Tally:
        """Return the tally of both sets of probes; they must be disjoint.

        They may be batches of one data set, which are tallied one by one against one gallery.

        Parameters
        ----------
        other : Tally
        union_of_galleries : bool
            Both are of the same probes, against two parts of a gallery, counted around the same
            mates (``best_mates``): return the tally of the probes against both parts.
        same_system : bool
            Both are of one system, though its names differ.

        Raises
        ------
        MergeError
            If names of systems, protocols, options, kinds, thresholds, galleries or keys differ; if
            both counted the same probe: by its label, its metadata and at least 20 distinct scores,
            wherever it was counted, or by its label, metadata and position in the data of one
            site, where its scores are equal or not known (shared tallies, galleries in parts). A
            pair of a list is known by its score, class, subjects and position. Of a union of
            galleries: if the probes or the mates differ, or a part is counted twice.

        Notes
        -----
        Probes with equal scores that agree in less are warned of in the results, and so is it that
        scores could not be compared: shared tallies, and those of a gallery in parts, have no
        digests of scores.
        """
        if not isinstance(other, Tally):
            raise MergeError(f"a Tally cannot be merged with {type(other).__name__}")
        if other is self:
            raise MergeError("a Tally cannot be merged with itself: its probes would count twice")
        if not same_system:
            self._require_same_system(other)
        shared = self._joint_sharing(other)
        mine, theirs = self.parts, other.parts
        if shared is not None:  # a task with small counts may be left out of either
            mine = {node: part for node, part in mine.items() if node in theirs}
            theirs = {node: theirs[node] for node in mine}
        differ = [k for k in mine if k in theirs and not mine[k].same_options(theirs[k])]
        if self.protocol != other.protocol or set(mine) != set(theirs) or differ or not mine:
            raise MergeError(self._difference(other, differ))
        covered = self._joined_part(other, union_of_galleries)
        merged = {}
        parts = {}
        for node, part in mine.items():
            key = (id(part.tally), id(theirs[node].tally))
            if key not in merged:
                tally: Any = part.tally
                merge = union_of_tallies if union_of_galleries else type(tally).merge
                joined = merge(tally, theirs[node].tally)
                if joined.form == "verification":
                    joined = at_most_kept(joined, MOST_KEPT, scalar_registry().optima)
                merged[key] = joined
            parts[node] = TaskCounts(merged[key], part.options)
        if union_of_galleries:
            return Tally(self.protocol, parts, self.far_targets, self.ranks, self.counted, covered)
        if self.counted is None or other.counted is None:  # both were shared without a salt
            return self._merged_unchecked(other, parts)
        counted = self.counted.merge(other.counted)
        if counted.gallery:  # of a matrix
            with_notes(parts, self.counted.remarks(other.counted))
        return Tally(self.protocol, parts, self.far_targets, self.ranks, counted, None, shared)

    def _merged_unchecked(self, other: Tally, parts: dict[str, TaskCounts]) -> Tally:
        """Return merged counts of probes that have no digests."""
        if set(self._about.sites) & set(other._about.sites):
            raise MergeError(
                "shared tallies without digests of probes, of sites with one name: whether they "
                "share a probe cannot be checked; name each site (",
                Argument("site", "A"),
                "), or share with one ",
                Argument("salt"),
            )
        note = Message("digests-dropped")
        empty: frozenset[str] = frozenset()
        with_notes(parts, [note], probe_subjects=empty, enrolled_subjects=empty, gallery_subjects=0)
        merged = replace(self, parts=parts)
        merged.shared = self._joint_sharing(other)
        return merged

    def _require_same_system(self, other: Tally) -> None:
        """Raise :class:`MergeError` where names of systems differ, but for names of sites."""
        about, other_about = self._about, other._about
        mine = {*about.name.split(" + ")} - {*about.sites, ""}
        theirs = {*other_about.name.split(" + ")} - {*other_about.sites, ""}
        if mine and theirs and mine != theirs:
            raise MergeError(
                f"the systems are called {about.name!r} and {other_about.name!r}: counts of "
                "different systems cannot be added. If both names mean one system, give ",
                Argument("same_system"),
            )

    def _joint_sharing(self, other: Tally) -> Sharing | None:
        """Return how a merged tally was shared: both tallies, in the same way."""
        mine, theirs = self.shared, other.shared
        if mine is None and theirs is None:
            return None
        if mine is None or theirs is None or mine.salted != theirs.salted:
            raise MergeError(
                "one tally was shared, and the other not, or with a salt and without; share both "
                "in one way"
            )
        return replace(mine, min_count=min(mine.min_count, theirs.min_count))

    def _joined_part(self, other: Tally, union: bool) -> GalleryPart | None:
        """Return the parts of a gallery that two tallies have counted; None for all."""
        mine, theirs = self.part, other.part
        if not union:
            for part in (mine, theirs):
                if part is not None:
                    part.require_complete()
            return None
        if mine is None or theirs is None:
            raise MergeError(
                "tallies of a union of galleries are counted around the mates of all parts: "
                "best_mates at each site; merged, they are given as ",
                Argument("mates"),
            )
        if (
            self.counted is None
            or other.counted is None
            or not np.array_equal(self.counted.probes, other.counted.probes)
        ):
            raise MergeError("tallies of a union of galleries must have counted the same probes")
        return mine.merge(theirs)

    def _difference(self, other: Tally, differ: list[str]) -> str:
        """Return why two tallies do not merge."""
        if self.protocol != other.protocol:
            return f"tallies of different protocols: {self.protocol} and {other.protocol}"
        if set(self.parts) != set(other.parts):
            return f"tallies of different tasks: {list(self.parts)} and {list(other.parts)}"
        node = differ[0]
        mine, theirs = self.parts[node].plain_options(), other.parts[node].plain_options()
        names = [k for k in {**mine, **theirs} if mine.get(k) != theirs.get(k)]
        return f"tallies of {node} with different {', '.join(names)}; count both with the same"

    def dataset(self, node: str | None = None) -> xr.Dataset:
        """Return the result of one task; `node` may be left out where there is only one."""
        if node is None:
            if len(self.parts) > 1:
                listed = ", ".join(self.parts)
                raise DataError(f"the tally holds several tasks ({listed}); name one, or use tree")
            (node,) = self.parts
        require_choice("node", node, self.parts)
        if self.part is not None:
            self.part.require_complete()
        return self.parts[node].dataset_of_card(node, self.protocol, self.ranks)

    def tree(self) -> xr.DataTree:
        """Return the results of all tasks as a DataTree."""
        return tree_of({node: self.dataset(node) for node in self.parts})

    def folded(self, thresholds: Any = None, *, max_rank: int = RANKS) -> Tally:
        """Return the tally with facts of each probe folded into counts on a fixed grid.

        It is small, and no longer grows with the probes, besides their digests, and genuine and
        kept scores of verification. Counts and rates of identification at the thresholds and ranks
        stay exact; operating points between them become bounds.

        Parameters
        ----------
        thresholds : increasing array of float, optional
            In the units of the scores. By default those of the result of this tally; parts that are
            to be merged need the same.
        max_rank : int
            Ranks 1 ... `max_rank` are kept.

        Raises
        ------
        ProtocolError
            Of re-identification and GOM, whose means need each query; of expected ties.

        Examples
        --------
        >>> import bioeval as be
        >>> counted = be.tally(be.simulate(20, 4, random_state=1))
        >>> small = counted.folded(max_rank=5)
        >>> at = dict(rank=slice(1, 5))
        >>> small.dataset("open_set").dir.equals(counted.dataset("open_set").dir.sel(at))
        True
        """
        parts = fold_parts(self.parts, self.far_targets, thresholds=thresholds, max_rank=max_rank)
        return replace(self, parts=parts)

    def share(
        self,
        thresholds: Any = None,
        *,
        max_rank: int = RANKS,
        salt: str | bytes | None = None,
        min_count: int = 5,
    ) -> Tally:
        """Return a tally to give away: counts alone, without scores, names or small counts.

        Everything is folded on the thresholds, genuine scores too; scores that were kept are left
        out. :meth:`disclosed` lists what a shared tally still reveals. It merges with those of
        other sites, and operating points are bounds.

        Parameters
        ----------
        thresholds, max_rank
            As for :meth:`folded`; of verification, thresholds at which the tally has counted.
        salt : str or bytes, optional
            A secret that all sites share: digests of subjects and probes are hashed again with it,
            by which merging finds probes that would count twice. By default they are dropped:
            merging then takes sites with other names, and says that it could not check.
        min_count : int
            No count of a bin may be from 1 to below this number: thresholds and ranks are left out
            until none is. Rates at those left are exact. Tallies merge at those that both have. 0
            keeps all thresholds and ranks, and bins with one attempt, each a fact of one person.

        Raises
        ------
        DataError
            Bad options; fewer attempts of a class than `min_count`.
        ProtocolError
            Where a task cannot be folded.

        Examples
        --------
        >>> import numpy as np, bioeval as be
        >>> counted = be.tally(be.simulate(20, 4, random_state=1), thresholds=np.linspace(1, 6, 11))
        >>> shared = counted.share(np.linspace(1, 6, 11), max_rank=3, salt="a secret", min_count=10)
        >>> int(shared.dataset("verification/single").genuine_attempts)
        240
        """
        if self.part is not None:
            self.part.require_complete()
        if self.shared is not None:
            raise DataError("the tally is one that was shared; share the one that it was made of")
        secret = DigestKey.parse(salt) if salt is not None else None
        parts = fold_parts(
            self.parts, self.far_targets, thresholds=thresholds, max_rank=max_rank, genuine=True
        )
        parts = share_parts(parts, min_count=min_count)
        for tally in distinct_tallies(parts):
            tally.about = share_about(tally.about, secret)
        shared = replace(self, parts=parts)
        shared.counted, shared.part = share_probes(self.counted, secret), None
        shared.shared = Sharing(secret is not None, min_count)
        return shared

    def disclosed(self) -> list[str]:
        """Return what the tally discloses about people, one line each, without names."""
        return in_sentences(self.disclosures())

    def disclosures(self) -> list[Disclosure]:
        """Return what the tally discloses about people, with the tasks."""
        return list(disclosures(self.parts, self.counted, self.shared))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tally, whole or not at all, as an ``.npz`` of arrays and one JSON header."""
        write_tally(path, self)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Tally:
        """Read a tally that :meth:`save` wrote.

        Raises
        ------
        DataError
            If the file is missing, truncated, or no tally.
        """
        return Tally(**read_tally(path))
