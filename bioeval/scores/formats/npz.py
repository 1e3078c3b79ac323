"""The .npz layout: scores or embeddings, with labels and metadata, in one file.

Version 1 holds either

- ``scores`` (m, n), ``probe_labels`` (m,) and ``gallery_labels`` (n,), or without
  ``gallery_labels`` all-against-all; ``mask`` (m, n); ``probe_<name>`` and ``gallery_<name>``
  metadata; ``probe_ids`` and ``gallery_ids`` where a selection keeps templates on both sides;
- ``scores`` (p,) and ``genuine`` (p,), a list of pairs, with ``subjects`` (p, 2);
- ``indices`` (q, k), ``distances`` (q, k), ``probe_labels`` (q,) and ``gallery_labels`` (n,),
  top-K lists;
- ``scores`` (p,) and ``genuine`` (p,), a list of pairs, with ``subjects`` (p, 2) and
  ``fold`` (p,);
- ``embeddings`` (m, f), ``labels`` (m,), ``metric`` and ``<name>`` metadata, and optionally
  ``gallery_embeddings`` (n, f) and ``gallery_labels`` (n,).

``kind`` and ``nan`` are words, ``exclude`` names metadata columns, ``schema`` is the version.
Arrays under other names are chosen by options.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bioeval.base.errors import DataError, require_choice
from bioeval.scores.formats.archive import Archive, Arrays
from bioeval.scores.formats.csv import Labels
from bioeval.scores.formats.image_lists import labels_of_names, read_side
from bioeval.scores.formats.lfw import MISSING, FoundPairs, find_pairs, read_lfw_pairs
from bioeval.scores.formats.options import Options, say
from bioeval.scores.formats.pair_lists import folds_of_pairs, read_pairs
from bioeval.scores.formats.reid_arrays import reid_layout
from bioeval.scores.formats.top_k import from_zero
from bioeval.scores.matrix import KINDS, NAN_POLICIES, PairScores, Scores
from bioeval.scores.top_k import TopKScores

SCHEMA = 1

#: What a list of pairs by name looks for: the image numbers, and the names that labels count.
IMAGE_NUMBER, NAMES = "image_number", "names"

#: Names of the layout, which are no metadata.
RESERVED = {
    "scores",
    "genuine",
    "subjects",
    "embeddings",
    "gallery_embeddings",
    "probe_embeddings",
    "labels",
    "probe_labels",
    "gallery_labels",
    "probe_ids",
    "gallery_ids",
    "mask",
    "kind",
    "nan",
    "exclude",
    "metric",
    "pairs",
    "schema",
    "indices",
    "distances",
}


def read_npz(path: Path, options: Options) -> Scores:
    """Read a .npz file; see :func:`bioeval.load` for the options."""
    archive = Archive(path)
    return Reader(archive, reid_layout(archive, options)).scores()


class Reader:
    """Finds out what a file holds, and makes scores of it."""

    def __init__(self, archive: Arrays, options: Options):
        self.file, self.options = archive, options
        self.used: set[str] = set()
        self._check_schema()

    def scores(self) -> Scores:
        """Read scores, a pair list or embeddings, whichever it is."""
        options = self.options
        if options.indices_key is not None or self._holds_lists_alone():
            return self._from_lists()
        self._refuse("what is no top-K list", "first_index")
        if options.embeddings_key is not None and options.scores_key is not None:
            raise DataError(
                f"{say('scores_key')} and {say('embeddings_key')} are both given; expected one"
            )
        has_scores = options.scores_key is not None or "scores" in self.file
        has_embeddings = options.embeddings_key is not None or "embeddings" in self.file
        if has_scores and has_embeddings and not (options.scores_key or options.embeddings_key):
            raise DataError(
                f"{self.file.path}: holds both scores and embeddings; choose by "
                f"{say('scores_key', 'scores')} or {say('embeddings_key', 'embeddings')}"
            )
        if options.embeddings_key is not None or not has_scores and has_embeddings:
            return self._from_embeddings()
        if not has_scores:
            raise DataError(self._nothing_found())
        key = self._key("scores_key", "scores") or ""
        rank = len(self.file.headers[key].shape)
        if rank == 1:
            return self._from_pair_list(key)
        if rank != 2:
            raise DataError(
                f"{self.file.path}: {key!r} has shape {self.file.headers[key].shape}; expected "
                "a matrix (probes, gallery), or one score a pair"
            )
        return self._from_matrix(key)

    # ------------------------------------------------------------ the three contents

    def _from_matrix(self, key: str) -> Scores:
        self._refuse(
            "scores", "metric", "gallery_embeddings_key", "gallery_embeddings", "genuine_key"
        )
        m, n = self.file.headers[key].shape
        gallery = self._labels("gallery_labels", n, "gallery templates", "gallery_labels")
        mask = self._key("mask_key", "mask")
        names = ("probe_labels", "labels")
        probe = self._labels("probe_labels", m, "probes", *names, square=gallery is None and m == n)
        if probe is None and (mask is None or gallery is not None):
            raise DataError(self._no_labels(m, n))
        if gallery is None and m != n and probe is not None:
            raise DataError(
                f"{self.file.path}: {key!r} is {m} x {n}, not square, and there are no gallery "
                f"labels; name them with {say('gallery_labels_key')}. It holds: "
                f"{self.file.listing()}"
            )
        square = gallery is None and probe is not None
        probe_meta, gallery_meta = self._meta(probe, gallery, m, n, square)
        scores = Scores(
            self.file.read(key),
            None if probe is None else probe.label,
            None if gallery is None else gallery.label,
            mask=None if mask is None else self.file.read(mask),
            probe_meta=probe_meta,
            gallery_meta=None if square else gallery_meta,
            kind=self._word("kind", "distance", KINDS),
            nan=self._nan,
            name=self.file.path.stem,
            exclude=self._exclude,
        )
        if not self.options.names_arrays and "probe_ids" in self.file:
            scores.probe_ids = self._ids("probe_ids", m)
            scores.gallery_ids = self._ids("gallery_ids", n)
        if not self._lists_pairs:
            return scores
        found = self._pairs(m, n, scores.probe_labels, scores.probe_meta, square)
        pairs = scores.at_pairs(found.a, found.b, found.same, found.fold)
        pairs.missing = found.missing
        return pairs

    def _holds_lists_alone(self) -> bool:
        named = self.options.scores_key or self.options.embeddings_key
        others = ("scores", "embeddings")
        return "indices" in self.file and not named and not any(x in self.file for x in others)

    def _from_lists(self) -> TopKScores:
        self._refuse(
            "top-K lists",
            *("embeddings_key", "gallery_embeddings_key", "genuine_key", "mask_key", "pairs_key"),
            *("pairs", "missing_pairs", "metric", "nan", "labels", "labels_key"),
        )
        key = self._key("indices_key", "indices") or ""
        lists = self.file.read(key)
        if lists.ndim != 2 or lists.dtype.kind not in "iu":
            raise DataError(
                f"{self.file.path}: {key!r} is {lists.shape} {lists.dtype}; expected integers "
                "(queries, K), the nearest gallery entries of each query"
            )
        distances = self._key("scores_key", "distances")
        side = self.options.gallery_labels or self.options.gallery_labels_key or "gallery_labels"
        n = self._count_of(str(side))
        probe = self._labels("probe_labels", len(lists), "queries", "probe_labels")
        gallery = self._labels("gallery_labels", n, "gallery entries", "gallery_labels")
        if probe is None or gallery is None:
            raise DataError(self._no_labels(len(lists), n))
        probe_meta, gallery_meta = self._meta(probe, gallery, len(lists), n, False)
        return TopKScores(
            from_zero(lists, n, self.options.first_index, f"{self.file.path}: {key!r}"),
            probe.label,
            gallery.label,
            distances=None if distances is None else self.file.read(distances),
            kind=self._word("kind", "distance", ("distance", "similarity")),
            probe_meta=probe_meta,
            gallery_meta=gallery_meta,
            name=self.file.path.stem,
        )

    def _count_of(self, side: str) -> int:
        """Return how many gallery entries there are, which of all arrays the labels alone tell."""
        options = self.options
        if options.gallery_labels is not None:
            return len(read_side(options.gallery_labels, options).label)
        if side not in self.file:
            if options.gallery_labels_key is not None:
                self.file.require("gallery_labels_key", side)
            raise DataError(
                f"{self.file.path}: no gallery_labels; top-K lists need the identity of every "
                f"gallery entry, listed or not, as {say('gallery_labels_key')} or a CSV file by "
                f"{say('gallery_labels')}. It holds: {self.file.listing()}"
            )
        return int(np.prod(self.file.headers[side].shape))

    def _from_pair_list(self, key: str) -> PairScores:
        self._refuse(
            "a list of pairs",
            *("labels_key", "probe_labels_key", "gallery_labels_key", "labels", "probe_labels"),
            *("gallery_labels", "mask_key", "meta", "metric", "pairs_key", "pairs", "names_of"),
            *("gallery_embeddings", "missing_pairs"),
        )
        genuine = self._key("genuine_key", "genuine")
        if genuine is None:
            raise DataError(
                f"{self.file.path}: {key!r} is a list of {self.file.headers[key].shape[0]} scores "
                "but nothing says which are genuine; name the array of 0 and 1 with "
                f"{say('genuine_key')}. It holds: {self.file.listing()}"
            )
        return Scores.from_pairs(
            self.file.read(key),
            self.file.read(genuine),
            kind=self._word("kind", "distance", KINDS),
            nan=self._nan,
            subjects=self.file.read("subjects") if "subjects" in self.file else None,
            folds=self.file.read("fold") if "fold" in self.file else None,
            name=self.file.path.stem,
        )

    def _from_embeddings(self) -> Scores:
        from bioeval.scores.embeddings import METRICS, as_embeddings, pair_distances

        self._refuse("embeddings in one file", "genuine_key", "gallery_embeddings")
        kind = self.options.kind
        if kind not in (None, "distance"):
            raise DataError(
                f"{say('kind', kind)} has no meaning for embeddings; they are compared by distances"
            )
        key = self._key("embeddings_key", "embeddings") or ""
        other = self._key("gallery_embeddings_key", "gallery_embeddings")
        for name in (key, other):
            shape = self.file.headers[name].shape if name else (1, 1)
            if len(shape) != 2:
                raise DataError(
                    f"{self.file.path}: {name!r} has shape {shape}; expected one embedding a row"
                )
        m = self.file.headers[key].shape[0]
        n = self.file.headers[other].shape[0] if other else m
        gallery = None
        if other:
            gallery = self._labels("gallery_labels", n, "gallery templates", "gallery_labels")
        names = ("labels", "probe_labels")
        probe = self._labels("probe_labels", m, "templates", *names, square=other is None)
        if probe is None or (other and gallery is None):
            raise DataError(self._no_labels(m, n if other else None))
        probe_meta, gallery_meta = self._meta(probe, gallery, m, n, other is None, plain=True)
        metric = self._word("metric", "cosine", METRICS)
        mask = self._key("mask_key", "mask")
        left = as_embeddings(self.file.read(key), f"{self.file.path}: {key}")
        right = None
        if other:
            right = as_embeddings(self.file.read(other), f"{self.file.path}: {other}")
        if not self._lists_pairs:
            return Scores.from_embeddings(
                left,
                probe.label,
                right,
                None if gallery is None else gallery.label,
                metric=metric,
                nan=self._nan,
                mask=None if mask is None else self.file.read(mask),
                probe_meta=probe_meta,
                gallery_meta=None if other is None else gallery_meta,
                name=self.file.path.stem,
                exclude=self._exclude,
            )
        self._refuse("a list of pairs", "mask_key")
        found = self._pairs(m, n, probe.label, probe_meta, other is None)
        who = [probe.label[found.a], (gallery or probe).label[found.b]]
        pairs = Scores.from_pairs(
            pair_distances(left, left if right is None else right, found.a, found.b, metric),
            who[0] == who[1] if found.same is None else found.same,
            nan=self._nan,
            subjects=np.column_stack(who),
            folds=found.fold,
            name=self.file.path.stem,
        )
        pairs.missing = found.missing
        return pairs

    # ------------------------------------------------------------ finding things

    def _key(self, option: str, *native: str) -> str | None:
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

    def _refuse(self, what: str, *names: str) -> None:
        given = self.options.given()
        for name in names:
            if name in given:
                raise DataError(f"{self.file.path}: {say(name)} has no meaning for {what}")

    def _labels(
        self, side: str, count: int, what: str, *native: str, square: bool = False
    ) -> Labels | None:
        """Read the labels of a side from the array or the CSV file that holds them."""
        options = self.options
        names = [side] if side == "gallery_labels" else [side, "labels"]
        given = [n for name in names for n in (name, f"{name}_key") if getattr(options, n)]
        if len(given) > 1:
            raise DataError(f"{say(given[0])} and {say(given[1])} are both given; expected one")
        if given and not given[0].endswith("_key"):
            path = getattr(options, given[0])
            if str(path) in self.file and not path.exists():
                raise DataError(
                    f"{self.file.path}: {say(given[0], str(path))} is a CSV file, and there is no "
                    f"such file; {str(path)!r} is an array in the file: name it with "
                    f"{say(given[0] + '_key', str(path))}"
                )
            labels = read_side(path, options, options.meta if square else None)
            labels.expect(count, what)
            return labels
        key = self._key(given[0] if given else f"{side}_key", *native)
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

    def _meta(
        self,
        probe: Labels | None,
        gallery: Labels | None,
        m: int,
        n: int,
        square: bool,
        plain: bool = False,
    ) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Gather metadata: by prefix, by plain names (embeddings), and as options say."""
        both: tuple[dict, dict] = (
            {} if probe is None else dict(probe.meta),
            {} if gallery is None else dict(gallery.meta),
        )
        foreign = self.options.names_arrays
        for key, header in self.file.headers.items():
            if key in RESERVED | self.used or len(header.shape) != 1:
                continue
            side = 0 if key.startswith("probe_") else 1 if key.startswith("gallery_") else None
            count = n if side == 1 else m
            fits = header.shape == (count,) and not (side == 1 and square)
            if side is None:
                if plain and fits and not header.is_pickled:
                    both[0][key] = self.file.read(key)
            elif fits and not (foreign and header.is_pickled):
                both[side][key.partition("_")[2]] = self.file.read(key)
            elif not foreign and side == 1 and square:
                raise DataError(
                    f"{self.file.path}: there are gallery metadata, {key!r}, but no gallery_labels"
                )
            elif not foreign:
                raise DataError(
                    f"{self.file.path}: the metadata {key!r} have shape {header.shape}; expected "
                    f"({count},), one a template"
                )
        if not (square and (self.options.labels or self.options.probe_labels)):
            for name, key in self.options.meta.items():
                self._named_meta(name, key, both, m, n, square)
        return both

    def _named_meta(
        self,
        name: str,
        key: str,
        both: tuple[dict, dict],
        m: int,
        n: int,
        square: bool,
    ) -> None:
        """Read the metadata column `name` from the array `key`, or from its two prefixed forms."""
        sides = {0: "probe_", 1: "gallery_"}
        if square:
            places = [(0, name, key if key in self.file else f"probe_{key}")]
        elif name.startswith(tuple(sides.values())):
            side = 0 if name.startswith("probe_") else 1
            places = [(side, name.removeprefix(sides[side]), key)]
        else:
            places = [(side, name, f"{prefix}{key}") for side, prefix in sides.items()]
            if not any(k in self.file for *_, k in places):
                self.file.require("meta", key)
                raise DataError(
                    f"{self.file.path}: {key!r} is given for {name!r}, but probes and gallery "
                    f"differ; say probe_{name}={key} and gallery_{name}=... "
                    f"({say('meta')})"
                )
        for side, column, where in places:
            self.file.require("meta", where if where in self.file else key)
            count = n if side else m
            if self.file.headers[where].shape != (count,):
                raise DataError(
                    f"{self.file.path}: {where!r}, for {name!r}, has shape "
                    f"{self.file.headers[where].shape}; expected ({count},)"
                )
            for other in [k for k in both[side] if where in (k, f"{sides[side]}{k}")]:
                del both[side][other]
            both[side][column] = self.file.read(where)

    @property
    def _lists_pairs(self) -> bool:
        if self.options.missing_pairs is not None:
            require_choice("missing_pairs", self.options.missing_pairs, MISSING)
            if self.options.pairs is None:
                raise DataError(
                    f"{say('missing_pairs')} is about a list of pairs by name; expected "
                    f"{say('pairs')} with it"
                )
        if self.options.pairs_key is not None and self.options.pairs is not None:
            raise DataError(f"{say('pairs_key')} and {say('pairs')} are both given; expected one")
        return self.options.pairs_key is not None or self.options.pairs is not None

    def _pairs(
        self,
        m: int,
        n: int,
        labels: np.ndarray,
        meta: Mapping[str, np.ndarray],
        square: bool,
    ) -> FoundPairs:
        """Read the pairs to evaluate: an array of indices, or a list of names."""
        if self.options.pairs is None:
            key = self._key("pairs_key") or ""
            array = self.file.read(key)
            a, b, same = read_pairs(array, f"{self.file.path}: {key!r}", m, n, itself=square)
            return FoundPairs(a, b, same, folds_of_pairs(array), 0)
        if not square:
            raise DataError(
                f"{self.file.path}: {say('pairs')} names templates that stand on both sides, but "
                "this file has a gallery of its own"
            )
        listed = read_lfw_pairs(self.options.pairs)
        if IMAGE_NUMBER not in meta or meta[IMAGE_NUMBER].dtype.kind not in "iu":
            raise DataError(
                f"{self.file.path}: {listed.path.name} numbers the images of each subject, but "
                f"there are no whole numbers called {IMAGE_NUMBER!r}; name them with "
                f"{say('meta', f'{IMAGE_NUMBER}=KEY')}. It holds: {self.file.listing()}"
            )
        names = self._names_of(labels)
        return find_pairs(
            listed, names, meta[IMAGE_NUMBER].tolist(), self.options.missing_pairs or "raise"
        )

    def _names_of(self, labels: np.ndarray) -> list[str]:
        """Return the labels as text: numbers are places in the array of names, if there is one."""
        header = self.file.headers.get(NAMES)
        listed = header is not None and header.dtype.kind == "U" and len(header.shape) == 1
        known = header.shape[0] if listed and header is not None else 0
        if labels.dtype.kind in "iu" and 0 <= labels.min() <= labels.max() < known:
            return self.file.read(NAMES)[labels].tolist()
        return [str(label) for label in labels.tolist()]

    def _ids(self, key: str, count: int) -> np.ndarray:
        ids = self.file.read(key)
        if ids.shape != (count,) or ids.dtype.kind not in "iu":
            raise DataError(
                f"{self.file.path}: {key!r} is {ids.shape} {ids.dtype}; expected ({count},) int64"
            )
        return ids.astype(np.int64)

    # ------------------------------------------------------------ words

    def _check_schema(self) -> None:
        header = self.file.headers.get("schema")
        if header is None or header.shape != () or header.dtype.kind not in "iu":
            return
        schema = int(self.file.read("schema"))
        if not 1 <= schema <= SCHEMA:
            raise DataError(
                f"{self.file.path}: has version {schema} of the layout; this bioeval reads "
                f"versions 1 to {SCHEMA}. Use a newer bioeval"
            )

    def _word(self, name: str, default: str, accepted: tuple[str, ...]) -> str:
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

    @property
    def _nan(self) -> str:
        return self._word("nan", "raise", NAN_POLICIES)

    @property
    def _exclude(self) -> list[str]:
        if self.options.names_arrays or "exclude" not in self.file:
            return []
        return np.atleast_1d(self.file.read("exclude")).astype(str).tolist()

    # ------------------------------------------------------------ what is missing

    def _nothing_found(self) -> str:
        shapes = self.file.headers
        if "header" in shapes and shapes["header"].dtype == np.uint8:
            return (
                f"{self.file.path}: is a saved tally, as it seems; expected scores or embeddings. "
                "bioeval.Tally.load reads tallies"
            )
        wide = [k for k, h in shapes.items() if len(h.shape) == 2 and h.dtype.kind in "iuf"]
        hint = f"name the array to use with {say('scores_key')} or {say('embeddings_key')}"
        likely = [k for k in wide if "/" not in k and k not in ("pairs", "mask")]
        if likely:
            key = likely[0]
            m, n = shapes[key].shape
            per_row = [k for k, h in shapes.items() if h.shape == (m,) and "/" not in k]
            per_column = [k for k, h in shapes.items() if h.shape == (n,) and "/" not in k]
            option = "scores_key" if per_row and (m == n or per_column) else "embeddings_key"
            hint = f"say, for instance, {say(option, key)}"
            if option == "scores_key" and m != n:
                hint += (
                    f" with {say('probe_labels_key', per_row[0])} and "
                    f"{say('gallery_labels_key', per_column[0])}"
                )
            elif per_row:
                hint += f" with {say('labels_key', per_row[0])}"
        return (
            f"{self.file.path}: no array 'scores' or 'embeddings'; {hint}. It holds: "
            f"{self.file.listing()}"
        )

    def _no_labels(self, m: int, n: int | None) -> str:
        def of(count: int) -> list[str]:
            return [
                key
                for key, header in self.file.headers.items()
                if header.shape == (count,) and header.dtype.kind in "iuSU"
            ]

        rows, columns = of(m), of(m if n is None else n)
        if n is None or n == m:
            hint = f"say {say('labels_key', rows[0])}" if rows else f"give {say('labels')} a CSV"
        elif rows and columns:
            hint = (
                f"say {say('probe_labels_key', rows[0])} and "
                f"{say('gallery_labels_key', columns[0])}"
            )
        else:
            hint = f"give CSV files with {say('probe_labels')} and {say('gallery_labels')}"
        return (
            f"{self.file.path}: no labels, the subject of each of {m} rows"
            f"{'' if n is None or n == m else f' and {n} columns'}; {hint}. "
            f"It holds: {self.file.listing()}"
        )
