"""Lists of comparisons with scores: the classes and the subjects of the pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError, backquoted
from bioeval.base.messages import Message
from bioeval.scores import names as template_names
from bioeval.scores.bona_fide import is_bona_fide
from bioeval.scores.columns import CodedSides
from bioeval.scores.formats.comparisons import in_listed_order, join, read_comparisons, truth_of
from bioeval.scores.formats.faults import fault
from bioeval.scores.formats.files import existing_file
from bioeval.scores.formats.layouts import Layout, layout_of
from bioeval.scores.formats.listed_matrix import ListedSide, matrix_of_pairs, require_one_owner
from bioeval.scores.formats.options import Arguments
from bioeval.scores.formats.spellings import has_three_classes, is_attack, is_number, is_truth
from bioeval.scores.formats.tables import Columns, Head, Words, head_of, read_columns, whole_floats
from bioeval.scores.formats.template_tables import read_templates
from bioeval.scores.formats.unknown_lists import (
    misspelt,
    no_scores,
    refuse_two_readings,
    unknown_words,
)
from bioeval.scores.labels import are_of_no_person, as_objects, ids_of_no_person, with_whole_numbers
from bioeval.scores.listed_templates import ListRules, places, subject_pattern
from bioeval.scores.matrix import Scores
from bioeval.scores.pairs import PairList

#: A column of words for each side of the pairs: of the enrolled templates, and of the probes.
TwoColumns = tuple[Words, Words]

# Names whose subjects are shown.
_EXAMPLES = 3


def read_list(head: Head, arguments: Arguments, impostor: Path | None) -> Scores:
    """Read a text as a list of comparisons; with `impostor`, the text has genuine scores alone."""
    layout = layout_of(head, arguments)
    if layout.get("score") is None:
        raise no_scores(head, named=True)
    options = score_options(head.path, layout, arguments)
    has_one_column = head.width - layout.first_line.unnamed == 1
    if has_one_column and layout.get("genuine") is None or impostor is not None:
        return _scores_alone(head, layout, impostor, arguments, options)
    columns = columns_of_words(layout, arguments)
    table = read_columns(
        head,
        layout.skips_line,
        layout.names_of(columns),
        layout.names_of([layout.score]),
        digits=layout.names_of([layout.get("genuine")]),
        blanks=layout.may_be_blank,
    )
    if layout.subjects and not layout.header:
        _refuse_another_reading(head, table, layout)
    return Listed(table, layout, arguments).scores(options)


def columns_of_words(layout: Layout, arguments: Arguments) -> list[int]:
    """Return the columns to read as words: all columns with a role except the scores."""
    columns = {*map(layout.get, ("genuine", "fold", "species")), *layout.subjects}
    for pair_of_columns in layout.meta.values():
        columns |= {*pair_of_columns}  # None where a side has none
    by_name = arguments.names_templates or "lists.as" in arguments
    if by_name or layout.names_templates or layout.subjects and not layout.header:
        columns |= {*layout.templates}
    return sorted(i for i in columns if i is not None)


def score_options(path: Path, layout: Layout, arguments: Arguments) -> dict[str, Any]:
    """Return the arguments `kind`, `nan` and `name` of the scores of a list."""
    hint = f", or name the column distance or similarity{misspelt(layout.names, layout.with_roles)}"
    source = f"the column {layout.names[layout.score]!r}"
    return {
        "kind": arguments.kind_of(path, layout.kind, source, hint),
        "nan": arguments.take("nan", "raise"),
        "name": path.name.split(".")[0] or path.stem,
    }


def _refuse_another_reading(head: Head, table: Columns, layout: Layout) -> None:
    columns = [i for i, column in table.words.items() if all(map(is_truth, column.values))]
    if np.isin(table.numbers[layout.score], (0, 1, -1)).all():
        columns.append(layout.score)
    refuse_two_readings(head, columns)
    claimed, real = (table.words[i] for i in layout.subjects)
    are_attacks = all(is_attack(value.partition("/")[0]) for value in real.values)
    is_genuine = _places_of_words(real, claimed)[real.codes] == claimed.codes
    if not is_genuine.any() and not are_attacks:
        raise fault(
            head.path,
            "is taken for bob's list of claimed and real subjects, which are the same on no line",
            "if it is another, write the names of its columns in a first line, such as 'genuine "
            f"template_a template_b score'{unknown_words(head)}",
        )


def _places_of_words(searched: Words, words: Words) -> np.ndarray:
    """Return the place among the values of `words` of each value of `searched`, -1 for none."""
    return template_names.places(
        template_names.as_names(searched.values), template_names.as_names(words.values)
    )


def both_sides(first: Words, second: Words) -> CodedSides:
    """Return two columns as coded sides, which number the values of both together."""
    values, place_of_second = template_names.united(first.values, second.values)
    return CodedSides(
        values,
        first.codes.astype(np.int32, copy=False),
        place_of_second.astype(np.int32)[second.codes],
    )


# ------------------------------------------------------------------------- scores alone


def _scores_alone(
    head: Head, layout: Layout, impostor: Path | None, arguments: Arguments, options: dict[str, Any]
) -> Scores:
    path = head.path
    if impostor is None and "trials" in arguments:
        return in_listed_order(path, _only_column(head, layout), arguments, options)
    if impostor is None:
        raise DataError(
            f"{path}: holds one number per line; if these are genuine scores, give the file "
            "of the impostor scores as a second one; if they are in the order of a list of "
            "trials, give that as `trials`. A command of several systems takes one file of "
            f"each: bioeval convert {path} IMPOSTOR {path.stem}.npz --kind KIND"
        )
    if layout.get("genuine") is not None:
        name = layout.names[layout.roles["genuine"]]
        raise fault(path, f"{name} marks genuine pairs", "give this file alone")
    impostor_head = head_of(existing_file(impostor))
    impostor_layout = layout_of(impostor_head, arguments)
    for file_head, form in ((head, layout), (impostor_head, impostor_layout)):
        width = file_head.width - form.first_line.unnamed
        if width != 1:
            raise fault(
                file_head.path,
                f"has {width} columns",
                "expected one score on each line in both files, of genuine and of impostor scores",
            )
    if (impostor_layout.kind or layout.kind) != (layout.kind or impostor_layout.kind):
        raise fault(
            impostor,
            f"the scores are called {impostor_layout.names[0]!r}, and those of the genuine file "
            f"{layout.names[0]!r}",
            "expected distances or similarities in both",
            line=impostor_head.first,
        )
    genuine_scores = _only_column(head, layout)
    impostor_scores = _only_column(impostor_head, impostor_layout)
    return two_classes(path, genuine_scores, impostor, impostor_scores, arguments, options)


def _only_column(head: Head, layout: Layout) -> np.ndarray:
    header = layout.skips_line or not is_number(head.cells[0][0])
    names = {layout.score: "score"}
    blanks = layout.may_be_blank
    return read_columns(head, header, {}, names, blanks=blanks).numbers[layout.score]


def two_classes(
    path: Path,
    genuine: np.ndarray,
    impostor_path: Path,
    impostor: np.ndarray,
    arguments: Arguments,
    options: dict[str, Any],
) -> Scores:
    """Return the scores of two files, of genuine and of impostor attempts, as one list."""
    has_several_values = (genuine != genuine[0]).any()
    are_equal = np.array_equal(genuine, impostor, equal_nan=True) and has_several_values
    if path.samefile(impostor_path) or are_equal:
        raise fault(
            path,
            f"has the same scores as {impostor_path}",
            "expected genuine scores in one file and impostor scores in another",
        )
    flags = np.repeat([True, False], [len(genuine), len(impostor)])
    values = arguments.with_failures(np.concatenate([genuine, impostor]))
    scores = Scores.from_pairs(values, flags, **options)
    return scores._with(
        reading=(f"genuine scores from {path.name}, impostor scores from {impostor_path.name}",)
    )


# ------------------------------------------------------------------------- pairs


class Listed:
    """The pairs of a list, each a row of its table, with their classes, subjects and metadata.

    - `rows`: the rows that are kept: all as a slice, or an array of their numbers
    - `genuine` (bool (kept,)): their classes
    - `exchanged` (bool (kept,) or None): whether the names of a row are in another order than in
      its trial
    - `values`, `subjects`, `meta`: the columns of all rows, also of rows that are not kept
    - `class_words` (Words or None): the column of words for the classes
    - `left_out`: why columns of the table of templates are no metadata
    - `notes`, `reading`: remarks for results, and phrases on how the list is read
    """

    def __init__(self, table: Columns, layout: Layout, arguments: Arguments):
        """Find the class and the subjects of each pair."""
        self.table = table
        self.layout = layout
        self.arguments = arguments
        self.values = arguments.with_failures(table.numbers[layout.score])
        self.rows: Any = slice(None)
        self.exchanged: np.ndarray | None = None
        self.notes: list[Message] = []
        self.reading: tuple[str, ...] = ()
        self.meta: dict[str, TwoColumns] = {}
        self.left_out: Mapping[str, str] = {}
        truth = layout.get("genuine")
        self.class_words = None if truth is None else table.words[truth]
        genuine = None
        if "trials" in arguments:
            genuine = self._join()
        elif truth is not None:
            genuine = truth_of(table.words[truth], table, layout.names[truth])
        for column in (*layout.templates, *layout.subjects):
            if (numbers := whole_floats(table.words[column].values)) is not None:
                source = f"{table.path}: column {layout.names[column]!r}"
                with_whole_numbers(numbers, source)
        self.subjects = self._subjects(genuine is not None)
        if genuine is None and self.subjects is None:
            names = self._every_name()
            advice = backquoted("subject_from", subject_pattern(names) if names else None)
            raise fault(
                table.path,
                "does not mark genuine pairs",
                "give the list of trials as `trials`, or the part of a name that is its "
                f"subject as {advice}{misspelt(layout.names, layout.with_roles)}",
            )
        self.no_person = ids_of_no_person(arguments.peek("distractor_ids"))
        if genuine is None and self.subjects is not None:
            genuine = self._classes_of_subjects(*self.subjects)
        assert genuine is not None
        self.genuine: np.ndarray = genuine

    def _classes_of_subjects(self, enrolled: Words, probes: Words) -> np.ndarray:
        """Return the classes of pairs by their subjects.

        Pairs of two templates of no person are not kept.
        """
        is_nobody_enrolled, is_nobody_probe = (
            are_of_no_person(as_objects(side.values), self.no_person)[side.codes]
            for side in (enrolled, probes)
        )
        same_subject = enrolled.codes == _places_of_words(probes, enrolled)[probes.codes]
        genuine = same_subject & ~is_nobody_enrolled
        are_nobody = is_nobody_enrolled & is_nobody_probe
        if not are_nobody.any():
            return genuine
        if are_nobody.all():
            raise fault(self.table.path, "has no pair with a subject who is a person")
        self.notes.append(Message("pairs-of-no-person", pairs=int(are_nobody.sum())))
        self.rows = np.flatnonzero(~are_nobody)
        return genuine[self.rows]

    def _join(self) -> np.ndarray:
        """Keep the rows with a trial, and return the classes of their trials."""
        layout = self.layout
        path = self.table.path
        if not layout.templates:
            trials = Path(self.arguments.take("trials")).name
            raise fault(
                path,
                f"has no names of templates, by which the trials of {trials} find their scores",
                "name both templates in each line, or give the scores alone, in the order of the "
                "trials",
            )
        if self.class_words is not None:
            name = layout.names[layout.roles["genuine"]]
            raise fault(path, f"{name} marks genuine pairs", "leave out `trials`")
        listed = read_comparisons(existing_file(self.arguments.take("trials")), self.arguments)
        if listed.subjects is not None:
            raise fault(
                path,
                "names its templates, and `trials` is a list in LFW's form",
                "give the scores alone, one per line, in the order of its pairs",
            )
        joined = join(self.table, layout, listed, self.arguments)
        self.rows = joined.rows
        self.exchanged = joined.exchanged
        self.notes = joined.notes
        return joined.genuine

    def where(self, kept: Sequence[int]) -> str:
        """Name the lines of some pairs, by their places among the rows that are kept."""
        rows = [*kept]
        if not isinstance(self.rows, slice):
            rows = self.rows[rows].tolist()
        return places(self.table.noun, self.table.lines(rows))

    def scores(self, options: dict[str, Any]) -> Scores:
        """Return the scores of the pairs that are attempts, or their matrix."""
        as_matrix = self.arguments.take("lists.as") == "matrix"
        rules = ListRules.parse(**self.arguments.rules())
        if as_matrix and rules.keep:
            raise DataError(
                f'`lists={{"keep": "{rules.keep[0]}"}}` has no meaning with `lists={{"as": '
                '"matrix"}`: a matrix has one cell for each pair, and none for a '
                "template with itself"
            )
        listed = self._pair_list(with_folds=not as_matrix)
        if as_matrix and listed.attack is not None:
            raise fault(
                self.table.path,
                "has attack presentations; a matrix has no place for them",
                'leave out `lists={"as": "matrix"}`',
            )
        check_classes = not self._has_attack_words and listed.attack is None
        keep, notes = listed.examined(
            rules, options["kind"], self.where, check_classes, self.no_person
        )
        if keep is not None:
            rows = np.arange(len(self.values))[self.rows]
            self.rows = rows[keep]
            self.genuine = self.genuine[keep]
            listed = listed.take(keep)
            self.exchanged = None if self.exchanged is None else self.exchanged[keep]
        if as_matrix:
            scores = self._matrix(rules, options)
        else:
            scores = self._scores_of_pairs(replace(listed, unordered=rules.unordered), options)
        return scores._with(
            remarks=(*scores.remarks, *self.notes, *notes),
            reading=self.reading,
            _columns_left_out=self.left_out,
        )

    def _pair_list(self, *, with_folds: bool) -> PairList:
        fold = None
        if with_folds and self.layout.get("fold") is not None:
            words = self.table.words[self.layout.roles["fold"]]
            fold = words.objects()[self.rows].astype(str)
        listed = PairList.from_arrays(
            self.values[self.rows],
            self.genuine,
            pair_folds=fold,
            subjects=both_sides(*self.subjects).take(self.rows) if self.subjects else None,
            pair_templates=self._templates(),
            meta={
                name: both_sides(*columns).take(self.rows) for name, columns in self.meta.items()
            },
        )
        return replace(listed, attack=self._species())

    def _scores_of_pairs(self, listed: PairList, options: dict[str, Any]) -> Scores:
        failed = None
        for row in np.flatnonzero(np.isnan(listed.values))[:1].tolist():
            failed = row, f"on {self.where([row])} of {self.table.path.name}"
        listed = replace(listed, failed_at=failed)
        if self.exchanged is not None and self.exchanged.any():
            listed = listed.exchanged(self.exchanged)
        return Scores._of_pairs(listed, **options)

    # --------------------------------------------------------------------- templates

    def _templates(self) -> CodedSides | None:
        """Return the templates of both sides of each row; None where the list does not name them.

        Equal names are one template, whatever the columns are called.
        """
        layout = self.layout
        if not layout.names_templates:
            return None
        enrolled, probe = (self.table.words[i] for i in layout.templates)
        names = both_sides(enrolled, probe)
        if layout.subjects:
            people = [self.table.words[i] for i in layout.subjects]
            sides = [*zip((enrolled, probe), people, strict=True)]
            # A single name of several people does not name templates.
            if any(len(side.values) == 1 < len(owner.values) for side, owner in sides):
                return None
            owners = [
                dict(zip(side.values, self._value_by_template(side, owner), strict=True))
                for side, owner in sides
            ]
            for name in owners[0].keys() & owners[1].keys():
                require_one_owner(self.table.path, name, owners[0][name], owners[1][name])
        names = names.take(self.rows)
        is_same_name = names.a == names.b
        # Names that are equal in every genuine pair, and in no impostor pair, are of subjects.
        is_name_of_subject = is_same_name.any() and np.array_equal(is_same_name, self.genuine)
        if is_name_of_subject and not layout.subjects:
            self.reading += ("names taken for those of people: they are equal in genuine pairs",)
            return None
        return names

    def _names(self, option: Any) -> TwoColumns:
        if len(self.layout.templates) != 2:
            raise fault(
                self.table.path,
                f"has no names of templates for {option}",
                "expected two columns such as template_a and template_b"
                f"{misspelt(self.layout.names, self.layout.with_roles)}",
            )
        enrolled, probe = self.layout.templates
        return self.table.words[enrolled], self.table.words[probe]

    def _every_name(self) -> list[str]:
        columns = [self.table.words[i] for i in self.layout.templates if i in self.table.words]
        return [*dict.fromkeys(name for column in columns for name in column.values)]

    # --------------------------------------------------------------------- classes

    @property
    def _has_attack_words(self) -> bool:
        return self.class_words is not None and any(map(is_attack, self.class_words.values))

    def _species(self) -> np.ndarray | None:
        """Return the species of each pair, empty for bona fide; None for a list without attacks.

        Filled cells of a column of species win over the class; an attack without a species has the
        word of its class. Where attacks are one of only two classes, no species are returned: the
        list is of attack detection, and the classes say all.
        """
        words = self.class_words
        column = self.layout.get("species")
        has_class_of_attacks = words is not None and has_three_classes(words.values)
        if not has_class_of_attacks and (column is None or self._has_attack_words):
            return None
        species = np.full(len(self.values), "", dtype=object)
        if has_class_of_attacks and words is not None:
            by_class = [word if is_attack(word) else "" for word in words.values]
            species = np.array(by_class, dtype=object)[words.codes]
        if column is not None:
            cells = self.table.words[column]
            by_cell = ["" if is_bona_fide(word) else word for word in cells.values]
            stated = np.array(by_cell, dtype=object)[cells.codes]
            species = np.where(stated == "", species, stated)
        return species.astype(str)[self.rows] if (species != "").any() else None

    # --------------------------------------------------------------------- subjects

    def _subjects(self, has_classes: bool) -> TwoColumns | None:
        """Return the subjects of both sides, from columns, or from parts of names or a table.

        `has_classes` is whether genuine pairs are known. Metadata from the same sources are kept in
        `meta`.
        """
        self._add_metadata()
        listed: TwoColumns | None = None
        from_names: TwoColumns | None = None
        if self.layout.subjects:
            first, second = self.layout.subjects
            listed = self.table.words[first], self.table.words[second]
        for option in (x for x in ("labels", "subject_from") if x in self.arguments):
            names = self._names(f"`{option}`")
            if option == "labels":
                subject, meta = self._table_of_templates(listed is not None, has_classes)
            else:
                meta = self.arguments.take(option).parts(self._every_name(), self._line_of)
                subject = meta.pop("subject")
            self.meta |= {name: _renamed(names, value_of) for name, value_of in meta.items()}
            if subject is None:
                continue
            from_names = _renamed(names, subject)
            if listed is not None:
                self._require_agreement(listed, from_names, option)
            if option == "subject_from":
                column = names[0]
                first_names = [column.values[code] for code in column.codes[:_EXAMPLES]]
                examples = [f"{name} -> {subject[name]}" for name in dict.fromkeys(first_names)]
                self.reading = (f"subjects from names: {', '.join(examples)}",)
                if listed is not None:
                    self.reading = ("subjects as listed, equal to those from names",)
        return listed or from_names

    def _add_metadata(self) -> None:
        layout = self.layout
        unknown = Words.from_codes(np.zeros(len(self.values), dtype=np.int8), [""])
        for name, pair_of_columns in layout.meta.items():
            enrolled, probe = (
                unknown if i is None else self.table.words[i] for i in pair_of_columns
            )
            self.meta[name] = enrolled, probe
        if "labels" not in self.arguments and not layout.header and self.arguments.meta:
            name = next(iter(self.arguments.meta))
            raise fault(
                self.table.path,
                f'`columns={{"{name}": ...}}` names metadata, and a list of pairs without names of '
                "columns has none",
                "give the table of its templates as `labels`",
            )

    def _table_of_templates(
        self, has_subjects: bool, has_classes: bool
    ) -> tuple[dict[str, str] | None, dict[str, Any]]:
        """Return the subject and the metadata of each template, by the table `labels`.

        Where subjects are known otherwise, or are not needed, a table may have metadata alone; the
        subjects are then None.
        """
        templates = read_templates(self.arguments.take("labels"))
        meta_names = {
            name: column
            for name, column in self.arguments.all_meta().items()
            if name not in self.layout.named
        }
        meta, self.left_out = templates.metadata(meta_names)
        is_optional = has_subjects or "subject_from" in self.arguments
        is_optional = is_optional or has_classes and bool(templates.metadata_columns)
        subject = templates.subjects_if_stated() if is_optional else templates.subjects()
        templates.require(self._every_name(), self.table.path)
        return subject, meta

    def _line_of(self, name: str) -> str:
        columns = [self.table.words[i] for i in self.layout.templates]
        column = next(x for x in columns if name in x.values)
        return self.table.place_of(int(np.argmax(column.codes == column.values.index(name))))

    def _require_agreement(self, listed: TwoColumns, from_names: TwoColumns, option: str) -> None:
        for stated, by_option in zip(listed, from_names, strict=True):
            place = _places_of_words(stated, by_option)
            differs = place[stated.codes] != by_option.codes
            for row in np.flatnonzero(differs)[:1].tolist():
                raise fault(
                    self.table.place_of(row),
                    f"the subject is {stated.values[stated.codes[row]]!r}, and by "
                    f"`{option}` it is {by_option.values[by_option.codes[row]]!r}",
                    "correct one of the two",
                )

    # --------------------------------------------------------------------- a matrix

    def _matrix(self, rules: ListRules, options: dict[str, Any]) -> Scores:
        sides = []
        for i, column in enumerate(self._names('`lists={"as": "matrix"}`')):
            subjects = None
            if self.subjects is not None:
                subjects = self._value_by_template(column, self.subjects[i])
            names = column.values
            if self.layout.claims and not i:  # the enrolled names are of subjects, not of templates
                names = [*map("claim {}".format, names)]
            meta = {
                name: self._value_by_template(column, columns[i], name)
                for name, columns in self.meta.items()
            }
            sides.append(ListedSide(column.codes[self.rows], names, subjects, meta))
        if self.exchanged is not None and self.exchanged.all():
            sides.reverse()
        gallery, probe = sides
        values = self.values[self.rows]
        return matrix_of_pairs(
            self.table.path, values, self.genuine, probe, gallery, rules.unordered, options
        )

    def _value_by_template(
        self, names: Words, values: Words, attribute: str = "subject"
    ) -> np.ndarray:
        """Return the subject, or another attribute, of each template of a side, object (names,).

        `names` and `values` are of all rows. Raise where a template has two values.
        """
        code_of_value = np.empty(len(names.values), dtype=np.int64)
        code_of_value[names.codes[::-1]] = values.codes[::-1]  # the first row of a name decides
        for row in np.flatnonzero(code_of_value[names.codes] != values.codes)[:1]:
            code = names.codes[row]
            first_row = int(np.argmax(names.codes == code))
            name = names.values[code]
            stated = values.values[values.codes[row]]
            line = self.table.lines([first_row])
            stated_before = values.values[code_of_value[code]]
            before = f"and on {places(self.table.noun, line)}"
            if attribute != "subject":
                raise fault(
                    self.table.place_of(row),
                    f"the {attribute} of the template {name!r} is {stated!r}, {before} "
                    f"{stated_before!r}",
                    f'name a column of one side, as in `columns={{"probe_{attribute}": '
                    f'"{attribute}"}}`',
                )
            problem = (
                f"the template {name!r} is of the subject {stated!r}, {before} of {stated_before!r}"
            )
            advice = "give each template its own name, such as the subject with a number"
            if _seem_exchanged(values, names):
                problem += ", and each subject has one template"
                advice = "the columns of the subjects and of the templates may be exchanged"
            raise fault(self.table.place_of(row), problem, advice)
        return np.array(values.values, dtype=object)[code_of_value]


def _renamed(names: TwoColumns, value_of: Mapping[str, str]) -> TwoColumns:
    first, second = (column.renamed([value_of[x] for x in column.values]) for column in names)
    return first, second


def _seem_exchanged(subjects: Words, templates: Words) -> bool:
    """Whether each subject has one template, and some template several subjects."""
    template_of_subject = np.empty(len(subjects.values), dtype=np.int64)
    template_of_subject[subjects.codes[::-1]] = templates.codes[::-1]
    has_one_template = (template_of_subject[subjects.codes] == templates.codes).all()
    return len(subjects.values) > len(templates.values) and bool(has_one_template)
