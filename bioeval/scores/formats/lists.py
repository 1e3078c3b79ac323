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
from bioeval.scores.formats.labels import read_templates
from bioeval.scores.formats.layouts import Layout, layout_of
from bioeval.scores.formats.listed_matrix import ListedSide, matrix_of_pairs, require_one_owner
from bioeval.scores.formats.options import Arguments
from bioeval.scores.formats.spellings import has_three_classes, is_attack, is_number, is_truth
from bioeval.scores.formats.tables import Columns, Head, Words, head_of, read_columns, whole_floats
from bioeval.scores.formats.unknown_lists import (
    misspelt,
    no_scores,
    refuse_two_readings,
    unknown_words,
)
from bioeval.scores.labels import (
    are_of_no_person,
    as_objects,
    ids_of_no_person,
    with_whole_numbers,
)
from bioeval.scores.listed_templates import ListRules, places, subject_pattern
from bioeval.scores.matrix import Scores
from bioeval.scores.pairs import PairList

Two = tuple[Words, Words]

_EXAMPLES = 3


def read_list(head: Head, arguments: Arguments, impostor: Path | None) -> Scores:
    """Read a text as a list of comparisons, of one file or of two, genuine and impostor."""
    layout = layout_of(head, arguments)
    if layout.get("score") is None:
        raise no_scores(head, named=True)
    options = how_read(head.path, layout, arguments)
    alone = head.width - layout.numbered.unnamed == 1
    if alone and layout.get("genuine") is None or impostor is not None:
        return _scores_alone(head, layout, impostor, arguments, options)
    columns = wanted_columns(layout, arguments)
    table = read_columns(
        head,
        layout.skips_line,
        layout.called(columns),
        layout.called([layout.score]),
        digits=layout.called([layout.get("genuine")]),
        blanks=layout.may_be_blank,
    )
    if layout.subjects and not layout.header:
        _refuse_another_reading(head, table, layout)
    return Listed(table, layout, arguments).scores(options)


def wanted_columns(layout: Layout, arguments: Arguments) -> list[int]:
    """Return the columns of words that are read."""
    columns = {*map(layout.get, ("genuine", "fold", "species")), *layout.subjects}
    for pair_of_columns in layout.meta.values():
        columns |= {*pair_of_columns}  # None where a side has none
    by_name = arguments.names_templates or "lists.as" in arguments
    if by_name or layout.names_templates or layout.subjects and not layout.header:
        columns |= {*layout.templates}
    return sorted(i for i in columns if i is not None)


def how_read(path: Path, layout: Layout, arguments: Arguments) -> dict[str, Any]:
    """Return kind, policy for failed comparisons and name of the scores of a list."""
    hint = f", or name the column distance or similarity{misspelt(layout.names, layout.with_roles)}"
    source = f"the column {layout.names[layout.score]!r}"
    return {
        "kind": arguments.kind_of(path, layout.kind, source, hint),
        "nan": arguments.take("nan", "raise"),
        "name": path.name.split(".")[0] or path.stem,
    }


def _refuse_another_reading(head: Head, table: Columns, layout: Layout) -> None:
    """Raise where a list in bob's layout, whose columns have no names, may be another list."""
    columns = [i for i, column in table.words.items() if all(map(is_truth, column.values))]
    if np.isin(table.numbers[layout.score], (0, 1, -1)).all():
        columns.append(layout.score)
    refuse_two_readings(head, columns)
    claimed, real = (table.words[i] for i in layout.subjects)
    attacks = all(is_attack(value.partition("/")[0]) for value in real.values)
    genuine = _places_of_words(real, claimed)[real.codes] == claimed.codes
    if not genuine.any() and not attacks:
        raise fault(
            head.path,
            "is taken for bob's list of claimed and real subjects, which are the same on no line",
            "if it is another, write the names of its columns in a first line, such as 'genuine "
            f"template_a template_b score'{unknown_words(head)}",
        )


def _places_of_words(searched: Words, words: Words) -> np.ndarray:
    """Return the place of each distinct searched word among `words`, -1 for none."""
    return template_names.places(
        template_names.as_names(searched.values), template_names.as_names(words.values)
    )


def both_sides(first: Words, second: Words) -> CodedSides:
    """Return two columns under one numbering."""
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
    """Return scores without names: of genuine and impostor files, or in the order of trials."""
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
        width = file_head.width - form.numbered.unnamed
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
    """Return the scores of two files, of genuine and of impostor attempts."""
    same = np.array_equal(genuine, impostor, equal_nan=True) and (genuine != genuine[0]).any()
    if path.samefile(impostor_path) or same:
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
    """The rows of a list that are kept, with the classes, subjects and metadata of the rows."""

    def __init__(self, table: Columns, layout: Layout, arguments: Arguments):
        """Find the class and the subjects of each pair."""
        self.table = table
        self.layout = layout
        self.arguments = arguments
        self.values = arguments.with_failures(table.numbers[layout.score])
        self.rows: Any = slice(None)  # the rows that are kept: all, or an array of their numbers
        #: Whether each row that is kept has its names in the other order than its trial.
        self.exchanged: np.ndarray | None = None
        self.notes: list[Message] = []
        self.reading: tuple[str, ...] = ()
        self.meta: dict[str, Two] = {}  # columns of both templates of each row
        #: Columns of the table of templates that are no metadata, and why.
        self.left_out: Mapping[str, str] = {}
        truth = layout.get("genuine")
        self.words = None if truth is None else table.words[truth]
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
        """Return the classes of pairs by the subjects; pairs of no person on either side go."""
        is_nobody_enrolled, is_nobody_probe = (
            are_of_no_person(as_objects(side.values), self.no_person)[side.codes]
            for side in (enrolled, probes)
        )
        same_subject = enrolled.codes == _places_of_words(probes, enrolled)[probes.codes]
        genuine = same_subject & ~is_nobody_enrolled
        of_nobody = is_nobody_enrolled & is_nobody_probe
        if not of_nobody.any():
            return genuine
        if of_nobody.all():
            raise fault(self.table.path, "has no pair with a subject who is a person")
        self.notes.append(Message("pairs-of-no-person", pairs=int(of_nobody.sum())))
        self.rows = np.flatnonzero(~of_nobody)
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
        if self.words is not None:
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

    def where(self, numbers: Sequence[int]) -> str:
        """Name the lines of some pairs."""
        rows = [*numbers]
        if not isinstance(self.rows, slice):
            rows = self.rows[rows].tolist()
        return places(self.table.noun, self.table.lines(rows))

    def scores(self, options: dict[str, Any]) -> Scores:
        """Return the scores of the pairs that are attempts, or their matrix."""
        table = self.table
        layout = self.layout
        arguments = self.arguments
        rows = self.rows
        as_matrix = arguments.take("lists.as") == "matrix"
        rules = ListRules.parse(**arguments.rules())
        if as_matrix and rules.keep:
            raise DataError(
                f'`lists={{"keep": "{rules.keep[0]}"}}` has no meaning with `lists={{"as": '
                '"matrix"}`: a matrix has one cell for each pair, and none for a '
                "template with itself"
            )
        fold = None
        if layout.get("fold") is not None and not as_matrix:
            fold = table.words[layout.roles["fold"]].objects()[rows].astype(str)
        listed = PairList.from_arrays(
            self.values[rows],
            self.genuine,
            pair_folds=fold,
            subjects=both_sides(*self.subjects).take(rows) if self.subjects else None,
            pair_templates=self._templates(),
            meta={
                name: both_sides(*pair_of_columns).take(rows)
                for name, pair_of_columns in self.meta.items()
            },
        )
        listed = replace(listed, attack=self._attacks())
        if as_matrix and listed.attack is not None:
            raise fault(
                table.path,
                "has attack presentations; a matrix has no place for them",
                'leave out `lists={"as": "matrix"}`',
            )
        bona_fide = not self._of_attacks and listed.attack is None
        keep, notes = listed.examined(rules, options["kind"], self.where, bona_fide, self.no_person)
        if keep is not None:
            self.rows = np.flatnonzero(keep) if isinstance(rows, slice) else rows[keep]
            self.genuine = self.genuine[keep]
            listed = listed.take(keep)
            self.exchanged = None if self.exchanged is None else self.exchanged[keep]
        if as_matrix:
            scores = self._matrix(rules, options)
        else:
            failed = None
            for row in np.flatnonzero(np.isnan(listed.values))[:1].tolist():
                failed = row, f"on {self.where([row])} of {table.path.name}"
            listed = replace(listed, unordered=rules.unordered, failed_at=failed)
            if self.exchanged is not None and self.exchanged.any():
                listed = listed.exchanged(self.exchanged)
            scores = Scores._of_pairs(listed, **options)
        return scores._with(
            remarks=(*scores.remarks, *self.notes, *notes),
            reading=self.reading,
            _columns_left_out=self.left_out,
        )

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
            if any(
                len(x.values) == 1 < len(y.values)
                for x, y in zip((enrolled, probe), people, strict=True)
            ):
                return None  # one name of several people names none
            sides = [
                dict(zip(x.values, self._by_template(x, y), strict=True))
                for x, y in zip((enrolled, probe), people, strict=True)
            ]
            if len(names.values) < len(enrolled.values) + len(probe.values):  # one set
                for name in sides[0].keys() & sides[1].keys():
                    require_one_owner(self.table.path, name, sides[0][name], sides[1][name])
        names = names.take(self.rows)
        same = names.a == names.b
        # Names that are equal in every genuine pair, and in no impostor pair, are of subjects.
        if same.any() and np.array_equal(same, self.genuine) and not layout.subjects:
            self.reading += ("names taken for those of people: they are equal in genuine pairs",)
            return None
        return names

    def _names(self, option: Any) -> Two:
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
    def _of_attacks(self) -> bool:
        return self.words is not None and any(map(is_attack, self.words.values))

    def _attacks(self) -> np.ndarray | None:
        """Return the species of each pair, empty for bona fide; None of a list without attacks.

        Filled cells of a column of species win over the class; an attack without a species has the
        word of its class. Two classes alone are the classes of attack detection.
        """
        words = self.words
        column = self.layout.get("species")
        by_class = words is not None and has_three_classes(words.values)
        if not by_class and (column is None or self._of_attacks):
            return None
        species = np.full(len(self.values), "", dtype=object)
        if by_class and words is not None:
            named = [word if is_attack(word) else "" for word in words.values]
            species = np.array(named, dtype=object)[words.codes]
        if column is not None:
            cells = self.table.words[column]
            named = ["" if is_bona_fide(word) else word for word in cells.values]
            filled = np.array(named, dtype=object)[cells.codes]
            species = np.where(filled == "", species, filled)
        return species.astype(str)[self.rows] if (species != "").any() else None

    # --------------------------------------------------------------------- subjects

    def _subjects(self, has_classes: bool) -> Two | None:
        """Return the subjects of both sides, from columns, parts of names or a table; and metadata.

        `has_classes` is whether genuine pairs are known.
        """
        self._add_metadata()
        listed: Two | None = None
        from_names: Two | None = None
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
        """Return the subject of each template, and metadata, by the table `labels`.

        The subjects are None of a table with metadata alone, if subjects are known or not needed.
        """
        templates = read_templates(self.arguments.take("labels"))
        meta_names = {
            name: column
            for name, column in self.arguments.all_meta().items()
            if name not in self.layout.named
        }
        meta, self.left_out = templates.metadata(meta_names)
        is_optional = has_subjects or "subject_from" in self.arguments
        is_optional = is_optional or has_classes and bool(templates.more)
        subject = templates.subjects() if is_optional else templates.subject_of()
        templates.require(self._every_name(), self.table.path)
        return subject, meta

    def _line_of(self, name: str) -> str:
        columns = [self.table.words[i] for i in self.layout.templates]
        column = next(x for x in columns if name in x.values)
        return self.table.place_of(int(np.argmax(column.codes == column.values.index(name))))

    def _require_agreement(self, listed: Two, subjects_of_names: Two, option: str) -> None:
        for listed_words, words_of_names in zip(listed, subjects_of_names, strict=True):
            place = _places_of_words(listed_words, words_of_names)
            for row in np.flatnonzero(place[listed_words.codes] != words_of_names.codes)[
                :1
            ].tolist():
                raise fault(
                    self.table.place_of(row),
                    f"the subject is {listed_words.values[listed_words.codes[row]]!r}, and by "
                    f"`{option}` it is {words_of_names.values[words_of_names.codes[row]]!r}",
                    "correct one of the two",
                )

    # --------------------------------------------------------------------- a matrix

    def _matrix(self, rules: ListRules, options: dict[str, Any]) -> Scores:
        sides = []
        for i, column in enumerate(self._names('`lists={"as": "matrix"}`')):
            subjects = (
                None if self.subjects is None else self._by_template(column, self.subjects[i])
            )
            names = column.values
            if self.layout.claims and not i:
                names = [*map("claim {}".format, names)]
            meta = {
                word: self._by_template(column, pair_of_columns[i], word)
                for word, pair_of_columns in self.meta.items()
            }
            sides.append(ListedSide(column.codes[self.rows], names, subjects, meta))
        if self.exchanged is not None and self.exchanged.all():
            sides.reverse()
        gallery, probe = sides
        values = self.values[self.rows]
        return matrix_of_pairs(
            self.table.path, values, self.genuine, probe, gallery, rules.unordered, options
        )

    def _by_template(
        self, column: Words, subjects: Words, attribute: str = "subject"
    ) -> np.ndarray:
        """Return the subject, or another attribute, of each template of a column.

        `subjects` has the attribute of each row; a template with two values raises an error.
        """
        owner = np.empty(len(column.values), dtype=np.int64)
        owner[column.codes[::-1]] = subjects.codes[::-1]  # the first line of a name decides
        for row in np.flatnonzero(owner[column.codes] != subjects.codes)[:1]:
            code = column.codes[row]
            first = int(np.argmax(column.codes == code))
            name = column.values[code]
            stated = subjects.values[subjects.codes[row]]
            line = self.table.lines([first])
            stated_before = subjects.values[owner[code]]
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
            if _is_of_one(subjects, column):
                problem += ", and each subject has one template"
                advice = "the columns of the subjects and of the templates may be exchanged"
            raise fault(self.table.place_of(row), problem, advice)
        return np.array(subjects.values, dtype=object)[owner]


def _renamed(names: Two, value_of: Mapping[str, str]) -> Two:
    first, second = (column.renamed([value_of[x] for x in column.values]) for column in names)
    return first, second


def _is_of_one(subjects: Words, templates: Words) -> bool:
    """Whether each subject has one template, and some template several subjects."""
    first = np.empty(len(subjects.values), dtype=np.int64)
    first[subjects.codes[::-1]] = templates.codes[::-1]
    alike = first[subjects.codes] == templates.codes
    return len(subjects.values) > len(templates.values) and bool(alike.all())
