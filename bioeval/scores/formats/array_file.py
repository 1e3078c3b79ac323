"""The named arrays of a file: the role of each array, the labels and the metadata."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from bioeval.base.arguments import require_choice
from bioeval.base.errors import DataError
from bioeval.base.kinds import KINDS, LARGER_IS_CLOSER, NAN_POLICIES, Kind
from bioeval.scores.formats.containers import Lazy
from bioeval.scores.formats.faults import fault, listing, missing
from bioeval.scores.formats.labels import SideLabels, of_images, read_labels
from bioeval.scores.formats.options import Arguments
from bioeval.scores.formats.spellings import MOST_COLUMNS
from bioeval.scores.joining import refuse_other_orders
from bioeval.scores.labels import LEAST_INEXACT

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
_CAMERAS = ("cam", "cams", "camera", "cameras", "camid", "camids")


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

#: Names of the layout, which are no metadata.
RESERVED = {
    *("scores", "genuine", "subjects", "templates", "template_names", "mask", "pairs"),
    *("embeddings", "gallery_embeddings", "probe_embeddings", "metric"),
    *("labels", "probe_labels", "gallery_labels", "probe_ids", "gallery_ids", "query_positions"),
    *("kind", "nan", "exclude", "distractor_ids", "junk_ids", "schema"),
    *("indices", "distances", "similarities"),
}
_PREFIXES = ("probe_", "gallery_")

#: The array of the names of people, whose places may stand for the people as labels.
PEOPLE_NAMES = "names"

#: The word of ``columns`` for impostor scores, where ``genuine`` names an array of scores.
IMPOSTOR = "impostor"

Meta = dict[str, np.ndarray]


class _Column(NamedTuple):
    """A column of metadata, and the array that has its values."""

    side: int  # 0: of the probes, 1: of the gallery
    name: str
    array: str


@dataclass
class ArrayFile:
    """The arrays of one file, and the arguments; arrays that have a role are no metadata."""

    path: Path
    arrays: dict[str, Lazy]
    arguments: Arguments
    #: Whether MATLAB wrote the file: a list is a matrix of one row or column, and matrices may be
    #: transposed.
    matlab: bool = False
    square: bool = False  # whether both sides are one set of templates
    roles: dict[str, str] = field(default_factory=dict)  # the array of each role that was taken
    used: set[str] = field(default_factory=set)  # the arrays that have a role, or are metadata

    def take(self, role: str) -> str | None:
        """Return the array that has a role, by ``columns`` or a known name; None if absent.

        The array is no metadata from now on.
        """
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
        """State that arrays are used: they are no metadata, and none of the unused arrays."""
        self.used.update(names)

    def require(self, name: str, option: Any) -> None:
        """Raise unless an array that an argument names is in the file, and can be read."""
        if name not in self.arrays:
            raise missing(self.path, "array", name, [*self.arrays], option, self.contents)
        if self.arrays[name].dtype.hasobject:
            self.arrays[name].read()  # raises, with the reason

    @property
    def contents(self) -> str:
        """The names of the arrays, with shape and dtype, for a message."""
        return listing([f"{name} {array}" for name, array in self.arrays.items()])

    def read_if_there(self, name: str | None) -> np.ndarray | None:
        """Return the values of an array; None where the file has no such array."""
        return self.read(name) if name is not None and name in self.arrays else None

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
        """Return the kind of the scores in the array `name`, and remarks on how the kind was found.

        The argument decides, then the word in the file; without both the scores are distances.
        """
        declared: Any = self.stored_word("kind", accepted)
        stated = self.arguments.take("kind")
        remarks: tuple[str, ...] = ()
        if declared and stated not in (None, "order", declared):
            if declared != "order" and (stated in LARGER_IS_CLOSER) != (
                declared in LARGER_IS_CLOSER
            ):
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
        """The policy for failed comparisons."""
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

    # --------------------------------------------------------------------- labels and metadata

    def labels(self, side: str, count: int, noun: str) -> SideLabels | None:
        """Return the labels of a side, ``"probe"`` or ``"gallery"``; None if there are none.

        A file that an argument names comes before the array of labels. `noun` is the word for the
        `count` templates in messages.
        """
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
        name = self.take(role)
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
        """Return the metadata of both sides.

        `sides` are the labels of both sides, whose files may have columns, and `counts` the numbers
        of templates. Arrays ``probe_x`` and ``gallery_x`` are columns, with `plain` also arrays
        without a prefix, of the probes, and the arrays that ``columns`` names.
        """
        array_of = self._columns_by_prefix(counts, plain)
        for column in [*self._cameras(), *self._named_columns()]:
            if self.shape(column.array) != (counts[column.side],):
                raise self.wrong_length(column.array, counts[column.side])
            arrays = array_of[column.side]
            for name in [x for x in arrays if arrays[x] == column.array]:
                del arrays[name]
            arrays[column.name] = column.array
        meta: list[Meta] = []
        for labels, arrays in zip(sides, array_of, strict=True):
            self.use(*arrays.values())
            from_arrays = {name: self.read(array) for name, array in arrays.items()}
            from_labels = labels.columns()[1] if labels else {}
            if labels and not labels.names:
                for name in from_labels.keys() & from_arrays.keys():
                    values = {f"{name} of the labels": from_labels[name], name: from_arrays[name]}
                    refuse_other_orders(values, None)
            meta.append(from_labels | from_arrays)
        return meta[0], meta[1]

    def _columns_by_prefix(
        self, counts: Sequence[int], plain: bool
    ) -> tuple[dict[str, str], dict[str, str]]:
        arrays: tuple[dict[str, str], dict[str, str]] = ({}, {})
        for name in self._candidates(plain):
            side = int(name.startswith("gallery_"))
            column = re.sub("^(probe|gallery)_", "", name)
            fits = self.shape(name) == (counts[side],)
            pickled = self.arrays[name].dtype.hasobject
            if pickled and column != name and self.is_own_layout:
                self.arrays[name].read()  # raises, with the reason
            if side and self.square:
                self._require_same_metadata(name)
            elif fits and not pickled:
                arrays[side][column] = name
            elif self.is_own_layout and (column != name or self._is_unused_list(name)):
                raise self.wrong_length(name, counts[side])
        return arrays

    def _candidates(self, plain: bool) -> list[str]:
        """Return the names of arrays that may be columns of metadata, since they have no role.

        Without `plain`, they begin with the prefix of a side.
        """
        names_in_use = RESERVED | self.used
        if self.square and not self.is_own_layout:
            names_in_use |= {*NAMES["camera of the gallery"]}  # a square matrix has one side
        columns = [
            name
            for name in self.arrays
            if (plain or name.startswith(_PREFIXES))
            and len(self.shape(name)) < 2
            and name not in names_in_use
        ]
        if len(columns) > MOST_COLUMNS:
            problem = f"holds {len(columns):,} arrays of metadata"
            raise fault(self.path, problem, f"expected at most {MOST_COLUMNS:,}")
        return columns

    @property
    def unused(self) -> list[str]:
        """The arrays that have no role and may be meant as metadata: lists, and two columns."""
        return [x for x in self.arrays if self._is_unused_list(x) or self._is_unused_pair(x)]

    def _is_unused_list(self, name: str) -> bool:
        shape = self.shape(name)
        is_list = prod(shape) == max(shape, default=0) > 1
        names_in_use = RESERVED | self.used | {"fold", PEOPLE_NAMES}
        return is_list and not name.startswith(_PREFIXES) and name not in names_in_use

    def _is_unused_pair(self, name: str) -> bool:
        shape = self.shape(name)
        return len(shape) == 2 and shape[1] == 2 and name not in RESERVED | self.used

    def wrong_length(self, name: str, count: int) -> DataError:
        """Return the error of metadata without one value for each template or pair."""
        return DataError(
            f"{self.path}: the metadata {name!r} have shape {self.shape(name)}; expected "
            f"({count},), one value for each"
        )

    def _require_same_metadata(self, name: str) -> None:
        probe_name = f"probe_{name.removeprefix('gallery_')}"
        same = probe_name in self.arrays and np.array_equal(self.read(name), self.read(probe_name))
        if self.is_own_layout and not same:
            raise fault(self.path, f"there are gallery metadata, {name!r}, but no gallery_labels")

    def _cameras(self) -> Iterator[_Column]:
        """Yield the columns ``camera`` of arrays that have the name of another program."""
        if self.is_own_layout or "camera" in self.arguments.meta:
            return
        for side, role in enumerate(("camera of queries", "camera of the gallery")):
            if side == 0 or not self.square:
                array = next((x for x in NAMES[role] if x in self.arrays), None)
                if array and f"{_PREFIXES[side]}camera" not in self.arguments.meta:
                    yield _Column(side, "camera", array)

    def _named_columns(self) -> Iterator[_Column]:
        if self.square and "labels" in self.arguments:
            return  # they are columns of the file of labels
        for name, array in self.arguments.all_meta().items():
            column = re.sub("^(probe|gallery)_", "", name)
            option = f'`columns={{"{name}": ...}}`'
            columns = [_Column(0, name, f"probe_{array}"), _Column(1, name, f"gallery_{array}")]
            if self.square:
                columns = [_Column(0, name, array if array in self.arrays else f"probe_{array}")]
            elif column != name:
                columns = [_Column(int(name.startswith("gallery_")), column, array)]
            elif not any(x.array in self.arrays for x in columns):
                self.require(array, option)
                raise DataError(
                    f"{self.path}: {array!r} is given for {name!r}, but probes and gallery "
                    f'differ; say `columns={{"probe_{name}": "{array}"}}` and '
                    f'`columns={{"gallery_{name}": ...}}`'
                )
            for named in columns:
                self.require(named.array if named.array in self.arrays else array, option)
            yield from columns

    def ids(self, name: str, count: int) -> np.ndarray:
        """Return the template identities in an array, int64 (count,)."""
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
