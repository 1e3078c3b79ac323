"""Lists of comparisons with scores, and matrices whose rows and columns have names.

Both are a text, a Parquet file or a DataFrame. A list has a pair of templates on each line, and a
matrix has the names of templates above its columns and before its rows::

    template_a,template_b,genuine,distance        label,anna,ben
    anna_1,anna_2,1,0.21                          anna,0,0.83
    anna_1,ben_1,0,0.83                           ben,0.83,0

`_scores_of_table` decides which of them a table is; :class:`Listed` makes scores of a list. A text
of scores alone has the scores of trials in their order, or of genuine and of impostor pairs apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError, Message, backquoted
from bioeval.base.kinds import Kind
from bioeval.base.options import require_memory
from bioeval.scores.codes import Codes, present
from bioeval.scores.features import NO_FEATURES
from bioeval.scores.formats.arrays import scores_of, scores_of_array, vectors_of_classes
from bioeval.scores.formats.containers import Lazy, open_npy
from bioeval.scores.formats.labels import Description, column_of_subjects, descriptions
from bioeval.scores.formats.layouts import (
    Layout,
    ScoredPairs,
    in_listed_order,
    join,
    layout_of,
    misspelt,
    no_scores,
    read_comparisons,
    refuse_impostor_flags,
    refuse_unread_names,
    scores_of_classes,
    truth_of,
    unnamed_columns,
    with_header,
)
from bioeval.scores.formats.roles import Arguments
from bioeval.scores.formats.tables import (
    COLUMNS,
    HEADER_NAMES,
    Columns,
    FileKind,
    Head,
    Words,
    as_integers,
    counts_columns,
    existing_file,
    fault,
    first_codes,
    folded,
    guarded,
    head_of,
    is_number,
    kind_of_file,
    like_number,
    optional,
    require_names,
    text_array,
    wrong_shape,
)
from bioeval.scores.image_names import subject_pattern
from bioeval.scores.keys import as_keys, counts_rows, keys_of, united
from bioeval.scores.labels import (
    are_of_no_person,
    as_objects,
    ids_of_no_person,
    missing_values,
    normal,
)
from bioeval.scores.masks import Mask
from bioeval.scores.matrix import Scores
from bioeval.scores.metadata import LABEL_COLUMNS, natural_places
from bioeval.scores.pairs import MOSTLY, ListRules, PairList, places_in_words

# Names whose subjects are shown.
_EXAMPLES = 3


def _scores_of_table(head: Head, arguments: Arguments) -> Scores:
    """Return the scores of a text or a table: of named arrays, of a matrix, or of a list."""
    head = with_corner(head)
    names = head.cells[0]
    if (scores := _of_arrays(head, arguments)) is not None:
        return scores
    if len(head.rows) > 1 and is_wide(names, arguments):
        return _matrix_with_names(head, arguments)
    layout = layout_of(head, arguments) if head.is_text else with_header(head, arguments)
    if layout is None or layout.get("score") is None:
        raise no_scores(head, named=True)
    hint = f", or name the column distance or similarity{misspelt(layout.names)}"
    source = f"the column {layout.names[layout.score]!r}"
    options = _options(head.path, layout.kind, arguments, source, hint)
    if head.width - layout.unnamed == 1 and layout.get("genuine") is None:
        if "trials" in arguments and head.is_text:
            return scores_in_order(head.path, arguments)
        raise DataError(
            f"{head.path}: holds one number per line; if these are genuine scores, give the file "
            "of the impostor scores as a second one; if they are in the order of a list of "
            "trials, give that as `trials`. A command of several systems takes one file of each: "
            f"bioeval convert {head.path} IMPOSTOR {head.path.stem}.npz --kind KIND"
        )
    # The columns of words: all columns with a role except the scores.
    columns = [layout.get("genuine"), layout.get("fold"), *layout.subjects]
    columns += [i for both_sides in layout.meta.values() for i in both_sides]
    words = {i for i in columns if i is not None}
    if arguments.names_templates or "lists.as" in arguments or layout.names_templates:
        words |= {*layout.templates}
    table = head.read(
        sorted(words),
        [layout.score],
        names=layout.names,
        header=layout.skips_line,
        digits=words & {layout.get("genuine")},
        blanks=layout.may_be_blank,
        labels=words.intersection((*layout.templates, *layout.subjects)),
    )
    return Listed(table, layout, arguments).scores(options)


# ------------------------------------------------------------------------- scores alone


def _vector(path: Path, arguments: Arguments) -> tuple[np.ndarray, Kind | None]:
    """Return the scores of a .npy array or a text, one an attempt, and the kind it declares."""
    if kind_of_file(existing_file(path)) == FileKind.NPY:
        values = open_npy(path)
        if prod(values.shape) != max(values.shape, default=0):
            raise wrong_shape(path, "", values.shape, "one score an attempt")
        return np.ravel(np.asarray(values[:] if values.ndim else values)), None
    head = head_of(path)
    layout = layout_of(head, arguments)
    if (width := head.width - layout.unnamed) != 1:
        raise fault(path, f"has {width} columns", "expected one score on each line")
    if layout.get("score") is None:
        raise no_scores(head, named=True)
    header = layout.skips_line or not is_number(head.cells[0][0])
    names, blanks = ["score"] * head.width, layout.may_be_blank
    table = head.read([], [layout.score], names=names, header=header, blanks=blanks)
    return table.numbers[layout.score], layout.kind


def _options(
    path: Path,
    kind: Kind | None,
    arguments: Arguments,
    source: str = "the name of the scores",
    hint: str = "",
) -> dict[str, Any]:
    # The name of a compressed text has several suffixes.
    name = path.stem if path.suffix == ".npy" else path.name.split(".")[0]
    return {
        "kind": arguments.kind_of(path, kind, source, hint),
        "nan": arguments.take("nan", "raise"),
        "name": name or path.stem,
    }


def scores_in_order(path: Path, arguments: Arguments) -> Scores:
    values, kind = _vector(path, arguments)
    return in_listed_order(path, values, arguments, _options(path, kind, arguments))


def scores_of_two_files(path: Path, impostor_path: Path, arguments: Arguments) -> Scores:
    """Read two files, of genuine and of impostor scores, as one list."""
    (genuine, kind), (impostor, second_kind) = (
        _vector(x, arguments) for x in (path, impostor_path)
    )
    if kind and second_kind and kind != second_kind:
        raise fault(
            impostor_path,
            f"the scores are called {second_kind}, and those of the genuine file {kind}",
            "expected distances or similarities in both",
        )
    has_several_values = (genuine != genuine[0]).any()
    are_equal = np.array_equal(genuine, impostor, equal_nan=True) and has_several_values
    if path.samefile(impostor_path) or are_equal:
        raise fault(
            path,
            f"has the same scores as {impostor_path}",
            "expected genuine scores in one file and impostor scores in another",
        )
    options = _options(path, kind or second_kind, arguments)
    reading = f"genuine scores from {path.name}, impostor scores from {impostor_path.name}"
    return scores_of_classes(genuine, impostor, arguments, options)._with(reading=(reading,))


# ------------------------------------------------------------------------- pairs with names


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


class Listed:
    """The pairs of a list, each a row of its table, with their classes, subjects and metadata.

    - `values` (float64 (rows,)): the scores
    - `subjects` (codes of all rows, or None) and `meta` (codes of all rows by column): what the
      list and the arguments say of both templates
    - `columns_left_out` (str by name): the columns of a table of templates that are left out, and
      why
    - `reading`: phrases on the source of the subjects
    - `no_person`: the labels of no person
    - `pairs`: the rows that are pairs, and their classes (pairs,)
    """

    def __init__(self, table: Columns, layout: Layout, arguments: Arguments):
        self.table = table
        self.layout = layout
        self.arguments = arguments
        self.values = arguments.with_failures(table.numbers[layout.score])
        self.no_person = ids_of_no_person(arguments.peek("distractor_ids"))

        pairs = self._pairs_with_stated_classes()

        # What the list says of both sides; the value of a side without a column is unknown.
        unknown = Words.from_codes(np.zeros(len(self.values), dtype=np.int8), [""])
        self.meta = dict[str, Codes]()
        for column, sides in layout.meta.items():
            enrolled, probe = (unknown if i is None else table.words[i] for i in sides)
            self.meta[column] = both_sides(enrolled, probe)
        self.subjects: Codes | None = None
        if layout.subjects:
            self.subjects = both_sides(*(table.words[i] for i in layout.subjects))

        # What a table, and a pattern, say of the names.
        self.columns_left_out = dict[str, str]()
        self.reading: tuple[str, ...] = ()
        options = [x for x in ("labels", "subject_from") if x in arguments]
        if options:
            names = both_sides(*self.names(f"`{options[0]}`"))
            self._describe(names, has_classes=pairs is not None)
        if pairs is None:
            pairs = self._pairs_with_class_of_subjects()
        self.pairs = pairs

    def _pairs_with_stated_classes(self) -> ScoredPairs | None:
        """Return the pairs with the classes of a column or of trials; None without either."""
        table, layout, arguments = self.table, self.layout, self.arguments
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

    def _describe(self, names: Codes, *, has_classes: bool) -> None:
        """Add the subjects and the metadata that a table, and a pattern, state of the names.

        With classes, the subjects are not needed. Subjects that the list and an option state must
        be equal.
        """
        table, layout, arguments = self.table, self.layout, self.arguments

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
            are_subjects_needed=self.subjects is None and "subject_from" not in arguments,
            is_metadata_enough=has_classes,
        )
        listed_subjects = self.subjects
        for option, subject_of, meta, left_out in described:
            self.columns_left_out |= left_out
            for column, value_of in meta.items():
                self.meta[column] = _renamed(names, value_of)
            if subject_of is None:
                continue
            if option == "subject_from":
                first_names = names.values[names.gallery[:_EXAMPLES]].tolist()
                examples = [f"{name} -> {subject_of[name]}" for name in dict.fromkeys(first_names)]
                self.reading = (f"subjects from names: {', '.join(examples)}",)
            subjects = _renamed(names, subject_of)
            if listed_subjects is None:
                self.subjects = subjects
                continue
            of_sides = zip(listed_subjects.objects().T, subjects.objects().T, strict=True)
            for of_list, of_option in of_sides:  # of the enrolled templates, then of the probes
                differs = of_list != of_option
                if differs.any():
                    row = int(np.argmax(differs))
                    raise fault(
                        table.place_of(row),
                        f"the subject is {of_list[row]!r}, and by `{option}` it is "
                        f"{of_option[row]!r}",
                        "correct one of the two",
                    )
        if listed_subjects is not None and self.reading:
            self.reading = ("subjects as listed, equal to those from names",)

    def _pairs_with_class_of_subjects(self) -> ScoredPairs:
        """Return the pairs, genuine if both subjects are equal, without those of no person."""
        if self.subjects is None:
            refuse_impostor_flags(self.table.path, *self.layout.names)
            words = [self.table.words[i] for i in self.layout.templates if i in self.table.words]
            names = [*dict.fromkeys(name for column in words for name in column.values)]
            advice = backquoted("subject_from", subject_pattern(names) if names else None)
            raise fault(
                self.table.path,
                "does not mark genuine pairs",
                "give the list of trials as `trials`, or the part of a name that is its "
                f"subject as {advice}{misspelt(self.layout.names)}",
            )
        enrolled, probe = self.subjects.gallery, self.subjects.probe
        is_nobody = are_of_no_person(self.subjects.values, self.no_person)
        genuine = (enrolled == probe) & ~is_nobody[enrolled]
        are_nobody = is_nobody[enrolled] & is_nobody[probe]
        if not are_nobody.any():
            return ScoredPairs(slice(None), genuine)
        if are_nobody.all():
            raise fault(self.table.path, "has no pair with a subject who is a person")
        notes = [Message("pairs-of-no-person", pairs=int(are_nobody.sum()))]
        rows = np.flatnonzero(~are_nobody)
        return ScoredPairs(rows, genuine[rows], notes=notes)

    # --------------------------------------------------------------------- names of templates

    def names(self, option: str) -> list[Words]:
        """Return the names of both templates; without them raise that the `option` needs them."""
        if len(self.layout.templates) != 2:
            raise fault(
                self.table.path,
                f"has no names of templates for {option}",
                "expected two columns such as template_a and template_b"
                f"{misspelt(self.layout.names)}",
            )
        return [self.table.words[i] for i in self.layout.templates]

    def _templates(self) -> Codes | None:
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

    # --------------------------------------------------------------------- scores

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
        table, layout, rows = self.table, self.layout, self.pairs.rows
        reading = self.reading
        if not layout.templates and self.arguments.names is not None:
            refuse_unread_names(table.path, layout.unread)
        templates = self._templates()
        if templates is not None:
            templates = templates.take(rows)
            # Names that are equal in every genuine pair, and in no other, seem to be of people.
            is_same_name = templates.gallery == templates.probe
            is_as_class = np.array_equal(is_same_name, self.pairs.genuine)
            if is_same_name.any() and is_as_class and not layout.subjects:
                templates = None
                reading += ("names taken for those of people: they are equal in genuine pairs",)
        fold = None
        if not as_matrix and layout.get("fold") is not None:
            fold = table.words[layout.roles["fold"]].objects()[rows].astype(str)
        listed = PairList.from_arrays(
            self.values[rows],
            self.pairs.genuine,
            pair_folds=fold,
            subjects=None if self.subjects is None else self.subjects.take(rows),
            pair_templates=templates,
            meta={name: codes.take(rows) for name, codes in self.meta.items()},
        )
        listed, is_attempt, notes = listed.attempts(
            rules, options["kind"], partial(self._where, self.pairs), self.no_person
        )
        attempts = self.pairs
        if is_attempt is not None:
            attempts = self.pairs.take(is_attempt, len(self.values))
        if as_matrix:
            scores = self._matrix(attempts, rules, options)
        else:
            is_failed = np.isnan(listed.values)
            if is_failed.any():
                number = int(np.argmax(is_failed))
                place = f"on {self._where(attempts, [number])} of {table.path.name}"
                listed = replace(listed, failed_at=(number, place))
            if attempts.exchanged is not None and attempts.exchanged.any():
                listed = listed.exchanged(attempts.exchanged)
            scores = Scores._of_pairs(listed, **options)
        return scores._with(
            remarks=(*scores.remarks, *self.pairs.notes, *notes),
            reading=reading,
            _columns_left_out=self.columns_left_out,
            _unread_texts=layout.unread,
            _has_no_names=self.arguments.names is None,
        )

    def _where(self, pairs: ScoredPairs, numbers: Sequence[int]) -> str:
        """Return the lines of some of the pairs, by their numbers, in words."""
        rows = np.arange(len(self.values))[pairs.rows][[*numbers]].tolist()
        return places_in_words(self.table.noun, self.table.lines(rows))

    def _matrix(self, attempts: ScoredPairs, rules: ListRules, options: dict[str, Any]) -> Scores:
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
        enrolled, probes = self.names('`lists={"as": "matrix"}`')
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


# ------------------------------------------------------------------------- a matrix with names


# The names above the rows of a matrix: rows that are the templates of the columns, and others.
_SAME_TEMPLATES = "label"
_OTHER_TEMPLATES = "probe"
# Rows of a Parquet file that are read together.
_ROWS_PER_PIECE = 1 << 17
# The most rows, and cells, of a table by which its columns are known, and the least rows.
_FIRST_ROWS, _FIRST_CELLS, _FEW_ROWS = 1000, 200_000, 20


def is_wide(names: Sequence[str], arguments: Arguments) -> bool:
    """Whether columns are a matrix: names of the rows, and a column for each gallery template."""
    return (
        len(names) > 2
        and names[0].casefold() in (_SAME_TEMPLATES, _OTHER_TEMPLATES)
        and "columns.scores" not in arguments
        and {*COLUMNS["score"]}.isdisjoint(map(str.casefold, names))
        and HEADER_NAMES.isdisjoint(map(folded, names[1:]))
    )


def with_corner(head: Head) -> Head:
    """Return the first lines; the empty first cell of a matrix becomes ``label`` or ``probe``."""
    corner, *column_names = head.cells[0]
    rows = head.cells[1:]
    row_names = [row[0] for row in rows]
    if corner or len(rows) < 2:
        return head
    # Numbers of columns are no names, nor are the numbers of a matrix whose diagonal is blank.
    has_decimals = any("." in x and is_number(x) for x in column_names)
    if has_decimals or counts_columns(column_names):
        return head

    corner = ""
    if row_names == column_names[: len(rows)]:  # `rows` may be the first rows alone
        corner = _SAME_TEMPLATES
    elif (
        len(column_names) > 1
        and not any(map(is_number, column_names))
        and HEADER_NAMES.isdisjoint(map(folded, column_names))
        and not all(map(is_number, row_names))
        and all(not cell or is_number(cell) for row in rows for cell in row[1:])
    ):
        are_same = sorted(row_names) == sorted(column_names)
        corner = _SAME_TEMPLATES if are_same else _OTHER_TEMPLATES
    return replace(head, cells=[[corner, *column_names], *rows])


def read_text_table(path: Path, arguments: Arguments) -> Scores:
    head = head_of(path)
    scores = _scores_of_table(head, arguments)
    return scores._with(reading=(*head.reading, *scores.reading))


def read_numbers(path: Path, arguments: Arguments) -> Scores:
    """Read a text of numbers alone: a matrix, or with a metric an embedding on each line."""
    import pandas as pd

    head = head_of(path)
    titles = head.cells[0]
    has_titles = not any(map(is_number, titles))
    index_count = int(not titles[0]) if has_titles else unnamed_columns(head, arguments)
    header = has_titles or bool(index_count)
    columns = range(index_count, head.width)
    names = ["the index"] * index_count + [f"column {i + 1}" for i in columns]
    words = range(index_count)
    table = head.read(words, columns, names=names, header=header, blanks=columns)
    values: Any = np.column_stack([*table.numbers.values()])
    numbers = as_keys(table.words[0].objects()).numbers if index_count else None
    if numbers is not None or has_titles:
        values = pd.DataFrame(values, index=numbers, columns=titles[index_count:])
    scores = scores_of_array(path, values, arguments)
    return scores._with(reading=(*head.reading, *scores.reading))


def _matrix_with_names(head: Head, arguments: Arguments) -> Scores:
    path, names = head.path, head.cells[0]
    table = head.read([0], range(1, head.width), names=names, blanks=range(head.width))
    row_names = table.words[0].objects().astype(str).tolist()
    corner, *column_names = names
    column_names = [*as_integers([*map(normal, column_names)])]  # as those of the rows
    square = row_names == column_names
    has_same_names = sorted(row_names) == sorted(column_names)
    if corner.casefold() == _SAME_TEMPLATES and has_same_names and not square:
        raise fault(
            path,
            "rows and columns have the same labels in another order, so that it is not known which "
            "cells compare a template with itself",
            "bring both into one order, or, of two sets of templates, write probe for label above "
            "the rows",
        )

    # The subject and the metadata of each name, by a table or a pattern; else names are subjects.
    every_name = [*dict.fromkeys([*row_names, *column_names])]
    meta_names = arguments.all_meta() if "labels" in arguments else {}
    described = descriptions(
        arguments, path, every_name, lambda _: str(path), meta_names, are_subjects_needed=True
    )
    _, subject_of, meta, _ = next(described, Description("", None, {}, {}))
    labels: dict[str, list[str]] = {}
    meta_of_side: dict[str, dict[str, list[str]]] = {}
    for side, side_names in (("probe", row_names), ("gallery", column_names)):
        if subject_of is None:
            labels[side], meta_of_side[side] = side_names, {}
            continue
        labels[side] = [subject_of[name] for name in side_names]
        meta_of_side[side] = {"template": side_names}
        for column, value_of in meta.items():
            meta_of_side[side][column] = [value_of[name] for name in side_names]
    hint = ""
    if {*labels["probe"]}.isdisjoint(labels["gallery"]):
        hint = ", or, if the columns are features of embeddings, `metric`"
    return Scores(
        np.column_stack([*table.numbers.values()]),
        labels["probe"],
        None if square else labels["gallery"],
        kind=arguments.kind_of(path, None, "", hint),
        nan=arguments.take("nan", "raise"),
        name=path.name.split(".")[0],
        probe_meta=meta_of_side["probe"],
        gallery_meta=None if square else meta_of_side["gallery"],
        shared=arguments.take("shared"),
    )


# ------------------------------------------------------------------------- columns as arrays


def holds_features(head: Head, arguments: Arguments) -> bool:
    """Whether rows are embeddings, beside their labels or other columns, by titles of columns."""
    titles = head.cells[0]
    is_stated = not {"metric", "average"}.isdisjoint(arguments.values)
    if not is_stated or len(head.rows) < 2 or "columns.scores" in arguments:
        return False
    if "gallery" in arguments or not {*COLUMNS["score"]}.isdisjoint(map(folded, titles)):
        return False
    features, others = _features(head, arguments)
    if features and not NO_FEATURES.isdisjoint(titles[i].casefold() for i in others if titles[i]):
        return True
    if not arguments.ignored.isdisjoint(titles):
        return True
    are_titles = not any(map(like_number, titles))
    return are_titles and bool(features) and (len(others) > 0 or "labels" not in arguments)


def _features(head: Head, arguments: Arguments) -> tuple[list[int], list[int]]:
    """Return the columns of features, numbers without another title or role, and the others."""
    named = {*arguments.meta.values(), arguments.peek("columns.labels"), *arguments.ignored}
    features: list[int] = []
    others: list[int] = []
    for i, title in enumerate(head.cells[0]):
        is_other = title in named or title.casefold() in NO_FEATURES
        is_number = all(not x or like_number(x) for x in head.column(i)[1:])
        (others if is_other or not is_number else features).append(i)
    return features, others


def _of_arrays(head: Head, arguments: Arguments) -> Scores | None:
    """Read columns as arrays: features with labels, or the scores of each class; else None."""
    if holds_features(head, arguments):
        return _embeddings(head, arguments)
    titles = head.cells[0]
    classes = vectors_of_classes(titles)
    if classes is None or not {*classes} <= {*titles} <= {"", *classes}:
        return None
    cells = [x for name in classes for x in head.column(titles.index(name))[1:] if x]
    are_flags = all(is_number(x) and float(x) in (0, 1) for x in cells)
    if are_flags or not all(map(like_number, cells)):
        return None  # words, or flags, which are no scores
    arguments.kind_of(head.path, None, "")
    chosen = [titles.index(x) for x in classes]
    table = head.read([], chosen, names=titles, blanks=chosen)
    arrays: dict[str, Lazy] = {}
    for i, values in table.numbers.items():  # the shorter column ends in blank cells
        count = int(np.flatnonzero(~np.isnan(values)).max(initial=-1)) + 1
        arrays[titles[i]] = Lazy.of(values[:count])
    return scores_of(head.path, arrays, arguments)


def _embeddings(head: Head, arguments: Arguments) -> Scores:
    """Read columns of features, and beside them the labels and metadata of each row."""
    import pandas as pd

    path, titles = head.path, head.cells[0]
    require_names(path, head.start_line, titles)
    features, others = _features(head, arguments)
    if not features:
        raise fault(path, "has no column of numbers that may be a feature")
    others = [i for i in others if titles[i] not in arguments.ignored]
    table = head.read(others, features, names=titles, blanks=range(head.width), labels=others)
    values = np.column_stack([table.numbers[i] for i in features])
    frame = pd.DataFrame(values, columns=[titles[i] for i in features])

    columns: dict[str, np.ndarray] = {}
    for i in others:
        cells = table.words[i].objects()
        if titles[i] or not counts_rows(cells):  # 0, 1, 2, ... without a title: pandas' index
            columns[titles[i] or "name"] = text_array(cells.tolist(), str(path))

    # The column of labels: the first known name that `columns` does not give to metadata.
    known = [x for x in columns if x.casefold() in LABEL_COLUMNS]
    known = [x for x in known if x not in arguments.meta.values()]
    label = min(known, key=lambda x: LABEL_COLUMNS.index(x.casefold()), default=None)
    if label is not None and "labels" in arguments:
        raise fault(
            path,
            f"the column {label!r} and `labels` each state the labels",
            f'leave out `labels`, or say `columns={{"{label}": None}}`',
        )
    if label is not None and "columns.labels" not in arguments:
        columns["labels"] = columns.pop(column_of_subjects(path, label, columns, "labels"))
    arrays = {"embeddings": frame} | columns
    return scores_of(path, {name: Lazy.of(array) for name, array in arrays.items()}, arguments)


# ------------------------------------------------------------------------- Parquet, a DataFrame


def read_parquet(path: Path, arguments: Arguments) -> Scores:
    """Read a matrix, or a list of pairs, as the names of the columns show."""
    optional("pyarrow.parquet", path, "a Parquet file")
    arrow = optional("pyarrow", path, "a Parquet file")
    opened = arrow.parquet.ParquetFile(path, page_checksum_verification=True)
    with guarded(path, expected="a Parquet file"), opened as file:
        names = file.schema_arrow.names
        # pandas stores an index of names as a column.
        index = (file.schema_arrow.pandas_metadata or {}).get("index_columns", [])
        index = [x for x in index if x in names]
        if len(index) == 1 and "string" in str(file.schema_arrow.field(index[0]).type):
            names = [*index, *(x for x in names if x != index[0])]
        else:
            index = [None]

        def pieces(columns: Sequence[int]) -> Iterator[dict[int, Any]]:
            for batch in file.iter_batches(_ROWS_PER_PIECE, columns=[names[i] for i in columns]):
                yield {i: batch.column(names[i]).to_pandas() for i in columns}

        def first(row_count: int) -> Any:
            return next(file.iter_batches(row_count)).to_pandas(ignore_metadata=True)[names]

        return _of_frame(path, index[0], names, first, pieces, file.metadata.num_rows, arguments)


def read_frame(frame: Any, arguments: Arguments) -> Scores:
    """Read a DataFrame, as a file with the same columns is read."""
    index = None
    if frame.index.nlevels == 1 and keys_of(frame).names is not None:
        index = str(frame.index.name)
        frame = frame.reset_index(names=index)
    missing = missing_values(as_objects([*frame.columns]))
    names = [
        "" if is_missing else str(name)
        for name, is_missing in zip(frame.columns, missing, strict=True)
    ]

    def pieces(columns: Sequence[int]) -> Iterator[dict[int, Any]]:
        yield {i: frame.iloc[:, i] for i in columns}

    path = Path("DataFrame")
    return _of_frame(path, index, names, frame.head, pieces, len(frame), arguments)


def _of_frame(
    path: Path,
    index: str | None,
    names: Sequence[str],
    first: Callable[[int], Any],
    pieces: Callable[[Sequence[int]], Iterator[dict[int, Any]]],
    row_count: int,
    arguments: Arguments,
) -> Scores:
    """Return the scores of a table; `first` returns some rows, and `pieces` columns."""
    if not row_count:
        raise fault(path, "has no rows")
    shown_rows = max(_FEW_ROWS, min(_FIRST_ROWS, _FIRST_CELLS // max(1, len(names))))
    rows = first(shown_rows).astype(str).to_numpy().tolist()
    cells = [[x if isinstance(x, str) else "" for x in row] for row in rows]  # NaN is blank
    is_corner = index is None or index.casefold() in (_SAME_TEMPLATES, _OTHER_TEMPLATES)
    titles = [*names] if is_corner else ["", *names[1:]]
    head = Head(path, "", [titles, *cells], pieces=pieces, row_count=row_count)
    return _scores_of_table(head, arguments)
