"""The named arrays of a file: their roles, labels, kind and metadata.

An array has a role by ``columns``, or by a known name (`NAMES`): ``scores``, or ``distmat`` of a
program for re-identification, holds the scores. Of a file with ::

    distmat (2, 3)    q_pids (2,)    g_pids (3,)    q_camids (2,)    g_camids (3,)    epoch ()

the first three have the roles ``scores``, ``labels`` and ``gallery_labels``, the next two are
metadata, the camera of each probe and of each gallery entry, and ``epoch`` is left: a remark names
it. :class:`ArrayFile` keeps account of the arrays that were read; :func:`metadata_of` reads the
metadata.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.arguments import require_choice
from bioeval.base.errors import DataError
from bioeval.base.kinds import KINDS, LARGER_IS_CLOSER, NAN_POLICIES, Kind
from bioeval.scores.formats.containers import Lazy
from bioeval.scores.formats.labels import Role, SideLabels, of_images, read_labels
from bioeval.scores.formats.roles import ROLES, Arguments
from bioeval.scores.formats.tables import MOST_COLUMNS, PREFIXES, side_and_column
from bioeval.scores.formats.texts import fault, first_of_role, missing
from bioeval.scores.keys import refuse_other_orders
from bioeval.scores.labels import CAMERA_COLUMNS, LEAST_INEXACT, as_ids
from bioeval.scores.metadata import NAME_COLUMNS

#: The remark on scores whose kind is stated by neither the file nor an argument.
KIND_ASSUMED = (
    "taken as distances: the file does not state the kind of its scores. If they are similarities, "
    "all results are wrong: give kind = similarity"
)

#: Names of a matrix of distances in programs for re-identification.
DISTMAT = ("distmat", "dist_mat", "dist_matrix", "distance_matrix", "dist")
# Names of arrays that say that their scores are distances.
_DISTANCES = (*DISTMAT, "distance", "distances", "dissimilarity")
_PEOPLE = ("label", "labels", "id", "ids", "pid", "pids")
_CAMERAS = (*CAMERA_COLUMNS, "cameras")


def _with_prefixes(long: str, short: str, words: Sequence[str]) -> tuple[str, ...]:
    return tuple(prefix + word for prefix in (long, short) for word in words)


#: The names of arrays by their roles; the first name present counts. Names of bioeval's own layout
#: come first, then names of programs for re-identification.
NAMES: dict[str, tuple[str, ...]] = {
    "scores": ("scores", *DISTMAT),
    "embeddings": ("embeddings", "query_f", "query_feature", "query_features", "qf"),
    "gallery_embeddings": (
        *("gallery_embeddings", "gallery_f", "gallery_feature", "gallery_features", "gf"),
    ),
    "indices": ("indices",),
    "labels": ("probe_labels", "labels", *_with_prefixes("query_", "q_", _PEOPLE)),
    "gallery_labels": ("gallery_labels", *_with_prefixes("gallery_", "g_", _PEOPLE)),
    "camera of queries": _with_prefixes("query_", "q_", _CAMERAS),
    "camera of the gallery": _with_prefixes("gallery_", "g_", _CAMERAS),
    "genuine": ("genuine",),
    "mask": ("mask",),
    "values": ("distances", "similarities", "scores"),  # scores of the entries of top-K lists
}

#: The columns of both sides of a list, of which arrays have the names, too.
SIDES_OF_LIST = ("subject_a", "subject_b", "template_a", "template_b")
# What may be meant by arrays that are not read.
_MEANT_AS = {
    "genuine": "the classes of cells are a `mask` of 0 (ignore), 1 (impostor) and 2 (genuine); ",
    "probe_labels": "the subjects of both sides of pairs are `subjects` (pairs, 2); ",
    "gallery_labels": "a gallery needs its own scores or embeddings; ",
}
#: Names of the layout, which are no metadata: of arrays, then of words and numbers.
_OF_A_LAYOUT = {
    *("scores", "genuine", "labels", "probe_labels", "gallery_labels", "mask", "indices"),
    *("distances", "similarities", "query_positions", "probe_ids", "gallery_ids"),
    *("embeddings", "probe_embeddings", "gallery_embeddings"),
    *("subjects", "templates", "template_names"),
}
RESERVED = _OF_A_LAYOUT | {
    *("kind", "nan", "exclude", "distractor_ids", "junk_ids", "schema", "metric", "pairs")
}
# The roles by one of which a file is read, with the arrays that another choice leaves out.
_OF_MAIN_ROLES = {
    *("scores", "distances", "similarities", "embeddings", "gallery_embeddings", "indices"),
    *("probe_ids", "gallery_ids"),
}
# Arrays that are listed before a message says how many more there are.
_LISTED = 12

#: The number of the layout.
SCHEMA = 1

#: The roles by one of which a file is read.
MAIN_ROLES = ("scores", "embeddings", "indices")

Meta = dict[str, np.ndarray]


@dataclass
class ArrayFile:
    """The arrays of one file, and the arguments; arrays that have a role are no metadata."""

    path: Path
    arrays: dict[str, Lazy]
    arguments: Arguments
    #: Whether MATLAB wrote the file: a list is a matrix of one row or column.
    matlab: bool = False
    #: Of an array alone, the file with the labels of each side; all other labels are arrays.
    label_files: dict[str, Path] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)  # the array of each role that was taken
    used: set[str] = field(default_factory=set)  # the arrays that have a role, or are metadata

    def take(self, role: str) -> str | None:
        """Return the array that has a role, by ``columns`` or a known name; None if absent.

        The array is no metadata from now on. Others with a known name must state the same.
        """
        if role in self.roles:
            return self.roles[role]
        stated = self.arguments.take(f"columns.{role}")
        # The own ids of bioeval are numbers of templates, and no labels.
        own_ids = {"gallery_ids"} if "probe_ids" in self.arrays else set()
        names = [x for x in NAMES[role] if x in self.arrays.keys() - own_ids]
        names = [x for x in names if x not in self.arguments.meta.values()] or names
        if role == "scores":  # a list called `dist` is no matrix of distances
            names = [x for x in names if x not in DISTMAT or len(self.shape(x)) == 2]
        if stated is not None:
            self.require(stated, role)
            self.used |= RESERVED.intersection(names)
            names = [stated]
        if not names:
            return None
        self.refuse_objects(names[0])
        self.roles[role] = first_of_role(self.path, names, f"array of {role}", self.are_equal)
        self.used |= {names[0], *RESERVED.intersection(names)}
        return names[0]

    def are_equal(self, first: str, other: str) -> bool:
        if self.shape(first) != self.shape(other):
            return False
        values, other_values = self.read(first), self.read(other)
        are_floats = values.dtype.kind == other_values.dtype.kind == "f"  # NaN of no person
        return np.array_equal(values, other_values, equal_nan=are_floats)

    def ids_of_no_person(self, name: str) -> tuple[Any, ...] | None:
        """Return the labels of no person that an array of bioeval's own states; None if absent."""
        if self.arguments.names_arrays or name not in self.arrays:
            return None
        return as_ids(np.ravel(self.arrays[name].read()).tolist(), name)

    def refuse_objects(self, name: str) -> None:
        """Raise with the reason if an array cannot be read without unpickling objects."""
        if self.arrays[name].dtype.hasobject:
            self.arrays[name].read()  # this call raises

    def require(self, name: str, word: str) -> None:
        """Raise unless an array that a `word` of ``columns`` names is there, and can be read."""
        if name not in self.arrays:
            raise missing(self.path, "array", name, [*self.arrays], word, self.contents)
        self.refuse_objects(name)

    @property
    def contents(self) -> str:
        """The names of the arrays, with shape and dtype, for a message."""
        top_names = [name for name in self.arrays if "/" not in name] or [*self.arrays]
        listed = "; ".join(f"{name} {self.arrays[name]}" for name in top_names[:_LISTED])
        unlisted = len(self.arrays) - min(len(top_names), _LISTED)
        return (f"{listed}; and {unlisted} more" if unlisted > 0 else listed) or "nothing"

    def read_if_there(self, name: str | None) -> np.ndarray | None:
        """Return the values of an array; None where the file has no such array."""
        if name is None or name not in self.arrays:
            return None
        self.used.add(name)
        return self.read(name)

    def read(self, name: str) -> np.ndarray:
        """Return the values of an array; a list of whole floats from MATLAB becomes integers."""
        array = self.arrays[name]
        values = array.read()
        if not (self.matlab and array.is_vector):
            return values
        values = values.reshape(-1)
        is_whole = (
            values.dtype.kind == "f"
            and (np.abs(values) < LEAST_INEXACT).all()
            and (values == np.floor(values)).all()
        )
        return values.astype(np.int64) if is_whole else values

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of an array; (n,) where MATLAB has a matrix of one row or column."""
        array = self.arrays[name]
        return (max(array.shape),) if self.is_list(name) else array.shape

    def is_list(self, name: str) -> bool:
        """Whether an array is MATLAB's form of a list: a matrix of one row or one column."""
        array = self.arrays[name]
        return self.matlab and len(array.shape) == 2 and array.is_vector

    def word(self, name: str, default: str, accepted: Sequence[str]) -> Any:
        """Return the argument `name`, else the word of that name in the file, else `default`."""
        value = self.arguments.take(name)
        return self.stored_word(name, accepted) or default if value is None else value

    def stored_word(self, name: str, accepted: Sequence[str]) -> str:
        """Return the word that the file stores; empty where the file has no such array."""
        if name not in self.arrays:
            return ""
        array = self.arrays[name]
        if array.shape not in ((), (1,), (1, 1)) or array.dtype.kind not in "SU":
            raise fault(self.path, f"{name!r} is {array}", "expected one word of text")
        cell = array.read().reshape(-1)[0]
        word = cell.decode("ascii", "replace") if isinstance(cell, bytes) else str(cell)
        require_choice(f"{self.path}: {name}", word, accepted)
        return word

    def kind(self, name: str, accepted: Sequence[str] = KINDS) -> tuple[Kind, tuple[str, ...]]:
        """Return the kind of the scores in the array `name`, and remarks on how it was found."""
        declared: Any = self.stored_word("kind", accepted)
        stated = self.arguments.take("kind")
        remarks: tuple[str, ...] = ()
        if declared and stated not in (None, "order", declared):
            declares_similarity = declared in LARGER_IS_CLOSER
            if declared != "order" and (stated in LARGER_IS_CLOSER) != declares_similarity:
                raise DataError(
                    f'{self.path}: kind: declares the kind {declared}; `kind="{stated}"` '
                    "contradicts it; leave it out, or mend this word of the file if it is wrong"
                )
            remarks = (f"taken as {stated}; the file declares {declared}",)
        elif not declared and not stated and name.casefold() not in _DISTANCES:
            remarks = (KIND_ASSUMED,)
        kind: Kind = stated or declared or "distance"
        require_choice("kind", kind, accepted)
        return kind, remarks

    @property
    def nan(self) -> Any:
        return self.word("nan", "raise", NAN_POLICIES)

    @property
    def is_own_layout(self) -> bool:
        """Whether the file is in bioeval's own layout, where every array of metadata has to fit."""
        has_own_names = all(self.roles.get(x, x) == x for x in ("scores", "embeddings"))
        return has_own_names and not self.arguments.names_arrays

    @property
    def exclude(self) -> list[str]:
        """The forms of `exclude` that the file states; empty where ``columns`` names arrays."""
        if self.arguments.names_arrays or "exclude" not in self.arrays:
            return []
        return np.atleast_1d(self.arrays["exclude"].read()).astype(str).tolist()

    # --------------------------------------------------------------------- labels

    def labels(
        self, side: str, count: int | None, noun: str, *, has_metadata: bool = False
    ) -> SideLabels | None:
        """Return the labels of a side, ``"probe"`` or ``"gallery"``; None if there are none.

        A file that an argument names comes before the array; with `has_metadata`, ``columns`` names
        its columns. There are `count` templates (None: any number), `noun` in messages.
        """
        option = "labels" if side == "probe" else "gallery"
        role: Role = "labels" if side == "probe" else "gallery_labels"
        path = self.label_files.get(side)
        if path is None and not self.label_files:
            path = self.arguments.take(option)
        if path is not None:
            self.used |= RESERVED.intersection(NAMES[role])  # which the file replaces
            meta: dict[str, str] = {}
            if has_metadata:
                meta = self.arguments.all_meta()
            elif self.label_files:
                meta = self.arguments.side_meta(side)
            return read_labels(path, self.arguments, meta, role).expect(count, noun)

        name = self.take(role)
        if name is None and "subject_from" in self.arguments:
            return self._labels_from_names(side, count, noun)
        if name is None:
            return None
        shape = self.shape(name)
        if len(shape) != 1 or count not in (None, shape[0]):
            raise DataError(
                f"{self.path}: the labels {name!r} have shape {shape}; expected ({count or 'n'},), "
                f"one for each of the {count or 'n'} {noun}. It holds: {self.contents}"
            )
        values = self.read(name)
        if pattern := self.arguments.take("names_of"):
            values, columns = of_images(values, pattern, f"{self.path}: {name!r}")
            return SideLabels(self.path, values, columns)
        return SideLabels(self.path, values, {})

    def _labels_from_names(self, side: str, count: int | None, noun: str) -> SideLabels | None:
        """Return the labels that `subject_from` finds in the names of a side, if it has names."""
        names = self.names_of(side)
        if names is None:
            return None
        texts = [*np.ravel(self.read(names)).astype(str).tolist()]
        parts = self.arguments.parts_of(texts, lambda _: f"{self.path}: {names!r}")
        columns = {
            column: np.array([part_of_text[text] for text in texts])
            for column, part_of_text in parts.items()
        }
        return SideLabels(self.path, columns.pop("subject"), columns).expect(count, noun)

    def names_of(self, side: str) -> str | None:
        """Return the array of texts that names the templates of a side; None if there is none."""
        prefixes = ("probe_", "") if side == "probe" else ("gallery_",)
        names = (f"{prefix}{name}" for prefix in prefixes for name in NAME_COLUMNS)
        return next(
            (x for x in names if x in self.arrays and self.arrays[x].dtype.kind == "U"), None
        )

    def unread(self, layout: str) -> list[str]:
        """Return the arrays without a role that are no metadata, though they may be meant so.

        Raise where one has the name of a role that the `layout`, in words, does not read, or a
        value for each comparison, unless ``columns`` says which arrays are read.
        """
        is_chosen = any(f"columns.{role}" in self.arguments for role in MAIN_ROLES)
        exempt = self.used.union(self.arguments.meta.values())
        if is_chosen:
            exempt |= _OF_MAIN_ROLES
        names_of_roles = _OF_A_LAYOUT.union(SIDES_OF_LIST) - exempt
        shapes = self._shapes_of_comparisons()
        # A list of pairs, and top-K lists, have no mask.
        may_have_mask = "indices" not in self.roles and any(len(shape) > 1 for shape in shapes)
        names = []
        for name, array in self.arrays.items():
            if name in names_of_roles:
                raise fault(
                    self.path,
                    f"the array {name!r}, {array}, is not read with {layout}",
                    f"{_MEANT_AS.get(name, '')}leave it out, give it another name, or say "
                    f'`columns={{"{name}": None}}` if it is not to be read',
                )
            shape = self.shape(name)
            is_matrix = len(shape) > 1 and prod(shape) > 1 and name not in RESERVED | self.used
            if not is_matrix:
                if self.is_unused_list(name):
                    names.append(name)
                continue
            is_of_both_sides = len(shape) == 2 and shape[1] == 2  # metadata of pairs
            if is_chosen and not is_of_both_sides:
                continue  # a matrix beside the one that was chosen
            is_of_comparisons = any(shape[: len(x)] == x for x in shapes)
            if is_of_comparisons and not is_of_both_sides:
                mask = f'`columns={{"mask": "{name}"}}` if it has the classes of the cells, or '
                raise fault(
                    self.path,
                    f"the array {name!r}, {array}, has a value for each comparison, and its name "
                    f"is none of the roles {', '.join(ROLES)}",
                    f"say {mask if may_have_mask else ''}"
                    f'`columns={{"{name}": None}}` if it is not to be read',
                )
            names.append(name)
        return names

    def _shapes_of_comparisons(self) -> set[tuple[int, ...]]:
        """Return the shapes, or their first dimensions, of arrays with a value for each comparison.

        Another program may have written a matrix with the gallery first.
        """
        main = next((role for role in MAIN_ROLES if role in self.roles), None)
        if main is None:
            return set()
        shape = self.shape(self.roles[main])
        if main != "embeddings":
            return {shape, shape[::-1]}
        gallery = self.roles.get("gallery_embeddings", self.roles[main])
        return {(shape[0], self.shape(gallery)[0])}

    def is_unused_list(self, name: str) -> bool:
        """Whether an array without a prefix is a list of values that has no role."""
        shape = self.shape(name)
        is_list = prod(shape) == max(shape, default=0) > 1
        names_in_use = RESERVED | self.used | {"fold"}
        return is_list and not name.startswith(PREFIXES) and name not in names_in_use

    def wrong_length(self, name: str, count: int) -> DataError:
        return DataError(
            f"{self.path}: the metadata {name!r} have shape {self.shape(name)}; expected "
            f"({count},), one value for each"
        )

    def ids(self, name: str, count: int) -> np.ndarray:
        if name not in self.arrays:
            raise fault(self.path, f"there is no {name!r}", "expected the ids of both sides")
        array = self.arrays[name]
        self.used.add(name)
        if array.shape != (count,) or array.dtype.kind not in "iu":
            raise fault(self.path, f"{name!r} is {array}", f"expected ({count},) int64")
        return array.read().astype(np.int64)

    def no_labels(
        self, row_count: int, column_count: int | None = None, noun: str = "labels"
    ) -> DataError:
        has_columns = column_count not in (None, row_count)
        columns = f" and {column_count} columns" if has_columns else ""
        names = self.names_of("probe")
        by_name = f", or, if they are in the names of {names!r}, `subject_from`" if names else ""
        return DataError(
            f"{self.path}: no {noun}, the subject of each of {row_count} rows{columns}; name the "
            "arrays "
            'with `columns={"labels": ...}` and, if the columns are other templates, '
            '`columns={"gallery_labels": ...}`, or give CSV files with `labels` and '
            f"`gallery`{by_name}. It holds: {self.contents}"
        )


# ------------------------------------------------------------------------- metadata


def metadata_of(
    file: ArrayFile,
    sides: tuple[SideLabels | None, SideLabels | None],
    counts: tuple[int, int],
    are_one_set: bool = False,
    plain: bool = False,
) -> tuple[Meta, Meta]:
    """Return the metadata of the `sides`, probes and gallery, which `are_one_set` of templates.

    The column ``x`` is, from the strongest source:

    1. the array that ``columns`` names for it, or a camera under a name of other programs
    2. the array ``probe_x`` or ``gallery_x``; with `plain` also ``x``
    3. the column ``x`` of the file of the labels
    """
    # The array of each column, of the probes and of the gallery.
    array_of_column = _arrays_by_name(file, counts, are_one_set, plain)
    stated = [*_cameras_of_reid(file, are_one_set), *_stated_metadata(file, are_one_set)]
    for side, column, array in stated:
        if file.shape(array) != (counts[side],):
            raise file.wrong_length(array, counts[side])
        arrays = array_of_column[side]
        # An array is one column only, under the name that was given.
        for other in [x for x in arrays if arrays[x] == array]:
            del arrays[other]
        arrays[column] = array

    metadata = []
    for labels, arrays in zip(sides, array_of_column, strict=True):
        file.used.update(arrays.values())
        from_arrays = {column: file.read(array) for column, array in arrays.items()}
        from_labels = labels.columns()[1] if labels else {}
        # A column in two orders, without names that join them, is an error.
        if labels and not labels.names:
            for column in from_labels.keys() & from_arrays.keys():
                of_labels = {f"{column} of the labels": from_labels[column]}
                refuse_other_orders(of_labels | {column: from_arrays[column]}, None)
        metadata.append(from_labels | from_arrays)
    probe_meta, gallery_meta = metadata
    return probe_meta, gallery_meta


def _arrays_by_name(
    file: ArrayFile, counts: tuple[int, int], are_one_set: bool, plain: bool
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the arrays of metadata of each side, by column: those with as many values as it.

    ``probe_x`` is of the probes and ``gallery_x`` of the gallery; ``x`` is read if `plain`, and is
    of the probes. In bioeval's own layout, an array with another length is an error.
    """
    is_own_layout = file.is_own_layout
    names_in_use = RESERVED.union(SIDES_OF_LIST, file.used)
    if are_one_set and not is_own_layout:
        names_in_use |= {*NAMES["camera of the gallery"]}  # a square matrix has one side
    candidates = [
        name
        for name in file.arrays
        if (plain or name.startswith(PREFIXES))
        and len(file.shape(name)) < 2
        and name not in names_in_use
    ]
    if len(candidates) > MOST_COLUMNS:
        problem = f"holds {len(candidates):,} arrays of metadata"
        raise fault(file.path, problem, f"expected at most {MOST_COLUMNS:,}")

    array_of_column: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for name in candidates:
        side, column = side_and_column(name)
        if side == 1 and are_one_set:  # only a repetition of the probes' metadata makes sense
            same = f"probe_{column}"
            is_same = same in file.arrays and file.are_equal(name, same)
            if is_own_layout and not is_same:
                problem = f"there are gallery metadata, {name!r}, but no gallery_labels"
                raise fault(file.path, problem)
            continue
        side = side or 0
        if file.shape(name) == (counts[side],) and not file.arrays[name].dtype.hasobject:
            array_of_column[side][column] = name
        elif is_own_layout and (column != name or file.is_unused_list(name)):
            file.refuse_objects(name)
            raise file.wrong_length(name, counts[side])
    return array_of_column


def _cameras_of_reid(file: ArrayFile, are_one_set: bool) -> list[tuple[int, str, str]]:
    """Return side, column and array of cameras under the names of re-identification programs."""
    stated = file.arguments.meta
    if file.is_own_layout or "camera" in stated:
        return []
    cameras = []
    roles = ["camera of queries"] if are_one_set else ["camera of queries", "camera of the gallery"]
    for side, role in enumerate(roles):
        array = next((name for name in NAMES[role] if name in file.arrays), None)
        if array and f"{PREFIXES[side]}camera" not in stated:
            cameras.append((side, "camera", array))
    return cameras


def _stated_metadata(file: ArrayFile, are_one_set: bool) -> list[tuple[int, str, str]]:
    """Return side, column and array of the metadata that ``columns`` names.

    Of two sides, ``{"camera": "cam"}`` names ``probe_cam`` and ``gallery_cam``, and
    ``{"probe_camera": "cam"}`` names ``cam``.
    """
    if file.label_files or are_one_set and "labels" in file.arguments:
        return []  # then ``columns`` names columns of the file of labels
    stated = []
    for word, array in file.arguments.all_meta().items():
        side, column = side_and_column(word)
        if are_one_set:
            columns = [(0, word, array if array in file.arrays else f"probe_{array}")]
        elif side is not None:
            columns = [(side, column, array)]
        else:
            columns = [(0, word, f"probe_{array}"), (1, word, f"gallery_{array}")]
            has_prefix = any(name in file.arrays for _, _, name in columns)
            if array in file.arrays and not has_prefix:
                raise DataError(
                    f"{file.path}: {array!r} is given for {word!r}, but probes and gallery "
                    f'differ; say `columns={{"probe_{word}": "{array}"}}` and '
                    f'`columns={{"gallery_{word}": ...}}`'
                )
        for _, _, name in columns:
            # An error calls the array as the argument does.
            is_absent = name not in file.arrays and array not in file.arrays
            file.require(array if is_absent else name, word)
        stated += columns
    return stated
