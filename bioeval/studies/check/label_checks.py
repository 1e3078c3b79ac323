"""Checks of labels: those that need no score, and templates whose label is likely wrong.

A label is likely wrong where the template is nearer to another label than to its own.

With ``A_j(s)`` the lower median of the finite distances from template ``j`` to the templates of
label ``s`` without ``j``, ``r_j = ln(A_j(own) / least A_j of the others)``, ``z_j`` its robust
score (median and 1.4826 MAD over all templates) and ``p_j = 1 - Phi(z_j)``, Benjamini and Hochberg
reject at a false discovery rate of 0.1. Of the rejected with ``r_j > 0`` the one with the largest
``z_j`` is taken out and all is computed anew, until none is left. Of scores without a natural zero
(similarities, log-likelihood ratios, distances of which some median is negative) ``r_j`` is the
difference of the two medians.

Where half of the templates are as near to another label as to their own, labels or kind are wrong
as a whole, and no template differs from the rest. Two people who look alike give ``r_j`` a
little above 0: a template is certain only where Benjamini and Hochberg reject it at 0.001 too, and
it is at least half as much nearer to the other label as templates usually are to their own.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval import PairScores, Scores
from bioeval.document import Enumeration, Label, Message, Text, say
from bioeval.results import ComparedPeople, RuleOf
from bioeval.scores import BlockReader, are_pairs, codes_of, knows_people, plain
from bioeval.studies.check.counts import medians_to, row_medians
from bioeval.studies.check.findings import (
    Finding,
    listed,
    place_in_words,
)

# Labels that stand for no person, in lower case.
_PLACEHOLDERS = {"", "-1", "nan", "none", "null", "n/a", "na", "unknown", "?", "unlabeled"}

# Metadata columns that name a template.
_NAMES = ("name", "names", "file", "filename", "file_name", "path", "image", "template", "key")

# Fewer subjects than these: intervals over subjects are rough, and worth little.
_ROUGH, _FEW = 30, 10


def label_checks(
    scores: Scores,
    far_targets: Sequence[float],
    symmetric: bool,
    impostors: int | None = None,
    convention: bool = False,
    self_compared: bool | None = None,
) -> Iterator[Finding]:
    """Yield the findings that need no score.

    `symmetric` says of a square matrix if it is; `impostors` is the number of impostor comparisons,
    where they were counted; `convention` says whether a card of re-identification has left out junk
    and cameras already; `self_compared` whether the scores on the diagonal are those of templates
    with themselves, None where no score was read.
    """
    if are_pairs(scores):
        yield _pairs(scores)
        if knows_people(scores):
            yield _labels(scores)
        yield from _list(scores)
        yield _people(scores, int((~scores.genuine).sum()), far_targets)
        return
    if knows_people(scores):
        yield _samples(scores)
        yield _layout(scores, self_compared)
        if not convention:
            yield _labels(scores)
        yield _names(scores)
        if not convention:
            yield _metadata(scores)
        yield from _list(scores)
        if impostors is None:
            impostors = scores._comparisons()[1]
    if impostors is not None:
        if scores.layout == "all-against-all" and symmetric:
            impostors //= 2
        yield _people(scores, impostors, far_targets)


def _samples(scores: Scores) -> Finding:
    """Return the finding about the number of templates of each subject."""
    gallery_sizes = _sizes(codes_of(scores).gallery)
    size = _templates_of_subjects(gallery_sizes)
    if scores.layout == "probe-against-gallery":
        probes = _templates_of_subjects(_sizes(codes_of(scores).probe))
        size = Message("templates-of-both-sides", gallery=size, probes=probes)
    genuine, impostor = scores._comparisons()
    names = codes_of(scores).values
    if not genuine:
        found = Message("every-subject-with-one-template", size=size)
        if scores.layout != "all-against-all":
            found = Message(
                "no-probe-is-enrolled",
                size=size,
                probe=str(scores.probe_labels.dtype),
                gallery=str(scores.gallery_labels.dtype),
            )
        return Finding("samples", "error", found, scores.shape[0])
    if not impostor:
        return Finding(
            "samples", "error", Message("one-subject-compared", size=size), scores.shape[0]
        )
    single = int((gallery_sizes == 1).sum())
    if scores.layout == "all-against-all" and single:
        sizes = np.bincount(codes_of(scores).gallery, minlength=len(names))
        return Finding(
            "samples",
            "note",
            Message("subjects-with-one-template", size=size, subjects=single),
            count=single,
            places=listed(Label(repr(plain(x))) for x in names[sizes == 1]),
        )
    unenrolled = int((~np.isin(codes_of(scores).probe, codes_of(scores).gallery)).sum())
    if unenrolled:
        size = Message("probes-not-enrolled", size=size, probes=unenrolled)
    return Finding("samples", "ok", size)


def _sizes(codes: np.ndarray) -> np.ndarray:
    """Return the number of templates of each subject."""
    return np.unique(codes, return_counts=True)[1]


def _templates_of_subjects(sizes: np.ndarray) -> Message:
    """Return the message about the number of templates of each subject of a side."""
    spread = [int(sizes.min()), float(np.median(sizes)), int(sizes.max())]
    return Message("templates-of-subjects", subjects=len(sizes), templates=spread)


def same_labels(scores: Scores) -> bool:
    """Whether probes and a gallery of other templates have the same list of labels."""
    return (
        scores.layout == "probe-against-gallery"
        and not np.isin(scores.probe_ids, scores.gallery_ids).any()
        and np.array_equal(codes_of(scores).probe, codes_of(scores).gallery)
    )


def _layout(scores: Scores, self_compared: bool | None) -> Finding:
    """Return the finding about the layout, single templates, and equal templates on both sides."""
    m, n = scores.shape
    _, sizes = np.unique(codes_of(scores).gallery, return_counts=True)
    words = scores._layout_in_words.replace("-", " ")
    if scores.layout == "top-k":
        words = "top-K lists"
    layout = Message("layout-of-scores", layout=words, rows=m, columns=n)
    if self_compared is not False and sizes.max() > 1 and same_labels(scores):
        if self_compared:
            found = Message("templates-of-both-sides-equal", layout=layout)
            return Finding("layout", "warning", found, count=m)
        return Finding(
            "layout", "note", Message("labels-of-both-sides-equal", layout=layout), count=m
        )
    if sizes.max() == 1 and scores.layout == "probe-against-gallery":
        return Finding(
            "layout", "note", Message("gallery-of-single-templates", layout=layout), count=n
        )
    return Finding("layout", "ok", layout)


def _spelling(label: object) -> str:
    """Return a label as text, without what a reader does not see or means nothing by.

    These are case, blanks, characters without a width, forms of Unicode, and zeros before a number.
    """
    text = " ".join(str(label).split()).casefold()
    if not text.isascii():
        text = "".join(c for c in text if unicodedata.category(c) != "Cf").strip()
        text = unicodedata.normalize("NFC", text)
    if text.isascii() and text.isdecimal():
        return text.lstrip("0") or "0"
    return text


def _shown(labels: Sequence[object]) -> Text:
    """Return labels of one spelling so that they look different."""
    forms = {unicodedata.normalize("NFC", str(label)) for label in labels}
    texts = map(repr if len(forms) == len(labels) else ascii, labels)
    return Enumeration(list(map(Label, texts)))


def _labels(scores: Scores) -> Finding:
    """Return the finding about labels that look alike and differ, or name no person."""
    codes = scores._pair_codes if are_pairs(scores) else codes_of(scores)
    size = np.bincount(codes.probe, minlength=len(codes.values))
    size += np.bincount(codes.gallery, minlength=len(codes.values))
    present = codes.values[size > 0].tolist()
    alike = defaultdict(list)
    for label in map(plain, present):
        alike[_spelling(label)].append(label)
    variants = [_shown(labels) for labels in alike.values() if len(labels) > 1]
    if variants:
        return Finding(
            "labels",
            "warning",
            Message("labels-in-several-spellings", labels=len(variants)),
            count=len(variants),
            places=listed(variants),
        )
    odd, templates = [], 0
    for label, number in zip(codes.values.tolist(), size.tolist(), strict=True):
        if number > 1 and str(label).strip().casefold() in _PLACEHOLDERS:
            odd.append(Label(repr(plain(label))))
            templates += number
    if odd:
        return Finding(
            "labels",
            "warning",
            Message("labels-of-unknown-people"),
            count=templates,
            places=listed(odd),
        )
    return Finding("labels", "ok", Message("labels-distinct", labels=len(present)))


def _names(scores: Scores) -> Finding:
    """Return the finding about names of templates that occur twice."""
    sides = [("row", scores.probe_meta)]
    if scores.gallery_meta is not scores.probe_meta:
        sides.append(("column", scores.gallery_meta))
    looked = []
    for side, meta in sides:
        for column in _NAMES:
            if column not in meta or not _is_text(meta[column]):
                continue
            looked.append(column)
            repeated = _repeated(meta[column])
            if repeated:
                where = [
                    say("{name:name} ({side}s {rows})", name=repr(name), side=side, rows=listed(x))
                    for name, x in repeated.items()
                ]
                return Finding(
                    "names",
                    "warning",
                    Message("names-repeated", values=len(repeated), column=column),
                    count=sum(map(len, repeated.values())) - len(repeated),
                    places=listed(where),
                )
    shared = _on_both_sides(scores)
    if shared:
        return Finding(
            "names",
            "warning",
            Message("names-on-both-sides"),
            count=len(shared),
            places=listed(Label(repr(name)) for name in shared),
        )
    if not looked:
        return Finding("names", "ok", Message("templates-without-names"))
    return Finding("names", "ok", Message("names-distinct", columns=list(dict.fromkeys(looked))))


def _repeated(names: np.ndarray) -> dict[str, list[int]]:
    """Return the names that occur several times, with their places."""
    places_of = defaultdict(list)
    for place, name in enumerate(names.tolist()):
        places_of[str(name)].append(place)
    return {name: places for name, places in places_of.items() if len(places) > 1}


def _on_both_sides(scores: Scores) -> list[str]:
    """Return the names that templates of both sides have, by the first column with names."""
    if np.isin(scores.probe_ids, scores.gallery_ids).any():
        return []
    for column in _NAMES:
        if column in scores.probe_meta and column in scores.gallery_meta:
            probe, gallery = scores.probe_meta[column], scores.gallery_meta[column]
            if _is_text(probe) and _is_text(gallery):
                return sorted({*map(str, probe)} & {*map(str, gallery)})
    return []


def _is_text(column: np.ndarray) -> bool:
    """Whether a column holds names; numbers may be of anything."""
    return column.dtype.kind == "U" or all(isinstance(x, str) for x in column.tolist())


def _metadata(scores: Scores) -> Finding:
    """Return the finding about sessions and cameras."""
    for name in ("session", "camera"):
        if name not in scores.probe_meta or name not in scores.gallery_meta:
            continue
        number = len(np.unique(scores.probe_meta[name].astype(str)))
        if number < 2 or name in scores.exclude or not _share(scores, name):
            continue
        found = Message("same-session-genuine", sessions=number)
        if name == "camera":
            found = Message("same-camera-genuine", cameras=number)
        return Finding("metadata", "note", found, count=number, places=name)
    known = list(dict.fromkeys([*scores.probe_meta, *scores.gallery_meta]))
    if not known:
        return Finding("metadata", "ok", Message("no-metadata"))
    return Finding("metadata", "ok", Message("metadata-columns", columns=known))


def _share(scores: Scores, column: str) -> bool:
    """Whether two templates of a subject have the same value in a column."""

    def pairs(codes: np.ndarray, values: np.ndarray) -> list[tuple]:
        return list(zip(codes.tolist(), values.astype(str).tolist(), strict=True))

    gallery = pairs(codes_of(scores).gallery, scores.gallery_meta[column])
    if scores.layout == "all-against-all":
        return len(set(gallery)) < len(gallery)
    return bool(set(gallery) & set(pairs(codes_of(scores).probe, scores.probe_meta[column])))


def _pairs(scores: PairScores) -> Finding:
    """Return the finding about the numbers of genuine and impostor pairs."""
    genuine, impostor = int(scores.genuine.sum()), int((~scores.genuine).sum())
    if not genuine or not impostor:
        found = Message(
            "pairs-of-one-class",
            genuine=genuine,
            impostor=impostor,
            lacking="impostor" if genuine else "genuine",
        )
        return Finding("samples", "error", found, scores.shape[0])
    both = Message("pairs-of-both-classes", genuine=genuine, impostor=impostor)
    return Finding("samples", "ok", both)


def _list(scores: Scores) -> Iterator[Finding]:
    """Yield findings about the lines of a list, if its templates have names."""
    if scores._remarks:
        notes = list(scores._remarks)
        yield Finding("list", "note", Message("notes-of-list", notes=notes), len(notes))
    elif are_pairs(scores) and scores._templates is not None:
        yield Finding("list", "ok", Message("pairs-listed-once"))


def _people(scores: Scores, impostors: int, far_targets: Sequence[float]) -> Finding:
    """Return the finding about the number of people that the FAR targets need."""
    subjects = len(scores.subjects) if are_pairs(scores) or knows_people(scores) else 0
    people = ComparedPeople.of_scores(scores)
    size = {"subjects": subjects} if subjects else {}
    size["impostor pairs"] = impostors
    short, rough = [], []
    for far in map(float, far_targets):
        if not RuleOf(3).supports(far, impostors, people):
            short.append(far)
        elif not RuleOf(30).supports(far, impostors, people):
            rough.append(far)
    needs: dict[str, Any] = {}
    if short or rough:
        rule, least = RuleOf(3) if short else RuleOf(30), min(short or rough)
        needed = rule.needed(least, impostors, people)
        needs = {"least": least, "needed": needed, "rule": int(rule)}
    if short:
        found = Message("people-too-few-for-any-error", size=size, targets=short, **needs)
        return Finding("people", "note", found, count=len(short))
    if 0 < subjects < _FEW:
        code = "people-no-population-for-far" if rough else "people-no-population"
        return Finding(
            "people", "note", Message(code, size=size, few=_FEW, **needs), count=subjects
        )
    if rough:
        found = Message("people-too-few-for-30-errors", size=size, targets=rough, **needs)
        return Finding("people", "note", found, count=len(rough))
    if 0 < subjects < _ROUGH:
        found = Message("people-few-for-intervals", size=size)
        return Finding("people", "note", found, count=subjects)
    if not far_targets:
        return Finding("people", "ok", Message("people-counted", size=size))
    enough = Message("people-enough", size=size, targets=list(map(float, far_targets)))
    return Finding("people", "ok", enough)


# Rates of false discoveries at which a template is named, and is certain; and how much nearer to
# another label a certain one is, where 1 is as much as templates usually are to their own.
_NAMED, _CERTAIN, _MIRRORED = 0.1, 0.001, 0.5

#: Most templates that are named.
MOST_NAMED = 1000

# Values of the columns that are kept for the next template.
_KEPT_VALUES = 1 << 22

_MAD = 1.4826  # of a normal distribution, the standard deviation over the MAD


@dataclass(frozen=True)
class Suspects:
    """Templates whose label is likely wrong, the most likely first."""

    rows: np.ndarray  # int64
    nearest: np.ndarray  # int64: the code of the label that each is nearest to
    certain: int  # how many of the first are certain
    judged: int  # how many templates were compared with templates of their own label and of others


def suspect_templates(reader: BlockReader, medians: np.ndarray) -> Suspects:
    """Apply the rule to the medians of all rows, (m, 3), as the kernel writes them."""
    left = _Left(reader, medians)
    natural_zero = reader.scores.kind == "distance" and not (medians[:, :2] < 0).any()
    rows, nearest = list[int](), list[int]()
    certain = judged = 0
    while len(rows) < MOST_NAMED:
        contrast = _contrast(left.same_label, left.near, natural_zero)
        known = contrast[~np.isnan(contrast)]
        judged = judged or len(known)
        middle, spread = _middle_and_spread(known)
        if not (middle < 0 < spread):
            break
        z = (contrast - middle) / spread
        row = int(np.nanargmax(z))
        if not contrast[row] > 0 or not _rejects(z, _NAMED):
            break
        mirrored = contrast[row] >= -_MIRRORED * middle
        certain += certain == len(rows) and mirrored and _rejects(z, _CERTAIN)
        rows.append(row)
        nearest.append(int(reader.gallery.subjects[left.group[row]]))
        likely = np.flatnonzero((contrast > 0) & (z > 0))
        left.take_out(row, likely[np.argsort(-z[likely], kind="stable")])
    return Suspects(
        np.array(rows, dtype=np.int64), np.array(nearest, dtype=np.int64), certain, judged
    )


def label_error_finding(scores: Scores, medians: np.ndarray) -> Finding:
    """Return the finding about templates whose label is likely wrong."""
    suspects = suspect_templates(BlockReader(scores), medians)
    number, rows = len(suspects.rows), np.sort(suspects.rows).tolist()
    if not number:
        found = Message("labels-not-compared")
        if suspects.judged:
            found = Message("labels-agree", templates=suspects.judged)
        return Finding("label-errors", "ok", found)
    return Finding(
        "label-errors",
        "warning" if suspects.certain else "note",
        Message(
            "labels-likely-wrong",
            limit="at least " if number == MOST_NAMED else "",
            templates=number,
            compared=suspects.judged,
        ),
        count=number,
        places=say(
            "{row} {places}",
            row="row" if number == 1 else "rows",
            places=listed((place_in_words(i, scores.probe_meta) for i in rows), 10),
        ),
    )


def _contrast(same_label: np.ndarray, near: np.ndarray, natural_zero: bool) -> np.ndarray:
    """Return ``r_j``, NaN where a template has no distance to its own label or to another."""
    if not natural_zero:
        return same_label - near
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((same_label == 0) & (near == 0), 0.0, np.log(same_label / near))


def _middle_and_spread(known: np.ndarray) -> tuple[float, float]:
    """Return the median, and the standard deviation by the MAD; NaN where half are infinite."""
    if not len(known):
        return np.nan, np.nan
    with np.errstate(invalid="ignore"):
        middle = float(np.median(known))
        return middle, _MAD * float(np.median(abs(known - middle)))


def _rejects(z: np.ndarray, rate: float) -> bool:
    """Whether Benjamini and Hochberg reject any hypothesis; if so, the largest is rejected."""
    from scipy.special import ndtr

    z = z[~np.isnan(z)]
    p = np.sort(ndtr(-z))
    return bool((p <= rate * np.arange(1, len(p) + 1) / len(p)).any())


class _Left:
    """Medians of the templates that remain when some are taken out one after the other."""

    def __init__(self, reader: BlockReader, medians: np.ndarray):
        self.reader, self.gallery = reader, reader.gallery
        self.same_label, self.near = medians[:, 0].copy(), medians[:, 1].copy()
        self.group = medians[:, 2].astype(np.int64)
        self._enrolled = np.ones(reader.scores.shape[1], dtype=bool)
        self._read: dict[int, np.ndarray] = {}

    def take_out(self, row: int, next_rows: np.ndarray) -> None:
        """Remove a template as a probe and from the gallery; `next_rows` are likely next."""
        self.same_label[row] = np.nan
        position, group = self.gallery.probe_position[row], int(self.gallery.probe_group[row])
        if position < 0:
            return
        self._enrolled[self.gallery.columns[0, position]] = False
        if group not in self._read:
            self._read_labels([group, *self.gallery.probe_group[next_rows].tolist()])
        median = medians_to(self._read[group][:, self._enrolled[self._columns(group)]])
        mine = (self.gallery.probe_group == group) & ~np.isnan(self.same_label)
        self.same_label[mine] = median[mine]
        first = (median < self.near) | ((median == self.near) & (group <= self.group))
        again = (self.group == group) & ~first & ~np.isnan(self.same_label)
        first &= self.gallery.probe_group != group
        self.near[first], self.group[first] = median[first], group
        for i in np.flatnonzero(again).tolist():
            values = self.reader.attempted(i, i + 1)
            values[:, ~self._enrolled] = np.nan
            self.near[i], self.group[i] = row_medians(self.reader, i, values)[0, 1:]

    def _columns(self, group: int) -> np.ndarray:
        first, last = self.gallery.starts[group : group + 2]
        return self.gallery.columns[0, first:last]

    def _read_labels(self, groups: list[int]) -> None:
        """Read the columns of the first of these labels, as many as are kept in memory."""
        scores = self.reader.scores
        m = scores.shape[0]
        groups = list(dict.fromkeys(groups))
        ends = np.cumsum(np.diff(self.gallery.starts)[groups])
        groups = groups[: max(1, int(np.searchsorted(ends, _KEPT_VALUES // m, side="right")))]
        columns = list(map(self._columns, groups))
        selected = scores.select(gallery=np.concatenate(columns))
        part = BlockReader(selected._reading_selected_columns())
        step = self.reader.rows_per_block()
        values = np.concatenate(
            [part.attempted(low, min(low + step, m)) for low in range(0, m, step)]
        )
        parts = np.split(values, ends[: len(groups) - 1], axis=1)
        self._read = dict(zip(groups, parts, strict=True))
