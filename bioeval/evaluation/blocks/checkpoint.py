"""A folder with the counts of finished blocks; an interrupted evaluation continues from them.

Blocks are counted again only where their counts are missing. The data are the same ones by the
digest of every block of scores, taken when it is counted and again when its counts are used.
"""

from __future__ import annotations

import inspect
import json
import logging
import os
import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np
import xxhash

from bioeval.base.arguments import require_path
from bioeval.base.errors import Argument, CheckpointError, DataError, counted, received
from bioeval.base.executors import Pass
from bioeval.base.json_text import parse_json
from bioeval.base.version import __version__
from bioeval.scores.embeddings import EmbeddingSource
from bioeval.scores.formats.files import lock_of, read_bounded, replacing, turn_at
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores, are_pairs
from bioeval.tallies.count_files import SCHEMA, read_counts, write_counts
from bioeval.tallies.counts import CellCounts
from bioeval.tallies.exact_sums import ExactSums
from bioeval.tallies.parts import (
    ConcatenatedRows,
    Extent,
    KeptRows,
    LeastOfAll,
    NarrowCells,
    RowRangeCounts,
)

# Bytes that are read together.
_PIECE = 1 << 24

# Pairs of templates by which a metric that is a function is recognised.
_PAIRS = 64


def digest_of_rows(scores: Scores, low: int, high: int) -> str:
    """Return the XXH3-128 digest of the raw scores of rows ``low:high``; empty for embeddings."""
    if scores._streams:
        return ""
    digest = xxhash.xxh3_128()
    n = scores.shape[1]
    step = max(1, _PIECE // (n * scores.dtype.itemsize))
    for first in range(low, high, step):
        digest.update(np.ascontiguousarray(scores._read_rows(first, min(first + step, high))))
    return digest.hexdigest()


def digests_of(scores: Scores) -> dict[str, str]:
    """Return digests of the scores; the values of a matrix have digests by row instead."""
    digests = {
        "shape": " x ".join(map(str, scores.shape)),
        "dtype": scores.dtype.name,
        "kind": scores.kind,
        "nan": scores.nan,
        "exclude": ", ".join(scores.exclude),
    }
    if are_pairs(scores):
        digests["scores"] = digest_of(scores.values, scores.genuine, scores.pair_ids)
        return digests
    digests["labels"] = digest_of(scores.probe_labels, scores.gallery_labels)
    digests["templates"] = digest_of(scores.probe_ids, scores.gallery_ids)
    for side, columns in (("probe_meta", scores.probe_meta), ("gallery_meta", scores.gallery_meta)):
        digests[side] = " ".join(f"{name}:{digest_of(columns[name])}" for name in sorted(columns))
    if scores._has_mask:
        digests["mask"] = digest_of(*(scores._read_mask(i, i + 1) for i in range(scores.shape[0])))
    if scores._streams:
        places = _places(scores)
        digests["metric"] = _identity_of_metric(scores._base, *places)
        digests["embeddings"] = digest_of(*scores._base.unrounded(*places))
    return digests


def _identity_of_metric(source: EmbeddingSource, rows: np.ndarray, columns: np.ndarray) -> str:
    """Return the name of a metric; of a function without one, a digest of what it computes.

    That is the scores of some pairs among the rows and columns, to the last bit. The text of a
    function says nothing of what it computes, and is another one in each process.
    """
    if isinstance(source.metric, str):
        return source.metric
    if source.metric_name is not None:
        return f"function {source.metric_name}"
    places = np.arange(_PAIRS)
    a = rows[places * (len(rows) - 1) // (_PAIRS - 1)]
    b = columns[places * (len(columns) - 1) // (_PAIRS - 1)]
    pairs = source.pairs(a, np.roll(b, 1))
    pairs[np.isnan(pairs)] = np.nan  # one of many
    return f"function with scores {digest_of(pairs)}"


def digest_of_data(scores: Scores) -> str:
    """Return one digest of the scores with their labels, whatever their name or file."""
    rows = digest_of_rows(scores, 0, scores.shape[0]) if not are_pairs(scores) else ""
    return xxhash.xxh3_128(json.dumps([digests_of(scores), rows]).encode()).hexdigest()


def _places(scores: Scores) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and columns of the matrix that some scores select."""
    m, n = scores.shape
    return scores._base_rows(np.arange(m)), scores._base_columns(np.arange(n))


def digest_of(*arrays: np.ndarray) -> str:
    """Return the digest of arrays; of other objects, that of their text."""
    digest = xxhash.xxh3_128()
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        if array.dtype.hasobject:
            digest.update(repr([plain(x) for x in array.ravel().tolist()]).encode())
        else:
            digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    return digest.hexdigest()


def _kept_option(name: str, value: Any) -> Any:
    """Return an option as JSON holds it; one that cannot be recognised again is refused."""
    try:
        return plain_option(value)
    except RecursionError:
        raise DataError(Argument(name), " contains itself; expected plain values") from None
    except _UnknownError as error:
        raise DataError(
            Argument(name),
            f" is or holds {error}, and a checkpoint cannot find out in another process whether "
            "it is the same; give plain values, arrays, or objects that can be pickled, or leave "
            "out ",
            Argument("checkpoint"),
        ) from None


class _UnknownError(Exception):
    """Error: an object whose contents cannot be seen, in words."""


def plain_option(value: Any) -> Any:
    """Return an option as JSON holds it: arrays by their digest, other objects by their contents.

    Never by their text: it may leave values out, and that of most objects is their address.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (bytes, complex)):
        return repr(value)
    if isinstance(value, np.generic):
        return plain_option(value.item())
    if isinstance(value, (list, tuple)):
        return [plain_option(x) for x in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain_option(x) for x in value), key=json.dumps)
    if isinstance(value, Mapping):
        return {str(name): plain_option(x) for name, x in value.items()}
    if isinstance(value, Scores):
        return digest_of_data(value)
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    if hasattr(value, "__array__"):  # of other libraries too
        array = np.asarray(value)
        return f"array {array.shape} {digest_of(array)}"
    name = type(value).__name__
    if is_dataclass(value):
        inner = {x.name: getattr(value, x.name) for x in fields(value)}
    elif isinstance(value, FunctionType):
        name, inner = value.__qualname__, _contents_of_function(value)
    elif hasattr(value, "get_params"):
        inner = value.get_params(deep=False)
    else:
        inner = _contents(value)
    return {"class": name, **plain_option(inner)}


def _contents(value: Any) -> dict[str, Any]:
    """Return what an object is made of, as pickle finds it."""
    try:
        reduced = value.__reduce_ex__(pickle.DEFAULT_PROTOCOL)
    except Exception as error:  # objects raise errors of any class
        raise _UnknownError(f"a {type(value).__name__}") from error
    if isinstance(reduced, str):
        return {"name": f"{type(value).__module__}.{reduced}"}
    _, arguments, state, items, pairs = (*reduced, None, None, None)[:5]
    return {
        "arguments": arguments,
        "state": state,
        "items": [*(items or ())],
        "pairs": [*(pairs or ())],
    }


def _contents_of_function(function: FunctionType) -> dict[str, Any]:
    """Return what the result of a function depends on, but for other functions that it calls."""
    closure = inspect.getclosurevars(function).nonlocals
    return {
        "code": _contents_of_code(function.__code__),
        "defaults": [function.__defaults__, function.__kwdefaults__],
        "closure": closure,
    }


def _contents_of_code(code: CodeType) -> list[Any]:
    """Return the instructions of a function, and the names and constants in them."""
    constants = [_contents_of_code(x) if isinstance(x, CodeType) else x for x in code.co_consts]
    return [code.co_code, code.co_names, constants]


_KINDS = CellCounts, ConcatenatedRows, ExactSums, Extent, KeptRows, LeastOfAll, NarrowCells
_CLASSES: dict[str, type] = {kind.__name__: kind for kind in _KINDS}


def write_file(path: Path, data: bytes) -> None:
    """Write a file that appears whole or not at all."""
    with replacing(path) as part:
        part.write_bytes(data)


def write_part(path: Path, part: RowRangeCounts, digest: str) -> None:
    """Write the counts of a block; `digest` is that of its scores, empty where none is needed."""
    contents = {"rows": part.rows, "scores": digest, "counts": part.counts}
    write_counts(path, "finished rows", contents, _CLASSES)


def read_part(path: Path) -> tuple[RowRangeCounts, str]:
    """Return the counts of a block and the digest of its scores.

    Raise :class:`DataError` if the file is damaged; the block can be counted again.
    """
    file = read_counts(path, "finished rows", "a finished block of a checkpoint", _CLASSES)
    if damage := file.damage():
        raise DataError(f"{path}: is damaged: {damage}")
    return RowRangeCounts(file.contents["rows"], file.contents["counts"]), file.contents["scores"]


_LOG = logging.getLogger("bioeval")

# What manifests say, by the words of a message.
_WORDS = {
    "version": "version of bioeval",
    "call": "kind of evaluation",
    "protocol": "protocol",
    "scores": "scores",
    "options": "options",
}


class Checkpoint:
    """A folder, made if need be, with the counts of finished blocks of one evaluation.

    That is a function (`call`), all scores that it reads, the whole card, and everything else that
    its result depends on. Another folder is a :class:`CheckpointError`.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        call: str,
        scores: Mapping[str, Scores],
        protocol: str,
        options: Mapping[str, Any],
    ):
        """Open the folder; refuse that of another evaluation."""
        if not isinstance(folder, (str, os.PathLike)) or not os.fspath(folder):
            raise DataError(Argument("checkpoint"), f" is {received(folder)}; expected a folder")
        self.folder = Path(folder)
        self.passes = 0
        self._scores_of_call = list(scores.values())
        self._digested: list[Scores] = []
        manifest = {
            "schema": SCHEMA,
            "version": __version__,
            "call": call,
            "protocol": protocol,
            "scores": {name: digests_of(x) for name, x in scores.items()},
            "options": {name: _kept_option(name, x) for name, x in options.items()},
        }
        self._turn = ExitStack()
        try:
            self._open(json.loads(json.dumps(manifest)))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let another process use the folder."""
        self._turn.close()

    def _open(self, manifest: dict[str, Any]) -> None:
        """Make the folder, or see that it belongs to the same evaluation."""
        path = require_path("checkpoint", self.folder) / "checkpoint.json"
        if self.folder.exists() and not self.folder.is_dir():
            raise CheckpointError(f"{self.folder}: is a file; give a new folder")
        self.folder.mkdir(parents=True, exist_ok=True)
        try:  # two runs would count everything twice, and remove each other's files under way
            self._turn.enter_context(turn_at(path, wait=False))
        except BlockingIOError:
            raise CheckpointError(
                f"{self.folder}: is in use by another run; wait for its end, or give another "
                "folder as ",
                Argument("checkpoint"),
            ) from None
        if path.exists():
            known = _read_manifest(path)
            differing = _difference(known, manifest)
            if differing:
                raise CheckpointError(
                    f"{self.folder}: is the checkpoint of another evaluation: {differing}. Give "
                    "another folder as ",
                    Argument("checkpoint"),
                    ", or remove this one",
                )
            for part in self.folder.glob(".*.part"):  # of a process that was killed
                part.unlink(missing_ok=True)
            kept = counted(finished_blocks(self.folder), "finished blocks")
            _LOG.info("going on from %s in %s", kept, self.folder)
            return
        if any(x != lock_of(path) for x in self.folder.iterdir()):
            raise CheckpointError(
                f"{self.folder}: is neither a checkpoint nor empty; give a new folder"
            )
        body = {**manifest, "checksum": _checksum(manifest)}
        write_file(path, json.dumps(body, indent=1).encode())

    def begin(self, row_pass: Pass, ranges: Sequence[tuple[int, int]]) -> KeptPass:
        """Return the next pass over the scores; an evaluation always makes the same passes."""
        self.passes += 1
        scores = row_pass.scores
        known = any(_covers(x, scores) for x in self._digested)
        if not known and any(_covers(scores, x) for x in self._scores_of_call):
            self._digested.append(scores)
        name = f"{self.passes:03d}-{row_pass.name}"
        self._require_same(name, row_pass)
        return KeptPass(self.folder, name, row_pass, ranges, digests=not known)

    def _require_same(self, name: str, row_pass: Pass) -> None:
        """Raise unless a pass is over the same part of the scores, in the same folds, as before."""
        scores = row_pass.scores
        arrays = list(row_pass.depends_on)
        if scores._selects_rows or scores._selects_columns:
            arrays += _places(scores)
        if not arrays:
            return
        path = self.folder / f"{name}.digest"
        digest = digest_of(*arrays).encode()
        known = path.read_bytes() if path.exists() else b""
        if not known and not any(self.folder.glob(f"{name}-*.part")):
            write_file(path, digest)
        elif known != digest:
            raise CheckpointError(
                f"{self.folder}: is the checkpoint of other folds, of other parts of the data "
                "(are they drawn anew each time?), or of another key. Give a whole number as ",
                Argument("random_state"),
                ", the same ",
                Argument("key"),
                ", or another folder as ",
                Argument("checkpoint"),
            )


def finished_blocks(folder: str | os.PathLike[str]) -> int:
    """Return how many finished blocks a checkpoint keeps."""
    return sum(not path.name.startswith(".") for path in Path(folder).rglob("*.part"))


class KeptPass:
    """The blocks of one pass over the scores, finished and unfinished."""

    def __init__(
        self,
        folder: Path,
        name: str,
        row_pass: Pass,
        ranges: Sequence[tuple[int, int]],
        *,
        digests: bool,
    ):
        """Sort the blocks into those that are there and those that are missing."""
        self.folder, self.name, self.row_pass, self.digests = folder, name, row_pass, digests
        self.missing: list[tuple[int, int]] = []
        self._there: list[tuple[int, int]] = []
        for rows in ranges:
            kept = self._path(*rows).exists()
            (self._there if kept else self.missing).append(rows)

    def parts(self) -> Iterator[RowRangeCounts]:
        """Yield the counts of finished blocks whose scores are unchanged.

        A block whose file is damaged is missing then.
        """
        for low, high in self._there:
            path = self._path(low, high)
            try:
                part, digest = read_part(path)
                if part.rows != ((low, high),):
                    raise DataError(f"{path}: holds other rows than its name states")
            except DataError as error:
                _LOG.info("%s", error)  # with advice for files of the user's own
                _LOG.warning("%s: cannot be read: rows %d to %d are counted again", path, low, high)
                self.missing = sorted([*self.missing, (low, high)])
                continue
            if digest != self._digest(low, high):
                raise CheckpointError(
                    f"{self.folder}: is the checkpoint of other data: the scores of rows {low} to "
                    f"{high} differ. Give another folder as ",
                    Argument("checkpoint"),
                    ", or remove this one",
                )
            yield part

    def keep(self, part: RowRangeCounts) -> None:
        """Keep the counts of a finished block."""
        ((low, high),) = part.rows
        write_part(self._path(low, high), part, self._digest(low, high))

    def _digest(self, low: int, high: int) -> str:
        return digest_of_rows(self.row_pass.scores, low, high) if self.digests else ""

    def _path(self, low: int, high: int) -> Path:
        return self.folder / f"{self.name}-{low:012d}-{high:012d}.part"


def _covers(one: Scores, other: Scores) -> bool:
    """Whether `one` is the whole matrix of `other`, or the same part of it."""
    if one._base is not other._base:
        return False
    whole = not (one._selects_rows or one._selects_columns)
    return whole or (one._rows is other._rows and one._columns is other._columns)


def _read_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest of a checkpoint: the evaluation that it belongs to."""
    try:
        manifest = parse_json(read_bounded(path), str(path), CheckpointError)
        checksum = manifest.pop("checksum")
        schema = manifest["schema"]
    except (ValueError, KeyError, AttributeError, TypeError):
        raise CheckpointError(f"{path}: is damaged; remove the folder") from None
    if schema != SCHEMA:
        raise CheckpointError(
            f"{path}: is of schema {schema}; this version of bioeval reads schema {SCHEMA}"
        )
    if checksum != _checksum(manifest):
        raise CheckpointError(f"{path}: is damaged (its checksum is another); remove the folder")
    return manifest


def _checksum(manifest: dict[str, Any]) -> str:
    return xxhash.xxh3_128_hexdigest(json.dumps(manifest, sort_keys=True).encode())


def _shown(value: Any) -> str:
    """Return a short text of a value."""
    text = str(value)
    if len(text) < 60:
        return text
    return "other ones"


def _difference(known: Any, wanted: Any, where: str = "") -> str:
    """Return in words where two manifests first differ; an empty string if nowhere."""
    if not isinstance(known, dict) or not isinstance(wanted, dict):
        if known == wanted or (known != known and wanted != wanted):
            return ""
        there, here = _shown(known), _shown(wanted)
        if there == here:
            return f"{where}: differ"
        return f"{where}: {there} there, {here} here"
    for name in {**known, **wanted}:
        word = f"{where}, {name}" if where else _WORDS.get(name, name)
        if name == where:  # the scores of an argument of that name
            word = where
        difference = _difference(known.get(name, "none"), wanted.get(name, "none"), word)
        if difference:
            return difference
    return ""
