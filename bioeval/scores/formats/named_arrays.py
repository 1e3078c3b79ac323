"""Roles of the arrays of a file: as an option names them, or by the names of a known layout.

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
the layout.
``distractor_ids`` and ``junk_ids`` are whole numbers: labels of no person.
Arrays under other names are named by options.

``query_f``, ``query_label``, ``query_cam`` and the same of the gallery are what most programs
save in a .mat file; ``distmat``, ``q_pids``, ``g_pids``, ``q_camids`` and ``g_camids`` are what
rankers in Python take.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from bioeval.base.errors import (
    DataError,
    require_choice,
)
from bioeval.base.kinds import Kind
from bioeval.base.messages import Message
from bioeval.scores.formats.archive import Arrays
from bioeval.scores.formats.format import ReadOptions, say
from bioeval.scores.formats.label_files import Labels, labels_of_names, read_side
from bioeval.scores.formats.spellings import MOST_COLUMNS
from bioeval.scores.labelled_matrix import NAN_POLICIES, NanPolicy, as_ids
from bioeval.scores.labels import IDS_OF_NO_PERSON
from bioeval.scores.matrix import Scores

SCHEMA = 1

#: Arrays that a list of pairs by name needs: image numbers, and the names that labels index.
IMAGE_NUMBER, NAMES = "image_number", "names"

#: Names of the layout, which are not metadata.
RESERVED = {
    *("scores", "genuine", "subjects", "templates", "template_names", "mask", "pairs"),
    *("embeddings", "gallery_embeddings", "probe_embeddings", "metric"),
    *("labels", "probe_labels", "gallery_labels", "probe_ids", "gallery_ids", "query_positions"),
    *("kind", "nan", "exclude", "distractor_ids", "junk_ids", "schema"),
    *("indices", "distances", "similarities"),
}


def check_schema(file: Arrays) -> None:
    """Raise unless this version of bioeval reads the schema of a file."""
    header = file.headers.get("schema")
    if header is None or header.shape != () or header.dtype.kind not in "iu":
        return
    schema = int(file.read("schema"))
    if schema != SCHEMA:
        raise DataError(
            f"{file.path}: is of schema {schema}; this bioeval reads schema {SCHEMA}. Use a newer "
            "bioeval"
        )


#: Names of a matrix of distances, queries x gallery.
_DISTMAT = ("distmat", "dist_mat", "dist_matrix", "distance_matrix", "dist")

# Names of arrays that say that their scores are distances.
_DISTANCES = (*_DISTMAT, "distance", "distances", "dissimilarity")

#: Names of the arrays of queries in files of re-identification; those of the gallery are alike, and
#: the first pair that is there is meant.
_REID = {
    "embeddings": ("query_f", "query_feature", "query_features", "qf"),
    "labels": (
        *("query_label", "query_labels", "q_pids", "query_id", "query_ids", "q_pid", "q_ids"),
        *("query_pid", "query_pids"),
    ),
    "camera": (
        *("query_cam", "query_cams", "q_camids", "query_camera", "query_cameras", "q_camid"),
        *("q_cams", "query_camid", "query_camids"),
    ),
}
_MAIN_ARRAYS = {"scores", "embeddings", "indices"}


def reid_layout(file: Arrays, options: ReadOptions) -> ReadOptions:
    """Return the options that name the arrays of a re-identification file, if it is one.

    What the caller names stays; a file in bioeval's own layout is left as it is.
    """
    chosen = options.columns.keys() & {*_MAIN_ARRAYS, "pairs"}
    if not chosen and not _MAIN_ARRAYS.isdisjoint(file.headers):
        return options
    columns, meta = dict(options.columns), dict(options.meta)
    features, labels = (_pair_of(file, _REID[role]) for role in ("embeddings", "labels"))
    if not chosen:
        matrices = [x for x in _DISTMAT if x in file and len(file.headers[x].shape) == 2]
        if features and matrices:
            raise DataError(
                f"{file.path}: holds both {matrices[0]} and {features[0]}; choose by "
                f"{say('columns.scores', matrices[0])}, or by "
                f"{say('columns.embeddings', features[0])} with "
                f"{say('columns.gallery_embeddings', features[1])}"
            )
        if features:
            columns |= {"embeddings": features[0], "gallery_embeddings": features[1]}
        elif matrices:
            columns["scores"] = matrices[0]
        else:
            return options
    own = {"labels", "probe_labels", "gallery_labels"}
    if labels and own.isdisjoint(file.headers):
        for side, name in zip(("labels", "gallery_labels"), labels, strict=True):
            if getattr(options, side) is None:
                columns.setdefault(side, name)
    if "camera" not in meta and (labels or not chosen):
        for query in _REID["camera"]:
            for side, name in (("probe", query), ("gallery", _of_gallery(query))):
                if name in file:
                    meta.setdefault(f"{side}_camera", name)
    return replace(options, meta=meta, columns=columns)


def _pair_of(file: Arrays, names: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the arrays of queries and of the gallery that have one of some names."""
    pairs = [(query, _of_gallery(query)) for query in names]
    return next((pair for pair in pairs if pair[0] in file and pair[1] in file), None)


def _of_gallery(query: str) -> str:
    return query.replace("query", "gallery") if query.startswith("query") else f"g{query[1:]}"


_PREFIXES = ("probe_", "gallery_")


@dataclass(frozen=True)
class Sides:
    """The labels of both sides, their numbers of templates, and whether both sides are the same."""

    probe: Labels | None
    gallery: Labels | None
    m: int
    n: int
    square: bool

    def count(self, side: int) -> int:
        """Return the number of templates of side 0 (probe) or 1 (gallery)."""
        return self.n if side else self.m


@dataclass
class NamedArrays:
    """The arrays of one file, found by the options; arrays in `used` are not metadata."""

    file: Arrays
    options: ReadOptions
    used: set[str] = field(default_factory=set)
    notes: tuple[str, ...] = ()  # on how the file is read

    def key(self, role: str, *native: str) -> str | None:
        """Return the array that has a role, or the first of the layout's names present."""
        wanted = self.options.columns.get(role)
        if wanted is not None:
            self.file.require(f"columns.{role}", wanted)
            self.used.add(wanted)
            return wanted
        for name in native:
            if name in self.file:
                if self.file.headers[name].is_pickled:
                    self.file.read(name)  # raises, with the reason
                self.used.add(name)
                return name
        return None

    def refuse(self, input_name: str, names: Iterable[str]) -> None:
        """Raise if one of these options is given; they have no meaning for `input_name`."""
        option = self.options.in_use()
        for name in names:
            if name in option:
                raise DataError(
                    f"{self.file.path}: {self.options.said(name)} has no meaning for {input_name}"
                )

    def labels(
        self, side: str, count: int, input_name: str, *native: str, square: bool = False
    ) -> Labels | None:
        """Read the labels of a side from the array or the file that holds them."""
        options = self.options
        path = getattr(options, side)
        if path is not None:
            if side in options.columns:
                raise DataError(
                    f"{say(side)} and {say(f'columns.{side}')} are both given; expected one"
                )
            if str(path) in self.file and not path.exists():
                raise DataError(
                    f"{self.file.path}: {say(side, str(path))} is a file, and there is no such "
                    f"file; {str(path)!r} is an array in the file: name it with "
                    f"{say(f'columns.{side}', str(path))}"
                )
            labels = read_side(path, options, options.meta if square else None)
            labels.expect(count, input_name)
            return labels
        key = self.key(side, *native)
        if key is None:
            return None
        shape = self.file.headers[key].shape
        if shape != (count,):
            raise DataError(
                f"{self.file.path}: the labels {key!r} have shape {shape}; expected ({count},), "
                f"one for each of the {count} {input_name}. It holds: {self.file.listing()}"
            )
        array = self.file.read(key)
        if options.names_of is not None:
            where = f"{self.file.path}: {key!r}"
            return labels_of_names(array, options.names_of, where, self.file.path)
        return Labels(self.file.path, array, {})

    def metadata(
        self, sides: Sides, plain: bool = False
    ) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Read the metadata of probe and gallery: by prefix, and as options name them.

        With `plain`, arrays without a prefix are the probes' metadata as well.
        """
        both: tuple[dict, dict] = ({}, {})
        if sides.probe is not None:
            both[0].update(sides.probe.meta)
        if sides.gallery is not None:
            both[1].update(sides.gallery.meta)
        foreign = self.options.names_arrays
        columns = {}
        for key, header in self.file.headers.items():
            named = plain or key.startswith(_PREFIXES)
            if named and len(header.shape) < 2 and key not in RESERVED | self.used:
                columns[key] = header
        if len(columns) > MOST_COLUMNS:
            raise DataError(
                f"{self.file.path}: holds {len(columns):,} arrays of metadata; expected at most "
                f"{MOST_COLUMNS:,}"
            )
        for key, header in columns.items():
            if header.is_pickled and key.startswith(_PREFIXES) and not foreign:
                self.file.read(key)  # raises, with the reason
            side = None
            if key.startswith(_PREFIXES):
                side = _PREFIXES.index(f"{key.partition('_')[0]}_")
            count = sides.count(side or 0)
            fits = header.shape == (count,) and not (side == 1 and sides.square)
            if side is None:
                if fits and not header.is_pickled:
                    both[0][key] = self.file.read(key)
                    self.used.add(key)
                elif not (foreign or fits) and self._is_column(key):
                    raise self.of_other_length(key, count)
            elif fits and not (foreign and header.is_pickled):
                both[side][key.partition("_")[2]] = self.file.read(key)
            elif not foreign and side == 1 and sides.square:
                same = f"probe_{key.partition('_')[2]}"
                if same in columns and np.array_equal(self.file.read(key), self.file.read(same)):
                    continue  # one set of templates, named twice
                raise DataError(
                    f"{self.file.path}: there are gallery metadata, {key!r}, but no gallery_labels"
                )
            elif not foreign:
                raise self.of_other_length(key, count)
        if not (sides.square and self.options.labels):
            for name, key in self.options.meta.items():
                self._named_metadata(name, key, both, sides)
        for side, labels in enumerate((sides.probe, sides.gallery)):
            if labels is not None and labels.path != self.file.path:
                labels.require_names(both[side], self.file.path)
        return both

    def _is_column(self, key: str) -> bool:
        """Whether an array that has no role lists values, as a metadata column does."""
        shape = self.file.headers[key].shape
        listed = prod(shape) == max(shape, default=0) > 1 and not key.startswith(_PREFIXES)
        return listed and key not in RESERVED | self.used | {"fold", NAMES}

    def of_other_length(self, key: str, count: int) -> DataError:
        """Return the error of metadata that have not one value a template, or a pair."""
        return DataError(
            f"{self.file.path}: the metadata {key!r} have shape {self.file.headers[key].shape}; "
            f"expected ({count},), one value for each"
        )

    def _named_metadata(self, name: str, key: str, both: tuple[dict, dict], sides: Sides) -> None:
        """Read the metadata column `name` from the array `key`, or from its two prefixed forms."""
        if sides.square:
            places = [(0, name, key if key in self.file else f"probe_{key}")]
        elif name.startswith(_PREFIXES):
            side = 0 if name.startswith("probe_") else 1
            places = [(side, name.removeprefix(_PREFIXES[side]), key)]
        else:
            places = [(0, name, f"probe_{key}"), (1, name, f"gallery_{key}")]
            if f"probe_{key}" not in self.file and f"gallery_{key}" not in self.file:
                self.file.require(f"columns.{name}", key)
                raise DataError(
                    f"{self.file.path}: {key!r} is given for {name!r}, but probes and gallery "
                    f"differ; say {say(f'columns.probe_{name}', key)} and "
                    f"{say(f'columns.gallery_{name}')}"
                )
        for side, column, where in places:
            self.file.require(f"columns.{name}", where if where in self.file else key)
            if self.file.headers[where].shape != (sides.count(side),):
                raise DataError(
                    f"{self.file.path}: {where!r}, for {name!r}, has shape "
                    f"{self.file.headers[where].shape}; expected ({sides.count(side)},)"
                )
            both[side].pop(where, None)
            both[side].pop(where.removeprefix(_PREFIXES[side]), None)
            both[side][column] = self.file.read(where)
            self.used.add(where)

    def names_of_subjects(self, labels: np.ndarray) -> list[str]:
        """Return labels as text; whole numbers index the array of names where there is one."""
        header = self.file.headers.get(NAMES)
        listed = header is not None and header.dtype.kind == "U" and len(header.shape) == 1
        known = header.shape[0] if listed and header is not None else 0
        if labels.dtype.kind in "iu" and 0 <= labels.min() <= labels.max() < known:
            return self.file.read(NAMES)[labels].tolist()
        return [*map(str, labels.tolist())]

    def ids(self, key: str, count: int) -> np.ndarray:
        """Read template identities, one for each of `count` templates."""
        ids = self.file.read(key)
        if ids.shape != (count,) or ids.dtype.kind not in "iu":
            raise DataError(
                f"{self.file.path}: {key!r} is {ids.shape} {ids.dtype}; expected ({count},) int64"
            )
        return ids.astype(np.int64)

    def word(self, name: str, default: str, accepted: tuple[str, ...]) -> Any:
        """Return an option, or the word in the file, or the default."""
        value = getattr(self.options, name)
        if value is not None:
            if isinstance(value, str):
                require_choice(name, value, accepted)
            return value
        if name not in self.file:
            return default
        word = self.file.text(name)
        require_choice(f"{self.file.path}: {name}", word, accepted)
        return word

    def kind(self, key: str, accepted: tuple[str, ...]) -> Kind:
        """Return the kind of the scores of an array; `notes` tells where it is not stated."""
        stored_kind = self.file.text("kind") if "kind" in self.file else ""
        if stored_kind:
            require_choice(f"{self.file.path}: kind", stored_kind, accepted)
        kind, notes = self.options.kind_of(stored_kind, f"{self.file.path}: kind")
        require_choice("kind", kind, accepted)
        self.notes = () if not stored_kind and key.casefold() in _DISTANCES else notes
        return kind

    @property
    def nan(self) -> NanPolicy:
        """The policy for failed comparisons."""
        return self.word("nan", "raise", NAN_POLICIES)

    @property
    def exclude(self) -> list[str]:
        """The metadata columns by which the file excludes pairs, in the layout's own files."""
        if self.options.names_arrays or "exclude" not in self.file:
            return []
        return np.atleast_1d(self.file.read("exclude")).astype(str).tolist()

    def marked(self, scores: Scores) -> Scores:
        """Return scores that know which labels are of no person, as the layout's own files do.

        A remark names the arrays that might have been meant as metadata, and are not.
        """
        unused = [key for key in self.file.headers if self._is_column(key)]
        if unused:
            scores = scores._with(
                _remarks=(*scores._remarks, Message("arrays-left-out", arrays=unused))
            )
        if self.options.names_arrays:
            return scores
        ids = [
            as_ids(np.ravel(self.file.read(name)).tolist(), name) if name in self.file else ()
            for name in IDS_OF_NO_PERSON
        ]
        return scores._marking(*ids)


# ---------------------------------------------------------------- what is missing


def no_arrays(file: Arrays) -> DataError:
    """Return the error of a file without scores."""
    wide = (k for k, v in file.headers.items() if len(v.shape) == 2 and v.dtype.kind in "iuf")
    return DataError(
        f"{file.path}: no array 'scores' or 'embeddings'; name the array to use with "
        f"{say('columns.scores', next(wide, None))} or {say('columns.embeddings')}. It holds: "
        f"{file.listing()}"
    )


def no_labels(file: Arrays, m: int, n: int | None) -> DataError:
    """Return the error of a matrix, or of embeddings, without labels."""
    columns = "" if n is None or n == m else f" and {n} columns"
    return DataError(
        f"{file.path}: no labels, the subject of each of {m} rows{columns}; name the arrays with "
        f"{say('columns.labels')} and, if the columns are other templates, "
        f"{say('columns.gallery_labels')}, or give CSV files with {say('labels')} and "
        f"{say('gallery_labels')}. It holds: {file.listing()}"
    )
