"""Scores of a list with known columns: the class and subjects of each pair; their matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bioeval.base.errors import DataError, counted
from bioeval.base.kinds import Kind
from bioeval.base.memory import require_memory
from bioeval.base.messages import Message
from bioeval.scores.arrays import Mask
from bioeval.scores.columns import CodedSides, places_among, united
from bioeval.scores.formats.format import NamePattern, ReadOptions, say
from bioeval.scores.formats.pair_layouts import PairLayout, misspelt
from bioeval.scores.formats.spellings import is_attack, no_species
from bioeval.scores.formats.text_table import Columns, TextColumn
from bioeval.scores.formats.trials import (
    JoinedTrials,
    MediaList,
    has_three_classes,
    join,
    read_media,
    scores_in_order,
    truth_of,
)
from bioeval.scores.listed_templates import ListRules, places, subject_pattern
from bioeval.scores.matrix import Scores
from bioeval.scores.pairs import PairScores

Two = tuple[TextColumn, TextColumn]


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


def are_subjects(names: CodedSides, genuine: np.ndarray) -> bool:
    """Whether names are those of subjects: equal in every genuine pair, and in no impostor pair."""
    same = names.a == names.b
    return bool(same.any()) and np.array_equal(same, genuine)


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


# Proportion of pairs listed in one order only from which a matrix is taken for half of one.
_MOSTLY = 0.9


@dataclass(frozen=True)
class Side:
    """The templates of one side of a list: the code of each pair's, their names and subjects."""

    codes: np.ndarray
    names: list[str]
    subjects: np.ndarray | None
    meta: Mapping[str, np.ndarray] = field(default_factory=dict)  # of each of the names


def as_matrix(
    path: Path,
    values: np.ndarray,
    genuine: np.ndarray | None,
    probe: Side,
    gallery: Side,
    options: ReadOptions,
    **how: Any,
) -> Scores:
    """Return the scores of listed pairs as a matrix; other cells are excluded comparisons.

    Where probes and gallery share a name, both are one set of templates. The truth is that of the
    subjects, else `genuine`. Where the options say that pairs are unordered, a comparison that is
    not listed has the score of the other order.
    """
    shared = len(set(probe.names).intersection(gallery.names))
    square = shared > 0
    if square:
        gallery, probe = _one_set(path, gallery, probe)
    shape = (len(probe.names), len(gallery.names))
    require_memory(
        9 * shape[0] * shape[1],
        f"{path}: a matrix of {shape[0]:,} x {shape[1]:,}",
        "evaluate it as a list of pairs",
    )
    matrix = np.zeros(shape)
    mask = np.full(shape, Mask.IGNORE, dtype=np.uint8)
    cells = (probe.codes, gallery.codes)
    truth = genuine
    if probe.subjects is not None and gallery.subjects is not None:
        truth = probe.subjects[probe.codes] == gallery.subjects[gallery.codes]
    if truth is None:
        raise DataError(f"{path}: does not mark genuine pairs")
    matrix[cells] = values
    mask[cells] = np.where(truth, Mask.GENUINE, Mask.IMPOSTOR)
    written = int((mask != Mask.IGNORE).sum())
    different = ~np.isclose(matrix[cells], values, rtol=0, atol=0, equal_nan=True)
    if different.any():
        row = int(np.argmax(different))
        raise DataError(
            f"{path}: {len(values) - written:,} pairs are listed more than once, "
            f"{int(different.sum()):,} of them with another score; the first: "
            f"{probe.names[probe.codes[row]]!r} against {gallery.names[gallery.codes[row]]!r}; "
            "templates with one name each are needed for a matrix"
        )
    notes = []
    if written < len(values):
        again = len(values) - written
        notes.append(Message("repeated-pairs", pairs=again, how="", remedy=""))
    if square:
        lone = mask[cells[::-1]] == Mask.IGNORE
        number = int(lone.sum())
        if options.unordered:
            other = (cells[1][lone], cells[0][lone])
            matrix[other], mask[other] = matrix.T[other], mask.T[other]
            written = int((mask != Mask.IGNORE).sum())
        elif number >= _MOSTLY * len(values) and 2 * shared >= shape[0]:
            consequence = ", so that searches and multi-template attempts lack the other one"
            about = {"one_order": number, "pairs": len(values), "consequence": consequence}
            notes.append(Message("pairs-in-one-order", **about))
    holes = matrix.size - written
    if square:
        holes -= shape[0]
    if holes:
        notes.append(Message("not-listed", missing=holes, comparisons=matrix.size))
    labels: dict[str, Any] = {}
    probe_meta, gallery_meta = _metadata(probe), _metadata(gallery)
    if probe.subjects is not None and gallery.subjects is not None:
        labels["labels"] = probe.subjects
        if not square:
            labels["gallery_labels"] = gallery.subjects
    scores = Scores(
        matrix,
        **labels,
        mask=mask if holes or not labels else None,
        probe_meta=probe_meta,
        gallery_meta=None if square and labels else gallery_meta,
        **how,
    )
    return scores._with(_remarks=tuple(notes))


def _metadata(side: Side) -> dict[str, np.ndarray]:
    return {"template": np.array(side.names, dtype=object), **side.meta}


def _one_set(path: Path, first: Side, second: Side) -> tuple[Side, Side]:
    """Return both sides as the same templates, those of the first side first."""
    names, other = united(first.names, second.names)
    subjects = None
    if first.subjects is not None and second.subjects is not None:
        subjects = np.empty(len(names), dtype=object)
        subjects[other] = second.subjects
        two = subjects[: len(first.names)] != first.subjects
        shared = np.isin(np.arange(len(first.names)), other)
        for i in np.flatnonzero(two & shared)[:1]:
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
    return Side(first.codes, names, subjects, meta), Side(
        other[second.codes], names, subjects, meta
    )


EXAMPLES = 3


@dataclass(frozen=True)
class _PairRows:
    """A list of pairs: the rows kept of a table, and what is known about them."""

    table: Columns
    layout: PairLayout
    rows: np.ndarray | None
    genuine: np.ndarray
    subjects: Two | None
    notes: list[Message]
    reading: tuple[str, ...]
    meta: dict[str, Two]  # columns of both templates of each row
    #: Whether each row that is kept has its names in the other order than its trial.
    exchanged: np.ndarray | None
    #: Columns of the table of templates that are no metadata, and why.
    left_out: Mapping[str, str]

    @property
    def scores(self) -> np.ndarray:
        """The scores of the rows that are kept."""
        return self.kept(self.table.numbers[self.layout.score or 0])

    def kept(self, column: np.ndarray) -> np.ndarray:
        """Return a column of the rows that are kept."""
        return column if self.rows is None else column[self.rows]

    def taking(self, choice: np.ndarray) -> _PairRows:
        """Return some of the pairs."""
        rows = np.flatnonzero(choice) if self.rows is None else self.rows[choice]
        exchanged = None if self.exchanged is None else self.exchanged[choice]
        return replace(self, rows=rows, genuine=self.genuine[choice], exchanged=exchanged)

    def where(self, numbers: Sequence[int]) -> str:
        """Name the lines of some pairs."""
        rows = np.asarray(numbers, dtype=np.int64)
        if self.rows is not None:
            rows = self.rows[rows]
        return places(self.table.noun, self.table.lines(rows.tolist()))


def how_read(path: Path, layout: PairLayout, options: ReadOptions) -> dict[str, str]:
    """Return kind, policy for NaN and name of the scores of a list."""
    name = path.name.split(".")[0] or path.stem
    return {"kind": _kind(path, layout, options), "nan": options.nan or "raise", "name": name}


def _kind(path: Path, layout: PairLayout, options: ReadOptions) -> Kind:
    """Return the kind of the scores, from the file's declaration or the option."""
    kind = options.kind or layout.kind
    if kind is None:
        raise DataError(
            f"{path}: does not state whether its scores are distances or similarities; give ",
            say("kind", "distance"),
            " or ",
            say("kind", "similarity"),
            f", or name the column distance or similarity{misspelt(layout.names)}",
        )
    if layout.kind and options.kind and layout.kind != options.kind:
        name = layout.names[layout.score or 0]
        raise DataError(
            f"{path}: the column {name!r} declares the kind {layout.kind}; ",
            say("kind", options.kind),
            " contradicts it",
        )
    return kind


def pairs_of_columns(
    table: Columns, layout: PairLayout, options: ReadOptions, how: dict[str, Any]
) -> Scores:
    """Return the pairs of a table whose columns are known, or their matrix."""
    if options.pairs is not None:
        return _in_order(table, layout, options, how["kind"])
    pairs = _known(table, layout, options)
    values = pairs.scores
    who = None
    if pairs.subjects is not None:
        who = _kept_sides(pairs, both_sides(*pairs.subjects))
    fold = None
    if layout.fold is not None and options.as_ != "matrix":
        fold = pairs.kept(table.text[layout.fold].objects()).astype(str)
    meta = {name: _kept_sides(pairs, both_sides(*sides)) for name, sides in pairs.meta.items()}
    listed = PairScores(
        values,
        pairs.genuine,
        pair_folds=fold,
        subjects=who,
        pair_templates=_templates(pairs),
        meta=meta,
        **how,
    )
    listed = listed._with(attack=_attacks(pairs))
    if options.as_ == "matrix" and listed.attack is not None:
        raise DataError(
            f"{table.path}: has attack presentations; a matrix has no place for them; leave out ",
            say("lists.as", "matrix"),
        )
    bona_fide = _has_classes(pairs) and listed.attack is None
    rules = _rules(options)
    keep, notes = listed._examined(rules, pairs.where, bona_fide)
    notes = [*pairs.notes, *notes]
    if keep is not None:
        pairs, listed = pairs.taking(keep), listed._taking(keep)
    listed = listed._with(unordered=rules.unordered, _failed_at=_first_failed(pairs))
    scores: Scores = listed
    if options.as_ == "matrix":
        scores = _matrix(pairs, options, how)
    elif pairs.exchanged is not None and pairs.exchanged.any():
        scores = listed._with_sides_exchanged(pairs.exchanged)
    reading = pairs.reading
    if layout.genuine is not None and layout.names[layout.genuine] == "y_true":
        origin = f"genuine from 'y_true', scores from {layout.names[layout.score or 0]!r}"
        reading = (origin, *reading)
    return scores._with(
        _remarks=(*scores._remarks, *notes), _reading=reading, _columns_left_out=pairs.left_out
    )


def _first_failed(pairs: _PairRows) -> tuple[int, str] | None:
    """Return the first pair whose score is NaN, and its place in the file; None without any."""
    for row in np.flatnonzero(np.isnan(pairs.scores))[:1].tolist():
        return row, f"on {pairs.where([row])} of {pairs.table.path.name}"
    return None


def _in_order(table: Columns, layout: PairLayout, options: ReadOptions, kind: Kind) -> PairScores:
    given = options.in_use()
    for option in ("impostor", "subject_from", "labels", "lists.as"):
        if option in given:
            raise DataError(say(option), " has no meaning with ", say("pairs"), "; leave it out")
    known = ""
    if layout.genuine is not None:
        known = "marks genuine pairs"
    if layout.templates or layout.subjects:
        known = "names its templates"
    if known:
        raise DataError(
            f"{table.path}: {known}; ",
            say("pairs"),
            " needs the scores alone, one per line, in the order of its pairs",
        )
    return scores_in_order(table.path, table.numbers[layout.score or 0], kind, options)


def _rules(options: ReadOptions) -> ListRules:
    if options.as_ == "matrix" and options.keep:
        raise DataError(
            say("lists.keep", options.keep[0]),
            " has no meaning with ",
            say("lists.as", "matrix"),
            ": a matrix has one cell for each pair, and none for a template with itself",
        )
    return ListRules.parse(options.keep, options.unordered)


def _templates(pairs: _PairRows) -> CodedSides | None:
    layout = pairs.layout
    listed = pairs.subjects if layout.subjects is not None else None
    names = templates_of(pairs.table, layout, listed)
    if names is None:
        return None
    names = _kept_sides(pairs, names)
    if not layout.numbers_sides and are_subjects(names, pairs.genuine):
        return None
    return names


def _kept_sides(pairs: _PairRows, sides: CodedSides) -> CodedSides:
    return CodedSides(sides.values, pairs.kept(sides.a), pairs.kept(sides.b))


def _attacks(pairs: _PairRows) -> np.ndarray | None:
    """Return the species of each pair, empty for bona fide; None of a list without attacks.

    Filled cells of a column of species win over the class; an attack without a species has the
    word of its class. Two classes alone are those of attack detection.
    """
    words, column = _classes(pairs), pairs.layout.species
    by_class = words is not None and has_three_classes(words)
    if not by_class and (column is None or not _has_classes(pairs)):
        return None
    species = np.full(len(pairs.table.numbers[pairs.layout.score or 0]), "", dtype=object)
    if by_class and words is not None:
        named = [word if is_attack(word) else "" for word in words.values]
        species = np.array(named, dtype=object)[words.codes]
    if column is not None:
        cells = pairs.table.text[column]
        named = ["" if no_species(word) else word for word in cells.values]
        filled = np.array(named, dtype=object)[cells.codes]
        species = np.where(filled == "", species, filled)
    if (species != "").any():
        return pairs.kept(species.astype(str))
    return None


def _classes(pairs: _PairRows) -> TextColumn | None:
    """Return the words of the class of each pair, if the list has them."""
    if pairs.layout.genuine is None:
        return None
    return pairs.table.text.get(pairs.layout.genuine)


def _has_classes(pairs: _PairRows) -> bool:
    """Whether no class is that of attacks: an attack is on the subject that it claims."""
    words = _classes(pairs)
    return words is None or not any(map(is_attack, words.values))


def _known(table: Columns, layout: PairLayout, options: ReadOptions) -> _PairRows:
    """Find the class and the subjects of each pair of a table."""
    path = table.path
    joined = genuine = None
    if options.trials is not None:
        joined = _joined(table, layout, options)
    elif layout.genuine is not None:
        genuine = truth_of(table.text[layout.genuine], table, layout.names[layout.genuine])
    media = None if options.labels is None else read_media(options.labels)
    marked = joined is not None or genuine is not None
    subjects, reading = _subjects(table, layout, options, media, marked)
    meta, left_out = {}, {}
    if media is not None:
        left_out = media.left_out()
        for name, values in media.metadata(options.meta).items():
            meta[name] = _of_templates(table, layout, values, options)
    elif options.meta:
        raise DataError(
            options.said("meta"),
            " names metadata, and a list of pairs has none; give the table of its templates as ",
            say("labels"),
        )
    if options.subject_from is not None:
        for name in options.subject_from.metadata:
            meta[name] = _from_names(table, layout, options.subject_from, name)
    if joined is None and genuine is None and subjects is None:
        both = _all_names(table, layout)
        raise DataError(
            f"{path}: does not mark genuine pairs; give the list of trials as ",
            say("trials"),
            ", or the part of a name that is its subject as ",
            say("subject_from", subject_pattern(both) if both else None),
            f"{misspelt(layout.names)}",
        )
    if joined is not None:
        genuine = joined.genuine
    elif genuine is None and subjects is not None:
        genuine = _same(*subjects)
    assert genuine is not None
    return _PairRows(
        table,
        layout,
        None if joined is None else joined.rows,
        genuine,
        subjects,
        [] if joined is None else joined.notes,
        reading,
        meta,
        None if joined is None else joined.exchanged,
        left_out,
    )


def _joined(table: Columns, layout: PairLayout, options: ReadOptions) -> JoinedTrials:
    """Return the classes of a table's pairs from the list of trials."""
    path = table.path
    if layout.templates is None:
        raise DataError(f"{path}: has no names of templates; ", say("trials"), " needs them")
    assert options.trials is not None
    if layout.genuine is None:
        return join(table, layout, options.trials, options)
    name = layout.names[layout.genuine]
    if not layout.header:
        raise DataError(
            f"{path}: {name} marks genuine pairs; leave out ",
            say("trials"),
            ", or name the columns in a first line",
        )
    joined = join(table, layout, options.trials, options)
    genuine = truth_of(table.text[layout.genuine], table, name)[joined.rows]
    wrong = np.flatnonzero(genuine != joined.genuine)
    if len(wrong):
        row, classes = int(joined.rows[wrong[0]]), ("an impostor pair", "a genuine pair")
        raise DataError(
            f"{table.at(row)}: {name} marks {classes[int(genuine[wrong[0]])]}, and "
            f"{options.trials} lists it as {classes[int(joined.genuine[wrong[0]])]}, as it does "
            f"{len(wrong):,} of {len(genuine):,} pairs; correct one of the two, or leave out ",
            say("trials"),
        )
    return joined


# ------------------------------------------------------------------------- subjects


def _subjects(
    table: Columns,
    layout: PairLayout,
    options: ReadOptions,
    media: MediaList | None,
    marked: bool,
) -> tuple[Two | None, tuple[str, ...]]:
    """Return the subjects of both sides, from columns, parts of names or a file, and a note.

    `media` is the list of templates of ``labels``; `marked` is whether genuine pairs are known.
    """
    for option in ("subject_from", "labels"):
        if getattr(options, option) is None:
            continue
        if layout.templates is None or len(layout.templates) != 2:
            wrong = f"{table.path}: has no names of templates for "
            raise DataError(wrong, say(option), misspelt(layout.names))
    if layout.subjects is not None:
        one, other = layout.subjects
        listed = table.text[one], table.text[other]
        if media is not None and media.subjects() is not None:
            whose = _of_templates(table, layout, media.subject_of(), options)
            _require_agreement(table, listed, whose, "labels")
        if options.subject_from is not None:
            _require_agreement(
                table, listed, _from_names(table, layout, options.subject_from), "subject_from"
            )
            return listed, ("subjects as listed, equal to those from names",)
        return listed, ()
    if options.subject_from is None:
        # A table without subjects has metadata alone, where the list marks its genuine pairs.
        if media is None or (media.subjects() is None and media.more and marked):
            return None, ()
        return _of_templates(table, layout, media.subject_of(), options), ()
    a, b = _from_names(table, layout, options.subject_from)
    names = table.text[(layout.templates or (0, 0))[0]]
    shown = {}
    for name, subject in zip(names.codes[:EXAMPLES], a.codes[:EXAMPLES], strict=True):
        shown[names.values[name]] = a.values[subject]
    return (a, b), (named_by(shown),)


def _from_names(
    table: Columns, layout: PairLayout, pattern: NamePattern, part: str = "subject"
) -> Two:
    """Return the subjects, or another part of the names of the templates, of both sides."""
    first, second = layout.templates or (0, 0)
    return (
        _named_parts(table, layout, first, pattern, part),
        _named_parts(table, layout, second, pattern, part),
    )


def named_by(shown: dict[str, str]) -> str:
    """Return a note on which subjects were found in names of templates."""
    return "subjects from names: " + ", ".join(f"{k} -> {v}" for k, v in shown.items())


def _of_templates(
    table: Columns, layout: PairLayout, values: Mapping[str, str], options: ReadOptions
) -> Two:
    """Return the values of the templates of both sides of each row, from a table of templates."""
    first, second = layout.templates or (0, 0)
    missing = [name for name in _all_names(table, layout) if name not in values]
    if missing:
        some = ", ".join(map(repr, missing[:EXAMPLES]))
        more = ", ..." if len(missing) > EXAMPLES else ""
        raise DataError(
            f"{table.path}: {options.labels} lacks {counted(len(missing), 'templates')} of "
            f"{len(_all_names(table, layout)):,}: {some}{more}; add them to the table, or leave "
            "their pairs out"
        )
    a, b = table.text[first], table.text[second]
    return (
        a.renamed([values[name] for name in a.values]),
        b.renamed([values[name] for name in b.values]),
    )


def _require_agreement(
    table: Columns, listed: Two, others: Two, option: Literal["labels", "subject_from"]
) -> None:
    for mine, theirs in zip(listed, others, strict=True):
        place = places_among(theirs.values, mine.values)
        for row in np.flatnonzero(place[mine.codes] != theirs.codes)[:1].tolist():
            raise DataError(
                f"{table.at(row)}: the subject is {mine.values[mine.codes[row]]!r}, and by ",
                say(option),
                f" it is {theirs.values[theirs.codes[row]]!r}; correct one of the two",
            )


def _all_names(table: Columns, layout: PairLayout) -> list[str]:
    names: dict[str, None] = {}
    for i in layout.templates or ():
        names |= dict.fromkeys(table.text[i].values)
    return [*names]


def _named_parts(
    table: Columns, layout: PairLayout, number: int, pattern: NamePattern, part: str
) -> TextColumn:
    """Return the subjects, or another part of their names, of a column of templates."""
    column = table.text[number]

    def where(code: int) -> str:
        return table.at(int(np.argmax(column.codes == code)))

    return column.renamed(pattern.parts(column.values, part, where, _all_names(table, layout)))


def _same(a: TextColumn, b: TextColumn) -> np.ndarray:
    """Return which rows have the same word in both columns."""
    return a.codes == places_among(a.values, b.values)[b.codes]


# ------------------------------------------------------------------------- a matrix


def _matrix(pairs: _PairRows, options: ReadOptions, how: dict[str, Any]) -> Scores:
    """Return the pairs as a matrix of the probes against the gallery."""
    table, layout = pairs.table, pairs.layout
    if layout.templates is None or len(layout.templates) != 2:
        raise DataError(
            f"{table.path}: has no names of templates; ",
            say("lists.as", "matrix"),
            " needs them; expected two columns such as template_a and "
            f"template_b{misspelt(layout.names)}",
        )
    sides = []
    for i, number in enumerate(layout.templates):
        column = table.text[number]
        who = None
        if pairs.subjects is not None:
            who = _owners(table, column, pairs.subjects[i])
        names = column.values
        if layout.claims and not i:
            names = [*map("claim {}".format, names)]
        meta = {}
        for word, values in pairs.meta.items():
            meta[word] = _owners(table, column, values[i])
        sides.append(Side(pairs.kept(column.codes), names, who, meta))
    if pairs.exchanged is not None and pairs.exchanged.all():
        sides.reverse()
    gallery, probe = sides
    return as_matrix(table.path, pairs.scores, pairs.genuine, probe, gallery, options, **how)


def _owners(table: Columns, column: TextColumn, subjects: TextColumn) -> np.ndarray:
    """Return the subject of each template that a column names; two subjects cannot share a name."""
    whose = np.empty(len(column.values), dtype=np.int64)
    whose[column.codes[::-1]] = subjects.codes[::-1]  # the first line of a name decides
    for row in np.flatnonzero(whose[column.codes] != subjects.codes)[:1]:
        code = column.codes[row]
        first = int(np.argmax(column.codes == code))
        raise DataError(
            f"{table.at(row)}: the template {column.values[code]!r} is of the subject "
            f"{subjects.values[subjects.codes[row]]!r}, and on line {table.line(first)} of "
            f"{subjects.values[whose[code]]!r}; a matrix needs a different name for each template"
        )
    return np.array(subjects.values, dtype=object)[whose]
