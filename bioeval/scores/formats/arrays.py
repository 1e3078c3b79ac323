"""Named arrays as scores: an array has a role by ``columns`` or by a known name.

Schema 1 of bioeval, of a .npz file and of all files with named arrays, holds either

- ``scores`` (m, n), ``probe_labels`` (m,) and ``gallery_labels`` (n,), or without
  ``gallery_labels`` all-against-all; ``mask`` (m, n); ``probe_<name>`` and ``gallery_<name>``
  metadata; ``probe_ids`` and ``gallery_ids`` where templates of a selection are on both sides;
- ``indices`` (q, k), ``distances`` (q, k), ``probe_labels`` (q,) and ``gallery_labels`` (n,),
  top-K lists;
- ``scores`` (p,) and ``genuine`` (p,), a list of pairs, with ``subjects`` (p, 2), ``fold`` (p,) and
  ``templates`` (p, 2), the names of the templates of both sides, or their places in
  ``template_names`` (n,);
- ``embeddings`` (m, f), ``labels`` (m,), ``metric`` and ``<name>`` metadata, and optionally
  ``gallery_embeddings`` (n, f) and ``gallery_labels`` (n,).

``kind`` and ``nan`` are words, ``exclude`` names metadata columns, ``schema`` is the number of
the layout. ``distractor_ids`` and ``junk_ids`` are whole numbers: labels of no person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bioeval.base.arguments import require_choice
from bioeval.base.errors import DataError, backquoted
from bioeval.base.kinds import KINDS, LARGER_IS_CLOSER, METRICS, NAN_POLICIES, VALUED, Kind
from bioeval.base.messages import Message
from bioeval.scores.columns import CodedSides
from bioeval.scores.embeddings import (
    EmbeddingSource,
    as_embeddings,
    average_embeddings,
    require_features,
)
from bioeval.scores.formats.comparisons import (
    in_listed_order,
    is_lfw,
    look_up,
    read_comparisons,
    read_lfw,
)
from bioeval.scores.formats.containers import Lazy
from bioeval.scores.formats.faults import fault, listing, missing, wrong_shape
from bioeval.scores.formats.files import existing_file
from bioeval.scores.formats.labels import SideLabels, of_images, read_labels
from bioeval.scores.formats.options import Arguments
from bioeval.scores.formats.spellings import COLUMNS, MOST_COLUMNS, TRIAL_NAMES
from bioeval.scores.labels import IDS_OF_NO_PERSON, LEAST_INEXACT, as_meta, as_subjects
from bioeval.scores.listed_templates import ListRules, places
from bioeval.scores.making import as_ids
from bioeval.scores.matrix import Scores
from bioeval.scores.names import GivenSide, RowOrder, as_names, refuse_other_orders
from bioeval.scores.people import marking

SCHEMA = 1

#: The remark on scores whose kind is stated by neither the file nor an argument.
KIND_ASSUMED = "taken as distances: the file does not state the kind of its scores"

_DISTMAT = ("distmat", "dist_mat", "dist_matrix", "distance_matrix", "dist")
# Names of arrays that say that their scores are distances.
_DISTANCES = (*_DISTMAT, "distance", "distances", "dissimilarity")
_PEOPLE = ("label", "labels", "id", "ids", "pid", "pids")
_CAMERAS = ("cam", "cams", "camera", "cameras", "camid", "camids")


def _of_side(long: str, short: str, words: Sequence[str]) -> tuple[str, ...]:
    return (*map(f"{long}{{}}".format, words), *map(f"{short}{{}}".format, words))


#: The names of arrays by their roles; the first name present counts. Names of bioeval's own layout
#: come first, then names of programs for re-identification.
NAMES: dict[str, tuple[str, ...]] = {
    "scores": ("scores", *_DISTMAT),
    "embeddings": ("embeddings", "query_f", "query_feature", "query_features", "qf"),
    "gallery_embeddings": (
        *("gallery_embeddings", "gallery_f", "gallery_feature", "gallery_features", "gf"),
    ),
    "indices": ("indices",),
    "labels": ("probe_labels", "labels", *_of_side("query_", "q_", _PEOPLE)),
    "gallery_labels": ("gallery_labels", *_of_side("gallery_", "g_", _PEOPLE)),
    "camera of queries": _of_side("query_", "q_", _CAMERAS),
    "camera of the gallery": _of_side("gallery_", "g_", _CAMERAS),
    "genuine": ("genuine",),
    "mask": ("mask",),
    "values": ("distances", "similarities", "scores"),  # of the entries of top-K lists
}
_OWN = ("scores", "embeddings", "indices")
_IMPOSTOR = "impostor"  # the word of ``columns`` beside genuine, of an array of scores
_SIDES = ("subject_a", "subject_b", "template_a", "template_b")  # of the pairs of a list

#: Names of the layout, which are no metadata.
RESERVED = {
    *("scores", "genuine", "subjects", "templates", "template_names", "mask", "pairs"),
    *("embeddings", "gallery_embeddings", "probe_embeddings", "metric"),
    *("labels", "probe_labels", "gallery_labels", "probe_ids", "gallery_ids", "query_positions"),
    *("kind", "nan", "exclude", "distractor_ids", "junk_ids", "schema"),
    *("indices", "distances", "similarities"),
}
_PREFIXES = ("probe_", "gallery_")
# Arrays that a list of pairs in LFW's form needs: image numbers, and the names that labels index.
_IMAGE_NUMBER, _PEOPLE_NAMES = "image_number", "names"

# Names of two vectors of scores, in lower case and without "scores".
_TWO_CLASSES = (
    *(("genuine", "impostor"), ("gen", "imp"), ("client", "impostor"), ("target", "nontarget")),
    *(("mated", "nonmated"), ("match", "nonmatch"), ("same", "different"), ("intra", "inter")),
)

Meta = dict[str, np.ndarray]


@dataclass
class Arrays:
    """The arrays of one file, and the arguments; arrays that have a role are no metadata."""

    path: Path
    arrays: dict[str, Lazy]
    arguments: Arguments
    #: Whether a list is a matrix of one row or column, and sides may be transposed.
    matlab: bool = False
    square: bool = False  # whether both sides are one set of templates
    roles: dict[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    notes: tuple[str, ...] = ()  # on how the file is read

    def name(self, role: str) -> str | None:
        """Return the name of a role's array, by ``columns`` or a known name; None if absent."""
        stated = self.arguments.take(f"columns.{role}")
        if stated is not None:
            self.require(stated, f'`columns={{"{role}": ...}}`')
        name = stated or next((x for x in NAMES[role] if x in self.arrays), None)
        if name is not None:
            if self.arrays[name].dtype.hasobject:
                self.arrays[name].read()  # raises, with the reason
            self.roles[role] = name
            self.used.add(name)
        return name

    def set_square(self, is_square: bool) -> None:
        """State whether both sides are one set of templates."""
        self.square = is_square

    def use(self, *names: str) -> None:
        """State that arrays have a role, and are no metadata."""
        self.used.update(names)

    def require(self, name: str, option: Any) -> None:
        """Raise unless an array that an argument names is in the file, and can be read."""
        if name not in self.arrays:
            raise missing(self.path, "array", name, [*self.arrays], option, self.contents)
        if self.arrays[name].dtype.hasobject:
            self.arrays[name].read()  # raises, with the reason

    @property
    def contents(self) -> str:
        """The arrays with shape and type."""
        return listing([f"{name} {array}" for name, array in self.arrays.items()])

    def read_if_there(self, name: str | None) -> np.ndarray | None:
        """Return the values of an array that a file need not have."""
        return self.read(name) if name is not None and name in self.arrays else None

    def read(self, name: str) -> np.ndarray:
        """Return the values of an array; whole numbers in a list of MATLAB are integers."""
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
        """Return the shape of an array, (n,) for MATLAB's matrix of one row or column."""
        array = self.arrays[name]
        return (max(array.shape),) if self.is_list(name) else array.shape

    def is_list(self, name: str) -> bool:
        """Whether an array of MATLAB is a list: a matrix of one row or one column."""
        array = self.arrays[name]
        return self.matlab and len(array.shape) == 2 and array.is_vector

    def word(self, name: str, default: str, accepted: Sequence[str]) -> Any:
        """Return an argument, or the word in the file, or the default."""
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

    def kind(self, name: str, accepted: Sequence[str] = KINDS) -> Kind:
        """Return the kind of scores, as stated, as the file declares, or "distance"."""
        declared: Any = self.stored_word("kind", accepted)
        stated = self.arguments.take("kind")
        self.notes = ()
        if declared and stated not in (None, "order", declared):
            if declared != "order" and (stated in LARGER_IS_CLOSER) != (
                declared in LARGER_IS_CLOSER
            ):
                raise DataError(
                    f'{self.path}: kind: declares the kind {declared}; `kind="{stated}"` '
                    "contradicts it; leave it out, or mend this word of the file if it is wrong"
                )
            self.notes = (f"taken as {stated}; the file declares {declared}",)
        elif not declared and not stated and name.casefold() not in _DISTANCES:
            self.notes = (KIND_ASSUMED,)
        kind: Kind = stated or declared or "distance"
        require_choice("kind", kind, accepted)
        return kind

    @property
    def nan(self) -> Any:
        """The policy for failed comparisons."""
        return self.word("nan", "raise", NAN_POLICIES)

    @property
    def is_own(self) -> bool:
        """Whether the file is in bioeval's own layout, where every array of metadata has to fit."""
        of_bioeval = all(self.roles.get(role, role) == role for role in ("scores", "embeddings"))
        return of_bioeval and not self.arguments.names_arrays

    @property
    def exclude(self) -> list[str]:
        """The metadata columns by which the file excludes pairs, in the layout's own files."""
        if self.arguments.names_arrays or "exclude" not in self.arrays:
            return []
        return np.atleast_1d(self.arrays["exclude"].read()).astype(str).tolist()

    # --------------------------------------------------------------------- labels and metadata

    def labels(self, side: str, count: int, noun: str) -> SideLabels | None:
        """Return the labels of a side: of the file that is given, or of the array of the role."""
        option = "labels" if side == "probe" else "gallery"
        role: Literal["labels", "gallery_labels"]
        role = "labels" if side == "probe" else "gallery_labels"
        path = self.arguments.take(option)
        if path is not None:
            if str(path) in self.arrays and not path.exists():
                raise DataError(
                    f'{self.path}: `{option}="{path}"` is a file, and there is no such '
                    f"file; {str(path)!r} is an array in the file: name it with "
                    f'`columns={{"{role}": "{path}"}}`'
                )
            meta = self.arguments.all_meta() if self.square else {}
            return read_labels(path, self.arguments, meta, role).expect(count, noun)
        name = self.name(role)
        if name is None:
            return None
        shape = self.shape(name)
        if shape != (count,):
            raise DataError(
                f"{self.path}: the labels {name!r} have shape {shape}; expected ({count},), one "
                f"for each of the {count} {noun}. It holds: {self.contents}"
            )
        values = self.read(name)
        if pattern := self.arguments.take("names_of"):
            return of_images(values, pattern, f"{self.path}: {name!r}", self.path)
        return SideLabels(self.path, values, {})

    def metadata(
        self, sides: Sequence[SideLabels | None], counts: Sequence[int], plain: bool = False
    ) -> tuple[Meta, Meta]:
        """Return the metadata of both sides: of files of labels, by prefix, and as named.

        With `plain`, arrays without a prefix are the probes' as well.
        """
        arrays: tuple[dict[str, str], dict[str, str]] = ({}, {})  # the array of each column
        for name in self._left_over(plain):
            side = int(name.startswith("gallery_"))
            column = re.sub("^(probe|gallery)_", "", name)
            fits = self.shape(name) == (counts[side],)
            pickled = self.arrays[name].dtype.hasobject
            if pickled and column != name and self.is_own:
                self.arrays[name].read()  # raises, with the reason
            if side and self.square:
                self._require_same_metadata(name)
            elif fits and not pickled:
                arrays[side][column] = name
            elif self.is_own and (column != name or self._is_column(name)):
                raise self.of_other_length(name, counts[side])
        for side, column, name in [*self._cameras(), *self._named()]:
            if self.shape(name) != (counts[side],):
                raise self.of_other_length(name, counts[side])
            for column_of_array in [x for x in arrays[side] if arrays[side][x] == name]:
                del arrays[side][column_of_array]
            arrays[side][column] = name
        meta: list[Meta] = []
        for labels, columns in zip(sides, arrays, strict=True):
            self.used |= {*columns.values()}
            columns_read = {column: self.read(name) for column, name in columns.items()}
            of_table = labels.columns()[1] if labels else {}
            for name in (
                of_table.keys() & columns_read.keys() if labels and not labels.names else ()
            ):
                doubtful = {f"{name} of the labels": of_table[name], name: columns_read[name]}
                refuse_other_orders(doubtful, None)
            meta.append(of_table | columns_read)
        return meta[0], meta[1]

    def _left_over(self, plain: bool) -> list[str]:
        """Return the names of arrays that may be columns of metadata, since they have no role.

        With `plain`, arrays without the prefix of a side are among them.
        """
        named = [x for x in self.arrays if plain or x.startswith(_PREFIXES)]
        names_in_use = RESERVED | self.used
        if self.square and not self.is_own:
            names_in_use |= {*NAMES["camera of the gallery"]}  # of which there is none
        columns = [x for x in named if len(self.shape(x)) < 2 and x not in names_in_use]
        if len(columns) > MOST_COLUMNS:
            problem = f"holds {len(columns):,} arrays of metadata"
            raise fault(self.path, problem, f"expected at most {MOST_COLUMNS:,}")
        return columns

    def _is_column(self, name: str) -> bool:
        """Whether an array without the prefix of a side is a list that no role has taken."""
        shape = self.shape(name)
        listed = prod(shape) == max(shape, default=0) > 1 and not name.startswith(_PREFIXES)
        return listed and name not in RESERVED | self.used | {"fold", _PEOPLE_NAMES}

    def _has_two_columns(self, name: str) -> bool:
        """Whether an array that no role has taken has a column for each side of a pair."""
        shape = self.shape(name)
        return len(shape) == 2 and shape[1] == 2 and name not in RESERVED | self.used

    def of_other_length(self, name: str, count: int) -> DataError:
        """Return the error of metadata that have not one value a template, or a pair."""
        return DataError(
            f"{self.path}: the metadata {name!r} have shape {self.shape(name)}; expected "
            f"({count},), one value for each"
        )

    def _require_same_metadata(self, name: str) -> None:
        probe_name = f"probe_{name.removeprefix('gallery_')}"
        same = probe_name in self.arrays and np.array_equal(self.read(name), self.read(probe_name))
        if self.is_own and not same:
            raise fault(self.path, f"there are gallery metadata, {name!r}, but no gallery_labels")

    def _cameras(self) -> Iterator[tuple[int, str, str]]:
        if self.is_own or "camera" in self.arguments.meta:
            return
        for side, role in enumerate(("camera of queries", "camera of the gallery")):
            if side == 0 or not self.square:
                array = next((x for x in NAMES[role] if x in self.arrays), None)
                if array and f"{_PREFIXES[side]}camera" not in self.arguments.meta:
                    yield side, "camera", array

    def _named(self) -> Iterator[tuple[int, str, str]]:
        if self.square and "labels" in self.arguments:
            return  # columns of the file of labels
        for name, array in self.arguments.all_meta().items():
            column = re.sub("^(probe|gallery)_", "", name)
            option = f'`columns={{"{name}": ...}}`'
            sides = [(0, name, f"probe_{array}"), (1, name, f"gallery_{array}")]
            if self.square:
                sides = [(0, name, array if array in self.arrays else f"probe_{array}")]
            elif column != name:
                sides = [(int(name.startswith("gallery_")), column, array)]
            elif sides[0][2] not in self.arrays and sides[1][2] not in self.arrays:
                self.require(array, option)
                raise DataError(
                    f"{self.path}: {array!r} is given for {name!r}, but probes and gallery "
                    f'differ; say `columns={{"probe_{name}": "{array}"}}` and '
                    f'`columns={{"gallery_{name}": ...}}`'
                )
            for _, _, where in sides:
                self.require(where if where in self.arrays else array, option)
            yield from sides

    def ids(self, name: str, count: int) -> np.ndarray:
        """Return template identities, int64 (count,)."""
        array = self.arrays[name]
        if array.shape != (count,) or array.dtype.kind not in "iu":
            raise fault(self.path, f"{name!r} is {array}", f"expected ({count},) int64")
        return array.read().astype(np.int64)

    def no_labels(self, row_count: int, column_count: int | None) -> DataError:
        """Return the error of a matrix, or of embeddings, without labels."""
        columns = (
            ""
            if column_count is None or column_count == row_count
            else f" and {column_count} columns"
        )
        return DataError(
            f"{self.path}: no labels, the subject of each of {row_count} rows{columns}; name the "
            "arrays "
            'with `columns={"labels": ...}` and, if the columns are other templates, '
            '`columns={"gallery_labels": ...}`, or give CSV files with `labels` and '
            f"`gallery`. It holds: {self.contents}"
        )


# ------------------------------------------------------------------------- what a file holds


def scores_of(
    path: Path,
    arrays: dict[str, Lazy],
    arguments: Arguments,
    matlab: bool = False,
    as_read: bool = False,
) -> Scores:
    """Return the scores, lists or embeddings of a file, as its arrays show.

    With `as_read`, distances of embeddings are computed as they are read.
    """
    schema = arrays.get("schema")
    if schema is not None and schema.shape == () and schema.dtype.kind in "iu":
        number = int(schema.read())
        if number != SCHEMA:
            raise DataError(
                f"{path}: is of schema {number}; this bioeval reads schema {SCHEMA}. Use a newer "
                "bioeval"
            )
    file = Arrays(path, arrays, arguments, matlab)
    scores = _by_role(file, as_read)
    unused = [name for name in arrays if file._is_column(name) or file._has_two_columns(name)]
    if unused:  # perhaps meant as metadata
        remark = Message("arrays-left-out", arrays=unused)
        scores = scores._with(remarks=(*scores.remarks, remark))
    if arguments.names_arrays:
        return scores
    ids, junk_ids = (
        as_ids(np.ravel(arrays[name].read()).tolist(), name) if name in arrays else None
        for name in IDS_OF_NO_PERSON
    )
    return marking(scores, ids, junk_ids or ())


def _by_role(file: Arrays, as_read: bool) -> Scores:
    """Return scores, lists or embeddings, by the arrays that have a role."""
    arguments = file.arguments
    arrays = file.arrays
    if (
        "columns.genuine" in arguments
        and _IMPOSTOR in arguments.meta
        and "columns.scores" not in arguments
    ):
        return _two_named_vectors(file)
    roles = _main_roles(file)
    if len(roles) > 1:
        names = [next(x for x in NAMES[role] if x in arrays) for role in roles]
        raise DataError(
            f"{file.path}: holds both {' and '.join(names)}; choose by "
            + " or ".join(f'`columns={{"{r}": "{x}"}}`' for r, x in zip(roles, names, strict=True))
        )
    if roles == ["indices"]:
        return _lists(file)
    if roles == ["embeddings"]:
        return _embeddings(file, as_read)
    if not roles and (vectors_of_classes := _two_classes(arrays)):
        return _two_vectors(file, *vectors_of_classes)
    if not roles:
        matrices = (k for k, v in arrays.items() if len(v.shape) == 2 and v.dtype.kind in "iuf")
        raise DataError(
            f"{file.path}: no array 'scores' or 'embeddings'; name the array to use with "
            f"{backquoted('columns.scores', next(matrices, None))} or "
            f'`columns={{"embeddings": ...}}`. It holds: {file.contents}'
        )
    name = file.name("scores") or ""
    shape = arrays[name].shape
    of_pairs = "genuine" in arrays or "columns.genuine" in arguments or "trials" in arguments
    if len(shape) == 1 or file.is_list(name) and of_pairs:
        return _pairs(file, name)
    if len(shape) != 2:
        expected = "a matrix (probes, gallery), or one score per pair"
        raise wrong_shape(file.path, repr(name), shape, expected)
    return _matrix(file, name)


def _main_roles(file: Arrays) -> list[str]:
    """Return the roles of `_OWN` that the file has, more than one if it could be read either way.

    Roles are as ``columns`` says, by bioeval's own names, or by the names of other programs.
    """
    arguments = file.arguments
    arrays = file.arrays
    if named := [role for role in _OWN if f"columns.{role}" in arguments]:
        if {*named} >= {"scores", "embeddings"}:
            problem = '`columns={"scores": ...}` and `columns={"embeddings": ...}` are both given'
            raise DataError(f"{problem}; expected one")
        return ["indices"] if "indices" in named else named
    if roles := [role for role in _OWN if role in arrays]:
        of_lists = "indices" in roles and "embeddings" not in roles
        # Scores beside them are of the entries of lists, or a matrix.
        if of_lists and (
            "scores" not in roles or arrays["scores"].shape == arrays["indices"].shape
        ):
            return ["indices"]
        return [role for role in roles if role != "indices"]
    matrices = {name for name, array in arrays.items() if len(array.shape) == 2}
    features = matrices.intersection(NAMES["embeddings"])
    gallery_features = matrices.intersection(NAMES["gallery_embeddings"])
    scores = [] if matrices.isdisjoint(_DISTMAT) else ["scores"]
    return [*scores, "embeddings"] if features and gallery_features else scores


def _oriented(file: Arrays, *names: str) -> bool:
    """Whether matrices of a MATLAB file are transposed, by the number of labels of both sides.

    Programs disagree on which dimension is the templates'. Where the number of labels fits both
    dimensions (as many features as templates), the other side's matrix decides.
    """
    if not file.matlab:
        return False
    labels = [*filter(None, map(file.name, ("labels", "gallery_labels")))]
    counts = [file.shape(x)[0] for x in labels if len(file.shape(x)) == 1]
    if len(counts) != 2:
        return False
    shapes = [file.arrays[x].shape for x in names]
    if len(shapes) == 1:  # scores, probes by gallery
        return shapes[0] == (counts[1], counts[0]) != (counts[0], counts[1])
    as_is = [shape[0] for shape in shapes] == counts
    return [shape[1] for shape in shapes] == counts and not as_is


# ------------------------------------------------------------------------- a matrix


def _matrix(file: Arrays, name: str) -> Scores:
    arguments = file.arguments
    array = file.arrays[name]
    turned = _oriented(file, name)
    probe_count, gallery_count = array.shape[::-1] if turned else array.shape
    gallery = file.labels("gallery", gallery_count, "gallery templates")
    mask = file.name("mask")
    file.set_square(gallery is None and probe_count == gallery_count)
    probe = file.labels("probe", probe_count, "probes")
    if probe is None and (mask is None or gallery is not None):
        raise file.no_labels(probe_count, gallery_count)
    if gallery is None and probe_count != gallery_count and probe is not None:
        raise DataError(
            f"{file.path}: {name!r} is {probe_count} x {gallery_count}, not square, and there are "
            "no gallery labels; "
            f'name them with `columns={{"gallery_labels": ...}}`. It holds: {file.contents}'
        )
    file.set_square(gallery is None and probe is not None)
    probe_meta, gallery_meta = file.metadata(
        (probe, gallery), (probe_count, gallery_count), plain=file.square
    )
    values = array.read() if turned or array.rows is None else array.rows()
    scores = Scores(
        values.T if turned else values,
        probe and probe.columns()[0],
        gallery and gallery.columns()[0],
        mask=file.read_if_there(mask),
        probe_meta=probe_meta,
        gallery_meta=None if file.square else gallery_meta,
        kind=file.kind(name),
        nan=file.nan,
        name=file.path.stem,
        exclude=file.exclude,
        names=arguments.names,
    )._with(reading=file.notes)
    if not arguments.names_arrays and "probe_ids" in file.arrays:
        ids = file.ids("probe_ids", probe_count), file.ids("gallery_ids", gallery_count)
        scores = scores._with(probe_ids=ids[0], gallery_ids=ids[1])
    if "trials" not in arguments:
        return scores
    listed = _look_up(file, scores.probe_labels, scores.probe_meta, scores.probe_names)
    pairs = scores.at_pairs(listed.a, listed.b, listed.same, listed.fold)
    return _attempts(file, pairs, listed, probe_count)


# ------------------------------------------------------------------------- listed pairs


@dataclass(frozen=True)
class _ListedPairs:
    """Listed pairs of templates of one set; all arrays are (pairs,)."""

    a: np.ndarray  # the place of the enrolled template in the set
    b: np.ndarray  # the place of the probe
    same: np.ndarray | None  # whether the pair is genuine; None: labels decide
    fold: np.ndarray | None
    missing: int  # number of listed pairs that were left out, since a template is not in the set


def _look_up(file: Arrays, labels: np.ndarray, meta: Any, template_names: Any) -> _ListedPairs:
    """Return the pairs of a list among the templates of a file.

    Templates are found by `template_names`, images of LFW by their subject and number.
    """
    if not file.square:
        raise DataError(
            f"{file.path}: `trials` needs the same templates on both sides, but this file "
            "has a separate gallery"
        )
    path = existing_file(file.arguments.take("trials"))
    names = None if template_names is None else template_names.tolist()
    if names is None or is_lfw(path):
        listed = read_lfw(path)
        if _IMAGE_NUMBER not in meta or meta[_IMAGE_NUMBER].dtype.kind not in "iu":
            raise DataError(
                f"{file.path}: {listed.path.name} numbers the images of each subject, but there "
                f"are no whole numbers called {_IMAGE_NUMBER!r}; name them with "
                f'`columns={{"{_IMAGE_NUMBER}": ...}}`. It holds: {file.contents}'
            )
        numbers = meta[_IMAGE_NUMBER].tolist()
        names = [f"{person} {i}" for person, i in zip(_people(file, labels), numbers, strict=True)]
    else:
        listed = read_comparisons(path, file.arguments)
    skip = file.arguments.take("lists.missing_pairs") == "skip"
    enrolled, probe, is_found = look_up(listed, names, skip)
    same = None if listed.genuine is None else listed.genuine[is_found]
    if same is None:  # the listed pairs alone are genuine
        raise fault(listed.path, "lists genuine pairs alone", "expected impostor pairs, too")
    fold = None if listed.fold is None else listed.fold[is_found]
    return _ListedPairs(enrolled, probe, same, fold, int((~is_found).sum()))


def _people(file: Arrays, labels: np.ndarray) -> list[str]:
    """Return the name of the person of each template: labels may be places in a list of names."""
    array = file.arrays.get(_PEOPLE_NAMES)
    name_count = 0
    if array is not None and array.dtype.kind == "U" and len(array.shape) == 1:
        name_count = array.shape[0]
    if labels.dtype.kind in "iu" and 0 <= labels.min() <= labels.max() < name_count:
        return file.arrays[_PEOPLE_NAMES].read()[labels].tolist()
    return [*map(str, labels.tolist())]


def _attempts(file: Arrays, pairs: Scores, templates: _ListedPairs, template_count: int) -> Scores:
    """Return the pairs that the rules of lists keep, with the enrolled template first."""
    codes = templates.b.astype(np.int32), templates.a.astype(np.int32)
    listed = replace(pairs.pairs, templates=CodedSides(range(template_count), *codes))
    rules = ListRules.parse(**file.arguments.rules())
    listed, _, notes = listed.attempts(rules, pairs.kind, lambda rows: places("pair", rows))
    # Rows are probes, but the first name of a listed pair is enrolled. Templates are known by their
    # place in this file, which is none in another.
    listed = listed.exchanged(np.ones(len(listed.values), dtype=bool))
    listed = replace(listed, templates=None, missing=templates.missing)
    return pairs.with_pairs(listed, remarks=notes)


def _pairs(file: Arrays, name: str) -> Scores:
    arguments = file.arguments
    genuine = file.name("genuine")
    count = max(file.arrays[name].shape)
    values = arguments.with_failures(file.read(name))
    options: dict[str, Any] = {"kind": file.kind(name), "nan": file.nan, "name": file.path.stem}
    if genuine is None and "trials" in arguments:
        pairs = in_listed_order(file.path, values, arguments, options)
        return pairs._with(reading=(*pairs.reading, *file.notes))
    if genuine is None:
        raise DataError(
            f"{file.path}: {name!r} is a list of {count} scores without classes; name the array of "
            f'0 and 1 with `columns={{"genuine": ...}}`. It holds: {file.contents}'
        )
    pairs = Scores.from_pairs(
        values,
        file.read(genuine),
        subjects=_both_sides(file, "subject", count),
        pair_folds=file.read_if_there("fold"),
        pair_templates=_template_names(file, count),
        meta=_meta_of_pairs(file, count),
        **options,
        **arguments.rules(),
    )
    return pairs._with(reading=file.notes)


def _both_sides(file: Arrays, noun: str, pairs: int) -> np.ndarray | None:
    """Return the subjects or templates of both sides, (pairs, 2); None if the file has neither.

    Arrays have the names of a list's columns, or the names that ``columns`` says.
    """
    if f"{noun}s" in file.arrays:
        return file.read(f"{noun}s")
    sides = []
    for side in (f"{noun}_a", f"{noun}_b"):
        chosen = next((x for x in COLUMNS[side] if x in file.arguments.meta), None)
        if chosen is not None:
            file.require(file.arguments.meta[chosen], f'`columns={{"{chosen}": ...}}`')
        words = [x for x in COLUMNS[side] if x not in TRIAL_NAMES]
        sides.append(
            file.arguments.meta[chosen]
            if chosen is not None
            else next((x for x in words if x in file.arrays), None)
        )
    named = [name for name in sides if name is not None]
    if not named:
        return None
    if len(named) == 1:
        raise fault(
            file.path,
            f"{named[0]!r} has the {noun}s of one side of the pairs alone",
            f'name those of both, as in `columns={{"{noun}_a": ...}}` and `columns={{"{noun}_b": '
            "...}`",
        )
    for name in named:
        if file.shape(name) != (pairs,):
            raise file.of_other_length(name, pairs)
    file.use(*named)
    return np.column_stack([file.read(name) for name in named])


def _meta_of_pairs(file: Arrays, pairs: int) -> Meta:
    """Return the metadata of both templates of each pair.

    Columns are ``probe_<name>`` with ``gallery_<name>``, arrays of two columns, the enrolled
    template first, and arrays that ``columns`` names; a single value for a pair is of both
    templates.
    """
    columns = {}
    roles = {word for side in _SIDES for word in COLUMNS[side]}
    stated = {word: x for word, x in file.arguments.all_meta().items() if word not in roles}
    for word, name in stated.items():
        file.require(name, f'`columns={{"{word}": ...}}`')
        if file.shape(name) not in ((pairs,), (pairs, 2)):
            raise file.of_other_length(name, pairs)
        values = file.read(name)
        columns[word] = values if values.ndim == 2 else np.column_stack([values, values])
        file.use(name)
    for name in file.arrays:
        if file.shape(name) == (pairs, 2) and name not in RESERVED | file.used:
            columns[name] = file.read(name)
            file.use(name)
    for name in file.arrays:
        if name in file.used:
            continue
        column = name.removeprefix("probe_")
        of_gallery = f"gallery_{column}"
        if (
            name == column
            or of_gallery not in file.arrays
            or not RESERVED.isdisjoint((name, of_gallery))
        ):
            continue
        wrong = [x for x in (name, of_gallery) if file.shape(x) != (pairs,)]
        if not wrong:
            columns[column] = np.column_stack([file.read(of_gallery), file.read(name)])
        elif not file.arguments.names_arrays:
            raise file.of_other_length(wrong[0], pairs)
    return columns


def _template_names(file: Arrays, pairs: int) -> np.ndarray | CodedSides | None:
    names = file.read_if_there("template_names")
    codes = _both_sides(file, "template", pairs)
    if codes is None or names is None:
        return codes
    are_places = codes.shape == (pairs, 2) and codes.dtype.kind in "iu" and names.ndim == 1
    if not are_places or codes.min(initial=0) < 0 or codes.max(initial=0) >= len(names):
        raise fault(
            file.path,
            f"'templates' is {codes.shape} {codes.dtype}",
            f"expected ({pairs}, 2) places in 'template_names', 0 to {names.size - 1:,}",
        )
    if len({*names.tolist()}) < len(names):
        raise fault(file.path, "'template_names' has a name twice", "expected each once")
    return CodedSides(names.tolist(), *np.ascontiguousarray(codes.T, dtype=np.int32))


def _two_classes(arrays: dict[str, Lazy]) -> tuple[str, str] | None:
    """Return the names of a vector of genuine scores and of one of impostor scores, if any."""
    vectors = {
        re.sub("scores?|[_ -]", "", name.casefold()): name
        for name, array in arrays.items()
        if array.dtype.kind in "iuf" and array.is_vector
    }
    return next(
        (
            (vectors[genuine], vectors[impostor])
            for genuine, impostor in _TWO_CLASSES
            if genuine in vectors and impostor in vectors
        ),
        None,
    )


def _two_named_vectors(file: Arrays) -> Scores:
    names = {"genuine": file.arguments.take("columns.genuine")} | file.arguments.all_meta()
    for word, name in names.items():
        if word not in ("genuine", _IMPOSTOR):
            raise file.arguments.no_meaning(file.path, f"columns.{word}", "scores of two classes")
        file.require(name, f'`columns={{"{word}": ...}}`')
        if not file.arrays[name].is_vector:
            raise wrong_shape(file.path, repr(name), file.arrays[name].shape, "one score a pair")
    return _two_vectors(file, names["genuine"], names[_IMPOSTOR])


def _two_vectors(file: Arrays, genuine: str, impostor: str) -> Scores:
    genuine_scores, impostor_scores = (
        file.arrays[name].read().reshape(-1) for name in (genuine, impostor)
    )
    file.use(genuine, impostor)
    pairs = Scores.from_pairs(
        file.arguments.with_failures(np.concatenate([genuine_scores, impostor_scores])),
        np.repeat([True, False], [len(genuine_scores), len(impostor_scores)]),
        kind=file.kind(genuine),
        nan=file.nan,
        name=file.path.stem,
    )
    origin = f"genuine scores from {genuine!r}, impostor scores from {impostor!r}"
    return pairs._with(reading=(origin, *file.notes))


# ------------------------------------------------------------------------- top-K lists


def _lists(file: Arrays) -> Scores:
    arguments = file.arguments
    name = file.name("indices") or ""
    lists = file.arrays[name].read()
    if lists.ndim != 2 or lists.dtype.kind not in "iu":
        expected = "integers (queries, K), the nearest gallery entries of each query"
        raise fault(file.path, f"{name!r} is {file.arrays[name]}", f"expected {expected}")
    candidates = [x for x in NAMES["values"] if x in file.arrays and file.shape(x) == lists.shape]
    values = file.name("scores") if "columns.scores" in arguments else next(iter(candidates), None)
    kind: Kind = "similarity"
    if values != "similarities" or "kind" in arguments or "kind" in file.arrays:
        kind = file.kind(values or "distances", VALUED)
    entry_count = _gallery_size(file)
    probe = file.labels("probe", len(lists), "queries")
    gallery = file.labels("gallery", entry_count, "gallery entries")
    if gallery is None and probe is not None and file.roles.get("labels") == "labels":
        gallery = probe  # one set of templates
    if probe is None or gallery is None:
        raise file.no_labels(len(lists), entry_count)
    probe_meta, gallery_meta = file.metadata((probe, gallery), (len(lists), entry_count))
    saved = not arguments.names_arrays and "probe_ids" in file.arrays
    leave_out = arguments.take("lists.leave_out_query")
    if leave_out is None and probe is gallery:
        leave_out = True  # a gallery searched with its own templates
    scores = Scores.from_top_k(
        _indices_from_zero(file, name, lists),
        probe.columns()[0],
        gallery.columns()[0],
        distances=file.read_if_there(values),
        kind=kind,
        probe_meta=probe_meta,
        gallery_meta=gallery_meta,
        name=file.path.stem,
        leave_out_query=False if saved else leave_out,
        query_positions=None if saved else file.read_if_there("query_positions"),
    )
    if saved:
        ids = file.ids("probe_ids", len(lists))
        queries = np.flatnonzero(ids < entry_count)
        labels = scores.probe_labels[queries], scores.gallery_labels[ids[queries]]
        if (ids < 0).any() or not np.array_equal(*labels):
            raise fault(
                file.path,
                "'probe_ids' names gallery entries of other subjects than the queries",
                "expected the entry that a query is itself, or a larger number",
            )
        scores = scores._with(probe_ids=ids)
    return scores._with(reading=file.notes)


def _gallery_size(file: Arrays) -> int:
    """Return the number of gallery entries, listed or not, by the number of their labels."""
    arguments = file.arguments
    if "gallery" in arguments:
        return len(read_labels(arguments.take("gallery"), arguments, role="gallery_labels").label)
    chosen = arguments.peek("columns.gallery_labels")
    if chosen is not None:
        file.require(chosen, '`columns={"gallery_labels": ...}`')
    possible_names = (chosen, "gallery_labels", "labels", *NAMES["gallery_labels"])
    name = next((x for x in possible_names if x in file.arrays), None)
    if name is None:
        raise DataError(
            f"{file.path}: no gallery_labels; top-K lists need the identity of every gallery "
            "entry, listed or not: an array gallery_labels, or a CSV file by `gallery`. It holds: "
            f"{file.contents}"
        )
    return prod(file.shape(name))


def _indices_from_zero(file: Arrays, name: str, lists: np.ndarray) -> np.ndarray:
    """Return gallery entries counted from 0; negative numbers, which fill lists, stay."""
    if not file.arguments.take("lists.first_index"):
        return lists
    if (lists == 0).any():
        row = int(np.argmax((lists == 0).any(axis=1)))
        raise DataError(
            f"{file.path}: {name!r}: list {row} holds 0, and the first entry is said to be 1"
        )
    return np.where(lists >= 0, lists - 1, lists)


# ------------------------------------------------------------------------- embeddings


def _embeddings(file: Arrays, as_read: bool) -> Scores:
    arguments = file.arguments
    kind = arguments.take("kind")
    if kind not in (None, "distance"):
        raise DataError(
            f'`kind="{kind}"` has no meaning for embeddings; they are compared by distances'
        )
    name = file.name("embeddings") or ""
    of_gallery = file.name("gallery_embeddings")
    for key in filter(None, (name, of_gallery)):
        shape = file.arrays[key].shape
        if len(shape) != 2:
            raise wrong_shape(file.path, repr(key), shape, "one embedding per row")
    turned = of_gallery is not None and _oriented(file, name, of_gallery)
    probe_count, gallery_count = (
        file.arrays[key].shape[turned] for key in (name, of_gallery or name)
    )
    file.set_square(of_gallery is None)
    gallery = file.labels("gallery", gallery_count, "gallery templates") if of_gallery else None
    probe = file.labels("probe", probe_count, "templates")
    if probe is None or (of_gallery and gallery is None):
        raise file.no_labels(probe_count, gallery_count if of_gallery else None)
    probe_meta, gallery_meta = file.metadata(
        (probe, gallery), (probe_count, gallery_count), plain=True
    )
    metric = file.word("metric", "cosine", METRICS)
    mask = file.name("mask")
    left = right = _features(file, name, turned)
    if of_gallery:
        right = _features(file, of_gallery, turned)
    if "trials" not in arguments:
        return Scores._from_embeddings(
            left,
            probe.columns()[0],
            right if of_gallery else None,
            gallery and gallery.columns()[0],
            metric=metric,
            nan=file.nan,
            mask=file.read_if_there(mask),
            probe_meta=probe_meta,
            gallery_meta=gallery_meta if of_gallery else None,
            name=file.path.stem,
            exclude=file.exclude,
            average=arguments.take("average", ()),
            names=arguments.names,
            as_read=as_read,
        )
    return _pairs_of_embeddings(file, left, metric, probe.columns()[0], probe_meta, name)


def _pairs_of_embeddings(
    file: Arrays, embeddings: np.ndarray, metric: Any, labels: Any, meta: Meta, name: str
) -> Scores:
    """Return the scores of listed pairs of templates, whose distances alone are computed."""
    side = GivenSide(labels, meta, RowOrder(None), ("labels", "probe_meta"))
    side.join(file.arguments.names)
    subjects = as_subjects(side.labels, "labels", len(embeddings))
    names = side.order.names
    meta = as_meta(side.meta, len(embeddings), "probe_meta")
    require_features(embeddings, subjects, f"{file.path}: {name}")
    if average := file.arguments.take("average", ()):
        columns = {"": subjects, **meta}
        embeddings, templates, _ = average_embeddings(embeddings, columns, average, "probe")
        subjects = templates.pop("")
        meta = dict(templates)
        names = as_names(meta[average[0]])
    listed = _look_up(file, subjects, meta, names)
    pairs = Scores.from_pairs(
        EmbeddingSource(embeddings, embeddings, metric).pairs(listed.a, listed.b),
        listed.same,
        nan=file.nan,
        subjects=np.column_stack([subjects[listed.b], subjects[listed.a]]),
        pair_folds=listed.fold,
        name=file.path.stem,
    )
    return _attempts(file, pairs, listed, len(embeddings))


def _features(file: Arrays, name: str, turned: bool) -> Any:
    values = file.arrays[name].read()
    return as_embeddings(values.T if turned else values, f"{file.path}: {name}")
