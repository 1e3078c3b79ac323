"""Scores of a list with known columns: the class and subjects of each pair; their matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bioeval.base.errors import DataError, counted
from bioeval.base.memory import require_memory
from bioeval.base.messages import Message
from bioeval.scores.arrays import Mask
from bioeval.scores.bona_fide import is_bona_fide
from bioeval.scores.columns import CodedSides, places_among, united
from bioeval.scores.formats.format import ReadOptions, say
from bioeval.scores.formats.pair_layouts import PairLayout, misspelt
from bioeval.scores.formats.spellings import is_attack
from bioeval.scores.formats.text_table import Columns, TextColumn
from bioeval.scores.formats.trials import (
    MediaList,
    has_three_classes,
    join,
    read_media,
    scores_in_order,
    truth_of,
)
from bioeval.scores.labels import as_objects, natural_places
from bioeval.scores.listed_templates import ListRules, places, subject_pattern
from bioeval.scores.matrix import Scores
from bioeval.scores.pairs import PairList

Two = tuple[TextColumn, TextColumn]

EXAMPLES = 3


def templates_of(table: Columns, layout: PairLayout, subjects: Two | None) -> CodedSides | None:
    """Return the templates of both sides of each line; None where the list does not name them.

    `subjects` are those that columns of the list name. A name that several subjects share is one
    within its subject, and a single one that all share stands for no template. Enrolled templates
    and probes that are numbered, and names that are of other subjects on the other side, are two
    sets of templates.
    """
    if layout.templates is None or not layout.names_templates:
        return None
    first, second = layout.templates
    a, b = table.text[first], table.text[second]
    shared = set()
    if not layout.numbers_sides and (layout.header or layout.subjects is not None):
        shared = set(a.values).intersection(b.values)
    one_set = not shared or not all(map(str.isdigit, shared))
    if subjects is None:
        return both_sides(a, b, one_set)
    whose_a, whose_b = _subject_of_name(a, subjects[0]), _subject_of_name(b, subjects[1])
    for names, whose in ((a, whose_a), (b, whose_b)):
        if whose is None and len(names.values) == 1:
            return None
    if whose_a is None or whose_b is None:
        apart = within = True
    else:
        # Whether a name is of one subject on one side, and of another on the other.
        apart = any(whose_a[name] != whose_b[name] for name in whose_a.keys() & whose_b.keys())
        within = apart and layout.numbers_sides
    if within:
        a, b = _within(a, subjects[0]), _within(b, subjects[1])
        return both_sides(a, b, layout.numbers_sides)
    return both_sides(a, b, one_set and not apart)


def templates_of_two(
    first: Columns, second: Columns, layout: PairLayout, other: PairLayout
) -> CodedSides | None:
    """Return the templates of the lines of two files, of genuine and of impostor scores."""
    if not (layout.names_templates and other.names_templates):
        return None
    sides = []
    for i, j in zip(layout.templates or (), other.templates or (), strict=True):
        column, more = first.text[i], second.text[j]
        column.append_codes(more.codes, more.values)
        sides.append(column)
    a, b = sides
    return both_sides(a, b)


def both_sides(a: TextColumn, b: TextColumn, one_set: bool = True) -> CodedSides:
    """Return two columns under one numbering; in two sets, names of side b are marked."""
    if one_set:
        values, other = united(a.values, b.values)
    else:
        values = [*a.values, *map("{} (b)".format, b.values)]
        other = np.arange(len(a.values), len(values))
    return CodedSides(values, a.codes, other.astype(np.int32)[b.codes])


def _subject_of_name(names: TextColumn, who: TextColumn) -> dict[str, str] | None:
    """Return the subject of each name; None where a name belongs to several."""
    whose = np.zeros(len(names.values), dtype=np.int32)
    whose[names.codes] = who.codes
    if (whose[names.codes] != who.codes).any():
        return None
    return {name: who.values[code] for name, code in zip(names.values, whose, strict=True)}


def _within(names: TextColumn, who: TextColumn) -> TextColumn:
    """Return names made unique by their subjects."""
    key = who.codes.astype(np.int64) * len(names.values) + names.codes
    distinct, codes = np.unique(key, return_inverse=True)
    words = []
    for code in distinct.tolist():
        subject, name = divmod(code, len(names.values))
        words.append(f"{names.values[name]!r} of {who.values[subject]!r}")
    unique = TextColumn()
    unique.append_codes(codes.reshape(-1), words)
    return unique


# ------------------------------------------------------------------------- a list


def how_read(path: Path, layout: PairLayout, options: ReadOptions) -> dict[str, str]:
    """Return kind, policy for NaN and name of the scores of a list."""
    if layout.kind and options.kind not in (None, layout.kind):
        name = layout.names[layout.score or 0]
        raise DataError(
            f"{path}: the column {name!r} declares the kind {layout.kind}; "
            f"{say('kind', options.kind)} contradicts it"
        )
    hint = f", or name the column distance or similarity{misspelt(layout.names)}"
    kind = layout.kind or options.required_kind(path, hint)
    name = path.name.split(".")[0] or path.stem
    return {"kind": kind, "nan": options.nan or "raise", "name": name}


def pairs_of_columns(
    table: Columns, layout: PairLayout, options: ReadOptions, how: dict[str, Any]
) -> Scores:
    """Return the pairs of a table whose columns are known, or their matrix."""
    if options.pairs is not None:
        for option in ("impostor", "subject_from", "labels", "lists.as"):
            if option in options.in_use():
                raise DataError(f"{say(option)} has no meaning with {say('pairs')}; leave it out")
        if layout.genuine is not None or layout.templates or layout.subjects:
            raise DataError(
                f"{table.path}: marks genuine pairs or names its templates; {say('pairs')} needs "
                "the scores alone, one per line, in the order of its pairs"
            )
        return scores_in_order(table.path, table.numbers[layout.score or 0], how["kind"], options)
    return _Pairs(table, layout, options).scores(how)


class _Pairs:
    """The pairs of a table: the rows that are kept, and what is known about them."""

    def __init__(self, table: Columns, layout: PairLayout, options: ReadOptions):
        """Find the class and the subjects of each pair."""
        self.table, self.layout, self.options = table, layout, options
        self.rows: np.ndarray | None = None  # None: all
        #: Whether each row that is kept has its names in the other order than its trial.
        self.exchanged: np.ndarray | None = None
        self.notes: list[Message] = []
        self.reading: tuple[str, ...] = ()
        genuine = None
        if options.trials is not None:
            genuine = self._join(options.trials)
        elif layout.genuine is not None:
            genuine = truth_of(table.text[layout.genuine], table, layout.names[layout.genuine])
        media = None if options.labels is None else read_media(options.labels)
        self.subjects = self._subjects(media, genuine is not None)
        self.meta: dict[str, Two] = {}  # columns of both templates of each row
        #: Columns of the table of templates that are no metadata, and why.
        self.left_out: Mapping[str, str] = {}
        if media is not None:
            columns, self.left_out = media.metadata(options.meta)
            self.meta = {name: self._of_templates(values) for name, values in columns.items()}
        elif options.meta:
            raise DataError(
                f"{options.said('meta')} names metadata, and a list of pairs has none; give the "
                f"table of its templates as {say('labels')}"
            )
        for name in options.subject_from.metadata if options.subject_from is not None else ():
            self.meta[name] = self._from_names(name)
        if genuine is None and self.subjects is None:
            names = self._all_names()
            advice = say("subject_from", subject_pattern(names) if names else None)
            raise DataError(
                f"{table.path}: does not mark genuine pairs; give the list of trials as "
                f"{say('trials')}, or the part of a name that is its subject as "
                f"{advice}{misspelt(layout.names)}"
            )
        if genuine is None and self.subjects is not None:
            a, b = self.subjects
            genuine = a.codes == places_among(a.values, b.values)[b.codes]
        assert genuine is not None
        self.genuine: np.ndarray = genuine

    def _join(self, trials: Path) -> np.ndarray:
        """Return the classes of the pairs by the list of trials; keep the pairs that it has."""
        layout, path = self.layout, self.table.path
        if layout.templates is None:
            raise DataError(f"{path}: has no names of templates; {say('trials')} needs them")
        if layout.genuine is not None:
            raise DataError(
                f"{path}: {layout.names[layout.genuine]} marks genuine pairs; leave out "
                f"{say('trials')}"
            )
        joined = join(self.table, layout, trials, self.options)
        self.rows, self.exchanged, self.notes = joined.rows, joined.exchanged, joined.notes
        return joined.genuine

    def kept(self, column: np.ndarray) -> np.ndarray:
        """Return a column of the rows that are kept."""
        return column if self.rows is None else column[self.rows]

    def kept_sides(self, sides: CodedSides) -> CodedSides:
        """Return both sides of the rows that are kept."""
        return CodedSides(sides.values, self.kept(sides.a), self.kept(sides.b))

    def take(self, choice: np.ndarray) -> None:
        """Keep some of the pairs."""
        self.rows = np.flatnonzero(choice) if self.rows is None else self.rows[choice]
        self.exchanged = None if self.exchanged is None else self.exchanged[choice]
        self.genuine = self.genuine[choice]

    def where(self, numbers: Sequence[int]) -> str:
        """Name the lines of some pairs."""
        rows = np.asarray(numbers, dtype=np.int64)
        if self.rows is not None:
            rows = self.rows[rows]
        return places(self.table.noun, self.table.lines(rows.tolist()))

    def scores(self, how: dict[str, Any]) -> Scores:
        """Return the scores of the pairs, or their matrix."""
        table, layout, options = self.table, self.layout, self.options
        as_matrix = options.as_ == "matrix"
        rules = ListRules.parse(options.keep, options.unordered)
        if as_matrix and options.keep:
            raise DataError(
                f"{say('lists.keep', options.keep[0])} has no meaning with "
                f"{say('lists.as', 'matrix')}: a matrix has one cell for each pair, and none for a "
                "template with itself"
            )
        fold = None
        if layout.fold is not None and not as_matrix:
            fold = self.kept(table.text[layout.fold].objects()).astype(str)
        values = table.numbers[layout.score or 0]
        listed = PairList.of(
            self.kept(values),
            self.genuine,
            pair_folds=fold,
            subjects=self.kept_sides(both_sides(*self.subjects)) if self.subjects else None,
            pair_templates=self._templates(),
            meta={name: self.kept_sides(both_sides(*two)) for name, two in self.meta.items()},
        )
        listed = replace(listed, attack=self._attacks())
        if as_matrix and listed.attack is not None:
            raise DataError(
                f"{table.path}: has attack presentations; a matrix has no place for them; leave "
                f"out {say('lists.as', 'matrix')}"
            )
        bona_fide = self._has_classes and listed.attack is None
        keep, notes = listed.examined(rules, how["kind"], self.where, bona_fide)
        if keep is not None:
            self.take(keep)
            listed = listed.kept(keep)
        if as_matrix:
            scores = self._matrix(how)
        else:
            failed = None
            for row in np.flatnonzero(np.isnan(listed.values))[:1].tolist():
                failed = row, f"on {self.where([row])} of {table.path.name}"
            listed = replace(listed, unordered=rules.unordered, failed_at=failed)
            if self.exchanged is not None and self.exchanged.any():
                listed = listed.exchanged(self.exchanged)
            scores = Scores._of_pairs(listed, **how)
        return scores._with(
            _remarks=(*scores._remarks, *self.notes, *notes),
            _reading=self.reading,
            _columns_left_out=self.left_out,
        )

    def _templates(self) -> CodedSides | None:
        subjects = self.subjects if self.layout.subjects is not None else None
        names = templates_of(self.table, self.layout, subjects)
        if names is None:
            return None
        names = self.kept_sides(names)
        same = names.a == names.b
        # Names that are equal in every genuine pair, and in no impostor pair, are of subjects.
        if same.any() and np.array_equal(same, self.genuine) and not self.layout.numbers_sides:
            return None
        return names

    # --------------------------------------------------------------------- classes

    @property
    def _classes(self) -> TextColumn | None:
        """The words of the class of each pair, if the list has them."""
        return None if self.layout.genuine is None else self.table.text.get(self.layout.genuine)

    @property
    def _has_classes(self) -> bool:
        """Whether no class is that of attacks: an attack is on the subject that it claims."""
        return self._classes is None or not any(map(is_attack, self._classes.values))

    def _attacks(self) -> np.ndarray | None:
        """Return the species of each pair, empty for bona fide; None of a list without attacks.

        Filled cells of a column of species win over the class; an attack without a species has the
        word of its class. Two classes alone are those of attack detection.
        """
        words, column = self._classes, self.layout.species
        by_class = words is not None and has_three_classes(words)
        if not by_class and (column is None or not self._has_classes):
            return None
        species = np.full(len(self.table.numbers[self.layout.score or 0]), "", dtype=object)
        if by_class and words is not None:
            named = [word if is_attack(word) else "" for word in words.values]
            species = np.array(named, dtype=object)[words.codes]
        if column is not None:
            cells = self.table.text[column]
            named = ["" if is_bona_fide(word) else word for word in cells.values]
            filled = np.array(named, dtype=object)[cells.codes]
            species = np.where(filled == "", species, filled)
        return self.kept(species.astype(str)) if (species != "").any() else None

    # --------------------------------------------------------------------- subjects

    def _subjects(self, media: MediaList | None, marked: bool) -> Two | None:
        """Return the subjects of both sides, from columns, parts of names or a table.

        `media` is the table of templates; `marked` is whether genuine pairs are known.
        """
        pattern = self.options.subject_from
        for option in ("subject_from", "labels"):
            if getattr(self.options, option) is not None:
                self._require_names(say(option))
        known = media is not None and media.subjects() is not None
        if self.layout.subjects is not None:
            one, other = self.layout.subjects
            listed = self.table.text[one], self.table.text[other]
            if media is not None and known:
                self._require_agreement(listed, self._of_templates(media.subject_of()), "labels")
            if pattern is not None:
                self._require_agreement(listed, self._from_names(), "subject_from")
                self.reading = ("subjects as listed, equal to those from names",)
            return listed
        if pattern is not None:
            a, b = self._from_names()
            names, shown = self._names()[0], {}
            for name, subject in zip(names.codes[:EXAMPLES], a.codes[:EXAMPLES], strict=True):
                shown[names.values[name]] = a.values[subject]
            self.reading = (named_by(shown),)
            return a, b
        # A table without subjects has metadata alone, where the list marks its genuine pairs.
        if media is None or (not known and media.more and marked):
            return None
        return self._of_templates(media.subject_of())

    def _require_names(self, option: Any, advice: str = "") -> None:
        if not self.layout.templates or len(self.layout.templates) != 2:
            raise DataError(
                f"{self.table.path}: has no names of templates for "
                f"{option}{advice}{misspelt(self.layout.names)}"
            )

    def _names(self) -> list[TextColumn]:
        """Return the names of the templates, of both sides where the list has them."""
        return [self.table.text[i] for i in self.layout.templates or ()]

    def _all_names(self) -> list[str]:
        return [*dict.fromkeys(name for column in self._names() for name in column.values)]

    def _from_names(self, part: str = "subject") -> Two:
        """Return the subjects, or another part of the names of the templates, of both sides."""
        assert self.options.subject_from is not None
        every, sides = self._all_names(), []
        for column in self._names():

            def where(code: int, column: TextColumn = column) -> str:
                return self.table.at(int(np.argmax(column.codes == code)))

            parts = self.options.subject_from.parts(column.values, part, where, every)
            sides.append(column.renamed(parts))
        return sides[0], sides[1]

    def _of_templates(self, values: Mapping[str, str]) -> Two:
        """Return the values of the templates of both sides of each row, from a table."""
        every = self._all_names()
        missing = [name for name in every if name not in values]
        if missing:
            some = ", ".join(map(repr, missing[:EXAMPLES]))
            more = ", ..." if len(missing) > EXAMPLES else ""
            raise DataError(
                f"{self.table.path}: {self.options.labels} lacks "
                f"{counted(len(missing), 'templates')} of {len(every):,}: {some}{more}; add them "
                "to the table, or leave their pairs out"
            )
        a, b = (x.renamed([values[name] for name in x.values]) for x in self._names())
        return a, b

    def _require_agreement(
        self, listed: Two, others: Two, option: Literal["labels", "subject_from"]
    ) -> None:
        for mine, theirs in zip(listed, others, strict=True):
            place = places_among(theirs.values, mine.values)
            for row in np.flatnonzero(place[mine.codes] != theirs.codes)[:1].tolist():
                raise DataError(
                    f"{self.table.at(row)}: the subject is {mine.values[mine.codes[row]]!r}, and "
                    f"by {say(option)} it is {theirs.values[theirs.codes[row]]!r}; correct one of "
                    "the two"
                )

    # --------------------------------------------------------------------- a matrix

    def _matrix(self, how: dict[str, Any]) -> Scores:
        """Return the pairs as a matrix of the probes against the gallery."""
        advice = "; expected two columns such as template_a and template_b"
        self._require_names(say("lists.as", "matrix"), advice)
        sides = []
        for i, column in enumerate(self._names()):
            who = None if self.subjects is None else self._owners(column, self.subjects[i])
            names = column.values
            if self.layout.claims and not i:
                names = [*map("claim {}".format, names)]
            meta = {word: self._owners(column, two[i]) for word, two in self.meta.items()}
            sides.append(_Side(self.kept(column.codes), names, who, meta))
        if self.exchanged is not None and self.exchanged.all():
            sides.reverse()
        gallery, probe = sides
        values = self.kept(self.table.numbers[self.layout.score or 0])
        unordered = bool(self.options.unordered)
        return _as_matrix(self.table.path, values, self.genuine, probe, gallery, unordered, how)

    def _owners(self, column: TextColumn, subjects: TextColumn) -> np.ndarray:
        """Return the subject of each template that a column names."""
        whose = np.empty(len(column.values), dtype=np.int64)
        whose[column.codes[::-1]] = subjects.codes[::-1]  # the first line of a name decides
        for row in np.flatnonzero(whose[column.codes] != subjects.codes)[:1]:
            code = column.codes[row]
            first = int(np.argmax(column.codes == code))
            raise DataError(
                f"{self.table.at(row)}: the template {column.values[code]!r} is of the subject "
                f"{subjects.values[subjects.codes[row]]!r}, and on line {self.table.line(first)} "
                f"of {subjects.values[whose[code]]!r}; a matrix needs a different name for each "
                "template"
            )
        return np.array(subjects.values, dtype=object)[whose]


def named_by(shown: dict[str, str]) -> str:
    """Return a note on which subjects were found in names of templates."""
    return "subjects from names: " + ", ".join(f"{k} -> {v}" for k, v in shown.items())


# ------------------------------------------------------------------------- a matrix

# Proportion of pairs listed in one order only from which a matrix is taken for half of one.
_MOSTLY = 0.9


@dataclass(frozen=True)
class _Side:
    """The templates of one side of a list: the code of each pair's, their names and subjects."""

    codes: np.ndarray
    names: list[str]
    subjects: np.ndarray | None
    meta: Mapping[str, np.ndarray] = field(default_factory=dict)  # of each of the names

    def in_order(self) -> _Side:
        """Return the templates in the natural order of their names, whatever that of the lines."""
        order = np.argsort(natural_places(as_objects(self.names)), kind="stable")
        place = np.argsort(order)
        return _Side(
            place[self.codes],
            [self.names[i] for i in order.tolist()],
            None if self.subjects is None else self.subjects[order],
            {name: values[order] for name, values in self.meta.items()},
        )


def _as_matrix(
    path: Path,
    values: np.ndarray,
    genuine: np.ndarray,
    probe: _Side,
    gallery: _Side,
    unordered: bool,
    how: dict[str, Any],
) -> Scores:
    """Return the scores of listed pairs as a matrix; other cells are excluded comparisons.

    Where probes and gallery share a name, both are one set of templates. The truth is that of the
    subjects, else `genuine`. With `unordered`, a comparison that is not listed has the score of the
    other order.
    """
    shared = len(set(probe.names).intersection(gallery.names))
    square = shared > 0
    if square:
        gallery, probe = _one_set(path, gallery, probe)
    gallery, probe = gallery.in_order(), probe.in_order()
    shape = (len(probe.names), len(gallery.names))
    require_memory(
        9 * shape[0] * shape[1],
        f"{path}: a matrix of {shape[0]:,} x {shape[1]:,}",
        "evaluate it as a list of pairs",
    )
    matrix = np.zeros(shape)
    mask = np.full(shape, Mask.IGNORE, dtype=np.uint8)
    cells = (probe.codes, gallery.codes)
    labels: dict[str, Any] = {}
    if probe.subjects is not None and gallery.subjects is not None:
        genuine = probe.subjects[probe.codes] == gallery.subjects[gallery.codes]
        labels["labels"] = probe.subjects
        if not square:
            labels["gallery_labels"] = gallery.subjects
    matrix[cells] = values
    mask[cells] = np.where(genuine, Mask.GENUINE, Mask.IMPOSTOR)
    written = int((mask != Mask.IGNORE).sum())
    again = len(values) - written
    different = ~np.isclose(matrix[cells], values, rtol=0, atol=0, equal_nan=True)
    if different.any():
        row = int(np.argmax(different))
        raise DataError(
            f"{path}: {again:,} pairs are listed more than once, {int(different.sum()):,} of them "
            f"with another score; the first: {probe.names[probe.codes[row]]!r} against "
            f"{gallery.names[gallery.codes[row]]!r}; templates with one name each are needed for a "
            "matrix"
        )
    notes = []
    if again:
        notes.append(Message("repeated-pairs", pairs=again, how="", remedy=""))
    if square:
        lone = mask[cells[::-1]] == Mask.IGNORE
        number = int(lone.sum())
        if unordered:
            other = (cells[1][lone], cells[0][lone])
            matrix[other], mask[other] = matrix.T[other], mask.T[other]
            written = int((mask != Mask.IGNORE).sum())
        elif number >= _MOSTLY * len(values) and 2 * shared >= shape[0]:
            consequence = ", so that searches and multi-template attempts lack the other one"
            about = {"one_order": number, "pairs": len(values), "consequence": consequence}
            notes.append(Message("pairs-in-one-order", **about))
    holes = matrix.size - written - (shape[0] if square else 0)
    if holes:
        notes.append(Message("not-listed", missing=holes, comparisons=matrix.size))
    meta = [
        {"template": np.array(side.names, dtype=object), **side.meta} for side in (probe, gallery)
    ]
    scores = Scores(
        matrix,
        **labels,
        mask=mask if holes or not labels else None,
        probe_meta=meta[0],
        gallery_meta=None if square and labels else meta[1],
        **how,
    )
    return scores._with(_remarks=tuple(notes))


def _one_set(path: Path, first: _Side, second: _Side) -> tuple[_Side, _Side]:
    """Return both sides as the same templates."""
    names, other = united(first.names, second.names)
    subjects = None
    if first.subjects is not None and second.subjects is not None:
        subjects = np.empty(len(names), dtype=object)
        subjects[other] = second.subjects
        two = subjects[: len(first.names)] != first.subjects
        for i in np.flatnonzero(two & np.isin(np.arange(len(first.names)), other))[:1]:
            raise DataError(
                f"{path}: the template {first.names[i]!r} is of {first.subjects[i]!r} on one side "
                f"and of {subjects[i]!r} on the other"
            )
        subjects[: len(first.names)] = first.subjects
    meta = {}
    for name, values in first.meta.items():
        meta[name] = np.empty(len(names), dtype=object)
        meta[name][other] = second.meta[name]
        meta[name][: len(first.names)] = values
    codes = first.codes, other[second.codes]
    return _Side(codes[0], names, subjects, meta), _Side(codes[1], names, subjects, meta)
