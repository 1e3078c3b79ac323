"""A gallery in several parts: the nearest mates of all parts first, then counts around them."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bioeval import DataError, MergeError, Protocol, ProtocolError, Scores
from bioeval.base import Argument, counted, rows_reported_to
from bioeval.document import Message, Text, say
from bioeval.evaluation import EvaluationOptions, Plan, distributable, resolve_card
from bioeval.protocol import load
from bioeval.scores import (
    Progress,
    Provenance,
    guarded,
    leaves_out_attacks,
    require_scores,
)
from bioeval.studies.reid.passes import GomPass, all_matches
from bioeval.studies.reid.shared_mates import (
    MateLists,
    NearestMatesCounter,
    SharedMates,
    SharedRanksCounter,
)
from bioeval.studies.sites.file_values import is_array, rises
from bioeval.studies.sites.sharing import Disclosure, in_sentences
from bioeval.studies.sites.template_digests import CountedProbes, DigestKey, template_digests
from bioeval.tallies import (
    IdentificationCounter,
    VerificationCounter,
    count_together,
    read_counts,
    write_counts,
)

if TYPE_CHECKING:
    from distributed import Client


FILE_KIND = "saved mates of a gallery in parts"

_DIGESTS = ("probes", "templates", "subjects", "several")
_LISTS = {"starts": "i", "distance": "f", "site": "i", "place": "i"}


def _wrong(mates: BestMates) -> str:
    """Return what is wrong with mates; an empty string if nothing is."""
    if type(mates) is not BestMates or {type(mates.low), type(mates.high)} != {float}:
        return "the description of its data is damaged"
    words = [mates.protocol, mates.key, *mates.data, *mates.sites, *mates.parts]
    if {*map(type, words)} != {str} or len(mates.data) != 4:
        return "the description of its data is damaged"
    if not mates.parts or len(mates.parts) != len(mates.sites):
        return "the parts of the gallery are damaged"
    for part in mates.parts:
        if not re.fullmatch("[0-9a-f]{16}", part):
            return "the digests of its parts are damaged"
    for name in _DIGESTS:
        digests = getattr(mates, name)
        if digests.ndim != 1 or digests.dtype != np.uint64:
            return f"{name} are not digests"
    for lists in mates.lists.values():
        if not _right(lists, len(mates.probes), len(mates.order)):
            return "the mates of its probes are damaged"
    return ""


def _right(lists: MateLists, probes: int, sites: int) -> bool:
    """Whether the mates of each probe lie from near to far, at known sites."""
    for name, kind in _LISTS.items():
        if not is_array(getattr(lists, name), kind):
            return False
    starts, distance, site, place = lists.starts, lists.distance, lists.site, lists.place
    number = len(distance)
    right = len(starts) == probes + 1 and starts[0] == 0 and starts[-1] == number
    right = right and rises(starts, strictly=False) and isinstance(lists.nearest, bool)
    if not right or np.isnan(distance).any() or (lists.nearest and (np.diff(starts) > 1).any()):
        return False
    falls = np.diff(distance) < 0
    if number > 1 and not np.isin(np.flatnonzero(falls) + 1, starts).all():
        return False
    if len(site) != len(place) or len(place) not in (0, number):
        return False
    return bool(((site >= 0) & (site < sites)).all() and (place >= 0).all())


@dataclass(frozen=True, eq=False)
class BestMates:
    """The nearest mates of probes in parts of a gallery; see :func:`best_mates`.

    Attributes
    ----------
    protocol : str
        The name of the card.
    data : tuple of str
        Layout, kind of score, policy for NaN, and what is excluded.
    key : str
        Of the digests, by which two keys are distinguished.
    probes : uint64 array, shape (m,)
        A digest of each probe.
    sites, parts : tuples of str
        The name of the site, and a digest of the templates, of each part.
    templates : uint64 array, shape (n,)
        A digest of each template of all parts.
    subjects, several : uint64 arrays
        Digests of the subjects of all parts, and of those with templates in more than one.
    lists : dict of str to MateLists
        The nearest mates, for each way of ranking; all mates for re-identification and GOM.
    low, high : float
        The smallest and the largest finite distance, for GOM; infinite where it is no task.
    """

    protocol: str
    data: tuple[str, ...]
    key: str
    probes: np.ndarray
    sites: tuple[str, ...]
    parts: tuple[str, ...]
    templates: np.ndarray
    subjects: np.ndarray
    several: np.ndarray
    lists: dict[str, MateLists]
    low: float
    high: float

    def __repr__(self) -> str:
        size = len(self.templates)
        return (
            f"<BestMates of {len(self.probes)} probes, {counted(len(self.parts), 'parts')}, "
            f"{size} templates>"
        )

    @property
    def order(self) -> tuple[str, ...]:
        """The names of the sites in the order of the gallery."""
        return tuple(sorted(set(self.sites)))

    @property
    def digest(self) -> str:
        """A digest of the mates; parts counted around other mates are refused by it."""
        hashed = hashlib.blake2b(digest_size=8)
        hashed.update(
            repr((self.protocol, sorted(zip(self.sites, self.parts, strict=True)))).encode()
        )
        for name in sorted(self.lists):
            lists = self.lists[name]
            hashed.update(name.encode() + lists.starts.astype("<i8").tobytes())
            hashed.update(lists.distance.astype("<f8").tobytes())
        return hashed.hexdigest()

    def merge(self, other: BestMates) -> BestMates:
        """Return the nearest mates in the parts of both; the parts must share no template.

        Raises
        ------
        MergeError
            If protocols, kinds of score, keys or probes differ, or a template is in both.
        """
        if not isinstance(other, BestMates):
            raise MergeError(f"BestMates cannot be merged with {type(other).__name__}")
        for options, first, second in (
            ("protocols", self.protocol, other.protocol),
            ("layouts, kinds of score or policies", self.data, other.data),
            ("keys (best_mates(..., key=...))", self.key, other.key),
            ("ways of ranking", sorted(self.lists), sorted(other.lists)),
        ):
            if first != second:
                raise MergeError(f"mates of different {options}: {first} and {second}")
        if not np.array_equal(self.probes, other.probes):
            raise MergeError(
                f"mates of different probes ({len(self.probes)} and {len(other.probes)}), by their "
                "labels, metadata and positions, or in another order: every site compares the "
                "same probes with its part of the gallery"
            )
        shared = np.intersect1d(self.templates, other.templates)
        if len(shared):
            raise MergeError(
                f"{counted(len(shared), 'templates')} of the gallery are in both parts, by label, "
                "metadata and position, and would count twice; if they are different templates, "
                'name the site of each (best_mates(..., site="A"), bioeval best-mates --site A)'
            )
        order = tuple(sorted({*self.sites, *other.sites}))
        lists = {}
        for name, mine in self.lists.items():
            theirs = _in_order(other.lists[name], other.order, order)
            lists[name] = _in_order(mine, self.order, order).merge(theirs)
        several = [self.several, other.several, np.intersect1d(self.subjects, other.subjects)]
        return replace(
            self,
            sites=(*self.sites, *other.sites),
            parts=(*self.parts, *other.parts),
            templates=np.concatenate([self.templates, other.templates]),
            subjects=np.union1d(self.subjects, other.subjects),
            several=np.unique(np.concatenate(several)),
            lists=lists,
            low=min(self.low, other.low),
            high=max(self.high, other.high),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the mates as an ``.npz`` file of plain arrays and one JSON header."""
        write_counts(path, "mates", {"mates": self}, _CLASSES)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> BestMates:
        """Read mates that :meth:`save` wrote.

        Raises
        ------
        DataError
            If the file is missing, truncated, or holds no mates.
        """
        file = read_counts(path, "mates", FILE_KIND, _CLASSES)
        with guarded(Path(path), expected=FILE_KIND):
            mates = file.contents["mates"]
            wrong = _wrong(mates) or file.damage()
        if wrong:
            raise DataError(f"{path}: the mates are damaged: {wrong}")
        return mates

    def disclosed(self) -> list[str]:
        """Return what the mates disclose about people, one line each."""
        return in_sentences(self.disclosures())

    def disclosures(self) -> list[Disclosure]:
        """Return what the mates disclose about people; they are of all tasks."""
        nearest = all(lists.nearest for lists in self.lists.values())
        of_each = "the score of its nearest mate" if nearest else "the scores of all its mates"
        texts: list[Text] = [
            say(
                "{probes:count probes}: a keyed digest of each, and {scores}",
                probes=len(self.probes),
                scores=of_each,
            ),
            say(
                "{templates:count templates} of the gallery, of {subjects:count subjects}: a keyed "
                "digest of each",
                templates=len(self.templates),
                subjects=len(self.subjects),
            ),
        ]
        if any(len(lists.place) for lists in self.lists.values()):
            texts.append("which site holds each of these mates, and its position there (ties)")
        if np.isfinite(self.low):
            texts.append("the smallest and the largest distance, to scale GOM")
        return [("", text) for text in texts]


_CLASSES: dict[str, type] = {"BestMates": BestMates, "MateLists": MateLists}


def _in_order(lists: MateLists, mine: tuple[str, ...], order: tuple[str, ...]) -> MateLists:
    """Return mates with the numbers of their sites in another order."""
    return lists.numbered(np.array(list(map(order.index, mine)), dtype=np.int64))


@dataclass(frozen=True)
class GalleryPart:
    """The parts of a gallery that a tally has counted, and how many there are."""

    #: Digests of the templates of the parts.
    covered: tuple[str, ...]
    missing: tuple[str, ...]
    mates: str  # a digest of the mates that were counted around

    def merge(self, other: GalleryPart) -> GalleryPart:
        """Return the parts of both."""
        if self.mates != other.mates:
            raise MergeError(
                "parts of a gallery that counted around different mates: merge the mates of all "
                "sites, and count at each site with the merged ones"
            )
        twice = set(self.covered) & set(other.covered)
        if twice:
            raise MergeError("both tallies counted the same part of the gallery")
        covered = tuple(sorted((*self.covered, *other.covered)))
        missing = tuple(part for part in self.missing if part not in covered)
        return replace(self, covered=covered, missing=missing)

    def require_complete(self) -> None:
        """Raise :class:`MergeError` unless all parts are counted."""
        if self.missing:
            raise MergeError(
                f"the tally is of {len(self.covered)} of {len(self.covered) + len(self.missing)} "
                "parts of a gallery, and its ranks mean nothing alone; merge the others first, "
                "with ",
                Argument("union_of_galleries"),
            )


@leaves_out_attacks
@distributable
def best_mates(
    scores: Scores,
    protocol: str | Protocol = "auto",
    *,
    max_rank: int | None = None,
    site: str = "",
    key: str | bytes | None = None,
    progress: Progress | None = None,
    client: Client | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> BestMates:
    """Find the nearest mate of each probe in a part of a gallery: the first of two rounds.

    Every site compares the same probes with the templates that it holds. The nearest mates of all
    sites, merged, are given to each, which counts its templates around them
    (``be.tally(..., mates=...)``); these tallies are merged with ``union_of_galleries=True`` and
    are those of the whole gallery, to the last bit.

    Parameters
    ----------
    scores : Scores
        The probes against one part of the gallery. Of scores that lie in one place,
        ``scores.select(gallery=...)`` is a part, all against all as well.
    protocol : str or Protocol
        As for :func:`tally`.
    max_rank : int, optional
        As for :func:`tally`.
    site : str
        The name of the site that holds the part. Ties in the order of the gallery are in the order
        of these names.
    key : str or bytes, optional
        As for :func:`tally`; all sites share it.
    progress, client, checkpoint
        As for :func:`tally`.

    Returns
    -------
    BestMates
        Merges with those of other sites, is saved and loaded; ``disclosed()`` lists what it says of
        people.

    Raises
    ------
    DataError
        Bad options; NaN under ``nan="raise"``.
    ProtocolError
        If a task has no ranks that add up over parts: drawn galleries, claims, single gallery
        shots, identities counted once, enrolment over time, or scores without labels.

    Notes
    -----
    The nearest of all mates is the least of the nearest at each site, and its rank is 1 more than
    the number of non-mates nearer at all sites together: ``docs/sites.md``.

    Examples
    --------
    Even and odd columns are at two sites:

    >>> import numpy as np, bioeval as be
    >>> from bioeval.studies.sites.gallery_parts import best_mates
    >>> scores = be.simulate(20, 4, random_state=1)
    >>> parts = [scores.select(gallery=np.arange(i, 80, 2)) for i in (0, 1)]
    >>> a, b = (best_mates(part, "course-all-vs-all") for part in parts)
    >>> mates = a.merge(b)
    >>> a, b = (be.tally(part, mates=mates) for part in parts)
    >>> union = a.merge(b, union_of_galleries=True)
    >>> union.dataset("closed_set").equals(be.tally(scores).dataset("closed_set"))
    True
    """
    options = EvaluationOptions.parse(max_rank=max_rank)
    scores, card = part_and_card(scores, protocol)
    secret = DigestKey.parse(key)
    plan = Plan(scores, card, options, automatic=protocol == "auto")
    _require_addable(plan, card)
    lists = {}
    ranked: dict[IdentificationCounter, None] = {}
    places = False
    for task in plan.tasks.values():
        if isinstance(task.counter, IdentificationCounter):
            ranked[task.counter] = None
        places = places or task.options.get("ties") == "stable"
    counters = [NearestMatesCounter(counter, places=places) for counter in ranked]
    with rows_reported_to(progress):
        if counters:
            for counter, nearest in zip(
                counters, count_together(plan.reader, counters), strict=True
            ):
                lists[_name(counter.ranked)] = nearest
        for word, search in plan.searches.items():
            for rule, matches in all_matches(search.study_pass).items():
                lists[f"{word} {rule}"] = matches
    low, high = np.inf, -np.inf
    if (gom := _normalised(plan)) is not None:
        low, high = gom.ends()
    about = plan.reader.about
    counted_probes = CountedProbes.of(scores, secret, rows=True)
    templates, subjects = template_digests(scores, secret, site)
    return BestMates(
        protocol=card.name,
        data=(about.layout, about.kind, about.nan, about.exclude),
        key=counted_probes.key,
        probes=counted_probes.probes,
        sites=(site,),
        parts=(_digest_of(templates),),
        templates=templates,
        subjects=subjects,
        several=subjects[:0],
        lists=lists,
        low=low,
        high=high,
    )


def share_mates(
    plan: Plan, mates: BestMates, scores: Scores, key: DigestKey, site: str, card: Protocol
) -> GalleryPart:
    """Let the counters of a plan count around mates of all sites; return which part they count."""
    _require_addable(plan, card)
    if not isinstance(mates, BestMates):
        raise DataError(f"mates is {type(mates).__name__}; expected what best_mates returns")
    probes = CountedProbes.of(scores, key, rows=True)
    if mates.protocol != card.name:
        raise MergeError(
            f"the mates were found under protocol {mates.protocol}, not {card.name}; give both "
            "rounds the same"
        )
    if mates.key != probes.key:
        raise MergeError("the mates have another key; give both rounds the same")
    if not np.array_equal(mates.probes, probes.probes):
        raise MergeError(
            f"the mates are those of {len(mates.probes)} other probes, or in another order, by "
            "their labels, metadata and positions"
        )
    this_part = _digest_of(template_digests(scores, key, site)[0])
    if (site, this_part) not in zip(mates.sites, mates.parts, strict=False):
        raise MergeError(
            "the mates do not know this part of the gallery: merge the mates of all sites, of the "
            "same templates, under the same ",
            Argument("site"),
        )
    if len(mates.several):
        _leave_out_subjects(plan, mates)
    number = mates.order.index(site)
    try:
        _share(plan, mates, number)
    except KeyError as error:
        raise MergeError(
            f"the mates hold no lists for {error}; give both rounds the same options"
        ) from None
    rest = sorted(part for part in mates.parts if part != this_part)
    return GalleryPart((this_part,), tuple(rest), mates.digest)


def _share(plan: Plan, mates: BestMates, number: int) -> None:
    """Give the counters of a plan the mates, numbered as for one site."""
    shared = {}
    for node, task in plan.tasks.items():
        counter = task.counter
        if isinstance(counter, IdentificationCounter):
            if counter not in shared:
                shared[counter] = SharedRanksCounter(
                    counter, SharedMates(mates.lists[_name(counter)], number)
                )
            plan.tasks[node] = task._replace(counter=shared[counter])
    for word, search in plan.searches.items():
        search.study_pass.shared = {}
        for rule in search.study_pass.lists.rules:
            search.study_pass.shared[rule] = SharedMates(mates.lists[f"{word} {rule}"], number)
    if (gom := _normalised(plan)) is not None:
        gom.normalize = (mates.low, mates.high)


def _normalised(plan: Plan) -> GomPass | None:
    """Return the pass of GOM whose distances are scaled by those of the whole matrix."""
    search = plan.searches.get("gom")
    if search is not None and search.study_pass.normalize is True:
        return search.study_pass
    return None


def union_digest(mates: BestMates) -> str:
    """Return a digest of the whole gallery, whatever the order of its parts."""
    return _digest_of(np.array([int(part, 16) for part in mates.parts], dtype=np.uint64))


def of_whole_gallery(about: Provenance, mates: BestMates) -> Provenance:
    """Return the provenance of counts of a part with the size of the whole gallery."""
    return replace(
        about,
        gallery=union_digest(mates),
        gallery_templates=len(mates.templates),
        gallery_subjects=len(mates.subjects),
    )


def part_and_card(scores: Scores, protocol: str | Protocol) -> tuple[Scores, Protocol]:
    """Return scores as a part of a gallery, and the card of the whole.

    Some columns of an all-against-all matrix are a part of its layout, unless the card is of
    another. Raise :class:`ProtocolError` where a gallery cannot be in parts.
    """
    require_scores(scores)
    scores._require_matrix()
    named = None if isinstance(protocol, str) and protocol == "auto" else load(protocol)
    if scores._from_square and (named is None or "all-against-all" in named.layouts):
        scores = scores._as_part_of("all-against-all")
    card = resolve_card(scores, protocol)
    if not scores._labelled:
        raise ProtocolError("a gallery in parts needs the subjects of probes and gallery: labels")
    if card.claims is not None:
        raise ProtocolError(
            f"protocol {card.name} draws claims from the whole gallery; a gallery in parts "
            "needs a card with all claims, or none"
        )
    return scores, card


def _require_addable(plan: Plan, card: Protocol) -> None:
    """Raise :class:`ProtocolError` where ranks do not add up over parts."""
    obstacle = ""
    for task in plan.tasks.values():
        if not isinstance(task.counter, VerificationCounter | IdentificationCounter):
            obstacle = "averages over drawn galleries"
    search = plan.searches.get("reid")
    if search is not None:
        cmc = search.study_pass.convention.cmc
        if cmc in ("single-gallery-shot", "identity-dedup"):
            obstacle = f"has a CMC ({cmc}) of identities"
    if obstacle:
        raise ProtocolError(
            f"protocol {card.name} {obstacle}: its ranks do not add up over the parts of a "
            "gallery; choose one that ranks templates, or each subject by all its templates"
        )


def _leave_out_subjects(plan: Plan, mates: BestMates) -> None:
    """Leave out tasks that fuse a subject's templates if these are in several parts."""
    nodes = [node for node, task in plan.tasks.items() if task.counter.fuses]
    if not nodes:
        return
    number = len(mates.several)
    have = "has" if number == 1 else "have"
    why = (
        f"{counted(number, 'subjects')} of the gallery {have} templates in several parts, and "
        "their scores cannot be fused over parts"
    )
    if not plan.automatic or len(nodes) == len(plan.tasks):
        raise ProtocolError(
            f"{' and '.join(nodes)} cannot be counted: {why}; use a card without, or hold all "
            "templates of a subject at one site"
        )
    for node in nodes:
        del plan.tasks[node]
    about = plan.reader.about
    note = Message("tasks-left-out-of-parts", tasks=nodes, subjects=number)
    plan.reader.about = replace(about, notes=(*about.notes, note))


def _name(counter: IdentificationCounter) -> str:
    return f"identification {counter.rank_unit} {counter.search.fused}"


def _digest_of(digests: np.ndarray) -> str:
    """Return a digest of digests, whatever their order."""
    ordered = np.sort(digests)
    return hashlib.blake2b(ordered.astype("<u8").tobytes(), digest_size=8).hexdigest()
