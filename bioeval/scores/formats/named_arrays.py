"""Roles of the arrays of a file: as an option names them, or by the layout's own names."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bioeval.base.errors import DataError, require_choice
from bioeval.scores.formats.archive import Arrays
from bioeval.scores.formats.csv import MOST_COLUMNS, Labels
from bioeval.scores.formats.image_lists import labels_of_names, read_side
from bioeval.scores.formats.npz_layout import NAMES, RESERVED
from bioeval.scores.formats.options import ReadOptions, say
from bioeval.scores.formats.reid_arrays import DISTANCES
from bioeval.scores.labelled_matrix import NAN_POLICIES

# Names of arrays that say that their scores are distances.
_DISTANCES = (*DISTANCES, "distance", "distances", "dissimilarity")

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

    def key(self, option: str, *native: str) -> str | None:
        """Return the array that an option names, or the first of the layout's names present."""
        wanted = getattr(self.options, option)
        if wanted is not None:
            self.file.require(option, wanted)
            self.used.add(wanted)
            return wanted
        found = next((name for name in native if name in self.file), None)
        if found is not None:
            self.used.add(found)
        return found

    def refuse(self, what: str, *names: str) -> None:
        """Raise if one of these options is given; they have no meaning for `what`."""
        given = self.options.given()
        for name in names:
            if name in given:
                raise DataError(f"{self.file.path}: {say(name)} has no meaning for {what}")

    def labels(
        self, side: str, count: int, what: str, *native: str, square: bool = False
    ) -> Labels | None:
        """Read the labels of a side from the array or the file that holds them."""
        options = self.options
        names = [side] if side == "gallery_labels" else [side, "labels"]
        given = [n for name in names for n in (name, f"{name}_key") if getattr(options, n)]
        if len(given) > 1:
            raise DataError(f"{say(given[0])} and {say(given[1])} are both given; expected one")
        if given and not given[0].endswith("_key"):
            path = getattr(options, given[0])
            if str(path) in self.file and not path.exists():
                raise DataError(
                    f"{self.file.path}: {say(given[0], str(path))} is a file, and there is no "
                    f"such file; {str(path)!r} is an array in the file: name it with "
                    f"{say(given[0] + '_key', str(path))}"
                )
            labels = read_side(path, options, options.meta if square else None)
            labels.expect(count, what)
            return labels
        key = self.key(given[0] if given else f"{side}_key", *native)
        if key is None:
            return None
        shape = self.file.headers[key].shape
        if shape != (count,):
            raise DataError(
                f"{self.file.path}: the labels {key!r} have shape {shape}; expected ({count},), "
                f"one for each of the {count} {what}. It holds: {self.file.listing()}"
            )
        array = self.file.read(key)
        if options.names_of is not None:
            where = f"{self.file.path}: {key!r}"
            return labels_of_names(array, options.names_of, where, self.file.path)
        return Labels(self.file.path, array, {}, True)

    def metadata(
        self, sides: Sides, plain: bool = False
    ) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Read the metadata of probe and gallery: by prefix, and as options name them.

        With `plain`, arrays without a prefix are the probes' metadata as well (embeddings).
        """
        both: tuple[dict, dict] = (
            {} if sides.probe is None else dict(sides.probe.meta),
            {} if sides.gallery is None else dict(sides.gallery.meta),
        )
        foreign = self.options.names_arrays
        columns = {
            key: header
            for key, header in self.file.headers.items()
            if key not in RESERVED | self.used
            and len(header.shape) == 1
            and (plain or key.startswith(_PREFIXES))
        }
        if len(columns) > MOST_COLUMNS:
            raise DataError(
                f"{self.file.path}: holds {len(columns):,} arrays of metadata; expected at most "
                f"{MOST_COLUMNS:,}"
            )
        for key, header in columns.items():
            side = next((i for i in (0, 1) if key.startswith(_PREFIXES[i])), None)
            count = sides.count(side or 0)
            fits = header.shape == (count,) and not (side == 1 and sides.square)
            if side is None:
                if plain and fits and not header.is_pickled:
                    both[0][key] = self.file.read(key)
            elif fits and not (foreign and header.is_pickled):
                both[side][key.partition("_")[2]] = self.file.read(key)
            elif not foreign and side == 1 and sides.square:
                raise DataError(
                    f"{self.file.path}: there are gallery metadata, {key!r}, but no gallery_labels"
                )
            elif not foreign:
                raise DataError(
                    f"{self.file.path}: the metadata {key!r} have shape {header.shape}; expected "
                    f"({count},), one per template"
                )
        if not (sides.square and (self.options.labels or self.options.probe_labels)):
            for name, key in self.options.meta.items():
                self._named_metadata(name, key, both, sides)
        return both

    def _named_metadata(self, name: str, key: str, both: tuple[dict, dict], sides: Sides) -> None:
        """Read the metadata column `name` from the array `key`, or from its two prefixed forms."""
        if sides.square:
            places = [(0, name, key if key in self.file else f"probe_{key}")]
        elif name.startswith(_PREFIXES):
            side = 0 if name.startswith("probe_") else 1
            places = [(side, name.removeprefix(_PREFIXES[side]), key)]
        else:
            places = [(side, name, f"{prefix}{key}") for side, prefix in enumerate(_PREFIXES)]
            if not any(k in self.file for *_, k in places):
                self.file.require("meta", key)
                raise DataError(
                    f"{self.file.path}: {key!r} is given for {name!r}, but probes and gallery "
                    f"differ; say probe_{name}={key} and gallery_{name}=... "
                    f"({say('meta')})"
                )
        for side, column, where in places:
            self.file.require("meta", where if where in self.file else key)
            if self.file.headers[where].shape != (sides.count(side),):
                raise DataError(
                    f"{self.file.path}: {where!r}, for {name!r}, has shape "
                    f"{self.file.headers[where].shape}; expected ({sides.count(side)},)"
                )
            for other in [k for k in both[side] if where in (k, f"{_PREFIXES[side]}{k}")]:
                del both[side][other]
            both[side][column] = self.file.read(where)

    def names_of_subjects(self, labels: np.ndarray) -> list[str]:
        """Return labels as text; whole numbers index the array of names where there is one."""
        header = self.file.headers.get(NAMES)
        listed = header is not None and header.dtype.kind == "U" and len(header.shape) == 1
        known = header.shape[0] if listed and header is not None else 0
        if labels.dtype.kind in "iu" and 0 <= labels.min() <= labels.max() < known:
            return self.file.read(NAMES)[labels].tolist()
        return [str(label) for label in labels.tolist()]

    def ids(self, key: str, count: int) -> np.ndarray:
        """Read template identities, one for each of `count` templates."""
        ids = self.file.read(key)
        if ids.shape != (count,) or ids.dtype.kind not in "iu":
            raise DataError(
                f"{self.file.path}: {key!r} is {ids.shape} {ids.dtype}; expected ({count},) int64"
            )
        return ids.astype(np.int64)

    def word(self, name: str, default: str, accepted: tuple[str, ...]) -> str:
        """Return an option, or the word in the file, or the default."""
        given = getattr(self.options, name)
        if given is not None:
            if isinstance(given, str):
                require_choice(name, given, accepted)
            return given
        if name not in self.file:
            return default
        word = self.file.text(name)
        require_choice(f"{self.file.path}: {name}", word, accepted)
        return word

    def kind(self, key: str, accepted: tuple[str, ...]) -> str:
        """Return the kind of the scores of an array; `notes` tells where it is not stated."""
        said = "" if "kind" not in self.file else self.file.text("kind")
        if said:
            require_choice(f"{self.file.path}: kind", said, accepted)
        kind, notes = self.options.kind_of(said, f"{self.file.path}: kind")
        require_choice("kind", kind, accepted)
        self.notes = () if not said and key.casefold() in _DISTANCES else notes
        return kind

    @property
    def nan(self) -> str:
        """The policy for failed comparisons."""
        return self.word("nan", "raise", NAN_POLICIES)

    @property
    def exclude(self) -> list[str]:
        """The metadata columns by which the file excludes pairs, in the layout's own files."""
        if self.options.names_arrays or "exclude" not in self.file:
            return []
        return np.atleast_1d(self.file.read("exclude")).astype(str).tolist()


# ---------------------------------------------------------------- what is missing


def nothing_found(file: Arrays) -> str:
    """Return the error of a file without scores, and which arrays could be meant."""
    shapes = file.headers
    if "header" in shapes and shapes["header"].dtype == np.uint8:
        return (
            f"{file.path}: is a saved tally, as it seems; expected scores or embeddings. "
            "bioeval merge, or bioeval.Tally.load, reads tallies"
        )
    wide = [k for k, h in shapes.items() if len(h.shape) == 2 and h.dtype.kind in "iuf"]
    hint = f"name the array to use with {say('scores_key')} or {say('embeddings_key')}"
    wide = [k for k in wide if k not in ("pairs", "mask")]
    likely = [k for k in wide if "/" not in k] or wide
    if likely:
        key = likely[0]
        m, n = shapes[key].shape
        near = [k for k in shapes if "/" not in k or "/" in key]
        per_row = [k for k in near if shapes[k].shape == (m,)]
        per_column = [k for k in near if shapes[k].shape == (n,)]
        option = "scores_key" if per_row and (m == n or per_column) else "embeddings_key"
        hint = f"say, for instance, {say(option, key)}"
        if option == "scores_key" and m != n:
            hint += (
                f" with {say('probe_labels_key', per_row[0])} and "
                f"{say('gallery_labels_key', per_column[0])}"
            )
        elif per_row and option == "scores_key":
            hint += f" with {_of_both_sides(file, per_row[0])}"
        elif per_row:
            hint += f" with {say('labels_key', per_row[0])}"
    return f"{file.path}: no array 'scores' or 'embeddings'; {hint}. It holds: {file.listing()}"


def _of_both_sides(file: Arrays, key: str) -> str:
    """Return the options that name the labels of a square matrix of scores.

    With one template a subject, rows and columns are two sets: else no probe has a mate.
    """
    labels = file.read(key)
    if len(set(labels.tolist())) < len(labels):
        return say("labels_key", key)
    return f"{say('probe_labels_key', key)} and {say('gallery_labels_key', key)}"


def no_labels(file: Arrays, m: int, n: int | None) -> str:
    """Return the error of `m` rows and `n` columns without labels, and arrays that could be.

    Without `n`, the columns are those of the rows.
    """

    def of(count: int) -> list[str]:
        return [
            key
            for key, header in file.headers.items()
            if header.shape == (count,) and header.dtype.kind in "iuSU"
        ]

    rows, columns = of(m), of(m if n is None else n)
    if "probe" in rows and "gallery" in columns:
        # They are coordinates of named dimensions.
        hint = f"say {say('probe_labels_key', 'probe')} and {say('gallery_labels_key', 'gallery')}"
    elif n == m and rows:
        hint = f"say {_of_both_sides(file, rows[0])}"
    elif n is None or n == m:
        hint = f"say {say('labels_key', rows[0])}" if rows else f"give {say('labels')} a CSV"
    elif rows and columns:
        hint = f"say {say('probe_labels_key', rows[0])} and {say('gallery_labels_key', columns[0])}"
    else:
        hint = f"give CSV files with {say('probe_labels')} and {say('gallery_labels')}"
    return (
        f"{file.path}: no labels, the subject of each of {m} rows"
        f"{'' if n is None or n == m else f' and {n} columns'}; {hint}. "
        f"It holds: {file.listing()}"
    )
