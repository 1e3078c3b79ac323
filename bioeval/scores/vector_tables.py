"""Tables of which a column holds vectors, an embedding a row, with labels and metadata beside it.

Tables of any library are read by the stream of Arrow that they offer (``__arrow_c_stream__``):
pandas, polars, pyarrow, DuckDB; those of Hugging Face by the Arrow table that they keep. A column
in one piece is not copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from bioeval.base.arguments import require_list, require_text
from bioeval.base.errors import Argument, DataError, counted, cut, nearest_name
from bioeval.scores.labels import LABEL_COLUMNS, pyarrow_for

# Columns that an error lists.
_LISTED = 20

# Rows of a Parquet file that are read together.
_ROWS = 1 << 14

# Names that pandas gives to an index without one.
_UNNAMED = "__index_level_"


class VectorTable:
    """A table of Arrow, or a Parquet file, whose columns are read one at a time.

    Attributes
    ----------
    names : list of str
    vectors : list of str
        The columns of which each cell is a list of numbers.
    plain : list of str
        The columns of which each cell is a single value, such as labels and metadata.
    rows : int
    """

    def __init__(self, source: Any, where: str):
        """Find out what the columns hold; `where` names the table in messages."""
        self.where, self._source = where, source
        self._is_file = not hasattr(source, "schema") or hasattr(source, "schema_arrow")
        schema = source.schema_arrow if self._is_file else source.schema
        self.rows: int = source.metadata.num_rows if self._is_file else source.num_rows
        self.names: list[str] = list(schema.names)
        self.types: dict[str, Any] = dict(zip(schema.names, schema.types, strict=True))
        self.vectors = [name for name in self.names if _is_vector(self.types[name])]
        self.plain = [
            name
            for name in self.names
            if _is_plain(self.types[name]) and not name.startswith(_UNNAMED)
        ]

    def listing(self) -> str:
        """Return the columns with their types."""
        listed = [f"{name} ({self.types[name]})" for name in self.names[:_LISTED]]
        if len(self.names) > _LISTED:
            listed.append(f"and {len(self.names) - _LISTED} more")
        return ", ".join(listed)

    def require(self, name: str, option: str) -> None:
        """Raise unless there is a column of the name that an option gives."""
        if self.names.count(name) != 1:
            number = "several columns" if name in self.names else "no column"
            raise DataError(
                f"{self.where}: {number} {name!r}; ",
                Argument(option),
                f" names it.{nearest_name(name, self.names)} It has the columns {self.listing()}",
            )

    def vector_column(self, wanted: str | None, option: str) -> str:
        """Return the column of vectors: the one that is wanted, or the only one."""
        if wanted is not None:
            self.require(wanted, option)
            if wanted not in self.vectors:
                raise DataError(
                    f"{self.where}: the column {wanted!r} is of type {self.types[wanted]}; "
                    "expected a list of numbers in each row"
                )
            return wanted
        if len(self.vectors) == 1:
            return self.vectors[0]
        if self.vectors:
            listed = ", ".join(f"{name} ({self.types[name]})" for name in self.vectors)
            raise DataError(
                f"{self.where}: {len(self.vectors)} columns hold vectors: {listed}; choose one by ",
                Argument(option, self.vectors[0]),
            )
        raise DataError(
            f"{self.where}: no column holds vectors (a list of numbers in each row); it has the "
            f"columns {self.listing()}"
        )

    def label_column(self, wanted: str | None, option: str) -> str:
        """Return the column of labels: the one that is wanted, or the first with a known name."""
        if wanted is not None:
            self.require(wanted, option)
            return wanted
        folded = {name.casefold(): name for name in self.plain}
        for name in LABEL_COLUMNS:
            if name in folded:
                return folded[name]
        raise DataError(
            f"{self.where}: no column of labels; its columns are {self.listing()}; name the one "
            "with the subjects by ",
            Argument(option),
        )

    def width(self, name: str) -> int:
        """Return the length of the first vector of a column."""
        if hasattr(self.types[name], "list_size"):
            return int(self.types[name].list_size)
        for chunk in self._chunks(name, 1):
            if len(chunk):
                return len(_storage(chunk)[:1].flatten())
        return 0

    def matrix(self, name: str) -> np.ndarray:
        """Return a column of vectors as a matrix, (rows, features)."""
        return matrix_of(self._chunks(name, _ROWS), self.rows, f"{self.where}: {name}")

    def column(self, name: str) -> np.ndarray:
        """Return a column of single values; None where there is no value."""
        from pyarrow import types

        if self._is_file:
            column = self._source.read(columns=[name]).column(0)
        else:
            column = self._source.column(name)
        if types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if not column.null_count:
            return np.asarray(column.to_numpy())
        values = np.empty(len(column), dtype=object)
        values[:] = column.to_pylist()
        return values

    def _chunks(self, name: str, rows: int) -> Iterator[Any]:
        if self._is_file:
            for batch in self._source.iter_batches(rows, columns=[name]):
                yield batch.column(0)
        else:
            yield from self._source.column(name).chunks


def _storage(column: Any) -> Any:
    """Return the values of an array of a type that extends another, such as tensors."""
    return getattr(column, "storage", column)


def _is_vector(kind: Any) -> bool:
    """Whether a type of Arrow is a list of numbers."""
    from pyarrow import types

    kind = getattr(kind, "storage_type", kind)
    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    if not (is_list or types.is_list_view(kind) or types.is_large_list_view(kind)):
        return False
    return bool(types.is_integer(kind.value_type) or types.is_floating(kind.value_type))


def _is_plain(kind: Any) -> bool:
    """Whether each value of a type of Arrow is a single one, and no bytes."""
    from pyarrow import types

    return not (
        types.is_nested(getattr(kind, "storage_type", kind))
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_null(kind)
    )


def matrix_of(chunks: Iterable[Any], rows: int, where: str) -> np.ndarray:
    """Return the pieces of a column of vectors as one matrix, a single piece without a copy.

    Raises
    ------
    DataError
        If a row has no vector, a vector has no number at one of its places, or lengths differ; the
        message names the first such row.
    """
    whole, done = None, 0
    width: int | None = None
    for chunk in chunks:
        if not len(chunk):
            continue
        block = _block(_storage(chunk), width, done, where)
        if len(block) == rows:
            return block
        if whole is None:
            width = block.shape[1]
            whole = np.empty((rows, width), block.dtype)
        whole[done : done + len(block)] = block
        done += len(block)
    return whole if whole is not None else np.empty((0, 0))


def _block(chunk: Any, width: int | None, before: int, where: str) -> np.ndarray:
    """Return a piece of a column of vectors, which begins with the row `before`."""
    from pyarrow import compute

    advice = "leave the row out, or fill it with NaN, which marks a failed template"
    if chunk.null_count:
        row = before + int(np.argmax(chunk.is_null().to_numpy(zero_copy_only=False)))
        raise DataError(f"{where}: row {row} has no vector; {advice}")
    widths = compute.list_value_length(chunk).to_numpy(zero_copy_only=False)
    expected = int(widths[0]) if width is None else width
    wrong = widths != expected
    if wrong.any():
        row = int(np.argmax(wrong))
        numbers = counted(int(widths[row]), "numbers")
        raise DataError(
            f"{where}: the vector in row {before + row} has {numbers}, and the first one "
            f"{expected}; expected vectors of one length"
        )
    flat = chunk.flatten()
    if flat.null_count:
        place = int(np.argmax(flat.is_null().to_numpy(zero_copy_only=False)))
        raise DataError(
            f"{where}: the vector in row {before + place // expected} lacks number "
            f"{place % expected}; {advice}"
        )
    return np.asarray(flat.to_numpy(zero_copy_only=False)).reshape(len(chunk), expected)


def as_vector_table(values: Any, where: str = "the table", wanted: bool = False) -> Any:
    """Return a table of any library as a :class:`VectorTable`; None for what is no such table.

    Unless a column of it is `wanted` by its name, a table without a column of vectors is none: the
    numbers in its columns may be a matrix.
    """
    library = type(values).__module__.partition(".")[0]
    if library == "datasets" and hasattr(values, "with_format"):
        return VectorTable(_of_hugging_face(values), where)
    if library == "polars" and hasattr(values, "collect"):
        raise DataError(
            f"{where} is a {type(values).__name__}, whose rows are not read yet; give "
            ".collect() of it"
        )
    if hasattr(values, "iloc") and hasattr(values, "dtypes"):
        if not (hasattr(values, "columns") and (wanted or _holds_vectors(values))):
            return None
    elif not (hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__")):
        return None
    arrow = pyarrow_for(values)
    try:
        table = VectorTable(arrow.table(values), where)
    except (arrow.ArrowException, TypeError, ValueError) as error:
        if not hasattr(values, "columns"):
            return None  # a column, which is no table
        reason = cut(" ".join(str(error).split()), 200)
        raise DataError(f"{where} cannot be read by Arrow: {reason}") from None
    return table if wanted or table.vectors else None


def _holds_vectors(frame: Any) -> bool:
    """Whether a column of a DataFrame of pandas has lists, or arrays, in its first row."""
    if not len(frame):
        return False
    first = [frame.iloc[0, i] for i, kind in enumerate(frame.dtypes) if kind.kind == "O"]
    arrow = any("list" in str(kind) for kind in frame.dtypes)
    return arrow or any(isinstance(x, list | tuple | np.ndarray) for x in first)


def _of_hugging_face(data: Any) -> Any:
    """Return the Arrow table of a data set of Hugging Face, with the rows that are selected."""
    if isinstance(data, Mapping):
        parts = ", ".join(map(repr, data))
        raise DataError(
            f"the data set has the parts {parts}; give one of them, such as "
            f"data[{next(iter(data), 'train')!r}]"
        )
    if not hasattr(data, "num_rows"):
        raise DataError(
            f"{type(data).__name__} is read once, from its beginning; give a data set whose rows "
            "are numbered"
        )
    if getattr(data, "_indices", None) is None and hasattr(data.data, "table"):
        return data.data.table  # as it is in memory, or mapped from its files
    return data.with_format("arrow")[:]


def column_of_vectors(values: Any, where: str) -> np.ndarray | None:
    """Return a column of vectors (of pandas, polars or Arrow) as a matrix; None for all else."""
    if not (hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__")):
        return None
    if hasattr(values, "columns") or hasattr(values, "column_names"):
        return None
    arrow = pyarrow_for(values)
    try:
        column = values
        if not isinstance(values, arrow.ChunkedArray):
            stream = hasattr(values, "__arrow_c_stream__")
            column = arrow.chunked_array(values if stream else [arrow.array(values)])
    except (arrow.ArrowException, TypeError, ValueError):
        return None
    if not _is_vector(column.type):
        return None
    return matrix_of(column.chunks, len(column), where)


def templates_of_table(
    table: VectorTable,
    embeddings: str | None,
    labels: str | None,
    meta: Any,
    with_labels: bool = True,
) -> tuple[np.ndarray, np.ndarray | None, dict[str, np.ndarray]]:
    """Return the embeddings, labels and metadata in the columns of a table.

    Parameters
    ----------
    table : VectorTable
    embeddings, labels : str, optional
        The names of their columns.
    meta : mapping of str to str, or sequence of str, optional
        The columns of metadata, under other names where it is a mapping; by default all others.
    with_labels : bool
        False where the labels are elsewhere.
    """
    vectors = table.vector_column(embeddings, "embeddings")
    label = table.label_column(labels, "labels") if with_labels or labels is not None else None
    if meta is None:
        named = {name: name for name in table.plain if name not in (vectors, label)}
    else:
        named = named_columns(meta)
    for name in named.values():
        table.require(name, "meta")
    columns = {name: table.column(column) for name, column in named.items()}
    return (
        table.matrix(vectors),
        None if label is None else table.column(label),
        columns,
    )


def named_columns(meta: Any) -> dict[str, str]:
    """Return the names of metadata, each with its column: a mapping, or a list of columns."""
    if isinstance(meta, Mapping):
        names = {require_text("meta", name): require_text("meta", meta[name]) for name in meta}
        return names
    words: Sequence[Any] = [meta] if isinstance(meta, str) else require_list("meta", meta)
    return {require_text("meta", name): name for name in words}
