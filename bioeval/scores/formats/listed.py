"""The lines of a list of comparisons as scores: as pairs, or as a matrix.

Of the lines ::

    template_a,template_b,genuine,distance
    anna_1,anna_2,1,0.21
    anna_1,ben_1,0,0.83

each is a pair of an enrolled template and a probe. Whether it is genuine is said by a column, by a
list of trials, or by the subjects of both templates, which columns, a table of templates or a
pattern of their names state. :class:`Listed` has what is known of every line;
:func:`scores_of_listed` makes scores of the lines that are attempts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from bioeval.base.errors import DataError, Message, backquoted
from bioeval.base.options import require_memory
from bioeval.scores.codes import Codes, present
from bioeval.scores.formats.labels import descriptions
from bioeval.scores.formats.layouts import Layout, misspelt, refuse_unread_names
from bioeval.scores.formats.roles import Arguments
from bioeval.scores.formats.tables import Columns, Words, first_codes
from bioeval.scores.formats.texts import fault
from bioeval.scores.formats.trials import (
    ScoredPairs,
    join,
    read_comparisons,
    refuse_impostor_flags,
    truth_of,
)
from bioeval.scores.image_names import subject_pattern
from bioeval.scores.keys import united
from bioeval.scores.labels import are_of_no_person, as_objects, ids_of_no_person
from bioeval.scores.masks import Mask
from bioeval.scores.matrix import Scores
from bioeval.scores.metadata import natural_places
from bioeval.scores.pairs import MOSTLY, ListRules, PairList, places_in_words

# Names whose subjects are shown.
_EXAMPLES = 3


def scores_of_listed(
    table: Columns, layout: Layout, arguments: Arguments, options: dict[str, Any]
) -> Scores:
    """Return the scores of the lines that are attempts, as pairs or as their matrix.

    `options` are arguments of :class:`Scores`: kind, nan and name.
    """
    listed = listed_of(table, layout, arguments)
    as_matrix = arguments.take("lists.as") == "matrix"
    rules = ListRules.parse(**arguments.rules())
    if as_matrix and rules.keep:
        raise DataError(
            f'`lists={{"keep": "{rules.keep[0]}"}}` has no meaning with `lists={{"as": '
            '"matrix"}`: a matrix has one cell for each pair, and none for a '
            "template with itself"
        )

    # The names of both templates, unless they seem to be names of people.
    rows, genuine, reading = listed.pairs.rows, listed.pairs.genuine, listed.reading
    if not layout.templates and arguments.names is not None:
        refuse_unread_names(table.path, layout.unread)
    templates = listed.templates()
    if templates is not None:
        templates = templates.take(rows)
        # Names that are equal in every genuine pair, and in no other, seem to be of people.
        is_same_name = templates.gallery == templates.probe
        is_as_class = np.array_equal(is_same_name, genuine)
        if is_same_name.any() and is_as_class and not layout.subjects:
            templates = None
            reading += ("names taken for those of people: they are equal in genuine pairs",)

    # The pairs that are attempts.
    fold = None
    if not as_matrix and layout.get("fold") is not None:
        fold = table.words[layout.roles["fold"]].objects()[rows].astype(str)
    pairs = PairList.from_arrays(
        listed.values[rows],
        genuine,
        pair_folds=fold,
        subjects=None if listed.subjects is None else listed.subjects.take(rows),
        pair_templates=templates,
        meta={name: codes.take(rows) for name, codes in listed.meta.items()},
    )
    lines_of_pairs = partial(listed.lines_in_words, listed.pairs)
    pairs, is_attempt, notes = pairs.attempts(
        rules, options["kind"], lines_of_pairs, listed.no_person
    )
    attempts = listed.pairs
    if is_attempt is not None:
        attempts = attempts.take(is_attempt, len(listed.values))

    # Their scores.
    if as_matrix:
        scores = listed.matrix(attempts, rules, options)
    else:
        is_failed = np.isnan(pairs.values)
        if is_failed.any():
            number = int(np.argmax(is_failed))
            place = f"on {listed.lines_in_words(attempts, [number])} of {table.path.name}"
            pairs = replace(pairs, failed_at=(number, place))
        if attempts.exchanged is not None and attempts.exchanged.any():
            pairs = pairs.exchanged(attempts.exchanged)
        scores = Scores._of_pairs(pairs, **options)
    return scores._with(
        remarks=(*scores.remarks, *listed.pairs.notes, *notes),
        reading=reading,
        _columns_left_out=listed.columns_left_out,
        _unread_texts=layout.unread,
        _has_no_names=arguments.names is None,
    )


# ------------------------------------------------------------------------- what lines say of pairs


def listed_of(table: Columns, layout: Layout, arguments: Arguments) -> Listed:
    """Return what columns, trials, a table of templates and a pattern say of the lines."""
    values = arguments.with_failures(table.numbers[layout.score])
    no_person = ids_of_no_person(arguments.peek("distractor_ids"))
    pairs = _pairs_with_stated_classes(table, layout, arguments)

    # What the list says of both sides; the value of a side without a column is unknown.
    unknown = Words.from_codes(np.zeros(len(values), dtype=np.int8), [""])
    meta = dict[str, Codes]()
    for column, sides in layout.meta.items():
        enrolled, probe = (unknown if i is None else table.words[i] for i in sides)
        meta[column] = both_sides(enrolled, probe)
    subjects: Codes | None = None
    if layout.subjects:
        subjects = both_sides(*(table.words[i] for i in layout.subjects))

    # What a table, and a pattern, say of the names.
    reading: tuple[str, ...] = ()
    columns_left_out: Mapping[str, str] = {}
    options = [x for x in ("labels", "subject_from") if x in arguments]
    if options:
        names = both_sides(*_names(table, layout, f"`{options[0]}`"))
        stated = _stated_of_names(names, subjects, pairs is not None, table, layout, arguments)
        subjects, meta_of_names, reading, columns_left_out = stated
        meta |= meta_of_names
    if pairs is None:
        pairs = _pairs_with_class_of_subjects(table, layout, subjects, no_person)
    return Listed(
        table,
        layout,
        arguments,
        values=values,
        pairs=pairs,
        subjects=subjects,
        meta=meta,
        reading=reading,
        columns_left_out=columns_left_out,
        no_person=no_person,
    )


def _pairs_with_stated_classes(
    table: Columns, layout: Layout, arguments: Arguments
) -> ScoredPairs | None:
    """Return the pairs with the classes of a column or of trials; None without either."""
    truth = layout.get("genuine")
    if truth is not None:
        name = layout.names[truth]
        if "trials" in arguments:
            raise fault(table.path, f"{name} marks genuine pairs", "leave out `trials`")
        return ScoredPairs(slice(None), truth_of(table.words[truth], table, name))
    if "trials" not in arguments:
        return None
    trials = read_comparisons(arguments.take("trials"), arguments)
    if not layout.templates:
        raise fault(
            table.path,
            f"has no names of templates, by which the trials of {trials.path.name} find "
            "their scores",
            "name both templates in each line, or give the scores alone, in the order of "
            "the trials",
        )
    skip = arguments.take("lists.missing_pairs") == "skip"
    unordered = bool(arguments.peek("lists.unordered"))
    return join(table, layout, trials, unordered, skip)


def _stated_of_names(
    names: Codes,
    listed_subjects: Codes | None,
    has_classes: bool,
    table: Columns,
    layout: Layout,
    arguments: Arguments,
) -> tuple[Codes | None, dict[str, Codes], tuple[str, ...], dict[str, str]]:
    """Return what a table of templates, and a pattern, state of the names of both sides.

    Returned are the subjects and the metadata of all rows, phrases on the source of the subjects,
    and why columns of the table are left out. With classes, the subjects are not needed. Subjects
    that the list and an option state must be equal.
    """

    def place_of(name: str) -> str:  # its first line
        code = names.values.tolist().index(name)
        is_named = names.gallery == code
        if not is_named.any():
            is_named = names.probe == code
        return table.place_of(int(np.argmax(is_named)))

    stated = arguments.all_meta() if "labels" in arguments else {}
    described = descriptions(
        arguments,
        table.path,
        names.values.tolist(),
        place_of,
        {name: x for name, x in stated.items() if name not in layout.named},
        are_subjects_needed=listed_subjects is None and "subject_from" not in arguments,
        is_metadata_enough=has_classes,
    )
    subjects = listed_subjects
    meta: dict[str, Codes] = {}
    columns_left_out: dict[str, str] = {}
    reading: tuple[str, ...] = ()
    for option, subject_of, meta_of_names, left_out in described:
        columns_left_out |= left_out
        for column, value_of in meta_of_names.items():
            meta[column] = _renamed(names, value_of)
        if subject_of is None:
            continue
        if option == "subject_from":
            first_names = names.values[names.gallery[:_EXAMPLES]].tolist()
            examples = [f"{name} -> {subject_of[name]}" for name in dict.fromkeys(first_names)]
            reading = (f"subjects from names: {', '.join(examples)}",)
        subjects_by_option = _renamed(names, subject_of)
        if listed_subjects is None:
            subjects = subjects_by_option
            continue
        of_sides = zip(listed_subjects.objects().T, subjects_by_option.objects().T, strict=True)
        for of_list, of_option in of_sides:  # of the enrolled templates, then of the probes
            differs = of_list != of_option
            if differs.any():
                row = int(np.argmax(differs))
                raise fault(
                    table.place_of(row),
                    f"the subject is {of_list[row]!r}, and by `{option}` it is {of_option[row]!r}",
                    "correct one of the two",
                )
    if listed_subjects is not None and reading:
        reading = ("subjects as listed, equal to those from names",)
    return subjects, meta, reading, columns_left_out


def _pairs_with_class_of_subjects(
    table: Columns, layout: Layout, subjects: Codes | None, no_person: Sequence[Any]
) -> ScoredPairs:
    """Return the pairs, genuine if both subjects are equal, without those of no person."""
    if subjects is None:
        refuse_impostor_flags(table.path, *layout.names)
        words = [table.words[i] for i in layout.templates if i in table.words]
        names = [*dict.fromkeys(name for column in words for name in column.values)]
        advice = backquoted("subject_from", subject_pattern(names) if names else None)
        raise fault(
            table.path,
            "does not mark genuine pairs",
            "give the list of trials as `trials`, or the part of a name that is its "
            f"subject as {advice}{misspelt(layout.names)}",
        )
    enrolled, probe = subjects.gallery, subjects.probe
    is_nobody = are_of_no_person(subjects.values, no_person)
    genuine = (enrolled == probe) & ~is_nobody[enrolled]
    are_nobody = is_nobody[enrolled] & is_nobody[probe]
    if not are_nobody.any():
        return ScoredPairs(slice(None), genuine)
    if are_nobody.all():
        raise fault(table.path, "has no pair with a subject who is a person")
    notes = [Message("pairs-of-no-person", pairs=int(are_nobody.sum()))]
    rows = np.flatnonzero(~are_nobody)
    return ScoredPairs(rows, genuine[rows], notes=notes)


def _names(table: Columns, layout: Layout, option: str) -> list[Words]:
    """Return the names of both templates; without them raise that the `option` needs them."""
    if len(layout.templates) != 2:
        raise fault(
            table.path,
            f"has no names of templates for {option}",
            f"expected two columns such as template_a and template_b{misspelt(layout.names)}",
        )
    return [table.words[i] for i in layout.templates]


def both_sides(enrolled: Words, probes: Words) -> Codes:
    """Return two columns as codes, which number the values of both together, blanks too."""
    values, number_of_probe = united(enrolled.values, probes.values)
    if "" in enrolled.values and "" in probes.values:
        number_of_probe[probes.values.index("")] = enrolled.values.index("")
    return Codes.known(
        as_objects(values),
        number_of_probe.astype(np.int32)[probes.codes],
        enrolled.codes.astype(np.int32, copy=False),
    )


def _renamed(names: Codes, value_of: Mapping[str, str]) -> Codes:
    """Return a value of each template in place of its name."""
    values = Words.from_codes(np.arange(len(names.values)), [value_of[x] for x in names.values])
    codes = values.codes.astype(np.int32)
    return Codes.known(as_objects(values.values), codes[names.probe], codes[names.gallery])


# ------------------------------------------------------------------------- pairs, or their matrix


@dataclass(frozen=True, eq=False)
class Listed:
    """The lines of a list, each a row of its table, and what is known of both of their templates.

    The enrolled template of a line is in the gallery of codes, and the probe among their probes.
    """

    table: Columns
    layout: Layout
    arguments: Arguments
    values: np.ndarray  # float64 (rows,): the scores
    pairs: ScoredPairs  # the rows that are pairs, and their classes (pairs,)
    subjects: Codes | None  # of all rows
    meta: Mapping[str, Codes]  # of all rows, by column
    reading: tuple[str, ...]  # phrases on the source of the subjects
    columns_left_out: Mapping[str, str]  # why columns of a table of templates are left out
    no_person: tuple[Any, ...]  # the labels of no person

    def templates(self) -> Codes | None:
        """Return the templates of each row; None where the list does not name both templates.

        Equal names are one template, whatever the columns are called.
        """
        layout, words = self.layout, self.table.words
        if not layout.names_templates:
            return None
        templates = both_sides(*(words[i] for i in layout.templates))
        if layout.subjects:
            # A single name of several people does not name templates.
            for name, subject in zip(layout.templates, layout.subjects, strict=True):
                if len(words[name].values) == 1 and len(words[subject].values) > 1:
                    return None
            self._value_by_name(templates, self.subjects)  # raises if one has two subjects
        return templates

    def _value_by_name(
        self, names: Codes, values: Any, attribute: str = "subject", *, by_side: bool = False
    ) -> np.ndarray:
        """Return the subject, or another attribute, of each template; raise where it has two.

        `names` and `values` are codes of all rows. A template of both sides has one value, or
        `by_side` that of the gallery.
        """
        # Codes of names and of values that must agree: (rows,) of one side, (2 * rows,) of both.
        if by_side:  # the gallery comes last, so that its values stay
            agreeing = [(names.probe, values.probe), (names.gallery, values.gallery)]
        else:
            both_names = np.concatenate([names.gallery, names.probe])
            agreeing = [(both_names, np.concatenate([values.gallery, values.probe]))]
        code_of_value = np.zeros(len(names.values), dtype=np.int64)
        for name, value in agreeing:
            places = first_codes(name, value, code_of_value)
            if not places:
                continue
            first_row, other_row = (place % len(self.values) for place in places)
            stated_before, stated = values.values[value[places]]
            before = f"and on {places_in_words(self.table.noun, self.table.lines([first_row]))}"
            advice = (
                "give each template its own name, such as the subject with a number; or are "
                "subject_a and subject_b, or subjects and templates, exchanged?"
            )
            if attribute != "subject":
                column = f'`columns={{"probe_{attribute}": "{attribute}"}}`'
                advice = f"name a column of one side, as in {column}"
            raise fault(
                self.table.place_of(other_row),
                f"the {attribute} of the template {names.values[name[places[0]]]!r} is {stated!r}, "
                f"{before} {stated_before!r}",
                advice,
            )
        of_templates: np.ndarray = values.values[code_of_value]
        return of_templates

    def lines_in_words(self, pairs: ScoredPairs, numbers: Sequence[int]) -> str:
        """Return the lines of some of the pairs, by their numbers, in words."""
        rows = np.arange(len(self.values))[pairs.rows][[*numbers]].tolist()
        return places_in_words(self.table.noun, self.table.lines(rows))

    def matrix(self, attempts: ScoredPairs, rules: ListRules, options: dict[str, Any]) -> Scores:
        """Return the scores of pairs as a matrix, in which pairs that are not listed are masked.

        - If probes and gallery share a name, all templates are one set.
        - Subjects decide the classes, or without subjects those of the pairs.
        - If the list is `unordered`, a comparison that it lacks has the score of the other order.
        """
        path, values, genuine = self.table.path, self.values[attempts.rows], attempts.genuine
        names, meta, subjects = self._names_of_matrix(attempts)

        # The templates of rows and columns, as codes of names, and the cell of each pair. A name on
        # both sides is one template, and the matrix is then all-against-all.
        is_probe = present(names.probe, len(names.values))
        is_enrolled = present(names.gallery, len(names.values))
        shared_count = int((is_probe & is_enrolled).sum())
        are_one_set = shared_count > 0
        if are_one_set:
            is_probe = is_enrolled = np.ones(len(names.values), dtype=bool)
        probes, row_of_name = _axis(names.values, is_probe)
        gallery, column_of_name = _axis(names.values, is_enrolled)
        row = row_of_name[names.probe[attempts.rows]]
        column = column_of_name[names.gallery[attempts.rows]]

        labels: dict[str, Any] = {}
        if subjects is not None:
            genuine = subjects[probes][row] == subjects[gallery][column]
            labels["labels"] = subjects[probes]
            if not are_one_set:
                labels["gallery_labels"] = subjects[gallery]

        # Each pair is written into its cell; several scores of a pair are an error.
        shape = (len(probes), len(gallery))
        require_memory(
            9 * shape[0] * shape[1],  # a cell of the matrix has 8 bytes, and one of the mask 1
            f"{path}: a matrix of {shape[0]:,} x {shape[1]:,}",
            "evaluate it as a list of pairs",
        )
        matrix = np.zeros(shape)
        mask = np.full(shape, Mask.IGNORE, dtype=np.uint8)
        matrix[row, column] = values
        mask[row, column] = np.where(genuine, Mask.GENUINE, Mask.IMPOSTOR)
        repeated = len(values) - int((mask != Mask.IGNORE).sum())
        differs = ~np.isclose(matrix[row, column], values, rtol=0, atol=0, equal_nan=True)
        if differs.any():
            first = int(np.argmax(differs))
            probe_name = names.values[probes[row[first]]]
            enrolled_name = names.values[gallery[column[first]]]
            raise DataError(
                f"{path}: {repeated:,} pairs are listed more than once, {int(differs.sum()):,} of "
                f"them with another score; the first: {probe_name!r} against {enrolled_name!r}; "
                "templates with one name each are needed for a matrix"
            )
        notes = []
        if repeated:
            notes.append(Message("repeated-pairs", pairs=repeated, how="", option=""))

        # Pairs that are listed in one of the two orders. They get a remark if at least half of the
        # templates are on both sides, so that the other order seems to be meant, too.
        if are_one_set and rules.unordered:
            lacks_other = mask[column, row] == Mask.IGNORE
            row, column = row[lacks_other], column[lacks_other]
            matrix[column, row] = matrix[row, column]
            mask[column, row] = mask[row, column]
        elif 2 * shared_count >= len(probes):
            in_one_order = int((mask[column, row] == Mask.IGNORE).sum())
            if in_one_order >= MOSTLY * len(row):
                consequence = ", so that searches and multi-template attempts lack the other one"
                note = Message(
                    "pairs-in-one-order",
                    one_order=in_one_order,
                    pairs=len(row),
                    consequence=consequence,
                    option="`unordered=True`",
                )
                notes.append(note)

        unlisted = int((mask == Mask.IGNORE).sum())
        if are_one_set:
            unlisted -= len(probes)  # templates with themselves, which are no comparisons
        if unlisted:
            notes.append(Message("not-listed", missing=unlisted, comparisons=matrix.size))
        gallery_meta = {name: values_of_names[gallery] for name, values_of_names in meta.items()}
        scores = Scores(
            matrix,
            **labels,
            mask=mask if unlisted or not labels else None,  # without labels it has the classes
            probe_meta={name: values_of_names[probes] for name, values_of_names in meta.items()},
            gallery_meta=None if are_one_set else gallery_meta,
            **options,
        )
        return scores._with(remarks=tuple(notes))

    def _names_of_matrix(
        self, attempts: ScoredPairs
    ) -> tuple[Codes, dict[str, np.ndarray], np.ndarray | None]:
        """Return the names of all rows, and the metadata and the subject of each distinct name.

        If, by the trials, the list names the probe of every pair first, its sides are exchanged.
        """
        enrolled, probes = _names(self.table, self.layout, '`lists={"as": "matrix"}`')
        if self.layout.claims:  # the enrolled names are of subjects, not of templates
            enrolled = enrolled.renamed(f"claim {name}" for name in enrolled.values)
        is_exchanged = np.array(attempts.exchanged is not None and attempts.exchanged.all())
        if is_exchanged:
            enrolled, probes = probes, enrolled
        names = both_sides(enrolled, probes)
        meta = {"template": names.values}
        for column, codes in self.meta.items():
            codes = codes.exchanged(is_exchanged)
            meta[column] = self._value_by_name(names, codes, column, by_side=True)
        subjects = None
        if self.subjects is not None:
            subjects = self._value_by_name(names, self.subjects.exchanged(is_exchanged))
        return names, meta, subjects


def _axis(names: np.ndarray, is_on_axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the templates of an axis in the natural order of their names, and their places.

    Templates are numbers of names. The places are those of all names (names,), of which names that
    are not on the axis have none.
    """
    templates = np.flatnonzero(is_on_axis)
    templates = templates[np.argsort(natural_places(names[templates]), kind="stable")]
    place = np.empty(len(names), dtype=np.int64)
    place[templates] = np.arange(len(templates))
    return templates, place
