"""What is written is read back as it was, in every format that can be written, or is refused."""

import shutil

import numpy as np
import pytest
from hypothesis import given, strategies as st
from optional import optional_import

import bioeval as be
from bioeval.scores.formats import losses

LISTS = [".csv", ".tsv", ".parquet", ".csv.gz", ".tsv.gz"]
NUMBERS = st.floats(-1e6, 1e6, width=32)
LABELS = st.lists(st.sampled_from(["ann", "bob", "é x", "007", "1"]), min_size=2, max_size=5)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    def new(suffix):
        if suffix.endswith(".parquet"):
            optional_import("pyarrow")
        path = tmp_path_factory.getbasetemp() / "round" / f"x{suffix}"
        shutil.rmtree(path.parent, ignore_errors=True)
        path.parent.mkdir()
        return path

    return new


def same_matrix(found, scores, *, meta=True):
    np.testing.assert_array_equal(found.values, scores.values)
    assert (found.layout, found.kind) == (scores.layout, scores.kind)
    for side in ("probe", "gallery"):
        ours, theirs = (getattr(x, f"{side}_labels").tolist() for x in (found, scores))
        assert ours == theirs
        if meta:
            ours, theirs = (getattr(x, f"{side}_meta") for x in (found, scores))
            assert ours.keys() == theirs.keys()
            assert all(ours[name].tolist() == theirs[name].tolist() for name in theirs)


@st.composite
def matrices(draw, square, meta=True):
    rows = draw(LABELS)
    columns = None if square else [*draw(LABELS), "zoe"]
    m, n = len(rows), len(rows if columns is None else columns)
    cells = draw(st.lists(NUMBERS, min_size=m * n, max_size=m * n))
    values = np.array(cells).reshape(m, n).astype(draw(st.sampled_from(["f4", "f8"])))
    more = {}
    if meta:
        more["probe_meta"] = {"day": list(range(m)), "where": [f"place {i}" for i in range(m)]}
        more["mask"] = None if draw(st.booleans()) else draw(masks((m, n)))
    kind = draw(st.sampled_from(["distance", "similarity", "llr"]))
    return be.Scores(values, rows, columns, kind=kind, **more)


def masks(shape):
    size = shape[0] * shape[1]
    cells = st.lists(st.integers(0, 2), min_size=size, max_size=size)
    return cells.map(lambda cells: np.array(cells, dtype=np.uint8).reshape(shape))


@pytest.mark.parametrize("square", [True, False])
def test_matrices_in_npz(place, square):
    @given(matrices(square))
    def holds(scores):
        path = place(".npz")
        be.save(scores, path)
        found = be.load(path)
        same_matrix(found, scores)
        assert (found.mask is None) == (scores.mask is None)
        assert found.mask is None or found.mask.tolist() == scores.mask.tolist()
        assert found.dtype == scores.dtype

    holds()


@pytest.mark.parametrize("suffix", [*LISTS, ".npz"])
@pytest.mark.cases(1)
def test_lists_of_pairs(place, suffix):
    @given(
        st.lists(st.tuples(NUMBERS, st.booleans()), min_size=1, max_size=20),
        st.sampled_from(["distance", "similarity", "llr"]),
        st.booleans(),
    )
    def holds(pairs, kind, named):
        path = place(suffix)
        values, same = (list(column) for column in zip(*pairs, strict=True))
        who = [["ann", "ann" if x else f"é {i}"] for i, x in enumerate(same)]
        subjects = who if named else None
        scores = be.Scores.from_pairs(values, same, kind=kind, subjects=subjects)
        be.save(scores, path)
        found = be.load(path)
        np.testing.assert_array_equal(found.values, scores.values)
        assert found.genuine.tolist() == same and found.kind == kind
        if subjects:
            assert found.pair_subjects.tolist() == subjects

    holds()


# ------------------------------------------------------------------------- what is lost

R = np.random.default_rng(5)
ALL_SORTS = {
    "metadata": be.Scores(
        R.random((4, 4)).astype("f4"),
        ["é x", "é x", "007", "b"],
        probe_meta={"day": [1, 2, 1, 2], "quality": [0.5, 0.25, 1, np.nan], "where": list("abcd")},
        kind="similarity",
        nan="reject",
        exclude=["day"],
    ),
    "sides": be.Scores(
        R.random((3, 4)), [7, 8, 9], [7, 8, 9, 9], gallery_meta={"camera": [1, 2, 3, 4]}, kind="llr"
    ),
    "distractors": be.Scores(R.random((2, 3)), [7, 8], [7, 0, -1], distractor_ids=[0, 5]),
    "times": be.Scores(
        R.random((2, 2)), list("ab"), probe_meta={"seen": np.array(["2020-01-01"] * 2, "M8[D]")}
    ),
    "flags": be.Scores(R.random((2, 2)), list("ab"), probe_meta={"glasses": [True, False]}),
    "mask": be.Scores(np.arange(6.0).reshape(2, 3), mask=[[2, 1, 0], [1, 2, 1]]),
    "small": be.Scores(R.random((3, 3)).astype("f2"), list("aab"), kind="order"),
    "long": be.Scores(R.random((2, 2)).astype(np.longdouble), list("ab")),
    "selection": be.Scores(R.random((4, 4)), list("aabb")).select(probes=[0, 1], gallery=[1, 2, 3]),
    "pairs": be.Scores.from_pairs([0.1, 0.2, 0.3], [1, 0, 1], pair_folds=[0, 1, 1]),
    "subjects": be.Scores.from_pairs([0.5, 2], [1, 0], subjects=[[1, 1], [1, 2]], nan="exclude"),
    "lists": be.Scores.from_top_k([[0, 1], [1, 0]], ["a", "b"], ["a", "b"]),
}
# As names of images say it.
ALL_SORTS["distractors"] = ALL_SORTS["distractors"]._with(junk_ids=(-1,))


def test_a_format_that_loses_who_is_no_person_says_so(tmp_path):
    scores = ALL_SORTS["distractors"]
    said = "which labels are of distractors or junk is not said (-1, 0, 5)"
    assert said in losses(scores, "x.csv")
    assert losses(scores, "x.npz") == []
    np.savez(tmp_path / "x.npz", scores=np.eye(2), labels=[0, 1], distractor_ids=[0.5])
    with pytest.raises(
        be.DataError, match=r"x\.npz: `distractor_ids` is 0\.5; expected an integer"
    ):
        be.load(tmp_path / "x.npz")
    splitter = be.partition.SubjectKFold(2)
    whole = be.Scores(np.eye(6), [1, 1, 2, 2, 0, 0], distractor_ids=[0])
    be.save(whole, tmp_path / "y.npz")
    parts = [list(splitter.split(x)) for x in (whole, be.load(tmp_path / "y.npz"))]
    for one, other in zip(*parts, strict=True):
        for ours, theirs in zip(one, other, strict=True):
            np.testing.assert_array_equal(ours, theirs)
