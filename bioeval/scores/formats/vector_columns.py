"""Tables of Parquet or Arrow with a column of vectors, read like the named arrays of a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.embeddings import as_embeddings
from bioeval.scores.formats.archive import Arrays, Header
from bioeval.scores.formats.files import content, existing_file, guarded, optional
from bioeval.scores.formats.format import ARRAYS, ReadOptions, say
from bioeval.scores.formats.named_arrays import RESERVED, NamedArrays
from bioeval.scores.formats.npz import read_embeddings
from bioeval.scores.formats.spellings import SCORE_NAMES, folded
from bioeval.scores.labelled_matrix import MEMORY_LIMIT
from bioeval.scores.matrix import Scores
from bioeval.scores.vector_tables import VectorTable, templates_of_table

_OF_SCORES = ("scores_key", "genuine_key", "keep", "unordered")
_OF_LISTS = ("indices_key", "first_index", "leave_out_query")

#: The options of a table with a column of vectors.
VECTORS = tuple(name for name in ARRAYS if name not in (*_OF_SCORES, *_OF_LISTS))


class VectorArrays(Arrays):
    """The columns of a table as arrays: a matrix of each column of vectors."""

    def __init__(self, path: Path, table: VectorTable, named: set[str]):
        """Take the columns that are `named`, and those whose names have no other meaning."""
        self.path, self._table = path, table
        self.headers = {}
        for name in table.names:
            if name in RESERVED - named:
                continue
            kind = table.types[name]
            if name in table.vectors:
                value = getattr(kind, "storage_type", kind).value_type
                shape = (table.rows, table.width(name))
                self.headers[name] = Header(shape, np.dtype(value.to_pandas_dtype()))
            elif name in table.plain:
                self.headers[name] = Header((table.rows,), np.dtype("U1"))

    def listing(self) -> str:
        """Return the columns with their types."""
        return self._table.listing()

    def read(self, key: str) -> np.ndarray:
        """Return a column as an array."""
        if key in self._table.vectors:
            return self._table.matrix(key)
        return self._table.column(key)


def holds_vectors(table: VectorTable, options: ReadOptions) -> bool:
    """Whether a table is one of embeddings: a column of vectors, or a named one, and no scores."""
    if options.embeddings_key is not None:
        return True
    return bool(table.vectors) and SCORE_NAMES.keys().isdisjoint(map(folded, table.names))


def read_vectors(path: Path, table: VectorTable, options: ReadOptions) -> Scores:
    """Return the scores of embeddings in a column of a table, with labels and metadata beside."""
    options.allow("a table with a column of vectors", VECTORS)
    key = table.vector_column(options.embeddings_key, "embeddings_key")
    if options.gallery_embeddings is not None:
        return _read_two(path, table, options)
    changes: dict[str, Any] = {"embeddings_key": key}
    if not any(
        getattr(options, name)
        for name in ("labels_key", "probe_labels_key", "labels", "probe_labels")
    ):
        changes["labels_key"] = table.label_column(None, "labels_key")
    options = replace(options, **changes)
    keys = {value for name, value in options.in_use().items() if name.endswith("_key")}
    columns = {*options.meta.values()}
    named = NamedArrays(VectorArrays(path, table, {*map(str, keys)} | columns), options)
    if columns:
        named.used |= {*table.plain} - columns
    return read_embeddings(named)


# Bytes of a Parquet file that are read together.
_BUFFER = 1 << 20

_OF_TWO = (
    *("embeddings_key", "gallery_embeddings", "labels_key", "meta", "metric", "nan", "average"),
)


def _read_two(path: Path, table: VectorTable, options: ReadOptions) -> Scores:
    """Return the scores of the probes of a table and of the gallery of another file like it."""
    options.allow("a table of probes beside one of the gallery", _OF_TWO)
    other = existing_file(options.gallery_embeddings or path)
    sides = []
    for place, source in ((path, table), (other, vector_file(other))):
        if source is None:
            raise DataError(f"{place}: has no column of vectors; expected one as in {path}")
        sides.append(
            templates_of_table(
                source, options.embeddings_key, options.labels_key, options.meta or None
            )
        )
    (probe, labels, meta), (gallery, gallery_labels, gallery_meta) = sides
    memory = min(MEMORY_LIMIT, (options.memory_limit or 4 * MEMORY_LIMIT) // 4)
    return Scores.from_embeddings(
        as_embeddings(probe, f"{path}: the embeddings"),
        labels,
        as_embeddings(gallery, f"{other}: the embeddings"),
        gallery_labels,
        metric=options.metric or "cosine",
        memory_limit=1 if options.keep_embeddings else memory,
        nan=options.nan or "raise",
        probe_meta=meta,
        gallery_meta=gallery_meta,
        name=path.stem,
        average=options.average or (),
    )


def vector_file(path: Path) -> VectorTable | None:
    """Return a file of Parquet or Arrow as a table; None where no column holds vectors."""
    input_name = "a Parquet or Arrow file"
    kind = content(path)
    if kind not in ("a Parquet file", "an Arrow (Feather) file", "an Arrow stream"):
        raise DataError(
            f"{path}: is {kind}; {say('gallery_embeddings')} takes {input_name} beside another"
        )
    arrow = optional("pyarrow", path, input_name)
    with guarded(path, expected=input_name):
        if kind == "a Parquet file":
            parquet = optional("pyarrow.parquet", path, input_name)
            # Pages are read as they are needed: a group of rows may be the whole file.
            file = parquet.ParquetFile(
                path, buffer_size=_BUFFER, pre_buffer=False, page_checksum_verification=True
            )
            return _with_vectors(file, file.schema_arrow, path)
        source = arrow.memory_map(str(path))
        read = arrow.ipc.open_stream if kind == "an Arrow stream" else arrow.ipc.open_file
        opened = read(source)
        if not any(map(arrow.types.is_nested, opened.schema.types)):
            return None
        table = opened.read_all()
        table.validate(full=True)
        return _with_vectors(table, table.schema, path)


def _with_vectors(source: Any, schema: Any, path: Path) -> VectorTable | None:
    from pyarrow import types

    for kind in schema.types:
        if types.is_nested(getattr(kind, "storage_type", kind)):
            table = VectorTable(source, str(path))
            return table if table.vectors else None
    return None
