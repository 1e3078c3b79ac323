"""Embeddings as a column of vectors, in tables of any library and in files."""

import numpy as np
import pytest

import bioeval as be
from bioeval import DataError
from tests.optional import optional_import

pa = optional_import("pyarrow")

X = np.arange(24, dtype=np.float32).reshape(8, 3) % 7
WHO = [*"aabbccdd"]
CAMERA = [0, 1, 2, 0, 1, 2, 0, 1]


def fixed(values=X):
    return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), values.shape[1])


def of_vectors(column):
    return pa.table({"embedding": column, "identity": WHO, "camera": CAMERA})


def of_pandas():
    pandas = optional_import("pandas")
    return pandas.DataFrame({"embedding": [*X], "identity": WHO, "camera": CAMERA})


def of_pandas_lists():
    pandas = optional_import("pandas")
    frame = pandas.DataFrame({"embedding": X.tolist(), "identity": WHO, "camera": CAMERA})
    return frame.set_index("camera")


def of_polars(dtype):
    polars = pytest.importorskip("polars")
    kind = polars.List(polars.Float32) if dtype == "list" else polars.Array(polars.Float32, 3)
    vectors = polars.Series(X.tolist(), dtype=kind)
    return polars.DataFrame({"embedding": vectors, "identity": WHO, "camera": CAMERA})


def of_duckdb():
    duckdb = pytest.importorskip("duckdb")
    people = of_vectors(fixed())  # noqa: F841 - read by its name
    return duckdb.sql("select * from people")


def of_hugging_face(order=None):
    datasets = pytest.importorskip("datasets")
    if not hasattr(datasets, "Dataset"):  # a folder of that name
        pytest.skip("datasets of Hugging Face is not installed")
    columns = {"embedding": X.tolist(), "identity": WHO, "camera": CAMERA}
    vectors = datasets.Sequence(datasets.Value("float32"))
    kinds = {"identity": datasets.Value("string"), "camera": datasets.Value("int64")}
    features = datasets.Features({"embedding": vectors, **kinds})
    data = datasets.Dataset.from_dict(columns, features=features)
    if order is not None:
        back = np.argsort(order)
        data = data.select(order).select(back)
    return data


class OnlyAnArray:
    """A holder of one batch that offers it by ``__arrow_c_array__`` alone."""

    def __init__(self, batch):
        self.batch = batch

    def __arrow_c_array__(self, requested_schema=None):
        return self.batch.__arrow_c_array__(requested_schema)


class OnlyAStream:
    """A holder of a table that offers it by ``__arrow_c_stream__`` alone."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


TABLES = {
    "pandas arrays": of_pandas,
    "pandas lists": of_pandas_lists,
    "polars list": lambda: of_polars("list"),
    "polars array": lambda: of_polars("array"),
    "fixed_size_list": lambda: of_vectors(fixed()),
    "list": lambda: of_vectors(fixed().cast(pa.list_(pa.float32()))),
    "large_list": lambda: of_vectors(fixed().cast(pa.large_list(pa.float32()))),
    "tensors": lambda: of_vectors(pa.FixedShapeTensorArray.from_numpy_ndarray(X)),
    "chunks": lambda: of_vectors(pa.chunked_array([fixed()[:3], fixed()[3:3], fixed()[3:]])),
    "record batch": lambda: of_vectors(fixed()).to_batches()[0],
    "stream": lambda: OnlyAStream(of_vectors(fixed())),
    "array": lambda: OnlyAnArray(of_vectors(fixed()).to_batches()[0]),
    "duckdb": of_duckdb,
    "hugging face": of_hugging_face,
    "hugging face, selected": lambda: of_hugging_face([3, 1, 0, 2, 7, 5, 6, 4]),
}


@pytest.fixture(scope="module")
def expected():
    return be.Scores.from_embeddings(X, WHO, metric="l2", probe_meta={"camera": CAMERA})


def same(scores, expected):
    np.testing.assert_array_equal(scores.values, expected.values)
    assert scores.probe_labels.tolist() == expected.probe_labels.tolist()
    assert list(scores.probe_meta) == ["camera"]
    assert scores.probe_meta["camera"].tolist() == CAMERA


@pytest.mark.parametrize("holder", TABLES)
def test_one_road_for_tables_of_all_libraries(holder, expected):
    table = TABLES[holder]
    same(be.Scores.from_embeddings(table(), metric="l2"), expected)
    named = {"embeddings": "embedding", "labels": "identity", "meta": ["camera"]}
    same(be.Scores.from_embeddings(table(), metric="l2", **named), expected)
    loaded = be.load(table(), embeddings_key="embedding", labels_key="identity", metric="l2")
    same(loaded, expected)
    same(be.load(table(), metric="l2", meta=["camera"]), expected)


def test_two_sides_names_and_labels_beside(expected):
    table = of_vectors(fixed())
    scores = be.Scores.from_embeddings(
        table.slice(0, 3), gallery=table.slice(3), meta={"cam": "camera"}, metric="l2"
    )
    np.testing.assert_array_equal(scores.values, expected.values[:3, 3:])
    assert scores.probe_meta["cam"].tolist() == CAMERA[:3]
    assert scores.gallery_meta["cam"].tolist() == CAMERA[3:]
    assert scores.gallery_labels.tolist() == WHO[3:]
    beside = be.Scores.from_embeddings(table, WHO, probe_meta={"day": CAMERA}, metric="l2")
    assert sorted(beside.probe_meta) == ["camera", "day", "identity"]
    averaged = be.Scores.from_embeddings(
        table.append_column("template", pa.array(WHO)), average=["template"], metric="l2"
    )
    assert averaged.shape == (4, 4)


def test_a_column_in_one_piece_is_not_copied():
    from bioeval.scores.vector_tables import as_vector_table, column_of_vectors

    column = fixed()
    address = column.values.buffers()[1].address
    for held in (column, column.cast(pa.list_(pa.float32()))):
        matrix = as_vector_table(of_vectors(held)).matrix("embedding")
        assert matrix.ctypes.data == held.values.buffers()[1].address
    assert column_of_vectors(column, "x").ctypes.data == address
    half = as_vector_table(of_vectors(column).slice(2, 4)).matrix("embedding")
    assert half.ctypes.data == address + 2 * 3 * 4
    np.testing.assert_array_equal(half, X[2:6])


def test_columns_of_vectors_without_a_table(expected):
    columns = [fixed(), pa.chunked_array([fixed()[:2], fixed()[2:]]), of_pandas()["embedding"]]
    for column in columns:
        if not hasattr(column, "__arrow_c_stream__") and not hasattr(column, "__arrow_c_array__"):
            continue  # a column of pandas before 3
        scores = be.Scores.from_embeddings(column, WHO, metric="l2")
        np.testing.assert_array_equal(scores.values, expected.values)


def test_a_table_of_numbers_is_a_matrix_of_embeddings(expected):
    frame = optional_import("pandas").DataFrame(X)
    scores = be.Scores.from_embeddings(frame, WHO, metric="l2")
    np.testing.assert_array_equal(scores.values, expected.values)


@pytest.mark.parametrize(
    ("columns", "options", "match"),
    [
        (
            {"x": [[1.0, 2.0], None], "who": [1, 2]},
            {"labels": "who"},
            "the table of the probes: x: row 1 has no vector; leave the row out, or fill it with",
        ),
        (
            {"x": [[1.0, 2.0], [3.0, None]], "who": [1, 2]},
            {"labels": "who"},
            "x: the vector in row 1 lacks number 1; leave",
        ),
        (
            {"x": [[1.0, 2.0], [3.0]], "who": [1, 2]},
            {"labels": "who"},
            "x: the vector in row 1 has 1 number, and the first one 2; expected vectors of one",
        ),
        (
            {"x": [[1.0]], "y": [[2]], "who": [1]},
            {},
            r"2 columns hold vectors: x \(list<.*>\), y \(list<.*int64>\); choose one by",
        ),
        ({"x": [[1.0]], "who": [1]}, {}, r"no column of labels; its columns are x .*, who \(int64"),
        ({"x": [[1.0]], "id": [1]}, {"embeddings": "z"}, r"no column 'z'; .*columns x \(list"),
        ({"x": [[1.0]], "id": [1]}, {"embeddings": "id"}, "column 'id' is of type int64; expected"),
        ({"x": [1.0], "id": [1]}, {"labels": "id"}, "no column holds vectors"),
        ({"x": [[1.0]], "id": [1]}, {"meta": ["cam"]}, "no column 'cam'; meta names it"),
        ({"x": [[1.0]], "id": [None]}, {"labels": "id"}, "probe_labels has 1 missing labels"),
    ],
)
def test_what_a_table_lacks_is_said(columns, options, match):
    with pytest.raises(DataError, match=match):
        be.Scores.from_embeddings(pa.table(columns), **options)


def test_names_of_columns_without_a_table_are_refused():
    with pytest.raises(DataError, match="labels names a column, but the probe embeddings are nda"):
        be.Scores.from_embeddings(X, labels="who")
    with pytest.raises(DataError, match="probe_labels is missing; expected the subject of each"):
        be.Scores.from_embeddings(X)
    with pytest.raises(DataError, match="labels and probe_labels are both given"):
        be.Scores.from_embeddings(of_vectors(fixed()), WHO, labels="identity")
    frame = optional_import("pandas").DataFrame({"x": [[1.0], ["a"]], "id": [1, 2]})
    with pytest.raises(DataError, match="cannot be read by Arrow: .*Could not convert 'a'"):
        be.Scores.from_embeddings(frame)


def write(path, table):
    if path.suffix == ".parquet":
        optional_import("pyarrow.parquet").write_table(table, path, row_group_size=3)
    elif path.suffix == ".feather":
        optional_import("pyarrow.feather").write_feather(table, path)
    else:
        with pa.ipc.new_stream(str(path), table.schema) as out:
            out.write_table(table, max_chunksize=5)
    return path


@pytest.mark.parametrize("name", ["x.parquet", "x.feather", "x.arrows"])
@pytest.mark.parametrize("kind", ["fixed_size_list", "list", "chunks"])
def test_files_of_vectors(name, kind, tmp_path, expected):
    path = write(tmp_path / name, TABLES[kind]())
    same(be.load(path, metric="l2"), expected)
    same(be.load(path, embeddings_key="embedding", labels_key="identity", metric="l2"), expected)
    labels = be.load(path, labels_key="camera", meta={"who": "identity"}, metric="l2")
    assert labels.probe_labels.tolist() == CAMERA
    assert labels.probe_meta["who"].tolist() == WHO
    assert list(labels.probe_meta) == ["who"]
    gallery = write(tmp_path / f"g.{path.suffix}", of_vectors(fixed(X + 1)))
    two = be.load(path, gallery_embeddings=gallery, metric="l2")
    other = be.Scores.from_embeddings(X, WHO, X + 1, WHO, metric="l2")
    np.testing.assert_array_equal(two.values, other.values)
    assert two.gallery_meta["camera"].tolist() == CAMERA
    kept = be.load(path, keep_embeddings=True)
    be.save(kept, tmp_path / "y.npz")
    np.testing.assert_array_equal(np.load(tmp_path / "y.npz")["embeddings"], X)


def test_files_say_what_they_lack(tmp_path):
    path = write(tmp_path / "x.parquet", of_vectors(pa.array([*X.tolist()[:7], None])))
    with pytest.raises(DataError, match=r"x.parquet: embedding: row 7 has no vector"):
        be.load(path)
    with pytest.raises(DataError, match=r"x.parquet: no column 'e'; .*names it"):
        be.load(path, embeddings_key="e")
    with pytest.raises(DataError, match="scores_key.* has no meaning for a table with a column of"):
        be.load(path, embeddings_key="embedding", scores_key="camera")
    path = write(tmp_path / "y.parquet", pa.table({"score": [0.1], "genuine": [1]}))
    with pytest.raises(DataError, match="no column holds vectors .* and .*embedding.* names one"):
        be.load(path, embeddings_key="embedding")
    with pytest.raises(DataError, match="y.parquet: has no column of vectors; expected one as in"):
        good = write(tmp_path / "z.parquet", of_vectors(fixed()))
        be.load(good, gallery_embeddings=path)


def test_the_command_line_names_columns(tmp_path, capsys):
    from bioeval.cli.program import main

    path = str(write(tmp_path / "emb.parquet", of_vectors(fixed())))
    options = ["--embeddings", "embedding", "--labels", "identity", "--meta", "camera"]
    assert main(["run", path, *options, "--json"]) == 0
    assert '"gallery_templates": 8' in capsys.readouterr().out
    assert main(["run", path, "--embeddings", "emb"]) == 2
    assert "no column 'emb'; --embeddings names it" in " ".join(capsys.readouterr().err.split())


def test_labels_themselves(expected):
    for embeddings in (X, of_vectors(fixed())):
        scores = be.Scores.from_embeddings(embeddings, labels=np.array(WHO), metric="l2")
        np.testing.assert_array_equal(scores.values, expected.values)
        assert scores.probe_labels.tolist() == WHO


def test_a_lazy_frame_of_polars_is_collected_by_the_user():
    with pytest.raises(DataError, match=r"is a LazyFrame, .* give \.collect\(\) of it"):
        be.Scores.from_embeddings(of_polars("list").lazy(), labels="identity")


def test_a_second_table_is_the_gallery(tmp_path, capsys):
    from bioeval.cli import main

    parquet = optional_import("pyarrow.parquet")
    for name, rows in (("query", slice(0, 3)), ("gallery", slice(3, 8))):
        side = pa.table({"embedding": [*X[rows]], "identity": [*"abbcdaab"][rows]})
        parquet.write_table(side, tmp_path / f"{name}.parquet")
    files = [str(tmp_path / f"{name}.parquet") for name in ("query", "gallery")]
    assert main(["run", *files]) == 0
    assert "3 probes of 2 subjects against 5 gallery templates" in capsys.readouterr().out
    assert main(["run", files[0], files[1], "--gallery-embeddings", files[1]]) == 2
    assert "a second file, beside --gallery-embeddings" in capsys.readouterr().err
