"""Lists of comparisons with scores: the classes of the pairs, and their templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError, backquoted
from bioeval.base.messages import Message
from bioeval.scores.coded_sides import CodedSides
from bioeval.scores.formats.comparisons import read_comparisons, truth_of
from bioeval.scores.formats.faults import fault
from bioeval.scores.formats.files import existing_file
from bioeval.scores.formats.layouts import Layout, layout_of, misspelt, no_scores
from bioeval.scores.formats.listed_matrix import ListedSide, matrix_of_pairs
from bioeval.scores.formats.options import Arguments
from bioeval.scores.formats.pair_subjects import described_pairs
from bioeval.scores.formats.pair_table import PairTable, both_sides, have_equal_words
from bioeval.scores.formats.scores_alone import read_scores_alone
from bioeval.scores.formats.tables import Columns, Head, read_columns, whole_floats
from bioeval.scores.formats.trial_scores import ScoredPairs, join
from bioeval.scores.labels import as_objects, with_whole_numbers
from bioeval.scores.listed_templates import ListRules, places_in_words
from bioeval.scores.matrix import Scores
from bioeval.scores.missing import are_of_no_person, ids_of_no_person
from bioeval.scores.names import subject_pattern
from bioeval.scores.pairs import PairList


def read_list(head: Head, arguments: Arguments, impostor: Path | None) -> Scores:
    """Read a text as a list of comparisons; with `impostor`, the text has genuine scores alone."""
    layout = layout_of(head, arguments)
    if layout.get("score") is None:
        raise no_scores(head, named=True)
    options = score_options(head.path, layout, arguments)
    has_one_column = head.width - layout.first_line.unnamed == 1
    if has_one_column and layout.get("genuine") is None or impostor is not None:
        return read_scores_alone(head, layout, impostor, arguments, options)
    columns = columns_of_words(layout, arguments)
    table = read_columns(
        head,
        layout.skips_line,
        layout.names_of(columns),
        layout.names_of([layout.score]),
        digits=layout.names_of([layout.get("genuine")]),
        blanks=layout.may_be_blank,
    )
    return Listed(table, layout, arguments).scores(options)


def columns_of_words(layout: Layout, arguments: Arguments) -> list[int]:
    """Return the columns to read as words: all columns with a role except the scores."""
    columns = {*map(layout.get, ("genuine", "fold")), *layout.subjects}
    for pair_of_columns in layout.meta.values():
        columns |= {*pair_of_columns}  # None where a side has none
    by_name = arguments.names_templates or "lists.as" in arguments
    if by_name or layout.names_templates:
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


class Listed:
    """The pairs of a list, each a row of its table, with their classes, subjects and metadata.

    Arrays are of all rows of the table, (rows,), or of the rows that are pairs, (pairs,).

    - `pair_table`: the same table and layout, with the names of the templates
    - `values` (float64 (rows,)): the scores
    - `class_words` (Words (rows,) or None): the column of words for the classes
    - `described`: the subjects and the metadata of all rows
    - `no_person`: the labels of no person
    - `pairs`: the rows that are pairs, and their classes (pairs,)
    """

    def __init__(self, table: Columns, layout: Layout, arguments: Arguments):
        """Find the class and the subjects of each pair."""
        self.table = table
        self.layout = layout
        self.arguments = arguments
        self.pair_table = PairTable(table, layout)
        self.values = arguments.with_failures(table.numbers[layout.score])
        truth = layout.get("genuine")
        self.class_words = None if truth is None else table.words[truth]
        stated = self._pairs_with_stated_class()
        for column in (*layout.templates, *layout.subjects):
            cells = table.words[column].values if column in table.words else []
            if (numbers := whole_floats(cells)) is not None:
                source = f"{table.path}: column {layout.names[column]!r}"
                with_whole_numbers(numbers, source)
        has_classes = stated is not None
        self.described = described_pairs(self.pair_table, arguments, has_classes=has_classes)
        self.no_person = ids_of_no_person(arguments.peek("distractor_ids"))
        self.pairs = stated or self._pairs_with_class_of_subjects()

    def _pairs_with_stated_class(self) -> ScoredPairs | None:
        """Return the pairs by trials, or by a column of classes; None where there is neither."""
        if "trials" in self.arguments:
            return self._join()
        if self.class_words is None:
            return None
        name = self.layout.names[self.layout.roles["genuine"]]
        return ScoredPairs(slice(None), truth_of(self.class_words, self.table, name))

    def _pairs_with_class_of_subjects(self) -> ScoredPairs:
        if self.described.subjects is None:
            names = self.pair_table.every_name()
            advice = backquoted("subject_from", subject_pattern(names) if names else None)
            raise fault(
                self.table.path,
                "does not mark genuine pairs",
                "give the list of trials as `trials`, or the part of a name that is its "
                f"subject as {advice}{misspelt(self.layout.names, self.layout.with_roles)}",
            )
        is_nobody_enrolled, is_nobody_probe = (
            are_of_no_person(as_objects(side.values), self.no_person)[side.codes]
            for side in self.described.subjects
        )
        genuine = have_equal_words(*self.described.subjects) & ~is_nobody_enrolled
        are_nobody = is_nobody_enrolled & is_nobody_probe
        if not are_nobody.any():
            return ScoredPairs(slice(None), genuine)
        if are_nobody.all():
            raise fault(self.table.path, "has no pair with a subject who is a person")
        notes = [Message("pairs-of-no-person", pairs=int(are_nobody.sum()))]
        rows = np.flatnonzero(~are_nobody)
        return ScoredPairs(rows, genuine[rows], notes=notes)

    def _join(self) -> ScoredPairs:
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
        return join(self.table, layout, listed, self.arguments)

    def _where(self, pairs: ScoredPairs, numbers: Sequence[int]) -> str:
        rows = [*numbers]
        if not isinstance(pairs.rows, slice):
            rows = pairs.rows[rows].tolist()
        return places_in_words(self.table.noun, self.table.lines(rows))

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
        reading = self.described.reading
        templates = self._templates()
        if templates is not None and self._are_people(templates):
            templates = None
            reading += ("names taken for those of people: they are equal in genuine pairs",)
        listed = self._pair_list(templates, with_folds=not as_matrix)
        is_attempt, notes = listed.examined(
            rules, options["kind"], partial(self._where, self.pairs), self.no_person
        )
        attempts = self.pairs
        if is_attempt is not None:
            attempts = self.pairs.take(is_attempt, len(self.values))
            listed = listed.take(is_attempt)
        if as_matrix:
            scores = self._matrix(attempts, rules, options)
        else:
            listed = replace(listed, unordered=rules.unordered)
            scores = self._scores_of_pairs(attempts, listed, options)
        return scores._with(
            remarks=(*scores.remarks, *self.pairs.notes, *notes),
            reading=reading,
            _columns_left_out=self.described.columns_left_out,
        )

    def _pair_list(self, templates: CodedSides | None, *, with_folds: bool) -> PairList:
        rows = self.pairs.rows
        fold = None
        if with_folds and self.layout.get("fold") is not None:
            words = self.table.words[self.layout.roles["fold"]]
            fold = words.objects()[rows].astype(str)
        subjects = self.described.subjects
        return PairList.from_arrays(
            self.values[rows],
            self.pairs.genuine,
            pair_folds=fold,
            subjects=None if subjects is None else both_sides(*subjects).take(rows),
            pair_templates=templates,
            meta={
                name: both_sides(*columns).take(rows)
                for name, columns in self.described.meta.items()
            },
        )

    def _scores_of_pairs(
        self, attempts: ScoredPairs, listed: PairList, options: dict[str, Any]
    ) -> Scores:
        for number in np.flatnonzero(np.isnan(listed.values))[:1].tolist():
            place = f"on {self._where(attempts, [number])} of {self.table.path.name}"
            listed = replace(listed, failed_at=(number, place))
        if attempts.exchanged is not None and attempts.exchanged.any():
            listed = listed.exchanged(attempts.exchanged)
        return Scores._of_pairs(listed, **options)

    def _matrix(self, attempts: ScoredPairs, rules: ListRules, options: dict[str, Any]) -> Scores:
        sides = []
        for i, column in enumerate(self.pair_table.names('`lists={"as": "matrix"}`')):
            subjects = None
            if self.described.subjects is not None:
                subjects = self.pair_table.value_by_template(column, self.described.subjects[i])
            names = column.values
            if self.layout.claims and not i:  # the enrolled names are of subjects, not of templates
                names = [*map("claim {}".format, names)]
            meta = {
                name: self.pair_table.value_by_template(column, columns[i], name)
                for name, columns in self.described.meta.items()
            }
            sides.append(ListedSide(column.codes[attempts.rows], names, subjects, meta))
        if attempts.exchanged is not None and attempts.exchanged.all():
            sides.reverse()
        gallery, probe = sides
        values = self.values[attempts.rows]
        return matrix_of_pairs(
            self.table.path, values, attempts.genuine, probe, gallery, rules.unordered, options
        )

    # --------------------------------------------------------------------- templates and classes

    def _templates(self) -> CodedSides | None:
        """Return the templates of each pair; None where the list does not name both."""
        names = self.pair_table.coded_names()
        return None if names is None else names.take(self.pairs.rows)

    def _are_people(self, names: CodedSides) -> bool:
        """Whether names of templates seem to be of people, in a list without subjects.

        They are equal in every genuine pair, and in no impostor pair.
        """
        is_same_name = names.a == names.b
        has_same_names = is_same_name.any() and np.array_equal(is_same_name, self.pairs.genuine)
        return bool(has_same_names) and not self.layout.subjects
