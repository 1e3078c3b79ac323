"""Files of named arrays, read and written: a matrix, top-K lists, a list of pairs or embeddings.

A .npz file has them with their labels and metadata in one file; .mat files and stores hold the
same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.kinds import KINDS, METRICS, VALUED, Kind
from bioeval.scores.columns import CodedSides
from bioeval.scores.embeddings import EmbeddingSource, as_embeddings
from bioeval.scores.formats.archive import Archive, ArchiveWriter, Arrays
from bioeval.scores.formats.files import replacing
from bioeval.scores.formats.format import (
    ARRAYS,
    Format,
    ReadOptions,
    say,
)
from bioeval.scores.formats.label_files import read_side
from bioeval.scores.formats.named_arrays import (
    IMAGE_NUMBER,
    RESERVED,
    SCHEMA,
    NamedArrays,
    Sides,
    check_schema,
    no_arrays,
    no_labels,
    reid_layout,
)
from bioeval.scores.formats.trials import FoundPairs, find_pairs, read_lfw_pairs, scores_in_order
from bioeval.scores.labels import IDS_OF_NO_PERSON, Codes
from bioeval.scores.listed_templates import ListRules, places
from bioeval.scores.matrix import Scores
from bioeval.scores.template_names import NamedTemplates


def read_arrays(file: Arrays, options: ReadOptions) -> Scores:
    """Read scores, lists or embeddings, as the file holds them or the options name them."""
    check_schema(file)
    named = NamedArrays(file, options)
    return named.marked(_read_named(named))


def _read_named(named: NamedArrays) -> Scores:
    file, options = named.file, named.options
    of_scores, of_embeddings = (options.columns.get(x) for x in ("scores", "embeddings"))
    lists = "indices" in file and not (of_scores or of_embeddings or "embeddings" in file)
    if lists and "scores" in file:  # of the entries of lists, or a matrix
        lists = file.headers["scores"].shape == file.headers["indices"].shape
    if "indices" in options.columns or lists:
        return _read_lists(named)
    named.refuse("anything but a top-K list", ["lists.first_index", "lists.leave_out_query"])
    if of_scores and of_embeddings:
        raise DataError(
            f"{say('columns.scores')} and {say('columns.embeddings')} are both given; expected one"
        )
    if not (of_scores or of_embeddings) and "scores" in file and "embeddings" in file:
        raise DataError(
            f"{file.path}: holds both scores and embeddings; choose by "
            f"{say('columns.scores', 'scores')} or {say('columns.embeddings', 'embeddings')}"
        )
    has_scores = bool(of_scores) or "scores" in file
    if of_embeddings or not has_scores and "embeddings" in file:
        return read_embeddings(named)
    if not has_scores and (two := _two_vectors(file)):
        return _read_two_vectors(named, *two)
    if not has_scores:
        raise no_arrays(file)
    key = named.key("scores", "scores") or ""
    shape = file.headers[key].shape
    if len(shape) == 1:
        return _read_pair_list(named, key)
    if len(shape) != 2:
        raise DataError(
            f"{file.path}: {key!r} has shape {shape}; expected a matrix (probes, gallery), or one "
            "score per pair"
        )
    return _read_matrix(named, key)


def _read_matrix(named: NamedArrays, key: str) -> Scores:
    file = named.file
    embedded = (
        "metric",
        "columns.gallery_embeddings",
        "gallery_embeddings",
        "columns.genuine",
        "average",
    )
    named.refuse("scores", embedded + _of_lists(named))
    m, n = file.headers[key].shape
    gallery = named.labels("gallery_labels", n, "gallery templates", "gallery_labels")
    mask = named.key("mask", "mask")
    names = ("probe_labels", "labels")
    probe = named.labels("labels", m, "probes", *names, square=gallery is None and m == n)
    if probe is None and (mask is None or gallery is not None):
        raise no_labels(file, m, n)
    if gallery is None and m != n and probe is not None:
        raise DataError(
            f"{file.path}: {key!r} is {m} x {n}, not square, and there are no gallery labels; name "
            f"them with {say('columns.gallery_labels')}. It holds: {file.listing()}"
        )
    sides = Sides(probe, gallery, m, n, square=gallery is None and probe is not None)
    probe_meta, gallery_meta = named.metadata(sides, plain=sides.square)
    scores = Scores(
        file.rows(key),
        probe and probe.label,
        gallery and gallery.label,
        mask=file.read_if_there(mask),
        probe_meta=probe_meta,
        gallery_meta=None if sides.square else gallery_meta,
        kind=named.kind(key, KINDS),
        nan=named.nan,
        name=file.path.stem,
        exclude=named.exclude,
    )
    scores = scores._with(_reading=named.notes)
    if not named.options.names_arrays and "probe_ids" in file:
        probe_ids, gallery_ids = named.ids("probe_ids", m), named.ids("gallery_ids", n)
        scores = scores._with(probe_ids=probe_ids, gallery_ids=gallery_ids)
    if not named.options.lists_pairs:
        return scores
    evaluated = _pairs_to_evaluate(named, sides, scores.probe_labels, scores.probe_meta)
    pairs = scores.at_pairs(evaluated.a, evaluated.b, evaluated.same, evaluated.fold)
    return _attempts(pairs, evaluated, sides, named)


# ---------------------------------------------------------------- top-K lists


# Options that top-K lists refuse.
_NOT_OF_LISTS = (
    *(
        "columns.embeddings",
        "columns.gallery_embeddings",
        "columns.genuine",
        "columns.mask",
        "columns.pairs",
    ),
    *("average", "pairs", "lists.missing_pairs", "metric", "nan"),
    *("lists.keep", "lists.unordered"),
)


#: Names of the scores of the entries of lists, the first that is there is meant.
_VALUES_OF_LISTS = ("distances", "similarities", "scores")


def _read_lists(named: NamedArrays) -> Scores:
    file, options = named.file, named.options
    named.refuse("top-K lists", _NOT_OF_LISTS)
    key = named.key("indices", "indices") or ""
    lists = file.read(key)
    if lists.ndim != 2 or lists.dtype.kind not in "iu":
        raise DataError(
            f"{file.path}: {key!r} is {lists.shape} {lists.dtype}; expected integers (queries, K), "
            "the nearest gallery entries of each query"
        )
    values = [x for x in _VALUES_OF_LISTS if x in file and file.headers[x].shape == lists.shape]
    distances = named.key("scores", *values)
    if distances == "similarities" and options.kind is None and "kind" not in file:
        kind: Kind = "similarity"
    else:
        kind = named.kind(distances or "distances", VALUED)
    n = _gallery_size(file, options)
    probe = named.labels("labels", len(lists), "queries", "probe_labels", "labels")
    gallery = named.labels("gallery_labels", n, "gallery entries", "gallery_labels", "labels")
    if probe is None or gallery is None:
        raise no_labels(file, len(lists), n)
    if "labels" in named.used and "probe_labels" not in file and "gallery_labels" not in file:
        gallery = probe  # one set of templates
    sides = Sides(probe, gallery, len(lists), n, square=False)
    probe_meta, gallery_meta = named.metadata(sides)
    saved_ids = not options.names_arrays and "probe_ids" in file
    leave_out_query = False if saved_ids else options.leave_out_query
    if leave_out_query is None and probe.label is gallery.label:
        leave_out_query = True  # a gallery searched with its own templates
    lists_of = Scores.from_top_k(
        options.from_zero(lists, n, f"{file.path}: {key!r}"),
        probe.label,
        gallery.label,
        distances=file.read_if_there(distances),
        kind=kind,
        probe_meta=probe_meta,
        gallery_meta=gallery_meta,
        name=file.path.stem,
        leave_out_query=leave_out_query,
        query_positions=None if saved_ids else file.read_if_there("query_positions"),
    )
    if saved_ids:
        ids = named.ids("probe_ids", len(lists))
        queries = np.flatnonzero(ids < n)
        labels = lists_of.probe_labels[queries], lists_of.gallery_labels[ids[queries]]
        if (ids < 0).any() or not np.array_equal(*labels):
            raise DataError(
                f"{file.path}: 'probe_ids' names gallery entries of other subjects than the "
                "queries; expected the entry that a query is itself, or a larger number"
            )
        lists_of = lists_of._with(probe_ids=ids)
    return lists_of._with(_reading=named.notes)


def _gallery_size(file: Arrays, options: ReadOptions) -> int:
    """Return the number of gallery entries; only their labels show it."""
    if options.gallery_labels is not None:
        return len(read_side(options.gallery_labels, options).label)
    side = options.columns.get("gallery_labels") or "gallery_labels"
    if side not in file and options.columns.get("gallery_labels") is None and "labels" in file:
        side = "labels"
    if side not in file:
        if options.columns.get("gallery_labels") is not None:
            file.require("columns.gallery_labels", side)
        raise DataError(
            f"{file.path}: no gallery_labels; top-K lists need the identity of every gallery "
            "entry, listed or not: an array gallery_labels, or a CSV file by "
            f"{say('gallery_labels')}. It holds: {file.listing()}"
        )
    return prod(file.headers[side].shape)


# ---------------------------------------------------------------- lists of pairs

# Options of matrices and of embeddings, which a list of pairs refuses.
_OF_TEMPLATES = (
    *("columns.labels", "columns.gallery_labels", "labels"),
    *("gallery_labels", "columns.mask", "meta", "metric", "columns.pairs", "pairs", "names_of"),
    *("gallery_embeddings", "lists.missing_pairs"),
)

# Names of two vectors of scores, in lower case and without "scores".
_CLASSES = (
    *(("genuine", "impostor"), ("gen", "imp"), ("client", "impostor"), ("target", "nontarget")),
    *(("mated", "nonmated"), ("match", "nonmatch"), ("same", "different"), ("intra", "inter")),
)


def _two_vectors(file: Arrays) -> tuple[str, str] | None:
    """Return the names of the arrays of genuine and of impostor scores, if a file has them."""
    vectors = {}
    for name, header in file.headers.items():
        if header.dtype.kind in "iuf" and prod(header.shape) == max(header.shape, default=0) > 0:
            vectors[re.sub("scores?|[_ -]", "", name.casefold())] = name
    for one, other in _CLASSES:
        if one in vectors and other in vectors:
            return vectors[one], vectors[other]
    return None


def _read_two_vectors(named: NamedArrays, genuine: str, impostor: str) -> Scores:
    refused = ("columns.genuine", "lists.keep", "lists.unordered", *_OF_TEMPLATES)
    named.refuse("genuine and impostor scores", refused)
    mated = named.file.read(genuine).reshape(-1)
    nonmated = named.file.read(impostor).reshape(-1)
    pairs = Scores.from_pairs(
        np.concatenate([mated, nonmated]),
        np.repeat([True, False], [len(mated), len(nonmated)]),
        kind=named.kind(genuine, KINDS),
        nan=named.nan,
        name=named.file.path.stem,
    )
    origin = f"genuine scores from {genuine!r}, impostor scores from {impostor!r}"
    return pairs._with(_reading=(origin, *named.notes))


def _read_pair_list(named: NamedArrays, key: str) -> Scores:
    """Read a list of pairs: classes in an array, or those of a list of pairs in order."""
    file = named.file
    genuine = named.key("genuine", "genuine")
    in_order = genuine is None and named.options.pairs is not None
    refused = [*_OF_TEMPLATES]
    if in_order:
        refused.remove("pairs")
    named.refuse("a list of pairs", refused)
    if in_order:
        pairs = scores_in_order(file.path, file.read(key), named.kind(key, KINDS), named.options)
        return pairs._with(_reading=(*pairs._reading, *named.notes))
    if genuine is None:
        raise DataError(
            f"{file.path}: {key!r} is a list of {file.headers[key].shape[0]} scores without "
            f"classes; name the array of 0 and 1 with {say('columns.genuine')}. It holds: "
            f"{file.listing()}"
        )
    pairs = Scores.from_pairs(
        file.read(key),
        file.read(genuine),
        kind=named.kind(key, KINDS),
        nan=named.nan,
        subjects=file.read_if_there("subjects"),
        pair_folds=file.read_if_there("fold"),
        name=file.path.stem,
        pair_templates=_templates(file, file.headers[key].shape[0]),
        keep=named.options.keep or (),
        unordered=bool(named.options.unordered),
        meta=_meta_of_pairs(named, file.headers[key].shape[0]),
    )
    return pairs._with(_reading=named.notes)


def _meta_of_pairs(named: NamedArrays, pairs: int) -> dict[str, np.ndarray]:
    """Return the metadata of both templates of each pair: ``probe_<name>``, ``gallery_<name>``."""
    file, columns = named.file, {}
    for key in file.headers:
        name = key.removeprefix("probe_")
        other = f"gallery_{name}"
        if key == name or other not in file or not RESERVED.isdisjoint((key, other)):
            continue
        shapes = {x: file.headers[x].shape for x in (key, other)}
        wrong = [x for x, shape in shapes.items() if shape != (pairs,)]
        if not wrong:
            columns[name] = np.column_stack([file.read(other), file.read(key)])
        elif not named.options.names_arrays:
            raise named.of_other_length(wrong[0], pairs)
    return columns


def _templates(file: Arrays, pairs: int) -> np.ndarray | CodedSides | None:
    """Return the names of the templates of both sides; None where the file has none."""
    if "templates" not in file:
        return None
    codes = file.read("templates")
    if "template_names" not in file:
        return codes
    names = file.read("template_names")
    known = codes.shape == (pairs, 2) and codes.dtype.kind in "iu" and names.ndim == 1
    if not known or codes.min(initial=0) < 0 or codes.max(initial=0) >= len(names):
        raise DataError(
            f"{file.path}: 'templates' is {codes.shape} {codes.dtype}; expected ({pairs}, 2) "
            f"places in 'template_names', 0 to {names.size - 1:,}"
        )
    if len(set(names.tolist())) < len(names):
        raise DataError(f"{file.path}: 'template_names' has a name twice; expected each once")
    return CodedSides(names.tolist(), *np.ascontiguousarray(codes.T, dtype=np.int32))


def _of_lists(named: NamedArrays) -> tuple[str, ...]:
    """Return the options that apply to lists of pairs alone."""
    return () if named.options.lists_pairs else ("lists.keep", "lists.unordered")


def _attempts(
    pairs: Scores,
    evaluated: FoundPairs,
    sides: Sides,
    named: NamedArrays,
    entry: np.ndarray | None = None,
) -> Scores:
    """Return the pairs of a list that are attempts, by the rules of lists with names.

    `entry` is the gallery template that each probe is, -1 for none.
    """
    probe, enrolled = evaluated.a, evaluated.b
    if not sides.square:
        enrolled = enrolled + sides.m
    if entry is not None:
        probe = np.where(entry[probe] >= 0, entry[probe] + sides.m, probe)
    codes = enrolled.astype(np.int32), probe.astype(np.int32)
    listed = replace(pairs.pairs, templates=CodedSides(range(sides.m + sides.n), *codes))
    rules = ListRules.parse(named.options.keep, named.options.unordered)
    listed, notes = listed.attempts(rules, pairs.kind, lambda rows: places("pair", rows))
    if named.options.pairs is not None:
        # Rows are probes, but the first name of a listed pair is enrolled.
        listed = listed.exchanged(np.ones(len(listed.values), dtype=bool))
    # Templates are known by their place in this file, which is none in another.
    listed = replace(listed, templates=None, missing=evaluated.missing)
    return pairs._with_pairs(listed, _remarks=notes)


def _pairs_to_evaluate(
    named: NamedArrays, sides: Sides, labels: np.ndarray, meta: Mapping[str, np.ndarray]
) -> FoundPairs:
    """Read the pairs to evaluate: an array of indices, or a list of names."""
    file, options = named.file, named.options
    if options.pairs is None:
        key = named.key("pairs") or ""
        array = file.read(key)
        where = f"{file.path}: {key!r}"
        return _read_pairs(array, where, sides)
    if not sides.square:
        raise DataError(
            f"{file.path}: {say('pairs')} needs the same templates on both sides, but this file "
            "has a separate gallery"
        )
    listed = read_lfw_pairs(options.pairs)
    if IMAGE_NUMBER not in meta or meta[IMAGE_NUMBER].dtype.kind not in "iu":
        raise DataError(
            f"{file.path}: {listed.path.name} numbers the images of each subject, but there are no "
            f"whole numbers called {IMAGE_NUMBER!r}; name them with "
            f"{say(f'columns.{IMAGE_NUMBER}')}. It holds: {file.listing()}"
        )
    names = named.names_of_subjects(labels)
    return find_pairs(listed, names, meta[IMAGE_NUMBER].tolist(), options.missing_pairs or "raise")


def _read_pairs(array: np.ndarray, input_name: str, sides: Sides) -> FoundPairs:
    """Return the pairs of an array, checked.

    An array of pairs, shape (p, 2 or more), has index a, index b and in the last of further
    columns 1 for the same subject; the third of four columns is the fold.
    """
    if array.ndim != 2 or array.shape[1] < 2 or not len(array) or array.dtype.kind not in "iu":
        raise DataError(
            f"{input_name} is {array.shape} {array.dtype}; expected integers (pairs, 2 or more): "
            "index a, index b and, last, 1 for the same subject"
        )
    a, b = array[:, :2].T.astype(np.int64)
    for name, column, count in (("a", a, sides.m), ("b", b, sides.n)):
        wrong = (column < 0) | (column >= count)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise DataError(
                f"{input_name}: index {name} of pair {row} is {int(column[row])}; expected "
                f"0..{count - 1}"
            )
    pairs = FoundPairs(a, b, None, array[:, 2] if array.shape[1] == 4 else None)
    if sides.square and (a == b).any():
        row = int(np.argmax(a == b))
        raise DataError(f"{input_name}: pair {row} compares template {int(a[row])} with itself")
    if array.shape[1] == 2:
        return pairs
    same = array[:, -1]
    wrong = (same != 0) & (same != 1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"{input_name}: the last column of pair {row} is {int(same[row])}; expected 1 for the "
            "same subject and 0 for two subjects"
        )
    return replace(pairs, same=same.astype(bool))


# ---------------------------------------------------------------- embeddings


def read_embeddings(named: NamedArrays) -> Scores:
    """Read embeddings of one side or of both, compared as a matrix or in listed pairs."""
    file = named.file
    refused = ("columns.genuine", "gallery_embeddings", *_of_lists(named))
    named.refuse("embeddings in one file", refused)
    if named.options.kind not in (None, "distance"):
        raise DataError(
            f"{say('kind', named.options.kind)} has no meaning for embeddings; they are compared "
            "by distances"
        )
    key = named.key("embeddings", "embeddings") or ""
    other = named.key("gallery_embeddings", "gallery_embeddings")
    counts = []
    for name in filter(None, (key, other)):
        shape = file.headers[name].shape
        if len(shape) != 2:
            raise DataError(
                f"{file.path}: {name!r} has shape {shape}; expected one embedding per row"
            )
        counts.append(shape[0])
    m, n = counts[0], counts[-1]
    gallery = None
    if other:
        gallery = named.labels("gallery_labels", n, "gallery templates", "gallery_labels")
    names = ("labels", "probe_labels")
    probe = named.labels("labels", m, "templates", *names, square=other is None)
    if probe is None or (other and gallery is None):
        raise no_labels(file, m, n if other else None)
    sides = Sides(probe, gallery, m, n, square=other is None)
    probe_meta, gallery_meta = named.metadata(sides, plain=True)
    metric = named.word("metric", "cosine", METRICS)
    mask = named.key("mask", "mask")
    left = right = as_embeddings(file.read(key), f"{file.path}: {key}")
    if other:
        right = as_embeddings(file.read(other), f"{file.path}: {other}")
    if not named.options.lists_pairs:
        return Scores._from_embeddings(
            left,
            probe.label,
            right if other else None,
            gallery and gallery.label,
            metric=metric,
            nan=named.nan,
            mask=file.read_if_there(mask),
            probe_meta=probe_meta,
            gallery_meta=gallery_meta if other else None,
            name=file.path.stem,
            exclude=named.exclude,
            average=named.options.average or (),
            as_read=named.options.only_embeddings,
        )
    named.refuse("a list of pairs", ["columns.mask", "average"])
    evaluated = _pairs_to_evaluate(named, sides, probe.label, probe_meta)
    a, b = probe.label[evaluated.a], (gallery or probe).label[evaluated.b]
    same = evaluated.same
    if same is None:
        same = a == b
    pairs = Scores.from_pairs(
        EmbeddingSource(left, right, metric).pairs(evaluated.a, evaluated.b),
        same,
        nan=named.nan,
        subjects=np.column_stack([b, a]),  # the enrolled one first
        pair_folds=evaluated.fold,
        name=file.path.stem,
    )
    entry = None
    if gallery is not None:
        people = probe.label, gallery.label
        templates = NamedTemplates.of(probe_meta, gallery_meta, people)
        if templates is not None:
            entry = templates.entries(Codes(*people))
    return _attempts(pairs, evaluated, sides, named, entry)


def _read(path: Path, options: ReadOptions) -> Scores:
    archive = Archive(path)
    return read_arrays(archive, reid_layout(archive, options))


def _write(scores: Scores, path: Path) -> None:
    with replacing(path) as part, ArchiveWriter(part) as out:
        write_arrays(scores, out, path)


def write_arrays(scores: Scores, out: Any, path: Path) -> None:
    """Write the arrays of scores, under the names of bioeval's own layout."""
    out.add("schema", np.int64(SCHEMA))
    out.add("kind", np.array(scores.kind))
    if scores.nan != "raise":
        out.add("nan", np.array(scores.nan))
    if scores.exclude:
        out.add("exclude", np.array(scores.exclude))
    for name, attribute in IDS_OF_NO_PERSON.items():
        if ids := getattr(scores, attribute):
            out.add(name, np.array(ids, dtype=np.int64))
    if scores.layout == "pairs":
        out.add("genuine", scores.genuine)
        if scores.pair_subjects is not None:
            out.add("subjects", _storable(scores.pair_subjects, "subjects", path))
        if (names := scores.pairs.templates) is not None:
            known = np.empty(len(names.values), dtype=object)
            known[:] = names.values
            out.add("template_names", _storable(known, "names of templates", path))
            out.add("templates", np.column_stack([names.a, names.b]))
        if scores.pair_folds is not None:
            out.add("fold", _storable(scores.pair_folds, "fold", path))
        for side, meta in (("probe", scores.probe_meta), ("gallery", scores.gallery_meta)):
            for name, column in meta.items():
                _require_free(f"{side}_{name}", name)
                out.add(f"{side}_{name}", _storable(column, name, path))
        out.add("scores", scores.values)
        return
    sides = _sides(scores)
    for key, array in sides.items():
        out.add(key, _storable(array, key, path))
    if scores.layout == "top-k":
        if scores.distances is not None:
            out.add("distances", scores.distances)
        out.add("indices", scores.indices)
        return
    m, n = scores.shape
    if scores.mask is not None:
        out.add_rows("mask", (m, n), np.dtype(np.uint8), scores._read_mask)
    out.add_rows("scores", (m, n), scores.dtype, scores._read_rows)


def _sides(scores: Scores) -> dict[str, np.ndarray]:
    """Return labels, metadata and, if needed, template identities."""
    arrays = {}
    square = _is_square(scores) and scores.layout != "top-k"
    if scores._labelled:
        arrays["probe_labels"] = scores.probe_labels
        if not square:
            arrays["gallery_labels"] = scores.gallery_labels
    sides = {"probe": scores.probe_meta}
    if not square:
        sides["gallery"] = scores.gallery_meta
    for side, meta in sides.items():
        for name, column in meta.items():
            _require_free(f"{side}_{name}", name)
            arrays[f"{side}_{name}"] = column
    # Without labels, a mask of equal sides is taken for a square one.
    m, n = scores.shape
    shared = np.isin(scores.probe_ids, scores.gallery_ids).any()
    if not square and (shared or not scores._labelled and m == n):
        arrays["probe_ids"] = scores.probe_ids
        arrays["gallery_ids"] = scores.gallery_ids
    return arrays


def _is_square(scores: Scores) -> bool:
    """Whether both sides have the same templates in the same order, with equal metadata."""
    if not np.array_equal(scores.probe_ids, scores.gallery_ids):
        return False
    rows, columns = scores.probe_meta, scores.gallery_meta
    if rows.keys() != columns.keys():
        return False
    for name, column in rows.items():
        other = columns[name]
        missing = column.dtype.kind in "fM" and other.dtype.kind in "fM"
        if not np.array_equal(column, other, equal_nan=missing):
            return False
    return True


def _require_free(key: str, name: str) -> None:
    """Raise where the array of a metadata column would have a name of the layout."""
    if key in RESERVED:
        raise DataError(
            f"the metadata {name!r} cannot be saved as {key}: the layout reserves this name; "
            "rename it"
        )


def _storable(array: Any, input_name: str, path: Path) -> np.ndarray:
    """Return an array that needs no pickle; raise where that would change a value."""
    array = np.asarray(array)
    if not array.dtype.hasobject:
        return array
    kinds = {*map(type, array.reshape(-1).tolist())}
    if len(kinds) == 1:
        plain = np.array(array.tolist())
        fits = not plain.dtype.hasobject and plain.shape == array.shape
        if fits and plain.tolist() == array.tolist():
            return plain
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise DataError(
        f"{path}: {input_name} holds Python objects ({names}) that only a pickle would keep; use "
        "text alone or numbers alone"
    )


FORMAT = Format(
    name="`.npz`",
    suffixes=(".npz",),
    holds="scores, pairs, embeddings or top-K lists, with labels and metadata",
    expected="a .npz file",
    recognise=lambda file: file.content == "zip",
    read=_read,
    options=ARRAYS,
    written="everything in one file",
    write=_write,
)
