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
from typing import Literal

import numpy as np

from bioeval import PairScores, Scores
from bioeval.base import Argument
from bioeval.document import Count, Enumeration, Label, Number, Rate, Text, say
from bioeval.results import ComparedPeople, RuleOf
from bioeval.scores import BlockReader, are_pairs, codes_of, knows_people, plain
from bioeval.studies.check.counts import medians_to, row_medians
from bioeval.studies.check.findings import (
    Finding,
    is_or_are,
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
    sides = [("", codes_of(scores).gallery)]
    if scores.layout == "probe-against-gallery":
        sides = [("gallery: ", codes_of(scores).gallery), ("probes: ", codes_of(scores).probe)]
    messages: list[Text] = []
    single = 0
    for side, codes in sides:
        _, sizes = np.unique(codes, return_counts=True)
        if not messages:
            single = int((sizes == 1).sum())
        spread = say("{number:count templates} each", number=int(sizes[0]))
        if sizes.min() < sizes.max():
            spread = say(
                "{least:count} to {most:count templates} each (median {median})",
                least=int(sizes.min()),
                most=int(sizes.max()),
                median=Number(float(np.median(sizes)), digits=6),
            )
        messages.append(
            say(
                "{side}{subjects:count subjects} with {spread}",
                side=side,
                subjects=len(sizes),
                spread=spread,
            )
        )
    message: Text = Enumeration(messages, ";")
    genuine, impostor = scores._comparisons()
    names = codes_of(scores).values
    if not genuine:
        why = "every subject has one template"
        remedy: Text = "give several templates of each subject"
        if scores.layout != "all-against-all":
            why = "no probe's subject is in the gallery"
            remedy = "check that both sides use the same labels"
            probe_type, gallery_type = scores.probe_labels.dtype, scores.gallery_labels.dtype
            if probe_type != gallery_type:
                remedy = say(
                    "{remedy}: they are {probe:name} and {gallery:name}",
                    remedy=remedy,
                    probe=str(probe_type),
                    gallery=str(gallery_type),
                )
        return Finding(
            "samples",
            "error",
            say(
                "{message}; {why}: there is no genuine comparison: {frr} is not defined",
                message=message,
                why=why,
            ),
            count=scores.shape[0],
            advice=remedy,
        )
    if not impostor:
        return Finding(
            "samples",
            "error",
            say(
                "{message}; there is no impostor comparison: {far} is not defined",
                message=message,
            ),
            count=scores.shape[0],
            advice="give templates of several subjects",
        )
    if scores.layout == "all-against-all" and single:
        sizes = np.bincount(codes_of(scores).gallery, minlength=len(names))
        return Finding(
            "samples",
            "note",
            say(
                "{message}; {single:count subjects} with one template",
                message=message,
                single=single,
            ),
            count=single,
            places=listed(Label(repr(plain(x))) for x in names[sizes == 1]),
            advice="they make impostor comparisons alone, and are left out of closed-set "
            "identification",
        )
    unenrolled = int((~np.isin(codes_of(scores).probe, codes_of(scores).gallery)).sum())
    if unenrolled:
        message = say(
            "{message}; {probes:count probes} of subjects that are not enrolled",
            message=message,
            probes=unenrolled,
        )
    return Finding("samples", "ok", message)


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
    message = say(
        "{layout}, {rows:count} x {columns:count}",
        layout=scores._layout_in_words.replace("-", " "),
        rows=m,
        columns=n,
    )
    if self_compared is not False and sizes.max() > 1 and same_labels(scores):
        nearest = ""
        if self_compared:
            nearest = ", and each probe is nearest to the template in its own place"
        return Finding(
            "layout",
            "warning" if self_compared else "note",
            say(
                "{message}; probe and gallery labels are the same list{nearest}",
                message=message,
                nearest=nearest,
            ),
            count=m,
            advice=say(
                "if these are the same templates, leave {arg.gallery_labels} out: else each is "
                "compared with itself, a genuine attempt that never fails"
            ),
        )
    if sizes.max() == 1 and scores.layout == "probe-against-gallery":
        return Finding(
            "layout",
            "note",
            say("{message}; the gallery has one template of each subject", message=message),
            count=n,
            advice="single- and multi-template verification are the same, and so are ranks of "
            "templates and of subjects",
        )
    return Finding("layout", "ok", message)


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
            say(
                "{variants:count labels} in several spellings, counted as different subjects",
                variants=len(variants),
            ),
            count=len(variants),
            places=listed(variants),
            advice="if they are the same people, write their labels alike: their genuine pairs are "
            "counted as impostors",
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
            "labels for unknown people are counted as one subject",
            count=templates,
            places=listed(odd),
            advice="leave these templates out, mask them, or evaluate under a re-identification "
            "card to remove junk",
        )
    return Finding("labels", "ok", say("{labels:count distinct labels}", labels=len(present)))


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
                    say(
                        "{values:count} values of {column:name} {are} there more than once",
                        values=len(repeated),
                        column=column,
                        are=is_or_are(len(repeated)),
                    ),
                    count=sum(map(len, repeated.values())) - len(repeated),
                    places=listed(where),
                    advice="leave the repetitions out, unless these are several templates of one "
                    "file",
                )
    shared = _on_both_sides(scores)
    if shared:
        return Finding(
            "names",
            "warning",
            "templates of the same name are on both sides, and are compared",
            count=len(shared),
            places=listed(Label(repr(name)) for name in shared),
            advice="take them out of one side: a template that is compared with itself never fails",
        )
    message: Text = "templates have no names"
    if looked:
        columns = listed(map(Label, dict.fromkeys(looked)))
        message = say("all values of {columns} differ", columns=columns)
    return Finding("names", "ok", message)


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
        return Finding(
            "metadata",
            "note",
            say(
                "templates of {number}; genuine pairs of the same {name} are counted too, and "
                "flatter the system",
                number=Count(number, noun=f"{name}s"),
                name=name,
            ),
            count=number,
            places=name,
            advice=say(
                "{exclude} leaves them out{card}",
                exclude=Argument("exclude", name),
                card=", or a card of re-identification" if name == "camera" else "",
            ),
        )
    known = list(map(Label, dict.fromkeys([*scores.probe_meta, *scores.gallery_meta])))
    message: Text = "no metadata"
    if known:
        message = say("columns: {columns}", columns=Enumeration(known, ""))
    return Finding("metadata", "ok", message)


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
    message = say(
        "{genuine:count genuine pairs}, {impostor:count impostor pairs}",
        genuine=genuine,
        impostor=impostor,
    )
    if not genuine or not impostor:
        lacking = "impostor" if genuine else "genuine"
        return Finding(
            "samples",
            "error",
            say(
                "{message}; a rate of {lacking} attempts is not defined",
                message=message,
                lacking=lacking,
            ),
            count=scores.shape[0],
            advice=f"give {lacking} pairs too",
        )
    return Finding("samples", "ok", message)


def _list(scores: Scores) -> Iterator[Finding]:
    """Yield findings about the lines of a list, if its templates have names."""
    if scores._remarks:
        remarks = Enumeration(scores._remarks, ";")
        yield Finding("list", "note", remarks, len(scores._remarks))
    elif are_pairs(scores) and scores._templates is not None:
        yield Finding("list", "ok", "each pair of templates is listed once, and none with itself")


def _people(scores: Scores, impostors: int, far_targets: Sequence[float]) -> Finding:
    """Return the finding about the number of people that the FAR targets need."""
    subjects = len(scores.subjects) if are_pairs(scores) or knows_people(scores) else 0
    people = ComparedPeople.of_scores(scores)
    numbers = [Count(impostors, noun="impostor pairs")]
    if subjects:
        numbers.insert(0, Count(subjects, noun="subjects"))
    message = Enumeration(numbers, "")
    short, rough = [], []
    for far in far_targets:
        if not RuleOf(3).supports(far, impostors, people):
            short.append(far)
        elif not RuleOf(30).supports(far, impostors, people):
            rough.append(far)
    remedy: Text = "see bioeval sample-size"
    if short or rough:
        rule = RuleOf(3) if short else RuleOf(30)
        least = min(short or rough)
        wanted = rule.needed(least, impostors, people)
        remedy = say(
            "{far} {least:rate} needs at least {wanted} (rule of {rule}); {remedy}",
            least=least,
            wanted=wanted,
            rule=str(rule),
            remedy=remedy,
        )
    if short:
        too_few = say(
            "{message}: too few for {far} {targets}, even without a {false accept} (rule of 3)",
            message=message,
            targets=_rates(short),
        )
        return Finding("people", "note", too_few, count=len(short), advice=remedy)
    if 0 < subjects < _FEW:
        return Finding(
            "people",
            "note",
            say(
                "{message}: fewer than {few:count} people cannot represent a population",
                message=message,
                few=_FEW,
            ),
            count=subjects,
            advice=remedy,
        )
    if rough:
        expected = say(
            "{message}: fewer than 30 errors are expected at {far} {targets} (rule of 30)",
            message=message,
            targets=_rates(rough),
        )
        return Finding("people", "note", expected, count=len(rough), advice=remedy)
    if 0 < subjects < _ROUGH:
        return Finding(
            "people",
            "note",
            say("{message}: intervals over few people are rough", message=message),
            count=subjects,
            advice=remedy,
        )
    if not far_targets:
        return Finding("people", "ok", message)
    enough = say(
        "{message}: enough for {far} {targets}", message=message, targets=_rates(far_targets)
    )
    return Finding("people", "ok", enough)


def _rates(targets: Sequence[float]) -> Enumeration:
    return Enumeration(list(map(Rate, targets)), "")


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
        message: Text = "no template has scores of its own label and of others"
        if suspects.judged:
            message = say(
                "{judged:count templates} compared: none is much nearer to another subject than "
                "to its own",
                judged=suspects.judged,
            )
        return Finding("label-errors", "ok", message)
    least: Literal["", "at least"] = "at least" if number == MOST_NAMED else ""
    row, are, their = ("row", "is", "its") if number == 1 else ("rows", "are", "their")
    return Finding(
        "label-errors",
        "warning" if suspects.certain else "note",
        say(
            "{templates} {are} much nearer to another label than to {their} own, of "
            "{judged:count} compared",
            templates=Count(number, noun="templates", bound=least),
            are=are,
            their=their,
            judged=suspects.judged,
        ),
        count=number,
        places=say(
            "{row} {places}",
            row=row,
            places=listed((place_in_words(i, scores.probe_meta) for i in rows), 10),
        ),
        advice="inspect these templates and correct their labels; be.worst_pairs, or bioeval run "
        "--worst 20, gives the label that each is nearest to",
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
