"""Is a probe a gallery template? One test, for equal names and for copies without names.

A pairing says of each probe which gallery template it is: by equal names, or as a guess, the best
comparison of the probe with its own person. The scores confirm a pairing if

- the vectors of both are equal,
- the scores are symmetric under the pairing: probe i against the partner of j is as close as probe
  j against the partner of i, and would not be against another template of the same person, or
- comparisons of a template with its partner have one value, which other mates rarely have.

Each is unlikely by chance. Equal names that the scores deny are a question
(:func:`confirm_names`); a guess that they confirm is a doubt that every call reports
(:func:`bioeval.scores.sampled.find_copies`). A comparison that does not exist is NaN. All values
here are closeness: larger is closer, for every kind of scores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from bioeval.base.errors import DataError, Message
from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.scores.attempts import columns_of_probes, compared_cells
from bioeval.scores.cells import read_block
from bioeval.scores.distances import as_distances
from bioeval.scores.labels import plain

if TYPE_CHECKING:
    from bioeval.base.kinds import Kind, Layout
    from bioeval.scores.codes import Codes
    from bioeval.scores.top_k import TopKLists

# The most probes that are judged. Of a matrix it is one probe in twelve, if these are enough: the
# test takes less than a tenth of the time of counting.
MOST = 300
ENOUGH = 60
ONE_OF = 12
# The most cells that are read, if rows are long; but some rows are needed.
_CELLS = 1 << 19
LEAST_ROWS = 20
# The usual score is the median of about so many.
_FOR_MEDIAN = 1 << 14

# Of fewer templates of two sides, the scores deny nothing.
_FEW = 3
# The share of comparisons that must agree if names are right: one name in hundreds may be wrong.
_NEARLY_ALL = 0.99
# Differences, relative to the distance from the usual comparison: equal to rounding (distances in
# float32 are roots of differences), and no near neighbour of the value of copies.
_EXACT, _ROUNDING, _GAP = 1e-6, 1e-3, 2e-2
# The largest difference of a comparison and its mirror image, relative to the spread.
_SYMMETRIC = 1e-4
# The share of comparisons that a usual value has, and of mirror images that are equal by chance.
_USUAL, _BY_CHANCE = 0.05, 0.05
# The share of probes with a copy that is worth a warning in every call.
_COPIES = 0.05
# Lists without scores are judged if the second place misses the own person so often.
_MISSES = 8
# The share of templates that fit their label in another order better, if that is the right order.
_BETTER = 2 / 3
# Scores with fewer steps from the closest to the usual one are coarse.
_STEPS = 50
# Vectors that differ less, relative to their length, are of one template.
_EQUAL_VECTORS = 1e-2


class Copies(NamedTuple):
    """Probes that seem to be gallery templates themselves, or templates that stand twice."""

    found: int
    judged: int  # the number of probes that were judged
    probes: int  # the number of all probes

    @property
    def are_many(self) -> bool:
        return self.found >= max(2, _COPIES * self.judged)

    def message(self, layout: Layout) -> Message:
        whole = self.judged == self.probes
        number = self.found if whole else round(self.found * self.probes / self.judged)
        about: dict[str, Any] = {"copies": number, "probes": self.probes}
        if not whole:
            about["judged"] = self.judged
        about["remedy"] = "give the names of the templates, so that these comparisons are left out"
        if layout == "top-k":
            about["remedy"] = (
                "`query_positions` gives the entry that each query is, and "
                '`lists={{"leave_out_query": ...}}` states that query i is entry i, or is no entry'
            )
        elif layout == "all-against-all":
            about["remedy"] = "leave one of each two equal templates out"
        return Message("copies-in-gallery", **about)


# ------------------------------------------------------------------------- reading any layout


@dataclass(frozen=True, kw_only=True, eq=False)
class Scored:
    """Scores of any layout with m probes and n gallery templates, as this test reads them.

    Of a list of pairs, its named templates are both the probes and the gallery.
    """

    #: The subjects of both sides, int64 (m,) and (n,); -1 for no person.
    probe_people: np.ndarray
    gallery_people: np.ndarray
    #: The gallery template that each probe is known to be, int (m,); -1 for none.
    partner: np.ndarray
    #: Returns the closeness of rows and columns (None: all), float64 (r, c). With a flag,
    #: comparisons that are left out, or of a template with itself, are NaN.
    read: Callable[[np.ndarray, np.ndarray | None, bool], np.ndarray]
    is_similarity: bool
    most_probes: int = MOST  # probes that are judged
    first_rows: int | None = None  # judged rows are among these, if rows are read by chunks
    is_order: bool = False  # whether a row has only the order of its comparisons
    vectors: tuple[np.ndarray, np.ndarray] | None = None  # of both sides, (m, f) and (n, f)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.probe_people), len(self.gallery_people)

    @classmethod
    def of_lists(
        cls, lists: TopKLists, kind: Kind, codes: Codes, partner: np.ndarray | None = None
    ) -> Self:
        probe_people, gallery_people = people_of(codes)

        def read(rows: np.ndarray, columns: np.ndarray | None, _: bool) -> np.ndarray:
            entries = lists.indices[rows]
            close = -np.arange(entries.shape[1], dtype=float)[None].repeat(len(rows), 0)
            if lists.distances is not None:
                close = -as_distances(np.asarray(lists.distances)[rows], kind).astype(float)
            # One more column takes the entries -1, which are none, and is left out.
            whole = np.full((len(rows), len(gallery_people) + 1), np.nan)
            np.put_along_axis(whole, entries, close, axis=1)
            return whole[:, :-1] if columns is None else whole[:, columns]

        return cls(
            probe_people=probe_people,
            gallery_people=gallery_people,
            partner=np.full(len(probe_people), -1) if partner is None else partner,
            read=read,
            is_similarity=kind in LARGER_IS_CLOSER,
            is_order=lists.distances is None,
        )

    @classmethod
    def of_pairs(cls, pairs: Any, kind: Kind, codes: Codes | None) -> Self:
        """Read a list whose templates have names; without `codes`, the people are not known."""
        templates = pairs.templates
        assert templates is not None
        number = len(templates.values)
        person = np.full(number, -1, dtype=np.int64)
        if codes is not None:
            probe, gallery = people_of(codes)
            person[templates.gallery], person[templates.probe] = gallery, probe

        def read(rows: np.ndarray, columns: np.ndarray | None, _: bool) -> np.ndarray:
            place = np.full(number, -1)
            place[rows] = np.arange(len(rows))
            is_listed = place[templates.probe] >= 0
            whole = np.full((len(rows), number), np.nan)
            cells = place[templates.probe[is_listed]], templates.gallery[is_listed]
            whole[cells] = -as_distances(pairs.values[is_listed][None], kind)[0]
            return whole if columns is None else whole[:, columns]

        return cls(
            probe_people=person,
            gallery_people=person,
            partner=np.arange(number),
            read=read,
            is_similarity=kind in LARGER_IS_CLOSER,
        )

    def sample(self, rows: np.ndarray) -> np.ndarray:
        """Return some of the rows, evenly spread; of stored scores, of the first chunks."""
        most = min(self.most_probes, max(LEAST_ROWS, _CELLS // max(1, self.shape[1])))
        return evenly_spaced(rows[: self.first_rows], most)


def scored_of(scores: Any) -> Scored:
    """Return scores of any layout as the test of :mod:`bioeval.scores.same` reads them."""
    if scores.layout == "pairs":
        return Scored.of_pairs(scores.pairs, scores.kind, scores.codes)
    if scores.layout == "top-k":
        partner = columns_of_probes(scores)
        return Scored.of_lists(scores.lists, scores.kind, scores.codes, partner)
    cells, codes = scores.cells, scores.codes

    def read(rows: np.ndarray, columns: np.ndarray | None, without: bool) -> np.ndarray:
        part = scores.select(probes=rows, gallery=columns)
        sampled = part.cells
        # For some rows of embeddings, no matrix is made.
        source = sampled.base if sampled.embeddings is None else sampled.embeddings
        raw = read_block(source, sampled.rows, 0, len(rows), sampled.columns)
        values = -as_distances(raw, scores.kind).astype(np.float64)
        if without:
            values[~compared_cells(part, 0, len(rows))] = np.nan
        return values

    most = min(MOST, max(ENOUGH, scores.shape[0] // ONE_OF))
    if cells.streams:  # each row is computed
        most = min(most, max(LEAST_ROWS, scores.shape[0] // ONE_OF // 2))
    row_chunk = None
    if cells.is_stored and cells.row_chunk > 1:  # a container reads whole chunks of rows
        row_chunk = max(cells.row_chunk, most)
    vectors = None  # of scores from elsewhere
    if cells.embeddings is not None:
        probe, gallery = cells.embeddings.embeddings
        vectors = (
            probe if cells.rows is None else probe[cells.rows],
            gallery if cells.columns is None else gallery[cells.columns],
        )
    probe_people, gallery_people = people_of(codes)
    return Scored(
        probe_people=probe_people,
        gallery_people=gallery_people,
        partner=columns_of_probes(scores),
        read=read,
        is_similarity=scores.kind in LARGER_IS_CLOSER,
        most_probes=most,
        first_rows=row_chunk,
        is_order=scores.kind == "order",
        vectors=vectors,
    )


def evenly_spaced(values: np.ndarray, limit: int) -> np.ndarray:
    """Return at most `limit` of the values."""
    if len(values) <= limit:
        return values
    return values[np.linspace(0, len(values) - 1, limit).astype(np.int64)]


def people_of(codes: Codes) -> tuple[np.ndarray, np.ndarray]:
    probe, gallery = (np.where(codes.no_person[x], -1, x) for x in (codes.probe, codes.gallery))
    return probe, gallery


# ------------------------------------------------------------------------------- equal names


@np.errstate(over="ignore", invalid="ignore")
def confirm_names(
    scored: Scored, partner: np.ndarray, names: Any, *, shared: bool | None
) -> tuple[bool, list[Message]]:
    """Return whether equal names of two sides are one template, and what to say.

    `partner` (m,) is the gallery template with the name of each probe, -1 for none; `names` are
    those of the probes. `shared` is what the user says; None if nothing.
    """
    number = int((partner >= 0).sum())
    if shared is False or not number:
        return False, []
    if shared:
        return True, [Message("templates-on-both-sides", templates=number)]
    rows = scored.sample(np.flatnonzero(partner >= 0))
    columns = partner[rows]
    is_open = False  # coarse and saturated scores do not deny the names
    if scored.vectors is not None:
        probe = scored.vectors[0][rows].astype(np.float64)
        gallery = scored.vectors[1][columns].astype(np.float64)
        own = -np.linalg.norm(probe - gallery, axis=1)
        share = (-own <= _EQUAL_VECTORS * np.linalg.norm(probe, axis=1)).mean()
        is_one = share >= _NEARLY_ALL
        denial = f"{share:.0%} of them have equal embeddings"
    else:
        # (r, r): each probe against the partners of all; its own is on the diagonal.
        others = scored.read(rows, columns, False)
        others[np.isinf(others)] = np.nan
        own = others.diagonal().copy()
        np.fill_diagonal(others, np.nan)
        has_mirror, is_equal = _mirror(others)
        is_symmetric = has_mirror.any() and is_equal.sum() >= _NEARLY_ALL * has_mirror.sum()
        mates = scored.probe_people[rows][:, None] == scored.gallery_people[columns]
        near = _SYMMETRIC * _spread(others)
        values = np.abs(own[np.isfinite(own)])
        if not len(values):
            is_one = True  # nothing denies the names
        elif is_symmetric and _is_told(others, _of_others(scored, rows, columns), near):
            is_one = True  # scores of two templates of one person would not be symmetric
        else:
            is_one = _has_one_value(scored, own, others, mates)
        # Places in lists differ, even of the same template.
        is_open = not is_one and (is_symmetric or scored.is_order or len(values) < _FEW)
        denial = ""
        if not is_one and not is_open:
            denial = (
                f"their {len(values):,} comparisons have {len(np.unique(values)):,} values, from "
                f"{values.min():.6g} to {values.max():.6g}, and the scores are not symmetric"
            )
    if not is_one and not is_open:
        first_compared = np.flatnonzero(np.isfinite(own))[0]
        name = plain(names[int(rows[first_compared])])
        raise DataError(
            f"{number:,} templates have one name on both sides, such as {name!r}, but by the "
            f"scores they are not the same templates: {denial}. Three answers: names with their "
            "folders; `names=None`, if equal names are two templates; `shared=True`, if they are "
            "one"
        )
    about: dict[str, Any] = {"templates": number}
    if is_open:
        about["how"] = "the scores are too coarse to confirm that these are the same templates"
    return True, [Message("templates-on-both-sides", **about)]


def _has_one_value(scored: Scored, own: np.ndarray, others: np.ndarray, mates: np.ndarray) -> bool:
    """Whether comparisons with the partner have one value, and fewer than half of other mates it.

    Without other mates it must be the value of a copy: a distance of 0, a similarity of 1.
    """
    finite = own[np.isfinite(own)]
    if len(finite) < 2:
        return False
    value = np.median(finite)
    usual = np.nanmedian(np.abs(others - value)) if np.isfinite(others).any() else 0.0
    near = _ROUNDING * usual
    if np.abs(finite - value).max() > near:
        return False
    of_mates = others[mates & np.isfinite(others)]
    if len(of_mates):
        return bool((np.abs(of_mates - value) <= near).mean() < 0.5)
    return bool(abs(value - (1.0 if scored.is_similarity else 0.0)) <= near)


# ------------------------------------------------------------------------------------- copies


@np.errstate(over="ignore", invalid="ignore")
def judged_copies(scored: Scored) -> Copies | None:
    """Return how many of the judged probes seem to be gallery templates; None if nothing tells."""
    rows = scored.sample(np.flatnonzero(scored.probe_people >= 0))
    try:
        block = scored.read(rows, None, True)
    except DataError:  # raised again where all scores are counted
        return None
    block[np.isinf(block)] = np.nan  # such comparisons say nothing
    has_partner = np.flatnonzero(scored.partner[rows] >= 0)
    block[has_partner, scored.partner[rows[has_partner]]] = np.nan
    mates = (scored.probe_people[rows][:, None] == scored.gallery_people) & np.isfinite(block)
    has_mate = mates.any(axis=1)
    rows, block, mates = rows[has_mate], block[has_mate], mates[has_mate]
    if len(rows) < 4:
        return None
    if scored.is_order:
        found = _lists_that_begin_with_query(block, mates)
    else:
        guess = np.where(mates, block, -np.inf).argmax(axis=1)
        if scored.vectors is not None:
            probe, gallery = scored.vectors
            is_copy = (probe[rows] == gallery[guess]).all(axis=1)
        else:
            is_copy = _at_value_of_copy(scored, block, mates, guess)
            is_copy |= _in_mirror_group(scored, rows, block, guess)
        found = int(is_copy.sum())
    return Copies(found, len(rows), int(scored.shape[0]))


def _in_mirror_group(
    scored: Scored, rows: np.ndarray, block: np.ndarray, guess: np.ndarray
) -> np.ndarray:
    """Return the probes (r,) that the gallery seems to hold, by symmetry under the guess.

    If the guesses of i and j are right, i against the guess of j equals j against the guess of i.
    Such probes are a group in which nearly all pairs agree; the others agree with nobody.
    """
    none = np.zeros(len(rows), dtype=bool)
    m = block[:, guess]
    m[guess[:, None] == guess] = np.nan  # two probes of one template, and the diagonal
    # Of one set, a guess may be a row itself.
    own = scored.partner[rows]
    m[(own[:, None] == guess) | (guess[:, None] == own)] = np.nan
    has_mirror, is_equal = _mirror(m)
    if is_equal.sum(axis=1).max(initial=0) < 2:
        return none  # nearly always: no need to look whether the equal values are rare
    is_rare = _rare(m)
    is_rare |= is_rare.T
    has_mirror, is_equal = has_mirror & is_rare, is_equal & is_rare
    degree = is_equal.sum(axis=1)
    chosen = degree >= max(2, degree.max(initial=0) / 2)
    both = chosen[:, None] & chosen
    inside, outside = has_mirror & both, has_mirror & ~both
    if not inside.any() or is_equal[inside].mean() < 0.9:
        return none
    if outside.any() and is_equal[outside].mean() > _BY_CHANCE:
        return none
    other = _of_others(scored, rows[chosen], guess[chosen], block[chosen])
    group = m[np.ix_(chosen, chosen)]
    return chosen if _is_told(group, other, _SYMMETRIC * _spread(m)) else none


def _at_value_of_copy(
    scored: Scored, block: np.ndarray, mates: np.ndarray, guess: np.ndarray
) -> np.ndarray:
    """Return the probes (r,) whose best mate is at the value of a copy, apart from all others.

    The value is 0 of distances, and the largest of similarities. It must not be usual among other
    mates: many matchers saturate. A value that is a copy's only to the rounding of float16 needs
    scores that are symmetric to the same rounding.
    """
    none = np.zeros(len(guess), dtype=bool)
    row = np.arange(len(guess))
    largest = np.nanmax(block)
    value = largest if scored.is_similarity else 0.0
    if largest > value:
        return none  # negative distances
    best = value - block[row, guess]
    is_finite = np.isfinite(block)
    finite = block[is_finite]
    usual = value - np.median(finite[:: 1 + len(finite) // _FOR_MEDIAN])
    if usual <= 0 or best.min() > _ROUNDING * usual or _is_coarse(block):
        return none
    from_value = value - block
    is_near = is_finite & (from_value <= _ROUNDING * usual)
    rest = from_value[is_finite & ~is_near]
    others = mates.copy()
    others[row, guess] = False
    if not len(rest) or rest.min() < _GAP * usual:
        return none
    if not others.any() or is_near[others].mean() > 0.1:
        return none
    is_copy = (best <= _ROUNDING * usual) & (is_near.sum(axis=1) <= 2)
    if scored.is_similarity and is_copy.sum() < max(4, 0.2 * len(best)):
        return none  # the largest similarity is that of some comparison in any case
    if best[is_copy].max(initial=0.0) <= _EXACT * usual:
        return is_copy
    m = block[np.ix_(is_copy, guess[is_copy])]
    gap = np.abs(m - m.T)[np.triu_indices(len(m), 1)]
    gap = gap[np.isfinite(gap)]
    is_mirrored = len(gap) > 0 and (gap <= 1e-2 * _spread(m)).mean() >= 0.9
    return is_copy if is_mirrored else none


def _lists_that_begin_with_query(block: np.ndarray, mates: np.ndarray) -> int:
    """Return how many lists seem to begin with their own query, judged by their order alone.

    The first place then never misses the own person, and the second often does. Of an honest
    search both miss, the second up to a few times as often.
    """
    order = np.argsort(np.where(np.isfinite(block), -block, np.inf), axis=1)[:, :2]
    hits = np.take_along_axis(mates, order, axis=1)[mates.sum(axis=1) > 1]
    if len(hits) < 10 or hits.shape[1] < 2:
        return 0
    first_misses, second_misses = (~hits).sum(axis=0)
    if second_misses < _MISSES or first_misses > second_misses / 20:
        return 0
    return int(len(hits) - first_misses)


# ----------------------------------------------------------------------------- other orders


def refuse_other_order(scored: Scored, labels: np.ndarray, other_order: np.ndarray) -> None:
    """Raise if the labels of one set fit the scores clearly better in another order.

    In the other order, row i has the label of row ``other_order[i]``. Each template of two labels
    is compared by its mean closeness to the people of both; templates whose label is not in
    question stand for these people, if there are some.
    """
    joined = scored.probe_people
    other = joined[other_order]
    rows = scored.sample(np.flatnonzero(joined != other))
    if len(rows) < _FEW:
        return
    try:
        block = scored.read(rows, None, True)
    except DataError:  # raised again where all scores are counted
        return
    is_certain = joined == other

    def closeness(codes: np.ndarray) -> np.ndarray:
        mates = (codes[rows][:, None] == codes) & np.isfinite(block)
        if is_certain.sum() >= _FEW and (mates & is_certain).any(axis=1).all():
            mates &= is_certain
        with np.errstate(invalid="ignore"):
            return np.where(mates, block, 0.0).sum(axis=1) / mates.sum(axis=1)

    as_joined, otherwise = closeness(joined), closeness(other)
    is_told = np.isfinite(as_joined) & np.isfinite(otherwise)
    if is_told.sum() < _FEW or (otherwise > as_joined)[is_told].mean() <= _BETTER:
        return
    row = int(rows[0])
    two_labels = (plain(labels[x]) for x in (row, other_order[row]))
    raise DataError(
        "`labels` and the scores are numbered in different orders, and the labels fit the scores "
        "better in the other order: row {0} would be {3!r}, and not {2!r}, and so {1:,} rows in "
        "all. Bring both into one order, and drop their numbers by `reset_index(drop=True)` or "
        "`to_numpy()`".format(row, int((joined != other).sum()), *two_labels)
    )


# ----------------------------------------------------------------------- symmetry and rarity


def _mirror(m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which cells of a square matrix (r, r) have a mirror image, and which equal it."""
    with np.errstate(invalid="ignore"):
        gap = np.abs(m - m.T)
    return np.isfinite(gap), gap <= _SYMMETRIC * _spread(m)


def _spread(values: np.ndarray) -> float:
    """Return the usual distance from the usual value; 1 where there is none."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return 1.0
    return float(np.median(np.abs(finite - np.median(finite)))) or float(np.ptp(finite)) or 1.0


def _rare(m: np.ndarray) -> np.ndarray:
    """Return which cells have a value that few others have, and so are seldom equal by chance."""
    values = np.sort(m[np.isfinite(m)])
    near = _SYMMETRIC * _spread(m)
    number = np.searchsorted(values, m + near, "right") - np.searchsorted(values, m - near)
    return np.isfinite(m) & (number <= max(4, _USUAL * len(values)))


def _is_told(m: np.ndarray, other: np.ndarray, near: float) -> bool:
    """Whether symmetry would tell the partners of m (r, r) from other templates of their people.

    `other` has the scores of such other templates, NaN without one. Scores in coarse steps, or at
    their limit, are equal for any template of a person. Without other templates, steps tell
    nothing. `near` is the largest difference of equal scores.
    """
    rare = _rare(m)
    compared = rare & np.isfinite(other)
    if compared.sum() >= 10:
        return bool((np.abs(m - other)[compared] <= near).mean() < 0.5)
    return bool(rare.any()) and not _is_coarse(m)


def _of_others(
    scored: Scored, rows: np.ndarray, columns: np.ndarray, block: np.ndarray | None = None
) -> np.ndarray:
    """Return the closeness (r, r) to another template of the person of each column, NaN for none.

    `block` has all columns of the rows, if they have been read.
    """
    person = scored.gallery_people
    order = np.argsort(person, kind="stable")  # templates of a person are neighbours
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    found = np.full((len(rows), len(columns)), np.nan)
    for step in (1, -1, 2, -2):
        other = order[np.clip(place[columns] + step, 0, len(order) - 1)]
        has_other = (person[other] == person[columns]) & (other != columns)
        has_other &= np.isnan(found).all(axis=0) & (other != scored.partner[rows])
        if has_other.any():
            if block is None:
                found[:, has_other] = scored.read(rows, other[has_other], False)
            else:
                found[:, has_other] = block[:, other[has_other]]
    return found


def _is_coarse(values: np.ndarray) -> bool:
    """Whether scores are steps, fewer than `_STEPS` from the closest to the usual one."""
    finite = values[np.isfinite(values)]
    distinct = np.unique(np.round(finite, 9))
    if len(distinct) < 2:
        return True
    gaps = np.diff(distinct)
    step = gaps.min()
    are_multiples = np.abs(gaps / step - np.round(gaps / step)).max() < 1e-3
    return bool((distinct[-1] - np.median(finite)) / step < _STEPS and are_multiples)
