"""The named arrays of a file: the role of each array, the words and the labels."""

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
from bioeval.scores.formats.faults import fault, listing, missing
from bioeval.scores.formats.labels import Role, SideLabels, of_images, read_labels
from bioeval.scores.formats.options import Arguments
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
# The names of arrays that each layout reads; another layout's are no metadata of it.
_LABELS = frozenset(("labels", "probe_labels", "gallery_labels"))
_READ: dict[str, frozenset[str]] = {
    "a matrix of scores": _LABELS | {"scores", "mask", "probe_ids", "gallery_ids"},
    "a list of pairs": frozenset(
        ("scores", "genuine", "subjects", "subject_a", "subject_b", "templates", "template_a")
        + ("template_b", "template_names")
    ),
    "top-K lists": _LABELS
    | {"indices", "scores", "distances", "similarities"}
    | {"query_positions", "probe_ids", "gallery_ids"},
    "embeddings": _LABELS | {"embeddings", "gallery_embeddings", "mask"},
    "scores of two classes": frozenset(("genuine",)),
}
# What may be meant by arrays of another layout.
_MEANT_AS = {
    "genuine": "the classes of cells are a `mask` of 0 (ignore), 1 (impostor) and 2 (genuine); ",
    "probe_labels": "the subjects of both sides of pairs are `subjects` (pairs, 2); ",
    "gallery_labels": "a gallery needs its own scores or embeddings; ",
}
_OF_A_LAYOUT = frozenset(("probe_embeddings",)).union(*_READ.values())
# Of these arrays, a file has one: each states what the others state.
_ROLES_OF_TWO_SIDES = ("labels", "gallery_labels", "embeddings", "gallery_embeddings")
_ONE_OF = (
    *(("subjects", f"subject_{side}") for side in "ab"),
    *(("templates", f"template_{side}") for side in "ab"),
    *(("distances", "similarities"), ("distances", "scores"), ("similarities", "scores")),
)
#: The prefixes of arrays of metadata, of both sides.
PREFIXES = ("probe_", "gallery_")

#: The array of the names of people, whose places may stand for the people as labels.
PEOPLE_NAMES = "names"

#: The word of ``columns`` for impostor scores, where ``genuine`` names an array of scores.
IMPOSTOR = "impostor"

Meta = dict[str, np.ndarray]


@dataclass
class ArrayFile:
    """The arrays of one file, and the arguments; arrays that have a role are no metadata."""

    path: Path
    arrays: dict[str, Lazy]
    arguments: Arguments
    #: Whether MATLAB wrote the file: a list is a matrix of one row or column, and matrices may be
    #: transposed.
    matlab: bool = False
    roles: dict[str, str] = field(default_factory=dict)  # the array of each role that was taken
    used: set[str] = field(default_factory=set)  # the arrays that have a role, or are metadata

    def take(self, role: str) -> str | None:
        """Return the array that has a role, by ``columns`` or a known name; None if absent.

        The array is no metadata from now on.
        """
        stated = self.arguments.take(f"columns.{role}")
        if stated is not None:
            self.require(stated, f'`columns={{"{role}": ...}}`')
        known = (x for x in NAMES[role] if x in self.arrays and x not in self.arguments.ignored)
        name = stated or next(known, None)
        if name is not None:
            self.refuse_objects(name)
            self.roles[role] = name
            self.used.add(name)
        return name

    def refuse_objects(self, name: str) -> None:
        """Raise with the reason if an array cannot be read without unpickling objects."""
        if self.arrays[name].dtype.hasobject:
            self.arrays[name].read()  # this call raises

    def use(self, *names: str) -> None:
        """State that arrays are used: they are no metadata, and none of the unused arrays."""
        self.used.update(names)

    def require(self, name: str, option: Any) -> None:
        """Raise unless an array that an argument names is in the file, and can be read."""
        if name not in self.arrays:
            raise missing(self.path, "array", name, [*self.arrays], option, self.contents)
        if self.arrays[name].dtype.hasobject:
            self.arrays[name].read()  # raises, with the reason

    def require_used(self, layout: str) -> None:
        """Raise where an array has the name of a role that a layout, in words, does not read.

        Arrays that ``columns`` names, or says to ignore, are no such arrays, nor are those of
        another layout if ``columns`` says which array is read, nor others of a role it states.
        """
        arguments = self.arguments
        stated = {role for role in NAMES if f"columns.{role}" in arguments}
        exempt = {arguments.peek(f"columns.{role}") for role in stated} | arguments.ignored
        exempt |= {*arguments.meta.values(), *(name for role in stated for name in NAMES[role])}
        if not stated.isdisjoint(("scores", "embeddings", "indices")):
            exempt |= {"scores", "embeddings", "gallery_embeddings", "indices", *NAMES["values"]}
            exempt |= {"probe_ids", "gallery_ids"}
        has_gallery = "gallery_embeddings" in stated or any(
            x in self.arrays for x in NAMES["gallery_embeddings"]
        )
        read = set(_READ[layout])
        if layout == "embeddings" and not has_gallery:
            read.remove("gallery_labels")
        if layout == "a list of pairs" and not {"templates", "template_a"} & {*self.arrays}:
            read.remove("template_names")
        names = [x for x in self.arrays if x in _OF_A_LAYOUT - exempt]
        for name in names:
            if name not in read:
                raise fault(
                    self.path,
                    f"the array {name!r}, {self.arrays[name]}, is not read with {layout}",
                    f"{_MEANT_AS.get(name, '')}leave it out, give it another name, or say "
                    f'`columns={{"{name}": None}}` if it is not to be read',
                )
        roles = [NAMES[role] for role in _ROLES_OF_TWO_SIDES if role in read]
        exempt |= {"probe_ids", "gallery_ids"}  # bioeval's own are numbers of templates, no labels
        for group in (*_ONE_OF, *roles):
            first, *others = [x for x in group if x in self.arrays and x not in exempt] or [""]
            for second in (x for x in others if not self._are_equal(first, x)):
                raise fault(
                    self.path,
                    f"the arrays {first!r} and {second!r} each state the same, and differ",
                    f'say `columns={{"{second}": None}}` if {first!r} is meant, or '
                    f'`columns={{"{first}": None}}` if {second!r} is',
                )

    def _are_equal(self, first: str, second: str) -> bool:
        same_shape = self.shape(first) == self.shape(second)
        return same_shape and np.array_equal(self.read(first), self.read(second))

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

    # --------------------------------------------------------------------- labels

    def labels(
        self, side: str, count: int, noun: str, *, has_metadata: bool = False
    ) -> SideLabels | None:
        """Return the labels of a side, ``"probe"`` or ``"gallery"``; None if there are none.

        - A file that an argument names comes before the array of labels.
        - `noun` is the word for the `count` templates in messages.
        - With `has_metadata`, the names in ``columns`` are columns of such a file.
        """
        option = "labels" if side == "probe" else "gallery"
        role: Role = "labels" if side == "probe" else "gallery_labels"
        path = self.arguments.take(option)
        if path is not None:
            if str(path) in self.arrays and not path.exists():
                raise DataError(
                    f'{self.path}: `{option}="{path}"` is a file, and there is no such '
                    f"file; {str(path)!r} is an array in the file: name it with "
                    f'`columns={{"{role}": "{path}"}}`'
                )
            meta = self.arguments.all_meta() if has_metadata else {}
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

    @property
    def unused(self) -> list[str]:
        """The arrays that have no role and may be meant as metadata: lists, and two columns."""
        return [x for x in self.arrays if self.is_unused_list(x) or self._is_unused_pair(x)]

    def is_unused_list(self, name: str) -> bool:
        """Whether an array without a prefix is a list of values that has no role."""
        shape = self.shape(name)
        is_list = prod(shape) == max(shape, default=0) > 1
        names_in_use = RESERVED | self.used | {"fold", PEOPLE_NAMES}
        return is_list and not name.startswith(PREFIXES) and name not in names_in_use

    def _is_unused_pair(self, name: str) -> bool:
        shape = self.shape(name)
        return len(shape) == 2 and shape[1] == 2 and name not in RESERVED | self.used

    def wrong_length(self, name: str, count: int) -> DataError:
        """Return the error of metadata without one value for each template or pair."""
        return DataError(
            f"{self.path}: the metadata {name!r} have shape {self.shape(name)}; expected "
            f"({count},), one value for each"
        )

    def ids(self, name: str, count: int) -> np.ndarray:
        """Return the template identities in an array, int64 (count,)."""
        if name not in self.arrays:
            raise fault(self.path, f"there is no {name!r}", "expected the ids of both sides")
        array = self.arrays[name]
        if array.shape != (count,) or array.dtype.kind not in "iu":
            raise fault(self.path, f"{name!r} is {array}", f"expected ({count},) int64")
        return array.read().astype(np.int64)

    def no_labels(self, row_count: int, column_count: int | None = None) -> DataError:
        """Return the error of a matrix, or of embeddings, without labels."""
        has_columns = column_count not in (None, row_count)
        columns = f" and {column_count} columns" if has_columns else ""
        return DataError(
            f"{self.path}: no labels, the subject of each of {row_count} rows{columns}; name the "
            "arrays "
            'with `columns={"labels": ...}` and, if the columns are other templates, '
            '`columns={"gallery_labels": ...}`, or give CSV files with `labels` and '
            f"`gallery`. It holds: {self.contents}"
        )
